"""Draws the picture at the top of the README: people, vehicles and a dog at a crosswalk of Harbour.

    cd tools && python -m studies.readme_picture ../docs/img/street_camera.jpg

Everybody stands where this script puts them, posed by clips of the motion library; the picture is
that of the server's colour camera.
"""

from __future__ import annotations

import itertools
import math
import sys
from pathlib import Path
from typing import Final

import numpy as np
from PIL import Image

from jaywalk.motion import default_library
from jaywalk.server.sensors._readings import ImageReading
from jaywalk.server.session.still_world import StillWorld
from jaywalk.town.ground import surface_height
from jaywalk.town.town import Town, load_town

_SIZE_PX: Final = (1280, 640)
_FOV_DEG: Final = 64.0
_EYE_M: Final = (-9.5, 1.0, 1.45)  # ahead, to the right and above the crosswalk's middle
_SUN_DEG: Final = (245.0, 46.0)  # azimuth from the street's, altitude
# Number of the walker, place from the crosswalk (ahead, right), heading from the street's, clip,
# frame, rig.
_PEOPLE: Final = (
    (10, -0.3, 0.7, -90.0, "crossing-run-0001", 14, "boy"),
    (5, 0.5, -2.6, 95.0, "crossing-hurry-0000", 16, "woman"),
    (18, 0.2, -4.6, 90.0, "crossing-busy-0001", 30, "woman"),
    (26, -0.2, 3.9, -90.0, "crossing-stroll-0001", 26, "man"),
    (33, 0.7, 4.8, -90.0, "crossing-walk-0003", 40, "woman"),
)
_VEHICLES: Final = (
    ("mini.cooper_s_2021", 7.2, -3.6, 180.0, "200,40,36"),
    ("mitsubishi.fusorosa", 17.5, -3.5, 180.0, ""),
    ("gazelle.omafiets", 5.6, -5.6, 178.0, ""),
    ("tesla.model3", 11.0, 0.1, 0.0, "40,70,140"),
    ("ford.crown", 23.0, 0.1, 0.0, ""),
)


class _Street:
    """The street before the first traffic light of a town, in its own axes."""

    def __init__(self, town: Town) -> None:
        self._town, self.world = town, StillWorld(town)
        x, y, self._z_m, yaw = town.lights[0].stops[0][:4].tolist()
        self.yaw_deg = math.degrees(yaw)
        self._ahead = np.array([math.cos(yaw), math.sin(yaw)])
        self._right = np.array([-self._ahead[1], self._ahead[0]])
        near = np.array([x, y]) + 3.5 * self._ahead
        middles = [np.asarray(walk)[:, :2].mean(axis=0) for walk in town.crosswalks]
        crossing = min(middles, key=lambda middle: float(np.hypot(*(middle - near))))
        self._start = np.array([x, y]) + self._ahead * float((crossing - (x, y)) @ self._ahead)
        self._ids = itertools.count(10_000)

    def place(self, ahead_m: float, right_m: float) -> tuple[float, float, float]:
        """Return a place on the ground."""
        x, y = (self._start + ahead_m * self._ahead + right_m * self._right).tolist()
        return x, y, float(surface_height(self._town.ground, x, y, self._z_m))

    def put(
        self, type_id: str, place: tuple[float, float], yaw_deg: float, up_m: float, color: str = ""
    ) -> int:
        """Put an actor somewhere; return its id."""
        number = next(self._ids)
        self.world.add(number, type_id, {"color": color} if color else {})
        x, y, z = self.place(*place)
        self.world.put(number, ((x, y, z + up_m), (0.0, self.yaw_deg + yaw_deg, 0.0)))
        return number


def main() -> None:
    """Draw the picture into the file that the command names."""
    street = _Street(load_town("Harbour"))
    library = default_library()
    for walker, ahead, right, yaw, clip, frame, rig in _PEOPLE:
        half = 0.55 if rig == "boy" else 0.93
        type_id = f"walker.pedestrian.{walker:04d}"
        number = street.put(type_id, (ahead, right), yaw, half)
        street.world.show_pose(number, library.on_rig(clip, rig).poses()[frame])
    for name, ahead, right, yaw, color in _VEHICLES:
        street.put(f"vehicle.{name}", (ahead, right), yaw, 0.0, color)
    street.put("static.prop.ball", (-0.7, -0.9), 0.0, 0.12)
    dog = street.put("walker.animal.1001", (-0.4, 5.1), -90.0, 0.325)
    street.world.roll(dog, 0.35)
    lens = {
        "image_size_x": str(_SIZE_PX[0]),
        "image_size_y": str(_SIZE_PX[1]),
        "fov": str(_FOV_DEG),
    }
    camera = street.world.add_sensor("sensor.camera.rgb", lens, 0, 0)
    azimuth = (street.yaw_deg + _SUN_DEG[0]) % 360.0
    sky = [22.0, 0.0, 0.0, 10.0, azimuth, _SUN_DEG[1], 2.0, 0.75, 0.1, 0.0, 1.0, 0.03, 0.0331, 0.0]
    x, y, z = street.place(*_EYE_M[:2])
    pose = (x, y, z + _EYE_M[2]), (1.0, street.yaw_deg - 3.0, 0.0)
    scene = street.world.scene(sky)
    (reading,) = street.world.measure(camera, pose, scene, 1)
    assert isinstance(reading, ImageReading)
    image = Image.fromarray(np.ascontiguousarray(reading.pixels[..., 2::-1]))
    image.save(Path(sys.argv[1]), quality=90)


if __name__ == "__main__":
    main()
