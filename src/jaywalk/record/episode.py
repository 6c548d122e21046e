"""Description of an episode in ``episode.json``: agent, server, route, code and settings.

The module also asks a server, or reads from a record, whether wet roads are slippery. CARLA's
weather does not change physics. A Jaywalk server can lower the grip in rain and answers an extra
call about this setting. A server without that call (the Unreal one) has the same grip in all
weathers.
"""

from __future__ import annotations

import contextlib
import json
import socket
from typing import Any, Final

import msgpack
from pydantic import BaseModel, ConfigDict, Field

from jaywalk.record._schema import SCHEMA_VERSION

EPISODE_FILE: Final = "episode.json"
FORMAT: Final = "jaywalk-record"
ROUTE_COMPLETED: Final = "route completed"  # an end reason that others ask for


class _Part(BaseModel):
    # Unknown keys are kept, so that an older program can copy a newer record.
    model_config = ConfigDict(frozen=True, extra="allow")


class Agent(_Part):
    """Agent that drove the ego."""

    name: str = ""
    version: str = ""
    arguments: dict[str, Any] = Field(default_factory=dict)


class Server(_Part):
    """Server that simulated the world."""

    kind: str = ""
    version: str = ""
    settings: dict[str, Any] = Field(default_factory=dict)


class RecordedRoute(_Part):
    """Route that the ego was asked to drive, and its form in ``route.parquet``."""

    route_id: str = ""
    dense: bool = False
    scenarios: list[dict[str, Any]] = Field(default_factory=list)


class SharedFile(_Part):
    """A file kept once per run: its content hash and its name in ``files/``."""

    sha256: str
    name: str


class Sampling(_Part):
    """Ticks between queries for values that snapshots lack; 0: values known at every tick."""

    lamps_ticks: int = 0
    weather_ticks: int = 0


class Code(_Part):
    """Code and data that produced an episode; not hashed, so that a new comment keeps hashes.

    Attributes:
        sources: Digest of our packages, shipped data included.
        motions: Digest of the motion library that poses people; "" without posed people.
        towns: Town -> digest of its roads and scenery; empty on a server that is not ours.
        suite: Digest of the routes; in a record, of its own route.
        driver: Version of the driver, e.g. ``expert-v1``, or a digest of the agent's file.
    """

    sources: str = ""
    motions: str = ""
    towns: dict[str, str] = Field(default_factory=dict)
    suite: str = ""
    driver: str = ""


class Wall(_Part):
    """Circumstances that may differ between two equal episodes; never hashed."""

    started_utc: str = ""
    ended_utc: str = ""
    seconds: float | None = None
    address: str = ""
    machine: str = ""
    first_frame: int | None = None
    first_elapsed_s: float | None = None
    missing_ticks: int = 0  # of a watched episode: how many ticks the recorder did not get


# Stands for our version in hashes, so that a release alone changes no hash. It is the version at
# which hashes of the baselines began; `code` identifies the sources.
_HASHED_VERSION: Final = "0.1.0"


class Episode(_Part):
    """All of ``episode.json``."""

    format: str = FORMAT
    schema_version: int = SCHEMA_VERSION
    episode_id: str
    suite: str = ""
    scenario: str = ""
    variant: str = ""
    pair: str = ""
    parameters: dict[str, Any] = Field(default_factory=dict)
    town: str = ""
    seed: int | None = None
    agent: Agent = Agent()
    server: Server = Server()
    route: RecordedRoute = RecordedRoute()
    sampling: Sampling = Sampling()
    step_s: float | None = None
    ego_actor: int | None = None
    end_reason: str = ""
    failure: str = ""
    complete: bool = True
    packages: dict[str, str] = Field(default_factory=dict)
    files: dict[str, SharedFile] = Field(default_factory=dict)
    rows: dict[str, int] = Field(default_factory=dict)
    code: Code = Code()
    wall: Wall = Wall()

    def to_json(self) -> str:
        """Text of the file: sorted, indented, ending with a newline."""
        return canonical_json(self.model_dump(mode="json"), indent=2) + "\n"

    def hashed_json(self) -> str:
        """Return the values that the record hash covers: all but wall times and code version."""
        values = self.model_dump(mode="json", exclude={"wall", "code"})
        if "jaywalk" in values["packages"]:
            values["packages"]["jaywalk"] = _HASHED_VERSION
        return canonical_json(values)


def canonical_json(value: Any, indent: int | None = None) -> str:
    """Return JSON with sorted keys; refuse NaN and infinities, which JSON does not allow."""
    return json.dumps(value, sort_keys=True, indent=indent, ensure_ascii=False, allow_nan=False)


_METHOD: Final = "jaywalk_wet_grip"
_SETTING: Final = "wet_grip"


def ask_wet_grip(host: str, port: int, wanted: bool | None = None, timeout_s: float = 20.0) -> bool:
    """Return whether rain lowers the grip on a server; False if the server gives no answer.

    Args:
        host: Address of the server.
        port: RPC port of the server.
        wanted: New value of the setting; None changes nothing.
        timeout_s: Longest wait for the answer.
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
    """Return the value in an answer; servers without the call answer with an error."""
    match message:
        case [1, _, None, [[1, bool(value)]]]:
            return value
    return False


def wet_grip_settings(wet_grip: bool) -> dict[str, bool]:
    """Return the entry for a record's server settings; older records lack it and had wet grip."""
    return {} if wet_grip else {_SETTING: False}


def has_wet_grip(episode: Episode) -> bool:
    """Return whether wet roads were slippery in a recorded episode."""
    return bool(episode.server.settings.get(_SETTING, True))
