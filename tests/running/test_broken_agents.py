"""Broken agents are refused before the first episode, with file, line and cause, and no folder."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from short_plans import short_plan, write_driver
from typer.testing import CliRunner

from jaywalk.agents.load import failure_cause, make_driver
from jaywalk.cli.main import app
from jaywalk.core.errors import JaywalkError, PrerequisiteError, UsageError
from jaywalk.runner._trial import try_agent
from jaywalk.runner.job import RunRequest, run_request
from jaywalk.runner.plan import AgentSpec
from jaywalk.runner.selection import find_suite, subset_of
from jaywalk.runner.session import SimulatorSession
from jaywalk_agent import AgentServer, load_agent

_PLAIN = """
from jaywalk_agent import Agent

class Mine(Agent):
    name, version = "mine", "1"
    def setup(self, briefing):
        {setup}
    def sensors(self):
        return {sensors}
    def step(self, moment):
        raise AssertionError("no step is asked for")
"""
_LEADERBOARD = """
import json
from leaderboard.autoagents.autonomous_agent import AutonomousAgent, Track

def get_entry_point():
    return "Mine"

class Mine(AutonomousAgent):
    def setup(self, path_to_conf_file):
        self.track = Track.SENSORS
        {setup}
    def sensors(self):
        return {sensors}
    def run_step(self, input_data, timestamp):
        raise AssertionError("no step is asked for")
"""
_STRANGE = '[{"type": "sensor.camera.thermal", "id": "t", "x": 0.0, "y": 0.0, "z": 1.0}]'


def _agent(folder: Path, text: str, setup: str = "pass", sensors: str = "[]") -> str:
    path = folder / "agent.py"
    path.write_text(text.replace("{setup}", setup).replace("{sensors}", sensors))
    return str(path)


def _request(folder: Path, agent: str) -> RunRequest:
    return RunRequest(
        run_folder=folder / "run",
        suite=subset_of(find_suite("smoke", "", ""), "1"),
        agent=AgentSpec(name=agent),
        seeds=(1,),
    )


def _refusal(folder: Path, agent: str, error: type[JaywalkError] = UsageError) -> str:
    def no_display(tally: object) -> object:
        raise AssertionError("no episode may begin")

    with pytest.raises(error) as caught:
        run_request(_request(folder, agent), no_display)
    assert not (folder / "run").exists()
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("class Mine(Agent)\n    pass\n", r"agent.py, line 1: SyntaxError: expected ':'"),
        ("x = 1\n", "defines 0 drivers"),
        ("\nimport no_such_module\n", "agent.py, line 2: ModuleNotFoundError: .*no_such_module"),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n", "ended with signal 11"),
        ("print('no licence')\nraise SystemExit(5)\n", "exit code 5; it printed: no licence"),
        ("def get_entry_point():\n    return 'Absent'\n", "'Absent', which is not defined"),
    ],
    ids=["syntax", "no driver", "import", "crash", "exit", "entry point"],
)
def test_agents_that_do_not_load(tmp_path: Path, text: str, expected: str) -> None:
    (tmp_path / "agent.py").write_text(text)
    said = _refusal(tmp_path, str(tmp_path / "agent.py"))
    assert "cannot be loaded" in said
    assert re.search(expected, said), said


def test_a_setup_that_raises_leaves_no_folder(tmp_path: Path) -> None:
    said = _refusal(tmp_path, _agent(tmp_path, _PLAIN, setup="raise ValueError('no weights')"))
    assert "cannot be set up" in said
    assert "agent.py, line 7: ValueError: no weights." in said


@pytest.mark.parametrize(
    ("text", "setup", "sensors", "expected"),
    [
        (_PLAIN, "pass", _STRANGE, "Illegal sensor 'sensor.camera.thermal'"),
        (_PLAIN, "import os; os._exit(7)", "[]", "exit code 7"),
        (_LEADERBOARD, "pass", _STRANGE, "Sensors that agents may use: sensor.camera.depth, "),
        (_LEADERBOARD, "json.load(open(path_to_conf_file))", "[]", "No --agent-config was given"),
        (_LEADERBOARD, "self.track = Track.MAP", "None.x", "line 13: AttributeError"),
    ],
    ids=["sensor", "exit", "Leaderboard sensor", "no config", "sensors raises"],
)
def test_agents_that_cannot_be_set_up(
    tmp_path: Path, world: SimulatorSession, text: str, setup: str, sensors: str, expected: str
) -> None:
    plan = short_plan(world, _agent(tmp_path, text, setup, sensors))
    with pytest.raises(UsageError, match="cannot be set up") as caught:
        try_agent(plan, server=f"{world.host}:{world.port}", watchdog_s=180.0)
    assert expected in str(caught.value)


def test_remote_agents(tmp_path: Path, world: SimulatorSession) -> None:
    place = f"{world.host}:{world.port}"
    path = _agent(tmp_path, _PLAIN, setup="raise KeyError('lost')")
    with AgentServer(load_agent(path)) as server:
        with pytest.raises(UsageError, match=r"agent.py, line 7: KeyError: 'lost'"):
            try_agent(short_plan(world, server.address), server=place, watchdog_s=180.0)
    (tmp_path / "good").mkdir()
    with AgentServer(load_agent(_agent(tmp_path / "good", _PLAIN))) as server:
        try_agent(short_plan(world, server.address), server=place, watchdog_s=180.0)


def test_an_address_without_agent(
    tmp_path: Path, world: SimulatorSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    with AgentServer(load_agent(_agent(tmp_path, _PLAIN))) as server:
        address = server.address
    said = _refusal(tmp_path, address, PrerequisiteError)
    assert address in said
    assert "Start it" in said


def test_a_working_agent_passes_and_its_stage_is_cleared(
    tmp_path: Path, world: SimulatorSession
) -> None:
    plan = short_plan(world, write_driver(tmp_path))
    try_agent(plan, server=f"{world.host}:{world.port}", watchdog_s=180.0)


def test_a_cause_names_the_agents_line_rather_than_a_librarys(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text("import json\n\njson.loads('{')\n")
    with pytest.raises(json.JSONDecodeError) as caught:
        make_driver(str(tmp_path / "agent.py"))
    said = failure_cause(caught.value, str(tmp_path / "agent.py"))
    assert "agent.py, line 3: JSONDecodeError: " in said


@pytest.mark.parametrize(
    ("answer", "cause"),
    [
        ("None", "expected a carla.VehicleControl"),
        ("{}['rgb']", "agent.py, line 15: KeyError: 'rgb'"),
        ("exit(0)", "agent.py, line 15: SystemExit: 0"),
    ],
)
def test_an_agent_that_fails_in_every_episode_is_no_success(
    tmp_path: Path, answer: str, cause: str
) -> None:
    text = _LEADERBOARD.replace('raise AssertionError("no step is asked for")', f"return {answer}")
    path = _agent(tmp_path, text)
    out = str(tmp_path / "run")
    words = ["run", "smoke", "--agent", path, "--subset", "9", "--out", out]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 1, result.output
    lines = [line for line in result.output.splitlines() if "failed in every episode" in line]
    assert len(lines) == 1
    assert cause in lines[0]
