"""What one client asks for stays small: counts, messages, buffers, maps, wake-ups, the log."""

from __future__ import annotations

import io
import logging
import os
import socket
import threading
import time
from types import SimpleNamespace
from typing import Any

import msgpack
import pytest
from attacks import deaf_listener, opendrive_text
from child import wait_for

from jaywalk.core.errors import DataError
from jaywalk.server.encoding._framing import Inbox
from jaywalk.server.encoding.codec import CARLA_0_9_16, WireError
from jaywalk.server.protocol import _event_loop as event_loop
from jaywalk.server.protocol import _streams as streams
from jaywalk.server.protocol import _traffic_managers as managers_module
from jaywalk.server.protocol._peer import recognise_peers
from jaywalk.server.protocol._streams import BUFFER_LIMIT_BYTES, Ledger, Subscriber, framed
from jaywalk.server.protocol._traffic_managers import TrafficManagers
from jaywalk.server.protocol.rpc import METHODS, RpcClient, RpcContext, call
from jaywalk.server.session._simulation import Simulation
from jaywalk.server.start import start_log
from jaywalk.server.world._tables import SpawnError
from jaywalk.town.opendrive import CLIENT_LIMITS, check_size
from jaywalk.town.town import town_from_opendrive

NO_SERVER: Any = SimpleNamespace(simulation=None)
CLIENT: Any = SimpleNamespace(dialect=CARLA_0_9_16, address=("127.0.0.1", 1))


def asked(stage: Any, name: str, *arguments: Any) -> Any:
    """The wrapped answer of a method."""
    server: Any = SimpleNamespace(
        simulation=stage.simulation,
        streams=stage.listener,
        traffic_managers=TrafficManagers(),
        begin_free_run=lambda: None,
    )
    return call(RpcContext(server, CLIENT), name, [[False], *arguments])


def test_an_actor_is_told_once_however_often_it_is_asked_for(stage: Any) -> None:
    car = stage.spawn("vehicle.audi.tt", 20.0)
    [[head, actors]] = asked(stage, "get_actors_by_id", [car.id] * 1000 + [999_999])
    assert (head, [one[0] for one in actors]) == (1, [car.id])
    [[head, problem]] = asked(stage, "get_actors_by_id", [car.id] * 1_000_000)
    assert head == 0
    assert problem == ["a list has 1000000 elements, at most 100000 are taken"]


def test_a_long_batch_is_refused_whole(stage: Any) -> None:
    before = len(stage.simulation.world.actors)
    place = [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    spawn = [[0, [[0, "static.prop.box01", []], place, [False], [[[1, [0]]]] * 2]]]
    alone = [[0, [[0, "static.prop.box01", []], place, [False], []]]]
    for batch in ([spawn] * 1200, [alone] * 2001, [[[1, [0]]]] * 5001, [[[8, [0]]]] * 10_001):
        answers = asked(stage, "apply_batch", batch, False)
        assert len(answers) == len(batch)  # the wheel crashes on fewer
        assert "at most 10000 are taken" in str(answers[0])
    assert len(stage.simulation.world.actors) == before
    assert len(asked(stage, "apply_batch", [[[8, [0]]]] * 10_000, False)) == 10_000
    assert len(asked(stage, "apply_batch", [alone] * 2000, False)) == 2000
    assert len(stage.simulation.world.actors) == before + 2000


def test_tokens_that_nobody_uses_delay_few_steps(
    stage: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every wait for a subscription is one that all clients have; so there are few long ones."""
    server = stage.server()
    clock = SimpleNamespace(now_s=100.0)
    polls: list[float] = []

    def poll(wait_s: float) -> list[Any]:
        polls.append(wait_s)
        clock.now_s += wait_s + 1e-6
        return []

    monkeypatch.setattr(streams.time, "monotonic", lambda: clock.now_s)
    loop = server._loop
    real, loop._epoll = loop._epoll, SimpleNamespace(poll=poll)
    for _ in range(50):
        server.streams.expect(1)
        server.streams.await_expected()
    assert len(polls) == 3
    assert sum(polls) < 1.0
    assert clock.now_s < 101.0
    clock.now_s += 10.0  # later they are waited for again
    server.streams.expect(1)
    server.streams.await_expected()
    assert len(polls) == 4
    loop._epoll = real
    monkeypatch.undo()
    server.close()


def test_connections_are_limited_whatever_the_system_allows(
    stage: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_loop, "_MAX_CONNECTIONS", 12)
    server = stage.server()
    running = threading.Thread(target=server.run)
    running.start()
    kept = []
    try:
        for _ in range(30):
            sock = socket.create_connection(("127.0.0.1", server.port), 60.0)
            if _is_answered(sock):
                kept.append(sock)
            else:
                sock.close()
        assert 5 <= len(kept) <= 12  # some are the server's own sockets
        kept.pop().close()

        def has_room() -> bool:
            with socket.create_connection(("127.0.0.1", server.port), 60.0) as sock:
                return _is_answered(sock)

        wait_for(has_room, "room for another connection")
    finally:
        for sock in kept:
            sock.close()
        server.stop()
        running.join(60.0)


def _is_answered(sock: socket.socket) -> bool:
    try:
        sock.sendall(msgpack.packb([0, 1, "version", [[False]]]))
        return bool(sock.recv(100))
    except OSError:
        return False


def test_a_connection_that_says_nothing_has_no_decoder() -> None:
    inbox = Inbox()
    assert inbox._quick is None
    inbox.feed(msgpack.packb([0, 1, "version", []]))
    assert inbox.next() == [0, 1, "version", []]


@pytest.mark.parametrize("name", sorted(METHODS))
def test_no_error_echoes_what_was_sent(stage: Any, name: str) -> None:
    if name in {"tick_cue", "load_new_episode"}:
        return  # they need a whole server
    huge = "A" * 1_000_000
    for arguments in (
        [huge],
        [huge, huge],
        [[huge] * 14],
        [1, huge],
        [1, [huge] * 3],
        [[[huge, 1]]],
    ):
        answer = asked(stage, name, *arguments)
        if isinstance(answer, list):
            assert len(msgpack.packb(answer)) < 200_000


def test_unknown_methods_and_too_many_parameters(stage: Any) -> None:
    assert asked(stage, "A" * 10_000_000) is None
    [[_, problem]] = asked(stage, "version", *range(1000))
    assert problem == ["1001 parameters, at most 32 are taken"]


# -- streams -----------------------------------------------------------------------------------


def test_all_connections_share_one_ledger() -> None:
    ledger, ends = Ledger(), [socket.socketpair() for _ in range(3)]
    readers = [Subscriber(ours, CARLA_0_9_16, ledger) for ours, _ in ends]
    for ours, _ in ends:
        ours.setblocking(False)
    frame = framed(b"\0" * 1_000_000)
    for reader in readers:
        for _ in range(5):
            assert reader.push(frame)
        assert all(part.obj is frame.obj for part in reader.pending)  # nobody has a copy
    assert ledger.total == sum(reader.buffered_bytes for reader in readers) > 10_000_000
    readers[0].forget()
    assert ledger.total == readers[1].buffered_bytes + readers[2].buffered_bytes
    while readers[1].pending:
        ends[1][1].recv(1 << 20)
        assert readers[1].flush()
    assert readers[1].buffered_bytes == 0
    for pair in ends:
        for one in pair:
            one.close()


def test_a_frame_is_sent_whatever_its_size_but_none_is_queued_behind() -> None:
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    reader = Subscriber(ours, CARLA_0_9_16, Ledger())
    large = framed(bytes(BUFFER_LIMIT_BYTES + 1))
    assert reader.push(large)
    assert (reader.dropped, len(reader.pending)) == (0, 1)
    assert reader.push(framed(bytes(10_000_000)))
    assert reader.dropped == 1
    ours.close()
    theirs.close()


def test_an_image_that_cannot_be_sent_is_refused_when_it_is_asked_for(stage: Any) -> None:
    def camera(kind: str, width: int, height: int) -> Any:
        return stage.spawn(
            f"sensor.camera.{kind}", z=2.0, image_size_x=str(width), image_size_y=str(height)
        )

    for size in ((1920, 1080), (3840, 2160), (4096, 2160), (3000, 3000)):
        assert camera("rgb", *size)
    assert camera("optical_flow", 3840, 2160)
    slow, large = "pixels, which would delay all clients; at most 9,000,000", "at most 64 MB"
    for kind, width, height, problem in (
        ("rgb", 3001, 3000, slow),
        ("rgb", 4096, 4096, slow),
        ("depth", 8192, 8192, large),
        ("optical_flow", 4096, 2160, large),
        ("dvs", 3840, 2160, large),
    ):
        before = len(stage.simulation.world.actors)
        with pytest.raises(SpawnError, match=problem):
            camera(kind, width, height)
        assert len(stage.simulation.world.actors) == before


# -- Traffic Managers --------------------------------------------------------------------------


def test_a_client_runs_few_traffic_managers() -> None:
    registry = TrafficManagers()
    for port in range(1, 9):
        assert registry.add(CLIENT, "here", port)
    with pytest.raises(WireError, match="at most 8"):
        registry.add(CLIENT, "here", 9)
    other: Any = SimpleNamespace(dialect=CARLA_0_9_16, address=("127.0.0.1", 2))
    assert registry.add(other, "here", 9)


def test_a_deaf_traffic_manager_is_woken_beside_the_loop_and_at_its_own_address(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    knocked: list[tuple[str, int]] = []
    release = []

    def knock(address: str, port: int) -> None:
        knocked.append((address, port))
        while not release:
            time.sleep(0.01)

    monkeypatch.setattr(managers_module, "_switch_off_and_on", knock)
    registry = TrafficManagers()
    with deaf_listener() as port:
        registry.add(CLIENT, "203.0.113.9", port)  # the client's word is never dialled
        registry.note_call(CLIENT)
        registry.note_tick(10.0)
        registry.watch(12.0)  # returns although nobody answers
    assert registry.interventions == 1
    while not knocked:
        time.sleep(0.01)
    assert knocked == [("127.0.0.1", port)]
    for _ in range(100):
        registry.note_call(CLIENT)
        registry.note_tick(20.0)
        registry.watch(22.0)
    assert len(registry._wakers) == 16  # no more than so many threads
    release.append(True)


# -- who connects ------------------------------------------------------------------------------


def test_many_peers_are_recognised_with_one_look_at_the_tables(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looks: list[str] = []
    real = os.listdir

    def listdir(path: Any = ".") -> list[str]:
        if path == "/proc":
            looks.append("/proc")
        return real(path)

    monkeypatch.setattr(os, "listdir", listdir)
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(64)
        port = listener.getsockname()[1]
        clients = [socket.create_connection(("127.0.0.1", port)) for _ in range(40)]
        found = recognise_peers([one.getsockname()[1] for one in clients] + [1], port)
        for one in clients:
            one.close()
    assert len(looks) == 1
    assert found[-1] is None
    assert len(set(found[:-1])) == 1  # all of them are this process


FAR_SECTION = opendrive_text().replace('laneSection s="0"', 'laneSection s="-1e30"')

# -- maps --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (opendrive_text("1e6"), "length='1e6'"),
        (opendrive_text("90000", roads=2), "total length of the roads is 180 km"),
        (opendrive_text("10000", lanes=70), "total length of the lanes"),
        (opendrive_text("1.0", roads=5001), "has 5001 roads"),
        (opendrive_text(x="inf"), "x='inf'"),
        (opendrive_text(x="-1e999"), "x='-1e999'"),
        (opendrive_text(x="nan"), "x='nan'"),
        (opendrive_text("inf"), "length='inf'"),
        (FAR_SECTION, "s='-1e30'"),
        ("<a>" * 1_000_001, "XML tags"),
        ("x" * 16_000_001, "characters"),
    ],
    ids=lambda value: value[:30],
)
def test_a_map_that_is_too_large_is_refused_before_it_is_built(text: str, words: str) -> None:
    with pytest.raises(DataError, match=words.replace("(", r"\(")):
        check_size(text, "it", CLIENT_LIMITS)
    with pytest.raises(WireError):
        Simulation.prepare_opendrive(text)


def test_wide_lanes_cannot_make_a_map_too_large() -> None:
    text = opendrive_text("4000", width="90000")
    check_size(text, "it", CLIENT_LIMITS)  # the reference lines are fine
    with pytest.raises(WireError, match="spans"):
        Simulation.prepare_opendrive(text)
    with pytest.raises(DataError, match="spans"):
        _ = town_from_opendrive(opendrive_text("90000", width="900000")).strips


def test_a_small_map_is_prepared(stage: Any) -> None:
    town = Simulation.prepare_opendrive(opendrive_text("200"))
    assert {"ground", "scenery", "navmesh"} <= set(vars(town))
    stage.simulation.keep_opendrive(town)
    assert stage.simulation.town_at_hand("OpenDriveMap") is town


# -- the log -----------------------------------------------------------------------------------


def test_the_log_says_a_thing_a_few_times_and_in_short() -> None:
    stream = io.StringIO()
    before = logging.getLogger().handlers[:]
    try:
        start_log(False, stream)
        log = logging.getLogger("jaywalk.rpc")
        for number in range(10_000):
            log.warning("unknown method %s", f"{number}\x1b[31m\n" + "A" * 10_000)
        log.warning("something else")
    finally:
        logging.basicConfig(level=logging.WARNING, handlers=before, force=True)
    lines = stream.getvalue().splitlines()
    assert len(lines) == 21
    assert max(map(len, lines)) < 600
    assert "\x1b" not in stream.getvalue()
    assert "something else" in lines[-1]


def test_answers_to_ticks_that_are_kept_back_are_counted_and_leave_in_turn() -> None:
    near, far = socket.socketpair()
    with near, far:
        ledger = Ledger()
        client = RpcClient(near, ("127.0.0.1", 1), CARLA_0_9_16, ledger, NO_SERVER)
        due = time.monotonic() + 100.0
        for k in range(3):
            client.outgoing += bytes([k])
            client._delay(0, due + k)
        client.count_buffers()
        assert (bytes(client.outgoing), client.late_until_s, ledger.total) == (b"", due, 3)
        client.release_late(due + 1.0)
        assert (bytes(client.outgoing), client.late_until_s) == (b"\x00\x01", due + 2)
        client.count_buffers(closing=True)
        assert (ledger.total, client.can_work) == (0, False)
