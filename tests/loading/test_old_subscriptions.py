"""While a world is loaded, a subscription that its client is about to drop stays silent."""

from __future__ import annotations

import select
import struct
import time

import carla
from live_server import LiveServer
from rpc_socket import RpcSocket, StreamSocket

_EPISODE_ID = 48  # place of the episode's id in a snapshot: after the sensor header


def _is_silent(stream: StreamSocket, seconds: float) -> bool:
    return not select.select([stream.sock], [], [], seconds)[0]


def _episode(payload: bytes) -> int:
    return int(struct.unpack_from("<Q", payload, _EPISODE_ID)[0])


def test_old_readers_hear_of_the_new_world_after_the_new_subscription(
    harbour: LiveServer, client: carla.Client
) -> None:
    world = client.get_world()  # keeps the dialect of this process known
    settings = world.get_settings()
    settings.synchronous_mode, settings.fixed_delta_seconds = True, 0.05
    world.apply_settings(settings)
    with RpcSocket(harbour.port) as rpc:
        [token] = rpc.call("get_episode_info")[1]
        with StreamSocket(token) as old:
            first = old.frame()
            rpc.call("load_new_episode", "", False, 65535)
            assert _is_silent(old, 0.3)
            with StreamSocket(token) as new:
                fresh = new.frame()
                assert _episode(fresh) == _episode(first) + 1
                began = time.monotonic()
                late = old.frame()
                assert time.monotonic() - began < 1.0
                assert _episode(late) == _episode(fresh)
    settings.synchronous_mode = False
    client.get_world().apply_settings(settings)


def test_old_readers_are_told_in_the_end_even_if_the_loader_goes_away(
    harbour: LiveServer, client: carla.Client
) -> None:
    rpc = RpcSocket(harbour.port)
    [token] = rpc.call("get_episode_info")[1]
    with StreamSocket(token) as old:
        before = _episode(old.frame())
        rpc.call("load_new_episode", "", True, 65535)
        rpc.close()
        until = time.monotonic() + 5.0
        while _episode(old.frame()) == before:
            assert time.monotonic() < until
