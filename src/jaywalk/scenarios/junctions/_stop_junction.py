"""StopJunction and ObscuredStop: stop signs.

In StopJunction the ego comes to a stop sign, and cars with priority cross its path. In ObscuredStop
the stop sign is under snow, dirt or paint, but still in force.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

import carla
import numpy as np
from numpy.typing import NDArray

from jaywalk.actors.events import EgoMoment
from jaywalk.actors.lane_paths import JunctionPath, lane_behind, path_of
from jaywalk.client.placing import place_on_route, spawn_first_that_fits
from jaywalk.core.errors import DataError
from jaywalk.scenarios.base import BEHIND_M, OBSTACLE_TIMEOUT_S, Parameters, Scenario
from jaywalk.scenarios.catalogue import FAIL2DRIVE, JAYWALK, STRAIGHT, Shift, StreetNeeds, scenario
from jaywalk.scenarios.flows._flow import Flow, Flowing, limit_mps
from jaywalk.scenarios.junctions._junction_ahead import JunctionAhead, junction_ahead
from jaywalk.scenarios.obstacles._layouts import NONE
from jaywalk.scenarios.parameter_fields import ahead, interval, model, offset, one_of, within

FAULTS: Final = ("snow", "dirt", "graffiti", "stickers", "smiley")
PATCH: Final = "static.prop.asphaltpatch"  # covers the painted word STOP
_PASSED_M: Final = 10.0
_FRONT_M: Final = 0.1  # before the post, to be a little before the plate
_SIGN_REACH_M: Final = 10.0  # largest distance of the face from the sign's actor
_LANE_M: Final = 1.5  # largest distance of the trigger from the ego's path
_BEFORE_M: Final = 50.0
_STOP_WORD_M: Final = 4.0  # before the trigger's middle


@dataclass(frozen=True, slots=True, kw_only=True)
class ObscuredStopParameters(Parameters):
    """Parameters of ObscuredStopSign."""

    prop: str = model("static.prop.barrel", "static.prop.", "none")
    offset_y: float = offset()  # m to the ego's right
    offset_z: float = offset()  # m up


@scenario(
    "ObscuredStopSign",
    "a stop sign that is hard to read",
    benchmark=FAIL2DRIVE,
    street=StreetNeeds(junction=STRAIGHT, control="stop"),
    shifts=(
        Shift(
            name="ObscuredStop",
            category="Visual-lon",
            caption="the sign is covered, and in force",
            pairs=(45, 49),
        ),
    ),
    base_setting=("prop", "none"),
)
@dataclass(slots=True, kw_only=True)
class ObscuredStop(Scenario):
    """A junction without other vehicles, where only the covered sign requires a stop."""

    parameters_type: ClassVar[type[Parameters]] = ObscuredStopParameters
    timeout_s: ClassVar[float] = OBSTACLE_TIMEOUT_S
    ahead: JunctionAhead = field(init=False)

    def setup(self) -> None:
        """Cover the sign's face and the word on the road."""
        given: ObscuredStopParameters = self.parameters
        self.ahead = junction_ahead(self)
        sign, stop_m = self._sign()
        if given.prop == NONE:
            return
        pose = self._face(sign)
        thing = spawn_first_that_fits(self.context.world, given.prop, [pose], self.element.where)
        patch_at = place_on_route(self.context.route, stop_m - _STOP_WORD_M, up_m=0.01)
        patch = (
            self.context.world.try_spawn_actor(
                self.context.world.get_blueprint_library().find(PATCH), patch_at
            )
            if self._has(PATCH)
            else None
        )
        self.actor_ids = [thing.id, *([patch.id] if patch is not None else [])]

    def _has(self, name: str) -> bool:
        """Return True if the server has a blueprint; Unreal CARLA does not have Jaywalk's."""
        return bool(len(self.context.world.get_blueprint_library().filter(name)))

    def _sign(self) -> tuple[Any, float]:
        """Return the stop sign of the ego's lane, and its position along the route."""
        route = self.context.route
        near = (route.along_m > self.ahead.enter_m - _BEFORE_M) & (
            route.along_m < self.ahead.enter_m + 2.0
        )
        points, along = route.position_m[near, :2], route.along_m[near]
        for sign in self.context.world.get_actors().filter("traffic.stop"):
            box = sign.trigger_volume.location
            place = carla.Location(box.x, box.y, box.z)
            sign.get_transform().transform(place)  # changes its argument
            gap_m = np.hypot(points[:, 0] - place.x, points[:, 1] - place.y)
            if len(gap_m) and gap_m.min() <= _LANE_M:
                return sign, float(along[int(np.argmin(gap_m))])
        raise DataError(
            f"{self.element.where}: no stop sign on the ego's lane before the junction."
        )

    def _face(self, sign: Any) -> Any:
        """Return an upright pose before the sign's face, with its heading."""
        given: ObscuredStopParameters = self.parameters
        post = sign.get_transform().location
        faces = self.context.world.get_level_bbs(carla.CityObjectLabel.TrafficSigns)
        gaps = [post.distance(face.location) for face in faces]
        if not gaps or min(gaps) > _SIGN_REACH_M:
            raise DataError(f"{self.element.where}: the stop sign has no face within 10 m.")
        face = faces[int(np.argmin(gaps))]
        # A plate lies flat, picture up; rolled by 90 degrees, its picture faces along its heading.
        ahead = np.deg2rad(self.ahead.yaw_deg)
        forward, right = (np.cos(ahead), np.sin(ahead)), (-np.sin(ahead), np.cos(ahead))
        spot, aside_m = face.location, given.offset_y
        return carla.Transform(
            carla.Location(
                spot.x - _FRONT_M * float(forward[0]) + aside_m * float(right[0]),
                spot.y - _FRONT_M * float(forward[1]) + aside_m * float(right[1]),
                spot.z + given.offset_z,
            ),
            carla.Rotation(yaw=self.ahead.yaw_deg + 90.0, roll=90.0),
        )

    def tick(self, moment: EgoMoment) -> bool:
        """Return True when the ego has crossed the junction."""
        return moment.ego_along_m > self.ahead.leave_m + _PASSED_M

    def closed(self) -> list[NDArray[np.float64]]:
        """Close the ego's path, and all other paths to that junction."""
        ego = self.stretch(self.trigger_along_m - BEHIND_M, self.ahead.leave_m + 10.0)
        ways = [ego]
        for entry, _ in self.ahead.junction.get_waypoints(carla.LaneType.Driving):
            before = lane_behind(entry, 30.0, within_road=True)
            if len(before) > 1:
                ways.append(path_of(before).way)
        return ways


_AFTER_M: Final = 50.0
_STOP_JUNCTION_PASSED_M: Final = 15.0
_STRAIGHT_DEG: Final = 40.0
_SLOWEST_MPS: Final = 4.0  # a standing ego is expected to drive on with this speed
_NEAREST_SHARE: Final = 0.75  # no car is spawned nearer to the junction


@dataclass(frozen=True, slots=True, kw_only=True)
class StopJunctionParameters(Parameters):
    """Parameters of the crossing cars."""

    direction: str = one_of("left", "right", "both")  # arm from which they come
    distance: float = ahead(90.0)  # m before the junction, their source
    frequency: tuple[float, float] = interval(22.0, 75.0)  # m between them
    speed: float = within(0.0, 0.0)  # m/s; 0: the speed limit of the ego's road


@scenario(
    "jaywalk/stop-junction-v1",
    "a stop sign; cars with priority cross",
    benchmark=JAYWALK,
    street=StreetNeeds(junction=STRAIGHT, control="stop", arm="left", they="straight"),
    parameter_words={
        "direction": "left, right or both: where they come from",
        "distance": "m before the junction where they appear",
        "speed": "m/s; 0: the speed limit",
    },
)
@dataclass(slots=True, kw_only=True)
class StopJunction(Flowing):
    """A flow that begins at the trigger, with its first cars already on the way."""

    parameters_type: ClassVar[type[Parameters]] = StopJunctionParameters
    ahead: JunctionAhead = field(init=False)
    ways: list[JunctionPath] = field(default_factory=list)

    def setup(self) -> None:
        """Find the crossing paths."""
        given: StopJunctionParameters = self.parameters
        self.ahead = junction_ahead(self)
        if not self.ahead.has_stop_sign():
            raise DataError(f"{self.element.where}: no stop sign before the next junction.")
        sides = ("left", "right") if given.direction == "both" else (given.direction,)
        for side in sides:
            way = self.ahead.crossing(side, given.distance, _AFTER_M)
            if abs(way.turn_deg) > _STRAIGHT_DEG:
                raise DataError(f"{self.element.where}: no way straight on from {side}.")
            self.ways.append(way)
            self.flows.append(
                Flow(
                    context=self.context,
                    path=way.path,
                    spacing_m=given.frequency,
                    key=("scenario", self.element.name, self.element.type, "flow", side),
                )
            )

    def start(self, moment: EgoMoment) -> None:
        """Start the cars, the first such that it meets an ego that does not stop."""
        speed = float(self.parameters.speed) or limit_mps(self.context, moment)
        for way, flow in zip(self.ways, self.flows, strict=True):
            left_m = way.meets_route_m - moment.ego_along_m
            arrival_s = left_m / max(moment.ego_speed_mps, _SLOWEST_MPS)
            flow.filled_m = min(
                max(way.meets_along_m - speed * arrival_s, 0.0), _NEAREST_SHARE * way.meets_along_m
            )
            flow.begin(speed)
        self.note(moment, what="crossing cars", speed_mps=round(speed, 3))

    def is_over(self, moment: EgoMoment) -> bool:
        """Return True when the ego has crossed the junction."""
        return moment.ego_along_m > self.ahead.leave_m + _STOP_JUNCTION_PASSED_M

    def closed(self) -> list[NDArray[np.float64]]:
        """Close the ego's path over the junction and that of the others."""
        ego = self.stretch(self.trigger_along_m - BEHIND_M, self.ahead.leave_m + 10.0)
        return [ego, *(flow.path.way for flow in self.flows)]
