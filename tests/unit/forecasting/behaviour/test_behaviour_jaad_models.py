"""The forest on JAAD: better than constant velocity on risk, than PedFormer's outputs on action."""

from pathlib import Path

import pytest

from jaywalk.forecasting.behaviour.learning import TrainingPlan, open_model, train_model
from jaywalk.forecasting.behaviour.sampling import draw_samples, load_dataset
from jaywalk.forecasting.behaviour.scoring import Bootstrap, compare_report, score_report
from jaywalk.forecasting.behaviour.tasks import find_task

JAAD = Path(__file__).parents[5] / "shared" / "data" / "jaad" / "jaad_annotations.tar.gz"
pytestmark = [
    pytest.mark.data,
    pytest.mark.slow,
    pytest.mark.skipif(not JAAD.exists(), reason="needs ../shared/data/jaad"),
]
FEW = {"trees": 40}


@pytest.fixture(scope="module")
def data():
    return load_dataset("jaad", JAAD)


def trained(data, folder, model, task, settings):
    train_model(data, TrainingPlan(model=model, task=task, settings=settings, seeds=(0,)), folder)
    samples = draw_samples(data, find_task(task, "jaad"), "test")
    return samples, open_model(folder).predict(data, samples, task)


def test_the_forest_beats_constant_velocity_on_risk(data, tmp_path):
    task = find_task("risk", "jaad")
    samples, forest = trained(data, tmp_path / "f", "forest", "risk", FEW)
    _, going_on = trained(data, tmp_path / "c", "constant-velocity", "risk", {})
    assert score_report(task, samples, going_on, Bootstrap(resamples=0))["base"][
        "bacc"
    ] == pytest.approx(0.475, abs=1e-3)
    report = compare_report(task, samples, going_on, forest, Bootstrap(resamples=500))
    assert report["difference"]["base"]["bacc_ci"][0] > 0.0
    assert report["difference"]["base"]["f1_ci"][0] > 0.0
    assert report["second"]["base"]["map"] > 0.45


def test_the_forest_foresees_action(data, tmp_path):
    task = find_task("action", "jaad")
    samples, forest = trained(data, tmp_path, "forest", "action", FEW)
    found = score_report(task, samples, forest, Bootstrap(resamples=0))["base"]
    assert found["map"] > 0.66
    assert found["auc"] > 0.89
