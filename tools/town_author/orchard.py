"""Orchard: curved residential streets, stop and yield signs, roundabouts, zebras and refuges."""

from __future__ import annotations

import math
from dataclasses import dataclass

from jaywalk.core.seeds import stream
from town_author.curves import bow
from town_author.plan import Point, Strip, TownPlan, Zebra

COLUMNS, ROWS = 7, 5
SPACING_M = (131.3, 127.7)
MIDDLE = (3, 2)
ROUNDABOUTS = {(3, 2): 17.0, (1, 3): 15.5, (5, 1): 15.5}
MISSING = frozenset(
    {((2, 0), (2, 1)), ((4, 3), (4, 4)), ((5, 2), (5, 3)), ((0, 1), (1, 1)), ((4, 1), (4, 2))}
)
ALL_WAY = frozenset({(2, 2), (4, 2), (2, 3), (4, 1)})
STOPS = frozenset({(1, 1), (3, 1), (3, 3), (5, 3), (2, 1), (4, 3), (0, 2), (6, 2)})
# Outward streets from the edge of the grid that end in a turning ring.
CULS = {
    (1, 0): -90,
    (3, 0): -90,
    (5, 0): -90,
    (1, 4): 90,
    (3, 4): 90,
    (5, 4): 90,
    (0, 1): 180,
    (0, 3): 180,
    (6, 1): 0,
    (6, 3): 0,
}
Cell = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a crossing of the grid lies, and how far its arms are turned."""

    x: float
    y: float
    turn_deg: float


def _places() -> dict[Cell, Place]:
    random = stream(7, "town", "orchard", "places")
    places = {}
    for i in range(COLUMNS):
        for j in range(ROWS):
            dx, dy = random.uniform(-14.0, 14.0, 2)
            turn = random.uniform(-17.0, 17.0)
            x = (i - MIDDLE[0]) * SPACING_M[0] + dx
            y = (j - MIDDLE[1]) * SPACING_M[1] + dy
            places[(i, j)] = Place(x=float(x), y=float(y), turn_deg=float(turn))
    return places


def _is_corner(cell: Cell) -> bool:
    return cell[0] in (0, COLUMNS - 1) and cell[1] in (0, ROWS - 1)


def _node_kind(cell: Cell) -> str:
    if cell in ALL_WAY:
        return "allway_stop"
    return "priority_stop" if cell in STOPS else "priority"


class _Builder:
    def __init__(self) -> None:
        self.plan = TownPlan(
            name="Orchard",
            latitude_deg=49.01,
            longitude_deg=8.4,
            scenery_style="residential",
            options=(
                "--default.junctions.radius",
                "7",
                "--crossings.guess.speed-threshold",
                "15",
            ),
        )
        self.places = _places()

    def add_nodes(self) -> None:
        for cell, place in self.places.items():
            if cell in ROUNDABOUTS:
                angles = [place.turn_deg + 90.0 * k for k in range(4)]
                name = f"r{cell[0]}{cell[1]}_"
                self.plan.ring(name, (place.x, place.y), ROUNDABOUTS[cell], angles)
            elif not _is_corner(cell):
                self.plan.node(f"o{cell[0]}{cell[1]}", place.x, place.y, _node_kind(cell))

    def arm(self, cell: Cell, quarter: int) -> tuple[str, Point, float]:
        """Node, point and outward direction of a crossing's arm (0 east, 1 north, ...)."""
        place = self.places[cell]
        angle = place.turn_deg + 90.0 * quarter
        if cell not in ROUNDABOUTS:
            return f"o{cell[0]}{cell[1]}", (place.x, place.y), angle
        name = f"r{cell[0]}{cell[1]}_{quarter}"
        node = self.plan.nodes[name]
        return name, (node.x, node.y), angle

    def block(self, a: Cell, b: Cell, quarter: int) -> None:
        start, first, out = self.arm(a, quarter)
        end, last, back = self.arm(b, (quarter + 2) % 4)
        points = bow(first, out, last, back + 180.0)
        collector = (quarter == 0 and a[1] == MIDDLE[1]) or (quarter == 1 and a[0] == MIDDLE[0])
        self.street(start, end, points, collector, row=quarter == 0, number=a[0] + 2 * a[1])

    def street(
        self, start: str, end: str, points: list[Point], collector: bool, *, row: bool, number: int
    ) -> None:
        narrow = not collector and number % 2 == 1
        edge = self.plan.street(
            start,
            end,
            points=points,
            width_m=3.1 if collector else 2.75 if narrow else 3.0,
            speed_kmh=50 if collector else 30,
            sidewalk_m=2.5 if collector else 2.0,
            priority=7 if collector else 5 if row else 4,
        )
        if collector:
            self.plan.zebras.append(Zebra(edge=edge, at=0.5, refuge=True))
            return
        self.plan.zebras.append(Zebra(edge=edge, at=0.47))
        if number % 3 == 0:
            self.plan.strips.append(
                Strip(edge=edge, kind="parking", width_m=2.2, taper_m=5.0, begin_m=14.0, end_m=38.0)
            )

    def corner(self, corner: Cell) -> None:
        """A street round a corner of the grid without a node."""
        along = (1, corner[1]) if corner[0] == 0 else (COLUMNS - 2, corner[1])
        across = (corner[0], 1) if corner[1] == 0 else (corner[0], ROWS - 2)
        start, first, out = self.arm(along, 2 if corner[0] == 0 else 0)
        end, last, back = self.arm(across, 3 if corner[1] == 0 else 1)
        # Pulled inwards, so that the bend is wide.
        place = self.places[corner]
        inwards = self.places[(along[0], across[1])]
        x = place.x + 0.22 * (inwards.x - place.x)
        y = place.y + 0.22 * (inwards.y - place.y)
        heading = math.degrees(math.atan2(last[1] - first[1], last[0] - first[0]))
        points = bow(first, out, (x, y), heading, 7.0)
        points += [(x, y), *bow((x, y), heading, last, back + 180.0, 7.0)]
        self.street(start, end, points, False, row=True, number=corner[0] + corner[1])

    def cul_de_sac(self, cell: Cell, direction_deg: int, number: int) -> None:
        place = self.places[cell]
        angle = math.radians(place.turn_deg + direction_deg)
        bend = math.radians(place.turn_deg * 0.4 + direction_deg - 20.0 + 8.0 * (number % 5))
        half, reach = 45.0, 48.0 + 5.0 * (number % 4)
        knee = (place.x + half * math.cos(angle), place.y + half * math.sin(angle))
        centre = (knee[0] + reach * math.cos(bend), knee[1] + reach * math.sin(bend))
        mouth = math.degrees(bend)
        radius = 10.5
        near = (centre[0] - radius * math.cos(bend), centre[1] - radius * math.sin(bend))
        points = bow((place.x, place.y), math.degrees(angle), near, mouth, 7.0)
        edge = self.plan.cul_de_sac(
            f"o{cell[0]}{cell[1]}",
            f"c{number}_",
            centre,
            radius_m=radius,
            points=points,
            width_m=2.75,
            speed_kmh=30,
            sidewalk_m=2.0,
            priority=2,
        )
        self.plan.zebras.append(Zebra(edge=edge, at=0.45))


def orchard() -> TownPlan:
    """The plan of Orchard."""
    builder = _Builder()
    builder.add_nodes()
    for j in range(ROWS):
        for i in range(COLUMNS):
            for quarter, other in ((0, (i + 1, j)), (1, (i, j + 1))):
                if other not in builder.places or ((i, j), other) in MISSING:
                    continue
                if not (_is_corner((i, j)) or _is_corner(other)):
                    builder.block((i, j), other, quarter)
    for corner in ((0, 0), (COLUMNS - 1, 0), (0, ROWS - 1), (COLUMNS - 1, ROWS - 1)):
        builder.corner(corner)
    for number, (cell, direction) in enumerate(CULS.items()):
        builder.cul_de_sac(cell, direction, number)
    return builder.plan
