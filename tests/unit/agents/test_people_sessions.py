"""People who are served: the same answers as in process, clear failures."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from jaywalk_agent import (
    Agent,
    AgentFailure,
    AgentServer,
    PeopleServer,
    PersonAct,
    PersonView,
    ProtocolError,
    RemoteAgent,
    RemotePeople,
    load_people,
)
from jaywalk_agent.people import checked_act, example_traits, example_view, try_policy
from jaywalk_agent.trial import _briefing, _route

EXAMPLE = Path(__file__).parents[3] / "examples" / "people" / "careful.py"


class Wanders:
    name, version = "wanders", "3"

    def reset(self, who, goal_m, rng) -> None:
        self.who, self.goal_m, self.rng = who, goal_m, rng

    def act(self, seen: PersonView) -> PersonAct:
        if seen.time_s > 50.0:
            raise KeyError("lost")
        towards = self.goal_m - seen.position_m
        velocity = towards * self.rng.random((len(towards), 1)) * self.who.free_mps[:, None]
        return PersonAct(velocity, gaze_m=seen.vehicle_now_m[:, 0], run=self.who.runs)


def test_answers_over_the_wire_are_those_in_process() -> None:
    here, view, who = Wanders(), example_view(3), example_traits(3)
    here.reset(who, view.aim_m, np.random.default_rng(2**63 + 5))
    with PeopleServer(Wanders) as server:
        link = RemotePeople(server.address)
        assert link.setup(who, view.aim_m, 2**63 + 5) == ("wanders", "3")
        for _ in range(3):
            ours, theirs = checked_act(here.act(view), 3), link.step(view)
            for name in ("velocity_mps", "gaze_m", "gesture", "run"):
                assert np.array_equal(getattr(ours, name), getattr(theirs, name), equal_nan=True)
        link.close()


def test_a_failure_comes_with_the_traceback() -> None:
    late = example_view(2)
    object.__setattr__(late, "time_s", 60.0)
    with PeopleServer(Wanders) as server:
        link = RemotePeople(server.address)
        link.setup(example_traits(2), late.aim_m, 1)
        with pytest.raises(AgentFailure, match=r"(?s)the people at ws.*KeyError: 'lost'"):
            link.step(late)
        link.drop()


def test_agents_and_people_are_not_mixed_up() -> None:
    class Idle(Agent):
        pass

    with PeopleServer(Wanders) as people, AgentServer(Idle) as agents:
        with pytest.raises(ProtocolError, match="serves people; give it with --people-model"):
            RemoteAgent(people.address)
        with pytest.raises(ProtocolError, match="serves agent; give it with --agent"):
            RemotePeople(agents.address)
        agent = RemoteAgent(agents.address)
        agent.setup(_briefing(_route()))
        agent.close()


def test_a_file_needs_exactly_one_policy(tmp_path: Path) -> None:
    file = tmp_path / "none.py"
    file.write_text("class Half:\n    def act(self, seen): ...\n")
    with pytest.raises(ImportError, match=r"defines 0 people models \(none\), expected exactly"):
        load_people(file)
    with pytest.raises(ImportError, match="There is no file"):
        load_people(tmp_path / "absent.py")


def test_the_example_waits_for_a_car_and_looks_both_ways() -> None:
    careful = load_people(EXAMPLE)()
    try_policy(careful)
    view, who = example_view(2), example_traits(2)
    careful.reset(who, view.aim_m, np.random.default_rng(1))
    act = careful.act(view)
    assert (act.velocity_mps == 0.0).all()  # a car arrives in 2.5 s
    away = example_view(2)
    away.vehicle_mps[:] *= -1.0
    assert careful.act(away).velocity_mps == pytest.approx(np.array([[1.3, 0.0]] * 2))
    later = example_view(2)
    object.__setattr__(later, "time_s", 2.0)
    sides = [careful.act(one).gaze_m[:, 1] - one.position_m[:, 1] for one in (view, later)]
    assert sides[0] == pytest.approx([10.0, 10.0])
    assert sides[1] == pytest.approx([-10.0, -10.0])


def test_the_docs_show_the_example_as_it_is() -> None:
    page = EXAMPLE.parents[2] / "docs" / "reference" / "habit.md"
    assert EXAMPLE.read_text() in page.read_text()


def test_the_command_serves_people() -> None:
    command = [sys.executable, "-m", "jaywalk_agent", "people", str(EXAMPLE), "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr is not None
            address = server.stderr.readline().split("serving at ")[1].split(",")[0]
            link = RemotePeople(address)
            assert link.setup(example_traits(1), example_view(1).aim_m, 1)[0] == "Careful"
            link.close()
        finally:
            server.terminate()
