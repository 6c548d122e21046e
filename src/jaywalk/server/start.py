"""Starting a server: the town, its derived parts, compiled kernels, then the ports."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Final

from jaywalk.core.errors import DataError
from jaywalk.server.wire.dialect import CARLA_0_9_16, dialect_of
from jaywalk.server.wire.episode import Episode
from jaywalk.server.wire.server import CarlaServer
from jaywalk.server.world.vehicle_dynamics import step_vehicles
from jaywalk.town.town import load_town

DEFAULT_TOWN: Final = "Harbour"
_SLOW_S: Final = 3.0


def kernels_are_compiled() -> bool:
    """Whether numba has cached the vehicle kernel, hence most likely all of them."""
    cache = step_vehicles.stats.cache_path
    return cache is not None and any(Path(cache).glob("vehicle_dynamics.step_vehicles*.nbi"))


def start_server(
    *,
    town: str = DEFAULT_TOWN,
    host: str = "127.0.0.1",
    port: int = 2000,
    seed: int = 0,
    carla_version: str = "0.9.16",
    speed_limits: str = "auto",
) -> CarlaServer:
    """Build everything and bind the ports; the caller runs the returned server.

    Args:
        town: Name of a town or path of an OpenDRIVE file.
        host: Address to listen on.
        port: RPC port, 0 for any free one.
        seed: Run seed.
        carla_version: Dialect of clients that cannot be recognised.
        speed_limits: ``auto``, ``road`` or ``carla``.
    """
    dialect = dialect_of(carla_version)
    episode = Episode(load_town(town or DEFAULT_TOWN), seed=seed, speed_limits=speed_limits)
    server = CarlaServer(episode, host, port, dialect)
    try:
        warm_up(episode)
    except DataError:
        server.close()
        raise
    return server


def warm_up(episode: Episode) -> None:
    """Run every hot kernel once, so that the first client does not wait for a compiler."""
    if not kernels_are_compiled():
        sys.stderr.write(
            "jaywalk: compiling kernels for this machine (once, about a minute) ...\n"
        )
    started = time.perf_counter()
    world = episode.world
    pose = ((0.0, 0.0, -400.0), (0.0, 0.0, 0.0))
    parts = []
    for type_id in ("vehicle.lincoln.mkz_2020", "walker.pedestrian.0001"):
        parts.append(episode.spawn(CARLA_0_9_16, type_id, {}, pose))
        pose = ((20.0, 0.0, -400.0), (0.0, 0.0, 0.0))
    for actor in parts:
        world.set_physics(actor, False)
    world.step(0.05, 1)
    world.bones(parts[1])
    world.snapshot_records()
    for actor in parts:
        episode.destroy(actor.id)
    if time.perf_counter() - started > _SLOW_S:
        sys.stderr.write(
            f"jaywalk: kernels ready after {time.perf_counter() - started:.0f} s; "
            "the next start takes them from the cache\n"
        )


