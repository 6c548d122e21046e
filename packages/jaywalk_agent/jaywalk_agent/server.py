"""The answering side: serves an agent at HOST:PORT, one agent object per connection."""

from __future__ import annotations

import contextlib
import platform
import socket
import socketserver
import sys
import threading
import traceback
from typing import Any, Callable

import numpy as np

from jaywalk_agent import websocket
from jaywalk_agent.agent import Agent, as_answer, name_of
from jaywalk_agent.errors import ConnectionLost, LinkError, ProtocolError
from jaywalk_agent.people import PersonPolicy, checked_act, traits_from, view_from
from jaywalk_agent.wire import (
    PROTOCOL,
    Message,
    as_map,
    briefing_from,
    moment_from,
    pack,
    unpack,
)

DEFAULT_PORT = 8765
MAX_MESSAGE_BYTES = 128 * 2**20  # eight cameras of 1600 x 900 are 46 MB
MAX_SESSIONS = 64
_IDLE_S = 3600.0
_LOCAL = ("127.0.0.1", "localhost", "::1")

AgentMaker = Callable[[], Agent]
PeopleMaker = Callable[[], PersonPolicy]


def serve(make: AgentMaker, host: str = "127.0.0.1", port: int = DEFAULT_PORT) -> None:
    """Serve an agent until Ctrl-C.

    Args:
        make: An :class:`~jaywalk_agent.Agent` class, or a function that makes an agent; called
            once per connection, so what is heavy (a network) may be loaded once outside.
        host: Address to listen at. There is no password and no encryption: anything but this
            machine only in a network you trust, or through an SSH tunnel.
        port: Port to listen at; 0 takes a free one.
    """
    with AgentServer(make, host, port) as server:
        _wait(server, host)


def serve_people(make: PeopleMaker, host: str = "127.0.0.1", port: int = DEFAULT_PORT) -> None:
    """Serve people until Ctrl-C.

    Args:
        make: A class with the methods of :class:`~jaywalk_agent.PersonPolicy`, or a function that
            makes such an object; called once per connection.
        host: Address to listen at; as for :func:`serve`.
        port: Port to listen at; 0 takes a free one.
    """
    with PeopleServer(make, host, port) as server:
        _wait(server, host)


def _wait(server: AgentServer, host: str) -> None:
    _log(f"serving at {server.address}, Ctrl-C ends")
    if host not in _LOCAL:
        _log(f"warning: {host} may be reached by others, and there is no password")
    try:
        server.wait()
    except KeyboardInterrupt:
        _log("ended")


class AgentServer:
    """A server in its own thread; use it in a ``with`` statement."""

    people = False

    def __init__(self, make: Callable[[], Any], host: str = "127.0.0.1", port: int = 0) -> None:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        kind = type("_Server", (_Server,), {"address_family": family})
        self._server: _Server = kind((host, port), _Handler)
        self._server.make = make
        self._server.session = PeopleSession if self.people else Session
        port = self._server.server_address[1]
        self.address = f"ws://[{host}]:{port}" if ":" in host else f"ws://{host}:{port}"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def wait(self) -> None:
        """Run until it is closed."""
        while self._thread.is_alive():
            self._thread.join(1.0)

    def close(self) -> None:
        """Take no more connections."""
        self._server.shutdown()
        self._server.server_close()

    def __enter__(self) -> AgentServer:
        return self

    def __exit__(self, *problem: Any) -> None:
        self.close()


class PeopleServer(AgentServer):
    """The same for people: ``make`` returns a :class:`~jaywalk_agent.PersonPolicy`."""

    people = True


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True
    block_on_close = False
    make: Callable[[], Any]
    session: type[Session]

    def __init__(self, address: tuple[str, int], handler: Any) -> None:
        self.slots = threading.BoundedSemaphore(MAX_SESSIONS)
        super().__init__(address, handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        _log(f"session of {client_address[0]}:{client_address[1]}: {sys.exc_info()[1]}")


class _Handler(socketserver.BaseRequestHandler):
    server: _Server

    def handle(self) -> None:
        if not self.server.slots.acquire(blocking=False):
            return  # closing tells enough
        try:
            link = websocket.accept(self.request, MAX_MESSAGE_BYTES)
            link.set_timeout(_IDLE_S)
            self.server.session(link, self.server.make).run()
        except (LinkError, OSError) as problem:
            _log(f"session of {self.client_address[0]}:{self.client_address[1]}: {problem}")
        finally:
            self.server.slots.release()


class Session:
    """One connection: hello, setup, steps, close."""

    serves = "agent"

    def __init__(self, link: websocket.Websocket, make: Callable[[], Any]) -> None:
        self._link, self._make = link, make
        self._agent: Any = None
        self._maps: dict[str, Any] = {}

    def run(self) -> None:
        """Answer until the other side closes."""
        try:
            self._greet()
            while self._answer(unpack(self._link.receive())):
                pass
        except ProtocolError as problem:
            self._complain({"kind": "protocol", "message": str(problem)})
            raise
        except ConnectionLost:
            if self._agent is not None:  # a mere hello needs no line in the log
                raise
        finally:
            self._end_agent()
            self._link.close()

    def _greet(self) -> None:
        hello = unpack(self._link.receive())
        if hello["type"] != "hello":
            raise ProtocolError(f"The first message is '{hello['type']}', expected 'hello'.")
        if hello.get("protocol") != PROTOCOL:
            raise ProtocolError(
                f"this agent speaks version {PROTOCOL} of the protocol, not "
                f"{hello.get('protocol')}; install the jaywalk_agent that came with your Jaywalk."
            )
        from jaywalk_agent import __version__

        self._send(
            "hello",
            protocol=PROTOCOL,
            library=__version__,
            python=platform.python_version(),
            serves=self.serves,
        )

    def _answer(self, message: Message) -> bool:
        """Do what a message asks; False when it was the last."""
        kind = str(message.pop("type"))
        if kind not in ("setup", "step", "close"):
            raise ProtocolError(f"'{kind}' is unknown, expected 'setup', 'step' or 'close'.")
        if kind == "step" and self._agent is None:
            raise ProtocolError("'step' came before 'setup'.")
        content = self._read(kind, message)
        try:
            reply = self._act(kind, content)
        except Exception as problem:  # whatever the agent raises is for the other side to know
            trace = traceback.format_exc()
            _log(f"the agent failed:\n{trace}")
            text = f"{type(problem).__name__}: {problem}"
            self._complain({"kind": "agent", "message": text, "traceback": trace})
            return False
        self._link.send(reply)
        return kind != "close"

    def _read(self, kind: str, message: Message) -> Any:
        if kind == "setup":
            return briefing_from(message)
        if kind == "close":
            return None
        moment = moment_from(message)
        for tag, (_, data) in moment.sensors.items():
            if isinstance(data, dict) and "opendrive" in data:
                if data["opendrive"] is None:
                    data["opendrive"] = self._maps.get(tag)
                self._maps[tag] = data["opendrive"]
        return moment

    def _act(self, kind: str, content: Any) -> bytes:
        if kind == "setup":
            self._end_agent()
            self._agent = agent = self._make()
            agent.setup(content)
            sensors = list(agent.sensors())
            name, version = name_of(agent), str(agent.version)
            return pack({"type": "ready", "name": name, "version": version, "sensors": sensors})
        if kind == "step":
            assert self._agent is not None
            return pack({"type": "act", **as_map(as_answer(self._agent.step(content)))})
        self._end_agent()
        return pack({"type": "closed"})

    def _end_agent(self) -> None:
        agent, self._agent = self._agent, None
        if agent is not None and hasattr(agent, "close"):
            agent.close()

    def _send(self, message_type: str, **parts: Any) -> None:
        self._link.send(pack({"type": message_type, **parts}))

    def _complain(self, parts: Message) -> None:
        with contextlib.suppress(LinkError, OSError):  # it may be gone already
            self._send("error", **parts)


class PeopleSession(Session):
    """One connection to the people of an episode."""

    serves = "people"

    def _read(self, kind: str, message: Message) -> Any:
        if kind == "setup":
            if not {"who", "goal_m", "seed"} <= message.keys():
                raise ProtocolError("'setup' needs who, goal_m and seed: people are served here.")
            who, goal_m = traits_from(message["who"]), message["goal_m"]
            return who, goal_m, np.random.default_rng(int(message["seed"]))
        return None if kind == "close" else view_from(message)

    def _act(self, kind: str, content: Any) -> bytes:
        if kind == "setup":
            self._end_agent()
            self._agent = people = self._make()
            people.reset(*content)
            name = str(getattr(people, "name", "") or type(people).__name__)
            version = str(getattr(people, "version", "1"))
            return pack({"type": "ready", "name": name, "version": version})
        if kind == "step":
            act = checked_act(self._agent.act(content), len(content.active))
            return pack({"type": "act", **as_map(act)})
        self._end_agent()
        return pack({"type": "closed"})


def _log(text: str) -> None:
    sys.stderr.write(f"jaywalk_agent: {text}\n")
    sys.stderr.flush()
