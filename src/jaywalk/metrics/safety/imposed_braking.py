"""Hard braking that the ego imposed on other vehicles by crossing or cutting in.

A vehicle brakes hard; had it gone on as it did at the onset, it would have run into the ego; nobody
else was in its way sooner; and the ego had not been ahead of it for long (that would be following).
People are left out: simulated people stop within a tick, which is no braking.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jaywalk.geometry.encroachment import later_use, overlap_m
from jaywalk.metrics.safety.encounters import go_on
from jaywalk.metrics.safety.tracks import COS, POSE_COLUMNS, SIN, TURN, VX, VY, Floats, Tracks

# pose columns X, Y, Z, COS, SIN are what overlap_m reads
_WINDOW_S = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ImposedBrakingRules:
    """What counts as imposed.

    Attributes:
        braking_mps2: Harder braking than this is imposed. Hard for drivers, below what tyres give.
        over_s: Braking is the loss of speed over this time, so that a one-tick spike is none.
        onset_mps2: The manoeuvre begins where braking first exceeded this.
        look_s: How long the vehicle is imagined to go on.
        ahead_s: An ego that was ahead on the same way for longer is a leader.
        same_way_deg: Directions closer than this are the same way.
    """

    braking_mps2: float = 6.0
    over_s: float = 0.3
    onset_mps2: float = 2.0
    look_s: float = 4.0
    ahead_s: float = 3.0
    same_way_deg: float = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ImposedBraking:
    """One vehicle that had to brake hard for the ego."""

    other: int
    tick_at: int
    braking_mps2: float
    x_m: float
    y_m: float


def find_imposed_braking(
    tracks: Tracks, rules: ImposedBrakingRules | None = None
) -> list[ImposedBraking]:
    """Hard braking of others for which the ego is the cause, one per vehicle and manoeuvre."""
    rules = rules or ImposedBrakingRules()
    found = []
    for other in tracks.others:
        if tracks.kind[other] != "vehicle" or not tracks.present[other].any():
            continue
        braking = braking_mps2(tracks, other, rules.over_s)
        hard = np.flatnonzero(braking > rules.braking_mps2)
        last_end = -1
        for tick_at in hard.tolist():
            if tick_at <= last_end:
                continue
            onset, end = _manoeuvre(braking, tick_at, rules.onset_mps2)
            last_end = end
            if _is_cause(tracks, other, onset, rules):
                peak = onset + int(np.argmax(braking[onset : end + 1]))
                x, y = tracks.pose[other, peak, :2]
                found.append(
                    ImposedBraking(
                        other=other, tick_at=peak, braking_mps2=float(braking[peak]),
                        x_m=float(x), y_m=float(y),
                    )
                )  # fmt: skip
    return found


def braking_mps2(tracks: Tracks, body: int, over_s: float) -> Floats:
    """(n,) loss of forward speed over the last ``over_s``; 0 where it did not exist so long."""
    pose = tracks.pose[body]
    forward = pose[:, VX] * pose[:, COS] + pose[:, VY] * pose[:, SIN]
    before = np.searchsorted(tracks.time_s, tracks.time_s - over_s - 1e-6)
    span_s = tracks.time_s - tracks.time_s[before]
    usable = (span_s > 0.5 * over_s) & tracks.present[body] & tracks.present[body][before]
    # Braking of somebody who rolls backwards is no concern here.
    loss = np.where(forward[before] > 0.0, forward[before] - np.maximum(forward, 0.0), 0.0)
    return np.where(usable, loss / np.where(usable, span_s, 1.0), 0.0)


def _manoeuvre(braking: Floats, tick_at: int, onset_mps2: float) -> tuple[int, int]:
    """First and last tick of the braking around a tick."""
    below = np.flatnonzero(braking < onset_mps2)
    before, after = below[below < tick_at], below[below > tick_at]
    onset = int(before[-1]) if len(before) else 0
    end = int(after[0]) - 1 if len(after) else len(braking) - 1
    return onset, end


def _is_cause(tracks: Tracks, other: int, onset: int, rules: ImposedBrakingRules) -> bool:
    # Braking is measured backwards over a span: the true onset lies up to a span earlier.
    start_s = tracks.time_s[onset] - rules.over_s
    start = int(np.searchsorted(tracks.time_s, start_s - 1e-9))
    until = int(np.searchsorted(tracks.time_s, tracks.time_s[start] + rules.look_s, "right"))
    imagined = _go_on_track(tracks, other, start, until)
    hit = _first_overlap(tracks, other, tracks.ego, imagined, start)
    if hit < 0:
        return False
    for body in tracks.others:
        if body != other:
            sooner = _first_overlap(tracks, other, body, imagined, start)
            if 0 <= sooner <= hit:
                return False
    return not _was_leader(tracks, other, start, rules)


def _go_on_track(tracks: Tracks, other: int, start: int, until: int) -> Floats:
    """Poses the vehicle would have had, had it not braked, from ``start`` on."""
    pose = tracks.pose[other, start]
    after_s = tracks.time_s[start:until] - tracks.time_s[start]
    out = np.zeros((until - start, POSE_COLUMNS))
    out[:, :2] = go_on(pose, float(pose[TURN]), 0.0, after_s)
    out[:, 2] = pose[2]
    angle = np.arctan2(pose[SIN], pose[COS]) + pose[TURN] * after_s
    out[:, COS], out[:, SIN] = np.cos(angle), np.sin(angle)
    return out


def _first_overlap(tracks: Tracks, other: int, body: int, imagined: Floats, start: int) -> int:
    """First step at which the imagined vehicle would have run into a body; -1 for never."""
    stretch = slice(start, start + len(imagined))
    there = tracks.pose[body, stretch]
    reach = float(np.hypot(*tracks.shape[body, :2]) + np.hypot(*tracks.shape[other, :2]))
    near = tracks.present[body, stretch] & (np.hypot(*(there[:, :2] - imagined[:, :2]).T) < reach)
    for step in np.flatnonzero(near).tolist():
        if overlap_m(imagined[step], tracks.shape[other], there[step], tracks.shape[body]) > 0.0:
            return int(step)
    return -1


def _was_leader(tracks: Tracks, other: int, start: int, rules: ImposedBrakingRules) -> bool:
    """Whether the vehicle followed the ego's ground the same way already some time before."""
    ego = tracks.ego
    at = int(np.searchsorted(tracks.time_s, tracks.time_s[start] - rules.ahead_s))
    if tracks.time_s[start] - tracks.time_s[0] < rules.ahead_s:
        at = 0
    low, high = max(at - 10, 0), max(start, 1)
    gap_s, after = later_use(
        tracks.time_s[low:], tracks.pose[ego, low:], tracks.shape[ego], tracks.present[ego, low:],
        tracks.pose[other, low:], tracks.shape[other], tracks.present[other, low:], _WINDOW_S,
    )  # fmt: skip
    behind = np.flatnonzero(np.isfinite(gap_s[: high - low]))
    if not len(behind) or behind[0] + low > at + 2:
        return False
    i = int(behind[0])
    k = int(after[i])
    mine, theirs = tracks.pose[ego, low + i], tracks.pose[other, low + k]
    dot = mine[COS] * theirs[COS] + mine[SIN] * theirs[SIN]
    return bool(dot > np.cos(np.radians(rules.same_way_deg)))
