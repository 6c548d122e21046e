"""Cluster bootstrap against scipy's, and its degenerate cases."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from jaywalk.core.errors import UsageError
from jaywalk.stats import bootstrap


def skewed(n: int) -> np.ndarray:
    return np.random.default_rng(5).lognormal(size=n)


def only_bca(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap, "_COVERS_T", 0)


@pytest.mark.parametrize("level", [0.9, 0.95])
def test_mean_equals_scipy_draw_for_draw(level, monkeypatch):
    only_bca(monkeypatch)
    values = skewed(37)
    ours = bootstrap.mean(values, resamples=2000, level=level, seed=np.random.default_rng(3))
    theirs = stats.bootstrap(
        (values,),
        np.mean,
        n_resamples=2000,
        method="BCa",
        rng=np.random.default_rng(3),
        confidence_level=bootstrap.expanded_level(level, 37),
    ).confidence_interval
    assert ours.value == pytest.approx(values.mean())
    assert (ours.interval.low, ours.interval.high) == pytest.approx(tuple(theirs), rel=1e-9)
    assert (ours.n, ours.warning) == (37, None)


def test_ratio_equals_scipy_paired(monkeypatch):
    only_bca(monkeypatch)
    rng = np.random.default_rng(8)
    km = rng.uniform(0.2, 3.0, 25)
    hits = rng.poisson(0.8 * km)
    theirs = stats.bootstrap(
        (hits, km),
        lambda h, k, axis: h.sum(axis) / k.sum(axis),
        paired=True,
        vectorized=True,
        n_resamples=2000,
        method="BCa",
        rng=np.random.default_rng(1),
        confidence_level=bootstrap.expanded_level(0.95, 25),
    ).confidence_interval
    ours = bootstrap.ratio(hits, km, resamples=2000, seed=np.random.default_rng(1))
    assert (ours.interval.low, ours.interval.high) == pytest.approx(tuple(theirs), rel=1e-9)


def test_generic_statistic_equals_scipy(monkeypatch):
    only_bca(monkeypatch)
    values = skewed(30)

    def variance(weights):
        total = weights.sum(axis=1)
        centre = weights @ values / total
        return weights @ values**2 / total - centre**2

    theirs = stats.bootstrap(
        (values,),
        np.var,
        n_resamples=1500,
        method="BCa",
        rng=np.random.default_rng(2),
        confidence_level=bootstrap.expanded_level(0.95, 30),
    ).confidence_interval
    ours = bootstrap.bca(variance, 30, resamples=1500, seed=np.random.default_rng(2))
    assert (ours.interval.low, ours.interval.high) == pytest.approx(tuple(theirs), rel=1e-8)


def test_rows_of_a_cluster_stay_together():
    values = skewed(20)
    single = bootstrap.mean(values, resamples=1000, seed=4)
    copied = bootstrap.mean(
        np.repeat(values, 9), np.repeat(np.arange(20), 9), resamples=1000, seed=4
    )
    assert copied.value == pytest.approx(single.value)
    assert copied.interval.low == pytest.approx(single.interval.low)
    assert copied.interval.high == pytest.approx(single.interval.high)
    assert copied.n == 20


def test_weighted_mean_and_paired_difference():
    values, weights = skewed(12), np.arange(1.0, 13.0)
    assert bootstrap.mean(values, weights=weights, resamples=50).value == pytest.approx(
        np.average(values, weights=weights)
    )
    moved = bootstrap.paired_difference(values, values + 0.5, resamples=50)
    assert moved.value == pytest.approx(0.5)
    noisy = bootstrap.paired_difference(values, values[::-1], resamples=500, seed=1)
    direct = bootstrap.mean(values[::-1] - values, resamples=500, seed=1)
    assert noisy == direct


def test_same_seed_same_interval_whatever_the_block(monkeypatch):
    values = skewed(23)
    whole = bootstrap.mean(values, resamples=700, seed=6)
    monkeypatch.setattr(bootstrap, "_BLOCK", 23 * 11)
    pieces = bootstrap.mean(values, resamples=700, seed=6)
    assert pieces.interval.low == pytest.approx(whole.interval.low, rel=1e-12)
    assert pieces.interval.high == pytest.approx(whole.interval.high, rel=1e-12)
    assert bootstrap.mean(values, resamples=700, seed=7) != whole


def test_expanded_level_makes_the_bootstrap_as_wide_as_the_t_interval():
    # sqrt(k / (k - 1)) * t, Hesterberg 2015; the level goes back to nominal as k grows.
    z = stats.norm.ppf(0.5 + bootstrap.expanded_level(0.95, 10) / 2.0)
    assert z == pytest.approx(np.sqrt(10 / 9) * stats.t.ppf(0.975, 9))
    assert bootstrap.expanded_level(0.95, 10_000) == pytest.approx(0.95, abs=1e-4)


@pytest.mark.parametrize("k", [2, 3, 5, 10, 60])
def test_intervals_are_never_narrower_than_the_t_interval(k):
    values = np.random.default_rng(k).normal(size=k)
    got = bootstrap.mean(values, resamples=20_000)
    theirs = stats.t.interval(0.95, k - 1, loc=values.mean(), scale=stats.sem(values))
    assert got.interval.low <= theirs[0] + 0.03 * got.standard_error * stats.t.ppf(0.975, k - 1)
    assert got.interval.high >= theirs[1] - 0.03 * got.standard_error * stats.t.ppf(0.975, k - 1)
    assert got.standard_error == pytest.approx(stats.sem(values), rel=0.03)
    assert got.few_clusters == (k < 20)
    if k < 20:
        assert f"only {k} independent clusters" in (got.warning or "")


def test_from_twenty_clusters_on_nothing_is_said():
    got = bootstrap.mean(skewed(20), resamples=200)
    assert (got.few_clusters, got.warning) == (False, None)


@pytest.mark.parametrize("k", [2, 3, 5, 10, 20])
@pytest.mark.parametrize("draw", ["normal", "difference of lognormals"])
def test_false_positives_of_few_clusters_are_near_nominal(k, draw):
    rng = np.random.default_rng(100 + k)
    missed = 0
    for _ in range(300):
        values = rng.normal(size=k)
        if draw != "normal":
            values = rng.lognormal(size=k) - rng.lognormal(size=k)
        interval = bootstrap.mean(values, resamples=400).interval
        missed += 0.0 not in interval
    # 300 trials of 5 % give at most 8 % with a probability above 98 %; BCa alone gave 50 to 8 %.
    assert missed <= 0.08 * 300


def test_equal_values_have_the_rule_of_three():
    got = bootstrap.mean(np.full(10, 100.0), resamples=200, bounds=(0.0, 100.0))
    share = 1.0 - 0.05**0.1  # of clusters that may be anything
    assert (got.interval.low, got.interval.high) == (pytest.approx(100.0 * (1.0 - share)), 100.0)
    assert "all clusters agree" in (got.warning or "")
    middle = bootstrap.mean(np.full(10, 20.0), resamples=200, bounds=(0.0, 100.0)).interval
    assert (middle.low, middle.high) == pytest.approx((20.0 - 20.0 * share, 20.0 + 80.0 * share))
    nothing = bootstrap.mean(np.full(10, 2.0), resamples=200).interval
    assert (nothing.low, nothing.high) == (-np.inf, np.inf)  # no scale, no bound


def test_values_equal_up_to_rounding_count_as_equal():
    got = bootstrap.ratio(
        0.1 * np.arange(1.0, 30.0), np.arange(1.0, 30.0), resamples=200, bounds=(0.0, 1.0)
    )
    assert got.interval.width > 0.09


def test_intervals_stay_inside_the_bounds():
    got = bootstrap.mean([100.0, 60.0], resamples=200, bounds=(0.0, 100.0)).interval
    assert (got.low, got.high) == (0.0, 100.0)  # two clusters say next to nothing


def test_a_value_outside_of_all_resamples_lies_in_its_interval():
    got = bootstrap.bca(lambda w: np.where((w == 1.0).all(axis=1), 9.0, w[:, 0]), 12, resamples=200)
    assert got.value == 9.0
    assert got.interval.low < 9.0 < got.interval.high
    assert "outside of all resamples" in (got.warning or "")


def test_no_events_have_no_finite_bound_without_a_scale():
    got = bootstrap.ratio(np.zeros(8), np.arange(1.0, 9.0), resamples=200, bounds=(0.0, np.inf))
    assert (got.value, got.interval.low, got.interval.high) == (0.0, 0.0, np.inf)
    assert "all clusters agree" in (got.warning or "")


def test_undefined_resamples_are_counted():
    got = bootstrap.ratio([1.0, 0.0, 0.0, 0.0], [2.0, 0.0, 0.0, 0.0], resamples=500)
    assert got.value == 0.5
    assert "undefined" in (got.warning or "")


@pytest.mark.parametrize("n", [0, 1])
def test_too_few_clusters_give_no_interval(n):
    got = bootstrap.mean(np.ones(n), resamples=100)
    assert got.n == n
    assert np.isnan(got.interval.low)
    assert got.warning


def test_two_way_draws_rows_and_columns_independently():
    rng = np.random.default_rng(12)
    table = rng.normal(size=(9, 4)) + rng.normal(size=9)[:, None]
    row, column = (x.ravel() for x in np.indices(table.shape))
    got = bootstrap.two_way(table.ravel(), row, column, resamples=20_000, seed=2)
    rows = rng.multinomial(9, np.full(9, 1 / 9), 20_000)
    columns = rng.multinomial(4, np.full(4, 1 / 4), 20_000)
    draws = np.einsum("br,rc,bc->b", rows, table, columns) / table.size
    spread = np.std(draws)
    assert got.value == pytest.approx(table.mean())
    assert (got.interval.low, got.interval.high) == pytest.approx(
        tuple(np.quantile(draws, [0.025, 0.975])), abs=0.12 * spread
    )
    assert got.warning is None


def test_two_way_with_one_seed_is_the_one_way_percentile_interval():
    values = skewed(15)
    got = bootstrap.two_way(values, np.arange(15), np.zeros(15), resamples=4000, seed=3)
    theirs = stats.bootstrap(
        (values,), np.mean, n_resamples=4000, method="percentile", rng=np.random.default_rng(0)
    ).confidence_interval
    assert (got.interval.low, got.interval.high) == pytest.approx(tuple(theirs), rel=0.05)
    assert "one column" in (got.warning or "")


@pytest.mark.parametrize(
    "call",
    [
        lambda: bootstrap.mean([1.0, np.nan]),
        lambda: bootstrap.mean([1.0, 2.0], ["a"]),
        lambda: bootstrap.paired_difference([1.0], [1.0, 2.0]),
        lambda: bootstrap.mean([1.0, 2.0], level=1.5),
        lambda: bootstrap.two_way([1.0], ["a"], ["b", "c"]),
    ],
)
def test_nonsense_is_refused(call):
    with pytest.raises(UsageError):
        call()
