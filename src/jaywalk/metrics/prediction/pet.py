"""Post-encroachment time: between one road user leaving a conflict area and the next entering."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from jaywalk.core.errors import UsageError


def post_encroachment_time(first: tuple[float, float], second: tuple[float, float]) -> float:
    """Seconds between two stays (enter, leave) in the same area.

    Positive: apart by that much, whoever comes first. Negative: both inside together for that long
    at least. Infinite where one of them never enters or never leaves.
    """
    for enter, leave in (first, second):
        if leave < enter:
            raise UsageError(f"a stay leaves at {leave} s before it enters at {enter} s")
    gap = max(second[0] - first[1], first[0] - second[1])
    return float(gap) if np.isfinite(gap) else float("inf")


def stay(times_s: ArrayLike, inside: ArrayLike) -> tuple[float, float]:
    """First and last time inside an area; ``(inf, inf)`` for somebody who never is."""
    times, within = np.asarray(times_s, dtype=np.float64), np.asarray(inside, dtype=np.bool_)
    if times.shape != within.shape or times.ndim != 1:
        raise UsageError(f"times {times.shape} and inside {within.shape} must pair up")
    hit = times[within]
    return (float(hit.min()), float(hit.max())) if hit.size else (float("inf"), float("inf"))
