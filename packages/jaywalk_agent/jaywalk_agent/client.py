"""The asking side: a remote agent as an object. Jaywalk's workers use it, and tests may."""

from __future__ import annotations

import platform
import socket
import time
from dataclasses import dataclass
from typing import Any

from jaywalk_agent import websocket
from jaywalk_agent.agent import Answer
from jaywalk_agent.errors import AgentFailure, ConnectionLost, LinkError, NoListener, ProtocolError
from jaywalk_agent.people import PersonAct, PersonTraits, PersonView, act_from
from jaywalk_agent.sight import Array, Briefing, Moment
from jaywalk_agent.wire import PROTOCOL, Message, answer_from, as_map, pack, unpack

MAX_ANSWER_BYTES = 32 * 2**20
_HELLO_S = 10.0
_RETRY_S = 0.25
_FAREWELL_S = 5.0


@dataclass(frozen=True)
class Ready:
    """How an agent introduces itself when it is set up."""

    name: str
    version: str
    sensors: list[dict[str, Any]]


class _Session:
    """A connection to a program that serves an agent or people."""

    serves = "agent"  # what the other side must serve

    def __init__(self, address: str, *, wait_s: float = 0.0, who: str = "jaywalk") -> None:
        """Connect and agree on the protocol.

        Args:
            address: Where the agent serves.
            wait_s: How long to try while nobody listens; it may be starting again.
            who: Who asks, for the agent's log.

        Raises:
            NoListener: Nobody is there.
            ProtocolError: Another version, or no agent at all.
        """
        self.address = address
        self._socket = _connect(address, wait_s)
        try:
            self._socket.set_timeout(_HELLO_S)
            hello = {"type": "hello", "protocol": PROTOCOL, "who": who}
            self.peer = self._ask({**hello, "python": platform.python_version()}, "hello")
        except socket.timeout:
            self.drop()
            raise ProtocolError(
                f"{address} opened a websocket but did not say hello within {_HELLO_S:g} s; is it "
                "a jaywalk_agent server?"
            ) from None
        except BaseException:
            self.drop()
            raise
        spoken = self.peer.get("protocol")
        if spoken != PROTOCOL:
            self.drop()
            raise ProtocolError(_other_version(address, spoken))
        offered = self.peer.get("serves", "agent")
        if offered != self.serves:
            self.drop()
            raise ProtocolError(_other_kind(address, offered))
        self._socket.set_timeout(None)

    def close(self) -> None:
        """End the session; the agent's own ``close`` has run when this returns."""
        try:
            self._ask({"type": "close"}, "closed", _FAREWELL_S)
        finally:
            self.drop()

    def drop(self) -> None:
        """End the connection without a word to the agent."""
        self._socket.close()

    def _ask(self, message: Message, expected: str, timeout_s: float | None = None) -> Message:
        if timeout_s is not None:
            self._socket.set_timeout(timeout_s)
        doing = message["type"]
        try:
            self._socket.send(pack(message))
            answer = unpack(self._socket.receive())
        except ConnectionLost as problem:
            raise ConnectionLost(
                f"the {self.serves} at {self.address} was lost while it was asked to {doing}: "
                f"{problem}"
            ) from problem
        if answer["type"] == "error":
            raise _failure(self.address, answer, self.serves)
        if answer["type"] != expected:
            raise ProtocolError(
                f"{self.address} answered '{answer['type']}' to '{doing}', expected '{expected}'."
            )
        return answer


class RemoteAgent(_Session):
    """A connection to an agent that serves at ``ws://HOST:PORT``: one session, one episode."""

    def __init__(self, address: str, *, wait_s: float = 0.0, who: str = "jaywalk") -> None:
        """Connect and agree on the protocol; see the base class."""
        super().__init__(address, wait_s=wait_s, who=who)
        self._maps: dict[str, Any] = {}

    def setup(self, briefing: Briefing, timeout_s: float | None = None) -> Ready:
        """Brief the agent."""
        said = self._ask({"type": "setup", **as_map(briefing)}, "ready", timeout_s)
        sensors = said.get("sensors") or []
        if not isinstance(sensors, list) or not all(isinstance(sensor, dict) for sensor in sensors):
            raise ProtocolError("'sensors' must be a list of maps.")
        return Ready(str(said.get("name", "")), str(said.get("version", "")), sensors)

    def step(self, moment: Moment, timeout_s: float | None = None) -> Answer:
        """Ask for a decision."""
        message = {"type": "step", **as_map(moment), "sensors": self._slim(moment.sensors)}
        return answer_from(self._ask(message, "act", timeout_s))

    def _slim(self, sensors: dict[str, Any]) -> dict[str, Any]:
        """A map is long and never changes: it goes out once, then as None."""
        slim = dict(sensors)
        for tag, (frame, data) in sensors.items():
            if isinstance(data, dict) and "opendrive" in data:
                if self._maps.get(tag) == data["opendrive"]:
                    slim[tag] = (frame, {**data, "opendrive": None})
                self._maps[tag] = data["opendrive"]
        return slim


class RemotePeople(_Session):
    """A connection to people who are served at ``ws://HOST:PORT``: one session, one episode."""

    serves = "people"

    def setup(
        self, who: PersonTraits, goal_m: Array, seed: int, timeout_s: float | None = None
    ) -> tuple[str, str]:
        """Reset the policy; returns its name and version."""
        message = {"type": "setup", "who": as_map(who), "goal_m": goal_m, "seed": seed}
        said = self._ask(message, "ready", timeout_s)
        return str(said.get("name", "")), str(said.get("version", ""))

    def step(self, seen: PersonView, timeout_s: float | None = None) -> PersonAct:
        """Ask for the answer of all people."""
        return act_from(self._ask({"type": "step", **as_map(seen)}, "act", timeout_s))


def _connect(address: str, wait_s: float) -> websocket.Websocket:
    deadline_s = time.monotonic() + wait_s
    while True:
        try:
            return websocket.connect(address, timeout_s=_HELLO_S, max_bytes=MAX_ANSWER_BYTES)
        except NoListener:
            if time.monotonic() >= deadline_s:
                raise
            time.sleep(_RETRY_S)


def _failure(address: str, answer: Message, serves: str) -> LinkError:
    text = str(answer.get("message", "")).rstrip()
    if answer.get("kind") == "protocol":
        return ProtocolError(f"{address} refused: {text}")
    trace = str(answer.get("traceback", "")).rstrip()
    return AgentFailure(f"the {serves} at {address} raised:\n{trace or text}")


def _other_kind(address: str, offered: Any) -> str:
    option = "--people-model" if offered == "people" else "--agent"
    return f"{address} serves {offered}; give it with {option}."


def _other_version(address: str, spoken: Any) -> str:
    return (
        f"{address} speaks version {spoken} of the protocol, this side version {PROTOCOL}. Install "
        "the jaywalk_agent that came with this Jaywalk in the agent's environment."
    )
