"""Draw the pictures of docs/reference/sensors.md: one per sensor and one per weather.

Usage: python tools/sensor_pictures.py [FOLDER]. The scene is a street of Harbour with cars, people
and traffic lights; it follows from the code alone.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from jaywalk.core.carla_enums import VehicleLight
from jaywalk.core.seeds import stream
from jaywalk.server.encoding.codec import DIALECTS
from jaywalk.server.sensors._readings import EventsReading, FlowReading, ImageReading
from jaywalk.server.sensors._rig import make_sensor
from jaywalk.server.session._publisher import NoPublisher
from jaywalk.server.session._simulation import Simulation
from jaywalk.server.session._world_view import WorldView
from jaywalk.server.world._tables import Actor, SpawnError
from jaywalk.server.world.blueprints import find
from jaywalk.town.town import load_town

FOLDER: Final = Path(__file__).parents[1] / "docs" / "img" / "sensors"
# cloudiness, precipitation, deposits, wind, azimuth, altitude, fog density, distance, falloff,
# wetness, scattering, mie, rayleigh, dust: as in carla.WeatherParameters
_CLEAR: Final = [10.0, 0.0, 0.0, 10.0, 50.0, 48.0, 2.0, 0.75, 0.1, 0.0, 1.0, 0.03, 0.0331, 0.0]

_NAMES: Final = (
    "clouds",
    "rain",
    "deposits",
    "wind",
    "azimuth",
    "altitude",
    "fog",
    "fog_distance",
    "falloff",
    "wetness",
)


def _weather(**changes: float) -> list[float]:
    out = list(_CLEAR)
    for name, value in changes.items():
        out[_NAMES.index(name)] = value
    return out


WEATHERS: Final = {
    "clear": _CLEAR,
    "low-sun": _weather(altitude=12.0, azimuth=120.0),
    "cloudy": _weather(clouds=95.0),
    "wet": _weather(clouds=40.0, deposits=60.0, wetness=90.0),
    "rain": _weather(clouds=95.0, rain=85.0, deposits=80.0, wetness=100.0, altitude=35.0, fog=8.0),
    "fog": _weather(clouds=80.0, fog=35.0, fog_distance=4.0),
    "dusk": _weather(altitude=1.0, clouds=35.0, azimuth=80.0),
    "night": _weather(altitude=-40.0),
    "night-rain": _weather(
        altitude=-40.0, clouds=95.0, rain=60.0, deposits=80.0, wetness=100.0, fog=6.0
    ),
}
SENSORS: Final = {
    "depth": "depth",
    "semantics": "semantic_segmentation",
    "instances": "instance_segmentation",
    "normals": "normals",
    "flow": "optical_flow",
    "events": "dvs",
}
_SIZE: Final = (480, 270)
_LENS: Final = {"image_size_x": str(_SIZE[0]), "image_size_y": str(_SIZE[1]), "fov": "80"}
_CARS: Final = (
    "vehicle.audi.tt",
    "vehicle.volkswagen.t2",
    "vehicle.tesla.model3",
    "vehicle.carlamotors.firetruck",
    "vehicle.nissan.patrol",
)
_LABELS: Final = {
    1: (128, 64, 128), 2: (244, 35, 232), 3: (70, 70, 70), 4: (102, 102, 156), 5: (190, 153, 153),
    6: (153, 153, 153), 7: (250, 170, 30), 8: (220, 220, 0), 9: (107, 142, 35), 10: (145, 170, 100),
    11: (70, 130, 180), 12: (220, 20, 60), 13: (255, 0, 0), 14: (0, 0, 142), 15: (0, 0, 70),
    16: (0, 60, 100), 18: (0, 0, 230), 19: (119, 11, 32), 20: (110, 190, 160), 24: (157, 234, 50),
}  # fmt: skip


class Street:
    """A street with traffic, and a camera behind the windscreen of a car."""

    def __init__(self) -> None:
        self._simulation = Simulation(load_town("Harbour"), NoPublisher())
        spots = self._simulation.world.spawn_points
        home = self._home(spots)
        (x, y, z), (_, yaw_deg, _) = home
        self._turn = math.radians(yaw_deg)
        self._place, self._yaw_deg = (x, y, z), yaw_deg
        beams = VehicleLight.POSITION | VehicleLight.LOW_BEAM
        own = self._spawn("vehicle.lincoln.mkz_2020", 0.0, 0.0, 0.0)
        if own is not None:
            self._simulation.world.set_light_flags(own, int(beams))
        lamps = [beams | VehicleLight.BRAKE, beams | VehicleLight.LEFT_BLINKER, beams, beams, beams]
        for number, (name, bits) in enumerate(zip(_CARS, lamps, strict=True)):
            coming = number % 2 == 1
            car = self._spawn(name, 13.0 + 9.0 * number, -3.5 if coming else 0.0, 180.0 * coming)
            if car is not None:
                self._simulation.world.set_light_flags(car, int(bits))
        random = stream(0, "sensor pictures")
        for number in range(9):
            side = 4.6 if number % 2 else -8.2
            heading = float(random.uniform(-180.0, 180.0))
            name = f"walker.pedestrian.{1 + 5 * number:04d}"
            self._spawn(name, 9.0 + 3.2 * number, side, heading)
        self._spawn("walker.pedestrian.0014", 9.5, 2.4, -90.0)
        self._simulation.tick()
        self._view = WorldView(self._simulation.world)

    def _home(self, spots: Any) -> Any:
        """Return the first spawn point 20 to 45 m before a traffic light that faces it."""
        for place, turn in spots:
            yaw = math.radians(turn[1])
            for light in self._simulation.world.town.lights:
                dx, dy = light.pose.x - place[0], light.pose.y - place[1]
                ahead = dx * math.cos(yaw) + dy * math.sin(yaw)
                aside = dy * math.cos(yaw) - dx * math.sin(yaw)
                faces = math.cos(math.radians(light.pose.yaw + 90.0 - turn[1])) < -0.9
                if 20.0 < ahead < 45.0 and abs(aside) < 7.0 and faces:
                    return place, turn
        return spots[0]

    def _spawn(self, name: str, ahead: float, aside: float, heading_deg: float) -> Actor | None:
        c, s = math.cos(self._turn), math.sin(self._turn)
        x, y, z = self._place
        z += find(name).body.half_extents_m[2] if name.startswith("walker.") else 0.0
        place = (x + ahead * c - aside * s, y + ahead * s + aside * c, z)
        pose = (place, (0.0, self._yaw_deg + heading_deg, 0.0))
        try:
            return self._simulation.spawn(DIALECTS["0.9.16"], name, {}, pose)
        except SpawnError:
            return None

    def shoot(self, kind: str, weather: list[float]) -> NDArray[np.uint8]:
        """Return the picture of a camera as red, green, blue."""
        c, s = math.cos(self._turn), math.sin(self._turn)
        x, y, z = self._place
        pose = ((x + 0.6 * c, y + 0.6 * s, z + 1.4), (0.0, self._yaw_deg, 0.0))
        name = f"sensor.camera.{kind}"
        sensor = make_sensor(name, _LENS, 0, 0)
        readings: Any = ()
        for frame in (1, 2):  # flow and events compare two
            camera = self._simulation.spawn(DIALECTS["0.9.16"], name, {}, pose)
            scene = self._view.scene(weather)
            readings = sensor.measure(scene, camera.row, frame, 0.05 * frame, 0.05) or readings
            self._simulation.destroy(camera.id)
            moved = pose[0][0] + 0.25 * c, pose[0][1] + 0.25 * s, pose[0][2]
            pose = (moved, pose[1])
        return _shown(readings[0], kind)


def _shown(reading: Any, kind: str) -> NDArray[np.uint8]:
    """Return colours that a person can read."""
    if isinstance(reading, FlowReading):
        return _flow(reading)
    if isinstance(reading, EventsReading):
        out = np.zeros((_SIZE[1], _SIZE[0], 3), np.uint8)
        events = reading.events
        out[events["y"], events["x"], np.where(events["polarity"], 2, 0)] = 255
        return out
    assert isinstance(reading, ImageReading)
    rgb = reading.pixels[..., 2::-1]
    if kind == "depth":
        far_m = rgb.astype(np.float64) @ (1.0, 256.0, 65536.0) / 16777215.0 * 1000.0
        grey = 255.0 * (1.0 - np.log1p(far_m) / math.log(1001.0))
        return np.repeat(grey.astype(np.uint8)[..., None], 3, axis=2)
    if kind == "semantic_segmentation":
        table = np.zeros((256, 3), np.uint8)
        for label, color in _LABELS.items():
            table[label] = color
        return table[rgb[..., 0]]
    return np.array(rgb, np.uint8)


def _flow(reading: FlowReading) -> NDArray[np.uint8]:
    """Return the direction of the flow as hue, its size as brightness."""
    flow = np.asarray(reading.flow, np.float64)
    size = np.minimum(np.hypot(flow[..., 0], flow[..., 1]) * 40.0, 1.0)
    turn = np.arctan2(flow[..., 1], flow[..., 0])
    hues = [0.5 + 0.5 * np.cos(turn - 2.0944 * channel) for channel in range(3)]
    out: NDArray[np.uint8] = (255.0 * np.stack(hues, axis=2) * size[..., None]).astype(np.uint8)
    return out


def main(folder: Path) -> None:
    """Draw everything."""
    folder.mkdir(parents=True, exist_ok=True)
    street = Street()
    pictures = {name: street.shoot("rgb", weather) for name, weather in WEATHERS.items()}
    pictures |= {name: street.shoot(kind, _CLEAR) for name, kind in SENSORS.items()}
    for name, picture in pictures.items():
        image = Image.fromarray(picture).quantize(192, dither=Image.Dither.FLOYDSTEINBERG)
        image.save(folder / f"{name}.png", optimize=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
