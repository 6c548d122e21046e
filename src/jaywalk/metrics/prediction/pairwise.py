"""Comparison of models in pairs: paired bootstrap over tracks, and the optimal feature set.

The module also has a two-way bootstrap, track x training seed, of any track statistic, such as IRS.
An interval over tracks alone ignores that the model is the result of one of many trainings. For
plain means :func:`jaywalk.stats.bootstrap.two_way` computes the same directly.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from jaywalk.core.arrays import FloatArray
from jaywalk.core.errors import UsageError
from jaywalk.core.seeds import stream
from jaywalk.stats.bootstrap import Estimate, bca, multiplicities
from jaywalk.stats.intervals import Interval, check_level

Statistic = Callable[[FloatArray], FloatArray]


def two_way_estimate(
    by_seed: Sequence[Statistic],
    n_tracks: int,
    *,
    resamples: int = 10_000,
    level: float = 0.9,
    seed: int = 0,
) -> Estimate:
    """Compute the mean of a track statistic over training seeds, resampling seeds and tracks.

    Args:
        by_seed: The statistic of the model of each training seed over the same tracks.
        n_tracks: Number of tracks.
        resamples: Bootstrap replicates.
        level: Confidence level of the percentile interval.
        seed: Seed of the draws.
    """
    check_level(level)
    if not by_seed:
        raise UsageError("a two-way bootstrap needs at least one training seed")
    once = np.ones((1, n_tracks))
    value = float(np.mean([statistic(once)[0] for statistic in by_seed]))
    track_rng, seed_rng = stream(seed, "prediction", "two_way").spawn(2)
    picked = np.concatenate(list(multiplicities(seed_rng, len(by_seed), resamples)))
    drawn, done = [], 0
    for counts in multiplicities(track_rng, n_tracks, resamples):
        values = np.stack([statistic(counts) for statistic in by_seed], axis=1)
        share = picked[done : done + len(counts)] / len(by_seed)
        # A seed that was not drawn must not spread its NaN.
        drawn.append(np.where(share > 0.0, values * share, 0.0).sum(axis=1))
        done += len(counts)
    replicates = np.concatenate(drawn)
    kept = replicates[np.isfinite(replicates)]
    note = None
    if kept.size < replicates.size:
        note = f"{replicates.size - kept.size} of {replicates.size} resamples undefined, left out"
    tail = (1.0 - level) / 2.0
    ends = np.quantile(kept, [tail, 1.0 - tail]) if kept.size else np.array([np.nan, np.nan])
    return Estimate(value, Interval(float(ends[0]), float(ends[1]), level), n_tracks, note)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Difference of two models' metrics, ``second - first``, over the same drawn tracks."""

    first: str
    second: str
    difference: Estimate

    @property
    def is_significant(self) -> bool:
        """Return whether 0 lies outside of the interval."""
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
    """Apply the paper's rule: not beaten by any model, then fewest features, then best estimate.

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
