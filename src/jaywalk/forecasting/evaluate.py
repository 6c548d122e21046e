"""Evaluation of predictors on one dataset: IRS, NLL, errors and calibration, with intervals.

Intervals are over tracks. Free parameters are fitted on other scenes than those used for the scores
(cross-fitting by scene). Every predictor gets the same windows, meetings and random numbers.

This module also formats the paper's two tables for any set of models: III (metrics with intervals)
and IV (optimal sets).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.arrays import FloatArray
from jaywalk.core.errors import DataError, UsageError
from jaywalk.core.seeds import derive_seed, stream
from jaywalk.forecasting.predictors.registry import Predictor
from jaywalk.forecasting.samples import RoiSample
from jaywalk.forecasting.windows import Windows
from jaywalk.metrics.prediction.calibration import probability_bin
from jaywalk.metrics.prediction.displacement import ade_sample_averaged, fde_mixture_mean
from jaywalk.metrics.prediction.forecast import Mixture, nll_marginal
from jaywalk.metrics.prediction.in_roi import in_roi_sampled
from jaywalk.metrics.prediction.irs import FPR_TARGETS, irs
from jaywalk.metrics.prediction.pairwise import OptimalSet
from jaywalk.stats.bootstrap import Estimate, bca, cluster_codes, mean

Row = list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class TableColumn:
    """Title, scale and decimals of a metric in tables."""

    name: str
    title: str
    factor: float
    decimals: int


COLUMNS: Final = (
    TableColumn(name="irs", title="IRS (%)", factor=100.0, decimals=1),
    TableColumn(name="nll", title="NLL", factor=1.0, decimals=2),
    TableColumn(name="ade", title="ADE (m)", factor=1.0, decimals=2),
)


def table_of_metrics(
    models: Mapping[str, Mapping[str, Sequence[Estimate]]], horizons_s: Sequence[float]
) -> list[Row]:
    """Return a header and three rows per model: upper end of the interval, estimate, lower end.

    Args:
        models: One estimate per horizon, by model and metric (``irs``, ``nll``, ``ade``).
        horizons_s: The horizons.
    """
    header = ["", "model", *(f"{c.title} {t:g} s" for c in COLUMNS for t in horizons_s)]
    rows = [header]
    for number, (name, metrics) in enumerate(models.items(), 1):
        for column in COLUMNS:
            if len(metrics[column.name]) != len(horizons_s):
                raise UsageError(f"model '{name}' lacks {column.name} at some horizon")
        cells = [(c, estimate) for c in COLUMNS for estimate in metrics[c.name]]
        rows += [
            [str(number), name, *(_cell(c, e.interval.high) for c, e in cells)],
            ["", "", *(_cell(c, e.value) for c, e in cells)],
            ["", "", *(_cell(c, e.interval.low) for c, e in cells)],
        ]
    return rows


def table_of_optimal_sets(
    chosen: Mapping[str, Sequence[OptimalSet]], horizons_s: Sequence[float]
) -> list[Row]:
    """Return a header and one row per horizon with the optimal model by each metric."""
    metrics = [column.name for column in COLUMNS if column.name in chosen]
    rows = [["", *(name.upper() for name in metrics)]]
    for i, horizon_s in enumerate(horizons_s):
        rows.append([f"{horizon_s:g} s", *(chosen[name][i].chosen or "-" for name in metrics)])
    return rows


def _cell(column: TableColumn, value: float) -> str:
    if value != value:
        return "-"
    text = f"{column.factor * value:.{column.decimals}f}"
    # Rounding may give "-0.00", which is printed without the sign.
    return text.removeprefix("-") if float(text) == 0.0 else text


_CHUNK = 256
_BINS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Settings of an evaluation.

    Attributes:
        draws: Monte Carlo draws per sample (the paper: 1000).
        resamples: Bootstrap replicates.
        level: Confidence level of every interval (the paper: 0.5).
        folds: Groups of scenes for cross-fitting; 1 fits and evaluates on the same data.
        seed: Seed of draws and bootstrap.
    """

    draws: int = 1000
    resamples: int = 10_000
    level: float = 0.95
    folds: int = 5
    seed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """Scores of a predictor by sample.

    Attributes:
        in_roi: Probability of each meeting at each horizon: ``(M, H)``.
        nll: NLL of each window at each horizon, nats: ``(N, H)``; NaN without truth.
        ade: Sample-averaged error at each horizon, metres: ``(N, H)``.
        fde: Error of the mean forecast at each horizon, metres: ``(N, H)``.
    """

    in_roi: FloatArray
    nll: FloatArray
    ade: FloatArray
    fde: FloatArray


def target_rate(horizon_s: float) -> float:
    """Return the false-positive rate at which the IRS of a horizon is computed."""
    if horizon_s not in FPR_TARGETS:
        known = ", ".join(f"{one:g}" for one in FPR_TARGETS)
        raise UsageError(f"horizon {horizon_s:g} s has no target rate; known: {known} s")
    return FPR_TARGETS[horizon_s]


def fold_of(windows: Windows, folds: int) -> NDArray[np.int64]:
    """Return the fold of each window, which depends only on the name of its scene."""
    if folds < 1:
        raise UsageError(f"folds {folds} must be at least 1")
    codes = [derive_seed(0, "predict", "fold", name) % folds for name in windows.scene_names]
    return np.array(codes, dtype=np.int64)[windows.scene]


def score(
    predictor: Predictor, windows: Windows, meetings: list[RoiSample], settings: Settings
) -> Scores:
    """Score a predictor on every window and meeting."""
    shape = (len(windows), len(windows.horizon_steps))
    nll, ade, fde = (np.full(shape, np.nan) for _ in range(3))
    in_roi = np.zeros((len(meetings), shape[1]))
    of_window: dict[int, list[int]] = {}
    for index, meeting in enumerate(meetings):
        of_window.setdefault(meeting.window, []).append(index)
    for rows, fitted in _fits(predictor, windows, settings.folds):
        for start in range(0, rows.size, _CHUNK):
            part = rows[start : start + _CHUNK]
            forecast = checked(fitted.predict(windows.rows(part)))
            nll[part], fde[part] = _likelihood(forecast, windows.truth_m[part])
            # The samples name the stream, so that all predictors share its numbers.
            rng = stream(settings.seed, "predict", "draws", int(part[0]))
            draws = forecast.draw(rng, settings.draws)
            ade[part] = ade_sample_averaged(draws, windows.truth_m[part])
            for i, window in enumerate(part.tolist()):
                for index in of_window.get(window, ()):
                    meeting = meetings[index]
                    for h, zone in enumerate(meeting.zones):
                        points = draws.positions_m[i, :, h]
                        in_roi[index, h] = in_roi_sampled(points, meeting.path, zone)
    return Scores(in_roi=in_roi, nll=nll, ade=ade, fde=fde)


def summarise(
    scores: Scores, windows: Windows, meetings: list[RoiSample], settings: Settings
) -> list[dict[str, Any]]:
    """Return one JSON row per horizon; a missing number is None, with a warning as its reason.

    ``irs`` has all meetings; ``irs_without_reacted`` those in which the person does not change a
    decision because of the ego within the horizon.
    """
    labels = np.array([m.labels for m in meetings], dtype=np.int8).reshape(
        len(meetings), len(windows.horizon_steps)
    )
    members = np.array([m.window for m in meetings], dtype=np.int64)
    tracks = windows.track[members]
    rows = []
    for h, horizon_s in enumerate(windows.horizons_s):
        known = labels[:, h] >= 0
        options = {"resamples": settings.resamples, "level": settings.level, "seed": settings.seed}
        sensitivity = irs(
            scores.in_roi[known, h],
            labels[known, h],
            tracks[known],
            fpr_target=target_rate(horizon_s),
            resamples=settings.resamples,
            level=settings.level,
            seed=settings.seed,
        )
        row: dict[str, Any] = {
            "horizon_s": horizon_s,
            "n_tracks": sensitivity.n_tracks,
            "n_samples": sensitivity.n_samples,
            "n_positive": sensitivity.n_positive,
            "irs": _entry(
                Estimate(sensitivity.value, sensitivity.interval, sensitivity.n_tracks, None)
            ),
            "irs_linear": _number(sensitivity.linear),
            "irs_step": _number(sensitivity.step),
            "irs_track_balanced": _number(sensitivity.track_balanced),
            "tie_block": _number(sensitivity.tie_block),
        }
        seen = np.isfinite(scores.nll[:, h])
        row["n_windows"] = int(seen.sum())
        for name in ("nll", "ade", "fde"):
            values = getattr(scores, name)[:, h]
            row[name] = _entry(mean(values[seen], windows.track[seen], **options))
            near = np.unique(members[known])
            row[f"{name}_relevant"] = _number(float(values[near].mean()) if near.size else np.nan)
        row["ece"] = _entry(_ece(scores.in_roi[known, h], labels[known, h], tracks[known], options))
        row["warnings"] = list(sensitivity.warnings)
        row |= _without_reacted(
            scores.in_roi[:, h], labels[:, h], tracks, meetings, h, horizon_s, options
        )
        rows.append(row)
    return rows


def _without_reacted(
    in_roi: FloatArray,
    labels: NDArray[np.int8],
    tracks: NDArray[np.int64],
    meetings: list[RoiSample],
    h: int,
    horizon_s: float,
    options: Mapping[str, Any],
) -> dict[str, Any]:
    """IRS of the meetings in which nobody reacts to the ego; None if reactions are not known."""
    marks = [m.reacted[h] if m.reacted else None for m in meetings]
    if all(mark is None for mark in marks):
        return {"n_reacted": None, "irs_without_reacted": None}
    reacted = np.array([mark is True for mark in marks]) & (labels >= 0)
    kept = (labels >= 0) & ~reacted
    rest = irs(
        in_roi[kept],
        labels[kept],
        tracks[kept],
        fpr_target=target_rate(horizon_s),
        **options,
    )
    entry = _entry(Estimate(rest.value, rest.interval, rest.n_tracks, None))
    return {"n_reacted": int(reacted.sum()), "irs_without_reacted": entry}


def checked(forecast: Mixture) -> Mixture:
    """Return the forecast, or raise if it is not a distribution: means would ignore NaN."""
    parts = (forecast.weights, forecast.means_m, forecast.covariances_m2)
    bad = [~np.isfinite(part.reshape(len(part), -1)).all(axis=1) for part in parts]
    if (lost := int(np.any(bad, axis=0).sum())) > 0:
        raise DataError(f"the predictor gave NaN or infinity for {lost} windows; it must not")
    if not np.allclose(forecast.weights.sum(axis=1), 1.0) or (forecast.weights < 0.0).any():
        raise DataError("the predictor's weights must not be negative and must sum to 1")
    return forecast


def _fits(
    predictor: Predictor, windows: Windows, folds: int
) -> list[tuple[NDArray[np.int64], Predictor]]:
    fold = fold_of(windows, folds)
    parts = []
    for part in np.unique(fold).tolist():
        mine = fold == part
        others = windows.rows(~mine) if folds > 1 else windows
        if len(others) == 0:
            raise UsageError("all data are in one fold: too few scenes; use --in-sample")
        parts.append((np.flatnonzero(mine), predictor.fitted(others)))
    return parts


def _likelihood(forecast: Mixture, truth_m: FloatArray) -> tuple[FloatArray, FloatArray]:
    nll = np.stack([nll_marginal(forecast, truth_m, h) for h in range(truth_m.shape[1])], axis=1)
    known = np.isfinite(truth_m).all(axis=2)
    return np.where(known, nll, np.nan), fde_mixture_mean(forecast, truth_m)


def _ece(
    probabilities: FloatArray,
    labels: NDArray[np.int8],
    tracks: NDArray[np.int64],
    options: dict[str, Any],
) -> Estimate:
    codes, n = cluster_codes(tracks)
    cell = codes * _BINS + probability_bin(probabilities, _BINS)
    # Predicted less observed, summed by track and bin: all that the error depends on.
    sums = np.bincount(cell, weights=probabilities - labels, minlength=n * _BINS)
    excess = sums.astype(np.float64).reshape(n, _BINS)
    total = np.bincount(codes, minlength=n).astype(np.float64)
    return bca(_ece_of(excess, total), n, **options)


def _ece_of(excess: FloatArray, total: FloatArray) -> Callable[[FloatArray], FloatArray]:
    def statistic(counts: FloatArray) -> FloatArray:
        return np.asarray(np.abs(counts @ excess).sum(axis=1) / (counts @ total))

    return statistic


def _entry(estimate: Estimate) -> dict[str, Any]:
    ends = (estimate.interval.low, estimate.interval.high)
    entry: dict[str, Any] = {
        "value": _number(estimate.value),
        f"ci{round(100 * estimate.interval.level)}": [_number(end) for end in ends],
    }
    if estimate.warning:
        entry["warning"] = estimate.warning
    return entry


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
