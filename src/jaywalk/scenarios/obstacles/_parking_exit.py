"""Scenarios with parked cars: ParkingExit and ParkingCutIn.

In ParkingExit the ego stands between parked cars and joins a flow of cars. In ParkingCutIn a parked
car, hidden behind another one, drives out before the ego.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

import carla
import numpy as np
from numpy.typing import NDArray

from jaywalk.actors.events import EgoMoment
from jaywalk.actors.lane_paths import lane_ahead, lane_behind, path_of
from jaywalk.client.placing import pick_model, place_on_route, spawn_all
from jaywalk.core.errors import DataError
from jaywalk.core.units import MPS_TO_KMH
from jaywalk.scenarios.base import OBSTACLE_TIMEOUT_S, READER, Parameters, Scenario
from jaywalk.scenarios.catalogue import LEADERBOARD, StreetNeeds, scenario
from jaywalk.scenarios.flows._cut_in import CutIn, lane_beside
from jaywalk.scenarios.flows._flow import Flow
from jaywalk.scenarios.formats.xml_node import Node
from jaywalk.scenarios.obstacles._layouts import Piece
from jaywalk.scenarios.obstacles._on_lane import brake_commands
from jaywalk.scenarios.parameter_fields import side, within

_BLOCKER_M, _CUTS_IN_M = 28.0, 35.0  # from the trigger
_SPEED_MPS: Final = 20.0 / MPS_TO_KMH
_EDGE_SHARE: Final = 0.25  # of the lane width minus half the car
_HALF_CAR_M: Final = 0.95
_OVER_M: Final = 12.0
_MODEL: Final = "vehicle.*_2020"


def _side() -> Any:
    def read(node: Node, where: str) -> str:
        text = node.get("value") or ""
        # A public route has 40 here; the public class takes any value but left as right.
        if text not in ("left", "right") and not text.isdecimal():
            raise DataError(f"{where}: value is '{text}'; expected one of right, left.")
        return "left" if text == "left" else "right"

    return field(default="right", metadata={READER: read})


@dataclass(frozen=True, slots=True, kw_only=True)
class ParkingCutInParameters(Parameters):
    """Parameters of ParkingCutIn."""

    direction: str = _side()


@scenario(
    "ParkingCutIn",
    "a parked car drives out before the ego",
    benchmark=LEADERBOARD,
    street=StreetNeeds(lane="parking"),
)
@dataclass(slots=True, kw_only=True)
class ParkingCutIn(CutIn):
    """A parked car starts when the ego is 2.35 s or 10 m away; over after 30 m."""

    parameters_type: ClassVar[type[Parameters]] = ParkingCutInParameters
    reaction_s: ClassVar[float] = 2.35

    @property
    def at_m(self) -> float:
        """Position of the parked car."""
        return self.trigger_along_m + _CUTS_IN_M

    def setup(self) -> None:
        """Park both cars."""
        context, where = self.context, self.element.where
        outwards = -1.0 if self.parameters.direction == "left" else 1.0
        library = context.world.get_blueprint_library()
        pieces, asides = [], []
        for name, ahead_m in (("blocker", _BLOCKER_M), ("parked", _CUTS_IN_M)):
            at_m = self.trigger_along_m + ahead_m
            here = place_on_route(context.route, at_m)
            parking = lane_beside(self, here, outwards)
            if parking is None or parking.lane_type == carla.LaneType.Sidewalk:
                side = self.parameters.direction
                raise DataError(f"{where}: no lane to park on, on the {side} of the route.")
            width_m = float(context.map.get_waypoint(here.location).lane_width)
            edge_m = _EDGE_SHARE * (float(parking.lane_width) - _HALF_CAR_M)
            aside_m = outwards * (0.5 * (width_m + float(parking.lane_width)) + edge_m)
            model = pick_model(library, _MODEL, self.draws(name), where)
            pieces.append(
                Piece(model=model, pose=place_on_route(context.route, at_m, aside_m), is_car=True)
            )
            asides.append(aside_m)
        wanted = [(piece.model, piece.pose) for piece in pieces]
        self.actor_ids = spawn_all(context.client, context.world, wanted, where)
        context.client.apply_batch_sync(brake_commands(pieces, self.actor_ids))
        self.ready(self.actor_ids[1], self.into_lane(asides[1], _OVER_M))

    def speed_mps(self, moment: EgoMoment) -> float:
        """Return 20 km/h in m/s."""
        return _SPEED_MPS


_BEHIND_M: Final = 80.0  # start of the flow
_AHEAD_M: Final = 150.0
_DRIVEN_M: Final = 15.0
_UP_M: Final = 0.3
_WIDE_CAR_M: Final = 1.1  # half a width, with mirrors


@dataclass(frozen=True, slots=True, kw_only=True)
class ParkingExitParameters(Parameters):
    """Parameters of ParkingExit."""

    front_vehicle_distance: float = within(20.0, 5.0)
    behind_vehicle_distance: float = within(10.0, 5.0)
    direction: str = side()
    flow_distance: float = within(25.0, 8.0)  # m between the cars that pass
    speed: float = within(60.0, 1.0)  # km/h


@scenario(
    "ParkingExit",
    "the ego leaves a parking space",
    benchmark=LEADERBOARD,
    street=StreetNeeds(lane="parking", length_m=40.0, parks_m=(-10.0, 25.0)),
    parameter_words={"speed": "km/h of the cars that pass"},
)
@dataclass(slots=True, kw_only=True)
class ParkingExit(Scenario):
    """The ego leaves a parking place; over when it has driven on."""

    parameters_type: ClassVar[type[Parameters]] = ParkingExitParameters
    timeout_s: ClassVar[float] = OBSTACLE_TIMEOUT_S
    flow: Flow = field(init=False)
    beside_m: float = 0.0

    def setup(self) -> None:
        """Park two cars, with the ego between them."""
        given: ParkingExitParameters = self.parameters
        context, where = self.context, self.element.where
        lane = context.map.get_waypoint(
            place_on_route(context.route, self.trigger_along_m).location
        )
        parking = lane.get_right_lane() if given.direction == "right" else lane.get_left_lane()
        if parking is None or parking.lane_type not in (
            carla.LaneType.Parking,
            carla.LaneType.Shoulder,
            carla.LaneType.Stop,
        ):
            raise DataError(f"{where}: no parking lane on the {given.direction} of the trigger.")
        # Towards the edge, but not onto the sidewalk.
        spare_m = 0.5 * float(parking.lane_width) - _WIDE_CAR_M
        edge_m = min(_EDGE_SHARE * (float(parking.lane_width) - _HALF_CAR_M), spare_m)
        library = context.world.get_blueprint_library()
        pieces = []
        for name, ahead_m in (
            ("front", given.front_vehicle_distance),
            ("behind", -given.behind_vehicle_distance),
        ):
            model = pick_model(library, "vehicle.*_2020", self.draws(name), where)
            pose = self._beside(parking, ahead_m, edge_m)
            pieces.append(Piece(model=model, pose=pose, is_car=True))
        self.actor_ids = spawn_all(
            context.client, context.world, [(p.model, p.pose) for p in pieces], where
        )
        context.client.apply_batch_sync(brake_commands(pieces, self.actor_ids))
        self._ego().set_transform(self._beside(parking, 0.0, edge_m))
        before = lane_behind(lane, _BEHIND_M, within_road=True)
        path = path_of([*before, *lane_ahead(lane, _AHEAD_M)[1:]])
        self.beside_m = path.nearest_m(lane.transform.location)
        distance = (given.flow_distance, given.flow_distance)
        self.flow = Flow(
            context=context,
            path=path,
            spacing_m=distance,
            key=(*self.rng_key, "flow"),
            filled_m=self.beside_m,
        )

    def _beside(self, parking: Any, ahead_m: float, edge_m: float) -> Any:
        """Return a pose on the parking lane, at the edge away from the road."""
        right = self.parameters.direction == "right"
        lane = self.context.map.get_waypoint(
            place_on_route(self.context.route, self.trigger_along_m).location
        )
        aside_m = 0.5 * (float(lane.lane_width) + float(parking.lane_width)) + edge_m
        along_m = self.trigger_along_m + ahead_m
        aside_m = aside_m if right else -aside_m
        if along_m >= 0.0:
            return place_on_route(self.context.route, along_m, aside_m, _UP_M)
        back = lane_behind(lane, -ahead_m)[0].transform
        sideways = back.get_right_vector()
        return carla.Transform(
            carla.Location(
                back.location.x + aside_m * sideways.x,
                back.location.y + aside_m * sideways.y,
                back.location.z + _UP_M,
            ),
            back.rotation,
        )

    def _ego(self) -> Any:
        for actor in self.context.world.get_actors().filter("vehicle.*"):
            if actor.attributes.get("role_name") == "hero":
                return actor
        raise DataError(f"{self.element.where}: there is no ego to park.")

    def start(self, moment: EgoMoment) -> None:
        """Start the flow, with the first car beside the ego."""
        self.flow.begin(float(self.parameters.speed) / MPS_TO_KMH)

    def tick(self, moment: EgoMoment) -> bool:
        """Drive the cars."""
        self.flow.step(moment)
        driven_m = moment.ego_along_m - self.trigger_along_m
        return driven_m > float(self.parameters.front_vehicle_distance) + _DRIVEN_M

    def end(self, moment: EgoMoment) -> None:
        """Let no more cars appear."""
        self.destroy(self.actor_ids)
        self.actor_ids = self.flow.actor_ids

    def linger(self, moment: EgoMoment) -> None:
        """Let the cars on their way drive on."""
        self.flow.step(moment, source=False)
        self.actor_ids = self.flow.actor_ids

    def moves(self) -> list[NDArray[np.float64]]:
        """Paths of its vehicles."""
        return [self.flow.path.way]

    def closed(self) -> list[NDArray[np.float64]]:
        """Close the lane of the flow."""
        return [self.flow.path.way]
