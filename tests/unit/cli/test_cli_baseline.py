"""The verb ``baseline`` with made-up episodes, and what needs no episode at all."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from jaywalk.cli.baseline import app
from jaywalk.core.errors import DataError, UsageError
from jaywalk.metrics.driving.baseline import read_baseline
from jaywalk.runner.baselines import append_log, check_reason, missing_towns, table_suite

ROOT = Path(__file__).parents[3]
PROGRAM = ROOT / "tests/support/programs/fake_jaywalk_baseline.py"
TABLE = """suite = "test/made-up-v1"
vehicles = 2
"""
ROUTE = """
[[route]]
id = "{id}"
town = "{town}"
scenario = "ParkedObstacle"
trigger = [10.0, 0.0, 0.0, 0.0]
parameters = {{ distance = 40, direction = "right" }}
points = [[0.0, 0.0, 0.0], [100.0, 0.0, 0.0]]
"""


def run(folder, *options):
    paths = os.pathsep.join(filter(None, sys.path))
    done = subprocess.run(
        [sys.executable, str(PROGRAM), *map(str, options)],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={
            **os.environ,
            "PYTHONPATH": paths,
            "XDG_CACHE_HOME": str(folder / "cache"),
            "JAYWALK_TOWN_PATH": "",
        },
    )
    return done.returncode, done.stdout, done.stderr


def make(folder, *ids, town="Harbour"):
    """A table of routes; an episode does what the route's id says."""
    (folder / "baselines").mkdir(exist_ok=True)
    text = TABLE + "".join(ROUTE.format(id=one, town=town) for one in ids)
    (folder / "baselines/routes.toml").write_text(text)


def new(folder, name="made-up", *more):
    return run(
        folder,
        "new",
        name,
        "--suite",
        "routes.toml",
        "--agent",
        "blind",
        "--reason",
        "first",
        *more,
    )


@pytest.mark.slow
def test_create_verify_change_accept(tmp_path):
    make(tmp_path, "ok-1", "ok-2")
    code, out, err = new(tmp_path)
    assert code == 0, err
    assert "next: jaywalk baseline verify made-up" in out
    path = tmp_path / "baselines/made-up.json"
    assert len(read_baseline(path).episodes) == 2
    code, out, err = run(tmp_path, "verify", "made-up")
    assert code == 0, err
    assert "made-up\tunchanged\tunchanged: 2 episodes" in out
    assert not list((tmp_path / "cache").rglob("config.json"))  # the run is not kept
    first, again = path.read_text(), read_baseline(path)
    name = next(iter(again.episodes))
    path.write_text(first.replace(again.episodes[name].record_hash, "0" * 64, 1))
    code, out, err = run(tmp_path, "verify", "--all", "--out", "kept", "--json")
    assert code == 1, err
    (verdict,) = json.loads(out)["baselines"]
    assert verdict["changes"]["summary"] == "1 of 2 records changed, scores equal"
    code, out, err = run(tmp_path, "accept", "--all", "--from", "kept", "--reason", "a better hash")
    assert code == 0, err
    assert read_baseline(path).episodes == again.episodes
    log = (tmp_path / "baselines/LOG.md").read_text()
    assert "first accepted: 2 episodes" in log
    assert "a better hash\n\n- 1 of 2 records changed, scores equal" in log


@pytest.mark.slow
def test_what_cannot_be_driven_is_incomplete_and_what_is_missing_is_skipped(tmp_path):
    make(tmp_path, "ok-1", "bad-plan")
    code, _, err = new(tmp_path)
    assert code == 4
    assert "1 of 2 episodes could not be driven" in err
    assert not (tmp_path / "baselines/made-up.json").exists()
    make(tmp_path, "ok-1", town="Town99")
    code, _, err = new(tmp_path)
    assert code == 3
    assert "it needs Town99; put their .xodr files into a folder named in JAYWALK_TOWN_PATH" in err
    code, _, err = new(tmp_path, "made-up", "--no-drive", "--in-ci")
    assert code == 0, err
    assert read_baseline(tmp_path / "baselines/made-up.json").run.requires == ["Town99"]
    code, out, _ = run(tmp_path, "verify")
    assert (code, "never accepted" in out) == (3, True)


@pytest.mark.slow
def test_a_run_of_other_code_or_of_something_else_is_not_accepted(tmp_path):
    make(tmp_path, "ok-1")
    assert new(tmp_path, "made-up", "--out", "kept")[0] == 0
    config = tmp_path / "kept/made-up/config.json"
    old = config.read_text()
    entries = json.loads(old)
    entries["code"]["sources"] = "f" * 64
    config.write_text(json.dumps(entries))
    command = ("accept", "made-up", "--from", "kept/made-up", "--reason", "x")
    code, _, err = run(tmp_path, *command)
    assert code == 2
    assert "our sources: ffffffffffff there" in err
    entries = json.loads(old)
    entries["agent"]["name"] = "bold"
    config.write_text(json.dumps(entries))
    code, _, err = run(tmp_path, *command)
    assert (code, "agent: 'bold' there, 'blind' expected" in err) == (3, True)
    config.write_text(old)
    shutil.rmtree(next((tmp_path / "kept/made-up/episodes").iterdir()))
    code, _, err = run(tmp_path, *command)
    assert (code, "is incomplete: 1 of 1 episodes are missing" in err) == (3, True)


def invoke(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def test_refusals_that_need_no_drive(tmp_path):
    make(tmp_path, "ok-1")
    where = ("--baselines", tmp_path / "baselines")
    empty = invoke("accept", "x", "--reason", "  ", *where).exception
    assert isinstance(empty, UsageError)
    assert "--reason is empty" in str(empty)
    unknown = invoke("verify", "nobody", *where).exception
    assert "No baseline 'nobody'" in str(unknown)
    nothing = invoke("accept", "--reason", "x", *where).exception
    assert "or give --all" in str(nothing)
    bad = ("--suite", "smoke", "--agent", "blind", "--reason", "x", *where)
    assert "lower-case" in str(invoke("new", "../x", *bad).exception)
    agent = ("--suite", "smoke", "--agent", "blind,bold", "--reason", "x", *where)
    assert "expected one driver" in str(invoke("new", "x", *agent).exception)
    (tmp_path / "baselines/x.json").write_text("{")
    assert isinstance(invoke("verify", "x", *where).exception, DataError)
    assert "exists" in str(invoke("new", "x", *bad).exception)
    assert check_reason(" two\n lines ") == "two lines"


def test_tables_of_routes(tmp_path):
    make(tmp_path, "7", town="Harbour")
    suite = table_suite(tmp_path / "baselines/routes.toml")
    (item,) = suite.routes
    assert (suite.name, item.id, item.vehicles) == ("test/made-up-v1", "harbour-7", 2)
    (spec,) = item.route.scenarios
    assert (spec.type, spec.trigger.x_m) == ("ParkedObstacle", 10.0)
    assert spec.parameters["distance"].get("value") == "40"
    assert missing_towns(suite) == []
    (tmp_path / "baselines/routes.toml").write_text(TABLE + '[[route]]\nid = "1"\n')
    with pytest.raises(DataError, match="a route lacks or misspells"):
        table_suite(tmp_path / "baselines/routes.toml")


def test_the_log_keeps_what_it_has(tmp_path):
    append_log(tmp_path, "## a\n")
    append_log(tmp_path, "## b\n")
    assert re.findall(r"^## (\w)$", (tmp_path / "LOG.md").read_text(), re.MULTILINE) == ["a", "b"]


def test_the_baselines_of_the_repository_are_what_ci_needs():
    found = [read_baseline(path) for path in sorted((ROOT / "baselines").glob("*.json"))]
    runs = {
        (one.run.suite.split("_")[0], one.run.agent, one.run.subset) for one in found if one.in_ci
    }
    drivers = ("blind", "bold", "comfort-zone", "cruise", "expert", "timid")
    assert runs >= {("smoke", name, "") for name in drivers}
    assert runs >= {("habit", "expert", "51-70"), ("habit", "bold", "51-70")}
    assert runs >= {("fail2drive", "expert", ""), ("bench2drive", "expert", "")}
    routes = table_suite(ROOT / "baselines/bench2drive_routes.toml").routes
    towns = ["Town01", "Town02", "Town04", "Town06", "Town07", "Town10HD"]
    assert [one.route.town for one in routes] == towns
