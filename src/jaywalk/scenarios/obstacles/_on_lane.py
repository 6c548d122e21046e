"""Obstacles on the ego's lane: a parked car or a construction site."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

import carla
import numpy as np
from numpy.typing import NDArray

from jaywalk.actors.events import EgoMoment
from jaywalk.client.placing import DROP_M, check_side, kerb_offset_m, place_on_route, spawn_all
from jaywalk.core.units import MPS_TO_KMH
from jaywalk.scenarios.base import (
    BEHIND_M,
    INTERNAL,
    OBSTACLE_TIMEOUT_S,
    Parameters,
    Scenario,
    ScenarioAnnouncement,
)
from jaywalk.scenarios.catalogue import (
    JAYWALK,
    LEADERBOARD,
    SAME_LANE,
    TAKES_FIRST_BRANCH,
    WALKS_TO_JUNCTION,
    scenario,
)
from jaywalk.scenarios.obstacles._layouts import Piece, Spot, construction_site, parked_car
from jaywalk.scenarios.parameter_fields import ahead, model, side, within

NEWER_CAR: Final = "vehicle.*_2020"
_PASSED_M: Final = 50.0
_AFTER_M: Final = 12.0
_END_M: Final = 5.0  # before the end of the route
_HAZARD: Final = carla.VehicleLightState.RightBlinker | carla.VehicleLightState.LeftBlinker


@dataclass(frozen=True, slots=True, kw_only=True)
class ConstructionParameters(Parameters):
    """Parameters of a site with a sign, debris and cones."""

    distance: float = ahead(60.0)  # m from the trigger
    direction: str = side()  # side of the lane of the obstacle
    speed: float = within(60.0, 0.0)  # km/h, speed limit of others while the ego passes


@dataclass(frozen=True, slots=True, kw_only=True)
class ParkedParameters(ConstructionParameters):
    """Parameters of a car that stands on the lane."""

    vehicle: str = model("vehicle.lincoln.mkz_2020", "vehicle.")


@dataclass(frozen=True, slots=True, kw_only=True)
class LbConstructionParameters(Parameters):
    """Parameters of ConstructionObstacle."""

    distance: float = ahead(100.0)
    direction: str = side()
    speed: float = within(60.0, 0.0)  # km/h


@dataclass(frozen=True, slots=True, kw_only=True)
class LbParkedParameters(LbConstructionParameters):
    """Parameters of ParkedObstacle."""

    distance: float = ahead(120.0)
    vehicle: str = field(default=NEWER_CAR, metadata=INTERNAL)


def brake_commands(pieces: Sequence[Piece], actor_ids: Sequence[int]) -> list[Any]:
    """Return commands that keep the cars of a layout in place, with their lights."""
    commands: list[Any] = []
    for piece, actor in zip(pieces, actor_ids, strict=True):
        if piece.is_car:
            brake = carla.VehicleControl(hand_brake=True)
            commands.append(carla.command.ApplyVehicleControl(actor, brake))
        if piece.hazard:
            lights = carla.VehicleLightState(_HAZARD)
            commands.append(carla.command.SetVehicleLightState(actor, lights))
    return commands


@dataclass(slots=True, kw_only=True)
class OnLane(Scenario):
    """Base of obstacles: nothing moves, and it is over when the ego has passed."""

    timeout_s: ClassVar[float] = OBSTACLE_TIMEOUT_S
    sign: ClassVar[str] = ""  # spawned beside the road at the trigger
    reach_m: ClassVar[float] = 30.0  # others react when the ego is this near ...
    wait_s: ClassVar[float] = 5.0  # ... and this much later
    near_s: float = math.nan
    reacted: bool = False
    end_m: float = math.inf

    @staticmethod
    def layout(scenario: Scenario, spot: Spot) -> list[Piece]:
        """Return the objects of the obstacle; a subclass sets one of the layouts."""
        raise NotImplementedError

    @property
    def at_m(self) -> float:
        """Position of the obstacle along the route."""
        return self.trigger_along_m + float(self.parameters.distance)

    def _passed_m(self) -> float:
        """Position at which the ego has passed: 50 m on, the next junction, or the route's end."""
        route = self.context.route
        along = route.along_m
        beyond = route.in_junction & (along > self.at_m)
        first = float(along[np.argmax(beyond)]) if beyond.any() else math.inf
        return min(self.at_m + _PASSED_M, first, float(along[-1]) - _END_M)

    def setup(self) -> None:
        """Spawn all objects."""
        spot = self.spot()
        pieces = self.layout(self, spot)
        if self.sign:
            pieces.append(Piece(model=self.sign, pose=self._beside(spot.outwards)))
        self.actor_ids = spawn_all(
            self.context.client,
            self.context.world,
            [(p.model, p.pose) for p in pieces],
            self.element.where,
        )
        self.context.client.apply_batch_sync(brake_commands(pieces, self.actor_ids))

    def spot(self) -> Spot:
        """Return the place of the layout, on the ego's lane."""
        outwards = check_side(self.parameters.direction, self.element.where)
        route, at_m = self.context.route, self.at_m

        def place(
            ahead_m: float, right_m: float = 0.0, up_m: float = DROP_M, turn_deg: float = 0.0
        ) -> Any:
            return place_on_route(route, at_m + ahead_m, right_m, up_m, turn_deg)

        width_m = float(self.context.map.get_waypoint(place(0.0).location).lane_width)
        return Spot(place=place, outwards=outwards, lane_width_m=width_m)

    def announcement(self) -> ScenarioAnnouncement | None:
        """Announce the first and last object; the sign beside the road is left out."""
        parts = self.actor_ids[:-1] if self.sign else self.actor_ids
        if not self.leaderboard_name or not parts:
            return None
        return ScenarioAnnouncement(
            name=self.leaderboard_name,
            first_actor=parts[0],
            last_actor=parts[-1] if len(parts) > 1 else None,
            direction=self.parameters.direction,
        )

    def _beside(self, outwards: float) -> object:
        """Return a pose beside the road at the trigger."""
        route, at_m = self.context.route, self.trigger_along_m
        kerb_m = kerb_offset_m(self.context.map, place_on_route(route, at_m), outwards > 0.0, 0.8)
        return place_on_route(route, at_m, kerb_m, up_m=0.2, turn_deg=90.0)

    def start(self, moment: EgoMoment) -> None:
        """Note the position at which the ego will have passed."""
        self.end_m = self._passed_m()

    def tick(self, moment: EgoMoment) -> bool:
        """Let others react when the ego is near."""
        if math.isnan(self.near_s) and moment.ego_along_m > self.at_m - self.reach_m:
            self.near_s = moment.elapsed_s
        if not self.reacted and moment.elapsed_s - self.near_s >= self.wait_s:
            self.reacted = True
            self.react(moment)
        return moment.ego_along_m > self.end_m

    def react(self, moment: EgoMoment) -> None:
        """Slow others down, so that the ego can pass."""
        self.cap_traffic(moment, self.parameters.speed / MPS_TO_KMH)

    def end(self, moment: EgoMoment) -> None:
        """Release the traffic and remove the objects."""
        if self.reacted:
            self.cap_traffic(moment, None)
        self.destroy(self.actor_ids)

    def closed(self) -> list[NDArray[np.float64]]:
        """Close the ego's lane up to the obstacle."""
        return [self.stretch(self.trigger_along_m - BEHIND_M, self.at_m + _AFTER_M)]


@scenario(
    "ParkedObstacle",
    "like jaywalk/parked-obstacle-v1",
    benchmark=LEADERBOARD,
    parameters=LbParkedParameters,
    street=SAME_LANE,
    placing=WALKS_TO_JUNCTION,
)
@scenario(
    "jaywalk/parked-obstacle-v1", "a car stands on the lane", benchmark=JAYWALK, street=SAME_LANE
)
@dataclass(slots=True, kw_only=True)
class ParkedObstacle(OnLane):
    """A broken-down car with its hazard lights on."""

    parameters_type: ClassVar[type[Parameters]] = ParkedParameters
    leaderboard_name: ClassVar[str] = "ParkedObstacle"
    sign: ClassVar[str] = "static.prop.warningaccident"
    reach_m: ClassVar[float] = 50.0
    layout = staticmethod(parked_car)


@scenario(
    "ConstructionObstacle",
    "like jaywalk/construction-v1",
    benchmark=LEADERBOARD,
    parameters=LbConstructionParameters,
    street=SAME_LANE,
    placing=TAKES_FIRST_BRANCH,
)
@scenario("jaywalk/construction-v1", "a construction site", benchmark=JAYWALK, street=SAME_LANE)
@dataclass(slots=True, kw_only=True)
class ConstructionObstacle(OnLane):
    """A construction site."""

    parameters_type: ClassVar[type[Parameters]] = ConstructionParameters
    leaderboard_name: ClassVar[str] = "ConstructionObstacle"
    sign: ClassVar[str] = "static.prop.warningconstruction"
    layout = staticmethod(construction_site)
