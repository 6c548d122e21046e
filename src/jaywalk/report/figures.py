"""Figures about whole runs: harm to people, values, rates, differences and scenarios.

Each figure is a chart, which is data alone, with words about it. Pages draw charts as SVG, and
`paper` draws them for print.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from jaywalk.metrics.driving.rates import Figure
from jaywalk.metrics.driving.summary import EpisodeScore, scenario_of
from jaywalk.report.charts import (
    Dot,
    DotChart,
    DotGroup,
    ScenarioChart,
    ScenarioDot,
    dot_plot,
    run_colour,
    scenario_plot,
)
from jaywalk.report.comparison import Difference, PairOfRuns
from jaywalk.report.harm import RunHarm
from jaywalk.report.labels import label_of, number
from jaywalk.report.summary import Quantity, ReportSummary
from jaywalk.report.svg import BETTER, NEITHER, WORSE

_MOST_SCENARIOS: Final = 40  # more rows than this are longer than the page beside them
_PERCENT_NAMES: Final = ("success_rate", "driving_score", "route_completion")
_LONGEST_PAIR: Final = 32  # characters of two names that fit below a figure


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureOfRuns:
    """A chart with the words about it; ``drawing`` is its SVG if it has no chart."""

    name: str
    title: str
    caption: str
    chart: DotChart | ScenarioChart | None = None
    drawing: str = ""

    @property
    def svg(self) -> str:
        """The figure as SVG."""
        if isinstance(self.chart, DotChart):
            return dot_plot(self.chart, self.title)
        if isinstance(self.chart, ScenarioChart):
            return scenario_plot(self.chart, self.title)
        return self.drawing


def figures_of(
    runs: Sequence[ReportSummary],
    pairs: Sequence[PairOfRuns],
    harms: Sequence[RunHarm] = (),
) -> list[FigureOfRuns]:
    """Every figure that these runs give rise to; harm to people comes first."""
    figures = [
        harm_figure(harms, [run.label for run in runs]) if harms else None,
        _percent_figure(runs),
        _rate_figure(runs),
        _scenario_figure(runs),
    ]
    figures += [_difference_figure(pair) for pair in pairs]
    return [figure for figure in figures if figure is not None]


def harm_figure(harms: Sequence[RunHarm], labels: Sequence[str]) -> FigureOfRuns:
    """People hit and endangered per km, by the rules of Jaywalk's protocol."""
    kinds = (("People hit", "hit"), ("People endangered", "endangered"))
    groups = [
        DotGroup(
            heading=heading,
            dots=tuple(
                _figure_dot(getattr(harm, name), k, getattr(harm, name).n, harm.km)
                for k, harm in enumerate(harms)
            ),
        )
        for heading, name in kinds
    ]
    ends = [dot.high for group in groups for dot in group.dots if math.isfinite(dot.high)]
    return FigureOfRuns(
        name="harm",
        title="Harm to people",
        caption="People whom the moving ego hit or endangered, by the rules of protocol jaywalk, "
        "with exact 95 % Poisson intervals, widened by the design effect of seeds within "
        "scenarios.",
        chart=DotChart(
            groups=tuple(groups),
            span=(0.0, max([*ends, 0.1]) * 1.04),
            axis="people per km driven",
            keys=_keys(labels),
        ),
    )


def _figure_dot(figure: Figure, index: int, n: int, km: float) -> Dot:
    return Dot(
        value=figure.value,
        low=figure.low,
        high=figure.high,
        colour=run_colour(index),
        words=number(figure.value),
        n=f"{n} in {number(km)} km",
    )


def _keys(labels: Sequence[str]) -> tuple[tuple[str, str], ...]:
    return tuple((run_colour(k), label) for k, label in enumerate(labels))


def _percent_figure(runs: Sequence[ReportSummary]) -> FigureOfRuns | None:
    groups = []
    for name in _PERCENT_NAMES:
        kind = "rate" if name == "success_rate" else "mean"
        of_runs = [run.quantity(name, kind) for run in runs]  # type: ignore[arg-type]
        if any(q is not None and math.isfinite(q.value) for q in of_runs):
            groups.append(_group(label_of(name).words, of_runs))
    if not groups:
        return None
    return FigureOfRuns(
        name="scores",
        title="Scores",
        caption="Points with 95 % intervals over scenarios: Wilson for the success rate, BCa "
        "bootstrap for the means.",
        chart=DotChart(
            groups=tuple(groups),
            span=(0.0, 100.0),
            axis="percent",
            keys=_keys([run.label for run in runs]),
        ),
    )


def _rate_figure(runs: Sequence[ReportSummary]) -> FigureOfRuns | None:
    names = dict.fromkeys(q.name for run in runs for q in run.quantities if q.kind == "per_km")
    by_name = {name: [r.quantity(name, "per_km") for r in runs] for name in names}
    seen = {name: qs for name, qs in by_name.items() if any(q is not None and q.n for q in qs)}
    quiet = len(by_name) - len(seen)
    groups = tuple(
        _group(label_of(name).words, quantities, [run.driven_km for run in runs])
        for name, quantities in seen.items()
    )
    ends = [dot.high for group in groups for dot in group.dots if math.isfinite(dot.high)]
    if not ends:
        return None
    never = f" {quiet} more kinds of events never happened." if quiet else ""
    return FigureOfRuns(
        name="rates",
        title="Events per km",
        caption="Counted events over the distance driven, with exact 95 % Poisson "
        f"intervals, widened by the design effect of seeds within scenarios.{never}",
        chart=DotChart(
            groups=groups,
            span=(0.0, max(ends) * 1.04),
            axis="events per km driven",
            keys=_keys([run.label for run in runs]),
        ),
    )


def _difference_figure(pair: PairOfRuns) -> FigureOfRuns | None:
    shown = [d for d in pair.metrics if d.name in _PERCENT_NAMES]
    if not shown:
        return None
    groups = [DotGroup(heading=label_of(d.name).words, dots=(_difference_dot(d),)) for d in shown]
    ends = [abs(end) for d in shown for end in (d.low, d.high, d.value) if math.isfinite(end)]
    reach = max([*ends, 1.0]) * 1.06
    return FigureOfRuns(
        name=f"difference-{pair.candidate}",
        title=f"{pair.candidate} against {pair.baseline}",
        caption=f"Mean paired difference over {pair.n_pairs} of {pair.expected} pairs of scenario "
        "and seed, with 95 % intervals over scenarios.",
        chart=DotChart(
            groups=tuple(groups),
            span=(-reach, reach),
            axis=f"{_minus(pair.candidate, pair.baseline)}, percentage points",
        ),
    )


def _minus(candidate: str, baseline: str) -> str:
    """Return which run minus which, short enough for an axis; names differ at their ends."""
    names = [candidate, baseline]
    if sum(map(len, names)) > _LONGEST_PAIR:
        same = [a == b for a, b in zip(candidate, baseline, strict=False)]
        length = same.index(False) if False in same else len(same)
        shared = candidate[:length].rfind("-") + 1
        most = _LONGEST_PAIR // 2
        ends = [name[shared:] for name in names]
        names = [end if len(end) <= most else f"…{end[1 - most :]}" for end in ends]
    return " − ".join(names)


def _difference_dot(d: Difference) -> Dot:
    return Dot(
        value=d.value,
        low=d.low,
        high=d.high,
        colour=BETTER if d.low > 0.0 else WORSE if d.high < 0.0 else NEITHER,
        words=number(d.value, sign=True),
        n=f"n {d.n_pairs}",
    )


def _group(heading: str, of_runs: Sequence[Quantity | None], km: Sequence[float] = ()) -> DotGroup:
    dots = tuple(
        Dot(
            value=q.value,
            low=q.low,
            high=q.high,
            colour=run_colour(index),
            words=number(q.value),
            n=f"{q.n} in {number(km[index])} km" if km else f"n {q.n}",
        )
        for index, q in enumerate(of_runs)
        if q is not None
    )
    return DotGroup(heading=heading, dots=dots)


def leading_metric(runs: Sequence[ReportSummary]) -> str:
    """Return the metric that represents scenarios: the driving score if the protocol has one."""
    for name in ("driving_score", "route_completion"):
        values = [e.metrics.get(name, math.nan) for run in runs for e in run.run.episodes]
        if any(math.isfinite(value) for value in values):
            return name
    return "driving_score"


def _scenario_figure(runs: Sequence[ReportSummary]) -> FigureOfRuns | None:
    """Leading metric of every scenario and run: a dot each, hollow where a seed failed."""
    rows: dict[str, list[list[EpisodeScore]]] = {}
    metric = leading_metric(runs)
    words = label_of(metric).words
    for index, run in enumerate(runs):
        for episode in run.run.episodes:
            if math.isfinite(episode.metrics.get(metric, math.nan)):
                rows.setdefault(scenario_of(episode), [[] for _ in runs])[index].append(episode)
    if not rows:
        return None
    title = f"{words} by scenario"
    if len(rows) > _MOST_SCENARIOS:
        title += f": the lowest {_MOST_SCENARIOS} of {len(rows)}"
        rows = _lowest(rows, metric, _MOST_SCENARIOS)
    return FigureOfRuns(
        name="scenarios",
        title=title,
        caption="Mean over seeds; hollow where at least one seed failed.",
        chart=ScenarioChart(
            rows=tuple(
                (name, tuple(_scenario_dots(of_runs, metric))) for name, of_runs in rows.items()
            ),
            axis=label_of(metric).full.lower(),
            keys=_keys([run.label for run in runs]),
        ),
    )


def _scenario_dots(of_runs: list[list[EpisodeScore]], metric: str) -> list[ScenarioDot]:
    return [
        ScenarioDot(
            run=index,
            mean=float(np.mean([one.metrics[metric] for one in episodes])),
            whole=all(one.success for one in episodes),
            seeds=len(episodes),
        )
        for index, episodes in enumerate(of_runs)
        if episodes
    ]


def _lowest(
    rows: dict[str, list[list[EpisodeScore]]], metric: str, most: int
) -> dict[str, list[list[EpisodeScore]]]:
    """Return the scenarios with the lowest mean of any run, in their original order."""

    def worst(name: str) -> float:
        return min(
            sum(one.metrics[metric] for one in of_run) / len(of_run)
            for of_run in rows[name]
            if of_run
        )

    kept = set(sorted(rows, key=worst)[:most])
    return {name: of_runs for name, of_runs in rows.items() if name in kept}
