"""Walks of reacting people up to the road and over it."""

from __future__ import annotations

import numpy as np
import pytest

from jaywalk.actors.posed._detour import NO_OBSTACLES
from jaywalk.actors.posed._ways import CrossingWalk, crossing_path
from jaywalk.town.walkways import CROSSWALK, ROAD, SIDE, SIDEWALK, Tiling, WalkGrid

CELL_M = 0.25
ROAD_Y_M = (6.0, 10.0)


def street(*, painted: bool = False) -> WalkGrid:
    """A road along x from y = 6 to 10 m with sidewalks on both sides."""
    tiling = Tiling(x0_m=0.0, y0_m=0.0, cell_m=CELL_M, tile=np.zeros((1, 1), np.int32))
    surface = np.full((1, SIDE, SIDE), SIDEWALK, np.uint8)
    rows = slice(round(ROAD_Y_M[0] / CELL_M), round(ROAD_Y_M[1] / CELL_M))
    surface[0, rows] = CROSSWALK if painted else ROAD
    return WalkGrid(tiling, surface, np.full((1, SIDE, SIDE), 20, np.uint8), np.zeros_like(surface))


@pytest.mark.parametrize("painted", [False, True])
def test_the_road_is_found_on_the_path(painted: bool) -> None:
    grid = street(painted=painted)
    walk = CrossingWalk(path=np.array([(3.0, 5.0), (8.0, 5.0), (8.0, 12.0)]), via_m=(8.0, 5.0))
    walk.measure(grid)
    assert walk.road_m[0] == pytest.approx(5.0 + 1.0, abs=0.25)
    assert walk.road_m[1] == pytest.approx(5.0 + 5.0, abs=0.25)
    assert walk.painted == painted
    assert walk.along_m(5.0, 5.0) == pytest.approx(2.0)


def test_a_walk_without_a_road_has_none() -> None:
    walk = CrossingWalk(path=np.array([(3.0, 3.0), (8.0, 3.0)]), via_m=(8.0, 3.0))
    walk.measure(street())
    assert np.isnan(walk.road_m[0])


def test_people_walk_along_the_sidewalk_before_they_cross() -> None:
    grid = street()
    path = crossing_path(grid, NO_OBSTACLES, (2.0, 4.5), (9.0, 5.0), (9.0, 12.0))
    assert path is not None
    kerb = int(np.argmin(np.hypot(*(path - (9.0, 5.0)).T)))
    assert np.hypot(*(path[kerb] - (9.0, 5.0))) < 0.3
    assert (path[: kerb + 1, 1] < ROAD_Y_M[0]).all()
    assert tuple(path[-1]) == (9.0, 12.0)


def test_a_new_path_still_leads_by_way_of_the_kerb() -> None:
    grid = street()
    walk = CrossingWalk(path=np.array([(2.0, 5.0), (9.0, 5.0), (9.0, 12.0)]), via_m=(9.0, 5.0))
    walk.measure(grid)
    assert walk.reroute(grid, NO_OBSTACLES, 3.0, 4.0)
    assert np.hypot(*(walk.path - (9.0, 5.0)).T).min() < 0.3
    assert walk.reroutes == 1
