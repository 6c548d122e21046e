"""A scenario: boxes have fallen from a truck and lie at the right edge of the lane."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from jaywalk.actors.events import EgoMoment
from jaywalk.client.placing import place_on_route, spawn_all
from jaywalk.scenarios.base import Parameters, Scenario
from jaywalk.scenarios.catalogue import scenario
from jaywalk.scenarios.parameter_fields import ahead

_BOX = "static.prop.creasedbox01"
_SPACING_M = 3.0
_PASSED_M = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class LostLoadParameters(Parameters):
    """Parameters that a route file can set; each field has a default."""

    distance: float = ahead(30.0)  # from the trigger to the first box


@scenario("example/lost-load-v1", "boxes lie at the right edge of the lane")
@dataclass(slots=True, kw_only=True)
class LostLoad(Scenario):
    """Two boxes, 3 m apart, that the driver has to pass."""

    parameters_type: ClassVar[type[Parameters]] = LostLoadParameters

    def setup(self) -> None:
        """Place the boxes before the first tick."""
        first_m = self.trigger_along_m + self.parameters.distance
        boxes = [
            (_BOX, place_on_route(self.context.route, first_m + k * _SPACING_M, right_m=2.0))
            for k in range(2)
        ]
        where = self.element.where
        self.actor_ids = spawn_all(self.context.client, self.context.world, boxes, where)

    def tick(self, moment: EgoMoment) -> bool:
        """End when the ego has passed the boxes."""
        last_m = self.trigger_along_m + self.parameters.distance + _SPACING_M
        return moment.ego_along_m > last_m + _PASSED_M
