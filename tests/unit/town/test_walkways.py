"""The walk grid against shapely: what is underfoot, how far the edge and solid things are."""

from __future__ import annotations

import networkx
import numpy as np
import pytest
import shapely

from jaywalk.town.ground import Ground
from jaywalk.town.town import Town
from jaywalk.town.walk_search import blocks_at, find_way, name_blocks
from jaywalk.town.walkways import (
    BODY_M,
    CELL_M,
    CROSSWALK,
    NEAR_M,
    NOWHERE,
    ROAD,
    SIDEWALK,
    STEP_M,
    VERGE,
    WalkGrid,
    build_walk_grid,
    edge_gap,
    solid_gap,
    underfoot,
)

# A wall across half of the right sidewalk, a post on the left one, a house beside it.
SOLIDS = np.array(
    [
        [40.0, 4.4, 0.0, 1.0, 0.5, 0.2],
        [70.0, -5.0, 1.0, 0.0, 0.15, 0.0],
        [30.0, -12.0, np.cos(0.3), np.sin(0.3), 5.0, 3.0],
    ]
)


@pytest.fixture(scope="module")
def grid(street: Town) -> WalkGrid:
    return build_walk_grid(street.strips, street.crosswalks, SOLIDS, street.ground)


def strip_union(town: Town, kinds: set[str]) -> shapely.Geometry:
    return shapely.union_all(
        [
            shapely.Polygon(np.concatenate([s.inner_m[:, :2], s.outer_m[::-1, :2]]))
            for s in town.strips
            if s.kind in kinds
        ]
    ).buffer(1e-6)


def shapes() -> list[shapely.Geometry]:
    found: list[shapely.Geometry] = []
    for x, y, cos, sin, along, across in SOLIDS:
        if across == 0.0:
            found.append(shapely.Point(x, y).buffer(along, quad_segs=32))
            continue
        box = shapely.box(-along, -across, along, across)
        found.append(shapely.affinity.affine_transform(box, [cos, -sin, sin, cos, x, y]))
    return found


def test_surfaces_are_those_of_the_lanes(street: Town, grid: WalkGrid) -> None:
    walk, road = strip_union(street, {"sidewalk"}), strip_union(street, {"driving"})
    crossing = shapely.Polygon(street.crosswalks[0][:, :2])
    random = np.random.default_rng(1)
    places = random.uniform((5.0, -8.0), (115.0, 8.0), (3000, 2))
    wrong = 0
    for x, y in places:
        point = shapely.Point(x, y)
        edges = (walk.boundary, road.boundary, crossing.boundary)
        if min(edge.distance(point) for edge in edges) < 0.2:
            continue
        expected = NOWHERE
        if crossing.contains(point):
            expected = CROSSWALK
        elif road.contains(point):
            expected = ROAD
        elif walk.contains(point):
            expected = SIDEWALK
        wrong += underfoot(grid, x, y) != expected
    assert wrong == 0
    assert underfoot(grid, 1e4, 1e4) == NOWHERE


def test_solid_distance_is_exact_to_a_cell(grid: WalkGrid) -> None:
    random = np.random.default_rng(2)
    things = shapes()
    for x, y in random.uniform((20.0, -18.0), (80.0, 8.0), (2000, 2)):
        expected = min(NEAR_M, min(thing.distance(shapely.Point(x, y)) for thing in things))
        assert abs(solid_gap(grid, x, y) - expected) < 0.71 * CELL_M + STEP_M


def test_edge_distance_agrees_with_shapely(street: Town, grid: WalkGrid) -> None:
    crossing = shapely.Polygon(street.crosswalks[0][:, :2])
    walk = strip_union(street, {"sidewalk"}).union(crossing.buffer(0.05))
    free = walk.difference(shapely.union_all(shapes()).buffer(BODY_M))
    random = np.random.default_rng(3)
    for x, y in random.uniform((10.0, -6.0), (110.0, 6.0), (2000, 2)):
        point = shapely.Point(x, y)
        expected = min(free.boundary.distance(point), 2.0) if free.contains(point) else 0.0
        assert abs(edge_gap(grid, x, y) - expected) < 1.5 * CELL_M


def test_way_goes_round_the_wall_and_is_shortest(grid: WalkGrid) -> None:
    way = find_way(grid, (30.0, 4.5), (50.0, 4.5), keep_m=0.0)
    assert len(way) > 10
    assert all(edge_gap(grid, x, y) > 0.0 for x, y in way)
    graph = networkx.Graph()
    x0, y0 = grid.tiling.x0_m, grid.tiling.y0_m
    cells = {
        (row, column)
        for row in range(int((3.0 - y0) / CELL_M), int((6.0 - y0) / CELL_M))
        for column in range(int((25.0 - x0) / CELL_M), int((55.0 - x0) / CELL_M))
        if edge_gap(grid, x0 + (column + 0.5) * CELL_M, y0 + (row + 0.5) * CELL_M) > 0.0
    }
    for row, column in cells:
        for dr, dc in ((0, 1), (1, 0), (1, 1), (1, -1)):
            if (row + dr, column + dc) in cells:
                graph.add_edge((row, column), (row + dr, column + dc), w=np.hypot(dr, dc))

    def cell(place: np.ndarray) -> tuple[int, int]:
        column, row = ((place - (x0, y0)) / CELL_M).astype(int)
        return int(row), int(column)

    shortest = networkx.dijkstra_path_length(graph, cell(way[0]), cell(way[-1]), weight="w")
    length = np.hypot(*np.diff(way, axis=0).T).sum()
    # Without a wanted distance every metre still costs a little more in the middle.
    assert length < 1.1 * shortest * CELL_M + 0.5


def test_ways_keep_the_wanted_distance(grid: WalkGrid) -> None:
    narrow = find_way(grid, (80.0, 4.5), (110.0, 4.5), keep_m=0.9)
    middle = narrow[20:-20, 1]
    assert np.abs(middle - 4.5).max() < 0.3


def test_sides_are_connected_by_crosswalks_only_when_asked(grid: WalkGrid) -> None:
    left, right = (60.0, -4.5), (60.0, 4.5)
    assert len(find_way(grid, left, right)) == 0
    over = find_way(grid, left, right, crosswalks=True)
    assert {int(underfoot(grid, x, y)) for x, y in over} == {SIDEWALK, CROSSWALK}
    places = np.array([left, right, (30.0, -4.5), (100.0, 4.5), (60.0, 0.0), (60.0, 30.0)])
    names = blocks_at(grid, name_blocks(grid), places)
    assert names[0] == names[2]
    assert names[1] == names[3]
    assert names[0] != names[1]
    assert list(names[4:]) == [-1, -1]


def test_verges_only_beside_roads_without_sidewalk(street: Town, grid: WalkGrid) -> None:
    assert not (grid.surface == VERGE).any()
    bare = build_walk_grid(
        [strip for strip in street.strips if strip.kind == "driving"],
        [],
        np.zeros((0, 6)),
        street.ground,
    )
    assert underfoot(bare, 60.0, 4.5) == VERGE
    assert underfoot(bare, 60.0, 6.0) == NOWHERE
    assert underfoot(bare, 60.0, 1.0) == ROAD


def test_nobody_walks_where_a_road_has_another_below(street: Town) -> None:
    bridge = _bridge(street.ground, 60.0)
    grid = build_walk_grid(street.strips, [], np.zeros((0, 6)), bridge)
    assert underfoot(grid, 60.0, 4.5) == NOWHERE
    assert underfoot(grid, 60.0, 1.0) == NOWHERE
    assert underfoot(grid, 50.0, 4.5) == SIDEWALK


def _bridge(ground: Ground, x_m: float) -> Ground:
    """The same ground with a second level 6 m below within 3 m of ``x_m``."""
    starts, heights = [0], []
    for node in range(ground.columns * ground.rows):
        own = ground.heights_m[ground.starts[node] : ground.starts[node + 1]].tolist()
        near = abs(ground.x0_m + (node % ground.columns) * ground.cell_m - x_m) < 3.0
        heights += [own[0] - 6.0, *own] if near and own else own
        starts.append(len(heights))
    return ground._replace(
        starts=np.array(starts, np.int32), heights_m=np.array(heights, np.float32)
    )
