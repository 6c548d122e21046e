"""False positive braking rate (FPBR): share of braking for people who then stayed out of the way.

HABIT divides braking events without a crossing person by all braking events (``habit_rate``), so
that stops at red lights look over-cautious. In Jaywalk's rate an event counts only if a person was
the plausible cause and nothing else explains it. It is false if no person enters the corridor that
the ego would have swept within the horizon.

People who react may stay away because the ego brakes. ``fpbr_reactions`` does not call a braking
needless if the person wanted to cross and decided otherwise within 2 s, with the ego as the vehicle
whose gap they judge. This is read from recorded decisions: whether they would have decided the same
before an ego that does not brake, a record cannot say.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from jaywalk.core.arrays import BoolArray, FloatArray, IntArray
from jaywalk.core.errors import UsageError
from jaywalk.metrics.pooling import SHARE, Pooling, share_of
from jaywalk.metrics.safety._braking import BrakingEvent, BrakingThresholds, find_braking
from jaywalk.metrics.safety._explanations import ExplanationRules, Situation, explain, outline
from jaywalk.metrics.safety._way import EgoPath
from jaywalk.metrics.spec import MetricInput, MetricResult, count, metric
from jaywalk.record import Record
from jaywalk.record.reactions import ticks_that_end_wanting
from jaywalk.record.tracks import HX, HY, ROUND, VX, VY, EpisodeTracks, load_tracks

CUT_OFF, NO_PERSON = "record ends", "nobody near"


@dataclass(frozen=True, slots=True, kw_only=True)
class FalseBrakingRules:
    """Thresholds; reasons are in docs/reference/safety.md.

    Attributes:
        horizon_s: A person who enters the corridor within this time justifies the braking. The
            corridor is as long as the ego would have driven in it, at the speed of the onset.
        margin_m: Added to each side of the ego's width.
        least_reach_m: The corridor is at least this long.
        beside_m: A person this near to the corridor is a plausible cause, also one that stands.
        decides_s: A person who reacts decides within this time after the onset.
        braking: Thresholds of braking.
        other: Rules for other explanations of braking.
    """

    horizon_s: float = 4.0
    margin_m: float = 0.3
    least_reach_m: float = 8.0
    beside_m: float = 3.0
    decides_s: float = 2.0
    braking: BrakingThresholds = field(default_factory=BrakingThresholds)
    other: ExplanationRules = field(default_factory=ExplanationRules)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedBraking:
    """A braking event and its verdict.

    Attributes:
        event: The event.
        explained_by: Reason why the event does not count; empty if it counts.
        person: Index of the nearest plausible person, -1 if none.
        is_false: Whether the event counts and no person came.
        person_came: Whether a person entered the corridor within the horizon, for any cause.
        changed_mind: Whether the person wanted to cross and decided otherwise because of the ego;
            None if people do not react in the record.
    """

    event: BrakingEvent
    explained_by: str
    person: int
    is_false: bool
    person_came: bool
    changed_mind: bool | None = None

    @property
    def counts(self) -> bool:
        """Return whether a person was the plausible and only cause."""
        return not self.explained_by


@dataclass(frozen=True, slots=True, kw_only=True)
class FalseBraking:
    """All braking events of an episode, judged."""

    judged: tuple[JudgedBraking, ...]

    @property
    def events(self) -> int:
        """Events that count."""
        return sum(one.counts for one in self.judged)

    @property
    def false_events(self) -> int:
        """Number of counted events in which no person came."""
        return sum(one.is_false for one in self.judged)

    @property
    def rate(self) -> float:
        """FPBR; nan without an event that counts."""
        return self.false_events / self.events if self.events else math.nan

    @property
    def rate_with_reactions(self) -> float:
        """FPBR without braking that changed a decision; nan if people do not react."""
        counted = [one for one in self.judged if one.counts]
        if not counted or all(one.changed_mind is None for one in counted):
            return math.nan
        return sum(one.is_false and not one.changed_mind for one in counted) / len(counted)

    @property
    def without_person(self) -> int:
        """Number of events of any cause in which no person entered the corridor."""
        return sum(not one.person_came for one in self.judged)

    @property
    def habit_rate(self) -> float:
        """HABIT's FPBR, taken literally: of all braking events; nan without any."""
        return self.without_person / len(self.judged) if self.judged else math.nan


def judge_braking(
    record: Record, tracks: EpisodeTracks, rules: FalseBrakingRules | None = None
) -> FalseBraking:
    """Find and judge the braking events of an episode."""
    rules = rules or FalseBrakingRules()
    return _judge(Situation.of(record, tracks), record, rules)


def _judge(situation: Situation, record: Record, rules: FalseBrakingRules) -> FalseBraking:
    events = find_braking(record, situation.tracks, rules.braking)
    minds = ticks_that_end_wanting(record)
    return FalseBraking(judged=tuple(_verdict(situation, event, rules, minds) for event in events))


def _verdict(
    situation: Situation,
    event: BrakingEvent,
    rules: FalseBrakingRules,
    minds: Mapping[int, IntArray],
) -> JudgedBraking:
    tracks = situation.tracks
    reach_m = max(event.speed_mps * rules.horizon_s, rules.least_reach_m)
    half_m = float(tracks.shape[tracks.ego, HY]) + rules.margin_m
    person = _plausible(situation, event, reach_m, half_m, rules)
    until_s = tracks.time_s[event.start] + rules.horizon_s
    came = any(
        _enters(tracks, way, event, who, reach_m, half_m, until_s).any()
        for way in situation.ways
        for who in tracks.people
    )
    if person < 0:
        reason = NO_PERSON
    else:
        reason = explain(situation, event, rules.other, half_m, rules.horizon_s)
        if not (reason or came) and tracks.time_s[-1] < until_s - 1e-6:
            reason = CUT_OFF
    return JudgedBraking(
        event=event,
        explained_by=reason,
        person=person,
        is_false=not (reason or came),
        person_came=came,
        changed_mind=_changed_mind(tracks, event, person, rules.decides_s, minds),
    )


def _changed_mind(
    tracks: EpisodeTracks,
    event: BrakingEvent,
    person: int,
    within_s: float,
    minds: Mapping[int, IntArray],
) -> bool | None:
    if not minds:
        return None
    ticks = minds.get(int(tracks.number[person])) if person >= 0 else None
    if ticks is None:
        return False
    until = int(np.searchsorted(tracks.time_s, tracks.time_s[event.start] + within_s + 1e-6)) - 1
    return bool(((ticks >= tracks.tick[event.start]) & (ticks <= tracks.tick[until])).any())


def _plausible(
    situation: Situation,
    event: BrakingEvent,
    reach_m: float,
    half_m: float,
    rules: FalseBrakingRules,
) -> int:
    """The person nearest to the corridor at the onset among those near it or heading for it."""
    tracks, at = situation.tracks, event.start
    best, nearest_m = -1, math.inf
    for way, who in itertools.product(situation.ways, tracks.people):
        if not tracks.present[who, at]:
            continue
        front_m = float(way.front_m[at])
        marks, radius_m = _marks(tracks, who, np.array([at]))
        after_s = np.linspace(0.0, rules.horizon_s, 9)
        going = marks[0] + after_s[:, None, None] * tracks.pose[who, at, [VX, VY]]
        seen = way.see(going.reshape(-1, 2), front_m, front_m + reach_m)
        ahead = (seen.along_m > front_m - 1e-6) & (seen.along_m <= front_m + reach_m)
        ahead = (ahead & ~seen.beyond).reshape(len(after_s), -1)
        gap_m = (np.abs(seen.lateral_m) - half_m - radius_m).reshape(len(after_s), -1)
        # Now beside the corridor, or about to be inside.
        near = (ahead[0] & (gap_m[0] <= rules.beside_m)).any()
        least_m = float(gap_m[0].min())
        if (near or (ahead & (gap_m <= 0.0)).any()) and least_m < nearest_m:
            best, nearest_m = who, least_m
    return best


def _marks(tracks: EpisodeTracks, who: int, ticks: IntArray) -> tuple[FloatArray, float]:
    """Points (ticks, k, 2) that stand for a body, and how far it extends around each of them."""
    if tracks.shape[who, ROUND]:
        return tracks.pose[who, ticks, None, :2], float(tracks.shape[who, HX])
    points, _ = outline(tracks, who, ticks)
    return points.reshape(len(ticks), -1, 2), 0.0


def _enters(
    tracks: EpisodeTracks,
    way: EgoPath,
    event: BrakingEvent,
    who: int,
    reach_m: float,
    half_m: float,
    until_s: float,
) -> BoolArray:
    """Return whether a person is in the corridor ahead of the ego at each tick of the horizon."""
    last = int(np.searchsorted(tracks.time_s, until_s + 1e-6, "right"))
    ticks = np.arange(event.start, min(last, len(tracks.time_s)))
    marks, radius_m = _marks(tracks, who, ticks)
    from_m = float(way.front_m[event.start])
    seen = way.see(marks.reshape(-1, 2), from_m, from_m + reach_m)
    along_m = seen.along_m.reshape(len(ticks), -1)
    inside = (np.abs(seen.lateral_m) <= half_m + radius_m) & ~seen.beyond
    ahead = (along_m >= way.front_m[ticks, None]) & (along_m <= from_m + reach_m)
    there = (inside.reshape(along_m.shape) & ahead).any(axis=1)
    return np.asarray(there & tracks.present[who, ticks])


@dataclass(frozen=True, slots=True, kw_only=True)
class SensitivityRow:
    """Counts and rate under one choice of thresholds."""

    thresholds: Mapping[str, float]
    events: int
    false_events: int

    @property
    def rate(self) -> float:
        """FPBR; nan without events."""
        return self.false_events / self.events if self.events else math.nan


DEFAULT_GRID: Mapping[str, Sequence[float]] = {
    "horizon_s": (3.0, 4.0, 5.0),
    "beside_m": (1.5, 3.0, 5.0),
    "margin_m": (0.0, 0.3, 0.6),
    "onset_mps2": (1.5, 2.0, 3.0),
}


def sensitivity(
    record: Record,
    grid: Mapping[str, Sequence[float]] | None = None,
    rules: FalseBrakingRules | None = None,
) -> list[SensitivityRow]:
    """Counts under every combination of a grid, for adding up over the episodes of a run.

    Args:
        record: The episode; without an ego the answer is empty.
        grid: Name of a threshold (of :class:`FalseBrakingRules` or its parts) to values.
        rules: What the others are.
    """
    rules, grid = rules or FalseBrakingRules(), grid or DEFAULT_GRID
    tracks = load_tracks(record)
    if tracks is None:
        return []
    situation = Situation.of(record, tracks)
    rows = []
    for values in itertools.product(*grid.values()):
        chosen = dict(zip(grid, values, strict=True))
        found = _judge(situation, record, with_thresholds(rules, chosen))
        rows.append(
            SensitivityRow(thresholds=chosen, events=found.events, false_events=found.false_events)
        )
    return rows


def with_thresholds(rules: FalseBrakingRules, chosen: Mapping[str, float]) -> FalseBrakingRules:
    """The rules with some thresholds, of any part, replaced."""
    for name, value in chosen.items():
        if name in {"braking", "other"}:
            raise UsageError(f"'{name}' is a group of thresholds; name one of its members.")
        for part in ("", "braking", "other"):
            owner: Any = getattr(rules, part) if part else rules
            if name in {one.name for one in fields(owner)}:
                changed: Any = replace(owner, **{name: value})
                rules = replace(rules, **{part: changed}) if part else changed
                break
        else:
            raise UsageError(
                f"'{name}' is not a threshold of false braking; see docs/reference/safety.md."
            )
    return rules


def braking_of(episode: MetricInput) -> FalseBraking:
    """Return the judged braking events of a scored episode."""
    return judge_braking(episode.record, episode.tracks, episode.rules_of(FalseBrakingRules))


@count("braking_events", label="Braking for people", group="braking", direction="none")
def _braking_events(episode: MetricInput) -> int:
    """Braking events of which a person was the plausible cause."""
    return episode.shared(braking_of).events


@count("false_braking_events", label="Needless braking for people", group="braking")
def _false_braking_events(episode: MetricInput) -> int:
    """Of these, those for people who then did not come."""
    return episode.shared(braking_of).false_events


@count("all_braking_events", label="Braking of any cause", group="braking", direction="none")
def _all_braking_events(episode: MetricInput) -> int:
    """Braking events of any cause."""
    return len(episode.shared(braking_of).judged)


@count(
    "all_braking_without_person",
    label="Braking of any cause without a person",
    group="braking",
    direction="none",
)
def _all_braking_without_person(episode: MetricInput) -> int:
    """Those of these events in which no one entered the corridor."""
    return episode.shared(braking_of).without_person


@metric(
    "fpbr",
    unit="share",
    direction="lower",
    label="Needless share of braking for people (FPBR)",
    group="braking",
    requires="a braking for a person",
    pooling=share_of("false_braking_events", "braking_events"),
    primary=True,
)
def _fpbr(episode: MetricInput) -> MetricResult:
    """Braking events for people who did not come, of all braking events for people."""
    braking = episode.shared(braking_of)
    return MetricResult.of(braking.rate, n=braking.events)


@metric(
    "fpbr_reactions",
    unit="share",
    direction="lower",
    label="Needless share of braking for people who react (FPBR)",
    group="braking",
    requires="a braking for a person, and people who react",
    pooling=Pooling(kind="mean", words="mean weighted by braking_events", bounds=SHARE),
)
def _fpbr_reactions(episode: MetricInput) -> MetricResult:
    """As `fpbr`, but braking is not needless if the person then changed their decision."""
    braking = episode.shared(braking_of)
    return MetricResult.of(braking.rate_with_reactions, n=braking.events)


@metric(
    "fpbr_habit",
    unit="share",
    direction="lower",
    label="Share of all braking without a person (FPBR as HABIT defines it)",
    group="braking",
    requires="a braking event",
    pooling=share_of("all_braking_without_person", "all_braking_events"),
)
def _fpbr_habit(episode: MetricInput) -> MetricResult:
    """Braking events of any cause in which no person came, of all braking events."""
    braking = episode.shared(braking_of)
    return MetricResult.of(braking.habit_rate, n=len(braking.judged))
