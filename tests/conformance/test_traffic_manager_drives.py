"""The real Traffic Manager in synchronous mode."""

from __future__ import annotations

import socket

import pytest
from child import run_program
from live_server import live_server


def _free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


@pytest.mark.slow
def test_thirty_cars_drive_for_a_minute_and_stop_at_red() -> None:
    with live_server("--town", "Harbour") as server:
        result = run_program("traffic_run", server.port, 60, 30, _free_port(), timeout_s=120.0)
    print(result)
    assert result["cars"] == 30
    assert result["moved"] >= 27
    assert result["km"] > 4.0
    assert result["stopped_at_red"] >= 3
    assert result["ran_red"] == 0
    assert result["per_km"] < 0.1
