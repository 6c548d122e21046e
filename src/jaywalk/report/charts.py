"""Charts of dots with intervals: the data, and their drawing as SVG for pages."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from jaywalk.report.labels import number
from jaywalk.report.svg import HAIR, SERIES, SOFT, drawing, el, legend, legend_lines, text, ticks_of

WIDTH: Final = 380.0
_LEFT: Final = 8.0
_RIGHT: Final = 14.0
_ROW: Final = 17.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Dot:
    """A value with its interval."""

    value: float
    low: float
    high: float
    colour: str
    words: str
    n: str = ""  # what the value rests on, for print


@dataclass(frozen=True, slots=True, kw_only=True)
class DotGroup:
    """Dots under one heading."""

    heading: str
    dots: tuple[Dot, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DotChart:
    """Rows of dots with intervals on one axis.

    Attributes:
        span: Values at the two ends of the axis.
        axis: Label of the axis.
        keys: Colours with their meaning; a single one needs no legend.
    """

    groups: tuple[DotGroup, ...]
    span: tuple[float, float]
    axis: str
    keys: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioDot:
    """Mean over the seeds of one scenario in one run; ``whole`` if every seed succeeded."""

    run: int
    mean: float
    whole: bool
    seeds: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioChart:
    """Dots by scenario on an axis from 0 to 100."""

    rows: tuple[tuple[str, tuple[ScenarioDot, ...]], ...]
    axis: str
    keys: tuple[tuple[str, str], ...]


def run_colour(index: int) -> str:
    """Colour of a run by its place in the list."""
    return SERIES[index % len(SERIES)]


def dot_plot(chart: DotChart, title: str) -> str:
    """Rows of dots with whiskers under headings, on one axis.

    Args:
        chart: The dots.
        title: Text for readers who cannot see the figure.
    """
    groups, span, axis = chart.groups, chart.span, chart.axis
    left, right = _LEFT + 4.0, WIDTH - _RIGHT - 46.0
    scale = (right - left) / max(span[1] - span[0], 1e-9)
    heights = [20.0 + _ROW * len(group.dots) for group in groups]
    keys = chart.keys if len(chart.keys) > 1 else ()
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
        parts.append(_small(x, bottom + 14.0, number(value).removesuffix(".00").removesuffix(".0")))
    y = top
    for group, height in zip(groups, heights, strict=True):
        parts.append(text(left, y + 13.0, group.heading, size=11.0, font_weight=600))
        for k, dot in enumerate(group.dots):
            parts.append(_dot(dot, y + 22.0 + _ROW * k, left, right, span[0], scale))
        y += height
    parts.append(_small((left + right) / 2.0, bottom + 29.0, axis))
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


def scenario_plot(chart: ScenarioChart, title: str) -> str:
    """The scenarios as rows, a dot for each run."""
    left, right = 156.0, WIDTH - _RIGHT
    keys = chart.keys if len(chart.keys) > 1 else ()
    top = 12.0 + (18.0 * legend_lines(keys, WIDTH - 20.0) if keys else 0.0)
    bottom = top + _ROW * len(chart.rows)
    parts = [legend(keys, _LEFT + 4.0, 14.0, WIDTH - 20.0)] if keys else []
    for value in ticks_of(0.0, 100.0):
        x = left + value / 100.0 * (right - left)
        parts.append(el("line", x1=x, x2=x, y1=top, y2=bottom, stroke=HAIR, class_="hair"))
        parts.append(_small(x, bottom + 14.0, f"{value:.0f}"))
    for k, (name, dots) in enumerate(chart.rows):
        parts.append(_scenario_row(name, dots, top + _ROW * (k + 0.5), (left, right)))
    parts.append(_small((left + right) / 2.0, bottom + 29.0, chart.axis))
    return drawing(WIDTH, bottom + 36.0, parts, title=title)


def _small(x: float, y: float, words: str) -> str:
    return text(x, y, words, size=10.0, text_anchor="middle", fill=SOFT, class_="s")


def _scenario_row(
    name: str, dots: Sequence[ScenarioDot], y: float, span: tuple[float, float]
) -> str:
    short = name if len(name) <= 24 else "…" + name[-23:]
    parts = [text(_LEFT, y + 3.6, short, size=10.0)]
    xs = [span[0] + min(max(dot.mean, 0.0), 100.0) / 100.0 * (span[1] - span[0]) for dot in dots]
    if len(dots) > 1:
        ends = {"x1": min(xs), "x2": max(xs), "y1": y, "y2": y}
        parts.append(el("line", **ends, stroke=HAIR, stroke_width=2, class_="hair"))
    for x, dot in zip(xs, dots, strict=True):
        colour = run_colour(dot.run)
        parts.append(
            el(
                "circle",
                cx=x,
                cy=y,
                r=4.0,
                fill=colour if dot.whole else "#ffffff",
                stroke=colour,
                stroke_width=1.8,
                class_=None if dot.whole else "hollow",
            )
        )
    return "".join(parts)
