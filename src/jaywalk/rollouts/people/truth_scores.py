"""Scores of predictors against the true probability, and the best scores that can be reached."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import polars as pl

from jaywalk.core.arrays import BoolArray, FloatArray, IntArray
from jaywalk.forecasting.evaluate import target_rate
from jaywalk.metrics.prediction.calibration import probability_bin
from jaywalk.metrics.prediction.irs import irs
from jaywalk.stats.bootstrap import Estimate, bca, cluster_codes, mean

_BINS: Final = 10


def score_against_truth(
    table: pl.DataFrame,
    predicted: Mapping[str, FloatArray],
    *,
    draws: int = 1000,
    resamples: int = 2000,
    level: float = 0.95,
    seed: int = 0,
) -> list[dict[str, Any]]:
    """Return what is reachable and what predictors reach, one entry for each horizon.

    Args:
        table: True probabilities.
        predicted: Probabilities of each predictor, one for each row of the table.
        draws: Draws behind each predicted probability.
        resamples: Bootstrap replicates over people.
        level: Level of the intervals.
        seed: Seed of the bootstrap.
    """
    rows = []
    for horizon_s in table["horizon_s"].unique().sort().to_list():
        here = (table["horizon_s"] == horizon_s).to_numpy()
        part = table.filter(here)
        scorer = _Scorer.of(part, horizon_s, resamples=resamples, level=level, seed=seed)
        rollouts = int(part["rollouts"][0])
        truth = part["truth"].to_numpy()
        known = part["label"].to_numpy() >= 0
        rows.append(
            {
                "horizon_s": horizon_s,
                "n_samples": part.height,
                "n_people": part.select("episode", "person").n_unique(),
                "n_positive": int((part["label"] == 1).sum()),
                "mean_truth": float(truth.mean()),
                "share_uncertain": float(((truth > 0.0) & (truth < 1.0)).mean()),
                "replay_median_m": float(np.median(part["replay_m"].to_numpy())),
                "best": scorer.best(),
                "truth_on_record": scorer.on_record(truth, known, rollouts),
                "predictors": {
                    name: {
                        **scorer.against_truth(values[here], draws),
                        "on_record": scorer.on_record(values[here], known, draws),
                    }
                    for name, values in predicted.items()
                },
            }
        )
    return rows


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scorer:
    """Scores of probabilities at one horizon, with intervals over people."""

    table: pl.DataFrame
    people: IntArray
    target: float
    options: dict[str, Any]

    @classmethod
    def of(
        cls, table: pl.DataFrame, horizon_s: float, *, resamples: int, level: float, seed: int
    ) -> _Scorer:
        names = table.select(pl.concat_str("episode", pl.lit("/"), "person")).to_series()
        return cls(
            table=table,
            people=cluster_codes(names.to_numpy())[0],
            target=target_rate(horizon_s),
            options={"resamples": resamples, "level": level, "seed": seed},
        )

    def best(self) -> dict[str, Any]:
        """Scores that no predictor can exceed.

        A finite number of rollouts gives a range. Judged by the rollouts themselves the truth looks
        too good; one half of the rollouts judged by the other half looks too bad.
        """
        total = self.table["rollouts"].to_numpy().astype(np.float64)
        inside = self.table["inside"].to_numpy().astype(np.float64)
        even = self.table["inside_even"].to_numpy() / (0.5 * total)
        odd = (inside - 0.5 * total * even) / (0.5 * total)
        truth = inside / total
        halves = [(even, odd), (odd, even)]
        smooth = 0.5 * total
        split_irs = [self._irs_of(score, judge, None) for score, judge in halves]
        split_nll = [
            _cross_entropy((score * smooth + 0.5) / (smooth + 1.0), judge)
            for score, judge in halves
        ]
        spread = truth * (1.0 - truth) * total / (total - 1.0)
        return {
            "irs": [_number(_mean(split_irs)), _number(self._irs_of(truth, truth, None))],
            "nll": [
                _number(float(_cross_entropy(truth, truth).mean())),
                _number(float(np.mean(split_nll))),
            ],
            "brier": self._mean(spread),
        }

    def against_truth(self, predicted: FloatArray, draws: int) -> dict[str, Any]:
        """Expected scores of predicted probabilities under the truth."""
        truth = self.table["truth"].to_numpy()
        clipped = np.clip(predicted, 0.5 / (draws + 1), 1.0 - 0.5 / (draws + 1))
        error = truth * (1.0 - predicted) ** 2 + (1.0 - truth) * predicted**2
        return {
            "irs": self._irs_entry(predicted, truth, None),
            "nll": self._mean(_cross_entropy(clipped, truth)),
            "brier": self._mean(error),
            "ece": self._calibration(predicted, truth),
        }

    def on_record(self, predicted: FloatArray, known: BoolArray, draws: int) -> dict[str, Any]:
        """Scores of probabilities on what happened in the record."""
        label = np.where(known, self.table["label"].to_numpy(), 0).astype(np.float64)
        clipped = np.clip(predicted, 0.5 / (draws + 1), 1.0 - 0.5 / (draws + 1))
        return {
            "irs": self._irs_entry(predicted, label, known),
            "nll": self._mean(_cross_entropy(clipped, label), known),
            "brier": self._mean((predicted - label) ** 2, known),
            "ece": self._calibration(predicted, label, known),
        }

    def _irs(self, scores: FloatArray, truth: FloatArray, known: BoolArray | None, n: int) -> Any:
        """IRS of samples that are positive with probability ``truth``."""
        use = np.ones(len(scores), np.bool_) if known is None else known
        both = np.concatenate([scores[use], scores[use]])
        label = np.repeat([1, 0], int(use.sum()))
        weights = np.concatenate([truth[use], 1.0 - truth[use]])
        track = np.concatenate([self.people[use], self.people[use]])
        options = {**self.options, "resamples": n}
        return irs(both, label, track, fpr_target=self.target, weights=weights, **options)

    def _irs_of(self, scores: FloatArray, truth: FloatArray, known: BoolArray | None) -> float:
        return float(self._irs(scores, truth, known, 0).value)

    def _irs_entry(
        self, scores: FloatArray, truth: FloatArray, known: BoolArray | None
    ) -> dict[str, Any]:
        found = self._irs(scores, truth, known, self.options["resamples"])
        return _entry(Estimate(found.value, found.interval, found.n_tracks, None))

    def _mean(self, values: FloatArray, known: BoolArray | None = None) -> dict[str, Any]:
        use = np.ones(len(values), np.bool_) if known is None else known
        options = {**self.options, "bounds": (0.0, np.inf)}
        return _entry(mean(values[use], self.people[use], **options))

    def _calibration(
        self, predicted: FloatArray, truth: FloatArray, known: BoolArray | None = None
    ) -> dict[str, Any]:
        """Expected calibration error: mean difference to the truth in bins of the prediction."""
        use = np.ones(len(predicted), np.bool_) if known is None else known
        codes, count = cluster_codes(self.people[use])
        cell = codes * _BINS + probability_bin(predicted[use], _BINS)
        excess = np.bincount(cell, weights=(predicted - truth)[use], minlength=count * _BINS)
        by_bin = excess.reshape(count, _BINS)
        total = np.bincount(codes, minlength=count).astype(np.float64)

        def statistic(counts: FloatArray) -> FloatArray:
            return np.asarray(np.abs(counts @ by_bin).sum(axis=1) / (counts @ total))

        return _entry(bca(statistic, count, bounds=(0.0, 1.0), **self.options))


def _cross_entropy(predicted: FloatArray, truth: FloatArray) -> FloatArray:
    """Expected negative logarithm of the predicted probability, in nats; 0 log 0 is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        positive = np.where(truth > 0.0, truth * np.log(predicted), 0.0)
        negative = np.where(truth < 1.0, (1.0 - truth) * np.log1p(-predicted), 0.0)
    return np.asarray(-(positive + negative))


def _mean(values: list[float]) -> float:
    return float(np.mean(values))


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _entry(estimate: Estimate) -> dict[str, Any]:
    ends = (estimate.interval.low, estimate.interval.high)
    return {
        "value": _number(estimate.value),
        f"ci{round(100 * estimate.interval.level)}": [_number(end) for end in ends],
    }
