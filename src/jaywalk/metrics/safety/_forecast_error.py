"""Errors of the agent's forecasts of people against the true positions.

ADE averages over the horizons of a forecast; FDE is the error at the last horizon. Both average
over forecasts (a person, a moment, a source). The error of a mixture is that of its mean, the error
of samples is their average error, and ``best`` is the error of the best mode or sample. Horizons
after the end of a person's track or of the record have no true position and are left out.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl

from jaywalk.core.arrays import BoolArray, FloatArray
from jaywalk.metrics.driving.summary import EpisodeScore
from jaywalk.metrics.pooling import weighted_by
from jaywalk.metrics.prediction.displacement import (
    ade_sample_averaged,
    best_of_k_ade,
    fde_mixture_mean,
)
from jaywalk.metrics.prediction.forecast import Mixture, Samples
from jaywalk.metrics.spec import NOT_APPLICABLE, MetricInput, MetricResult, metric
from jaywalk.record import Record
from jaywalk.record import columns as c
from jaywalk.record.tracks import COS, SIN, EpisodeTracks, X, Y


@dataclass(frozen=True, slots=True, kw_only=True)
class ForecastError:
    """Mean errors over the forecasts of one source, in metres; nan without any."""

    source: str
    forecasts: int
    ade_m: float
    fde_m: float
    best_ade_m: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ForecastBatch:
    """Forecasts of one source with equal horizons and modes, and the truth.

    Attributes:
        tick_at: (N,) index of the tick.
        person: (N,) index of the person.
        time_s: (H,) horizons.
        weight: (N, K).
        mean_m: (N, K, H, 2), world frame.
        is_mixture: Modes of a mixture, or samples.
        truth_m: (N, H, 2); nan where unknown.
        covariance_m2: (N, K, H, 2, 2) of a mixture, world frame; None for samples.
    """

    source: str
    tick_at: np.ndarray
    person: np.ndarray
    time_s: FloatArray
    weight: FloatArray
    mean_m: FloatArray
    is_mixture: bool
    truth_m: FloatArray
    covariance_m2: FloatArray | None = None


def forecast_errors(record: Record, tracks: EpisodeTracks) -> list[ForecastError]:
    """Return errors by source, sorted by its name; empty if the agent gives no forecasts."""
    sums: dict[str, list[tuple[FloatArray, FloatArray, FloatArray]]] = {}
    for batch in forecast_batches(record, tracks):
        sums.setdefault(batch.source, []).append(_errors(batch))
    return [
        ForecastError(
            source=source,
            forecasts=int(sum(np.isfinite(ade).sum() for ade, _, _ in parts)),
            ade_m=_mean([ade for ade, _, _ in parts]),
            fde_m=_mean([fde for _, fde, _ in parts]),
            best_ade_m=_mean([best for _, _, best in parts]),
        )
        for source, parts in sorted(sums.items())
    ]


def forecast_batches(record: Record, tracks: EpisodeTracks) -> Iterator[ForecastBatch]:
    """Yield all forecasts as arrays, grouped by shape; other metrics use them, too."""
    rows = record.forecasts.sort(c.SOURCE, c.TICK, c.ACTOR, c.MODE).collect()
    if rows.is_empty():
        return
    key = [c.SOURCE, c.TICK, c.ACTOR]
    rows = rows.with_columns(
        pl.len().over(key).alias("modes"),
        pl.col(c.TIME_S).list.len().alias("steps"),
        pl.col(c.VAR_XX_M2).is_not_null().alias("mixture"),
        pl.col(c.TIME_S).list.eval(pl.element().cast(pl.String)).list.join(" ").alias("shape"),
    )
    groups = [c.SOURCE, "shape", "modes", "steps", "mixture"]
    for _, group in rows.group_by(groups, maintain_order=True):
        yield _batch(group, tracks)


def _batch(group: pl.DataFrame, tracks: EpisodeTracks) -> ForecastBatch:
    modes, steps = int(group["modes"][0]), int(group["steps"][0])
    first = group.gather_every(modes)
    time_s = group[c.TIME_S][0].to_numpy().astype(np.float64)
    mean = np.stack(
        [group[name].explode().to_numpy().astype(np.float64) for name in (c.X_M, c.Y_M)], axis=-1
    ).reshape(-1, modes, steps, 2)
    tick_at = np.searchsorted(tracks.tick, first[c.TICK].to_numpy())
    tick_at = np.clip(tick_at, 0, len(tracks.tick) - 1)
    by_ego = (first[c.FRAME] == "ego").to_numpy()
    spread = _spread(group, modes, steps) if bool(group["mixture"][0]) else None
    if by_ego.any():
        pose = record_pose(tracks, tick_at[by_ego])
        mean[by_ego] = _to_world(mean[by_ego], pose)
        if spread is not None:
            spread[by_ego] = _turned(spread[by_ego], pose)
    person = np.searchsorted(tracks.number, first[c.ACTOR].to_numpy())
    return ForecastBatch(
        source=str(group[c.SOURCE][0]),
        tick_at=tick_at,
        person=person,
        time_s=time_s,
        weight=group[c.WEIGHT].to_numpy().astype(np.float64).reshape(-1, modes),
        mean_m=mean,
        is_mixture=bool(group["mixture"][0]),
        truth_m=_truth(tracks, person, first[c.ACTOR].to_numpy(), tick_at, time_s),
        covariance_m2=spread,
    )


def _spread(group: pl.DataFrame, modes: int, steps: int) -> FloatArray:
    """(N, K, H, 2, 2) covariances in the frame they were written in."""
    xx, xy, yy = (
        group[name].explode().to_numpy().astype(np.float64)
        for name in (c.VAR_XX_M2, c.VAR_XY_M2, c.VAR_YY_M2)
    )
    return np.stack([xx, xy, xy, yy], axis=-1).reshape(-1, modes, steps, 2, 2)


def _turned(spread_m2: FloatArray, pose: FloatArray) -> FloatArray:
    """Covariances of the ego's frame in the world's."""
    cos, sin = pose[:, COS], pose[:, SIN]
    turn = np.stack([np.stack([cos, -sin], -1), np.stack([sin, cos], -1)], -2)[:, None, None]
    return np.asarray(turn @ spread_m2 @ np.swapaxes(turn, -1, -2))


def record_pose(tracks: EpisodeTracks, tick_at: np.ndarray) -> FloatArray:
    """Poses of the ego at some ticks."""
    return np.asarray(tracks.ego_pose[tick_at])


def _to_world(local_m: FloatArray, pose: FloatArray) -> FloatArray:
    cos, sin = pose[:, COS, None, None], pose[:, SIN, None, None]
    x, y = local_m[..., 0], local_m[..., 1]
    return np.stack(
        [
            pose[:, X, None, None] + x * cos - y * sin,
            pose[:, Y, None, None] + x * sin + y * cos,
        ],
        axis=-1,
    )


def _truth(
    tracks: EpisodeTracks,
    person: np.ndarray,
    number: np.ndarray,
    tick_at: np.ndarray,
    time_s: FloatArray,
) -> FloatArray:
    """Return true positions (N, H, 2), interpolated between ticks; nan where a person is absent."""
    out = np.full((len(person), len(time_s), 2), np.nan)
    for who in np.unique(person):
        rows = np.flatnonzero(person == who)
        if who >= len(tracks.number) or tracks.number[who] != number[rows[0]]:
            continue
        here = tracks.present[who]
        times, place = tracks.time_s[here], tracks.pose[who, here, :2]
        wanted = tracks.time_s[tick_at[rows]][:, None] + time_s
        # Recorded times are exact, horizons are 32-bit floats.
        known = (wanted >= times[0] - 1e-4) & (wanted <= times[-1] + 1e-4)
        for axis in range(2):
            out[rows, :, axis] = np.where(known, np.interp(wanted, times, place[:, axis]), np.nan)
    return out


def _errors(batch: ForecastBatch) -> tuple[FloatArray, FloatArray, FloatArray]:
    """ADE, FDE and best ADE of each forecast; nan where no horizon has truth."""
    known: BoolArray = np.isfinite(batch.truth_m[..., 0])
    ade, fde, best = (np.full(len(known), np.nan) for _ in range(3))
    # Truth ends somewhere: forecasts with the same number of known horizons are one block.
    for steps in np.unique(known.sum(axis=1)):
        rows = np.flatnonzero(known.sum(axis=1) == steps)
        if steps == 0:
            continue
        truth, mean = batch.truth_m[rows, :steps], batch.mean_m[rows, :, :steps]
        if batch.is_mixture:
            weight = batch.weight[rows] / batch.weight[rows].sum(axis=1, keepdims=True)
            unit = np.broadcast_to(np.eye(2), (*mean.shape, 2))
            at = fde_mixture_mean(Mixture(weights=weight, means_m=mean, covariances_m2=unit), truth)
        else:
            at = ade_sample_averaged(Samples(positions_m=mean), truth)
        ade[rows] = at.mean(axis=1)
        best[rows] = best_of_k_ade(Samples(positions_m=mean), truth, k=mean.shape[1])
        if steps == known.shape[1]:
            fde[rows] = at[:, -1]
    return ade, fde, best


def _mean(parts: list[FloatArray]) -> float:
    values = np.concatenate(parts)
    values = values[np.isfinite(values)]
    return float(values.mean()) if len(values) else math.nan


def forecast_errors_of(episode: MetricInput) -> list[ForecastError]:
    """Return the forecast errors of a scored episode, by source."""
    return forecast_errors(episode.record, episode.tracks)


def _over_all_sources(episode: MetricInput, name: str) -> MetricResult:
    """Mean over all forecasts of all sources; an agent usually has one."""
    errors = episode.shared(forecast_errors_of)
    total = sum(error.forecasts for error in errors)
    if not total:
        return NOT_APPLICABLE
    parts = [getattr(error, name) * error.forecasts for error in errors if error.forecasts]
    return MetricResult.of(float(sum(parts)) / total, n=total)


def _forecasts(score: EpisodeScore) -> float:
    return float(sum(part["forecasts"] for part in score.detail.get("forecasts", ())))


_POOLING: Final = weighted_by(_forecasts, words="forecasts")


@metric(
    "forecast_ade_m",
    unit="m",
    direction="lower",
    label="Error of forecasts (ADE)",
    group="forecasts",
    requires="forecasts of the agent",
    pooling=_POOLING,
)
def _forecast_ade_m(episode: MetricInput) -> MetricResult:
    """Mean error of the agent's forecasts over their horizons."""
    return _over_all_sources(episode, "ade_m")


@metric(
    "forecast_fde_m",
    unit="m",
    direction="lower",
    label="Final error of forecasts (FDE)",
    group="forecasts",
    requires="forecasts of the agent",
    pooling=_POOLING,
)
def _forecast_fde_m(episode: MetricInput) -> MetricResult:
    """Error of the agent's forecasts at their last horizon."""
    return _over_all_sources(episode, "fde_m")


@metric(
    "forecast_best_ade_m",
    unit="m",
    direction="lower",
    label="Error of the best mode (ADE)",
    group="forecasts",
    requires="forecasts of the agent",
    pooling=_POOLING,
)
def _forecast_best_ade_m(episode: MetricInput) -> MetricResult:
    """Mean error of the best mode or sample of each forecast."""
    return _over_all_sources(episode, "best_ade_m")
