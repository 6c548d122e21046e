"""PedestrianCrowd: many people stand on the sidewalk. No reaction is due."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.errors import DataError
from jaywalk.scenarios.base import OBSTACLE_TIMEOUT_S, Moment, Parameters, Scenario
from jaywalk.scenarios.models import pick_model
from jaywalk.scenarios.parameter_fields import side, whole, within
from jaywalk.scenarios.placing import place_on_route, roadside

_WIDTH_SHARE: Final = 0.7
_UP_M: Final = 1.1
_DRIVEN_M: Final = 20.0
_ATTEMPTS: Final = 2  # per person


@dataclass(frozen=True, slots=True, kw_only=True)
class PedestrianCrowdParameters(Parameters):
    """PedestrianCrowd."""

    pedestrian_center: float = within(40.0, 0.0)  # m from the trigger
    pedestrian_radius: float = within(20.0, 0.0)  # m along the route, either way
    pedestrians: int = whole(20, 1, 200)
    side: str = side()


@dataclass(slots=True, kw_only=True)
class PedestrianCrowd(Scenario):
    """They stand about."""

    parameters_type: ClassVar[type[Parameters]] = PedestrianCrowdParameters
    timeout_s: ClassVar[float] = OBSTACLE_TIMEOUT_S

    def setup(self) -> None:
        """Person ``k`` has a random stream of their own."""
        given: PedestrianCrowdParameters = self.parameters
        centre_m = self.trigger_along_m + given.pedestrian_center
        if not self._beside(centre_m)[1]:
            raise DataError(
                f"{self.spec.where}: <side> is {given.side}, but there is no sidewalk at "
                f"<pedestrian_center>."
            )
        for number in range(_ATTEMPTS * given.pedestrians):
            if len(self.actor_ids) < given.pedestrians:
                self._put(centre_m, number)

    def _beside(self, along_m: float) -> tuple[float, float]:
        """Middle of the sidewalk (right positive) and its width, 0 for none."""
        right = self.parameters.side == "right"
        here = place_on_route(self.stage.route, along_m)
        beside = roadside(self.stage.map, here, to_right=right)
        return beside.middle_m(0.0) * (1.0 if right else -1.0), beside.sidewalk_m

    def _put(self, centre_m: float, number: int) -> None:
        random = self.draws("person", number)
        reach_m = float(self.parameters.pedestrian_radius)
        along_m = centre_m + float(random.uniform(-reach_m, reach_m))
        share, turn_deg = float(random.uniform(-0.5, 0.5)), float(random.uniform(0.0, 360.0))
        library = self.stage.world.get_blueprint_library()
        name = pick_model(library, "walker.pedestrian.*", random, self.spec.where)
        middle_m, width_m = self._beside(along_m)
        if not width_m or not 0.0 <= along_m <= float(self.stage.route.along_m[-1]):
            return
        aside_m = middle_m + share * _WIDTH_SHARE * width_m
        pose = place_on_route(self.stage.route, along_m, aside_m, _UP_M, turn_deg)
        blueprint = library.find(name)
        blueprint.set_attribute("role_name", "scenario")
        person = self.stage.world.try_spawn_actor(blueprint, pose)
        if person is not None:
            self.actor_ids.append(person.id)

    def tick(self, moment: Moment) -> bool:
        """Over when the ego has passed."""
        given: PedestrianCrowdParameters = self.parameters
        driven_m = moment.ego_along_m - self.trigger_along_m
        return driven_m > given.pedestrian_center + given.pedestrian_radius + _DRIVEN_M

    def closed(self) -> list[NDArray[np.float64]]:
        """They are in nobody's way."""
        return []
