"""Base of types in which a car beside the ego's lane comes over into it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.scenarios.base import Moment, Parameters, Scenario
from jaywalk.scenarios.lane_paths import LanePath, line_path, moved_aside
from jaywalk.scenarios.models import ordinary_cars
from jaywalk.scenarios.pilots import WRECK_S, Pilot, Pilots

_AFTER_M: Final = 60.0


@dataclass(slots=True, kw_only=True)
class CutIn(Scenario):
    """Sets off when the ego is some seconds or metres from its place; over when it is done."""

    parameters_type: ClassVar[type[Parameters]] = Parameters
    reaction_s: ClassVar[float] = 2.5
    nearest_m: ClassVar[float] = 10.0
    driven_m: ClassVar[float] = 30.0  # how far it drives
    pull_mps2: ClassVar[float] = 3.0
    pilots: Pilots = field(init=False)
    going: bool = False
    began_s: float = 0.0

    @property
    def at_m(self) -> float:
        """Where it waits beside the route."""
        raise NotImplementedError

    def speed_mps(self, moment: Moment) -> float:
        """How fast it drives once it goes."""
        raise NotImplementedError

    def car_model(self, name: str) -> str:
        """Id of an ordinary car."""
        cars = ordinary_cars(self.stage.world.get_blueprint_library())
        return str(cars[int(self.draws(name).integers(len(cars)))].id)

    def into_lane(self, beside_m: float, over_m: float) -> LanePath:
        """From ``beside_m`` right of the route at its place onto the route within ``over_m``."""
        route = self.stage.route
        keep = np.concatenate([[True], np.diff(route.along_m) > 0.05])
        keep &= route.along_m >= self.at_m - 1.0
        middle = line_path(route.position_m[keep])
        share = np.clip((middle.line[:, 2] - 1.0) / over_m, 0.0, 1.0)
        return moved_aside(middle, beside_m * (1.0 - share**2 * (3.0 - 2.0 * share)))

    def ready(self, actor_id: int, path: LanePath) -> None:
        """It stands at the beginning of its way."""
        car = Pilot(actor_id=actor_id, path=path, speed_mps=0.0, acceleration_mps2=self.pull_mps2)
        stage = self.stage
        self.pilots = Pilots(stage.client, stage.world, stage.delta_s, stage.traffic, [car])

    def tick(self, moment: Moment) -> bool:
        """Set off in time, then drive."""
        left_m = self.at_m - moment.ego_along_m
        if not self.going:
            if left_m > max(self.nearest_m, self.reaction_s * moment.ego_speed_mps):
                return False
            self.going, self.began_s = True, moment.elapsed_s
            self.note(moment, what="cuts in", actor=self.pilots.cars[0].actor_id)
        if not self.pilots.cars:
            return True
        car = self.pilots.cars[0]
        car.speed_mps = self.speed_mps(moment)
        self.pilots.step(moment.snapshot)
        ended = car.along_m > min(self.driven_m, car.path.length_m - 3.0)
        return bool(ended or car.gone or car.knocked_s > WRECK_S)

    def moves(self) -> list[NDArray[np.float64]]:
        """The ways of its vehicles."""
        return [self.pilots.cars[0].path.part(0.0, self.driven_m).way]

    def closed(self) -> list[NDArray[np.float64]]:
        """The ego's lane, well beyond."""
        return [self.stretch(self.trigger_along_m - 80.0, self.at_m + _AFTER_M)]


def lane_beside(scenario: Scenario, pose: Any, outwards: float) -> Any | None:
    """The lane right (1) or left (-1) of the one at a pose."""
    lane = scenario.stage.map.get_waypoint(pose.location)
    return lane.get_right_lane() if outwards > 0.0 else lane.get_left_lane()
