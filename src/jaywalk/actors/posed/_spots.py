"""Standing places of the posed people of a route: kerbs before crossings, and sidewalks.

People who cross stand where a straight path over the road meets the route: at the ends of
crosswalks, by bus stops and shop fronts, in gaps between parked cars, at the kerb. People who do
not cross stand at any place near the route. All places are off the carriageway and clear of solid
objects.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jaywalk.actors.crowd.places import (
    PlaceKind,
    Places,
    WalkNetwork,
    near_route,
    nearest_box,
    right_of,
)
from jaywalk.core.arrays import FloatArray, IntArray
from jaywalk.core.kernels import kernel
from jaywalk.town.ground import Ground, surface_height
from jaywalk.town.routes import DenseRoute
from jaywalk.town.walkways import SIDEWALK, VERGE, WalkGrid, edge_gap, solid_gap, underfoot

_SHIFTS_M: Final = (
    0.0,
    1.3,
    -1.3,
    2.6,
    -2.6,
    3.9,
    -3.9,
)  # along the kerb, for several people at a crossing
_FEW: Final = 80
_ACROSS_M: Final = 2  # metres of the route between two paths straight across it
_WIDEST_M: Final = 25.0  # from the route to the sidewalk
_IN_M: Final = 0.5
_BACK_M: Final = (1.3, 2.6)
_STOP_M: Final = 8.0
_SHOP_M: Final = 6.0
_PARKED_M: Final = 4.0
_STEP_M: Final = 0.25
_ROOM_M: Final = 0.15
_CLEAR_M: Final = 0.42  # between the middle of a path over the road and solid objects
_SHARP: Final = 0.5  # sine of the least angle between path and route
_TWICE_M: Final = 12.0  # a path that meets the route again this much later goes along it
_SHORT: Final = 0.1  # share of a short route, instead of ...
_LATEST_M: Final = 12.0  # no crossings this near to the end of the route


class Spots(NamedTuple):
    """Rows of places to stand; ``b`` is NaN for places without a crossing."""

    a: FloatArray  # (n, 2) start of the path
    b: FloatArray  # (n, 2) end of the path
    z_m: FloatArray  # height of the ground at ``a``
    yaw_rad: FloatArray  # over the road, else along the street
    kind: IntArray  # PlaceKind
    right: NDArray[np.bool_]  # to the right of the route
    along_m: FloatArray  # distance along the route of the meeting point or nearest point

    def where(self, keep: NDArray[np.bool_]) -> Spots:
        """Return the rows selected by a mask."""
        return Spots(
            a=self.a[keep],
            b=self.b[keep],
            z_m=self.z_m[keep],
            yaw_rad=self.yaw_rad[keep],
            kind=self.kind[keep],
            right=self.right[keep],
            along_m=self.along_m[keep],
        )


def crossing_spots(network: WalkNetwork, route: DenseRoute, parked: FloatArray) -> Spots:
    """Find places from which a straight path over the road meets the route.

    Args:
        network: Walk network of the town.
        route: Route of the ego.
        parked: Boxes (n, 6) of standing vehicles.
    """
    line = np.ascontiguousarray(route.position_m[:, :2])
    rows = _ways_over(network, route, line, parked)
    if len(rows) < _FEW:  # where crossings are rare, people cross anywhere
        rows += _ways_across(network, route, line, parked)
    if len(rows) < _FEW:  # and stand in a second row
        rows += _second_row(network, parked, rows)
    table = np.array(rows).reshape(-1, 6)
    along = route.along_m[table[:, 5].astype(int)]
    a, b = np.ascontiguousarray(table[:, :2]), np.ascontiguousarray(table[:, 2:4])
    length_m = float(route.along_m[-1])
    keep = along < length_m - min(_LATEST_M, _SHORT * length_m)
    kind = _kinds(network, a, table[:, 4] > 0.5, parked)
    spots = Spots(
        a=a,
        b=b,
        z_m=_heights_at(network.ground, a, line, route.position_m[:, 2]),
        yaw_rad=np.arctan2(b[:, 1] - a[:, 1], b[:, 0] - a[:, 0]),
        kind=kind,
        right=right_of(a, route, table[:, 5].astype(int)),
        along_m=along,
    )
    return spots.where(keep)


def _ways_over(
    network: WalkNetwork, route: DenseRoute, line: FloatArray, parked: FloatArray
) -> list[tuple[float, ...]]:
    """Return paths (start, end, whether painted, point of the route) at the town's crossings."""
    crossings = network.crossings
    middle = 0.5 * (crossings.a + crossings.b)
    rows = []
    for k in np.flatnonzero(near_route(middle, route, 30.0)).tolist():
        a, b = crossings.a[k], crossings.b[k]
        ahead = (b - a) / max(float(np.hypot(*(b - a))), 1e-6)
        side = np.array([-ahead[1], ahead[0]])
        painted = crossings.crosswalk[k] >= 0
        for shift in _SHIFTS_M[:3] if painted else _SHIFTS_M:
            start, end = a + shift * side, b + shift * side
            ends = [float(value) for value in (*start, *end)]
            meets = int(_meets(line, *ends))
            if meets >= 0 and _walkable(network.grid, parked, *ends):
                rows.append((*ends, float(painted), float(meets)))
    return rows


def _ways_across(
    network: WalkNetwork, route: DenseRoute, line: FloatArray, parked: FloatArray
) -> list[tuple[float, ...]]:
    """Return paths straight across the route, from sidewalk to sidewalk, in both directions."""
    rows: list[tuple[float, ...]] = []
    for k in range(0, len(line), _ACROSS_M):
        if route.in_junction[k]:
            continue
        yaw = float(route.yaw_rad[k])
        ux, uy = -float(np.sin(yaw)), float(np.cos(yaw))  # to the right
        x, y = float(line[k, 0]), float(line[k, 1])
        right = _first_kerb(network.grid, x, y, ux, uy)
        left = _first_kerb(network.grid, x, y, -ux, -uy)
        for a, b in ((right, left), (left, right)):
            ends = (*a, *b)
            if not np.isnan(ends).any() and _walkable(network.grid, parked, *ends):
                rows.append((*ends, 0.0, float(k)))
    return rows


def _second_row(
    network: WalkNetwork, parked: FloatArray, rows: list[tuple[float, ...]]
) -> list[tuple[float, ...]]:
    """Return the paths with their starts moved farther from the kerb."""
    more: list[tuple[float, ...]] = []
    for ax, ay, bx, by, painted, meets in rows:
        size = max(float(np.hypot(bx - ax, by - ay)), 1e-6)
        ux, uy = (bx - ax) / size, (by - ay) / size
        for back in _BACK_M:
            ends = (ax - back * ux, ay - back * uy, bx, by)
            if _walkable(network.grid, parked, *ends):
                more.append((*ends, painted, meets))
    return more


@kernel
def _first_kerb(grid: WalkGrid, x: float, y: float, ux: float, uy: float) -> tuple[float, float]:
    """Return the first standing place beside the road, a little in from the kerb; NaN: none."""
    at = 1.0
    while at < _WIDEST_M:
        px, py = x + at * ux, y + at * uy
        ground = underfoot(grid, px, py)
        if ground in (SIDEWALK, VERGE) and edge_gap(grid, px, py) >= _ROOM_M:
            inner = at + _IN_M
            while inner > at and edge_gap(grid, x + inner * ux, y + inner * uy) < _ROOM_M:
                inner -= 0.1
            return x + inner * ux, y + inner * uy
        at += 0.1
    return np.nan, np.nan


def staying_spots(places: Places, route: DenseRoute, band_m: float) -> Spots:
    """Find places near the route for people who do not cross; verges only if sidewalks are rare."""
    xy = np.column_stack([places.x, places.y])
    usable = (places.block >= 0) & near_route(xy, route, band_m)
    walked = usable & (places.kind != int(PlaceKind.VERGE))
    chosen = np.flatnonzero(walked if walked.sum() > 60 else usable)
    xy = np.ascontiguousarray(xy[chosen])
    line = route.position_m[:, :2]
    gaps = [np.hypot(*(line - place).T) for place in xy]
    nearest = [int(np.argmin(gap)) for gap in gaps]
    passed = np.array([_first_passed(gap, band_m) for gap in gaps], int)
    return Spots(
        a=xy,
        b=np.full_like(xy, np.nan),
        z_m=places.z[chosen],
        yaw_rad=places.yaw[chosen],
        kind=places.kind[chosen],
        right=right_of(xy, route, passed),
        along_m=route.along_m[np.array(nearest, int)],
    )


def _first_passed(gap_m: FloatArray, band_m: float) -> int:
    """Return the point at which a route first passes a place; it may return on the other side.

    ``gap_m`` holds the distances of all points of the route, at least one within the band.
    """
    near = gap_m <= band_m
    first = int(np.argmax(near))
    rest = ~near[first:]
    last = first + int(np.argmax(rest)) if rest.any() else len(near)
    return first + int(np.argmin(gap_m[first:last]))


def _kinds(
    network: WalkNetwork, a: FloatArray, painted: NDArray[np.bool_], parked: FloatArray
) -> IntArray:
    kind = np.full(len(a), int(PlaceKind.SIDEWALK))
    for boxes, reach_m, place_kind in (
        (network.solids.buildings, _SHOP_M, PlaceKind.SHOP_FRONT),
        (parked, _PARKED_M, PlaceKind.PARKED_GAP),
        (network.solids.shelters, _STOP_M, PlaceKind.BUS_STOP),
    ):
        kind[nearest_box(a, boxes, reach_m) >= 0] = int(place_kind)
    kind[painted] = int(PlaceKind.CROSSWALK)
    return kind


def _heights_at(
    ground: Ground, places: FloatArray, line: FloatArray, heights: FloatArray
) -> FloatArray:
    out = np.zeros(len(places))
    for k, place in enumerate(places):
        nearest = int(np.argmin(np.hypot(*(line - place).T)))
        out[k] = surface_height(ground, float(place[0]), float(place[1]), float(heights[nearest]))
    return out


@kernel
def _meets(line: NDArray[np.float64], ax: float, ay: float, bx: float, by: float) -> int:
    """Return the point of the route that a path meets once, at a large enough angle; -1: none."""
    meeting = -1
    for k in range(len(line) - 1):
        px, py = line[k, 0], line[k, 1]
        dx, dy = line[k + 1, 0] - px, line[k + 1, 1] - py
        ex, ey = bx - ax, by - ay
        cross = dx * ey - dy * ex
        size = np.hypot(dx, dy) * np.hypot(ex, ey)
        if size < 1e-9 or abs(cross) < 1e-9:
            continue
        s = ((ax - px) * ey - (ay - py) * ex) / cross
        t = ((ax - px) * dy - (ay - py) * dx) / cross
        if 0.0 <= s <= 1.0 and 0.0 <= t <= 1.0:
            if abs(cross) < _SHARP * size:
                return -1
            if meeting >= 0 and k - meeting > _TWICE_M:
                return meeting
            meeting = k
    return meeting


@kernel
def _walkable(
    grid: WalkGrid, parked: NDArray[np.float64], ax: float, ay: float, bx: float, by: float
) -> bool:
    """Return True if a person can stand at ``a`` and ``b`` and no solid object lies between."""
    for x, y in ((ax, ay), (bx, by)):
        ground = underfoot(grid, x, y)
        if (ground != SIDEWALK and ground != VERGE) or edge_gap(grid, x, y) < _ROOM_M:
            return False
    length = np.hypot(bx - ax, by - ay)
    steps = int(length / _STEP_M) + 1
    for step in range(steps + 1):
        x, y = ax + (bx - ax) * step / steps, ay + (by - ay) * step / steps
        if solid_gap(grid, x, y) < _CLEAR_M:
            return False
    for j in range(len(parked)):
        dx, dy = parked[j, 0] - ax, parked[j, 1] - ay
        if np.hypot(dx, dy) < parked[j, 4] + parked[j, 5] + 0.3:
            along, across = (
                abs(dx * parked[j, 2] + dy * parked[j, 3]),
                abs(dy * parked[j, 2] - dx * parked[j, 3]),
            )
            if along < parked[j, 4] + 0.4 and across < parked[j, 5] + 0.4:
                return False
    return True
