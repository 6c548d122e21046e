"""The same script gives the same world, bit by bit, in two server processes."""

from __future__ import annotations

import pytest
from child import run_program
from live_server import live_server


@pytest.mark.slow
def test_two_processes_agree_on_every_snapshot() -> None:
    results = []
    for _ in range(2):
        with live_server("--town", "Harbour", "--seed", "3") as server:
            results.append(run_program("scripted_run", server.port, 2000, timeout_s=300.0))
    print(results)
    assert results[0]["vehicles"] == 30
    assert results[0]["walkers"] >= 25
    assert results[0]["moved"] >= 45  # something happened
    assert results[0] == results[1]
