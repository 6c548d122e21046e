"""Bones of many walkers in one message, over a separate connection to a CARLA server.

The wheel sends the bones of each walker separately, from one object per bone. For twenty people
that took about a fifth of the client's time, much of it for waking processes for small messages.
Here the requests are laid out once and only their numbers change; all requests and all answers
travel together. The requests equal those of the wheel, so any CARLA server accepts them.
"""

from __future__ import annotations

import socket
from collections.abc import Sequence
from typing import Any, Final

import msgpack
import numpy as np
from numpy.typing import NDArray

from jaywalk.core.errors import InfrastructureError

_METHOD: Final = "set_bones_transform"
_REQUEST: Final = 0
_SYNCHRONOUS: Final = [False]
_FLOAT_BYTES: Final = 4
_READ_BYTES: Final = 1 << 16

Bone = tuple[str, Sequence[float], Sequence[float]]  # name, place, pitch yaw roll in degrees


class BoneLine:
    """Sends bones; the server has received them when :meth:`wait` returns.

    Example:
        >>> line = BoneLine("127.0.0.1", 2000)  # doctest: +SKIP
        >>> message, _ = request(walker.id, [("crl_Head__C", (0, 0, 0), (10, 0, 0))])
        ... # doctest: +SKIP
        >>> line.send(message)  # doctest: +SKIP
        >>> line.wait()  # doctest: +SKIP
    """

    def __init__(self, host: str, port: int, timeout_s: float = 20.0) -> None:
        self._where = f"{host}:{port}"
        try:
            self._socket = socket.create_connection((host, port), timeout_s)
        except OSError as error:
            raise self._broken(error) from error
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._answers = msgpack.Unpacker(raw=True)
        self._due = 0

    def send(self, message: bytes, requests: int = 1) -> None:
        """Send requests, one after the other in ``message``."""
        try:
            self._socket.sendall(message)
        except OSError as error:
            raise self._broken(error) from error
        self._due += requests

    def wait(self) -> None:
        """Wait until every request is answered; a walker that no longer exists is not an error."""
        while self._due:
            try:
                data = self._socket.recv(_READ_BYTES)
            except OSError as error:
                raise self._broken(error) from error
            if not data:
                raise self._broken("it closed the connection")
            self._answers.feed(data)
            self._due -= sum(1 for _ in self._answers)

    def close(self) -> None:
        """Close the connection."""
        self._socket.close()

    def _broken(self, why: object) -> InfrastructureError:
        return InfrastructureError(f"The server at {self._where} does not accept bones: {why}.")


class BoneForm:
    """Requests for several people, with places for the angles and the position of the hips."""

    def __init__(self) -> None:
        self._bytes = bytearray()
        self._ends: list[int] = [0]
        self._places: list[NDArray[np.intp]] = []  # byte offsets of each person's numbers

    def add(self, actor_id: int, bones: Sequence[Bone], hips: int) -> None:
        """Add a person, whose numbers are the angles of every bone and the position of the hips."""
        begin = len(self._bytes)
        message, angles = request(actor_id, bones)
        starts = [*(first + k * 5 for first in angles for k in range(3))]
        starts += [angles[hips] - 1 - (3 - k) * 5 for k in range(3)]  # a place precedes its angles
        self._bytes += message
        self._ends.append(len(self._bytes))
        offsets = begin + np.array(starts, np.intp)[:, None] + np.arange(_FLOAT_BYTES)
        self._places.append(offsets.ravel())

    def fill(self, rows: Sequence[int], angles_deg: NDArray[Any], hips_m: NDArray[Any]) -> bytes:
        """Return the requests of some people, with ``(N, bones, 3)`` angles and ``(N, 3)`` hips."""
        numbers = np.concatenate([angles_deg.reshape(len(rows), -1), hips_m], axis=1)
        buffer = np.frombuffer(self._bytes, np.uint8)
        places = np.concatenate([self._places[row] for row in rows])
        buffer[places] = numbers.astype(">f4").view(np.uint8).ravel()
        return b"".join(self._bytes[self._ends[row] : self._ends[row + 1]] for row in rows)


def request(actor_id: int, bones: Sequence[Bone]) -> tuple[bytes, list[int]]:
    """Return the bytes of one request and the offset of the first angle of each bone."""
    pack = msgpack.Packer(use_single_float=True).pack
    # The outermost lists are packed by hand, bone by bone, to learn the offset of each bone.
    head = b"\x94" + pack(_REQUEST) + pack(actor_id & 0x7FFFFFFF) + pack(_METHOD)
    head += b"\x93" + pack(_SYNCHRONOUS) + pack(actor_id) + b"\x91"
    message = bytearray(head + b"\xdd" + len(bones).to_bytes(4, "big"))
    angles = []
    for name, place, turn in bones:
        message += pack([name, [[float(v) for v in place], [float(v) for v in turn]]])
        # the bone ends with three numbers of five bytes each, whose first byte is their kind
        angles.append(len(message) - 3 * 5 + 1)
    return bytes(message), angles
