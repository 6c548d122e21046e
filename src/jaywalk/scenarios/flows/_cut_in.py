"""Cut-ins: a car beside the ego's lane changes to it.

In HighwayCutIn a car comes from an entry at the same time as the ego. In StaticCutIn a car of a
standing queue on the next lane moves out before the ego. ``CutIn`` is the base of types with a
waiting car.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

import carla
import numpy as np
from numpy.typing import NDArray

from jaywalk.actors.events import EgoMoment
from jaywalk.actors.lane_paths import LanePath, lane_ahead, line_path, moved_aside, path_of
from jaywalk.actors.pilots import WRECK_S, Pilot, Pilots
from jaywalk.client.placing import ordinary_cars, place_on_route, spawn_all
from jaywalk.core.errors import DataError
from jaywalk.core.units import MPS_TO_KMH
from jaywalk.scenarios.base import Parameters, Scenario
from jaywalk.scenarios.catalogue import LEADERBOARD, StreetNeeds, scenario
from jaywalk.scenarios.junctions._junction_ahead import JunctionAhead, junction_ahead
from jaywalk.scenarios.obstacles._layouts import Piece
from jaywalk.scenarios.obstacles._on_lane import brake_commands
from jaywalk.scenarios.parameter_fields import ahead, ignored, place, side

_TARGET_M: Final = 10.0  # behind the junction, where the lane change begins
_SPEED_SHARE: Final = 0.8  # of the ego's speed, during the lane change
_CHANGE_S, _AFTER_S = 2.3, 3.0
_USUAL_MPS: Final = 15.0
_LEAST_MPS, _MOST_MPS = 2.0, 35.0
_LONGEST_M: Final = 500.0
_DROP_M: Final = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class HighwayCutInParameters(Parameters):
    """Parameters of HighwayCutIn; the end of the path follows from the lane."""

    other_actor_location: tuple[float, float, float] = place()
    end_location: str = ignored()


@scenario("HighwayCutIn", "a car from an entry changes lanes", benchmark=LEADERBOARD)
@dataclass(slots=True, kw_only=True)
class HighwayCutIn(Scenario):
    """A car arrives behind the junction together with the ego, then changes to the left."""

    parameters_type: ClassVar[type[Parameters]] = HighwayCutInParameters
    ahead: JunctionAhead = field(init=False)
    pilots: Pilots = field(init=False)
    target_m: float = 0.0
    changing_s: float = -1.0
    speed_mps: float = 0.0

    def setup(self) -> None:
        """Spawn the car at its start."""
        context, where = self.context, self.element.where
        self.ahead = junction_ahead(self)
        lane = context.map.get_waypoint(carla.Location(*self.parameters.other_actor_location))
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
        share = np.clip((path.arc_m - self.target_m) / over_m, 0.0, 1.0)
        width_m = float(lane.lane_width)
        path = moved_aside(path, -width_m * share**2 * (3.0 - 2.0 * share))
        cars = ordinary_cars(context.world.get_blueprint_library())
        model = str(cars[int(self.draws("vehicle").integers(len(cars)))].id)
        self.actor_ids = spawn_all(
            context.client, context.world, [(model, path.pose(0.0, _DROP_M))], where
        )
        pilot = Pilot(actor_id=self.actor_ids[0], path=path, speed_mps=0.0, acceleration_mps2=5.0)
        self.pilots = Pilots(
            context.client, context.world, context.delta_s, context.traffic, [pilot]
        )

    def tick(self, moment: EgoMoment) -> bool:
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
        """Paths of its vehicles."""
        return [self.pilots.cars[0].path.part(0.0, self.target_m + 60.0).way]

    def closed(self) -> list[NDArray[np.float64]]:
        """Close the car's path and the ego's."""
        path = self.pilots.cars[0].path
        return [*Scenario.closed(self), path.part(0.0, self.target_m + 80.0).way]


_AFTER_M: Final = 60.0


@dataclass(slots=True, kw_only=True)
class CutIn(Scenario):
    """A car starts when the ego is some seconds or metres from its place; over when it is done."""

    parameters_type: ClassVar[type[Parameters]] = Parameters
    reaction_s: ClassVar[float] = 2.5
    nearest_m: ClassVar[float] = 10.0
    driven_m: ClassVar[float] = 30.0  # distance that it drives
    pull_mps2: ClassVar[float] = 3.0
    pilots: Pilots = field(init=False)
    going: bool = False
    began_s: float = 0.0

    @property
    def at_m(self) -> float:
        """Position along the route beside which the car waits."""
        raise NotImplementedError

    def speed_mps(self, moment: EgoMoment) -> float:
        """Speed of the car after its start."""
        raise NotImplementedError

    def car_model(self, name: str) -> str:
        """Return the id of an ordinary car."""
        cars = ordinary_cars(self.context.world.get_blueprint_library())
        return str(cars[int(self.draws(name).integers(len(cars)))].id)

    def into_lane(self, beside_m: float, over_m: float) -> LanePath:
        """Return a path from ``beside_m`` right of the route onto it within ``over_m``."""
        route = self.context.route
        keep = np.concatenate([[True], np.diff(route.along_m) > 0.05])
        keep &= route.along_m >= self.at_m - 1.0
        middle = line_path(route.position_m[keep])
        share = np.clip((middle.arc_m - 1.0) / over_m, 0.0, 1.0)
        return moved_aside(middle, beside_m * (1.0 - share**2 * (3.0 - 2.0 * share)))

    def ready(self, actor_id: int, path: LanePath) -> None:
        """Put the car at the beginning of its path."""
        car = Pilot(actor_id=actor_id, path=path, speed_mps=0.0, acceleration_mps2=self.pull_mps2)
        context = self.context
        self.pilots = Pilots(context.client, context.world, context.delta_s, context.traffic, [car])

    def tick(self, moment: EgoMoment) -> bool:
        """Start in time, then drive."""
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
        """Paths of its vehicles."""
        return [self.pilots.cars[0].path.part(0.0, self.driven_m).way]

    def closed(self) -> list[NDArray[np.float64]]:
        """Close the ego's lane, well beyond the place."""
        return [self.stretch(self.trigger_along_m - 80.0, self.at_m + _AFTER_M)]


def lane_beside(scenario: Scenario, pose: Any, outwards: float) -> Any | None:
    """Return the lane right (1) or left (-1) of the one at a pose."""
    lane = scenario.context.map.get_waypoint(pose.location)
    return lane.get_right_lane() if outwards > 0.0 else lane.get_left_lane()


_BEHIND, _AHEAD = 2, 3  # cars of the queue behind and ahead of the one that cuts in
_GAP_M: Final = 11.0
_SPEED_MPS: Final = 60.0 / MPS_TO_KMH
_STATIC_CUT_IN_CHANGE_S: Final = 3.0
_SLOWEST_MPS: Final = 4.0
_OVER_M: Final = 14.0
_TIMEOUT_S: Final = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class StaticCutInParameters(Parameters):
    """Parameters of StaticCutIn; ``speed``, which is in a public file, is unused."""

    distance: float = ahead(100.0)  # m to the last car of the queue
    direction: str = side()
    speed: str = ignored()


@scenario(
    "StaticCutIn",
    "one of a queue beside the ego cuts in",
    benchmark=LEADERBOARD,
    street=StreetNeeds(lane="queue", length_m=100.0),
)
@dataclass(slots=True, kw_only=True)
class StaticCutIn(CutIn):
    """A car starts when the ego is 2.7 s or 15 m away; over after 70 m or 30 s."""

    parameters_type: ClassVar[type[Parameters]] = StaticCutInParameters
    reaction_s: ClassVar[float] = 2.7
    nearest_m: ClassVar[float] = 15.0
    driven_m: ClassVar[float] = 70.0

    @property
    def at_m(self) -> float:
        """Position of the queue."""
        return self.trigger_along_m + float(self.parameters.distance) + _BEHIND * _GAP_M

    def setup(self) -> None:
        """Spawn the queue."""
        context, where = self.context, self.element.where
        outwards = 1.0 if self.parameters.direction == "right" else -1.0
        pieces, aside_m = [], 0.0
        for number in range(-_BEHIND, _AHEAD + 1):
            at_m = self.at_m + number * _GAP_M
            here = place_on_route(context.route, at_m)
            lane = lane_beside(self, here, outwards)
            if lane is None or lane.lane_type == carla.LaneType.Sidewalk:
                side_of = self.parameters.direction
                raise DataError(f"{where}: no lane for a queue on the {side_of} of the route.")
            width_m = float(context.map.get_waypoint(here.location).lane_width)
            here_m = outwards * 0.5 * (width_m + float(lane.lane_width))
            aside_m = here_m if number == 0 else aside_m
            pose = place_on_route(context.route, at_m, here_m)
            model = self.car_model(f"queue {number}")
            pieces.append(Piece(model=model, pose=pose, is_car=True))
        wanted = [(piece.model, piece.pose) for piece in pieces]
        self.actor_ids = spawn_all(context.client, context.world, wanted, where)
        context.client.apply_batch_sync(brake_commands(pieces, self.actor_ids))
        self.ready(self.actor_ids[_BEHIND], self.into_lane(aside_m, _OVER_M))

    def speed_mps(self, moment: EgoMoment) -> float:
        """Return the ego's speed during the lane change, then 60 km/h."""
        if moment.elapsed_s - self.began_s < _STATIC_CUT_IN_CHANGE_S:
            return max(moment.ego_speed_mps, _SLOWEST_MPS)
        return _SPEED_MPS

    def tick(self, moment: EgoMoment) -> bool:
        """Act for at most 30 s."""
        over = CutIn.tick(self, moment)
        return over or (self.going and moment.elapsed_s - self.began_s > _TIMEOUT_S)
