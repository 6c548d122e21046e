"""Rates of a run are ratios of sums, with one interval each that is never of zero width."""

from __future__ import annotations

import math

import numpy as np
import pytest
from score_cards import card, run

from jaywalk.metrics.driving.aggregate import aggregate, as_json
from jaywalk.metrics.driving.rates import pooled
from jaywalk.metrics.spec import METRICS
from jaywalk.stats.clustered import clustered_rate, clustered_wilson
from jaywalk.stats.intervals import poisson_rate

KM = (0.01, 1.0, 0.5)
HITS = (1, 1, 0)


def episode(name, km, hits, **more):
    counts = {
        "collisions_person": hits,
        "collisions_vehicle": 0,
        "braking_events": 4,
        "false_braking_events": hits,
        **more.pop("counts", {}),
    }
    risks = [0.2 + 0.1 * k for k in range(hits)]
    metrics = {
        "driven_km": km,
        "duration_s": 100.0 * km,
        "success": float(not hits),
        "route_completion": 100.0,
        "collisions_per_km": hits / km,
        "collisions_person_per_km": hits / km,
        "serious_injuries_expected": sum(risks),
        "serious_injuries_per_km": sum(risks) / km,
        "pmais3_mean": sum(risks) / hits if hits else math.nan,
        "fpbr": hits / 4,
        "standing_share": 0.5 if km < 0.1 else 0.0,
        "mean_speed_mps": 10.0,
    } | more.pop("metrics", {})
    detail = {"hits": [{"injury_risk": risk} for risk in [*risks, math.nan]]}
    score = 0.0 if hits else 100.0
    return card(name, 1, score, counts=counts, metrics=metrics, detail=detail, **more)


@pytest.fixture
def found():
    return aggregate(run(*[episode(n, k, h) for n, k, h in zip("abc", KM, HITS, strict=True)]))


def test_rates_weight_episodes_by_distance(found):
    """Mean of episode ratios: 33.7 per km. Two hits in 1.51 km: 1.3."""
    figure = found.metrics["collisions_person_per_km"]
    assert np.mean(np.array(HITS) / KM) == pytest.approx(33.67, abs=0.01)
    assert figure.value == pytest.approx(2 / 1.51)
    want = clustered_rate(HITS, KM, list("abc"))
    assert (figure.low, figure.high) == (want.low, want.high)
    assert found.rates_per_km["collisions_person"] == figure
    assert found.metrics["collisions_per_km"].value == figure.value


def test_shares_and_means_are_pooled(found):
    assert found.metrics["fpbr"].value == pytest.approx(2 / 12)
    flags = [1, 0, 0, 0] * 2 + [0] * 4
    want = clustered_wilson(flags, list("aaaabbbbcccc"))
    assert (found.metrics["fpbr"].low, found.metrics["fpbr"].high) == (want.low, want.high)
    assert (found.metrics["fpbr"].n, found.metrics["fpbr"].clusters) == (12, 3)
    assert found.metrics["pmais3_mean"].value == pytest.approx(0.2)
    assert found.metrics["pmais3_mean"].n == 2  # the hit of unknown risk does not count
    assert found.metrics["serious_injuries_per_km"].value == pytest.approx(0.4 / 1.51)
    assert found.metrics["standing_share"].value == pytest.approx(0.5 * 0.01 / 1.51)


def test_success_has_one_value(found):
    assert found.metrics["success"].value == pytest.approx(found.success.value / 100.0)
    assert found.metrics["success"].low == pytest.approx(found.success.low / 100.0)
    told = as_json(found)
    assert told["success"]["sr"] == pytest.approx(100.0 * told["metrics"]["success"]["value"])


def test_the_text_prints_each_rate_once(found):
    assert "collisions_per_km" in found.shown
    assert not {"collisions_person_per_km", "success"} & set(found.shown)


def test_no_interval_has_zero_width():
    perfect = aggregate(run(*[episode(n, 1.0, 0) for n in "abcdefghij"]))
    for name, figure in (perfect.metrics | perfect.rates_per_km).items():
        if math.isfinite(figure.value):
            assert figure.high > figure.low, name
    share = 1.0 - 0.05**0.1
    assert perfect.metrics["route_completion"].low == pytest.approx(100.0 * (1.0 - share))
    # Without a hit nobody was injured; the bound is that of hits, each at most one injury.
    most = poisson_rate(0, 10.0).high
    assert perfect.metrics["serious_injuries_per_km"].high == pytest.approx(most)
    assert math.isnan(pooled(METRICS.get("pmais3_mean").pooling, perfect.run.episodes).value)
