"""Draw the pictures of docs/reference/sensors.md: one per sensor and one per weather.

Usage: python tools/sensor_pictures.py [FOLDER] [NAME ...]. The scene is a crosswalk of Harbour with
people, vehicles and traffic lights; it follows from the code alone.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
from matplotlib import colormaps
from numpy.typing import NDArray
from PIL import Image

from jaywalk.core.carla_enums import LightState, VehicleLight
from jaywalk.server.sensors._readings import FlowReading
from jaywalk.town.town import load_town
from studies.street_scene import Street, facing_crosswalk, lens, weather

Picture = NDArray[np.uint8]
FOLDER: Final = Path(__file__).parents[1] / "docs" / "img" / "sensors"
_LIGHT: Final = 9
_SIZE: Final = (960, 540)
_FOV_DEG: Final = 66.0
_QUALITY: Final = 88
_EYE_M: Final = (-8.6, 1.2, 1.45)  # ahead, to the right and above the crosswalk's middle
_STEP_M: Final = 0.25  # of the camera between two frames, for flow and events
_SUN_DEG: Final = 225.0  # azimuth from the street's
_LOW_SUN_DEG: Final = 356.0

WEATHERS: Final[dict[str, dict[str, float]]] = {
    "clear": {},
    "low-sun": {"altitude": 15.0, "azimuth": _LOW_SUN_DEG},
    "cloudy": {"clouds": 95.0},
    "wet": {"clouds": 40.0, "deposits": 60.0, "wetness": 90.0},
    "rain": {
        "clouds": 95.0, "rain": 85.0, "deposits": 80.0, "wetness": 100.0, "altitude": 35.0,
        "fog": 8.0,
    },
    "fog": {"clouds": 80.0, "fog": 35.0, "fog_distance": 4.0},
    "dusk": {"altitude": 1.0, "clouds": 35.0, "azimuth": 20.0},
    "night": {"altitude": -40.0},
    "night-rain": {
        "altitude": -40.0, "clouds": 95.0, "rain": 60.0, "deposits": 80.0, "wetness": 100.0,
        "fog": 6.0,
    },
}  # fmt: skip
CAMERAS: Final = {
    "depth": "depth",
    "semantics": "semantic_segmentation",
    "instances": "instance_segmentation",
    "normals": "normals",
    "flow": "optical_flow",
    "events": "dvs",
}
_BEAMS: Final = VehicleLight.POSITION | VehicleLight.LOW_BEAM
_BRAKE: Final = _BEAMS | VehicleLight.BRAKE
# Blueprint, place (ahead, right), heading from the street's, lamps, speed in m/s.
_VEHICLES: Final = (
    ("mitsubishi.fusorosa", (12.4, -0.2), 180.0, _BEAMS, 0.0),
    ("audi.tt", (8.6, 3.3), 0.0, _BRAKE, 4.0),
    ("gazelle.omafiets", (4.6, 4.6), 2.0, _BEAMS, 4.5),
    ("volkswagen.t2", (18.5, 3.4), 0.0, _BEAMS | VehicleLight.RIGHT_BLINKER, 7.0),
    ("tesla.model3", (27.0, 0.0), 180.0, _BEAMS, 8.0),
    ("carlamotors.firetruck", (36.0, 3.5), 0.0, _BEAMS | VehicleLight.SPECIAL1, 9.0),
    ("ford.crown", (46.0, 0.0), 180.0, _BEAMS, 9.0),
)
# Number of the walker, place, heading, clip, frame, what they carry; moving ones walk by clips.
_PEOPLE: Final = (
    (5, (0.3, 0.1), 90.0, "crossing-walk-0002", 30, "bag"),
    (10, (-0.6, 2.9), -90.0, "crossing-run-0001", 14, ""),
    (26, (0.5, 5.0), -90.0, "crossing-stroll-0001", 26, ""),
    (18, (0.9, -2.9), 80.0, "notcrossing-wait-0003", 30, "phone"),
    (40, (2.4, 7.2), -120.0, "crossing-walk-0003", 40, "stick"),
    (33, (9.0, 7.7), 180.0, "crossing-walk-0005", 33, "umbrella"),
    (21, (13.5, 8.3), 0.0, "crossing-walk-0004", 20, "rucksack"),
    (36, (9.5, -4.3), 180.0, "crossing-walk-0006", 25, ""),
    (28, (15.0, -4.9), 0.0, "crossing-walk-0003", 12, "suitcase"),
    (3, (27.0, 7.8), 180.0, "crossing-walk-0007", 24, ""),
    (12, (27.6, 8.4), 180.0, "crossing-walk-0005", 12, ""),
)
_LABELS: Final = {
    1: (128, 64, 128), 2: (244, 35, 232), 3: (70, 70, 70), 4: (102, 102, 156), 5: (190, 153, 153),
    6: (153, 153, 153), 7: (250, 170, 30), 8: (220, 220, 0), 9: (107, 142, 35), 10: (145, 170, 100),
    11: (70, 130, 180), 12: (220, 20, 60), 13: (255, 0, 0), 14: (0, 0, 142), 15: (0, 0, 70),
    16: (0, 60, 100), 18: (0, 0, 230), 19: (119, 11, 32), 20: (110, 190, 160), 24: (157, 234, 50),
}  # fmt: skip
_LIDAR: Final = {
    "channels": "64", "range": "80", "points_per_second": "2600000", "rotation_frequency": "20",
    "upper_fov": "12", "lower_fov": "-26", "dropoff_general_rate": "0",
}  # fmt: skip
_RADAR: Final = {
    "horizontal_fov": "66", "vertical_fov": "24", "range": "80", "points_per_second": "120000",
}  # fmt: skip
_ABOVE_PX_PER_M: Final = 14.0
_BEHIND_M: Final = 12.0  # of the sensor, at the left edge of a picture from above


class Crosswalk(Street):
    """A crosswalk with traffic, and a camera before it."""

    def __init__(self) -> None:
        town = load_town("Harbour")
        super().__init__(town, facing_crosswalk(town, _LIGHT))
        turn = math.radians(self.yaw_deg)
        for name, place, heading, lamps, speed in _VEHICLES:
            velocity = speed if heading < 90.0 else -speed
            self.put(
                f"vehicle.{name}", place, heading, rolled_m=0.3, light_flags=int(lamps),
                vx=velocity * math.cos(turn), vy=velocity * math.sin(turn),
            )  # fmt: skip
        for person in _PEOPLE:
            self.put_person(*person)
        self.put("walker.animal.1001", (15.0, -4.0), 0.0, rolled_m=0.35)
        self.world.set_lights([int(LightState.RED)] * len(town.lights))

    def sky(self, changes: dict[str, float]) -> list[float]:
        """Return a weather; its sun is given from the street's heading."""
        azimuth = (changes.get("azimuth", _SUN_DEG) + self.yaw_deg) % 360.0
        return weather(**(changes | {"azimuth": azimuth}))

    def camera(self, kind: str, changes: dict[str, float]) -> Any:
        """Return the second of two readings of a moving camera; flow and events compare them."""
        sensor = self.sensor(f"sensor.camera.{kind}", lens(_SIZE, _FOV_DEG))
        reading = None
        for frame in (1, 2):
            self.world.time_s = 0.05 * frame
            ahead = _EYE_M[0] + _STEP_M * (frame - 2)
            pose = self.eye((ahead, _EYE_M[1]), _EYE_M[2])
            reading = self.measure(sensor, pose, self.sky(changes), frame) or reading
        return reading

    def scan(self, type_id: str, attributes: dict[str, str]) -> Any:
        """Return the reading of a LiDAR or radar at the camera."""
        pose = self.eye(_EYE_M[:2], _EYE_M[2] + 0.6)
        return self.measure(self.sensor(type_id, attributes), pose, self.sky({}))


def _rgb(reading: Any) -> Picture:
    return np.array(reading.pixels[..., 2::-1], np.uint8)


def _depth(reading: Any) -> Picture:
    far_m = _rgb(reading).astype(np.float64) @ (1.0, 256.0, 65536.0) / 16777215.0 * 1000.0
    grey = 255.0 * (1.0 - np.log1p(far_m) / math.log(1001.0))
    return np.repeat(grey.astype(np.uint8)[..., None], 3, axis=2)


def _semantics(reading: Any) -> Picture:
    table = np.zeros((256, 3), np.uint8)
    for label, color in _LABELS.items():
        table[label] = color
    picture: Picture = table[_rgb(reading)[..., 0]]
    return picture


def _instances(reading: Any) -> Picture:
    """Return a colour of its own for each label and instance."""
    codes = _rgb(reading).astype(np.uint64) @ np.array([1 << 16, 1, 1 << 8], np.uint64)
    mixed = codes * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    turn = (mixed >> np.uint64(40)).astype(np.float64) / 2.0**24 * 2.0 * math.pi
    bright = 0.55 + 0.45 * ((mixed >> np.uint64(20)) & np.uint64(255)).astype(np.float64) / 255.0
    hues = [0.5 + 0.5 * np.cos(turn - 2.0944 * channel) for channel in range(3)]
    shown = np.stack(hues, axis=2) * bright[..., None] * (codes != 0)[..., None]
    return np.asarray(255.0 * shown, np.uint8)


def _events(reading: Any) -> Picture:
    out = np.full((_SIZE[1], _SIZE[0], 3), 16, np.uint8)
    events = reading.events
    ups = events["polarity"]
    out[events["y"][ups], events["x"][ups]] = (90, 150, 255)
    out[events["y"][~ups], events["x"][~ups]] = (255, 80, 70)
    return out


def _flow(reading: FlowReading) -> Picture:
    """Return the direction of the flow as hue, its size as brightness."""
    flow = np.asarray(reading.flow, np.float64)
    size = np.minimum(np.hypot(flow[..., 0], flow[..., 1]) * 40.0, 1.0) ** 0.6
    turn = np.arctan2(flow[..., 1], flow[..., 0])
    hues = [0.5 + 0.5 * np.cos(turn - 2.0944 * channel) for channel in range(3)]
    return np.asarray(255.0 * np.stack(hues, axis=2) * size[..., None], np.uint8)


_SHOWN: Final[dict[str, Callable[[Any], Picture]]] = {
    "depth": _depth,
    "semantics": _semantics,
    "instances": _instances,
    "normals": _rgb,
    "flow": _flow,
    "events": _events,
}


def _dots(
    u: NDArray[np.float64], v: NDArray[np.float64], far: NDArray[np.float64], colors: Picture,
    size: NDArray[np.int64],
) -> Picture:  # fmt: skip
    """Draw square dots; near ones hide far ones."""
    out = np.full((_SIZE[1], _SIZE[0], 3), 14, np.uint8)
    order = np.argsort(-far, kind="stable")
    for reach in range(int(size.max()) + 1):
        for down in range(-reach, reach + 1):
            for aside in range(-reach, reach + 1):
                if max(abs(down), abs(aside)) != reach:
                    continue
                rows = np.floor(v[order]).astype(int) + down
                columns = np.floor(u[order]).astype(int) + aside
                inside = (rows >= 0) & (rows < _SIZE[1]) & (columns >= 0) & (columns < _SIZE[0])
                inside &= size[order] >= reach
                out[rows[inside], columns[inside]] = colors[order][inside]
    return out


def _scan_pictures(
    points_m: NDArray[np.float64], colors: Picture, dot: int
) -> tuple[Picture, Picture]:
    """Draw points (x ahead, y right, z up of the sensor) from above and from the sensor."""
    x, y, z = points_m.T
    focal = 0.5 * _SIZE[0] / math.tan(math.radians(0.5 * _FOV_DEG))
    front = x > 0.5
    depth = np.maximum(x, 0.5)
    ahead = _dots(
        (0.5 * _SIZE[0] + focal * y / depth)[front], (0.5 * _SIZE[1] - focal * z / depth)[front],
        depth[front], colors[front],
        np.clip(np.rint(10.0 * dot / depth[front]), dot - 1, dot + 1).astype(np.int64),
    )  # fmt: skip
    left = _BEHIND_M * _ABOVE_PX_PER_M
    size = np.ones(len(x), np.int64)
    above = _dots(
        left + _ABOVE_PX_PER_M * x, 0.5 * _SIZE[1] + _ABOVE_PX_PER_M * y, -z, colors, size
    )
    return above, ahead


def _ramp(name: str, share: NDArray[np.float64]) -> Picture:
    colors = colormaps[name](np.clip(share, 0.0, 1.0))[:, :3]
    return np.asarray(255.0 * colors, np.uint8)


def lidar_pictures(street: Crosswalk) -> dict[str, Picture]:
    """Return the points of a LiDAR coloured by height."""
    points = street.scan("sensor.lidar.ray_cast", _LIDAR).points
    places = np.stack([points[name] for name in "xyz"], axis=1).astype(np.float64)
    colors = _ramp("turbo", (places[:, 2] + _EYE_M[2] + 0.6) / 6.0 + 0.06)
    above, ahead = _scan_pictures(places, colors, 1)
    return {"lidar-above": above, "lidar": ahead}


def radar_pictures(street: Crosswalk) -> dict[str, Picture]:
    """Return the points of a radar: blue approaches, red goes away, grey stands."""
    points = street.scan("sensor.other.radar", _RADAR).detections
    names = ("depth", "azimuth", "altitude", "velocity")
    far, azimuth, altitude, speed = (points[name].astype(np.float64) for name in names)
    flat = far * np.cos(altitude)
    places = np.stack(
        [flat * np.cos(azimuth), flat * np.sin(azimuth), far * np.sin(altitude)], axis=1
    )
    colors = _ramp("coolwarm_r", 0.5 - speed / 12.0)
    colors[np.abs(speed) < 0.2] = 120
    above, ahead = _scan_pictures(places, colors, 2)
    return {"radar-above": above, "radar": ahead}


def _weather_picture(street: Crosswalk, name: str) -> dict[str, Picture]:
    return {name: _rgb(street.camera("rgb", WEATHERS[name]))}


def _camera_picture(street: Crosswalk, name: str) -> dict[str, Picture]:
    return {name: _SHOWN[name](street.camera(CAMERAS[name], {}))}


def main(folder: Path, names: list[str]) -> None:
    """Draw the pictures of these names, all without names."""
    folder.mkdir(parents=True, exist_ok=True)
    street = Crosswalk()
    makers: dict[str, Callable[[], dict[str, Picture]]] = {
        **{name: partial(_weather_picture, street, name) for name in WEATHERS},
        **{name: partial(_camera_picture, street, name) for name in CAMERAS},
        "lidar": partial(lidar_pictures, street),
        "radar": partial(radar_pictures, street),
    }
    for chosen in names or makers:
        for name, picture in makers[chosen]().items():
            Image.fromarray(picture).save(folder / f"{name}.jpg", quality=_QUALITY)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER, sys.argv[2:])
