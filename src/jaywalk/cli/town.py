"""``jaywalk town``: list towns, draw them, write their limits, check OpenDRIVE files."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jaywalk.cli.output import AsValue, print_json, print_line
from jaywalk.core.errors import JaywalkError
from jaywalk.core.text import printable

if TYPE_CHECKING:
    from jaywalk.town.check import TownCheck

app = typer.Typer(
    help="Towns: list them, draw them, check your own OpenDRIVE files.", no_args_is_help=True
)


@app.command("list")
def list_towns(
    as_json: AsValue = False,
) -> None:
    """List the towns that can be loaded by name.

    Example: jaywalk town list
    """
    from jaywalk.town.town import available_towns

    names = available_towns()
    if as_json:
        print_json(names)
    else:
        for name in names:
            print_line(name)


@app.command()
def show(
    name: Annotated[str, typer.Argument(help="Name of a town, or a .xodr or .xodr.gz file.")],
    png: Annotated[Path, typer.Option("--png", help="Picture to write.")],
    size: Annotated[int, typer.Option(help="Longer side of the map in pixels.", min=400)] = 2000,
    spawn_points: Annotated[
        bool, typer.Option("--spawn-points", help="Draw where vehicles start.")
    ] = False,
) -> None:
    """Draw a map of a town.

    Example: jaywalk town show Harbour --png harbour.png
    """
    try:
        from jaywalk.town.picture import draw_town
        from jaywalk.town.town import load_town

        town = load_town(name)
        draw_town(town, png, size_px=size, spawn_points=spawn_points)
    except JaywalkError as error:
        _fail(str(error), error.exit_code)
    except OSError as error:
        _fail(f"Cannot write '{png}': {error.strerror}. Give a file in a folder that exists.", 3)
    print_line(f"{town.name}: map written to {png}")


@app.command()
def limits(
    names: Annotated[list[str], typer.Argument(help="Towns, or .xodr or .xodr.gz files.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder; TOWN_speed_limits.npy each.")],
) -> None:
    """Write speed limits as the table that PDM-Lite and Fail2Drive's traffic look them up in.

    Give the folder speed_limits of their ScenarioRunner.

    Example: jaywalk town limits Harbour Orchard Ridge -o scenario_runner/speed_limits
    """
    from jaywalk.town.check import write_limit_table
    from jaywalk.town.town import load_town

    for name in names:
        try:
            path = write_limit_table(load_town(name), out)
        except JaywalkError as error:
            _fail(str(error), error.exit_code)
        except OSError as error:
            _fail(f"Cannot write into '{out}': {error.strerror}. Give another folder.", 3)
        print_line(f"wrote {path}")


@app.command()
def check(
    file: Annotated[Path, typer.Argument(help="OpenDRIVE file, .xodr or .xodr.gz.")],
    as_json: AsValue = False,
) -> None:
    """Check an OpenDRIVE file: exit 0 if it is a usable town, 1 if it has errors, 3 if unreadable.

    Example: jaywalk town check my_town.xodr --json
    """
    from jaywalk.town.check import check_opendrive

    try:
        report = check_opendrive(file)
    except JaywalkError as error:
        if as_json:
            print_json({"file": str(file), "ok": False, "errors": [str(error)]})
        _fail(str(error), error.exit_code)
    if as_json:
        print_json(report.as_dict())
    else:
        _print(report)
    raise typer.Exit(0 if report.ok else 1)


def _print(report: TownCheck) -> None:
    state = "ok" if report.ok else f"{len(report.errors)} errors"
    print_line(
        f"{report.file}: {state}; {report.roads} roads ({report.road_km:.1f} km), "
        f"{report.junctions} junctions, {report.crosswalks} crosswalks, "
        f"{report.signals['lights']} lights, {report.signals['stop']} stop signs, "
        f"{report.signals['yield']} yield signs, {report.spawn_points} spawn points, "
        f"{report.sidewalk_km:.1f} km of sidewalk"
    )
    for text in report.errors:
        print_line(f"error: {text}")
    for text in report.warnings:
        print_line(f"warning: {text}")


def _fail(message: str, code: int) -> None:
    sys.stderr.write(f"jaywalk: {printable(message)}\n")
    raise typer.Exit(code)
