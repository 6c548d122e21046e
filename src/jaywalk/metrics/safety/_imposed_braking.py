"""Hard braking that the ego imposed on other vehicles by crossing or cutting in.

The ego imposed the hard braking of a vehicle if all of these hold: with its motion at the onset,
the vehicle would have run into the ego; no other actor was in its path sooner; no light or sign
stopped it; it had been driving steadily for some time; and the ego had not been ahead of it for
long (that would be following). People are left out: simulated people stop within a tick, which is
not braking.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jaywalk.core.arrays import FloatArray
from jaywalk.geometry.encroachment import overlap_m
from jaywalk.metrics.safety._encounters import go_on
from jaywalk.metrics.safety._signals import StopControls
from jaywalk.record.tracks import COS, HX, POSE_COLUMNS, SIN, TURN, VX, VY, EpisodeTracks, X, Y


@dataclass(frozen=True, slots=True, kw_only=True)
class ImposedBrakingRules:
    """Thresholds of imposed braking.

    Attributes:
        braking_mps2: Harder braking is imposed. It is hard for drivers and below the tyre limit.
        over_s: Braking is the loss of speed over this time, so that a one-tick spike is ignored.
        onset_mps2: The manoeuvre begins where braking first exceeded this.
        look_s: Time over which the motion of the vehicle is extrapolated.
        ahead_s: An ego that was ahead in the same direction for longer is a leader; a vehicle that
            set off, or turned into its direction, within this time entered the ego's path itself.
        same_way_deg: Directions closer than this are the same.
        standing_mps: An ego slower than this was standing.
        set_off_mps: A vehicle that was slower than this has set off.
        line_m: Distance past a stop line, and beyond the stopping distance, at which a vehicle may
            still stop for the line.
    """

    braking_mps2: float = 6.0
    over_s: float = 0.3
    onset_mps2: float = 2.0
    look_s: float = 4.0
    ahead_s: float = 3.0
    same_way_deg: float = 30.0
    standing_mps: float = 0.5
    set_off_mps: float = 1.0
    line_m: float = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ImposedBraking:
    """One vehicle that had to brake hard for the ego."""

    other: int
    tick_at: int
    braking_mps2: float
    x_m: float
    y_m: float


def find_imposed_braking(
    tracks: EpisodeTracks,
    rules: ImposedBrakingRules | None = None,
    controls: StopControls | None = None,
) -> list[ImposedBraking]:
    """Hard braking of others for which the ego is the cause, one per vehicle and manoeuvre.

    Args:
        tracks: The episode.
        rules: Limits.
        controls: Lights and signs; a vehicle that had to stop at one was not forced by the ego.
    """
    rules = rules or ImposedBrakingRules()
    brakings = []
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
            if _is_cause(tracks, other, onset, rules, controls):
                peak = onset + int(np.argmax(braking[onset : end + 1]))
                x, y = tracks.pose[other, peak, :2]
                brakings.append(
                    ImposedBraking(
                        other=other,
                        tick_at=peak,
                        braking_mps2=float(braking[peak]),
                        x_m=float(x),
                        y_m=float(y),
                    )
                )
    return brakings


def braking_mps2(tracks: EpisodeTracks, body: int, over_s: float) -> FloatArray:
    """Compute the loss of forward speed over the last ``over_s``, (n,); 0 for newer bodies."""
    pose = tracks.pose[body]
    forward = pose[:, VX] * pose[:, COS] + pose[:, VY] * pose[:, SIN]
    before = np.searchsorted(tracks.time_s, tracks.time_s - over_s - 1e-6)
    span_s = tracks.time_s - tracks.time_s[before]
    usable = (span_s > 0.5 * over_s) & tracks.present[body] & tracks.present[body][before]
    # Braking of a vehicle that rolls backwards is ignored.
    loss = np.where(forward[before] > 0.0, forward[before] - np.maximum(forward, 0.0), 0.0)
    return np.where(usable, loss / np.where(usable, span_s, 1.0), 0.0)


def _manoeuvre(braking: FloatArray, tick_at: int, onset_mps2: float) -> tuple[int, int]:
    """First and last tick of the braking around a tick."""
    below = np.flatnonzero(braking < onset_mps2)
    before, after = below[below < tick_at], below[below > tick_at]
    onset = int(before[-1]) if len(before) else 0
    end = int(after[0]) - 1 if len(after) else len(braking) - 1
    return onset, end


def _is_cause(
    tracks: EpisodeTracks,
    other: int,
    onset: int,
    rules: ImposedBrakingRules,
    controls: StopControls | None,
) -> bool:
    # Braking is measured backwards over a span: the true onset lies up to a span earlier.
    start_s = tracks.time_s[onset] - rules.over_s
    start = int(np.searchsorted(tracks.time_s, start_s - 1e-9))
    until = int(np.searchsorted(tracks.time_s, tracks.time_s[start] + rules.look_s, "right"))
    if controls is not None and _must_stop(tracks, other, start, controls, rules):
        return False
    imagined = _go_on_track(tracks, other, start, until)
    hit = _first_overlap(tracks, other, tracks.ego, imagined, start)
    if hit < 0:
        return False
    for body in tracks.others:
        if body != other:
            sooner = _first_overlap(tracks, other, body, imagined, start)
            if 0 <= sooner <= hit:
                return False
    return _was_settled(tracks, other, start, rules) and not _was_ahead(
        tracks, other, start, imagined, rules
    )


def _go_on_track(tracks: EpisodeTracks, other: int, start: int, until: int) -> FloatArray:
    """Return the poses of the vehicle from ``start`` on as if it had not braked."""
    pose = tracks.pose[other, start]
    after_s = tracks.time_s[start:until] - tracks.time_s[start]
    out = np.zeros((until - start, POSE_COLUMNS))
    out[:, :2] = go_on(pose, float(pose[TURN]), 0.0, after_s)
    out[:, 2] = pose[2]
    angle = np.arctan2(pose[SIN], pose[COS]) + pose[TURN] * after_s
    out[:, COS], out[:, SIN] = np.cos(angle), np.sin(angle)
    return out


def _reach_m(tracks: EpisodeTracks, one: int, two: int) -> float:
    return float(np.hypot(*tracks.shape[one, :2]) + np.hypot(*tracks.shape[two, :2]))


def _first_overlap(
    tracks: EpisodeTracks, other: int, body: int, imagined: FloatArray, start: int
) -> int:
    """First step at which the imagined vehicle would have run into a body; -1 for never."""
    stretch = slice(start, start + len(imagined))
    there = tracks.pose[body, stretch]
    reach = _reach_m(tracks, other, body)
    away = there[:, :2] - imagined[:, :2]
    ahead = away[:, 0] * imagined[:, COS] + away[:, 1] * imagined[:, SIN] > 0.0
    near = tracks.present[body, stretch] & (np.hypot(away[:, 0], away[:, 1]) < reach)
    for step in np.flatnonzero(near).tolist():
        if overlap_m(imagined[step], tracks.shape[other], there[step], tracks.shape[body]) > 0.0:
            # A body that would have run into it from behind is not a reason to brake.
            return int(step) if ahead[step] else -1
    return -1


def _was_settled(tracks: EpisodeTracks, other: int, start: int, rules: ImposedBrakingRules) -> bool:
    """Return whether the vehicle had driven steadily for some time, without start or turn.

    If the ego turned more than the vehicle did, the ego is the one that turned in.
    """
    at = int(np.searchsorted(tracks.time_s, tracks.time_s[start] - rules.ahead_s - 1e-9))
    if not tracks.present[other, at]:
        return False
    if tracks.speed_mps(other)[at : start + 1].min() < rules.set_off_mps:
        return False
    turned = _turned_rad(tracks.pose[other, [at, start]])
    limit = np.radians(rules.same_way_deg)
    return turned < limit or turned < _turned_rad(tracks.pose[tracks.ego, [at, start]])


def _turned_rad(pose: FloatArray) -> float:
    dot = pose[0, COS] * pose[1, COS] + pose[0, SIN] * pose[1, SIN]
    return float(np.arccos(np.clip(dot, -1.0, 1.0)))


def _was_ahead(
    tracks: EpisodeTracks, other: int, start: int, imagined: FloatArray, rules: ImposedBrakingRules
) -> bool:
    """Return whether the ego had been on the vehicle's path for some time, in the same direction.

    An ego that stood there counts as well: the vehicle had time to see it.
    """
    at = int(np.searchsorted(tracks.time_s, tracks.time_s[start] - rules.ahead_s - 1e-9))
    ego = tracks.pose[tracks.ego, at]
    theirs = tracks.pose[other, at]
    dot = ego[COS] * theirs[COS] + ego[SIN] * theirs[SIN]
    stood = float(np.hypot(ego[VX], ego[VY])) < rules.standing_mps
    if not stood and dot < np.cos(np.radians(rules.same_way_deg)):
        return False
    way = np.vstack([tracks.pose[other, at:start], imagined])
    near = np.hypot(*(way[:, :2] - ego[:2]).T) < _reach_m(tracks, other, tracks.ego)
    return any(
        overlap_m(way[step], tracks.shape[other], ego, tracks.shape[tracks.ego]) > 0.0
        for step in np.flatnonzero(near).tolist()
    )


def _must_stop(
    tracks: EpisodeTracks,
    other: int,
    start: int,
    controls: StopControls,
    rules: ImposedBrakingRules,
) -> bool:
    """Return whether a light that is not green, a stop sign or a yield sign stops the vehicle."""
    pose, speed = tracks.pose[other, start], float(tracks.speed_mps(other)[start])
    half_m = float(tracks.shape[other, HX])
    far_m = speed**2 / (2.0 * rules.onset_mps2) + rules.line_m
    for line in controls.stopping(start):
        dx, dy = line.x_m - pose[X], line.y_m - pose[Y]
        ahead = dx * pose[COS] + dy * pose[SIN] - half_m
        aside = abs(-dx * pose[SIN] + dy * pose[COS])
        along = line.cos * pose[COS] + line.sin * pose[SIN] > 0.5
        if along and -rules.line_m <= ahead <= far_m and aside <= line.half_width_m:
            return True
    return False
