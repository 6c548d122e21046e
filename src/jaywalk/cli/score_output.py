"""How ``jaywalk score RUN`` prints a run: a table on a terminal, plain lines in a pipe."""

from __future__ import annotations

import math
from collections.abc import Mapping

from jaywalk.cli.output import print_table, say
from jaywalk.metrics.driving.aggregate import Aggregate
from jaywalk.metrics.driving.inspected import inspection_of
from jaywalk.metrics.driving.penalties import NO_MIN_SPEED
from jaywalk.metrics.driving.protocols import protocol_version
from jaywalk.metrics.habit.foresight import GROUPS
from jaywalk.metrics.habit.summary import NAMES, HabitSummary, irs_groups
from jaywalk.metrics.prediction.irs import FPR_TARGETS
from jaywalk.stats.intervals import FEW_CLUSTERS

_LABELS = {
    "driving_score": "driving score",
    "driving_score_no_min_speed": "driving score without minimum speed",
    "route_completion": "route completion %",
    "infraction_penalty": "infraction score",
    "duration_s": "duration s",
    "route_length_m": "route length m",
}


def print_run(found: Aggregate) -> None:
    """Summary, scenarios and warnings of a run."""
    run = found.run
    state = "complete" if run.is_complete else "INCOMPLETE"
    who = run.agent or "unknown agent"
    if run.agent_version:
        who += f" ({run.agent_version})"
    rules = f"{run.protocol} version {protocol_version(run.protocol)}"
    say(f"{run.name}: {who} under {rules}: {len(run.episodes)}/{run.expected}, {state}")
    print_table(["", "value", "95 % interval", "n"], _summary(found))
    faster = ["without minimum speed"] if NO_MIN_SPEED in found.metrics else []
    print_table(
        ["scenario", "success", "driving score", *faster, "completion", "events", "status"],
        [
            [
                row.scenario,
                f"{row.successes}/{row.n}",
                number(row.driving_score),
                *(number(row.driving_score_no_min_speed) for _ in faster),
                number(row.route_completion),
                str(row.events),
                "; ".join(dict.fromkeys(row.statuses)),
            ]
            for row in found.scenarios
        ],
    )
    say(f"held out? {inspection_of(run)}")
    for warning in run.warnings:
        say(f"warning: {warning}")
    behind = {
        _LABELS.get(name, name): figure.clusters
        for name, figure in found.shown.items()
        if math.isfinite(figure.value)
    }
    for line in few_lines(found.success.clusters, behind):
        say(f"warning: {line}")
    if run.missing:
        counted = "counted as zero" if found.missing_count_as_zero else "left out of the means"
        names = ", ".join(run.missing[:5]) + (", ..." if len(run.missing) > 5 else "")
        say(f"INCOMPLETE: {len(run.missing)} of {run.expected} missing, {counted}: {names}")


def few_lines(scenarios: int, behind: Mapping[str, int]) -> list[str]:
    """Warnings about intervals of fewer than 20 clusters.

    Args:
        scenarios: Clusters of the run.
        behind: Clusters of each figure. Those with as many as the run are not named again.
    """
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


def print_people(found: HabitSummary) -> None:
    """What happened to people, pooled over a run of the suite habit."""
    rows = [
        [NAMES[name], number(figure.value, 3), _interval(figure.low, figure.high, 3),
         str(figure.n)]
        for name, figure in found.figures.items()
        if figure.n or name.endswith("_per_km")
    ]  # fmt: skip
    print_table(["people, pooled", "value", "95 % interval", "n"], rows)
    by = {group: irs_groups(found.foresight, group) for group in GROUPS}
    told = [
        [f"{group} {name}", *(number(math.nan if v is None else v, 3) for v in values.values())]
        for group, of_group in by.items()
        for name, values in of_group.items()
    ]
    if told:
        print_table(["IRS by", *(f"{s:.0f} s" for s in FPR_TARGETS)][: len(told[0])], told)


def _summary(found: Aggregate) -> list[list[str]]:
    run = found.run
    rows = [["n", f"{len(run.episodes)}/{run.expected}", "", ""]]
    success = found.success
    rows.append(
        ["success rate %", number(success.value), _interval(success.low, success.high, 1),
         f"{found.successes}/{success.n}"]
    )  # fmt: skip
    for name, figure in found.shown.items():
        if not math.isfinite(figure.value):  # does not apply here
            continue
        digits = 3 if name == "infraction_penalty" or abs(figure.value) < 1.0 else 1
        label = _LABELS.get(name, name)
        interval = _interval(figure.low, figure.high, digits)
        rows.append([label, number(figure.value, digits), interval, str(figure.n)])
    rows.append(["km driven", number(found.km, 3), "", str(len(run.episodes))])
    for name, rate in found.rates_per_km.items():
        if rate.n:
            label = f"{name} per km"
            interval = _interval(rate.low, rate.high, 2)
            rows.append([label, number(rate.value, 2), interval, f"{rate.n} events"])
    quiet = [name for name, rate in found.rates_per_km.items() if not rate.n]
    if quiet and found.km > 0.0:
        most = next(rate.high for rate in found.rates_per_km.values() if not rate.n)
        rows.append(
            [f"{len(quiet)} other kinds per km", "0.00", _interval(0.0, most, 2), "0 events"]
        )
    return rows


def _interval(low: float, high: float, digits: int) -> str:
    return f"[{number(low, digits)}, {number(high, digits)}]"


def number(value: float, digits: int = 1) -> str:
    """A number, or a dash where there is none."""
    return f"{value:.{digits}f}" if math.isfinite(value) else "-"
