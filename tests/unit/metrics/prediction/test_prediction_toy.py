"""The toy example with a known answer: generic metrics mislead where the in-ROI one does not."""

import numpy as np
import pytest

from jaywalk.metrics.prediction._roc import roc
from jaywalk.metrics.prediction.displacement import ade_sample_averaged
from jaywalk.metrics.prediction.forecast import Mixture, nll_marginal
from jaywalk.metrics.prediction.in_roi import StraightZone, in_roi_exact
from jaywalk.metrics.prediction.irs import irs

SIDEWALK = [(0.45, (6, 1.5), (0.6, 0.4)), (0.15, (2, 1), (0.5, 0.4))]
CROSSING = (0.40, (2.5, 7), (0.7, 0.7))
MODES = {
    "a": [*SIDEWALK, CROSSING],
    "b": [(0.60, (3, 0.3), (1.2, 0.6)), CROSSING],
    "c": [*SIDEWALK, (0.40, (8, 4.2), (0.7, 0.7))],
}
EXPECTED = {  # NLL, ADE, IRS at .025, .05, .10, .15, AUC
    "a": (2.678, 4.046, 0.9012, 0.9701, 1.0, 1.0, 0.9867),
    "b": (5.094, 4.457, 0.9012, 0.9701, 1.0, 1.0, 0.9867),
    "c": (18.19, 4.336, 0.0150, 0.0587, 0.5769, 0.8463, 0.8366),
    "d": (16.93, 3.395, 0.0539, 0.1014, 0.9942, 0.9999, 0.9399),
    "d'": (4.525, 4.313, 0.0539, 0.6067, 0.9979, 1.0, 0.9509),
}
TARGETS = (0.025, 0.05, 0.10, 0.15)


def mixture(weights, means, covariances):
    return Mixture(
        weights=np.array([weights], dtype=float),
        means_m=np.array(means, dtype=float)[None, :, None],
        covariances_m2=np.array(covariances, dtype=float)[None, :, None],
    )


def build(name):
    if name in MODES:
        modes = MODES[name]
        return mixture(
            [m[0] for m in modes],
            [m[1] for m in modes],
            [np.diag(np.square(m[2])) for m in modes],
        )
    truth = build("a")
    weights, means, covariances = (x[0] for x in truth.marginal(0))
    mean = weights @ means
    if name == "d":
        return mixture([1.0], [mean], [0.36 * np.eye(2)])
    spread = np.einsum("k,kij->ij", weights, covariances)
    spread += np.einsum("k,ki,kj->ij", weights, means - mean, means - mean)
    return mixture([1.0], [mean], [spread * np.eye(2)])


def masses(model):
    zones = [
        StraightZone(origin_m=(x, middle), heading_rad=0.0, length_m=3.0 * speed, half_width_m=1.5)
        for middle in (4.5, 7.5)
        for speed in (2.0, 3.0)
        for x in np.arange(-60.0, 60.25, 0.5)
    ]
    mass = [in_roi_exact(*model.marginal(0), zone)[0] for zone in zones]
    return np.array(mass)


@pytest.fixture(scope="module")
def truth_mass():
    return masses(build("a"))


@pytest.fixture(scope="module")
def truth_draws():
    return build("a").draw(np.random.default_rng(5), 400_000).positions_m[0]


def sensitivities(truth_mass, name, decimals=12):
    """A zone is a positive by the share of futures inside and a negative by the rest.

    The golden values come from masses with 12 decimals: what is smaller is a tie at 0.
    """
    score = np.tile(np.round(masses(build(name)), decimals), 2)
    label = np.repeat([1, 0], truth_mass.size)
    weight = np.concatenate([truth_mass, 1.0 - truth_mass])
    track = np.tile(np.arange(truth_mass.size), 2)
    values = [irs(score, label, track, fpr_target=t, weights=weight, resamples=0) for t in TARGETS]
    return values, roc(score, label, weight).auc


@pytest.mark.parametrize("name", EXPECTED)
def test_in_roi_values(truth_mass, name):
    values, auc = sensitivities(truth_mass, name)
    assert [v.linear for v in values] == pytest.approx(EXPECTED[name][2:6], abs=6e-5)
    assert auc == pytest.approx(EXPECTED[name][6], abs=6e-5)


@pytest.mark.parametrize("name", EXPECTED)
def test_generic_values(truth_draws, name):
    model = build(name)
    many = Mixture(
        weights=np.repeat(model.weights, len(truth_draws), axis=0),
        means_m=np.repeat(model.means_m, len(truth_draws), axis=0),
        covariances_m2=np.repeat(model.covariances_m2, len(truth_draws), axis=0),
    )
    nll = nll_marginal(many, truth_draws, 0).mean()
    ade = ade_sample_averaged(many.draw(np.random.default_rng(6), 1), truth_draws).mean()
    # Monte Carlo on both sides; a wrong mode far from the truth makes the NLL noisier.
    assert nll == pytest.approx(EXPECTED[name][0], abs=0.06 if nll > 10 else 0.015)
    assert ade == pytest.approx(EXPECTED[name][1], abs=0.015)


def test_a_wrong_sidewalk_does_not_matter(truth_mass):
    value = {
        name: np.array([v.value for v in sensitivities(truth_mass, name, decimals=300)[0]])
        for name in ("a", "b", "c", "d")
    }
    # Exactly equal as far as both rank the zones alike. Further down the curve, where 1e-5 of the
    # mass is left, the tails of the sidewalk modes change the order.
    assert value["a"][0] == value["b"][0]
    assert value["a"][1] == value["b"][1]
    assert value["a"] == pytest.approx(value["b"], abs=1e-5)
    assert np.all(value["a"] > value["c"])
    assert np.all(value["a"][:3] > value["d"][:3])


def test_only_the_ranking_counts(truth_mass):
    label = np.repeat([1, 0], truth_mass.size)
    weight = np.concatenate([truth_mass, 1.0 - truth_mass])
    track = np.tile(np.arange(truth_mass.size), 2)
    for target in TARGETS:
        same = [
            irs(score, label, track, fpr_target=target, weights=weight, resamples=0).linear
            for score in (np.tile(truth_mass, 2), np.tile(np.exp2(truth_mass * 3.0) - 1.0, 2))
        ]
        assert same[0] == pytest.approx(same[1], abs=1e-12)


def test_ties_at_zero_earn_nothing(truth_mass):
    found = sensitivities(truth_mass, "c")[0][3]
    assert found.value == found.step == pytest.approx(0.845, abs=5e-4)
    assert found.linear > found.step
    assert any("ties at score 0" in text for text in found.warnings)
