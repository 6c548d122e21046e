"""Inputs of the realism score: a logged scene, its map and signals, and simulated rollouts.

Frame: right-handed, z up, in metres and radians (counter-clockwise, 0 = +x); 91 steps at 10 Hz.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from jaywalk.core.arrays import BoolArray, Float32Array, IntArray
from jaywalk.core.errors import DataError

N_STEPS = 91
CURRENT_STEP = 10
N_HISTORY = CURRENT_STEP + 1
N_FUTURE = N_STEPS - N_HISTORY
STEP_S = 0.1

VEHICLE, PEDESTRIAN, CYCLIST, OTHER = 1, 2, 3, 4
SURFACE_STREET = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Polylines:
    """Polylines in one array: line i is ``points_m[offsets[i]:offsets[i + 1]]``."""

    points_m: Float32Array
    offsets: IntArray

    def __post_init__(self) -> None:
        o = self.offsets
        if (
            o.ndim != 1
            or not len(o)
            or o[0] != 0
            or o[-1] != len(self.points_m)
            or (np.diff(o) < 0).any()
        ):
            raise DataError(
                f"Offsets of polylines must rise from 0 to the number of points, "
                f"{len(self.points_m)}; found {o.tolist()[:3]} ... {o.tolist()[-1:]}."
            )
        if not np.isfinite(self.points_m).all():
            raise DataError("Points of polylines must be finite numbers.")

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @classmethod
    def of(cls, lines: list[Any]) -> Polylines:
        """Join lists of x, y, z points."""
        arrays = [np.asarray(line, dtype=np.float32).reshape(-1, 3) for line in lines]
        points = np.concatenate(arrays) if arrays else np.zeros((0, 3), np.float32)
        offsets = np.cumsum([0, *(len(a) for a in arrays)]).astype(np.int64)
        return cls(points_m=points, offsets=offsets)


@dataclass(frozen=True, slots=True, kw_only=True)
class SceneLanes:
    """Lane centre lines with their ids and types (2: surface street)."""

    lines: Polylines
    lane_id: IntArray
    lane_type: IntArray

    def __post_init__(self) -> None:
        if not len(self.lines) == len(self.lane_id) == len(self.lane_type):
            raise DataError(
                f"There are {len(self.lines)} lanes, {len(self.lane_id)} lane ids and "
                f"{len(self.lane_type)} lane types; expected as many of each."
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class SceneSignals:
    """One row per step and signalled lane; ``n_steps`` is 0 if the scene has no list of states."""

    n_steps: int
    step: IntArray
    lane_id: IntArray
    state: IntArray
    stop_point_m: Float32Array

    def __post_init__(self) -> None:
        rows = {len(v) for v in (self.step, self.lane_id, self.state, self.stop_point_m)}
        if len(rows) > 1:
            raise DataError(
                f"Signals have {len(self.step)} steps, {len(self.lane_id)} lanes, "
                f"{len(self.state)} states and {len(self.stop_point_m)} stop points; expected as "
                "many of each."
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedScene:
    """Logged scene: tracks [n, 91] (zeros where not valid), scored tracks, map and signals."""

    name: str
    object_id: IntArray
    object_type: IntArray
    x_m: Float32Array
    y_m: Float32Array
    z_m: Float32Array
    heading_rad: Float32Array
    length_m: Float32Array
    width_m: Float32Array
    height_m: Float32Array
    valid: BoolArray
    sdc_index: int
    predict_index: IntArray
    road_edges: Polylines
    lanes: SceneLanes
    signals: SceneSignals

    def __post_init__(self) -> None:
        self._check_tracks()
        scored = [self.sdc_index, *self.predict_index.tolist()]
        if not scored or min(scored) < 0 or max(scored) >= len(self.object_id):
            raise DataError(
                f"Scene '{self.name}': tracks {scored} are to be scored, but the scene has "
                f"tracks 0 to {len(self.object_id) - 1}."
            )
        missing = [i for i in scored if not self.valid[i, CURRENT_STEP]]
        if missing:
            raise DataError(
                f"Scene '{self.name}': tracks {missing} are to be scored but are not valid at "
                f"step {CURRENT_STEP}; take them out of the tracks to predict."
            )

    def _check_tracks(self) -> None:
        shape = (len(self.object_id), N_STEPS)
        if self.object_type.shape != shape[:1]:
            raise DataError(
                f"Scene '{self.name}': object_type has shape {self.object_type.shape}, expected "
                f"{shape[:1]} as object_id."
            )
        tracks = ("x_m", "y_m", "z_m", "heading_rad", "length_m", "width_m", "height_m")
        for field in ("valid", *tracks):
            values = getattr(self, field)
            if values.shape != shape:
                raise DataError(
                    f"Scene '{self.name}': {field} has shape {values.shape}, expected {shape} "
                    f"(tracks, {N_STEPS} steps at 10 Hz)."
                )
            if field != "valid" and not np.isfinite(values).all():
                raise DataError(
                    f"Scene '{self.name}': {field} of the log has values that are not finite; mark "
                    "such steps as not valid and put zeros there."
                )

    @property
    def simulated_index(self) -> IntArray:
        """Tracks valid at the current step, in track order; the others do not take part."""
        return np.flatnonzero(self.valid[:, CURRENT_STEP]).astype(np.int64)

    @property
    def evaluated_index(self) -> IntArray:
        """The ego and the tracks to predict, once each, ordered by object id."""
        scored = np.unique(np.append(self.predict_index, self.sdc_index))
        return scored[np.argsort(self.object_id[scored], kind="stable")].astype(np.int64)

    @property
    def evaluated_row(self) -> IntArray:
        """Rows of the evaluated tracks among the simulated ones."""
        return self.rows_of(self.evaluated_index)

    def rows_of(self, tracks: IntArray) -> IntArray:
        """Rows of some tracks among the simulated ones."""
        return np.searchsorted(self.simulated_index, tracks).astype(np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rollouts:
    """Simulated futures [rollout, simulated track, 80], or whole generated scenes [.., .., 91].

    Generated scenes may have other box sizes.
    """

    x_m: Float32Array
    y_m: Float32Array
    z_m: Float32Array
    heading_rad: Float32Array
    length_m: Float32Array | None = None
    width_m: Float32Array | None = None
    height_m: Float32Array | None = None

    def __len__(self) -> int:
        return len(self.x_m)

    def ordered(self, tracks: list[int]) -> Rollouts:
        """Return the rollouts with their tracks in another order."""
        given: dict[str, Any] = {f.name: getattr(self, f.name) for f in fields(self)}
        moved: dict[str, Any] = {n: v if v is None else v[:, tracks] for n, v in given.items()}
        return Rollouts(**moved)

    @property
    def n_steps(self) -> int:
        """80 for futures, 91 for generated scenes."""
        return int(self.x_m.shape[-1])


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A scene and rollouts of it."""

    scene: LoggedScene
    rollouts: Rollouts

    def __post_init__(self) -> None:
        if not len(self.rollouts):
            raise DataError(f"Scene '{self.scene.name}' has no rollouts; give at least one.")
        steps = N_STEPS if self.rollouts.n_steps == N_STEPS else N_FUTURE
        shape = (len(self.rollouts), len(self.scene.simulated_index), steps)
        sizes = ("length_m", "width_m", "height_m")
        given = [name for name in sizes if getattr(self.rollouts, name) is not None]
        if given and (len(given) < len(sizes) or steps != N_STEPS):
            raise DataError(
                f"Scene '{self.scene.name}': rollouts of {steps} steps come with {given}; expected "
                f"all of {list(sizes)} with {N_STEPS} steps, or none."
            )
        for field in ("x_m", "y_m", "z_m", "heading_rad", *given):
            values = getattr(self.rollouts, field)
            if values.shape != shape:
                raise DataError(
                    f"Scene '{self.scene.name}': rollout {field} has shape {values.shape}, expected"
                    f" {shape} (rollouts, tracks valid at step {CURRENT_STEP}, {steps} steps)."
                )
            if not np.isfinite(values).all():
                raise DataError(
                    f"Scene '{self.scene.name}': rollout {field} has values that are not finite; "
                    "every simulated object needs a pose at every step."
                )
