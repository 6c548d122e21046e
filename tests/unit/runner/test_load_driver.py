"""Drivers from files."""

from __future__ import annotations

from pathlib import Path

import pytest

from jaywalk.agents.load import make_driver
from jaywalk.core.errors import RegistryError, UsageError

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
    with pytest.raises(UsageError, match="no such file"):
        make_driver("nowhere.py")
    with pytest.raises(RegistryError, match="cruise"):
        make_driver("cruisse")
