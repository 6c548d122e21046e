"""Progress: route completion, distance, duration and speed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from jaywalk.core.arrays import FloatArray
from jaywalk.core.kernels import kernel
from jaywalk.geometry.path import arc_lengths
from jaywalk.metrics.pooling import APART, SHARE_OF_TIME, km_of, ratio
from jaywalk.metrics.spec import MetricInput, MetricResult, count, metric
from jaywalk.record import Record
from jaywalk.record.episode import ROUTE_COMPLETED
from jaywalk.record.queries import announcements
from jaywalk.record.tracks import EpisodeTracks, route_points

WINDOW_M = 20.0  # how far ahead on the route the ego is looked for; a loop is not cut short
LATERAL_M = 15.0  # no progress counts farther away from the route
KEY_POINT_WINDOW_M = 400.0  # between key points the road is not straight
END_SHARE = 0.99  # the Leaderboard's rule: 99 % driven and within 10 m of the end
END_M = 10.0
STANDING_MPS = 0.1
SCENARIO_TIMEOUT: Final = "scenario_timeout"  # count, and kind of the record's event
_JUMP_MPS = 100.0  # a faster move is a teleport and no driving


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """Progress of the ego in one episode.

    Attributes:
        route_completion: Percent, exactly 100 for a completed route; nan without a route.
        route_m: Length of the route; nan without a route.
        driven_km: Distance driven by the ego.
        duration_s: Game time.
        mean_mps: Distance divided by time.
        standing_share: Share of the time at less than 0.1 m/s.
        stood_last_s: Time for which the ego had been standing at the end.
    """

    route_completion: float
    route_m: float
    driven_km: float
    duration_s: float
    mean_mps: float
    standing_share: float
    stood_last_s: float

    @property
    def is_complete(self) -> bool:
        """Return whether the route was driven to its end."""
        return self.route_completion >= 100.0


def measure_progress(record: Record, tracks: EpisodeTracks) -> Progress:
    """Measure one episode."""
    route = route_points(record)[:, :2]
    time_s, here = tracks.time_s, tracks.present[tracks.ego]
    place = tracks.ego_pose[here, :2]
    duration_s = float(time_s[-1] - time_s[0])
    steps_m = np.hypot(*np.diff(place, axis=0).T)
    steps_s = np.diff(time_s[here])
    driven_m = float(steps_m[steps_m <= _JUMP_MPS * steps_s].sum())
    standing = tracks.speed_mps(tracks.ego) < STANDING_MPS
    moved = np.flatnonzero(~standing & here)
    last_moved_s = float(time_s[moved[-1]]) if len(moved) else float(time_s[0])
    completion, route_m = completion_percent(place, route, record.episode.route.dense)
    if record.episode.end_reason == ROUTE_COMPLETED and not math.isnan(completion):
        # The runner judged by points passed, as the Leaderboard does. That can be a little more
        # than the way along the line, where the line changes lanes just before its end.
        completion = 100.0
    return Progress(
        route_completion=completion,
        route_m=route_m,
        driven_km=driven_m / 1000.0,
        duration_s=duration_s,
        mean_mps=driven_m / duration_s if duration_s > 0.0 else math.nan,
        standing_share=float(np.mean(standing[here])) if here.any() else math.nan,
        stood_last_s=float(time_s[-1]) - last_moved_s,
    )


def completion_percent(
    place_m: FloatArray, route_m: FloatArray, dense: bool
) -> tuple[float, float]:
    """Percent of the route that the places (n, 2) went along, and the route's length."""
    if len(route_m) < 2 or not len(place_m):
        return math.nan, math.nan
    arc = arc_lengths(route_m)
    length_m = float(arc[-1])
    if length_m <= 0.0:
        return math.nan, math.nan
    window, aside = (WINDOW_M, LATERAL_M) if dense else (KEY_POINT_WINDOW_M, np.inf)
    along = _march(np.ascontiguousarray(route_m), arc, np.ascontiguousarray(place_m), window, aside)
    to_end = float(np.hypot(*(place_m - route_m[-1]).T).min())
    share = along / length_m
    if share > END_SHARE and to_end < END_M:
        return 100.0, length_m
    return min(100.0 * share, 99.99), length_m


@kernel
def _march(
    route: FloatArray, arc: FloatArray, place: FloatArray, window_m: float, aside_m: float
) -> Any:
    """Farthest arc length reached by going along the route, never back, never cutting a loop."""
    reached, first = 0.0, 0
    last = route.shape[0] - 1
    for k in range(place.shape[0]):
        best, best_s = aside_m, reached
        while first < last - 1 and arc[first + 1] <= reached:
            first += 1
        j = first
        while j < last and arc[j] <= reached + window_m:
            dx, dy = route[j + 1, 0] - route[j, 0], route[j + 1, 1] - route[j, 1]
            length = arc[j + 1] - arc[j]
            if length > 0.0:
                part = ((place[k, 0] - route[j, 0]) * dx + (place[k, 1] - route[j, 1]) * dy) / (
                    length * length
                )
                part = min(max(part, 0.0), 1.0)
                away = np.hypot(
                    place[k, 0] - route[j, 0] - part * dx, place[k, 1] - route[j, 1] - part * dy
                )
                if away < best:
                    best, best_s = away, arc[j] + part * length
            j += 1
        reached = max(reached, best_s)
    return reached


def progress_of(episode: MetricInput) -> Progress:
    """Return the progress of a scored episode."""
    return measure_progress(episode.record, episode.tracks)


def timeouts_of(episode: MetricInput) -> list[tuple[int, str]]:
    """Tick and name of scenarios that were removed because the ego did not get past in time."""
    events = announcements(episode.record, kind=SCENARIO_TIMEOUT)
    return [(event.tick, event.name) for event in events]


@metric(
    "route_completion",
    unit="%",
    direction="higher",
    label="Route completion",
    group="progress",
    requires="a route",
    zero_if_missing=True,
)
def _route_completion(episode: MetricInput) -> MetricResult:
    """Part of the route that was driven."""
    return MetricResult.of(episode.shared(progress_of).route_completion)


@metric(
    "driven_km",
    unit="km",
    direction="none",
    label="Distance driven",
    group="progress",
    pooling=APART,
)
def _driven_km(episode: MetricInput) -> MetricResult:
    """Distance that the ego drove."""
    return MetricResult.of(episode.shared(progress_of).driven_km)


@metric("duration_s", unit="s", direction="none", label="Duration", group="progress")
def _duration_s(episode: MetricInput) -> MetricResult:
    """Game time of the episode."""
    return MetricResult.of(episode.shared(progress_of).duration_s)


@metric(
    "mean_speed_mps",
    unit="m/s",
    direction="none",
    label="Mean speed",
    group="progress",
    requires="two ticks",
    pooling=ratio(
        lambda score: 1000.0 * km_of(score),
        "duration_s",
        words="distance / duration",
        over_time=True,
    ),
)
def _mean_speed_mps(episode: MetricInput) -> MetricResult:
    """Distance over time."""
    return MetricResult.of(episode.shared(progress_of).mean_mps)


@metric(
    "standing_share",
    unit="share",
    direction="none",
    label="Share of time standing",
    group="progress",
    pooling=SHARE_OF_TIME,
)
def _standing_share(episode: MetricInput) -> MetricResult:
    """Share of the time at less than 0.1 m/s."""
    return MetricResult.of(episode.shared(progress_of).standing_share)


@count(SCENARIO_TIMEOUT, label="Scenarios that timed out", group="scenarios")
def _scenario_timeout(episode: MetricInput) -> int:
    """Scenarios that were removed because the ego did not get past them in time."""
    return len(episode.shared(timeouts_of))
