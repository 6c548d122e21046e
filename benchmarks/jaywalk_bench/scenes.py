"""The scenes of the server benchmark, set up and ticked through the real wheel."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Final

import carla

from jaywalk.core.errors import PrerequisiteError

_TIMEOUT_S: Final = 30.0
_STEP_S: Final = 0.05
_SEED: Final = 7
_WALKERS_SPEED_MPS: Final = 1.4
_PLACING_ATTEMPTS: Final = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """What to put into the world and how it is driven."""

    name: str
    vehicles: int
    walkers: int
    drive: str = "controls"  # or "posed" (every bone, every tick), "traffic-manager"


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """What one scene cost."""

    name: str
    vehicles: int
    walkers: int
    ticks: int
    ticks_per_s: float
    client_cpu_ms_per_tick: float
    server_cpu_ms_per_tick: float

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


SCENES: Final = (
    Scene(name="1 vehicle", vehicles=1, walkers=0),
    Scene(name="30+30", vehicles=30, walkers=30),
    Scene(name="30+30 posed", vehicles=30, walkers=30, drive="posed"),
    Scene(name="30+30 traffic manager", vehicles=30, walkers=30, drive="traffic-manager"),
    Scene(name="200+200", vehicles=200, walkers=200),
)


def measure_scene(
    scene: Scene, port: int, server_cpu_s: Callable[[], float], ticks: int, tm_port: int = 0
) -> Measurement:
    """Set a scene up on a running server, tick it, and clear it away.

    Args:
        scene: What to measure.
        port: RPC port of the server.
        server_cpu_s: Reads the CPU seconds the server has used.
        ticks: How many ticks to time, after a tenth as many to settle.
        tm_port: Port for the Traffic Manager of the scene that uses one.
    """
    client = carla.Client("127.0.0.1", port)
    client.set_timeout(_TIMEOUT_S)
    world = client.get_world()
    world.apply_settings(carla.WorldSettings(synchronous_mode=True, fixed_delta_seconds=_STEP_S))
    cars = place_vehicles(client, world, scene.vehicles)
    people = place_walkers(client, world, scene.walkers)
    world.tick()
    manager = hand_to_traffic_manager(client, cars, tm_port) if _uses_manager(scene) else None
    before_tick = _poser(world, people) if scene.drive == "posed" else None
    _run(world, ticks // 10 + 1, before_tick)
    server_s, client_s, wall_s = server_cpu_s(), time.process_time(), time.perf_counter()
    _run(world, ticks, before_tick)
    wall_s = time.perf_counter() - wall_s
    client_s, server_s = time.process_time() - client_s, server_cpu_s() - server_s
    if manager is not None:
        manager.set_synchronous_mode(False)
    world.apply_settings(carla.WorldSettings(synchronous_mode=False))
    client.apply_batch_sync([carla.command.DestroyActor(actor) for actor in cars + people])
    return Measurement(
        name=scene.name,
        vehicles=len(cars),
        walkers=len(people),
        ticks=ticks,
        ticks_per_s=ticks / wall_s,
        client_cpu_ms_per_tick=1000.0 * client_s / ticks,
        server_cpu_ms_per_tick=1000.0 * server_s / ticks,
    )


def _uses_manager(scene: Scene) -> bool:
    return scene.drive == "traffic-manager"


def _run(world: Any, ticks: int, before_tick: Callable[[], None] | None) -> None:
    for _ in range(ticks):
        if before_tick is not None:
            before_tick()
        world.tick()


def _spawned(client: Any, commands: list[Any]) -> list[int]:
    return [r.actor_id for r in client.apply_batch_sync(commands) if not r.error]


def place_vehicles(client: Any, world: Any, count: int) -> list[int]:
    """Cars on the map's spawn points, each turning in its own small circle."""
    blueprint = world.get_blueprint_library().find("vehicle.lincoln.mkz_2020")
    places = world.get_map().get_spawn_points()
    random.Random(_SEED).shuffle(places)
    control = carla.VehicleControl(throttle=0.3, steer=0.8)
    cars: list[int] = []
    while places and len(cars) < count:
        batch, places = places[: count - len(cars)], places[count - len(cars) :]
        cars += _spawned(client, [carla.command.SpawnActor(blueprint, place) for place in batch])
    if len(cars) < count:
        raise PrerequisiteError(f"The town has room for {len(cars)} cars, expected {count}.")
    client.apply_batch_sync([carla.command.ApplyVehicleControl(car, control) for car in cars])
    return cars


def place_walkers(client: Any, world: Any, count: int) -> list[int]:
    """People on the sidewalks, each walking in a direction of its own."""
    choose = random.Random(_SEED)
    world.set_pedestrians_seed(_SEED)
    library = sorted(world.get_blueprint_library().filter("walker.pedestrian.*"), key=str)
    people: list[int] = []
    for _ in range(_PLACING_ATTEMPTS):
        missing = count - len(people)
        if missing == 0:
            break
        places = [world.get_random_location_from_navigation() for _ in range(missing)]
        people += _spawned(
            client,
            [
                carla.command.SpawnActor(
                    choose.choice(library), carla.Transform(place + carla.Location(z=1.0))
                )
                for place in places
                if place is not None
            ],
        )
    if len(people) < count:
        raise PrerequisiteError(f"The town has room for {len(people)} people, expected {count}.")
    directions = [carla.Vector3D(choose.uniform(-1, 1), choose.uniform(-1, 1), 0.0) for _ in people]
    client.apply_batch_sync(
        [
            carla.command.ApplyWalkerControl(
                person, carla.WalkerControl(way.make_unit_vector(), _WALKERS_SPEED_MPS, False)
            )
            for person, way in zip(people, directions, strict=True)
        ]
    )
    return people


def _poser(world: Any, people: list[int]) -> Callable[[], None]:
    """Sends every bone of every person, as a motion player does each tick."""
    actors = list(world.get_actors(people))
    poses = []
    for actor in actors:
        bones = [(bone.name, bone.relative) for bone in actor.get_bones().bone_transforms]
        actor.blend_pose(1.0)
        poses.append(carla.WalkerBoneControlIn(bones))

    def pose_everybody() -> None:
        for actor, pose in zip(actors, poses, strict=True):
            actor.set_bones(pose)

    return pose_everybody


def hand_to_traffic_manager(client: Any, cars: list[int], tm_port: int) -> Any:
    """Let a synchronous, seeded Traffic Manager drive the cars."""
    manager = client.get_trafficmanager(tm_port)
    manager.set_synchronous_mode(True)
    manager.set_random_device_seed(_SEED)
    client.apply_batch_sync([carla.command.SetAutopilot(car, True, tm_port) for car in cars])
    return manager
