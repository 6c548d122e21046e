"""Paired comparison against scipy's binomial test."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from jaywalk.core.errors import UsageError
from jaywalk.stats.compare import compare_paired, sign_test


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
