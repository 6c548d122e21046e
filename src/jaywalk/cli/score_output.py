"""How ``jaywalk score RUN`` prints a run: a table on a terminal, plain lines in a pipe.

How ``jaywalk score`` prints pairs: both halves, the change, categories, classes, reactions.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from jaywalk.cli.output import print_table, say
from jaywalk.metrics.driving.aggregate import Aggregate
from jaywalk.metrics.driving.inspected import inspection_of
from jaywalk.metrics.driving.penalties import NO_MIN_SPEED
from jaywalk.metrics.driving.protocols import protocol_version
from jaywalk.metrics.prediction.irs import FPR_TARGETS
from jaywalk.metrics.safety.foresight import GROUPS
from jaywalk.metrics.safety.habit_summary import HabitSummary, figure_label, irs_groups
from jaywalk.metrics.spec import spec_of
from jaywalk.stats.intervals import FEW_CLUSTERS


def print_gap(found: dict[str, Any]) -> None:
    """Every table of the pairs of a run or of result files."""
    proof = found.get("counterfactual")
    if found["headline"] == "strong" and proof is not None:
        say(f"headline over the {proof['strong']} strong pairs of {proof['checked']}")
    _print_halves(found)
    if found["headline"] == "strong" and found["all_pairs"]["base"] != found["base"]:
        say("over all pairs, as in the published protocol:")
        _print_halves(found["all_pairs"])
    if found["intervals"].get("few_clusters"):
        n = found["intervals"]["clusters"]
        say(f"warning: only {n} pairs, fewer than 20: intervals are widened, trust them little")
    if lonely := found["pairs"]["unpaired"]:
        say(f"only one half of {len(lonely)} pairs: {', '.join(lonely)}")
    print_table(
        ["", "", "base HM", "generalization HM", "change %", "95 % of the change", "n"],
        [
            [kind, _marked(name, values), *_hm_cells(values)]
            for kind, group in (("category", "categories"), ("class", "classes"))
            for name, values in found[group].items()
        ],
    )
    if proof is not None:
        print_table(
            ["counterfactual pairs", "of", "for a second or more", "on their start alone"],
            [[str(proof[key]) for key in ("passed", "checked", "strong", "weak")]],
        )
        for line in proof["failed"]:
            say(f"not a counterfactual: {line}")
        if proof["weak_pairs"]:
            names = ", ".join(f"{one['pair']} ({one['class']})" for one in proof["weak_pairs"])
            say(f"weak pairs, start only, not in the headline: {names}")
    _print_cues(found.get("cues") or [])
    if (robust := found.get("robustness")) and robust["all"]["n"]:
        _print_reactions(robust)


def _print_halves(found: dict[str, Any]) -> None:
    rows = []
    for half in ("base", "generalization", "change_percent"):
        values, bounds = found[half], found["intervals"][half]
        unit = "%" if half == "change_percent" else ""
        n = str(values["n"]) if "n" in values else ""
        ds, sr, hm = (with_interval(values[key], bounds[key], unit) for key in ("ds", "sr", "hm"))
        faster = "" if half == "change_percent" else number(values["ds_no_min_speed"])
        rows.append([half, ds, faster, sr, hm, n])
    print_table(["", "DS", "DS without minimum speed", "SR", "HM", "n"], rows)


def _marked(name: str, values: dict[str, Any]) -> str:
    """The name; a group of fewer than 20 pairs says so, its interval is widened."""
    return f"{name} (few pairs)" if values["intervals"].get("few_clusters") else name


def _hm_cells(values: dict[str, Any]) -> list[str]:
    figures = [number(values[key]) for key in ("base_hm", "generalization_hm", "change_percent")]
    low, high = (number(end) for end in values["intervals"]["change_percent"]["hm"])
    return [*figures, f"[{low}, {high}]", f"{values['base_n']}+{values['generalization_n']}"]


def _print_cues(cues: list[dict[str, Any]]) -> None:
    if not cues:
        return
    print_table(
        ["construction site without its cue", "base HM", "generalization HM", "change %", "n"],
        [
            [
                one["cue"],
                number(one["base"]["hm"]),
                number(one["generalization"]["hm"]),
                number(one["change_percent"]),
                f"{one['base']['n']}+{one['generalization']['n']}",
            ]
            for one in cues
        ],
    )


def _print_reactions(robust: dict[str, Any]) -> None:
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
    print_table(columns, rows)


def with_interval(
    value: float | None, interval: list[float | None], unit: str = "", digits: int = 1
) -> str:
    """A value with the ends of its interval."""
    low, high = (number(end, digits) for end in interval)
    return f"{number(value, digits)}{unit} [{low}, {high}]"


def number(value: float | None, digits: int = 1) -> str:
    """A number, or a dash where there is none."""
    return "-" if value is None else f"{value:z.{digits}f}"


def row_label(name: str) -> str:
    """Words and unit of a metric at the start of a row, e.g. ``route completion %``."""
    spec = spec_of(name)
    words = spec.label
    if words[1:2].islower():  # abbreviations keep their capitals
        words = words[:1].lower() + words[1:]
    return f"{words} {spec.shown_unit}".rstrip()


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
                number_or_dash(row.driving_score),
                *(number_or_dash(row.driving_score_no_min_speed) for _ in faster),
                number_or_dash(row.route_completion),
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
        row_label(name): figure.clusters
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
        [
            figure_label(name),
            number_or_dash(figure.value, 3),
            _interval(figure.low, figure.high, 3),
            str(figure.n),
        ]
        for name, figure in found.figures.items()
        if figure.n or name.endswith("_per_km")
    ]
    print_table(["people, pooled", "value", "95 % interval", "n"], rows)
    by = {group: irs_groups(found.foresight, group) for group in GROUPS}
    told = [
        [
            f"{group} {name}",
            *(number_or_dash(math.nan if v is None else v, 3) for v in values.values()),
        ]
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
        [
            "success rate %",
            number_or_dash(success.value),
            _interval(success.low, success.high, 1),
            f"{found.successes}/{success.n}",
        ]
    )
    for name, figure in found.shown.items():
        if not math.isfinite(figure.value):  # does not apply here
            continue
        digits = 3 if name == "infraction_penalty" or abs(figure.value) < 1.0 else 1
        label = row_label(name)
        interval = _interval(figure.low, figure.high, digits)
        rows.append([label, number_or_dash(figure.value, digits), interval, str(figure.n)])
    rows.append(["km driven", number_or_dash(found.km, 3), "", str(len(run.episodes))])
    for name, rate in found.rates_per_km.items():
        if rate.n:
            label = f"{row_label(name)} per km"
            interval = _interval(rate.low, rate.high, 2)
            rows.append([label, number_or_dash(rate.value, 2), interval, f"{rate.n} events"])
    quiet = [name for name, rate in found.rates_per_km.items() if not rate.n]
    if quiet and found.km > 0.0:
        most = next(rate.high for rate in found.rates_per_km.values() if not rate.n)
        rows.append(
            [f"{len(quiet)} other kinds per km", "0.00", _interval(0.0, most, 2), "0 events"]
        )
    return rows


def _interval(low: float, high: float, digits: int) -> str:
    return f"[{number_or_dash(low, digits)}, {number_or_dash(high, digits)}]"


def number_or_dash(value: float, digits: int = 1) -> str:
    """A number, or a dash where there is none."""
    return f"{value:.{digits}f}" if math.isfinite(value) else "-"
