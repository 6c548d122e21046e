"""HighwayCutIn: a car comes from an entry when the ego does, and changes to its lane."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Final

import carla
import numpy as np
from numpy.typing import NDArray

from jaywalk.core.errors import DataError
from jaywalk.scenarios.base import Moment, Parameters, Scenario
from jaywalk.scenarios.junction_ahead import JunctionAhead, junction_ahead
from jaywalk.scenarios.lane_paths import lane_ahead, moved_aside, path_of
from jaywalk.scenarios.models import ordinary_cars
from jaywalk.scenarios.parameter_fields import ignored, place
from jaywalk.scenarios.pilots import WRECK_S, Pilot, Pilots
from jaywalk.scenarios.placing import spawn_all

_TARGET_M: Final = 10.0  # behind the junction, where it begins to change lanes
_SPEED_SHARE: Final = 0.8  # of the ego's, while it changes
_CHANGE_S, _AFTER_S = 2.3, 3.0
_USUAL_MPS: Final = 15.0
_LEAST_MPS, _MOST_MPS = 2.0, 35.0
_LONGEST_M: Final = 500.0
_DROP_M: Final = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class HighwayCutInParameters(Parameters):
    """HighwayCutIn; where it ends follows from the lane."""

    other_actor_location: tuple[float, float, float] = place()
    end_location: str = ignored()


@dataclass(slots=True, kw_only=True)
class HighwayCutIn(Scenario):
    """It arrives behind the junction when the ego does, then comes over to the left."""

    parameters_type: ClassVar[type[Parameters]] = HighwayCutInParameters
    ahead: JunctionAhead = field(init=False)
    pilots: Pilots = field(init=False)
    target_m: float = 0.0
    changing_s: float = -1.0
    speed_mps: float = 0.0

    def setup(self) -> None:
        """Put it where it comes from."""
        stage, where = self.stage, self.spec.where
        self.ahead = junction_ahead(self)
        lane = stage.map.get_waypoint(carla.Location(*self.parameters.other_actor_location))
        way = lane_ahead(lane, _LONGEST_M)
        inside = [number for number, point in enumerate(way) if point.is_junction]
        if not inside:
            raise DataError(f"{where}, <other_actor_location>: no junction follows on its lane.")
        last = inside[0]
        while last + 1 < len(way) and way[last + 1].is_junction:
            last += 1
        path = path_of(way)
        self.target_m = path.nearest_m(way[last].transform.location) + _TARGET_M
        over_m = _CHANGE_S * _USUAL_MPS
        share = np.clip((path.line[:, 2] - self.target_m) / over_m, 0.0, 1.0)
        width_m = float(lane.lane_width)
        path = moved_aside(path, -width_m * share**2 * (3.0 - 2.0 * share))
        cars = ordinary_cars(stage.world.get_blueprint_library())
        model = str(cars[int(self.draws("vehicle").integers(len(cars)))].id)
        self.actor_ids = spawn_all(
            stage.client, stage.world, [(model, path.pose(0.0, _DROP_M))], where
        )
        pilot = Pilot(actor_id=self.actor_ids[0], path=path, speed_mps=0.0, acceleration_mps2=5.0)
        self.pilots = Pilots(stage.client, stage.world, stage.delta_s, stage.traffic, [pilot])

    def tick(self, moment: Moment) -> bool:
        """Arrive with the ego, change lanes, drive on for a moment."""
        car = self.pilots.cars[0] if self.pilots.cars else None
        if car is None or car.knocked_s > WRECK_S or car.along_m > car.path.length_m - 3.0:
            return True
        if self.changing_s < 0.0:
            left_m = max(self.ahead.leave_m - moment.ego_along_m, 0.1)
            time_s = left_m / max(moment.ego_speed_mps, 0.1)
            wanted = max(self.target_m - car.along_m, 0.0) / time_s
            car.speed_mps = min(max(wanted, _LEAST_MPS), _MOST_MPS)
            if car.along_m >= self.target_m:
                self.changing_s = moment.elapsed_s
                self.speed_mps = max(_SPEED_SHARE * moment.ego_speed_mps, _LEAST_MPS)
                self.note(moment, what="cuts in", actor=car.actor_id)
        else:
            car.speed_mps = self.speed_mps
        self.pilots.step(moment.snapshot)
        done_s = _CHANGE_S + _AFTER_S
        return self.changing_s >= 0.0 and moment.elapsed_s - self.changing_s > done_s

    def moves(self) -> list[NDArray[np.float64]]:
        """The ways of its vehicles."""
        return [self.pilots.cars[0].path.part(0.0, self.target_m + 60.0).way]

    def closed(self) -> list[NDArray[np.float64]]:
        """Its way and the ego's."""
        path = self.pilots.cars[0].path
        return [*Scenario.closed(self), path.part(0.0, self.target_m + 80.0).way]
