"""Scores for experiment trackers, written offline by the trackers' own libraries."""

import math

import pytest
from score_cards import card, run

from jaywalk.report.trackers import facts_of, figures_of, write_mlflow, write_wandb


@pytest.fixture
def scored():
    return run(card("a", metrics={"x_m": math.nan}), card("b", score=40.0), name="mine")


def test_figures_are_finite_and_have_intervals(scored):
    figures = figures_of(scored)
    assert all(map(math.isfinite, figures.values()))
    assert figures["success_rate"] == 50.0
    assert figures["success_rate_low"] < 50.0 < figures["success_rate_high"]
    assert "x_m" not in figures
    assert facts_of(scored)["episodes"] == 2


def test_mlflow_reads_what_was_written(scored, tmp_path):
    mlflow = pytest.importorskip("mlflow", reason="the extra 'mlflow' is not installed")
    store = write_mlflow(scored, tmp_path / "mlruns")
    client = mlflow.MlflowClient(store.resolve().as_uri())
    experiment = client.get_experiment_by_name("jaywalk")
    (found,) = client.search_runs([experiment.experiment_id])
    assert found.data.metrics["success_rate"] == 50.0
    assert found.data.params["run"] == "mine"


def test_wandb_writes_an_offline_run(scored, tmp_path):
    pytest.importorskip("wandb", reason="the extra 'wandb' is not installed")
    place = write_wandb(scored, tmp_path)
    assert place.name.startswith("offline-run-")
    (log,) = place.glob("run-*.wandb")
    assert log.stat().st_size > 0
