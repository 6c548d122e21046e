"""The verb ``run``, with made-up episodes."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from child import wait_for
from fake_episodes import write_routes

import jaywalk
import jaywalk_agent

pytestmark = pytest.mark.slow  # every run starts processes
PROGRAM = Path(__file__).parents[2] / "support/programs/fake_jaywalk_run.py"


def start(folder, *options, sources=()):
    paths = os.pathsep.join(filter(None, [*map(str, sources), *sys.path]))
    return subprocess.Popen(
        [sys.executable, str(PROGRAM), *map(str, options)],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": paths},
    )


def run(folder, *options, sources=()):
    process = start(folder, *options, sources=sources)
    out, err = process.communicate(timeout=300)
    return process.returncode, out, err


def test_lines_in_a_pipe_then_paths_and_the_next_command(tmp_path):
    routes = write_routes(tmp_path, "ok-1", "ok-2", "agent-fails")
    code, out, err = run(tmp_path, routes, "--agent", "cruise", "--subset", "ok-1,agent-fails")
    lines = out.splitlines()
    assert code == 0, err
    assert [line.split("\t")[0] for line in lines[:2]] == ["1/2", "2/2"]
    assert "runs/r-cruise: 2/2 episodes, 1 agent failures, complete" in lines
    assert "held out? seeds 1-3 are development seeds; of route files, 34 public" in err
    assert lines[-2:] == [
        "score: jaywalk score runs/r-cruise",
        "next: jaywalk report runs/r-cruise -o report.html",
    ]
    config = json.loads((tmp_path / "runs/r-cruise/config.json").read_text())
    assert config["suite"]["name"] == "files"
    assert (config["agent"]["name"], config["seeds"]) == ("cruise", [1])
    assert config["agent"]["arguments"] == {"perception": "full"}
    assert config["options"] == {
        "motions": "",
        "people": None,
        "server": "embedded",
        "town": "",
        "traffic": "own",
        "vehicles": None,
        "wet_grip": False,
    }
    assert config["packages"]["jaywalk"]
    assert config["episodes"] == ["r-ok-1-s1", "r-agent-fails-s1"]


def test_several_agents_seeds_and_json(tmp_path):
    routes = write_routes(tmp_path, "ok-1")
    code, out, err = run(
        tmp_path,
        routes,
        "--agent",
        "cruise,blind",
        "--seeds",
        "1-2",
        "--out",
        "all",
        "--json",
        "--verify-determinism",
    )
    assert code == 0, err
    assert json.loads(out)["inspected"].startswith("seeds 1-3 are development seeds")
    runs = json.loads(out)["runs"]
    assert [entry["run"] for entry in runs] == ["all/cruise", "all/blind"]
    assert [entry["done"] for entry in runs] == [2, 2]
    assert runs[0]["determinism"] == {"identical": 2, "compared": 2, "differing": []}


def test_incomplete_is_four_and_differing_records_are_one(tmp_path):
    routes = write_routes(tmp_path, "bad-plan", "ok-1")
    code, out, _ = run(tmp_path, routes, "--agent", "cruise", "--out", "a")
    assert code == 4
    assert "a: 1/2 episodes, 1 given up, INCOMPLETE" in out
    routes = write_routes(tmp_path, "ok-1", "random")
    code, out, _ = run(
        tmp_path,
        routes,
        "--agent",
        "cruise",
        "--out",
        "b",
        "--workers",
        "1",
        "--verify-determinism",
    )
    assert code == 1
    assert "determinism: 1/2 identical" in out
    assert "differs: r-random-s1" in out
    begun = (tmp_path / "b/.verify/started.log").read_text().split()
    assert (begun[0], len(begun)) == ("r-random-s1", 6)  # last route first


def test_a_run_is_not_resumed_by_a_changed_driver(tmp_path):
    for package in (jaywalk, jaywalk_agent):
        source = Path(str(package.__file__)).parent
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(source, tmp_path / "src" / source.name, ignore=ignored)
    routes = write_routes(tmp_path, "ok-1", "ok-2")
    command = [routes, "--agent", "bold", "--out", "a"]
    own = {"sources": [tmp_path / "src"]}
    code, _, err = run(tmp_path, *command, "--subset", "ok-1", **own)
    assert code == 0, err
    code, _, err = run(tmp_path, *command, "--subset", "ok-1", **own)
    assert code == 0, err
    bold = tmp_path / "src/jaywalk/agents/baselines/baselines.py"
    bold.write_text(bold.read_text() + "\n# braver\n")
    code, _, err = run(tmp_path, *command, **own)
    assert code == 2
    assert "driven with other versions of code or data; our sources: " in err
    assert not (tmp_path / "a/episodes/r-ok-2-s1").exists()
    code, _, err = run(tmp_path, *command, "--allow-mixed-code", **own)
    assert code == 0, err
    config = json.loads((tmp_path / "a/config.json").read_text())
    assert len({config["code"]["sources"], *(c["sources"] for c in config["earlier_code"])}) == 2
    assert config["agent"]["version"] == config["code"]["driver"]


def test_ctrl_c_ends_cleanly_and_says_how_to_go_on(tmp_path):
    routes = write_routes(tmp_path, "ok-1", "hang-always")
    process = start(tmp_path, routes, "--agent", "cruise", "--out", "a", "--workers", "2")
    log = tmp_path / "a/started.log"
    done = tmp_path / "a/episodes/r-ok-1-s1"
    wait_for(lambda: done.exists() and "hang" in log.read_text(), "one done and one that hangs")
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=300)
    assert process.returncode == 4, err
    assert "run the same command again" in err
    assert f"{routes} --agent cruise --out a" in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (["--agent", "nobody"], 2, "Unknown agent 'nobody'"),
        (["--agent", "no.py"], 2, "does not exist"),
        (["--agent", ","], 2, "expected a name, a file or ws://HOST:PORT"),
        (["--agent", "ws://here"], 2, "expected ws://HOST:PORT"),
        (["--agent", "ws://127.0.0.1:9"], 3, "nobody listens at ws://127.0.0.1:9"),
        (["--agent", "cruise", "--seeds", "x"], 2, "--seeds is 'x'"),
        (["--agent", "cruise", "--server", "here"], 2, "expected HOST:PORT"),
        (["--agent", "cruise", "--subset", "7"], 2, "not a route of the suite"),
        (["--agent", "cruise", "--town", "Nowhere"], 3, "The routes need the town Nowhere"),
        (["--agent", "cruise", "--town", "a", "--xodr", "b.xodr"], 2, "not both"),
    ],
)
def test_wrong_options(tmp_path, options, code, said):
    routes = write_routes(tmp_path, "ok-1")
    found, _, err = run(tmp_path, routes, *options)
    assert (found, said in err) == (code, True), err
    assert not (tmp_path / "runs").exists()
