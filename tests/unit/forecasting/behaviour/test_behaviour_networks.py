"""The networks in torch; skipped where the extra is not installed."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed (extra 'train')")

from behaviour_people import people_data

from jaywalk.core.errors import UsageError
from jaywalk.forecasting.behaviour._targets import read_examples
from jaywalk.forecasting.behaviour.learning import TrainingPlan, open_model, train_model
from jaywalk.forecasting.behaviour.models._base import Fitting
from jaywalk.forecasting.behaviour.models.registry import make_model
from jaywalk.forecasting.behaviour.sampling import draw_samples
from jaywalk.forecasting.behaviour.tasks import find_task
from jaywalk.metrics.behaviour.ranking import mean_average_precision

NETWORKS = ("sfgru", "pcpa", "biped", "pedformer")


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def data():
    return people_data(videos=(5, 2, 2), people=6)


@pytest.fixture(scope="module")
def examples(data):
    task = find_task("action", "sim")
    return {s: read_examples(data, draw_samples(data, task, s), "action") for s in data.splits}


@pytest.mark.parametrize("name", NETWORKS)
def test_networks_learn_what_can_be_learnt(examples, name):
    settings = {"state": 16, "epochs": 10, "batch": 32, "patience": 9, "rate": 0.01, "dropout": 0.0}
    model = make_model(name, settings)
    fitting = Fitting(tasks=("action",), seed=0)
    arrays = model.fit(examples["train"], examples["val"], fitting)
    # Thirty people are few: what was learnt is known for sure on them, on others in part.
    for split, least in (("train", 0.93), ("test", 0.7)):
        part = examples[split]
        found = model.predict(arrays, part.inputs, "action")
        assert found.shape == (len(part), 1)
        assert mean_average_precision(part.targets.action, found) > least


@pytest.mark.parametrize("name", ["sfgru", "pedformer"])
def test_a_stopped_training_goes_on_as_if_it_had_not(examples, name, tmp_path):
    settings = {"state": 8, "epochs": 4, "patience": 9}
    whole = make_model(name, settings).fit(
        examples["train"], examples["val"], Fitting(tasks=("risk",), seed=3)
    )
    file = tmp_path / "c.npz"

    class StoppedError(Exception):
        pass

    def stop(row):
        if row["epoch"] == 2:
            raise StoppedError

    model = make_model(name, settings)
    with pytest.raises(StoppedError):
        model.fit(
            examples["train"],
            examples["val"],
            Fitting(tasks=("risk",), seed=3, checkpoint=file, report=stop),
        )
    resumed = model.fit(
        examples["train"], examples["val"], Fitting(tasks=("risk",), seed=3, checkpoint=file)
    )
    assert whole.keys() == resumed.keys()
    for key in whole:
        assert np.array_equal(whole[key], resumed[key]), key
    with pytest.raises(UsageError, match="another tasks"):
        model.fit(
            examples["train"], examples["val"], Fitting(tasks=("action",), seed=3, checkpoint=file)
        )


def test_a_joint_network_answers_both_questions(data, tmp_path):
    plan = TrainingPlan(
        model="pedformer", task="joint", settings={"state": 8, "epochs": 2}, seeds=(0,)
    )
    about = train_model(data, plan, tmp_path)
    assert set(about["validation"]) == {"intention", "action"}
    samples = draw_samples(data, find_task("intention", "sim"), "test")
    trained = open_model(tmp_path)
    assert trained.predict(data, samples, "intention").shape == (samples.height, 3)
    assert trained.predict(data, samples, "action").shape == (samples.height, 1)
    assert not list(tmp_path.glob("*.checkpoint.npz"))
