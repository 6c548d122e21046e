"""BlockedIntersection: behind the junction at which the ego turns a car stands on its lane."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar, Final

import carla
import numpy as np
from numpy.typing import NDArray

from jaywalk.scenarios.base import BEHIND_M, OBSTACLE_TIMEOUT_S, Moment, Parameters, Scenario
from jaywalk.scenarios.junction_ahead import JunctionAhead, junction_ahead
from jaywalk.scenarios.models import ordinary_cars
from jaywalk.scenarios.placing import place_on_route, spawn_all

_BEHIND_M: Final = 5.0  # the junction
_NEAR_M: Final = 13.0
_STANDS_S: Final = 10.0
_STILL_MPS, _BEFORE_M = 0.1, 15.0
_AFTER_M: Final = 20.0


@dataclass(slots=True, kw_only=True)
class BlockedIntersection(Scenario):
    """It is gone 10 s after the ego has come within 13 m, or stands before the junction."""

    parameters_type: ClassVar[type[Parameters]] = Parameters
    timeout_s: ClassVar[float] = OBSTACLE_TIMEOUT_S
    ahead: JunctionAhead = field(init=False)
    near_s: float = math.nan

    @property
    def at_m(self) -> float:
        """Where it stands on the route."""
        return self.ahead.leave_m + _BEHIND_M

    def setup(self) -> None:
        """Put the car there, with its brake lights on."""
        self.ahead = junction_ahead(self)
        stage = self.stage
        cars = ordinary_cars(stage.world.get_blueprint_library())
        model = str(cars[int(self.draws("vehicle").integers(len(cars)))].id)
        pose = place_on_route(stage.route, self.at_m)
        self.actor_ids = spawn_all(stage.client, stage.world, [(model, pose)], self.spec.where)
        (car,) = self.actor_ids
        lights = carla.VehicleLightState(carla.VehicleLightState.Brake)
        stage.client.apply_batch_sync([
            carla.command.ApplyVehicleControl(car, carla.VehicleControl(hand_brake=True)),
            carla.command.SetVehicleLightState(car, lights),
        ])  # fmt: skip

    def tick(self, moment: Moment) -> bool:
        """Wait for the ego, then for a while."""
        near = self.at_m - moment.ego_along_m < _NEAR_M
        # Who keeps the junction clear waits before it, and would wait for ever.
        waits = moment.ego_speed_mps < _STILL_MPS
        waits &= self.ahead.enter_m - moment.ego_along_m < _BEFORE_M
        if math.isnan(self.near_s) and (near or waits):
            self.near_s = moment.elapsed_s
            self.note(moment, what="blocks the way", actor=self.actor_ids[0])
        return moment.elapsed_s - self.near_s >= _STANDS_S

    def closed(self) -> list[NDArray[np.float64]]:
        """The ego's way over the junction and on."""
        return [self.stretch(self.trigger_along_m - BEHIND_M, self.at_m + _AFTER_M)]
