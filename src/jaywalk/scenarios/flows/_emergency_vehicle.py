"""YieldToEmergencyVehicle: an emergency vehicle comes from behind, and the ego must let it pass.

A separate criterion judges this when the scenario ends.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

import carla
import numpy as np
from numpy.typing import NDArray

from jaywalk.actors.events import EgoMoment
from jaywalk.actors.lane_paths import LanePath, lane_ahead, lane_behind, line_path, path_of
from jaywalk.actors.pilots import WRECK_S, Pilot, Pilots
from jaywalk.client.placing import place_on_route, spawn_all
from jaywalk.core.errors import DataError
from jaywalk.geometry.angle import wrap_degrees
from jaywalk.scenarios.base import Parameters, Scenario
from jaywalk.scenarios.catalogue import LEADERBOARD, SAME_LANE, scenario
from jaywalk.scenarios.parameter_fields import within
from jaywalk.town.routes import RoutePlanner

_FASTER_MPS: Final = 25.0  # faster than the ego; the public class says 25 km/h and adds 25 m/s
_NEAR_M: Final = 50.0
_PATIENCE_S: Final = 10.0
_AHEAD_M: Final = 50.0
_LONGEST_M: Final = 600.0
_PULL_MPS2: Final = 5.0
_DROP_M: Final = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class EmergencyVehicleParameters(Parameters):
    """Parameters of YieldToEmergencyVehicle."""

    distance: float = within(140.0, 20.0)  # m behind the trigger


@scenario(
    "YieldToEmergencyVehicle",
    "an emergency vehicle comes from behind",
    benchmark=LEADERBOARD,
    street=SAME_LANE,
    parameter_words={"distance": "m behind the ego where it appears"},
)
@dataclass(slots=True, kw_only=True)
class EmergencyVehicle(Scenario):
    """Over 10 s after the vehicle is within 50 m of the ego, or when it is 50 m past the ego."""

    parameters_type: ClassVar[type[Parameters]] = EmergencyVehicleParameters
    leaderboard_name: ClassVar[str] = "YieldToEmergencyVehicle"
    pilots: Pilots = field(init=False)
    behind_m: float = 0.0  # its position on its path at the trigger
    near_s: float = math.nan
    past_m: float = math.nan  # position on its path at which it got past

    def setup(self) -> None:
        """Spawn the vehicle at its start, with its lights on."""
        context, where = self.context, self.element.where
        at = place_on_route(context.route, self.trigger_along_m).location
        here = context.map.get_waypoint(at)
        path = self._way(here)
        models = emergency_models(context.world.get_blueprint_library())
        if not models:
            raise DataError(f"{where}: the server has no emergency vehicle.")
        model = models[int(self.draws("vehicle").integers(len(models)))]
        self.behind_m = path.nearest_m(at)
        self.actor_ids = spawn_all(
            context.client, context.world, [(model, path.pose(0.0, _DROP_M))], where
        )
        (car,) = self.actor_ids
        lights = carla.VehicleLightState.Special1 | carla.VehicleLightState.Special2
        context.client.apply_batch_sync(
            [
                carla.command.SetVehicleLightState(car, carla.VehicleLightState(lights)),
                carla.command.ApplyVehicleControl(car, carla.VehicleControl(brake=1.0)),
            ]
        )
        pilot = Pilot(actor_id=car, path=path, speed_mps=0.0, acceleration_mps2=_PULL_MPS2)
        self.pilots = Pilots(
            context.client, context.world, context.delta_s, context.traffic, [pilot]
        )

    def _way(self, here: Any) -> LanePath:
        """Return a path from behind the trigger, also over junctions, and on along the lane."""
        behind_m, planner = float(self.parameters.distance), RoutePlanner(self.context.map)
        ahead = path_of(lane_ahead(here, _LONGEST_M))
        rest = ahead.points_m
        yaw_deg = here.transform.rotation.yaw
        try:
            starts = here.previous(behind_m)
        except RuntimeError:  # the map ends in a way the wheel does not expect
            starts = []
        starts = sorted(
            starts,
            key=lambda waypoint: abs(wrap_degrees(waypoint.transform.rotation.yaw - yaw_deg)),
        )
        for start in starts:
            ends = [waypoint.transform.location for waypoint in (start, here)]
            try:
                route = planner.plan([(end.x, end.y, end.z) for end in ends])
            except DataError:
                continue
            if float(route.along_m[-1]) < 1.3 * behind_m:  # not around the whole town
                return line_path(np.vstack([route.position_m[:-1], rest]))
        before = lane_behind(here, behind_m)
        if len(before) < 2:
            raise DataError(f"{self.element.where}: no road behind the trigger for it to come on.")
        return path_of([*before, *lane_ahead(here, _LONGEST_M)[1:]])

    def tick(self, moment: EgoMoment) -> bool:
        """Drive up to the ego, and past it when possible."""
        if not self.pilots.cars:
            return True
        car = self.pilots.cars[0]
        car.speed_mps = moment.ego_speed_mps + _FASTER_MPS
        self.pilots.step(moment.snapshot)
        if car.gone or car.knocked_s > WRECK_S or car.along_m > car.path.length_m - 2.0:
            return True
        ego_m = self.behind_m + moment.ego_along_m - self.trigger_along_m
        gap_m = ego_m - car.along_m
        if math.isnan(self.near_s) and gap_m < _NEAR_M:
            self.near_s = moment.elapsed_s
            self.note(moment, what="emergency vehicle is near", actor=car.actor_id)
        if math.isnan(self.past_m) and gap_m < 0.0:
            self.past_m = car.along_m
            self.note(moment, what="emergency vehicle is past", actor=car.actor_id)
        waited = moment.elapsed_s - self.near_s >= _PATIENCE_S
        return bool(waited or car.along_m - self.past_m >= _AHEAD_M)

    def moves(self) -> list[NDArray[np.float64]]:
        """Paths of its vehicles."""
        return [self.pilots.cars[0].path.part(0.0, self.behind_m + 60.0).way]

    def closed(self) -> list[NDArray[np.float64]]:
        """Close its path, as far as it may get."""
        path = self.pilots.cars[0].path
        return [path.part(0.0, self.behind_m + 200.0).way]


def emergency_models(library: Any) -> list[str]:
    """Return the ids of emergency vehicles, in order."""
    return sorted(
        str(model.id)
        for model in library.filter("vehicle.*")
        if model.has_attribute("special_type")
        and str(model.get_attribute("special_type").as_str()) == "emergency"
    )
