import json

import numpy as np
import pytest
from behaviour_people import people_data
from sklearn.ensemble import ExtraTreesRegressor, GradientBoostingClassifier

from jaywalk.core.errors import DataError, PrerequisiteError, RegistryError, UsageError
from jaywalk.core.seeds import derive_seed
from jaywalk.forecasting.behaviour._targets import read_examples
from jaywalk.forecasting.behaviour.learning import TrainingPlan, open_model, train_model
from jaywalk.forecasting.behaviour.models._base import Fitting, class_weights, configured
from jaywalk.forecasting.behaviour.models._forest import Forest, ForestConfig
from jaywalk.forecasting.behaviour.models._gradient_boosting import (
    GradientBoosting,
    GradientBoostingConfig,
)
from jaywalk.forecasting.behaviour.models._trees import leaves, stored_trees, tabular
from jaywalk.forecasting.behaviour.models.registry import MODELS, make_model
from jaywalk.forecasting.behaviour.sampling import draw_samples
from jaywalk.forecasting.behaviour.tasks import find_task
from jaywalk.metrics.behaviour.ranking import mean_average_precision

SMALL = {"trees": 8}


@pytest.fixture(scope="module")
def data():
    return people_data()


@pytest.fixture(scope="module")
def examples(data):
    task = find_task("risk", "sim")
    return {s: read_examples(data, draw_samples(data, task, s), "action") for s in data.splits}


def test_stored_trees_descend_as_scikit_learn_does():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(300, 5))
    model = ExtraTreesRegressor(5, min_samples_leaf=3, random_state=0).fit(table, table[:, 0])
    arrays = stored_trees([one.tree_ for one in model.estimators_])
    found = leaves(arrays, table) - arrays["root"]
    assert np.array_equal(found, model.apply(table))


@pytest.mark.parametrize("task", ["action", "risk"])
def test_gradient_boosting_equals_scikit_learns(examples, task):
    config = GradientBoostingConfig(rounds=6, rows=1.0, columns=1.0)
    model = GradientBoosting(config=config)
    arrays = model.fit(examples["train"], examples["val"], Fitting(tasks=(task,), seed=0))
    arrays[f"{task}.rounds"] = np.array(6)
    found = model.predict(arrays, examples["test"].inputs, task)
    both = examples["train"].with_mirrored()
    labels = both.targets.of_task(task)
    weights = class_weights(labels, 2 if task == "action" else 12, config.balance)
    theirs = GradientBoostingClassifier(
        n_estimators=6,
        learning_rate=config.rate,
        max_leaf_nodes=config.leaves,
        max_depth=None,
        min_samples_leaf=config.least,
        init="zero",
        random_state=derive_seed(0, "gradient boosting", task) % 2**32,
    )
    theirs.fit(tabular(both.inputs)[0], labels, sample_weight=weights[labels])
    wanted = theirs.predict_proba(tabular(examples["test"].inputs)[0])
    if task == "action":
        assert found[:, 0] == pytest.approx(wanted[:, 1], abs=1e-6)
    else:
        assert found[:, theirs.classes_] == pytest.approx(wanted, abs=1e-6)


def test_the_forest_carries_displacements_over(examples):
    model = Forest(config=ForestConfig(trees=3, risk_balance=0.0))
    arrays = model.fit(examples["train"], examples["val"], Fitting(tasks=("risk",), seed=0))
    inputs = examples["test"].inputs
    found = model.predict(arrays, inputs, "risk")
    part = {name[5:]: value for name, value in arrays.items() if name.startswith("risk.")}
    own = leaves(part, tabular(inputs)[0])
    for i in (0, 7, 20):
        shares = np.zeros(12)
        for leaf in own[i]:
            people = part["moved"][part["begin"][leaf] : part["begin"][leaf + 1]]
            for moved in people:
                centre = float(inputs.centres_px[i, -1]) + float(moved)
                shares[int(np.clip(centre // 160.0, 0, 11))] += 1.0 / len(people) / 3.0
        assert found[i] == pytest.approx(shares, abs=1e-6)


@pytest.mark.parametrize("name", ["forest", "gradient-boosting"])
def test_trees_learn_what_can_be_learnt(examples, name):
    settings = {"trees": 10} if name == "forest" else {"rounds": 20}
    model = make_model(name, settings)
    arrays = model.fit(
        examples["train"], examples["val"], Fitting(tasks=("action", "intention"), seed=0)
    )
    test = examples["test"]
    for task in ("action", "intention"):
        found = model.predict(arrays, test.inputs, task)
        assert mean_average_precision(test.targets.of_task(task), found) > 0.95
        if task == "intention":
            assert found.sum(1) == pytest.approx(1.0)


def test_models_without_parameters_refuse_what_they_cannot(examples):
    fitting = Fitting(tasks=("intention",), seed=0)
    with pytest.raises(UsageError, match="answers risk, not intention"):
        make_model("constant-velocity").fit(examples["train"], examples["val"], fitting)
    p = make_model("last-state").predict({}, examples["test"].inputs, "action")
    assert p.shape == (len(examples["test"]), 1)
    assert p.min() >= 0.0
    assert p.max() <= 1.0


def test_training_writes_a_model_that_can_be_opened(data, tmp_path):
    plan = TrainingPlan(model="forest", task="joint", settings=SMALL, seeds=(0, 1))
    about = train_model(data, plan, tmp_path / "m")
    assert set(about["validation"]) == {"intention", "action"}
    names = {p.name for p in (tmp_path / "m").iterdir()}
    assert {"predictions-action-test.csv", "predictions-intention-val.csv", "model.json"} <= names
    samples = draw_samples(data, find_task("intention", "sim"), "test")
    trained = open_model(tmp_path / "m")
    found = trained.predict(data, samples, "intention")
    rows = (tmp_path / "m" / "predictions-intention-test.csv").read_text().splitlines()
    assert rows[0] == "sample_id,no_intention,unsure,intention"
    assert [float(x) for x in rows[1].split(",")[1:]] == pytest.approx(found[0].tolist())
    with pytest.raises(UsageError, match="has learnt joint, not risk"):
        trained.predict(data, samples, "risk")
    # Other settings must not land in the same folder.
    with pytest.raises(UsageError, match="other settings"):
        train_model(
            data, TrainingPlan(model="forest", task="action", settings=SMALL), tmp_path / "m"
        )
    before = (tmp_path / "m" / "seed-0.npz").stat().st_mtime_ns
    train_model(data, plan, tmp_path / "m")
    assert (tmp_path / "m" / "seed-0.npz").stat().st_mtime_ns == before


def test_broken_models_are_told(tmp_path):
    with pytest.raises(PrerequisiteError, match="behaviour train"):
        open_model(tmp_path)
    (tmp_path / "model.json").write_text("{")
    with pytest.raises(DataError, match="is not JSON"):
        open_model(tmp_path)
    (tmp_path / "model.json").write_text(json.dumps({"format": "other"}))
    with pytest.raises(DataError, match="not of the form"):
        open_model(tmp_path)


def test_configs_refuse_what_they_do_not_know():
    with pytest.raises(UsageError, match="no 'tree'; expected some of trees"):
        configured(ForestConfig(), {"tree": 3})
    with pytest.raises(UsageError, match="expected a int"):
        configured(ForestConfig(), {"trees": "many"})
    with pytest.raises(RegistryError, match="Did you mean 'pedformer'"):
        make_model("pedformr")
    with pytest.raises(UsageError, match="no task 'walk'"):
        TrainingPlan(model="forest", task="walk", settings={})
    assert {entry.name for entry in MODELS} >= {"sfgru", "pcpa", "biped", "pedformer"}


def test_mean_average_precision_leaves_absent_classes_out():
    truth = np.array([0, 0, 2])
    p = np.array([[0.8, 0.1, 0.1], [0.2, 0.1, 0.7], [0.1, 0.1, 0.8]])
    assert mean_average_precision(truth, p) == pytest.approx(1.0)
