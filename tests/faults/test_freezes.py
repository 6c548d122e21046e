"""Every known way to freeze the server, small in the default run and at full size when slow.

What is asserted are answers and memory; delays are measured by ``hostile.py``, and here only
bounded by the bystander's own time-out.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import attacks
import pytest
from hostile import measure
from live_server import LiveServer, live_server
from rpc_socket import RpcSocket
from scene import straight_road


@pytest.fixture(scope="module")
def server() -> Iterator[LiveServer]:
    with live_server("--town", "Harbour") as running:
        yield running


def check(server: LiveServer, name: str, attack: Callable[[int], Any]) -> dict[str, Any]:
    """Run an attack beside a bystander that must not lose a tick."""
    result = measure(server, name, attack, 60.0)
    print(result)
    assert result["alive"], server.errors()
    assert result["bystander_problem"] == ""
    assert result["bystander_ticks"] > 5
    assert not result["frozen_past_limit"]
    return result


SMALL: dict[str, tuple[Callable[[int], Any], str]] = {
    "many_ids": (lambda port: attacks.many_ids(port, 150_000), "at most 100000 are taken"),
    "long_road": (attacks.long_road, "too large a map"),
    "many_roads": (lambda port: attacks.many_roads(port, 5001), "has 5001 roads"),
    "deaf_managers": (lambda port: attacks.deaf_managers(port, 12, 1), "12 managers"),
    "half_open": (lambda port: attacks.half_open(port, 200, 0.2), "200 connections"),
    "silent_callers": (lambda port: attacks.silent_callers(port, 10, 0.3), "10 callers"),
    "empty_maps": (lambda port: attacks.empty_maps(port, 2_000_000), "b''"),
    "unused_tokens": (lambda port: attacks.unused_tokens(port, 5, 2), "5 clients"),
    "large_batches": (lambda port: attacks.large_batches(port, 2001), "2001 spawns refused"),
    "many_connections": (lambda port: attacks.many_connections(port, 500, 0.2), "500 connections"),
    "large_camera": (attacks.large_camera, "at most 9,000,000"),
    "nested_arrays": (lambda port: attacks.nested_arrays(port, 400, 200), "b''"),
}


@pytest.mark.parametrize("name", SMALL)
def test_an_attack_costs_others_nothing(server: LiveServer, name: str) -> None:
    attack, answer = SMALL[name]
    result = check(server, name, attack)
    assert answer in result["said"]
    assert result["rss_peak_mb"] < result["rss_before_mb"] + 200


def test_buffers_are_limited_in_total(server: LiveServer) -> None:
    result = check(
        server, "silent_subscribers", lambda port: attacks.silent_subscribers(port, 60, 150)
    )
    assert result["rss_peak_mb"] < result["rss_before_mb"] + 250
    result = check(
        server,
        "unfinished_requests",
        lambda port: attacks.unfinished_requests(port, 20, 16_000_000),
    )
    assert result["rss_peak_mb"] < result["rss_before_mb"] + 350


def test_errors_are_short_and_the_log_is_too(server: LiveServer) -> None:
    result = check(server, "huge_names", lambda port: attacks.huge_names(port, 1_000_000))
    assert int(result["said"]) < 1000
    before = server.log_bytes()
    check(server, "log_flood", lambda port: attacks.log_flood(port, 3000))
    assert server.log_bytes() < before + 20_000


def test_a_town_is_built_beside_the_loop(server: LiveServer) -> None:
    """A client that sends a map waits for it; others tick on, in the old world and the new."""
    result = check(
        server, "send_map", lambda port: attacks.send_opendrive(port, straight_road(3000.0))
    )
    assert result["said"] == "ok"
    with RpcSocket(server.port) as rpc:
        before = rpc.call("get_episode_info")[0]
        rpc.call("load_new_episode", "OpenDriveMap", True, 0xFFFF)
        assert rpc.call("get_map_info")[0].endswith("OpenDriveMap")
        rpc.call("load_new_episode", "Harbour", True, 0xFFFF)
        assert rpc.call("get_episode_info")[0] == before + 2


def test_a_client_that_leaves_while_its_town_is_built(server: LiveServer) -> None:
    with RpcSocket(server.port) as rpc:
        before = rpc.call("get_episode_info")[0]
        rpc.send("load_new_episode", "Ridge", True, 0xFFFF)
    with RpcSocket(server.port) as rpc:
        assert rpc.call("get_episode_info")[0] == before  # answered while it is built
        rpc.call("load_new_episode", "Orchard", True, 0xFFFF)  # comes after the other one
        assert rpc.call("get_episode_info")[0] == before + 2  # as CARLA does what it was asked for
        assert "Orchard" in rpc.call("get_map_info")[0]
        rpc.call("load_new_episode", "Harbour", True, 0xFFFF)


def test_hostile_frames(server: LiveServer) -> None:
    result = check(
        server, "hostile_frames", lambda port: attacks.hostile_frames(port, 3000, seed=11)
    )
    assert "'answers': 2400" in result["said"]


def test_hostile_maps(server: LiveServer) -> None:
    """A sound map with wrong values in it is refused or taken, whatever they are."""
    rng = random.Random(3)
    values = ["inf", "-inf", "nan", "1e308", "-1", "", "x", "1e7", "0", "9" * 400]
    text = attacks.opendrive_text("150", roads=3, lanes=2)
    parts = text.split('"')
    for _ in range(25):
        damaged = parts[:]
        for _ in range(rng.randrange(1, 4)):
            damaged[rng.randrange(len(parts) // 2) * 2 + 1] = rng.choice(values)
        said = attacks.send_opendrive(server.port, '"'.join(damaged), 60.0)
        assert said == "ok" or said.startswith("RpcError"), said
        assert len(said) < 600
    assert server.alive, server.errors()


@pytest.mark.slow
@pytest.mark.parametrize("name", attacks.ATTACKS)
def test_an_attack_at_full_size(name: str) -> None:
    with live_server("--town", "Harbour") as server:
        result = check(server, name, attacks.ATTACKS[name])
        assert result["rss_peak_mb"] < result["rss_before_mb"] + 450


@pytest.mark.slow
def test_many_hostile_frames(server: LiveServer) -> None:
    check(server, "hostile_frames", lambda port: attacks.hostile_frames(port, 50_000, seed=12))
