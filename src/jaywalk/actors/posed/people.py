"""Posed people of an episode: they idle until the ego approaches, then play their role.

Call :meth:`HabitPeople.step` once before each ``world.tick()``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from jaywalk.actors._surroundings import CrowdView, RedLights
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
from jaywalk.actors.posed._groups import Company, gather, suited
from jaywalk.actors.posed._outfits import draw_outfits
from jaywalk.actors.posed._reacting import ReactiveActivities
from jaywalk.actors.posed._roles import draw_roles
from jaywalk.actors.posed._spawning import Outfit, PlacedPerson, spawn_posed
from jaywalk.actors.posed.control import PosedPeople
from jaywalk.actors.posed.repertoire import HabitManner, Repertoire
from jaywalk.actors.reactive.model import ReactionModel, weather_shift_s
from jaywalk.actors.reactive.policy import PolicyModel
from jaywalk.actors.reactive.traits import (
    PRESETS,
    SCRIPTED,
    AttentionShares,
    Traits,
    draw_traits,
    noise_key,
)
from jaywalk.client.bones import BoneLine
from jaywalk.core.arrays import BoolArray
from jaywalk.geometry.pose import yaw_rad
from jaywalk.motion.playback.bank import ClipBank
from jaywalk.motion.playback.overlay import GazeOverlay
from jaywalk.town.routes import DenseRoute
from jaywalk_agent import PersonPolicy

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
    people_model: str = SCRIPTED
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
        traits: Traits | None = None
        outfits: list[Outfit] = []
        if self.people_model != SCRIPTED:
            children = np.array([role.child for role in roles], np.bool_)
            shares = AttentionShares(oblivious=manner.oblivious)
            traits = draw_traits(self.seed, children, shares, EVENT_NAME)
            roles = suited(self.seed, roles, traits, self.repertoire)
            rain = float(self.world.get_weather().precipitation)
            outfits = draw_outfits(self.seed, roles, traits, rain)
        spawned = spawn_posed(
            self.client,
            self.world,
            self.network,
            roles,
            route,
            manner,
            self.seed,
            keep_clear_m,
            outfits,
        )
        people = [placed for placed, _ in spawned]
        company = None
        if traits is not None:
            company = gather(self.seed, people, traits, self.network, EVENT_NAME)
            people = company.placed
        for placed, (_, actor) in zip(people, spawned, strict=True):
            start = placed.a_m if company is None else company.start_m[placed.role.number]
            pose = actor.get_transform()
            pose.location.x, pose.location.y = float(start[0]), float(start[1])
            pose.location.z = placed.z_m
            self.posed.take(actor, idle_cue(placed, placed.yaw_rad), pose=pose)
            self._people.append(PersonState(placed=placed))
        self._activities = self._make_activities(route, traits, company)
        return self.ids

    def _make_activities(
        self, route: DenseRoute, traits: Traits | None, company: Company | None
    ) -> Activities:
        count = len(self._people)
        view = CrowdView(self.world, self.ids, cars_every=1)
        parts: dict[str, Any] = {
            "people": self._people,
            "posed": self.posed,
            "nearby": NearbyObstacles(view, make_crowd_rows(count), LOOK_TICKS * self.delta_s),
            "network": self.network,
            "repertoire": self.repertoire,
            "seed": self.seed,
            "delta_s": self.delta_s,
            "events": self.events,
        }
        if traits is None or company is None:
            return Activities(**parts)
        self.posed.gaze = GazeOverlay(count)
        settings = PRESETS[self.people_model]
        model = ReactionModel(
            key=noise_key(self.seed, EVENT_NAME),
            traits=traits,
            grid=self.network.grid,
            delta_s=self.delta_s,
            settings=settings,
            shift_s=weather_shift_s(self.world.get_weather(), settings),
        )
        return ReactiveActivities(
            **parts,
            model=model,
            company=company,
            lights=RedLights(self.world),
            lane_map=self.world.get_map(),
            route_m=np.ascontiguousarray(route.position_m[:, :2]),
            route_along_m=np.asarray(route.along_m),
        )

    def hand_over(self, policy: PersonPolicy, name: str, people: list[int] | None = None) -> None:
        """Let a policy decide for people who react; call it before the first step.

        Args:
            policy: The policy.
            name: Its name for messages.
            people: Numbers of the people; None: all of them.
        """
        activities = self._activities
        assert isinstance(activities, ReactiveActivities)
        own = np.full(len(self._people), people is None)
        own[people or []] = True
        goals = [placed.a_m if placed.b_m is None else placed.b_m for placed in self.people]
        activities.model = PolicyModel.replacing(
            activities.model, policy, name, np.array(goals).reshape(-1, 2), self.seed, own
        )

    def leaders(self) -> BoolArray:
        """Return which of the people who react are alone or lead their group."""
        activities = self._activities
        assert isinstance(activities, ReactiveActivities)
        group = activities.model.traits.group
        return np.asarray((group < 0) | (group == np.arange(len(group))))

    @property
    def policy_model(self) -> PolicyModel | None:
        """Model that asks a policy of the user; None: there is none."""
        activities = self._activities
        model = activities.model if isinstance(activities, ReactiveActivities) else None
        return model if isinstance(model, PolicyModel) else None

    def close(self) -> None:
        """Close the policy of the user; later calls do nothing."""
        if self.policy_model is not None:
            self.policy_model.close()

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

    def reactions(self) -> dict[str, Any]:
        """What reacting people perceive and decide now, for the record; empty: nobody reacts."""
        activities = self._activities
        return activities.reactions() if isinstance(activities, ReactiveActivities) else {}

    def step(self, moment: EgoMoment) -> None:
        """Decide for this tick, then pose and move all people; call before ``world.tick()``."""
        activities = self._activities
        if activities is None:
            return
        if self._tick == 0:
            for person in self._people:
                facts = _role_facts(person.placed)
                if isinstance(activities, ReactiveActivities):
                    facts |= activities.trait_facts(person)
                activities.note(moment, person, "role", **facts)
                if isinstance(activities, ReactiveActivities):
                    plan = "stay" if person.placed.b_m is None else "cross"
                    activities.note(moment, person, "intends", plan=plan)
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
        reacting = isinstance(self._activities, ReactiveActivities)
        ego = moment.snapshot.find(moment.ego_id) if waiting or reacting else None
        if ego is None:
            return
        pose = ego.get_transform()
        x, y, yaw = pose.location.x, pose.location.y, yaw_rad(pose)
        cos, sin = math.cos(yaw), math.sin(yaw)
        if isinstance(self._activities, ReactiveActivities):
            self._activities.see_ego((x, y), moment.ego_speed_mps)
            for person in waiting:
                if person.placed.b_m is not None:
                    if self._activities.is_due(person):
                        self._begin(person, moment)
                    continue
                self._begin_when_near(person, moment, (x, y), (cos, sin))
            return
        for person in waiting:
            self._begin_when_near(person, moment, (x, y), (cos, sin))

    def _begin_when_near(
        self,
        person: PersonState,
        moment: EgoMoment,
        ego_m: tuple[float, float],
        heading: tuple[float, float],
    ) -> None:
        """Start a role when the ego comes near."""
        dx, dy = person.placed.a_m[0] - ego_m[0], person.placed.a_m[1] - ego_m[1]
        away = math.hypot(dx, dy)
        ahead = dx * heading[0] + dy * heading[1]
        if away <= person.placed.role.trigger_m and ahead >= _HEADING_COS * away:
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
