"""Arrays read from a record: bodies, traffic lights and the route over time.

All readers of records use this module. Frame: CARLA's, left-handed, in metres. A body without a row
at a tick keeps its last pose with zero speed; ``source`` gives the row of each pose, so that gaps
stay visible.

There are two ways to resample. ``tenth_ticks`` selects the ticks that fall on tenths of a second
for ten samples per second; it interpolates nothing, and a gap appears as a jump of the number
``k``. ``resample`` interpolates between rows at any other times.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import polars as pl

from jaywalk.core.arrays import BoolArray, FloatArray, IntArray
from jaywalk.core.errors import DataError
from jaywalk.record import columns as c
from jaywalk.record.bodies import IS_ROUND, body_shapes, box_places, solid_bodies
from jaywalk.record.reader import Record

# Columns of a pose: centre of the box, heading, velocity, rate of turning.
X, Y, Z, COS, SIN, VX, VY, TURN = range(8)
POSE_COLUMNS: Final = 8
# Columns of a shape: half length, half width, 1 for an upright cylinder (radius: half length).
HX, HY, ROUND = range(3)

TENTH_S: Final = 0.1
_ON_TENTH_S: Final = 1e-4
_DRIVING: Final = (c.BRAKE, c.SPEED_LIMIT_KMH, c.AT_LIGHT, c.LIGHT_STATE)
_POSE_ROWS: Final = (
    c.ACTOR,
    c.TICK,
    c.X_M,
    c.Y_M,
    c.Z_M,
    c.YAW_DEG,
    c.VX_MPS,
    c.VY_MPS,
    c.WZ_DPS,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class BodyStates:
    """States of some bodies at some ticks.

    Attributes:
        rows: The states, by body and tick.
        body_at: Index of the body of each row.
        tick_at: Index of the tick of each row.
        pose: (m, n, 8) by the columns above.
        yaw_rad: (m, n) heading of the box.
        source: (m, n) index of the tick whose row the pose comes from; -1 before the first row.
        known: (m, n) whether the body had a row by then.
    """

    rows: pl.DataFrame
    body_at: IntArray
    tick_at: IntArray
    pose: FloatArray
    yaw_rad: FloatArray
    source: IntArray
    known: BoolArray


class PoseReader:
    """Reader of the poses of bodies, one range of ticks at a time and in order.

    Args:
        bodies: Shaped actors, sorted by number.
        columns: Further columns of the states to keep.
    """

    def __init__(self, bodies: pl.DataFrame, columns: Iterable[str] = ()) -> None:
        self.number: IntArray = bodies[c.ACTOR].to_numpy().astype(np.int64)
        self._bodies = bodies
        self._columns = tuple(dict.fromkeys((*_POSE_ROWS, *columns)))
        self._last_pose = np.zeros((len(self.number), POSE_COLUMNS))
        self._last_yaw = np.zeros(len(self.number))
        self._had_row = np.zeros(len(self.number), np.bool_)

    def read(self, states: pl.LazyFrame, tick: IntArray) -> BodyStates:
        """Read the poses at ascending ticks; earlier stretches say how bodies stood before."""
        rows, body_at, tick_at = self._rows(states, tick)
        size = len(self.number), len(tick)
        pose, yaw = np.zeros((*size, POSE_COLUMNS)), np.zeros(size)
        has_row = np.zeros(size, np.bool_)
        place = box_places(rows, self._bodies, body_at)
        pose[body_at, tick_at] = _row_poses(rows, place)
        yaw[body_at, tick_at] = place[:, 3]
        has_row[body_at, tick_at] = True
        source = np.maximum.accumulate(np.where(has_row, np.arange(len(tick))[None, :], -1), axis=1)
        # Before its first row a body is not present; there, too, it must not seem to jump.
        first = np.argmax(has_row, axis=1)[:, None] if len(tick) else np.zeros((size[0], 1), int)
        take = np.arange(size[0])[:, None], np.where(source < 0, first, source)
        pose, yaw = pose[take], yaw[take]
        from_before = (source < 0) & self._had_row[:, None]
        pose = np.where(from_before[..., None], self._last_pose[:, None], pose)
        yaw = np.where(from_before, self._last_yaw[:, None], yaw)
        pose[~has_row, VX:] = 0.0
        known = (source >= 0) | from_before
        if len(tick):
            self._last_pose, self._last_yaw = pose[:, -1].copy(), yaw[:, -1].copy()
            self._had_row = known[:, -1].copy()
        return BodyStates(
            rows=rows,
            body_at=body_at,
            tick_at=tick_at,
            pose=pose,
            yaw_rad=yaw,
            source=source,
            known=known,
        )

    def _rows(
        self, states: pl.LazyFrame, tick: IntArray
    ) -> tuple[pl.DataFrame, IntArray, IntArray]:
        span = (int(tick[0]), int(tick[-1])) if len(tick) else (0, -1)
        chosen = states.filter(
            pl.col(c.TICK).is_between(*span)
            & pl.col(c.ACTOR).cast(pl.Int64).is_in(self.number.tolist())
        )
        rows = chosen.select(self._columns).sort(c.ACTOR, c.TICK).collect()
        tick_at = np.searchsorted(tick, rows[c.TICK].to_numpy())
        if len(tick):
            on = tick[tick_at] == rows[c.TICK].to_numpy()
            rows, tick_at = rows.filter(pl.Series(on)), tick_at[on]
        body_at = np.searchsorted(self.number, rows[c.ACTOR].to_numpy())
        return rows, body_at.astype(np.int64), tick_at.astype(np.int64)


def _row_poses(rows: pl.DataFrame, place: FloatArray) -> FloatArray:
    out = np.zeros((rows.height, POSE_COLUMNS))
    out[:, [X, Y, Z]] = place[:, :3]
    out[:, COS], out[:, SIN] = np.cos(place[:, 3]), np.sin(place[:, 3])
    out[:, VX], out[:, VY] = rows[c.VX_MPS].to_numpy(), rows[c.VY_MPS].to_numpy()
    out[:, TURN] = np.radians(rows[c.WZ_DPS].to_numpy().astype(np.float64))
    return out


def alive_at(bodies: pl.DataFrame, tick: IntArray) -> BoolArray:
    """(m, n) whether actors existed at ticks."""
    born = bodies[c.FIRST_TICK].to_numpy()[:, None]
    gone = bodies[c.LAST_TICK].to_numpy()[:, None]
    return np.asarray((tick[None, :] >= born) & (tick[None, :] <= gone))


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeTracks:
    """Bodies of an episode at its ticks, or at some of them.

    Attributes:
        tick: (n,) numbers of the ticks.
        time_s: (n,) game time.
        delta_s: (n,) length of the step that ends at the tick.
        bodies: Shaped actors, by number: one row per body.
        number: (m,) number of each body in the record.
        kind: vehicle, walker or prop.
        type_id: Blueprint.
        shape: (m, 3) half length, half width, whether round: people are, animals are not.
        states: Rows and poses.
        present: (m, n) whether it existed and had a row by then.
        ego_index: Index of the ego among the bodies; None if it is not one of them.
    """

    tick: IntArray
    time_s: FloatArray
    delta_s: FloatArray
    bodies: pl.DataFrame
    number: IntArray
    kind: tuple[str, ...]
    type_id: tuple[str, ...]
    shape: FloatArray
    states: BodyStates
    present: BoolArray
    ego_index: int | None

    @property
    def ego(self) -> int:
        """Index of the ego among the bodies."""
        if self.ego_index is None:
            raise DataError("The record has no ego among its bodies; choose one that has.")
        return self.ego_index

    @property
    def pose(self) -> FloatArray:
        """Poses (m, n, 8) by the columns above; a body without a row stands at its last pose."""
        return self.states.pose

    @property
    def people(self) -> list[int]:
        """Indices of the people (and animals)."""
        return [k for k, kind in enumerate(self.kind) if kind == "walker"]

    @property
    def others(self) -> list[int]:
        """Indices of all bodies except the ego."""
        return [k for k in range(len(self.number)) if k != self.ego]

    @property
    def ego_pose(self) -> FloatArray:
        """(n, 8) poses of the ego."""
        return np.asarray(self.pose[self.ego])

    def speed_mps(self, body: int) -> FloatArray:
        """(n,) speed over the ground."""
        return np.asarray(np.hypot(self.pose[body, :, VX], self.pose[body, :, VY]))

    def name(self, body: int) -> str:
        """Name of a body in messages."""
        word = {"walker": "person", "vehicle": "vehicle"}.get(self.kind[body], "object")
        if self.type_id[body].startswith("walker.animal"):
            word = "animal"
        return f"{word} {self.number[body]} ({self.type_id[body]})"

    def seen(self, body: int) -> IntArray:
        """Return the indices (k,) of the ticks at which a body has a row."""
        return self.states.tick_at[self._part(body)]

    def values(self, body: int, *names: str) -> FloatArray:
        """Return state values (k, columns) of a body at the ticks ``seen``; NaN where unknown."""
        return number_columns(self.states.rows[self._part(body)], *names)

    def dense(self, name: str) -> FloatArray:
        """Return one column of the states, (m, n); NaN where unknown or without a row."""
        out = np.full(self.present.shape, np.nan)
        values = number_columns(self.states.rows, name)[:, 0]
        out[self.states.body_at, self.states.tick_at] = values
        return out

    def _part(self, body: int) -> slice:
        low, high = np.searchsorted(self.states.body_at, [body, body + 1])
        return slice(int(low), int(high))


def number_columns(rows: pl.DataFrame, *names: str) -> FloatArray:
    """Return columns of a table as numbers (n, columns); NaN where unknown."""
    return np.column_stack(
        [rows[name].cast(pl.Float64).fill_null(np.nan).to_numpy() for name in names]
    )


def read_tracks(
    record: Record,
    *,
    only: pl.Expr | None = None,
    tick: IntArray | None = None,
    columns: Iterable[str] = (),
) -> EpisodeTracks:
    """Read the bodies of a record.

    Args:
        record: The episode.
        only: Which rows of ``actors``; None: bodies that can be touched, and the ego.
        tick: Which ticks, ascending; None: all.
        columns: Further columns of the states, for ``values`` and ``dense``.
    """
    ego = record.episode.ego_actor
    ticks = record.ticks.select(c.TICK, c.TIME_S, c.DELTA_S).collect()
    if tick is not None:
        ticks = ticks.filter(pl.col(c.TICK).cast(pl.Int64).is_in(tick.tolist()))
    actors = record.actors if only is None else record.actors.filter(only)
    shapes = body_shapes(actors.collect(), record.states)
    bodies = shapes.sort(c.ACTOR) if only is not None else _solid_or_ego(shapes, ego)
    reader = PoseReader(bodies, columns)
    numbers = ticks[c.TICK].to_numpy().astype(np.int64)
    states = reader.read(record.states, numbers)
    where = np.flatnonzero(reader.number == (-1 if ego is None else ego))
    return EpisodeTracks(
        tick=numbers,
        time_s=ticks[c.TIME_S].to_numpy().astype(np.float64),
        delta_s=ticks[c.DELTA_S].to_numpy().astype(np.float64),
        bodies=bodies,
        number=reader.number,
        kind=tuple(bodies[c.KIND]),
        type_id=tuple(bodies[c.TYPE_ID]),
        shape=bodies.select(pl.col(c.HALF_X_M, c.HALF_Y_M, IS_ROUND).cast(pl.Float64)).to_numpy(),
        states=states,
        present=alive_at(bodies, numbers) & states.known,
        ego_index=int(where[0]) if len(where) else None,
    )


def _solid_or_ego(shapes: pl.DataFrame, ego: int | None) -> pl.DataFrame:
    solid = solid_bodies(shapes)
    if ego is None or ego in solid[c.ACTOR]:
        return solid
    return pl.concat([solid, shapes.filter(pl.col(c.ACTOR) == ego)]).sort(c.ACTOR)


def load_tracks(record: Record) -> EpisodeTracks | None:
    """Read the bodies that can be touched; None when the record has no ego or no ticks.

    Brakes, speed limits and lights are among the columns of the states.
    """
    if record.episode.ego_actor is None:
        return None
    tracks = read_tracks(record, columns=_DRIVING)
    return tracks if len(tracks.tick) and tracks.ego_index is not None else None


class TenthTicks(NamedTuple):
    """Ticks that fall on tenths of a second."""

    tick: IntArray
    k: IntArray  # the time in tenths; a gap in the record is a jump

    def first_stretch(self) -> TenthTicks:
        """The ticks up to the first gap."""
        gap = np.flatnonzero(np.diff(self.k) != 1)
        stop = int(gap[0]) + 1 if len(gap) else len(self.k)
        return TenthTicks(self.tick[:stop], self.k[:stop])


def tenth_ticks(record: Record) -> TenthTicks:
    """Ticks that fall on tenths of a second; nothing is interpolated.

    Raises:
        DataError: Fewer than half of the tenths have a tick.
    """
    ticks = record.ticks.select(c.TICK, c.TIME_S).collect()
    time_s = ticks[c.TIME_S].to_numpy().astype(np.float64)
    k = np.round(time_s / TENTH_S)
    on = np.abs(time_s - k * TENTH_S) < _ON_TENTH_S
    span_s = float(time_s[-1] - time_s[0]) if len(time_s) else 0.0
    if np.count_nonzero(on) < 0.5 * span_s / TENTH_S:
        raise DataError(
            f"{record.folder}: its {len(time_s)} ticks do not fall on tenths of a second; record "
            "with steps of 0.1, 0.05, 0.02 or 0.01 s."
        )
    return TenthTicks(ticks[c.TICK].to_numpy()[on].astype(np.int64), k[on].astype(np.int64))


def resample(time_s: FloatArray, values: FloatArray, at_s: FloatArray) -> FloatArray:
    """Values between rows by linear interpolation; NaN before the first and after the last row.

    Args:
        time_s: (k,) times of the rows.
        values: (k,) values of the rows.
        at_s: (n,) times to read.
    """
    inside = (at_s >= time_s[0] - 1e-9) & (at_s <= time_s[-1] + 1e-9)
    return np.where(inside, np.interp(at_s, time_s, values), np.nan)


def light_changes(record: Record) -> dict[int, tuple[IntArray, IntArray]]:
    """Ticks and states of the changes of each traffic light, by its number."""
    rows = record.signals.select(c.ACTOR, c.TICK, c.STATE).sort(c.ACTOR, c.TICK).collect()
    return {
        int(str(actor)): (
            changes[c.TICK].to_numpy().astype(np.int64),
            changes[c.STATE].to_numpy().astype(np.int64),
        )
        for (actor,), changes in rows.group_by(c.ACTOR, maintain_order=True)
    }


def light_states(record: Record, tick: IntArray) -> dict[int, IntArray]:
    """Return the state of each traffic light at each tick, (n,); -1 before it was first seen."""
    out = {}
    for actor, (changed, state) in light_changes(record).items():
        at = np.searchsorted(changed, tick, "right") - 1
        out[actor] = np.where(at >= 0, state[np.maximum(at, 0)], -1)
    return out


def route_points(record: Record) -> FloatArray:
    """(n, 3) points of the route in its order."""
    rows = record.route.sort(c.INDEX).select(c.X_M, c.Y_M, c.Z_M).collect()
    return np.asarray(rows.to_numpy().astype(np.float64)).reshape(-1, 3)
