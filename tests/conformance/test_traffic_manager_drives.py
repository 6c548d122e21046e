"""The real Traffic Manager in synchronous mode."""

from __future__ import annotations

import contextlib
import random
import socket

import pytest
from child import run_program
from live_server import live_server


def _free_port() -> int:
    """A port below those that the kernel hands out, so that nobody else gets it meanwhile."""
    for port in random.SystemRandom().sample(range(10_000, 30_000), 100):
        with socket.socket() as sock, contextlib.suppress(OSError):
            sock.bind(("127.0.0.1", port))
            return port
    raise AssertionError("no free port")


@pytest.mark.slow
def test_thirty_cars_drive_for_a_minute_and_stop_at_red() -> None:
    with live_server("--town", "Harbour") as server:
        result = run_program("traffic_run", server.port, 60, 30, _free_port(), timeout_s=300.0)
    print(result)
    assert result["cars"] == 30
    assert result["moved"] >= 27
    assert result["km"] > 4.0
    assert result["stopped_at_red"] >= 3
    assert result["ran_red"] == 0
    assert result["per_km"] < 0.1
