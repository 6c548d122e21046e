"""Paired comparison against scipy's binomial test."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from jaywalk.core.errors import UsageError
from jaywalk.stats.clustered import compare_paired, detectable_difference, holm, mcnemar, sign_test


def test_sign_test_leaves_ties_out():
    got = sign_test([0, 0, 0, 0, 0, 1], [1, 1, 1, 1, 0, 0])
    assert (got.higher, got.lower, got.ties) == (4, 1, 1)
    assert got.p_value == pytest.approx(stats.binomtest(4, 5).pvalue)


def test_all_ties_prove_nothing():
    assert sign_test([1.0, 2.0], [1.0, 2.0]).p_value == 1.0


def test_seeds_of_a_scenario_count_once():
    rng = np.random.default_rng(1)
    scenario = np.repeat(np.arange(12), 3)
    a = rng.normal(size=36)
    b = a + rng.normal(0.6, 0.4, size=36)
    got = compare_paired(a, b, scenario, resamples=500)
    assert got.sign.higher + got.sign.lower + got.sign.ties == 12
    assert got.difference.n == 12
    assert got.difference.value == pytest.approx(np.mean(b - a))
    assert got.difference.value in got.difference.interval


def test_rounding_noise_is_a_tie():
    a = np.array([0.1 + 0.2, 0.5])
    assert compare_paired(a, np.array([0.3, 0.5]), resamples=50).sign.ties == 2


def test_unpaired_is_refused():
    with pytest.raises(UsageError):
        sign_test([1.0], [1.0, 2.0])


def test_mcnemar_is_the_exact_binomial_test():
    assert mcnemar(7, 0) == pytest.approx(2 * 0.5**7)
    assert mcnemar(3, 9) == pytest.approx(stats.binomtest(3, 12).pvalue)
    assert mcnemar(0, 0) == 1.0


def test_holm_by_hand():
    # 0.01 * 4, then max with 0.03 * 3, 0.04 * 2, 0.5 * 1.
    assert holm([0.04, 0.01, 0.5, 0.03]) == pytest.approx([0.09, 0.04, 0.5, 0.09])
    assert holm([0.6, 0.7]) == [1.0, 1.0]
    assert holm([]) == []


def test_holm_keeps_the_family_below_five_percent():
    rng = np.random.default_rng(2)
    shared = rng.normal(size=(4000, 1))
    p = 2 * stats.norm.sf(np.abs(np.sqrt(0.5) * shared + np.sqrt(0.5) * rng.normal(size=(4000, 4))))
    any_raw = (p < 0.05).any(axis=1).mean()
    any_holm = np.mean([min(holm(list(row))) < 0.05 for row in p])
    assert any_raw > 0.11
    assert any_holm < 0.055


@pytest.mark.parametrize("k", [8, 20, 60])
def test_the_detectable_difference_is_found_four_times_out_of_five(k):
    rng = np.random.default_rng(k)
    first = compare_paired(np.zeros(k), rng.normal(size=k), resamples=400).difference
    shift = detectable_difference(first) / first.standard_error  # in standard errors
    values = rng.normal(shift / np.sqrt(k), 1.0, (2000, k))
    found = np.mean(stats.ttest_1samp(values, 0.0, axis=1).pvalue < 0.05)
    assert found == pytest.approx(0.8, abs=0.04)


def test_the_detectable_difference_of_equal_runs_comes_from_the_rule_of_three():
    same = compare_paired(np.full(20, 90.0), np.full(20, 90.0), resamples=50, bounds=(-100, 100))
    assert 10.0 < detectable_difference(same.difference) < 25.0
    assert np.isnan(detectable_difference(compare_paired([1.0], [2.0], resamples=5).difference))
