"""A record as dense arrays: where every body was at every tick. The only reader of the states here.

Frame: CARLA's own, left-handed metres. Nothing in this room depends on the handedness.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jaywalk.record import Record
from jaywalk.record import columns as c
from jaywalk.record.bodies import IS_ROUND, body_shapes, box_places, solid_bodies

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

# Columns of a pose: centre of the box, heading, velocity, rate of turning.
X, Y, Z, COS, SIN, VX, VY, TURN = range(8)
POSE_COLUMNS: Final = 8
# Columns of a shape: half length, half width, 1 for an upright cylinder (radius: half length).
HX, HY, ROUND = range(3)

MOVING_MPS: Final = 0.3  # slower bodies keep the direction they last moved in
_ROWS: Final = (
    c.ACTOR, c.TICK, c.X_M, c.Y_M, c.Z_M, c.YAW_DEG, c.VX_MPS, c.VY_MPS, c.WZ_DPS,
)  # fmt: skip


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

    tick: Ints
    time_s: Floats
    number: Ints
    kind: tuple[str, ...]
    type_id: tuple[str, ...]
    shape: Floats
    pose: Floats
    present: Bools
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
    def ego_pose(self) -> Floats:
        """(n, 8) poses of the ego."""
        return np.asarray(self.pose[self.ego])

    def speed_mps(self, body: int) -> Floats:
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


def _present(bodies: pl.DataFrame, tick: Ints) -> Bools:
    born = bodies[c.FIRST_TICK].to_numpy()[:, None]
    gone = bodies[c.LAST_TICK].to_numpy()[:, None]
    return np.asarray((tick[None, :] >= born) & (tick[None, :] <= gone))


def _poses(record: Record, bodies: pl.DataFrame, number: Ints, tick: Ints) -> tuple[Floats, Bools]:
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


def _rows_to_poses(rows: pl.DataFrame, bodies: pl.DataFrame, who: Ints) -> Floats:
    place = box_places(rows, bodies, who)
    out = np.zeros((rows.height, POSE_COLUMNS))
    out[:, [X, Y, Z]] = place[:, :3]
    out[:, COS], out[:, SIN] = np.cos(place[:, 3]), np.sin(place[:, 3])
    out[:, VX], out[:, VY] = rows[c.VX_MPS].to_numpy(), rows[c.VY_MPS].to_numpy()
    out[:, TURN] = np.radians(rows[c.WZ_DPS].to_numpy().astype(np.float64))
    return out


def directions(tracks: Tracks, body: int) -> Floats:
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
