"""Agents that serve: one object per connection, clear failures, the same answers as in process."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import jaywalk_agent
from jaywalk_agent import (
    Agent,
    AgentFailure,
    AgentServer,
    Answer,
    ConnectionLost,
    Control,
    Moment,
    ProtocolError,
    RemoteAgent,
    load_agent,
)
from jaywalk_agent import client as client_room
from jaywalk_agent.sight import no_actors
from jaywalk_agent.trial import _briefing, _moment, _route, drive


class Counts(Agent):
    name, version = "counts", "7"

    def setup(self, briefing: object) -> None:
        self.steps = 0

    def step(self, moment: Moment) -> Answer:
        self.steps += 1
        if moment.time_s > 100.0:
            raise KeyError("lost")
        share = float(np.float64(moment.ego.position_m[0]) / 3.0)
        seen = sorted(moment.sensors.items())
        return Answer(Control(throttle=share % 1.0), debug={"n": self.steps, "seen": str(seen)})


def _at(frame: int) -> Moment:
    return _moment(frame, 0.1 * frame, 0.0, 0.0, 1.0, no_actors())


def test_each_connection_has_its_own_agent() -> None:
    with AgentServer(Counts) as server:
        first, second = RemoteAgent(server.address), RemoteAgent(server.address)
        ready = first.setup(_briefing(_route()))
        assert (ready.name, ready.version, ready.sensors) == ("counts", "7", [])
        second.setup(_briefing(_route()))
        for frame in range(3):
            assert first.step(_at(frame)).debug["n"] == frame + 1
        assert second.step(_at(0)).debug["n"] == 1
        first.close()
        second.close()


def test_an_exception_is_told_and_the_next_session_works() -> None:
    with AgentServer(Counts) as server:
        agent = RemoteAgent(server.address)
        agent.setup(_briefing(_route()))
        with pytest.raises(AgentFailure, match=r"(?s)in step.*KeyError: 'lost'"):
            agent.step(_at(4000))
        agent.drop()
        again = RemoteAgent(server.address)
        again.setup(_briefing(_route()))
        assert again.step(_at(0)).debug["n"] == 1
        again.close()


def test_what_step_must_return() -> None:
    class Wrong(Agent):
        def step(self, moment: Moment) -> Control:
            return {"throttle": 1.0}  # type: ignore[return-value]

    with AgentServer(Wrong) as server:
        agent = RemoteAgent(server.address)
        agent.setup(_briefing(_route()))
        with pytest.raises(AgentFailure, match="returned dict, expected jaywalk_agent"):
            agent.step(_at(0))
        agent.drop()


def test_another_version_is_refused_with_the_fix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_room, "PROTOCOL", 99)
    with AgentServer(Counts) as server:
        with pytest.raises(ProtocolError, match="speaks version 1 of the protocol, not 99"):
            RemoteAgent(server.address)


def test_a_map_is_sent_once() -> None:
    class Maps(Agent):
        def step(self, moment: Moment) -> Answer:
            return Answer(Control(), debug={"map": moment.sensors["map"][1]["opendrive"]})

    with AgentServer(Maps) as server:
        agent = RemoteAgent(server.address)
        agent.setup(_briefing(_route()))
        data = {"map": (0, {"opendrive": "<xml/>"})}
        for frame in range(3):
            moment = Moment(**{**vars(_at(frame)), "sensors": data})
            assert agent.step(moment).debug["map"] == "<xml/>"
            if frame:
                assert agent._slim(data)["map"][1]["opendrive"] is None
        assert data["map"][1]["opendrive"] == "<xml/>"
        agent.close()


def test_a_dead_process_is_noticed_and_one_that_starts_again_is_found(tmp_path: Path) -> None:
    file = tmp_path / "dies.py"
    file.write_text(
        "import os\nfrom jaywalk_agent import Agent, Control\n"
        "class Dies(Agent):\n"
        "    def step(self, moment):\n"
        "        if moment.frame == 2:\n            os._exit(3)\n"
        "        return Control(throttle=0.5)\n"
    )
    with AgentServer(Counts) as free:
        port = int(free.address.rsplit(":", 1)[1])
    paths = str(Path(jaywalk_agent.__file__).parents[1])
    command = [sys.executable, "-m", "jaywalk_agent", str(file), "--port", str(port)]
    environment = {**os.environ, "PYTHONPATH": paths}
    process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE)
    try:
        agent = RemoteAgent(f"ws://127.0.0.1:{port}", wait_s=60.0)  # while it starts
        agent.setup(_briefing(_route()))
        agent.step(_at(0))
        with pytest.raises(ConnectionLost, match="was lost while it was asked to step"):
            agent.step(_at(2))
        agent.drop()
        assert process.wait(60.0) == 3
    finally:
        process.kill()
        process.communicate()


def test_remote_and_in_process_answer_alike() -> None:
    near = drive(Counts, seconds=2.0)
    with AgentServer(Counts) as server:
        threads = [threading.Thread(target=drive, args=(server.address,)) for _ in range(2)]
        for thread in threads:  # others do not disturb
            thread.start()
        far = drive(server.address, seconds=2.0)
        for thread in threads:
            thread.join(60.0)
    assert [a.control for a in near.answers] == [a.control for a in far.answers]


def test_files_with_no_agent_or_two(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text("from jaywalk_agent import Agent\n")
    with pytest.raises(ImportError, match="defines 0 agents"):
        load_agent(file)
    with pytest.raises(ImportError, match="no file"):
        load_agent(tmp_path / "b.py")
