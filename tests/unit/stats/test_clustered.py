"""Intervals of clustered shares and rates, against formulas written out and by simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from jaywalk.stats.clustered import (
    clustered_rate,
    clustered_wilson,
    design_effect,
    success_difference,
)
from jaywalk.stats.intervals import poisson_rate, wilson


def test_one_row_a_cluster_is_plain_wilson():
    rows = np.array([1, 1, 0, 1, 0, 1, 1, 1])
    got, plain = clustered_wilson(rows, np.arange(8)), wilson(6, 8)
    assert (got.low, got.high) == pytest.approx((plain.low, plain.high))


def test_identical_seeds_add_nothing():
    rows = np.array([1, 1, 0, 1, 0, 1, 1, 1])
    got, plain = clustered_wilson(np.repeat(rows, 3), np.repeat(np.arange(8), 3)), wilson(6, 8)
    assert (got.low, got.high) == pytest.approx((plain.low, plain.high))


def test_independent_seeds_count_almost_in_full():
    rng = np.random.default_rng(4)
    rows, clusters = rng.random(3000) < 0.7, np.repeat(np.arange(1000), 3)
    assert clustered_wilson(rows, clusters).width == pytest.approx(
        wilson(rows.sum(), 3000).width, rel=0.05
    )


def test_no_failure_counts_the_clusters_only():
    assert clustered_wilson(np.ones(30), np.repeat(np.arange(10), 3)) == wilson(10, 10)
    assert clustered_wilson([], []) == wilson(0, 0)


def test_unequal_clusters_count_less_than_their_number():
    # One cluster has half of the rows: copies would be worth n^2 / sum(m^2) = 100 / 30 rows.
    clusters = np.array([0] * 5 + [1, 2, 3, 4, 5])
    got, plain = clustered_wilson(np.ones(10), clusters), wilson(100 / 30, 100 / 30)
    assert (got.low, got.high) == pytest.approx((plain.low, plain.high))


def test_a_rate_without_events_is_exact_poisson():
    got = clustered_rate(np.zeros(6), np.full(6, 0.5), np.repeat([0, 1], 3))
    assert got == poisson_rate(0, 3.0)
    assert got.high == pytest.approx(-np.log(0.025) / 3.0)  # rule of three, two-sided


def test_design_effect_is_the_ratio_of_variances():
    rng = np.random.default_rng(7)
    km, events = rng.uniform(0.2, 1.0, 40), rng.negative_binomial(0.5, 0.2, 40)
    rate = events.sum() / km.sum()
    # Delta method, written out: variance of a ratio of means over clusters.
    covariance = np.cov(events, km)
    variance = (covariance[0, 0] - 2 * rate * covariance[0, 1] + rate**2 * covariance[1, 1]) / 40
    expected = variance / km.mean() ** 2 / (rate / km.sum())
    assert design_effect(events, km, np.arange(40)) == pytest.approx(expected)
    assert expected > 3.0
    assert design_effect(np.ones(12), np.ones(12), np.arange(12)) == 1.0  # never below


def test_a_clustered_rate_is_poisson_over_the_design_effect():
    events, km, route = np.array([4.0, 4, 0, 0, 1, 1]), np.ones(6), np.repeat([0, 1, 2], 2)
    effect = design_effect(events, km, route)
    squares = (8 - 10 / 3) ** 2 + (10 / 3) ** 2 + (2 - 10 / 3) ** 2
    assert effect == pytest.approx(3 / 2 * squares / 10)
    factor = effect * (stats.t.ppf(0.975, 2) / stats.norm.ppf(0.975)) ** 2
    got = clustered_rate(events, km, route)
    low = stats.chi2.ppf(0.025, 2 * 10 / factor) / 2 / (6 / factor)
    high = stats.chi2.ppf(0.975, 2 * (10 / factor + 1)) / 2 / (6 / factor)
    assert (got.low, got.high) == pytest.approx((low, high))


@pytest.mark.parametrize(("routes", "shape"), [(10, 0.5), (20, 2.0), (50, 0.5)])
def test_clustered_rates_cover_overdispersed_counts(routes, shape):
    """Gamma-Poisson counts by route, three seeds: exact Poisson intervals cover 50 to 90 %."""
    rng = np.random.default_rng(routes)
    clusters = np.repeat(np.arange(routes), 3)
    plain = ours = 0
    for _ in range(400):
        km = np.repeat(rng.uniform(0.3, 1.0, routes), 3) / 3
        mean = np.repeat(rng.gamma(shape, 1.0 / shape, routes), 3) * 3.0 / 0.65
        events = rng.poisson(mean * km)
        plain += 3.0 / 0.65 in poisson_rate(events.sum(), km.sum())
        ours += 3.0 / 0.65 in clustered_rate(events, km, clusters)
    assert plain < 0.85 * 400
    assert ours >= 0.90 * 400


def test_paired_successes_follow_bonett_and_price():
    a = np.array([0] * 8 + [1] * 3 + [1] * 9 + [0] * 5)
    b = np.array([1] * 8 + [0] * 3 + [1] * 9 + [0] * 5)
    got = success_difference(a, b)
    up, down = 9 / 27, 4 / 27  # one flip added to either side, 25 + 2 pairs
    half = 1.959964 * np.sqrt((up + down - (up - down) ** 2) / 27)
    assert got.value == pytest.approx(0.2)
    assert (got.interval.low, got.interval.high) == pytest.approx(
        (up - down - half, up - down + half)
    )


def test_paired_successes_without_a_flip_have_a_width():
    got = success_difference(np.ones(12), np.ones(12))
    assert got.value == 0.0
    assert got.interval.low == -got.interval.high
    assert 0.15 < got.interval.high < 0.25  # rule of three: 1 - 0.05 ** (1 / 12) = 0.22
    copies = success_difference(np.ones(36), np.ones(36), np.repeat(np.arange(12), 3))
    assert copies.interval.high == pytest.approx(got.interval.high)


@pytest.mark.parametrize("k", [2, 3, 5, 10, 20])
def test_paired_successes_have_few_false_positives(k):
    rng = np.random.default_rng(k)
    clusters = np.repeat(np.arange(k), 3)
    missed = 0
    for _ in range(300):
        chance = np.repeat(rng.beta(0.8, 0.2, k), 3)
        a, b = (rng.random(3 * k) < chance for _ in range(2))
        missed += 0.0 not in success_difference(a, b, clusters).interval
    assert missed <= 0.05 * 300
