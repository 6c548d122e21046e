"""``jaywalk pairs``: pairs of routes that differ in one shift."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from jaywalk.cli.output import Note, Part, Result, Table, number, say, with_interval
from jaywalk.cli.table_formats import Cell
from jaywalk.core.errors import UsageError

if TYPE_CHECKING:
    from jaywalk.metrics.generalization.counterfactual import PairCheck, PairTally

app = typer.Typer(
    help="Counterfactual pairs: are they, and what do they show?", no_args_is_help=True
)


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
    table: Annotated[str, typer.Option(help="Print this table alone: pairs, weak or tally.")] = "",
) -> Result:
    """Whether both records of every pair are the same until the shift can be perceived or acts.

    Where the shift is in reach within the first second, that shows no more than that the start is
    shared: "ok, start only". Exit code 1 when a pair fails or cannot be checked, 4 when one has
    only one half.

    Example: jaywalk pairs check runs/fail2drive-expert

    Example: jaywalk pairs check runs/fail2drive-expert --table tally --format latex
    """
    from jaywalk.metrics.generalization.counterfactual import REACH_M, SIGHT_M
    from jaywalk.metrics.generalization.run_pairs import check_pairs

    for run in runs:
        if not run.exists():
            raise UsageError(f"'{run}' does not exist. Give the folder of a run.")
    reach_m, sight_m = (REACH_M, SIGHT_M) if reach is None else (reach, reach)
    checked = check_pairs(runs, reach_m, sight_m)
    tally = checked.tally
    failed = tally.passed < tally.pairs or bool(checked.unchecked)
    weak = [one for one in checked.checks if one.passed and one.weak]
    parts: list[Part] = [
        _check_table([one for one in checked.checks if not (one.passed and one.weak)], "pairs")
    ]
    if weak:
        parts += [
            Note("weak pairs, which headline figures leave out:"),
            _check_table(weak, "weak"),
        ]
    if table == "tally":
        parts = [_tally_table(tally)]
    parts += [
        f"{one.pair}, seed {one.seed}: {one.reason}" for one in checked.checks if not one.passed
    ]
    parts += [f"cannot be checked: {line}" for line in checked.unchecked]
    parts += [f"half a pair: {line}" for line in checked.unpaired]
    return Result(
        checked.as_dict() | {"reach_m": reach_m},
        [*parts, *_summary(tally, reach_m)],
        next_command=f"jaywalk score {runs[0]} --protocol fail2drive",
        exit_code=1 if failed else 4 if checked.unpaired else 0,
        table=table,
    )


def _tally_table(tally: PairTally) -> Table:
    row = [tally.pairs, tally.passed, tally.strong, tally.weak, tally.weak_background_same]
    columns = ["pairs", "counterfactual", "for a second or more", "on their start alone"]
    columns.append("of these with equal background")
    return Table(columns, [[str(one) for one in row]], "tally")


def _check_table(checks: list[PairCheck], name: str) -> Table:
    words = {(True, False): "ok", (True, True): "ok, start only"}
    return Table(
        [
            "pair",
            "seed",
            "verdict",
            "must agree for",
            "ego drove",
            "first difference",
            "of the background",
            "shared",
            "own",
        ],
        [
            [
                one.pair,
                str(one.seed),
                words.get((one.passed, one.weak), "FAILED"),
                _when(one.compared_ticks - 1, one.step_s),
                f"{one.ego_moved_m:.0f} m",
                _when(one.first_difference_tick, one.step_s),
                _when(one.background_difference_tick, one.step_s),
                str(one.shared_actors),
                str(one.own_actors),
            ]
            for one in checks
        ],
        name,
    )


def _when(tick: int | None, step_s: float) -> str:
    return "never" if tick is None else f"{tick * step_s:.2f} s"


def _summary(tally: PairTally, reach_m: float) -> list[str]:
    first = (
        f"{tally.passed} of {tally.pairs} pairs are counterfactuals: {tally.strong} agree for at "
        "least a second, until the shift comes into reach or acts"
    )
    if not tally.weak:
        return [f"{first}."]
    return [
        f"{first};",
        f"{tally.weak} on their start alone: the shift is within {reach_m:g} m, or acts, in the "
        "first second. Ego, background, lights and weather begin the same there;",
        f"in {tally.weak_background_same} of these {tally.weak} the background never differs.",
    ]


@app.command()
def sheet(
    out: Annotated[Path, typer.Option("--out", "-o", help="The picture, .png.")] = Path(
        "fail2drive.png"
    ),
    suite: Annotated[str, typer.Option(help="A suite of pairs.")] = "fail2drive",
    view: Annotated[
        View, typer.Option(help="From the driver's place (every route is driven), or from above.")
    ] = View.DRIVER,
) -> Result:
    """A contact sheet: the first pair of each class, base above, shift below.

    The driver's view shows the moment when the shift is seen best; it drives all these routes with
    the expert, which takes two minutes. The view from above shows the start, in one.

    Example: jaywalk pairs sheet -o classes.png
    """
    from jaywalk.checks.sheets import draw_driver_sheet, draw_sheet, first_of_each_class
    from jaywalk.checks.staging import stage_routes
    from jaywalk.report.svg import claim
    from jaywalk.runner.driver_view import photograph_pairs
    from jaywalk.runner.session import SimulatorSession
    from jaywalk.scenarios.suite import load_suite

    if out.suffix != ".png":
        raise UsageError(f"--out is '{out}', expected a file that ends in .png.")
    chosen = load_suite(suite)
    items = first_of_each_class(chosen)
    claim(out)
    with SimulatorSession.embedded(items[0].route.town) as world:
        if view is View.DRIVER:
            draw_driver_sheet(list(photograph_pairs(chosen, items, world, say=say)), out)
        else:
            draw_sheet(list(stage_routes(chosen, items, world, say=say)), out)
    return Result(
        {"file": str(out), "routes": len(items)},
        [f"{len(items)} routes drawn: {out}"],
        next_command=f"jaywalk run {suite} --agent expert",
    )


@app.command()
def assets(
    out: Annotated[Path, typer.Option("--out", "-o", help="The picture, .png.")] = Path(
        "assets.png"
    ),
) -> Result:
    """The pictures on props and the animals of the suite fail2drive, drawn.

    Example: jaywalk pairs assets -o assets.png
    """
    from jaywalk.checks.sheets import draw_assets

    draw_assets(out)
    return Result({"file": str(out)}, [f"14 pictures and 17 animals drawn: {out}"])


# -- scores of pairs ---------------------------------------------------------------------------


def gap_parts(scores: dict[str, Any]) -> list[Part]:
    """Every table of the pairs of a run or of result files."""
    proof = scores.get("counterfactual")
    parts: list[Part] = []
    if scores["headline"] == "strong" and proof is not None:
        parts.append(
            Note(f"headline over the {proof['strong']} strong pairs of {proof['checked']}")
        )
    parts.append(_halves(scores, "halves"))
    if scores["headline"] == "strong" and scores["all_pairs"]["base"] != scores["base"]:
        parts.append(Note("over all pairs, as in the published protocol:"))
        parts.append(_halves(scores["all_pairs"], "all-pairs"))
    if scores["intervals"].get("few_clusters"):
        n = scores["intervals"]["clusters"]
        words = f"warning: only {n} pairs, fewer than 20: intervals are widened, trust them little"
        parts.append(Note(words))
    if lonely := scores["pairs"]["unpaired"]:
        parts.append(Note(f"only one half of {len(lonely)} pairs: {', '.join(lonely)}"))
    rows = [
        [kind, _marked(name, values), *_hm_cells(values)]
        for kind, group in (("category", "categories"), ("class", "classes"))
        for name, values in scores[group].items()
    ]
    columns = ["group", "name", "base HM", "shift HM", "change %"]
    columns += ["change [95 %]", "n base+shift"]
    parts.append(Table(columns, rows, "classes"))
    if proof is not None:
        parts += _proof(proof)
    if cues := scores.get("cues"):
        parts.append(_cues(cues))
    if (robust := scores.get("robustness")) and robust["all"]["n"]:
        parts.append(_reactions(robust))
    return parts


def _proof(proof: dict[str, Any]) -> list[Part]:
    parts: list[Part] = [
        Table(
            ["counterfactual pairs", "of", "for a second or more", "on their start alone"],
            [[str(proof[key]) for key in ("passed", "checked", "strong", "weak")]],
            "counterfactual",
        )
    ]
    parts += [Note(f"not a counterfactual: {line}") for line in proof["failed"]]
    if proof["weak_pairs"]:
        names = ", ".join(f"{one['pair']} ({one['class']})" for one in proof["weak_pairs"])
        parts.append(Note(f"weak pairs, start only, not in the headline: {names}"))
    return parts


_HALVES: Final = {"base": "base", "generalization": "shift", "change_percent": "change"}


def _halves(found: dict[str, Any], name: str) -> Table:
    rows = []
    for half, words in _HALVES.items():
        values, bounds = found[half], found["intervals"][half]
        unit = "%" if half == "change_percent" else ""
        n = str(values["n"]) if "n" in values else ""
        ds, sr, hm = (with_interval(values[key], bounds[key], unit) for key in ("ds", "sr", "hm"))
        faster = "" if half == "change_percent" else number(values["ds_no_min_speed"])
        rows.append([words, ds, faster, sr, hm, n])
    columns = ["half", "DS [95 %]", "DS without minimum speed", "SR [95 %]", "HM [95 %]", "n"]
    return Table(columns, rows, name)


def _marked(name: str, values: dict[str, Any]) -> str:
    """The name; a group of fewer than 20 pairs says so, its interval is widened."""
    return f"{name} (few pairs)" if values["intervals"].get("few_clusters") else name


def _hm_cells(values: dict[str, Any]) -> list[str]:
    figures = [number(values[key]) for key in ("base_hm", "generalization_hm", "change_percent")]
    ends = values["intervals"]["change_percent"]["hm"]
    low, high = (number(end) for end in ends)
    interval = Cell(f"[{low}, {high}]", dict(zip(("low", "high"), ends, strict=True)))
    return [*figures, interval, _halves_n(values["base_n"], values["generalization_n"])]


def _halves_n(base: int, shift: int) -> str:
    return Cell(f"{base}+{shift}", {"n base": base, "n shift": shift})


def _cues(cues: list[dict[str, Any]]) -> Table:
    return Table(
        ["construction site without its cue", "base HM", "shift HM", "change %", "n base+shift"],
        [
            [
                one["cue"],
                number(one["base"]["hm"]),
                number(one["generalization"]["hm"]),
                number(one["change_percent"]),
                _halves_n(one["base"]["n"], one["generalization"]["n"]),
            ]
            for one in cues
        ],
        "cues",
    )


def _reactions(robust: dict[str, Any]) -> Table:
    columns = [
        "where no reaction was due",
        "speed change %",
        "slower by up to m/s",
        "needless brakings a route",
        "needless lane excursions a route",
        "n",
    ]
    rows = []
    for name, values in [*robust["classes"].items(), ("all", robust["all"])]:
        cells = [
            with_interval(values[key]["value"], values[key]["interval"], digits=digits)
            for key, digits in (
                ("speed_change_percent", 1),
                ("slowest_mps", 1),
                ("brakings", 2),
                ("excursions", 2),
            )
        ]
        rows.append([name, *cells, str(values["n"])])
    return Table(columns, rows, "reactions")
