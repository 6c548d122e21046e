"""``jaywalk record``: record what another program does on a CARLA or Jaywalk server."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Annotated

import typer

from jaywalk.cli.output import AsValue, finish, print_json, say
from jaywalk.core.address import parse_address
from jaywalk.core.errors import UsageError


def record(
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Folder of the run; episodes are added to it.")
    ],
    server: Annotated[str, typer.Option(help="HOST:PORT of the server.")] = "127.0.0.1:2000",
    routes: Annotated[
        Path | None, typer.Option(help="Route file (XML) that the other program drives.")
    ] = None,
    hero: Annotated[
        str, typer.Option(help="Role name of the ego; '' records whole worlds instead.")
    ] = "hero",
    until_idle: Annotated[
        float | None, typer.Option(min=0.1, help="Stop when no tick came for so many seconds.")
    ] = None,
    agent: Annotated[str, typer.Option(help="Name of the driver, for the record.")] = "",
    collision_sensor: Annotated[
        bool, typer.Option(help="Hang a collision sensor on the ego: scenery hits and impulses.")
    ] = False,
    sample_ticks: Annotated[
        int, typer.Option(min=1, help="Ask for weather and vehicle lamps every so many ticks.")
    ] = 10,
    as_json: AsValue = False,
) -> None:
    """Watch a server and record every episode, without ticking or changing anything.

    An episode begins when the ego appears and ends when it goes, or when another world is loaded.
    Ctrl-C stops and saves the episode in flight.

    Example: jaywalk record --server 127.0.0.1:2000 --out runs/watched --until-idle 30
    """
    from jaywalk.record.recorder import PassiveRecorder, RecorderOptions, StopRequest

    host, port = parse_address(server)
    if out.is_file():
        raise UsageError(f"--out is the file {out}, expected a folder.")
    options = RecorderOptions(
        out=out,
        host=host,
        port=port,
        routes=routes,
        hero=hero,
        until_idle_s=until_idle,
        sample_ticks=sample_ticks,
        collision_sensor=collision_sensor,
        agent=agent,
    )
    stop = StopRequest()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop.make)
    # The driving program comes first; what piles up here is taken before we stop.
    os.nice(10)
    recorder = PassiveRecorder(options, say)
    written = recorder.run(stop)
    partial = recorder.incomplete
    if as_json:
        paths = [str(path) for path in written]
        print_json({"out": str(out), "episodes": paths, "incomplete": partial})
    else:
        lack = f", {len(partial)} of them incomplete: {', '.join(partial)}" if partial else ""
        finish(
            [f"{len(written)} episodes in {out}{lack}"],
            f"python -c 'import jaywalk.record as r; print(r.find_records(\"{out}\"))'",
        )
    # The wheel's threads sometimes hang or abort when the interpreter ends; all is written by now.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)
