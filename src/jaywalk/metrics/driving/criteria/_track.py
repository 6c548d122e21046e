"""Arrays of the ego's track and of the dense route, and the ego's progress along the route.

The track has one row per tick on which the ego was seen. Frame: CARLA's, in metres and degrees.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jaywalk.core.arrays import FloatArray
from jaywalk.geometry.path import Path
from jaywalk.record import Record
from jaywalk.record import columns as c
from jaywalk.record.queries import actor_rows, state_rows
from jaywalk.record.tracks import EpisodeTracks, number_columns, read_tracks


@dataclass(frozen=True, slots=True)
class CriteriaRoute(Path):
    """Points (m, 3) about 1 m apart with the direction of travel. Frame: CARLA's.

    Distances along it are measured in space, as the public evaluators do.
    """

    forward: FloatArray  # (m, 3)


def criteria_route(points_m: FloatArray, forward: FloatArray) -> CriteriaRoute:
    """Make a route from points (m, 3) and directions (m, 3)."""
    steps = np.linalg.norm(np.diff(points_m, axis=0), axis=1)
    return CriteriaRoute(points_m, np.concatenate([[0.0], np.cumsum(steps)]), forward)


def advance(route: CriteriaRoute, places_m: FloatArray, window: int) -> NDArray[np.int64]:
    """Last point passed at each place, looking ``window`` points beyond the one before.

    A point is passed when the ego is in front of the plane through it, across the route; of
    several the last counts. The index never goes back.
    """
    points, ways = route.points_m.tolist(), route.forward.tolist()
    last = len(points) - 1
    out = np.empty(len(places_m), np.int64)
    index = 0
    for row, (x, y, z) in enumerate(places_m.tolist()):
        for k in range(min(index + window, last), index, -1):
            (px, py, pz), (fx, fy, fz) = points[k], ways[k]
            if (x - px) * fx + (y - py) * fy + (z - pz) * fz > 0.0:
                index = k
                break
        out[row] = index
    return out


@dataclass(frozen=True, slots=True, kw_only=True)
class CriteriaTrack:
    """Arrays of n rows.

    ``speed_mps`` is horizontal. ``game_s`` is the sum of the steps as CARLA reports them (0.05 s is
    the nearest 32-bit number), as the protocols measure it: 3600 steps are more than 180 s.
    """

    tick: NDArray[np.int64]
    time_s: FloatArray
    game_s: FloatArray
    place_m: FloatArray  # (n, 3)
    rotation_deg: FloatArray  # (n, 3): pitch, yaw, roll
    velocity_mps: FloatArray  # (n, 3)
    speed_mps: FloatArray
    limit_kmh: FloatArray
    traffic_mps: FloatArray  # mean speed of the background vehicles; NaN where there is none

    def __len__(self) -> int:
        return len(self.tick)

    @property
    def forward(self) -> FloatArray:
        """Unit vectors of the ego's heading, (n, 3)."""
        return forward_of(self.rotation_deg)

    def rows(self, first: int, stop: int) -> CriteriaTrack:
        """A part of it."""
        return CriteriaTrack(**{k.name: getattr(self, k.name)[first:stop] for k in fields(self)})

    def row_of(self, tick: int) -> int:
        """First row at or after a tick (n if none is)."""
        return int(np.searchsorted(self.tick, tick))


def forward_of(rotation_deg: FloatArray) -> FloatArray:
    """Forward vectors of Unreal rotators (n, 3): pitch, yaw, roll."""
    pitch, yaw = np.deg2rad(rotation_deg[:, 0]), np.deg2rad(rotation_deg[:, 1])
    flat = np.cos(pitch)
    return np.column_stack([flat * np.cos(yaw), flat * np.sin(yaw), np.sin(pitch)])


_EGO_COLUMNS: Final = (c.VZ_MPS, c.PITCH_DEG, c.ROLL_DEG, c.SPEED_LIMIT_KMH)


def read_ego(record: Record) -> EpisodeTracks:
    """Read the ego alone, with the columns of a track."""
    return read_tracks(
        record, only=pl.col(c.ACTOR) == record.episode.ego_actor, columns=_EGO_COLUMNS
    )


def track_of(ego: EpisodeTracks, traffic: pl.DataFrame) -> CriteriaTrack:
    """Track of the ticks that show the ego, with the traffic's mean speed by tick."""
    seen = ego.seen(ego.ego)
    tick = ego.tick[seen]
    steps = np.diff(tick, prepend=tick[:1] - 1)
    rows = pl.DataFrame({c.TICK: tick}).join(traffic, on=c.TICK, how="left", maintain_order="left")

    def values(*names: str) -> FloatArray:
        return ego.values(ego.ego, *names)

    velocity = values(c.VX_MPS, c.VY_MPS, c.VZ_MPS)
    return CriteriaTrack(
        tick=tick,
        time_s=ego.time_s[seen],
        game_s=np.cumsum(ego.delta_s[seen] * steps),
        place_m=values(c.X_M, c.Y_M, c.Z_M),
        rotation_deg=values(c.PITCH_DEG, c.YAW_DEG, c.ROLL_DEG),
        velocity_mps=velocity,
        speed_mps=np.hypot(velocity[:, 0], velocity[:, 1]),
        limit_kmh=values(c.SPEED_LIMIT_KMH)[:, 0],
        traffic_mps=number_columns(rows, "traffic_mps")[:, 0],
    )


def traffic_speed(record: Record, without: pl.DataFrame | None = None) -> pl.DataFrame:
    """Mean speed by tick of vehicles whose role is ``background``.

    Args:
        record: The episode.
        without: Rows (actor, tick) to leave out.
    """
    vehicles = actor_rows(record, "vehicle")
    traffic = vehicles.filter(pl.col(c.ROLE_NAME) == "background")[c.ACTOR].to_list()
    rows = state_rows(record, (c.VX_MPS, c.VY_MPS), actors=traffic)
    if without is not None and without.height:
        left_out = without.select(pl.col(n).cast(rows.schema[n]) for n in (c.ACTOR, c.TICK))
        rows = rows.join(left_out, on=[c.ACTOR, c.TICK], how="anti")
    return mean_speed_by_tick(rows)


def mean_speed_by_tick(states: pl.DataFrame) -> pl.DataFrame:
    """Mean speed of some states by tick, independent of the order of the rows."""
    speed = (
        pl.col(c.VX_MPS).cast(pl.Float64).pow(2) + pl.col(c.VY_MPS).cast(pl.Float64).pow(2)
    ).sqrt()
    # Summed in a fixed order: a parallel mean differs in its last bit from call to call.
    rows = states.sort(c.TICK, c.ACTOR).select(c.TICK, speed.alias("traffic_mps"))
    ticks, place = np.unique(rows[c.TICK].to_numpy(), return_inverse=True)
    total = np.bincount(place, rows["traffic_mps"].to_numpy(), len(ticks))
    mean = total / np.bincount(place, minlength=len(ticks))
    return pl.DataFrame({c.TICK: ticks.astype(np.int64), "traffic_mps": mean})
