"""Tags of reacting people in JAAD's words, from the decisions and events of a record.

Scripted people have none of these tags. A person looks at the car if their attention is a look and
the head as shown points within 25 degrees of the ego. Reactions: hurrying is ``speed_up``, yielding
or hesitating on the road is ``slow_down``, and yielding beside it, stepping back or evading is
``clear_path``. Intention comes from the event ``intends``, and is unsure while people at the kerb
have weak evidence. A crossing begins with the first step onto the road after a commitment.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jaywalk.core.arrays import FloatArray
from jaywalk.forecasting.behaviour.sim_frames import EgoFrames
from jaywalk.record import columns as c
from jaywalk.record.queries import Announcement, announcements
from jaywalk.record.reactions import (
    SCRIPTED,
    PersonAttention,
    PersonDecision,
    people_model,
    reaction_rows,
)
from jaywalk.record.reader import Record

UNSURE_EVIDENCE: Final = 0.3
LOOK_WITHIN_DEG: Final = 25.0
NO, UNSURE, YES = 0.0, 0.5, 1.0
_KERB_M: Final = 3.0  # from the place at the kerb, where people judge gaps for their way
_HESITATES_S: Final = 1.0
_LEAVES_M: Final = 2.0  # a stay on the road that leads this far is a crossing in any case
_COMMITS: Final = ("commits", "follows", "hurries")
_GIVES_UP: Final = ("gives up", "crossed", "stays", "strolled")


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonTags:
    """Tags of one reacting person at every frame.

    Attributes:
        looking: Whether the person looks at the car, ``(frames,)``.
        reaction: JAAD's word, or None, ``(frames,)``.
        intention: 0 no, 0.5 unsure, 1 yes, ``(frames,)``.
        crossing: On the road in a crossing, ``(frames,)``.
        commits: Whether the decision to cross falls in the frame, ``(frames,)``.
        group_size: People in the group, 1 for those who are alone.
    """

    looking: NDArray[np.bool_]
    reaction: tuple[str | None, ...]
    intention: FloatArray
    crossing: NDArray[np.bool_]
    commits: NDArray[np.bool_]
    group_size: int


def reaction_tags(record: Record, frames: EgoFrames) -> dict[int, PersonTags]:
    """Return the tags of all posed people of a record; empty if its people are scripted."""
    if people_model(record) == SCRIPTED or record.episode.ego_actor is None:
        return {}
    notes = [n for n in announcements(record, kind="note", name="habit") if n.actor is not None]
    roles = {n.actor: n for n in notes if n.detail.get("what") == "role" and n.actor is not None}
    groups = [role.detail.get("traits", {}).get("group", -1) for role in roles.values()]
    rows = {
        int(key[0]): part
        for key, part in reaction_rows(record).partition_by(c.ACTOR, as_dict=True).items()
    }
    ego_m = frames.motions[record.episode.ego_actor].place_m
    tags = {}
    for actor, role in roles.items():
        if actor not in frames.motions:
            continue
        mine = [note for note in notes if note.actor == actor]
        group = role.detail.get("traits", {}).get("group", -1)
        person = _Person(
            frames=frames,
            notes=mine,
            rows=_at_frames(rows.get(actor), frames.ticks),
            place_m=frames.motions[actor].place_m[:, :2],
        )
        tags[actor] = person.tags(ego_m[:, :2], groups.count(group) if group >= 0 else 1)
    return tags


def _at_frames(rows: pl.DataFrame | None, ticks: NDArray[np.int64]) -> dict[str, FloatArray]:
    """Return the values of one person at the tick of each frame; NaN where they take no part."""
    names = (c.YAW_DEG, c.GAZE_YAW_DEG, c.ATTENTION, c.DECISION, c.EVIDENCE)
    values = {name: np.full(len(ticks), np.nan) for name in names}
    if rows is None or rows.is_empty():
        return values
    known = rows[c.TICK].to_numpy().astype(np.int64)
    at = np.minimum(np.searchsorted(known, ticks), len(known) - 1)
    there = known[at] == ticks
    for name in names:
        column = rows[name].cast(pl.Float64).fill_null(np.nan).to_numpy()
        values[name][there] = column[at[there]]
    return values


@dataclass(frozen=True, slots=True, kw_only=True)
class _Person:
    """What a record holds of one person, at every frame."""

    frames: EgoFrames
    notes: Sequence[Announcement]
    rows: dict[str, FloatArray]
    place_m: FloatArray

    def tags(self, ego_m: FloatArray, group_size: int) -> PersonTags:
        on_road = self._between(("enters the road",), ("leaves the road",))
        return PersonTags(
            looking=self._looking(ego_m),
            reaction=tuple(self._reactions(on_road)),
            intention=self._intention(on_road),
            crossing=self._crossing(on_road),
            commits=self._frames_of(_COMMITS),
            group_size=group_size,
        )

    def _looking(self, ego_m: FloatArray) -> NDArray[np.bool_]:
        towards = ego_m - self.place_m
        bearing = np.rad2deg(np.arctan2(towards[:, 1], towards[:, 0]))
        head = self.rows[c.YAW_DEG] + self.rows[c.GAZE_YAW_DEG]
        away = np.abs((head - bearing + 180.0) % 360.0 - 180.0)
        looks = self.rows[c.ATTENTION] == PersonAttention.LOOKS
        return np.asarray(looks & (away <= LOOK_WITHIN_DEG))

    def _reactions(self, on_road: NDArray[np.bool_]) -> Iterator[str | None]:
        hesitates = np.zeros(len(on_road), np.bool_)
        for tick in self._ticks_of(("hesitates",)):
            since_s = self.frames.times_s - self._time_s(tick)
            hesitates |= (since_s >= 0.0) & (since_s <= _HESITATES_S)
        for decision, road, slow in zip(
            self.rows[c.DECISION].tolist(), on_road.tolist(), hesitates.tolist(), strict=True
        ):
            yield _reaction(decision, on_road=road, hesitates=slow)

    def _intention(self, on_road: NDArray[np.bool_]) -> FloatArray:
        wants = self._between(("intends",), _GIVES_UP)
        undecided = np.isin(self.rows[c.DECISION], (PersonDecision.WANTS, PersonDecision.WAITS))
        weak = np.abs(self.rows[c.EVIDENCE]) < UNSURE_EVIDENCE
        unsure = ~on_road & undecided & weak & self._at_kerb()
        return np.where(wants, np.where(unsure, UNSURE, YES), NO)

    def _at_kerb(self) -> NDArray[np.bool_]:
        plans = [note.detail for note in self.notes if note.detail.get("what") == "intends"]
        via = next((plan["via_m"] for plan in plans if "via_m" in plan), None)
        if via is None:
            return np.ones(len(self.place_m), np.bool_)
        return np.asarray(np.hypot(*(self.place_m - np.array(via, np.float64)).T) < _KERB_M)

    def _crossing(self, on_road: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return the stays on the road that follow a commitment, or that lead 2 m or more."""
        edges = np.flatnonzero(np.diff(np.concatenate([[0], on_road.astype(np.int8), [0]])))
        commits = self._frames_of(_COMMITS)
        crossing, last = np.zeros(len(on_road), np.bool_), 0
        for start, end in edges.reshape(-1, 2).tolist():
            away = np.hypot(*(self.place_m[start:end] - self.place_m[start]).T)
            committed = bool(commits[last : start + 1].any())
            crossing[start:end] = committed or bool((away >= _LEAVES_M).any())
            last = end
        return crossing

    def _frames_of(self, words: tuple[str, ...]) -> NDArray[np.bool_]:
        frames = np.zeros(len(self.frames.times_s), np.bool_)
        for tick in self._ticks_of(words):
            frames[self._frame_of(tick)] = True
        return frames

    def _between(self, begins: tuple[str, ...], ends: tuple[str, ...]) -> NDArray[np.bool_]:
        """Return the frames from an event of one kind to the next event of another kind."""
        state = np.zeros(len(self.frames.times_s), np.bool_)
        for note in self.notes:
            what = note.detail.get("what")
            if what in begins or what in ends:
                state[self._frame_of(note.tick) :] = what in begins
        return state

    def _ticks_of(self, words: tuple[str, ...]) -> list[int]:
        return [note.tick for note in self.notes if note.detail.get("what") in words]

    def _frame_of(self, tick: int) -> int:
        """Return the first frame at or after a tick."""
        first = int(np.searchsorted(self.frames.ticks, tick))
        return min(first, len(self.frames.ticks) - 1)

    def _time_s(self, tick: int) -> float:
        return float(self.frames.times_s[self._frame_of(tick)])


def _reaction(decision: float, *, on_road: bool, hesitates: bool) -> str | None:
    if decision == PersonDecision.HURRIES:
        return "speed_up"
    if decision in (PersonDecision.STEPS_BACK, PersonDecision.EVADES):
        return "clear_path"
    if decision == PersonDecision.YIELDS:
        return "slow_down" if on_road else "clear_path"
    return "slow_down" if hesitates else None


def tag_columns(tags: PersonTags, part: slice) -> list[dict[str, Any]]:
    """Return the columns of a person's boxes while in view."""
    return [
        {"looking": int(looks), "reaction": reaction, "intention_prob": intention}
        for looks, reaction, intention in zip(
            tags.looking[part].tolist(),
            tags.reaction[part],
            tags.intention[part].tolist(),
            strict=True,
        )
    ]
