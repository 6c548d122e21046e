"""Contact intervals: who touched whom, from when to when, how fast, where. One hit, one interval.

Pure functions of the states and boxes of a record. They know no protocol: whose fault a contact
was, whether it counts and for how long it is forgiven is for the metrics to say.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jaywalk.record import columns as c
from jaywalk.record.bodies import IS_ROUND, body_shapes, box_places, solid_bodies
from jaywalk.record.touching import (
    COS,
    HIGH,
    HX,
    HY,
    LOW,
    MOVES,
    POSE_COLUMNS,
    ROUND,
    SHAPE_COLUMNS,
    SIN,
    TOUCH,
    TURN,
    VX,
    VY,
    find_touches,
)
from jaywalk.record.touching import X as _X
from jaywalk.record.touching import Y as _Y

MERGE_S: Final = 0.5  # bodies that bounce apart for less than this had one contact
_WINDOW_TICKS: Final = 2000
_NEVER: Final = -1
_NEEDED: Final = (
    c.ACTOR, c.TICK, c.X_M, c.Y_M, c.Z_M, c.YAW_DEG, c.VX_MPS, c.VY_MPS, c.WZ_DPS,
)  # fmt: skip

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Contact:
    """One hit. Speeds are those at the last tick before it; the normal points to ``actor``."""

    actor: int
    other: int
    tick: int
    end_tick: int
    x_m: float
    y_m: float
    z_m: float
    normal_x: float
    normal_y: float
    speed_mps: float
    other_speed_mps: float
    closing_mps: float
    impulse_ns: float | None = None

    def as_row(self, other_type_id: str) -> dict[str, Any]:
        """Columns of the events table, without the event's number."""
        names = self.__dataclass_fields__
        return {name: getattr(self, name) for name in names} | {c.OTHER_TYPE_ID: other_type_id}


@dataclass(frozen=True, slots=True)
class _Bodies:
    """What can touch: numbers of the actors, their shapes, shaped rows and half heights."""

    numbers: NDArray[np.int64]
    shapes: Floats
    table: pl.DataFrame
    half_z: Floats


def find_contacts(
    ticks: pl.DataFrame,
    actors: pl.DataFrame,
    states: pl.DataFrame | pl.LazyFrame,
    *,
    ego: int | None = None,
    ego_only: bool = False,
    merge_s: float = MERGE_S,
) -> list[Contact]:
    """Contact intervals between actors, by geometry; not those of two people or two props.

    Args:
        ticks: Table ``ticks``.
        actors: Table ``actors``; those without a box, attached ones and low props touch nothing.
        states: Table ``states``; lazy, it is read a piece at a time.
        ego: Actor that is named first in its contacts.
        ego_only: Only contacts of the ego; much faster in a crowd.
        merge_s: Two touches of a pair that are less than this apart are one contact.

    Returns:
        Contacts in order of their first tick, then actors.
    """
    bodies = _describe_bodies(body_shapes(actors, states.lazy()))
    if len(bodies.numbers) < 2 or ticks.height < 2:
        return []
    numbers = ticks[c.TICK].to_numpy()
    times = ticks[c.TIME_S].to_numpy()
    only = _NEVER
    if ego_only:
        found = np.flatnonzero(bodies.numbers == (_NEVER if ego is None else ego))
        if not len(found):
            return []
        only = int(found[0])
    touches: list[tuple[int, NDArray[np.void], Floats]] = []
    held = _Held(bodies)
    for first, last in _windows(len(numbers)):
        poses, alive, speeds = held.dense(states.lazy(), actors, numbers[first:last])
        delta_s = np.diff(times[first:last], prepend=times[first])
        rows = _run(poses, alive, bodies.shapes, delta_s, only)
        before = speeds[rows["step"] - 1]
        pair = np.c_[
            before[np.arange(len(rows)), rows["a"]], before[np.arange(len(rows)), rows["b"]]
        ]
        touches.append((first, rows, pair))
    return _merge(touches, bodies, numbers, times, merge_s, ego)


def _windows(count: int) -> Iterator[tuple[int, int]]:
    """Ranges of ticks that share one tick with their neighbours."""
    for first in range(0, count - 1, _WINDOW_TICKS):
        yield first, min(first + _WINDOW_TICKS + 1, count)


def _run(
    poses: Floats, alive: NDArray[np.bool_], shapes: Floats, delta_s: Floats, only: int
) -> NDArray[np.void]:
    out = np.zeros(4096, TOUCH)
    count = find_touches(poses, alive, shapes, delta_s, only, out)
    if count > len(out):
        out = np.zeros(count, TOUCH)
        find_touches(poses, alive, shapes, delta_s, only, out)
    return out[:count]


def _describe_bodies(shapes: pl.DataFrame) -> _Bodies:
    solid = solid_bodies(shapes)
    columns = np.zeros((solid.height, SHAPE_COLUMNS))
    columns[:, HX], columns[:, HY] = solid[c.HALF_X_M], solid[c.HALF_Y_M]
    columns[:, ROUND] = solid[IS_ROUND]
    columns[:, MOVES] = solid[c.KIND] != "prop"
    return _Bodies(
        numbers=solid[c.ACTOR].to_numpy().astype(np.int64),
        shapes=columns,
        table=solid,
        half_z=solid[c.HALF_Z_M].to_numpy().astype(float),
    )


class _Held:
    """Makes dense (tick, actor) arrays; what has no row keeps its last pose while it exists."""

    def __init__(self, bodies: _Bodies) -> None:
        self._bodies = bodies
        self._last: Floats = np.zeros((len(bodies.numbers), POSE_COLUMNS))

    def dense(
        self, states: pl.LazyFrame, actors: pl.DataFrame, ticks: NDArray[np.int64]
    ) -> tuple[Floats, NDArray[np.bool_], Floats]:
        numbers = self._bodies.numbers
        wanted = states.filter(
            pl.col(c.TICK).is_between(int(ticks[0]), int(ticks[-1]))
            & pl.col(c.ACTOR).cast(pl.Int64).is_in(numbers.tolist())
        )
        rows = wanted.select(_NEEDED).collect()
        who = np.searchsorted(numbers, rows[c.ACTOR].to_numpy())
        when = np.searchsorted(ticks, rows[c.TICK].to_numpy())
        poses = np.zeros((len(ticks), len(numbers), POSE_COLUMNS))
        known = np.zeros((len(ticks), len(numbers)), np.bool_)
        poses[when, who] = self._poses(rows, who)
        known[when, who] = True
        source = np.where(known, np.arange(len(ticks))[:, None], -1)
        source = np.maximum.accumulate(source, axis=0)
        filled = poses[source, np.arange(len(numbers))[None, :]]
        poses = np.where(source[..., None] >= 0, filled, self._last[None])
        # A held pose stands still, whatever speed its last row had.
        poses[~known, VX] = poses[~known, VY] = poses[~known, TURN] = 0.0
        self._last = poses[-1].copy()
        life = actors.filter(pl.col(c.ACTOR).cast(pl.Int64).is_in(numbers.tolist())).sort(c.ACTOR)
        born, gone = life[c.FIRST_TICK].to_numpy(), life[c.LAST_TICK].to_numpy()
        alive = (ticks[:, None] >= born) & (ticks[:, None] <= gone)
        return poses, alive, np.hypot(poses[..., VX], poses[..., VY])

    def _poses(self, rows: pl.DataFrame, who: NDArray[np.int64]) -> Floats:
        out = np.zeros((rows.height, POSE_COLUMNS))
        place, half_z = box_places(rows, self._bodies.table, who), self._bodies.half_z[who]
        out[:, _X], out[:, _Y] = place[:, 0], place[:, 1]
        out[:, COS], out[:, SIN] = np.cos(place[:, 3]), np.sin(place[:, 3])
        out[:, LOW], out[:, HIGH] = place[:, 2] - half_z, place[:, 2] + half_z
        out[:, VX], out[:, VY] = rows[c.VX_MPS].to_numpy(), rows[c.VY_MPS].to_numpy()
        out[:, TURN] = np.radians(rows[c.WZ_DPS].to_numpy().astype(float))
        return out


def _merge(
    touches: list[tuple[int, NDArray[np.void], Floats]],
    bodies: _Bodies,
    ticks: NDArray[np.int64],
    times: Floats,
    merge_s: float,
    ego: int | None,
) -> list[Contact]:
    latest: dict[tuple[int, int], tuple[int, Contact]] = {}
    done: list[Contact] = []
    for first, rows, speeds in touches:
        for touch, (speed_a, speed_b) in zip(rows, speeds, strict=True):
            step = first + int(touch["step"])
            pair = int(touch["a"]), int(touch["b"])
            if pair in latest:
                last_step, contact = latest[pair]
                # A step that touches again at once has no gap at all.
                if step == last_step + 1 or times[step - 1] - times[last_step] < merge_s:
                    latest[pair] = step, replace(contact, end_tick=int(ticks[step]))
                    continue
                done.append(contact)
            found = _contact(touch, int(ticks[step]), speed_a, speed_b, bodies)
            latest[pair] = step, found
    done += [contact for _, contact in latest.values()]
    named = [_swap(hit) if hit.other == ego else hit for hit in done]
    return sorted(named, key=lambda hit: (hit.tick, hit.actor, hit.other))


def _contact(touch: np.void, tick: int, speed_a: float, speed_b: float, bodies: _Bodies) -> Contact:
    return Contact(
        actor=int(bodies.numbers[touch["a"]]),
        other=int(bodies.numbers[touch["b"]]),
        tick=tick,
        end_tick=tick,
        x_m=float(touch["x_m"]),
        y_m=float(touch["y_m"]),
        z_m=float(touch["z_m"]),
        normal_x=float(touch["nx"]),
        normal_y=float(touch["ny"]),
        speed_mps=float(speed_a),
        other_speed_mps=float(speed_b),
        closing_mps=float(touch["closing_mps"]),
    )


def _swap(hit: Contact) -> Contact:
    return replace(
        hit,
        actor=hit.other,
        other=hit.actor,
        speed_mps=hit.other_speed_mps,
        other_speed_mps=hit.speed_mps,
        normal_x=-hit.normal_x,
        normal_y=-hit.normal_y,
    )
