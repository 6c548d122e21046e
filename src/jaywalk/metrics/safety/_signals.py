"""Red lights and stop signs passed by the ego, with stop lines and states of lights over time.

The rules are Jaywalk's and use the position of the ego's front. Red light: the front crosses the
stop line of its lane while the light is red, and moves well past it in the same red phase. Stop
sign: the front crosses the line and the ego has not stood near it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from jaywalk.core.arrays import BoolArray, FloatArray, IntArray
from jaywalk.core.carla_enums import LightState
from jaywalk.metrics.spec import MetricInput, count
from jaywalk.record import Record
from jaywalk.record import columns as c
from jaywalk.record.queries import TRAFFIC_LIGHT, landmark_rows
from jaywalk.record.tracks import COS, HX, SIN, EpisodeTracks, X, Y, light_states

RED: Final = int(LightState.RED)
YELLOW: Final = int(LightState.YELLOW)
_LEAST_HALF_M: Final = 1.0  # some sign boxes are thin; no lane is narrower than this


@dataclass(frozen=True, slots=True, kw_only=True)
class StopLine:
    """A line across one lane.

    Attributes:
        actor: The light or sign in the record.
        x_m: Middle of the line.
        y_m: Middle of the line.
        cos: Direction of travel there.
        sin: Direction of travel there.
        half_width_m: Half of the lane.
    """

    actor: int
    x_m: float
    y_m: float
    cos: float
    sin: float
    half_width_m: float


def light_lines(record: Record) -> list[StopLine]:
    """One line per lane that a traffic light stops, from its stop waypoints."""
    rows = landmark_rows(record, TRAFFIC_LIGHT)
    lines = []
    for actor, points in rows.select(c.ACTOR, c.STOP_WAYPOINTS).iter_rows():
        for point in points or ():
            yaw = math.radians(point[c.YAW_DEG])
            lines.append(
                StopLine(
                    actor=actor,
                    x_m=point[c.X_M],
                    y_m=point[c.Y_M],
                    cos=math.cos(yaw),
                    sin=math.sin(yaw),
                    half_width_m=max(point[c.LANE_WIDTH_M] / 2.0, _LEAST_HALF_M),
                )
            )
    return lines


def sign_lines(record: Record, type_ids: tuple[str, ...] = ("traffic.stop",)) -> list[StopLine]:
    """One line per stop sign: across the middle of its trigger volume.

    The volume's x axis runs across the lanes and the lane's direction is 90 degrees left of it
    (yaw of the sign less 90), as CARLA places signs.
    """
    rows = landmark_rows(record, *type_ids)
    lines = []
    for row in rows.iter_rows(named=True):
        if row[c.TRIGGER_X_M] is None:
            continue
        yaw = math.radians(row[c.YAW_DEG])
        cos, sin = math.cos(yaw), math.sin(yaw)
        turned = math.radians(row[c.YAW_DEG] + (row[c.TRIGGER_YAW_DEG] or 0.0) - 90.0)
        lines.append(
            StopLine(
                actor=row[c.ACTOR],
                x_m=row[c.X_M] + row[c.TRIGGER_X_M] * cos - row[c.TRIGGER_Y_M] * sin,
                y_m=row[c.Y_M] + row[c.TRIGGER_X_M] * sin + row[c.TRIGGER_Y_M] * cos,
                cos=math.cos(turned),
                sin=math.sin(turned),
                half_width_m=max(row[c.TRIGGER_HALF_X_M] or 0.0, _LEAST_HALF_M),
            )
        )
    return lines


@dataclass(frozen=True, slots=True, kw_only=True)
class StopControls:
    """All controls that require a vehicle to stop or yield."""

    lights: tuple[StopLine, ...]
    signs: tuple[StopLine, ...]  # stop and yield
    states: dict[int, IntArray]

    def stopping(self, tick_at: int) -> Iterator[StopLine]:
        """Lines at which a vehicle may have to stop at a tick."""
        for line in self.lights:
            state = self.states.get(line.actor)
            if state is not None and state[tick_at] in (RED, YELLOW):
                yield line
        yield from self.signs


def read_stop_controls(record: Record, tracks: EpisodeTracks) -> StopControls:
    """Lights, stop and yield signs of a record."""
    return StopControls(
        lights=tuple(light_lines(record)),
        signs=tuple(sign_lines(record, ("traffic.stop", "traffic.yield"))),
        states=light_states(record, tracks.tick),
    )


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
    record: Record, tracks: EpisodeTracks, rules: SignalRules | None = None
) -> list[SignalViolation]:
    """Red lights run, in order of time; each light at most once per red."""
    rules = rules or SignalRules()
    states = light_states(record, tracks.tick)
    violations: dict[tuple[int, int], SignalViolation] = {}
    for line in light_lines(record):
        state = states.get(line.actor)
        if state is None:
            continue
        ahead_m, on_lane = front_past(tracks, line, rules.aligned_deg)
        for step in _crossings(ahead_m, on_lane):
            # Red before and after the step: a change within the step does not count.
            if state[step - 1] != RED or state[step] != RED:
                continue
            end = _last_of_run(state, step)
            gone_m = ahead_m[step : end + 1]
            if gone_m.max() <= rules.overshoot_m:
                continue
            said = _violation(tracks, line, step, "Ran red light")
            violations.setdefault((line.actor, end), said)
    return sorted(violations.values(), key=lambda one: (one.tick, one.actor))


def find_stop_violations(
    record: Record, tracks: EpisodeTracks, rules: SignalRules | None = None
) -> list[SignalViolation]:
    """Stop signs passed without standing, in order of time."""
    rules = rules or SignalRules()
    speed = tracks.speed_mps(tracks.ego)
    violations = []
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
                violations.append(_violation(tracks, line, step, "Did not stop at stop sign"))
    return sorted(violations, key=lambda one: (one.tick, one.actor))


def front_past(
    tracks: EpisodeTracks, line: StopLine, aligned_deg: float
) -> tuple[FloatArray, BoolArray]:
    """Return distances of the ego's front past a line (m, (n,)) and whether it is on that lane."""
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


def _crossings(ahead_m: FloatArray, on_lane: BoolArray) -> list[int]:
    """Ticks at which the front is past the line for the first time, having come over it."""
    passed = (ahead_m[:-1] <= 0.0) & (ahead_m[1:] > 0.0) & on_lane[:-1] & on_lane[1:]
    return [int(step) + 1 for step in np.flatnonzero(passed)]


def _last_of_run(state: IntArray, step: int) -> int:
    changed = np.flatnonzero(state[step:] != state[step])
    return step + int(changed[0]) - 1 if len(changed) else len(state) - 1


def _violation(tracks: EpisodeTracks, line: StopLine, step: int, words: str) -> SignalViolation:
    speed = float(tracks.speed_mps(tracks.ego)[step])
    return SignalViolation(
        actor=line.actor,
        tick=int(tracks.tick[step]),
        time_s=float(tracks.time_s[step]),
        x_m=line.x_m,
        y_m=line.y_m,
        speed_mps=speed,
        message=f"{words} {line.actor} at {speed:.1f} m/s",
    )


def red_lights_of(episode: MetricInput) -> list[SignalViolation]:
    """Return the red lights run in a scored episode."""
    return find_red_lights(episode.record, episode.tracks, episode.rules_of(SignalRules))


def stops_of(episode: MetricInput) -> list[SignalViolation]:
    """Return the stop signs passed in a scored episode."""
    return find_stop_violations(episode.record, episode.tracks, episode.rules_of(SignalRules))


@count("red_light", label="Red lights run", group="signals")
def _red_light(episode: MetricInput) -> int:
    """Red lights run, each at most once per red."""
    return len(episode.shared(red_lights_of))


@count("stop", label="Stop signs passed", group="signals")
def _stop(episode: MetricInput) -> int:
    """Stop signs passed without standing."""
    return len(episode.shared(stops_of))
