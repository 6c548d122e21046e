"""How often 95 % intervals miss the truth, in full; the quick tests check a few hundred trials."""

from __future__ import annotations

import pytest
from interval_simulation import (
    CLUSTERS,
    missed_by_means,
    missed_by_rates,
    missed_by_success_differences,
)

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("clusters", CLUSTERS)
@pytest.mark.parametrize("name", ["normal", "difference of lognormals"])
def test_means_of_symmetric_data(name, clusters):
    found = missed_by_means(name, clusters, 2000)
    assert found["ours"] <= 7.0
    if clusters <= 5:
        assert found["bca"] > 12.0  # what it was


@pytest.mark.parametrize("clusters", CLUSTERS)
@pytest.mark.parametrize(("name", "most"), [("exponential", 15.0), ("score", 15.0)])
def test_means_of_skewed_data(name, most, clusters):
    """A few values of a skewed quantity cannot tell its tail; the t interval misses as often."""
    found = missed_by_means(name, clusters, 2000)
    assert found["ours"] <= (most if clusters < 10 else 10.0)
    assert found["ours"] < found["bca"]


@pytest.mark.parametrize("routes", [5, 10, 20, 100])
@pytest.mark.parametrize(("shape", "events"), [(0.5, 0.3), (0.5, 3.0), (2.0, 0.3), (2.0, 3.0)])
def test_rates_of_overdispersed_counts(routes, shape, events):
    found = missed_by_rates(routes, shape, events, 2000)
    assert found["ours"] <= 11.0
    assert found["ours"] <= found["poisson"]


@pytest.mark.parametrize("clusters", CLUSTERS)
def test_differences_of_paired_successes(clusters):
    assert missed_by_success_differences(clusters, 2000) <= 5.0
