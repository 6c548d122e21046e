"""Whether wet roads are slippery: asked of a server, and read from a record.

CARLA's weather does not change physics. A Jaywalk server can let it, and answers one extra call
about it. A server without that call (the Unreal one) has the same grip in all weathers.
"""

from __future__ import annotations

import contextlib
import socket
from typing import Any, Final

import msgpack

from jaywalk.record.episode import Episode

_METHOD: Final = "jaywalk_wet_grip"
_SETTING: Final = "wet_grip"


def ask_wet_grip(host: str, port: int, wanted: bool | None = None, timeout_s: float = 20.0) -> bool:
    """Whether rain lowers the grip on a server; False where nobody can tell.

    Args:
        host: Address of the server.
        port: RPC port of the server.
        wanted: What it should be from now on; None changes nothing.
        timeout_s: How long to wait for the answer.
    """
    arguments = [[False]] if wanted is None else [[False], wanted]
    with (
        contextlib.suppress(OSError, ValueError, msgpack.UnpackException),
        socket.create_connection((host, port), timeout_s) as line,
    ):
        line.sendall(msgpack.packb([0, 1, _METHOD, arguments]))
        answer = msgpack.Unpacker(raw=False)
        while data := line.recv(1 << 16):
            answer.feed(data)
            for message in answer:
                return _is_on(message)
    return False


def _is_on(message: Any) -> bool:
    """The value in an answer; servers that do not know the call answer with an error."""
    match message:
        case [1, _, None, [[1, bool(value)]]]:
            return value
    return False


def wet_grip_settings(wet_grip: bool) -> dict[str, bool]:
    """What a record says about it: records that say nothing are older and had it."""
    return {} if wet_grip else {_SETTING: False}


def has_wet_grip(episode: Episode) -> bool:
    """Whether wet roads were slippery in a recorded episode."""
    return bool(episode.server.settings.get(_SETTING, True))
