"""The car ahead of the ego brakes hard to a stop and drives on after a while."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Final

import carla

from jaywalk.scenarios.base import Moment, Parameters, Scenario
from jaywalk.scenarios.placing import place_on_route, spawn_all

_TICK_GAIN: Final = 0.12


@dataclass(frozen=True, slots=True, kw_only=True)
class HardBrakeParameters(Parameters):
    """A lead car that keeps its gap to the ego, then stops."""

    distance: float = 15.0  # m ahead of the ego when it appears
    lead_speed: float = 8.0  # m/s
    brake_after: float = 30.0  # m the ego drives behind it first
    stop_time: float = 10.0  # s
    vehicle: str = "vehicle.tesla.model3"


@dataclass(slots=True, kw_only=True)
class HardBrake(Scenario):
    """The lead car waits ahead of the trigger and sets off with the ego."""

    parameters_type: ClassVar[type[Parameters]] = HardBrakeParameters
    braking_since_s: float = -1.0

    def setup(self) -> None:
        """Put the lead car on the lane, ahead of the trigger."""
        given: HardBrakeParameters = self.parameters
        pose = place_on_route(self.stage.route, self.trigger_along_m + given.distance)
        self.actor_ids = spawn_all(
            self.stage.client, self.stage.world, [(given.vehicle, pose)], self.spec.where
        )

    def tick(self, moment: Moment) -> bool:
        """Follow the route, brake, wait, go on."""
        given: HardBrakeParameters = self.parameters
        state = moment.snapshot.find(self.actor_ids[0])
        driven_m = moment.ego_along_m - self.trigger_along_m
        if driven_m > given.brake_after and self.braking_since_s < 0.0:
            self.braking_since_s = moment.elapsed_s
        stopped_s = moment.elapsed_s - self.braking_since_s if self.braking_since_s >= 0.0 else 0.0
        control = self._steered(state, given.lead_speed)
        if self.braking_since_s >= 0.0 and stopped_s < given.stop_time:
            control = carla.VehicleControl(throttle=0.0, steer=control.steer, brake=1.0)
        self.stage.client.apply_batch(
            [carla.command.ApplyVehicleControl(self.actor_ids[0], control)]
        )
        return stopped_s > given.stop_time + 3.0

    def _steered(self, state: Any, speed_mps: float) -> Any:
        pose, speed = state.get_transform(), state.get_velocity().length()
        route = self.stage.route
        gaps = [
            (point[0] - pose.location.x) ** 2 + (point[1] - pose.location.y) ** 2
            for point in route.position_m
        ]
        ahead_m = float(route.along_m[int(min(range(len(gaps)), key=gaps.__getitem__))])
        aim = place_on_route(route, ahead_m + 4.0 + 0.4 * speed).location
        to = aim - pose.location
        across = to.dot(pose.get_right_vector()) / max(to.length(), 1.0)
        throttle = min(max(0.35 + _TICK_GAIN * (speed_mps - speed), 0.0), 0.8)
        return carla.VehicleControl(throttle=throttle, steer=min(max(1.5 * across, -1.0), 1.0))
