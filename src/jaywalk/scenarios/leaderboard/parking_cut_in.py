"""ParkingCutIn: a parked car, hidden behind another one, drives out before the ego."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

import carla

from jaywalk.core.errors import DataError
from jaywalk.scenarios.base import READER, Moment, Parameters
from jaywalk.scenarios.leaderboard.cut_in import CutIn, lane_beside
from jaywalk.scenarios.models import pick_model
from jaywalk.scenarios.obstacle_layouts import Piece
from jaywalk.scenarios.obstacle_on_lane import brake_commands
from jaywalk.scenarios.placing import place_on_route, spawn_all
from jaywalk.scenarios.xml_node import Node

_BLOCKER_M, _CUTS_IN_M = 28.0, 35.0  # from the trigger
_SPEED_MPS: Final = 20.0 / 3.6
_EDGE_SHARE: Final = 0.25  # of what the lane is wider than half the car
_HALF_CAR_M: Final = 0.95
_OVER_M: Final = 12.0
_MODEL: Final = "vehicle.*_2020"


def _side() -> Any:
    def read(node: Node, where: str) -> str:
        text = node.get("value") or ""
        # A public route says 40 here; the public class takes what is not left for right.
        if text not in ("left", "right") and not text.isdecimal():
            raise DataError(f"{where}: value is '{text}'; expected one of right, left.")
        return "left" if text == "left" else "right"

    return field(default="right", metadata={READER: read})


@dataclass(frozen=True, slots=True, kw_only=True)
class ParkingCutInParameters(Parameters):
    """ParkingCutIn."""

    direction: str = _side()


@dataclass(slots=True, kw_only=True)
class ParkingCutIn(CutIn):
    """Sets off when the ego is 2.35 s or 10 m away; over after 30 m."""

    parameters_type: ClassVar[type[Parameters]] = ParkingCutInParameters
    reaction_s: ClassVar[float] = 2.35

    @property
    def at_m(self) -> float:
        """Where it is parked."""
        return self.trigger_along_m + _CUTS_IN_M

    def setup(self) -> None:
        """Park both cars."""
        stage, where = self.stage, self.spec.where
        outwards = -1.0 if self.parameters.direction == "left" else 1.0
        library = stage.world.get_blueprint_library()
        pieces, asides = [], []
        for name, ahead_m in (("blocker", _BLOCKER_M), ("parked", _CUTS_IN_M)):
            at_m = self.trigger_along_m + ahead_m
            here = place_on_route(stage.route, at_m)
            parking = lane_beside(self, here, outwards)
            if parking is None or parking.lane_type == carla.LaneType.Sidewalk:
                side = self.parameters.direction
                raise DataError(f"{where}: no lane to park on, on the {side} of the route.")
            width_m = float(stage.map.get_waypoint(here.location).lane_width)
            edge_m = _EDGE_SHARE * (float(parking.lane_width) - _HALF_CAR_M)
            aside_m = outwards * (0.5 * (width_m + float(parking.lane_width)) + edge_m)
            model = pick_model(library, _MODEL, self.draws(name), where)
            pieces.append(
                Piece(model=model, pose=place_on_route(stage.route, at_m, aside_m), is_car=True)
            )
            asides.append(aside_m)
        wanted = [(piece.model, piece.pose) for piece in pieces]
        self.actor_ids = spawn_all(stage.client, stage.world, wanted, where)
        stage.client.apply_batch_sync(brake_commands(pieces, self.actor_ids))
        self.ready(self.actor_ids[1], self.into_lane(asides[1], _OVER_M))

    def speed_mps(self, moment: Moment) -> float:
        """20 km/h."""
        return _SPEED_MPS
