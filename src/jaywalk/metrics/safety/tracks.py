"""A record as dense arrays: where every body was at every tick. The only reader of the states here.

Frame: CARLA's own, left-handed metres. Nothing in this room depends on the handedness.

The ego's way: where it drove and, past that, where it would have gone on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl

from jaywalk.core.arrays import BoolArray, FloatArray, IntArray
from jaywalk.geometry.path import Path, Projection, make_path, project, project_each
from jaywalk.record import Record
from jaywalk.record import columns as c
from jaywalk.record.bodies import IS_ROUND, body_shapes, box_places, solid_bodies

# Columns of a pose: centre of the box, heading, velocity, rate of turning.
X, Y, Z, COS, SIN, VX, VY, TURN = range(8)
POSE_COLUMNS: Final = 8
# Columns of a shape: half length, half width, 1 for an upright cylinder (radius: half length).
HX, HY, ROUND = range(3)

MOVING_MPS: Final = 0.3  # slower bodies keep the direction they last moved in
_ROWS: Final = (
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
class Tracks:
    """Every body of an episode at every tick.

    Attributes:
        tick: (n,) numbers of the ticks.
        time_s: (n,) game time.
        number: (m,) number of each body in the record.
        kind: vehicle, walker or prop.
        type_id: Blueprint.
        shape: (m, 3) half length, half width, whether round: people are, animals are not.
        pose: (m, n, 8) by the columns above; what has no row keeps its last pose, standing.
        present: (m, n) whether it existed.
        ego: Index of the ego among the bodies.
    """

    tick: IntArray
    time_s: FloatArray
    number: IntArray
    kind: tuple[str, ...]
    type_id: tuple[str, ...]
    shape: FloatArray
    pose: FloatArray
    present: BoolArray
    ego: int

    @property
    def people(self) -> list[int]:
        """Indices of the people (and animals)."""
        return [k for k, kind in enumerate(self.kind) if kind == "walker"]

    @property
    def others(self) -> list[int]:
        """Indices of everybody but the ego."""
        return [k for k in range(len(self.number)) if k != self.ego]

    @property
    def ego_pose(self) -> FloatArray:
        """(n, 8) poses of the ego."""
        return np.asarray(self.pose[self.ego])

    def speed_mps(self, body: int) -> FloatArray:
        """(n,) speed over the ground."""
        return np.asarray(np.hypot(self.pose[body, :, VX], self.pose[body, :, VY]))

    def name(self, body: int) -> str:
        """How a message calls a body."""
        word = {"walker": "person", "vehicle": "vehicle"}.get(self.kind[body], "object")
        if self.type_id[body].startswith("walker.animal"):
            word = "animal"
        return f"{word} {self.number[body]} ({self.type_id[body]})"


def load_tracks(record: Record) -> Tracks | None:
    """Read a record's bodies; None when it has no ego or no ticks."""
    ego = record.episode.ego_actor
    ticks = record.ticks.select(c.TICK, c.TIME_S).collect()
    bodies = _bodies(record, ego)
    if ego is None or ticks.is_empty() or ego not in bodies[c.ACTOR]:
        return None
    number = bodies[c.ACTOR].to_numpy().astype(np.int64)
    tick = ticks[c.TICK].to_numpy().astype(np.int64)
    pose, known = _poses(record, bodies, number, tick)
    present = _present(bodies, tick) & known
    return Tracks(
        tick=tick,
        time_s=ticks[c.TIME_S].to_numpy().astype(np.float64),
        number=number,
        kind=tuple(bodies[c.KIND]),
        type_id=tuple(bodies[c.TYPE_ID]),
        shape=bodies.select(pl.col(c.HALF_X_M, c.HALF_Y_M, IS_ROUND).cast(pl.Float64)).to_numpy(),
        pose=pose,
        present=present,
        ego=int(np.searchsorted(number, ego)),
    )


def _bodies(record: Record, ego: int | None) -> pl.DataFrame:
    shapes = body_shapes(record.actors.collect(), record.states)
    solid = solid_bodies(shapes)
    if ego is None or ego in solid[c.ACTOR]:
        return solid
    return pl.concat([solid, shapes.filter(pl.col(c.ACTOR) == ego)]).sort(c.ACTOR)


def _present(bodies: pl.DataFrame, tick: IntArray) -> BoolArray:
    born = bodies[c.FIRST_TICK].to_numpy()[:, None]
    gone = bodies[c.LAST_TICK].to_numpy()[:, None]
    return np.asarray((tick[None, :] >= born) & (tick[None, :] <= gone))


def _poses(
    record: Record, bodies: pl.DataFrame, number: IntArray, tick: IntArray
) -> tuple[FloatArray, BoolArray]:
    """Dense poses, and from when on each body has one."""
    rows = record.states.select(_ROWS).collect()
    who = np.searchsorted(number, rows[c.ACTOR].to_numpy())
    when = np.searchsorted(tick, rows[c.TICK].to_numpy())
    inside = (who < len(number)) & (when < len(tick))
    inside[inside] &= (number[who[inside]] == rows[c.ACTOR].to_numpy()[inside]) & (
        tick[when[inside]] == rows[c.TICK].to_numpy()[inside]
    )
    who, when = who[inside], when[inside]
    pose = np.zeros((len(number), len(tick), POSE_COLUMNS))
    known = np.zeros((len(number), len(tick)), np.bool_)
    pose[who, when] = _rows_to_poses(rows.filter(pl.Series(inside)), bodies, who)
    known[who, when] = True
    source = np.maximum.accumulate(np.where(known, np.arange(len(tick))[None, :], -1), axis=1)
    # Before its first row a body is not present; there, too, it must not seem to jump.
    first = np.argmax(known, axis=1)[:, None]
    held = pose[np.arange(len(number))[:, None], np.where(source < 0, first, source)]
    held[~known] *= np.array([1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0])
    return held, source >= 0


def _rows_to_poses(rows: pl.DataFrame, bodies: pl.DataFrame, who: IntArray) -> FloatArray:
    place = box_places(rows, bodies, who)
    out = np.zeros((rows.height, POSE_COLUMNS))
    out[:, [X, Y, Z]] = place[:, :3]
    out[:, COS], out[:, SIN] = np.cos(place[:, 3]), np.sin(place[:, 3])
    out[:, VX], out[:, VY] = rows[c.VX_MPS].to_numpy(), rows[c.VY_MPS].to_numpy()
    out[:, TURN] = np.radians(rows[c.WZ_DPS].to_numpy().astype(np.float64))
    return out


def directions(tracks: Tracks, body: int) -> FloatArray:
    """(n, 2) unit vectors of motion; while it stands, as it last moved, else as it faces."""
    pose = tracks.pose[body]
    speed = tracks.speed_mps(body)
    moving = speed > MOVING_MPS
    unit = pose[:, [COS, SIN]].copy()
    unit[moving] = pose[moving][:, [VX, VY]] / speed[moving, None]
    if not moving.any():
        return np.asarray(unit)
    source = np.maximum.accumulate(np.where(moving, np.arange(len(speed)), -1))
    # Before its first move somebody is about to go where that move leads.
    source = np.where(source < 0, int(np.argmax(moving)), source)
    return np.asarray(unit[source])


SPACING_M = 0.25  # between vertices
_JITTER_M = 0.0025  # shorter steps between ticks are a standing car's
_ON_ROUTE_M = 5.0  # an ego that ends farther from its route would not have gone on along it
_BEYOND_M = 120.0
_BACK_M = 6.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """A path and how far along it the ego's front was at each tick."""

    path: Path
    front_m: FloatArray

    def stretch(self, from_m: float, to_m: float) -> Path:
        """A piece of the path; lengths along it begin at its first vertex's ``arc_m``."""
        arc = self.path.arc_m
        low = max(int(np.searchsorted(arc, from_m)) - 1, 0)
        high = min(int(np.searchsorted(arc, to_m)) + 1, len(arc))
        high = max(high, low + 2)
        low = min(low, len(arc) - 2)
        return Path(self.path.points_m[low:high], arc[low:high])

    def see(self, points_m: FloatArray, from_m: float, to_m: float) -> Projection:
        """Points (k, 2) seen from a stretch of the way. The sign of the offset has no meaning."""
        piece = self.stretch(from_m - _BACK_M, to_m + _BACK_M)
        return project_each(piece, points_m, start_m=float(piece.arc_m[0]))

    def bend_per_m(self, from_m: float, to_m: float) -> float:
        """Sharpest bend of a stretch, averaged over 4 m: change of heading per metre."""
        at = np.arange(from_m, max(to_m, from_m + 1.0), 1.0)
        arc, points = self.path.arc_m, self.path.points_m
        place = [
            np.column_stack([np.interp(at + shift, arc, points[:, k]) for k in range(2)])
            for shift in (-2.0, 0.0, 2.0)
        ]
        before, after = place[1] - place[0], place[2] - place[1]
        turn = np.arctan2(
            before[:, 0] * after[:, 1] - before[:, 1] * after[:, 0], (before * after).sum(axis=1)
        )
        return float(np.abs(turn).max() / 2.0)


def ego_way(record: Record, tracks: Tracks) -> Way:
    """The driven way, continued along the route, or straight on where there is none."""
    pose = tracks.ego_pose[tracks.present[tracks.ego]]
    last = pose[-1]
    beyond = _route_beyond(record, last)
    if beyond is None:
        beyond = last[[X, Y]] + _BEYOND_M * last[[[COS, SIN]]]
    steps_m = np.hypot(*np.diff(pose[:, :2], axis=0).T)
    driven_m = np.r_[0.0, np.cumsum(np.where(steps_m > _JITTER_M, steps_m, 0.0))]
    kept = np.flatnonzero(np.diff(np.floor(driven_m / SPACING_M), prepend=-1.0) > 0.0)
    path = make_path(np.vstack([pose[kept, :2], beyond]))
    along = np.full(len(tracks.tick), np.nan)
    along[tracks.present[tracks.ego]] = np.interp(driven_m, driven_m[kept], path.arc_m[: len(kept)])
    return Way(path=path, front_m=along + float(tracks.shape[tracks.ego, HX]))


def route_way(record: Record, tracks: Tracks) -> Way | None:
    """The way the ego was to drive: its route, if the record has it dense.

    It differs from the driven way where the ego went around something.
    """
    route = _route(record)
    if route is None:
        return None
    path = make_path(route, SPACING_M).extended(_BEYOND_M)
    seen = project(path, tracks.ego_pose[:, :2])
    return Way(path=path, front_m=seen.along_m + float(tracks.shape[tracks.ego, HX]))


def _route(record: Record) -> FloatArray | None:
    """Points of a dense route, None if it is not dense or has no length."""
    if not record.episode.route.dense:
        return None
    route = record.route.sort(c.INDEX).select(c.X_M, c.Y_M).collect().to_numpy()
    return route if len(route) >= 2 and np.ptp(route, axis=0).max() > 1.0 else None


def _route_beyond(record: Record, last: FloatArray) -> FloatArray | None:
    route = _route(record)
    if route is None:
        return None
    ahead = (route - last[[X, Y]]) @ last[[COS, SIN]]
    away = np.hypot(*(route - last[[X, Y]]).T)
    near = int(np.argmin(away))
    if away[near] > _ON_ROUTE_M:
        return None
    rest = route[near:]
    rest = rest[int(np.argmax(ahead[near:] > 0.5)) :] if (ahead[near:] > 0.5).any() else rest[:0]
    if len(rest) < 2:
        return None
    end = rest[-1] + (rest[-1] - rest[-2]) / max(np.hypot(*(rest[-1] - rest[-2])), 1e-6) * _BEYOND_M
    return np.vstack([rest, end])
