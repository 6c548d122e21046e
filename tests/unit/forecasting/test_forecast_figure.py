"""Pictures of forecasts: the regions hold the mass they claim, against scipy and sampling."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from jaywalk.forecasting.figures import density, mass_levels, region_levels
from jaywalk.metrics.prediction.forecast import Mixture

_AXIS = np.arange(-8.0, 8.0, 0.05) + 0.025


def two_modes() -> Mixture:
    return Mixture(
        weights=np.array([[0.3, 0.7]]),
        means_m=np.array([[[[-2.0, 1.0]], [[2.5, 0.5]]]]),
        covariances_m2=np.array([[[[[0.5, 0.1], [0.1, 0.4]]], [[[0.8, -0.2], [-0.2, 0.3]]]]]),
    )


def test_density_is_that_of_the_mixture() -> None:
    mixture = two_modes()
    found = density(mixture, 0, _AXIS, _AXIS)
    grid = np.stack(np.meshgrid(_AXIS, _AXIS), axis=-1)
    wanted = sum(
        mixture.weights[0, k]
        * multivariate_normal(mixture.means_m[0, k, 0], mixture.covariances_m2[0, k, 0]).pdf(grid)
        for k in range(2)
    )
    assert np.abs(found - wanted).max() < 1e-12


@pytest.mark.parametrize("mass", [0.5, 0.9])
def test_regions_hold_their_mass(mass: float) -> None:
    mixture = two_modes()
    (level,) = mass_levels(density(mixture, 0, _AXIS, _AXIS), 0.05**2, (mass,))
    points = mixture.draw(np.random.default_rng(1), 20_000).positions_m[0, :, 0]
    at = sum(
        mixture.weights[0, k]
        * multivariate_normal(mixture.means_m[0, k, 0], mixture.covariances_m2[0, k, 0]).pdf(points)
        for k in range(2)
    )
    assert np.mean(at >= level) == pytest.approx(mass, abs=0.01)


@pytest.mark.parametrize("mass", [0.5, 0.9])
def test_regions_are_those_of_the_whole_density_wherever_it_lies(mass: float) -> None:
    mixture = two_modes()
    far = Mixture(
        weights=mixture.weights,
        means_m=mixture.means_m + 500.0,
        covariances_m2=mixture.covariances_m2,
    )
    wanted = mass_levels(density(mixture, 0, _AXIS, _AXIS), 0.05**2, (mass,))
    assert region_levels(far, 0, (mass,)) == pytest.approx(wanted, rel=0.02)
