"""``jaywalk bench sensors``: what cameras and LiDARs cost, on one core and on two."""

from __future__ import annotations

import os
import queue
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any, Final

import carla

from jaywalk.server.process import ServerProcess
from jaywalk_bench.calibration import calibration_ms
from jaywalk_bench.scenes import place_vehicles, place_walkers

_STEP_S: Final = 0.05
_TIMEOUT_S: Final = 60.0
_TICKS: Final = 60
_QUICK_TICKS: Final = 12
_IDLE_TIMES: Final = 20  # times as many ticks without sensors, which take little time
_ACTORS: Final = 30  # vehicles, and as many people

Sensors = tuple[tuple[str, dict[str, str]], ...]


def _camera(kind: str, width: int, height: int) -> tuple[str, dict[str, str]]:
    return f"sensor.camera.{kind}", {"image_size_x": str(width), "image_size_y": str(height)}


_LIDAR: Final = (
    "sensor.lidar.ray_cast",
    {
        "channels": "64",
        "points_per_second": "1310720",
        "rotation_frequency": "20",
        "range": "100",
        "upper_fov": "10",
        "lower_fov": "-30",
    },
)
_RGB: Final = _camera("rgb", 1024, 512)
RIGS: Final[dict[str, Sensors]] = {
    "no sensor": (),
    "64-channel LiDAR": (_LIDAR,),
    "RGB 1024x512": (_RGB,),
    "RGB 1024x512 + LiDAR": (_RGB, _LIDAR),
    "RGB + depth + semantics": (
        _RGB,
        _camera("depth", 1024, 512),
        _camera("semantic_segmentation", 1024, 512),
    ),
    "six RGB 900x256": (_camera("rgb", 900, 256),) * 6,
    "six RGB 1600x900": (_camera("rgb", 1600, 900),) * 6,
    "depth 1024x512": (_camera("depth", 1024, 512),),
    "semantics 1024x512": (_camera("semantic_segmentation", 1024, 512),),
    "instances 1024x512": (_camera("instance_segmentation", 1024, 512),),
    "normals 1024x512": (_camera("normals", 1024, 512),),
    "flow 1024x512": (_camera("optical_flow", 1024, 512),),
    "events 1024x512": (_camera("dvs", 1024, 512),),
    "radar": (("sensor.other.radar", {}),),
}
#: Least ticks per second on two cores.
AIMS: Final[dict[str, float]] = {
    "RGB 1024x512": 60.0,
    "RGB 1024x512 + LiDAR": 50.0,
    "six RGB 900x256": 25.0,
    "six RGB 1600x900": 8.0,
}
AIM_RSS_MB: Final = 1200.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RigCost:
    """What one set of sensors cost."""

    name: str
    cores: int
    ticks_per_s: float
    server_cpu_ms_per_tick: float
    sensor_cpu_ms_per_tick: float  # more than without sensors


@dataclass(frozen=True, slots=True, kw_only=True)
class SensorBenchmark:
    """Everything measured in one go."""

    calibration_ms: float
    calibration_after_ms: float
    load_1_min: float
    vehicles: int
    walkers: int
    rigs: tuple[RigCost, ...]
    rss_mb: float

    def reached(self) -> dict[str, float]:
        """Return ticks per second on most cores by the names of the aims."""
        most = max(rig.cores for rig in self.rigs)
        return {r.name: r.ticks_per_s for r in self.rigs if r.name in AIMS and r.cores == most}

    def as_dict(self) -> dict[str, Any]:
        """For JSON, with the aims next to what was measured."""
        return {
            **asdict(self),
            "aims": {
                name: {"at_least": AIMS[name], "measured": value, "met": value >= AIMS[name]}
                for name, value in self.reached().items()
            },
            "memory_aim": {
                "at_most": AIM_RSS_MB,
                "measured": self.rss_mb,
                "met": self.rss_mb <= AIM_RSS_MB,
            },
        }


def bench_sensors(
    *,
    town: str = "Harbour",
    quick: bool = False,
    only: tuple[str, ...] = (),
    say: Callable[[str], None] = lambda _: None,
) -> SensorBenchmark:
    """Measure every set of sensors on one core and on two, with 30 vehicles and 30 people.

    Args:
        town: Where.
        quick: Fewer ticks: a look, not a measurement.
        only: Names of sets; empty: all of them. "no sensor" is always measured.
        say: Takes a line on what comes next.
    """
    names = [name for name in RIGS if not only or name in only or name == "no sensor"]
    ticks = _QUICK_TICKS if quick else _TICKS
    calibrated = calibration_ms()
    allowed = sorted(os.sched_getaffinity(0))
    rigs: list[RigCost] = []
    resident = 0.0
    for count in sorted({1, min(2, len(allowed))}):
        with _cores(set(allowed[:count])), ServerProcess(town=town) as server:
            client = carla.Client("127.0.0.1", server.port)
            client.set_timeout(_TIMEOUT_S)
            world = _settle(client)
            idle_ms: float | None = None
            for name in names:
                say(f"{name}, {count} cores")
                many = ticks if RIGS[name] else _IDLE_TIMES * ticks
                rate, cost_ms = _measure(world, RIGS[name], many, server.cpu_s)
                idle_ms = cost_ms if idle_ms is None else idle_ms
                rigs.append(
                    RigCost(
                        name=name,
                        cores=count,
                        ticks_per_s=rate,
                        server_cpu_ms_per_tick=cost_ms,
                        sensor_cpu_ms_per_tick=cost_ms - idle_ms,
                    )
                )
            resident = max(resident, server.resident_mb())
    return SensorBenchmark(
        calibration_ms=calibrated,
        calibration_after_ms=calibration_ms(),
        load_1_min=os.getloadavg()[0],
        vehicles=_ACTORS,
        walkers=_ACTORS,
        rigs=tuple(rigs),
        rss_mb=resident,
    )


@contextmanager
def _cores(chosen: set[int]) -> Iterator[None]:
    """Let this process and those that it starts use some cores alone."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, chosen)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def _settle(client: Any) -> Any:
    world = client.get_world()
    world.apply_settings(carla.WorldSettings(synchronous_mode=True, fixed_delta_seconds=_STEP_S))
    cars = place_vehicles(client, world, _ACTORS)
    place_walkers(client, world, _ACTORS)
    world.tick()
    # The others turn in circles around their places; the one with the sensors stands.
    client.apply_batch_sync(
        [carla.command.ApplyVehicleControl(cars[0], carla.VehicleControl(brake=1.0))]
    )
    return world


def _measure(
    world: Any, rig: Sensors, ticks: int, server_cpu_s: Callable[[], float]
) -> tuple[float, float]:
    """Return ticks per second and milliseconds of server CPU per tick with some sensors."""
    car = min(world.get_actors().filter("vehicle.*"), key=lambda actor: int(actor.id))
    library = world.get_blueprint_library()
    sensors, arrived = [], queue.SimpleQueue[Any]()
    for number, (kind, attributes) in enumerate(rig):
        blueprint = library.find(kind)
        for name, value in attributes.items():
            blueprint.set_attribute(name, value)
        turn = carla.Rotation(yaw=60.0 * number if len(rig) == 6 else 0.0)
        place = carla.Transform(carla.Location(x=0.3, z=2.0), turn)
        sensors.append(world.spawn_actor(blueprint, place, attach_to=car))
        sensors[-1].listen(arrived.put)
    waited = [sensor for sensor, (kind, _) in zip(sensors, rig, strict=True) if "dvs" not in kind]

    def tick() -> None:
        frame = world.tick()
        missing = len(waited)
        while missing:
            missing -= arrived.get(timeout=_TIMEOUT_S).frame == frame

    for _ in range(4):
        tick()
    cpu_s, wall_s = server_cpu_s(), time.perf_counter()
    for _ in range(ticks):
        tick()
    wall_s, cpu_s = time.perf_counter() - wall_s, server_cpu_s() - cpu_s
    for sensor in sensors:
        sensor.stop()
        sensor.destroy()
    world.tick()
    return ticks / wall_s, 1000.0 * cpu_s / ticks
