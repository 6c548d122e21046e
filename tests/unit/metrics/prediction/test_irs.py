"""ROC and IRS: against scikit-learn, against brute force, and the rules at the edges."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import bootstrap
from sklearn.metrics import roc_auc_score, roc_curve

from jaywalk.core.errors import UsageError
from jaywalk.metrics.prediction._roc import roc
from jaywalk.metrics.prediction.irs import FPR_TARGETS, irs, irs_statistic
from jaywalk.metrics.prediction.pairwise import all_pairs, optimal_set, two_way_estimate
from jaywalk.stats.bootstrap import bca, ratio_of_sums


def some(seed, n=400, decimals=2):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 2, n)
    scores = np.round(rng.random(n) * 0.8 + 0.2 * labels, decimals)
    return scores, labels, rng.integers(0, 40, n), rng.integers(0, 4, n).astype(float)


@pytest.mark.parametrize("seed", range(4))
def test_roc_against_sklearn(seed):
    scores, labels, _, weights = some(seed)
    curve = roc(scores, labels, weights)
    fpr, tpr, thresholds = roc_curve(labels, scores, sample_weight=weights, drop_intermediate=False)
    used = np.isin(curve.thresholds, thresholds)
    assert curve.fpr[used] == pytest.approx(fpr, abs=1e-12)
    assert curve.tpr[used] == pytest.approx(tpr, abs=1e-12)
    assert curve.auc == pytest.approx(roc_auc_score(labels, scores, sample_weight=weights))


@pytest.mark.parametrize("target", FPR_TARGETS.values())
def test_irs_reads_the_curve(target):
    for seed in range(5):
        scores, labels, tracks, weights = some(seed)
        curve = roc(scores, labels, weights)
        found = irs(scores, labels, tracks, fpr_target=target, weights=weights, resamples=0)
        assert found.step == pytest.approx(curve.tpr[curve.fpr <= target].max())
        assert found.linear == pytest.approx(np.interp(target, curve.fpr, curve.tpr), abs=1e-12)


@given(st.integers(0, 10_000), st.sampled_from([0.025, 0.05, 0.1, 0.15]))
@settings(max_examples=30, deadline=None)
def test_an_increasing_transform_changes_nothing(seed, target):
    scores, labels, tracks, _ = some(seed, n=300)
    a, b = (
        irs(s, labels, tracks, fpr_target=target, resamples=0) for s in (scores, np.exp(3 * scores))
    )
    assert a.linear == b.linear
    assert a.step == b.step


def test_perfect_and_constant_scores():
    labels = np.repeat([0, 1], 100)
    tracks = np.arange(200) // 4
    perfect = irs(labels, labels, tracks, fpr_target=0.05, resamples=200)
    assert perfect.value == 1.0
    # 50 tracks agree: at the 50 % level a share of 1 - 0.5 ** (1 / 50) may still differ.
    assert (perfect.interval.low, perfect.interval.high) == (pytest.approx(0.5 ** (1 / 50)), 1.0)
    assert any("all clusters agree" in text for text in perfect.warnings)
    flat = irs(np.full(200, 0.3), labels, tracks, fpr_target=0.05, resamples=0)
    assert flat.linear == pytest.approx(0.05)
    assert flat.step == 0.0
    assert flat.tie_block == 1.0
    nothing = irs(np.zeros(200), labels, tracks, fpr_target=0.05, resamples=0)
    assert nothing.value == 0.0
    assert nothing.linear == pytest.approx(0.05)


@pytest.mark.parametrize(("target", "need"), [(0.025, 40), (0.05, 20), (0.10, 10), (0.15, 7)])
def test_too_few_negatives_are_nan_and_never_zero(target, need):
    def read(negatives):
        labels = np.concatenate([np.zeros(negatives), np.ones(5)])
        return irs(labels, labels, np.arange(labels.size), fpr_target=target, resamples=0)

    assert np.isnan(read(need - 1).value)
    assert any("too few negatives" in text for text in read(need - 1).warnings)
    assert read(need).value == 1.0
    assert any("only 5 positive" in text for text in read(need).warnings)


def test_without_positives_it_is_undefined():
    found = irs(np.random.default_rng(0).random(100), np.zeros(100), np.arange(100), fpr_target=0.1)
    assert np.isnan(found.value)
    assert np.isnan(found.interval.low)
    assert found.n_positive == 0
    assert any("no positive" in text for text in found.warnings)


def test_replicates_without_positives_are_counted():
    labels = np.zeros(300)
    labels[:3] = 1
    scores = np.random.default_rng(1).random(300)
    found = irs(scores, labels, np.arange(300) // 3, fpr_target=0.1, resamples=500)
    assert any("resamples undefined" in text for text in found.warnings)


def test_replicates_equal_a_recount_of_the_drawn_tracks():
    scores, labels, tracks, weights = some(3)
    statistic = irs_statistic(scores, labels, tracks, 40, fpr_target=0.1, weights=weights)
    counts = np.random.default_rng(2).integers(0, 3, (20, 40)).astype(float)
    for row, value in zip(counts, statistic(counts), strict=True):
        times = row[tracks].astype(int)
        again = irs(
            np.repeat(scores, times),
            np.repeat(labels, times),
            np.repeat(tracks, times),
            fpr_target=0.1,
            weights=np.repeat(weights, times),
            resamples=0,
        )
        assert value == pytest.approx(again.value, abs=1e-12)


def test_long_tracks_dominate_only_the_plain_value():
    tracks = np.concatenate([np.zeros(400, dtype=int), np.arange(1, 41)])
    labels = np.concatenate([np.tile([0, 1], 200), np.tile([0, 1], 20)])
    scores = np.concatenate([np.tile([0.1, 0.9], 200), np.tile([0.9, 0.1], 20)])
    found = irs(scores, labels, tracks, fpr_target=0.15, resamples=0)
    assert found.value > 0.9
    assert found.track_balanced < 0.3


@pytest.mark.parametrize("broken", ["nan", "label", "length", "tracks", "target"])
def test_bad_input_is_named(broken):
    scores, labels, tracks, target = np.linspace(0, 1, 50), np.arange(50) % 2, np.arange(50), 0.1
    if broken == "nan":
        scores[3] = np.nan
    elif broken == "label":
        labels = labels + 1
    elif broken == "length":
        labels = labels[:-1]
    elif broken == "tracks":
        tracks = tracks[:-1]
    else:
        target = 5
    with pytest.raises(UsageError):
        irs(scores, labels, tracks, fpr_target=target)


def test_bca_against_scipy():
    values = np.random.default_rng(4).gamma(2.0, size=60)
    ours = bca(ratio_of_sums(values, np.ones(60)), 60, resamples=20_000, level=0.5).interval
    theirs = bootstrap(
        (values,), np.mean, confidence_level=0.5, n_resamples=20_000, method="BCa", rng=1
    ).confidence_interval
    assert (ours.low, ours.high) == pytest.approx(theirs, abs=0.01)


def test_pairs_and_the_optimal_set():
    rng = np.random.default_rng(7)
    labels, tracks = rng.integers(0, 2, 3000), np.arange(3000) // 15
    noise = rng.standard_normal(3000)

    def model(signal):
        return irs_statistic(signal * labels + noise, labels, tracks, 200, fpr_target=0.1)

    models = {"motion": model(1.0), "map": model(2.5), "both": model(2.5)}
    once = np.ones((1, 200))
    values = {name: float(statistic(once)[0]) for name, statistic in models.items()}
    pairs = all_pairs(models, 200, resamples=400)
    assert [(p.first, p.second, p.is_significant) for p in pairs] == [
        ("motion", "map", True),
        ("motion", "both", True),
        ("map", "both", False),
    ]
    features = {"motion": 1, "map": 2, "both": 3}
    best = optimal_set(values, features, pairs, higher_is_better=True)
    assert best.candidates == ("map", "both")
    assert best.chosen == "map"
    assert optimal_set(values, features, pairs, higher_is_better=False).chosen == "motion"
    with pytest.raises(UsageError, match="need 3 pairs"):
        optimal_set(values, features, pairs[:2], higher_is_better=True)


def test_a_model_without_a_value_is_never_chosen():
    pairs = all_pairs(
        {name: lambda counts: np.full(len(counts), np.nan) for name in "ab"}, 9, resamples=10
    )
    values = {"a": np.nan, "b": np.nan}
    none = optimal_set(values, {"a": 1, "b": 2}, pairs, higher_is_better=True)
    assert (none.chosen, none.candidates) == (None, ())
    one = optimal_set({**values, "b": 0.5}, {"a": 1, "b": 2}, pairs, higher_is_better=True)
    assert (one.chosen, one.candidates) == ("b", ("b",))


def test_seeds_widen_the_interval():
    rng = np.random.default_rng(8)
    values = rng.standard_normal(80)
    by_seed = [ratio_of_sums(values + shift, np.ones(80)) for shift in (-1.0, 0.0, 1.0)]
    one = two_way_estimate(by_seed[1:2], 80, resamples=2000)
    many = two_way_estimate(by_seed, 80, resamples=2000)
    assert many.value == pytest.approx(values.mean())
    assert many.interval.width > 2.0 * one.interval.width
