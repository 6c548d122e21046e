"""Harbour: a dense grid of signalled junctions, one-way streets, parking and bus stops."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from town_author.plan import Connection, Point, Strip, TownPlan, Zebra

# Odd decimals on purpose: a road length that is a multiple of 1 m trips next_until_lane_end(1.0).
COLUMNS_M = (0.0, 131.37, 259.81, 402.43, 541.17, 672.73, 803.59)
ROWS_M = (0.0, 118.29, 232.53, 361.87, 480.61, 602.33)
CORNER_RADIUS_M = 34.0
MISSING = frozenset({((4, 4), (4, 5)), ((2, 0), (2, 1))})  # a quay and a park stop two streets
SIDEWALK_M = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class StreetKind:
    """Cross-section of a row or a column; lanes along rising coordinates, then against."""

    lanes: tuple[int, int]
    speed_kmh: int
    priority: int
    parking: tuple[bool, bool] = (False, False)
    cycle: tuple[bool, bool] = (False, False)
    bus: tuple[bool, bool] = (False, False)


PERIMETER = StreetKind(lanes=(1, 1), speed_kmh=50, priority=5, parking=(True, True))
ARTERIAL = StreetKind(lanes=(3, 3), speed_kmh=50, priority=8, bus=(True, True))
AVENUE = StreetKind(lanes=(2, 2), speed_kmh=50, priority=7, bus=(True, True))
UP = StreetKind(lanes=(2, 0), speed_kmh=40, priority=5, parking=(True, False))
DOWN = StreetKind(lanes=(0, 2), speed_kmh=40, priority=5, parking=(False, True))
CYCLE_UP = StreetKind(lanes=(2, 0), speed_kmh=30, priority=5, cycle=(True, False))
QUIET = StreetKind(lanes=(1, 1), speed_kmh=30, priority=4, parking=(True, True))
LOCAL = StreetKind(lanes=(1, 1), speed_kmh=40, priority=4, parking=(True, False))

COLUMN_KINDS = (PERIMETER, UP, QUIET, AVENUE, LOCAL, DOWN, PERIMETER)
ROW_KINDS = (PERIMETER, CYCLE_UP, ARTERIAL, DOWN, QUIET, PERIMETER)
Cell = tuple[int, int]


def _name(cell: Cell) -> str:
    return f"n{cell[0]}{cell[1]}"


def _position(cell: Cell) -> Point:
    # A slight lean keeps the grid from looking like graph paper; right angles stay.
    x, y = COLUMNS_M[cell[0]], ROWS_M[cell[1]]
    lean = math.radians(4.0)
    return x * math.cos(lean) - y * math.sin(lean), x * math.sin(lean) + y * math.cos(lean)


def _is_corner(cell: Cell) -> bool:
    return cell[0] in (0, len(COLUMNS_M) - 1) and cell[1] in (0, len(ROWS_M) - 1)


def _lanes(kind: StreetKind, a: Cell, b: Cell) -> tuple[int, int]:
    """Lanes of one block; towards the perimeter the arterial narrows to two."""
    if kind is not ARTERIAL:
        return kind.lanes
    towards = 2 if b[0] == len(COLUMNS_M) - 1 else 3
    against = 2 if a[0] == 0 else 3
    return (towards, against)


def _opposites(cell: Cell) -> bool:
    return ROW_KINDS[cell[1]] is ARTERIAL and COLUMN_KINDS[cell[0]] is AVENUE


def _add_nodes(plan: TownPlan) -> None:
    for i in range(len(COLUMNS_M)):
        for j in range(len(ROWS_M)):
            if not _is_corner((i, j)):
                layout = "opposites" if _opposites((i, j)) else "incoming"
                plan.node(_name((i, j)), *_position((i, j)), "traffic_light", tl_layout=layout)


def _blocks() -> list[tuple[Cell, Cell, StreetKind]]:
    blocks = []
    for j, kind in enumerate(ROW_KINDS):
        blocks += [((i, j), (i + 1, j), kind) for i in range(len(COLUMNS_M) - 1)]
    for i, kind in enumerate(COLUMN_KINDS):
        blocks += [((i, j), (i, j + 1), kind) for j in range(len(ROWS_M) - 1)]
    return [block for block in blocks if (block[0], block[1]) not in MISSING]


def _street(plan: TownPlan, a: Cell, b: Cell, kind: StreetKind) -> tuple[str, str]:
    lanes = _lanes(kind, a, b)
    start, end, flipped = _name(a), _name(b), lanes[0] == 0
    if flipped:
        start, end, lanes = end, start, (lanes[1], 0)
    plan.street(
        start,
        end,
        lanes=lanes,
        speed_kmh=kind.speed_kmh,
        priority=kind.priority,
        sidewalk_m=SIDEWALK_M,
    )
    return f"{_name(a)}-{_name(b)}", f"{_name(b)}-{_name(a)}"


def _decorate(plan: TownPlan, kind: StreetKind, edges: tuple[str, str]) -> None:
    for way in (0, 1):
        edge = edges[way]
        if kind.parking[way]:
            plan.strips.append(
                Strip(
                    edge=edge, kind="parking", width_m=2.2, taper_m=5.0, begin_m=16.0, end_m=-24.0
                )
            )
        if kind.cycle[way]:
            plan.strips.append(Strip(edge=edge, kind="biking", width_m=1.6))
        if kind.bus[way] and not plan.edges[edge].walking_only:
            plan.strips.append(
                Strip(edge=edge, kind="stop", width_m=3.0, taper_m=13.0, begin_m=22.0, end_m=70.0)
            )


def _leg(point: Point, direction: Point, reach_m: float) -> Point:
    return point[0] + direction[0] * reach_m, point[1] + direction[1] * reach_m


def _corner(plan: TownPlan, corner: Cell) -> None:
    """A street round a corner of the grid, without a node: an arc between two neighbours."""
    along = (1, corner[1]) if corner[0] == 0 else (corner[0] - 1, corner[1])
    across = (corner[0], 1) if corner[1] == 0 else (corner[0], corner[1] - 1)
    here = _position(corner)
    legs = []
    for cell in (along, across):
        x, y = _position(cell)
        size = math.hypot(x - here[0], y - here[1])
        legs.append(((x - here[0]) / size, (y - here[1]) / size))
    radius = CORNER_RADIUS_M
    points = [_leg(here, legs[0], reach) for reach in (62.0, 50.0, 42.0)]
    for k in range(11):
        share = math.radians(9.0 * k)
        one, two = radius * (1.0 - math.sin(share)), radius * (1.0 - math.cos(share))
        points.append(_leg(_leg(here, legs[0], one), legs[1], two))
    points += [_leg(here, legs[1], reach) for reach in (42.0, 50.0, 62.0)]
    a, b = _name(along), _name(across)
    plan.street(
        a,
        b,
        speed_kmh=PERIMETER.speed_kmh,
        priority=PERIMETER.priority,
        sidewalk_m=SIDEWALK_M,
        points=points,
    )
    _decorate(plan, PERIMETER, (f"{a}-{b}", f"{b}-{a}"))


def _turns(plan: TownPlan, edge: str) -> dict[str, str]:
    """Edges reachable from the end of ``edge`` by turn: right, straight, left."""
    first, last = plan.nodes[plan.edges[edge].start], plan.nodes[plan.edges[edge].end]
    points = plan.edges[edge].points
    source = points[-1] if points else (first.x, first.y)
    heading = math.atan2(last.y - source[1], last.x - source[0])
    turns = {}
    for name, other in plan.edges.items():
        if other.start != plan.edges[edge].end or other.walking_only:
            continue
        if {other.start, other.end} == {plan.edges[edge].start, plan.edges[edge].end}:
            continue
        end = plan.nodes[other.end]
        target = other.points[0] if other.points else (end.x, end.y)
        angle = math.atan2(target[1] - last.y, target[0] - last.x) - heading
        quarter = round(math.degrees(math.remainder(angle, math.tau)) / 90.0)
        turns[{-1: "right", 0: "straight", 1: "left"}[quarter]] = name
    return turns


def _lane_turns(lanes: int, turns: dict[str, str], protected: bool) -> list[set[str]]:
    """Which turns each lane may take, from the rightmost lane on."""
    has = set(turns)
    allowed: list[set[str]] = [set() for _ in range(lanes)]
    allowed[0] |= has & {"right"}
    allowed[-1] |= has & {"left"}
    straight = range(lanes)
    if lanes == 3 or (protected and lanes == 2):
        straight = range(lanes - 1) if "left" in has else range(lanes)
    if "straight" in has:
        for lane in straight:
            allowed[lane].add("straight")
    elif lanes > 1 and "left" in has and "right" in has:
        allowed[0] -= {"left"}
    for lane in range(lanes):
        if not allowed[lane]:
            allowed[lane] |= has & ({"right"} if lane == 0 else {"left"}) or has
    return allowed


def _connect(plan: TownPlan, edge: str) -> None:
    turns = _turns(plan, edge)
    lanes = plan.edges[edge].lanes
    protected = plan.nodes[plan.edges[edge].end].tl_layout == "opposites"
    allowed = _lane_turns(lanes, turns, protected)
    for turn, target in sorted(turns.items()):
        users = [lane for lane in range(lanes) if turn in allowed[lane]]
        room = plan.edges[target].lanes
        for place, lane in enumerate(users):
            if turn == "straight":
                chosen = [min(lane, room - 1)]
                if place == len(users) - 1:  # fan out, so that every lane is fed
                    chosen = list(range(min(lane, room - 1), room))
            elif turn == "right":
                chosen = [min(place, room - 1)]
            else:
                chosen = [max(0, room - len(users) + place)]
            for lane_to in chosen:
                plan.connections.append(
                    Connection(source=edge, target=target, from_lane=lane + 1, to_lane=lane_to + 1)
                )


def _feed_all_lanes(plan: TownPlan) -> None:
    """Fan out into lanes that nothing leads to, from the link into the lane beside them."""
    fed = {(link.target, link.to_lane): link for link in reversed(plan.connections)}
    for name, edge in plan.edges.items():
        for lane in range(1, edge.lanes + 1):
            if edge.walking_only or (name, lane) in fed:
                continue
            beside = fed[(name, lane - 1)]
            plan.connections.append(replace(beside, to_lane=lane))


def harbour() -> TownPlan:
    """The plan of Harbour."""
    plan = TownPlan(
        name="Harbour",
        latitude_deg=53.54,
        longitude_deg=9.98,
        scenery_style="city",
        options=(
            "--default.junctions.radius",
            "8",
            "--crossings.guess.speed-threshold",
            "15",
            "--tls.minor-left.max-speed",
            "0",
            "--tls.left-green.time",
            "10",
        ),
    )
    _add_nodes(plan)
    for a, b, kind in _blocks():
        if _is_corner(a) or _is_corner(b):
            continue
        edges = _street(plan, a, b, kind)
        _decorate(plan, kind, edges)
        if kind is QUIET:
            plan.zebras.append(Zebra(edge=edges[0], at=0.5))
    last = (len(COLUMNS_M) - 1, len(ROWS_M) - 1)
    for corner in ((0, 0), (last[0], 0), (0, last[1]), last):
        _corner(plan, corner)
    for edge in list(plan.edges):
        if not plan.edges[edge].walking_only:
            _connect(plan, edge)
    _feed_all_lanes(plan)
    return plan
