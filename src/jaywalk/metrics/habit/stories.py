"""The people of a record: what each was meant to do, and what they really did."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Final

import polars as pl

from jaywalk.record import Record
from jaywalk.record import columns as c

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
        trigger_tick: When they began to move; None: never, or not posed.
        on_road: Intervals of ticks on the carriageway; the last one may be open (None).
        did: Class of what they really did.
        rerouted: How often they walked round something.
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
        """When the person last stepped onto the road before a tick."""
        starts = [start for start, _ in self.on_road if start <= tick]
        return starts[-1] if starts else None


def read_stories(record: Record) -> dict[int, Story]:
    """Stories of all people by their number in the record."""
    stories: dict[int, Story] = {}
    people = record.actors.filter(pl.col(c.KIND) == "walker").collect()
    for row in people.iter_rows(named=True):
        attributes = json.loads(row[c.ATTRIBUTES] or "{}")
        stories[int(row[c.ACTOR])] = Story(
            actor=int(row[c.ACTOR]),
            intended=row[c.INTENDED_CLASS] or "",
            age=str(attributes.get("age", "")),
        )
    told = record.events.filter(pl.col(c.NAME) == NAME).sort(c.TICK, c.EVENT).collect()
    for row in told.iter_rows(named=True):
        story = stories.get(-1 if row[c.ACTOR] is None else int(row[c.ACTOR]))
        if story is not None:
            _tell(story, row, json.loads(row[c.DETAIL] or "{}"))
    return stories


def _tell(story: Story, row: dict[str, Any], detail: dict[str, Any]) -> None:
    tick, what = int(row[c.TICK]), detail.get("what", "")
    if row[c.KIND] == "trigger":
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
