"""Two-way bootstrap, track x training seed, of any track statistic (IRS among them).

An interval over tracks alone ignores that the model itself came out of one of many trainings.
For plain means :func:`jaywalk.stats.bootstrap.two_way` does the same directly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.errors import UsageError
from jaywalk.core.seeds import stream
from jaywalk.stats.bootstrap import Estimate, multiplicities
from jaywalk.stats.intervals import Interval, check_level

FloatArray = NDArray[np.float64]
Statistic = Callable[[FloatArray], FloatArray]


def two_way_estimate(
    by_seed: Sequence[Statistic],
    n_tracks: int,
    *,
    resamples: int = 10_000,
    level: float = 0.9,
    seed: int = 0,
) -> Estimate:
    """Mean over training seeds of a track statistic, with seeds and tracks both drawn anew.

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
