"""Figures of the prediction study: distribution of time gaps, ROC curves with bands."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import NDArray

from jaywalk.core.errors import PrerequisiteError
from jaywalk.metrics.prediction.irs import FPR_TARGETS
from jaywalk.metrics.prediction.roc_band import RocBand
from jaywalk.metrics.prediction.time_gap import cdf

FloatArray = NDArray[np.float64]

_COLOURS: Final = ("#2e86ab", "#e4572e", "#3da35d", "#7b4fa3", "#d8489c", "#8a6d1d")
_LONGEST_S = 10.0
_BIN_S = 0.1


def draw_gaps(curves: Mapping[str, tuple[FloatArray, FloatArray]], file: Path) -> None:
    """Write the cumulative distribution of gaps by name: literal (solid) and capped (dashed)."""
    figure = Figure(figsize=(7.5, 4.8), dpi=150, layout="tight")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    counts = axes.twinx()
    axes.set_zorder(counts.get_zorder() + 1.0)
    axes.patch.set_visible(False)
    for (name, (literal, capped)), colour in zip(curves.items(), _COLOURS, strict=False):
        bins = np.arange(0.0, _LONGEST_S + _BIN_S, _BIN_S)
        counts.hist(literal, bins=bins.tolist(), color=colour, alpha=0.25)
        for gaps, style, which in ((literal, "-", "literal"), (capped, "--", "capped")):
            if gaps.size:
                values, share = cdf(gaps)
                label = f"{name}, {which} (n = {gaps.size}, median {np.median(gaps):.2f} s)"
                axes.step(values, share, style, where="post", color=colour, label=label)
    axes.axvline(2.0, color="grey", lw=0.8, ls=":")
    axes.set(
        xlim=(0.0, _LONGEST_S), ylim=(0.0, 1.0), ylabel="share of crossings",
        xlabel="minimum time gap while crossing the corridor (s)",
    )  # fmt: skip
    counts.set_ylabel("crossings per 0.1 s")
    if axes.get_legend_handles_labels()[0]:
        axes.legend(loc="lower right", fontsize=8)
    _save(figure, file)


def draw_roc(bands: Mapping[float, Mapping[str, RocBand]], file: Path) -> None:
    """Write one panel a horizon, one curve with its band a predictor."""
    figure = Figure(figsize=(4.0 * len(bands), 4.2), dpi=130, layout="tight")
    FigureCanvasAgg(figure)
    panels: Any = figure.subplots(1, len(bands), squeeze=False)[0]
    for axes, (horizon_s, models) in zip(panels, bands.items(), strict=True):
        for (name, band), colour in zip(models.items(), _COLOURS, strict=False):
            axes.fill_between(band.fpr, band.low, band.high, color=colour, alpha=0.25, lw=0)
            axes.plot(band.fpr, band.tpr, color=colour, label=name)
        axes.axvline(FPR_TARGETS.get(horizon_s, np.nan), color="grey", lw=0.8, ls="--")
        axes.set(xlim=(0.0, 0.3), ylim=(0.0, 1.02), xlabel="false-positive rate")
        axes.set_title(f"{horizon_s:g} s", fontsize=10)
    panels[0].set_ylabel("true-positive rate")
    panels[-1].legend(loc="lower right", fontsize=8)
    _save(figure, file)


def _save(figure: Figure, file: Path) -> None:
    try:
        figure.savefig(file)
    except OSError as problem:
        raise PrerequisiteError(
            f"Cannot write '{file}': {problem.strerror}. Give a file in a folder that exists."
        ) from problem
