"""Every script of examples/tutorials runs and gives the result that its page describes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

TUTORIALS = Path(__file__).parents[2] / "examples" / "tutorials"


def result(name: str, out: Path, file: str, *words: str) -> Any:
    """Run a tutorial and return the JSON file that it wrote."""
    command = [sys.executable, str(TUTORIALS / f"{name}.py"), "--out", str(out), *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads((out / file).read_text())


def test_a_predictor_of_your_own_is_evaluated(tmp_path: Path) -> None:
    words = ("--people", "30", "--resamples", "100")
    scores = result("evaluate_predictor", tmp_path, "scores.json", *words)["predictors"]
    errors_m = {name: at[-1]["fde"]["value"] for name, at in scores.items()}
    assert min(errors_m, key=errors_m.get) == "slowing_predictor"
    assert errors_m["slowing_predictor"] < 0.5


@pytest.mark.slow
def test_a_leaderboard_agent_is_evaluated(tmp_path: Path) -> None:
    rows = result("evaluate_agent", tmp_path, "scores.json")
    values = {row["metric"]: row["value"] for row in rows if row["kind"] == "mean"}
    assert values["route_completion"] > 50.0
    assert (tmp_path / "scores.pdf").stat().st_size > 1_000
    assert (tmp_path / "report.html").stat().st_size > 10_000


@pytest.mark.slow
def test_models_are_benchmarked_and_rollouts_scored(tmp_path: Path) -> None:
    scores = result("benchmark_models", tmp_path, "result.json", "--rollouts", "2")
    assert scores["auc"]["gradient-boosting"] > 0.9
    assert 0.5 < scores["metametric"] < 1.0


@pytest.mark.slow
def test_a_driver_learns_in_the_gym(tmp_path: Path) -> None:
    learnt = result("train_in_gym", tmp_path, "result.json", "--generations", "3")
    assert learnt["learnt_return"] > learnt["mean_returns"][0] + 20.0


@pytest.mark.slow
def test_a_scenario_with_own_motion_capture(tmp_path: Path) -> None:
    found = result("author_scenario", tmp_path, "result.json")
    assert found["solvable"]
    assert found["metrics"]["success"]["value"] == 0.0  # blind hits the child
    assert (tmp_path / "report.html").stat().st_size > 10_000
