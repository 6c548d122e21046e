"""Server, drivers and drawing put together; survives a hanging Traffic Manager."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from jaywalk.core.errors import PrerequisiteError
from jaywalk.demo.film import draw_film
from jaywalk.demo.still import draw_still
from jaywalk.demo.traces import Traces, driven_m
from jaywalk.server.process import ServerProcess, free_port
from jaywalk.town.town import load_town

Progress = Callable[[str, float], None]  # what is being done, and how much of it (0..1)

_ATTEMPTS: Final = 2
_DRIVE_TIMEOUT_S: Final = 120.0
_STARTING: Final = "starting a server (the first time compiles kernels, one to three minutes)"


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoPlan:
    """What to show."""

    town: str = "Harbour"
    seconds: float = 20.0
    cars: int = 30
    people: int = 30
    seed: int = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoResult:
    """What came out."""

    film: Path
    picture: Path
    cars: int
    people: int
    driven_km: float


def run_demo(folder: Path, plan: DemoPlan, progress: Progress) -> DemoResult:
    """Drive, then draw.

    Raises:
        PrerequisiteError: The folder cannot be written, or driving failed twice.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise PrerequisiteError(
            f"Folder '{folder}' cannot be made ({problem.strerror}). Choose another with --out."
        ) from problem
    if not os.access(folder, os.W_OK):
        raise PrerequisiteError(f"Folder '{folder}' is not writable. Choose another with --out.")
    with tempfile.TemporaryDirectory(prefix="jaywalk-demo-") as scratch:
        traces = _drive(plan, Path(scratch) / "traces.npz", progress)
    town = load_town(plan.town)
    progress("drawing the picture", 0.0)
    picture, film = folder / "traces.png", folder / "demo.mp4"
    draw_still(town, traces, picture)
    progress("drawing the picture", 1.0)
    draw_film(town, traces, film, lambda done: progress("drawing the film", done))
    return DemoResult(
        film=film,
        picture=picture,
        cars=traces.cars.shape[1],
        people=traces.people.shape[1],
        driven_km=float(driven_m(traces).sum()) / 1000.0,
    )


def _drive(plan: DemoPlan, file: Path, progress: Progress) -> Traces:
    trouble = ""
    for _ in range(_ATTEMPTS):
        progress(_STARTING, 0.0)
        # A new server for every attempt: the last one may hold what a killed client left behind.
        with ServerProcess(town=plan.town, seed=plan.seed) as server:
            progress(_STARTING, 1.0)
            trouble = _drive_once(plan, server, file, progress)
        if not trouble:
            return Traces.load(file)
    raise PrerequisiteError(
        f"Driving failed {_ATTEMPTS} times: {trouble} Run 'jaywalk doctor', then try again."
    )


def _drive_once(plan: DemoPlan, server: ServerProcess, file: Path, progress: Progress) -> str:
    """Run the client process under a watchdog; returns what went wrong, if anything."""
    numbers = (server.port, free_port(), plan.seconds, plan.cars, plan.people, plan.seed)
    command = [sys.executable, "-m", "jaywalk.demo.drive", *map(str, numbers), str(file)]
    with tempfile.TemporaryFile("w+") as errors:
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True) as client:
            watchdog = threading.Timer(_DRIVE_TIMEOUT_S, client.kill)
            watchdog.start()
            try:
                finished = _follow(client, plan, progress)
            finally:
                late = not watchdog.is_alive()
                watchdog.cancel()
                client.kill()
        if finished:
            return ""
        if late:
            return f"the Traffic Manager did not finish in {_DRIVE_TIMEOUT_S:.0f} s."
        errors.seek(0)
        return f"the client said: {errors.read().strip()[-300:]}"


def _follow(client: subprocess.Popen[str], plan: DemoPlan, progress: Progress) -> bool:
    what = f"driving {plan.cars} cars and {plan.people} people for {plan.seconds:g} s"
    progress(what, 0.0)
    for line in client.stdout or ():
        word, _, second = line.strip().partition(" ")
        if word == "second":
            progress(what, float(second) / plan.seconds)
        if word == "done":
            progress(what, 1.0)
            return True
    return False
