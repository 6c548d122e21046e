"""Pictures of a posed person over an episode, from the record alone: a strip of moments and a film.

The left view is from a camera at the kerb, the right view from above. They show the person and all
surrounding bodies, with bones recomputed from clip and phase.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Final

import numpy as np
from PIL import Image

from jaywalk.core.errors import DataError, UsageError
from jaywalk.metrics.safety.person_hits import NAME, Story, read_stories
from jaywalk.metrics.safety.posed import PosedPerson, posed_people
from jaywalk.motion.playback.bank import ClipBank
from jaywalk.record import Record
from jaywalk.record import columns as c
from jaywalk.record.queries import announcements, contact_rows
from jaywalk.report._person_stage import PersonStage
from jaywalk.report._scene import Scene, read_scene
from jaywalk.report.ground_plan import town_of
from jaywalk.report.replay import FilmEncoder
from jaywalk.report.svg import claim

_FRAMES_PER_S: Final = 20
_IDLE_S: Final = 1.5  # before the trigger
_BLEND_S: Final = 0.3  # after it
_COLUMNS: Final = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class LifeMoment:
    """Something that happened to a person."""

    what: str
    tick: int
    time_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """Person of an episode, with the data needed to draw them."""

    record: Record
    scene: Scene
    stage: PersonStage
    person: PosedPerson
    story: Story
    moments: tuple[LifeMoment, ...]


def read_life(record: Record, bank: ClipBank, actor: int | None) -> Life:
    """Read one person; None selects the most eventful one (contact, detour, crossing).

    Raises:
        UsageError: The record has no such posed person.
        DataError: The record has no map.
    """
    people = {person.actor: person for person in posed_people(record, bank)}
    if not people:
        raise UsageError(f"{record.folder} has no people posed by clips; record a run of habit.")
    if actor is not None and actor not in people:
        known = ", ".join(map(str, people))
        raise UsageError(f"--person {actor} is not a posed person. Choose one of: {known}.")
    stories = read_stories(record)
    moments = {number: _moments(record, stories[number], people[number]) for number in people}
    if actor is None:
        actor = max(people, key=lambda number: (_worth(moments[number]), -number))
    town = town_of(record)
    if town is None:
        raise DataError(f"{record.folder} contains no map, so the street cannot be drawn.")
    scene = read_scene(record)
    person, story = people[actor], stories[actor]
    return Life(
        record=record,
        scene=scene,
        stage=PersonStage(scene, town, person, story, people),
        person=person,
        story=story,
        moments=moments[actor],
    )


def _worth(moments: tuple[LifeMoment, ...]) -> int:
    points = {"contact": 8, "walks round something": 4, "on the road": 2, "trigger": 1}
    return sum(points.get(moment.what, 0) for moment in moments)


def _moments(record: Record, story: Story, person: PosedPerson) -> tuple[LifeMoment, ...]:
    step_s = record.episode.step_s or 0.05
    last = int(person.tick[-1])
    moments: dict[str, int] = {}
    if story.trigger_tick is not None:
        moments["idle"] = max(story.trigger_tick - round(_IDLE_S / step_s), int(person.tick[0]))
        moments["trigger"] = story.trigger_tick
        moments["blend"] = min(story.trigger_tick + round(_BLEND_S / step_s), last)
    if story.on_road:
        begin, end = story.on_road[0]
        moments["on the road"] = (begin + (last if end is None else end)) // 2
    for tick, what in _announced(record, story.actor):
        if what == "rerouted":
            moments.setdefault("walks round something", min(tick + round(1.0 / step_s), last))
        elif what in ("crossed", "back", "strolled"):
            moments["arrived"] = min(tick + round(0.5 / step_s), last)
    hit = _contact(record, story.actor)
    if hit is not None:
        moments["contact"] = hit
    times = dict(record.ticks.select(c.TICK, c.TIME_S).collect().iter_rows())
    rows = [
        LifeMoment(what=what, tick=tick, time_s=float(times.get(tick, 0.0)))
        for what, tick in moments.items()
    ]
    return tuple(sorted(rows, key=lambda moment: moment.tick))


def _announced(record: Record, actor: int) -> list[tuple[int, str]]:
    events = (event for event in announcements(record, name=NAME) if event.actor == actor)
    return [(event.tick, event.detail.get("what", "")) for event in events]


def _contact(record: Record, actor: int) -> int | None:
    ticks = contact_rows(record, actor)[c.TICK].to_list()
    return int(ticks[0]) if ticks else None


def write_life_strip(life: Life, path: Path) -> None:
    """Write the moments as one PNG, two a row."""
    shown = life.moments or (LifeMoment(what="idle", tick=int(life.person.tick[0]), time_s=0.0),)
    cells = [life.stage.draw(moment.tick, moment.what) for moment in shown]
    width, height = cells[0].size
    rows = -(-len(cells) // _COLUMNS)
    sheet = Image.new("RGB", (_COLUMNS * width, rows * height), "white")
    for k, cell in enumerate(cells):
        sheet.paste(cell, (k % _COLUMNS * width, k // _COLUMNS * height))
    sheet.save(claim(path), format="PNG", optimize=True)


def write_life_film(life: Life, path: Path, seconds: float) -> int:
    """Write a film in real time around the events and return the number of frames."""
    step_s = life.record.episode.step_s or 0.05
    stride = max(1, round(1.0 / (_FRAMES_PER_S * step_s)))
    ticks = life.person.tick
    busy = [m.tick for m in life.moments if m.what != "arrived"] or [int(ticks[0])]
    first = max(int(min(busy)) - round(1.0 / step_s), int(ticks[0]))
    last = min(first + round(seconds / step_s), int(ticks[-1]) + round(3.0 / step_s))
    last = min(last, int(life.scene.ticks[-1]))
    chosen = range(first, last + 1, stride)
    rate = Fraction(1.0 / (step_s * stride)).limit_denominator(1000)
    said = {moment.tick: moment.what for moment in life.moments}
    what = ""
    with FilmEncoder(path, rate, life.stage.size_px) as encoder:
        for tick in chosen:
            what = next((said[t] for t in range(tick, tick - stride, -1) if t in said), what)
            encoder.add(np.asarray(life.stage.draw(tick, what)))
    return len(chosen)
