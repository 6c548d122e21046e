"""The asynchronous mode: the server's own ticks."""

import logging
import socket
import time

import pytest

from jaywalk.server.encoding.codec import CARLA_0_9_16
from jaywalk.server.protocol.server import CarlaServer
from jaywalk.server.protocol.streams import WORLD_STREAM, Ledger, Subscriber
from jaywalk.server.session.settings import Settings


def test_free_ticks_keep_the_pace_of_the_clock(stage, monkeypatch):
    server = CarlaServer(stage.episode, "127.0.0.1", 0, CARLA_0_9_16)
    ticked = []
    monkeypatch.setattr(stage.episode, "tick", lambda: ticked.append(1))
    step = stage.episode.delta_s
    server._next_free_run_s = 100.0
    for count in range(1, 21):  # always a little late, and yet no time is lost
        server._free_run(100.0 + (count - 1) * step + 0.3 * step)
        assert server._next_free_run_s == pytest.approx(100.0 + count * step)
    server._free_run(500.0)  # far behind: it does not race to catch up
    assert server._next_free_run_s == pytest.approx(500.0 + step)
    assert len(ticked) == 21
    server.close()


def test_a_tick_that_fails_does_not_end_the_server(stage, monkeypatch, caplog):
    server = CarlaServer(stage.episode, "127.0.0.1", 0, CARLA_0_9_16)
    calls = []

    def tick() -> int:
        calls.append(1)
        if len(calls) == 3:
            server.stop()
        raise RuntimeError("boom")

    monkeypatch.setattr(stage.episode, "tick", tick)
    server._next_free_run_s = time.monotonic()
    with caplog.at_level(logging.ERROR):
        server.run()
    assert len(calls) == 3
    assert "a tick failed" in caplog.text


def test_a_fresh_episode_stands_still_until_somebody_spawns_an_actor(stage):
    server = CarlaServer(stage.episode, "127.0.0.1", 0, CARLA_0_9_16)
    server.hold_free_run()
    due = server._next_free_run_s
    stage.spawn("vehicle.audi.tt", 50.0)
    assert server._next_free_run_s < due - 2.0
    server.end_greeting()  # who joins now does not stop the clock again
    assert server._next_free_run_s < due - 2.0
    server.close()


def test_spawning_in_synchronous_mode_starts_no_clock(stage):
    server = CarlaServer(stage.episode, "127.0.0.1", 0, CARLA_0_9_16)
    stage.episode.apply_settings(Settings(synchronous_mode=True, fixed_delta_seconds=0.05))
    server.hold_free_run()
    due = server._next_free_run_s
    stage.spawn("vehicle.audi.tt", 50.0)
    assert server._next_free_run_s == due
    server.close()


@pytest.mark.parametrize("request_first", [True, False])
def test_a_client_that_joins_gets_its_tick_whichever_of_its_connections_is_faster(
    stage, request_first
):
    server = CarlaServer(stage.episode, "127.0.0.1", 0, CARLA_0_9_16)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        subscriber = Subscriber(ours, CARLA_0_9_16, Ledger())
        if request_first:
            server.greet()
        server._identify(subscriber, WORLD_STREAM)
        if not request_first:
            server.greet()
        soon = time.monotonic() + stage.episode.delta_s
        assert server._next_free_run_s <= soon < server._grace_ends_s
        server.end_greeting()
        assert server._next_free_run_s == server._grace_ends_s
        server.close()
