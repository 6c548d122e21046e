"""Figures about whole runs, as wide as a column of a paper, and the figure of a realism study.

The figures of runs show values, rates, differences and scenarios. The figure of a study shows its
curves and its conclusion.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from jaywalk.core.errors import PrerequisiteError
from jaywalk.metrics.driving.summary import EpisodeScore, scenario_of
from jaywalk.metrics.realism.studies.studies import Curve, Study
from jaywalk.report.comparison import Difference, PairOfRuns
from jaywalk.report.labels import label_of, number
from jaywalk.report.summary import Quantity, ReportSummary
from jaywalk.report.svg import HAIR, SERIES, SOFT, drawing, el, legend, legend_lines, text, ticks_of

_COLOURS = ("#7b4fa3", "#2e86ab", "#e4572e", "#3da35d")
_WIDTH_CHARS = 90
_MARKED_POINTS = 20  # more of them are only in the way


def _style(study: Study, curve: Curve) -> dict[str, Any]:
    if not study.connected:
        # The first is larger, so that it shows behind another of the same height.
        return {"linestyle": "none", "marker": "o", "ms": 9 if curve is study.curves[0] else 5}
    return {"marker": "o", "markersize": 3} if len(curve.x) <= _MARKED_POINTS else {}


def draw_study(study: Study, path: Path) -> None:
    """Write a study as a picture."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    figure = Figure(figsize=(7.2, 4.4), dpi=120, layout="constrained")
    axes = figure.add_subplot()
    for curve, colour in zip(study.curves, _COLOURS, strict=False):
        axes.plot(curve.x, curve.y, color=colour, label=curve.name, **_style(study, curve))
    if not study.connected:
        heights = list(zip(*(curve.y for curve in study.curves), strict=True))
        low, high = [min(h) for h in heights], [max(h) for h in heights]
        axes.vlines(study.curves[0].x, low, high, color="#999999", linewidth=1.0, zorder=1)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_title(study.title)
    axes.set_xlabel(
        study.x_label + "\n\n" + "\n".join(textwrap.wrap(study.finding, _WIDTH_CHARS)), fontsize=9
    )
    axes.set_ylabel(study.y_label)
    axes.set_ylim(0.0, max(1.0, *(max(curve.y) for curve in study.curves)) * 1.02)
    axes.grid(alpha=0.3)
    axes.legend(frameon=False, loc="best" if study.connected else "lower left")
    try:
        figure.savefig(path)
    except OSError as problem:
        raise PrerequisiteError(
            f"Cannot write '{path}': {problem.strerror}. Give a file in a folder that exists."
        ) from problem


WIDTH: Final = 380.0
_LEFT: Final = 8.0
_RIGHT: Final = 14.0
_MOST_SCENARIOS: Final = 40  # more rows than this are longer than the page beside them
_ROW: Final = 17.0
_PERCENT_NAMES: Final = ("success_rate", "driving_score", "route_completion")


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureOfRuns:
    """A drawing with the words under it."""

    name: str
    title: str
    caption: str
    svg: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Dot:
    """A value with its interval."""

    value: float
    low: float
    high: float
    colour: str
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DotGroup:
    """Dots under one heading."""

    heading: str
    dots: tuple[Dot, ...]


def run_colour(index: int) -> str:
    """Colour of a run by its place in the list."""
    return SERIES[index % len(SERIES)]


def figures_of(runs: Sequence[ReportSummary], pairs: Sequence[PairOfRuns]) -> list[FigureOfRuns]:
    """Every figure that these runs give rise to."""
    found = [_percent_figure(runs), _rate_figure(runs), _scenario_figure(runs)]
    found += [_difference_figure(pair) for pair in pairs]
    return [figure for figure in found if figure is not None]


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
        svg=_dots(groups, (0.0, 100.0), "percent", runs, "Scores with intervals"),
    )


def _rate_figure(runs: Sequence[ReportSummary]) -> FigureOfRuns | None:
    names = dict.fromkeys(q.name for run in runs for q in run.quantities if q.kind == "per_km")
    groups = [
        _group(label_of(name).words, [r.quantity(name, "per_km") for r in runs]) for name in names
    ]
    ends = [dot.high for group in groups for dot in group.dots if math.isfinite(dot.high)]
    if not ends:
        return None
    return FigureOfRuns(
        name="rates",
        title="Events per km",
        caption="Counted events over the distance driven, with exact 95 % Poisson "
        "intervals, widened by the design effect of seeds within scenarios.",
        svg=_dots(groups, (0.0, max(ends) * 1.04), "per km driven", runs, "Events per km"),
    )


def _difference_figure(pair: PairOfRuns) -> FigureOfRuns | None:
    shown = [d for d in pair.metrics if d.name in _PERCENT_NAMES]
    if not shown:
        return None
    groups = [DotGroup(heading=label_of(d.name).words, dots=(_difference_dot(d),)) for d in shown]
    ends = [abs(end) for d in shown for end in (d.low, d.high, d.value) if math.isfinite(end)]
    reach = max([*ends, 1.0]) * 1.06
    axis = f"{pair.candidate} − {pair.baseline}, percentage points"
    title = f"{pair.candidate} against {pair.baseline}"
    return FigureOfRuns(
        name=f"difference-{pair.candidate}",
        title=title,
        caption=f"Mean paired difference over {pair.n_pairs} of {pair.expected} pairs of scenario "
        "and seed, with 95 % intervals over scenarios.",
        svg=_dots(groups, (-reach, reach), axis, (), title),
    )


def _difference_dot(d: Difference) -> Dot:
    colour = "#2e8b57" if d.low > 0.0 else "#b3261e" if d.high < 0.0 else "#6b7280"
    words = number(d.value, sign=True)
    return Dot(value=d.value, low=d.low, high=d.high, colour=colour, words=words)


def _group(heading: str, of_runs: Sequence[Quantity | None]) -> DotGroup:
    dots = tuple(
        Dot(value=q.value, low=q.low, high=q.high, colour=run_colour(index), words=number(q.value))
        for index, q in enumerate(of_runs)
        if q is not None
    )
    return DotGroup(heading=heading, dots=dots)


def _dots(
    groups: Sequence[DotGroup],
    span: tuple[float, float],
    axis: str,
    runs: Sequence[ReportSummary],
    title: str,
) -> str:
    keys = [(run_colour(k), run.label) for k, run in enumerate(runs)]
    return dot_plot(groups, span, axis, keys, title)


def dot_plot(
    groups: Sequence[DotGroup],
    span: tuple[float, float],
    axis: str,
    names: Sequence[tuple[str, str]],
    title: str,
) -> str:
    """Rows of dots with whiskers under headings, on one axis.

    Args:
        groups: Dots under their headings.
        span: Values at the two ends of the axis.
        axis: Label of the axis.
        names: Colours with their meaning; a single one needs no legend.
        title: Text for readers who cannot see the figure.
    """
    left, right = _LEFT + 4.0, WIDTH - _RIGHT - 46.0
    scale = (right - left) / max(span[1] - span[0], 1e-9)
    heights = [20.0 + _ROW * len(group.dots) for group in groups]
    keys = list(names) if len(names) > 1 else []
    top = 8.0 + (18.0 * legend_lines(keys, WIDTH - 20.0) if keys else 0.0)
    bottom = top + sum(heights) + 4.0
    parts = [legend(keys, left, 14.0, WIDTH - 20.0)] if keys else []
    for value in ticks_of(*span):
        x = left + (value - span[0]) * scale
        zero = span[0] < 0.0 and value == 0.0
        parts.append(
            el(
                "line",
                x1=x,
                x2=x,
                y1=top,
                y2=bottom,
                stroke=SOFT if zero else HAIR,
                class_="rule" if zero else "hair",
            )
        )
        parts.append(
            text(
                x,
                bottom + 14.0,
                number(value).removesuffix(".00").removesuffix(".0"),
                size=10.0,
                text_anchor="middle",
                fill=SOFT,
                class_="s",
            )
        )
    y = top
    for group, height in zip(groups, heights, strict=True):
        parts.append(text(left, y + 13.0, group.heading, size=11.0, font_weight=600))
        for k, dot in enumerate(group.dots):
            parts.append(_dot(dot, y + 22.0 + _ROW * k, left, right, span[0], scale))
        y += height
    parts.append(
        text(
            (left + right) / 2.0,
            bottom + 29.0,
            axis,
            size=10.0,
            text_anchor="middle",
            fill=SOFT,
            class_="s",
        )
    )
    return drawing(WIDTH, bottom + 36.0, parts, title=title)


def _dot(dot: Dot, y: float, left: float, right: float, zero: float, scale: float) -> str:
    def at(value: float) -> float:
        return min(max(left + (value - zero) * scale, left), right)

    parts = []
    if math.isfinite(dot.low) and not math.isnan(dot.high):
        low, high = at(dot.low), at(dot.high)
        parts.append(el("line", x1=low, x2=high, y1=y, y2=y, stroke=dot.colour, stroke_width=2))
        parts += [
            el("line", x1=x, x2=x, y1=y - 3.5, y2=y + 3.5, stroke=dot.colour, stroke_width=2)
            for x in (low, high)
        ]
    if math.isfinite(dot.value):
        parts.append(el("circle", cx=at(dot.value), cy=y, r=4.2, fill=dot.colour))
    parts.append(text(WIDTH - _RIGHT, y + 3.8, dot.words, size=10.5, text_anchor="end"))
    return "".join(parts)


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
    left, right = 156.0, WIDTH - _RIGHT
    keys = [(run_colour(k), run.label) for k, run in enumerate(runs)] if len(runs) > 1 else []
    top = 12.0 + (18.0 * legend_lines(keys, WIDTH - 20.0) if keys else 0.0)
    bottom = top + _ROW * len(rows)
    parts = [legend(keys, _LEFT + 4.0, 14.0, WIDTH - 20.0)] if keys else []
    for value in ticks_of(0.0, 100.0):
        x = left + value / 100.0 * (right - left)
        parts.append(el("line", x1=x, x2=x, y1=top, y2=bottom, stroke=HAIR, class_="hair"))
        parts.append(
            text(
                x,
                bottom + 14.0,
                f"{value:.0f}",
                size=10.0,
                text_anchor="middle",
                fill=SOFT,
                class_="s",
            )
        )
    for k, (name, of_runs) in enumerate(rows.items()):
        parts.append(_scenario_row(name, of_runs, metric, top + _ROW * (k + 0.5), (left, right)))
    parts.append(
        text(
            (left + right) / 2.0,
            bottom + 29.0,
            words.lower(),
            size=10.0,
            text_anchor="middle",
            fill=SOFT,
            class_="s",
        )
    )
    return FigureOfRuns(
        name="scenarios",
        title=title,
        caption="Mean over seeds; hollow where at least one seed was no success.",
        svg=drawing(WIDTH, bottom + 36.0, parts, title=title),
    )


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


def _scenario_row(
    name: str,
    of_runs: list[list[EpisodeScore]],
    metric: str,
    y: float,
    span: tuple[float, float],
) -> str:
    short = name if len(name) <= 26 else "…" + name[-25:]
    parts = [text(_LEFT, y + 3.6, short, size=10.0)]
    dots = []
    for index, episodes in enumerate(of_runs):
        if not episodes:
            continue
        mean = float(np.mean([episode.metrics[metric] for episode in episodes]))
        x = span[0] + min(max(mean, 0.0), 100.0) / 100.0 * (span[1] - span[0])
        whole = all(episode.success for episode in episodes)
        dots.append((x, run_colour(index), whole))
    if len(dots) > 1:
        xs = [x for x, _, _ in dots]
        parts.append(
            el(
                "line",
                x1=min(xs),
                x2=max(xs),
                y1=y,
                y2=y,
                stroke=HAIR,
                stroke_width=2,
                class_="hair",
            )
        )
    for x, colour, whole in dots:
        fill = colour if whole else "#ffffff"
        parts.append(
            el(
                "circle",
                cx=x,
                cy=y,
                r=4.0,
                fill=fill,
                stroke=colour,
                stroke_width=1.8,
                class_=None if whole else "hollow",
            )
        )
    return "".join(parts)
