"""The actors of a record over time, with the values that a record lacks computed from motion.

A record has no gait phases, no turned wheels and no word on who lies on the ground. All three
follow from the recorded motion by the rules of the server.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jaywalk.core.arrays import FloatArray, IntArray
from jaywalk.record import Record
from jaywalk.record import columns as c
from jaywalk.record.queries import actor_rows, state_rows
from jaywalk.server.session.still_world import gait_phases
from jaywalk.town.ground import Ground, surface_height

SHOWN: Final = ("vehicle", "walker", "prop")
POSE: Final = (c.X_M, c.Y_M, c.Z_M, c.PITCH_DEG, c.YAW_DEG, c.ROLL_DEG)
_VELOCITY: Final = (c.VX_MPS, c.VY_MPS, c.VZ_MPS)
_LOW: Final = 0.6  # share of its standing height below which an origin lies on the ground
_COLUMNS: Final = (*POSE, *_VELOCITY, c.STEER, c.LAMPS, c.GAZE_YAW_DEG, c.GAZE_PITCH_DEG)


@dataclass(frozen=True, slots=True, kw_only=True)
class ActorLife:
    """One actor of a record; the arrays have one row per recorded state.

    Attributes:
        number: In the record.
        half_m: Half extents of its box; zeros where the record has none.
        centre_m: Middle of the box in the actor's frame.
        tick: (n,).
        pose: (n, 6) x, y, z (metres), pitch, yaw, roll (degrees).
        velocity_mps: (n, 3).
        steer: (n,) share of the full lock.
        lamps: (n,) CARLA's ``VehicleLightState``.
        gaze_deg: (n, 2) turn of the head from the body: yaw, pitch.
        gait_phase: (n,) of a walker.
        is_down: (n,) whether a walker was knocked down.
        rolled_m: (n,) way of a vehicle or walker along its own axis.
    """

    number: int
    server_id: int
    kind: str
    type_id: str
    attributes: Mapping[str, str]
    half_m: tuple[float, float, float]
    centre_m: tuple[float, float, float]
    first_tick: int
    last_tick: int
    tick: IntArray
    pose: FloatArray
    velocity_mps: FloatArray
    steer: FloatArray
    lamps: IntArray
    gaze_deg: FloatArray
    gait_phase: FloatArray
    is_down: NDArray[np.bool_]
    rolled_m: FloatArray

    def row_at(self, tick: int) -> int:
        """Return the row that holds at a tick; -1 if the actor is absent."""
        if not self.first_tick <= tick <= self.last_tick:
            return -1
        return int(np.searchsorted(self.tick, tick, side="right")) - 1


def read_lives(record: Record, ground: Ground, step_s: float) -> Iterator[ActorLife]:
    """Yield the vehicles, walkers and props of a record that have states."""
    actors = {int(row[c.ACTOR]): row for row in actor_rows(record, *SHOWN).iter_rows(named=True)}
    states = state_rows(record, _COLUMNS, actors=actors)
    for (number,), rows in states.group_by(c.ACTOR, maintain_order=True):
        yield _life(actors[int(number)], rows, ground, step_s)


def _numbers(rows: pl.DataFrame, *names: str) -> FloatArray:
    columns = [rows[name].fill_null(0.0).to_numpy().astype(np.float64) for name in names]
    return np.column_stack(columns)


def _life(actor: dict[str, Any], rows: pl.DataFrame, ground: Ground, step_s: float) -> ActorLife:
    pose, velocity = _numbers(rows, *POSE), _numbers(rows, *_VELOCITY)
    kind, n = str(actor[c.KIND]), rows.height
    half = [float(actor[name] or 0.0) for name in (c.HALF_X_M, c.HALF_Y_M, c.HALF_Z_M)]
    centre = [float(actor[name] or 0.0) for name in (c.OFFSET_X_M, c.OFFSET_Y_M, c.OFFSET_Z_M)]
    is_down, phase, rolled = np.zeros(n, np.bool_), np.zeros(n), np.zeros(n)
    if kind == "walker":
        sole_m = half[2] - centre[2]
        is_down = knocked_down(pose, velocity, sole_m, ground)
        phase = gait_phases(np.hypot(velocity[:, 0], velocity[:, 1]), is_down, step_s)
    if kind != "prop":
        yaw = np.radians(pose[:, 4])
        rolled = np.cumsum(velocity[:, 0] * np.cos(yaw) + velocity[:, 1] * np.sin(yaw)) * step_s
    attributes = json.loads(str(actor[c.ATTRIBUTES] or "{}"))
    return ActorLife(
        number=int(actor[c.ACTOR]),
        server_id=int(actor[c.SERVER_ID]),
        kind=kind,
        type_id=str(actor[c.TYPE_ID]),
        attributes={str(name): str(value) for name, value in attributes.items()},
        half_m=(half[0], half[1], half[2]),
        centre_m=(centre[0], centre[1], centre[2]),
        first_tick=int(actor[c.FIRST_TICK]),
        last_tick=int(actor[c.LAST_TICK]),
        tick=rows[c.TICK].to_numpy().astype(np.int64),
        pose=pose,
        velocity_mps=velocity,
        steer=_numbers(rows, c.STEER)[:, 0],
        lamps=rows[c.LAMPS].fill_null(0).to_numpy().astype(np.int64),
        gaze_deg=_numbers(rows, c.GAZE_YAW_DEG, c.GAZE_PITCH_DEG),
        gait_phase=phase,
        is_down=is_down,
        rolled_m=rolled,
    )


def knocked_down(
    pose: FloatArray, velocity_mps: FloatArray, sole_m: float, ground: Ground
) -> NDArray[np.bool_]:
    """Return from when on a walker was knocked down, for good, as a mask of its states.

    A fallen walker's origin comes to rest near the ground. The fall begins where the walker left
    the ground before that.

    Args:
        pose: (n, 6) x, y, z, ...
        velocity_mps: (n, 3).
        sole_m: Height of the origin above the soles.
        ground: Of the town.
    """
    down = np.zeros(len(pose), np.bool_)
    falling = 0
    for row in range(len(pose)):
        x, y, z = pose[row, :3].tolist()
        if velocity_mps[row, 2] == 0.0:
            falling = row + 1
        if z - surface_height(ground, x, y, z) < _LOW * sole_m:
            down[min(falling, row) :] = True
            break
    return down
