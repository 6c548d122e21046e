"""Charts of dots with intervals for print, drawn by matplotlib."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Final

from jaywalk.report.charts import DotChart, ScenarioChart, run_colour
from jaywalk.report.figures import FigureOfRuns
from jaywalk.report.labels import interval_text
from jaywalk.report.svg import SERIES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MARKERS: Final = ("o", "s", "^", "D", "v", "P")
_ROW_IN: Final = 0.17
_NOTEBOOK_DPI: Final = 200


def new_figure(width_in: float, height_in: float) -> Figure:
    """An empty figure, which a notebook shows as a picture."""
    return _figure_class()(figsize=(width_in, height_in), layout="constrained")


@cache
def _figure_class() -> type[Figure]:
    from matplotlib.figure import Figure  # slow to import

    class NotebookFigure(Figure):
        """A figure with a picture for notebooks, also without ``%matplotlib inline``."""

        def _repr_png_(self) -> bytes:
            file = io.BytesIO()
            self.savefig(file, format="png", dpi=_NOTEBOOK_DPI, bbox_inches="tight")
            return file.getvalue()

    return NotebookFigure


def draw_chart(figure: FigureOfRuns, width_in: float) -> Figure:
    """Draw a figure of runs."""
    if isinstance(figure.chart, ScenarioChart):
        return _draw_scenarios(figure.chart, width_in)
    assert isinstance(figure.chart, DotChart)  # figures of runs are one of the two
    return _draw_dots(figure.chart, width_in)


def _draw_dots(chart: DotChart, width_in: float) -> Figure:
    several = len(chart.keys) > 1
    rows = sum(len(group.dots) for group in chart.groups)
    headings = len(chart.groups) if several else 0
    legend = 0.18 * math.ceil(len(chart.keys) / 3) if several else 0.0
    figure = new_figure(width_in, 0.5 + legend + _ROW_IN * (rows + headings))
    axes = figure.add_subplot()
    ticks: list[tuple[float, str]] = []
    y = 0.0
    for group in chart.groups:
        if several:
            axes.text(
                0.0,
                y,
                group.heading,
                transform=axes.get_yaxis_transform(),
                weight="bold",
                va="center",
            )
            y += 1.0
        for dot in group.dots:
            k = SERIES.index(dot.colour) if dot.colour in SERIES else 0
            if math.isfinite(dot.low) and math.isfinite(dot.high):
                axes.plot([dot.low, dot.high], [y, y], color=dot.colour, solid_capstyle="butt")
            axes.plot(
                [dot.value],
                [y],
                _MARKERS[k],
                color=dot.colour,
                markersize=3.8,
                clip_on=False,
                zorder=3,
            )
            ticks.append((y, "" if several else group.heading))
            axes.annotate(
                _value_words(dot.words, dot.low, dot.high, dot.n),
                (1.02, y),
                xycoords=axes.get_yaxis_transform(),
                va="center",
                fontsize=6.0,
                annotation_clip=False,
            )
            y += 1.0
    axes.set_ylim(y - 0.4, -0.6)
    axes.set_yticks([place for place, _ in ticks], [words for _, words in ticks])
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.set_xlim(*chart.span)
    if chart.span[0] < 0.0:
        axes.axvline(0.0, color="#555555", linewidth=0.6)
    axes.grid(axis="x", color="#dddddd", linewidth=0.4)
    axes.set_axisbelow(True)
    axes.set_xlabel(chart.axis)
    if several:
        legend_above(axes, [name for _, name in chart.keys])
    return figure


def _value_words(words: str, low: float, high: float, n: str) -> str:
    signed = words.startswith(("+", "−"))
    return f"{words} {interval_text(low, high, sign=signed)}  {n}".strip()


def legend_above(axes: Axes, labels: Sequence[str]) -> None:
    """Name the runs above the axes, each with its colour and marker."""
    from matplotlib.lines import Line2D

    keys = [
        Line2D([], [], color=run_colour(k), marker=_MARKERS[k % len(_MARKERS)], markersize=3.8)
        for k in range(len(labels))
    ]
    axes.figure.legend(keys, labels, loc="outside upper left", ncols=3, handlelength=1.6)


def _draw_scenarios(chart: ScenarioChart, width_in: float) -> Figure:
    legend = 0.18 * math.ceil(len(chart.keys) / 3) if len(chart.keys) > 1 else 0.0
    figure = new_figure(width_in, 0.6 + legend + (0.1 + 0.05 * len(chart.keys)) * len(chart.rows))
    axes = figure.add_subplot()
    for y, (_, dots) in enumerate(chart.rows):
        for dot in dots:
            colour = run_colour(dot.run)
            beside = 0.5 * (dot.run - 0.5 * (len(chart.keys) - 1)) / max(len(chart.keys), 1)
            axes.plot(
                [dot.mean],
                [y + beside],
                _MARKERS[dot.run % len(_MARKERS)],
                color=colour,
                markerfacecolor=colour if dot.whole else "white",
                markersize=3.8,
                clip_on=False,
            )
    axes.set_yticks(range(len(chart.rows)), [name for name, _ in chart.rows])
    axes.set_ylim(len(chart.rows) - 0.4, -0.6)
    axes.set_xlim(0.0, 100.0)
    axes.tick_params(axis="y", length=0)
    axes.grid(color="#dddddd", linewidth=0.4)
    axes.set_axisbelow(True)
    n = sum(dot.seeds for _, dots in chart.rows for dot in dots)
    axes.set_xlabel(f"{chart.axis}; hollow: a seed failed; n = {n} episodes")
    if len(chart.keys) > 1:
        legend_above(axes, [name for _, name in chart.keys])
    return figure
