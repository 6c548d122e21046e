"""Hits of people, with the planned and actual behaviour of each person and the ego's failure.

The braking-distance test asks whether the ego could have stopped within the distance it drove from
the moment a person began to move until the hit. For people without a trigger, that moment is when
they were on the road or last set off. A hit of a person who stepped out within the braking distance
is marked unavoidable. The failure begins at the last tick at which hard braking would still have
been sufficient.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from jaywalk.core.arrays import FloatArray
from jaywalk.metrics.safety._collisions import PERSON, Collision, find_collisions, hits_of
from jaywalk.metrics.safety._way import MOVING_MPS
from jaywalk.metrics.spec import MetricInput, count
from jaywalk.record import Record
from jaywalk.record import columns as c
from jaywalk.record.episode import has_wet_grip
from jaywalk.record.queries import (
    Announcement,
    actor_rows,
    announcements,
    first_weather,
    state_rows,
)
from jaywalk.record.tracks import EpisodeTracks, load_tracks

NAME: Final = "habit"  # of the events posed people leave
NOT_CROSSING, ATTEMPTING, CROSSING = "not_crossing", "attempting", "crossing"


@dataclass(slots=True, kw_only=True)
class Story:
    """One person of an episode.

    Attributes:
        actor: Number in the record.
        intended: Class the suite wanted; "" for people without a role.
        subcategory: Behaviour, of posed people.
        side: Of the route they started on.
        trigger_tick: Tick at which they began to move; None: never, or not posed.
        on_road: Intervals of ticks on the carriageway; the last one may be open (None).
        did: Class of their actual behaviour.
        rerouted: Number of times they walked around an obstacle.
    """

    actor: int
    intended: str = ""
    subcategory: str = ""
    side: str = ""
    place: str = ""
    age: str = ""
    clip: str = ""
    posed: bool = False
    trigger_tick: int | None = None
    on_road: list[tuple[int, int | None]] = field(default_factory=list)
    did: str = NOT_CROSSING
    rerouted: int = 0
    knocked_tick: int | None = None

    def entered_before(self, tick: int) -> int | None:
        """Return the tick at which the person last stepped onto the road before a tick."""
        starts = [start for start, _ in self.on_road if start <= tick]
        return starts[-1] if starts else None


def read_stories(record: Record) -> dict[int, Story]:
    """Stories of all people by their number in the record."""
    stories: dict[int, Story] = {}
    for row in actor_rows(record, "walker").iter_rows(named=True):
        attributes = json.loads(row[c.ATTRIBUTES] or "{}")
        stories[int(row[c.ACTOR])] = Story(
            actor=int(row[c.ACTOR]),
            intended=row[c.INTENDED_CLASS] or "",
            age=str(attributes.get("age", "")),
        )
    for event in announcements(record, name=NAME):
        story = stories.get(-1 if event.actor is None else event.actor)
        if story is not None:
            _add_to_story(story, event)
    return stories


def _add_to_story(story: Story, event: Announcement) -> None:
    tick, detail = event.tick, event.detail
    what = detail.get("what", "")
    if event.kind == "trigger":
        story.trigger_tick = tick
    elif what == "role":
        story.posed = True
        for key in ("intended", "subcategory", "side", "place", "age", "clip"):
            setattr(story, key, str(detail.get(key, "")))
    elif what == "enters the road":
        story.on_road.append((tick, None))
        if story.did == NOT_CROSSING:
            story.did = ATTEMPTING
    elif what == "leaves the road" and story.on_road:
        story.on_road[-1] = (story.on_road[-1][0], tick)
    elif what == "crossed":
        story.did = CROSSING
    elif what == "rerouted":
        story.rerouted += 1
    elif what == "knocked down":
        story.knocked_tick = tick


NIGHT, RAIN, FOG, WET, DRY = "night", "rain", "fog", "wet", "dry"


@dataclass(frozen=True, slots=True, kw_only=True)
class BrakingRules:
    """Braking ability of a car.

    Attributes:
        braking_mps2: Emergency braking with ABS on a dry road.
        wet_loss: Share of the braking that is lost on a completely wet road.
        delay_s: Delay until the brakes act; it includes no reaction time of a driver.
    """

    braking_mps2: float = 8.0
    wet_loss: float = 0.35
    delay_s: float = 0.15

    def distance_m(self, speed_mps: FloatArray, wetness: float) -> FloatArray:
        """Return the stopping distance (m)."""
        braking = self.braking_mps2 * (1.0 - self.wet_loss * min(max(wetness, 0.0), 1.0))
        return np.asarray(speed_mps * self.delay_s + speed_mps**2 / (2.0 * braking))


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonHit:
    """One person hit by the moving ego.

    Attributes:
        unavoidable: No braking from the moment they began would have stopped the ego.
        since_trigger_s: From the beginning of their motion to the hit; nan if they never began.
        since_road_s: From the step onto the road to the hit; nan if they were not on it.
        began_s: Time from the last moment at which hard braking would have avoided the hit.
        began_in: Person's state then: ``idle``, ``moving`` (not on the road yet) or ``road``.
        clip: Clip at the hit, and the place in it at the beginning of the failure.
    """

    episode_id: str
    hit: Collision
    story: Story
    weather: str
    unavoidable: bool
    since_trigger_s: float
    since_road_s: float
    began_s: float
    began_in: str
    clip: str
    clip_phase: float

    def group(self, by: str) -> str:
        """Name of the group the hit belongs to."""
        if by == "speed":
            low = int(self.hit.speed_mps // 3.0) * 3
            return f"{low}-{low + 3} m/s"
        if by == "weather":
            return self.weather
        if by == "phase":
            return self.began_in
        value = {"class": self.story.intended, "did": self.story.did}.get(by)
        return str(getattr(self.story, by) if value is None else value) or "unknown"


def find_person_hits(record: Record, rules: BrakingRules | None = None) -> list[PersonHit]:
    """Hits of people by the moving ego, in order of time; each person is hit once at a time."""
    tracks = load_tracks(record)
    if tracks is None:
        return []
    return judge_hits(record, tracks, find_collisions(record, tracks), rules)


def judge_hits(
    record: Record,
    tracks: EpisodeTracks,
    collisions: Sequence[Collision],
    rules: BrakingRules | None = None,
) -> list[PersonHit]:
    """Judge the collisions of an episode that are hits of people by the moving ego."""
    rules = rules or BrakingRules()
    hits = [one for one in collisions if one.what == PERSON and not one.ego_stood]
    hits = [hit for hit in hits if hit.other is not None]
    if not hits:
        return []
    stories, (weather, wetness) = read_stories(record), weather_of(record)
    return [
        _judged(
            record,
            tracks,
            hit,
            stories.get(hit.other or 0, Story(actor=hit.other or 0)),
            weather,
            rules,
            wetness,
        )
        for hit in hits
    ]


def weather_of(record: Record) -> tuple[str, float]:
    """Return the weather at the start in a word, and the slipperiness of the road, 0 to 1."""
    first = first_weather(record)
    if not first:
        return DRY, 0.0
    row = {key: 0.0 if value is None else float(value) for key, value in first.items()}
    wet = min(max(row["wetness"], row["precipitation_deposits"]) / 100.0, 1.0)
    if row["precipitation"] > 0.0:
        word = RAIN
    elif row["fog_density"] > 20.0:
        word = FOG
    else:
        word = WET if wet > 0.3 else DRY
    slippery = wet if has_wet_grip(record.episode) else 0.0
    return (f"{word}, {NIGHT}" if row["sun_altitude_angle"] < 0.0 else word), slippery


def _judged(
    record: Record,
    tracks: EpisodeTracks,
    hit: Collision,
    story: Story,
    weather: str,
    rules: BrakingRules,
    wetness: float,
) -> PersonHit:
    at = int(np.clip(np.searchsorted(tracks.tick, hit.tick), 0, len(tracks.tick) - 1))
    speed = tracks.speed_mps(tracks.ego)
    steps = np.diff(tracks.time_s[: at + 1], prepend=tracks.time_s[0])
    way = np.cumsum(speed[: at + 1] * steps)
    left_m = way[at] - way
    could = rules.distance_m(speed[: at + 1], wetness) <= left_m + 1e-9
    entered = story.entered_before(hit.tick)
    begins = entered if story.trigger_tick is None else story.trigger_tick
    first = _set_off(tracks, story.actor, at) if begins is None else _index(tracks, begins)
    unavoidable = first is not None and not bool(could[first])
    last = int(np.flatnonzero(could)[-1]) if could.any() else 0
    clip, phase = _clip_at(record, story.actor, int(tracks.tick[last]), hit.tick)
    return PersonHit(
        episode_id=record.episode.episode_id,
        hit=hit,
        story=story,
        weather=weather,
        unavoidable=unavoidable,
        since_trigger_s=_since(tracks, story.trigger_tick, at),
        since_road_s=_since(tracks, entered, at),
        began_s=float(tracks.time_s[at] - tracks.time_s[last]),
        began_in=_doing(story, int(tracks.tick[last])),
        clip=clip,
        clip_phase=phase,
    )


def _set_off(tracks: EpisodeTracks, actor: int, at: int) -> int | None:
    """Return the index at which a person without a story last began to move before an index."""
    body = int(np.searchsorted(tracks.number, actor))
    if body >= len(tracks.number) or tracks.number[body] != actor:
        return None
    stood = np.flatnonzero(tracks.speed_mps(body)[: at + 1] < MOVING_MPS)
    return int(stood[-1]) if len(stood) else 0


def _index(tracks: EpisodeTracks, tick: int | None) -> int | None:
    return None if tick is None else int(np.searchsorted(tracks.tick, tick))


def _since(tracks: EpisodeTracks, tick: int | None, at: int) -> float:
    first = _index(tracks, tick)
    return math.nan if first is None else float(tracks.time_s[at] - tracks.time_s[first])


def _doing(story: Story, tick: int) -> str:
    if any(a <= tick and (b is None or tick < b) for a, b in story.on_road):
        return "road"
    moving = story.trigger_tick is not None and tick >= story.trigger_tick
    return "moving" if moving else "idle"


def _clip_at(record: Record, actor: int, tick: int, hit_tick: int) -> tuple[str, float]:
    span = (min(tick, hit_tick), max(tick, hit_tick))
    table = state_rows(record, (c.CLIP, c.CLIP_PHASE), actors=[actor], ticks=span)
    rows = [row for row in table.to_dicts() if row[c.TICK] in (tick, hit_tick)]
    clips = [row[c.CLIP] for row in rows if row[c.CLIP]]
    phase = next((row[c.CLIP_PHASE] for row in rows if row[c.TICK] == tick), None)
    return (clips[-1] if clips else ""), math.nan if phase is None else float(phase)


def person_hits_of(episode: MetricInput) -> list[PersonHit]:
    """Return the hits of people in a scored episode."""
    return judge_hits(episode.record, episode.tracks, episode.shared(hits_of))


@count("unavoidable_person", label="Unavoidable collisions with people", group="people hit")
def _unavoidable_person(episode: MetricInput) -> int:
    """Of the people hit, those who stepped out inside any braking distance."""
    return sum(hit.unavoidable for hit in episode.shared(person_hits_of))


@count(
    "side_contact_person",
    label="People who walked into the side of the slow ego",
    group="people hit",
)
def _side_contact_person(episode: MetricInput) -> int:
    """Of the people hit, those who walked into the side or rear of an ego at walking pace."""
    return sum(hit.walked_into for hit in episode.shared(hits_of))
