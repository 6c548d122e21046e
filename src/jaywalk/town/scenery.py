"""Scenery beside the roads: buildings, walls, trees, lamps and street furniture as simple solids.

One structured array holds a town's scenery. Frame: CARLA's left-handed world, metres, radians.
:class:`Placer` keeps the objects apart from each other and off the roads: no solid object stands on
a lane, a crosswalk or the middle 1.2 m of a sidewalk.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import shapely
from defusedxml import ElementTree
from numpy.typing import NDArray

from jaywalk.core.errors import DataError, UsageError
from jaywalk.core.files import gunzip, read_bytes
from jaywalk.core.seeds import stream
from jaywalk.town import scenery_rules as rules
from jaywalk.town._frontage import Frontage, MapLike, TownSurfaces, Values, read_surfaces
from jaywalk.town.scenery_rules import islands, signal_poles
from jaywalk.town.scenery_styles import (
    KINDS,
    LABELS,
    SCENERY,
    STYLES,
    Shape,
    StreetStyle,
    footprints,
    street_style,
    town_style,
)

MARGIN_M = 0.12
HEADROOM_M = 0.3
BRIDGE_STEP_M = 3.0
BRIDGE_NEAR_M = 30.0
BELOW_M = 2.5  # a surface this far under an object's foot is another level (a bridge)


def _meets(
    shapes: NDArray[np.object_], table: NDArray[np.void], tree: shapely.STRtree, heights: Values
) -> NDArray[np.bool_]:
    """Return a mask of the objects that touch a surface of their own level."""
    hit = np.zeros(len(table), bool)
    mine, other = tree.query(shapes, predicate="intersects")
    base, top = table["z"] - table["ez"], table["z"] + table["ez"]
    same = (heights[other] <= top[mine] + HEADROOM_M) & (heights[other] >= base[mine] - BELOW_M)
    hit[mine[same]] = True
    return hit


class Placer:
    """Placement of scenery, class by class; objects accepted earlier have priority."""

    def __init__(self, surfaces: TownSurfaces) -> None:
        self._surfaces = surfaces
        self._accepted: list[NDArray[np.void]] = []
        self._shapes: list[shapely.Polygon] = []

    def near_another_level(self, table: NDArray[np.void]) -> NDArray[np.bool_]:
        """Mask of the rows near a road far above or below their foot: on or beside a bridge."""
        near = np.zeros(len(table), bool)
        heights = self._surfaces.road_z
        if len(table) and len(heights) and np.ptp(heights) > BRIDGE_STEP_M:
            feet = shapely.points(table["x"], table["y"])
            mine, other = self._surfaces.road.query(
                feet, predicate="dwithin", distance=BRIDGE_NEAR_M
            )
            step = np.abs(heights[other] - (table["z"] - table["ez"])[mine])
            near[mine[step > BRIDGE_STEP_M]] = True
        return near

    def free(
        self, table: NDArray[np.void], *, large: bool, signals: bool = False
    ) -> NDArray[np.bool_]:
        """Mask of the rows that touch neither the surfaces nor the rows accepted before.

        Large objects must not stand on sidewalks, medians and junctions either. Small objects must
        keep off the lanes, the middle of the sidewalks and, except for signals, the mouths of
        crosswalks.
        """
        if not len(table):
            return np.zeros(0, bool)
        shapes = shapely.polygons(footprints(table, MARGIN_M))
        hit = _meets(shapes, table, self._surfaces.road, self._surfaces.road_z)
        if large:
            hit |= _meets(shapes, table, self._surfaces.walk, self._surfaces.walk_z)
            mine, _ = self._surfaces.junctions.query(shapes, predicate="intersects")
            hit[mine] = True
        else:
            hit |= _meets(shapes, table, self._surfaces.clear, self._surfaces.clear_z)
            if not signals:
                hit |= _meets(shapes, table, self._surfaces.mouth, self._surfaces.mouth_z)
        if self._shapes:
            mine, _ = shapely.STRtree(self._shapes).query(shapes, predicate="intersects")
            hit[mine] = True
        self._spread(shapes, hit)
        return ~hit

    @staticmethod
    def _spread(shapes: NDArray[np.object_], hit: NDArray[np.bool_]) -> None:
        """Mark rows that touch an earlier unmarked row."""
        first, second = shapely.STRtree(shapes).query(shapes, predicate="intersects")
        order = np.lexsort((second, first))
        for later, earlier in zip(first[order], second[order], strict=True):
            if earlier < later and not hit[earlier]:
                hit[later] = True

    def add(self, table: NDArray[np.void], *, blocks: bool = True) -> None:
        """Accept rows; with ``blocks``, later rows must not touch them."""
        self._accepted.append(table)
        if blocks and len(table):
            self._shapes.extend(shapely.polygons(footprints(table)))

    def place(
        self,
        table: NDArray[np.void],
        *,
        large: bool,
        grounded: bool = False,
        signals: bool = False,
    ) -> NDArray[np.bool_]:
        """Accept the free rows and return their mask; ``grounded`` excludes rows near bridges."""
        mask = self.free(table, large=large, signals=signals)
        if grounded:
            mask &= ~self.near_another_level(table)
        self.add(table[mask])
        return mask

    def result(self) -> NDArray[np.void]:
        """All accepted rows."""
        return np.concatenate(self._accepted) if self._accepted else np.zeros(0, SCENERY)


__all__ = [
    "KINDS",
    "LABELS",
    "SCENERY",
    "Shape",
    "generate_scenery",
    "load_scenery",
    "save_scenery",
]

FORMAT = 1
BACK_GARDEN_M = (20.0, 44.0)
Table = NDArray[np.void]
Street = tuple[Frontage, StreetStyle]


def generate_scenery(carla_map: MapLike, opendrive: str, seed: int, style: str = "auto") -> Table:
    """Place scenery along all streets of any OpenDRIVE town.

    Args:
        carla_map: a ``carla.Map`` of the town.
        opendrive: the text that map was made from.
        seed: same seed, same scenery.
        style: ``city``, ``residential``, ``rural`` (villages, open roads; lorry lanes mean
            industry), ``country`` (the same without industry) or ``auto``.
    """
    if style not in STYLES:
        raise UsageError(f"unknown scenery style {style!r}; expected one of {', '.join(STYLES)}")
    root = ElementTree.fromstring(opendrive)
    surfaces = read_surfaces(carla_map, root)
    look = town_style(style, surfaces.frontages)
    streets = [(edge, street_style(look, edge)) for edge in surfaces.frontages]
    placer = Placer(surfaces)
    placer.add(islands(carla_map, root))
    _place_poles(placer, carla_map)
    _place(placer, [rules.shelters(edge) for edge, _ in streets], large=True)
    _place_buildings(placer, streets, seed)
    _place_small(placer, streets, seed)
    _place_green(placer, streets, seed)
    return placer.result()


def _random(seed: int, what: str, edge: Frontage) -> np.random.Generator:
    return stream(seed, "scenery", what, edge.road, edge.side)


def _place(placer: Placer, tables: list[Table], *, large: bool, grounded: bool = False) -> None:
    if tables:
        placer.place(np.concatenate(tables), large=large, grounded=grounded)


def _place_poles(placer: Placer, carla_map: MapLike) -> None:
    poles, plates = signal_poles(carla_map)
    mask = placer.place(poles, large=False, signals=True)
    if len(plates):
        placer.add(plates[mask[len(poles) - len(plates) :]], blocks=False)


def _place_buildings(placer: Placer, streets: list[Street], seed: int) -> None:
    rounds = (("front", 0.0), ("fill", 0.0), ("back", 1.0))
    for what, back in rounds:
        chosen = [(e, s) for e, s in streets if s.walls and (not back or s.back_row_m)]
        tables = [
            rules.buildings(edge, style, _random(seed, what, edge), back * style.back_row_m)
            for edge, style in chosen
        ]
        if not tables:
            continue
        everything = np.concatenate(tables)
        mask = placer.place(everything, large=True, grounded=True)
        begin = 0
        for (edge, style), table in zip(chosen, tables, strict=True):
            kept = table[mask[begin : begin + len(table)]]
            begin += len(table)
            placer.add(rules.roofs(kept, style, _random(seed, what + "roof", edge)), blocks=False)


def _place_small(placer: Placer, streets: list[Street], seed: int) -> None:
    lamps, goods, yards, rails, posts = [], [], [], [], []
    for edge, style in streets:
        if style.lamp_step_m:
            lamps.append(rules.lamps(edge, style, _random(seed, "lamp", edge)))
        if style.furniture_step_m:
            goods += rules.furniture(edge, style, _random(seed, "furniture", edge))
        if style.name == "industry":
            yards.append(rules.containers(edge, _random(seed, "container", edge)))
        if style.name == "fast" or (style.name == "verge" and edge.side != 0):
            rails.append(rules.guard_rails(edge, everywhere=style.name == "fast"))
            posts.append(rules.delineators(edge))
    _place(placer, lamps, large=False)
    small = [table for table in goods if len(table)]
    _place(placer, small, large=False)
    _place(placer, yards, large=True)
    _place(placer, rails, large=True)
    _place(placer, posts, large=True, grounded=True)


def _place_green(placer: Placer, streets: list[Street], seed: int) -> None:
    kerb, verge = [], []
    fences = [
        rules.fences(edge, style, _random(seed, "fence", edge))
        for edge, style in streets
        if style.fences
    ]
    _place(placer, fences, large=True)
    for edge, style in streets:
        random = _random(seed, "tree", edge)
        if style.kerb_tree_step_m:
            feet = rules.kerb_feet(edge, style.kerb_tree_step_m, random, 2.4)
            kerb.append(rules.trees(feet, random, slim=True))
        if style.garden_tree_step_m:
            reach = style.garden_tree_reach_m
            feet = rules.verge_feet(edge, style.garden_tree_step_m, reach, random)
            verge.append(rules.trees(feet, random, slim=False))
        if style.back_tree_step_m:
            feet = rules.verge_feet(edge, style.back_tree_step_m, BACK_GARDEN_M, random)
            verge.append(rules.trees(feet, random, slim=False))
    for pairs, large in ((kerb, False), (verge, True)):
        if pairs:
            trunks = np.concatenate([pair[0] for pair in pairs])
            crowns = np.concatenate([pair[1] for pair in pairs])
            mask = placer.place(trunks, large=large, grounded=large)
            placer.add(crowns[mask], blocks=False)


def save_scenery(path: Path, table: Table) -> None:
    """Write a scenery table as compressed JSON with readable names; same table, same bytes."""
    objects = [
        {
            "kind": KINDS[row["kind"]],
            "shape": Shape(row["shape"]).name.lower(),
            "label": int(row["label"]),
            "solid": bool(row["solid"]),
            "centre_m": [round(float(row[name]), 3) for name in ("x", "y", "z")],
            "half_m": [round(float(row[name]), 3) for name in ("ex", "ey", "ez")],
            "yaw_rad": round(float(row["yaw"]), 5),
            "colour": [int(row[name]) for name in ("red", "green", "blue")],
        }
        for row in table
    ]
    text = json.dumps({"format": FORMAT, "objects": objects}, separators=(",", ":"))
    path.write_bytes(gzip.compress(text.encode(), compresslevel=9, mtime=0))


def load_scenery(path: Path) -> Table:
    """Read a table that :func:`save_scenery` wrote.

    Raises:
        DataError: The file is not a scenery table.
    """
    try:
        content = json.loads(gunzip(read_bytes(path, "a scenery file"), str(path)))
        if content["format"] != FORMAT:
            raise ValueError(f"format {content['format']!r} is not {FORMAT}")
        rows = [_row(item) for item in content["objects"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(f"{path} is not a scenery file: {error}; generate it again") from error
    return np.array(rows, SCENERY)


def _row(item: dict[str, Any]) -> tuple[float, ...]:
    return (
        int(item["label"]),
        int(Shape[item["shape"].upper()]),
        int(item["solid"]),
        KINDS.index(item["kind"]),
        *(float(value) for value in (*item["centre_m"], *item["half_m"])),
        float(item["yaw_rad"]),
        *(int(value) for value in item["colour"]),
    )
