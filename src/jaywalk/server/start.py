"""Starting a server: the town, its derived parts, compiled kernels, then the ports."""

from __future__ import annotations

import sys
import time
from typing import Any, Final

from jaywalk.core.errors import DataError
from jaywalk.core.kernels import cache_folder, is_cached
from jaywalk.core.turns import in_turns
from jaywalk.motion.walk_cycle import animate_walkers
from jaywalk.server.sensors.cast import cast_rays
from jaywalk.server.sensors.catalogue import SENSORS
from jaywalk.server.sensors.scan import scan_directions
from jaywalk.server.wire import framing
from jaywalk.server.wire.dialect import CARLA_0_9_16, dialect_of
from jaywalk.server.wire.episode import Episode
from jaywalk.server.wire.server import CarlaServer
from jaywalk.server.world.actor import Actor
from jaywalk.server.world.vehicle_dynamics import step_vehicles
from jaywalk.town.town import load_town

DEFAULT_TOWN: Final = "Harbour"
# If these are cached, so is the rest: they are the last ones that a cold start compiles.
_SLOWEST: Final[tuple[Any, ...]] = (step_vehicles, animate_walkers, scan_directions, cast_rays)


def kernels_are_compiled() -> bool:
    """Whether numba's cache holds the slowest kernels of the present sources."""
    return all(is_cached(kernel) for kernel in _SLOWEST)


def start_server(
    *,
    town: str = DEFAULT_TOWN,
    host: str = "127.0.0.1",
    port: int = 2000,
    seed: int = 0,
    carla_version: str = "0.9.16",
    speed_limits: str = "auto",
    wet_grip: bool = False,
    max_speed_factor: float | None = None,
) -> CarlaServer:
    """Build everything and bind the ports; the caller runs the returned server.

    Args:
        town: Name of a town or path of an OpenDRIVE file.
        host: Address to listen on.
        port: RPC port, 0 for any free one.
        seed: Run seed.
        carla_version: Dialect of clients that cannot be recognised.
        speed_limits: ``auto``, ``road`` or ``carla``.
        wet_grip: Wet roads are slippery.
        max_speed_factor: Most simulated seconds per second in synchronous mode; None: no limit.
    """
    dialect = dialect_of(carla_version)
    loaded = load_town(town or DEFAULT_TOWN)
    episode = Episode(loaded, seed=seed, speed_limits=speed_limits, wet_grip=wet_grip)
    server = CarlaServer(episode, host, port, dialect)
    server.max_speed_factor = max_speed_factor
    try:
        # Not the episode that is served: ids, time and lights must not depend on the cache.
        warm_up(Episode(loaded))
    except DataError:
        server.close()
        raise
    return server


def warm_up(episode: Episode) -> None:
    """Run the hot kernels once, so that no client waits for a compiler.

    With a cold cache that means every kernel, those of the sensors too; with a warm one the
    sensors' kernels are left to whoever uses them, since loading them costs time.
    """
    started = time.perf_counter()
    framing.warm_up()
    actors = [
        # Far below the town, where nothing is touched.
        episode.spawn(CARLA_0_9_16, type_id, {}, ((20.0 * k, 0.0, -400.0), (0.0, 0.0, 0.0)))
        for k, type_id in enumerate(("vehicle.lincoln.mkz_2020", "walker.pedestrian.0001"))
    ]
    for actor in actors:
        episode.world.set_physics(actor, False)
    if kernels_are_compiled():
        _move(episode, actors)
    else:
        _compile(episode, actors)
        seconds = time.perf_counter() - started
        sys.stderr.write(
            f"jaywalk: kernels ready after {seconds:.0f} s; from now on they come from the cache\n"
        )
    for actor in actors:
        episode.destroy(actor.id)


def _compile(episode: Episode, actors: list[Actor]) -> None:
    """Run every kernel; servers that start together share the work."""
    sys.stderr.write(
        "jaywalk: compiling kernels for this machine (once, one to three minutes) ...\n"
    )
    sys.stderr.flush()

    def world() -> None:
        _move(episode, actors)
        _collide(episode, actors)
        episode.navigation_file()

    def sensors() -> None:
        _use_every_sensor(episode, actors[0].id)

    in_turns(cache_folder(step_vehicles) / "turns", {"world": world, "sensors": sensors})


def _move(episode: Episode, actors: list[Actor]) -> None:
    """What every tick needs."""
    episode.world.step(0.05, 1)
    episode.world.bones(actors[1])
    episode.world.snapshot_records()


def _collide(episode: Episode, actors: list[Actor]) -> None:
    """Push a car into a person and another car: contacts have kernels of their own."""
    world = episode.world
    place = world.pose(actors[0])
    other = episode.spawn(CARLA_0_9_16, "vehicle.audi.tt", {}, ((40.0, 0.0, -400.0), place[1]))
    for actor in (actors[1], other):
        world.teleport(actor, ((place[0][0] + 1.0, place[0][1], place[0][2] + 0.5), place[1]))
        world.set_physics(actor, True)
    world.step(0.05, 1)
    episode.destroy(other.id)


def _use_every_sensor(episode: Episode, parent_id: int) -> None:
    for sensor in SENSORS:
        pose = ((0.0, 0.0, 1.5), (0.0, 0.0, 0.0))
        actor = episode.spawn(CARLA_0_9_16, sensor.id, {}, pose, parent_id)
        episode.sensors.try_out(actor, episode)
        episode.destroy(actor.id)
