"""Ridge: a village, an industrial stretch, rural roads over hills and a dual carriageway."""

from __future__ import annotations

import math

from town_author.curves import bow, through
from town_author.plan import Connection, Edge, Point, SpeedSign, Strip, TownPlan, Zebra

AXIS_M = 1400.0  # x of the dual carriageway's middle
HALF_MEDIAN_M = 7.0
FAST_LANE_M = 3.6
ROUNDABOUT_M = 1330.0  # |y| of the roundabouts at its ends
TERMINAL_M = 100.0  # |x - axis| of the ramps' ends
BRIDGE_M = 7.6
BEND_M = 1050.3  # |y| where the carriageways begin to spread towards the roundabouts


def _smooth(value: float) -> float:
    value = min(1.0, max(0.0, value))
    return value * value * (3.0 - 2.0 * value)


def _bridge_height(x: float) -> float:
    distance = min(abs(x - AXIS_M), 310.0)
    return BRIDGE_M * 0.5 * (1.0 + math.cos(math.pi * distance / 310.0))


def _dual_height(y: float) -> float:
    along = min(max(abs(y) - 300.0, 0.0), 900.0)
    return 2.5 * (1.0 - math.cos(math.tau * along / 900.0))


def _terrain(x: float, y: float) -> float:
    hills = 5.0 * math.sin(x / 260.0 + 0.5) + 4.5 * math.sin(y / 230.0) + 7.0
    hills += 2.5 * math.sin((x + y) / 170.0)
    level = hills * _smooth((abs(x - AXIS_M) - 150.0) / 650.0)
    return level + (_bridge_height(x) if abs(y) < 120.0 else 0.0)


VILLAGE: dict[str, tuple[float, float, str]] = {
    "a": (-212.3, 3.1, "priority"),
    "b": (-71.9, 0.4, "traffic_light"),
    "c": (83.7, -1.2, "priority_stop"),
    "d": (221.4, 1.7, "priority"),
    "a1": (-206.2, 131.7, "priority_stop"),
    "b1": (-68.4, 124.9, "priority"),
    "c1": (86.1, 129.3, "priority"),
    "b2": (-75.3, -121.6, "priority"),
    "c2": (80.2, -127.9, "priority_stop"),
    "d2": (218.8, -122.2, "priority"),
}
# start, end, bow of the street in degrees at both ends
VILLAGE_STREETS = (
    ("a", "a1", 4),
    ("b", "b1", -3),
    ("c", "c1", 0),
    ("a1", "b1", 9),
    ("b1", "c1", -8),
    ("b", "b2", 3),
    ("c", "c2", -3),
    ("d", "d2", 5),
    ("b2", "c2", -8),
    ("c2", "d2", 9),
)
VILLAGE_CULS = (
    ("a1", (-330.0, 150.0)),
    ("a1", (-215.0, 235.0)),
    ("b1", (-60.0, 225.0)),
    ("b2", (-190.0, -140.0)),
    ("b2", (-88.0, -225.0)),
    ("d2", (325.0, -135.0)),
    ("d2", (228.0, -225.0)),
)


def _direction(a: Point, b: Point) -> float:
    return math.degrees(math.atan2(b[1] - a[1], b[0] - a[0]))


def _village(plan: TownPlan) -> None:
    for name, (x, y, kind) in VILLAGE.items():
        layout = "incoming" if kind == "traffic_light" else None
        plan.node(name, x, y, kind, tl_layout=layout)
    plan.node("west", -331.6, 5.3)
    plan.node("east", 343.8, 4.4)
    plan.node("north", 97.3, 341.2)
    for k, (start, end) in enumerate(
        (("west", "a"), ("a", "b"), ("b", "c"), ("c", "d"), ("d", "east"))
    ):
        edge = plan.street(start, end, width_m=3.25, priority=8, speed_kmh=50)
        refuge = k in (0, 2, 4)
        plan.zebras.append(Zebra(edge=edge, at=0.52, refuge=refuge))
        if k in (1, 3):
            plan.strips.append(
                Strip(edge=edge, kind="parking", width_m=2.2, taper_m=5.0, begin_m=18, end_m=50)
            )
            back = "-".join(reversed(edge.split("-")))
            plan.strips.append(
                Strip(edge=back, kind="stop", width_m=3.0, taper_m=12.0, begin_m=14, end_m=58)
            )
    for start, end, degrees in VILLAGE_STREETS:
        a, b = VILLAGE[start][:2], VILLAGE[end][:2]
        along = _direction(a, b)
        points = bow(a, along + degrees, b, along - degrees)
        edge = plan.street(start, end, points=points, width_m=3.0, speed_kmh=30, sidewalk_m=2.0)
        plan.zebras.append(Zebra(edge=edge, at=0.5))
    plan.street(
        "c1",
        "north",
        points=through([VILLAGE["c1"][:2], (88.0, 230.0), (97.3, 341.2)]),
        speed_kmh=50,
        sidewalk_m=2.0,
        priority=5,
    )
    plan.zebras.append(Zebra(edge="c1-north", at=0.35, refuge=True))
    for number, (start, centre) in enumerate(VILLAGE_CULS):
        plan.cul_de_sac(
            start,
            f"v{number}_",
            centre,
            radius_m=10.5,
            width_m=2.75,
            speed_kmh=30,
            sidewalk_m=2.0,
            priority=2,
        )


def _rural(plan: TownPlan, start: str, end: str, inner: list[Point], speed_kmh: int = 80) -> str:
    ends = [(plan.nodes[name].x, plan.nodes[name].y) for name in (start, end)]
    edge = plan.street(
        start,
        end,
        points=through([ends[0], *inner, ends[1]]),
        width_m=3.5,
        speed_kmh=speed_kmh,
        sidewalk_m=0.0,
        priority=8,
        setting="rural",
    )
    for way in (edge, "-".join(reversed(edge.split("-")))):
        plan.strips.append(Strip(edge=way, kind="shoulder", width_m=0.8))
        if len(inner) > 3:
            plan.speed_signs += [SpeedSign(edge=way, at=share) for share in (0.3, 0.65)]
    return edge


def _industry(plan: TownPlan) -> None:
    plan.node("i0", 601.7, 52.3, "priority_stop")
    plan.node("i1", 612.4, 297.1, "priority")
    plan.node("i2", 757.9, 304.6, "priority_stop")
    plan.node("i3", 902.3, 296.2, "priority")
    plan.node("i4", 893.6, 33.8, "priority_stop")
    common = {"width_m": 3.5, "speed_kmh": 50, "sidewalk_m": 2.0, "priority": 5}
    for start, end in (("i0", "i1"), ("i1", "i2"), ("i2", "i3"), ("i4", "i3")):
        edge = plan.street(start, end, **common)  # type: ignore[arg-type]
        plan.zebras.append(Zebra(edge=edge, at=0.5))
        plan.strips.append(
            Strip(edge=edge, kind="parking", width_m=2.5, taper_m=6.0, begin_m=20.0, end_m=60.0)
        )
    for number, (start, centre) in enumerate(
        (
            ("i2", (754.0, 180.0)),
            ("i1", (618.0, 410.0)),
            ("i3", (910.0, 405.0)),
            ("i2", (764.0, 415.0)),
        )
    ):
        plan.cul_de_sac(
            start,
            f"y{number}_",
            centre,
            radius_m=14.0,
            ring_m=4.1,
            width_m=3.5,
            speed_kmh=30,
            sidewalk_m=2.0,
            priority=2,
        )


def _mirror(point: Point, side: int) -> Point:
    """Northbound as it is (side 1), southbound turned by half a turn (side -1)."""
    if side > 0:
        return point
    return 2.0 * AXIS_M - point[0], -point[1]


def _fast_edge(
    plan: TownPlan, start: str, end: str, lanes: int, speed_kmh: int, points: list[Point]
) -> None:
    edge = plan.edge(
        Edge(
            start=start,
            end=end,
            lanes=lanes,
            width_m=FAST_LANE_M,
            speed_kmh=speed_kmh,
            priority=9,
            points=tuple(points),
            heights=tuple(_dual_height(y) for _, y in points),
            setting="motorway",
        )
    )
    plan.strips.append(Strip(edge=edge, kind="shoulder", width_m=2.5))


def _along(x: float, begin_m: float, end_m: float) -> list[Point]:
    """Points between two places of a straight carriageway."""
    count = round((end_m - begin_m) / 20.0)
    return [(x, begin_m + (end_m - begin_m) * k / count) for k in range(1, count)]


def _carriageway(plan: TownPlan, side: int) -> None:
    """Nodes and edges of one direction, northbound written out and southbound by symmetry."""
    prefix = "nb" if side > 0 else "sb"
    x = AXIS_M + HALF_MEDIAN_M
    stations = (-520.7, -251.9, 252.4, 521.3)
    for number, y in enumerate(stations, 1):
        kind = "priority"
        outline: tuple[Point, ...] = ()
        if number in (1, 4):
            half = 35.0 if number == 1 else 45.0
            kind = "zipper" if number == 4 else kind
            corners = ((x - 3, y - half), (x + 14, y - half), (x + 14, y + half), (x - 3, y + half))
            outline = tuple(_mirror(corner, side) for corner in corners)
        here = _mirror((x, y), side)
        plan.node(f"{prefix}{number}", *here, kind, outline=outline, z=_dual_height(y))
    for number, lanes in enumerate((3, 2, 3), 1):
        ends = stations[number - 1], stations[number]
        points = [_mirror(point, side) for point in _along(x, *ends)]
        _fast_edge(plan, f"{prefix}{number}", f"{prefix}{number + 1}", lanes, 120, points)
    _lane_changes(plan, prefix)


def _lane_changes(plan: TownPlan, prefix: str) -> None:
    def link(source: str, target: str, *lanes: tuple[int, int]) -> None:
        for a, b in lanes:
            plan.connections.append(
                Connection(source=source, target=target, from_lane=a, to_lane=b)
            )

    ends = ("sr0", "nr3") if prefix == "nb" else ("nr2", "sr1")
    edges = [f"{ends[0]}-{prefix}1", *(f"{prefix}{k}-{prefix}{k + 1}" for k in (1, 2, 3))]
    edges.append(f"{prefix}4-{ends[1]}")
    link(edges[0], edges[1], (0, 0), (0, 1), (1, 2))
    link(edges[1], edges[2], (1, 0), (2, 1))
    link(edges[1], f"{prefix}_off", (0, 0))
    link(edges[2], edges[3], (0, 1), (1, 2))
    link(f"{prefix}_on", edges[3], (0, 0))
    link(edges[3], edges[4], (0, 0), (1, 0), (2, 1))


def _ramps(plan: TownPlan, side: int) -> None:
    prefix, terminal = ("nb", "east_ramp") if side > 0 else ("sb", "west_ramp")
    lane_border = AXIS_M + HALF_MEDIAN_M + 2.0 * FAST_LANE_M
    node = plan.nodes[terminal]
    end = _mirror((node.x, node.y), side)
    top = _bridge_height(node.x)
    low = _dual_height(251.9)
    for name, y in (("off", -251.9), ("on", 252.4)):
        begin = (lane_border, y)
        if name == "off":
            path = [begin, *bow(begin, 90.0, end, 90.0, 8.0), end]
        else:
            path = [end, *bow(end, 90.0, begin, 90.0, 8.0), begin]
        rises = [low + (top - low) * _smooth((abs(y) - abs(p[1])) / abs(y)) for p in path]
        source, target = (f"{prefix}2", terminal) if name == "off" else (terminal, f"{prefix}3")
        edge = plan.edge(
            Edge(
                start=source,
                end=target,
                width_m=4.0,
                speed_kmh=60,
                priority=4,
                points=tuple(_mirror(point, side) for point in path),
                heights=tuple(rises),
                setting="motorway",
                whole_shape=True,
            ),
            f"{prefix}_{name}",
        )
        plan.strips.append(Strip(edge=edge, kind="shoulder", width_m=1.0))


def _ends(plan: TownPlan) -> None:
    """The roundabouts at both ends of the dual carriageway, two lanes wide."""
    for name, y, angles in (
        ("s", -ROUNDABOUT_M, (55, 125, 200, 340)),
        ("n", ROUNDABOUT_M, (20, 160, 235, 305)),
    ):
        plan.ring(
            f"{name}r",
            (AXIS_M, y),
            26.0,
            angles,
            lanes=2,
            width_m=4.5,
            speed_kmh=40,
            sidewalk_m=0.0,
            z=0.0,
        )
    for side, prefix, leave, arrive in ((1, "nb", "sr0", "nr3"), (-1, "sb", "nr2", "sr1")):
        x = AXIS_M + HALF_MEDIAN_M
        low, high = (x, -BEND_M), (x, BEND_M)
        node = plan.nodes[leave]
        first = _mirror((node.x, node.y), side)
        points = [*bow(first, 55.0, low, 90.0, 14.0), low, *_along(x, -BEND_M, -520.7)]
        _fast_edge(plan, leave, f"{prefix}1", 2, 100, [_mirror(point, side) for point in points])
        node = plan.nodes[arrive]
        last = _mirror((node.x, node.y), side)
        points = [*_along(x, 521.3, BEND_M), high, *bow(high, 90.0, last, 125.0, 14.0)]
        _fast_edge(plan, f"{prefix}4", arrive, 2, 100, [_mirror(point, side) for point in points])


def ridge() -> TownPlan:
    """The plan of Ridge."""
    plan = TownPlan(
        name="Ridge",
        latitude_deg=48.26,
        longitude_deg=11.43,
        height=_terrain,
        scenery_style="rural",
        options=("--default.junctions.radius", "7", "--crossings.guess.speed-threshold", "15"),
    )
    _village(plan)
    _industry(plan)
    plan.node("west_ramp", AXIS_M - TERMINAL_M, 0.9, "priority_stop")
    plan.node("east_ramp", AXIS_M + TERMINAL_M, 1.3, "priority_stop")
    for side in (1, -1):
        _carriageway(plan, side)
    for side in (1, -1):
        _ramps(plan, side)
    _ends(plan)
    _rural(plan, "east", "i0", [(430.0, 14.0), (515.0, 62.0)])
    _rural(plan, "i0", "i4", [(700.0, 24.0), (800.0, 8.0)], 70)
    _rural(plan, "i4", "west_ramp", [(985.0, 58.0), (1090.0, 30.0), (1180.0, 3.0), (1240.0, 1.0)])
    _rural(plan, "west_ramp", "east_ramp", [(1360.0, 1.1), (1440.0, 1.2)])
    _rural(
        plan,
        "west",
        "sr2",
        [
            (-420.0, 2.0),
            (-560.0, -60.0),
            (-640.0, -220.0),
            (-590.0, -420.0),
            (-420.0, -560.0),
            (-180.0, -620.0),
            (60.0, -760.0),
            (280.0, -960.0),
            (540.0, -1040.0),
            (800.0, -1090.0),
            (1040.0, -1230.0),
            (1290.0, -1352.0),
        ],
    )
    _rural(
        plan,
        "north",
        "nr1",
        [
            (110.0, 450.0),
            (60.0, 600.0),
            (90.0, 780.0),
            (260.0, 890.0),
            (470.0, 920.0),
            (650.0, 1050.0),
            (860.0, 1180.0),
            (1080.0, 1220.0),
            (1260.0, 1310.0),
        ],
    )
    _hamlets(plan)
    return plan


def _hamlets(plan: TownPlan) -> None:
    """Short ends: east of the interchange and beyond both roundabouts."""
    plan.node("hamlet", 1690.4, 31.7, "priority")
    _rural(plan, "east_ramp", "hamlet", [(1560.0, 3.0), (1625.0, 16.0)], 70)
    for number, centre in enumerate(((1760.0, 130.0), (1790.0, -30.0))):
        edge = plan.cul_de_sac(
            "hamlet",
            f"h{number}_",
            centre,
            radius_m=11.0,
            width_m=3.0,
            speed_kmh=30,
            sidewalk_m=2.0,
            priority=3,
        )
        plan.zebras.append(Zebra(edge=edge, at=0.5))
    for number, (start, centre) in enumerate(
        (("sr3", (1535.0, -1395.0)), ("nr0", (1535.0, 1385.0)))
    ):
        edge = plan.cul_de_sac(
            start,
            f"e{number}_",
            centre,
            radius_m=13.0,
            width_m=3.5,
            speed_kmh=50,
            sidewalk_m=0.0,
            priority=4,
        )
        for way in (edge, "-".join(reversed(edge.split("-")))):
            plan.strips.append(Strip(edge=way, kind="shoulder", width_m=0.8))
