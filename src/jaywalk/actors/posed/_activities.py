"""Activities of posed people once their role has begun: acting, walking, waiting, resting.

People walk around obstacles that stand still; these scripted people do not avoid moving vehicles.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final

import numpy as np

from jaywalk.actors.crowd.places import WalkNetwork
from jaywalk.actors.crowd.state import ATTEMPTING, WILL_CROSS
from jaywalk.actors.events import NOTE, EgoMoment, ScenarioEvent
from jaywalk.actors.posed._detour import STANDING_MPS, NearbyObstacles, Obstacles, find_detour
from jaywalk.actors.posed._spawning import PlacedPerson
from jaywalk.actors.posed._walking import (
    STOP_AHEAD_M,
    PathWalk,
    bumps_soon,
    path_off_road,
    stroll_path,
)
from jaywalk.actors.posed.control import PosedPeople
from jaywalk.actors.posed.repertoire import Repertoire
from jaywalk.core.arrays import FloatArray, IntArray
from jaywalk.core.seeds import stream
from jaywalk.motion.playback.players import Cue
from jaywalk.town.walkways import CROSSWALK, ROAD, underfoot

LOOK_TICKS: Final = 4  # between looks at obstacles
EVENT_NAME: Final = "habit"  # name of the events of posed people
_ACT_STOP_S: Final = 0.5  # time that an acting person needs to stop
_WALK_STOP_S: Final = 0.25  # time that a walking person needs to stop
_RETRY_S: Final = 0.6  # between two attempts of a blocked person
_OTHER_GOAL_EVERY: Final = 3  # every third failed attempt on the road tries another goal
_HOME_M: Final = 0.6  # this near to the starting place counts as back
_PULL_MPS: Final = 0.012  # towards the standing place; too slow to see a foot slip
_PULL_SHARE: Final = 0.02  # of the gap, per tick


class Activity(Enum):
    """Current activity of a posed person."""

    IDLE = "idle"  # waiting for the ego
    ACTING = "acting"  # playing a clip to its end
    WALKING = "walking"
    BLOCKED = "blocked"  # wants to walk, but finds no free path
    WAITING = "waiting"  # stands at the kerb or on the road and lets vehicles pass
    STEPPING_BACK = "stepping back"  # to the kerb, facing the road
    EVADING = "evading"  # steps out of the way of a vehicle
    TURNING = "turning"  # half round, before walking the other way
    RESTED = "rested"  # role finished
    DOWN = "down"  # knocked down


_STANDING: Final = (Activity.IDLE, Activity.RESTED)


@dataclass(slots=True, kw_only=True)
class PersonState:
    """State of one posed person: role, activity and path."""

    placed: PlacedPerson
    activity: Activity = Activity.IDLE
    walk: PathWalk | None = None
    on_road: bool = False
    retry_s: float = 0.0
    tries: int = 0
    going_home: bool = False
    strolls_on: bool = False
    last_m: tuple[float, float] | None = None  # place of an acting person at the last look


def idle_cue(placed: PlacedPerson, yaw_rad: float) -> Cue:
    """Return the cue for a person's idle clip, facing ``yaw_rad``."""
    return Cue(clip=placed.role.idle, heading_rad=yaw_rad, loop=True)


@dataclass(slots=True, kw_only=True)
class Activities:
    """Activities of all posed people of an episode.

    Attributes:
        people: States; the position of a person in this list is also the row in ``posed``.
        posed: Poses and places of the people.
        nearby: Standing obstacles near them.
        events: Receives the events of the people.
    """

    people: list[PersonState]
    posed: PosedPeople
    nearby: NearbyObstacles
    network: WalkNetwork
    repertoire: Repertoire
    seed: int
    delta_s: float
    events: list[ScenarioEvent]
    _standing_m: FloatArray = field(init=False)  # places of standing people; NaN: not yet known

    def __post_init__(self) -> None:
        self._standing_m = np.array([person.placed.a_m for person in self.people]).reshape(-1, 2)

    def begin(self, person: PersonState, moment: EgoMoment) -> None:
        """Start a person's role."""
        placed, role = person.placed, person.placed.role
        if role.intended == WILL_CROSS:
            assert placed.b_m is not None
            self._set_off(person, moment, placed.b_m, role.clip, role.carry)
        elif role.intended == ATTEMPTING:
            yaw = placed.yaw_rad - role.facing_rad - role.reach_rad
            cue = Cue(clip=role.clip, heading_rad=yaw, enter_s=0.0)
            self.posed.play(placed.actor_id, cue)
            person.activity = Activity.ACTING
        elif role.strolls:
            path = stroll_path(self.network, placed.a_m, self._rng("stroll", role.number))
            if path is None:
                person.activity = Activity.RESTED
                return
            self._walk_along(person, PathWalk(path=path, keeps_off=True), role.clip, "")
        else:
            # roaming people move along the street
            yaw = placed.yaw_rad - role.facing_rad - role.reach_rad
            cue = Cue(clip=role.clip, heading_rad=yaw if role.roams else None)
            self.posed.play(placed.actor_id, cue)
            person.activity = Activity.ACTING

    def step(self, tick: int, moment: EgoMoment) -> None:
        """Decide for all people whose role has begun."""
        moving = [person for person in self.people if self._needs_room(person)]
        if moving and tick % LOOK_TICKS == 0:
            self._look(moment, moving)
        for person in self.people:
            looks = (tick + person.placed.role.number) % LOOK_TICKS == 0
            if person.activity is Activity.WALKING:
                self._walk(person, moment, looks)
            elif person.activity is Activity.BLOCKED:
                self._try_again(person, moment)
            elif person.activity is Activity.ACTING:
                self._act(person, moment, looks)
        self._hold_standing_places()

    def knocked_down(self, person: PersonState, moment: EgoMoment) -> None:
        """End a person's role."""
        person.activity = Activity.DOWN
        self.note(moment, person, "knocked down")

    def note(self, moment: EgoMoment, person: PersonState, what: str, **detail: Any) -> None:
        """Report an event of a person."""
        self.events.append(
            ScenarioEvent(
                time_s=moment.elapsed_s,
                kind=NOTE,
                name=EVENT_NAME,
                detail={"actor": person.placed.actor_id, "what": what, **detail},
            )
        )

    # -- starting and finishing ------------------------------------------------------------------

    def _set_off(
        self,
        person: PersonState,
        moment: EgoMoment,
        goal: tuple[float, float],
        clip: str,
        carry: str,
    ) -> None:
        """Walk to a goal with a clip, around obstacles."""
        x, y, _ = self.posed.place_m(person.placed.actor_id)
        self._look(moment, [person])
        path = find_detour(self.network.grid, self._obstacles_for(person), (x, y), goal)
        blocked = len(path) < 2
        walk = PathWalk(path=np.array([(x, y), goal]) if blocked else path)
        if len(walk.path) > 2:
            walk.reroutes = 1
            self.note(moment, person, "rerouted")
        self._walk_along(person, walk, clip, carry)

    def _walk_along(self, person: PersonState, walk: PathWalk, clip: str, carry: str) -> None:
        x, y, _ = self.posed.place_m(person.placed.actor_id)
        towards = walk.bearing_rad(x, y)
        walk.course_rad = 0.0  # forget the course of an earlier start
        first = Cue(clip=clip, towards_rad=towards, loop=not carry, holds=False)
        then = [Cue(clip=carry, loop=True, holds=False)] if carry else []
        self.posed.play(person.placed.actor_id, first, then)
        person.walk, person.activity = walk, Activity.WALKING

    def _rest(self, person: PersonState, moment: EgoMoment, what: str) -> None:
        actor = person.placed.actor_id
        self.posed.steer(actor, 0.0)
        self.posed.play(actor, Cue(clip=person.placed.role.idle, loop=True))
        person.activity = Activity.RESTED
        self._standing_m[person.placed.role.number] = np.nan  # until the last step is made
        self.note(moment, person, what)

    # -- acting and walking ----------------------------------------------------------------------

    def _needs_room(self, person: PersonState) -> bool:
        """Return True if a person moves, or is about to, so that obstacles matter."""
        if person.activity is Activity.ACTING:
            return person.placed.role.intended == ATTEMPTING or person.placed.role.roams
        return person.activity in (Activity.WALKING, Activity.BLOCKED)

    def _act(self, person: PersonState, moment: EgoMoment, looks: bool) -> None:
        """Play a clip to its end, then walk back to the starting place if it is not near.

        A person about to walk into an obstacle walks back at once.
        """
        actor = person.placed.actor_id
        self._watch_road(person, moment)
        if not (self.posed.playing(actor).ended or (looks and self._is_about_to_bump(person))):
            return
        x, y, _ = self.posed.place_m(actor)
        home = person.placed.a_m
        if math.hypot(x - home[0], y - home[1]) > _HOME_M:
            person.going_home = True
            role = person.placed.role
            carry = role.carry or self._plain_walk(role.child)
            self._set_off(person, moment, home, carry, "")
        else:
            self._rest(person, moment, "back")

    def _is_about_to_bump(self, person: PersonState) -> bool:
        if not self._needs_room(person):
            return False
        x, y, _ = self.posed.place_m(person.placed.actor_id)
        before, person.last_m = person.last_m, (x, y)
        if before is None:
            return False
        dx, dy = x - before[0], y - before[1]
        moved = math.hypot(dx, dy)
        if moved < STANDING_MPS * LOOK_TICKS * self.delta_s:
            return False
        # the clip goes on while the transition to the next one is blended
        ahead_m = STOP_AHEAD_M + _ACT_STOP_S * moved / (LOOK_TICKS * self.delta_s)
        course = math.atan2(dy, dx)
        return bumps_soon(self.network.grid, self._obstacles_for(person), x, y, course, ahead_m)

    def _plain_walk(self, child: bool) -> str:
        return self.repertoire.fitting(self.repertoire.walking, child)[0].name

    def _walk(self, person: PersonState, moment: EgoMoment, looks: bool) -> None:
        actor, walk = person.placed.actor_id, person.walk
        assert walk is not None
        x, y, _ = self.posed.place_m(actor)
        self._watch_road(person, moment)
        row = self.posed.row_of(actor)
        if walk.follow(self.posed.players, row, self.delta_s):
            self._arrive(person, moment)
            return
        if not looks:
            return
        obstacles, grid = self._obstacles_for(person), self.network.grid
        if not walk.is_clear(grid, obstacles, x, y) and walk.reroute(grid, obstacles, x, y):
            self.note(moment, person, "rerouted")
        course = float(self.posed.players.rows.yaw_rad[row]) + walk.course_rad
        ahead_m = STOP_AHEAD_M + _WALK_STOP_S * float(self.posed.players.rows.speed_mps[row])
        if bumps_soon(grid, obstacles, x, y, course, ahead_m):
            self._stop_short(person, walk, x, y)

    def _arrive(self, person: PersonState, moment: EgoMoment) -> None:
        """Continue along the sidewalk after crossing; stand at the goal otherwise."""
        if person.placed.role.intended != WILL_CROSS or person.strolls_on:
            self._rest(person, moment, "back" if person.going_home else "strolled")
            return
        x, y, _ = self.posed.place_m(person.placed.actor_id)
        yaw = float(self.posed.players.rows.yaw_rad[self.posed.row_of(person.placed.actor_id)])
        random = self._rng("onward", person.placed.role.number)
        path = stroll_path(self.network, (x, y), random, yaw)
        if path is None:
            self._rest(person, moment, "crossed")
            return
        person.strolls_on, person.walk = True, PathWalk(path=path, keeps_off=True)
        self.note(moment, person, "crossed")

    def _rng(self, purpose: str, number: int) -> np.random.Generator:
        return stream(self.seed, "habit", purpose, number)

    def _stop_short(self, person: PersonState, walk: PathWalk, x: float, y: float) -> None:
        """Stop before an obstacle and turn towards the path around it."""
        actor = person.placed.actor_id
        self.posed.steer(actor, 0.0)
        self.posed.play(actor, idle_cue(person.placed, walk.bearing_rad(x, y)))
        person.activity, person.retry_s = Activity.BLOCKED, _RETRY_S

    def _try_again(self, person: PersonState, moment: EgoMoment) -> None:
        person.retry_s -= self.delta_s
        self._watch_road(person, moment)
        if person.retry_s > 0.0 or person.walk is None:
            return
        person.retry_s = _RETRY_S
        x, y, _ = self.posed.place_m(person.placed.actor_id)
        obstacles, grid = self._obstacles_for(person), self.network.grid
        free = person.walk.reroute(grid, obstacles, x, y)
        person.tries = 0 if free else person.tries + 1
        if not free and person.on_road and person.tries % _OTHER_GOAL_EVERY == 0:
            # a person must not stay on the road because their goal is occupied
            goals = (person.walk.goal_m, person.placed.a_m)
            path = path_off_road(grid, obstacles, (x, y), goals)
            if len(path):
                person.walk, free = PathWalk(path=path), True
        if free:
            role = person.placed.role
            plain = self._plain_walk(role.child) if person.going_home else role.clip
            self._walk_along(person, person.walk, role.carry or plain, "")
            self.note(moment, person, "rerouted")

    def _watch_road(self, person: PersonState, moment: EgoMoment) -> None:
        x, y, _ = self.posed.place_m(person.placed.actor_id)
        on_road = int(underfoot(self.network.grid, x, y)) in (ROAD, CROSSWALK)
        if on_road != person.on_road:
            person.on_road = on_road
            self.note(moment, person, "enters the road" if on_road else "leaves the road")

    # -- standing --------------------------------------------------------------------------------

    def _hold_standing_places(self) -> None:
        """Pull standing people back to their place: idle clips drift by millimetres a second."""
        rows = self.posed.players.rows
        still = [k for k, person in enumerate(self.people) if person.activity in _STANDING]
        dx = self._standing_m[still, 0] - rows.x_m[still]
        dy = self._standing_m[still, 1] - rows.y_m[still]
        gap = np.hypot(dx, dy)
        unknown = np.isnan(gap)
        if unknown.any():
            self._set_standing_places(np.array(still)[unknown])
            dx, dy, gap = (np.where(unknown, 0.0, part) for part in (dx, dy, gap))
        pull = np.minimum(_PULL_MPS * self.delta_s / np.maximum(gap, 1e-9), _PULL_SHARE)
        rows.x_m[still] += pull * dx
        rows.y_m[still] += pull * dy

    def _set_standing_places(self, people: IntArray) -> None:
        """Make the places where people have come to a stop their standing places."""
        rows = self.posed.players.rows
        stopped = people[rows.since_s[people] >= rows.blend_s[people]]
        self._standing_m[stopped] = np.column_stack([rows.x_m[stopped], rows.y_m[stopped]])

    # -- obstacles -------------------------------------------------------------------------------

    def _look(self, moment: EgoMoment, moving: list[PersonState]) -> None:
        places = np.array([self.posed.place_m(person.placed.actor_id)[:2] for person in moving])
        self.nearby.look(moment.snapshot, places)

    def _obstacles_for(self, person: PersonState) -> Obstacles:
        """Standing obstacles for one person, other posed people who stand included."""
        x, y, _ = self.posed.place_m(person.placed.actor_id)
        standing = (
            self.posed.place_m(other.placed.actor_id)[:2]
            for other in self.people
            if other is not person and other.activity is not Activity.WALKING
        )
        return self.nearby.around(x, y, standing)
