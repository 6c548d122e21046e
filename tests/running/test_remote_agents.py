"""Agents in a Python of their own: the same record as in process, and failures that are theirs."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from child import other_python
from short_plans import short_plan

import jaywalk.record
import jaywalk_agent
from jaywalk.agents.template import write_agent
from jaywalk.checks.drive import check_drive
from jaywalk.checks.rules import judge
from jaywalk.core.errors import InfrastructureError
from jaywalk.runner._episode import run_episode
from jaywalk.runner.plan import AgentSpec
from jaywalk.runner.session import SimulatorSession
from jaywalk_agent import AgentServer, load_agent

# Tells forecasts and a plan, asks for sensors, draws numbers, and dies or errs when told to.
_AGENT = """
import math, os
import numpy as np
from jaywalk_agent import PERSON, Agent, Answer, Control, Forecast, Plan

class Full(Agent):
    name, version = "full", "3"
    def setup(self, briefing):
        self.way, self.seed = briefing.route.position_m, briefing.seed
        self.ego = briefing.ego
        assert briefing.route.gps.shape == self.way.shape
        assert 0.5 < briefing.ego.front_axle_x_m < 2.0 and briefing.ego.max_steer_deg > 30.0
    def sensors(self):
        place = {"x": 0.7, "y": 0.0, "z": 1.6, "roll": 0.0, "pitch": 0.0, "yaw": 0.0}
        return [
            {"type": "sensor.camera.rgb", "id": "cam", "width": 32, "height": 24, "fov": 90,
             **place},
            {"type": "sensor.other.imu", "id": "imu", **place},
            {"type": "sensor.speedometer", "id": "speed"},
            {"type": "sensor.opendrive_map", "id": "map"},
        ]
    def step(self, moment):
        FIRST
        ego, data = moment.ego, moment.sensors
        assert data["cam"][1].shape == (24, 32, 4) and data["map"][1]["opendrive"][:5] == "<?xml"
        assert abs(data["speed"][1]["speed"] - ego.speed_mps) < 1e-4
        assert data["imu"][0] == moment.frame
        gaps = np.hypot(*(self.way[:, :2] - ego.position_m[:2]).T)
        aim = self.way[min(int(gaps.argmin()) + 6, len(self.way) - 1)]
        turn = math.atan2(aim[1] - ego.position_m[1], aim[0] - ego.position_m[0])
        turn = math.remainder(turn - math.radians(ego.rotation_deg[1]), 2 * math.pi)
        people = np.flatnonzero(moment.actors.kind == PERSON)
        told = [
            Forecast(actor_id=int(moment.actors.id[k]), time_s=[0.5, 1.0], mean_m=[[
                list(moment.actors.position_m[k, :2] + t * moment.actors.velocity_mps[k, :2])
                for t in (0.5, 1.0)]])
            for k in people[:3]
        ]
        dither = (self.seed % 1000) * 1e-5 + float(data["imu"][1][0]) * 1e-4
        return Answer(
            Control(throttle=0.6 if ego.speed_mps < 7.0 else dither, steer=STEER),
            forecasts=told, plan=Plan(path_m=self.way[:5, :2]), debug={"turn": {"rad": turn}},
        )
"""
_NEEDED = "import sys, numpy, msgpack; sys.exit(sys.version_info[:2] != (3, 8))"
_TURN = "max(-1.0, min(1.0, 1.2 * turn))"


def _write(folder: Path, first: str = "pass", steer: str = _TURN) -> Path:
    path = folder / "full.py"
    path.write_text(_AGENT.replace("FIRST", first).replace("STEER", steer))
    return path


def _old_python() -> str:
    """A Python 3.8 with numpy and msgpack; else this one, in a process of its own."""
    found = other_python("agent-3.8", ("3.8",), ("numpy", "msgpack"), _NEEDED)
    return found or sys.executable


@contextmanager
def _served(file: Path, python: str = sys.executable, port: int = 0) -> Iterator[tuple[str, int]]:
    """The agent of a file, in a process of its own: its address and process id."""
    library = str(Path(jaywalk_agent.__file__).resolve().parents[1])
    command = [python, "-m", "jaywalk_agent", str(file), "--port", str(port)]
    process = subprocess.Popen(
        command, env={**os.environ, "PYTHONPATH": library}, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stderr is not None
        line = process.stderr.readline()
        assert "serving at ws://127.0.0.1:" in line, line + process.stderr.read()
        yield line.split("serving at ")[1].split(",")[0], process.pid
    finally:
        process.kill()
        process.communicate()


def test_the_same_record_in_process_and_in_another_python(
    world: SimulatorSession, tmp_path: Path
) -> None:
    file = _write(tmp_path)
    near = run_episode(short_plan(world, str(file), people=4), world, tmp_path / "near")
    assert (near.end_reason, near.failure) == ("route completed", "")
    with _served(file, _old_python()) as (address, _):
        far = run_episode(short_plan(world, address, people=4), world, tmp_path / "far")
    assert (far.end_reason, far.failure) == ("route completed", "")
    assert far.record_hash == near.record_hash
    record = jaywalk.record.open(far.folder)
    assert (record.episode.agent.name, record.episode.agent.version) == ("full", "3")
    forecasts = record.forecasts.collect()
    assert len(forecasts) > 50
    assert set(forecasts["source"]) == {"full"}


def test_one_that_dies_has_failed_and_is_found_again(
    world: SimulatorSession, tmp_path: Path
) -> None:
    file = _write(tmp_path, "if moment.time_s > 1.0: os._exit(9)")
    with _served(file) as (address, _):
        died = run_episode(short_plan(world, address), world, tmp_path / "died")
    assert died.end_reason == "agent failed"
    assert "was lost while it was asked to step" in died.failure
    file.write_text(_write(tmp_path).read_text())
    port = int(address.rsplit(":", 1)[1])
    with _served(file, port=port):
        again = run_episode(short_plan(world, address), world, tmp_path / "again")
    assert again.end_reason == "route completed"


def test_its_exception_and_its_silence_are_its_failures(
    world: SimulatorSession, tmp_path: Path
) -> None:
    file = _write(tmp_path, "if moment.time_s > 0.7: raise KeyError('lost')")
    with AgentServer(load_agent(file)) as server:
        raised = run_episode(short_plan(world, server.address), world, tmp_path / "a")
    assert raised.end_reason == "agent failed"
    assert "KeyError: 'lost'" in raised.failure
    file = _write(tmp_path, "import time; time.sleep(3600)")
    with _served(file) as (address, _):
        hung = run_episode(short_plan(world, address), world, tmp_path / "b", watchdog_s=6.0)
    assert hung.end_reason == "agent failed"
    assert f"{address} did not answer (step" in hung.failure


def test_nobody_there_is_not_the_agents_failure(
    world: SimulatorSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jaywalk.agents.adapters.remote.WAIT_S", 0.0)
    with pytest.raises(InfrastructureError, match="nobody listens at ws://127"):
        run_episode(short_plan(world, "ws://127.0.0.1:9"), world, tmp_path / "run")


def _states(world: SimulatorSession, agent: str) -> dict[str, str]:
    drive = check_drive(AgentSpec(name=agent), world, "Harbour", 1, drive_s=8.0)
    return {one.check: one.state for one in judge(drive, None, 1000.0)}


def test_check_finds_good_and_bad_wiring(world: SimulatorSession, tmp_path: Path) -> None:
    path, _ = write_agent(tmp_path, "fresh")
    assert "fail" not in _states(world, str(path)).values()
    good = _states(world, str(_write(tmp_path)))
    assert {good["sensors"], good["forecasts"], good["steering"]} == {"pass"}
    (tmp_path / "mirror").mkdir()
    mirrored = _states(world, str(_write(tmp_path / "mirror", steer=f"-{_TURN}")))
    assert mirrored["steering"] == "fail"
    with AgentServer(load_agent(path)) as server:
        assert "fail" not in _states(world, server.address).values()
