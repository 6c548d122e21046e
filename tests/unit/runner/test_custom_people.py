"""``--people-model`` with a model of the user: names, refusals, and resuming."""

from __future__ import annotations

import hashlib
import socket
from pathlib import Path

import pytest

from jaywalk.core.errors import PrerequisiteError, UsageError
from jaywalk.motion.library.reading import EVERYDAY
from jaywalk.runner.config import differences, resolve_config
from jaywalk.runner.job import RunRequest
from jaywalk.runner.plan import people_parameters
from jaywalk.runner.request import RunOptions, make_requests
from jaywalk_agent import Agent, AgentServer, PeopleServer, load_people

GOOD = """
from jaywalk_agent import PersonAct

class Straight:
    def reset(self, who, goal_m, rng):
        self.who = who

    def act(self, seen):
        return PersonAct(seen.onward * self.who.free_mps[:, None])
"""


def request(model: Path | str, suite: str = "habit", **options: object) -> RunRequest:
    return make_requests(suite, "bold", RunOptions(people_model=str(model), limit=1, **options))[0]


def refusal(model: Path | str, suite: str = "habit") -> str:
    with pytest.raises(UsageError) as raised:
        request(model, suite)
    return str(raised.value)


def test_a_file_makes_a_version_of_the_suite_and_is_named_in_records(tmp_path: Path) -> None:
    file = tmp_path / "straight.py"
    file.write_text(GOOD)
    made = request(file)
    assert made.suite.name == "jaywalk/habit-custom-v3"
    (plan,) = made.plans()
    assert (plan.people_model, plan.people_policy) == ("reactive", str(file))
    assert plan.drawn_as == "jaywalk/habit-v2"  # the same traffic, roles and places
    named = people_parameters(plan.people_model, own_motions=False, policy=plan.people_policy)
    assert named["people_model"] == "custom:straight"
    assert named["people_model_sha256"] == hashlib.sha256(GOOD.encode()).hexdigest()
    assert named["motions"] == EVERYDAY


def test_a_changed_file_is_another_run(tmp_path: Path) -> None:
    file = tmp_path / "straight.py"
    file.write_text(GOOD)
    made = request(file)

    def config():
        options = people_parameters("reactive", own_motions=False, policy=str(file))
        return resolve_config(made.suite, made.agent, made.plans(), options)

    before = config()
    assert differences(before, config()) == []
    file.write_text(GOOD + "# changed\n")
    (line,) = differences(before, config())
    assert line.startswith("content of the people model's file: ")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("import numpy\n", "defines 0 people models (none), expected exactly one class"),
        (GOOD + GOOD.replace("Straight", "Second"), "defines 2 people models"),
        ("x = 1\ny = = 2\n", "line 2: SyntaxError"),
        (GOOD.replace("seen.onward *", "seen.onwards *"), "line 9: AttributeError"),
        (
            GOOD.replace("PersonAct(seen", "PersonAct(float('nan') * seen"),
            "expected finite numbers",
        ),
        (GOOD.replace("[:, None])", "[:, None][:1])[:1]"), "line 9: TypeError"),
        (GOOD.replace("(self, who, goal_m, rng)", "(self)"), "TypeError"),
        ("raise SystemExit(3)\n", "line 1: SystemExit"),
    ],
)
def test_broken_files_are_refused(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "broken.py"
    file.write_text(text)
    said = refusal(file)
    assert words in said
    assert "broken.py" in said


def test_wrong_shapes_are_named(tmp_path: Path) -> None:
    file = tmp_path / "shapes.py"
    file.write_text(
        GOOD.replace(
            "PersonAct(seen.onward * self.who.free_mps[:, None])", "PersonAct(seen.onward[0])"
        )
    )
    assert "velocity_mps has the shape (2,), expected (2, 2): one row per person" in refusal(file)


def test_what_is_not_there_is_refused(tmp_path: Path) -> None:
    assert "there is no such file" in refusal(tmp_path / "absent.py")
    assert "cannot be loaded" in refusal("no_such_module:People")
    assert "no class 'People' with the methods reset and act" in refusal("json:People")
    assert "expected ws://HOST:PORT" in refusal("ws://nowhere")
    assert "nobody in the suite" in refusal("json:People", suite="smoke")


def test_addresses_are_tried_before_the_run(tmp_path: Path) -> None:
    file = tmp_path / "straight.py"
    file.write_text(GOOD)
    with PeopleServer(load_people(file)) as server:
        made = request(server.address)
        assert made.suite.people_policy == server.address
    named = people_parameters("reactive", own_motions=True, policy=server.address)
    assert named["people_model"] == f"custom:{server.address[5:]}"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        with pytest.raises(PrerequisiteError, match="python -m jaywalk_agent people"):
            request(f"ws://127.0.0.1:{free.getsockname()[1]}")
    with (
        AgentServer(Agent) as agents,
        pytest.raises(PrerequisiteError, match="serves agent; give it with --agent"),
    ):
        request(agents.address)
