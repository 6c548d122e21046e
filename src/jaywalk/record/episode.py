"""``episode.json``: what an episode was, apart from what happened in it."""

from __future__ import annotations

import json
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field

from jaywalk.record.schema import SCHEMA_VERSION

EPISODE_FILE: Final = "episode.json"
FORMAT: Final = "jaywalk-record"
ROUTE_COMPLETED: Final = "route completed"  # an end reason that others ask for


class _Part(BaseModel):
    # Unknown keys are kept, so that an older program can copy a newer record.
    model_config = ConfigDict(frozen=True, extra="allow")


class Agent(_Part):
    """Who drove."""

    name: str = ""
    version: str = ""
    arguments: dict[str, Any] = Field(default_factory=dict)


class Server(_Part):
    """What the world ran on."""

    kind: str = ""
    version: str = ""
    settings: dict[str, Any] = Field(default_factory=dict)


class Route(_Part):
    """Which route was to be driven, and how ``route.parquet`` gives it."""

    route_id: str = ""
    dense: bool = False
    scenarios: list[dict[str, Any]] = Field(default_factory=list)


class SharedFile(_Part):
    """A file kept once per run: its content hash and its name in ``files/``."""

    sha256: str
    name: str


class Sampling(_Part):
    """How often what a snapshot does not carry was asked for; 0: it was known at every tick."""

    lamps_ticks: int = 0
    weather_ticks: int = 0


class Code(_Part):
    """Which code and data produced an episode; never hashed, so a new comment keeps hashes.

    Attributes:
        sources: Digest of our packages, shipped data included.
        motions: Digest of the motion library people are posed by; "" where nobody is posed.
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
    route: Route = Route()
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
        """What the record's hash covers: everything but the wall and the code versions."""
        return canonical_json(self.model_dump(mode="json", exclude={"wall", "code"}))


def canonical_json(value: Any, indent: int | None = None) -> str:
    """JSON with sorted keys; NaN and infinities are refused, for they are no JSON."""
    return json.dumps(value, sort_keys=True, indent=indent, ensure_ascii=False, allow_nan=False)
