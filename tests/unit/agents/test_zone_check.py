"""In-ROI probabilities of the comfort-zone driver against the metrics room's own."""

from __future__ import annotations

import numpy as np
import pytest

from jaywalk.agents.baselines._comfort_zone import zone_probability
from jaywalk.geometry.path import make_path
from jaywalk.geometry.zones import comfort_zone
from jaywalk.metrics.prediction.forecast import Mixture
from jaywalk.metrics.prediction.in_roi import in_roi_exact, in_roi_sampled, straight_zone

HORIZONS = (1.0, 2.0, 3.0)


def mixture(seed: int, people: int, spread: float = 0.5) -> Mixture:
    random = np.random.default_rng(seed)
    means = random.uniform((0.0, -6.0), (60.0, 6.0), (people, 2, 3, 2))
    covariance = np.zeros((people, 2, 3, 2, 2))
    covariance[..., 0, 0] = random.uniform(0.05, spread, (people, 2, 3))
    covariance[..., 1, 1] = random.uniform(0.05, spread, (people, 2, 3))
    weights = random.uniform(0.2, 1.0, (people, 2))
    return Mixture(
        weights=weights / weights.sum(axis=1, keepdims=True),
        means_m=means,
        covariances_m2=covariance,
    )


def test_equals_the_exact_mass_on_a_straight_path() -> None:
    path = make_path(np.column_stack([np.linspace(-20.0, 120.0, 71), np.zeros(71)]))
    forecast = mixture(1, 40)
    speeds = np.array([10.0, 6.0, 2.0, 0.0])
    found = zone_probability(path, 22.0, speeds, forecast, HORIZONS)
    for v, speed in enumerate(speeds):
        for h, horizon in enumerate(HORIZONS):
            zone = comfort_zone(22.0, float(speed), horizon)
            if zone.is_empty:
                assert not found[v, :, h].any()
                continue
            rectangle = straight_zone(path, zone)
            assert rectangle is not None
            exact = in_roi_exact(*forecast.marginal(h), rectangle)
            assert found[v, :, h] == pytest.approx(exact, abs=1e-9)


def test_is_near_the_sampled_mass_on_a_bend() -> None:
    angle = np.linspace(0.0, 1.5, 61)
    path = make_path(np.column_stack([40.0 * np.sin(angle), 40.0 * (1.0 - np.cos(angle))]))
    random = np.random.default_rng(4)
    middle = np.interp(random.uniform(10.0, 50.0, 30), path.arc_m, np.arange(61)).astype(int)
    means = path.points_m[middle] + random.normal(0.0, 1.5, (30, 2))
    forecast = Mixture(
        weights=np.ones((30, 1)),
        means_m=np.repeat(means[:, None, None], 3, axis=2),
        covariances_m2=np.broadcast_to(0.16 * np.eye(2), (30, 1, 3, 2, 2)).copy(),
    )
    found = zone_probability(path, 2.0, np.array([8.0]), forecast, HORIZONS)
    draws = forecast.draw(np.random.default_rng(5), 4000).positions_m
    for h, horizon in enumerate(HORIZONS):
        zone = comfort_zone(2.0, 8.0, horizon)
        sampled = [in_roi_sampled(draws[k, :, h], path, zone) for k in range(30)]
        assert found[0, :, h] == pytest.approx(sampled, abs=0.04)
