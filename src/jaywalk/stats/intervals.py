"""Closed-form confidence intervals: Wilson, Clopper-Pearson, exact Poisson, rule of three."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from scipy import special

from jaywalk.core.errors import UsageError

# With fewer independent clusters than this every interval says so.
FEW_CLUSTERS: Final = 20
UNBOUNDED: Final = (-math.inf, math.inf)


@dataclass(frozen=True, slots=True)
class Interval:
    """A two-sided confidence interval.

    Attributes:
        low: Lower end; NaN where no interval exists.
        high: Upper end; NaN where no interval exists.
        level: Confidence level, e.g. 0.95.
    """

    low: float
    high: float
    level: float

    @property
    def width(self) -> float:
        """Length of the interval."""
        return self.high - self.low

    def scaled(self, factor: float) -> Interval:
        """Return the interval of ``factor`` (positive) times the quantity."""
        return Interval(self.low * factor, self.high * factor, self.level)

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high


def check_level(level: float) -> None:
    """Raise unless ``level`` is a confidence level between 0 and 1."""
    if not 0.0 < level < 1.0:
        raise UsageError(f"level {level!r} is not between 0 and 1; use 0.95 for 95 %")


def wilson(successes: float, n: float, level: float = 0.95) -> Interval:
    """Wilson score interval of a proportion; ``[0, 1]`` when ``n`` is 0."""
    _check_counts(successes, n, level)
    if n == 0:
        return Interval(0.0, 1.0, level)
    z = z_quantile(level)
    p = successes / n
    centre = (p + z * z / (2.0 * n)) / (1.0 + z * z / n)
    half = z / (1.0 + z * z / n) * math.sqrt(p * (1.0 - p) / n + z * z / (4.0 * n * n))
    # The exact ends at no and at only successes; floating point leaves about 1e-17 there.
    low = 0.0 if successes == 0 else max(0.0, centre - half)
    high = 1.0 if successes == n else min(1.0, centre + half)
    return Interval(low, high, level)


def clopper_pearson(successes: float, n: float, level: float = 0.95) -> Interval:
    """Exact (conservative) interval of a proportion; ``[0, 1]`` when ``n`` is 0."""
    _check_counts(successes, n, level)
    alpha = 1.0 - level
    failures = n - successes
    low, high = 0.0, 1.0
    if successes > 0:
        low = float(special.betaincinv(successes, failures + 1.0, alpha / 2.0))
    if failures > 0:
        high = float(special.betaincinv(successes + 1.0, failures, 1.0 - alpha / 2.0))
    return Interval(low, high, level)


def poisson_rate(events: float, exposure: float, level: float = 0.95) -> Interval:
    """Exact interval of a rate: ``events`` counted over ``exposure`` (km, hours, ...).

    Nothing seen over no exposure says nothing: the interval is then ``[0, inf]``.
    """
    check_level(level)
    if events < 0 or exposure < 0 or not math.isfinite(events + exposure):
        raise UsageError(f"events {events!r} and exposure {exposure!r} must be finite and >= 0")
    if exposure == 0:
        if events > 0:
            raise UsageError(f"{events!r} events over an exposure of 0; give the exposure driven")
        return Interval(0.0, math.inf, level)
    alpha = 1.0 - level
    low = float(special.gammaincinv(events, alpha / 2.0)) if events > 0 else 0.0
    high = float(special.gammaincinv(events + 1.0, 1.0 - alpha / 2.0))
    return Interval(low / exposure, high / exposure, level)


def rule_of_three(
    value: float, n: int, bounds: tuple[float, float] = UNBOUNDED, level: float = 0.95
) -> Interval:
    """Interval of a mean when all ``n`` independent values are equal.

    The values seen say nothing about their spread, but they do limit how much of the population
    can differ from them: if a share ``q`` did, all ``n`` would agree with probability
    ``(1 - q) ** n``. The largest share not ruled out is ``1 - (1 - level) ** (1 / n)``, about
    ``3 / n`` at 95 %. That share may lie anywhere in ``bounds``, so on an unbounded scale the
    interval is infinite.
    """
    check_level(level)
    low, high = bounds
    if n < 1 or not low <= value <= high:
        raise UsageError(f"{n} values of {value!r} do not fit the bounds {low} to {high}")
    share = 1.0 - (1.0 - level) ** (1.0 / n)
    # 0 * inf is NaN; a value at its bound keeps that bound.
    down = share * (value - low) if value > low else 0.0
    up = share * (high - value) if high > value else 0.0
    return Interval(value - down, value + up, level)


def t_quantile(clusters: float, level: float = 0.95) -> float:
    """Two-sided t quantile with ``clusters - 1`` degrees of freedom."""
    check_level(level)
    return float(special.stdtrit(clusters - 1.0, 0.5 + level / 2.0))


def z_quantile(level: float = 0.95) -> float:
    """Two-sided normal quantile."""
    check_level(level)
    return float(special.ndtri(0.5 + level / 2.0))


def _check_counts(successes: float, n: float, level: float) -> None:
    check_level(level)
    if not 0 <= successes <= n or not math.isfinite(n):
        raise UsageError(f"successes {successes!r} must lie between 0 and n = {n!r}")
