"""Crossings of a town: crosswalks with the lights that stop cars before them, and mid-block ones.

A crossing leads straight from a point on one sidewalk to a point on the other side. Each crossing
is listed in both directions.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jaywalk.actors.lane_network import LaneNetwork
from jaywalk.core.arrays import FloatArray, IntArray
from jaywalk.core.kernels import kernel
from jaywalk.geometry.path import arc_lengths
from jaywalk.town.lanes import LaneStrip
from jaywalk.town.navmesh import lengthened
from jaywalk.town.roads import lane_speed_kmh
from jaywalk.town.walk_search import blocks_at
from jaywalk.town.walkways import (
    CROSSWALK,
    NOWHERE,
    ROAD,
    SIDEWALK,
    VERGE,
    WALKED,
    WalkGrid,
    edge_gap,
    solid_gap,
    underfoot,
)

LIGHTS: Final = 4  # lights that can stop cars before one crosswalk
MID_BLOCK: Final = -1
_MOUTH_M: Final = 4.5  # largest distance between a crosswalk and its sidewalk
_IN_M: Final = 0.7  # distance of waiting people from the kerb
_LONGEST_M: Final = 26.0
_LONGEST_MID_M: Final = 17.0
_FASTEST_KMH: Final = 70.0
_MID_STEP_M: Final = 10.0
_AWAY_M: Final = 14.0  # smallest distance of a mid-block crossing from a crosswalk
_BEHIND_LINE_M: Final = 14.0  # largest distance of a light's crosswalk behind its stop line


class Crossings(NamedTuple):
    """Rows of crossings; people wait at ``a`` and arrive at ``b``."""

    a: FloatArray  # (n, 2)
    b: FloatArray  # (n, 2)
    crosswalk: IntArray  # number of the crosswalk, -1: mid-block
    lights: IntArray  # (n, LIGHTS) lights that are red for cars when people walk; -1: none
    block_a: IntArray  # sidewalk block at each end
    block_b: IntArray


def find_crossings(
    grid: WalkGrid,
    blocks: NDArray[np.int32],
    strips: list[LaneStrip],
    crosswalks: list[FloatArray],
    lanes: LaneNetwork,
) -> Crossings:
    """Find all crossings of a town; mid-block ones only where the speed limit is low enough."""
    rows: list[tuple[float, float, float, float, int]] = []
    for index, polygon in enumerate(crosswalks):
        ends = _crosswalk_ends(grid, polygon)
        if ends is not None:
            rows.append((*ends, index))
    middles = np.array([polygon[:, :2].mean(axis=0) for polygon in crosswalks]).reshape(-1, 2)
    rows += [(*ends, MID_BLOCK) for ends in _mid_block(grid, strips, middles)]
    rows += [(bx, by, ax, ay, index) for ax, ay, bx, by, index in rows]
    table = np.array(rows).reshape(-1, 5)
    a, b = np.ascontiguousarray(table[:, :2]), np.ascontiguousarray(table[:, 2:4])
    both = blocks_at(grid, blocks, np.concatenate([a, b]))
    number = table[:, 4].astype(np.int64)
    keep = (both[: len(a)] >= 0) & (both[len(a) :] >= 0)
    lights = crosswalk_lights(lanes)
    return Crossings(
        a=a[keep],
        b=b[keep],
        crosswalk=number[keep],
        lights=lights[number[keep]] if len(lights) else np.full((int(keep.sum()), LIGHTS), -1),
        block_a=both[: len(a)][keep],
        block_b=both[len(a) :][keep],
    )


def _crosswalk_ends(
    grid: WalkGrid, polygon: FloatArray
) -> tuple[float, float, float, float] | None:
    """Return points on the sidewalks at both ends of a crosswalk; None if an end has none."""
    box = lengthened(polygon[:, :2], 0.0)
    ends = (0.5 * (box[0] + box[1]), 0.5 * (box[2] + box[3]))
    axis = ends[1] - ends[0]
    length = float(np.hypot(*axis))
    if length < 1.0 or length > _LONGEST_M:
        return None
    axis = axis / length
    ends_m = []
    for end, sign in ((ends[0], -1.0), (ends[1], 1.0)):
        place = _first_standing(grid, *(float(v) for v in end), *(float(v) for v in sign * axis))
        if np.isnan(place[0]):
            return None
        ends_m += [float(place[0]), float(place[1])]
    return ends_m[0], ends_m[1], ends_m[2], ends_m[3]


@kernel
def _first_standing(
    grid: WalkGrid, x: float, y: float, ux: float, uy: float
) -> tuple[float, float]:
    """Return the first standing place along a ray, a step in from the kerb; NaN if there is none.

    If the start already lies on the sidewalk, the search goes back towards the road first.
    """
    begin = 0.0
    while begin > -3.0 and underfoot(grid, x + begin * ux, y + begin * uy) == SIDEWALK:
        begin -= 0.1
    at = begin
    while at < _MOUTH_M:
        ground = underfoot(grid, x + at * ux, y + at * uy)
        if ground in (SIDEWALK, VERGE) and edge_gap(grid, x + at * ux, y + at * uy) > 0.0:
            inner = at + _IN_M
            while inner > at and edge_gap(grid, x + inner * ux, y + inner * uy) < 0.2:
                inner -= 0.1
            return x + inner * ux, y + inner * uy
        at += 0.1
    return np.nan, np.nan


def _fast_sections(strips: list[LaneStrip]) -> set[tuple[int, float]]:
    """Return the road sections that are too fast for mid-block crossings."""
    return {
        (strip.road.road_id, strip.section.start_m)
        for strip in strips
        if strip.kind == "driving"
        and lane_speed_kmh(strip.road, strip.lane, float(strip.s_m.mean())) > _FASTEST_KMH
    }


def _mid_block(
    grid: WalkGrid, strips: list[LaneStrip], crosswalks: FloatArray
) -> list[tuple[float, float, float, float]]:
    """Return straight paths over the road between sidewalks or verges, away from crosswalks."""
    paths = []
    fast = _fast_sections(strips)
    for strip in strips:
        side_walk = strip.kind in WALKED
        if strip.in_junction or (strip.road.road_id, strip.section.start_m) in fast:
            continue
        if not (side_walk or strip.kind in ("driving", "shoulder")):
            continue
        along = arc_lengths(strip.inner_m)
        for at in np.arange(0.5 * _MID_STEP_M, along[-1], _MID_STEP_M):
            k = int(np.searchsorted(along, at))
            kerb, beyond = strip.inner_m[k, :2], strip.outer_m[k, :2]
            if not side_walk:  # a road without a sidewalk: start beyond its outer edge
                kerb, beyond = strip.outer_m[k, :2], 2.0 * strip.outer_m[k, :2] - kerb
            across = kerb - beyond
            if np.hypot(*across) < 0.5:
                continue
            across = across / np.hypot(*across)
            if len(crosswalks) and np.hypot(*(crosswalks - kerb).T).min() < _AWAY_M:
                continue
            start = kerb - _IN_M * across
            end = _reach_over(grid, *(float(v) for v in (*start, *across)))
            if not np.isnan(end[0]):
                paths.append((float(start[0]), float(start[1]), float(end[0]), float(end[1])))
    return paths


@kernel
def _reach_over(grid: WalkGrid, x: float, y: float, ux: float, uy: float) -> tuple[float, float]:
    """Return the end of a straight walk over the road; NaN if an object or land is in between."""
    if edge_gap(grid, x, y) <= 0.0 or underfoot(grid, x, y) == CROSSWALK:
        return np.nan, np.nan
    at, on_road = 0.0, 0.0
    while at < _LONGEST_MID_M:
        at += 0.1
        px, py = x + at * ux, y + at * uy
        if solid_gap(grid, px, py) < 0.4:
            break
        ground = underfoot(grid, px, py)
        if ground == ROAD:
            on_road += 0.1
        elif ground in (NOWHERE, CROSSWALK):
            break
        elif on_road > 4.0:
            inner = _IN_M
            while inner > 0.0 and edge_gap(grid, px + inner * ux, py + inner * uy) < 0.2:
                inner -= 0.1
            px, py = px + inner * ux, py + inner * uy
            if edge_gap(grid, px, py) > 0.0:
                return px, py
            break
    return np.nan, np.nan


def crosswalk_lights(lanes: LaneNetwork) -> IntArray:
    """Return the lights that stop cars right before each crosswalk, (c + 1, LIGHTS); last: none."""
    lights_of: list[list[int]] = [[] for _ in range(len(lanes.crosswalks))]
    before: dict[int, list[int]] = {}
    for segment, successors in enumerate(lanes.successors):
        for successor in successors:
            before.setdefault(successor, []).append(segment)
    for segment, crossed in enumerate(lanes.crossings):
        for begin_m, _, number in crossed:
            for light in _lights_before(lanes, before, segment, begin_m):
                if light not in lights_of[number] and len(lights_of[number]) < LIGHTS:
                    lights_of[number].append(light)
    table = np.full((len(lights_of) + 1, LIGHTS), -1, np.int64)
    for number, lights in enumerate(lights_of):
        table[number, : len(lights)] = sorted(lights)
    return table


def _lights_before(
    lanes: LaneNetwork, before: dict[int, list[int]], segment: int, at_m: float
) -> list[int]:
    if lanes.light[segment] >= 0:
        behind_m = at_m - float(lanes.light_at_m[segment])
        return [int(lanes.light[segment])] if -2.0 < behind_m < _BEHIND_LINE_M else []
    return [
        int(lanes.light[lane])
        for lane in before.get(segment, [])
        if lanes.light[lane] >= 0
        and at_m + float(lanes.length_m[lane] - lanes.light_at_m[lane]) < _BEHIND_LINE_M
    ]
