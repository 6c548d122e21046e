"""Arrays of a recorded episode for drawing: poses of bodies, states of lights and hits.

Frame: CARLA's, left-handed, in metres; angles in radians, clockwise seen from above. A pose is that
of the centre of the body's box. The first axis of every array is the recorded tick.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import polars as pl

from jaywalk.core.arrays import FloatArray, IntArray
from jaywalk.core.units import MPS_TO_KMH
from jaywalk.record import columns as c
from jaywalk.record.episode import Episode
from jaywalk.record.queries import Contact, contacts, landmark_rows
from jaywalk.record.reader import Record
from jaywalk.record.tracks import (
    HX,
    HY,
    EpisodeTracks,
    X,
    Y,
    light_changes,
    read_tracks,
    route_points,
)

BodyKind = Literal["ego", "vehicle", "walker", "prop"]

_DRAWN: Final = ("vehicle", "walker", "prop")
_CONTROLS: Final = (c.THROTTLE, c.BRAKE, c.SPEED_LIMIT_KMH)
_MOVING_MPS: Final = 0.2
_STANDING_SHOWN_S: Final = 15.0
_DEFAULT_HALF_M: Final = {"vehicle": (2.3, 0.95), "walker": (0.19, 0.19), "prop": (0.4, 0.4)}


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnBody:
    """One actor that can be drawn.

    Attributes:
        first: Row of the scene at which it appears.
        pose: (n, 3): x, y, yaw from that row on.
        speed_mps: (n,).
        half_m: Half length and half width; a person's radius twice.
    """

    actor: int
    kind: BodyKind
    type_id: str
    half_m: tuple[float, float]
    first: int
    pose: FloatArray
    speed_mps: FloatArray

    def at(self, row: int) -> FloatArray | None:
        """Return the pose at a row of the scene; None if the body is absent."""
        k = row - self.first
        return self.pose[k] if 0 <= k < len(self.pose) else None

    @property
    def is_walker(self) -> bool:
        """Return whether the body is a person or an animal."""
        return self.kind == "walker"

    @property
    def is_round(self) -> bool:
        """Return whether the body is a cylinder: people are cylinders, animals are boxes."""
        return self.kind == "walker" and self.half_m[0] == self.half_m[1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Light:
    """Traffic light: its stop lines, and its states by row of the scene."""

    place_m: tuple[float, float]
    stops: FloatArray  # (k, 4): x, y, yaw of the lane, half width
    rows: IntArray  # rows at which a state begins
    states: IntArray

    def state_at(self, row: int) -> int:
        """State that holds at a row."""
        k = int(np.searchsorted(self.rows, row, side="right")) - 1
        return int(self.states[max(k, 0)]) if len(self.states) else 4


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnHit:
    """A contact of the ego, and the row of the drawn tick at which it begins."""

    row: int
    contact: Contact

    @property
    def place_m(self) -> tuple[float, float]:
        """Where it is drawn."""
        x_m, y_m = self.contact.x_m, self.contact.y_m
        return (0.0 if math.isnan(x_m) else x_m), (0.0 if math.isnan(y_m) else y_m)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """Drawable content of an episode; the ego, if there is one, is the first body."""

    episode: Episode
    ticks: IntArray
    time_s: FloatArray
    bodies: tuple[DrawnBody, ...]
    lights: tuple[Light, ...]
    route_m: FloatArray  # (n, 2)
    hits: tuple[DrawnHit, ...]
    controls: dict[str, FloatArray]  # of the ego: throttle, brake, speed_limit_mps

    @property
    def ego(self) -> DrawnBody | None:
        """The driver under test."""
        return self.bodies[0] if self.bodies and self.bodies[0].kind == "ego" else None

    def row_at(self, time_s: float) -> int:
        """Row nearest to a game time."""
        return int(np.abs(self.time_s - time_s).argmin())

    def row_of_tick(self, tick: int) -> int:
        """Row of a tick, or of the last one before it."""
        return max(int(np.searchsorted(self.ticks, tick, side="right")) - 1, 0)

    def focus(self, row: int) -> tuple[float, float]:
        """Return the centre of view (m): the ego, or the median position of all bodies."""
        if self.ego is not None:
            k = min(max(row - self.ego.first, 0), len(self.ego.pose) - 1)
            return float(self.ego.pose[k, 0]), float(self.ego.pose[k, 1])
        seen = [pose for body in self.bodies if (pose := body.at(row)) is not None]
        if not seen:
            return 0.0, 0.0
        middle = np.median(np.array(seen)[:, :2], axis=0)
        return float(middle[0]), float(middle[1])


def rows_worth_showing(scene: Scene) -> int:
    """Return the number of rows until some seconds after the ego's last move; all without an ego.

    A blocked ego may stand for minutes before a run ends.
    """
    ego = scene.ego
    if ego is None:
        return len(scene.time_s)
    moving = np.flatnonzero(ego.speed_mps > _MOVING_MPS)
    stop = ego.first + int(moving[-1]) if len(moving) else ego.first
    last = int(np.searchsorted(scene.time_s, scene.time_s[stop] + _STANDING_SHOWN_S, side="right"))
    return len(scene.time_s) if scene.time_s[-1] - scene.time_s[last - 1] < 5.0 else last


def read_scene(record: Record, *, reach_m: float = 90.0) -> Scene:
    """Read a scene to draw, without bodies that never come within ``reach_m`` of the ego."""
    drawn = pl.col(c.KIND).is_in(_DRAWN) & pl.col(c.PARENT).is_null()
    tracks = read_tracks(record, only=drawn, columns=_CONTROLS)
    return Scene(
        episode=record.episode,
        ticks=tracks.tick,
        time_s=tracks.time_s,
        bodies=_bodies(tracks, reach_m),
        lights=_lights(record, tracks.tick),
        route_m=np.ascontiguousarray(route_points(record)[:, :2]),
        hits=_hits(record, tracks.tick),
        controls=_controls(tracks),
    )


def _bodies(tracks: EpisodeTracks, reach_m: float) -> tuple[DrawnBody, ...]:
    bodies = [_body(tracks, k) for k in range(len(tracks.number)) if len(tracks.seen(k))]
    bodies.sort(key=lambda body: (body.kind != "ego", body.actor))
    if bodies and bodies[0].kind == "ego":
        near = [b for b in bodies[1:] if _comes_near(b, bodies[0], reach_m)]
        bodies = [bodies[0], *near]
    return tuple(bodies)


def _body(tracks: EpisodeTracks, body: int) -> DrawnBody:
    """Poses at every recorded tick of the actor's life; gaps keep the last pose and speed."""
    kind = tracks.kind[body]
    first = int(tracks.seen(body)[0])
    last_tick = tracks.bodies[c.LAST_TICK][body]
    last = max(int(np.searchsorted(tracks.tick, last_tick, side="right")), first + 1)
    life = slice(first, last)
    speed = tracks.speed_mps(body)[tracks.states.source[body, life]]
    if kind == "prop":
        speed = np.zeros_like(speed)
    place = tracks.pose[body, life][:, [X, Y]]
    half_x, half_y = np.nan_to_num(tracks.shape[body, [HX, HY]]).tolist()
    return DrawnBody(
        actor=int(tracks.number[body]),
        kind="ego" if body == tracks.ego_index else kind,  # type: ignore[arg-type]
        type_id=tracks.type_id[body],
        half_m=(half_x, half_y) if min(half_x, half_y) > 0.0 else _DEFAULT_HALF_M[kind],
        first=first,
        pose=np.column_stack([place, tracks.states.yaw_rad[body, life]]),
        speed_mps=speed,
    )


def _comes_near(body: DrawnBody, ego: DrawnBody, reach_m: float) -> bool:
    first = max(body.first, ego.first)
    last = min(body.first + len(body.pose), ego.first + len(ego.pose))
    if last <= first:
        return False
    mine, its = (b.pose[first - b.first : last - b.first, :2] for b in (ego, body))
    return bool((np.hypot(*(mine - its).T) < reach_m).any())


def _controls(tracks: EpisodeTracks) -> dict[str, FloatArray]:
    """Return controls of the ego on the scene's rows; NaN where the ego is absent."""
    if tracks.ego_index is None or not len(tracks.seen(tracks.ego)):
        return {}
    values = np.full((len(_CONTROLS), len(tracks.tick)), np.nan)
    values[:, tracks.seen(tracks.ego)] = tracks.values(tracks.ego, *_CONTROLS).T
    throttle, brake, limit_kmh = values
    return {"throttle": throttle, "brake": brake, "speed_limit_mps": limit_kmh / MPS_TO_KMH}


def _lights(record: Record, tick: IntArray) -> tuple[Light, ...]:
    marks = landmark_rows(record).select(c.ACTOR, c.X_M, c.Y_M, c.STOP_WAYPOINTS)
    changes = light_changes(record)
    lights = []
    for actor, x, y, stops in marks.iter_rows():
        if actor not in changes:
            continue
        changed, states = changes[actor]
        bars = [
            (s[c.X_M], s[c.Y_M], math.radians(s[c.YAW_DEG]), 0.5 * s[c.LANE_WIDTH_M])
            for s in stops or ()
        ]
        lights.append(
            Light(
                place_m=(float(x), float(y)),
                stops=np.array(bars, float).reshape(-1, 4),
                rows=np.searchsorted(tick, changed).astype(np.int64),
                states=states,
            )
        )
    return tuple(lights)


def _hits(record: Record, tick: IntArray) -> tuple[DrawnHit, ...]:
    ego = record.episode.ego_actor
    if ego is None:
        return ()
    return tuple(
        DrawnHit(row=int(np.searchsorted(tick, contact.tick)), contact=contact)
        for contact in contacts(record, ego)
        if contact.actor == ego
    )
