"""``jaywalk suite``: build suites for any town, export any for public evaluators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jaywalk.cli.output import AsValue, Result, Table, finish, print_json
from jaywalk.core.errors import UsageError

if TYPE_CHECKING:
    from jaywalk.scenarios.formats.public_form import PublicRoute

app = typer.Typer(
    help="Suites: build one for any town, export any for public evaluators.",
    no_args_is_help=True,
)


@app.callback()
def _suites() -> None:
    """Suites: build one for any town, export any for public evaluators."""


@app.command()
def show(
    suite: Annotated[str, typer.Argument(help="Suite, file, folder or glob, as for 'run'.")],
    variant: Annotated[str, typer.Option(help="Variant of the suite.")] = "",
    routes: Annotated[str, typer.Option(help="Only route ids that match this glob.")] = "",
    subset: Annotated[str, typer.Option(help="Only these route ids, as in 1,5-9.")] = "",
    limit: Annotated[int, typer.Option(min=0, help="Only the first routes; 0: all.")] = 0,
) -> Result:
    """List the routes of a suite: town, length, what happens, traffic and people.

    Example: jaywalk suite show smoke

    Example: jaywalk suite show fail2drive --routes '*Wall*' --format csv
    """
    from jaywalk.runner.selection import find_suite, first_of, subset_of

    chosen = first_of(subset_of(find_suite(suite, variant, routes), subset), limit)
    rows: list[dict[str, Any]] = [
        {
            "id": one.id,
            "town": one.route.town,
            "scenarios": [spec.type for spec in one.route.scenarios],
            "vehicles": one.vehicles,
            "people": one.people + one.posed,
            "posed": one.posed,
            "pair": one.pair,
            "wet_grip": one.wet_grip,
        }
        for one in chosen.routes
    ]
    columns = ["id", "town", "scenarios", "vehicles", "people", "pair"]
    cells = [
        [", ".join(row[key]) if key == "scenarios" else str(row[key] or "-") for key in columns]
        for row in rows
    ]
    return Result(
        {"suite": chosen.name, "variant": chosen.variant, "routes": rows},
        [Table(columns, cells, "routes"), f"{chosen.name}: {len(rows)} routes"],
        next_command=f"jaywalk run {suite} --agent cruise --subset {rows[0]['id']}",
    )


@app.command()
def build(
    kind: Annotated[str, typer.Argument(help="What kind; 'jaywalk list suite-kinds' names them.")],
    town: Annotated[str, typer.Option(help="Name of the town.")] = "",
    xodr: Annotated[Path | None, typer.Option(help="Or an OpenDRIVE file.")] = None,
    routes: Annotated[int, typer.Option(help="How many routes.", min=1)] = 10,
    seed: Annotated[int, typer.Option(help="Another seed, other routes.", min=0)] = 1,
    length: Annotated[
        float | None, typer.Option(help="Length of a route in metres.", show_default="the kind's")
    ] = None,
    vehicles: Annotated[int | None, typer.Option(help="Other vehicles about.", min=0)] = None,
    people: Annotated[int | None, typer.Option(help="People about.", min=0)] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="File.", show_default="KIND-TOWN-sSEED.xml")
    ] = None,
    as_json: AsValue = False,
) -> None:
    """Write a route file; the same command writes the same file.

    Vehicles and people stand in the file and count when it is driven, unless 'jaywalk run' is told
    otherwise.

    Example: jaywalk suite build random --town Harbour --routes 10 --seed 1
    """
    from jaywalk.scenarios.formats.route_xml import write_routes
    from jaywalk.suites.building import BuildRequest, build_suite
    from jaywalk.town.town import load_town

    if bool(town) == (xodr is not None):
        raise UsageError("Give either --town NAME or --xodr FILE.")
    loaded = load_town(town or str(xodr))
    request = BuildRequest(
        town=loaded, routes=routes, seed=seed, length_m=length, vehicles=vehicles, people=people
    )
    file = build_suite(kind, request)
    path = out or Path(f"{kind}-{loaded.name}-s{seed}.xml")
    try:
        write_routes(path, file)
    except OSError as problem:
        raise UsageError(f"--out is '{path}', which cannot be written: {problem.strerror}.") from (
            problem
        )
    if as_json:
        print_json(
            {"file": str(path), "kind": kind, "town": loaded.name, "routes": len(file.routes)}
        )
        return
    where = f" --xodr {xodr}" if xodr else ""
    finish(
        [f"{path}: {len(file.routes)} routes in {loaded.name}"],
        f"jaywalk run {path} --agent expert{where}",
    )


@app.command()
def export(
    suite: Annotated[str, typer.Argument(help="Suite, file, folder or glob, as for 'run'.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder; one file for each route.")],
    variant: Annotated[str, typer.Option(help="Variant of the suite.")] = "",
    routes: Annotated[str, typer.Option(help="Only route ids that match this glob.")] = "",
    subset: Annotated[str, typer.Option(help="Only these route ids, as in 1,5-9.")] = "",
    force: Annotated[bool, typer.Option("--force", help="Overwrite what is there.")] = False,
    as_json: AsValue = False,
) -> None:
    """Write routes for the evaluators of the Leaderboard 2.x, Bench2Drive and Fail2Drive.

    One file for each route, named by its id. Triggers from which their classes would not find the
    same place are moved along the route. Types that only jaywalk has are told: they skip them.

    Example: jaywalk suite export fail2drive --subset 75,1075 -o routes
    """
    from jaywalk.runner.selection import find_suite, subset_of
    from jaywalk.scenarios.formats.public_form import public_routes
    from jaywalk.scenarios.formats.route_xml import RouteFile, write_routes

    made = public_routes(subset_of(find_suite(suite, variant, routes), subset).routes)
    files = [out / f"{one.id}.xml" for one in made]
    there = [path for path in files if path.exists()]
    if there and not force:
        raise UsageError(f"{there[0]} exists. Choose another folder with --out, or give --force.")
    try:
        out.mkdir(parents=True, exist_ok=True)
        for path, one in zip(files, made, strict=True):
            write_routes(path, RouteFile(routes=(one.route,)))
    except OSError as problem:
        raise UsageError(f"--out is '{out}', which cannot be written: {problem.strerror}.") from (
            problem
        )
    if as_json:
        print_json(_export_facts(made, files))
        return
    towns = sorted({one.route.town for one in made})
    finish(_export_lines(made, out, towns), f"jaywalk serve --town {towns[0]}")


def _export_facts(made: Sequence[PublicRoute], files: Sequence[Path]) -> dict[str, object]:
    return {
        "files": [str(path) for path in files],
        "towns": sorted({one.route.town for one in made}),
        "own_types": sorted({name for one in made for name in one.own_types}),
        "moved": [{"route": one.id, **asdict(move)} for one in made for move in one.moved],
        "unchecked": [one.id for one in made if not one.checked],
    }


def _export_lines(made: Sequence[PublicRoute], out: Path, towns: Sequence[str]) -> list[str]:
    moves = [move for one in made for move in one.moved]
    lost = sum(move.by_m is None for move in moves)
    ours = sorted({name for one in made for name in one.own_types})
    unchecked = sorted({one.route.town for one in made if not one.checked})
    lines = [f"{out}: {len(made)} routes in {', '.join(towns)}"]
    if len(moves) > lost:
        lines.append(f"{len(moves) - lost} triggers moved to where the public classes fit")
    if lost:
        lines.append(f"{lost} scenarios fit nowhere on their route and stay; --json names them")
    if ours:
        lines.append(f"only jaywalk knows: {', '.join(ours)}")
    if unchecked:
        lines.append(f"triggers not checked, the town is not here: {', '.join(unchecked)}")
    return lines
