"""Walk network of a town: the places where people stand, and the crossings between sidewalks.

Places are at crosswalks, bus stops, shop fronts and parked cars, and along sidewalks. Every place
is on a sidewalk (or on a verge, where a road has none), off the carriageway and clear of solid
objects. The network is built once per town and shared by all episodes.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jaywalk.actors.crowd._crossings import Crossings, find_crossings
from jaywalk.actors.crowd.state import SolidFootprints, read_solids
from jaywalk.actors.lane_network import LaneNetwork
from jaywalk.actors.traffic.traffic import network_of
from jaywalk.core.arrays import FloatArray, IntArray
from jaywalk.core.kernels import kernel
from jaywalk.geometry.box import box_distance
from jaywalk.geometry.path import arc_lengths, points_at
from jaywalk.town.ground import Ground, surface_height
from jaywalk.town.lanes import LaneStrip
from jaywalk.town.routes import DenseRoute
from jaywalk.town.town import Town, town_from_opendrive
from jaywalk.town.walk_search import blocks_at, name_blocks
from jaywalk.town.walkways import (
    SIDEWALK,
    VERGE,
    WALKED,
    WalkGrid,
    build_walk_grid,
    edge_gap,
    underfoot,
)

if TYPE_CHECKING:
    import carla

_STEP_M: Final = 4.0
_KERB_M: Final = 0.6  # from the kerb, or from the inner edge, to the middle of a person
_ROOM_M: Final = 0.15  # smallest distance of a place from the edge of the walkable area
_SHOP_M: Final = 3.5
_STOP_M: Final = 4.0
_KERB_GAP_M: Final = 0.7  # a vehicle nearer to the kerb than this is parked
_GAP_M: Final = 2.5
_LEVEL_M: Final = 0.4  # a verge with a larger height difference to its road is a bank or a bridge


class PlaceKind(IntEnum):
    """Kind of a place; the reason for a person to be there."""

    SIDEWALK = 0
    CROSSWALK = 1
    BUS_STOP = 2
    SHOP_FRONT = 3
    PARKED_GAP = 4
    VERGE = 5


class Places(NamedTuple):
    """Rows of places; ``yaw`` points along the street."""

    x: FloatArray
    y: FloatArray
    z: FloatArray  # height of the ground
    yaw: FloatArray
    kind: IntArray  # PlaceKind
    block: IntArray  # connected block of sidewalk


def find_places(
    grid: WalkGrid,
    blocks: NDArray[np.int32],
    ground: Ground,
    strips: list[LaneStrip],
    crossings: Crossings,
    solids: SolidFootprints,
) -> Places:
    """Find all places of a town, in the order of its lanes."""
    rows = [_along(strip) for strip in strips if _is_walked(strip)]
    rows.append(_at_crosswalks(crossings))
    table = np.concatenate([*rows, np.zeros((0, 5))])
    kind = table[:, 4].astype(np.int64)
    z = np.empty(len(table))
    keep = np.zeros(len(table), np.bool_)
    _check(grid, ground, table, z, keep)
    plain = kind == PlaceKind.SIDEWALK
    for near, reach_m, new in (
        (solids.buildings, _SHOP_M, PlaceKind.SHOP_FRONT),
        (solids.shelters, _STOP_M, PlaceKind.BUS_STOP),
    ):
        kind[plain & (nearest_box(table[:, :2], near, reach_m) >= 0)] = new
    table, z, kind = table[keep], z[keep], kind[keep]
    block = blocks_at(grid, blocks, table[:, :2])
    return Places(table[:, 0], table[:, 1], z, table[:, 3], kind, block)


def _is_walked(strip: LaneStrip) -> bool:
    kinds = ("sidewalk", "walking", "shoulder", "driving", "parking", "stop", "biking")
    return not strip.in_junction and strip.kind in kinds


def _along(strip: LaneStrip) -> FloatArray:
    """Candidates (x, y, z, yaw, kind) along a strip: by the kerb, in the middle, at the far side.

    Beside a lane of the road they lie beyond its outer edge; the grid tells where that is a verge.
    """
    inner, outer = strip.inner_m, strip.outer_m
    along = arc_lengths(inner)
    at = np.arange(0.5 * _STEP_M, along[-1], _STEP_M)
    if not len(at):
        return np.zeros((0, 5))
    near = points_at(at, along, inner)
    far = points_at(at, along, outer)
    across = far[:, :2] - near[:, :2]
    width = np.hypot(across[:, 0], across[:, 1])
    across = across / np.maximum(width, 1e-6)[:, None]
    yaw = np.arctan2(across[:, 1], across[:, 0]) - 0.5 * np.pi
    walked = strip.kind in WALKED
    kind = int(PlaceKind.SIDEWALK if walked else PlaceKind.VERGE)
    offsets: list[FloatArray]
    if walked:
        offsets = [np.full(len(at), _KERB_M), 0.5 * width, width - _KERB_M]
    elif strip.kind == "shoulder":
        offsets = [0.5 * width, 0.75 * width]
    else:
        offsets = [width + 0.5, width + 1.0]
    rows = []
    for turn, offset in enumerate(offsets):
        place = near[:, :2] + across * offset[:, None]
        facing = yaw + np.pi * (turn % 2)
        rows.append(np.column_stack([place, near[:, 2], facing, np.full(len(at), kind)]))
    return np.concatenate(rows)


def _at_crosswalks(crossings: Crossings) -> FloatArray:
    """Return places at the ends of crosswalks, facing the road, a little apart from each other."""
    chosen = crossings.crosswalk >= 0
    a, ahead = crossings.a[chosen], (crossings.b - crossings.a)[chosen]
    ahead = ahead / np.maximum(np.hypot(ahead[:, 0], ahead[:, 1]), 1e-6)[:, None]
    side = np.column_stack([-ahead[:, 1], ahead[:, 0]])
    yaw = np.arctan2(ahead[:, 1], ahead[:, 0])
    kind = np.full(len(a), int(PlaceKind.CROSSWALK))
    rows = [
        np.column_stack([a + shift * side - back * ahead, np.full(len(a), np.nan), yaw, kind])
        for shift, back in ((0.0, 0.3), (1.2, 0.5), (-1.2, 0.5))
    ]
    return np.concatenate(rows)


@kernel
def _check(
    grid: WalkGrid,
    ground: Ground,
    table: NDArray[np.float64],
    z: NDArray[np.float64],
    keep: NDArray[np.bool_],
) -> None:
    for k in range(len(table)):
        x, y, near = table[k, 0], table[k, 1], table[k, 2]
        z[k] = surface_height(ground, x, y, 0.0 if np.isnan(near) else near)
        ground_kind = underfoot(grid, x, y)
        if edge_gap(grid, x, y) < _ROOM_M:
            continue
        if int(table[k, 4]) == 5:
            keep[k] = ground_kind == VERGE and abs(z[k] - near) < _LEVEL_M
        else:
            keep[k] = ground_kind in (SIDEWALK, VERGE)


def nearest_box(places_m: FloatArray, boxes: FloatArray, reach_m: float) -> IntArray:
    """Return the row of the nearest box (n, 6) within reach of each place (k, 2); -1: none."""
    result = np.full(len(places_m), -1, np.int64)
    _nearest_box(
        np.ascontiguousarray(places_m),
        np.ascontiguousarray(boxes, dtype=np.float64),
        reach_m,
        result,
    )
    return result


@kernel
def _nearest_box(
    places: NDArray[np.float64], boxes: NDArray[np.float64], reach: float, out: NDArray[np.int64]
) -> None:
    for k in range(len(places)):
        best = reach
        for j in range(len(boxes)):
            x, y, cos, sin, along, across = boxes[j]
            if abs(places[k, 0] - x) > along + across + reach:
                continue
            gap = box_distance(places[k, 0], places[k, 1], x, y, cos, sin, along, across)
            if gap < best:
                best, out[k] = gap, j


def mark_parked(places: Places, grid: WalkGrid, boxes: FloatArray) -> Places:
    """Return the places with those at the front or rear of a parked vehicle as ``PARKED_GAP``.

    Args:
        places: All places.
        grid: Distinguishes parked vehicles (by a kerb) from those that wait on a lane.
        boxes: (n, 6) standing vehicles.
    """
    kind = places.kind.copy()
    for x, y, cos, sin, along, across in boxes:
        aside = across + _KERB_GAP_M
        kerbs = [
            underfoot(grid, float(x - side * aside * sin), float(y + side * aside * cos))
            for side in (-1.0, 1.0)
        ]
        if not any(kerb in (SIDEWALK, VERGE) for kerb in kerbs):
            continue
        dx, dy = places.x - x, places.y - y
        ahead, side = np.abs(dx * cos + dy * sin), np.abs(dy * cos - dx * sin)
        near = (ahead > along) & (ahead < along + _GAP_M) & (side < aside + _KERB_M + 0.5)
        kind[near & (kind == PlaceKind.SIDEWALK)] = PlaceKind.PARKED_GAP
    return places._replace(kind=kind)


def near_route(places_m: FloatArray, route: DenseRoute, band_m: float) -> NDArray[np.bool_]:
    """Return a mask of the places (n, 2) within ``band_m`` of a route and not beyond its ends."""
    near = np.zeros(len(places_m), np.bool_)
    line = np.ascontiguousarray(route.position_m[:, :2])
    _mark_near(np.ascontiguousarray(places_m), line, float(band_m), near)
    return near


@kernel
def _mark_near(
    places: NDArray[np.float64], line: NDArray[np.float64], reach: float, near: NDArray[np.bool_]
) -> None:
    for k in range(len(places)):
        for j in range(len(line)):
            dx, dy = places[k, 0] - line[j, 0], places[k, 1] - line[j, 1]
            if dx * dx + dy * dy < reach * reach:
                near[k] = True
                break


def on_right(x_m: FloatArray, y_m: FloatArray, route: DenseRoute) -> NDArray[np.bool_]:
    """Return a mask of the places to the right of a route, seen from its nearest point."""
    line, places = route.position_m[:, :2], np.column_stack([x_m, y_m])
    nearest = [int(np.argmin(((place - line) ** 2).sum(axis=1))) for place in places]
    return right_of(places, route, np.array(nearest, np.int64))


def right_of(places_m: FloatArray, route: DenseRoute, at: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return a mask of the places (n, 2) to the right of the points ``at`` of a route."""
    yaw = route.yaw_rad[at]
    gap = places_m - route.position_m[at, :2]
    return np.asarray(np.cos(yaw) * gap[:, 1] - np.sin(yaw) * gap[:, 0] > 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class WalkNetwork:
    """Places and crossings of a town for people on foot. Frame: CARLA's left-handed metres."""

    grid: WalkGrid
    ground: Ground
    places: Places
    crossings: Crossings
    solids: SolidFootprints


def walk_network_of(
    world: carla.World, town: Town | None = None, lanes: LaneNetwork | None = None
) -> WalkNetwork:
    """Build the walk network of a server's world; takes seconds, so keep it per town.

    Args:
        world: A ``carla.World``.
        town: The town, if already known; otherwise it is built from the server's map.
        lanes: The lanes of the traffic, if already known.
    """
    if town is None:
        town = town_from_opendrive(world.get_map().to_opendrive())
    solids = read_solids(world, town.ground)
    grid = build_walk_grid(town.strips, town.crosswalks, solids.all, town.ground)
    blocks = name_blocks(grid)
    crossings = find_crossings(
        grid, blocks, town.strips, town.crosswalks, lanes or network_of(world, town)
    )
    places = find_places(grid, blocks, town.ground, town.strips, crossings, solids)
    return WalkNetwork(
        grid=grid, ground=town.ground, places=places, crossings=crossings, solids=solids
    )
