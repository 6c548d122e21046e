"""Traffic lights and stop signs of a record, with the lights' states over the ego's track."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jaywalk.core.frames import rotation_matrix_carla
from jaywalk.record import columns as c

FloatArray = NDArray[np.float64]
RED: Final = 0
_UNKNOWN: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Landmark:
    """A light or sign. Frame: CARLA's world."""

    actor: int
    server_id: int
    place_m: FloatArray  # (3,)
    yaw_deg: float
    centre_m: FloatArray  # (3,) of the trigger box
    half_m: FloatArray  # (3,) of the trigger box


@dataclass(frozen=True, slots=True, kw_only=True)
class Light(Landmark):
    """A traffic light and its state at each row of the track."""

    state: NDArray[np.uint8]


def landmarks_of(rows: pl.DataFrame, server_ids: dict[int, int], type_part: str) -> list[Landmark]:
    """Lights or signs whose type contains ``type_part`` and that have a trigger box."""
    found = rows.filter(
        pl.col(c.TYPE_ID).str.contains(type_part, literal=True)
        & pl.col(c.TRIGGER_X_M).is_not_null()
        & pl.col(c.TRIGGER_HALF_X_M).is_not_null()
    )
    return [_landmark(row, server_ids) for row in found.iter_rows(named=True)]


def _landmark(row: dict[str, Any], server_ids: dict[int, int]) -> Landmark:
    place = np.array([row[c.X_M], row[c.Y_M], row[c.Z_M]], np.float64)
    turn = rotation_matrix_carla(row[c.PITCH_DEG], row[c.YAW_DEG], row[c.ROLL_DEG])
    local = np.array([row[c.TRIGGER_X_M], row[c.TRIGGER_Y_M], row[c.TRIGGER_Z_M]], np.float64)
    half = [row[c.TRIGGER_HALF_X_M], row[c.TRIGGER_HALF_Y_M], row[c.TRIGGER_HALF_Z_M]]
    return Landmark(
        actor=row[c.ACTOR],
        server_id=server_ids.get(row[c.ACTOR], 0),
        place_m=place,
        yaw_deg=row[c.YAW_DEG],
        centre_m=place + turn @ local,
        half_m=np.array([0.0 if part is None else part for part in half], np.float64),
    )


def with_states(
    lights: list[Landmark], signals: pl.DataFrame, ticks: NDArray[np.int64]
) -> list[Light]:
    """Lights with their states at these ticks; unknown before the first one was seen."""
    out = []
    for light in lights:
        changes = signals.filter(pl.col(c.ACTOR) == light.actor)
        at = np.searchsorted(changes[c.TICK].to_numpy(), ticks, side="right") - 1
        states = changes[c.STATE].to_numpy().astype(np.uint8)
        state = np.full(len(ticks), _UNKNOWN, np.uint8)
        if len(states):
            state = np.where(at >= 0, states[np.maximum(at, 0)], _UNKNOWN).astype(np.uint8)
        out.append(
            Light(
                actor=light.actor,
                server_id=light.server_id,
                place_m=light.place_m,
                yaw_deg=light.yaw_deg,
                centre_m=light.centre_m,
                half_m=light.half_m,
                state=state,
            )
        )
    return out
