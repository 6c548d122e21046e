"""VehicleTurningRoute and VehicleTurningRoutePedestrian: crossings behind a junction.

A bicycle, or a person, crosses the road right behind the junction at which the ego turns.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar, Final

import carla
import numpy as np
from numpy.typing import NDArray

from jaywalk.actors.events import EgoMoment
from jaywalk.actors.lane_paths import LanePath, line_path
from jaywalk.actors.pilots import Pilot, Pilots
from jaywalk.client.placing import Roadside, place_on_route, roadside, spawn_and_place
from jaywalk.geometry.angle import wrap_degrees
from jaywalk.geometry.pose import yaw_rad
from jaywalk.scenarios._public_types import LbCrossing
from jaywalk.scenarios.base import BEHIND_M, INTERNAL, Parameters, Scenario
from jaywalk.scenarios.catalogue import LEADERBOARD, TURN_RIGHT, StreetNeeds, scenario
from jaywalk.scenarios.junctions._junction_ahead import JunctionAhead, junction_ahead
from jaywalk.scenarios.parameter_fields import model, offset

_MODEL: Final = "vehicle.diamondback.century"
_BEHIND_M: Final = 11.0  # behind the junction
_ASIDE_M: Final = 1.5  # beyond the middle of the last lane, without a sidewalk
_TRIES, _TRY_M = 6, 0.4
_REACTION_S, _NEAREST_M, _SPEED_MPS = 1.8, 6.0, 1.8
_END_M: Final = 40.0
_UP_M: Final = 0.2


@scenario(
    "VehicleTurningRoute",
    "a bicycle crosses behind the junction",
    benchmark=LEADERBOARD,
    street=StreetNeeds(junction=TURN_RIGHT),
)
@dataclass(slots=True, kw_only=True)
class VehicleTurning(Scenario):
    """A bicycle crosses from the right, for twice the distance to the ego's lane.

    The scenario is over when the ego has passed.
    """

    parameters_type: ClassVar[type[Parameters]] = Parameters
    ahead: JunctionAhead = field(init=False)
    pilots: Pilots = field(init=False)
    at_m: float = 0.0
    began_s: float = math.nan

    def setup(self) -> None:
        """Spawn the bicycle beside the road."""
        self.ahead = junction_ahead(self)
        context = self.context
        self.at_m = self.ahead.leave_m + _BEHIND_M
        near = roadside(context.map, place_on_route(context.route, self.at_m), to_right=True)
        aside_m = near.middle_m(_ASIDE_M)
        poses = [
            place_on_route(context.route, self.at_m + k * _TRY_M, aside_m, _UP_M, turn_deg=-90.0)
            for k in range(_TRIES)
        ]
        actor, pose = spawn_and_place(context.world, _MODEL, poses, self.element.where)
        self.actor_ids = [actor.id]
        brake = carla.VehicleControl(hand_brake=True)
        context.client.apply_batch_sync([carla.command.ApplyVehicleControl(actor.id, brake)])
        pilot = Pilot(
            actor_id=actor.id, path=_across(pose, 2.0 * aside_m), speed_mps=_SPEED_MPS, heeds=False
        )
        self.pilots = Pilots(context.client, context.world, context.delta_s, None, [pilot])

    def tick(self, moment: EgoMoment) -> bool:
        """Cross in time, then vanish."""
        left_m = self.at_m - moment.ego_along_m
        if math.isnan(self.began_s):
            if left_m > max(_NEAREST_M, _REACTION_S * moment.ego_speed_mps):
                return False
            self.began_s = moment.elapsed_s
            self.note(moment, what="crosses", actor=self.actor_ids[0])
        if self.pilots.cars:
            car = self.pilots.cars[0]
            self.pilots.step(moment.snapshot)
            crossed_s = car.path.length_m / _SPEED_MPS
            if car.gone or moment.elapsed_s - self.began_s > crossed_s:
                self.pilots.cars.clear()
                self.destroy(self.actor_ids)
        return left_m < -_END_M and not self.pilots.cars

    def moves(self) -> list[NDArray[np.float64]]:
        """Paths of its vehicles."""
        return [self.pilots.cars[0].path.way]

    def closed(self) -> list[NDArray[np.float64]]:
        """Close the ego's path over the junction and beyond."""
        return [self.stretch(self.trigger_along_m - BEHIND_M, self.at_m + 30.0)]


def _across(pose: carla.Transform, length_m: float) -> LanePath:
    yaw = yaw_rad(pose)
    along = np.arange(0.0, max(length_m, 2.0) + 0.5, 0.5)
    at = pose.location
    points = np.column_stack(
        [at.x + along * math.cos(yaw), at.y + along * math.sin(yaw), np.full(len(along), at.z)]
    )
    return line_path(points)


_TURNING_PEDESTRIAN_BEHIND_M: Final = 1.5  # after the junction's last points
_AFTER_M: Final = 30.0
_TURNS_DEG: Final = 40.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TurningPedestrianParameters(Parameters):
    """Parameters of VehicleTurningRoutePedestrian, with Fail2Drive's additions."""

    walker: str = model("walker.pedestrian.*", "walker.")
    offset_y: float = offset()  # m farther aside, if there is no sidewalk
    distance: float = field(default=0.0, metadata=INTERNAL)
    direction: str = field(default="right", metadata=INTERNAL)
    crossing_angle: float = field(default=0.0, metadata=INTERNAL)
    blocker_model: str = field(default="none", metadata=INTERNAL)
    blocker_z: float = field(default=0.0, metadata=INTERNAL)
    speed: float = field(default=1.8, metadata=INTERNAL)


@scenario(
    "VehicleTurningRoutePedestrian",
    "a person crosses behind the junction",
    benchmark=LEADERBOARD,
    street=StreetNeeds(junction=TURN_RIGHT),
)
@dataclass(slots=True, kw_only=True)
class TurningPedestrian(LbCrossing):
    """A person starts when the ego is 2.2 s or 6 m away, and crosses the whole road."""

    parameters_type: ClassVar[type[Parameters]] = TurningPedestrianParameters
    reaction_s: ClassVar[float] = 2.2
    ahead: JunctionAhead = field(init=False)

    def setup(self) -> None:
        """Find the junction, then place the person."""
        self.ahead = junction_ahead(self)
        LbCrossing.setup(self)

    @property
    def at_m(self) -> float:
        """Position right behind the junction."""
        return self.ahead.leave_m + _TURNING_PEDESTRIAN_BEHIND_M

    @property
    def waits_m(self) -> float:
        """Position of the waiting person, the same as ``at_m``."""
        return self.at_m

    def comes_from(self) -> float:
        """Return the outer side of the turn's end: left after a right turn, else right."""
        route = self.context.route
        yaw_deg = np.interp(
            self.at_m, route.along_m, np.unwrap(route.rotation_deg[:, 1], period=360.0)
        )
        turned_deg = wrap_degrees(float(yaw_deg) - self.ahead.yaw_deg)
        return -1.0 if turned_deg > _TURNS_DEG else 1.0

    def stands_m(self, near: Roadside) -> float:
        """Return the middle of the sidewalk or, without one, a place a little beside the road."""
        return near.middle_m(_ASIDE_M + float(self.parameters.offset_y))

    def crossing_m(self, near_m: float, far_m: float) -> float:
        """Return the distance to the other side."""
        return near_m + far_m

    def closed(self) -> list[NDArray[np.float64]]:
        """Close the ego's path over the junction and beyond."""
        return [self.stretch(self.trigger_along_m - BEHIND_M, self.at_m + _AFTER_M)]
