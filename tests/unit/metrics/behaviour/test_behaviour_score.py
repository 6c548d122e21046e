import numpy as np
import pytest
from sklearn import metrics as sk

from jaywalk.metrics.behaviour.score import BehaviourScore, ScoredSamples


def make(n_classes, seed=0, n=240, people=40):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, n_classes, n)
    logits = rng.normal(size=(n, n_classes)) + 1.5 * np.eye(n_classes)[truth]
    p = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    return ScoredSamples(
        truth=truth,
        confidence=p[:, 1:] if n_classes == 2 else p,
        instance=np.sort(np.append(np.arange(people), rng.integers(0, people, n - people))),
        n_classes=n_classes,
        weight=rng.uniform(0.2, 1.0, n),
    )


def test_binary_against_scikit_learn():
    data = make(2)
    values = BehaviourScore(data).values()
    p = data.confidence[:, 0]
    assert values["base.map"] == pytest.approx(sk.average_precision_score(data.truth, p))
    assert values["base.auc"] == pytest.approx(sk.roc_auc_score(data.truth, p))
    assert values["base.f1"] == pytest.approx(sk.f1_score(data.truth, np.round(p)))
    assert values["weighted.prec"] == pytest.approx(
        sk.precision_score(data.truth, np.round(p), sample_weight=data.weight)
    )


@pytest.mark.parametrize("n_classes", [3, 12])
def test_many_classes_against_scikit_learn(n_classes):
    data = make(n_classes, seed=n_classes)
    values = BehaviourScore(data).values()
    one_hot = np.eye(n_classes)[data.truth]
    assert values["base.map"] == pytest.approx(
        sk.average_precision_score(one_hot, data.confidence, average="macro")
    )
    assert values["base.auc"] == pytest.approx(
        sk.roc_auc_score(data.truth, data.confidence, multi_class="ovr", average="macro")
    )
    assert values["base.bacc"] == pytest.approx(
        sk.balanced_accuracy_score(data.truth, data.confidence.argmax(1))
    )


@pytest.mark.parametrize("n_classes", [2, 3])
def test_multiplicities_equal_a_dataset_of_repeated_people(n_classes):
    data = make(n_classes, seed=5)
    score = BehaviourScore(data)
    draw = np.random.default_rng(1).integers(0, 3, score.n_instances)
    rows, people = [], []
    for person in np.repeat(np.arange(score.n_instances), draw):
        own = np.flatnonzero(data.instance == person)
        rows.append(own)
        people.append(np.full(len(own), len(people)))
    picked = np.concatenate(rows)
    repeated = BehaviourScore(
        ScoredSamples(
            truth=data.truth[picked],
            confidence=data.confidence[picked],
            instance=np.concatenate(people),
            n_classes=n_classes,
            weight=data.weight[picked],
        )
    )
    row = score.evaluate(draw[None].astype(float))[0]
    assert dict(zip(score.names, row, strict=True)) == pytest.approx(repeated.values())


def test_a_missing_class_leaves_areas_undefined():
    data = make(3)
    gone = np.where(data.truth == 2, 1, data.truth)
    score = BehaviourScore(
        ScoredSamples(truth=gone, confidence=data.confidence, instance=data.instance, n_classes=3)
    )
    assert score.missing_classes == [2]
    values = score.values()
    assert np.isnan(values["base.map"])
    assert np.isnan(values["base.auc"])
    assert np.isfinite(values["base.f1"])
    assert "weighted.acc" not in values
