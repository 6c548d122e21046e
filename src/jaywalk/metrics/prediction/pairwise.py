"""Which model is better than which: paired bootstrap over tracks, and the optimal feature set."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.errors import UsageError
from jaywalk.stats.bootstrap import Estimate, bca

FloatArray = NDArray[np.float64]
Statistic = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Difference of two models' metrics, ``second - first``, over the same drawn tracks."""

    first: str
    second: str
    difference: Estimate

    @property
    def is_significant(self) -> bool:
        """Whether 0 lies outside of the interval."""
        interval = self.difference.interval
        return bool(interval.low > 0.0 or interval.high < 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class OptimalSet:
    """The choice among models.

    Attributes:
        chosen: Fewest features among the candidates; of those the best estimate. None where no
            model has a value.
        candidates: Models with a value that no other one beats significantly.
    """

    chosen: str | None
    candidates: tuple[str, ...]


def all_pairs(
    models: Mapping[str, Statistic],
    n_tracks: int,
    *,
    resamples: int = 10_000,
    level: float = 0.9,
    seed: int = 0,
) -> list[Pair]:
    """Test every pair; the relation is not transitive, so none can be left out.

    No correction for the number of pairs is made, as in the paper.
    """
    names = list(models)
    pairs = []
    for i, first in enumerate(names):
        for second in names[i + 1 :]:
            difference = bca(
                _difference(models[first], models[second]),
                n_tracks,
                resamples=resamples,
                level=level,
                seed=seed,
            )
            pairs.append(Pair(first=first, second=second, difference=difference))
    return pairs


def optimal_set(
    values: Mapping[str, float],
    n_features: Mapping[str, int],
    pairs: list[Pair],
    *,
    higher_is_better: bool,
) -> OptimalSet:
    """Apply the paper's rule: not beaten by anybody, then fewest features, then best estimate.

    Args:
        values: Point estimate of each model.
        n_features: Number of features of each model (head and body count as one).
        pairs: All pairs, see `all_pairs`.
        higher_is_better: True for IRS, False for NLL and errors.
    """
    expected = len(values) * (len(values) - 1) // 2
    if not values or len(pairs) != expected:
        raise UsageError(f"{len(values)} models need {expected} pairs, got {len(pairs)}")
    sign = 1.0 if higher_is_better else -1.0
    beaten = set()
    for pair in pairs:
        # The strict sign of the estimates keeps the best estimate among the candidates always.
        gain = sign * (values[pair.second] - values[pair.first])
        if pair.is_significant and np.isfinite(gain) and gain != 0.0:
            beaten.add(pair.first if gain > 0.0 else pair.second)
    known = [name for name, value in values.items() if np.isfinite(value)]
    candidates = tuple(name for name in known if name not in beaten)
    chosen = min(
        candidates, key=lambda name: (n_features[name], -sign * values[name]), default=None
    )
    return OptimalSet(chosen=chosen, candidates=candidates)


def _difference(first: Statistic, second: Statistic) -> Statistic:
    def statistic(counts: FloatArray) -> FloatArray:
        return second(counts) - first(counts)

    return statistic
