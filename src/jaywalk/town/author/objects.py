"""Crosswalks and traffic islands as OpenDRIVE objects with outlines in a road's frame."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jaywalk.town.author.curves import Vector
from jaywalk.town.author.plan import TownPlan
from jaywalk.town.author.roads import Road
from jaywalk.town.author.sumo_network import NetCrossing, Network

FIRST_OBJECT = 60001
INSIDE_M = 0.02  # text rounding must not push an object past the end of its road
ZEBRA_LENGTH_M = 4.0
ISLAND_GAP_M = 4.4
ISLAND_LENGTH_M = 7.0
ISLAND_HALF_WIDTH_M = 0.75


@dataclass(frozen=True, slots=True, kw_only=True)
class OutlineObject:
    """A crosswalk or an island; corners (u, v) in the road's frame at ``s_m``."""

    number: int
    road: int
    kind: str
    name: str
    s_m: float
    corners: tuple[tuple[float, float], ...]
    height_m: float = 0.0


def _in_frame(road: Road, s_m: float, points: Vector) -> tuple[tuple[float, float], ...]:
    pose = road.line.pose(s_m)
    along = pose.direction
    left = np.array([-along[1], along[0]])
    delta = points - np.array([pose.x, pose.y])
    return tuple((float(d @ along), float(d @ left)) for d in delta)


def _crossing_corners(crossing: NetCrossing) -> Vector:
    a, b = crossing.shape[0, :2], crossing.shape[-1, :2]
    along = (b - a) / np.hypot(*(b - a))
    aside = np.array([-along[1], along[0]]) * (crossing.width_m / 2.0)
    return np.array([a - aside, b - aside, b + aside, a + aside])


def _at_junctions(network: Network, by_edge: dict[str, Road]) -> list[tuple[Road, float, Vector]]:
    found = []
    for crossing in network.crossings:
        corners = _crossing_corners(crossing)
        middle = corners.mean(axis=0)
        road = by_edge[crossing.edges[0]]
        first, last = road.line.pose(0.0), road.line.pose(road.length_m)
        at_start = np.hypot(first.x - middle[0], first.y - middle[1]) < np.hypot(
            last.x - middle[0], last.y - middle[1]
        )
        found.append((road, INSIDE_M if at_start else road.length_m - INSIDE_M, corners))
    return found


def _strip_corners(road: Road, s_m: float, half_length_m: float) -> Vector:
    """Across the carriageway from kerb to kerb, following the road."""
    corners = []
    for side, ends in ((-1, (-half_length_m, half_length_m)), (1, (half_length_m, -half_length_m))):
        for step in ends:
            pose = road.line.pose(s_m + step)
            corners.append(pose.moved(side * road.half_width(side, s_m + step, to_kerb=True)))
    return np.array(corners)


def _island_corners(road: Road, begin_m: float, end_m: float) -> Vector:
    corners = []
    for station, half in (
        (begin_m, -ISLAND_HALF_WIDTH_M),
        (end_m, -ISLAND_HALF_WIDTH_M),
        (end_m, ISLAND_HALF_WIDTH_M),
        (begin_m, ISLAND_HALF_WIDTH_M),
    ):
        corners.append(road.line.pose(station).moved(half))
    return np.array(corners)


def build_objects(plan: TownPlan, network: Network, roads: list[Road]) -> list[OutlineObject]:
    """Crosswalks at junctions and between them, and the islands of the refuges."""
    by_edge = {edge: road for road in roads for edge in (road.forward, road.backward) if edge}
    shapes = [
        (road, s_m, corners, "crosswalk", "Crosswalk", 0.0)
        for road, s_m, corners in _at_junctions(network, by_edge)
    ]
    for zebra in plan.zebras:
        road = by_edge[zebra.edge]
        s_m = road.station(zebra.edge, zebra.at * road.length_m)
        corners = _strip_corners(road, s_m, ZEBRA_LENGTH_M / 2.0)
        shapes.append((road, s_m, corners, "crosswalk", "Crosswalk", 0.0))
        if zebra.refuge:
            for sign in (-1.0, 1.0):
                ends = sorted(
                    s_m + sign * reach
                    for reach in (ISLAND_GAP_M / 2.0, ISLAND_GAP_M / 2.0 + ISLAND_LENGTH_M)
                )
                corners = _island_corners(road, *ends)
                shapes.append((road, sum(ends) / 2.0, corners, "trafficIsland", "Island", 0.18))
    return [
        OutlineObject(
            number=FIRST_OBJECT + place,
            road=road.number,
            kind=kind,
            name=name,
            s_m=s_m,
            corners=_in_frame(road, s_m, corners),
            height_m=height,
        )
        for place, (road, s_m, corners, kind, name, height) in enumerate(shapes)
    ]
