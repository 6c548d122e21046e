"""Every driver on a live server, among traffic and people, for a few seconds."""

from __future__ import annotations

import pytest
from child import run_program
from live_server import environment, live_server

SECONDS, CARS, PEOPLE, SEED, LENGTH_M = 20, 10, 10, 3, 300


@pytest.mark.slow
@pytest.mark.parametrize("name", ["blind", "bold", "comfort-zone", "cruise", "expert", "timid"])
def test_drives_its_route(name: str) -> None:
    with live_server("--town", "Orchard") as server:
        result = run_program(
            "drive_route",
            server.port,
            name,
            SECONDS,
            CARS,
            PEOPLE,
            SEED,
            LENGTH_M,
            timeout_s=300.0,
            env=environment(),
        )
    print(result)
    assert result["driven_m"] > 30.0
    assert result["aside_max_m"] < 0.8
    if name in ("expert", "timid"):
        assert result["contacts"] == []
        assert result["red"] == []
