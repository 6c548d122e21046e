"""ObscuredStop: a stop sign under snow, dirt or paint. It is in force all the same."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

import carla
import numpy as np
from numpy.typing import NDArray

from jaywalk.core.errors import DataError
from jaywalk.scenarios.base import BEHIND_M, OBSTACLE_TIMEOUT_S, Moment, Parameters, Scenario
from jaywalk.scenarios.junction_ahead import JunctionAhead, junction_ahead
from jaywalk.scenarios.lane_paths import lane_behind, path_of
from jaywalk.scenarios.obstacle_layouts import NONE
from jaywalk.scenarios.parameter_fields import model, offset
from jaywalk.scenarios.placing import place_on_route, spawn_first_that_fits

FAULTS: Final = ("snow", "dirt", "graffiti", "stickers", "smiley")
PATCH: Final = "static.prop.asphaltpatch"  # where the word STOP was painted
_PASSED_M: Final = 10.0
_FRONT_M: Final = 0.1  # before the post: a little before the plate
_SIGN_REACH_M: Final = 10.0  # of the face from the sign's actor
_LANE_M: Final = 1.5  # of the trigger from the ego's way
_BEFORE_M: Final = 50.0
_STOP_WORD_M: Final = 4.0  # before the trigger's middle


@dataclass(frozen=True, slots=True, kw_only=True)
class ObscuredStopParameters(Parameters):
    """ObscuredStopSign."""

    prop: str = model("static.prop.barrel", "static.prop.", "none")
    offset_y: float = offset()  # m to the ego's right
    offset_z: float = offset()  # m up


@dataclass(slots=True, kw_only=True)
class ObscuredStop(Scenario):
    """The next junction is empty: nobody but the sign tells the ego to stop."""

    parameters_type: ClassVar[type[Parameters]] = ObscuredStopParameters
    timeout_s: ClassVar[float] = OBSTACLE_TIMEOUT_S
    ahead: JunctionAhead = field(init=False)

    def setup(self) -> None:
        """Cover the sign's face, and the word on the road."""
        given: ObscuredStopParameters = self.parameters
        self.ahead = junction_ahead(self)
        sign, stop_m = self._sign()
        if given.prop == NONE:
            return
        pose = self._face(sign)
        thing = spawn_first_that_fits(self.stage.world, given.prop, [pose], self.spec.where)
        patch_at = place_on_route(self.stage.route, stop_m - _STOP_WORD_M, up_m=0.01)
        patch = self.stage.world.try_spawn_actor(
            self.stage.world.get_blueprint_library().find(PATCH), patch_at
        ) if self._has(PATCH) else None  # fmt: skip
        self.actor_ids = [thing.id, *([patch.id] if patch is not None else [])]

    def _has(self, name: str) -> bool:
        """Whether the server knows a blueprint; Unreal CARLA does not know ours."""
        return bool(len(self.stage.world.get_blueprint_library().filter(name)))

    def _sign(self) -> tuple[Any, float]:
        """The stop sign of the ego's lane, and where on the route it acts."""
        route = self.stage.route
        near = (route.along_m > self.ahead.enter_m - _BEFORE_M) & (
            route.along_m < self.ahead.enter_m + 2.0
        )
        points, along = route.position_m[near, :2], route.along_m[near]
        for sign in self.stage.world.get_actors().filter("traffic.stop"):
            box = sign.trigger_volume.location
            place = carla.Location(box.x, box.y, box.z)
            sign.get_transform().transform(place)  # changes its argument
            gap_m = np.hypot(points[:, 0] - place.x, points[:, 1] - place.y)
            if len(gap_m) and gap_m.min() <= _LANE_M:
                return sign, float(along[int(np.argmin(gap_m))])
        raise DataError(f"{self.spec.where}: no stop sign on the ego's lane before the junction.")

    def _face(self, sign: Any) -> Any:
        """Upright before the sign's face, turned as it is."""
        given: ObscuredStopParameters = self.parameters
        post = sign.get_transform().location
        faces = self.stage.world.get_level_bbs(carla.CityObjectLabel.TrafficSigns)
        gaps = [post.distance(face.location) for face in faces]
        if not gaps or min(gaps) > _SIGN_REACH_M:
            raise DataError(f"{self.spec.where}: the stop sign has no face within 10 m.")
        face = faces[int(np.argmin(gaps))]
        # A plate lies flat, picture up; rolled by 90 degrees its picture looks along its heading.
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

    def tick(self, moment: Moment) -> bool:
        """Over when the ego is through."""
        return moment.ego_along_m > self.ahead.leave_m + _PASSED_M

    def closed(self) -> list[NDArray[np.float64]]:
        """The ego's way, and everybody else's to that junction."""
        ego = self.stretch(self.trigger_along_m - BEHIND_M, self.ahead.leave_m + 10.0)
        ways = [ego]
        for entry, _ in self.ahead.junction.get_waypoints(carla.LaneType.Driving):
            before = lane_behind(entry, 30.0, within_road=True)
            if len(before) > 1:
                ways.append(path_of(before).way)
        return ways
