"""A server that dies; in a file of its own, for the wheel may crash a process that knew it."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from short_plans import short_plan, write_driver

from jaywalk.core.errors import InfrastructureError
from jaywalk.runner.episode import run_episode
from jaywalk.runner.world import World


def test_a_server_that_dies_is_no_fault_of_the_agent(tmp_path: Path) -> None:
    with World.embedded() as doomed:
        pid = doomed.server_pid
        assert pid is not None
        agent = write_driver(
            tmp_path,
            f"import os, signal; moment.elapsed_s > 1.0 and os.kill({pid}, signal.SIGKILL)",
        )
        doomed.client.set_timeout(3.0)
        with pytest.raises(InfrastructureError):
            run_episode(short_plan(doomed, agent), doomed, tmp_path / "run")
    assert not list((tmp_path / "run").glob("episodes/r1-s1"))
    with pytest.raises(ProcessLookupError):
        os.kill(pid, signal.SIG_DFL)
