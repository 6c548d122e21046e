"""Pictures of single objects on empty roads of our towns, drawn from a seed.

Each scene has one object 6 to 30 m in front of a camera at the front of a parked car, at any
heading, by day, at night with lamps on, or in rain. Pictures come from the server's own sensors in
this process, without a server.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.carla_enums import SemanticTag, VehicleLight
from jaywalk.core.seeds import stream
from jaywalk.server.encoding.codec import DIALECTS
from jaywalk.server.sensors._base import Sensor
from jaywalk.server.sensors._readings import ImageReading
from jaywalk.server.sensors._rig import make_sensor
from jaywalk.server.session._publisher import NoPublisher
from jaywalk.server.session._simulation import Simulation
from jaywalk.server.session._world_view import WorldView
from jaywalk.server.world._tables import Actor, Kind, SpawnError
from jaywalk.server.world._vehicle_blueprints import VEHICLES
from jaywalk.server.world._world import World
from jaywalk.server.world.blueprints import find, library
from jaywalk.town.ground import surface_height
from jaywalk.town.raster import label_at
from jaywalk.town.town import load_town

TOWNS: Final = ("Harbour", "Orchard", "Ridge")
CLASSES: Final = ("person", "car", "van", "truck", "bus", "motorcycle", "bicycle", "animal")
DISTANCES_M: Final = ((6.0, 12.0), (12.0, 18.0), (18.0, 24.0), (24.0, 30.0))
WEATHER: Final[Mapping[str, list[float]]] = {
    # cloudiness, precipitation, deposits, wind, azimuth, altitude, fog density, distance, falloff,
    # wetness, scattering, mie, rayleigh, dust: as in carla.WeatherParameters
    "day": [10.0, 0.0, 0.0, 10.0, 40.0, 45.0, 2.0, 0.75, 0.1, 0.0, 1.0, 0.03, 0.0331, 0.0],
    "night": [10.0, 0.0, 0.0, 10.0, 40.0, -40.0, 2.0, 0.75, 0.1, 0.0, 1.0, 0.03, 0.0331, 0.0],
    "rain": [90.0, 80.0, 60.0, 60.0, 40.0, 35.0, 8.0, 0.75, 0.1, 90.0, 1.0, 0.03, 0.0331, 0.0],
}
_WIDTH_PX: Final = 800
_HEIGHT_PX: Final = 600
_FOV_DEG: Final = 60.0
_EYE_M: Final = 1.5
_CLEAR_M: Final = 45.0  # of road ahead
_ROAD: Final = frozenset({SemanticTag.ROAD, SemanticTag.ROAD_LINE})
_LAMPS: Final = int(VehicleLight.POSITION | VehicleLight.LOW_BEAM)
_EGO: Final = "vehicle.lincoln.mkz_2020"
_LOW_ID: Final = 50_000


@dataclass(frozen=True, kw_only=True)
class SceneSpec:
    """One scene, before it is built."""

    town: str
    weather: str
    wanted: str  # class
    blueprint: str
    colour: str  # of a vehicle; empty: none
    spots: tuple[int, ...]  # spawn points of the town; the first with room for the object counts
    distance_m: float  # to the nearest point of the object's box, about
    lateral_m: float
    yaw_deg: float  # heading, relative to the camera's
    gait_phase: float
    moves: bool
    first_id: int  # of its actors; people and riders dress by their ids


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A scene as the camera shows it."""

    spec: SceneSpec
    bgr: NDArray[np.uint8]
    box: NDArray[np.float64]  # left, top, right, bottom of the object's pixels


def draw_scenes(seed: int, count: int, weather: str, wanted: str) -> list[SceneSpec]:
    """Draw scenes of a class and weather; towns, distances and blueprints take turns."""
    random = stream(seed, "single-objects", weather, wanted)
    names = _blueprints(wanted)
    order = random.permutation(len(names))
    scenes = []
    for number in range(count):
        low, high = DISTANCES_M[number % len(DISTANCES_M)]
        town = TOWNS[number % len(TOWNS)]
        blueprint = names[int(order[number % len(names)])]
        spots = clear_spots(town)
        scenes.append(
            SceneSpec(
                town=town,
                weather=weather,
                wanted=wanted,
                blueprint=blueprint,
                colour=_colour(blueprint, random),
                spots=tuple(spots[int(k)] for k in random.integers(len(spots), size=6)),
                distance_m=float(random.uniform(low, high)),
                lateral_m=float(random.uniform(-1.5, 1.5)),
                yaw_deg=float(random.uniform(-180.0, 180.0)),
                gait_phase=float(random.random()),
                moves=bool(random.random() < 0.7),
                first_id=_first_id(seed, weather, wanted, number),
            )
        )
    return scenes


def _first_id(seed: int, weather: str, wanted: str, number: int) -> int:
    """Return an id that follows from the scene alone, whatever was built before it.

    Its low 16 bits, which instance images show, are above those of the towns' own actors.
    """
    draw = int(stream(seed, "single-objects-id", weather, wanted, number).integers(1, 1 << 14))
    return (draw << 16) + _LOW_ID


def _blueprints(wanted: str) -> tuple[str, ...]:
    if wanted == "person":
        everybody = (item.id for item in library("0.9.16"))
        return tuple(name for name in everybody if name.startswith("walker.pedestrian."))
    if wanted == "animal":
        everybody = (item.id for item in library("0.9.16"))
        return tuple(name for name in everybody if name.startswith("walker.animal."))
    return tuple(f"vehicle.{spec.name}" for spec in VEHICLES if spec.base_type == wanted)


def _colour(blueprint: str, random: np.random.Generator) -> str:
    for attribute in find(blueprint).attributes:
        if attribute.id == "color":
            return str(attribute.recommended[int(random.integers(len(attribute.recommended)))])
    return ""


class _Ids(Iterator[int]):
    """Ids of new actors; ``value`` is the id of the next one."""

    value = 1

    def __next__(self) -> int:
        self.value += 1
        return self.value - 1


@cache
def _ids(town: str) -> _Ids:
    return _Ids()


@cache
def _simulation(town: str) -> Simulation:
    return Simulation(load_town(town), NoPublisher(), actor_ids=_ids(town))


@cache
def _cameras() -> tuple[Sensor, Sensor]:
    lens = {
        "image_size_x": str(_WIDTH_PX),
        "image_size_y": str(_HEIGHT_PX),
        "fov": str(_FOV_DEG),
    }
    rgb = make_sensor("sensor.camera.rgb", lens, 0, 0)
    return rgb, make_sensor("sensor.camera.instance_segmentation", lens, 0, 0)


@cache
def clear_spots(town: str) -> tuple[int, ...]:
    """Spawn points of a town with nothing but level road in front of them."""
    simulation = _simulation(town)
    raster, ground = simulation.world.town.raster, simulation.world.town.ground
    found = []
    for number, (place, (_, yaw_deg, _)) in enumerate(simulation.world.spawn_points):
        forward = math.cos(math.radians(yaw_deg)), math.sin(math.radians(yaw_deg))
        level_m = surface_height(ground, place[0], place[1], place[2])
        clear = True
        for ahead in np.arange(0.0, _CLEAR_M, 1.5).tolist():
            for aside in (-1.5, 0.0, 1.5):
                x = place[0] + ahead * forward[0] - aside * forward[1]
                y = place[1] + ahead * forward[1] + aside * forward[0]
                clear = clear and label_at(raster, x, y) in _ROAD
                clear = clear and abs(surface_height(ground, x, y, level_m) - level_m) < 0.5
        if clear:
            found.append(number)
    return tuple(found)


def pictures(scenes: list[SceneSpec]) -> Iterator[Picture]:
    """Render scenes one after the other; a town is loaded once."""
    for spec in sorted(scenes, key=lambda scene: TOWNS.index(scene.town)):
        shown = _picture(spec)
        if shown is not None:
            yield shown


def _picture(spec: SceneSpec) -> Picture | None:
    for spot in spec.spots:
        try:
            return _picture_at(spec, spot)
        except SpawnError:  # scenery that reaches over the road
            continue
    return None


def _picture_at(spec: SceneSpec, spot: int) -> Picture | None:
    simulation = _simulation(spec.town)
    _ids(spec.town).value = spec.first_id
    world = simulation.world
    (x, y, z), (_, yaw_deg, _) = world.spawn_points[spot]
    z = surface_height(world.town.ground, x, y, z)
    ego = find(_EGO).body.half_extents_m
    body = find(spec.blueprint).body
    turn, own = math.radians(yaw_deg), math.radians(spec.yaw_deg)
    reach_m = abs(math.cos(own)) * body.half_extents_m[0]
    reach_m += abs(math.sin(own)) * body.half_extents_m[1]
    ahead = ego[0] + 0.05 + spec.distance_m + reach_m
    at_x = x + ahead * math.cos(turn) - spec.lateral_m * math.sin(turn)
    at_y = y + ahead * math.sin(turn) + spec.lateral_m * math.cos(turn)
    at_z = surface_height(world.town.ground, at_x, at_y, z)
    at_z += body.half_extents_m[2] if spec.blueprint.startswith("walker.") else 0.0
    heading_deg = yaw_deg + spec.yaw_deg
    shown = _spawn(simulation, spec.blueprint, (at_x, at_y, at_z), heading_deg, spec.colour)
    spawned = [shown]
    eye = (x + (ego[0] + 0.05) * math.cos(turn), y + (ego[0] + 0.05) * math.sin(turn), z + _EYE_M)
    try:
        spawned.append(_spawn(simulation, _EGO, (x, y, z), yaw_deg, ""))
        _prepare(world, spec, spawned, turn + own)
        return _shoot(simulation, spec, shown, eye, yaw_deg)
    finally:
        for actor in spawned:
            simulation.destroy(actor.id)


def _prepare(world: World, spec: SceneSpec, spawned: list[Actor], heading_rad: float) -> None:
    if spec.weather != "day":
        for actor in spawned:
            if actor.kind is Kind.VEHICLE:
                world.set_light_flags(actor, _LAMPS)
    if spec.blueprint.startswith("walker."):
        _walk(world.columns.table[spawned[0].row], heading_rad, spec)


def _shoot(
    simulation: Simulation,
    spec: SceneSpec,
    shown: Actor,
    eye: tuple[float, float, float],
    yaw_deg: float,
) -> Picture | None:
    dialect = DIALECTS["0.9.16"]
    camera = simulation.spawn(dialect, "sensor.camera.rgb", {}, (eye, (0.0, yaw_deg, 0.0)))
    try:
        scene = _view(spec.town).scene(WEATHER[spec.weather])
        images = []
        for sensor in _cameras():
            (reading,) = sensor.measure(scene, camera.row, 1, 0.0, 0.05)
            assert isinstance(reading, ImageReading)
            images.append(reading.pixels)
    finally:
        simulation.destroy(camera.id)
    colours, instances = images
    number = instances[..., 1].astype(int) + 256 * instances[..., 0].astype(int)
    rows, columns = np.nonzero(number == shown.id & 0xFFFF)
    if len(rows) == 0:
        return None
    box = [columns.min(), rows.min(), columns.max() + 1, rows.max() + 1]
    return Picture(spec=spec, bgr=colours[..., :3], box=np.array(box, np.float64))


@cache
def _view(town: str) -> WorldView:
    return WorldView(_simulation(town).world)


def _spawn(
    simulation: Simulation,
    blueprint: str,
    place: tuple[float, float, float],
    yaw_deg: float,
    colour: str,
) -> Actor:
    values = {"color": colour} if colour else {}
    pose = (place, (0.0, yaw_deg, 0.0))
    return simulation.spawn(DIALECTS["0.9.16"], blueprint, values, pose)


def _walk(row: Any, heading_rad: float, spec: SceneSpec) -> None:
    speed = 1.3 if spec.moves else 0.0
    row["gait_phase"] = spec.gait_phase if spec.moves else 0.0
    row["vx"], row["vy"] = speed * math.cos(heading_rad), speed * math.sin(heading_rad)
