"""``jaywalk demo``: half a minute of Harbour, as a film and a picture."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress, TaskID

from jaywalk.cli.output import finish, say


def demo(
    out: Annotated[Path, typer.Option(help="Folder to write into.")] = Path("demo"),
    town: Annotated[str, typer.Option(help="Town to show; see 'jaywalk town list'.")] = "Harbour",
    seconds: Annotated[float, typer.Option(help="Simulated seconds.", min=1.0, max=120.0)] = 20.0,
    cars: Annotated[int, typer.Option(help="Cars to drive.", min=1, max=80)] = 30,
    people: Annotated[int, typer.Option(help="People to walk.", min=1, max=80)] = 30,
) -> None:
    """Start a server, let CARLA's Traffic Manager drive among walking people, and film it.

    Example: jaywalk demo --out demo
    """
    from jaywalk.demo.job import DemoPlan, run_demo

    plan = DemoPlan(town=town, seconds=seconds, cars=cars, people=people)
    with _progress() as show:
        result = run_demo(out, plan, show)
    finish(
        [
            f"{result.cars} cars drove {result.driven_km:.1f} km among {result.people} people",
            f"film: {result.film}",
            f"picture: {result.picture}",
        ],
        f"jaywalk serve --town {town}  # and connect any CARLA 0.9.16 client to port 2000",
    )


@contextmanager
def _progress() -> Iterator[Callable[[str, float], None]]:
    """Bars on a terminal; in a pipe one line when a step begins."""
    if not sys.stderr.isatty():
        begun: set[str] = set()

        def tell(what: str, done: float) -> None:
            if what not in begun:
                begun.add(what)
                say(what)

        yield tell
        return
    tasks: dict[str, TaskID] = {}
    with Progress(console=Console(stderr=True), transient=True) as bars:

        def advance(what: str, done: float) -> None:
            if what not in tasks:
                tasks[what] = bars.add_task(what, total=1.0)
            bars.update(tasks[what], completed=min(done, 1.0))

        yield advance
