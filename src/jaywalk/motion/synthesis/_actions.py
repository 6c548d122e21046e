"""Actions of everyday people in captures: waiting, stopping, starting, stepping back, evading.

Actions are cut out by what the body does; CMU's descriptions only say which captures show sports,
dances and animals, which are excluded, and which show conversations.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from pathlib import Path
from typing import Final

import numpy as np
from scipy.ndimage import gaussian_filter1d

from jaywalk.core.arrays import BoolArray
from jaywalk.core.errors import DataError
from jaywalk.core.files import read_bytes
from jaywalk.geometry.rotation import rotate
from jaywalk.motion.clip import Clip
from jaywalk.motion.foot_lock import runs_of
from jaywalk.motion.heading import heading_rad, yaw_matrix_2d
from jaywalk.motion.smpl import SPINE3

_LARGEST_BYTES: Final = 4_000_000
_LINE: Final = re.compile(r"^(\d+_\d+)[\s,]+(.*)$")


class ActionKind(StrEnum):
    """Action of a person; the value is a word in the names of clips."""

    WAIT = "wait"
    CONVERSE = "converse"
    CARRY = "carry"
    STOP = "stop"
    START = "start"
    STEP_BACK = "backstep"
    TURN_BACK = "turnaway"
    EVADE = "evade"


#: Activities that are out of place at a kerb.
_EXCLUDED: Final = re.compile(
    r"danc|salsa|jet|pirouette|punch|kick|box(?!es|\b)|attack|jump|hop|march|ball|defensive|"
    r"offensive|grs|feint|drive|bear|squirrel|snake|chop|drum|golf|tee|swing|climb|acrobat|flip|"
    r"roll|nursery|mummy|macho|chicken|dinosaur|cat |drunk|crawl|laying|get up|sits?\b|stool|pulls|"
    r"raking|nail|duck to|flamingo|stretch|squat|airplane|hang|lbs|ledge|gun|mickey|range of",
    re.IGNORECASE,
)
_TALK: Final = re.compile(
    r"convers|talk|story|quarrel|explain|teach|argu|direction|phone|stares|greet|shrug|laugh",
    re.IGNORECASE,
)
_CARRYING: Final = re.compile(
    r"carry|suitcase|\bbox\b|pick up (tool ?)?box|laundry|carry back|object|broom", re.IGNORECASE
)
_EVADING: Final = re.compile(
    r"evasi|avoid|sidestep|large steps backward|backwards off|defensive|duck|scared|jump|stumble|"
    r"shelter",
    re.IGNORECASE,
)
_SMOOTH_S: Final = 0.15
_UPRIGHT: Final = float(np.cos(np.deg2rad(18.0)))
_EDGE_S: Final = 0.35  # people begin to walk before their pelvis does
_LONGEST_STAY_S: Final = 6.5
_SHORTEST_STAY_S: Final = 2.4


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """An action in a capture.

    Attributes:
        kind: What it is.
        motion: The capture.
        first: First frame.
        end: Frame after the last.
    """

    kind: ActionKind
    motion: Clip
    first: int
    end: int


def read_descriptions(path: Path) -> dict[str, str]:
    """Descriptions by sequence, from CMU's ``index.txt`` or a CSV ``sequence,description``.

    Raises:
        DataError: It holds no descriptions.
    """
    text = read_bytes(path, "descriptions of CMU's sequences", _LARGEST_BYTES).decode(
        "utf-8", errors="replace"
    )
    lines = text.splitlines()
    if path.suffix == ".csv":
        found = {row[0]: row[1] for row in csv.reader(lines) if len(row) > 1 and "_" in row[0]}
    else:
        matches = [_LINE.match(line) for line in lines]
        found = {match[1]: match[2].strip() for match in matches if match}
    if not found:
        raise DataError(f"{path}: no line like '35_01  walk' or '35_01,walk'")
    return found


def find_actions(motions: Iterable[Clip], descriptions: Mapping[str, str]) -> list[Action]:
    """All actions in captures at 60 Hz on the body of scale 1, in order."""
    return [
        action
        for motion in motions
        for action in _of_one(motion, descriptions.get(motion.name, ""))
    ]


class _Course:
    """How a capture moves over the ground."""

    def __init__(self, motion: Clip) -> None:
        rate = motion.rate_hz
        ground = gaussian_filter1d(
            motion.root_m[:, [0, 2]], _SMOOTH_S * rate, axis=0, mode="nearest"
        )
        self.rate = rate
        self.ground = ground
        self.yaw = heading_rad(motion, smooth_s=0.25)
        velocity = np.gradient(ground, axis=0) * rate
        self.speed = np.linalg.norm(velocity, axis=1)
        local = np.einsum("tji,tj->ti", yaw_matrix_2d(self.yaw), velocity)
        self.left, self.forward = local[:, 0], local[:, 1]
        self.joints = motion.joints_m()
        up = rotate(motion.turned()[:, SPINE3], np.array([0.0, 1.0, 0.0]))[:, 1]
        pelvis = motion.root_m[:, 1]
        self.upright: BoolArray = np.asarray((up > np.cos(np.deg2rad(35.0))) & (pelvis > 0.72))
        self.up = up

    def moved_m(self, first: int, end: int) -> float:
        return float(np.linalg.norm(self.ground[end - 1] - self.ground[first]))

    def ahead_m(self, first: int, end: int) -> float:
        """Way made in the first heading."""
        yaw = self.yaw[first]
        step = self.ground[end - 1] - self.ground[first]
        return float(step @ np.array([np.sin(yaw), np.cos(yaw)]))


def _of_one(motion: Clip, text: str) -> Iterator[Action]:
    if len(motion.root_m) < 2.0 * motion.rate_hz:
        return
    course = _Course(motion)
    excluded = bool(_EXCLUDED.search(text))
    cuts: list[tuple[ActionKind, int, int]] = []
    if not excluded or _TALK.search(text):
        kind = ActionKind.CONVERSE if _TALK.search(text) else ActionKind.WAIT
        cuts += [(kind, a, b) for a, b in _stays(course)]
    if _CARRYING.search(text):
        cuts += [(ActionKind.CARRY, a, b) for a, b in _walks(course)]
    if not excluded or "run" in text.lower():
        cuts += [(ActionKind.STOP, a, b) for a, b in _stops(course)]
        cuts += [(ActionKind.START, a, b) for a, b in _starts(course)]
    if not excluded:
        cuts += [(ActionKind.STEP_BACK, a, b) for a, b in _back_steps(course, text)]
        cuts += [(ActionKind.TURN_BACK, a, b) for a, b in _turns(course)]
    if _EVADING.search(text):
        cuts += [(ActionKind.EVADE, a, b) for a, b in _evasions(course)]
    for kind, first, end in cuts:
        if course.upright[first:end].all():
            yield Action(kind=kind, motion=motion, first=first, end=end)


def _stays(course: _Course) -> Iterator[tuple[int, int]]:
    """Stretches on the spot, in everyday postures and calm."""
    for first, end in runs_of(np.asarray(course.speed < 0.45)):
        first, end = first + round(_EDGE_S * course.rate), end - round(_EDGE_S * course.rate)
        seconds = (end - first) / course.rate
        pieces = int(max(1, np.ceil(seconds / _LONGEST_STAY_S)))
        marks = np.linspace(first, end, pieces + 1).astype(int).tolist()
        for a, b in pairwise(marks):
            if b - a >= _SHORTEST_STAY_S * course.rate and _is_everyday(course, a, b):
                yield a, b


def _is_everyday(course: _Course, a: int, b: int) -> bool:
    away = np.linalg.norm(course.ground[a:b] - course.ground[a:b].mean(axis=0), axis=1).max()
    joints = course.joints[a:b]
    wrists = (joints[:, [20, 21], 1] - joints[:, [16, 17], 1]).max(axis=1)
    speed = np.linalg.norm(np.gradient(joints, axis=0), axis=-1) * course.rate
    return bool(
        away < 0.45
        and abs(course.yaw[b - 1] - course.yaw[a]) < 0.7
        and np.median(course.up[a:b]) > _UPRIGHT
        and np.median(wrists) < 0.10
        and speed.mean() < 0.55
        and np.percentile(speed, 99.0) < 3.2
    )


def _walks(course: _Course) -> Iterator[tuple[int, int]]:
    """Stretches of walking ahead."""
    walking = (course.speed > 0.5) & (course.forward > 0.4)
    for first, end in runs_of(np.asarray(walking)):
        longest = round(5.0 * course.rate)
        for a in range(first, end, longest):
            b = min(a + longest, end)
            if b - a > 2.2 * course.rate and abs(course.yaw[b - 1] - course.yaw[a]) < 0.6:
                yield a, b


def _stops(course: _Course) -> Iterator[tuple[int, int]]:
    """From walking or running ahead to standing."""
    still = course.speed < 0.25
    for first, end in runs_of(np.asarray(still)):
        before = first - round(1.6 * course.rate)
        after = min(end, first + round(1.4 * course.rate))
        fast = course.forward[max(before, 0) : max(first - round(0.7 * course.rate), 1)]
        if before < 0 or after - first < 0.35 * course.rate or fast.min() < 0.5:
            continue
        if abs(course.yaw[after - 1] - course.yaw[before]) < 0.6:
            yield before, after


def _starts(course: _Course) -> Iterator[tuple[int, int]]:
    """From standing to walking or running ahead."""
    still = course.speed < 0.15
    for first, end in runs_of(np.asarray(still)):
        before = max(first, end - round(0.9 * course.rate))
        after = end + round(1.8 * course.rate)
        if after > len(course.speed) or end - before < 0.4 * course.rate:
            continue
        fast = course.forward[end + round(0.9 * course.rate) : after]
        if fast.min() > 0.55 and abs(course.yaw[after - 1] - course.yaw[before]) < 0.6:
            yield before, after


def _back_steps(course: _Course, text: str) -> Iterator[tuple[int, int]]:
    """One or two steps back; long walks backward are cut into pieces of two steps."""
    if re.search(r"crouch|bent|large|ledge|attack|punch|toes", text, re.IGNORECASE):
        return
    back = course.forward < -0.22
    for first, end in runs_of(np.asarray(back)):
        if not 0.35 * course.rate <= end - first:
            continue
        margin = round(0.35 * course.rate)
        pieces = max(1, round((end - first) / (1.7 * course.rate)))
        marks = np.linspace(first, end, pieces + 1).astype(int).tolist()
        for a, b in pairwise(marks):
            a, b = max(a - margin, 0), min(b + margin, len(course.speed))
            ahead, turn = course.ahead_m(a, b), abs(course.yaw[b - 1] - course.yaw[a])
            if -1.6 < ahead < -0.2 and turn < 0.6 and b - a > 1.0 * course.rate:
                yield a, b


def _turns(course: _Course) -> Iterator[tuple[int, int]]:
    """Turns of 100 to 200 degrees near the spot."""
    rate = np.gradient(course.yaw) * course.rate
    for first, end in runs_of(np.asarray(np.abs(rate) > 0.5)):
        turn = abs(course.yaw[end - 1] - course.yaw[first])
        margin = round(0.4 * course.rate)
        a, b = max(first - margin, 0), min(end + margin, len(course.speed))
        half = np.deg2rad(100.0) < turn < np.deg2rad(215.0)
        if half and b - a < 3.6 * course.rate and course.moved_m(a, b) < 0.85:
            yield a, b


def _evasions(course: _Course) -> Iterator[tuple[int, int]]:
    """Quick moves aside or back."""
    quick = (np.abs(course.left) > 0.4) | (course.forward < -0.45)
    for first, end in runs_of(np.asarray(quick)):
        if not 0.2 * course.rate <= end - first <= 2.0 * course.rate:
            continue
        margin = round(0.5 * course.rate)
        a, b = max(first - margin, 0), min(end + margin, len(course.speed))
        if 0.25 < course.moved_m(a, b) < 2.0 and abs(course.yaw[b - 1] - course.yaw[a]) < 1.2:
            yield a, b
