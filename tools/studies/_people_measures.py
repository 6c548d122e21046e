"""Measures of people in records: looks, approach, encounters, overlaps, contacts, motion.

An encounter is that of :mod:`jaywalk.metrics.realism.people.encounters`; tracks end at a contact,
so contacts are counted apart. A person looks at the ego if the head as shown faces its middle
within 25 degrees. The first step is the first event ``enters the road``.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl

from jaywalk.core.arrays import BoolArray, FloatArray
from jaywalk.forecasting._record_sight import PosingLibraries, angle_rows
from jaywalk.metrics.motion.quality import PersonQuality, measure_record
from jaywalk.metrics.realism.people.encounters import (
    Drive,
    Encounter,
    Walk,
    driven_way,
    find_encounters,
    smoothed_speeds_mps,
)
from jaywalk.metrics.safety._false_braking import judge_braking
from jaywalk.metrics.safety.person_hits import Story, read_stories
from jaywalk.metrics.safety.posed import bank_for
from jaywalk.record import columns as c
from jaywalk.record import find_records
from jaywalk.record import open as open_record
from jaywalk.record.queries import announcements, contact_rows
from jaywalk.record.reactions import SCRIPTED, people_model
from jaywalk.record.reader import Record
from jaywalk.record.tracks import (
    COS,
    HX,
    HY,
    SIN,
    EpisodeTracks,
    X,
    Y,
    load_tracks,
    read_tracks,
    tenth_ticks,
)
from jaywalk.report.ground_plan import town_of
from jaywalk.rollouts.people.unbraked import replay_braking

LOOK_RAD: Final = math.radians(25.0)
WALKING_MPS: Final = 0.3
OBLIVIOUS: Final = 3  # of the trait ``attention``
_TENTHS: Final = 10
_STAYS_WITHIN_M: Final = 40.0
_LEAST_SEEN: Final = 20  # tenths
_WALKS_MPS: Final = 0.5
_PAUSE: Final = 5  # tenths between two overlaps of the same people


@dataclass(frozen=True, kw_only=True)
class FirstStep:
    """What somebody did in the 3 s before the first step onto the road."""

    episode: str
    looked: tuple[bool, bool, bool]  # in the last 1, 2 and 3 s
    look_share: float  # of the last 2 s
    walks: bool  # 1 s before


@dataclass(frozen=True, kw_only=True)
class Meeting:
    """An encounter and who took part in it."""

    episode: str
    posed: bool
    with_ego: bool
    encounter: Encounter


@dataclass(frozen=True, kw_only=True)
class Touch:
    """A contact of a posed person with a vehicle."""

    episode: str
    oblivious: bool
    with_ego: bool
    at_side: bool
    vehicle_mps: float


@dataclass(frozen=True, kw_only=True)
class Braking:
    """A braking for a person: whether it was needless, by each of three definitions.

    The last two are None in records of scripted people.
    """

    episode: str
    needless: bool
    with_reactions: bool | None  # and changed no recorded decision
    with_replay: bool | None  # and changed none in a replay before an unbraked ego


@dataclass(kw_only=True)
class Measured:
    """Everything measured in one or more runs."""

    episodes: int = 0
    ego_km: float = 0.0
    first_steps: list[FirstStep] = field(default_factory=list)
    stay_looks: list[float] = field(default_factory=list)  # share of the time near the ego
    meetings: list[Meeting] = field(default_factory=list)
    touches: list[Touch] = field(default_factory=list)
    person_minutes: float = 0.0
    overlaps: int = 0
    walking_mps: list[float] = field(default_factory=list)
    fluctuation: list[float] = field(default_factory=list)
    quality: list[PersonQuality] = field(default_factory=list)
    brakings: list[Braking] = field(default_factory=list)


def measure_runs(runs: list[Path], *, with_motion: bool = True) -> Measured:
    """Measure all episodes of some runs."""
    result = Measured()
    for folder in (folder for run in runs for folder in find_records(run)):
        record = open_record(folder)
        if record.episode.ego_actor is not None:
            _measure(result, record, with_motion=with_motion)
    return result


def _measure(result: Measured, record: Record, *, with_motion: bool) -> None:
    tenths = tenth_ticks(record).first_stretch()
    moving = pl.col(c.KIND).is_in(["vehicle", "walker"])
    tracks = read_tracks(record, only=moving, tick=tenths.tick)
    stories, attention = read_stories(record), _attention(record)
    contact = _first_contacts(record)
    name = f"{record.folder.parent.parent.name}/{record.episode.episode_id}"
    result.episodes += 1
    steps = np.hypot(*np.diff(tracks.ego_pose[:, [X, Y]], axis=0).T)
    result.ego_km += float(steps.sum()) / 1000.0
    heads = _heads(record, tracks)
    ways = [
        (body, way)
        for body, kind in enumerate(tracks.kind)
        if kind == "vehicle"
        and len(tracks.seen(body))
        and (way := driven_way(drive_of(tracks, body))) is not None
    ]
    for body in tracks.people:
        number = int(tracks.number[body])
        story = stories.get(number, Story(actor=number))
        walk = walk_of(tracks, body, contact.get(number))
        if walk is None:
            continue
        for k, encounter in find_encounters(walk, [way for _, way in ways]):
            result.meetings.append(
                Meeting(
                    episode=name,
                    posed=story.posed,
                    with_ego=ways[k][0] == tracks.ego,
                    encounter=encounter,
                )
            )
        _add_gait(result, walk)
        if story.posed and number in heads:
            _add_looks(result, name, tracks, body, story, heads[number])
    count, minutes = overlaps(tracks, contact)
    result.overlaps, result.person_minutes = (
        result.overlaps + count,
        result.person_minutes + minutes,
    )
    result.touches += _touches(record, tracks, stories, attention, name)
    result.brakings += brakings_of(record, name)
    town = town_of(record) if with_motion else None
    if town is not None:
        result.quality += measure_record(record, bank_for(record, None), town.ground)


def brakings_of(record: Record, name: str) -> list[Braking]:
    """Return the brakings for people of an episode."""
    if people_model(record) == SCRIPTED:
        tracks = load_tracks(record)
        judged = judge_braking(record, tracks).judged if tracks is not None else ()
        return [
            Braking(episode=name, needless=one.is_false, with_reactions=None, with_replay=None)
            for one in judged
            if one.counts
        ]
    replayed = replay_braking(record)
    calm = Braking(episode=name, needless=False, with_reactions=False, with_replay=False)
    return [
        Braking(
            episode=name,
            needless=True,
            with_reactions=not one.changed_mind,
            with_replay=not one.because,
        )
        for one in replayed.needless
    ] + [calm] * (replayed.events - len(replayed.needless))


def _attention(record: Record) -> dict[int, int]:
    """Attention trait of the posed people; empty for scripted ones."""
    notes = announcements(record, kind="note", name="habit")
    roles = (note for note in notes if note.detail.get("what") == "role")
    return {
        role.actor: int(role.detail["traits"]["attention"])
        for role in roles
        if role.actor is not None and "traits" in role.detail
    }


def _first_contacts(record: Record) -> dict[int, int]:
    first: dict[int, int] = {}
    for tick, *both in contact_rows(record).select(c.TICK, c.ACTOR, c.OTHER).iter_rows():
        for actor in both:
            if actor is not None:
                first.setdefault(int(actor), int(tick))
    return first


def walk_of(tracks: EpisodeTracks, body: int, contact: int | None) -> Walk | None:
    """Return the track of a person at tenths of a second, up to the first contact."""
    seen = tracks.seen(body)
    if contact is not None:
        seen = seen[tracks.tick[seen] < contact]
    if len(seen) < _LEAST_SEEN:
        return None
    return Walk(start=int(seen[0]), xy_m=tracks.pose[body, seen[0] : seen[-1] + 1][:, [X, Y]])


def drive_of(tracks: EpisodeTracks, body: int) -> Drive:
    """Return the track of a vehicle at tenths of a second."""
    seen = tracks.seen(body)
    pose = tracks.pose[body, seen[0] : seen[-1] + 1]
    return Drive(
        start=int(seen[0]),
        xy_m=pose[:, [X, Y]],
        yaw_rad=np.arctan2(pose[:, SIN], pose[:, COS]),
        half_length_m=float(tracks.shape[body, HX]),
        half_width_m=float(tracks.shape[body, HY]),
    )


def _add_gait(result: Measured, walk: Walk) -> None:
    """Add median and fluctuation of the speed in the longest walk of 2 s or more."""
    speeds = smoothed_speeds_mps(walk.xy_m)
    edges = np.flatnonzero(np.diff(np.concatenate([[0], speeds > _WALKS_MPS, [0]]).astype(int)))
    runs = sorted(edges.reshape(-1, 2).tolist(), key=lambda run: run[0] - run[1])
    if runs and runs[0][1] - runs[0][0] >= _LEAST_SEEN:
        own = speeds[slice(*runs[0])]
        result.walking_mps.append(float(np.median(own)))
        result.fluctuation.append(float(own.std() / own.mean()))


def _heads(record: Record, tracks: EpisodeTracks) -> dict[int, FloatArray]:
    """Directions of the faces at the tenths, in CARLA's sense; NaN where there is none."""
    rows = angle_rows(record, PosingLibraries(()), Counter())
    place = {int(tick): k for k, tick in enumerate(tracks.tick.tolist())}
    heads: dict[int, FloatArray] = {}
    for key, part in rows.partition_by("actor", as_dict=True).items():
        head = np.full(len(tracks.tick), np.nan)
        for tick, angle in part.select("tick", "head_rad").iter_rows():
            if tick in place and angle is not None:
                head[place[tick]] = -angle
        heads[int(key[0])] = head
    return heads


def looks_at_ego(tracks: EpisodeTracks, body: int, head_rad: FloatArray) -> BoolArray:
    """Return whether a head faces the middle of the ego at each tenth."""
    away = tracks.ego_pose[:, [X, Y]] - tracks.pose[body][:, [X, Y]]
    turn = np.arctan2(away[:, 1], away[:, 0]) - head_rad
    off = np.abs((turn + np.pi) % (2.0 * np.pi) - np.pi)
    return np.asarray(np.isfinite(off) & (off <= LOOK_RAD))


def _add_looks(
    result: Measured,
    name: str,
    tracks: EpisodeTracks,
    body: int,
    story: Story,
    head_rad: FloatArray,
) -> None:
    looks = looks_at_ego(tracks, body, head_rad)
    place = tracks.pose[body][:, [X, Y]]
    if story.on_road:
        at = int(np.searchsorted(tracks.tick, story.on_road[0][0]))
        first = int(tracks.seen(body)[0])
        if at - first < 3 * _TENTHS or at >= len(looks) or story.intended != "crossing":
            return
        result.first_steps.append(first_step(name, looks, place, at))
        return
    near = np.hypot(*(tracks.ego_pose[:, [X, Y]] - place).T) < _STAYS_WITHIN_M
    near &= np.isfinite(head_rad)
    if near.sum() >= _LEAST_SEEN:
        result.stay_looks.append(float(looks[near].mean()))


def first_step(episode: str, looks: BoolArray, place_m: FloatArray, at: int) -> FirstStep:
    """Return what happened in the 3 s before row ``at``."""
    steps = np.hypot(*np.diff(place_m[at - 11 : at - 8], axis=0).T)
    return FirstStep(
        episode=episode,
        looked=(
            bool(looks[at - 10 : at].any()),
            bool(looks[at - 20 : at].any()),
            bool(looks[at - 30 : at].any()),
        ),
        look_share=float(looks[at - 20 : at].mean()),
        walks=bool(steps.mean() * _TENTHS >= WALKING_MPS),
    )


def overlaps(tracks: EpisodeTracks, contact: dict[int, int]) -> tuple[int, float]:
    """Return how often two standing or walking people come to overlap, and person-minutes.

    Two people overlap where their collision cylinders do. People who touched a vehicle lie on the
    ground and do not count from then on.
    """
    people = np.array(
        [k for k in tracks.people if not tracks.type_id[k].startswith("walker.animal")], np.int64
    )
    there = tracks.present[people].copy()
    for row, body in enumerate(people.tolist()):
        there[row] &= tracks.tick < contact.get(int(tracks.number[body]), 2**62)
    places, radius = tracks.pose[people][:, :, [X, Y]], tracks.shape[people, HX]
    count = 0
    for a in range(len(people)):
        others = np.arange(a + 1, len(people))
        away = np.hypot(*np.moveaxis(places[others] - places[a], -1, 0))
        touch = (away < (radius[others] + radius[a])[:, None]) & there[others] & there[a]
        count += sum(_starts(row) for row in touch[touch.any(axis=1)])
    return count, float(there.sum()) / _TENTHS / 60.0


def _starts(touch: BoolArray) -> int:
    """Number of stretches, joined over short pauses."""
    at = np.flatnonzero(touch)
    return 1 + int((np.diff(at) > _PAUSE).sum()) if len(at) else 0


def _touches(
    record: Record,
    tracks: EpisodeTracks,
    stories: dict[int, Story],
    attention: dict[int, int],
    name: str,
) -> Iterator[Touch]:
    """Contacts of posed people with vehicles; ``at_side`` is behind the front, beside the box."""
    body_of = {int(number): k for k, number in enumerate(tracks.number.tolist())}
    seen: set[tuple[int, int]] = set()
    for row in contact_rows(record).iter_rows(named=True):
        pair = [body_of.get(row[side]) for side in (c.ACTOR, c.OTHER) if row[side] is not None]
        kinds = {tracks.kind[body]: body for body in pair if body is not None}
        if set(kinds) != {"vehicle", "walker"}:
            continue
        car, person = kinds["vehicle"], kinds["walker"]
        number = int(tracks.number[person])
        if not stories.get(number, Story(actor=number)).posed or (car, person) in seen:
            continue
        seen.add((car, person))
        tick = max(int(np.searchsorted(tracks.tick, row[c.TICK])) - 1, 0)
        yield touch_of(name, tracks, car, person, tick, attention.get(number))


def touch_of(
    episode: str, tracks: EpisodeTracks, car: int, person: int, at: int, attention: int | None
) -> Touch:
    """Return a contact at the last tenth before it."""
    pose, place = tracks.pose[car, at], tracks.pose[person, at, [X, Y]]
    away = place - pose[[X, Y]]
    along = float(away[0] * pose[COS] + away[1] * pose[SIN])
    return Touch(
        episode=episode,
        oblivious=attention == OBLIVIOUS or attention is None,
        with_ego=car == tracks.ego_index,
        at_side=abs(along) < float(tracks.shape[car, HX]),
        vehicle_mps=float(tracks.speed_mps(car)[at]),
    )


def summary_of(values: list[float]) -> dict[str, Any]:
    """Return quartiles; NaN without values."""
    known = np.array([value for value in values if math.isfinite(value)])
    if not len(known):
        return {"n": 0, "quartiles": (math.nan,) * 3}
    return {"n": len(known), "quartiles": tuple(np.percentile(known, [25, 50, 75]).tolist())}
