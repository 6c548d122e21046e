"""Red lights and stop signs passed by the ego, by where its front was. Simple and our own.

Red light: the front crosses the stop line of its own lane while the light is red, and goes on well
past it in the same red. Stop sign: the front crosses the line without the ego having stood near it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from jaywalk.metrics.safety.stop_lines import (
    RED,
    StopLine,
    light_lines,
    light_states,
    sign_lines,
)
from jaywalk.metrics.safety.tracks import COS, HX, SIN, Bools, Floats, Ints, Tracks, X, Y
from jaywalk.record import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalRules:
    """Limits.

    Attributes:
        aligned_deg: The ego must head along the lane within this angle.
        overshoot_m: Stopping with the front no farther than this past the line of a red light is
            forgiven: stop points are waypoints, not paint.
        standing_mps: Slower counts as having stopped at a sign.
        before_m: The stop must happen with the front within this distance before the line ...
        after_m: ... or this far past it.
    """

    aligned_deg: float = 60.0
    overshoot_m: float = 2.0
    standing_mps: float = 0.1
    before_m: float = 6.0
    after_m: float = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalViolation:
    """A light or sign that was not obeyed."""

    actor: int
    tick: int
    time_s: float
    x_m: float
    y_m: float
    speed_mps: float
    message: str


def find_red_lights(
    record: Record, tracks: Tracks, rules: SignalRules | None = None
) -> list[SignalViolation]:
    """Red lights run, in order of time; each light at most once per red."""
    rules = rules or SignalRules()
    states = light_states(record, tracks)
    found: dict[tuple[int, int], SignalViolation] = {}
    for line in light_lines(record):
        state = states.get(line.actor)
        if state is None:
            continue
        ahead_m, on_lane = front_past(tracks, line, rules.aligned_deg)
        for step in _crossings(ahead_m, on_lane):
            # Red before and after the step: what changed within it is not held against anybody.
            if state[step - 1] != RED or state[step] != RED:
                continue
            end = _last_of_run(state, step)
            gone_m = ahead_m[step : end + 1]
            if gone_m.max() <= rules.overshoot_m:
                continue
            said = _violation(tracks, line, step, "Ran red light")
            found.setdefault((line.actor, end), said)
    return sorted(found.values(), key=lambda one: (one.tick, one.actor))


def find_stop_violations(
    record: Record, tracks: Tracks, rules: SignalRules | None = None
) -> list[SignalViolation]:
    """Stop signs passed without standing, in order of time."""
    rules = rules or SignalRules()
    speed = tracks.speed_mps(tracks.ego)
    found = []
    for line in sign_lines(record):
        ahead_m, on_lane = front_past(tracks, line, rules.aligned_deg)
        near = (ahead_m >= -rules.before_m) & (ahead_m <= rules.after_m)
        for step in _crossings(ahead_m, on_lane):
            low, high = step, step
            while low > 0 and near[low - 1]:
                low -= 1
            while high < len(near) - 1 and near[high + 1]:
                high += 1
            if speed[low : high + 1].min() >= rules.standing_mps:
                found.append(_violation(tracks, line, step, "Did not stop at stop sign"))
    return sorted(found, key=lambda one: (one.tick, one.actor))


def front_past(tracks: Tracks, line: StopLine, aligned_deg: float) -> tuple[Floats, Bools]:
    """How far the ego's front is past a line (n,), and whether it is on that lane, along it."""
    pose = tracks.ego_pose
    half_m = tracks.shape[tracks.ego, HX]
    dx = pose[:, X] + half_m * pose[:, COS] - line.x_m
    dy = pose[:, Y] + half_m * pose[:, SIN] - line.y_m
    ahead = dx * line.cos + dy * line.sin
    aside = -dx * line.sin + dy * line.cos
    aligned = pose[:, COS] * line.cos + pose[:, SIN] * line.sin > math.cos(
        math.radians(aligned_deg)
    )
    return ahead, aligned & (np.abs(aside) <= line.half_width_m) & tracks.present[tracks.ego]


def _crossings(ahead_m: Floats, on_lane: Bools) -> list[int]:
    """Ticks at which the front is past the line for the first time, having come over it."""
    passed = (ahead_m[:-1] <= 0.0) & (ahead_m[1:] > 0.0) & on_lane[:-1] & on_lane[1:]
    return [int(step) + 1 for step in np.flatnonzero(passed)]


def _last_of_run(state: Ints, step: int) -> int:
    changed = np.flatnonzero(state[step:] != state[step])
    return step + int(changed[0]) - 1 if len(changed) else len(state) - 1


def _violation(tracks: Tracks, line: StopLine, step: int, words: str) -> SignalViolation:
    speed = float(tracks.speed_mps(tracks.ego)[step])
    return SignalViolation(
        actor=line.actor, tick=int(tracks.tick[step]), time_s=float(tracks.time_s[step]),
        x_m=line.x_m, y_m=line.y_m, speed_mps=speed,
        message=f"{words} {line.actor} at {speed:.1f} m/s",
    )  # fmt: skip
