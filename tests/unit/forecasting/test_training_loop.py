"""The shared training loop, with a learner that needs no torch."""

import numpy as np
import pytest

from jaywalk.core.errors import UsageError
from jaywalk.forecasting._training import run_training


class Steps:
    """Two seeds whose parameter counts epochs; scores are given in advance."""

    def __init__(self, scores):
        self.scores = np.asarray(scores, float)  # (epochs, seeds)
        self.value = np.zeros((self.scores.shape[1], 1))
        self.learnt = []

    def learn(self, epoch):
        self.learnt.append(epoch)
        self.value += 1.0
        return {"loss": float(epoch)}

    def validate(self):
        return self.scores[int(self.value[0, 0]) - 1]

    def parameters(self):
        return {"value": self.value.copy()}

    def state(self):
        return {"value": self.value}

    def restore(self, state):
        self.value = state["value"].copy()


SCORES = [[1.0, 5.0], [3.0, 4.0], [2.0, 6.0], [2.5, 1.0], [0.0, 0.0]]


def run(learner, **options):
    rows = []
    options = {"epochs": 5, "identity": {"rate": 0.1}} | options
    return run_training(learner, report=rows.append, **options), rows


def test_every_seed_keeps_its_own_best_epoch():
    best, rows = run(Steps(SCORES))
    assert best.epoch.tolist() == [2, 3]
    assert best.score.tolist() == [3.0, 6.0]
    assert best.parameters["value"].ravel().tolist() == [2.0, 3.0]
    assert best.of_seed(1)["value"].tolist() == [3.0]
    assert [row["epoch"] for row in rows] == [1, 2, 3, 4, 5]
    assert rows[1]["best_epoch"] == [2, 1]


def test_patience_counts_from_the_latest_improvement_of_any_seed():
    learner = Steps(SCORES)
    best, _ = run(learner, patience=1)
    assert learner.learnt == [0, 1, 2, 3]
    assert best.epoch.tolist() == [2, 3]


def test_the_last_epoch_is_validated_whatever_the_interval():
    _, rows = run(Steps(SCORES), validate_every=3)
    assert [row["epoch"] for row in rows] == [3, 5]


def test_a_score_that_is_not_a_number_is_never_the_best():
    best, _ = run(Steps([[np.nan, 1.0], [0.5, np.nan]]), epochs=2)
    assert best.epoch.tolist() == [2, 1]


def test_a_resumed_training_equals_an_unbroken_one(tmp_path):
    file = tmp_path / "checkpoint.npz"
    run(Steps(SCORES), epochs=2, checkpoint=file)
    learner = Steps(SCORES)
    resumed, _ = run(learner, checkpoint=file)
    unbroken, _ = run(Steps(SCORES))
    assert learner.learnt == [2, 3, 4]
    assert resumed.epoch.tolist() == unbroken.epoch.tolist()
    assert np.array_equal(resumed.parameters["value"], unbroken.parameters["value"])
    assert [path.name for path in tmp_path.iterdir()] == ["checkpoint.npz"]


def test_a_checkpoint_of_another_training_is_refused(tmp_path):
    file = tmp_path / "checkpoint.npz"
    run(Steps(SCORES), epochs=1, checkpoint=file)
    with pytest.raises(UsageError, match="another batch, rate"):
        run(Steps(SCORES), checkpoint=file, identity={"rate": 0.2, "batch": 8})
