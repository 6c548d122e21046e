"""Red light: the ego's rear crosses a stop line while the light of its lane is red."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.arrays import FloatArray
from jaywalk.metrics.driving.criteria._rules import Event, Rules, place_text
from jaywalk.metrics.driving.criteria._scene import RED, CriteriaLight, CriteriaScene
from jaywalk.town.waypoints import LaneEnd, LanesUnder

_NEAR_M: Final = 15.0
_TAIL_NEAR_SHARE: Final = 0.8
_TAIL_FAR_M: Final = 1.0
_BOX_SHARE: Final = 0.9
_SAMPLE_M: Final = 1.0
_WALK_M: Final = 0.5


def find_red_lights(scene: CriteriaScene, rules: Rules) -> list[Event]:
    """Lights that were run, in order; the last one run cannot be run again at once."""
    rows = [(row, light) for light in scene.lights for row in _rows_at_red(scene, light)]
    if not rows or math.isnan(scene.half_length_m):
        return []
    wanted = sorted({row for row, _ in rows})
    tail = _Tail(scene, rules, np.array(wanted))
    at = {row: k for k, row in enumerate(wanted)}
    lines: dict[int, list[LaneEnd]] = {}
    events: list[Event] = []
    last = -1
    for row, light in sorted(rows, key=lambda pair: pair[0]):
        if light.actor == last:
            continue
        if light.actor not in lines:
            lines[light.actor] = stop_lines(scene, light)
        if any(tail.crosses(at[row], line) for line in lines[light.actor]):
            where = place_text(light.place_m)
            message = f"Agent ran a red light {light.server_id} at {where}"
            events.append(Event(key="red_light", row=row, message=message, other=light.actor))
            last = light.actor
    return events


def _rows_at_red(scene: CriteriaScene, light: CriteriaLight) -> list[int]:
    red = np.flatnonzero(light.state == RED)
    away = np.linalg.norm(scene.track.place_m[red] - light.centre_m, axis=1)
    rows: list[int] = red[away <= _NEAR_M].tolist()
    return rows


def stop_lines(scene: CriteriaScene, light: CriteriaLight) -> list[LaneEnd]:
    """Ends of the lanes under a light's trigger box, just before the junction."""
    reach = _BOX_SHARE * light.half_m[0]
    steps = np.arange(-reach, reach, _SAMPLE_M)
    yaw = math.radians(light.yaw_deg)
    places = light.centre_m + np.outer(steps, [math.cos(yaw), math.sin(yaw), 0.0])
    return scene.lanes.lane_ends(places, _WALK_M)


class _Tail:
    """A short segment behind the ego, at some rows."""

    def __init__(self, scene: CriteriaScene, rules: Rules, rows: NDArray[np.int64]) -> None:
        self._line_share = rules.red_line_share
        track = scene.track
        yaw = np.deg2rad(track.rotation_deg[rows, 1])
        back = -np.column_stack([np.cos(yaw), np.sin(yaw), np.zeros(len(rows))])
        half, place = scene.half_length_m, track.place_m[rows]
        self._near = place + back * (_TAIL_NEAR_SHARE * half)
        self._far = place + back * (half + _TAIL_FAR_M)
        self._forward = track.forward[rows]
        self._lanes: LanesUnder = scene.lanes.under(self._far)

    def crosses(self, k: int, line: LaneEnd) -> bool:
        """Return whether segment ``k`` crosses a stop line of its lane, going forward."""
        if (self._lanes.road[k], self._lanes.lane[k]) != (line.road, line.lane):
            return False
        if float(self._forward[k] @ np.array(line.forward)) <= 0.0:
            return False
        yaw = math.radians(line.yaw_deg + 90.0)
        side = self._line_share * line.width_m * np.array([math.cos(yaw), math.sin(yaw)])
        middle = np.array(line.centre_m[:2])
        return segments_meet(self._near[k, :2], self._far[k, :2], middle + side, middle - side)


def segments_meet(a: FloatArray, b: FloatArray, p: FloatArray, q: FloatArray) -> bool:
    """Return whether two segments in the plane have a common point."""
    d1, d2 = _side(p, q, a), _side(p, q, b)
    d3, d4 = _side(a, b, p), _side(a, b, q)
    if d1 * d2 < 0.0 and d3 * d4 < 0.0:
        return True
    ends = ((d1, a, p, q), (d2, b, p, q), (d3, p, a, b), (d4, q, a, b))
    return any(side == 0.0 and _within(point, u, v) for side, point, u, v in ends)


def _side(u: FloatArray, v: FloatArray, point: FloatArray) -> float:
    return float((v[0] - u[0]) * (point[1] - u[1]) - (v[1] - u[1]) * (point[0] - u[0]))


def _within(point: FloatArray, u: FloatArray, v: FloatArray) -> bool:
    low, high = np.minimum(u, v), np.maximum(u, v)
    return bool(np.all(low <= point) and np.all(point <= high))
