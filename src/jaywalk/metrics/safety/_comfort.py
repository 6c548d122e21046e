"""Comfort: accelerations, jerks and turning of the ego against bounds for passengers.

Signals are derivatives of the recorded velocity and heading by a Savitzky-Golay filter (0.35 s,
second order). The server's accelerations are not used: they are one-tick differences with spikes.
The length of the filter follows from the nominal step because recorded times have float noise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

import numpy as np
from scipy.signal import savgol_filter

from jaywalk.core.arrays import FloatArray
from jaywalk.metrics.pooling import SHARE_OF_TIME
from jaywalk.metrics.spec import MetricInput, MetricResult, metric
from jaywalk.record.tracks import COS, SIN, VX, VY, EpisodeTracks

WINDOW_S = 0.35
_ORDER = 2
_NOISE = 1e-3  # share of a step by which recorded times may be off


@dataclass(frozen=True, slots=True, kw_only=True)
class ComfortBounds:
    """Bounds that human drivers keep: those of nuPlan, which Bench2Drive uses, too."""

    braking_mps2: float = 4.05
    speeding_up_mps2: float = 2.40
    lateral_mps2: float = 4.89
    jerk_mps3: float = 8.37
    longitudinal_jerk_mps3: float = 4.13
    yaw_rate_rps: float = 0.95
    yaw_acceleration_rps2: float = 1.93


@dataclass(frozen=True, slots=True, kw_only=True)
class Comfort:
    """Extremes, and the share of time out of each bound; nan for an episode that is too short."""

    max_braking_mps2: float
    max_speeding_up_mps2: float
    max_lateral_mps2: float
    max_jerk_mps3: float
    rms_jerk_mps3: float
    out_braking: float
    out_speeding_up: float
    out_lateral: float
    out_jerk: float
    out_longitudinal_jerk: float
    out_yaw_rate: float
    out_yaw_acceleration: float
    out_any: float


def window_samples(step_s: float) -> int:
    """Samples of the filter: the odd number nearest to 0.35 s, at least 5; 7 at 0.05 s."""
    return max(2 * round((WINDOW_S / step_s - 1.0) / 2.0) + 1, 5)


def measure_comfort(
    tracks: EpisodeTracks, bounds: ComfortBounds | None = None, step_s: float | None = None
) -> Comfort:
    """Measure one episode.

    Args:
        tracks: The episode.
        bounds: Bounds of comfort.
        step_s: The fixed step of the recording; by default the median step to a tenth of a ms.
    """
    bounds = bounds or ComfortBounds()
    here = tracks.present[tracks.ego]
    time_s, pose = tracks.time_s[here], tracks.ego_pose[here]
    if not step_s:
        step_s = round(float(np.median(np.diff(time_s))), 4) if len(time_s) > 1 else math.nan
    steps = math.floor((time_s[-1] - time_s[0]) / step_s + _NOISE) if step_s > 0.0 else 0
    if not step_s > 0.0 or steps < (window := window_samples(step_s)):
        return Comfort(**{field.name: math.nan for field in fields(Comfort)})
    grid_s = time_s[0] + step_s * np.arange(steps + 1)

    def on_grid(values: FloatArray) -> FloatArray:
        return np.asarray(np.interp(grid_s, time_s, values))

    def rate(values: FloatArray) -> FloatArray:
        return np.asarray(savgol_filter(values, window, _ORDER, deriv=1, delta=step_s))

    yaw = on_grid(np.unwrap(np.arctan2(pose[:, SIN], pose[:, COS])))
    ax, ay = rate(on_grid(pose[:, VX])), rate(on_grid(pose[:, VY]))
    along = ax * np.cos(yaw) + ay * np.sin(yaw)
    across = -ax * np.sin(yaw) + ay * np.cos(yaw)
    jerk_along, jerk_across = rate(along), rate(across)
    jerk = np.hypot(jerk_along, jerk_across)
    yaw_rate = rate(yaw)
    return _compare(along, across, jerk, jerk_along, yaw_rate, rate(yaw_rate), bounds)


def _compare(
    along: FloatArray,
    across: FloatArray,
    jerk: FloatArray,
    jerk_along: FloatArray,
    yaw_rate: FloatArray,
    yaw_acceleration: FloatArray,
    bounds: ComfortBounds,
) -> Comfort:
    out = {
        "out_braking": along < -bounds.braking_mps2,
        "out_speeding_up": along > bounds.speeding_up_mps2,
        "out_lateral": np.abs(across) > bounds.lateral_mps2,
        "out_jerk": jerk > bounds.jerk_mps3,
        "out_longitudinal_jerk": np.abs(jerk_along) > bounds.longitudinal_jerk_mps3,
        "out_yaw_rate": np.abs(yaw_rate) > bounds.yaw_rate_rps,
        "out_yaw_acceleration": np.abs(yaw_acceleration) > bounds.yaw_acceleration_rps2,
    }
    any_out = np.logical_or.reduce(list(out.values()))
    return Comfort(
        max_braking_mps2=max(float(-along.min()), 0.0),
        max_speeding_up_mps2=max(float(along.max()), 0.0),
        max_lateral_mps2=float(np.abs(across).max()),
        max_jerk_mps3=float(jerk.max()),
        rms_jerk_mps3=float(np.sqrt(np.mean(jerk**2))),
        out_any=float(np.mean(any_out)),
        **{name: float(np.mean(mask)) for name, mask in out.items()},
    )


def comfort_of(episode: MetricInput) -> Comfort:
    """Return the comfort of a scored episode."""
    bounds = episode.rules_of(ComfortBounds)
    return measure_comfort(episode.tracks, bounds, episode.record.episode.step_s)


_REQUIRES = "more ticks than the filter's window"


@metric(
    "max_braking_mps2",
    unit="m/s²",
    direction="lower",
    label="Hardest braking",
    group="comfort",
    requires=_REQUIRES,
)
def _max_braking_mps2(episode: MetricInput) -> MetricResult:
    """Largest loss of speed per second."""
    return MetricResult.of(episode.shared(comfort_of).max_braking_mps2)


@metric(
    "max_lateral_mps2",
    unit="m/s²",
    direction="lower",
    label="Hardest cornering",
    group="comfort",
    requires=_REQUIRES,
)
def _max_lateral_mps2(episode: MetricInput) -> MetricResult:
    """Largest sideways acceleration."""
    return MetricResult.of(episode.shared(comfort_of).max_lateral_mps2)


@metric(
    "max_jerk_mps3",
    unit="m/s³",
    direction="lower",
    label="Largest jerk",
    group="comfort",
    requires=_REQUIRES,
)
def _max_jerk_mps3(episode: MetricInput) -> MetricResult:
    """Largest change of acceleration per second."""
    return MetricResult.of(episode.shared(comfort_of).max_jerk_mps3)


@metric(
    "rms_jerk_mps3",
    unit="m/s³",
    direction="lower",
    label="Jerk, RMS",
    group="comfort",
    requires=_REQUIRES,
)
def _rms_jerk_mps3(episode: MetricInput) -> MetricResult:
    """Root mean square of the jerk."""
    return MetricResult.of(episode.shared(comfort_of).rms_jerk_mps3)


@metric(
    "uncomfortable_share",
    unit="share",
    direction="lower",
    label="Share of time uncomfortable",
    group="comfort",
    requires=_REQUIRES,
    pooling=SHARE_OF_TIME,
)
def _uncomfortable_share(episode: MetricInput) -> MetricResult:
    """Share of time outside any comfort bound."""
    return MetricResult.of(episode.shared(comfort_of).out_any)


@metric(
    "uncomfortable_braking_share",
    unit="share",
    direction="lower",
    label="Share of time braking uncomfortably",
    group="comfort",
    requires=_REQUIRES,
    pooling=SHARE_OF_TIME,
)
def _uncomfortable_braking_share(episode: MetricInput) -> MetricResult:
    """Share of time outside the bound of braking."""
    return MetricResult.of(episode.shared(comfort_of).out_braking)


@metric(
    "uncomfortable_speeding_up_share",
    unit="share",
    direction="lower",
    label="Share of time speeding up uncomfortably",
    group="comfort",
    requires=_REQUIRES,
    pooling=SHARE_OF_TIME,
)
def _uncomfortable_speeding_up_share(episode: MetricInput) -> MetricResult:
    """Share of time outside the bound of speeding up."""
    return MetricResult.of(episode.shared(comfort_of).out_speeding_up)


@metric(
    "uncomfortable_lateral_share",
    unit="share",
    direction="lower",
    label="Share of time cornering uncomfortably",
    group="comfort",
    requires=_REQUIRES,
    pooling=SHARE_OF_TIME,
)
def _uncomfortable_lateral_share(episode: MetricInput) -> MetricResult:
    """Share of time outside the bound of sideways acceleration."""
    return MetricResult.of(episode.shared(comfort_of).out_lateral)


@metric(
    "uncomfortable_jerk_share",
    unit="share",
    direction="lower",
    label="Share of time with uncomfortable jerk",
    group="comfort",
    requires=_REQUIRES,
    pooling=SHARE_OF_TIME,
)
def _uncomfortable_jerk_share(episode: MetricInput) -> MetricResult:
    """Share of time outside the bound of jerk."""
    return MetricResult.of(episode.shared(comfort_of).out_jerk)
