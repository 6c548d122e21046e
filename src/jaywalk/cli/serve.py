"""``jaywalk serve``: start the CARLA-protocol server."""

from __future__ import annotations

import gc
import ipaddress
import signal
import sys
from pathlib import Path
from typing import Annotated

import typer

from jaywalk.cli.output import say
from jaywalk.core.address import LAST_PORT
from jaywalk.core.errors import JaywalkError, PrerequisiteError, UsageError
from jaywalk.core.orphans import die_with_parent

_SPEED_LIMITS = ("auto", "road", "carla")


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
    verbose: Annotated[bool, typer.Option(help="Log every client and tracebacks.")] = False,
    parent: Annotated[int, typer.Option(help="End with this process.", hidden=True)] = 0,
) -> None:
    """Serve a town to CARLA clients.

    When it is ready it prints one line, 'jaywalk: serving TOWN on HOST:PORT ...', and runs until
    interrupted.

    Example: jaywalk serve --town Harbour --port 2000
    """
    if parent:
        die_with_parent(parent)
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
    from jaywalk.server.log import start_log
    from jaywalk.server.start import start_server

    start_log(verbose)
    if not _is_loopback(host):
        say(
            f"WARNING: --host {host} lets other machines connect, and whoever connects controls "
            "the world: there is no password and no encryption. Use it only in a network you "
            "trust; see docs/server.md#security."
        )
    try:
        server = start_server(
            town=str(xodr) if xodr else town,
            host=host,
            port=port,
            seed=seed,
            carla_version=carla_version,
            speed_limits=speed_limits,
        )
    except JaywalkError as problem:
        # Whatever keeps a server from starting is something missing: exit code 3.
        raise PrerequisiteError(str(problem)) from problem
    signal.signal(signal.SIGINT, server.stop)
    signal.signal(signal.SIGTERM, server.stop)
    # What lives now lives as long as the server: keep the collector from walking over it.
    gc.freeze()
    town_name = server.episode.world.town.name
    sys.stdout.write(
        f"jaywalk: serving {town_name} on {server.host}:{server.port} (CARLA {carla_version})\n"
    )
    sys.stdout.flush()
    server.run()


def _is_loopback(host: str) -> bool:
    """Whether only programs of this machine can connect to an address."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"
