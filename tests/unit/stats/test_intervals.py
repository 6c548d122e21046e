"""Intervals against scipy's."""

from __future__ import annotations

import math

import pytest
from scipy import stats

from jaywalk.core.errors import UsageError
from jaywalk.stats.intervals import Interval, clopper_pearson, poisson_rate, wilson

COUNTS = [(0, 1), (1, 1), (0, 20), (20, 20), (7, 20), (227, 300), (1, 10_000)]


@pytest.mark.parametrize(("successes", "n"), COUNTS)
@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
@pytest.mark.parametrize(("ours", "method"), [(wilson, "wilson"), (clopper_pearson, "exact")])
def test_proportions_match_scipy(ours, method, successes, n, level):
    expected = stats.binomtest(successes, n).proportion_ci(level, method=method)
    got = ours(successes, n, level)
    assert (got.low, got.high) == pytest.approx((expected.low, expected.high), abs=1e-12)
    assert got.level == level


@pytest.mark.parametrize("events", [0, 1, 5, 130])
def test_poisson_ends_have_the_tail_probabilities(events):
    got = poisson_rate(events, 12.5, 0.9)
    assert stats.poisson.cdf(events, got.high * 12.5) == pytest.approx(0.05)
    if events:
        assert stats.poisson.sf(events - 1, got.low * 12.5) == pytest.approx(0.05)
    else:
        assert got.low == 0.0


def test_nothing_observed_says_nothing():
    assert wilson(0, 0) == clopper_pearson(0, 0) == Interval(0.0, 1.0, 0.95)
    assert poisson_rate(0, 0.0) == Interval(0.0, math.inf, 0.95)


def test_scaling_and_containing():
    interval = wilson(7, 20).scaled(100)
    assert 35.0 in interval
    assert 0.35 not in interval
    assert interval.width == pytest.approx(100 * wilson(7, 20).width)


@pytest.mark.parametrize(
    "call",
    [
        lambda: wilson(3, 2),
        lambda: wilson(-1, 2),
        lambda: clopper_pearson(1, 2, 95),
        lambda: poisson_rate(1, 0),
        lambda: poisson_rate(-1, 1),
    ],
)
def test_nonsense_is_refused(call):
    with pytest.raises(UsageError):
        call()
