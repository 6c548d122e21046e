"""A run killed at random moments ends up as one that was not."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from fake_episodes import write_routes

pytestmark = pytest.mark.slow  # every run starts processes
PROGRAMS = Path(__file__).parents[2] / "support/programs"


def killed_run(tmp_path, episodes, kills, seed):
    routes = write_routes(tmp_path, *(f"slow-{n}" for n in range(episodes)))
    run = [sys.executable, str(PROGRAMS / "fake_jaywalk_run.py"), str(routes), "--agent", "cruise"]
    done = subprocess.run(
        [
            sys.executable,
            str(PROGRAMS / "killed_run.py"),
            str(tmp_path / "runs"),
            str(kills),
            str(seed),
            *run,
            "--workers",
            "2",
        ],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


def test_three_kills(tmp_path):
    found = killed_run(tmp_path, episodes=6, kills=3, seed=1)
    assert (found["identical"], found["episodes"], found["run_again"]) == (6, 6, 0)
    assert found["left_behind"] == 0
    assert found["kills"] >= 2


def test_ten_kills(tmp_path):
    found = killed_run(tmp_path, episodes=24, kills=10, seed=2)
    assert (found["identical"], found["episodes"], found["run_again"]) == (24, 24, 0)
    assert found["kills"] >= 8
    # Some fell into the run, not all before or after it.
    assert len(set(found["done_at_kills"])) > 2
