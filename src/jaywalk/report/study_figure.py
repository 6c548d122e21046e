"""The figure of a realism study: its curves and what they show."""

from __future__ import annotations

import textwrap
from pathlib import Path

from jaywalk.core.errors import PrerequisiteError
from jaywalk.metrics.realism.studies.curve import Study

_COLOURS = ("#7b4fa3", "#2e86ab", "#e4572e", "#3da35d")
_WIDTH_CHARS = 90


def draw_study(study: Study, path: Path) -> None:
    """Write a study as a picture."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.2, 4.4), dpi=120, layout="constrained")
    axes = figure.add_subplot()
    for curve, colour in zip(study.curves, _COLOURS, strict=False):
        axes.plot(curve.x, curve.y, marker="o", markersize=3, color=colour, label=curve.name)
    axes.set_title(study.title)
    axes.set_xlabel(
        study.x_label + "\n\n" + "\n".join(textwrap.wrap(study.finding, _WIDTH_CHARS)), fontsize=9
    )
    axes.set_ylabel(study.y_label)
    axes.set_ylim(0.0, max(1.0, *(max(curve.y) for curve in study.curves)) * 1.02)
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    try:
        figure.savefig(path)
    except OSError as problem:
        raise PrerequisiteError(
            f"Cannot write '{path}': {problem.strerror}. Give a file in a folder that exists."
        ) from problem
