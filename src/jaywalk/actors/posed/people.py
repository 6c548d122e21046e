"""Posed people of an episode: they idle until the ego approaches, then play their role.

Call :meth:`HabitPeople.step` once before each ``world.tick()``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from jaywalk.actors._surroundings import CrowdView
from jaywalk.actors.crowd.places import WalkNetwork
from jaywalk.actors.crowd.state import make_crowd_rows
from jaywalk.actors.events import TRIGGER, EgoMoment, ScenarioEvent
from jaywalk.actors.posed._activities import (
    EVENT_NAME,
    LOOK_TICKS,
    Activities,
    Activity,
    PersonState,
    idle_cue,
)
from jaywalk.actors.posed._detour import NearbyObstacles
from jaywalk.actors.posed._roles import draw_roles
from jaywalk.actors.posed._spawning import PlacedPerson, spawn_posed
from jaywalk.actors.posed.control import PosedPeople
from jaywalk.actors.posed.repertoire import HabitManner, Repertoire
from jaywalk.client.bones import BoneLine
from jaywalk.geometry.pose import yaw_rad
from jaywalk.motion.playback.bank import ClipBank
from jaywalk.town.routes import DenseRoute

if TYPE_CHECKING:
    import carla

_HEADING_COS: Final = 0.5  # the ego approaches people within 60 degrees of its heading


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
    _activities: Activities | None = field(default=None, init=False)
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
        spawned = spawn_posed(
            self.client, self.world, self.network, roles, route, manner, self.seed, keep_clear_m
        )
        for placed, actor in spawned:
            pose = actor.get_transform()
            pose.location.x, pose.location.y = placed.a_m
            pose.location.z = placed.z_m
            self.posed.take(actor, idle_cue(placed, placed.yaw_rad), pose=pose)
            self._people.append(PersonState(placed=placed))
        view = CrowdView(self.world, self.ids, cars_every=1)
        self._activities = Activities(
            people=self._people,
            posed=self.posed,
            nearby=NearbyObstacles(view, make_crowd_rows(count), LOOK_TICKS * self.delta_s),
            network=self.network,
            repertoire=self.repertoire,
            seed=self.seed,
            delta_s=self.delta_s,
            events=self.events,
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
        return self._state_of(actor_id).activity

    def playing(self) -> Mapping[int, tuple[str, float, float]]:
        """Clip, phase and weight of every posed person, for the record."""
        return self.posed.phases()

    def step(self, moment: EgoMoment) -> None:
        """Decide for this tick, then pose and move all people; call before ``world.tick()``."""
        activities = self._activities
        if activities is None:
            return
        if self._tick == 0:
            for person in self._people:
                activities.note(moment, person, "role", **_role_facts(person.placed))
        self._watch_for_ego(moment)
        activities.step(self._tick, moment)
        for actor_id in self.posed.step(moment.snapshot):
            activities.knocked_down(self._state_of(actor_id), moment)
        self._tick += 1

    def trigger(self, actor_id: int, moment: EgoMoment) -> None:
        """Start a person's role now, regardless of the ego."""
        person = self._state_of(actor_id)
        if person.activity is Activity.IDLE:
            self._begin(person, moment)

    def _state_of(self, actor_id: int) -> PersonState:
        return self._people[self.ids.index(actor_id)]

    def _watch_for_ego(self, moment: EgoMoment) -> None:
        """Start the roles of people whom the ego approaches."""
        waiting = [person for person in self._people if person.activity is Activity.IDLE]
        ego = moment.snapshot.find(moment.ego_id) if waiting else None
        if ego is None:
            return
        pose = ego.get_transform()
        x, y, yaw = pose.location.x, pose.location.y, yaw_rad(pose)
        cos, sin = math.cos(yaw), math.sin(yaw)
        for person in waiting:
            dx, dy = person.placed.a_m[0] - x, person.placed.a_m[1] - y
            away = math.hypot(dx, dy)
            if away > person.placed.role.trigger_m or dx * cos + dy * sin < _HEADING_COS * away:
                continue
            self._begin(person, moment, away_m=round(away, 2))

    def _begin(self, person: PersonState, moment: EgoMoment, **detail: Any) -> None:
        assert self._activities is not None
        self.events.append(
            ScenarioEvent(
                time_s=moment.elapsed_s,
                kind=TRIGGER,
                name=EVENT_NAME,
                detail={
                    "actor": person.placed.actor_id,
                    "intended": person.placed.role.intended,
                    "ego_mps": round(moment.ego_speed_mps, 3),
                    **detail,
                },
            )
        )
        self._activities.begin(person, moment)


def _role_facts(placed: PlacedPerson) -> dict[str, Any]:
    """Role and place of a person, for the record."""
    role = placed.role
    return {
        "intended": role.intended,
        "subcategory": role.kind,
        "side": placed.side,
        "place": placed.place,
        "age": placed.age,
        "clip": role.clip,
        "idle": role.idle,
        "trigger_m": round(role.trigger_m, 2),
        "along_m": round(placed.along_m, 2),
    }
