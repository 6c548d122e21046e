"""Detours around standing obstacles: a straight path if it is free, else the shortest detour.

Obstacles are the town's solid objects (from its walk grid), boxes of standing vehicles and props,
and discs of standing people. Moving actors are ignored.
"""

from __future__ import annotations

import heapq
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.arrays import FloatArray
from jaywalk.core.kernels import kernel
from jaywalk.geometry.box import box_distance
from jaywalk.town.walkways import NOWHERE, ROAD, WalkGrid, solid_gap, underfoot

CELL_M: Final = 0.25
CLEAR_M: Final = 0.42  # from the middle of a person to an obstacle
DISC_M: Final = 0.75  # between the middles of two people
_RIM_M: Final = 7.0  # margin of the search window around start and goal
_LEAVE_M: Final = 0.8  # a person who stands too near to an obstacle may walk away from it
_STEP_M: Final = 0.12
_TIGHT_M: Final = 0.35  # a path gains from more room than needed up to this much ...
_TIGHT_COST: Final = 1.5  # ... and costs this much more per metre without any
_ROAD_COST: Final = 5.0  # cost of a metre of road, for people who keep off it
_WILD_COST: Final = 0.6
_EVERY: Final = 4  # cells between corners of a path that keeps off the road


class Obstacles(NamedTuple):
    """Standing obstacles."""

    box: FloatArray  # (n, 6) x, y, cos, sin, half length, half width
    disc: FloatArray  # (m, 2) people


NO_OBSTACLES: Final = Obstacles(np.zeros((0, 6)), np.zeros((0, 2)))


@kernel
def room_at(grid: WalkGrid, things: Obstacles, x: float, y: float) -> float:
    """Clearance of a person at a place, in metres; negative: too near."""
    room = solid_gap(grid, x, y) - CLEAR_M
    for k in range(len(things.box)):
        box = things.box[k]
        reach = box[4] + box[5] + 2.0
        if abs(x - box[0]) > reach or abs(y - box[1]) > reach:
            continue
        gap = box_distance(x, y, box[0], box[1], box[2], box[3], box[4], box[5]) - CLEAR_M
        room = min(room, gap)
    for k in range(len(things.disc)):
        room = min(room, np.hypot(x - things.disc[k, 0], y - things.disc[k, 1]) - DISC_M)
    return float(room)


@kernel
def is_free(
    grid: WalkGrid,
    things: Obstacles,
    ax: float,
    ay: float,
    bx: float,
    by: float,
    slack: float,
) -> bool:
    """Return True if a straight path is clear by ``slack`` metres, except close to its start."""
    length = np.hypot(bx - ax, by - ay)
    here = min(room_at(grid, things, ax, ay), slack)
    steps = max(int(length / _STEP_M), 1)
    for k in range(1, steps + 1):
        share = k / steps
        room = room_at(grid, things, ax + share * (bx - ax), ay + share * (by - ay))
        if room < slack and (room < here - 1e-9 or share * length > _LEAVE_M):
            return False
    return True


@kernel
def _weight(grid: WalkGrid, x: float, y: float, room: float, keeps_off: bool) -> float:
    """Cost per metre at a place."""
    weight = 1.0 + _TIGHT_COST * max(_TIGHT_M - room, 0.0) / _TIGHT_M
    what = underfoot(grid, x, y)
    if keeps_off and what == ROAD:
        weight += _ROAD_COST
    elif what == NOWHERE:
        weight += _WILD_COST
    return float(weight)


@kernel
def _search(
    grid: WalkGrid, things: Obstacles, ax: float, ay: float, bx: float, by: float, keeps_off: bool
) -> NDArray[np.float64]:
    """Return points from a to b on cells of a window around both; empty if there is no path."""
    x0, y0 = min(ax, bx) - _RIM_M, min(ay, by) - _RIM_M
    wide = int((abs(ax - bx) + 2.0 * _RIM_M) / CELL_M) + 1
    high = int((abs(ay - by) + 2.0 * _RIM_M) / CELL_M) + 1
    room = np.full(high * wide, np.nan)
    cost = np.full(high * wide, np.inf)
    before = np.full(high * wide, -1, np.int64)
    first = int((ay - y0) / CELL_M) * wide + int((ax - x0) / CELL_M)
    last = int((by - y0) / CELL_M) * wide + int((bx - x0) / CELL_M)
    cost[first] = 0.0
    queue = [(0.0, 0.0, first)]
    while len(queue):
        _, paid, here = heapq.heappop(queue)
        if here == last:
            break
        if paid > cost[here]:
            continue
        row, column = here // wide, here % wide
        for dr in range(-1, 2):
            for dc in range(-1, 2):
                r, c = row + dr, column + dc
                if (dr == 0 and dc == 0) or r < 0 or c < 0 or r >= high or c >= wide:
                    continue
                there = r * wide + c
                x, y = x0 + (c + 0.5) * CELL_M, y0 + (r + 0.5) * CELL_M
                if np.isnan(room[there]):
                    room[there] = room_at(grid, things, x, y)
                if room[there] < 0.0 and np.hypot(x - ax, y - ay) > _LEAVE_M:
                    continue
                weight = _weight(grid, x, y, room[there], keeps_off)
                new = paid + np.sqrt(dr * dr + dc * dc) * weight
                if new < cost[there] - 1e-9:
                    cost[there], before[there] = new, here
                    ahead = np.hypot(r - last // wide, c - last % wide)
                    heapq.heappush(queue, (new + ahead, new, there))
    if before[last] < 0:
        return np.empty((0, 2))
    count, here = 1, last
    while here != first:
        here, count = before[here], count + 1
    way = np.empty((count, 2))
    here = last
    for k in range(count - 1, -1, -1):
        way[k, 0] = x0 + (here % wide + 0.5) * CELL_M
        way[k, 1] = y0 + (here // wide + 0.5) * CELL_M
        here = before[here]
    way[0, 0], way[0, 1], way[-1, 0], way[-1, 1] = ax, ay, bx, by
    return way


@kernel
def _pulled(grid: WalkGrid, things: Obstacles, way: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the path with as few corners as the obstacles allow."""
    kept = [0]
    while kept[-1] < len(way) - 1:
        at = kept[-1]
        last = len(way) - 1
        while last > at + 1:
            if is_free(grid, things, way[at, 0], way[at, 1], way[last, 0], way[last, 1], 0.08):
                break
            last -= 1
        kept.append(last)
    out = np.empty((len(kept), 2))
    for k in range(len(kept)):
        out[k] = way[kept[k]]
    return out


def find_detour(
    grid: WalkGrid,
    things: Obstacles,
    start_m: tuple[float, float],
    goal_m: tuple[float, float],
    *,
    keeps_off: bool = False,
) -> FloatArray:
    """Return the corners (n, 2) of a path from start to goal; empty if there is none nearby.

    Args:
        grid: The town.
        things: Standing obstacles.
        start_m: Start of the path.
        goal_m: End of the path.
        keeps_off: Whether to keep off the road.
    """
    if not keeps_off and is_free(grid, things, *start_m, *goal_m, 0.0):
        return np.array([start_m, goal_m])
    way: FloatArray = _search(grid, things, *start_m, *goal_m, keeps_off)
    if keeps_off and len(way):  # fewer corners would cut over the road
        return np.concatenate([way[:-1:_EVERY], way[-1:]])
    return np.asarray(_pulled(grid, things, way)) if len(way) else way
