"""Scenario types of the Leaderboard, Bench2Drive and Fail2Drive that extend Jaywalk's own types.

They take the parameters and the defaults of those projects; the behaviour follows the published
figures. Only types with the same behaviour are here: any other type is an error.

In HardBrake types the car ahead stops, in some with dark brake lights. In RightOfWay types an
ordinary or an emergency vehicle takes the ego's right of way.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar, Final

from jaywalk.actors.events import EgoMoment
from jaywalk.client.placing import Roadside, place_on_route
from jaywalk.core.units import MPS_TO_KMH
from jaywalk.scenarios.base import INTERNAL, Parameters
from jaywalk.scenarios.catalogue import (
    FAIL2DRIVE,
    LEADERBOARD,
    OPPOSITE_LANE,
    STRAIGHT,
    TAKES_FIRST_BRANCH,
    WALKS_TO_JUNCTION,
    Shift,
    StreetNeeds,
    scenario,
)
from jaywalk.scenarios.crossings._stepping_out import SteppingOut
from jaywalk.scenarios.flows._hard_brake import HardBrake, HardBrakeParameters
from jaywalk.scenarios.junctions._right_of_way import PriorityTaken
from jaywalk.scenarios.obstacles._layouts import construction_site, parked_car
from jaywalk.scenarios.obstacles._on_lane import (
    NEWER_CAR,
    LbConstructionParameters,
    LbParkedParameters,
)
from jaywalk.scenarios.obstacles._two_ways import ConstructionTwoWays, LbTwoWays, ParkedTwoWays
from jaywalk.scenarios.parameter_fields import (
    ahead,
    crossing_angle,
    interval,
    model,
    offset,
    one_of,
    side,
)

_BLOCKER_M, _WALKER_M = 1.5, 1.2  # beyond the middle of the last lane, without a sidewalk
_PARKED_CROSSING_M: Final = 8.0


_RIGHT_OF_WAY: Final = Shift(
    name="RightOfWay",
    category="Visual-lon",
    caption="an ordinary vehicle runs the light",
    pairs=(55, 59),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LbConstructionTwoWaysParameters(LbConstructionParameters):
    """Parameters of ConstructionObstacleTwoWays."""

    frequency: tuple[float, float] = interval(20.0, 100.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class LbParkedTwoWaysParameters(LbParkedParameters):
    """Parameters of ParkedObstacleTwoWays."""

    frequency: tuple[float, float] = interval(20.0, 100.0)


@scenario(
    "ConstructionObstacleTwoWays",
    "like jaywalk/construction-two-ways-v1",
    benchmark=LEADERBOARD,
    street=OPPOSITE_LANE,
    placing=TAKES_FIRST_BRANCH,
)
@dataclass(slots=True, kw_only=True)
class LbConstructionTwoWays(LbTwoWays):
    """ConstructionObstacleTwoWays: oncoming cars appear 5 s after the ego is within 30 m."""

    parameters_type: ClassVar[type[Parameters]] = LbConstructionTwoWaysParameters
    leaderboard_name: ClassVar[str] = ConstructionTwoWays.leaderboard_name
    sign: ClassVar[str] = ConstructionTwoWays.sign
    layout = staticmethod(construction_site)


@scenario(
    "ParkedObstacleTwoWays",
    "like jaywalk/parked-two-ways-v1",
    benchmark=LEADERBOARD,
    street=OPPOSITE_LANE,
    placing=WALKS_TO_JUNCTION,
)
@dataclass(slots=True, kw_only=True)
class LbParkedTwoWays(LbTwoWays):
    """ParkedObstacleTwoWays: oncoming cars appear 5 s after the ego is within 50 m."""

    parameters_type: ClassVar[type[Parameters]] = LbParkedTwoWaysParameters
    leaderboard_name: ClassVar[str] = ParkedTwoWays.leaderboard_name
    sign: ClassVar[str] = ParkedTwoWays.sign
    reach_m: ClassVar[float] = 50.0
    layout = staticmethod(parked_car)


@dataclass(frozen=True, slots=True, kw_only=True)
class LbHardBrakeParameters(HardBrakeParameters):
    """Parameters of HardBreakRoute, which takes none; the lead car stands for the traffic ahead."""

    distance: float = field(default=16.0, metadata=INTERNAL)
    lead_in: float = field(default=80.0, metadata=INTERNAL)
    stop_time: float = field(default=10.0, metadata=INTERNAL)
    vehicle: str = field(default=NEWER_CAR, metadata=INTERNAL)


@scenario("HardBreakRoute", "like jaywalk/hard-brake-v1", benchmark=LEADERBOARD)
@dataclass(slots=True, kw_only=True)
class LbHardBrake(HardBrake):
    """HardBreakRoute: the car ahead and the traffic stop until 10 s are over."""

    parameters_type: ClassVar[type[Parameters]] = LbHardBrakeParameters

    def start(self, moment: EgoMoment) -> None:
        """Stop the traffic too, as the public class does, so that the reference speed drops."""
        HardBrake.start(self, moment)
        self.cap_traffic(moment, 0.0)

    def tick(self, moment: EgoMoment) -> bool:
        """Let the lead car and the traffic drive on together."""
        stood = self.went_on_m < 0.0
        over = HardBrake.tick(self, moment)
        if over or (stood and self.went_on_m >= 0.0):
            self.cap_traffic(moment, None)
        return over

    def waited_s(self, moment: EgoMoment) -> float:
        """Seconds since the car began to brake, as in the public class."""
        return moment.elapsed_s - self.started_s


@dataclass(frozen=True, slots=True, kw_only=True)
class LbCrossingParameters(Parameters):
    """Parameters of DynamicObjectCrossing, with Fail2Drive's additions."""

    distance: float = ahead(12.0)
    direction: str = side()
    crossing_angle: float = crossing_angle()
    walker: str = model("walker.pedestrian.*", "walker.")
    blocker_model: str = model("static.prop.vendingmachine", "static.", "vehicle.", "none")
    blocker_z: float = offset()
    speed: float = field(default=2.0, metadata=INTERNAL)


@scenario("DynamicObjectCrossing", "like jaywalk/stepping-out-hidden-v1", benchmark=LEADERBOARD)
@dataclass(slots=True, kw_only=True)
class LbCrossing(SteppingOut):
    """DynamicObjectCrossing: a person walks twice the distance to the lane at 2 m/s.

    The person is removed afterwards.
    """

    parameters_type: ClassVar[type[Parameters]] = LbCrossingParameters

    def stands_m(self, near: Roadside) -> float:
        """Return the distance to the middle of the sidewalk."""
        return near.middle_m(_WALKER_M)

    def crossing_m(self, near_m: float, far_m: float) -> float:
        """Return twice the distance to the ego's lane."""
        return 2.0 * near_m

    def arrive(self) -> None:
        """Remove the person and the obstacle."""
        self.destroy(self.actor_ids)


@dataclass(frozen=True, slots=True, kw_only=True)
class LbParkingCrossingParameters(Parameters):
    """Parameters of ParkingCrossingPedestrian, with Fail2Drive's additions."""

    distance: float = ahead(12.0)
    direction: str = side()
    crossing_angle: float = crossing_angle()
    walker: str = model("walker.pedestrian.*", "walker.")
    offset_x: float = offset()  # m the parked car is moved forwards
    speed: float = field(default=2.0, metadata=INTERNAL)
    blocker_model: str = field(default=NEWER_CAR, metadata=INTERNAL)


@scenario("ParkingCrossingPedestrian", "like jaywalk/stepping-out-hidden-v1", benchmark=LEADERBOARD)
@dataclass(slots=True, kw_only=True)
class LbParkingCrossing(LbCrossing):
    """ParkingCrossingPedestrian: a person walks 8 m from behind a car one lane width aside."""

    parameters_type: ClassVar[type[Parameters]] = LbParkingCrossingParameters
    reaction_s: ClassVar[float] = 2.15

    @property
    def at_m(self) -> float:
        """Position at which the person crosses: behind the car."""
        return self.trigger_along_m + float(self.parameters.distance) + self.behind_m

    def stands_m(self, near: Roadside) -> float:
        """Return one lane width."""
        pose = place_on_route(self.context.route, self.at_m)
        return float(self.context.map.get_waypoint(pose.location).lane_width)

    def put_blocker(self, model: str, right_m: float) -> float:
        """Place the car with the lane's heading."""
        at_m = self.at_m + float(self.parameters.offset_x)
        pose = place_on_route(self.context.route, at_m, right_m, up_m=0.5)
        return float(self.spawn(model, [pose]).bounding_box.extent.x) + 0.5

    def crossing_m(self, near_m: float, far_m: float) -> float:
        """Return a fixed length."""
        return _PARKED_CROSSING_M


@dataclass(frozen=True, slots=True, kw_only=True)
class LbRightOfWayParameters(Parameters):
    """Parameters of OppositeVehicleRunningRedLight and OppositeVehicleTakingPriority."""

    direction: str = one_of("right", "left", "opposite")
    distance: float = field(default=30.0, metadata=INTERNAL)
    speed: float = field(default=60.0 / MPS_TO_KMH, metadata=INTERNAL)
    acceleration: float = field(default=math.inf, metadata=INTERNAL)
    lead: float = field(default=0.0, metadata=INTERNAL)
    vehicle: str = field(default="vehicle.ford.ambulance", metadata=INTERNAL)


@scenario(
    "OppositeVehicleTakingPriority",
    "like jaywalk/priority-taken-v1",
    benchmark=LEADERBOARD,
    street=StreetNeeds(junction=STRAIGHT, control="free", arm="right"),
)
@dataclass(slots=True, kw_only=True)
class LbPriorityTaken(PriorityTaken):
    """OppositeVehicleTakingPriority: the vehicle starts when the ego is 2.2 s or 12 m away."""

    parameters_type: ClassVar[type[Parameters]] = LbRightOfWayParameters
    leaderboard_name: ClassVar[str] = "OppositeVehicleTakingPriority"
    special_lights: ClassVar[bool] = True

    def needed_s(self) -> float:
        """Return the published synchronisation time."""
        return 2.2


@scenario(
    "OppositeVehicleRunningRedLight",
    "like jaywalk/red-light-runner-v1",
    benchmark=LEADERBOARD,
    street=StreetNeeds(junction=STRAIGHT, control="light", arm="right"),
)
@dataclass(slots=True, kw_only=True)
class LbRedLightRunner(LbPriorityTaken):
    """OppositeVehicleRunningRedLight: the ego has green, the other vehicle red.

    Public routes use it at junctions without lights too (Bench2Drive's 26944), and evaluators
    allow that: the vehicle then just takes the right of way.
    """

    leaderboard_name: ClassVar[str] = "OppositeVehicleRunningRedLight"
    holds_lights: ClassVar[bool] = True


@scenario(
    "HardBrakeNoLights",
    "the car ahead brakes without lights",
    benchmark=FAIL2DRIVE,
    shifts=(
        Shift(
            name="HardBrake",
            category="Visual-lon",
            caption="the car ahead brakes without lights",
            pairs=(35, 39),
        ),
    ),
    base="HardBreakRoute",
)
@dataclass(slots=True, kw_only=True)
class HardBrakeNoLights(LbHardBrake):
    """HardBreakRoute with dark brake lights."""

    brake_lights: ClassVar[bool] = False
    rng_type: ClassVar[str] = "HardBreakRoute"


@dataclass(frozen=True, slots=True, kw_only=True)
class NormalRightOfWayParameters(LbRightOfWayParameters):
    """Parameters of NormalVehicleRunningRedLight and NormalVehicleTakingPriority."""

    vehicle: str = model("", "vehicle.")  # any but bicycles and emergency vehicles


@scenario(
    "NormalVehicleTakingPriority",
    "an ordinary vehicle takes the right of way",
    benchmark=FAIL2DRIVE,
    street=StreetNeeds(junction=STRAIGHT, control="free", arm="right"),
    shifts=(_RIGHT_OF_WAY,),
    base="OppositeVehicleTakingPriority",
)
@dataclass(slots=True, kw_only=True)
class NormalPriorityTaken(LbPriorityTaken):
    """NormalVehicleTakingPriority."""

    parameters_type: ClassVar[type[Parameters]] = NormalRightOfWayParameters
    special_lights: ClassVar[bool] = False
    rng_type: ClassVar[str] = "OppositeVehicleTakingPriority"
    leaderboard_name: ClassVar[str] = "NormalVehicleTakingPriority"


@scenario(
    "NormalVehicleRunningRedLight",
    "an ordinary vehicle runs its red light",
    benchmark=FAIL2DRIVE,
    street=StreetNeeds(junction=STRAIGHT, control="light", arm="right"),
    shifts=(_RIGHT_OF_WAY,),
    base="OppositeVehicleRunningRedLight",
)
@dataclass(slots=True, kw_only=True)
class NormalRedLightRunner(LbRedLightRunner):
    """NormalVehicleRunningRedLight."""

    parameters_type: ClassVar[type[Parameters]] = NormalRightOfWayParameters
    special_lights: ClassVar[bool] = False
    rng_type: ClassVar[str] = "OppositeVehicleRunningRedLight"
    leaderboard_name: ClassVar[str] = "NormalVehicleRunningRedLight"
