"""Bones on a line of our own: the bytes are what msgpack makes of the same request."""

from __future__ import annotations

import socket
import threading

import msgpack
import numpy as np
import pytest

from jaywalk.client.bones import BoneForm, BoneLine, request
from jaywalk.core.errors import InfrastructureError

_NAMES = ("crl_root", "crl_hips__C", "crl_Head__C")


def _request_of(actor_id: int, places: np.ndarray, angles: np.ndarray) -> list[object]:
    bones = [
        [name, [place, turn]]
        for name, place, turn in zip(_NAMES, places.tolist(), angles.tolist(), strict=True)
    ]
    return [0, actor_id, "set_bones_transform", [[False], actor_id, [bones]]]


def test_a_filled_form_reads_as_the_requests_of_the_wheel() -> None:
    rng = np.random.default_rng(5)
    rest = rng.normal(size=(4, 3, 3)).astype(np.float32).astype(float)
    form = BoneForm()
    for k in range(4):
        form.add(
            1000 + 70000 * k,
            [(name, place, (0.0, 0.0, 0.0)) for name, place in zip(_NAMES, rest[k], strict=True)],
            hips=1,
        )
    for rows in ([0, 1, 2, 3], [1, 3], [2]):
        angles = rng.normal(size=(len(rows), 3, 3)).astype(np.float32).astype(float)
        hips = rng.normal(size=(len(rows), 3)).astype(np.float32).astype(float)
        reader = msgpack.Unpacker()
        reader.feed(form.fill(rows, angles, hips))
        for k, (row, read) in enumerate(zip(rows, list(reader), strict=True)):
            places = rest[row].copy()
            places[1] = hips[k]
            assert read == _request_of(1000 + 70000 * row, places, angles[k])


def test_many_bones_have_a_longer_list() -> None:
    bones = [(f"bone {k}", (0.0, 1.0, 2.0), (float(k), 0.0, 0.0)) for k in range(70)]
    message, angles = request(7, bones)
    read = msgpack.unpackb(message)
    assert [bone[0] for bone in read[3][2][0]] == [bone[0] for bone in bones]
    first = [np.frombuffer(message[at : at + 4], ">f4")[0] for at in angles]
    assert first == list(range(70))


def test_waiting_lasts_until_all_is_answered_and_a_lost_server_is_told() -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    got: list[int] = []

    def serve() -> None:
        peer, _ = listener.accept()
        reader = msgpack.Unpacker()
        while len(got) < 3:
            reader.feed(peer.recv(4096))
            for message in reader:
                got.append(message[1])
                peer.sendall(msgpack.packb([1, message[1], None, [[False]]]))
        peer.close()

    thread = threading.Thread(target=serve)
    thread.start()
    host, port = listener.getsockname()
    line = BoneLine(host, port)
    line.send(request(1, [])[0] + request(2, [])[0], 2)
    line.wait()
    assert got == [1, 2]
    line.send(request(3, [])[0])
    line.wait()
    thread.join()
    listener.close()
    line.send(request(4, [])[0])  # the kernel still takes it
    with pytest.raises(InfrastructureError, match="does not accept bones"):
        line.wait()
    line.close()
    with pytest.raises(InfrastructureError, match=f":{port}"):
        BoneLine(host, port)
