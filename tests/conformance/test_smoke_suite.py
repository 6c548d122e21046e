"""The routes of smoke on a live server: every scenario happens, can be survived, and repeats."""

from __future__ import annotations

from typing import Any

import pytest
from child import run_program
from live_server import environment, live_server

# Who drives on without looking hits these (08 and 10 have crossing people and traffic as well).
HITS = {
    "01-harbour-hidden": "walker.",
    "02-harbour-red-light": "vehicle.",
    "05-orchard-stepping-out": "walker.",
    "07-orchard-priority": "vehicle.",
    "10-ridge-hard-brake": "vehicle.",
}
OBSTACLES = ("03", "04", "08", "11")


def probe(driver: str, ids: str = "all") -> dict[str, Any]:
    with live_server("--town", "Harbour") as server:
        result = run_program(
            "suite_probe", server.port, "smoke", ids, driver, 1, timeout_s=560.0, env=environment()
        )
    return {route["id"]: route for route in result["routes"]}


@pytest.mark.slow
def test_every_scenario_happens_and_repeats() -> None:
    first = probe("passing")
    assert len(first) == 12
    for name, route in first.items():
        kinds = [kind for _, kind, _, _ in route["events"]]
        assert kinds.count("scenario_start") == kinds.count("scenario_end") == 1, name
        assert "scenario_timeout" not in kinds
        assert route["cars"] == 10
        assert route["drove_m"] > route["length_m"] - 4.0, name
        if name[:2] in OBSTACLES:
            assert route["hits"] == []
    again = probe("passing")
    assert {k: v["hash"] for k, v in again.items()} == {k: v["hash"] for k, v in first.items()}
    assert {k: v["events"] for k, v in again.items()} == {k: v["events"] for k, v in first.items()}


@pytest.mark.slow
def test_who_does_not_look_hits_what_is_there() -> None:
    blind = probe("steady", ",".join(name[:2] for name in [*HITS, "06-orchard-stop"]))
    for name, kind in HITS.items():
        assert any(hit.startswith(kind) for hit in blind[name]["hits"]), name
    assert blind["06-orchard-stop"]["least_m"] < 6.0  # a car with priority had to brake
