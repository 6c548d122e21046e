"""A street of Harbour with people and vehicles for the pictures of the docs."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.arrays import FloatArray
from jaywalk.core.walker_attributes import CARRIES
from jaywalk.motion import everyday_library
from jaywalk.motion.carla_rigs import RIG_NAMES, rig_for_walker
from jaywalk.motion.playback.holding import arm_tables, hold_things, holds_of
from jaywalk.motion.playback.overlay import bend_trunks, stoop_rad
from jaywalk.motion.retarget import DRIVEN
from jaywalk.server.sensors._readings import ImageReading
from jaywalk.server.session.still_world import StillWorld
from jaywalk.server.world.blueprints import find
from jaywalk.town.ground import surface_height
from jaywalk.town.town import Town

Pose = tuple[tuple[float, float, float], tuple[float, float, float]]
_FIRST_ID: Final = 10_000

_SKY: Final = {
    "clouds": 18.0,
    "rain": 0.0,
    "deposits": 0.0,
    "wind": 10.0,
    "azimuth": 0.0,
    "altitude": 46.0,
    "fog": 2.0,
    "fog_distance": 0.75,
    "falloff": 0.1,
    "wetness": 0.0,
    "scattering": 1.0,
    "mie": 0.03,
    "rayleigh": 0.0331,
    "dust": 0.0,
}


def weather(**changes: float) -> list[float]:
    """Return CARLA's weather parameters in their order: a clear day with changes."""
    unknown = sorted(set(changes) - set(_SKY))
    if unknown:
        raise ValueError(f"weather has no {unknown[0]!r}; known are {', '.join(_SKY)}")
    return list((_SKY | changes).values())


def facing_crosswalk(town: Town, light: int) -> tuple[float, float, float, float]:
    """Return the middle of the crosswalk at a traffic light, as seen from its junction.

    Args:
        town: The town.
        light: Number of the light; the oncoming lane is the one that it controls.

    Returns:
        x, y, z in metres and the heading away from the junction in radians.
    """
    x, y, z, yaw = town.lights[light].stops[0][:4].tolist()
    ahead = np.array([math.cos(yaw), math.sin(yaw)])
    near = np.array([x, y]) + 3.5 * ahead
    middles = [np.asarray(walk)[:, :2].mean(axis=0) for walk in town.crosswalks]
    crossing = min(middles, key=lambda middle: float(np.hypot(*(middle - near))))
    start = np.array([x, y]) + ahead * float((crossing - (x, y)) @ ahead)
    return float(start[0]), float(start[1]), z, yaw + math.pi


class Street:
    """A town in the axes of one of its streets: metres ahead and to the right of a place."""

    def __init__(self, town: Town, start: tuple[float, float, float, float]) -> None:
        """Make the town without traffic.

        Args:
            town: The town.
            start: x, y, z in metres and heading in radians.
        """
        self._town, self.world = town, StillWorld(town)
        self._x, self._y, self._z_m, yaw = start
        self.yaw_deg = math.degrees(yaw)
        self._cos, self._sin = math.cos(yaw), math.sin(yaw)
        self._motions = everyday_library()
        self._ids = itertools.count(_FIRST_ID)
        self._rank = itertools.count()

    def place(self, ahead_m: float, right_m: float) -> tuple[float, float, float]:
        """Return a place on the ground."""
        x = self._x + ahead_m * self._cos - right_m * self._sin
        y = self._y + ahead_m * self._sin + right_m * self._cos
        return x, y, float(surface_height(self._town.ground, x, y, self._z_m))

    def put(
        self,
        type_id: str,
        place: tuple[float, float],
        yaw_deg: float = 0.0,
        *,
        attributes: Mapping[str, str] | None = None,
        rolled_m: float = 0.0,
        up_m: float | None = None,
        **values: float,
    ) -> int:
        """Put an actor on the ground; return its id.

        Args:
            type_id: Blueprint.
            place: Metres ahead and to the right.
            yaw_deg: Heading from that of the street.
            attributes: Of the blueprint.
            rolled_m: Way behind it, which turns wheels and moves legs.
            up_m: Of its origin above the ground; None: what its blueprint needs.
            values: Other columns of the actor table.
        """
        number = next(self._ids)
        if not self.world.add(number, type_id, attributes or {}):
            raise ValueError(f"{type_id!r} is no blueprint")
        x, y, z = self.place(*place)
        if up_m is None:  # the origin of people and balls is in the middle of the body
            in_middle = type_id.startswith("walker.") or type_id.endswith(".ball")
            up_m = find(type_id).body.half_extents_m[2] if in_middle else 0.0
        z += up_m
        self.world.put(number, ((x, y, z), (0.0, self.yaw_deg + yaw_deg, 0.0)), **values)
        self.world.roll(number, rolled_m)
        return number

    def put_person(
        self,
        walker: int,
        place: tuple[float, float],
        yaw_deg: float,
        clip: str,
        frame: int | None,
        carries: str = "",
    ) -> int:
        """Put a person in a frame of a clip of the everyday library, with things in the hands.

        Without a frame the person is shown in the clip's longest stride.
        """
        type_id = f"walker.pedestrian.{walker:04d}"
        number = self.put(type_id, place, yaw_deg, attributes={CARRIES: carries})
        self.world.show_pose(number, self._pose(type_id, clip, frame, carries))
        return number

    def _pose(self, type_id: str, clip_name: str, frame: int | None, carries: str) -> FloatArray:
        item = find(type_id)
        rig = rig_for_walker({name: item.value(name) for name in ("gender", "age")})
        clip = self._motions.on_rig(clip_name, rig.name)
        if frame is None:
            toes = [rig.bone_index[f"crl_toe__{side}"] for side in "LR"]
            apart = np.diff(clip.joints_m()[:, toes], axis=1)[:, 0, :2]
            frame = int(np.argmax(np.hypot(*apart.T)))
        turns, hips = clip.turns[frame : frame + 1].copy(), clip.hips_m[frame : frame + 1].copy()
        bend_trunks(turns, np.array([stoop_rad(str(item.value("age")), type_id)]))
        rigs = np.array([RIG_NAMES.index(rig.name)], np.int64)
        hold_things(turns, hips, rigs, arm_tables(), holds_of([(rig.name, carries)]))
        local = np.array(rig.rest_local)
        local[[rig.bone_index[name] for name in DRIVEN], 3:] = turns[0]
        local[rig.bone_index["crl_hips__C"], :3] = hips[0]
        return local

    def bones_m(self, number: int) -> dict[str, NDArray[np.float64]]:
        """Return the places of a person's bones in the world."""
        world = self.world._world
        bones = world.bones(world.actor(number))
        return {name: bones.transforms[k, 0, 0] for k, name in enumerate(bones.names)}

    def eye(
        self, place: tuple[float, float], up_m: float, yaw_deg: float = 0.0, pitch_deg: float = 0.0
    ) -> Pose:
        """Return the pose of a sensor above a place."""
        x, y, z = self.place(*place)
        return (x, y, z + up_m), (pitch_deg, self.yaw_deg + yaw_deg, 0.0)

    def sensor(self, type_id: str, attributes: Mapping[str, str]) -> int:
        """Create a sensor; return its number for :meth:`measure`."""
        return self.world.add_sensor(type_id, attributes, next(self._rank), 0)

    def measure(self, sensor: int, pose: Pose, sky: Sequence[float], frame: int = 1) -> Any:
        """Return the reading of a sensor, None if it has none."""
        readings = self.world.measure(sensor, pose, self.world.scene(sky), frame)
        return readings[0] if readings else None

    def photo(
        self, pose: Pose, sky: Sequence[float], size: tuple[int, int], fov_deg: float
    ) -> NDArray[np.uint8]:
        """Return a colour picture: red, green, blue."""
        camera = self.sensor("sensor.camera.rgb", lens(size, fov_deg))
        reading = self.measure(camera, pose, sky)
        assert isinstance(reading, ImageReading)
        return np.ascontiguousarray(reading.pixels[..., 2::-1])


def lens(size: tuple[int, int], fov_deg: float) -> dict[str, str]:
    """Return the attributes of a camera."""
    return {"image_size_x": str(size[0]), "image_size_y": str(size[1]), "fov": str(fov_deg)}
