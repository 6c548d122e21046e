"""Messages are found in any cut of the stream, and bounded before they are decoded."""

from __future__ import annotations

import random
import struct
from typing import Any

import msgpack
import pytest

from jaywalk.server.encoding import _framing as framing
from jaywalk.server.encoding._framing import NOTHING, FramingError, Inbox


def value(rng: random.Random, depth: int = 0) -> Any:
    """Any msgpack value, with lengths around every boundary of the format."""
    kinds = [
        lambda: None,
        lambda: rng.random() < 0.5,
        lambda: rng.randrange(-(2**63), 2**64),
        lambda: rng.randrange(-200, 200),
        lambda: rng.random(),
        lambda: "x" * rng.choice([0, 5, 31, 32, 255, 256, 70_000]),
        lambda: b"y" * rng.choice([0, 5, 255, 256, 70_000]),
        lambda: msgpack.ExtType(3, b"z" * rng.choice([1, 2, 3, 4, 8, 16, 17, 300, 70_000])),
    ]
    if depth < 6:
        kinds += [
            lambda: [value(rng, depth + 1) for _ in range(rng.randrange(5))],
            lambda: {str(k): value(rng, depth + 1) for k in range(rng.randrange(20))},
            lambda: [1] * rng.choice([15, 16, 70_000]),
        ]
    return rng.choice(kinds)()


def taken(inbox: Inbox) -> list[Any]:
    found = []
    while (message := inbox.next()) is not NOTHING:
        found.append(message)
    return found


@pytest.mark.parametrize("sizes", [(1, 3, 17), (1000, 40_000), (200_000, 1, 300)])
def test_messages_are_the_same_however_the_bytes_arrive(sizes: tuple[int, ...]) -> None:
    rng = random.Random(7)
    wanted = [value(rng) for _ in range(60)]
    stream = b"".join(msgpack.packb(one) for one in wanted)
    inbox, found, at = Inbox(), [], 0
    while at < len(stream):
        size = rng.choice(sizes)
        inbox.feed(stream[at : at + size])
        found += taken(inbox)
        at += size
    assert found == [msgpack.unpackb(msgpack.packb(one), strict_map_key=False) for one in wanted]
    assert len(inbox) == 0


def fed(data: bytes) -> list[Any]:
    """All messages of bytes that come in large pieces."""
    inbox, found = Inbox(), []
    for at in range(0, len(data), 100_000):
        inbox.feed(data[at : at + 100_000])
        found += taken(inbox)
    return found


HEAD = b"\x94\x00\x01\xa7version\x92\x91\xc2"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"\xdd\xff\xff\xff\xff", "values"),
        (b"\xdf\xff\xff\xff\xff", "values"),
        (HEAD + b"\xdd" + struct.pack(">I", 20_000_000) + b"\x80" * 2_000_000, "values"),
        (HEAD + b"\xdd\x00\x00\x07\xd0" + (b"\x91" * 100 + b"\xc0") * 2000, "nested"),
        (HEAD + b"\xc1", "no msgpack"),
        (b"\x81\x90\xc0", "unhashable"),
        (b"\xdc\xff\xff" + b"\x90" * 40_000 + b"\xc1", "no msgpack"),
    ],
)
def test_what_exceeds_a_limit_is_refused(data: bytes, words: str) -> None:
    with pytest.raises(FramingError, match=words):
        fed(data)


def test_a_long_announcement_is_refused_before_it_is_all_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(framing, "MESSAGE_LIMIT_BYTES", 100_000)
    inbox = Inbox()
    inbox.feed(HEAD + b"\xc6" + struct.pack(">I", 200_000) + b"\0" * 40_000)
    with pytest.raises(FramingError, match="bytes"):
        taken(inbox)


def test_a_map_weighs_more_than_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(framing, "VALUE_LIMIT", 100_000)
    for value_, fits in ((0, True), ({}, False)):
        inbox = Inbox()
        inbox.feed(msgpack.packb([value_] * 50_000))
        if fits:
            assert taken(inbox) == [[0] * 50_000]
        else:
            with pytest.raises(FramingError, match="values"):
                taken(inbox)


def test_random_bytes_do_nothing_but_end_the_connection() -> None:
    rng = random.Random(5)
    for _ in range(2000):
        inbox = Inbox()
        try:
            for _ in range(3):
                inbox.feed(rng.randbytes(rng.choice([1, 5, 60, 40_000 if _ == 7 else 9])))
                taken(inbox)
        except FramingError:
            pass


def test_a_texture_of_a_million_pixels_fits() -> None:
    values = 1 + 1024 * 1024 * (2 + 4)  # each pixel is an array of four
    assert values < framing.VALUE_LIMIT


def test_a_large_message_is_not_kept_once_it_was_read() -> None:
    inbox = Inbox()
    inbox.feed(msgpack.packb(b"x" * 5_000_000))
    assert len(inbox.next()) == 5_000_000
    assert len(inbox) == len(inbox._data) == 0


def bones_request(number: int, count: int, actor: int = 40_000) -> list[Any]:
    bone = [f"crl_bone{number}__L", [[0.1, 0.2, 0.3], [1.0, 2.0, float(number)]]]
    return [0, number, "set_bones_transform", [[False], actor, [[bone] * count]]]


def plain(message: Any) -> Any:
    """The message with packed lists decoded."""
    if isinstance(message, framing.PackedList):
        assert len(message) == len(message.decoded())
        return message.decoded()
    return [plain(one) for one in message] if isinstance(message, list) else message


@pytest.mark.parametrize("sizes", [(1, 2, 7), (200, 900), (30_000, 200_000)])
def test_bones_stay_packed_however_the_bytes_arrive(sizes: tuple[int, ...]) -> None:
    rng = random.Random(3)
    wanted: list[Any] = []
    for number in range(150):
        wanted.append(bones_request(rng.choice([5, 200, 60_000, 1 << 31]), rng.choice([0, 1, 66])))
        wanted.append([0, number, "tick_cue", [[False]]])
    stream = b"".join(msgpack.packb(one) for one in wanted)
    inbox, found, at = Inbox(), [], 0
    while at < len(stream):
        size = rng.choice(sizes)
        inbox.feed(stream[at : at + size])
        found += taken(inbox)
        at += size
    assert [plain(one) for one in found] == wanted
    if min(sizes) > 2:  # in tiny pieces decoding begins before the name is known
        packed = [one[3][2][0] for one in found[::2]]
        whole = [one for one in packed if isinstance(one, framing.PackedList)]
        assert len(whole) > 0.3 * len(packed)


@pytest.mark.parametrize(
    "arguments",
    [
        [[False], 1],
        [[False], 1, []],
        [[False], 1, [5]],
        [[False], 1, [[], []]],
        [[False], [1], [[]]],
        [[[1]], 1, [[]]],
        [[False, True], 1, [[]]],
        [[False], 1, [[]], 3],
        {},
    ],
)
def test_requests_of_another_form_are_decoded_as_ever(arguments: Any) -> None:
    message = [0, 7, "set_bones_transform", arguments]
    inbox = Inbox()
    inbox.feed(msgpack.packb(message))
    assert [plain(one) for one in taken(inbox)] == [message]


def test_bad_bytes_in_bones_end_the_connection() -> None:
    good = msgpack.packb(bones_request(3, 4))
    inbox = Inbox()
    inbox.feed(good[:-9] + b"\xc1" + good[-8:])
    with pytest.raises(FramingError):
        taken(inbox)
