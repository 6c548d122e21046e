"""Drivers from files."""

from __future__ import annotations

from pathlib import Path

import pytest

from jaywalk.agents.load import make_driver
from jaywalk.core.errors import RegistryError, UsageError
from jaywalk.runner.agent_choice import agent_specs

_GOOD = """
from jaywalk.agents.base import Driver
from neighbour import WORD

class Mine(Driver):
    name = WORD
    def setup(self, briefing): pass
    def decide(self, moment): raise NotImplementedError
"""


def test_a_file_with_one_driver_and_a_neighbour(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(_GOOD)
    (tmp_path / "neighbour.py").write_text("WORD = 'hello'\n")
    assert make_driver(str(tmp_path / "agent.py")).name == "hello"


def test_a_file_without_a_driver_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "empty.py"
    path.write_text("from jaywalk.agents.base import Driver\n")
    with pytest.raises(UsageError, match="defines 0 drivers"):
        make_driver(str(path))


def test_a_missing_file_and_an_unknown_name() -> None:
    with pytest.raises(UsageError, match="does not exist"):
        make_driver("nowhere.py")
    with pytest.raises(RegistryError, match="cruise"):
        make_driver("cruisse")


_FOREIGN = """
from leaderboard.autoagents.autonomous_agent import AutonomousAgent
{entry}
class Mine(AutonomousAgent):
    def {method}(self, input_data, timestamp):
        pass
"""


@pytest.mark.parametrize(
    ("entry", "method", "said"),
    [
        ("", "run_step", r"agent.py has no get_entry_point\(\).* here 'Mine'"),
        ("def get_entry_point(): return 'Mine'", "step", "Mine has no run_step of its own"),
        ("def get_entry_point(): return 'Other'", "run_step", "'Other', which is not defined"),
        ("def get_entry_point(): return Mine", "run_step", "expected the name of a class"),
    ],
)
def test_leaderboard_files_that_lack_something(
    tmp_path: Path, entry: str, method: str, said: str
) -> None:
    path = tmp_path / "agent.py"
    path.write_text(_FOREIGN.replace("{entry}", entry).replace("{method}", method))
    with pytest.raises(UsageError, match=said):
        make_driver(str(path))


def test_an_agent_may_inherit_its_decisions_from_a_class_of_its_own(tmp_path: Path) -> None:
    text = _FOREIGN.replace("{entry}", "").replace("{method}", "run_step")
    (tmp_path / "base_agent.py").write_text(text)
    path = tmp_path / "agent.py"
    path.write_text(
        "from base_agent import Mine\ndef get_entry_point(): return 'Sub'\nclass Sub(Mine): pass\n"
    )
    assert make_driver(str(path)).name == "leaderboard-agent"


def test_a_name_that_is_a_file_without_its_ending(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text("")
    with pytest.raises(UsageError, match=r"Did you mean the file 'mine.py'"):
        agent_specs("mine")
