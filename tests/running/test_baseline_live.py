"""A tiny baseline, really driven: created, verified, and found changed."""

import json
import os
import subprocess
import sys

import pytest

from jaywalk.metrics.driving.baseline import read_baseline

pytestmark = pytest.mark.slow
_MAIN = "from jaywalk.cli.main import main; main()"


def jaywalk(folder, *words):
    paths = os.pathsep.join(filter(None, sys.path))
    return subprocess.run(
        [sys.executable, "-c", _MAIN, "baseline", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
        env={**os.environ, "PYTHONPATH": paths, "XDG_CACHE_HOME": str(folder / "cache")},
    )


def test_a_driven_baseline_is_verified_and_a_changed_one_found(tmp_path):
    (tmp_path / "baselines").mkdir()
    made = jaywalk(
        tmp_path,
        "new",
        "tiny",
        "--suite",
        "smoke",
        "--subset",
        "09-ridge-open-rural",
        "--agent",
        "blind",
        "--reason",
        "a test",
        "--workers",
        "1",
    )
    assert made.returncode == 0, made.stderr
    path = tmp_path / "baselines/tiny.json"
    ((name, episode),) = read_baseline(path).episodes.items()
    assert name == "09-ridge-open-rural-s1"
    assert episode.scores["leaderboard-2.1"].metrics["driving_score"] > 0.0
    same = jaywalk(tmp_path, "verify", "tiny", "--out", "again", "--json")
    assert same.returncode == 0, same.stdout + same.stderr
    record = json.loads((tmp_path / "again/tiny/episodes" / name / "episode.json").read_text())
    assert record["code"]["sources"] == read_baseline(path).code.sources
    assert record["code"]["driver"].startswith("blind-v")
    text = path.read_text().replace(episode.record_hash, "0" * 64)
    path.write_text(text)
    changed = jaywalk(tmp_path, "verify", "tiny", "--out", "again")
    assert changed.returncode == 1, changed.stdout + changed.stderr
    assert "1 of 1 records changed, scores equal" in changed.stdout
