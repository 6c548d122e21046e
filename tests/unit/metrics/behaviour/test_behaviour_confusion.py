import numpy as np
import pytest
from sklearn import metrics as sk

from jaywalk.metrics.behaviour import ranking as confusion


@pytest.mark.parametrize("n_classes", [2, 3, 12])
@pytest.mark.parametrize("weighted", [False, True])
def test_against_scikit_learn(n_classes, weighted):
    rng = np.random.default_rng(n_classes)
    # Class 1 is never decided for and the last one never true: the undefined cases.
    truth = rng.integers(0, n_classes - (n_classes > 2), 300)
    decided = rng.integers(0, n_classes, 300)
    if n_classes > 2:
        decided[decided == 1] = 0
    weight = rng.uniform(0.1, 2.0, 300) if weighted else None
    group = rng.integers(0, 20, 300)
    parts = confusion.confusion_by_group(truth, decided, group, 20, n_classes, weight)
    matrix = parts.sum(0)
    everything = {"sample_weight": weight, "zero_division": 0.0}
    average = "binary" if n_classes == 2 else "macro"
    positive = 1 if n_classes == 2 else None
    assert confusion.accuracy(matrix) == pytest.approx(
        sk.accuracy_score(truth, decided, sample_weight=weight)
    )
    present = np.unique(truth)
    recalls = sk.recall_score(truth, decided, labels=present, average=None, **everything)
    assert confusion.balanced_accuracy(matrix) == pytest.approx(recalls.mean())
    for ours, theirs in (
        (confusion.precision, sk.precision_score),
        (confusion.recall, sk.recall_score),
        (confusion.f1, sk.f1_score),
    ):
        assert ours(matrix, positive) == pytest.approx(
            theirs(truth, decided, average=average, **everything)
        )


def test_stacks_of_matrices_are_evaluated_one_by_one():
    rng = np.random.default_rng(1)
    stack = rng.integers(0, 9, (7, 3, 3)).astype(float)
    for function in (confusion.accuracy, confusion.balanced_accuracy, confusion.f1):
        assert function(stack) == pytest.approx([float(function(m)) for m in stack])


def test_by_hand():
    matrix = np.array([[3.0, 1.0], [2.0, 4.0]])
    assert confusion.accuracy(matrix) == pytest.approx(0.7)
    assert confusion.balanced_accuracy(matrix) == pytest.approx((3 / 4 + 4 / 6) / 2)
    assert confusion.precision(matrix, 1) == pytest.approx(4 / 5)
    assert confusion.f1(matrix, 1) == pytest.approx(8 / 11)
