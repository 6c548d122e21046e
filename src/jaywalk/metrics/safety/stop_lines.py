"""Stop lines of lights and stop signs, and what each light showed when."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl

from jaywalk.metrics.safety.tracks import Ints, Tracks
from jaywalk.record import Record
from jaywalk.record import columns as c

RED, YELLOW = 0, 1
_LEAST_HALF_M: Final = 1.0  # some sign boxes are thin; nobody drives a lane narrower than this


@dataclass(frozen=True, slots=True, kw_only=True)
class StopLine:
    """A line across one lane.

    Attributes:
        actor: The light or sign in the record.
        x_m: Middle of the line.
        y_m: Middle of the line.
        cos: Direction of travel there.
        sin: Direction of travel there.
        half_width_m: Half of the lane.
    """

    actor: int
    x_m: float
    y_m: float
    cos: float
    sin: float
    half_width_m: float


def light_lines(record: Record) -> list[StopLine]:
    """One line per lane that a traffic light stops, from its stop waypoints."""
    rows = record.landmarks.filter(pl.col(c.TYPE_ID) == "traffic.traffic_light")
    found = []
    for actor, points in rows.select(c.ACTOR, c.STOP_WAYPOINTS).collect().iter_rows():
        for point in points or ():
            yaw = math.radians(point[c.YAW_DEG])
            found.append(
                StopLine(
                    actor=actor, x_m=point[c.X_M], y_m=point[c.Y_M], cos=math.cos(yaw),
                    sin=math.sin(yaw), half_width_m=max(point[c.LANE_WIDTH_M] / 2.0, _LEAST_HALF_M),
                )
            )  # fmt: skip
    return found


def sign_lines(record: Record, type_ids: tuple[str, ...] = ("traffic.stop",)) -> list[StopLine]:
    """One line per stop sign: across the middle of its trigger volume.

    The volume's x axis runs across the lanes and the lane's direction is 90 degrees left of it
    (yaw of the sign less 90), as CARLA places signs.
    """
    rows = record.landmarks.filter(pl.col(c.TYPE_ID).is_in(type_ids)).collect()
    found = []
    for row in rows.iter_rows(named=True):
        if row[c.TRIGGER_X_M] is None:
            continue
        yaw = math.radians(row[c.YAW_DEG])
        cos, sin = math.cos(yaw), math.sin(yaw)
        turned = math.radians(row[c.YAW_DEG] + (row[c.TRIGGER_YAW_DEG] or 0.0) - 90.0)
        found.append(
            StopLine(
                actor=row[c.ACTOR],
                x_m=row[c.X_M] + row[c.TRIGGER_X_M] * cos - row[c.TRIGGER_Y_M] * sin,
                y_m=row[c.Y_M] + row[c.TRIGGER_X_M] * sin + row[c.TRIGGER_Y_M] * cos,
                cos=math.cos(turned),
                sin=math.sin(turned),
                half_width_m=max(row[c.TRIGGER_HALF_X_M] or 0.0, _LEAST_HALF_M),
            )
        )
    return found


def light_states(record: Record, tracks: Tracks) -> dict[int, Ints]:
    """(n,) state of each light at each tick; -1 before it was first seen."""
    rows = record.signals.select(c.ACTOR, c.TICK, c.STATE).sort(c.ACTOR, c.TICK).collect()
    found: dict[int, Ints] = {}
    for (actor,), changes in rows.group_by(c.ACTOR, maintain_order=True):
        at = np.searchsorted(changes[c.TICK].to_numpy(), tracks.tick, "right") - 1
        state = changes[c.STATE].to_numpy().astype(np.int64)
        found[int(str(actor))] = np.where(at >= 0, state[np.maximum(at, 0)], -1)
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class StopControls:
    """Everything that tells a vehicle to stop or give way."""

    lights: tuple[StopLine, ...]
    signs: tuple[StopLine, ...]  # stop and yield
    states: dict[int, Ints]

    def stopping(self, tick_at: int) -> Iterator[StopLine]:
        """Lines at which a vehicle may have to stop at a tick."""
        for line in self.lights:
            state = self.states.get(line.actor)
            if state is not None and state[tick_at] in (RED, YELLOW):
                yield line
        yield from self.signs


def read_stop_controls(record: Record, tracks: Tracks) -> StopControls:
    """Lights, stop and yield signs of a record."""
    return StopControls(
        lights=tuple(light_lines(record)),
        signs=tuple(sign_lines(record, ("traffic.stop", "traffic.yield"))),
        states=light_states(record, tracks),
    )
