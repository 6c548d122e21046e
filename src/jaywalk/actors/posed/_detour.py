"""Standing obstacles near posed people, and detours around them.

Obstacles are the town's solid objects (from its walk grid), boxes of standing vehicles and props,
and discs of standing people. Moving actors are ignored.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jaywalk.actors._surroundings import CrowdView
from jaywalk.actors.crowd.state import CrowdRows
from jaywalk.core.arrays import BoolArray, FloatArray
from jaywalk.core.kernels import kernel
from jaywalk.geometry.box import box_distance
from jaywalk.geometry.grid_search import cheapest_cells
from jaywalk.town.walkways import NOWHERE, ROAD, WalkGrid, solid_gap, underfoot

if TYPE_CHECKING:
    import carla

STANDING_MPS: Final = 0.3  # people slower than this stand
_STOPPING_MPS: Final = 1.2  # a vehicle this slow is about to stop, or has just begun to move
_NEAR_M: Final = 15.0  # obstacles farther away from a walking person are ignored
CELL_M: Final = 0.25
CLEAR_M: Final = 0.42  # from the middle of a person to an obstacle
DISC_M: Final = 0.75  # between the middles of two people
_RIM_M: Final = 7.0  # margin of the search window around start and goal
_LEAVE_M: Final = 0.8  # a person who stands too near to an obstacle may walk away from it
_STEP_M: Final = 0.12
_TIGHT_M: Final = 0.35  # a path gains from more room than needed up to this much ...
_TIGHT_COST: Final = 1.5  # ... and costs this much more per metre without any
_ROAD_COST: Final = 5.0  # cost of a metre of road, for people who keep off it
_UNKNOWN_COST: Final = 0.6
_CORNER_EVERY: Final = 4  # cells between corners of a path that keeps off the road


class Obstacles(NamedTuple):
    """Standing obstacles."""

    box: FloatArray  # (n, 6) x, y, cos, sin, half length, half width
    disc: FloatArray  # (m, 2) people


NO_OBSTACLES: Final = Obstacles(np.zeros((0, 6)), np.zeros((0, 2)))


@dataclass(slots=True)
class NearbyObstacles:
    """Standing obstacles near moving people, as of the last look.

    Attributes:
        view: Reader of vehicles, props and other people in a snapshot.
        people: Rows in which the view keeps the positions of the posed people.
        delta_s: Time between two looks, in seconds.
    """

    view: CrowdView
    people: CrowdRows
    delta_s: float
    _obstacles: Obstacles = field(default=NO_OBSTACLES, init=False)

    def look(self, snapshot: carla.WorldSnapshot, places_m: FloatArray) -> None:
        """Read the obstacles near the moving people at ``places_m`` (n, 2) from a snapshot."""
        seen = self.view.look(snapshot, self.people, self.delta_s)
        slow = np.hypot(seen.vehicles[:, 6], seen.vehicles[:, 7]) < _STOPPING_MPS
        boxes = np.concatenate([seen.vehicles[slow, :6], seen.props])
        still = np.hypot(seen.other_people[:, 2], seen.other_people[:, 3]) < STANDING_MPS
        boxes = boxes[_near(boxes[:, :2], places_m)]
        discs = seen.other_people[still, :2]
        self._obstacles = Obstacles(
            np.ascontiguousarray(boxes), np.ascontiguousarray(discs[_near(discs, places_m)])
        )

    def around(self, x: float, y: float, standing: Iterable[tuple[float, float]]) -> Obstacles:
        """Obstacles for a person at (x, y), including standing posed people nearby."""
        near = [(u, v) for u, v in standing if abs(u - x) < _NEAR_M and abs(v - y) < _NEAR_M]
        discs = np.concatenate([self._obstacles.disc, np.array(near).reshape(-1, 2)])
        return Obstacles(self._obstacles.box, discs)


def _near(points_m: FloatArray, people_m: FloatArray) -> BoolArray:
    """Mask of the points (n, 2) that are near any of the people (m, 2)."""
    if not len(points_m) or not len(people_m):
        return np.zeros(len(points_m), np.bool_)
    gap = np.abs(points_m[:, None] - people_m[None]).max(axis=2)
    return np.asarray(gap.min(axis=1) < _NEAR_M)


@kernel
def room_at(grid: WalkGrid, obstacles: Obstacles, x: float, y: float) -> float:
    """Clearance of a person at a place, in metres; negative: too near."""
    room = solid_gap(grid, x, y) - CLEAR_M
    for k in range(len(obstacles.box)):
        box = obstacles.box[k]
        reach = box[4] + box[5] + 2.0
        if abs(x - box[0]) > reach or abs(y - box[1]) > reach:
            continue
        gap = box_distance(x, y, box[0], box[1], box[2], box[3], box[4], box[5]) - CLEAR_M
        room = min(room, gap)
    for k in range(len(obstacles.disc)):
        room = min(room, np.hypot(x - obstacles.disc[k, 0], y - obstacles.disc[k, 1]) - DISC_M)
    return float(room)


@kernel
def is_free(
    grid: WalkGrid,
    obstacles: Obstacles,
    ax: float,
    ay: float,
    bx: float,
    by: float,
    slack: float,
) -> bool:
    """Return True if a straight path is clear by ``slack`` metres, except close to its start."""
    length = np.hypot(bx - ax, by - ay)
    here = min(room_at(grid, obstacles, ax, ay), slack)
    steps = max(int(length / _STEP_M), 1)
    for k in range(1, steps + 1):
        share = k / steps
        room = room_at(grid, obstacles, ax + share * (bx - ax), ay + share * (by - ay))
        if room < slack and (room < here - 1e-9 or share * length > _LEAVE_M):
            return False
    return True


@kernel
def _weight(grid: WalkGrid, x: float, y: float, room: float, keeps_off: bool) -> float:
    """Cost per metre at a place."""
    weight = 1.0 + _TIGHT_COST * max(_TIGHT_M - room, 0.0) / _TIGHT_M
    ground = underfoot(grid, x, y)
    if keeps_off and ground == ROAD:
        weight += _ROAD_COST
    elif ground == NOWHERE:
        weight += _UNKNOWN_COST
    return float(weight)


@kernel
def _weights(
    grid: WalkGrid,
    obstacles: Obstacles,
    corner: tuple[float, float],
    start: tuple[float, float],
    keeps_off: bool,
    out: FloatArray,
) -> None:
    """Write the weights of the cells of a window; infinite where an obstacle is too near."""
    for r in range(out.shape[0]):
        for c in range(out.shape[1]):
            x, y = corner[0] + (c + 0.5) * CELL_M, corner[1] + (r + 0.5) * CELL_M
            room = room_at(grid, obstacles, x, y)
            if room < 0.0 and np.hypot(x - start[0], y - start[1]) > _LEAVE_M:
                out[r, c] = np.inf
            else:
                out[r, c] = _weight(grid, x, y, room, keeps_off)


def _search(
    grid: WalkGrid,
    obstacles: Obstacles,
    start_m: tuple[float, float],
    goal_m: tuple[float, float],
    keeps_off: bool,
) -> FloatArray:
    """Return points from start to goal on cells of a window around both; empty: no path."""
    (ax, ay), (bx, by) = start_m, goal_m
    x0, y0 = min(ax, bx) - _RIM_M, min(ay, by) - _RIM_M
    wide = int((abs(ax - bx) + 2.0 * _RIM_M) / CELL_M) + 1
    high = int((abs(ay - by) + 2.0 * _RIM_M) / CELL_M) + 1
    weights = np.empty((high, wide))
    _weights(grid, obstacles, (x0, y0), (ax, ay), keeps_off, weights)
    first = int((ay - y0) / CELL_M), int((ax - x0) / CELL_M)
    last = int((by - y0) / CELL_M), int((bx - x0) / CELL_M)
    cells = cheapest_cells(weights, first, last)
    if len(cells) < 2:
        return np.empty((0, 2))
    path: FloatArray = np.array([x0, y0]) + (cells[:, ::-1] + 0.5) * CELL_M
    path[0], path[-1] = start_m, goal_m
    return path


@kernel
def _pulled(grid: WalkGrid, obstacles: Obstacles, path: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the path with as few corners as the obstacles allow."""
    kept = [0]
    while kept[-1] < len(path) - 1:
        at = kept[-1]
        last = len(path) - 1
        while last > at + 1:
            if is_free(
                grid, obstacles, path[at, 0], path[at, 1], path[last, 0], path[last, 1], 0.08
            ):
                break
            last -= 1
        kept.append(last)
    out = np.empty((len(kept), 2))
    for k in range(len(kept)):
        out[k] = path[kept[k]]
    return out


def find_detour(
    grid: WalkGrid,
    obstacles: Obstacles,
    start_m: tuple[float, float],
    goal_m: tuple[float, float],
    *,
    keeps_off: bool = False,
) -> FloatArray:
    """Return the corners (n, 2) of a path from start to goal; empty if there is none nearby.

    Args:
        grid: The town.
        obstacles: Standing obstacles.
        start_m: Start of the path.
        goal_m: End of the path.
        keeps_off: Whether to keep off the road.
    """
    if not keeps_off and is_free(grid, obstacles, *start_m, *goal_m, 0.0):
        return np.array([start_m, goal_m])
    path: FloatArray = _search(grid, obstacles, start_m, goal_m, keeps_off)
    if keeps_off and len(path):  # fewer corners would cut over the road
        return np.concatenate([path[:-1:_CORNER_EVERY], path[-1:]])
    return np.asarray(_pulled(grid, obstacles, path)) if len(path) else path
