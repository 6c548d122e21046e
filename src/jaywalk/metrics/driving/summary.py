"""Scores of an episode and of a run, in the form that all protocols share.

Comparison, report and export use only this form. The module also derives warnings from findings,
flags and disagreements.
"""

from __future__ import annotations

import math
import typing
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from jaywalk.core.errors import DataError, UsageError
from jaywalk.metrics.driving._checks import Flag, check_records
from jaywalk.metrics.driving.penalties import Protocol, disagreements
from jaywalk.metrics.driving.results import (
    NOTE,
    UNREAD,
    UNSCORED,
    ResultFinding,
    ResultSet,
    RouteRecord,
)
from jaywalk.metrics.spec import MetricResult
from jaywalk.stats.intervals import Interval


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
    factor: float | None = None  # effect on the score, where the protocol multiplies


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
    detail: Mapping[str, Any] = field(default_factory=dict)  # further facts for pages

    def result(self, name: str) -> MetricResult:
        """Return a metric with its validity; a metric that the episode lacks does not apply."""
        return MetricResult.of(self.metrics.get(name, math.nan))


@dataclass(frozen=True, slots=True, kw_only=True)
class RunScore:
    """All scored episodes of one run; ``expected`` may be more than there are."""

    name: str  # name of the run folder
    protocol: str
    agent: str
    suite: str
    expected: int
    episodes: tuple[EpisodeScore, ...]
    missing: tuple[str, ...] = ()  # ids of episodes that the run lists but does not contain
    warnings: tuple[str, ...] = ()
    agent_version: str = ""  # e.g. expert-v1; several, with commas, of a run that mixes them
    code: str = ""  # digest of our sources that drove it; several, with commas
    mixed_code: bool = False  # whether several versions of code or data drove it

    @property
    def is_complete(self) -> bool:
        """Return whether every announced episode has been scored."""
        return not self.missing and len(self.episodes) == self.expected


class _Named(typing.Protocol):
    """A scored episode or the description of a record."""

    @property
    def episode_id(self) -> str: ...
    @property
    def seed(self) -> int | None: ...
    @property
    def scenario(self) -> str: ...


def scenario_of(episode: _Named) -> str:
    """Return the unit that seeds repeat: the cluster of intervals and the key of pairs.

    Jaywalk's runner names an episode ``<route of the suite>-s<seed>``. Several routes of a suite
    may use one class of scenario, so the route is the unit. Episodes with other names fall back on
    their scenario, then on their name.
    """
    ending = f"-s{episode.seed}"
    if episode.seed is not None and episode.episode_id.endswith(ending):
        return episode.episode_id.removesuffix(ending)
    return episode.scenario or episode.episode_id


_NAMED = 3
_PREFIX = {UNREAD: "not read", UNSCORED: "not scored", NOTE: "note"}


def one_method(results: ResultSet) -> str:
    """Return the method of a set; a set with none or several has no single score."""
    methods = results.methods
    if not methods:
        reasons = "; ".join(finding_lines(results.findings)[:5])
        raise DataError(f"No result record found in '{results.name}'. {reasons}")
    if len(methods) > 1:
        raise UsageError(
            f"'{results.name}' holds results of several methods ({', '.join(methods)}). "
            "Choose one with --method."
        )
    return methods[0]


def finding_lines(findings: Iterable[ResultFinding]) -> list[str]:
    """One line for each kind of finding, naming the first few files."""
    groups: dict[tuple[str, str], list[str]] = defaultdict(list)
    for finding in findings:
        groups[finding.kind, finding.text].append(finding.source)
    return [
        f"{_PREFIX[kind]}: {listed(sources)}: {text}" for (kind, text), sources in groups.items()
    ]


def listed(names: Sequence[str]) -> str:
    """The names, or how many and the first few."""
    if len(names) <= _NAMED:
        return ", ".join(names)
    return f"{len(names)} ({', '.join(names[:_NAMED])}, ...)"


def flags_and_warnings(
    protocol: Protocol, results: ResultSet, scored: Sequence[RouteRecord]
) -> tuple[dict[str, list[dict[str, str]]], list[dict[str, Any]], list[str]]:
    """Flags by kind, disagreements, and one warning line for each sort of either."""
    flags: dict[str, list[dict[str, str]]] = {"aborted": [], "doubled": [], "post_processed": []}
    groups: dict[tuple[str, str], list[str]] = defaultdict(list)
    for flag in check_records(results.records):
        flags[flag.kind].append({"record": flag.source, "reason": flag.reason})
        groups[flag.kind, _without_names(flag)].append(flag.source)
    warnings = finding_lines(results.findings)
    warnings += [
        f"looks {kind.replace('_', '-')}: {listed(sources)}: {reason}"
        for (kind, reason), sources in groups.items()
    ]
    differences = disagreements(protocol, scored)
    by_kind: dict[str, list[str]] = defaultdict(list)
    for entry in differences:
        by_kind[entry.what].append(entry.source)
    warnings += [
        f"disagrees with its own messages in {what} (rules of {protocol.name}): {listed(sources)}"
        for what, sources in by_kind.items()
    ]
    listing = [
        {"record": d.source, "what": d.what, "recorded": d.recorded, "derived": d.derived}
        for d in differences
    ]
    return flags, listing, warnings


def _without_names(flag: Flag) -> str:
    # "identical to FILE": the file differs in each, so that grouping needs it gone.
    for start in ("identical to another record", "the same route, seed and repetition as another"):
        if flag.reason.startswith(start.split(" another")[0]):
            return start
    return flag.reason


def jsonable(value: Any) -> Any:
    """A copy that is valid JSON: NaN and infinity become null."""
    if isinstance(value, dict):
        return {str(key): jsonable(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [jsonable(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def ends(interval: Interval) -> list[float]:
    """An interval as a pair."""
    return [interval.low, interval.high]
