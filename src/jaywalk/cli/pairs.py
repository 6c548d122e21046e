"""``jaywalk pairs``: pairs of routes that differ in one shift."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from jaywalk.cli.output import finish, print_json, print_table, say
from jaywalk.core.errors import DataError

app = typer.Typer(help="Counterfactual pairs: are they, and what do they show?",
                  no_args_is_help=True)  # fmt: skip


@app.callback()
def _pairs() -> None:
    """Counterfactual pairs: are they, and what do they show?"""


@app.command()
def check(
    runs: Annotated[list[Path], typer.Argument(help="Run folders that hold both halves.")],
    reach: Annotated[
        float, typer.Option(min=0.0, help="Metres from which a shift can be perceived.")
    ] = 80.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Whether both records of every pair are the same until the shift can be perceived or acts.

    Exit code 1 when a pair is not.

    Example: jaywalk pairs check runs/fail2drive-expert
    """
    from jaywalk.metrics.fail2drive.counterfactual import check_pair

    found = [check_pair(base, shift, reach) for base, shift in _both(runs)]
    failed = [one for one in found if not one.passed]
    if as_json:
        print_json({
            "pairs": len(found), "passed": len(found) - len(failed), "reach_m": reach,
            "checks": [one.as_dict() for one in found],
        })  # fmt: skip
    else:
        print_table(
            ["pair", "seed", "verdict", "must agree for", "ego drove", "first difference",
             "shared", "own"],
            [
                [one.pair, str(one.seed), "ok" if one.passed else "FAILED",
                 f"{one.compared_ticks * 0.05:.1f} s", f"{one.ego_moved_m:.0f} m",
                 "never" if one.first_difference_tick is None
                 else f"{one.first_difference_tick * 0.05:.1f} s",
                 str(one.shared_actors), str(one.own_actors)]
                for one in found
            ],
        )  # fmt: skip
        lines = [f"{one.pair}, seed {one.seed}: {one.reason}" for one in failed]
        lines.append(f"{len(found) - len(failed)} of {len(found)} pairs are counterfactuals")
        finish(lines, f"jaywalk score {runs[0]} --protocol fail2drive")
    if failed:
        raise typer.Exit(1)


def _both(runs: list[Path]) -> list[tuple[Any, Any]]:
    """Base and shift record of every pair and seed."""
    import jaywalk.record

    halves: dict[tuple[str, int], dict[bool, Any]] = {}
    for run in runs:
        for folder in jaywalk.record.find_records(run):
            record = jaywalk.record.open(folder)
            if record.episode.pair:
                key = (record.episode.pair, record.episode.seed or 0)
                shifted = record.episode.scenario.startswith("Generalization_")
                halves.setdefault(key, {})[shifted] = record
    found = [(both[False], both[True]) for _, both in sorted(halves.items()) if len(both) == 2]
    if not found:
        names = ", ".join(str(run) for run in runs)
        raise DataError(f"{names}: no pair of records. Expected both halves of a suite of pairs.")
    return found


@app.command()
def sheet(
    out: Annotated[Path, typer.Option("-o", "--out", help="The picture, .png.")] = Path(
        "fail2drive.png"
    ),
    suite: Annotated[str, typer.Option(help="A suite of pairs.")] = "fail2drive",
) -> None:
    """A contact sheet from above: the first pair of each class, base above, shift below.

    Example: jaywalk pairs sheet -o classes.png
    """
    from jaywalk.runner.pair_sheet import draw_sheet, first_of_each_class
    from jaywalk.runner.staging import stage_routes
    from jaywalk.runner.world import World
    from jaywalk.scenarios.suite import load_suite

    chosen = load_suite(suite)
    items = first_of_each_class(chosen)
    with World.embedded(items[0].route.town) as world:
        staged = list(stage_routes(chosen, items, world, say=say))
    draw_sheet(staged, out)
    finish([f"{len(staged)} routes drawn"], f"open {out}")
