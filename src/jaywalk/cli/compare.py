"""``jaywalk compare``: runs against a baseline, paired by scenario and seed."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jaywalk.cli.output import Note, Part, Result, Table
from jaywalk.cli.table_formats import Cell

if TYPE_CHECKING:
    from jaywalk.report.comparison import Comparison, Difference, PairOfRuns

_INCOMPLETE = 4


def compare(
    runs: Annotated[
        list[Path],
        typer.Argument(metavar="RUN RUN [...]", help="Run folders; the first is the baseline."),
    ],
    protocol: Annotated[
        str, typer.Option(help="Whose rules; 'jaywalk list protocols' names them.")
    ] = "jaywalk",
    allow_mixed: Annotated[
        bool, typer.Option(help="Compare runs of different suites or scenario versions too.")
    ] = False,
    table: Annotated[
        str, typer.Option(help="Print this table alone: metrics or flips, for a paper.")
    ] = "",
    metrics: Annotated[
        str,
        typer.Option(
            help="Only these metrics, as in success_rate,route_completion; 'jaywalk list metrics' "
            "names them."
        ),
    ] = "",
) -> Result:
    """Compare runs with the first one. Exit code 4 if episodes are missing.

    Example: jaywalk compare runs/smoke-blind runs/smoke-cruise

    Example: jaywalk compare runs/smoke-blind runs/smoke-cruise --table metrics --format latex

    Example: jaywalk compare runs/a runs/b --metrics success_rate,route_completion --format md
    """
    from jaywalk.metrics.driving.inspected import inspection_of
    from jaywalk.report.comparison import compare_runs
    from jaywalk.report.scored_runs import score_folders

    scored = score_folders(runs, protocol)
    comparison = compare_runs(scored, allow_mixed=allow_mixed)
    held_out = inspection_of(scored[0].score)
    mixed = any(run.score.mixed_code for run in scored)
    names = " ".join(str(run) for run in runs)
    return Result(
        comparison.to_json() | {"inspected": held_out, "mixed_code": mixed},
        [*_parts(comparison), Note(f"held out? {held_out}")],
        next_command=f"jaywalk report {names} --protocol {protocol} -o report.html",
        exit_code=0 if comparison.is_complete else _INCOMPLETE,
        table=table,
        metrics=metrics,
    )


def _parts(comparison: Comparison) -> list[Part]:
    from jaywalk.cli.score import few_lines, row_label
    from jaywalk.metrics.driving.protocols import protocol_version
    from jaywalk.report.comparison import SUCCESS

    parts: list[Part] = []
    for pair in comparison.pairs:
        state = "complete" if pair.is_complete else "INCOMPLETE"
        version = protocol_version(comparison.protocol)
        head = (
            f"{pair.candidate} against {pair.baseline} under {comparison.protocol} "
            f"version {version}: {pair.n_pairs}/{pair.expected} pairs, {state}"
        )
        parts.append(Note(head))
        if pair.unpaired:
            parts.append(Note(f"without a partner: {', '.join(pair.unpaired)}"))
        columns = [
            "metric (* primary)",
            pair.baseline,
            pair.candidate,
            f"difference [{100 * comparison.level:.0f} %]",
            "scenarios up/down/equal",
            "p",
            "p (Holm)",
            "detectable",
            "n",
        ]
        rows = [_row(pair, d, d.name, row_label(d.name)) for d in pair.metrics]
        rows += [
            _row(pair, d, f"{d.name}_per_km", f"{row_label(d.name)} per km")
            for d in pair.rates_per_km
        ]
        keys = [d.name for d in pair.metrics] + [f"{d.name}_per_km" for d in pair.rates_per_km]
        parts += [Table(columns, rows, "metrics", keys=keys), *_flips(pair)]
    tests = len(comparison.primary)
    names = ", ".join(dict.fromkeys(row_label(d.name) for d in comparison.primary))
    parts += [
        Note(f"p (Holm): corrected over {tests} tests of the primary metrics (*): {names}"),
        Note("detectable: smallest true difference found with 80 % power at the 5 % level"),
    ]
    for pair in comparison.pairs:
        behind = {d.name: d.n_scenarios for d in (*pair.metrics, *pair.rates_per_km)}
        of_success = behind.pop(SUCCESS)
        labelled = {row_label(name): n for name, n in behind.items()}
        parts += [Note(f"warning: {line}") for line in few_lines(of_success, labelled)]
    return parts + [Note(warning) for warning in comparison.warnings]


def _row(pair: PairOfRuns, d: Difference, key: str, name: str) -> list[str]:
    from jaywalk.report.labels import p_text

    sign, digits = d.sign, _digits(d)
    value, low, high = (_number(one, digits, sign=True) for one in (d.value, d.low, d.high))
    ends = {"difference": d.value, "low": d.low, "high": d.high}
    candidate: dict[str, float | str] = {"candidate run": pair.candidate, "candidate": d.candidate}
    scenarios = {"up": sign.higher, "down": sign.lower, "equal": sign.ties}
    about = {"metric": key, "label": name, "primary": "yes" if d.primary else "no"}
    return [
        Cell(f"{name} *" if d.primary else name, about),
        Cell(_number(d.baseline, digits), {"baseline run": pair.baseline, "baseline": d.baseline}),
        Cell(_number(d.candidate, digits), candidate),
        Cell(f"{value} [{low}, {high}]", ends),
        Cell(f"{sign.higher}/{sign.lower}/{sign.ties}", scenarios),
        Cell(p_text(sign.p_value), {"": sign.p_value}),
        Cell(p_text(d.p_holm), {"": d.p_holm}) if d.primary else "",
        Cell(_number(d.detectable, digits), {"": d.detectable}),
        f"{d.n_pairs}",
    ]


def _flips(pair: PairOfRuns) -> list[Part]:
    from jaywalk.report.labels import p_text

    words = (
        f"flipped: {pair.gained} to success, {pair.lost} to failure; "
        f"exact McNemar p {p_text(pair.flip_p_value)} (seeds taken as independent)"
    )
    columns = ["flipped", "seed", pair.baseline, pair.candidate, "why it failed"]
    rows = [
        [
            flip.scenario,
            "-" if flip.seed is None else str(flip.seed),
            Cell(ends[0], {"baseline run": pair.baseline, "baseline": ends[0]}),
            Cell(ends[1], {"candidate run": pair.candidate, "candidate": ends[1]}),
            flip.cause,
        ]
        for flip in pair.flips
        for ends in [("failure", "success") if flip.to_success else ("success", "failure")]
    ]
    return [Note(words), Table(columns, rows, "flips")]


def _digits(d: Difference) -> int:
    """Decimals that show the width of the interval, two to six."""
    width = d.high - d.low
    if not (math.isfinite(width) and width > 0.0):
        return 2
    return min(max(1 - math.floor(math.log10(width)), 2), 6)


def _number(value: float, digits: int, *, sign: bool = False) -> str:
    if not math.isfinite(value):
        return "-"
    return f"{value:{'+' if sign else ''}z.{digits}f}"
