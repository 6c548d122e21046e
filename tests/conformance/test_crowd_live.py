"""Our own people on the three towns: on sidewalks and crossings, through nothing, reproducible."""

from __future__ import annotations

import pytest
from child import run_program
from live_server import environment, live_server


@pytest.mark.slow
@pytest.mark.parametrize("model", ["scripted", "reactive"])
@pytest.mark.parametrize("town", ["Harbour", "Orchard", "Ridge"])
def test_thirty_people_among_thirty_cars_twice(town: str, model: str) -> None:
    results = []
    for _ in range(2):
        with live_server("--town", town) as server:
            results.append(
                run_program(
                    "crowd_run",
                    server.port,
                    30,
                    30,
                    30,
                    1,
                    model,
                    timeout_s=300.0,
                    env=environment(),
                )
            )
    first, second = results
    print(first)
    assert first["people"] == 30
    assert first["left"] == 0
    assert first["share"]["nowhere"] < 0.002
    assert first["share"]["road"] < 0.15
    assert first["on_road_not_crossing"] < 20
    assert first["nearest_solid_m"] > 0.15
    assert first["overlap_ticks"] < 0.01
    assert first["idle_s"] < 10.0
    assert first["down"] == 0
    assert 0.6 < first["speed_mps"][1] < 2.0
    assert first["walked_m"] > 400.0
    assert first["hash"] == second["hash"]
    assert first["who"] == second["who"]
