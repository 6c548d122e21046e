"""A posed person's life in pictures, from the record alone: a strip of moments and a film.

Left as a camera at the kerb sees it, right from above, with bones made again from clip and phase.
Dots on the ground are where the balls of the feet were in the last seconds: a foot that stands
leaves one dot, a foot that slides a line.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Final

import numpy as np
import polars as pl
from PIL import Image

from jaywalk.core.errors import DataError, UsageError
from jaywalk.metrics.habit.posed import PosedPerson, posed_people
from jaywalk.metrics.habit.stories import NAME, Story, read_stories
from jaywalk.motion.playing.bank import ClipBank
from jaywalk.record import Record
from jaywalk.record import columns as c
from jaywalk.report.ground_plan import town_of
from jaywalk.report.output_file import claim
from jaywalk.report.person_stage import PersonStage
from jaywalk.report.replay_film import FilmEncoder
from jaywalk.report.scene import Scene, read_scene

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
    """One person of an episode with all that is needed to draw them."""

    record: Record
    scene: Scene
    stage: PersonStage
    person: PosedPerson
    story: Story
    moments: tuple[LifeMoment, ...]


def read_life(record: Record, bank: ClipBank, actor: int | None) -> Life:
    """Read one person; None: whoever has most to show (contact, detour, crossing).

    Raises:
        UsageError: There is no such posed person.
        DataError: The record keeps no map.
    """
    people = {person.actor: person for person in posed_people(record, bank)}
    if not people:
        raise UsageError(f"{record.folder}: nobody was posed by clips; record a run of habit.")
    if actor is not None and actor not in people:
        known = ", ".join(map(str, people))
        raise UsageError(f"--person {actor} is nobody who was posed. There are: {known}.")
    stories = read_stories(record)
    moments = {number: _moments(record, stories[number], people[number]) for number in people}
    if actor is None:
        actor = max(people, key=lambda number: (_worth(moments[number]), -number))
    town = town_of(record)
    if town is None:
        raise DataError(f"{record.folder} keeps no map: there is no street to draw.")
    scene = read_scene(record)
    person, story = people[actor], stories[actor]
    return Life(
        record=record, scene=scene, stage=PersonStage(scene, town, person, story, people),
        person=person, story=story, moments=moments[actor],
    )  # fmt: skip


def _worth(moments: tuple[LifeMoment, ...]) -> int:
    points = {"contact": 8, "walks round something": 4, "on the road": 2, "trigger": 1}
    return sum(points.get(moment.what, 0) for moment in moments)


def _moments(record: Record, story: Story, person: PosedPerson) -> tuple[LifeMoment, ...]:
    step_s = record.episode.step_s or 0.05
    last = int(person.tick[-1])
    found: dict[str, int] = {}
    if story.trigger_tick is not None:
        found["idle"] = max(story.trigger_tick - round(_IDLE_S / step_s), int(person.tick[0]))
        found["trigger"] = story.trigger_tick
        found["blend"] = min(story.trigger_tick + round(_BLEND_S / step_s), last)
    if story.on_road:
        begin, end = story.on_road[0]
        found["on the road"] = (begin + (last if end is None else end)) // 2
    for tick, what in _told(record, story.actor):
        if what == "rerouted":
            found.setdefault("walks round something", min(tick + round(1.0 / step_s), last))
        elif what in ("crossed", "back", "strolled"):
            found["arrived"] = min(tick + round(0.5 / step_s), last)
    hit = _contact(record, story.actor)
    if hit is not None:
        found["contact"] = hit
    times = dict(record.ticks.select(c.TICK, c.TIME_S).collect().iter_rows())
    rows = [LifeMoment(what=what, tick=tick, time_s=float(times.get(tick, 0.0)))
            for what, tick in found.items()]  # fmt: skip
    return tuple(sorted(rows, key=lambda moment: moment.tick))


def _told(record: Record, actor: int) -> list[tuple[int, str]]:
    rows = record.events.filter((pl.col(c.NAME) == NAME) & (pl.col(c.ACTOR) == actor))
    told = rows.sort(c.TICK).select(c.TICK, c.DETAIL).collect()
    return [(int(tick), json.loads(text or "{}").get("what", "")) for tick, text in told.rows()]


def _contact(record: Record, actor: int) -> int | None:
    touched = (pl.col(c.ACTOR) == actor) | (pl.col(c.OTHER) == actor)
    rows = record.events.filter((pl.col(c.KIND) == "contact") & touched)
    ticks = rows.select(c.TICK).collect()[c.TICK].to_list()
    return int(min(ticks)) if ticks else None


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
    """Write a film in real time round what happened; returns the number of frames."""
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
