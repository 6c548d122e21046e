"""Junctions on the line: the streams of traffic that cross it, and the right of way.

All data are computed once. For every junction on the line these are the lanes that come nearer than
two car widths, the distance of each upstream lane from that place, and its sign or light.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Final

import carla
import numpy as np
from numpy.typing import NDArray

from jaywalk.agents.driving._lanes import Lanes
from jaywalk.agents.driving.route_line import STEP_M, RouteLine
from jaywalk.agents.driving.signals import Signals
from jaywalk.core.arrays import FloatArray, IntArray
from jaywalk.geometry.angle import wrap_angle
from jaywalk.geometry.pose import yaw_rad

_NEAR_M: Final = 2.3  # centre lines nearer than this cannot be used at once
_UPSTREAM_M: Final = 90.0
_MERGED_M: Final = 7.0  # junctions nearer to each other are one
_SAME_M: Final = 0.8
_LEFT_RAD: Final = -0.6
_SIGN_BEFORE_M: Final = 14.0
_WIDE_M: Final = 3.45  # distance between lanes in which cars turn without touching the next one
_PER_GAP: Final = 5.0
_SWING_M: Final = 2.0
_FROM_THE_SIDE: Final = 0.7  # cosine of the angle between two entries


class Rule(IntEnum):
    """Right of way between the line and a stream."""

    NOTHING = 0  # they give way; only watch them
    FIRST_COME = 1
    GIVE_WAY = 2
    IF_GREEN = 3  # they come from the side: give way while both lights are green


class Control(IntEnum):
    """Control at an entry of a junction."""

    NONE = 0
    YIELD = 1
    STOP = 2
    LIGHT = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """One junction on the line; distances along the line in metres."""

    entry_m: float
    exit_m: float
    hold_m: float  # where the front waits
    edge_m: float  # and for streams that also have green: at the edge, nearer to them
    control: Control
    rule: IntArray  # (s,) of each stream
    from_m: FloatArray  # (s,) where the line meets the stream
    to_m: FloatArray  # (s,) and leaves it
    room_m: FloatArray  # (s,) length of the meeting place on the stream
    merges: NDArray[np.bool_]  # (s,) the stream continues in the line's lane
    turns: NDArray[np.bool_]  # (s,) oncoming cars that turn left across the line
    upstream_m: FloatArray  # (s, n) from a segment's start to the meeting place; inf: not on it
    lights: tuple[Any, ...]  # (s,) the light of each stream; None: it has none
    own_light: Any  # None: the line has none


@dataclass(frozen=True, slots=True, kw_only=True)
class Controls:
    """Lights and signs by lane segment."""

    light: dict[int, Any]
    sign: dict[int, int]


def find_controls(world: Any, lanes: Lanes, near_m: FloatArray) -> Controls:
    """Return the lights and signs near a line, by the segment that they stop."""
    actors = world.get_actors()
    light: dict[int, Any] = {}
    for actor in sorted(actors.filter("traffic.traffic_light"), key=lambda a: a.id):
        if not _close(actor, near_m):
            continue
        for waypoint in actor.get_stop_waypoints():
            pose = waypoint.transform
            xy = np.array([pose.location.x, pose.location.y])
            for point in lanes.candidates(xy, yaw_rad(pose), 1.5):
                light[int(lanes.segment[point])] = actor
    sign: dict[int, int] = {}
    for kind, value in (("traffic.yield", Control.YIELD), ("traffic.stop", Control.STOP)):
        for actor in sorted(actors.filter(kind), key=lambda a: a.id):
            if not _close(actor, near_m):
                continue
            for segment in _signed(actor, lanes):
                sign[segment] = max(sign.get(segment, 0), int(value))
    return Controls(light=light, sign=sign)


def _close(actor: Any, near_m: FloatArray) -> bool:
    place = actor.get_transform().location
    return bool(np.min(np.hypot(near_m[:, 0] - place.x, near_m[:, 1] - place.y)) < 90.0)


def _signed(actor: Any, lanes: Lanes) -> list[int]:
    """Return the segments that enter a junction near a sign's trigger volume."""
    box = actor.trigger_volume
    place = carla.Location(box.location.x, box.location.y, box.location.z)
    actor.get_transform().transform(place)  # in place: the wheel changes its argument
    reach = max(float(box.extent.x), float(box.extent.y), 1.0) + 0.5
    near = lanes.tree.query_ball_point([place.x, place.y], reach)
    signed = set()
    for point in near:
        segment = int(lanes.segment[point])
        left = lanes.length_m(segment) - lanes.along_m[point]
        ends = any(lanes.in_junction[k] for k in lanes.successors[segment])
        if not lanes.in_junction[segment] and ends and left < _SIGN_BEFORE_M:
            signed.add(segment)
    return sorted(signed)


def find_passages(
    line: RouteLine, lanes: Lanes, signals: Signals, controls: Controls
) -> list[Passage]:
    """Return the junctions on the line, in order."""
    return [_passage(line, lanes, signals, controls, first, last) for first, last in _runs(line)]


def _runs(line: RouteLine) -> list[tuple[int, int]]:
    inside = np.flatnonzero(line.in_junction)
    if not len(inside):
        return []
    groups = np.split(inside, np.flatnonzero(np.diff(inside) > int(_MERGED_M / STEP_M)) + 1)
    return [(int(group[0]), int(group[-1])) for group in groups]


def _passage(
    line: RouteLine, lanes: Lanes, signals: Signals, controls: Controls, first: int, last: int
) -> Passage:
    entry = first * STEP_M
    control, hold, own_light = _own_control(line, lanes, signals, controls, first)
    samples = np.arange(max(first - 2, 0), min(last + 4, len(line)), 2)
    streams = []
    left = _turn(line.yaw_rad[samples[0]], line.yaw_rad[samples[-1]]) < _LEFT_RAD
    near = lanes.tree.query_ball_point(line.xy_m[samples], _NEAR_M)
    touched = {int(lanes.segment[point]) for group in near for point in group}
    for segment in sorted(touched):
        if lanes.in_junction[segment]:
            stream = _stream(line, lanes, samples, segment)
            if stream is not None:
                rule = _rule(control, left, line.yaw_rad[samples[0]], lanes, controls, segment)
                turns = _turns_across(lanes.line(segment), line.yaw_rad[samples[0]])
                light = _light_of(lanes, controls, segment)
                streams.append((rule, *stream, upstream_m(lanes, segment, stream[2]), turns, light))
    columns = list(zip(*streams, strict=True)) if streams else [()] * 9
    return Passage(
        entry_m=entry,
        exit_m=last * STEP_M,
        hold_m=hold,
        edge_m=max(hold, entry - 0.5),
        control=control,
        rule=np.array(columns[0], dtype=np.int64),
        from_m=np.array(columns[1], dtype=np.float64),
        to_m=np.array(columns[2], dtype=np.float64),
        room_m=np.array(columns[4], dtype=np.float64),
        merges=np.array(columns[5], dtype=np.bool_),
        turns=np.array(columns[7], dtype=np.bool_),
        upstream_m=np.array(columns[6], dtype=np.float64).reshape(-1, len(lanes.successors)),
        lights=tuple(columns[8]),
        own_light=own_light,
    )


def _light_of(lanes: Lanes, controls: Controls, segment: int) -> Any:
    """Return the light before a lane through a junction; None if there is none."""
    lights = (controls.light.get(before) for before in lanes.predecessors[segment])
    return next((light for light in lights if light is not None), None)


def _own_control(
    line: RouteLine, lanes: Lanes, signals: Signals, controls: Controls, first: int
) -> tuple[Control, float, Any]:
    """Return the control at the line's entry, the place to wait, and the light if any."""
    entry = first * STEP_M
    for light in signals.lights:
        if abs(light.edge_m - entry) < 4.0 or 0.0 <= entry - light.along_m < 12.0:
            return Control.LIGHT, min(light.along_m, entry) - 0.5, light.light
    for stop in signals.signs:
        if -3.0 < entry - stop.along_m < _SIGN_BEFORE_M:
            return Control.STOP, entry - 0.5, None
    k = max(first - 4, 0)
    points = lanes.candidates(line.xy_m[k], float(line.yaw_rad[k]), 1.5)
    sign = max((controls.sign.get(int(lanes.segment[p]), 0) for p in points), default=0)
    return Control(sign), entry - 0.5 - _swing_m(line, lanes, k), None


def _swing_m(line: RouteLine, lanes: Lanes, sample: int) -> float:
    """Return how much farther back to wait: cars cut the middle when they enter a narrow road."""
    beside = lanes.candidates(line.xy_m[sample], float(line.yaw_rad[sample]) + np.pi, _WIDE_M)
    if not len(beside):
        return 0.0
    gap = float(np.min(np.hypot(*(lanes.points[beside, :2] - line.xy_m[sample]).T)))
    return min(_PER_GAP * max(_WIDE_M - gap, 0.0), _SWING_M)


def _stream(
    line: RouteLine, lanes: Lanes, samples: IntArray, segment: int
) -> tuple[float, float, float, float, bool] | None:
    """Return where a junction lane meets the line: from, to; on the lane from, length."""
    mine, theirs = line.xy_m[samples], lanes.line(segment)
    yaw = line.yaw_rad[samples]
    gap = np.hypot(mine[:, None, 0] - theirs[None, :, 0], mine[:, None, 1] - theirs[None, :, 1])
    gap = np.where(np.abs(line.base_m[samples][:, None, 2] - theirs[None, :, 2]) < 3.0, gap, 99.0)
    agree = np.cos(yaw[:, None] - theirs[None, :, 3]) > 0.9
    together = (gap < _SAME_M) & agree
    if together[:, 0].any() or together.any(axis=0).mean() > 0.9:
        return None  # it begins in the line's lane: leaders and followers, no crossing
    near = gap < _NEAR_M
    on_mine, on_theirs = np.flatnonzero(near.any(axis=1)), np.flatnonzero(near.any(axis=0))
    if not len(on_mine):
        return None
    start = int(lanes.starts[segment])
    along = lanes.along_m[start + on_theirs]
    merges = bool(together[:, -1].any())
    return (
        float(samples[on_mine[0]]) * STEP_M,
        float(samples[on_mine[-1]]) * STEP_M,
        float(along[0]),
        float(along[-1] - along[0]),
        merges,
    )


def upstream_m(
    lanes: Lanes, segment: int, to_place_m: float, reach_m: float = _UPSTREAM_M
) -> FloatArray:
    """Return the distance from the start of every upstream segment to a place on a segment."""
    result = np.full(len(lanes.successors), np.inf)
    result[segment] = to_place_m
    front = [segment]
    while front:
        further = []
        for me in front:
            for before in lanes.predecessors[me]:
                away = result[me] + lanes.length_m(before) + 1.0
                if away < result[before] and result[me] < reach_m:
                    result[before] = away
                    further.append(before)
        front = further
    return result


def _turns_across(theirs: FloatArray, yaw_rad: float) -> bool:
    opposite = np.cos(theirs[0, 3] - yaw_rad) < -0.7
    return bool(opposite and _turn(theirs[0, 3], theirs[-1, 3]) < _LEFT_RAD)


def _turn(start_rad: float, end_rad: float) -> float:
    return float(wrap_angle(end_rad - start_rad))


def _rule(
    control: Control, left: bool, yaw_rad: float, lanes: Lanes, controls: Controls, segment: int
) -> Rule:
    """Return the right of way: by lights, then signs, then left turns, then first come."""
    theirs = lanes.line(segment)
    approach = lanes.predecessors[segment]
    their_sign = max((controls.sign.get(k, 0) for k in approach), default=0)
    their_left = _turn(theirs[0, 3], theirs[-1, 3]) < _LEFT_RAD
    opposite = np.cos(theirs[0, 3] - yaw_rad) < -0.7
    if control == Control.LIGHT:
        if abs(np.cos(theirs[0, 3] - yaw_rad)) < _FROM_THE_SIDE:
            return Rule.IF_GREEN
        return Rule.GIVE_WAY if left and opposite and not their_left else Rule.NOTHING
    if control > their_sign or (control > 0 and their_sign == 0):
        return Rule.GIVE_WAY
    if their_sign > control or any(k in controls.light for k in approach):
        return Rule.NOTHING
    if left and not their_left:
        return Rule.GIVE_WAY
    if their_left and not left:
        return Rule.NOTHING
    return Rule.FIRST_COME
