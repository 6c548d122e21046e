import numpy as np
import pytest
from sklearn import metrics as sk

from jaywalk.metrics.behaviour.ranking import RankedScores, average_precision, roc_area


@pytest.mark.parametrize("decimals", [1, 2, 12])
def test_against_scikit_learn_with_ties(decimals):
    rng = np.random.default_rng(decimals)
    truth = rng.random(400) < 0.3
    scores = np.round(rng.random(400) * 0.7 + 0.3 * truth, decimals)
    assert average_precision(truth, scores) == pytest.approx(
        sk.average_precision_score(truth, scores)
    )
    assert roc_area(truth, scores) == pytest.approx(sk.roc_auc_score(truth, scores))


def test_multiplicities_equal_repeated_samples():
    rng = np.random.default_rng(3)
    truth = rng.random(200) < 0.4
    scores = np.round(rng.random(200), 1)
    group = rng.integers(0, 30, 200)
    ranked = RankedScores(truth, scores, group)
    draws = rng.integers(0, 4, (5, 30)).astype(float)
    ap, auc = ranked.evaluate(draws)
    for i, draw in enumerate(draws):
        repeats = draw[group].astype(int)
        t, s = np.repeat(truth, repeats), np.repeat(scores, repeats)
        assert ap[i] == pytest.approx(sk.average_precision_score(t, s))
        assert auc[i] == pytest.approx(sk.roc_auc_score(t, s))


def test_undefined_is_nan():
    scores = np.array([0.2, 0.9])
    assert np.isnan(average_precision(np.array([False, False]), scores))
    assert np.isnan(roc_area(np.array([True, True]), scores))
    ranked = RankedScores(np.array([True, False]), scores, np.array([0, 1]))
    ap, auc = ranked.evaluate(np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]))
    assert np.isnan(ap[0])
    assert ap[1:].tolist() == [1.0, 0.5]
    assert np.isnan(auc[:2]).all()
    assert auc[2] == 0.0
