"""While a world is loaded, a subscription that its client is about to drop stays silent."""

from __future__ import annotations

import select
import struct

import carla
from child import PATIENCE_S
from live_server import LiveServer, live_server
from rpc_socket import RpcSocket, StreamSocket

_EPISODE_ID = 48  # place of the episode's id in a snapshot: after the sensor header


def _is_silent(stream: StreamSocket, seconds: float) -> bool:
    return not select.select([stream.sock], [], [], seconds)[0]


def _episode(payload: bytes) -> int:
    return int(struct.unpack_from("<Q", payload, _EPISODE_ID)[0])


def test_old_readers_hear_of_the_new_world_after_the_new_subscription() -> None:
    # With no end to the hold, only the new subscription can release the old reader.
    with live_server("--town", "Harbour", waits={"streams._HOLD_S": 1e6}) as server:
        with RpcSocket(server.port) as rpc:
            _check_old_readers(rpc)


def _check_old_readers(rpc: RpcSocket) -> None:
    settings = list(rpc.call("get_episode_settings"))
    settings[0], settings[2] = True, [True, 0.05]
    rpc.call("set_episode_settings", settings)
    [token] = rpc.call("get_episode_info")[1]
    with StreamSocket(token) as old:
        first = old.frame()
        rpc.call("load_new_episode", "", False, 65535)
        assert _is_silent(old, 0.3)
        with StreamSocket(token) as new:
            fresh = new.frame()
            assert _episode(fresh) == _episode(first) + 1
            assert _episode(old.frame()) == _episode(fresh)


def test_old_readers_are_told_in_the_end_even_if_the_loader_goes_away(
    harbour: LiveServer, client: carla.Client
) -> None:
    rpc = RpcSocket(harbour.port)
    [token] = rpc.call("get_episode_info")[1]
    with StreamSocket(token, PATIENCE_S) as old:
        before = _episode(old.frame())
        rpc.call("load_new_episode", "", True, 65535)
        rpc.close()
        assert any(_episode(old.frame()) != before for _ in range(1000))
