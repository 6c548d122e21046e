"""What a protocol says about one recorded episode, and the run it belongs to.

Every protocol gives this same form, so that comparison, report and export know only one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Infraction:
    """One counted event. ``kind`` is the protocol's own key, e.g. ``collisions_pedestrian``."""

    kind: str
    tick: int
    time_s: float
    x_m: float
    y_m: float
    message: str  # in the protocol's own words where it has some
    other: int | None = None  # actor of the record
    value: float | None = None  # percentages and speeds, where the kind has one
    factor: float | None = None  # what it did to the score, where the protocol multiplies


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeScore:
    """One episode under one protocol.

    Attributes:
        success: The protocol's own idea of success.
        metrics: Name -> value, units in the name; ``nan`` where a metric does not apply. Every
            protocol has ``driving_score`` and ``route_completion`` (percent, or nan), and
            ``driven_km`` and ``duration_s``.
        counts: Name -> number of events, for rates per km.
    """

    episode_id: str
    protocol: str
    suite: str
    scenario: str
    seed: int | None
    agent: str
    status: str
    success: bool
    metrics: Mapping[str, float]
    counts: Mapping[str, int] = field(default_factory=dict)
    infractions: tuple[Infraction, ...] = ()
    failure: str = ""  # an agent's failure, one line
    folder: str = ""  # of the record, relative to the run
    detail: Mapping[str, Any] = field(default_factory=dict)  # whatever a page may want to show


@dataclass(frozen=True, slots=True, kw_only=True)
class RunScore:
    """All scored episodes of one run; ``expected`` may be more than there are."""

    name: str  # name of the run folder
    protocol: str
    agent: str
    suite: str
    expected: int
    episodes: tuple[EpisodeScore, ...]
    missing: tuple[str, ...] = ()  # episode ids that were announced and are not there
    warnings: tuple[str, ...] = ()
    agent_version: str = ""  # e.g. expert-v1; several, with commas, of a run that mixes them
    code: str = ""  # digest of our sources that drove it; several, with commas
    mixed_code: bool = False  # whether several versions of code or data drove it

    @property
    def is_complete(self) -> bool:
        """Whether every announced episode has been scored."""
        return not self.missing and len(self.episodes) == self.expected


class _Named(Protocol):
    """A scored episode or the description of a record."""

    @property
    def episode_id(self) -> str: ...
    @property
    def seed(self) -> int | None: ...
    @property
    def scenario(self) -> str: ...


def scenario_of(episode: _Named) -> str:
    """The unit that seeds repeat: what intervals are drawn over and pairs are made of.

    Our runner calls an episode ``<route of the suite>-s<seed>``: several routes of a suite may use
    one class of scenario, so the route is the unit. Episodes named otherwise fall back on their
    scenario, then on their own name.
    """
    ending = f"-s{episode.seed}"
    if episode.seed is not None and episode.episode_id.endswith(ending):
        return episode.episode_id.removesuffix(ending)
    return episode.scenario or episode.episode_id
