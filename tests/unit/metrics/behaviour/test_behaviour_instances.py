import numpy as np
import pytest

from jaywalk.metrics.behaviour.instances import (
    centrality_weights,
    decide,
    earliness_weights,
    group_instances,
    number_in_order,
)
from jaywalk.metrics.behaviour.score import agreement


def test_one_half_is_a_no():
    assert decide(np.array([[0.5], [0.5000001], [0.2]])).tolist() == [0, 1, 0]
    assert decide(np.array([[0.2, 0.5, 0.3], [0.4, 0.2, 0.4]])).tolist() == [1, 0]


def test_pedestrians_are_numbered_by_appearance():
    codes, n = number_in_order(np.array(["b", "a", "b", "c", "a"]))
    assert codes.tolist() == [0, 1, 0, 2, 1]
    assert n == 3


def test_the_example_of_the_paper():
    # Two say crossing with confidence, one says no: soft says crossing, hard is wrong.
    truth = np.array([1, 1, 1, 0, 0])
    confidence = np.array([[0.9], [0.4], [0.8], [0.1], [0.3]])
    found = group_instances(truth, confidence, np.array([0, 0, 0, 1, 1]))
    assert found.truth.tolist() == [1, 0]
    assert found.soft.tolist() == [1, 0]
    assert found.hard.tolist() == [0, 0]
    assert found.unanimous.tolist() == [False, True]
    assert found.mean_confidence[:, 0] == pytest.approx([0.7, 0.2])
    assert found.max_delta == pytest.approx([0.5, 0.2])
    assert found.mean_delta == pytest.approx([0.45, 0.2])
    assert found.n_samples.tolist() == [3, 2]


def test_many_classes():
    confidence = np.eye(7)[[5, 4, 6, 0, 1, 2]] * 0.9 + 0.1 / 7
    truth = np.array([5, 5, 4, 0, 0, 2])
    instance = np.array([0, 0, 0, 1, 1, 2])
    found = group_instances(truth, confidence, instance)
    # 5, 4, 6 has the mean of its first and passes for unanimous, unless exactness is asked for.
    assert found.unanimous.tolist() == [True, False, True]
    assert found.hard.tolist() == [5, 1, 2]
    assert found.label_changes.tolist() == [True, False, False]
    exact = group_instances(truth, confidence, instance, exact=True)
    assert exact.unanimous.tolist() == [False, False, True]
    assert exact.hard.tolist() == [0, 1, 2]
    assert found.max_delta == pytest.approx([0.9, 0.9, 0.0])
    assert found.mean_delta == pytest.approx([1.8 / 7, 1.8 / 7, 0.0])


def test_samples_need_not_be_contiguous():
    rng = np.random.default_rng(0)
    truth, confidence = rng.integers(0, 3, 40), rng.dirichlet(np.ones(3), 40)
    instance = rng.permutation(np.repeat(np.arange(8), 5))
    found = group_instances(truth, confidence, instance)
    for i in range(8):
        own = confidence[instance == i]
        assert found.mean_confidence[i] == pytest.approx(own.mean(0))
        assert found.max_delta[i] == pytest.approx(np.abs(np.diff(own, axis=0)).max())
        assert found.mean_delta[i] == pytest.approx(np.abs(np.diff(own, axis=0)).mean())
        assert found.truth[i] == truth[instance == i][0]


def test_weights():
    tte = np.array([30, 60, 90])
    assert earliness_weights(tte) == pytest.approx(
        np.exp(-0.5 * (np.array([60, 30, 0]) / 90 / 0.3) ** 2)
    )
    even = centrality_weights(np.arange(12), 12)
    half = [0.249352, 0.411112, 0.606531, 0.800737, 0.945959, 1.0]
    assert even[:6] == pytest.approx(half, abs=1e-6)
    assert even == pytest.approx(even[::-1])
    odd = centrality_weights(np.arange(5), 5)
    assert odd.argmax() == 2
    assert (odd == 1.0).sum() == 1


def test_agreement():
    intention = np.array([0, 2, 2, 2, 1])
    action = np.array([0, 1, 1, 0, 0])
    table = agreement(intention, np.array([0, 2, 0, 2, 2]), action, np.array([0, 1, 1, 1, 1]))
    assert table.overall.tolist() == [40.0, 20.0, 20.0, 20.0]
    assert table.counts.sum() == 5
    assert table.shares.sum(0).tolist() == [100.0, 100.0, 100.0, 100.0]
    assert table.counts[5].tolist() == [1, 0, 1, 0]  # wants to and crosses
    assert table.counts[4].tolist() == [0, 1, 0, 0]
    assert table.counts[2].tolist() == [0, 0, 0, 1]
