"""Needless braking against its counterfactual: the same people before an ego that does not brake.

From the onset of a braking the people who plan to cross go on twice with the noise of the record:
before the ego as recorded, and before one that keeps its speed along its way. If somebody who
wanted to cross then decides otherwise in the two, the braking was not needless.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from jaywalk.core.arrays import FloatArray
from jaywalk.geometry.path import arc_lengths
from jaywalk.metrics.safety._false_braking import FalseBrakingRules, JudgedBraking, judge_braking
from jaywalk.record.reactions import PersonDecision
from jaywalk.record.reader import Record
from jaywalk.record.tracks import COS, SIN, VX, VY, X, Y, load_tracks
from jaywalk.rollouts.people.continuing import Follower, go_on
from jaywalk.rollouts.people.recorded import RecordedPeople, read_reacting_people

_LEAST_STEP_M: Final = 1e-3


@dataclass(frozen=True, slots=True, kw_only=True)
class BrakingReplay:
    """A braking for a person who then did not come.

    Attributes:
        tick: Onset.
        person: Number of the person in the record.
        changed_mind: They decided otherwise, as recorded.
        because: They would have decided differently before an ego that does not brake; None if
            they were not on the way to cross, so that no rollout has them.
    """

    tick: int
    person: int
    changed_mind: bool
    because: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayedBraking:
    """All braking for people in an episode; ``needless`` are the events of `fpbr`."""

    events: int
    needless: tuple[BrakingReplay, ...]

    @property
    def rate(self) -> float:
        """FPBR without the events whose braking changed a decision in the replay."""
        if not self.events:
            return math.nan
        return sum(not one.because for one in self.needless) / self.events


def replay_braking(record: Record, rules: FalseBrakingRules | None = None) -> ReplayedBraking:
    """Replay the needless braking of an episode with people who react.

    Raises:
        DataError: There is something to replay, but people of the record do not react, or it was
            made by an older version.
    """
    rules, tracks = rules or FalseBrakingRules(), load_tracks(record)
    if tracks is None:
        return ReplayedBraking(events=0, needless=())
    judged = judge_braking(record, tracks, rules)
    wanted = [one for one in judged.judged if one.is_false]
    if not wanted:
        return ReplayedBraking(events=judged.events, needless=())
    people = read_reacting_people(record)
    follower = Follower.of(people)
    replays = []
    for one in wanted:
        index = int(np.searchsorted(people.tracks.tick, tracks.tick[one.event.start]))
        while follower.tick < index:
            follower.step()
        number = int(tracks.number[one.person])
        replays.append(_replay(follower, one, number, index, rules.decides_s))
    return ReplayedBraking(events=judged.events, needless=tuple(replays))


def _replay(
    follower: Follower, one: JudgedBraking, number: int, index: int, within_s: float
) -> BrakingReplay:
    people = follower.people
    rows = np.flatnonzero(people.actor == number)
    because: bool | None = None
    if len(rows) and people.is_planning(index)[rows[0]]:
        because = differs(follower, int(rows[0]), within_s)
    return BrakingReplay(
        tick=int(people.tracks.tick[index]),
        person=number,
        changed_mind=bool(one.changed_mind),
        because=because,
    )


def differs(follower: Follower, row: int, within_s: float) -> bool:
    """Return whether a person who wants to cross decides differently before an unbraked ego."""
    people, first = follower.people, follower.tick
    steps = min(round(within_s / people.delta_s), len(people.tracks.tick) - 1 - first)
    if steps < 1:
        return False
    keys = np.array([people.noise_key], np.int64)
    ego = people.tracks.ego
    moved = unbraked(people, first, steps)
    braked = go_on(follower, keys, steps).decision[:, 0, row]
    free = go_on(follower, keys, steps, {ego: moved}).decision[:, 0, row]
    wanted = (braked == PersonDecision.WANTS) | (free == PersonDecision.WANTS)
    return bool(wanted.any() and (braked != free).any())


def unbraked(people: RecordedPeople, first: int, steps: int) -> FloatArray:
    """Return poses (steps, columns) of an ego that keeps its speed along the way it drove later.

    Past the end of that way it goes straight on.
    """
    recorded = people.tracks.pose[people.tracks.ego]
    pose = np.array(recorded[first : first + steps])
    speed = float(np.hypot(recorded[first, VX], recorded[first, VY]))
    later = recorded[first:, [X, Y]]
    keep = np.concatenate([[True], np.hypot(*np.diff(later, axis=0).T) > _LEAST_STEP_M])
    way = later[keep]
    heading = recorded[first, [COS, SIN]]
    if len(way) > 1:
        heading = (way[-1] - way[-2]) / np.hypot(*(way[-1] - way[-2]))
    far = way[-1] + heading * max(speed * steps * people.delta_s, 1.0)
    way = np.concatenate([way, far[None]])
    lengths = arc_lengths(way)
    along = speed * people.delta_s * np.arange(steps)
    for column, axis in ((X, 0), (Y, 1)):
        pose[:, column] = np.interp(along, lengths, way[:, axis])
    piece = np.clip(np.searchsorted(lengths, along, "right") - 1, 0, len(way) - 2)
    course = np.diff(way, axis=0)[piece]
    course /= np.hypot(*course.T)[:, None]
    pose[:, [COS, SIN]] = course
    pose[:, [VX, VY]] = speed * course
    return pose
