"""A server that dies, in a process of its own: the wheel may abort one that knew it."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from child import run_program


def test_a_server_that_dies_is_no_fault_of_the_agent(tmp_path: Path) -> None:
    found = run_program("doomed_server", tmp_path, timeout_s=600.0)
    assert "r1-s1" in found["said"]  # an InfrastructureError about the episode
    assert not list((tmp_path / "run").glob("episodes/r1-s1"))
    with pytest.raises(ProcessLookupError):
        os.kill(found["pid"], signal.SIG_DFL)
