"""Influence of the weights on the metametric, the first flaw that the post names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from jaywalk.core.seeds import stream
from jaywalk.metrics.realism.challenge import FEATURES, ChallengeConfig
from jaywalk.metrics.realism.score import RealismScore

_DRAWS = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightRow:
    """One weight.

    Attributes:
        weight: As configured.
        likelihood: Score of the feature.
        share: Part of the metametric that comes from it.
        without: Metametric if its weight were spread over the others.
        slope: Change of the metametric per unit of weight moved here from all the others.
        gap_share: Part of the distance to the upper bound that this feature makes.
    """

    weight: float
    likelihood: float
    share: float
    without: float
    slope: float
    gap_share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightStudy:
    """All ten weights of one score.

    Attributes:
        rows: By feature.
        equal: Metametric with equal weights.
        drawn: Its 2.5, 50 and 97.5 % quantiles under weights drawn uniformly from all possible.
        order_kept: Share of the draws in which a baseline keeps its side of the score.
    """

    rows: Mapping[str, WeightRow]
    equal: float
    drawn: tuple[float, float, float]
    order_kept: Mapping[str, float]


def _vector(score: RealismScore) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.array([score.likelihoods[name] for name in FEATURES])


def _rows(
    score: RealismScore, upper: RealismScore, config: ChallengeConfig
) -> dict[str, WeightRow]:
    values, top = _vector(score), _vector(upper)
    weights = np.array([config.weights.get(name, 0.0) for name in FEATURES])
    used = np.isfinite(values)
    total = weights[used].sum()
    mean = float((weights * values)[used].sum() / total)
    gap = float((weights * (top - values))[used].sum())
    rows = {}
    for i, name in enumerate(FEATURES):
        if not used[i]:
            continue
        rest = total - weights[i]
        without = (mean * total - weights[i] * values[i]) / rest if rest else float("nan")
        rows[name] = WeightRow(
            weight=float(weights[i]),
            likelihood=float(values[i]),
            share=float(weights[i] * values[i] / (mean * total)) if mean else float("nan"),
            without=float(without),
            slope=float(values[i] - without),
            gap_share=float(weights[i] * (top[i] - values[i]) / gap) if gap else float("nan"),
        )
    return rows


def weight_study(
    score: RealismScore, baselines: Mapping[str, RealismScore], config: ChallengeConfig
) -> WeightStudy:
    """Vary the weights of a score.

    Args:
        score: The score.
        baselines: Scores on the same scenes, ``log_replay`` among them.
        config: The configuration of both.
    """
    values = _vector(score)
    used = np.isfinite(values)
    rng = stream(0, "realism", "weight_study")
    drawn = rng.dirichlet(np.ones(int(used.sum())), size=_DRAWS)
    totals = drawn @ values[used]
    quantiles = np.quantile(totals, [0.025, 0.5, 0.975])
    kept = {}
    for name, other in baselines.items():
        difference = drawn @ (values - _vector(other))[used]
        configured = score.metametric - other.metametric
        kept[name] = float(np.mean(np.sign(difference) == np.sign(configured)))
    return WeightStudy(
        rows=_rows(score, baselines["log_replay"], config),
        equal=float(values[used].mean()),
        drawn=(float(quantiles[0]), float(quantiles[1]), float(quantiles[2])),
        order_kept=kept,
    )
