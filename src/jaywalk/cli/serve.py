"""``jaywalk serve``: start the CARLA-protocol server."""

from __future__ import annotations

import gc
import ipaddress
import shlex
import signal
import sys
from pathlib import Path
from typing import Annotated

import typer

from jaywalk.cli.output import finish, say
from jaywalk.core.address import LAST_PORT
from jaywalk.core.errors import JaywalkError, PrerequisiteError, UsageError
from jaywalk.core.process import exit_with_parent

_SPEED_LIMITS = ("auto", "road", "carla")
_SLOWEST, _FASTEST = 0.1, 1000.0


def serve(
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="RPC port; streams use the next two.")] = 2000,
    town: Annotated[str, typer.Option(help="Town to start in; see 'jaywalk town list'.")] = "",
    xodr: Annotated[Path | None, typer.Option(help="OpenDRIVE file to start in.")] = None,
    seed: Annotated[int, typer.Option(help="Run seed of sensor noise.")] = 0,
    carla_version: Annotated[
        str, typer.Option(help="Dialect of clients that cannot be recognised: 0.9.16 or 0.9.15.")
    ] = "0.9.16",
    speed_limits: Annotated[
        str, typer.Option(help="'road', 'carla' (30 km/h) or 'auto' (road where signs exist).")
    ] = "auto",
    wet_grip: Annotated[
        bool,
        typer.Option("--wet-grip", help="Wet roads are slippery (CARLA's never are)."),
    ] = False,
    max_speed_factor: Annotated[
        float | None,
        typer.Option(
            help="Synchronous mode: at most this many simulated seconds per second.",
            show_default="as fast as it can",
        ),
    ] = None,
    as_carla: Annotated[
        Path | None,
        typer.Option(
            help="Write DIR/CarlaUE4.sh, which starts this server with these options for programs "
            "that start CARLA themselves; start nothing now."
        ),
    ] = None,
    verbose: Annotated[bool, typer.Option(help="Log every client and tracebacks.")] = False,
    parent: Annotated[int, typer.Option(help="End with this process.", hidden=True)] = 0,
) -> None:
    """Serve a town to CARLA clients.

    When it is ready it prints one line, 'jaywalk: serving TOWN on HOST:PORT ...', and runs until
    interrupted.

    Example: jaywalk serve --town Harbour --port 2000
    """
    if parent:
        exit_with_parent(parent)
    if town and xodr:
        raise UsageError("Give either --town or --xodr, not both.")
    if speed_limits not in _SPEED_LIMITS:
        raise UsageError(
            f"--speed-limits is '{speed_limits}', expected {', '.join(_SPEED_LIMITS)}."
        )
    if not 0 <= port <= LAST_PORT:
        raise UsageError(
            f"--port is {port}, expected 0 to {LAST_PORT} (the streams use the next two)."
        )
    if max_speed_factor is not None and not _SLOWEST <= max_speed_factor <= _FASTEST:
        raise UsageError(
            f"--max-speed-factor is {max_speed_factor:g}, expected {_SLOWEST:g} to {_FASTEST:g}."
        )
    if as_carla is not None:
        options = ["--host", host, "--seed", str(seed), "--carla-version", carla_version]
        options += ["--speed-limits", speed_limits]
        options += ["--wet-grip"] * wet_grip + ["--verbose"] * verbose
        if max_speed_factor is not None:
            options += ["--max-speed-factor", f"{max_speed_factor:g}"]
        _write_launcher(as_carla, town, xodr, options)
        return
    from jaywalk.server.start import start_log, start_server

    start_log(verbose)
    if not _is_loopback(host):
        say(
            f"WARNING: --host {host} lets other machines connect, and whoever connects controls "
            "the world: there is no password and no encryption. Use it only in a network you "
            "trust; see docs/reference/server.md#security."
        )
    try:
        server = start_server(
            town=str(xodr) if xodr else town,
            host=host,
            port=port,
            seed=seed,
            carla_version=carla_version,
            speed_limits=speed_limits,
            wet_grip=wet_grip,
            max_speed_factor=max_speed_factor,
        )
    except JaywalkError as problem:
        # Whatever keeps a server from starting is something missing: exit code 3.
        raise PrerequisiteError(str(problem)) from problem
    signal.signal(signal.SIGINT, server.stop)
    signal.signal(signal.SIGTERM, server.stop)
    # What lives now lives as long as the server: keep the collector from walking over it.
    gc.freeze()
    town_name = server.simulation.world.town.name
    sys.stdout.write(
        f"jaywalk: serving {town_name} on {server.host}:{server.port} (CARLA {carla_version})\n"
    )
    sys.stdout.flush()
    server.run()


def _write_launcher(folder: Path, town: str, xodr: Path | None, options: list[str]) -> None:
    """For programs that start CARLA themselves."""
    from jaywalk.server.start import write_launcher

    place = ["--xodr", str(xodr.resolve())] if xodr else ["--town", town] if town else []
    path = write_launcher(folder.resolve(), place, options)
    finish([f"{path} starts this server"], f"export CARLA_ROOT={shlex.quote(str(path.parent))}")


def _is_loopback(host: str) -> bool:
    """Whether only programs of this machine can connect to an address."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"
