"""Start a server: town, compiled kernels, ports and log; also write a ``CarlaUE4.sh`` launcher.

The launcher is for programs that start CARLA themselves. Log lines are short and contain no
control characters. The number of lines of one kind is limited, so that clients cannot fill the
disk.
"""

from __future__ import annotations

import logging
import os
import shlex
import sys
import time
from pathlib import Path
from typing import IO, Any, Final

import jaywalk
from jaywalk.core.errors import DataError, UsageError
from jaywalk.core.kernels import cache_folder, is_cached
from jaywalk.core.process import run_once_across_processes
from jaywalk.core.text import MESSAGE_LIMIT, printable, shortened
from jaywalk.motion.walk_cycle import animate_walkers
from jaywalk.server.encoding import _framing as framing
from jaywalk.server.encoding._snapshot import SnapshotPacker
from jaywalk.server.encoding.codec import CARLA_0_9_16, dialect_of
from jaywalk.server.protocol._server import CarlaServer
from jaywalk.server.sensors._scan import cast_rays, scan_directions
from jaywalk.server.sensors._shade_rows import shade_edges, shade_rows
from jaywalk.server.sensors.catalogue import sensor_library
from jaywalk.server.session._publisher import NoPublisher, Publisher
from jaywalk.server.session._simulation import Simulation
from jaywalk.server.world._tables import Actor
from jaywalk.server.world.vehicle_dynamics import step_vehicles
from jaywalk.town.town import load_town

LAUNCHER: Final = "CarlaUE4.sh"
_MARK: Final = "# Written by 'jaywalk serve --as-carla'."
# Flags of Unreal's that have no meaning here. It does not care about upper and lower case.
_NO_EFFECT: Final = (
    "-renderoffscreen",
    "-nosound",
    "-quality-level=*",
    "-prefernvidia",
    "-opengl*",
    "-vulkan",
    "-benchmark",
    "-fps=*",
    "-graphicsadapter=*",
    "-carla-server",
    "-carla-settings=*",
    "-carla-streaming-port=*",
    "-carla-secondary-port=*",
    "-windowed",
    "-fullscreen",
    "-resx=*",
    "-resy=*",
    "-novsync",
    "-carla-no-hud",
    "-no-rendering",
    "-unattended",
    "-stdout",
    "-log",
    "-fullstdoutlogoutput",
    "-allowcommandletrendering",
    "carlaue4",
)
_SCRIPT: Final = """\
#!/bin/sh
{mark}
# Starts Jaywalk where a program expects the CARLA simulator, with Unreal's flags.
port=2000
town=
for flag in "$@"; do
  case "$(printf %s "$flag" | tr '[:upper:]' '[:lower:]')" in
    -carla-rpc-port=*|-carla-port=*|-carla-world-port=*|-world-port=*) port="${{flag#*=}}" ;;
    {ignored}) ;;
    /game/*) town="${{flag##*/}}" ;;
    *) echo "CarlaUE4.sh (jaywalk): ignored $flag" >&2 ;;
  esac
done
# The caller's Python settings are for its own Python.
unset PYTHONHOME
{environment}
if [ -n "$town" ]; then set -- --town "$town"; else set -- {town}; fi
exec {python} -m jaywalk serve --port "$port" {options} "$@"
"""


def write_launcher(folder: Path, town: list[str], options: list[str]) -> Path:
    """Write the script and return its path; another's file is left alone.

    Args:
        folder: Made if needed; to be used as ``CARLA_ROOT``.
        town: Options that name the town to start in, unless the caller names a map.
        options: Further options of ``jaywalk serve``.

    Raises:
        UsageError: There is a CARLA already, or the folder cannot be written.
    """
    path = folder / LAUNCHER
    try:
        if path.exists() and _MARK not in path.read_text(encoding="utf-8", errors="replace"):
            raise UsageError(
                f"{path} exists and was not written by Jaywalk. Give --as-carla another folder."
            )
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(_script(town, options), encoding="utf-8")
        path.chmod(0o755)
    except OSError as problem:
        raise UsageError(
            f"--as-carla: cannot write {path} ({problem.strerror}). Give another folder."
        ) from problem
    return path


def _script(town: list[str], options: list[str]) -> str:
    settings = [f"export PYTHONPATH={shlex.quote(str(Path(jaywalk.__file__).parents[1]))}"]
    towns = os.environ.get("JAYWALK_TOWN_PATH", "")
    if towns:
        folders = [os.path.abspath(folder) for folder in towns.split(os.pathsep)]
        kept = shlex.quote(os.pathsep.join(folders))
        settings.append(f'[ -n "$JAYWALK_TOWN_PATH" ] || export JAYWALK_TOWN_PATH={kept}')
    return _SCRIPT.format(
        mark=_MARK,
        ignored="|".join(_NO_EFFECT),
        environment="\n".join(settings),
        python=shlex.quote(sys.executable),
        town=shlex.join(town),
        options=shlex.join(options),
    )


_FORMAT: Final = "jaywalk: %(levelname)s: %(message)s"
_PER_WINDOW: Final = 20  # lines of one kind ...
_WINDOW_S: Final = 10.0  # ... in so many seconds


class _Line(logging.Formatter):
    """One line a message; a traceback, asked for with --verbose, keeps its lines."""

    def format(self, record: logging.LogRecord) -> str:
        message = record.getMessage()
        record.msg, record.args = printable(shortened(message), layout=False), None
        return shortened(printable(super().format(record)), 20 * MESSAGE_LIMIT)


class _FewOfAKind(logging.Filter):
    """Log filter that passes some lines of a kind per window and reports how many it dropped."""

    def __init__(self) -> None:
        super().__init__()
        self._seen: dict[tuple[str, str], tuple[float, int]] = {}  # kind: window's begin, count

    def filter(self, record: logging.LogRecord) -> bool:
        kind = (record.name, str(record.msg))  # the arguments of the message do not count
        now_s = time.monotonic()
        begin_s, count = self._seen.get(kind, (now_s, 0))
        if now_s - begin_s >= _WINDOW_S:
            if count > _PER_WINDOW:
                left_out = count - _PER_WINDOW
                record.msg = f"{record.getMessage()} (and {left_out} like it before)"
                record.args = None
            begin_s, count = now_s, 0
        self._seen[kind] = begin_s, count + 1
        return count < _PER_WINDOW


def start_log(verbose: bool, stream: IO[str] | None = None) -> None:
    """Send the log to stderr: warnings, or with ``verbose`` everything and in full."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(_Line(_FORMAT))
    if not verbose:
        handler.addFilter(_FewOfAKind())
    logging.basicConfig(
        level=logging.DEBUG if verbose else logging.WARNING, handlers=[handler], force=True
    )


DEFAULT_TOWN: Final = "Harbour"
# If these are cached, so is the rest: they are the last ones that a cold start compiles.
_SLOWEST: Final[tuple[Any, ...]] = (
    step_vehicles,
    animate_walkers,
    scan_directions,
    cast_rays,
    shade_rows,
    shade_edges,
)


def kernels_are_compiled() -> bool:
    """Return whether numba's cache holds the slowest kernels of the present sources."""
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

    def start_simulation(publisher: Publisher) -> Simulation:
        return Simulation(
            loaded, publisher, seed=seed, speed_limits=speed_limits, wet_grip=wet_grip
        )

    server = CarlaServer(host, port, dialect, start_simulation)
    server.max_speed_factor = max_speed_factor
    try:
        # Not the simulation that is served: ids, time and lights must not depend on the cache.
        warm_up(Simulation(loaded, NoPublisher()))
    except DataError:
        server.close()
        raise
    return server


def warm_up(simulation: Simulation) -> None:
    """Run the hot kernels once, so that no client waits for a compiler.

    With a cold cache this compiles every kernel, including those of the sensors. With a warm
    cache the sensors' kernels are loaded on first use, because loading them takes time.
    """
    started = time.perf_counter()
    framing.warm_up()
    actors = [
        # Far below the town, where nothing is touched.
        simulation.spawn(CARLA_0_9_16, type_id, {}, ((20.0 * k, 0.0, -400.0), (0.0, 0.0, 0.0)))
        for k, type_id in enumerate(("vehicle.lincoln.mkz_2020", "walker.pedestrian.0001"))
    ]
    for actor in actors:
        simulation.world.set_physics(actor, False)
    if kernels_are_compiled():
        _move(simulation, actors)
    else:
        _compile(simulation, actors)
        seconds = time.perf_counter() - started
        sys.stderr.write(
            f"jaywalk: kernels ready after {seconds:.0f} s; from now on they come from the cache\n"
        )
    for actor in actors:
        simulation.destroy(actor.id)


def _compile(simulation: Simulation, actors: list[Actor]) -> None:
    """Run every kernel; servers that start together share the work."""
    sys.stderr.write(
        "jaywalk: compiling kernels for this machine (once, one to three minutes) ...\n"
    )
    sys.stderr.flush()

    def world() -> None:
        _move(simulation, actors)
        _collide(simulation, actors)
        simulation.navigation_file()

    def sensors() -> None:
        _use_every_sensor(simulation, actors[0].id)

    run_once_across_processes(
        cache_folder(step_vehicles) / "turns", {"world": world, "sensors": sensors}
    )


def _move(simulation: Simulation, actors: list[Actor]) -> None:
    """Run the kernels of every tick."""
    simulation.world.step(0.05, 1)
    simulation.world.bones(actors[1])
    SnapshotPacker().pack(simulation.world)


def _collide(simulation: Simulation, actors: list[Actor]) -> None:
    """Push a car into a person and another car, which runs the contact kernels."""
    world = simulation.world
    place = world.pose(actors[0])
    other = simulation.spawn(CARLA_0_9_16, "vehicle.audi.tt", {}, ((40.0, 0.0, -400.0), place[1]))
    for actor in (actors[1], other):
        world.teleport(actor, ((place[0][0] + 1.0, place[0][1], place[0][2] + 0.5), place[1]))
        world.set_physics(actor, True)
    world.step(0.05, 1)
    simulation.destroy(other.id)


def _use_every_sensor(simulation: Simulation, parent_id: int) -> None:
    for sensor in sensor_library():
        pose = ((0.0, 0.0, 1.5), (0.0, 0.0, 0.0))
        actor = simulation.spawn(CARLA_0_9_16, sensor.name, {}, pose, parent_id)
        simulation.sensors.warm_up(actor)
        simulation.destroy(actor.id)
