"""The figure of a realism study: its curves and its conclusion."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

from jaywalk.core.errors import PrerequisiteError
from jaywalk.metrics.realism.studies.studies import Curve, Study

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
