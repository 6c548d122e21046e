"""Ways of reacting people: along the sidewalk to the kerb, over the road, and beside a leader."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Final

import carla
import numpy as np

from jaywalk.actors.crowd.places import WalkNetwork
from jaywalk.actors.posed._detour import NO_OBSTACLES, Obstacles, find_detour
from jaywalk.actors.posed._spawning import PlacedPerson
from jaywalk.actors.posed._walking import PathWalk
from jaywalk.core.arrays import FloatArray
from jaywalk.geometry.path import arc_lengths
from jaywalk.town.walkways import CROSSWALK, ROAD, SIDEWALK, VERGE, WalkGrid, solid_gap, underfoot

APPROACH_M: Final = (4.0, 15.0)  # walked along the sidewalk before the road
AT_PLACE_M: Final = 0.6
_SAMPLE_M: Final = 0.2
_LANE_STEP_M: Final = 0.5
_PLACES_TRIED: Final = 12
_APART_M: Final = 1.2  # between the starting places of two people
_ROOM_M: Final = 0.35  # between a place beside the leader and solid objects


@dataclass(slots=True, kw_only=True)
class CrossingWalk(PathWalk):
    """A walk over the road by way of a place at the kerb.

    Attributes:
        via_m: Place at the kerb.
        road_m: Where the path enters and leaves the road, as distances along it; NaN: nowhere.
        painted: Whether it enters the road on a crosswalk.
        lanes: Where each lane begins on the path, and the side from which its traffic comes: -1
            left, 1 right. Empty: not known.
    """

    via_m: tuple[float, float]
    road_m: tuple[float, float] = (math.nan, math.nan)
    painted: bool = False
    lanes: list[tuple[float, float]] = field(default_factory=list)
    _lengths: FloatArray = field(default_factory=lambda: np.zeros(0))

    def measure(self, grid: WalkGrid) -> None:
        """Find the road on the path."""
        self._lengths = arc_lengths(self.path)
        along = np.arange(0.0, float(self._lengths[-1]) + _SAMPLE_M, _SAMPLE_M)
        x = np.interp(along, self._lengths, self.path[:, 0])
        y = np.interp(along, self._lengths, self.path[:, 1])
        surface = np.array([int(underfoot(grid, u, v)) for u, v in zip(x, y, strict=True)])
        on_road = np.isin(surface, (ROAD, CROSSWALK))
        if not on_road.any():
            self.road_m, self.painted = (math.nan, math.nan), False
            return
        first, last = np.flatnonzero(on_road)[[0, -1]]
        moved = float(along[first]) - self.road_m[0]
        self.road_m = (float(along[first]), float(along[last]) + _SAMPLE_M)
        self.lanes = [(begins + moved, side) for begins, side in self.lanes]
        self.painted = bool((surface[first : first + 8] == CROSSWALK).any())

    def find_lanes(self, lane_map: carla.Map, z_m: float) -> None:
        """Find the lanes that the path crosses; call again after the path has changed."""
        self.lanes = []
        if math.isnan(self.road_m[0]):
            return
        before: tuple[int, int] | None = None
        for along in np.arange(self.road_m[0] + 0.5 * _LANE_STEP_M, self.road_m[1], _LANE_STEP_M):
            x, y = (float(np.interp(along, self._lengths, self.path[:, a])) for a in (0, 1))
            ax, ay = (float(np.interp(along + 0.5, self._lengths, self.path[:, a])) for a in (0, 1))
            lane = lane_map.get_waypoint(carla.Location(x, y, z_m))
            if lane is None or (lane.road_id, lane.lane_id) == before:
                continue
            before = lane.road_id, lane.lane_id
            flow = lane.transform.get_forward_vector()
            # Traffic comes from where its lane leads away; positive is to the right.
            comes = (ay - y) * flow.x - (ax - x) * flow.y
            self.lanes.append((float(along), 1.0 if comes > 0.0 else -1.0))

    def facts(self) -> dict[str, Any]:
        """The path, its part on the road, and the lanes there, for the record."""
        known = not math.isnan(self.road_m[0])
        return {
            "path_m": [[round(float(v), 3) for v in corner] for corner in self.path],
            "via_m": [round(float(v), 3) for v in self.via_m],
            "road_m": [round(v, 3) for v in self.road_m] if known else None,
            "painted": self.painted,
            "lanes": [[round(begins, 2), side] for begins, side in self.lanes],
        }

    def along_m(self, x: float, y: float) -> float:
        """Distance walked along the path."""
        cx, cy = self.path[self.at]
        return float(self._lengths[self.at]) - math.hypot(cx - x, cy - y)

    def reroute(self, grid: WalkGrid, obstacles: Obstacles, x: float, y: float) -> bool:
        """Find another path to the goal, still by way of the kerb if the road lies ahead."""
        before_kerb = self.along_m(x, y) < self.road_m[0] - AT_PLACE_M
        if not before_kerb:
            if not PathWalk.reroute(self, grid, obstacles, x, y):
                return False
            self.measure(grid)
            return True
        path = crossing_path(grid, obstacles, (x, y), self.via_m, self.goal_m)
        if path is None:
            return False
        self.path, self.at = path, 1
        self.reroutes += 1
        self.measure(grid)
        return True


def crossing_path(
    grid: WalkGrid,
    obstacles: Obstacles,
    start_m: tuple[float, float],
    via_m: tuple[float, float],
    goal_m: tuple[float, float],
) -> FloatArray | None:
    """Return the corners of a path along the sidewalk to ``via_m`` and then over the road."""
    over = find_detour(grid, obstacles, via_m, goal_m)
    if len(over) < 2:
        over = np.array([via_m, goal_m])
    if math.hypot(start_m[0] - via_m[0], start_m[1] - via_m[1]) < AT_PLACE_M:
        return np.asarray(np.concatenate([np.array([start_m]), over[1:]]))
    to_kerb = find_detour(grid, obstacles, start_m, via_m, keeps_off=True)
    if len(to_kerb) < 2:
        return None
    return np.asarray(np.concatenate([to_kerb[:-1], over]))


def approach_start(
    network: WalkNetwork,
    placed: PlacedPerson,
    taken_m: list[tuple[float, float]],
    random: np.random.Generator,
) -> tuple[tuple[float, float], float]:
    """Return a place on the same sidewalk from which a person walks up to the road, and the length.

    The place is the person's own one, with length 0, if there is no other.
    """
    places, a = network.places, placed.a_m
    away = np.hypot(places.x - a[0], places.y - a[1])
    own = int(places.block[int(np.argmin(away))])
    wanted = float(random.uniform(*APPROACH_M))
    near = np.flatnonzero((places.block == own) & (away >= APPROACH_M[0]) & (away <= APPROACH_M[1]))
    for k in near[np.argsort(np.abs(away[near] - wanted), kind="stable")][:_PLACES_TRIED].tolist():
        start = (float(places.x[k]), float(places.y[k]))
        if any(math.hypot(start[0] - x, start[1] - y) < _APART_M for x, y in taken_m):
            continue
        path = find_detour(network.grid, NO_OBSTACLES, start, a, keeps_off=True)
        length_m = float(arc_lengths(path)[-1]) if len(path) >= 2 else math.inf
        if length_m <= 1.5 * APPROACH_M[1]:
            return start, length_m
    return a, 0.0


def beside(path: FloatArray, ahead_m: float, aside_m: float, grid: WalkGrid) -> FloatArray:
    """Return a path beside another one; where there is no room the corners are the same.

    Args:
        path: Corners (n, 2) of the leader's path.
        ahead_m: Distance of the follower's place before the leader; it moves the ends.
        aside_m: Distance to the right of the leader.
        grid: Surfaces and solid objects.
    """
    ways = np.diff(path, axis=0)
    ways = ways / np.maximum(np.hypot(ways[:, 0], ways[:, 1]), 1e-9)[:, None]
    before, after = np.concatenate([ways[:1], ways]), np.concatenate([ways, ways[-1:]])
    course = before + after
    course = course / np.maximum(np.hypot(course[:, 0], course[:, 1]), 1e-9)[:, None]
    moved = path + aside_m * np.column_stack([-course[:, 1], course[:, 0]])
    moved[0] += ahead_m * course[0]
    moved[-1] += ahead_m * course[-1]
    for k in range(len(path)):
        if not _alike(grid, path[k], moved[k]):
            moved[k] = path[k]
    return np.ascontiguousarray(moved)


def _alike(grid: WalkGrid, a: FloatArray, b: FloatArray) -> bool:
    """Return True if two places are both on the road or both off it, and the second is free."""
    if float(solid_gap(grid, float(b[0]), float(b[1]))) < _ROOM_M:
        return False
    here, there = (int(underfoot(grid, float(p[0]), float(p[1]))) for p in (a, b))
    if here in (ROAD, CROSSWALK):
        return there in (ROAD, CROSSWALK)
    return there in (SIDEWALK, VERGE)
