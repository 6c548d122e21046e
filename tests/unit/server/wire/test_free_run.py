"""The asynchronous mode: the server's own ticks."""

import logging
import time

from jaywalk.server.wire.dialect import CARLA_0_9_16
from jaywalk.server.wire.server import CarlaServer


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
