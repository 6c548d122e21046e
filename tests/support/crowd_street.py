"""A straight street with sidewalks, a crossing, and people on straight paths."""

from __future__ import annotations

from functools import cache

import numpy as np
from scipy.ndimage import distance_transform_edt

from jaywalk.actors.crowd._crossings import LIGHTS, Crossings
from jaywalk.actors.crowd.state import (
    PATH_STEP_M,
    WALKING,
    CrowdRows,
    CrowdSurroundings,
    make_crowd_rows,
)
from jaywalk.town.walkways import ROAD, SIDE, SIDEWALK, STEP_M, Tiling, WalkGrid

CELL_M = 0.25
DELTA_S = 0.1


@cache
def street(width_m: float = 3.0) -> WalkGrid:
    """Sidewalks at y in 0..width and 10..10 + width, road between, 80 m long."""
    surface = np.zeros((SIDE, 5 * SIDE), np.uint8)
    middle = (np.arange(64) + 0.5) * CELL_M
    surface[(middle < width_m) | ((middle > 10.0) & (middle < 10.0 + width_m))] = SIDEWALK
    surface[(middle > width_m) & (middle < 10.0)] = ROAD
    room = distance_transform_edt(np.pad(surface == SIDEWALK, 1))[1:-1, 1:-1] * CELL_M
    clear = np.minimum(room / STEP_M, 40).astype(np.uint8)
    tiling = Tiling(0.0, 0.0, CELL_M, np.arange(5, dtype=np.int32).reshape(1, 5))
    tiles = [np.stack(np.split(cells, 5, axis=1)) for cells in (surface, clear)]
    return WalkGrid(tiling, *tiles, np.zeros_like(tiles[0]))


def crossing(lights: int = -1, painted: int = 0) -> Crossings:
    return Crossings(
        a=np.array([[40.0, 2.3]]),
        b=np.array([[40.0, 10.7]]),
        crosswalk=np.array([painted], np.int64),
        lights=np.array([[lights] + [-1] * (LIGHTS - 1)], np.int64),
        block_a=np.zeros(1, np.int64),
        block_b=np.ones(1, np.int64),
    )


def seen(
    vehicles: list[list[float]] | None = None,
    props: list[list[float]] | None = None,
    red_s: float = -1.0,
) -> CrowdSurroundings:
    return CrowdSurroundings(
        np.array(vehicles or []).reshape(-1, 8),
        np.array(props or []).reshape(-1, 6),
        np.zeros((0, 4)),
        np.array([red_s]),
        np.array([20.0]),
    )


def walkers(*lines: list[tuple[float, float]], speed: float = 1.3) -> CrowdRows:
    """People on straight paths."""
    people = make_crowd_rows(len(lines))
    for row, line in enumerate(lines):
        points = np.array(line)
        along = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(points, axis=0).T))])
        count = round(float(along[-1]) / PATH_STEP_M) + 1
        at = np.linspace(0.0, along[-1], count)
        for axis in range(2):
            people.path[row, :count, axis] = np.interp(at, along, points[:, axis])
        people.path_count[row] = count
        people.x[row], people.y[row], people.z[row] = *points[0], 0.9
        ahead = points[1] - points[0]
        people.heading[row] = np.arctan2(ahead[1], ahead[0])
    people.half_height[:], people.speed[:], people.state[:] = 0.9, speed, WALKING
    people.margin[:], people.patience[:], people.obeys[:] = 2.0, 15.0, 1
    return people


def going_over(ways: Crossings) -> CrowdRows:
    people = walkers([(30.0, 2.3), (40.0, 2.3), (40.0, 10.7)])
    people.cross_from[0], people.cross_to[0], people.cross_ref[0] = 10.0, 18.0, 0
    return people
