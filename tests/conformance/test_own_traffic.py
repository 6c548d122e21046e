"""Our own traffic on the three towns: nobody touches, nobody runs a light or a stop sign."""

from __future__ import annotations

import pytest
from child import run_program
from live_server import environment, live_server

LEAST_KM = {"Harbour": 5.0, "Orchard": 8.0, "Ridge": 16.0}


@pytest.mark.slow
@pytest.mark.parametrize("town", list(LEAST_KM))
def test_thirty_cars_for_a_minute_twice(town: str) -> None:
    results = []
    for _ in range(2):
        with live_server("--town", town) as server:
            results.append(
                run_program(
                    "own_traffic_run", server.port, 60, 30, 1, timeout_s=300.0, env=environment()
                )
            )
    first, second = results
    print(first)
    assert first["cars"] == 30
    assert first["collisions"] == []
    assert first["red"] == []
    assert first["ran_stop"] == []
    assert first["km"] > LEAST_KM[town]
    assert first["least_m"] > 20.0
    if town == "Harbour":
        assert first["waited_at_red"] >= 5
    if town == "Orchard":
        assert first["passed_stop"] >= 5
    assert first["hash"] == second["hash"]
