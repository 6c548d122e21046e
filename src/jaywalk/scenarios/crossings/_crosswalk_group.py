"""Scenarios with groups of people: CrosswalkGroup, PedestrianCrowd and PedestriansOnRoad.

In CrosswalkGroup three people cross before a junction, each with an individual pace and hesitation.
In PedestrianCrowd many people stand on the sidewalk, and no reaction is needed. In
PedestriansOnRoad people walk on the ego's lane, away from it, then stand, then vanish.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar, Final

import carla
import numpy as np
from numpy.typing import NDArray

from jaywalk.actors.events import EgoMoment
from jaywalk.client.placing import pick_model, place_on_route, roadside, spawn_first_that_fits
from jaywalk.core.errors import DataError
from jaywalk.scenarios.base import BEHIND_M, OBSTACLE_TIMEOUT_S, Parameters, Scenario
from jaywalk.scenarios.catalogue import (
    FAIL2DRIVE,
    JAYWALK,
    LEADERBOARD,
    STRAIGHT,
    Placing,
    Shift,
    StreetNeeds,
    scenario,
)
from jaywalk.scenarios.junctions._junction_ahead import junction_ahead
from jaywalk.scenarios.parameter_fields import ahead, model, people, side, whole, within

_WIDTH_SHARE: Final = 0.7
_UP_M: Final = 1.1
_DRIVEN_M: Final = 20.0
_ATTEMPTS: Final = 2  # per person


@dataclass(frozen=True, slots=True, kw_only=True)
class PedestrianCrowdParameters(Parameters):
    """Parameters of PedestrianCrowd."""

    pedestrian_center: float = within(40.0, 0.0)  # m from the trigger
    pedestrian_radius: float = within(20.0, 0.0)  # m along the route, either way
    pedestrians: int = whole(20, 1, 200)
    side: str = side()


@scenario(
    "PedestrianCrowd",
    "many people beside the road",
    benchmark=FAIL2DRIVE,
    street=StreetNeeds(sidewalk=True),
    shifts=(
        Shift(
            name="PedestrianCrowd",
            category="Robustness",
            caption="many people on the sidewalk",
            pairs=(65, 69),
        ),
    ),
)
@dataclass(slots=True, kw_only=True)
class PedestrianCrowd(Scenario):
    """Many people stand on the sidewalk."""

    parameters_type: ClassVar[type[Parameters]] = PedestrianCrowdParameters
    timeout_s: ClassVar[float] = OBSTACLE_TIMEOUT_S

    def setup(self) -> None:
        """Spawn the people; person ``k`` has an individual random stream."""
        given: PedestrianCrowdParameters = self.parameters
        centre_m = self.trigger_along_m + given.pedestrian_center
        if not self._beside(centre_m)[1]:
            raise DataError(
                f"{self.element.where}: <side> is {given.side}, but there is no sidewalk at "
                f"<pedestrian_center>."
            )
        for number in range(_ATTEMPTS * given.pedestrians):
            if len(self.actor_ids) < given.pedestrians:
                self._put(centre_m, number)

    def _beside(self, along_m: float) -> tuple[float, float]:
        """Return the middle of the sidewalk (right positive) and its width, 0 for none."""
        right = self.parameters.side == "right"
        here = place_on_route(self.context.route, along_m)
        beside = roadside(self.context.map, here, to_right=right)
        return beside.middle_m(0.0) * (1.0 if right else -1.0), beside.sidewalk_m

    def _put(self, centre_m: float, number: int) -> None:
        random = self.draws("person", number)
        reach_m = float(self.parameters.pedestrian_radius)
        along_m = centre_m + float(random.uniform(-reach_m, reach_m))
        share, turn_deg = float(random.uniform(-0.5, 0.5)), float(random.uniform(0.0, 360.0))
        library = self.context.world.get_blueprint_library()
        name = pick_model(library, "walker.pedestrian.*", random, self.element.where)
        middle_m, width_m = self._beside(along_m)
        if not width_m or not 0.0 <= along_m <= float(self.context.route.along_m[-1]):
            return
        aside_m = middle_m + share * _WIDTH_SHARE * width_m
        pose = place_on_route(self.context.route, along_m, aside_m, _UP_M, turn_deg)
        blueprint = library.find(name)
        blueprint.set_attribute("role_name", "scenario")
        person = self.context.world.try_spawn_actor(blueprint, pose)
        if person is not None:
            self.actor_ids.append(person.id)

    def tick(self, moment: EgoMoment) -> bool:
        """Return True when the ego has passed."""
        given: PedestrianCrowdParameters = self.parameters
        driven_m = moment.ego_along_m - self.trigger_along_m
        return driven_m > given.pedestrian_center + given.pedestrian_radius + _DRIVEN_M

    def closed(self) -> list[NDArray[np.float64]]:
        """Close no lanes: the people block no vehicle."""
        return []


_PLACES_M: Final = ((0.5, 0.5), (0.0, 0.0), (1.0, -0.5))  # ahead, to the right
_STAND_S: Final = 5.0  # standing time at the end
_AFTER_M: Final = 50.0
_TRIES, _TRY_M = 4, 0.4


@dataclass(frozen=True, slots=True, kw_only=True)
class PedestriansOnRoadParameters(Parameters):
    """Parameters of PedestriansOnRoad."""

    distance: float = ahead(20.0)
    walker_duration: float = within(20.0, 0.0, 600.0)  # s
    walker_speed: float = within(2.0, 0.0, 12.0)  # m/s
    pedestrians: tuple[str, ...] = people(len(_PLACES_M))


@scenario(
    "PedestriansOnRoad",
    "people walk on the lane",
    benchmark=FAIL2DRIVE,
    shifts=(
        Shift(
            name="PedestriansOnRoad",
            category="Behavior",
            caption="people walk on the road",
            pairs=(85, 89),
        ),
    ),
    placing=Placing(sign_at_trigger=False, on_route=False),
)
@dataclass(slots=True, kw_only=True)
class PedestriansOnRoad(Scenario):
    """People start when the ego reaches the trigger, and follow the lane."""

    parameters_type: ClassVar[type[Parameters]] = PedestriansOnRoadParameters
    walked_m: list[float] = field(default_factory=list)
    standing: bool = True

    def setup(self) -> None:
        """Spawn the people on the lane."""
        given: PedestriansOnRoadParameters = self.parameters
        library = self.context.world.get_blueprint_library()
        first_m = self.trigger_along_m + given.distance
        for number, pattern in enumerate(given.pedestrians):
            ahead_m, right_m = _PLACES_M[number]
            name = pick_model(library, pattern, self.draws("person", number), self.element.where)
            poses = [
                place_on_route(self.context.route, first_m + ahead_m + k * _TRY_M, right_m, _UP_M)
                for k in range(_TRIES)
            ]
            actor = spawn_first_that_fits(self.context.world, name, poses, self.element.where)
            self.actor_ids.append(actor.id)
            self.walked_m.append(first_m + ahead_m)

    def start(self, moment: EgoMoment) -> None:
        """Start walking."""
        self.standing = False
        self.note(moment, what="walk", actors=list(self.actor_ids))

    def tick(self, moment: EgoMoment) -> bool:
        """Walk along the lane, stand, vanish."""
        given: PedestriansOnRoadParameters = self.parameters
        since_s = moment.elapsed_s - self.started_s
        if since_s < given.walker_duration - _STAND_S:
            self._walk(given.walker_speed)
        elif not self.standing:
            self.standing = True
            self._walk(0.0)
        return since_s >= given.walker_duration

    def _walk(self, speed_mps: float) -> None:
        commands = []
        for number, actor in enumerate(self.actor_ids):
            yaw = place_on_route(self.context.route, self.walked_m[number]).rotation.yaw
            self.walked_m[number] += speed_mps * self.context.delta_s
            way = carla.Rotation(yaw=yaw).get_forward_vector()
            control = carla.WalkerControl(way, speed_mps, False)
            commands.append(carla.command.ApplyWalkerControl(actor, control))
        self.context.client.apply_batch(commands)

    def closed(self) -> list[NDArray[np.float64]]:
        """Close the ego's lane up to 50 m beyond them."""
        at_m = self.trigger_along_m + float(self.parameters.distance)
        walked_m = float(self.parameters.walker_speed) * float(self.parameters.walker_duration)
        return [self.stretch(self.trigger_along_m - BEHIND_M, at_m + walked_m + _AFTER_M)]


_REACTION_S: Final = 3.5
_NEAREST_M: Final = 12.0
_END_M: Final = 40.0
_WAY_SHARE: Final = 2.3  # of the distance to the ego's lane: across the road and a little farther
_CROSSWALK_GROUP_PLACES_M: Final = (
    (0.4, 1.5),
    (1.0, 2.5),
    (1.6, 0.5),
)  # ahead, beyond the middle of the sidewalk
_HESITATION_S, _PACE_MPS = (0.0, 1.5), (1.3, 2.0)
_CROSSWALK_GROUP_UP_M: Final = 1.2
_CROSSWALK_GROUP_TRIES, _CROSSWALK_GROUP_TRY_M = 6, 0.4


@dataclass(frozen=True, slots=True, kw_only=True)
class CrosswalkGroupParameters(Parameters):
    """Parameters of the group."""

    walker: str = model("walker.pedestrian.*", "walker.")


@dataclass(slots=True)
class _Person:
    actor_id: int
    hesitation_s: float
    speed_mps: float
    walks_s: float
    state: int = 0  # 0 waits, 1 walks, 2 gone


@scenario(
    "PedestrianCrossing",
    "like jaywalk/crosswalk-group-v1",
    benchmark=LEADERBOARD,
    street=StreetNeeds(junction=STRAIGHT, sidewalk=True),
)
@scenario(
    "jaywalk/crosswalk-group-v1",
    "three people cross before a junction",
    benchmark=JAYWALK,
    street=StreetNeeds(junction=STRAIGHT, sidewalk=True),
)
@dataclass(slots=True, kw_only=True)
class CrosswalkGroup(Scenario):
    """People start when the ego arrives in 3.5 s, and vanish after crossing."""

    parameters_type: ClassVar[type[Parameters]] = CrosswalkGroupParameters
    at_m: float = 0.0
    yaw_deg: float = 0.0
    began_s: float = math.nan
    people: list[_Person] = field(default_factory=list)

    def setup(self) -> None:
        """Spawn the people beside the road, on the right, at the beginning of the junction."""
        context, where = self.context, self.element.where
        self.at_m = junction_ahead(self).enter_m - 1.0
        here = place_on_route(context.route, self.at_m)
        beside = roadside(context.map, here, to_right=True)
        if not beside.sidewalk_m:
            raise DataError(f"{where}: no sidewalk right of the lane before the next junction.")
        self.yaw_deg = here.rotation.yaw - 90.0
        library = context.world.get_blueprint_library()
        for number, (ahead_m, beyond_m) in enumerate(_CROSSWALK_GROUP_PLACES_M):
            random = self.draws("person", number)
            model = pick_model(library, self.parameters.walker, random, where)
            aside_m = beside.middle_m(0.0) + beyond_m
            poses = [
                place_on_route(
                    context.route,
                    self.at_m + ahead_m + k * _CROSSWALK_GROUP_TRY_M,
                    aside_m,
                    _CROSSWALK_GROUP_UP_M,
                    -90.0,
                )
                for k in range(_CROSSWALK_GROUP_TRIES)
            ]
            actor = spawn_first_that_fits(context.world, model, poses, where)
            speed = float(random.uniform(*_PACE_MPS))
            way_m = _WAY_SHARE * math.hypot(aside_m, ahead_m)
            wait_s = float(random.uniform(*_HESITATION_S))
            self.actor_ids.append(actor.id)
            self.people.append(_Person(actor.id, wait_s, speed, way_m / speed))

    def tick(self, moment: EgoMoment) -> bool:
        """Cross; over when the ego has passed."""
        left_m = self.at_m - moment.ego_along_m
        if math.isnan(self.began_s) and (
            left_m <= max(_NEAREST_M, _REACTION_S * moment.ego_speed_mps)
        ):
            self.began_s = moment.elapsed_s
            self.note(moment, what="cross", actors=list(self.actor_ids))
        if not math.isnan(self.began_s):
            self._move(moment.elapsed_s - self.began_s)
        return left_m < -_END_M

    def _move(self, since_s: float) -> None:
        for person in self.people:
            if person.state == 0 and since_s >= person.hesitation_s:
                person.state = 1
                way = carla.Rotation(yaw=self.yaw_deg).get_forward_vector()
                control = carla.WalkerControl(way, person.speed_mps, False)
                self.context.client.apply_batch(
                    [carla.command.ApplyWalkerControl(person.actor_id, control)]
                )
            elif person.state == 1 and since_s >= person.hesitation_s + person.walks_s:
                person.state = 2
                self.destroy([person.actor_id])
