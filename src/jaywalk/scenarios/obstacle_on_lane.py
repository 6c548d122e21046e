"""A parked car or a construction site on the ego's lane."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Final

import carla

from jaywalk.scenarios.base import Moment, Parameters, Scenario
from jaywalk.scenarios.placing import place_on_route, spawn_all

_PASSED_M: Final = 50.0
_PARKED_SHIFT: Final = 0.7  # of half a lane width
_CONES: Final = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class ParkedParameters(Parameters):
    """A car that stands on the lane."""

    distance: float = 60.0
    direction: str = "right"
    vehicle: str = "vehicle.lincoln.mkz_2020"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConstructionParameters(Parameters):
    """A site with a sign, debris and cones."""

    distance: float = 60.0
    direction: str = "right"


@dataclass(slots=True, kw_only=True)
class _OnLane(Scenario):
    """Something that stands still; over when the ego has passed it."""

    @property
    def at_m(self) -> float:
        """Where it stands on the route."""
        return self.trigger_along_m + float(self.parameters.distance)

    @property
    def outwards(self) -> float:
        """1 when the obstacle is towards the right edge."""
        return 1.0 if self.parameters.direction == "right" else -1.0

    def lane_width_m(self) -> float:
        """Width of the lane there."""
        pose = place_on_route(self.stage.route, self.at_m)
        return float(self.stage.map.get_waypoint(pose.location).lane_width)

    def put(self, wanted: list[tuple[str, Any]]) -> None:
        """Spawn the things of the scenario."""
        self.actor_ids = spawn_all(self.stage.client, self.stage.world, wanted, self.spec.where)

    def tick(self, moment: Moment) -> bool:
        """Nothing moves."""
        return moment.ego_along_m > self.at_m + _PASSED_M


@dataclass(slots=True, kw_only=True)
class ParkedObstacle(_OnLane):
    """A broken-down car with its hazard lights on."""

    parameters_type: ClassVar[type[Parameters]] = ParkedParameters

    def setup(self) -> None:
        """Place it with the hand brake on."""
        shift = self.outwards * _PARKED_SHIFT * 0.5 * self.lane_width_m()
        self.put([(self.parameters.vehicle, place_on_route(self.stage.route, self.at_m, shift))])
        lights = carla.VehicleLightState(
            carla.VehicleLightState.RightBlinker | carla.VehicleLightState.LeftBlinker
        )
        self.stage.client.apply_batch_sync([
            carla.command.ApplyVehicleControl(
                self.actor_ids[0], carla.VehicleControl(hand_brake=True)
            ),
            carla.command.SetVehicleLightState(self.actor_ids[0], lights),
        ])  # fmt: skip


@dataclass(slots=True, kw_only=True)
class ConstructionObstacle(_OnLane):
    """The standard site: warning 5 m before, debris, four cones along and three across."""

    parameters_type: ClassVar[type[Parameters]] = ConstructionParameters

    def setup(self) -> None:
        """Place sign, debris and cones."""
        route, at_m = self.stage.route, self.at_m
        free = -self.outwards * 0.85 * 0.5 * self.lane_width_m()
        wanted = [
            ("static.prop.trafficwarning", place_on_route(route, at_m - 5.0, turn_deg=270.0)),
            (
                "static.prop.dirtdebris02",
                place_on_route(route, at_m + 2.0, up_m=1.0, turn_deg=90.0),
            ),
        ]
        along = [(2.0 + 2.0 * k, free) for k in range(4)]
        across = [(8.0, free + self.outwards * k) for k in range(1, _CONES - 3)]
        wanted += [
            ("static.prop.constructioncone", place_on_route(route, at_m + ahead, right, 0.1))
            for ahead, right in along + across
        ]
        self.put(wanted)
