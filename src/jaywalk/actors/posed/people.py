"""The posed people of an episode: idle until the ego comes, then what they are meant to do.

Call :meth:`HabitPeople.step` once before each ``world.tick()``. Nobody avoids moving vehicles; what
stands is walked round.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from jaywalk.actors.crowd.places import WalkNetwork
from jaywalk.actors.crowd.plans import CrowdView
from jaywalk.actors.crowd.state import ATTEMPTING, WILL_CROSS, People, make_people
from jaywalk.actors.events import NOTE, TRIGGER, Moment, ScenarioEvent
from jaywalk.actors.posed.detour import NO_OBSTACLES, Obstacles, find_detour
from jaywalk.actors.posed.players import PosedPeople
from jaywalk.actors.posed.repertoire import HabitManner, Repertoire
from jaywalk.actors.posed.roles import draw_roles
from jaywalk.actors.posed.spawning import Placed, spawn_posed
from jaywalk.actors.posed.walking import STOP_AHEAD_M, Walk, bumps_soon, stroll_way, ways_out
from jaywalk.client.bones import BoneLine
from jaywalk.core.arrays import FloatArray
from jaywalk.core.seeds import stream
from jaywalk.motion.playback.bank import ClipBank
from jaywalk.motion.playback.players import Cue
from jaywalk.town.routes import DenseRoute
from jaywalk.town.walkways import CROSSWALK, ROAD, underfoot

if TYPE_CHECKING:
    import carla

_LOOK_TICKS: Final = 4  # between looks at what stands about
_STANDING_MPS: Final = 0.3
_HEADING_COS: Final = 0.5  # the ego comes towards people within 60 degrees of where it heads
_STOPPING_MPS: Final = 1.2  # a vehicle this slow is about to stand, or has just begun to move
_ACT_STOP_S: Final = 0.5  # who acts is on their way for so long after they decided to stop
_WALK_STOP_S: Final = 0.25  # the same of who walks
_WAIT_S: Final = 0.6  # between two tries of somebody whose way is blocked
_LATER_TRIES: Final = 3  # of these one is at other places to go to
_NEAR_M: Final = 15.0  # what stands farther from somebody who walks is of no interest
_HOME_M: Final = 0.6  # who came back this near to where they stood is back
_PULL_MPS: Final = 0.012  # towards one's place; less than anybody sees a foot slip
_PULL_SHARE: Final = 0.02  # of the gap in a tick
_NAME: Final = "habit"


class Doing(Enum):
    """What somebody does."""

    IDLE = "idle"  # waits for the ego
    ACTING = "acting"  # plays a clip to its end
    WALKING = "walking"
    BLOCKED = "blocked"  # would walk, but there is no way
    RESTED = "rested"  # has done it all
    DOWN = "down"


_STANDING: Final = (Doing.IDLE, Doing.RESTED)


@dataclass(slots=True, kw_only=True)
class _Life:
    placed: Placed
    doing: Doing = Doing.IDLE
    walk: Walk | None = None
    on_road: bool = False
    retry_s: float = 0.0
    tries: int = 0
    going_home: bool = False
    strolls_on: bool = False
    last_m: tuple[float, float] | None = None  # where somebody who acts was at the last look


@dataclass(slots=True)
class HabitPeople:
    """Behaviourally diverse people along a route.

    Example:
        >>> people = HabitPeople(client, world, line, walks, bank, repertoire, 1)  # doctest: +SKIP
        >>> people.spawn(20, route, HabitManner())  # doctest: +SKIP
        >>> while driving:  # doctest: +SKIP
        ...     people.step(moment)
        ...     world.tick()

    Attributes:
        posed: Poses and places, by actor id.
        events: What happened since they were last taken, for the record.
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
    _lives: list[_Life] = field(default_factory=list, init=False)
    _rows: People = field(default_factory=lambda: make_people(0), init=False)
    _view: CrowdView | None = field(default=None, init=False)
    _things: Obstacles = field(default=NO_OBSTACLES, init=False)
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
        """Put exactly ``count`` people along the route, idle; returns their ids.

        Raises:
            DataError: Not everybody found a place; nobody is left behind.
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
            self._lives.append(_Life(placed=placed))
        self._home = np.array([placed.a_m for placed, _ in found]).reshape(-1, 2)
        self._rows = make_people(len(found))
        self._view = CrowdView(self.world, self.ids, cars_every=1)
        return self.ids

    @property
    def ids(self) -> list[int]:
        """Actor ids in the order of the people's numbers."""
        return [life.placed.actor_id for life in self._lives]

    @property
    def people(self) -> list[Placed]:
        """Who they are and where they began."""
        return [life.placed for life in self._lives]

    def doing(self, actor_id: int) -> Doing:
        """What a person does now."""
        return self._lives[self.ids.index(actor_id)].doing

    def playing(self) -> Mapping[int, tuple[str, float, float]]:
        """Clip, place in it and weight of it of everybody who is posed, for the record."""
        return self.posed.phases()

    # -- the tick --------------------------------------------------------------------------------

    def step(self, moment: Moment) -> None:
        """Decide for this tick, pose and move everybody; call before ``world.tick()``."""
        if not self._lives:
            return
        if self._tick == 0:
            self._introduce(moment)
        self._watch_for_ego(moment)
        moving = [life for life in self._lives if self._needs_room(life)]
        if moving and self._tick % _LOOK_TICKS == 0:
            self._look(moment, moving)
        for life in self._lives:
            if life.doing is Doing.WALKING:
                self._walk(life, moment)
            elif life.doing is Doing.BLOCKED:
                self._try_again(life, moment)
            elif life.doing is Doing.ACTING:
                self._act(life, moment)
        self._keep_places()
        for actor_id in self.posed.step(moment.snapshot):
            life = self._lives[self.ids.index(actor_id)]
            life.doing = Doing.DOWN
            self._note(moment, life, "knocked down")
        self._tick += 1

    def trigger(self, actor_id: int, moment: Moment) -> None:
        """Let a person begin now, wherever the ego is."""
        life = self._lives[self.ids.index(actor_id)]
        if life.doing is Doing.IDLE:
            self._begin(life, moment)

    def _introduce(self, moment: Moment) -> None:
        for life in self._lives:
            one, role = life.placed, life.placed.role
            self._note(
                moment,
                life,
                "role",
                intended=role.intended,
                subcategory=role.kind,
                side=one.side,
                place=one.place,
                age=one.age,
                clip=role.clip,
                idle=role.idle,
                trigger_m=round(role.trigger_m, 2),
                along_m=round(one.along_m, 2),
            )

    def _watch_for_ego(self, moment: Moment) -> None:
        """People begin when the ego is near and comes their way."""
        waiting = [life for life in self._lives if life.doing is Doing.IDLE]
        ego = moment.snapshot.find(moment.ego_id) if waiting else None
        if ego is None:
            return
        pose = ego.get_transform()
        x, y, yaw = pose.location.x, pose.location.y, math.radians(pose.rotation.yaw)
        cos, sin = math.cos(yaw), math.sin(yaw)
        for life in waiting:
            dx, dy = life.placed.a_m[0] - x, life.placed.a_m[1] - y
            away = math.hypot(dx, dy)
            if away > life.placed.role.trigger_m or dx * cos + dy * sin < _HEADING_COS * away:
                continue
            self._begin(life, moment, away_m=round(away, 2))

    # -- beginnings and ends ---------------------------------------------------------------------

    def _begin(self, life: _Life, moment: Moment, **detail: Any) -> None:
        role = life.placed.role
        self.events.append(
            ScenarioEvent(
                time_s=moment.elapsed_s,
                kind=TRIGGER,
                name=_NAME,
                detail={
                    "actor": life.placed.actor_id,
                    "intended": role.intended,
                    "ego_mps": round(moment.ego_speed_mps, 3),
                    **detail,
                },
            )
        )
        if role.intended == WILL_CROSS:
            assert life.placed.b_m is not None
            self._set_off(life, moment, life.placed.b_m, role.clip, role.carry)
        elif role.intended == ATTEMPTING:
            yaw = life.placed.yaw_rad - role.facing_rad - role.reach_rad
            cue = Cue(clip=role.clip, heading_rad=yaw, enter_s=0.0)
            self.posed.play(life.placed.actor_id, cue)
            life.doing = Doing.ACTING
        elif role.strolls:
            way = stroll_way(self.network, life.placed.a_m, self._chance("stroll", role.number))
            if way is None:
                life.doing = Doing.RESTED
                return
            self._walk_along(life, Walk(way=way, keeps_off=True), role.clip, "")
        else:
            # who moves about does so along the street
            about = life.placed.yaw_rad - role.facing_rad - role.reach_rad
            cue = Cue(clip=role.clip, heading_rad=about if role.roams else None)
            self.posed.play(life.placed.actor_id, cue)
            life.doing = Doing.ACTING

    def _set_off(
        self, life: _Life, moment: Moment, goal: tuple[float, float], clip: str, carry: str
    ) -> None:
        """Walk to a goal with a clip, round what stands in the way."""
        x, y, _ = self.posed.place_m(life.placed.actor_id)
        self._look(moment, [life])
        way = find_detour(self.network.grid, self._things_but(life), (x, y), goal)
        blocked = len(way) < 2
        walk = Walk(way=np.array([(x, y), goal]) if blocked else way)
        if len(walk.way) > 2:
            walk.reroutes = 1
            self._note(moment, life, "rerouted")
        self._walk_along(life, walk, clip, carry)

    def _walk_along(self, life: _Life, walk: Walk, clip: str, carry: str) -> None:
        x, y, _ = self.posed.place_m(life.placed.actor_id)
        towards = walk.bearing_rad(x, y)
        walk.course_rad = 0.0  # of another start, if any
        first = Cue(clip=clip, towards_rad=towards, loop=not carry, holds=False)
        then = [Cue(clip=carry, loop=True, holds=False)] if carry else []
        self.posed.play(life.placed.actor_id, first, then)
        life.walk, life.doing = walk, Doing.WALKING

    def _rest(self, life: _Life, moment: Moment, what: str) -> None:
        actor = life.placed.actor_id
        self.posed.steer(actor, 0.0)
        self.posed.play(actor, Cue(clip=life.placed.role.idle, loop=True))
        life.doing = Doing.RESTED
        self._home[life.placed.role.number] = np.nan  # until the last step is made
        self._note(moment, life, what)

    def _idle(self, placed: Placed, yaw_rad: float) -> Cue:
        return Cue(clip=placed.role.idle, heading_rad=yaw_rad, loop=True)

    # -- acting and walking ----------------------------------------------------------------------

    def _needs_room(self, life: _Life) -> bool:
        """Whether somebody goes anywhere, or is about to, so that what stands there matters."""
        if life.doing is Doing.ACTING:
            return life.placed.role.intended == ATTEMPTING or life.placed.role.roams
        return life.doing in (Doing.WALKING, Doing.BLOCKED)

    def _act(self, life: _Life, moment: Moment) -> None:
        """A clip is played to its end; who is then away from home walks back there.

        So does who would walk into something that stands.
        """
        actor = life.placed.actor_id
        self._watch_road(life, moment)
        if not (self.posed.playing(actor).ended or self._walks_into_something(life)):
            return
        x, y, _ = self.posed.place_m(actor)
        home = life.placed.a_m
        if math.hypot(x - home[0], y - home[1]) > _HOME_M:
            life.going_home = True
            role = life.placed.role
            carry = role.carry or self._plain(role.child)
            self._set_off(life, moment, home, carry, "")
        else:
            self._rest(life, moment, "back")

    def _walks_into_something(self, life: _Life) -> bool:
        if (self._tick + life.placed.role.number) % _LOOK_TICKS or not self._needs_room(life):
            return False
        x, y, _ = self.posed.place_m(life.placed.actor_id)
        before, life.last_m = life.last_m, (x, y)
        if before is None:
            return False
        dx, dy = x - before[0], y - before[1]
        moved = math.hypot(dx, dy)
        if moved < _STANDING_MPS * _LOOK_TICKS * self.delta_s:
            return False
        # a join takes its time, and the clip goes on meanwhile
        ahead_m = STOP_AHEAD_M + _ACT_STOP_S * moved / (_LOOK_TICKS * self.delta_s)
        course = math.atan2(dy, dx)
        return bumps_soon(self.network.grid, self._things_but(life), x, y, course, ahead_m)

    def _plain(self, child: bool) -> str:
        return self.repertoire.fitting(self.repertoire.walking, child)[0].name

    def _walk(self, life: _Life, moment: Moment) -> None:
        actor, walk = life.placed.actor_id, life.walk
        assert walk is not None
        x, y, _ = self.posed.place_m(actor)
        self._watch_road(life, moment)
        row = self.posed.row_of(actor)
        if walk.follow(self.posed.players, row, self.delta_s):
            self._arrive(life, moment)
            return
        if (self._tick + life.placed.role.number) % _LOOK_TICKS:
            return
        things, grid = self._things_but(life), self.network.grid
        if not walk.is_clear(grid, things, x, y) and walk.reroute(grid, things, x, y):
            self._note(moment, life, "rerouted")
        course = float(self.posed.players.rows.yaw_rad[row]) + walk.course_rad
        ahead_m = STOP_AHEAD_M + _WALK_STOP_S * float(self.posed.players.rows.speed_mps[row])
        if bumps_soon(grid, things, x, y, course, ahead_m):
            self._stop_short(life, walk, x, y)

    def _arrive(self, life: _Life, moment: Moment) -> None:
        """Who has crossed walks on along the sidewalk; the others stand where they wanted to go."""
        if life.placed.role.intended != WILL_CROSS or life.strolls_on:
            self._rest(life, moment, "back" if life.going_home else "strolled")
            return
        x, y, _ = self.posed.place_m(life.placed.actor_id)
        yaw = float(self.posed.players.rows.yaw_rad[self.posed.row_of(life.placed.actor_id)])
        chance = self._chance("onward", life.placed.role.number)
        way = stroll_way(self.network, (x, y), chance, yaw)
        if way is None:
            self._rest(life, moment, "crossed")
            return
        life.strolls_on, life.walk = True, Walk(way=way, keeps_off=True)
        self._note(moment, life, "crossed")

    def _chance(self, what: str, number: int) -> np.random.Generator:
        return stream(self.seed, "habit", what, number)

    def _stop_short(self, life: _Life, walk: Walk, x: float, y: float) -> None:
        """Something is right ahead: stand, turn towards the way out, go on from there."""
        actor = life.placed.actor_id
        self.posed.steer(actor, 0.0)
        self.posed.play(actor, self._idle(life.placed, walk.bearing_rad(x, y)))
        life.doing, life.retry_s = Doing.BLOCKED, _WAIT_S

    def _try_again(self, life: _Life, moment: Moment) -> None:
        life.retry_s -= self.delta_s
        self._watch_road(life, moment)
        if life.retry_s > 0.0 or life.walk is None:
            return
        life.retry_s = _WAIT_S
        x, y, _ = self.posed.place_m(life.placed.actor_id)
        things, grid = self._things_but(life), self.network.grid
        free = life.walk.reroute(grid, things, x, y)
        life.tries = 0 if free else life.tries + 1
        if not free and life.on_road and life.tries % _LATER_TRIES == 0:
            # nobody stays on the road because the place they were to go to is taken
            out = ways_out(grid, things, (x, y), (life.walk.goal_m, life.placed.a_m))
            if len(out):
                life.walk, free = Walk(way=out), True
        if free:
            role = life.placed.role
            clip = role.carry or (self._plain(role.child) if life.going_home else role.clip)
            self._walk_along(life, life.walk, clip, "")
            self._note(moment, life, "rerouted")

    def _watch_road(self, life: _Life, moment: Moment) -> None:
        x, y, _ = self.posed.place_m(life.placed.actor_id)
        on_road = int(underfoot(self.network.grid, x, y)) in (ROAD, CROSSWALK)
        if on_road != life.on_road:
            life.on_road = on_road
            self._note(moment, life, "enters the road" if on_road else "leaves the road")

    def _keep_places(self) -> None:
        """Idle clips drift by millimetres a second; who stands for minutes stays at their place."""
        rows = self.posed.players.rows
        still = [k for k, life in enumerate(self._lives) if life.doing in _STANDING]
        dx, dy = self._home[still, 0] - rows.x_m[still], self._home[still, 1] - rows.y_m[still]
        gap = np.hypot(dx, dy)
        fresh = np.isnan(gap)
        if fresh.any():
            self._settle(np.array(still)[fresh])
            dx, dy, gap = (np.where(fresh, 0.0, part) for part in (dx, dy, gap))
        pull = np.minimum(_PULL_MPS * self.delta_s / np.maximum(gap, 1e-9), _PULL_SHARE)
        rows.x_m[still] += pull * dx
        rows.y_m[still] += pull * dy

    def _settle(self, people: Any) -> None:
        """Who has come to a stand makes that place their own."""
        rows = self.posed.players.rows
        stopped = people[rows.since_s[people] >= rows.blend_s[people]]
        self._home[stopped] = np.column_stack([rows.x_m[stopped], rows.y_m[stopped]])

    # -- what stands about -----------------------------------------------------------------------

    def _look(self, moment: Moment, moving: list[_Life]) -> None:
        assert self._view is not None
        seen = self._view.look(moment.snapshot, self._rows, _LOOK_TICKS * self.delta_s)
        slow = np.hypot(seen.vehicle[:, 6], seen.vehicle[:, 7]) < _STOPPING_MPS
        boxes = np.concatenate([seen.vehicle[slow, :6], seen.thing])
        still = np.hypot(seen.stranger[:, 2], seen.stranger[:, 3]) < _STANDING_MPS
        places = np.array([self.posed.place_m(life.placed.actor_id)[:2] for life in moving])
        boxes = boxes[_near(boxes[:, :2], places)]
        discs = seen.stranger[still, :2]
        self._things = Obstacles(
            np.ascontiguousarray(boxes), np.ascontiguousarray(discs[_near(discs, places)])
        )

    def _things_but(self, life: _Life) -> Obstacles:
        """What stands about for one person: things, strangers, and others of ours who stand."""
        x, y, _ = self.posed.place_m(life.placed.actor_id)
        others = [
            self.posed.place_m(other.placed.actor_id)[:2]
            for other in self._lives
            if other is not life and other.doing is not Doing.WALKING
        ]
        near = [(u, v) for u, v in others if abs(u - x) < _NEAR_M and abs(v - y) < _NEAR_M]
        discs = np.concatenate([self._things.disc, np.array(near).reshape(-1, 2)])
        return Obstacles(self._things.box, discs)

    def _note(self, moment: Moment, life: _Life, what: str, **detail: Any) -> None:
        self.events.append(
            ScenarioEvent(
                time_s=moment.elapsed_s,
                kind=NOTE,
                name=_NAME,
                detail={"actor": life.placed.actor_id, "what": what, **detail},
            )
        )


def _near(things: Any, people: Any) -> Any:
    """Which things (n, 2) are near to anybody (m, 2)."""
    if not len(things) or not len(people):
        return np.zeros(len(things), np.bool_)
    gap = np.abs(things[:, None] - people[None]).max(axis=2)
    return gap.min(axis=1) < _NEAR_M
