"""Replay: recorded vehicles drive as they did, and the model walks each person who met one.

Every person starts five seconds before they come onto the way of the vehicle, at their recorded
place, speed and course, with the walking speed of their track and a goal beyond the crossing. Their
way there is an arc that begins in the recorded direction: nobody walks in a straight line, even
without vehicles. The vehicles do not give way. All people are walked at once, each in a world of
their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from jaywalk.actors.reactive.model import ReactionModel
from jaywalk.actors.reactive.traits import (
    ADULT,
    ATTENTIVE,
    EVADES,
    OBLIVIOUS,
    ON_ROAD,
    AttentionShares,
    ReactionSettings,
    Traits,
    draw_traits,
    noise_key,
)
from jaywalk.core.arrays import FloatArray, IntArray
from jaywalk.datasets.trajectories import Trajectories
from jaywalk.metrics.realism.people.behaviour import STEP_S
from jaywalk.metrics.realism.people.encounters import (
    Drive,
    DrivenWay,
    Encounter,
    Walk,
    body_distances_m,
    driven_way,
    encounters_with,
    find_encounters,
)
from jaywalk.town.walkways import Tiling, WalkGrid

_DELTA_S: Final = 0.05
_TICKS_A_STEP: Final = round(STEP_S / _DELTA_S)
_BEFORE_STEPS: Final = 50
_LEAST_BEFORE_STEPS: Final = 20
_AFTER_STEPS: Final = 15
_MOST_STEPS: Final = 140
_LEAST_WAY_M: Final = 3.0
_BEYOND_M: Final = 8.0  # of the goal, behind the crossing
_ARC_STEPS: Final = 10  # that show the direction at the start
_ARC_RAD: Final = 0.5  # largest angle between this direction and the line to the end
_AIM_M: Final = 3.0  # people walk towards a place this far ahead on their arc
_AT_GOAL_M: Final = 0.4
_APART_M: Final = 1000.0  # between two cases; more than the range of sight
_LAG_S: Final = 0.4
_MOST_MPS2: Final = 2.5
_EVADING_LAG_S: Final = 0.25
_EVADING_MPS2: Final = 6.0
_WALKING_MPS: Final = 0.6
_NO_BOXES: Final = np.zeros((0, 6))
_NO_PEOPLE: Final = np.zeros((0, 4))


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayCase:
    """One recorded encounter.

    Attributes:
        source: Dataset: ``dut`` or ``citr``.
        course: Part of the dataset: ``roundabout``, ``intersection`` or a scenario.
        scene: Name of the clip.
        track: Name of the person.
        walk: Track of the person.
        ways: All vehicles of the clip that move.
        drives: All vehicles of the clip.
        vehicle: Number of the one that is met, in ``ways``.
        recorded: The encounter as it took place.
    """

    source: str
    course: str
    scene: str
    track: str
    walk: Walk
    ways: tuple[DrivenWay, ...]
    drives: tuple[Drive, ...]
    vehicle: int
    recorded: Encounter

    @property
    def start(self) -> int:
        """Tenth of a second in which the replay begins."""
        return max(self.walk.start, self.recorded.enters - _BEFORE_STEPS)

    @property
    def free_mps(self) -> float:
        """Walking speed of the person over the whole track."""
        speeds = self.walk.speeds_mps()
        walking = speeds[speeds > _WALKING_MPS]
        return float(np.median(walking)) if len(walking) > 5 else 1.3

    @property
    def goal_m(self) -> FloatArray:
        """A place beyond the crossing, on the line from the start to its end."""
        rows = self.walk.xy_m
        last = min(len(rows) - 1, self.recorded.leaves - self.walk.start + _AFTER_STEPS)
        begin = rows[self.start - self.walk.start]
        way = rows[last] - begin
        return np.asarray(rows[last] + _BEYOND_M * way / float(np.hypot(*way)))


def replay_cases(data: Trajectories) -> list[ReplayCase]:
    """Return the encounters of a dataset that are long enough to be replayed."""
    cases = []
    people = data.tracks.partition_by("scene_id", maintain_order=True, as_dict=True)
    for (scene,), vehicles in data.ego.partition_by(
        "scene_id", maintain_order=True, as_dict=True
    ).items():
        if (scene,) not in people:
            continue
        drives = [
            Drive(
                start=int(rows["k"][0]),
                xy_m=rows.select("x", "y").to_numpy(),
                yaw_rad=np.unwrap(rows["yaw"].to_numpy()),
                half_length_m=float(rows["length"][0]) / 2.0,
                half_width_m=float(rows["width"][0]) / 2.0,
            )
            for rows in vehicles.partition_by("ego_id", maintain_order=True)
            if _is_whole(rows["k"].to_numpy())
        ]
        ways = tuple(way for drive in drives if (way := driven_way(drive)) is not None)
        for rows in people[scene,].partition_by("track_id", maintain_order=True):
            if len(rows) < 2 or not _is_whole(rows["k"].to_numpy()):
                continue
            walk = Walk(start=int(rows["k"][0]), xy_m=rows.select("x", "y").to_numpy())
            for number, met in find_encounters(walk, ways):
                case = ReplayCase(
                    source=str(rows["source"][0]),
                    course=str(rows["course_id"][0]),
                    scene=str(scene),
                    track=str(rows["track_id"][0]),
                    walk=walk,
                    ways=ways,
                    drives=tuple(drives),
                    vehicle=number,
                    recorded=met,
                )
                if not met.together and _is_long(case):
                    cases.append(case)
    return cases


def _is_whole(k: IntArray) -> bool:
    return bool((np.diff(k) == 1).all())


def _is_long(case: ReplayCase) -> bool:
    if case.recorded.enters - case.start < _LEAST_BEFORE_STEPS:
        return False
    rows = case.walk.xy_m
    last = min(len(rows) - 1, case.recorded.leaves - case.walk.start + _AFTER_STEPS)
    way = rows[last] - rows[case.start - case.walk.start]
    return float(np.hypot(*way)) >= _LEAST_WAY_M


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """A case as the model walked it.

    Attributes:
        walk: Track of the simulated person.
        met: Encounter with the vehicle of the case; None if the ways did not cross.
        contact: Whether the person touches any vehicle.
    """

    walk: Walk
    met: Encounter | None
    contact: bool


def recorded_contact(case: ReplayCase) -> bool:
    """Whether the recorded bodies overlap; the sizes of the vehicles are assumed."""
    first = case.start - case.walk.start
    part = Walk(start=case.start, xy_m=case.walk.xy_m[first:])
    return _touches(part, case)


def _touches(walk: Walk, case: ReplayCase) -> bool:
    return any((body_distances_m(walk, drive) <= 0.0).any() for drive in case.drives)


def open_ground() -> WalkGrid:
    """Return ground without any borders or solid objects."""
    cells = np.zeros((0, 64, 64), np.uint8)
    tiling = Tiling(0.0, 0.0, 0.2, np.full((1, 1), -1, np.int32))
    return WalkGrid(tiling, *(cells for _ in WalkGrid._fields[1:]))


@dataclass(frozen=True, slots=True)
class _Arcs:
    """Arcs from the starts of people to the ends of their crossings, and straight on to the goals.

    Attributes:
        begin_m: (n, 2) starts.
        along: (n, 2) unit vectors from the starts to the goals.
        goal_m: (n,) distances of the goals.
        bend: (n,) tangents of the angles between the first direction and ``along``.
    """

    begin_m: FloatArray
    along: FloatArray
    goal_m: FloatArray
    bend: FloatArray

    @classmethod
    def of(cls, begin_m: FloatArray, goal_m: FloatArray, course_m: FloatArray) -> _Arcs:
        """Arcs that begin in the directions ``course_m``."""
        size = np.hypot(*(goal_m - begin_m).T)
        along = (goal_m - begin_m) / size[:, None]
        across = along[:, 0] * course_m[:, 1] - along[:, 1] * course_m[:, 0]
        ahead = (along * course_m).sum(axis=1)
        # Who stands at the start shows no direction.
        angle = np.where(np.hypot(*course_m.T) > 0.3, np.arctan2(across, ahead), 0.0)
        return cls(begin_m, along, size, np.tan(np.clip(angle, -_ARC_RAD, _ARC_RAD)))

    def aims_m(self, place_m: FloatArray) -> FloatArray:
        """(n, 2) places on the arcs, some metres ahead of the people."""
        reached = ((place_m - self.begin_m) * self.along).sum(axis=1)
        at = np.minimum(reached + _AIM_M, self.goal_m)
        end = np.maximum(self.goal_m - _BEYOND_M, 1.0)
        aside = self.bend * at * np.maximum(1.0 - at / end, 0.0)
        left = np.stack([-self.along[:, 1], self.along[:, 0]], axis=1)
        return np.asarray(self.begin_m + at[:, None] * self.along + aside[:, None] * left)


class Replayer:
    """Replays fixed cases with changing parameters; the same inputs give the same bits."""

    def __init__(self, cases: Sequence[ReplayCase], seed: int = 0) -> None:
        self.cases = list(cases)
        self.seed = seed
        count = len(self.cases)
        self._offset_m = _APART_M * np.arange(count)
        self._free_mps = np.array([case.free_mps for case in self.cases])
        rows = [case.walk.xy_m for case in self.cases]
        at = [case.start - case.walk.start for case in self.cases]
        self._begin_m = np.array([xy[k] for xy, k in zip(rows, at, strict=True)]).reshape(-1, 2)
        ahead = [min(k + 3, len(xy) - 1) for xy, k in zip(rows, at, strict=True)]
        later = np.array([xy[k] for xy, k in zip(rows, ahead, strict=True)]).reshape(-1, 2)
        spans = np.array([k - a for k, a in zip(ahead, at, strict=True)]) * STEP_S
        self._begin_mps = (later - self._begin_m) / spans[:, None]
        self._goal_m = np.array([case.goal_m for case in self.cases]).reshape(-1, 2)
        ahead = [min(k + _ARC_STEPS, len(xy) - 1) for xy, k in zip(rows, at, strict=True)]
        course = np.array([xy[k] for xy, k in zip(rows, ahead, strict=True)]).reshape(-1, 2)
        self._arcs = _Arcs.of(self._begin_m, self._goal_m, course - self._begin_m)
        self._vehicles = self._all_vehicles()

    def _all_vehicles(self) -> FloatArray:
        """Rows of all vehicles on every tick, (vehicles, ticks, 8); NaN where one is not there."""
        ticks = _MOST_STEPS * _TICKS_A_STEP
        tables = []
        for case, offset in zip(self.cases, self._offset_m, strict=True):
            at = case.start + np.arange(ticks) / _TICKS_A_STEP
            for drive in case.drives:
                if drive.end <= case.start or drive.start >= at[-1]:
                    continue
                known = np.arange(drive.start, drive.end)
                velocity = np.gradient(drive.xy_m, STEP_S, axis=0)
                yaw = np.interp(at, known, drive.yaw_rad)
                table = np.empty((ticks, 8))
                table[:, 0] = np.interp(at, known, drive.xy_m[:, 0]) + offset
                table[:, 1] = np.interp(at, known, drive.xy_m[:, 1])
                table[:, 2], table[:, 3] = np.cos(yaw), np.sin(yaw)
                table[:, 4], table[:, 5] = drive.half_length_m, drive.half_width_m
                table[:, 6] = np.interp(at, known, velocity[:, 0])
                table[:, 7] = np.interp(at, known, velocity[:, 1])
                table[(at < drive.start) | (at > drive.end - 1)] = np.nan
                tables.append(table)
        return np.array(tables).reshape(-1, ticks, 8)

    def run(self, settings: ReactionSettings, *, reacts: bool = True) -> list[Replayed]:
        """Walk all people.

        Args:
            settings: Parameters of the model.
            reacts: False: straight on at one's own speed, as people do who never look.
        """
        model = ReactionModel(
            key=noise_key(self.seed, "replay"),
            traits=self._traits(reacts),
            grid=open_ground(),
            delta_s=_DELTA_S,
            settings=settings if reacts else settings._replace(speed_drift=0.0),
        )
        tracks, lengths = self._walk(model)
        done = []
        for k, case in enumerate(self.cases):
            walk = Walk(start=case.start, xy_m=tracks[: lengths[k], k])
            met = encounters_with(walk, case.ways[case.vehicle])
            nearest = min(met, key=lambda one: abs(one.enters - case.recorded.enters), default=None)
            done.append(Replayed(walk=walk, met=nearest, contact=_touches(walk, case)))
        return done

    def _traits(self, reacts: bool) -> Traits:
        count = len(self.cases)
        traits = draw_traits(self.seed, np.zeros(count, np.bool_), AttentionShares(), "replay")
        traits.free_mps[:] = self._free_mps
        traits.attention[:] = ATTENTIVE if reacts else OBLIVIOUS
        traits.age[:] = ADULT
        traits.group[:] = -1
        return traits

    def _walk(self, model: ReactionModel) -> tuple[FloatArray, IntArray]:
        """Tracks of all people (steps, n, 2) and the number of rows of each."""
        rows, count = model.rows, len(self.cases)
        place = self._begin_m.copy()
        velocity = self._begin_mps.copy()
        rows.where[:] = ON_ROAD
        rows.kerb_m[:] = 0.0
        rows.yaw[:] = np.arctan2(*(self._goal_m - place).T[::-1])
        active = np.ones(count, np.bool_)
        tracks = np.zeros((_MOST_STEPS, count, 2))
        lengths = np.zeros(count, np.int64)
        numbers = np.arange(1, len(self._vehicles) + 1)
        for tick in range(_MOST_STEPS * _TICKS_A_STEP):
            left = np.hypot(*(self._goal_m - place).T)
            active &= left >= _AT_GOAL_M
            if tick % _TICKS_A_STEP == 0:
                tracks[tick // _TICKS_A_STEP] = place
                lengths[active] += 1
                if not active.any():
                    break
            now = self._vehicles[:, tick]
            there = ~np.isnan(now[:, 0])
            rows.active[:] = active
            rows.x[:], rows.y[:] = place[:, 0] + self._offset_m, place[:, 1]
            rows.vx[:], rows.vy[:] = velocity.T
            moving = np.hypot(*velocity.T) > 0.2
            rows.yaw[moving] = np.arctan2(velocity[moving, 1], velocity[moving, 0])
            aim = self._arcs.aims_m(place)
            rows.aim_x[:], rows.aim_y[:] = aim[:, 0] + self._offset_m, aim[:, 1]
            rows.left_m[:] = left
            model.step(numbers[there], now[there], _NO_BOXES, _NO_PEOPLE)
            velocity += body_change_mps(model, velocity)
            place += velocity * _DELTA_S * active[:, None]
        return tracks, lengths


def body_change_mps(model: ReactionModel, velocity_mps: FloatArray) -> FloatArray:
    """Change of velocity of walking bodies in one tick towards what the model wants."""
    rows = model.rows
    wanted = np.stack([rows.speed * np.cos(rows.course), rows.speed * np.sin(rows.course)], 1)
    evades = rows.decision == EVADES
    change = (wanted - velocity_mps) / np.where(evades, _EVADING_LAG_S, _LAG_S)[:, None]
    most = np.where(evades, _EVADING_MPS2, _MOST_MPS2)
    size = np.maximum(np.hypot(*change.T) / most, 1.0)
    return np.asarray(change / size[:, None] * model.delta_s)
