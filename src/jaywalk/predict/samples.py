"""Samples of the in-ROI question: a window, a vehicle nearby, and its comfort zone at each horizon.

The path is the planned one where the data hold it, else the one the vehicle went on to drive (a
known leak of its geometry, not of its speed), extended straight beyond its end.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jaywalk.core.errors import UsageError
from jaywalk.datasets.trajectories import Trajectories
from jaywalk.geometry.comfort_zone import ComfortZone, comfort_zone, inside, reach_path
from jaywalk.geometry.path import Path, make_path, project, project_each
from jaywalk.metrics.prediction.ttc import is_relevant
from jaywalk.predict.windows import Windows

PATH_SPACING_M = 0.1
"""Vertices of a driven path closer than this are the jitter of a vehicle that stands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoiSample:
    """A relevant meeting.

    Attributes:
        window: Index of the window.
        path: The vehicle's path, long enough for every zone.
        zones: Comfort zone at each horizon.
        labels: Whether the person truly is inside then; -1 where nobody knows.
    """

    window: int
    path: Path
    zones: tuple[ComfortZone, ...]
    labels: NDArray[np.int8]


def roi_samples(data: Trajectories, windows: Windows) -> list[RoiSample]:
    """Every relevant pair of window and vehicle, in the order of the windows."""
    by_scene: dict[int, list[pl.DataFrame]] = {}
    names = {name: code for code, name in enumerate(windows.scene_names)}
    for ego in data.ego.partition_by("scene_id", "ego_id", maintain_order=True):
        if ego["scene_id"][0] in names:
            by_scene.setdefault(names[ego["scene_id"][0]], []).append(ego)
    found: list[RoiSample] = []
    for scene, egos in by_scene.items():
        members = np.flatnonzero(windows.scene == scene)
        for ego in egos:
            found += _samples_of(data, windows, members, ego)
    return sorted(found, key=lambda sample: sample.window)


def driven_path(ego: pl.DataFrame) -> Path | None:
    """The path a vehicle drove, or None for one that hardly moves."""
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
    found = []
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
            found.append(sample)
    return found


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
