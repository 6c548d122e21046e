"""Clustered Wilson interval: between that of the rows and that of the clusters."""

from __future__ import annotations

import numpy as np
import pytest

from jaywalk.stats.clustered import clustered_wilson
from jaywalk.stats.intervals import wilson


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
