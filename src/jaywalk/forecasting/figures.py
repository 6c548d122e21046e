"""Figures of the prediction study.

They show the distribution of time gaps, ROC curves with bands, and predictive distributions on the
map together with the observed history and the true future.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure

from jaywalk.core.arrays import FloatArray
from jaywalk.core.errors import PrerequisiteError, UsageError
from jaywalk.datasets.semantic_map import NETWORK_CLASSES, SemanticMap
from jaywalk.forecasting.evaluate import fold_of
from jaywalk.forecasting.predictors.registry import Predictor
from jaywalk.forecasting.samples import RoiSample
from jaywalk.forecasting.windows import Windows
from jaywalk.metrics.prediction.forecast import Mixture
from jaywalk.metrics.prediction.irs import FPR_TARGETS, RocBand
from jaywalk.metrics.prediction.time_gap import cdf

_HALF_M: Final = 9.0
_CELL_M: Final = 0.1
_CELLS: Final = 240  # cells per side of the grid on which regions are measured
_REACH_SIGMA: Final = 4.0
_MASS: Final = (0.5, 0.9)  # probability mass of the regions of highest density
_HORIZONS: Final = ("#2e86ab", "#3da35d", "#e08e1b", "#c8352b")  # from the nearest to the farthest
# Eight classes of ground: unknown, road, sidewalk, cycle track, zebra, isle, building, lawn.
_GROUND: Final = ListedColormap(
    ["#ffffff", "#d9dbdf", "#f1ece1", "#e6d3d0", "#b9bfca", "#e9e2cf", "#a8a29e", "#dfe9d8"]
)


def telling_windows(windows: Windows, meetings: list[RoiSample], count: int) -> list[int]:
    """Return windows for figures: near a vehicle, of different tracks, where people turn most.

    Raises:
        UsageError: No window has its truth up to the longest horizon.
    """
    whole = np.isfinite(windows.truth_m).all(axis=(1, 2))
    near = np.zeros(len(windows), dtype=bool)
    near[[meeting.window for meeting in meetings]] = True
    pool = np.flatnonzero(whole & near) if (whole & near).any() else np.flatnonzero(whole)
    if pool.size == 0:
        raise UsageError("no window has its truth up to the longest horizon; give longer tracks")
    history = windows.history_m[pool]
    pace_mps = (history[:, -1] - history[:, 0]) / (windows.step_s * (history.shape[1] - 1))
    straight = history[:, -1] + pace_mps * windows.horizons_s[-1]
    surprise_m = np.linalg.norm(windows.truth_m[pool, -1] - straight, axis=1)
    chosen: dict[int, int] = {}
    # From typical to surprising, so that a figure shows both.
    for rank in np.argsort(-surprise_m, kind="stable").tolist():
        chosen.setdefault(int(windows.track[pool[rank]]), int(pool[rank]))
    ranked = list(chosen.values())
    picks = np.unique(np.linspace(0, max(len(ranked) // 2, count) - 1, count).astype(int))
    return [ranked[i] for i in picks if i < len(ranked)]


def draw_forecasts(
    predictors: Mapping[str, Predictor],
    windows: Windows,
    meetings: list[RoiSample],
    file: Path,
    *,
    count: int = 4,
    folds: int = 5,
) -> None:
    """Draw one row per predictor and one column per window.

    Args:
        predictors: Predictors by name, not fitted.
        windows: Windows to choose from.
        meetings: Meetings that determine the choice of windows.
        file: Picture to write.
        count: Number of windows.
        folds: Folds as in the evaluation: spreads are fitted on other scenes than those drawn.
    """
    chosen = telling_windows(windows, meetings, count)
    size = (3.2 * len(chosen) + 0.4, 3.2 * len(predictors) + 0.9)
    figure = Figure(figsize=size, dpi=130, layout="constrained")
    FigureCanvasAgg(figure)
    panels: Any = figure.subplots(len(predictors), len(chosen), squeeze=False)
    fold = fold_of(windows, folds)
    for row, (name, predictor) in zip(panels, predictors.items(), strict=True):
        for axes, index in zip(row, chosen, strict=True):
            others = windows.rows(fold != fold[index]) if folds > 1 else windows
            one = windows.rows(np.array([index]))
            _draw(axes, one, predictor.fitted(others).predict(one))
        row[0].set_ylabel(name)
    for axes, index in zip(panels[0], chosen, strict=True):
        axes.set_title(windows.track_names[windows.track[index]], fontsize=8)
    figure.legend(
        handles=_legend(windows), loc="outside lower center", fontsize=8, frameon=False, ncols=8
    )
    try:
        figure.savefig(file)
    except OSError as problem:
        raise PrerequisiteError(
            f"Cannot write '{file}': {problem.strerror}. Give a file in a folder that exists."
        ) from problem


def density(forecast: Mixture, horizon: int, x_m: FloatArray, y_m: FloatArray) -> FloatArray:
    """Return the density of the first sample at a horizon on a grid ``(len(y), len(x))``, 1/m2."""
    weights, means, covariances = (part[0] for part in forecast.marginal(horizon))
    grid = np.stack(np.meshgrid(x_m, y_m), axis=-1)
    total = np.zeros(grid.shape[:2])
    for weight, mean, covariance in zip(weights, means, covariances, strict=True):
        away = grid - mean
        squares = np.einsum("yxi,ij,yxj->yx", away, np.linalg.inv(covariance), away)
        total += weight * np.exp(-0.5 * squares) / (2 * np.pi * np.sqrt(np.linalg.det(covariance)))
    return total


def mass_levels(values: FloatArray, cell_m2: float, masses: tuple[float, ...]) -> list[float]:
    """Return the densities above which the given probability masses lie, in rising order."""
    ranked = np.sort(values.ravel())[::-1]
    held = np.cumsum(ranked) * cell_m2
    last = len(ranked) - 1
    levels = {float(ranked[min(int(np.searchsorted(held, mass)), last)]) for mass in masses}
    return sorted(levels)


def region_levels(forecast: Mixture, horizon: int, masses: tuple[float, ...]) -> list[float]:
    """Return levels of the first sample's whole density, not only of the part in a panel."""
    _, means, covariances = (part[0] for part in forecast.marginal(horizon))
    reach = _REACH_SIGMA * np.sqrt(np.diagonal(covariances, axis1=-2, axis2=-1))
    low, high = (means - reach).min(axis=0), (means + reach).max(axis=0)
    cell = (high - low) / _CELLS
    x, y = (low[i] + cell[i] * (np.arange(_CELLS) + 0.5) for i in (0, 1))
    return mass_levels(density(forecast, horizon, x, y), float(cell.prod()), masses)


def _draw(axes: Any, window: Windows, forecast: Mixture) -> None:
    now = window.history_m[0, -1]
    _draw_ground(axes, window)
    x = np.arange(now[0] - _HALF_M, now[0] + _HALF_M, _CELL_M)
    y = np.arange(now[1] - _HALF_M, now[1] + _HALF_M, _CELL_M)
    for horizon, colour in zip(range(len(window.horizon_steps)), _HORIZONS, strict=False):
        values = density(forecast, horizon, x, y)
        levels = region_levels(forecast, horizon, _MASS)
        if values.max() > levels[0]:
            axes.contourf(x, y, values, [*levels, np.inf], colors=[colour], alpha=0.25)
        if shown := [level for level in levels if level < values.max()]:
            axes.contour(x, y, values, shown, colors=[colour], linewidths=0.8)
        axes.plot(*window.truth_m[0, horizon], "o", ms=4, mfc=colour, mec="black", mew=0.6)
    axes.plot(*window.history_m[0].T, "-", color="black", lw=1.4)
    axes.plot(*window.future_m[0].T, ":", color="black", lw=1.0)
    axes.plot(*now, "o", ms=5, color="black")
    if window.context is not None and np.isfinite(window.context.ego_m[0, -1]).all():
        axes.plot(*window.context.ego_m[0].T, "-", color="#7b4fa3", lw=2.0)
        axes.plot(*window.context.ego_m[0, -1], "s", ms=7, color="#7b4fa3")
    axes.set(xlim=(x[0], x[-1]), ylim=(y[0], y[-1]), aspect="equal", xticks=[], yticks=[])


def _draw_ground(axes: Any, window: Windows) -> None:
    context = window.context
    if context is None or context.map_index[0] < 0:
        return
    ground: SemanticMap = context.maps[int(context.map_index[0])]
    rows, columns = ground.labels.shape
    x0, y0 = ground.origin_m
    extent = (x0, x0 + columns * ground.cell_m, y0, y0 + rows * ground.cell_m)
    shown = np.array(NETWORK_CLASSES, dtype=np.uint8)[ground.labels]
    axes.imshow(
        shown,
        origin="lower",
        extent=extent,
        cmap=_GROUND,
        vmin=-0.5,
        vmax=7.5,
        interpolation="nearest",
        zorder=0,
    )


def _legend(windows: Windows) -> list[Any]:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    regions = [
        Patch(facecolor=colour, alpha=0.6, label=f"{seconds:g} s: 50 % and 90 %")
        for seconds, colour in zip(windows.horizons_s, _HORIZONS, strict=False)
    ]
    return [
        Line2D([], [], color="black", lw=1.4, label="seen"),
        Line2D([], [], color="black", lw=1.0, ls=":", marker="o", ms=4, label="came"),
        *regions,
        Line2D([], [], color="#7b4fa3", marker="s", lw=2, label="vehicle"),
    ]


_COLOURS: Final = ("#2e86ab", "#e4572e", "#3da35d", "#7b4fa3", "#d8489c", "#8a6d1d")
_LONGEST_S = 10.0
_BIN_S = 0.1


def draw_gaps(curves: Mapping[str, tuple[FloatArray, FloatArray]], file: Path) -> None:
    """Draw the cumulative distribution of gaps by name: literal (solid) and capped (dashed)."""
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
        xlim=(0.0, _LONGEST_S),
        ylim=(0.0, 1.0),
        ylabel="share of crossings",
        xlabel="minimum time gap while crossing the corridor (s)",
    )
    counts.set_ylabel("crossings per 0.1 s")
    if axes.get_legend_handles_labels()[0]:
        axes.legend(loc="lower right", fontsize=8)
    _save(figure, file)


def draw_roc(bands: Mapping[float, Mapping[str, RocBand]], file: Path) -> None:
    """Draw one panel per horizon with one curve and its band per predictor."""
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
