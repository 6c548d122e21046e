"""``jaywalk pairs``: pairs of routes that differ in one shift."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jaywalk.cli.output import finish, print_json, print_table, say
from jaywalk.core.errors import DataError, UsageError

if TYPE_CHECKING:
    from jaywalk.metrics.fail2drive.counterfactual import PairCheck, PairTally

app = typer.Typer(help="Counterfactual pairs: are they, and what do they show?",
                  no_args_is_help=True)  # fmt: skip


class View(StrEnum):
    """Where a contact sheet looks from."""

    DRIVER = "driver"
    ABOVE = "above"


@app.callback()
def _pairs() -> None:
    """Counterfactual pairs: are they, and what do they show?"""


@app.command()
def check(
    runs: Annotated[list[Path], typer.Argument(help="Run folders that hold both halves.")],
    reach: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            help="Metres from which a shift can be perceived.",
            show_default="80, and a driver may react from 120",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Whether both records of every pair are the same until the shift can be perceived or acts.

    Where the shift is in reach within the first second, that shows no more than that the start is
    shared: "ok, start only". Exit code 1 when a pair fails.

    Example: jaywalk pairs check runs/fail2drive-expert
    """
    from jaywalk.metrics.fail2drive.counterfactual import REACH_M, SIGHT_M, PairTally, check_pair

    reach_m, sight_m = (REACH_M, SIGHT_M) if reach is None else (reach, reach)
    found = [check_pair(base, shift, reach_m, sight_m) for base, shift in _both(runs)]
    tally = PairTally.of(found)
    if as_json:
        print_json(
            tally.as_dict() | {"reach_m": reach_m, "checks": [one.as_dict() for one in found]}
        )
    else:
        _print_checks(found)
        lines = [f"{one.pair}, seed {one.seed}: {one.reason}" for one in found if not one.passed]
        finish(
            [*lines, *_summary(tally, reach_m)], f"jaywalk score {runs[0]} --protocol fail2drive"
        )
    if tally.passed < tally.pairs:
        raise typer.Exit(1)


def _print_checks(found: list[PairCheck]) -> None:
    words = {(True, False): "ok", (True, True): "ok, start only"}
    print_table(
        ["pair", "seed", "verdict", "must agree for", "ego drove", "first difference",
         "of the background", "shared", "own"],
        [
            [one.pair, str(one.seed), words.get((one.passed, one.weak), "FAILED"),
             f"{(one.compared_ticks - 1) * 0.05:.1f} s", f"{one.ego_moved_m:.0f} m",
             _when(one.first_difference_tick), _when(one.background_difference_tick),
             str(one.shared_actors), str(one.own_actors)]
            for one in found
        ],
    )  # fmt: skip


def _when(tick: int | None) -> str:
    return "never" if tick is None else f"{tick * 0.05:.1f} s"


def _summary(tally: PairTally, reach_m: float) -> list[str]:
    return [
        f"{tally.passed} of {tally.pairs} pairs are counterfactuals: {tally.strong} agree for at "
        "least a second, until the shift comes into reach or acts;",
        f"{tally.weak} on their start alone: the shift is within {reach_m:g} m, or acts, in the "
        "first second. Ego, background, lights and weather begin the same there;",
        f"in {tally.weak_background_same} of these {tally.weak} the background never differs.",
    ]


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
    view: Annotated[
        View, typer.Option(help="From the driver's place (every route is driven), or from above.")
    ] = View.DRIVER,
) -> None:
    """A contact sheet: the first pair of each class, base above, shift below.

    The driver's view shows the moment when the shift is seen best; it drives all these routes with
    the expert, which takes some minutes. The view from above shows the start and takes seconds.

    Example: jaywalk pairs sheet -o classes.png
    """
    from jaywalk.runner.driver_sheet import draw_driver_sheet
    from jaywalk.runner.driver_view import photograph_pairs
    from jaywalk.runner.pair_sheet import draw_sheet, first_of_each_class
    from jaywalk.runner.staging import stage_routes
    from jaywalk.runner.world import World
    from jaywalk.scenarios.suite import load_suite

    if out.suffix != ".png":
        raise UsageError(f"--out is '{out}', expected a file that ends in .png.")
    chosen = load_suite(suite)
    items = first_of_each_class(chosen)
    with World.embedded(items[0].route.town) as world:
        if view is View.DRIVER:
            draw_driver_sheet(list(photograph_pairs(chosen, items, world, say=say)), out)
        else:
            draw_sheet(list(stage_routes(chosen, items, world, say=say)), out)
    finish([f"{len(items)} routes drawn"], f"open {out}")


@app.command()
def assets(
    out: Annotated[Path, typer.Option("-o", "--out", help="The picture, .png.")] = Path(
        "assets.png"
    ),
) -> None:
    """The pictures on props and the animals of the suite fail2drive, drawn.

    Example: jaywalk pairs assets -o assets.png
    """
    from jaywalk.runner.asset_sheet import draw_assets

    draw_assets(out)
    finish(["14 pictures and 17 animals drawn"], f"open {out}")
