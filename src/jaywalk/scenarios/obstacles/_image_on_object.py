"""ImageOnObject: a picture of a child or a red light on an object beside the road."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Final

import carla
import numpy as np
from numpy.typing import NDArray

from jaywalk.actors.events import EgoMoment
from jaywalk.client.placing import place_on_route, roadside, spawn_and_place, spawn_first_that_fits
from jaywalk.scenarios.base import OBSTACLE_TIMEOUT_S, Parameters, Scenario
from jaywalk.scenarios.catalogue import FAIL2DRIVE, Placing, Shift, scenario
from jaywalk.scenarios.obstacles._layouts import NONE
from jaywalk.scenarios.parameter_fields import ahead, ignored, model, offset

_BUS_STOP: Final = "static.prop.busstop"
_FARTHER_M: Final = 0.7
_DRIVEN_M: Final = 10.0  # over when the ego is this far beyond the object
_BACK_M, _BACK_BUS_STOP_M = 0.15, 1.7  # from the middle of the object to the picture
_TRIES, _TRY_M = 5, 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageOnObjectParameters(Parameters):
    """Parameters of ImageOnObject."""

    distance: float = ahead(10.0)
    prop: str = model("static.prop.advertisement", "static.prop.")
    image: str = model("static.prop.barrel", "static.prop.", "none")
    offset_x: float = offset()
    offset_y: float = offset()
    offset_z: float = offset()
    direction: str = ignored()


@scenario(
    "ImageOnObject",
    "a picture beside the road",
    benchmark=FAIL2DRIVE,
    shifts=(
        Shift(
            name="ImageOnObject",
            category="Robustness",
            caption="a picture of a child or a red light",
            pairs=(40, 44),
        ),
    ),
    base_setting=("image", "none"),
    placing=Placing(sign_at_trigger=False, on_route=False),
)
@dataclass(slots=True, kw_only=True)
class ImageOnObject(Scenario):
    """An object with a picture on the right side; nothing moves."""

    parameters_type: ClassVar[type[Parameters]] = ImageOnObjectParameters
    timeout_s: ClassVar[float] = OBSTACLE_TIMEOUT_S

    def setup(self) -> None:
        """Spawn the object and the picture."""
        given: ImageOnObjectParameters = self.parameters
        at_m = self.trigger_along_m + given.distance
        here = place_on_route(self.context.route, at_m, up_m=0.0)
        aside_m = roadside(self.context.map, here, to_right=True).middle_m(0.0) + _FARTHER_M
        turn_deg = 180.0 if given.prop == _BUS_STOP else -90.0
        poses = [
            place_on_route(self.context.route, at_m, aside_m + k * _TRY_M, 0.1, turn_deg)
            for k in range(_TRIES)
        ]
        thing, spot = spawn_and_place(self.context.world, given.prop, poses, self.element.where)
        self.actor_ids.append(thing.id)
        if given.image != NONE:
            pose = self._on(thing, spot, float(here.rotation.yaw))
            image = spawn_first_that_fits(
                self.context.world, given.image, [pose], self.element.where
            )
            self.actor_ids.append(image.id)

    def _on(self, thing: Any, pose: Any, yaw_deg: float) -> Any:
        """Return the pose of the picture, on the side that the ego sees."""
        given: ImageOnObjectParameters = self.parameters
        box = thing.bounding_box
        back_m = _BACK_BUS_STOP_M if given.prop == _BUS_STOP else _BACK_M
        yaw = np.deg2rad(yaw_deg)
        ahead_m, right_m = given.offset_x - back_m, given.offset_y
        spot = carla.Location(box.location.x, box.location.y, box.location.z)
        pose.transform(spot)  # changes its argument
        return carla.Transform(
            carla.Location(
                spot.x + ahead_m * float(np.cos(yaw)) - right_m * float(np.sin(yaw)),
                spot.y + ahead_m * float(np.sin(yaw)) + right_m * float(np.cos(yaw)),
                spot.z + given.offset_z,
            ),
            carla.Rotation(yaw=yaw_deg + 90.0, roll=90.0),
        )

    def tick(self, moment: EgoMoment) -> bool:
        """Return True when the ego has passed."""
        driven_m = moment.ego_along_m - self.trigger_along_m
        return driven_m > float(self.parameters.distance) + _DRIVEN_M

    def closed(self) -> list[NDArray[np.float64]]:
        """Close no lanes: the object blocks no vehicle."""
        return []
