"""In-ROI probability, likelihood, displacement and calibration against independent answers."""

import numpy as np
import pytest
from scipy.integrate import dblquad
from scipy.stats import multivariate_normal

from jaywalk.core.errors import UsageError
from jaywalk.geometry.path import make_path, project_each
from jaywalk.geometry.zones import comfort_zone, inside, reach_path
from jaywalk.metrics.prediction.calibration import coverage, density_levels, reliability
from jaywalk.metrics.prediction.displacement import (
    ade_point,
    ade_sample_averaged,
    best_of_k_ade,
    best_of_k_fde,
    fde_mixture_mean,
    fde_most_likely,
    fde_point,
)
from jaywalk.metrics.prediction.forecast import (
    Mixture,
    Samples,
    isotropic,
    nll_full_covariance,
    nll_joint,
    nll_marginal,
)
from jaywalk.metrics.prediction.in_roi import in_roi_exact, in_roi_sampled, straight_zone


def random_mixture(rng, n=3, k=4, h=2):
    shape = rng.standard_normal((n, k, h, 2, 2))
    weights = rng.random((n, k))
    return Mixture(
        weights=weights / weights.sum(axis=1, keepdims=True),
        means_m=3.0 * rng.standard_normal((n, k, h, 2)),
        covariances_m2=shape @ np.swapaxes(shape, -1, -2) + 0.2 * np.eye(2),
    )


def density(mixture, n, horizon, point):
    weights, means, covariances = mixture.marginal(horizon)
    parts = zip(weights[n], means[n], covariances[n], strict=True)
    return sum(w * multivariate_normal(m, c).pdf(point) for w, m, c in parts)


def test_nll_against_scipy_and_mass_one():
    rng = np.random.default_rng(0)
    mixture = random_mixture(rng)
    truth = rng.standard_normal((3, 2, 2))
    for horizon in (0, 1):
        expected = [-np.log(density(mixture, n, horizon, truth[n, horizon])) for n in range(3)]
        assert nll_marginal(mixture, truth, horizon) == pytest.approx(expected)
    grid = np.linspace(-25, 25, 501)
    points = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)
    weights, means, covariances = (x[:1] for x in mixture.marginal(0))
    mass = np.exp(
        -nll_full_covariance(weights, means, covariances, points[:, None, :].swapaxes(0, 1)[0])
    )
    assert mass.sum() * (grid[1] - grid[0]) ** 2 == pytest.approx(1.0, abs=1e-4)


def test_joint_nll_is_its_own_number():
    rng = np.random.default_rng(1)
    mixture = random_mixture(rng)
    truth = rng.standard_normal((3, 2, 2))
    joint = nll_joint(mixture, truth)
    block = np.zeros((3, 4, 4, 4))
    block[:, :, :2, :2], block[:, :, 2:, 2:] = (mixture.covariances_m2[:, :, h] for h in (0, 1))
    full = nll_full_covariance(
        mixture.weights, mixture.means_m.reshape(3, 4, 4), block, truth.reshape(3, 4)
    )
    assert joint == pytest.approx(full)
    assert joint != pytest.approx(sum(nll_marginal(mixture, truth, h) for h in (0, 1)))


def test_rectangle_mass_against_quadrature():
    rng = np.random.default_rng(2)
    mixture = random_mixture(rng, n=1, k=2, h=1)
    path = make_path([[-30.0, -20.0], [30.0, 20.0]])
    zone = comfort_zone(30.0, 2.0)
    rectangle = straight_zone(path, zone)
    cos, sin = np.cos(rectangle.heading_rad), np.sin(rectangle.heading_rad)

    def at(lateral, along):
        x = rectangle.origin_m[0] + along * cos - lateral * sin
        return density(mixture, 0, 0, (x, rectangle.origin_m[1] + along * sin + lateral * cos))

    expected, _ = dblquad(at, 0.0, 6.0, -1.5, 1.5, epsabs=1e-7)
    assert in_roi_exact(*mixture.marginal(0), rectangle)[0] == pytest.approx(expected, abs=1e-6)


def test_exact_and_sampled_probability_agree():
    rng = np.random.default_rng(3)
    mixture = random_mixture(rng, n=20, h=1)
    path = make_path([[-10.0, 1.0], [40.0, 3.0]])
    zone = comfort_zone(8.0, 1.5, 1.0)
    exact = in_roi_exact(*mixture.marginal(0), straight_zone(path, zone))
    draws = mixture.draw(rng, 4000).positions_m[:, :, 0]
    sampled = np.array([in_roi_sampled(points, path, zone) for points in draws])
    error = np.sqrt(np.maximum(exact * (1 - exact), 1e-4) / 4000)
    assert np.all(np.abs(exact - sampled) < 4.0 * error)
    assert exact.max() > 0.2


def test_a_bend_has_no_rectangle_and_a_standing_vehicle_no_zone():
    angle = np.linspace(0, np.pi / 2, 60)
    bend = make_path(np.stack([10 * np.sin(angle), 10 - 10 * np.cos(angle)], axis=1))
    assert straight_zone(bend, comfort_zone(2.0, 2.0)) is None
    standing = comfort_zone(2.0, 0.0, 3.0)
    assert standing.is_empty
    assert in_roi_sampled(np.zeros((5, 2)), bend, standing) == 0.0
    with pytest.raises(UsageError, match="reversing"):
        comfort_zone(0.0, -1.0)


def test_membership_in_a_bend_follows_the_path():
    angle = np.linspace(0, np.pi / 2, 400)
    bend = make_path(np.stack([10 * np.sin(angle), 10 - 10 * np.cos(angle)], axis=1))
    points = np.random.default_rng(4).uniform(-2, 14, (3000, 2))
    zone = comfort_zone(3.0, 2.0, 1.0)  # from 5 m to 11 m along
    radius = np.hypot(points[:, 0], points[:, 1] - 10)
    along = 10 * np.arctan2(points[:, 0], 10 - points[:, 1])
    expected = (np.abs(radius - 10) <= 1.5) & (along >= 5) & (along <= 11)
    clear = np.minimum(
        np.abs(np.abs(radius - 10) - 1.5), np.minimum(abs(along - 5), abs(along - 11))
    )
    sure = clear > 0.01
    assert np.array_equal(inside(zone, project_each(bend, points))[sure], expected[sure])
    ahead = reach_path(bend, 2.0)
    assert ahead.length_m >= bend.length_m + 14.0


def test_displacement_in_every_form():
    truth = np.zeros((1, 2, 2))
    point = np.array([[[3.0, 4.0], [0.0, 1.0]]])
    assert fde_point(point, truth).tolist() == [[5.0, 1.0]]
    assert ade_point(point, truth).tolist() == [[5.0, 3.0]]
    draws = Samples(
        positions_m=np.array([[[[1.0, 0], [4.0, 0]], [[2.0, 0], [2.0, 0]], [[0, 0], [9.0, 0]]]])
    )
    assert ade_sample_averaged(draws, truth).tolist() == [[1.0, 5.0]]
    assert best_of_k_fde(draws, truth, 3).tolist() == [[0.0, 2.0]]
    assert best_of_k_fde(draws, truth, 1).tolist() == [[1.0, 4.0]]
    assert best_of_k_ade(draws, truth, 3).tolist() == [2.0]
    with pytest.raises(UsageError, match="best of 20"):
        best_of_k_ade(draws, truth)
    mixture = Mixture(
        weights=np.array([[0.75, 0.25]]),
        means_m=np.array([[[[4.0, 0.0]], [[0.0, 0.0]]]]),
        covariances_m2=np.tile(np.eye(2), (1, 2, 1, 1, 1)),
    )
    assert fde_mixture_mean(mixture, truth[:, :1]).tolist() == [[3.0]]
    assert fde_most_likely(mixture, truth[:, :1]).tolist() == [[4.0]]


def test_sample_averaged_error_of_a_gaussian():
    """Both points random: sqrt(pi) sigma; only the truth random: sqrt(pi / 2) sigma."""
    rng = np.random.default_rng(5)
    forecast = isotropic(np.zeros((20_000, 1, 2)), np.array([0.26]))
    truth = forecast.draw(rng, 1).positions_m[:, 0]
    averaged = ade_sample_averaged(forecast.draw(rng, 10), truth).mean()
    assert averaged == pytest.approx(np.sqrt(np.pi) * 0.26, rel=0.01)
    assert fde_mixture_mean(forecast, truth).mean() == pytest.approx(
        np.sqrt(np.pi / 2) * 0.26, rel=0.02
    )
    assert nll_marginal(forecast, truth, 0).mean() == pytest.approx(0.13, abs=0.03)


def test_calibration():
    rng = np.random.default_rng(6)
    probability = rng.random(40_000)
    label = rng.random(40_000) < probability
    assert reliability(probability, label).ece < 0.01
    assert reliability(np.full(100, 0.9), np.arange(100) < 50).ece == pytest.approx(0.4)
    assert reliability([1.0, 0.0], [1, 0]).ece == 0.0
    assert np.isnan(reliability([], []).ece)
    with pytest.raises(UsageError, match=r"\[0, 1\]"):
        reliability([1.2], [1])


def test_coverage_of_density_regions():
    rng = np.random.default_rng(7)
    one = random_mixture(rng, n=1, k=3, h=1)
    mixture = one.rows(np.zeros(1500, dtype=np.int64))
    truth = mixture.draw(rng, 1).positions_m[:, 0]
    levels = density_levels(mixture, truth, 0, rng, 200)
    assert coverage(levels, 0.5) == pytest.approx(0.5, abs=0.05)
    assert coverage(levels, 0.9) == pytest.approx(0.9, abs=0.03)
    wide = Mixture(
        weights=mixture.weights, means_m=mixture.means_m, covariances_m2=9 * mixture.covariances_m2
    )
    assert coverage(density_levels(wide, truth, 0, rng, 200), 0.5) > 0.7


def test_models_share_their_random_numbers():
    a, b = (
        isotropic(np.full((4, 2, 2), shift), np.array([0.5, 1.0])).draw(np.random.default_rng(1), 6)
        for shift in (0.0, 2.0)
    )
    assert b.positions_m - a.positions_m == pytest.approx(np.full((4, 6, 2, 2), 2.0))
