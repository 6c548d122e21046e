"""``jaywalk compare``: runs against a baseline, paired by scenario and seed."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jaywalk.cli.output import AsJson, print_json, print_table, say

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
    as_json: AsJson = False,
) -> None:
    """Compare runs with the first one. Exit code 4 if episodes are missing.

    Example: jaywalk compare runs/smoke-blind runs/smoke-cruise
    """
    from jaywalk.metrics.driving.inspected import inspection_of
    from jaywalk.report.comparison import compare_runs
    from jaywalk.report.scored_runs import score_folders

    scored = score_folders(runs, protocol)
    found = compare_runs(scored, allow_mixed=allow_mixed)
    held_out = inspection_of(scored[0].score)
    if as_json:
        mixed = any(run.score.mixed_code for run in scored)
        print_json(found.to_json() | {"inspected": held_out, "mixed_code": mixed})
    else:
        _print(found)
        say(f"held out? {held_out}")
        names = " ".join(str(run) for run in runs)
        say(f"next: jaywalk report {names} --protocol {protocol} -o report.html")
    if not found.is_complete:
        raise typer.Exit(_INCOMPLETE)


def _print(found: Comparison) -> None:
    from jaywalk.cli.score import few_lines
    from jaywalk.metrics.driving.protocols import protocol_version
    from jaywalk.report.comparison import SUCCESS

    for pair in found.pairs:
        state = "complete" if pair.is_complete else "INCOMPLETE"
        version = protocol_version(found.protocol)
        say(
            f"{pair.candidate} against {pair.baseline} under {found.protocol} version {version}: "
            f"{pair.n_pairs}/{pair.expected} pairs, {state}"
        )
        if pair.unpaired:
            say(f"without a partner: {', '.join(pair.unpaired)}")
        interval = f"difference [{100 * found.level:.0f} %]"
        columns = [
            "metric (* primary)",
            pair.baseline,
            pair.candidate,
            interval,
            "scenarios up/down/equal",
            "p",
            "p (Holm)",
            "detectable",
            "n",
        ]
        rows = [_row(d, d.name) for d in pair.metrics]
        rows += [_row(d, f"{d.name} per km") for d in pair.rates_per_km]
        print_table(columns, rows)
        _print_flips(pair)
    tests = len(found.primary)
    names = ", ".join(dict.fromkeys(d.name for d in found.primary))
    say(f"p (Holm): corrected over {tests} tests of the primary metrics (*): {names}")
    say("detectable: smallest true difference found with 80 % power at the 5 % level")
    for pair in found.pairs:
        behind = {d.name: d.n_scenarios for d in (*pair.metrics, *pair.rates_per_km)}
        for line in few_lines(behind.pop(SUCCESS), behind):
            say(f"warning: {line}")
    for warning in found.warnings:
        say(warning)


def _row(d: Difference, name: str) -> list[str]:
    from jaywalk.report.labels import p_text

    sign, digits = d.sign, _digits(d)
    value, low, high = (_number(one, digits, sign=True) for one in (d.value, d.low, d.high))
    return [
        f"{name} *" if d.primary else name,
        _number(d.baseline, digits),
        _number(d.candidate, digits),
        f"{value} [{low}, {high}]",
        f"{sign.higher}/{sign.lower}/{sign.ties}",
        p_text(sign.p_value),
        p_text(d.p_holm) if d.primary else "",
        _number(d.detectable, digits),
        f"{d.n_pairs}",
    ]


def _print_flips(pair: PairOfRuns) -> None:
    from jaywalk.report.labels import p_text

    say(
        f"flipped: {pair.gained} to success, {pair.lost} to failure; "
        f"exact McNemar p {p_text(pair.flip_p_value)} (seeds taken as independent)"
    )
    print_table(
        ["flipped", "seed", pair.baseline, pair.candidate, "why it failed"],
        [
            [
                flip.scenario,
                "-" if flip.seed is None else str(flip.seed),
                "failure" if flip.to_success else "success",
                "success" if flip.to_success else "failure",
                flip.cause,
            ]
            for flip in pair.flips
        ],
    )


def _digits(d: Difference) -> int:
    """Decimals that show the width of the interval, two to six."""
    width = d.high - d.low
    if not (math.isfinite(width) and width > 0.0):
        return 2
    return min(max(1 - math.floor(math.log10(width)), 2), 6)


def _number(value: float, digits: int, *, sign: bool = False) -> str:
    if not math.isfinite(value):
        return "-"
    return f"{value:{'+' if sign else ''}.{digits}f}"
