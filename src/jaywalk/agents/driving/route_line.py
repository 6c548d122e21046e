"""The line that a driver follows: the dense route at even steps, with smooth lane changes.

The line consists of pieces of lane centre plus a lateral offset. After a lane change the centre is
that of the new lane, and the offset fades from one lane width to zero. A change of the offset is
enough to delay a lane change or to go round an obstacle. The line continues a little beyond the
route. Frame: CARLA's left-handed metres; offsets are positive to the right.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any, Final

import carla
import numpy as np

from jaywalk.agents.driving._speed_limits import limits_along
from jaywalk.core.arrays import BoolArray, FloatArray, IntArray
from jaywalk.geometry.angle import wrap_angle, wrap_degrees
from jaywalk.geometry.path import arc_lengths, points_at
from jaywalk.town.routes import DenseRoute

STEP_M: Final = 0.5
_BEYOND_M: Final = 60.0  # the line continues this far after the last point of the route
_LEAP_M: Final = 1.0  # adjacent points with this lateral distance are a lane change
_CHANGE_S: Final = 3.0
_CHANGE_M: Final = (12.0, 45.0)
_LANE_M: Final = 3.5
_SMOOTH_M: Final = 2.0  # half the length over which curvature is measured


@dataclass(slots=True, kw_only=True)
class RouteLine:
    """Line with samples ``STEP_M`` apart; sample ``i`` is ``i * STEP_M`` along the line."""

    base_m: FloatArray  # (n, 3) lane centres
    base_yaw_rad: FloatArray
    offset_m: FloatArray  # (n,) of the line from the lane centre
    limit_mps: FloatArray
    lane_width_m: FloatArray
    in_junction: BoolArray
    change_from: IntArray  # (c,) samples at which the lane changes begin
    route_end: int  # sample of the route's last point
    xy_m: FloatArray  # (n, 2) the line itself
    yaw_rad: FloatArray
    curvature_pm: FloatArray  # unsigned
    revision: int = 0  # increases whenever the line changes

    def __len__(self) -> int:
        return len(self.offset_m)

    @property
    def length_m(self) -> float:
        """Length of the whole line, including the part beyond the route."""
        return (len(self) - 1) * STEP_M

    def refresh(self, first: int = 0, last: int | None = None) -> None:
        """Recompute the line after a change of ``offset_m[first:last]``."""
        self.revision += 1
        margin = int(2.0 * _SMOOTH_M / STEP_M) + 2
        low, high = max(first - margin, 0), min((last or len(self)) + margin, len(self))
        yaw = self.base_yaw_rad[low:high]
        side = np.column_stack([-np.sin(yaw), np.cos(yaw)])
        self.xy_m[low:high] = self.base_m[low:high, :2] + self.offset_m[low:high, None] * side
        reach = int(_SMOOTH_M / STEP_M)
        wide_low, wide_high = max(low - 2 * reach, 0), min(high + 2 * reach, len(self))
        yaw, curvature = shape_of(self.xy_m[wide_low:wide_high], reach)
        part = slice(low - wide_low, high - wide_low)
        self.yaw_rad[low:high], self.curvature_pm[low:high] = yaw[part], curvature[part]

    def locate(self, x_m: float, y_m: float, near: int, back: int = 4, ahead: int = 24) -> float:
        """Return the distance along the line of a place, searched around sample ``near``."""
        low, high = max(near - back, 0), min(near + ahead, len(self) - 1)
        points = self.xy_m[low : high + 1]
        gaps = (points[:, 0] - x_m) ** 2 + (points[:, 1] - y_m) ** 2
        k = low + int(np.argmin(gaps))
        yaw = self.yaw_rad[k]
        dx, dy = x_m - self.xy_m[k, 0], y_m - self.xy_m[k, 1]
        along = k * STEP_M + float(dx * np.cos(yaw) + dy * np.sin(yaw))
        return min(max(along, 0.0), self.length_m)

    def point_at(self, along_m: float) -> tuple[float, float]:
        """Return the point at ``along_m`` on the line."""
        at = min(max(along_m / STEP_M, 0.0), len(self) - 1.001)
        k = int(at)
        x, y = self.xy_m[k] + (at - k) * (self.xy_m[k + 1] - self.xy_m[k])
        return float(x), float(y)


def make_line(route: DenseRoute, carla_map: Any, default_limit_mps: float) -> RouteLine:
    """Build the line of a route on a map."""
    pieces = _pieces(route)
    samples = [_resampled(*piece) for piece in pieces]
    samples[-1] = _run_on(samples[-1], carla_map)
    base = np.concatenate([piece[0] for piece in samples])
    yaw = np.concatenate([piece[1] for piece in samples])
    starts = np.cumsum([0, *(len(piece[0]) for piece in samples)])
    end = int(starts[-1]) - 1 - _count_beyond(samples[-1], route)
    limit, width, junction = limits_along(carla_map, base, default_limit_mps)
    count = len(base)
    line = RouteLine(
        base_m=base,
        base_yaw_rad=yaw,
        offset_m=np.zeros(count),
        limit_mps=limit,
        lane_width_m=width,
        in_junction=junction,
        change_from=starts[1:-1].astype(np.int64),
        route_end=end,
        xy_m=base[:, :2].copy(),
        yaw_rad=yaw.copy(),
        curvature_pm=np.zeros(count),
    )
    for start in line.change_from:
        lay_change(line, int(start), int(start))
    line.refresh()
    return line


def lay_change(line: RouteLine, change: int, begin: int) -> None:
    """Let the lane change at sample ``change`` begin at sample ``begin`` (not earlier).

    The offset there is that of the previous piece, measured from the new lane.
    """
    before, after = change - 1, change
    yaw = line.base_yaw_rad[after]
    gap = line.base_m[before, :2] - line.base_m[after, :2]
    aside = float(-gap[0] * np.sin(yaw) + gap[1] * np.cos(yaw)) + float(line.offset_m[before])
    following = line.change_from[line.change_from > change]
    last = int(following[0]) if len(following) else len(line)
    length = change_length(line, begin, aside)
    along = np.arange(change, last) - begin
    share = np.clip(along * STEP_M / length, 0.0, 1.0)
    line.offset_m[change:last] = aside * (1.0 - share**2 * (3.0 - 2.0 * share))
    for later in following[:1]:
        lay_change(line, int(later), int(later))


def change_length(line: RouteLine, begin: int, aside_m: float) -> float:
    """Return the length of a lane change that begins at sample ``begin``, in metres."""
    speed = float(line.limit_mps[min(begin, len(line) - 1)])
    wanted = _CHANGE_S * speed * np.sqrt(abs(aside_m) / _LANE_M)
    wanted = min(max(wanted, _CHANGE_M[0]), _CHANGE_M[1])
    ahead = np.flatnonzero(line.in_junction[begin : begin + int(wanted / STEP_M)])
    room = float(ahead[0]) * STEP_M if len(ahead) else wanted
    return float(max(min(wanted, room), 6.0))


def shape_of(xy_m: FloatArray, reach: int) -> tuple[FloatArray, FloatArray]:
    """Return heading and unsigned curvature of evenly spaced points.

    Curvature is measured over ``reach`` points on both sides, fewer near the ends.
    """
    index = np.arange(len(xy_m))
    low, high = np.maximum(index - 1, 0), np.minimum(index + 1, len(xy_m) - 1)
    step = xy_m[high] - xy_m[low]
    yaw = np.arctan2(step[:, 1], step[:, 0])
    low, high = np.maximum(index - reach, 0), np.minimum(index + reach, len(xy_m) - 1)
    turn = np.abs(wrap_angle(yaw[high] - yaw[low]))
    return yaw, turn / np.maximum((high - low) * STEP_M, STEP_M)


def _pieces(route: DenseRoute) -> list[tuple[FloatArray, FloatArray]]:
    """Cut the route at lane changes; each piece begins level with the end of the previous one."""
    places, yaws = _forward_points(route)
    ways = np.column_stack([np.cos(yaws), np.sin(yaws)])
    steps = np.diff(places[:, :2], axis=0)
    aside = steps[:, 1] * ways[1:, 0] - steps[:, 0] * ways[1:, 1]
    ahead = np.einsum("ij,ij->i", steps, ways[1:])
    cuts = np.flatnonzero((np.abs(aside) > _LEAP_M) & (np.abs(aside) > 0.3 * ahead)) + 1
    pieces = []
    for low, high in itertools.pairwise([0, *cuts.tolist(), len(places)]):
        piece, yaw = places[low:high], yaws[low:high]
        if low:
            # Extend the new lane backwards to the end of the old one.
            first = piece[0].copy()
            first[:2] -= ahead[low - 1] * ways[low]
            piece, yaw = np.vstack([first, piece]), np.concatenate([yaw[:1], yaw])
        pieces.append((piece, yaw))
    return pieces


def _forward_points(route: DenseRoute) -> tuple[FloatArray, FloatArray]:
    """Return points and headings without duplicates and backward steps (between two legs)."""
    yaws = route.yaw_rad
    kept = [0]
    for k in range(1, len(route)):
        step = route.position_m[k, :2] - route.position_m[kept[-1], :2]
        if step[0] * np.cos(yaws[k]) + step[1] * np.sin(yaws[k]) > 0.05:
            kept.append(k)
    if len(kept) == 1:
        kept.append(len(route) - 1)
    return route.position_m[kept], yaws[kept]


def _resampled(places: FloatArray, yaws: FloatArray) -> tuple[FloatArray, FloatArray]:
    along = arc_lengths(places)
    wanted = np.arange(0.0, max(along[-1], STEP_M), STEP_M)
    points = points_at(wanted, along, places)
    return points, np.interp(wanted, along, np.unwrap(yaws))


def _run_on(piece: tuple[FloatArray, FloatArray], carla_map: Any) -> tuple[FloatArray, FloatArray]:
    """Extend the last piece along its lane, or straight where the lane ends."""
    places, yaws = piece
    last = places[-1]
    way = np.array([np.cos(yaws[-1]), np.sin(yaws[-1]), 0.0])
    waypoint = carla_map.get_waypoint(carla.Location(*(float(value) for value in last)))
    pieces: list[FloatArray] = [last]
    while waypoint is not None and (len(pieces) - 1) * 1.0 < _BEYOND_M:
        choice = waypoint.next(1.0)
        if not choice:
            break
        turn = [
            abs(wrap_degrees(w.transform.rotation.yaw - waypoint.transform.rotation.yaw))
            for w in choice
        ]
        waypoint = choice[int(np.argmin(turn))]
        place = waypoint.transform.location
        point = np.array([place.x, place.y, place.z])
        if (point - pieces[-1])[:2] @ way[:2] <= 0.1:
            break
        way = (point - pieces[-1]) / np.linalg.norm(point - pieces[-1])
        pieces.append(point)
    missing = _BEYOND_M - (len(pieces) - 1)
    pieces.append(pieces[-1] + way * max(missing, 1.0))
    line = np.array(pieces)
    steps = np.diff(line[:, :2], axis=0)
    headings = np.arctan2(steps[:, 1], steps[:, 0])
    more, more_yaw = _resampled(line, np.concatenate([headings, headings[-1:]]))
    return np.vstack([places, more[1:]]), np.concatenate([yaws, more_yaw[1:]])


def _count_beyond(piece: tuple[FloatArray, FloatArray], route: DenseRoute) -> int:
    gaps = np.hypot(*(piece[0][:, :2] - route.position_m[-1, :2]).T)
    return len(gaps) - 1 - int(np.argmin(gaps))
