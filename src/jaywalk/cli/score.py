"""``jaywalk score``: scores of a run or of result files under a protocol, with intervals."""

from __future__ import annotations

import math
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from jaywalk.cli.output import AsJson, finish, print_json, print_table, say
from jaywalk.cli.score_output import number, print_gap, with_interval
from jaywalk.core.errors import UsageError

_INCOMPLETE = 4


class Rounding(StrEnum):
    """When Fail2Drive's figures are rounded."""

    none = "none"
    parser = "parser"


def score(
    run: Annotated[
        Path | None, typer.Argument(metavar="[RUN]", help="Folder of a recorded run.")
    ] = None,
    results: Annotated[
        Path | None,
        typer.Option(help="Result files made elsewhere: folder, .tar.gz archive or JSON file."),
    ] = None,
    protocol: Annotated[
        str, typer.Option(help="Whose rules; 'jaywalk list protocols' names them.")
    ] = "jaywalk",
    method: Annotated[
        str | None, typer.Option(help="Which system, where the files hold several.")
    ] = None,
    routes: Annotated[
        Path | None, typer.Option(help="Route file, folder or archive that was driven.")
    ] = None,
    rounding: Annotated[
        Rounding, typer.Option(help="Fail2Drive: 'parser' rounds before the harmonic mean.")
    ] = Rounding.none,
    requires_completion: Annotated[
        bool,
        typer.Option("--success-requires-completion", help="A success must reach the end."),
    ] = False,
    by: Annotated[
        str,
        typer.Option(
            help="Hits of people by group instead: class, subcategory, clip, side, place, age, "
            "did, speed, weather or phase."
        ),
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Score a run, or result files made elsewhere. Exit code 4 if episodes are missing.

    Example: jaywalk score runs/mine --protocol leaderboard-2.1

    Example: jaywalk score runs/habit-expert --by class

    Example: jaywalk score --results results/TFv6 --protocol fail2drive --json
    """
    if (run is None) == (results is None):
        raise UsageError("Give either a RUN or --results with a folder of result files.")
    if run is not None:
        if method or routes or requires_completion or rounding is not Rounding.none:
            raise UsageError(
                "--method, --routes, --rounding and --success-requires-completion belong to "
                "--results; a RUN says these things itself."
            )
        if by:
            _score_groups(run, by, as_json=as_json)
        else:
            _score_run(run, protocol, as_json=as_json)
        return
    if by:
        raise UsageError("--by needs a recorded run, result files do not say whom they hit.")
    assert results is not None
    found = score_results(
        results,
        protocol,
        method=method,
        routes=routes,
        rounding=rounding.value,
        requires_completion=requires_completion,
    )
    if as_json:
        print_json(found)
    else:
        _print(found)
    if found["missing"]:
        raise typer.Exit(_INCOMPLETE)


def _score_groups(folder: Path, by: str, *, as_json: bool) -> None:
    from jaywalk.metrics.driving.run_score import run_notes
    from jaywalk.metrics.safety.habit_summary import habit_table

    rows = habit_table(folder, by)
    held_out, mixed = run_notes(folder)
    if as_json:
        notes = {"inspected": held_out, "mixed_code": bool(mixed), "warnings": mixed}
        print_json({"run": str(folder), "by": by, "rows": [row.as_dict() for row in rows]} | notes)
        return
    print_table(
        [by, "met", "hit", "unavoidable", "hits/km", "95 %", "P(MAIS3+)", "injured/km", "began s"],
        [
            [
                row.group,
                str(row.people),
                str(row.hits),
                str(row.unavoidable),
                f"{row.per_km:.2f}",
                f"{row.interval.low:.2f}-{row.interval.high:.2f}",
                *(
                    number(None if math.isnan(value) else value, digits)
                    for value, digits in (
                        (row.injury_risk, 3),
                        (row.injured_per_km, 3),
                        (row.began_s, 2),
                    )
                ),
            ]
            for row in rows
        ],
    )
    say(f"held out? {held_out}")
    few = [row.group for row in rows if row.few_clusters]
    if few:
        mixed.append(f"fewer than 20 routes, intervals are widened: {', '.join(few)}")
    for warning in mixed:
        say(f"warning: {warning}")
    finish(
        [f"people hit by the moving ego in {rows[-1].driven_km:.2f} km"],
        f"jaywalk score {folder}",
    )


def _score_run(folder: Path, protocol: str, *, as_json: bool) -> None:
    from jaywalk.cli.score_output import print_people, print_run
    from jaywalk.metrics.driving.aggregate import aggregate
    from jaywalk.metrics.driving.aggregate import as_json as json_of
    from jaywalk.metrics.driving.bench2drive import run_abilities
    from jaywalk.metrics.driving.run_score import score_run
    from jaywalk.metrics.driving.summary import jsonable
    from jaywalk.metrics.generalization.run_pairs import has_pairs, pair_scores
    from jaywalk.metrics.safety.habit_summary import is_habit, summarise_habit

    found = aggregate(score_run(folder, protocol))
    people = summarise_habit(found.run, folder) if is_habit(found.run) else None
    pairs = pair_scores(found.run, folder)
    abilities = jsonable(run_abilities(found.run))
    if as_json:
        parts = {
            "habit": people and people.as_dict(),
            "fail2drive": pairs,
            "bench2drive": abilities,
        }
        print_json(json_of(found) | {name: part for name, part in parts.items() if part})
    else:
        print_run(found)
        if people is not None:
            print_people(people)
        if abilities is not None:
            _print_abilities(abilities)
        if pairs is not None:
            print_gap(pairs)
        elif has_pairs(found.run):
            say("its routes come in pairs: --protocol fail2drive scores the gap between them")
        finish(
            [f"scored: {len(found.run.episodes)} records in {folder}"],
            f"jaywalk report {folder} -o report.html",
        )
    if not found.run.is_complete:
        raise typer.Exit(_INCOMPLETE)


def _print_abilities(found: dict[str, Any]) -> None:
    bounds, n = found["intervals"], found["n"]
    rows = [
        [
            name,
            with_interval(value, bounds[name]) if n.get(name) else number(value),
            str(n.get(name, "")),
        ]
        for name, value in found["abilities"].items()
    ]
    print_table(["ability", "success %", "drives"], rows)
    if found["types_of_no_ability"]:
        say(f"of no ability: {', '.join(found['types_of_no_ability'])}")


def score_results(
    path: Path,
    protocol: str,
    *,
    method: str | None = None,
    routes: Path | None = None,
    rounding: str = "none",
    requires_completion: bool = False,
) -> dict[str, Any]:
    """Score result files; returns what ``--json`` prints."""
    from jaywalk.metrics.driving import bench2drive, leaderboard
    from jaywalk.metrics.driving.penalties import PROTOCOLS, protocol_named
    from jaywalk.metrics.driving.results import read_results
    from jaywalk.metrics.driving.summary import jsonable
    from jaywalk.metrics.generalization import public as fail2drive
    from jaywalk.metrics.generalization.split import read_split

    if protocol == "jaywalk":
        raise UsageError(
            "Protocol 'jaywalk' needs a recorded run, result files do not say enough. "
            f"Choose with --protocol: {', '.join(PROTOCOLS)}."
        )
    rules = protocol_named(protocol)
    if rounding != "none" and rules.name != "fail2drive":
        raise UsageError("--rounding parser belongs to --protocol fail2drive.")
    if requires_completion and rules.success_forgives is None:
        raise UsageError(f"--success-requires-completion: {rules.name} has no success rate.")
    found = read_results(path, method)
    scored: dict[str, Any]
    if rules.name == "fail2drive":
        scored = fail2drive.score(
            found,
            routes=None if routes is None else read_split(routes),
            rounding="parser" if rounding == "parser" else "none",
            success_requires_completion=requires_completion,
        )
    elif rules.name == "bench2drive":
        scored = bench2drive.score(
            found,
            routes=None if routes is None else bench2drive.read_routes(routes),
            success_requires_completion=requires_completion,
        )
    else:
        scored = leaderboard.score(found, rules)
    values: dict[str, Any] = jsonable(scored)
    return values


def _print(found: dict[str, Any]) -> None:
    state = "INCOMPLETE" if found["missing"] else "complete"
    rules = f"{found['protocol']} version {found['protocol_version']}"
    say(f"{found['method']} under {rules}: {found['n_records']} records, {state}")
    tables: dict[str, Callable[[dict[str, Any]], None]] = {
        "fail2drive": print_gap,
        "bench2drive": _print_bench2drive,
    }
    tables.get(found["protocol"], _print_leaderboard)(found)
    for warning in found["warnings"]:
        say(warning)


def _print_bench2drive(found: dict[str, Any]) -> None:
    bounds = found["intervals"]
    rows = [
        ["DS", with_interval(found["ds"], bounds["ds"])],
        ["SR", with_interval(found["sr"], bounds["sr"])],
        ["efficiency", number(found["efficiency"])],
        ["n", f"{found['n_records']}/{found['n']}"],
    ]
    for name, value in (found["abilities"] or {}).items():
        interval = bounds["abilities"].get(name)
        rows.append([name, with_interval(value, interval) if interval else number(value)])
    print_table(["", "value"], rows)


def _print_leaderboard(found: dict[str, Any]) -> None:
    rows = [
        ["DS", with_interval(found["ds"], found["intervals"]["ds"])],
        ["DS without minimum speed", number(found["ds_no_min_speed"])],
        ["route completion", number(found["rc"])],
        ["infraction score", number(found["penalty"], 3)],
        ["n", f"{found['n_records']}/{found['n']}"],
        ["km driven", number(found["driven_km"], 2)],
    ]
    for name, rate in found["infractions"].items():
        rows.append([f"{name} per km", with_interval(rate["per_km"], rate["interval"], digits=3)])
    print_table(["", "value"], rows)
