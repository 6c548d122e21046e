"""``jaywalk score``: scores of a run or of result files under a protocol, with intervals."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jaywalk.cli.output import (
    Note,
    Part,
    Result,
    Table,
    count_of,
    interval_text,
    number,
    number_or_dash,
    with_interval,
)
from jaywalk.cli.pairs import gap_parts
from jaywalk.cli.table_formats import Cell
from jaywalk.core.errors import UsageError

if TYPE_CHECKING:
    from jaywalk.metrics.driving.aggregate import Aggregate
    from jaywalk.metrics.safety.habit_summary import HabitSummary

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
    table: Annotated[
        str,
        typer.Option(help="Print this table alone, for a paper: summary, scenarios, classes, ..."),
    ] = "",
    metrics: Annotated[
        str,
        typer.Option(
            help="Only these metrics, as in success_rate,route_completion; 'jaywalk list metrics' "
            "names them."
        ),
    ] = "",
) -> Result:
    """Score a run, or result files made elsewhere. Exit code 4 if episodes are missing.

    Example: jaywalk score runs/mine --protocol leaderboard-2.1

    Example: jaywalk score runs/mine --metrics success_rate,route_completion --format latex

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
        scored = _score_groups(run, by) if by else _score_run(run, protocol)
        return replace(scored, table=table, metrics=metrics)
    if by:
        raise UsageError("--by needs a recorded run, result files do not say whom they hit.")
    from jaywalk.metrics.driving.results_score import score_results

    assert results is not None
    scores = score_results(
        results,
        protocol,
        method=method,
        routes=routes,
        rounding=rounding.value,
        requires_completion=requires_completion,
    )
    return Result(
        scores,
        _results_parts(scores),
        exit_code=_INCOMPLETE if scores["missing"] else 0,
        table=table,
        metrics=metrics,
    )


def _score_groups(folder: Path, by: str) -> Result:
    from jaywalk.metrics.driving.run_score import run_notes
    from jaywalk.metrics.safety.habit_summary import habit_table

    rows = habit_table(folder, by)
    held_out, mixed = run_notes(folder)
    notes = {"inspected": held_out, "mixed_code": bool(mixed), "warnings": list(mixed)}
    value = {"run": str(folder), "by": by, "rows": [row.as_dict() for row in rows]} | notes
    table = Table(
        [by, "met", "hit", "unavoidable", "hits/km", "95 %", "P(MAIS3+)", "injured/km", "began s"],
        [
            [
                row.group,
                str(row.people),
                str(row.hits),
                str(row.unavoidable),
                number_or_dash(row.per_km, 2),
                Cell(
                    f"{row.interval.low:.2f}-{row.interval.high:.2f}",
                    {"low": row.interval.low, "high": row.interval.high},
                ),
                number_or_dash(row.injury_risk, 3),
                number_or_dash(row.injured_per_km, 3),
                number_or_dash(row.began_s, 2),
            ]
            for row in rows
        ],
        "groups",
    )
    few = [row.group for row in rows if row.few_clusters]
    if few:
        mixed.append(f"fewer than 20 routes, intervals are widened: {', '.join(few)}")
    return Result(
        value,
        [
            table,
            Note(f"held out? {held_out}"),
            *(Note(f"warning: {line}") for line in mixed),
            f"people hit by the moving ego in {rows[-1].driven_km:.2f} km",
        ],
        next_command=f"jaywalk score {folder}",
    )


def _score_run(folder: Path, protocol: str) -> Result:
    from jaywalk.metrics.driving.aggregate import aggregate
    from jaywalk.metrics.driving.aggregate import as_json as json_of
    from jaywalk.metrics.driving.bench2drive import run_abilities
    from jaywalk.metrics.driving.run_score import score_run
    from jaywalk.metrics.driving.summary import jsonable
    from jaywalk.metrics.generalization.run_pairs import has_pairs, pair_scores
    from jaywalk.metrics.safety.habit_summary import is_habit, summarise_habit

    scored = aggregate(score_run(folder, protocol))
    people = summarise_habit(scored.run, folder) if is_habit(scored.run) else None
    pairs = pair_scores(scored.run, folder)
    abilities = jsonable(run_abilities(scored.run))
    extras = {"habit": people and people.as_dict(), "fail2drive": pairs, "bench2drive": abilities}
    parts = run_parts(scored)
    if people is not None:
        parts += _people(people)
    if abilities is not None:
        parts += _abilities(abilities)
    if pairs is not None:
        parts += gap_parts(pairs)
    elif has_pairs(scored.run):
        parts.append(Note("its routes come in pairs: --protocol fail2drive scores the gap"))
    return Result(
        json_of(scored) | {name: part for name, part in extras.items() if part},
        [*parts, f"scored: {len(scored.run.episodes)} records in {folder}"],
        next_command=f"jaywalk report {folder} -o report.html",
        exit_code=0 if scored.run.is_complete else _INCOMPLETE,
    )


def _abilities(scores: dict[str, Any]) -> list[Part]:
    bounds, n = scores["intervals"], scores["n"]
    rows = [
        [
            name,
            with_interval(value, bounds[name]) if n.get(name) else number(value),
            str(n.get(name, "")),
        ]
        for name, value in scores["abilities"].items()
    ]
    parts: list[Part] = [Table(["ability", "success % [95 %]", "drives"], rows, "abilities")]
    if scores["types_of_no_ability"]:
        parts.append(Note(f"of no ability: {', '.join(scores['types_of_no_ability'])}"))
    return parts


def _results_parts(scores: dict[str, Any]) -> list[Part]:
    state = "INCOMPLETE" if scores["missing"] else "complete"
    rules = f"{scores['protocol']} version {scores['protocol_version']}"
    tables: dict[str, Callable[[dict[str, Any]], list[Part]]] = {
        "fail2drive": gap_parts,
        "bench2drive": _bench2drive,
    }
    return [
        Note(f"{scores['method']} under {rules}: {scores['n_records']} records, {state}"),
        *tables.get(scores["protocol"], _leaderboard)(scores),
        *(Note(warning) for warning in scores["warnings"]),
    ]


def _bench2drive(scores: dict[str, Any]) -> list[Part]:
    bounds = scores["intervals"]
    rows = [
        ["DS", with_interval(scores["ds"], bounds["ds"])],
        ["SR", with_interval(scores["sr"], bounds["sr"])],
        ["efficiency", number(scores["efficiency"])],
        ["n", count_of(scores["n_records"], scores["n"])],
    ]
    for name, value in (scores["abilities"] or {}).items():
        interval = bounds["abilities"].get(name)
        rows.append([name, with_interval(value, interval) if interval else number(value)])
    return [Table(["score", "value [95 %]"], rows, "summary")]


def _leaderboard(scores: dict[str, Any]) -> list[Part]:
    rows = [
        ["DS", with_interval(scores["ds"], scores["intervals"]["ds"])],
        ["DS without minimum speed", number(scores["ds_no_min_speed"])],
        ["route completion", number(scores["rc"])],
        ["infraction score", number(scores["penalty"], 3)],
        ["n", count_of(scores["n_records"], scores["n"])],
        ["km driven", number(scores["driven_km"], 2)],
    ]
    for name, rate in scores["infractions"].items():
        rows.append(
            [f"{_words(name)} per km", with_interval(rate["per_km"], rate["interval"], digits=3)]
        )
    return [Table(["score", "value [95 %]"], rows, "summary")]


def _words(name: str) -> str:
    """Label of a kind of infraction of public result files; its own name if we have none."""
    from jaywalk.metrics.spec import METRICS

    return row_label(name) if name in METRICS else name.replace("_", " ")


def row_label(name: str) -> str:
    """Words and unit of a metric at the start of a row, e.g. ``route completion %``."""
    from jaywalk.metrics.spec import spec_of

    spec = spec_of(name)
    words = spec.label
    if words[1:2].islower():  # abbreviations keep their capitals
        words = words[:1].lower() + words[1:]
    return f"{words} {spec.shown_unit}".rstrip()


def run_parts(scored: Aggregate) -> list[Part]:
    """Return summary, scenarios and warnings of a run."""
    from jaywalk.metrics.driving.inspected import inspection_of
    from jaywalk.metrics.driving.penalties import NO_MIN_SPEED
    from jaywalk.metrics.driving.protocols import protocol_version

    run = scored.run
    state = "complete" if run.is_complete else "INCOMPLETE"
    who = run.agent or "unknown agent"
    if run.agent_version:
        who += f" ({run.agent_version})"
    rules = f"{run.protocol} version {protocol_version(run.protocol)}"
    head = f"{run.name}: {who} under {rules}: {len(run.episodes)}/{run.expected}, {state}"
    faster = ["without minimum speed"] if NO_MIN_SPEED in scored.metrics else []
    scenarios = Table(
        ["scenario", "success", "driving score", *faster, "completion", "events", "status"],
        [
            [
                row.scenario,
                count_of(row.successes, row.n),
                number_or_dash(row.driving_score),
                *(number_or_dash(row.driving_score_no_min_speed) for _ in faster),
                number_or_dash(row.route_completion),
                str(row.events),
                "; ".join(dict.fromkeys(row.statuses)),
            ]
            for row in scored.scenarios
        ],
        "scenarios",
    )
    parts: list[Part] = [
        Note(head),
        _summary(scored),
        scenarios,
        Note(f"held out? {inspection_of(run)}"),
        *(Note(f"warning: {warning}") for warning in run.warnings),
    ]
    behind = {
        row_label(name): figure.clusters
        for name, figure in scored.shown.items()
        if math.isfinite(figure.value)
    }
    parts += [Note(f"warning: {line}") for line in few_lines(scored.success.clusters, behind)]
    if run.missing:
        counted = "counted as zero" if scored.missing_count_as_zero else "left out of the means"
        names = ", ".join(run.missing[:5]) + (", ..." if len(run.missing) > 5 else "")
        words = f"INCOMPLETE: {len(run.missing)} of {run.expected} missing, {counted}: {names}"
        parts.append(Note(words))
    return parts


def few_lines(scenarios: int, behind: Mapping[str, int]) -> list[str]:
    """Warn about intervals of fewer than 20 clusters.

    Args:
        scenarios: Clusters of the run.
        behind: Clusters of each figure. Those with as many as the run are not named again.
    """
    from jaywalk.stats.intervals import FEW_CLUSTERS

    lines = []
    if 0 < scenarios < FEW_CLUSTERS:
        lines.append(
            f"only {scenarios} scenarios, fewer than {FEW_CLUSTERS}: intervals are widened, trust "
            "them little"
        )
    fewer = {name: n for name, n in behind.items() if 0 < n < min(scenarios, FEW_CLUSTERS)}
    if fewer:
        named = ", ".join(f"{name} on {n}" for name, n in fewer.items())
        lines.append(
            f"these rest on even fewer scenarios, trust their intervals least: {named}"
            if lines
            else f"these rest on fewer than {FEW_CLUSTERS} scenarios, their intervals are widened, "
            f"trust them little: {named}"
        )
    return lines


def _people(summary: HabitSummary) -> list[Part]:
    """Return what happened to people, pooled over a run of the suite habit."""
    from jaywalk.metrics.prediction.irs import FPR_TARGETS
    from jaywalk.metrics.safety.foresight import GROUPS
    from jaywalk.metrics.safety.habit_summary import figure_label, irs_groups

    rows = [
        [
            figure_label(name),
            number_or_dash(figure.value, 3),
            interval_text(figure.low, figure.high, 3),
            str(figure.n),
        ]
        for name, figure in summary.figures.items()
        if figure.n or name.endswith("_per_km")
    ]
    parts: list[Part] = [Table(["people, pooled", "value", "95 % interval", "n"], rows, "people")]
    by = {group: irs_groups(summary.foresight, group) for group in GROUPS}
    irs_rows = [
        [
            f"{group} {name}",
            *(number_or_dash(math.nan if v is None else v, 3) for v in values.values()),
        ]
        for group, of_group in by.items()
        for name, values in of_group.items()
    ]
    if irs_rows:
        columns = ["IRS by", *(f"{s:.0f} s" for s in FPR_TARGETS)][: len(irs_rows[0])]
        parts.append(Table(columns, irs_rows, "irs"))
    return parts


def _summary(scored: Aggregate) -> Table:
    """Return success rate, metrics and events per km of a run, one row each."""
    run = scored.run
    success = scored.success
    rows = {
        "n": [
            "n",
            Cell(f"{len(run.episodes)}/{run.expected}", {"": len(run.episodes)}),
            "",
            Cell("", {"": run.expected}),
        ],
        "success_rate": [
            "success rate %",
            number_or_dash(success.value),
            interval_text(success.low, success.high, 1),
            Cell(f"{scored.successes}/{success.n}", {"": success.n}),
        ],
    }
    for name, figure in scored.shown.items():
        if not math.isfinite(figure.value):  # does not apply here
            continue
        digits = 3 if name == "infraction_penalty" or abs(figure.value) < 1.0 else 1
        label = row_label(name)
        interval = interval_text(figure.low, figure.high, digits)
        rows[name] = [label, number_or_dash(figure.value, digits), interval, str(figure.n)]
    rows["km"] = ["km driven", number_or_dash(scored.km, 3), "", str(len(run.episodes))]
    for name, rate in scored.rates_per_km.items():
        if rate.n:
            label = f"{row_label(name)} per km"
            interval = interval_text(rate.low, rate.high, 2)
            value = number_or_dash(rate.value, 2)
            events = Cell(f"{rate.n} events", {"": rate.n})
            rows[f"{name}_per_km"] = [label, value, interval, events]
    quiet = [name for name, rate in scored.rates_per_km.items() if not rate.n]
    if quiet and scored.km > 0.0:
        most = next(rate.high for rate in scored.rates_per_km.values() if not rate.n)
        label = f"{len(quiet)} other kinds per km"
        none = Cell("0 events", {"": 0})
        rows["others_per_km"] = [label, "0.00", interval_text(0.0, most, 2), none]
    columns = ["score", "value", "95 % interval", "n"]
    named = [[Cell(row[0], {"metric": key, "": row[0]}), *row[1:]] for key, row in rows.items()]
    return Table(columns, named, "summary", keys=list(rows))
