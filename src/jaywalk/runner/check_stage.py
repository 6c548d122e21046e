"""The stage of ``jaywalk check``: a bend, a few people beside it, and an ego that stands askew."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from typing import Any, Final

import carla
import numpy as np

from jaywalk.core.errors import DataError
from jaywalk.runner.cast import spawn_ego
from jaywalk.runner.world import World
from jaywalk.town.routes import DenseRoute

TOWN: Final = "Harbour"
_KEY_M: Final = 20.0  # between key points of the route
_KEYS: Final = 7
_STRAIGHT_M: Final = 30.0
_BEND_DEG: Final = (40.0, 140.0)  # total turn wanted of the route
_SETTLE_TICKS: Final = 12
_ASKEW_DEG: Final = -8.0  # to the left, so that the way is to the right
_PEOPLE_AHEAD_M: Final = (14, 24, 36, 50)
_PEOPLE_ASIDE_M: Final = (5.0, 6.5, 8.0)
_WALK_MPS: Final = 1.2


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckStage:
    """What a check drives on."""

    world: Any
    map: Any
    ego: Any
    route: DenseRoute
    people: tuple[Any, ...]


def set_check_stage(server: World, town: str) -> CheckStage:
    """Load the town, choose a route, put up the ego and the people.

    Raises:
        DataError: The town has no road to check on.
    """
    world = server.fresh(town)
    town_map = world.get_map()
    key = hashlib.sha256(town_map.to_opendrive().encode()).hexdigest()
    route = server.planner(key, town_map).plan(_key_points(town_map, town))
    for light in world.get_actors().filter("traffic.traffic_light"):
        light.set_state(carla.TrafficLightState.Green)
        light.freeze(True)
    ego = spawn_ego(world, route, town)
    people = _spawn_people(world, route)
    for _ in range(_SETTLE_TICKS):
        ego.apply_control(carla.VehicleControl(hand_brake=True))
        world.tick()
    pose = ego.get_transform()
    pose.rotation.yaw += _ASKEW_DEG
    ego.set_transform(pose)
    world.tick()
    return CheckStage(world=world, map=town_map, ego=ego, route=route, people=people)


def _key_points(town_map: Any, town: str) -> list[tuple[float, float, float]]:
    """The first spawn point from which the road goes straight, then turns."""
    best: list[Any] = []
    for pose in town_map.get_spawn_points():
        poses = [pose, *_ahead(town_map, pose.location)]
        if len(poses) < _KEYS:
            continue
        best = best or poses
        yaws = np.unwrap([math.radians(one.rotation.yaw) for one in poses])
        straight = abs(yaws[1] - yaws[0]) < math.radians(5.0)
        turned = math.degrees(abs(yaws[-1] - yaws[0]))
        if straight and _BEND_DEG[0] < turned < _BEND_DEG[1]:
            best = poses
            break
    if not best:
        raise DataError(f"{town} has no lane of {_KEYS * _KEY_M:g} m to check an agent on.")
    return [(one.location.x, one.location.y, one.location.z) for one in best]


def _ahead(town_map: Any, place: Any) -> list[Any]:
    point = town_map.get_waypoint(place)
    poses = []
    for _ in range(_KEYS - 1):
        further = point.next(_KEY_M)
        if not further:
            break
        point = further[0]
        poses.append(point.transform)
    return poses


def _spawn_people(world: Any, route: DenseRoute) -> tuple[Any, ...]:
    """Beside the road, walking along it: to be forecast, not to be in the way."""
    models = sorted(
        world.get_blueprint_library().filter("walker.pedestrian.*"), key=lambda one: one.id
    )
    people = []
    for number, ahead in enumerate(_PEOPLE_AHEAD_M):
        if ahead >= len(route):
            break
        x, y, z = (float(value) for value in route.position_m[ahead])
        yaw = math.radians(float(route.rotation_deg[ahead, 1]))
        for aside in _PEOPLE_ASIDE_M:
            place = carla.Location(x - aside * math.sin(yaw), y + aside * math.cos(yaw), z + 1.2)
            pose = carla.Transform(place, carla.Rotation(yaw=math.degrees(yaw)))
            person = world.try_spawn_actor(models[number % len(models)], pose)
            if person is not None:
                way = carla.Vector3D(math.cos(yaw), math.sin(yaw), 0.0)
                person.apply_control(carla.WalkerControl(way, _WALK_MPS * (number % 2), False))
                people.append(person)
                break
    return tuple(people)
