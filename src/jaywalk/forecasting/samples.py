"""In-ROI samples: a window, a nearby vehicle and its comfort zone at each horizon.

The path is the planned one if the data hold it. Otherwise it is the path that the vehicle drove
later (a known leak of its geometry, not of its speed), extended straight beyond its end.

A point predictor becomes a distribution by a Gaussian with the spread of its errors on the data
that it was fitted to.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jaywalk.core.arrays import FloatArray
from jaywalk.core.errors import UsageError
from jaywalk.datasets.trajectories import STEP_S, Trajectories
from jaywalk.forecasting.windows import Windows
from jaywalk.geometry.path import Path, make_path, project, project_each
from jaywalk.geometry.zones import ComfortZone, comfort_zone, inside, reach_path
from jaywalk.metrics.prediction.forecast import Mixture, isotropic
from jaywalk.metrics.prediction.time_gap import is_relevant

_SMALLEST_SIGMA_M = 1e-3


@dataclass(frozen=True, kw_only=True)
class PointPredictor(ABC):
    """Base of predictors that return one trajectory.

    Attributes:
        sigma_m: Deviation of each coordinate at each horizon, or None before fitting.
    """

    sigma_m: tuple[float, ...] | None = None

    @abstractmethod
    def trajectory(self, windows: Windows) -> FloatArray:
        """Return the predicted positions at every step, ``(N, S, 2)``."""

    def fitted(self, windows: Windows) -> Self:
        """Return a copy of the predictor with the spread of its errors on the windows."""
        steps = list(windows.horizon_steps)
        away = self.trajectory(windows)[:, steps] - windows.truth_m
        known: NDArray[np.bool_] = np.asarray(np.isfinite(away).all(axis=2))
        if not known.any(axis=0).all():
            raise UsageError("no window reaches the longest horizon; there is nothing to fit to")
        squares = np.where(known[..., None], away, 0.0) ** 2
        sigma = np.sqrt(squares.sum(axis=(0, 2)) / (2.0 * known.sum(axis=0)))
        return replace(self, sigma_m=tuple(np.maximum(sigma, _SMALLEST_SIGMA_M).tolist()))

    def predict(self, windows: Windows) -> Mixture:
        """Return one isotropic Gaussian per horizon."""
        if self.sigma_m is None or len(self.sigma_m) != len(windows.horizon_steps):
            raise UsageError("fit the predictor to windows with these horizons first")
        means = self.trajectory(windows)[:, list(windows.horizon_steps)]
        return isotropic(means, np.array(self.sigma_m))


def between_horizons(windows: Windows, mean_m: FloatArray) -> FloatArray:
    """Return positions at every step ``(N, S, 2)``, linear between those at the horizons."""
    now = windows.history_m[:, -1]
    knots = np.concatenate([now[:, None], mean_m], axis=1)
    at = np.array([0, *(step + 1 for step in windows.horizon_steps)])
    steps = np.arange(1, windows.future_m.shape[1] + 1)
    after = np.clip(np.searchsorted(at, steps), 1, len(at) - 1)
    share = ((steps - at[after - 1]) / (at[after] - at[after - 1]))[None, :, None]
    return np.asarray(knots[:, after - 1] * (1.0 - share) + knots[:, after] * share)


PATH_SPACING_M = 0.1
"""Vertices of a driven path closer than this are the jitter of a vehicle that stands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoiSample:
    """A relevant meeting.

    Attributes:
        window: Index of the window.
        path: The vehicle's path, long enough for every zone.
        zones: Comfort zone at each horizon.
        labels: 1 if the person is inside at that time, 0 if not, -1 if unknown.
        reacted: Whether the person changes a decision because of the ego within each horizon, so
            that the label depends on what the ego does; None where it is not known.
    """

    window: int
    path: Path
    zones: tuple[ComfortZone, ...]
    labels: NDArray[np.int8]
    reacted: tuple[bool | None, ...] = ()


def roi_samples(data: Trajectories, windows: Windows) -> list[RoiSample]:
    """Return all relevant pairs of window and vehicle, in the order of the windows."""
    by_scene: dict[int, list[pl.DataFrame]] = {}
    names = {name: code for code, name in enumerate(windows.scene_names)}
    for ego in data.ego.partition_by("scene_id", "ego_id", maintain_order=True):
        if ego["scene_id"][0] in names:
            by_scene.setdefault(names[ego["scene_id"][0]], []).append(ego)
    samples: list[RoiSample] = []
    for scene, egos in by_scene.items():
        members = np.flatnonzero(windows.scene == scene)
        for ego in egos:
            samples += _samples_of(data, windows, members, ego)
    return _with_reactions(data, windows, sorted(samples, key=lambda sample: sample.window))


def _with_reactions(
    data: Trajectories, windows: Windows, samples: list[RoiSample]
) -> list[RoiSample]:
    """Mark the samples whose person reacts to the ego within a horizon."""
    known = data.tracks.filter(pl.col("reacted").is_not_null())
    if known.is_empty():
        return samples
    times = {
        (str(scene), str(track)): part.filter(pl.col("reacted"))["k"].to_numpy()
        for (scene, track), part in known.partition_by("scene_id", "track_id", as_dict=True).items()
    }
    marked = []
    for sample in samples:
        at = sample.window
        scene = windows.scene_names[int(windows.scene[at])]
        changes = times.get((scene, windows.track_names[int(windows.track[at])]))
        if changes is not None:
            after_s = (changes - int(windows.k[at])) * STEP_S
            sample = replace(
                sample,
                reacted=tuple(
                    bool(((after_s > 0.0) & (after_s <= horizon_s + 1e-6)).any())
                    for horizon_s in windows.horizons_s
                ),
            )
        marked.append(sample)
    return marked


def driven_path(ego: pl.DataFrame) -> Path | None:
    """Return the path that a vehicle drove, or None if it hardly moves."""
    try:
        return make_path(ego.select("x", "y").to_numpy(), PATH_SPACING_M)
    except UsageError:
        return None


def _samples_of(
    data: Trajectories, windows: Windows, members: NDArray[np.int64], ego: pl.DataFrame
) -> list[RoiSample]:
    driven = driven_path(ego)
    if driven is None:
        return []
    row_of = {int(k): row for row, k in enumerate(ego["k"])}
    speeds, fronts = ego["v"].to_numpy(), ego["front_overhang"].to_numpy()
    positions = ego.select("x", "y").to_numpy()
    along = project(driven, positions).along_m
    plans = {
        k: make_path(path)
        for (scene, ego_id, k), path in data.paths.items()
        if scene == ego["scene_id"][0] and ego_id == ego["ego_id"][0]
    }
    samples = []
    for window in members.tolist():
        row = row_of.get(int(windows.k[window]))
        if row is None or not speeds[row] >= 0.0:
            continue
        now = int(windows.k[window])
        planned = [k for k in plans if k <= now]
        path, at = driven, float(along[row])
        if planned:
            path = plans[max(planned)]
            at = float(project_each(path, positions[row : row + 1]).along_m[0])
        sample = _sample(windows, window, path, at + float(fronts[row]), float(speeds[row]))
        if sample is not None:
            samples.append(sample)
    return samples


def _sample(
    windows: Windows, window: int, path: Path, front_m: float, speed_mps: float
) -> RoiSample | None:
    horizons = windows.horizons_s
    path = reach_path(path, speed_mps, horizons[-1])
    seen = project_each(path, windows.history_m[window, -1:], front_m)
    ahead = seen.along_m - front_m
    if not is_relevant(ahead, seen.lateral_m, speed_mps)[0]:
        return None
    zones = tuple(comfort_zone(front_m, speed_mps, horizon) for horizon in horizons)
    truth = windows.truth_m[window]
    labels = np.full(len(horizons), -1, dtype=np.int8)
    for i, zone in enumerate(zones):
        if np.isfinite(truth[i]).all():
            labels[i] = inside(zone, project_each(path, truth[i : i + 1], zone.start_m))[0]
    return RoiSample(window=window, path=path, zones=zones, labels=labels)
