"""Walks of posed people to a goal, with the gait of a clip, and random walks along sidewalks.

The path of the clip is bent towards the goal without sliding: steering adds a small yaw rate to the
clip's own, and the clip runs slower in tight bends. If a standing obstacle blocks the path, a new
one is searched; if there is none, the person waits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.actors.crowd.places import WalkNetwork
from jaywalk.actors.posed._detour import Obstacles, find_detour, is_free, room_at
from jaywalk.core.arrays import FloatArray
from jaywalk.motion.playback.players import Players
from jaywalk.town.walk_search import find_way
from jaywalk.town.walkways import SIDEWALK, VERGE, WalkGrid, underfoot

_NEAREST_M: Final = 12.0
_FARTHEST_M: Final = 35.0
_KEEP_M: Final = 0.9
_TRIES: Final = 4
_CORNER_EVERY: Final = 4  # cells between corners


def stroll_path(
    network: WalkNetwork,
    start: tuple[float, float],
    random: np.random.Generator,
    course_rad: float | None = None,
) -> NDArray[np.float64] | None:
    """Return the corners (n, 2) of a path to a place on the same sidewalk; None: there is none.

    Args:
        network: Walk network of the town.
        start: Start of the path.
        random: Draws the place.
        course_rad: Course of a person who is already walking; the place least behind is taken.
    """
    places = network.places
    away = np.hypot(places.x - start[0], places.y - start[1])
    own = int(places.block[int(np.argmin(away))])
    candidates = np.flatnonzero((places.block == own) & (away > _NEAREST_M) & (away < _FARTHEST_M))
    if not len(candidates):
        return None
    goals = candidates[(random.random(_TRIES) * len(candidates)).astype(np.int64)]
    if course_rad is not None:
        bearing = np.arctan2(places.y[goals] - start[1], places.x[goals] - start[0])
        goals = goals[np.argsort(-np.cos(bearing - course_rad), kind="stable")]
    for goal in goals.tolist():
        path = find_way(
            network.grid, start, (float(places.x[goal]), float(places.y[goal])), _KEEP_M
        )
        if len(path) > 2 * _CORNER_EVERY:
            return np.concatenate([path[:-1:_CORNER_EVERY], path[-1:]])
    return None


_AIM_M: Final = 1.1  # distance ahead on the path
_LOOK_M: Final = 6.0  # distance ahead that is checked for obstacles
_GAIN_PER_S: Final = 1.8
_FASTEST_RADPS: Final = 1.2
_BEND_RAD: Final = 0.6  # beyond this error the gait is slowed
_SLOW: Final = 0.55
_COURSE_S: Final = 0.4  # averaging time of the course
STOP_AHEAD_M: Final = 0.45
_ARRIVED_M: Final = 0.45
_ASIDE_M: Final = (0.0, 1.5, -1.5, 3.0, -3.0, 5.0, -5.0, 8.0, -8.0)
_MOVING_M: Final = 0.004  # per tick; a shorter motion gives no course


@dataclass(slots=True, kw_only=True)
class PathWalk:
    """Path of one person to a goal.

    Attributes:
        path: Corners (n, 2); the last one is the goal.
        keeps_off: Keeps off the road when a detour is needed.
        reroutes: Number of times that a new path was searched.
        at: Corner that the person walks towards.
        course_rad: Direction of motion over the ground relative to the person's heading.
    """

    path: FloatArray
    keeps_off: bool = False
    reroutes: int = 0
    at: int = 1
    course_rad: float = 0.0
    walked_m: float = 0.0
    _last: tuple[float, float] = field(default=(math.nan, math.nan))

    @property
    def goal_m(self) -> tuple[float, float]:
        """End of the path."""
        return float(self.path[-1, 0]), float(self.path[-1, 1])

    def bearing_rad(self, x: float, y: float) -> float:
        """Direction of a point a little ahead on the path."""
        aim = self._aim(x, y)
        return math.atan2(aim[1] - y, aim[0] - x)

    def _aim(self, x: float, y: float) -> tuple[float, float]:
        left = _AIM_M
        for k in range(self.at, len(self.path)):
            cx, cy = self.path[k]
            gap = math.hypot(cx - x, cy - y)
            if gap >= left or k == len(self.path) - 1:
                return float(cx), float(cy)
            # the rest of the look ahead lies beyond this corner
            nx, ny = self.path[k + 1]
            size = math.hypot(nx - cx, ny - cy)
            if size > left - gap:
                share = (left - gap) / size
                return float(cx + share * (nx - cx)), float(cy + share * (ny - cy))
            left -= gap
            x, y = float(cx), float(cy)
        return self.goal_m

    def follow(self, players: Players, row: int, delta_s: float) -> bool:
        """Steer the person for the next step; return True on arrival."""
        rows = players.rows
        x, y, yaw = float(rows.x_m[row]), float(rows.y_m[row]), float(rows.yaw_rad[row])
        self._sense(x, y, yaw, delta_s)
        while self.at < len(self.path) - 1 and self._passed(x, y):
            self.at += 1
        if self.at == len(self.path) - 1 and self._at_goal(x, y):
            players.steer(row, 0.0)
            return True
        if rows.since_s[row] < rows.turn_s[row]:
            players.steer(row, 0.0)  # the start of the clip still turns the person
            return False
        error = math.remainder(self.bearing_rad(x, y) - yaw - self.course_rad, 2.0 * math.pi)
        limit = _FASTEST_RADPS
        players.steer(row, min(max(_GAIN_PER_S * error, -limit), limit))
        players.pace(row, _SLOW if abs(error) > _BEND_RAD else 1.0)
        return False

    def _sense(self, x: float, y: float, yaw: float, delta_s: float) -> None:
        dx, dy = x - self._last[0], y - self._last[1]
        self._last = (x, y)
        step = math.hypot(dx, dy)
        if not step > _MOVING_M:
            return
        self.walked_m += step
        beside = math.remainder(math.atan2(dy, dx) - yaw, 2.0 * math.pi)
        change = math.remainder(beside - self.course_rad, 2.0 * math.pi)
        self.course_rad += min(delta_s / _COURSE_S, 1.0) * change

    def _passed(self, x: float, y: float) -> bool:
        here, before = self.path[self.at], self.path[self.at - 1]
        if math.hypot(here[0] - x, here[1] - y) < _ARRIVED_M:
            return True
        dx, dy = here - before
        return bool((x - here[0]) * dx + (y - here[1]) * dy > 0.0)

    def _at_goal(self, x: float, y: float) -> bool:
        goal, before = self.path[-1], self.path[-2]
        dx, dy = goal - before
        size = max(math.hypot(dx, dy), 1e-9)
        left = ((goal[0] - x) * dx + (goal[1] - y) * dy) / size
        return left < _ARRIVED_M and math.hypot(goal[0] - x, goal[1] - y) < 3.0

    # -- obstacles ---------------------------------------------------------------------------------

    def is_clear(self, grid: WalkGrid, obstacles: Obstacles, x: float, y: float) -> bool:
        """Return True if the next metres of the path are free."""
        left, px, py = _LOOK_M, x, y
        for k in range(self.at, len(self.path)):
            cx, cy = float(self.path[k, 0]), float(self.path[k, 1])
            size = math.hypot(cx - px, cy - py)
            share = min(left / max(size, 1e-9), 1.0)
            cx, cy = px + share * (cx - px), py + share * (cy - py)
            if not is_free(grid, obstacles, px, py, cx, cy, -0.02):
                return False
            left -= size
            if left <= 0.0:
                break
            px, py = cx, cy
        return True

    def reroute(self, grid: WalkGrid, obstacles: Obstacles, x: float, y: float) -> bool:
        """Find another path to the goal; return False if there is none."""
        detour = find_detour(grid, obstacles, (x, y), self.goal_m, keeps_off=self.keeps_off)
        if len(detour) < 2:
            return False
        self.path, self.at = detour, 1
        self.reroutes += 1
        return True


def path_off_road(
    grid: WalkGrid,
    obstacles: Obstacles,
    here_m: tuple[float, float],
    goals_m: tuple[tuple[float, float], ...],
) -> FloatArray:
    """Return a path off the road for a person whose goals are taken; empty if there is none.

    The path leads to a place beside one of the goals, which are in order of preference. Places
    beside a goal are tried along the road, nearest first.
    """
    for goal in goals_m:
        dx, dy = goal[0] - here_m[0], goal[1] - here_m[1]
        size = max(math.hypot(dx, dy), 1e-9)
        for aside in _ASIDE_M:
            place = goal[0] - aside * dy / size, goal[1] + aside * dx / size
            if int(underfoot(grid, *place)) not in (SIDEWALK, VERGE):
                continue
            path = find_detour(grid, obstacles, here_m, place)
            if len(path) >= 2:
                return path
    return np.zeros((0, 2))


def bumps_soon(
    grid: WalkGrid,
    obstacles: Obstacles,
    x: float,
    y: float,
    course_rad: float,
    ahead_m: float = STOP_AHEAD_M,
) -> bool:
    """Return True if straight motion hits an obstacle within ``ahead_m`` (default: a step)."""
    here = room_at(grid, obstacles, x, y)
    steps = max(1, math.ceil(ahead_m / STOP_AHEAD_M))
    for step in range(1, steps + 1):
        away = ahead_m * step / steps
        room = room_at(
            grid, obstacles, x + away * math.cos(course_rad), y + away * math.sin(course_rad)
        )
        if room < -0.12 and room < here:
            return True
    return False
