"""``jaywalk suite``: build suites for any town."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from jaywalk.cli.output import finish, print_json
from jaywalk.core.errors import UsageError

app = typer.Typer(help="Suites: build one for any town.", no_args_is_help=True)


@app.callback()
def _suites() -> None:
    """Suites: build one for any town."""


@app.command()
def build(
    kind: Annotated[str, typer.Argument(help="What kind; 'jaywalk list suite-kinds' names them.")],
    town: Annotated[str, typer.Option(help="Name of the town.")] = "",
    xodr: Annotated[Path | None, typer.Option(help="Or an OpenDRIVE file.")] = None,
    routes: Annotated[int, typer.Option(help="How many routes.", min=1)] = 10,
    seed: Annotated[int, typer.Option(help="Another seed, other routes.", min=0)] = 1,
    length: Annotated[
        float | None, typer.Option(help="Length of a route in metres [default: the kind's].")
    ] = None,
    vehicles: Annotated[int | None, typer.Option(help="Other vehicles about.", min=0)] = None,
    people: Annotated[int | None, typer.Option(help="People about.", min=0)] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="File [default: KIND-TOWN-sSEED.xml].")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON summary.")] = False,
) -> None:
    """Write a route file; the same command writes the same file.

    Vehicles and people stand in the file and count when it is driven, unless 'jaywalk run' is told
    otherwise.

    Example: jaywalk suite build random --town Harbour --routes 10 --seed 1
    """
    from jaywalk.scenarios.route_xml import write_routes
    from jaywalk.scenarios.suites.building import BuildRequest, build_suite
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
