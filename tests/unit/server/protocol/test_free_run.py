"""The asynchronous mode: the server's own ticks."""

import logging
import socket
import time
from types import SimpleNamespace

import pytest

from jaywalk.server.encoding._settings import EpisodeSettings
from jaywalk.server.encoding.codec import CARLA_0_9_16
from jaywalk.server.protocol._streams import Ledger, Subscriber
from jaywalk.server.protocol.methods._actors import spawn
from jaywalk.server.protocol.rpc import RpcContext
from jaywalk.server.session._publisher import WORLD_STREAM


def spawn_car(server):
    """Spawn a car as a client does."""
    client = SimpleNamespace(dialect=CARLA_0_9_16)
    pose = ((50.0, 1.75, 0.1), (0.0, 0.0, 0.0))
    spawn(RpcContext(server, client), [0, "vehicle.audi.tt", []], pose)


def test_free_ticks_keep_the_pace_of_the_clock(stage, monkeypatch):
    server = stage.server()
    ticked = []
    monkeypatch.setattr(stage.simulation, "tick", lambda: ticked.append(1))
    step = stage.simulation.delta_s
    server._next_free_run_s = 100.0
    for count in range(1, 21):  # always a little late, and yet no time is lost
        server._free_run(100.0 + (count - 1) * step + 0.3 * step)
        assert server._next_free_run_s == pytest.approx(100.0 + count * step)
    server._free_run(500.0)  # far behind: it does not race to catch up
    assert server._next_free_run_s == pytest.approx(500.0 + step)
    assert len(ticked) == 21
    server.close()


def test_a_tick_that_fails_does_not_end_the_server(stage, monkeypatch, caplog):
    server = stage.server()
    calls = []

    def tick() -> int:
        calls.append(1)
        if len(calls) == 3:
            server.stop()
        raise RuntimeError("boom")

    monkeypatch.setattr(stage.simulation, "tick", tick)
    server._next_free_run_s = time.monotonic()
    with caplog.at_level(logging.ERROR):
        server.run()
    assert len(calls) == 3
    assert "a tick failed" in caplog.text


def test_a_fresh_episode_stands_still_until_somebody_spawns_an_actor(stage):
    server = stage.server()
    server.hold_free_run()
    due = server._next_free_run_s
    spawn_car(server)
    assert server._next_free_run_s < due - 2.0
    server.end_greeting()  # who joins now does not stop the clock again
    assert server._next_free_run_s < due - 2.0
    server.close()


def test_spawning_in_synchronous_mode_starts_no_clock(stage):
    server = stage.server()
    stage.simulation.apply_settings(
        EpisodeSettings(synchronous_mode=True, fixed_delta_seconds=0.05)
    )
    server.hold_free_run()
    due = server._next_free_run_s
    spawn_car(server)
    assert server._next_free_run_s == due
    server.close()


@pytest.mark.parametrize("request_first", [True, False])
def test_a_client_that_joins_gets_its_tick_whichever_of_its_connections_is_faster(
    stage, request_first
):
    server = stage.server()
    ours, theirs = socket.socketpair()
    with ours, theirs:
        subscriber = Subscriber(ours, CARLA_0_9_16, Ledger())
        if request_first:
            server.greet()
        server.streams.subscribe(subscriber, WORLD_STREAM)
        if not request_first:
            server.greet()
        soon = time.monotonic() + stage.simulation.delta_s
        assert server._next_free_run_s <= soon < server._grace_ends_s
        server.end_greeting()
        assert server._next_free_run_s == server._grace_ends_s
        server.close()
