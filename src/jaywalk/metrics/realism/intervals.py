"""Bootstrap intervals of realism figures, with scenes as clusters."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jaywalk.core.errors import UsageError
from jaywalk.stats.bootstrap import Estimate, bca, ratio_of_sums
from jaywalk.stats.intervals import Interval

RESAMPLES = 5000


def over_scenes(values: Sequence[float], weights: Sequence[float] | None = None) -> Estimate:
    """A mean over scenes, or a ratio of sums, with its interval.

    Args:
        values: One number a scene.
        weights: Denominators; ones give the plain mean.
    """
    top = np.asarray(values, dtype=np.float64)
    bottom = np.ones_like(top) if weights is None else np.asarray(weights, dtype=np.float64)
    if top.shape != bottom.shape:
        raise UsageError(f"{top.size} values but {bottom.size} weights; give one a scene.")
    if top.size < 2 or not np.isfinite(top + bottom).all():
        total = float(bottom.sum())
        value = float(top.sum()) / total if total else float("nan")
        nothing = Interval(float("nan"), float("nan"), 0.95)
        reason = "an interval needs two scenes" if top.size < 2 else "some scenes have no value"
        return Estimate(value=value, interval=nothing, n=top.size, warning=reason)
    return bca(ratio_of_sums(top, bottom), top.size, resamples=RESAMPLES)
