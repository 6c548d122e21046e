"""In-ROI sensitivity (IRS): share of the people in the comfort zone that a predictor announces.

IRS is the true-positive rate at a false-positive rate that is acceptable for driving. Scores are
in-ROI probabilities, labels state whether a person was inside, and tracks are the clusters. The
band around a ROC curve shows its variation over other sets of tracks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from jaywalk.core.arrays import BoolArray, FloatArray, IntArray
from jaywalk.core.errors import UsageError
from jaywalk.core.kernels import kernel
from jaywalk.core.seeds import stream
from jaywalk.metrics.prediction._roc import Scored, check_scored
from jaywalk.stats.bootstrap import Estimate, bca, cluster_codes, multiplicities
from jaywalk.stats.intervals import Interval, check_level

Rule = Literal["auto", "linear", "step"]

_RULES: dict[Rule, int] = {"auto": 0, "linear": 1, "step": 2}
_AUTO, _STEP = 0, 2

FPR_TARGETS = {1.0: 0.025, 2.0: 0.05, 3.0: 0.10, 4.0: 0.15}
"""Tolerable false-positive rate by horizon in s. They differ: do not compare IRS over horizons."""

FEW_POSITIVES = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Irs:
    """In-ROI sensitivity with the values needed to interpret it.

    Attributes:
        value: TPR at the target; NaN where undefined (see ``warnings``).
        interval: BCa interval over tracks (50 % by default, as in the paper).
        linear: Value with linear reading of the curve, for any rule.
        step: Value with step-wise reading of the curve, for any rule.
        fpr_target: The false-positive rate it is read at.
        n_samples: Samples of positive weight.
        n_positive: Those with label 1.
        n_tracks: Distinct tracks.
        tie_block: Share of negatives in the group of equal scores that holds the target.
        track_balanced: The value with every track weighing the same.
        warnings: Reasons to distrust the value.
    """

    value: float
    interval: Interval
    linear: float
    step: float
    fpr_target: float
    n_samples: int
    n_positive: int
    n_tracks: int
    tie_block: float
    track_balanced: float
    warnings: tuple[str, ...]


def irs(
    scores: ArrayLike,
    labels: ArrayLike,
    track_ids: ArrayLike,
    *,
    fpr_target: float,
    weights: ArrayLike | None = None,
    rule: Rule = "auto",
    resamples: int = 10_000,
    level: float = 0.5,
    seed: int = 0,
) -> Irs:
    """Compute the in-ROI sensitivity with its bootstrap interval over tracks.

    Args:
        scores: In-ROI probability of each sample; any increasing transform gives the same.
        labels: 1 where the person truly was inside the predicted zone.
        track_ids: Track of each sample.
        fpr_target: See `FPR_TARGETS`.
        weights: Weight of each sample; equal by default.
        rule: ``linear`` between the curve's vertices (randomised thresholding inside ties);
            ``step``: the largest TPR whose FPR does not exceed the target; ``auto``: linear, but
            step where the target falls into the ties at score 0, for there linear reading would
            give credit for guessing.
        resamples: Bootstrap replicates; 0 for no interval.
        level: Confidence level of the interval.
        seed: Seed of the bootstrap; equal seeds draw equal tracks for every model.
    """
    if not 0.0 < fpr_target < 1.0:
        raise UsageError(f"fpr_target {fpr_target!r} must lie between 0 and 1, e.g. 0.05")
    data = check_scored(scores, labels, weights)
    codes, n_tracks = cluster_codes(track_ids)
    if codes.shape != data.scores.shape:
        raise UsageError(f"{codes.size} track ids for {data.scores.size} scores")
    counted = data.weights > 0.0
    n_positive = int((data.positive & counted).sum())
    n_negative = int(counted.sum()) - n_positive
    ranked = _Ranked.of(data, codes, n_tracks, fpr_target, rule)
    block, zero_block = ranked.tie_block()
    estimate, notes = _estimate(
        ranked, n_positive, n_negative, resamples=resamples, level=level, seed=seed
    )
    if zero_block and np.isfinite(estimate.value):
        read = " step value" if rule == "auto" else ""
        notes.append(
            f"the target rate falls into the ties at score 0 ({block:.0%} of negatives):{read}"
        )
    forms = (
        _Ranked.of(data, codes, n_tracks, fpr_target, "linear"),
        _Ranked.of(data, codes, n_tracks, fpr_target, "step"),
        _Ranked.of(_balanced(data, codes), codes, n_tracks, fpr_target, rule),
    )
    defined = np.isfinite(estimate.value)
    once = np.ones((1, n_tracks))
    linear, step, balanced = (float(f(once)[0]) if defined else np.nan for f in forms)
    return Irs(
        value=estimate.value,
        interval=estimate.interval,
        linear=linear,
        step=step,
        fpr_target=fpr_target,
        n_samples=int(counted.sum()),
        n_positive=n_positive,
        n_tracks=n_tracks,
        tie_block=block,
        track_balanced=balanced,
        warnings=tuple(notes),
    )


def irs_statistic(
    scores: ArrayLike,
    labels: ArrayLike,
    track_codes: IntArray,
    n_tracks: int,
    *,
    fpr_target: float,
    weights: ArrayLike | None = None,
    rule: Rule = "auto",
) -> Callable[[FloatArray], FloatArray]:
    """IRS as a function of how often each track counts, ``(B, n_tracks)`` to ``B`` values."""
    return _Ranked.of(
        check_scored(scores, labels, weights), track_codes, n_tracks, fpr_target, rule
    )


def why_undefined(labels: ArrayLike, fpr_target: float, weights: ArrayLike | None = None) -> str:
    """Return the reason why samples have no IRS at this target; empty if they have one."""
    label = np.asarray(labels)
    data = check_scored(np.zeros(label.shape), label, weights)
    counted = data.weights > 0.0
    n_positive = int((data.positive & counted).sum())
    return _why_undefined(n_positive, int(counted.sum()) - n_positive, fpr_target)


def _why_undefined(n_positive: int, n_negative: int, fpr_target: float) -> str:
    if n_positive == 0:
        return "no positive samples: undefined"
    need = 1.0 / fpr_target - 1e-9
    if n_negative < need:
        return f"too few negatives: {n_negative}, need {int(np.ceil(need))}"
    return ""


def _estimate(
    ranked: _Ranked, n_positive: int, n_negative: int, *, resamples: int, level: float, seed: int
) -> tuple[Estimate, list[str]]:
    nothing = Interval(np.nan, np.nan, level)
    missing = Estimate(np.nan, nothing, ranked.n_tracks, None)
    if why := _why_undefined(n_positive, n_negative, ranked.fpr_target):
        return missing, [why]
    notes = []
    if n_positive < FEW_POSITIVES:
        notes.append(f"only {n_positive} positive samples")
    if resamples == 0:
        value = float(ranked(np.ones((1, ranked.n_tracks)))[0])
        return Estimate(value, nothing, ranked.n_tracks, None), notes
    estimate = bca(
        ranked, ranked.n_tracks, resamples=resamples, level=level, seed=seed, bounds=(0.0, 1.0)
    )
    return estimate, notes + ([estimate.warning] if estimate.warning else [])


def _balanced(data: Scored, codes: IntArray) -> Scored:
    per_track = np.bincount(codes, weights=data.weights)
    with np.errstate(invalid="ignore", divide="ignore"):
        weights = np.where(data.weights > 0.0, data.weights / per_track[codes], 0.0)
    return Scored(scores=data.scores, positive=data.positive, weights=weights)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ranked:
    """Samples sorted once by falling score; every replicate walks down only to its target."""

    track: IntArray
    positive: BoolArray
    weight: FloatArray
    group_end: BoolArray
    is_zero: BoolArray
    positive_by_track: FloatArray
    negative_by_track: FloatArray
    fpr_target: float
    rule: int
    n_tracks: int

    @classmethod
    def of(
        cls, data: Scored, codes: IntArray, n_tracks: int, fpr_target: float, rule: Rule
    ) -> _Ranked:
        order = np.argsort(-data.scores, kind="stable")
        ranked = data.scores[order]
        by_track = [
            np.bincount(
                codes, weights=np.where(side, data.weights, 0.0), minlength=n_tracks
            ).astype(np.float64)
            for side in (data.positive, ~data.positive)
        ]
        return cls(
            track=codes[order],
            positive=data.positive[order],
            weight=data.weights[order],
            group_end=np.append(np.diff(ranked) != 0.0, True)[: ranked.size],
            is_zero=ranked == 0.0,
            positive_by_track=by_track[0],
            negative_by_track=by_track[1],
            fpr_target=fpr_target,
            rule=_RULES[rule],
            n_tracks=n_tracks,
        )

    def __call__(self, counts: FloatArray) -> FloatArray:
        values, _, _ = self._walk(counts)
        return values

    def tie_block(self) -> tuple[float, bool]:
        """Share of negatives tied at the target, and whether those are the ties at score 0."""
        _, block, zero = self._walk(np.ones((1, self.n_tracks)))
        return float(block[0]), bool(zero[0])

    def _walk(self, counts: FloatArray) -> tuple[FloatArray, FloatArray, BoolArray]:
        positives, negatives = counts @ self.positive_by_track, counts @ self.negative_by_track
        walked: tuple[FloatArray, FloatArray, BoolArray] = _read_curves(
            np.ascontiguousarray(counts),
            self.track,
            self.positive,
            self.weight,
            self.group_end,
            self.is_zero,
            positives,
            negatives,
            self.fpr_target,
            self.rule,
        )
        return walked


@kernel
def _read_curves(
    counts: FloatArray,
    track: IntArray,
    positive: BoolArray,
    weight: FloatArray,
    group_end: BoolArray,
    is_zero: BoolArray,
    positives: FloatArray,
    negatives: FloatArray,
    fpr_target: float,
    rule: int,
) -> Any:
    n_replicates = counts.shape[0]
    values = np.full(n_replicates, np.nan)
    blocks = np.zeros(n_replicates)
    zeros = np.zeros(n_replicates, dtype=np.bool_)
    for b in range(n_replicates):
        if positives[b] <= 0.0 or negatives[b] <= 0.0:
            continue
        # Weights add up to the target only up to the last bits.
        target = fpr_target * negatives[b] * (1.0 + 1e-12)
        hits, alarms, group_hits, group_alarms = 0.0, 0.0, 0.0, 0.0
        for i in range(track.shape[0]):
            mass = counts[b, track[i]] * weight[i]
            if positive[i]:
                group_hits += mass
            else:
                group_alarms += mass
            if not group_end[i]:
                continue
            if alarms + group_alarms > target:
                blocks[b] = group_alarms / negatives[b]
                zeros[b] = is_zero[i]
                if rule != _STEP and not (rule == _AUTO and is_zero[i]):
                    hits += group_hits * (target - alarms) / group_alarms
                break
            hits += group_hits
            alarms += group_alarms
            group_hits, group_alarms = 0.0, 0.0
        values[b] = min(hits / positives[b], 1.0)
    return values, blocks, zeros


@dataclass(frozen=True, slots=True, kw_only=True)
class RocBand:
    """TPR at some false-positive rates, with its percentile band over tracks."""

    fpr: FloatArray
    tpr: FloatArray
    low: FloatArray
    high: FloatArray


def roc_band(
    scores: ArrayLike,
    labels: ArrayLike,
    track_ids: ArrayLike,
    *,
    fpr: ArrayLike,
    level: float = 0.5,
    resamples: int = 500,
    seed: int = 0,
) -> RocBand:
    """Read the curve (linearly) at each rate of ``fpr``, for the data and for drawn tracks."""
    check_level(level)
    rates = np.asarray(fpr, dtype=np.float64)
    codes, n = cluster_codes(track_ids)
    drawn = list(multiplicities(stream(seed, "prediction", "roc_band"), n, resamples)) if n else []
    tails = [(1.0 - level) / 2.0, (1.0 + level) / 2.0]
    rows = np.full((rates.size, 3), np.nan)
    for i, rate in enumerate(rates):
        statistic = irs_statistic(scores, labels, codes, n, fpr_target=float(rate), rule="linear")
        rows[i, 0] = statistic(np.ones((1, n)))[0]
        values = np.concatenate([statistic(counts) for counts in drawn] or [np.zeros(0)])
        values = values[np.isfinite(values)]
        if values.size:
            rows[i, 1:] = np.quantile(values, tails)
    return RocBand(fpr=rates, tpr=rows[:, 0], low=rows[:, 1], high=rows[:, 2])
