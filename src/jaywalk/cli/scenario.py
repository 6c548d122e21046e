"""``jaywalk scenario``: write, look at, check, pair and edit scenarios; to and from route files."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Annotated, Any

import typer

from jaywalk.cli.output import AsJson, AsValue, finish, print_json, print_table
from jaywalk.core.errors import DataError, UsageError
from jaywalk.core.files import write_whole
from jaywalk.core.toml_text import parse_setting

app = typer.Typer(
    help="Scenarios as one readable file: write, look at, check, pair, edit.", no_args_is_help=True
)

File = Annotated[Path, typer.Argument(help="Scenario file (.toml or .yaml).")]
Motions = Annotated[
    str,
    typer.Option(help="Motion library of the clips: its folder.", show_default="by their paths"),
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite what is there.")]


@app.command()
def new(
    name: Annotated[str, typer.Argument(help="Name; the file is NAME.toml, or --out.")] = "",
    kind: Annotated[
        str, typer.Option("--type", help="What happens: a type (--list) or class of shift.")
    ] = "CustomObstacle",
    town: Annotated[
        str, typer.Option(help="Where.", show_default="the first of our towns that has a place")
    ] = "",
    start: Annotated[
        str, typer.Option("--from", help="First place X,Y.", show_default="looked for")
    ] = "",
    end: Annotated[str, typer.Option("--to", help="Last place X,Y.")] = "",
    at: Annotated[float, typer.Option(help="Metres along the route where it begins.")] = 20.0,
    seed: Annotated[int, typer.Option(min=0, help="Another seed, another place.")] = 1,
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="KEY=VALUE, as for edit.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="File, .toml or .yaml.", show_default="NAME.toml"),
    ] = None,
    show_types: Annotated[
        bool, typer.Option("--list", help="List all types with their parameters.")
    ] = False,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Write a scenario file to begin with: a place in a town, every parameter with its default.

    Example: jaywalk scenario new barrels --type CustomObstacle --town Harbour

    Example: jaywalk scenario new barrels --out barrels.yaml

    Example: jaywalk scenario new --list
    """
    from jaywalk.scenarios.toolbox.editing import edited_text
    from jaywalk.scenarios.toolbox.templates import TemplateRequest, parse_point, scenario_template
    from jaywalk.scenarios.toolbox.text import check_suffix, parse_text

    if show_types:
        _list_types(as_json)
        return
    name = name or (out.stem if out is not None else "")
    if not name.strip(".") or not all(letter.isalnum() or letter in "-_." for letter in name):
        raise UsageError(f"NAME is '{name}', expected letters, digits, '-', '_' and '.'.")
    if not 0.0 <= at < math.inf:
        raise UsageError(f"--at is {at}, expected metres along the route, from 0.")
    if bool(start) != bool(end):
        raise UsageError("Give both --from and --to, or neither.")
    points = (parse_point(start, "--from"), parse_point(end, "--to")) if start else ()
    path = check_suffix(out or Path(f"{name}.toml"), "--out")
    _check_free(path, force, "--out")
    given = frozenset(key for one in settings or [] for key in parse_setting(one)[0])
    wanted = TemplateRequest(
        name=name, type=kind, town=town, points=points, at_m=at, seed=seed, given=given
    )
    text = edited_text(scenario_template(wanted, str(path)), settings or [], str(path))
    _check_clips(text, path, settings or [])
    write_whole(path, text)
    if as_json:
        found = parse_text(text, str(path))
        kind = found["scenario"][0]["type"]
        print_json({"file": str(path), "type": kind, "town": found["town"]})
        return
    finish([f"wrote {path}"], f"jaywalk scenario show {path} -o {path.with_suffix('.png')}")


def _list_types(as_json: bool) -> None:
    from jaywalk.scenarios.catalogue import SCENARIOS
    from jaywalk.scenarios.parameter_fields import NOWHERE
    from jaywalk.scenarios.toolbox.routes import defaults_of

    rows = [
        (
            entry.name,
            entry.summary,
            {
                key: None if value == NOWHERE else value
                for key, value in defaults_of(entry.name).items()
            },
        )
        for entry in SCENARIOS
    ]
    if as_json:
        print_json(
            [{"type": name, "summary": summary, "params": params} for name, summary, params in rows]
        )
        return
    print_table(
        ["type", "what happens", "parameters"],
        [
            [name, summary, ", ".join(f"{key}={_short(value)}" for key, value in params.items())]
            for name, summary, params in rows
        ],
    )


def _short(value: Any) -> str:
    if value is None:
        return "(x, y, z: to be given)"
    if isinstance(value, tuple):
        return "[" + ", ".join(map(_short, value)) + "]"
    return f"{value:g}" if isinstance(value, float) else str(value)


@app.command()
def show(
    file: File,
    output: Annotated[
        Path | None,
        typer.Option("--out", "--output", "-o", help="Picture.", show_default="FILE.png"),
    ] = None,
    server: Annotated[
        str, typer.Option(help="HOST:PORT of a running server.", show_default="one of our own")
    ] = "",
    plan_only: Annotated[
        bool, typer.Option("--plan", help="Route and triggers alone, without a server.")
    ] = False,
    motions: Motions = "",
    as_json: AsValue = False,
) -> None:
    """Set the scenario up and draw it from above: route, trigger, everybody and everything.

    Example: jaywalk scenario show barrels.toml -o barrels.png
    """
    from jaywalk.cli.scenario_view import draw_file, picture_path

    path = picture_path(output or file.with_suffix(".png"), "--output")
    bodies = draw_file(file, path, server=server, plan_only=plan_only, motions=motions)
    if as_json:
        print_json({"picture": str(path), "bodies": bodies})
        return
    finish([f"{path}"], f"jaywalk scenario check {file}")


@app.command()
def check(
    file: File,
    agent: Annotated[str, typer.Option(help="Who has to solve it.")] = "expert",
    seeds: Annotated[str, typer.Option(help="Seeds, as in 1,2,3 or 1-3.")] = "1",
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="Run folder.", show_default="in runs, by name and content"
        ),
    ] = None,
    png: Annotated[
        Path | None,
        typer.Option(help="Picture of where it failed.", show_default="in the run folder"),
    ] = None,
    server: Annotated[str, typer.Option(help="HOST:PORT of a running server.")] = "",
    workers: Annotated[int, typer.Option(min=0, help="Episodes at a time; 0: one per core.")] = 1,
    motions: Motions = "",
    as_json: AsValue = False,
) -> None:
    """Drive the scenario with the expert and with 'blind': is it solvable, and is it dangerous?

    Solvable: with every seed the end is reached without any infraction but minimum speed and
    outside lanes (the success of Fail2Drive, and completion). Exit code 1 if it is not; a picture
    shows where it failed.

    Danger: what happens to 'blind', which follows its route and ignores everything else: the
    smallest time to collision with the scenario's actors and the impact speed. If a careless driver
    is not affected, the scenario tests nothing.

    Example: jaywalk scenario check barrels.toml --seeds 1-3

    Example: jaywalk scenario check barrels.toml --json
    """
    from jaywalk.cli.scenario_view import check_file

    how = {"agent": agent, "seeds": seeds, "server": server, "motions": motions}
    report = check_file(file, **how, out=out, png=png, workers=workers)
    if as_json:
        print_json(report)
    else:
        lines = [
            f"{one['episode']}: {'solved' if one['solved'] else one['why']}"
            + (f", picture {one['picture']}" if one["picture"] else "")
            for one in report["episodes"]
        ]
        verdict = "solvable" if report["solvable"] else "NOT solvable"
        following = _after_check(file) if report["solvable"] else report["replay"]
        danger = report["danger"]
        if danger is not None:
            lines.append(f"{file}: {danger['words']}")
            if report["solvable"] and not danger["affected"]:
                verdict += " but harmless"
                following = f"jaywalk scenario show {file}"
        finish([*lines, f"{file}: {verdict} by {agent}"], following)
    if not report["solvable"]:
        raise typer.Exit(1)


def _after_check(file: Path) -> str:
    """A shift is paired; anything else is driven."""
    from jaywalk.scenarios.toolbox.form import read_text
    from jaywalk.scenarios.toolbox.partners import partner_document
    from jaywalk.scenarios.toolbox.text import parse_text

    try:
        partner_document(parse_text(read_text(file), str(file)), str(file))
    except DataError:  # no shift, or a partner already
        return f"jaywalk run {file} --agent cruise"
    base = file.with_stem(f"{file.stem}-base")
    return (
        f"jaywalk run {file} --agent cruise" if base.exists() else f"jaywalk scenario pair {file}"
    )


@app.command()
def pair(
    file: File,
    output: Annotated[
        Path | None,
        typer.Option(
            "--out", "--output", "-o", help="Partner.", show_default="beside it, FILE-base"
        ),
    ] = None,
    force: Force = False,
    as_json: AsValue = False,
) -> None:
    """Write the in-distribution partner of a shifted scenario, and mark both as a pair.

    The partner shares route, weather, traffic and seeds. 'partner' in a scenario of many things
    says what it is compared with: construction, accident, parked or none.

    Example: jaywalk scenario pair barrels.toml
    """
    from jaywalk.scenarios.toolbox.form import read_text
    from jaywalk.scenarios.toolbox.partners import partner_document
    from jaywalk.scenarios.toolbox.text import check_suffix, edit_field, format_text, parse_text

    text = read_text(file)
    base, shifted, words = partner_document(parse_text(text, str(file)), str(file))
    path = check_suffix(output or file.with_stem(f"{file.stem}-base"), "--output")
    if path.resolve() == file.resolve():
        raise UsageError(f"--output is {path}, the scenario itself. Give another file.")
    _check_free(path, force, "--output")
    head = [f"The in-distribution partner of {file.name}: what a driver knows in its place."]
    partner = format_text(base, path, head)
    for key in ("pair", "half", "shift"):
        text = edit_field(text, str(file), [key], shifted[key])
    # Both must be readable before either is written.
    _check_text(partner, path)
    _check_text(text, file)
    write_whole(path, partner)
    write_whole(file, text)
    if as_json:
        print_json(
            {
                "base": str(path),
                "generalization": str(file),
                "pair": shifted["pair"],
                "shift": shifted["shift"],
                "changes": words,
            }
        )
        return
    finish(
        [*words, f"wrote {path}; both halves of pair '{shifted['pair']}', {shifted['shift']}"],
        f"jaywalk scenario check {path}",
    )


@app.command()
def edit(
    file: File,
    settings: Annotated[
        list[str],
        typer.Option("--set", help="KEY=VALUE; of the first scenario: params.x=3, at=40."),
    ],
    output: Annotated[
        Path | None, typer.Option("--out", "--output", "-o", help="Write there instead.")
    ] = None,
    force: Force = False,
    as_json: AsValue = False,
) -> None:
    """Change fields; nothing is written unless the result is a valid scenario.

    Keys: town, weather, route.points, at, type, params.NAME, objects.2.y (the second thing),
    scenario.2.params.NAME (the second scenario).

    Example: jaywalk scenario edit barrels.toml --set params.distance=40 --set objects.1.yaw=90
    """
    from jaywalk.scenarios.toolbox.editing import edited_text
    from jaywalk.scenarios.toolbox.form import read_text
    from jaywalk.scenarios.toolbox.text import check_suffix, format_text, is_yaml, parse_text

    text = edited_text(read_text(file), settings, str(file))
    _check_clips(text, file, settings)
    path = check_suffix(output or file, "--output")
    _check_free(path, force or path.resolve() == file.resolve(), "--output")
    if is_yaml(path) != is_yaml(file):
        text = format_text(parse_text(text, str(file)), path)
    write_whole(path, text)
    if as_json:
        print_json({"file": str(path), "set": settings})
        return
    finish([f"wrote {path}"], f"jaywalk scenario check {path}")


@app.command("export")
def export_file(
    files: Annotated[list[Path], typer.Argument(help="Scenario files (.toml or .yaml).")],
    output: Annotated[
        Path | None,
        typer.Option("--out", "--output", "-o", help="Route file.", show_default="FILE.xml"),
    ] = None,
    force: Force = False,
    as_json: AsValue = False,
) -> None:
    """Write Leaderboard route XML, which CARLA's evaluators, Fail2Drive's and 'jaywalk run' read.

    Example: jaywalk scenario export barrels.toml -o barrels.xml
    """
    from jaywalk.scenarios.formats.public_form import as_public
    from jaywalk.scenarios.formats.route_xml import RouteFile, format_routes
    from jaywalk.scenarios.toolbox.form import read_authored
    from jaywalk.scenarios.toolbox.routes import checked_route

    path = output or files[0].with_suffix(".xml")
    if path.suffix.lower() != ".xml":
        raise UsageError(f"--output is '{path}', expected a route file, a name with .xml.")
    routes = tuple(as_public(checked_route(read_authored(file))) for file in files)
    ids = [route.id for route in routes]
    doubled = sorted({one for one in ids if ids.count(one) > 1})
    if doubled:
        raise UsageError(f"Two files have the id '{doubled[0]}'. Set another: edit --set id=...")
    _check_free(path, force, "--output")
    write_whole(path, format_routes(RouteFile(routes=routes)))
    if as_json:
        print_json({"file": str(path), "routes": len(routes)})
        return
    finish([f"wrote {path} ({len(routes)} routes)"], f"jaywalk run {path} --agent expert")


@app.command("import")
def import_file(
    file: Annotated[Path, typer.Argument(help="Route file (.xml) of the Leaderboard family.")],
    output: Annotated[
        Path | None,
        typer.Option(
            "--out", "--output", "-o", help="File, or folder for several.", show_default="beside it"
        ),
    ] = None,
    syntax: Annotated[str, typer.Option("--as", help="toml or yaml, for folders.")] = "toml",
    force: Force = False,
    as_json: AsValue = False,
) -> None:
    """Write each route of a route file as a scenario file; exported again it means the same.

    Example: jaywalk scenario import Generalization_Wall_1095.xml
    """
    from jaywalk.scenarios.toolbox.editing import imported_texts

    if syntax not in ("toml", "yaml"):
        raise UsageError(f"--as is '{syntax}', expected toml or yaml.")
    texts = imported_texts(file, output, syntax)
    for path in texts:
        _check_free(path, force, "--output")
    for path, text in texts.items():
        write_whole(path, text)
    paths = list(texts)
    if as_json:
        print_json({"files": [str(path) for path in paths]})
        return
    more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
    finish([f"wrote {paths[0]}{more}"], f"jaywalk scenario show {paths[0]}")


def _check_text(text: str, path: Path) -> None:
    """What we are about to write must be readable."""
    from jaywalk.scenarios.toolbox.form import authored_of
    from jaywalk.scenarios.toolbox.routes import checked_route
    from jaywalk.scenarios.toolbox.text import parse_text

    checked_route(authored_of(parse_text(text, str(path)), str(path)))


def _check_clips(text: str, path: Path, settings: list[str]) -> None:
    """Raise unless clips exist; only those that a setting names need their library here."""
    if "clip" in text:  # most files name none, and the check loads the runner
        from jaywalk.runner.motions import check_named_clips
        from jaywalk.scenarios.toolbox.form import authored_of
        from jaywalk.scenarios.toolbox.routes import route_of
        from jaywalk.scenarios.toolbox.text import parse_text

        set_here = any(parse_setting(one)[0][-1] == "clip" for one in settings)
        route = route_of(authored_of(parse_text(text, str(path)), str(path)))
        try:
            check_named_clips(route, must_exist=set_here)
        except DataError as problem:  # the name is wrong, not the library
            raise UsageError(str(problem)) from problem


def _check_free(path: Path, force: bool, option: str) -> None:
    """Nothing is overwritten unless that was asked for."""
    if not force and os.path.lexists(path):
        raise UsageError(f"{path} exists. Choose another file with {option}, or give --force.")
