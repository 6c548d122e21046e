"""Posed people of an episode: they idle until the ego approaches, then play their role.

Call :meth:`HabitPeople.step` once before each ``world.tick()``. People walk around obstacles that
stand still; they do not avoid moving vehicles.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from jaywalk.actors.crowd._plans import CrowdView
from jaywalk.actors.crowd.places import WalkNetwork
from jaywalk.actors.crowd.state import ATTEMPTING, WILL_CROSS, make_crowd_rows
from jaywalk.actors.events import NOTE, TRIGGER, EgoMoment, ScenarioEvent
from jaywalk.actors.posed._detour import Obstacles, find_detour
from jaywalk.actors.posed._nearby import STANDING_MPS, NearbyObstacles
from jaywalk.actors.posed._players import PosedPeople
from jaywalk.actors.posed._roles import draw_roles
from jaywalk.actors.posed._spawning import PlacedPerson, spawn_posed
from jaywalk.actors.posed._walking import STOP_AHEAD_M, PathWalk, bumps_soon, stroll_way, ways_out
from jaywalk.actors.posed.repertoire import HabitManner, Repertoire
from jaywalk.client.bones import BoneLine
from jaywalk.core.arrays import FloatArray
from jaywalk.core.seeds import stream
from jaywalk.motion.playback.bank import ClipBank
from jaywalk.motion.playback.players import Cue
from jaywalk.town.routes import DenseRoute
from jaywalk.town.walkways import CROSSWALK, ROAD, underfoot

if TYPE_CHECKING:
    import carla

_LOOK_TICKS: Final = 4  # between looks at obstacles
_HEADING_COS: Final = 0.5  # the ego approaches people within 60 degrees of its heading
_ACT_STOP_S: Final = 0.5  # time that an acting person needs to stop
_WALK_STOP_S: Final = 0.25  # time that a walking person needs to stop
_RETRY_S: Final = 0.6  # between two attempts of a blocked person
_OTHER_GOAL_EVERY: Final = 3  # every third failed attempt on the road tries another goal
_HOME_M: Final = 0.6  # this near to the starting place counts as back
_PULL_MPS: Final = 0.012  # towards the standing place; too slow to see a foot slip
_PULL_SHARE: Final = 0.02  # of the gap, per tick
_NAME: Final = "habit"


class Activity(Enum):
    """Current activity of a posed person."""

    IDLE = "idle"  # waiting for the ego
    ACTING = "acting"  # playing a clip to its end
    WALKING = "walking"
    BLOCKED = "blocked"  # wants to walk, but finds no free path
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


@dataclass(slots=True)
class HabitPeople:
    """Posed people along a route, each with an individual role.

    Example:
        >>> people = HabitPeople(client, world, line, walks, bank, repertoire, 1)  # doctest: +SKIP
        >>> people.spawn(20, route, HabitManner())  # doctest: +SKIP
        >>> while driving:  # doctest: +SKIP
        ...     people.step(moment)
        ...     world.tick()

    Attributes:
        posed: Poses and places, by actor id.
        events: Events since they were last taken, for the record.
    """

    client: carla.Client
    world: carla.World
    line: BoneLine
    network: WalkNetwork
    bank: ClipBank
    repertoire: Repertoire
    seed: int
    delta_s: float = 0.05
    posed: PosedPeople = field(init=False)
    events: list[ScenarioEvent] = field(default_factory=list, init=False)
    _people: list[PersonState] = field(default_factory=list, init=False)
    _nearby: NearbyObstacles | None = field(default=None, init=False)
    _home: FloatArray = field(default_factory=lambda: np.zeros((0, 2)), init=False)
    _tick: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self.posed = PosedPeople(
            self.client, self.line, self.bank, self.network.ground, self.delta_s
        )

    def spawn(
        self,
        count: int,
        route: DenseRoute,
        manner: HabitManner,
        keep_clear_m: list[tuple[float, float, float]],
    ) -> list[int]:
        """Spawn exactly ``count`` idle people along the route; returns their ids.

        Raises:
            DataError: A person found no place; those already spawned are removed.
        """
        roles = draw_roles(self.seed, count, manner, self.repertoire)
        found = spawn_posed(
            self.client, self.world, self.network, roles, route, manner, self.seed, keep_clear_m
        )
        for placed, actor in found:
            pose = actor.get_transform()
            pose.location.x, pose.location.y = placed.a_m
            pose.location.z = placed.z_m
            self.posed.take(actor, self._idle(placed, placed.yaw_rad), pose=pose)
            self._people.append(PersonState(placed=placed))
        self._home = np.array([placed.a_m for placed, _ in found]).reshape(-1, 2)
        self._nearby = NearbyObstacles(
            CrowdView(self.world, self.ids, cars_every=1),
            make_crowd_rows(len(found)),
            _LOOK_TICKS * self.delta_s,
        )
        return self.ids

    @property
    def ids(self) -> list[int]:
        """Actor ids in the order of the people's numbers."""
        return [person.placed.actor_id for person in self._people]

    @property
    def people(self) -> list[PlacedPerson]:
        """Roles and starting places."""
        return [person.placed for person in self._people]

    def activity_of(self, actor_id: int) -> Activity:
        """Current activity of a person."""
        return self._people[self.ids.index(actor_id)].activity

    def playing(self) -> Mapping[int, tuple[str, float, float]]:
        """Clip, phase and weight of every posed person, for the record."""
        return self.posed.phases()

    # -- the tick --------------------------------------------------------------------------------

    def step(self, moment: EgoMoment) -> None:
        """Decide for this tick, then pose and move all people; call before ``world.tick()``."""
        if not self._people:
            return
        if self._tick == 0:
            self._announce_roles(moment)
        self._watch_for_ego(moment)
        moving = [person for person in self._people if self._needs_room(person)]
        if moving and self._tick % _LOOK_TICKS == 0:
            self._look(moment, moving)
        for person in self._people:
            if person.activity is Activity.WALKING:
                self._walk(person, moment)
            elif person.activity is Activity.BLOCKED:
                self._try_again(person, moment)
            elif person.activity is Activity.ACTING:
                self._act(person, moment)
        self._hold_standing_places()
        for actor_id in self.posed.step(moment.snapshot):
            person = self._people[self.ids.index(actor_id)]
            person.activity = Activity.DOWN
            self._note(moment, person, "knocked down")
        self._tick += 1

    def trigger(self, actor_id: int, moment: EgoMoment) -> None:
        """Start a person's role now, regardless of the ego."""
        person = self._people[self.ids.index(actor_id)]
        if person.activity is Activity.IDLE:
            self._begin(person, moment)

    def _announce_roles(self, moment: EgoMoment) -> None:
        for person in self._people:
            placed, role = person.placed, person.placed.role
            self._note(
                moment,
                person,
                "role",
                intended=role.intended,
                subcategory=role.kind,
                side=placed.side,
                place=placed.place,
                age=placed.age,
                clip=role.clip,
                idle=role.idle,
                trigger_m=round(role.trigger_m, 2),
                along_m=round(placed.along_m, 2),
            )

    def _watch_for_ego(self, moment: EgoMoment) -> None:
        """Start the roles of people whom the ego approaches."""
        waiting = [person for person in self._people if person.activity is Activity.IDLE]
        ego = moment.snapshot.find(moment.ego_id) if waiting else None
        if ego is None:
            return
        pose = ego.get_transform()
        x, y, yaw = pose.location.x, pose.location.y, math.radians(pose.rotation.yaw)
        cos, sin = math.cos(yaw), math.sin(yaw)
        for person in waiting:
            dx, dy = person.placed.a_m[0] - x, person.placed.a_m[1] - y
            away = math.hypot(dx, dy)
            if away > person.placed.role.trigger_m or dx * cos + dy * sin < _HEADING_COS * away:
                continue
            self._begin(person, moment, away_m=round(away, 2))

    # -- starting and finishing ------------------------------------------------------------------

    def _begin(self, person: PersonState, moment: EgoMoment, **detail: Any) -> None:
        role = person.placed.role
        self.events.append(
            ScenarioEvent(
                time_s=moment.elapsed_s,
                kind=TRIGGER,
                name=_NAME,
                detail={
                    "actor": person.placed.actor_id,
                    "intended": role.intended,
                    "ego_mps": round(moment.ego_speed_mps, 3),
                    **detail,
                },
            )
        )
        if role.intended == WILL_CROSS:
            assert person.placed.b_m is not None
            self._set_off(person, moment, person.placed.b_m, role.clip, role.carry)
        elif role.intended == ATTEMPTING:
            yaw = person.placed.yaw_rad - role.facing_rad - role.reach_rad
            cue = Cue(clip=role.clip, heading_rad=yaw, enter_s=0.0)
            self.posed.play(person.placed.actor_id, cue)
            person.activity = Activity.ACTING
        elif role.strolls:
            way = stroll_way(self.network, person.placed.a_m, self._rng("stroll", role.number))
            if way is None:
                person.activity = Activity.RESTED
                return
            self._walk_along(person, PathWalk(way=way, keeps_off=True), role.clip, "")
        else:
            # roaming people move along the street
            about = person.placed.yaw_rad - role.facing_rad - role.reach_rad
            cue = Cue(clip=role.clip, heading_rad=about if role.roams else None)
            self.posed.play(person.placed.actor_id, cue)
            person.activity = Activity.ACTING

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
        way = find_detour(self.network.grid, self._obstacles_for(person), (x, y), goal)
        blocked = len(way) < 2
        walk = PathWalk(way=np.array([(x, y), goal]) if blocked else way)
        if len(walk.way) > 2:
            walk.reroutes = 1
            self._note(moment, person, "rerouted")
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
        self._home[person.placed.role.number] = np.nan  # until the last step is made
        self._note(moment, person, what)

    def _idle(self, placed: PlacedPerson, yaw_rad: float) -> Cue:
        return Cue(clip=placed.role.idle, heading_rad=yaw_rad, loop=True)

    # -- acting and walking ----------------------------------------------------------------------

    def _needs_room(self, person: PersonState) -> bool:
        """Return True if a person moves, or is about to, so that obstacles matter."""
        if person.activity is Activity.ACTING:
            return person.placed.role.intended == ATTEMPTING or person.placed.role.roams
        return person.activity in (Activity.WALKING, Activity.BLOCKED)

    def _act(self, person: PersonState, moment: EgoMoment) -> None:
        """Play a clip to its end, then walk back to the starting place if it is not near.

        A person about to walk into an obstacle walks back at once.
        """
        actor = person.placed.actor_id
        self._watch_road(person, moment)
        if not (self.posed.playing(actor).ended or self._is_about_to_bump(person)):
            return
        x, y, _ = self.posed.place_m(actor)
        home = person.placed.a_m
        if math.hypot(x - home[0], y - home[1]) > _HOME_M:
            person.going_home = True
            role = person.placed.role
            carry = role.carry or self._plain(role.child)
            self._set_off(person, moment, home, carry, "")
        else:
            self._rest(person, moment, "back")

    def _is_about_to_bump(self, person: PersonState) -> bool:
        if (self._tick + person.placed.role.number) % _LOOK_TICKS or not self._needs_room(person):
            return False
        x, y, _ = self.posed.place_m(person.placed.actor_id)
        before, person.last_m = person.last_m, (x, y)
        if before is None:
            return False
        dx, dy = x - before[0], y - before[1]
        moved = math.hypot(dx, dy)
        if moved < STANDING_MPS * _LOOK_TICKS * self.delta_s:
            return False
        # the clip goes on while the transition to the next one is blended
        ahead_m = STOP_AHEAD_M + _ACT_STOP_S * moved / (_LOOK_TICKS * self.delta_s)
        course = math.atan2(dy, dx)
        return bumps_soon(self.network.grid, self._obstacles_for(person), x, y, course, ahead_m)

    def _plain(self, child: bool) -> str:
        return self.repertoire.fitting(self.repertoire.walking, child)[0].name

    def _walk(self, person: PersonState, moment: EgoMoment) -> None:
        actor, walk = person.placed.actor_id, person.walk
        assert walk is not None
        x, y, _ = self.posed.place_m(actor)
        self._watch_road(person, moment)
        row = self.posed.row_of(actor)
        if walk.follow(self.posed.players, row, self.delta_s):
            self._arrive(person, moment)
            return
        if (self._tick + person.placed.role.number) % _LOOK_TICKS:
            return
        obstacles, grid = self._obstacles_for(person), self.network.grid
        if not walk.is_clear(grid, obstacles, x, y) and walk.reroute(grid, obstacles, x, y):
            self._note(moment, person, "rerouted")
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
        chance = self._rng("onward", person.placed.role.number)
        way = stroll_way(self.network, (x, y), chance, yaw)
        if way is None:
            self._rest(person, moment, "crossed")
            return
        person.strolls_on, person.walk = True, PathWalk(way=way, keeps_off=True)
        self._note(moment, person, "crossed")

    def _rng(self, what: str, number: int) -> np.random.Generator:
        return stream(self.seed, "habit", what, number)

    def _stop_short(self, person: PersonState, walk: PathWalk, x: float, y: float) -> None:
        """Stop before an obstacle and turn towards the way around it."""
        actor = person.placed.actor_id
        self.posed.steer(actor, 0.0)
        self.posed.play(actor, self._idle(person.placed, walk.bearing_rad(x, y)))
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
            out = ways_out(grid, obstacles, (x, y), (person.walk.goal_m, person.placed.a_m))
            if len(out):
                person.walk, free = PathWalk(way=out), True
        if free:
            role = person.placed.role
            clip = role.carry or (self._plain(role.child) if person.going_home else role.clip)
            self._walk_along(person, person.walk, clip, "")
            self._note(moment, person, "rerouted")

    def _watch_road(self, person: PersonState, moment: EgoMoment) -> None:
        x, y, _ = self.posed.place_m(person.placed.actor_id)
        on_road = int(underfoot(self.network.grid, x, y)) in (ROAD, CROSSWALK)
        if on_road != person.on_road:
            person.on_road = on_road
            self._note(moment, person, "enters the road" if on_road else "leaves the road")

    def _hold_standing_places(self) -> None:
        """Pull standing people back to their place: idle clips drift by millimetres a second."""
        rows = self.posed.players.rows
        still = [k for k, person in enumerate(self._people) if person.activity in _STANDING]
        dx, dy = self._home[still, 0] - rows.x_m[still], self._home[still, 1] - rows.y_m[still]
        gap = np.hypot(dx, dy)
        fresh = np.isnan(gap)
        if fresh.any():
            self._set_standing_place(np.array(still)[fresh])
            dx, dy, gap = (np.where(fresh, 0.0, part) for part in (dx, dy, gap))
        pull = np.minimum(_PULL_MPS * self.delta_s / np.maximum(gap, 1e-9), _PULL_SHARE)
        rows.x_m[still] += pull * dx
        rows.y_m[still] += pull * dy

    def _set_standing_place(self, people: Any) -> None:
        """Make the place where people have come to a stop their standing place."""
        rows = self.posed.players.rows
        stopped = people[rows.since_s[people] >= rows.blend_s[people]]
        self._home[stopped] = np.column_stack([rows.x_m[stopped], rows.y_m[stopped]])

    # -- obstacles -------------------------------------------------------------------------------

    def _look(self, moment: EgoMoment, moving: list[PersonState]) -> None:
        assert self._nearby is not None
        places = np.array([self.posed.place_m(person.placed.actor_id)[:2] for person in moving])
        self._nearby.look(moment.snapshot, places)

    def _obstacles_for(self, person: PersonState) -> Obstacles:
        """Standing obstacles for one person, other posed people who stand included."""
        assert self._nearby is not None
        x, y, _ = self.posed.place_m(person.placed.actor_id)
        standing = (
            self.posed.place_m(other.placed.actor_id)[:2]
            for other in self._people
            if other is not person and other.activity is not Activity.WALKING
        )
        return self._nearby.around(x, y, standing)

    def _note(self, moment: EgoMoment, person: PersonState, what: str, **detail: Any) -> None:
        self.events.append(
            ScenarioEvent(
                time_s=moment.elapsed_s,
                kind=NOTE,
                name=_NAME,
                detail={"actor": person.placed.actor_id, "what": what, **detail},
            )
        )
