"""HardBrake and OpenRoad.

In HardBrake the car ahead of the ego brakes hard to a stop and drives on after a while. In OpenRoad
nothing happens on a stretch of road.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Final

import carla
import numpy as np
from numpy.typing import NDArray

from jaywalk.actors.events import EgoMoment
from jaywalk.actors.lane_paths import LanePath
from jaywalk.actors.pilots import WRECK_S, Pilot, Pilots
from jaywalk.client.placing import pick_model, place_on_route, spawn_all
from jaywalk.scenarios.base import Parameters, Scenario
from jaywalk.scenarios.catalogue import JAYWALK, scenario
from jaywalk.scenarios.flows._flow import limit_mps
from jaywalk.scenarios.parameter_fields import ahead, model, within


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenRoadParameters(Parameters):
    """Length of the stretch."""

    distance: float = ahead(50.0)


@scenario("jaywalk/open-road-v1", "nothing happens", benchmark=JAYWALK)
@dataclass(slots=True, kw_only=True)
class OpenRoad(Scenario):
    """Empty stretch; over when the ego has driven it."""

    parameters_type: ClassVar[type[Parameters]] = OpenRoadParameters

    def closed(self) -> list[NDArray[np.float64]]:
        """Close no lanes."""
        return []

    def tick(self, moment: EgoMoment) -> bool:
        """Return True when the ego has driven the stretch."""
        return moment.ego_along_m > self.trigger_along_m + float(self.parameters.distance)


_GAP_GAIN_PER_S: Final = 0.5
_LEAVE_M: Final = 5.0  # the car is removed this far before the end of the route
_DRIVEN_M: Final = 15.0  # the scenario is over when the ego has driven on this far
_LIGHTS: Final = carla.VehicleLightState


@dataclass(frozen=True, slots=True, kw_only=True)
class HardBrakeParameters(Parameters):
    """Parameters of a lead car that keeps its distance to the ego, then stops."""

    distance: float = within(16.0, 6.0, 200.0)  # m from the ego's origin to its own
    lead_in: float = ahead(80.0)  # m before the trigger where it begins to lead; cut to the route
    stop_time: float = within(10.0, 0.0, 600.0)  # s of standing
    vehicle: str = model("vehicle.tesla.model3", "vehicle.")


@scenario(
    "jaywalk/hard-brake-v1",
    "the car ahead brakes hard",
    benchmark=JAYWALK,
    parameter_words={"distance": "m from the ego to the car ahead"},
)
@dataclass(slots=True, kw_only=True)
class HardBrake(Scenario):
    """The lead car waits for the ego, leads it to the trigger and brakes there."""

    parameters_type: ClassVar[type[Parameters]] = HardBrakeParameters
    brake_lights: ClassVar[bool] = True
    pilots: Pilots = field(init=False)
    limit_mps: float = 0.0
    stopped_s: float = -1.0
    went_on_m: float = -1.0

    def setup(self) -> None:
        """Spawn the lead car on the lane, ahead of the place where it begins to lead."""
        given: HardBrakeParameters = self.parameters
        route = self.context.route
        begin_m = max(self.trigger_along_m - given.lead_in, 0.0) + given.distance
        model = pick_model(
            self.context.world.get_blueprint_library(),
            given.vehicle,
            self.draws("vehicle"),
            self.element.where,
        )
        self.actor_ids = spawn_all(
            self.context.client,
            self.context.world,
            [(model, place_on_route(route, begin_m))],
            self.element.where,
            role="background",  # as in the Leaderboard: part of the traffic
        )
        keep = np.concatenate([[True], np.diff(route.along_m) > 0.05])  # joins repeat points
        path = LanePath(route.position_m[keep], route.along_m[keep], route.rotation_deg[keep, 1])
        car = Pilot(actor_id=self.actor_ids[0], path=path, speed_mps=0.0, acceleration_mps2=4.0)
        car.place(begin_m)
        self.pilots = Pilots(
            self.context.client,
            self.context.world,
            self.context.delta_s,
            self.context.traffic,
            [car],
        )

    @property
    def car(self) -> Pilot:
        """The lead car."""
        return self.pilots.cars[0]

    def approach(self, moment: EgoMoment) -> None:
        """Keep the distance to the ego."""
        given: HardBrakeParameters = self.parameters
        if moment.ego_along_m < self.trigger_along_m - given.lead_in or not self.pilots.cars:
            return
        if not self.limit_mps:
            self.limit_mps = limit_mps(self.context, moment)
        wanting_m = given.distance - (self.car.along_m - moment.ego_along_m)
        wanted = moment.ego_speed_mps + _GAP_GAIN_PER_S * wanting_m
        self.car.speed_mps = min(max(wanted, 0.0), 1.1 * self.limit_mps)
        self._lead(moment)

    def start(self, moment: EgoMoment) -> None:
        """Brake as hard as possible."""
        if not self.pilots.cars:
            return
        self.limit_mps = self.limit_mps or limit_mps(self.context, moment)
        self._show_brake(True)
        self.car.full_brake = True
        self.note(moment, what="brakes", actor=self.car.actor_id)

    def _show_brake(self, on: bool) -> None:
        lights = _LIGHTS(_LIGHTS.Brake) if on and self.brake_lights else _LIGHTS.NONE
        self.context.client.apply_batch(
            [carla.command.SetVehicleLightState(self.car.actor_id, lights)]
        )

    def tick(self, moment: EgoMoment) -> bool:
        """Brake, stand, then drive on ahead of the ego."""
        self._lead(moment)
        if not self.pilots.cars:  # the car was hit and removed
            return True
        if self.went_on_m >= 0.0:
            return moment.ego_along_m > self.went_on_m + _DRIVEN_M
        if self.stopped_s < 0.0 and self.car.command_mps < 0.1:
            self.stopped_s = moment.elapsed_s
        if self.stopped_s >= 0.0 and self.waited_s(moment) >= float(self.parameters.stop_time):
            self._show_brake(False)
            self.went_on_m = moment.ego_along_m
            self.car.full_brake, self.car.speed_mps = False, self.limit_mps
            self.note(moment, what="drives on", actor=self.car.actor_id)
        return False

    def waited_s(self, moment: EgoMoment) -> float:
        """Seconds since the car stopped."""
        return moment.elapsed_s - self.stopped_s

    def _lead(self, moment: EgoMoment) -> None:
        self.pilots.step(moment.snapshot)
        if not self.pilots.cars:
            return
        arrived = self.car.along_m > self.car.path.length_m - _LEAVE_M
        if arrived or self.car.knocked_s > WRECK_S:
            self.pilots.cars.clear()
            self.destroy(self.actor_ids)

    def end(self, moment: EgoMoment) -> None:
        """Let the car drive on."""

    def linger(self, moment: EgoMoment) -> None:
        """Drive the car to the end of the route."""
        self._lead(moment)
