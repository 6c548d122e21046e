"""Rollouts of recorded people: from a tick of a record the same people go on with other noise.

The model follows the record from its first tick, with the recorded places as its inputs, so that
gazes, memories and evidence are those of the run. At a tick it is copied once for each rollout.
From there people who plan to cross walk by the model, one key of noise for each rollout; vehicles
and all other people move as recorded. Bodies change speed and course as fast as clips allow.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from jaywalk.actors.reactive.model import ReactionModel
from jaywalk.actors.reactive.traits import (
    AT_KERB,
    COMMITTED,
    EVADES,
    OBLIVIOUS,
    OFF_ROAD,
    ON_ROAD,
    STEPS_BACK,
    Reactions,
)
from jaywalk.core.arrays import BoolArray, FloatArray, IntArray
from jaywalk.geometry.angle import wrap_angle
from jaywalk.geometry.path import arc_lengths
from jaywalk.rollouts.people.recorded import RecordedPeople, RecordedPlan
from jaywalk.town.walkways import CROSSWALK, ROAD, WalkGrid, underfoot

_NEAR_ROAD_M: Final = 20.0  # people begin to think about the road this far before it
_ON_THE_SPOT_M: Final = 3.0  # before the road people judge the gap for the way over it
_AIM_M: Final = 1.1
_GOAL_M: Final = 0.4
_OFF_PATH_M: Final = 1.0
_BEYOND_M: Final = 2.0  # to the next aim
_PACES: Final = (0.5, 1.35)  # at which clips still look right
_EVADING_PACE: Final = 1.7
_STOP_SHARE: Final = 0.3
_START_SHARE: Final = 0.5
_LEAST_STOP_S: Final = 0.6
_LAG_S: Final = 0.25
_MOST_MPS2: Final = 3.5
_TURN_PER_S: Final = 1.8
_MOST_RADPS: Final = 1.6
_BEND_RAD: Final = 0.6  # people turn on the spot, or nearly so, beyond this
_BEND_RADPS: Final = 3.2
_BEND_PACE: Final = 0.55
_KERB_M: Final = 1.0
_BORDER_M: Final = 0.7  # people look to the next lane this far before its border


@dataclass(slots=True)
class _Ways:
    """Ways of people over the road, and how far each copy of each person has come.

    All arrays of a step are (r, p): rollouts and people.
    """

    plans: tuple[RecordedPlan | None, ...]
    grid: WalkGrid
    along_m: FloatArray  # (r, p)
    paths: list[FloatArray]
    shift_m: FloatArray  # (p,) of distances on the new path against those of the plan

    @classmethod
    def of(cls, people: RecordedPeople, tick: int, rollouts: int) -> _Ways:
        """Ways from the places of a tick; who is off their path joins it at its next corner."""
        place = people.place_m(tick)
        paths, shift = [], np.zeros(len(people.actor))
        along = np.zeros(len(people.actor))
        for k, plan in enumerate(people.plans):
            if plan is None:
                paths.append(np.zeros((0, 2)))
                continue
            path, along[k], shift[k] = _joined(plan.path_m, place[k])
            paths.append(path)
        return cls(people.plans, people.grid, np.tile(along, (rollouts, 1)), paths, shift)

    def fill(self, rows: Reactions, on: BoolArray) -> FloatArray:
        """Set the way of all people in the rows (r, p); returns the bearing to walk along."""
        bearing = np.zeros_like(self.along_m)
        for k in np.flatnonzero(on.any(axis=0)).tolist():
            plan = self.plans[k]
            assert plan is not None
            path, x, y = self.paths[k], rows.x[:, k], rows.y[:, k]
            lengths = arc_lengths(path)
            along = np.maximum(self.along_m[:, k], _along(path, lengths, x, y))
            self.along_m[:, k] = along
            ahead = along + _AIM_M
            ax, ay = (np.interp(ahead, lengths, path[:, axis]) for axis in (0, 1))
            bearing[:, k] = np.arctan2(ay - y, ax - x)
            enter, leave = (float(edge) + self.shift_m[k] for edge in plan.road_m)
            asphalt = _on_road(self.grid, x, y) & (along < leave + _KERB_M)
            on_road = (along < leave) & ((along >= enter) | asphalt)
            over = along >= leave
            near = ~on_road & ~over & (enter - along < _NEAR_ROAD_M)
            rows.where[:, k] = np.where(on_road, ON_ROAD, np.where(near, AT_KERB, OFF_ROAD))
            before = np.where(over, math.inf, enter - along)
            rows.kerb_m[:, k] = np.where(on_road, 0.0, before)
            rows.left_m[:, k] = np.where(over, 4.0, np.where(on_road, leave - along, leave - enter))
            rows.onto_m[:, k] = np.where(on_road, np.maximum(along - enter, 0.0), math.inf)
            rows.painted[:, k] = plan.painted
            if len(plan.lanes):
                begins = plan.lanes[1:, 0] + self.shift_m[k] - _BORDER_M
                reached = (along[:, None] >= begins).sum(axis=1)
                rows.lane[:, k], rows.near_side[:, k] = reached, plan.lanes[reached, 1]
            rows.aim_x[:, k] = x + _BEYOND_M * np.cos(bearing[:, k])
            rows.aim_y[:, k] = y + _BEYOND_M * np.sin(bearing[:, k])
            spot = near & (enter - along < _ON_THE_SPOT_M)
            rows.aim_x[spot, k] = x[spot] + path[-1, 0] - plan.via_m[0]
            rows.aim_y[spot, k] = y[spot] + path[-1, 1] - plan.via_m[1]
        return bearing

    def arrived(self, rows: Reactions) -> BoolArray:
        """(r, p) who is at the end of the way."""
        done = np.ones(self.along_m.shape, np.bool_)
        for k, path in enumerate(self.paths):
            if len(path):
                done[:, k] = self.along_m[:, k] >= float(arc_lengths(path)[-1]) - _GOAL_M
        return done


def _on_road(grid: WalkGrid, x: FloatArray, y: FloatArray) -> BoolArray:
    under = [int(underfoot(grid, u, v)) for u, v in zip(x.tolist(), y.tolist(), strict=True)]
    return np.isin(under, (ROAD, CROSSWALK))


def _along(path: FloatArray, lengths: FloatArray, x: FloatArray, y: FloatArray) -> FloatArray:
    """Distance along a path of the nearest point on it."""
    steps = np.diff(path, axis=0)
    squares = np.maximum((steps**2).sum(axis=1), 1e-12)
    dx, dy = x[:, None] - path[:-1, 0], y[:, None] - path[:-1, 1]
    share = np.clip((dx * steps[:, 0] + dy * steps[:, 1]) / squares, 0.0, 1.0)
    away = np.hypot(dx - share * steps[:, 0], dy - share * steps[:, 1])
    piece = away.argmin(axis=1)
    at = np.arange(len(x))
    return np.asarray(lengths[piece] + share[at, piece] * np.sqrt(squares[piece]))


def _joined(path: FloatArray, place: FloatArray) -> tuple[FloatArray, float, float]:
    """A path from a place, how far along it the place is, and by how much it is longer."""
    lengths = arc_lengths(path)
    x, y = place[:1], place[1:]
    along = float(_along(path, lengths, x, y)[0])
    on = np.array([np.interp(along, lengths, path[:, axis]) for axis in (0, 1)])
    if math.hypot(*(place - on)) < _OFF_PATH_M:
        return path, along, 0.0
    later = path[lengths > along + _OFF_PATH_M]
    joined = np.concatenate([place[None], later if len(later) else path[-1:]])
    return joined, 0.0, float(arc_lengths(joined)[-1] - lengths[-1])


@dataclass(slots=True)
class Follower:
    """The model on the way through a record: each person where the record has them."""

    people: RecordedPeople
    model: ReactionModel
    tick: int = 0

    @classmethod
    def of(cls, people: RecordedPeople) -> Follower:
        """A model before the first tick."""
        model = ReactionModel(
            key=people.noise_key,
            traits=people.traits,
            grid=people.grid,
            delta_s=people.delta_s,
            settings=people.settings,
        )
        return cls(people, model)

    def step(self) -> None:
        """Follow one tick."""
        people, rows, tick = self.people, self.model.rows, self.tick
        place, velocity = people.place_m(tick), people.velocity_mps(tick)
        rows.x[:], rows.y[:] = place.T
        rows.vx[:], rows.vy[:] = velocity.T
        rows.yaw[:] = people.yaw_rad(tick)
        on, stays = people.is_planning(tick), people.stays(tick)
        rows.active[:], rows.stays[:] = on | stays, stays
        rows.where[stays], rows.kerb_m[stays] = OFF_ROAD, math.inf
        rows.aim_x[stays], rows.aim_y[stays] = people.watched_m[stays].T
        begins = np.array([p is not None and p.begins == tick for p in people.plans])
        rows.looks_from[begins] = rows.looks[begins]
        parts: list[Any] = [column[None] for column in rows]
        view = Reactions(*parts)
        _Ways.of(people, tick, 1).fill(view, on[None])
        around = people.around(tick)
        self.model.step(*around)
        self.tick += 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Continued:
    """People of one tick as the rollouts walk them.

    Attributes:
        rolled: (p,) who walks by the model; the others are where the record has them.
        place_m: (steps, r, p, 2) places after each tick.
        decision: (steps, r, p) decisions of those who walk by the model.
    """

    rolled: BoolArray
    place_m: FloatArray
    decision: IntArray


def go_on(
    follower: Follower,
    keys: IntArray,
    steps: int,
    moved: Mapping[int, FloatArray] | None = None,
) -> Continued:
    """Roll on from the follower's tick, once for each key of noise.

    People whose plan begins within the rollout begin it when the record does.

    Args:
        follower: The model before the first tick of the rollout.
        keys: (r,) keys of the noise.
        steps: Number of ticks; the record must reach that far.
        moved: (steps, columns) poses of bodies that move otherwise than recorded, by index.
    """
    people, first = follower.people, follower.tick
    models, rows, cars = follower.model.fork(keys)
    count, rollouts = len(people.actor), len(keys)
    ways = _Ways.of(people, first, rollouts)
    now = people.is_planning(first)
    later = np.array([p is not None and first < p.begins < first + steps for p in people.plans])
    bodies = _Bodies.of(people, first, rollouts)
    track = np.empty((steps, rollouts, count, 2))
    decision = np.zeros((steps, rollouts, count), np.int64)
    for step in range(steps):
        tick = first + step
        starts = later & np.array([p is not None and p.begins == tick for p in people.plans])
        now |= starts
        bodies.take_recorded(people, tick, ~now)
        on = np.tile(now, (rollouts, 1)) & ~bodies.gone
        rows.x[:], rows.y[:] = bodies.place_m[..., 0], bodies.place_m[..., 1]
        rows.vx[:], rows.vy[:] = bodies.velocity_mps[..., 0], bodies.velocity_mps[..., 1]
        rows.yaw[:], rows.active[:] = bodies.yaw_rad, on
        rows.stays[:] = False
        bearing = ways.fill(rows, on)
        other = {body: poses[step] for body, poses in moved.items()} if moved else None
        around = people.around(tick, other)
        car = cars.update(around.ids, around.vehicle)
        for model in models:
            model.react(around.ids, car, around.blocker, around.other)
        decision[step] = rows.decision
        bodies.move(people, rows, bearing, on, ways.arrived(rows))
        track[step] = bodies.place_m
        ended = people.place_m(min(tick + 1, len(people.tracks.tick) - 1))
        track[step][:, ~now] = ended[~now]
    return Continued(rolled=now, place_m=track, decision=decision)


@dataclass(slots=True)
class _Bodies:
    """Bodies of all copies, (r, p): they walk, stop and start as fast as clips let them."""

    place_m: FloatArray
    velocity_mps: FloatArray
    yaw_rad: FloatArray
    speed_mps: FloatArray
    stands: BoolArray
    stood_s: FloatArray
    gone: BoolArray  # gave up or arrived: they stay where they are

    @classmethod
    def of(cls, people: RecordedPeople, tick: int, rollouts: int) -> _Bodies:
        velocity = people.velocity_mps(tick)
        speed = np.hypot(*velocity.T)
        stands = speed < _STOP_SHARE * people.clip_mps

        def copies(values: Any) -> Any:
            return np.tile(values, (rollouts, *(1,) * values.ndim))

        return cls(
            place_m=copies(people.place_m(tick)),
            velocity_mps=copies(velocity),
            yaw_rad=copies(people.yaw_rad(tick)),
            speed_mps=copies(speed),
            stands=copies(stands),
            stood_s=copies(np.where(stands, _LEAST_STOP_S, 0.0)),
            gone=np.zeros((rollouts, len(speed)), np.bool_),
        )

    def take_recorded(self, people: RecordedPeople, tick: int, who: BoolArray) -> None:
        """Put people where the record has them."""
        velocity = people.velocity_mps(tick)[who]
        self.place_m[:, who], self.velocity_mps[:, who] = people.place_m(tick)[who], velocity
        self.yaw_rad[:, who] = people.yaw_rad(tick)[who]
        self.speed_mps[:, who] = np.hypot(*velocity.T)
        self.stands[:, who] = self.speed_mps[:, who] < _STOP_SHARE * people.clip_mps[who]
        self.stood_s[:, who] = _LEAST_STOP_S

    def move(
        self,
        people: RecordedPeople,
        rows: Reactions,
        bearing: FloatArray,
        on: BoolArray,
        arrived: BoolArray,
    ) -> None:
        """Advance the bodies by one tick towards what the model wants."""
        clip, delta_s = people.clip_mps, people.delta_s
        off = rows.where != ON_ROAD
        gives_up = off & (rows.waited_s > people.traits.patience_s)
        self.gone |= on & (arrived | gives_up)
        wanted = np.array(rows.speed)
        evades = rows.decision == EVADES
        forward = np.cos(rows.course - self.yaw_rad) > -0.2
        wanted[evades] = np.where(forward, _EVADING_PACE * clip, 0.0)[evades]
        wanted[rows.decision == STEPS_BACK] = 0.0  # they stop at once and wait
        oblivious = people.traits.attention == OBLIVIOUS
        halts = (wanted < _STOP_SHARE * clip) & ~oblivious
        self.stood_s = np.where(self.stands, self.stood_s + delta_s, 0.0)
        starts = self.stands & (wanted > _START_SHARE * clip) & (self.stood_s >= _LEAST_STOP_S)
        at_kerb = (rows.where == AT_KERB) & (rows.kerb_m < _KERB_M)
        starts &= ~at_kerb | (rows.decision == COMMITTED)
        self.stands = (self.stands & ~starts) | (~self.stands & halts) | self.gone
        pace = np.clip(wanted / clip, _PACES[0], np.where(evades, _EVADING_PACE, _PACES[1]))
        aim = np.where(self.stands, 0.0, np.where(oblivious, clip, pace * clip))
        error = wrap_angle(bearing - self.yaw_rad)
        aim = np.where(np.abs(error) > _BEND_RAD, _BEND_PACE * aim, aim)
        change = np.clip((aim - self.speed_mps) / _LAG_S, -_MOST_MPS2, _MOST_MPS2)
        rate = np.clip(_TURN_PER_S * error + _TURN_PER_S * rows.turn, -_MOST_RADPS, _MOST_RADPS)
        rate = np.where(np.abs(error) > _BEND_RAD, np.sign(error) * _BEND_RADPS, rate)
        moves = on & ~self.gone
        self.speed_mps = np.where(moves, np.maximum(self.speed_mps + change * delta_s, 0.0), 0.0)
        self.yaw_rad = np.where(moves & ~self.stands, self.yaw_rad + rate * delta_s, self.yaw_rad)
        course = np.stack([np.cos(self.yaw_rad), np.sin(self.yaw_rad)], axis=-1)
        self.velocity_mps = self.speed_mps[..., None] * course
        self.place_m = self.place_m + self.velocity_mps * delta_s
