"""Hostile clients, one function an attack, and a bystander that measures what they cost others.

All of them talk to a server on this host that the test started, send a bounded number of requests
and leave nothing behind. ``tests/faults`` runs them small; ``tests/faults/hostile.py`` runs them
at full size.
"""

from __future__ import annotations

import contextlib
import random
import resource
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import msgpack
from child import PATIENCE_S, wait_for
from live_server import LiveServer
from rpc_socket import RpcError, RpcSocket, StreamSocket

HOST: Final = "127.0.0.1"
JUNK: Final[list[Any]] = [
    None,
    True,
    False,
    0,
    -1,
    2**31,
    2**32 - 1,
    2**63 - 1,
    -(2**63),
    1.5,
    float("nan"),
    float("inf"),
    -float("inf"),
    1e308,
    "",
    "x" * 1000,
    "\u0000",
    b"",
    b"\xff" * 64,
    [],
    [[]],
    [[[]]],
    {},
    {"a": 1},
    [1, 2],
    [0.0, 0.0, 0.0],
    [[0.0] * 3, [0.0] * 3],
    [None] * 20,
    [float("nan")] * 3,
    [[float("inf")] * 3, [0.0] * 3],
]
# Calls that change the world for everybody by design are not faults: left to other tests.
LEFT_OUT: Final = {"tick_cue", "load_new_episode", "set_episode_settings", "apply_batch"}


class Bystander(threading.Thread):
    """Ticks a synchronous world through its own socket, checks every frame and times each tick."""

    def __init__(self, server: LiveServer, timeout_s: float = PATIENCE_S) -> None:
        super().__init__(daemon=True)
        self.server = server
        self.rpc = RpcSocket(server.port, timeout_s=timeout_s)
        synchronous(self.rpc)
        [token] = self.rpc.call("get_episode_info")[1]
        self.stream = StreamSocket(token, timeout_s)
        self.stop = threading.Event()
        self.ticks, self.slowest_s, self.most_cpu_s, self.problem = 0, 0.0, 0.0, ""

    def run(self) -> None:
        frame = struct.unpack_from("<Q", self.stream.frame(), 8)[0]
        try:
            while not self.stop.is_set():
                began, cpu_s = time.perf_counter(), self.server.cpu_s()
                answered = self.rpc.call("tick_cue")
                shown = struct.unpack_from("<Q", self.stream.frame(), 8)[0]
                self.slowest_s = max(self.slowest_s, time.perf_counter() - began)
                self.most_cpu_s = max(self.most_cpu_s, self.server.cpu_s() - cpu_s)
                if not frame + 1 == answered == shown:
                    self.problem = f"after {frame}: answered {answered}, shown {shown}"
                    return
                frame = answered
                self.ticks += 1
                time.sleep(0.002)
        except Exception as problem:
            self.problem = repr(problem)

    def go_on(self, ticks: int) -> None:
        """Wait until it has ticked so often, or has a problem."""
        goal = self.ticks + ticks
        wait_for(lambda: self.ticks >= goal or self.problem != "", f"{ticks} ticks more")

    def finish(self) -> None:
        """Stop ticking and close both sockets."""
        self.stop.set()
        self.join(2 * PATIENCE_S)
        self.rpc.close()
        self.stream.sock.close()


class Pinger(threading.Thread):
    """Asks for the version over and over; for attacks that tick the world themselves."""

    def __init__(self, server: LiveServer, timeout_s: float = PATIENCE_S) -> None:
        super().__init__(daemon=True)
        self.server = server
        self.rpc = RpcSocket(server.port, timeout_s=timeout_s)
        self.stop = threading.Event()
        self.ticks, self.slowest_s, self.most_cpu_s, self.problem = 0, 0.0, 0.0, ""

    def run(self) -> None:
        try:
            while not self.stop.is_set():
                began, cpu_s = time.perf_counter(), self.server.cpu_s()
                self.rpc.call("version")
                self.slowest_s = max(self.slowest_s, time.perf_counter() - began)
                self.most_cpu_s = max(self.most_cpu_s, self.server.cpu_s() - cpu_s)
                self.ticks += 1
                time.sleep(0.005)
        except Exception as problem:
            self.problem = repr(problem)

    def finish(self) -> None:
        self.stop.set()
        self.join(40.0)
        self.rpc.close()


def synchronous(rpc: RpcSocket) -> None:
    """Switch the world to ticks of 0.05 s on demand."""
    settings = list(rpc.call("get_episode_settings"))
    settings[0], settings[2] = True, [True, 0.05]
    rpc.call("set_episode_settings", settings)


@dataclass
class MemoryWatch:
    """Samples the resident memory of a server while a block runs."""

    server: LiveServer
    before_mb: float = 0.0
    peak_mb: float = 0.0
    _stop: threading.Event = field(default_factory=threading.Event)

    def __enter__(self) -> MemoryWatch:
        self.before_mb = self.peak_mb = self.server.resident_mb()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def _watch(self) -> None:
        while not self._stop.wait(0.01):
            with contextlib.suppress(OSError):
                self.peak_mb = max(self.peak_mb, self.server.resident_mb())

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join(5.0)

    @property
    def growth_mb(self) -> float:
        return self.peak_mb - self.before_mb


def _answer_of(rpc: RpcSocket, method: str, *arguments: Any) -> str:
    """What came back: ``ok``, the start of an error message, or ``closed``."""
    try:
        rpc.call(method, *arguments)
    except (OSError, Exception) as problem:
        return f"{type(problem).__name__}: {problem}"[:600]
    return "ok"


def send_raw(port: int, data: bytes, wait_s: float = 0.0) -> bytes:
    """Send bytes on a new connection; returns the beginning of what comes back."""
    with contextlib.suppress(OSError), socket.create_connection((HOST, port), 5.0) as sock:
        sock.sendall(data)
        if wait_s:
            sock.settimeout(wait_s)
            return sock.recv(4096)
    return b""


# -- the six freezes --------------------------------------------------------------------------


def many_ids(port: int, count: int = 1_000_000, timeout_s: float = 300.0) -> str:
    """Ask for the same actor a million times in one call."""
    with RpcSocket(port, timeout_s=timeout_s) as rpc:
        actor_id = rpc.call("get_spectator")[0]
        return _answer_of(rpc, "get_actors_by_id", [actor_id] * count)


def opendrive_text(
    length: str = "100.0", x: str = "0", roads: int = 1, width: str = "3.5", lanes: int = 1
) -> str:
    """A small OpenDRIVE document with some values given as text."""
    lane = f'<width sOffset="0" a="{width}" b="0" c="0" d="0"/>'
    right = "".join(
        f'<lane id="-{k}" type="driving" level="false">{lane}</lane>' for k in range(1, lanes + 1)
    )
    body = "".join(
        f'<road name="r" length="{length}" id="{k}" junction="-1"><planView>'
        f'<geometry s="0" x="{x}" y="{10 * k}" hdg="0" length="{length}"><line/></geometry>'
        f'</planView><lanes><laneSection s="0"><center><lane id="0" type="none"/></center>'
        f"<right>{right}</right></laneSection></lanes></road>"
        for k in range(roads)
    )
    return f'<OpenDRIVE><header revMajor="1" revMinor="4"/>{body}</OpenDRIVE>'


def send_opendrive(port: int, text: str, timeout_s: float = 300.0) -> str:
    """Offer a map to the server, as ``generate_opendrive_world`` does, without loading it."""
    with RpcSocket(port, timeout_s=timeout_s) as rpc:
        return _answer_of(rpc, "copy_opendrive_to_file", text, [2.0, 50.0, 1.0, 0.6, True, True])


def load_opendrive(port: int, text: str, timeout_s: float = 300.0) -> str:
    """Offer a map and load it: this replaces everybody's world."""
    said = send_opendrive(port, text, timeout_s)
    if said != "ok":
        return said
    with RpcSocket(port, timeout_s=timeout_s) as rpc:
        return _answer_of(rpc, "load_new_episode", "OpenDriveMap", False, 0xFFFF)


def long_road(port: int, timeout_s: float = 300.0) -> str:
    """One road of a thousand kilometres."""
    return load_opendrive(port, opendrive_text("1e6"), timeout_s)


def many_roads(port: int, count: int = 20_000, timeout_s: float = 300.0) -> str:
    """So many short roads that a quadratic check of their names takes minutes."""
    return send_opendrive(port, opendrive_text("1.0", roads=count), timeout_s)


@contextlib.contextmanager
def deaf_listener() -> Iterator[int]:
    """A port on this host that accepts connections in the kernel and never answers."""
    with socket.socket() as listener:
        listener.bind((HOST, 0))
        listener.listen(128)
        yield listener.getsockname()[1]


def deaf_managers(port: int, count: int = 30, rounds: int = 2) -> str:
    """Register Traffic Managers at addresses that never answer, and make the server wake them."""
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(RpcSocket(port, timeout_s=120.0)) for _ in range(6)]
        rpc, taken = clients[0], 0
        synchronous(rpc)
        for k in range(count):  # a few on each connection: one client may not run many
            with contextlib.suppress(RpcError):
                place = [HOST, stack.enter_context(deaf_listener())]
                taken += clients[k % 6].call("add_traffic_manager_running", place)
        for _ in range(rounds):
            for client in clients:
                client.call("get_vehicle_light_states")  # a Traffic Manager begins its cycle so
            rpc.call("tick_cue")  # it followed the last tick; now it owes us another cycle
            time.sleep(1.2)
            rpc.call("version")  # answered when the server is done with waking them
        return f"{taken} managers"


def half_open(port: int, count: int = 500, hold_s: float = 2.0) -> str:
    """Connect many times and say nothing."""
    held = []
    for _ in range(count):
        with contextlib.suppress(OSError):
            held.append(socket.create_connection((HOST, port), 60.0))
    time.sleep(hold_s)
    for sock in held:
        sock.close()
    return f"{len(held)} connections"


def silent_subscribers(port: int, count: int = 100, ticks: int = 400) -> str:
    """Subscribe to the world many times and never read, while the world ticks on."""
    with contextlib.ExitStack() as stack:
        rpc = stack.enter_context(RpcSocket(port, timeout_s=120.0))
        synchronous(rpc)
        [token] = rpc.call("get_episode_info")[1]
        stream_id, stream_port = struct.unpack_from("<IH", token)
        for _ in range(count):
            sock = stack.enter_context(socket.socket())
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            sock.connect((HOST, stream_port))
            sock.sendall(struct.pack("<I", stream_id))
        for _ in range(ticks):
            rpc.call("tick_cue")
    return f"{count} subscribers, {ticks} ticks"


def silent_callers(port: int, count: int = 40, hold_s: float = 2.0) -> str:
    """Ask for large answers on many connections and never read them."""
    request = msgpack.packb([0, 1, "get_actor_definitions", [[False]]]) * 500
    held = []
    for _ in range(count):
        sock = socket.create_connection((HOST, port), 5.0)
        sock.settimeout(0.5)
        with contextlib.suppress(OSError):
            sock.sendall(request)
        held.append(sock)
    time.sleep(hold_s)
    for sock in held:
        sock.close()
    return f"{len(held)} callers"


def unfinished_requests(port: int, count: int = 40, size: int = 8_000_000) -> str:
    """Begin large requests on many connections and never end them."""
    head = b"\x94\x00\x01\xa7version\x91\xc6" + struct.pack(">I", 2 * size)
    held = []
    for _ in range(count):
        sock = socket.create_connection((HOST, port), 5.0)
        sock.settimeout(1.0)
        with contextlib.suppress(OSError):
            sock.sendall(head + b"\0" * size)
        held.append(sock)
    time.sleep(0.5)
    for sock in held:
        sock.close()
    return f"{len(held)} requests"


def empty_maps(port: int, count: int = 20_000_000) -> str:
    """One request whose argument is an array of empty maps."""
    head = b"\x94\x00\x01\xa7version\x92\x91\xc2\xdd" + struct.pack(">I", count)
    return repr(send_raw(port, head + b"\x80" * count, 120.0)[:300])


def nested_arrays(port: int, depth: int = 400, width: int = 2000) -> str:
    """Many deep nests, each within the parser's own limit."""
    nest = b"\x91" * depth + b"\xc0"
    head = b"\x94\x00\x01\xa7version\x92\x91\xc2\xdd" + struct.pack(">I", width)
    return repr(send_raw(port, head + nest * width, 60.0)[:300])


def huge_names(port: int, size: int = 10_000_000) -> int:
    """Send values of ten megabytes where a short one belongs; the largest answer in bytes."""
    most = 0
    text = "A" * size
    for method, arguments in (
        (text, []),
        ("get_actors_by_id", [text]),
        ("destroy_actor", [text]),
        ("request_file", [text]),
        ("replay_file", [text]),
        ("load_new_episode", [text, True, 0]),
        ("apply_batch", [[[text, 1]], False]),
        ("set_weather_parameters", [[text] * 14]),
    ):
        with RpcSocket(port, timeout_s=60.0) as rpc:
            with contextlib.suppress(OSError):
                rpc.send(method, *arguments)
                most = max(most, len(msgpack.packb(rpc.receive())))
    return most


def log_flood(port: int, count: int = 20_000) -> str:
    """Requests that each make the server complain."""
    request = msgpack.packb([0, 1, "no_such_method" * 10, [[False]]])
    with socket.create_connection((HOST, port), 20.0) as sock:
        reader = threading.Thread(target=_drain, args=(sock,), daemon=True)
        reader.start()
        for _ in range(count // 100):
            sock.sendall(request * 100)
        sock.shutdown(socket.SHUT_WR)
        reader.join(60.0)
    return f"{count} bad requests"


def _drain(sock: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while sock.recv(1 << 16):
            pass


def unused_tokens(port: int, count: int = 10, rounds: int = 4) -> str:
    """Ask for tokens on many connections, tick, and never subscribe."""
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(RpcSocket(port, timeout_s=120.0)) for _ in range(count)]
        synchronous(clients[0])
        for client in clients:
            for _ in range(rounds):
                client.send("get_sensor_token", 1)
                client.send("tick_cue")
        for client in clients:
            for _ in range(2 * rounds):
                client.receive()
    return f"{count} clients, {rounds} ticks each"


def large_batches(port: int, spawns: int = 9999) -> str:
    """Spawn as many props as one batch takes, destroy them, and ask for far more."""
    place = [[0.0, 0.0, 50.0], [0.0, 0.0, 0.0]]
    spawn = [[0, [[0, "static.prop.box01", []], place, [False], []]]]
    with RpcSocket(port, timeout_s=300.0) as rpc:
        answers = rpc.raw("apply_batch", [spawn] * spawns, False)
        refused = answers[0][0][0] == 0
        made = [one[0][1] for one in rpc.raw("apply_batch", [spawn] * 2000, False)]
        rpc.raw("apply_batch", [[[1, [actor_id]]] for actor_id in made], False)
    return f"{spawns} spawns {'refused' if refused else 'taken'}, {len(made)} made"


def many_connections(port: int, count: int = 6000, hold_s: float = 1.0) -> str:
    """Open more connections than are taken and begin a request on each."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))  # of this process alone
    held = []
    for _ in range(count):
        with contextlib.suppress(OSError):
            sock = socket.create_connection((HOST, port), 20.0)
            held.append(sock)
            sock.send(b"\x94")
    time.sleep(hold_s)
    refused = 0
    for sock in held:
        sock.setblocking(False)
        try:
            refused += sock.recv(1) == b""
        except BlockingIOError:
            pass
        except OSError:
            refused += 1
        sock.close()
    return f"{len(held)} connections, {refused} refused"


def large_camera(port: int, side: int = 4096, images: int = 3, timeout_s: float = 300.0) -> str:
    """Spawn a square RGB camera, listen to it and wait for some of its images."""
    attributes = [[f"image_size_{axis}", 1, str(side)] for axis in "xy"]
    with RpcSocket(port, timeout_s=timeout_s) as rpc:
        (x, y, z), rotation = rpc.call("get_map_info")[1][0]
        description = [0, "sensor.camera.rgb", attributes]
        try:
            camera = rpc.call("spawn_actor", description, [[x, y, z + 2.0], rotation])
        except RpcError as problem:
            return f"refused: {problem}"[:600]
        try:
            with StreamSocket(camera[5], timeout_s) as stream:
                sizes = [len(stream.frame()) for _ in range(images)]
        finally:
            rpc.call("destroy_actor", camera[0])
    return f"{len(sizes)} images of {max(sizes)} bytes"


# -- fuzzing ----------------------------------------------------------------------------------


def method_names() -> list[str]:
    """Every method of the server that may be called with nonsense."""
    from jaywalk.server.protocol import methods  # noqa: F401  (registers them)
    from jaywalk.server.protocol.rpc import METHODS

    return sorted(set(METHODS) - LEFT_OUT)


def junk_call(rng: random.Random, names: list[str], number: int) -> bytes:
    """A request with arguments of wrong types and counts."""
    name = names[number % len(names)]
    arguments = [rng.choice(JUNK) for _ in range(rng.randrange(6))]
    if name == "get_sensor_token":
        arguments = ["x"]  # a valid one makes the next tick wait for its reader, by design
    body: bytes = msgpack.packb([0, number & 0xFFFFFFFF, name, [[False], *arguments]])
    return body


def mutated(rng: random.Random, frame: bytes) -> bytes:
    """The same bytes with a few changed, cut or repeated."""
    data = bytearray(frame)
    for _ in range(rng.randrange(1, 4)):
        if data:
            data[rng.randrange(len(data))] = rng.randrange(256)
    if rng.random() < 0.2:
        del data[rng.randrange(len(data) + 1) :]
    return bytes(data)


def hostile_frames(port: int, count: int, seed: int = 0, burst: int = 200) -> dict[str, int]:
    """Send so many hostile frames: four in five well-formed nonsense, one in five damaged.

    Damaged frames go on connections of their own, which the server closes.
    """
    rng = random.Random(seed)
    names = method_names()
    sent = {"calls": 0, "damaged": 0, "answers": 0, "reconnects": 0}
    calls = count - count // 5
    sock = RpcSocket(port, timeout_s=60.0)
    while sent["calls"] < calls:
        some = min(burst, calls - sent["calls"])
        frames = [junk_call(rng, names, sent["calls"] + k) for k in range(some)]
        sock.sock.sendall(b"".join(frames))
        for _ in range(some):
            sock.receive()
            sent["answers"] += 1
        sent["calls"] += some
        if sent["damaged"] < count // 5:
            bad = b"".join(
                mutated(rng, frames[k % some]) for k in range(min(burst // 4, count // 5))
            )
            send_raw(port, bad)
            sent["damaged"] += min(burst // 4, count // 5)
            sent["reconnects"] += 1
    sock.close()
    return sent


TICK_THEMSELVES: Final = {"deaf_managers", "silent_subscribers", "long_road", "unused_tokens"}
ATTACKS: Final[dict[str, Callable[[int], Any]]] = {
    "many_ids": many_ids,
    "long_road": long_road,
    "many_roads": many_roads,
    "deaf_managers": deaf_managers,
    "half_open": half_open,
    "silent_subscribers": silent_subscribers,
    "silent_callers": silent_callers,
    "unfinished_requests": unfinished_requests,
    "empty_maps": empty_maps,
    "nested_arrays": nested_arrays,
    "huge_names": huge_names,
    "log_flood": log_flood,
    "unused_tokens": unused_tokens,
    "large_batches": large_batches,
    "many_connections": many_connections,
    "large_camera": large_camera,
}
