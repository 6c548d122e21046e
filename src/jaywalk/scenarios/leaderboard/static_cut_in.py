"""StaticCutIn: a queue stands on the lane beside, and one of it comes over before the ego."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

import carla

from jaywalk.core.errors import DataError
from jaywalk.scenarios.base import Moment, Parameters
from jaywalk.scenarios.leaderboard.cut_in import CutIn, lane_beside
from jaywalk.scenarios.obstacle_layouts import Piece
from jaywalk.scenarios.obstacle_on_lane import brake_commands
from jaywalk.scenarios.parameter_fields import ahead, ignored, side
from jaywalk.scenarios.placing import place_on_route, spawn_all

_BEHIND, _AHEAD = 2, 3  # cars of the queue before and after the one
_GAP_M: Final = 11.0
_SPEED_MPS: Final = 60.0 / 3.6
_CHANGE_S: Final = 3.0
_SLOWEST_MPS: Final = 4.0
_OVER_M: Final = 14.0
_TIMEOUT_S: Final = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class StaticCutInParameters(Parameters):
    """StaticCutIn; ``speed`` stands in a public file, and nobody reads it."""

    distance: float = ahead(100.0)  # m to the last car of the queue
    direction: str = side()
    speed: str = ignored()


@dataclass(slots=True, kw_only=True)
class StaticCutIn(CutIn):
    """Sets off when the ego is 2.7 s or 15 m away; over after 70 m or 30 s."""

    parameters_type: ClassVar[type[Parameters]] = StaticCutInParameters
    reaction_s: ClassVar[float] = 2.7
    nearest_m: ClassVar[float] = 15.0
    driven_m: ClassVar[float] = 70.0

    @property
    def at_m(self) -> float:
        """Where it stands."""
        return self.trigger_along_m + float(self.parameters.distance) + _BEHIND * _GAP_M

    def setup(self) -> None:
        """The queue."""
        stage, where = self.stage, self.spec.where
        outwards = 1.0 if self.parameters.direction == "right" else -1.0
        pieces, aside_m = [], 0.0
        for number in range(-_BEHIND, _AHEAD + 1):
            at_m = self.at_m + number * _GAP_M
            here = place_on_route(stage.route, at_m)
            lane = lane_beside(self, here, outwards)
            if lane is None or lane.lane_type == carla.LaneType.Sidewalk:
                side_of = self.parameters.direction
                raise DataError(f"{where}: no lane for a queue on the {side_of} of the route.")
            width_m = float(stage.map.get_waypoint(here.location).lane_width)
            here_m = outwards * 0.5 * (width_m + float(lane.lane_width))
            aside_m = here_m if number == 0 else aside_m
            pose = place_on_route(stage.route, at_m, here_m)
            model = self.car_model(f"queue {number}")
            pieces.append(Piece(model=model, pose=pose, is_car=True))
        wanted = [(piece.model, piece.pose) for piece in pieces]
        self.actor_ids = spawn_all(stage.client, stage.world, wanted, where)
        stage.client.apply_batch_sync(brake_commands(pieces, self.actor_ids))
        self.ready(self.actor_ids[_BEHIND], self.into_lane(aside_m, _OVER_M))

    def speed_mps(self, moment: Moment) -> float:
        """As fast as the ego while it changes lanes, then 60 km/h."""
        if moment.elapsed_s - self.began_s < _CHANGE_S:
            return max(moment.ego_speed_mps, _SLOWEST_MPS)
        return _SPEED_MPS

    def tick(self, moment: Moment) -> bool:
        """No longer than 30 s."""
        over = CutIn.tick(self, moment)
        return over or (self.going and moment.elapsed_s - self.began_s > _TIMEOUT_S)
