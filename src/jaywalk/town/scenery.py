"""Scenery beside the roads: buildings, walls, trees, lamps and street furniture as simple solids.

One structured array holds a town's scenery. Frame: CARLA's left-handed world, metres, radians.
Nothing solid stands on a lane, a crosswalk or the middle 1.2 m of a sidewalk.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
from defusedxml import ElementTree
from numpy.typing import NDArray

from jaywalk.core.errors import DataError, UsageError
from jaywalk.core.files import gunzip, read_bytes
from jaywalk.core.seeds import stream
from jaywalk.town import scenery_rules as rules
from jaywalk.town.frontage import Frontage, MapLike, read_surfaces
from jaywalk.town.scenery_filter import Placer
from jaywalk.town.scenery_signals import islands, signal_poles
from jaywalk.town.scenery_styles import STYLES, StreetStyle, street_style, town_style
from jaywalk.town.scenery_table import KINDS, LABELS, SCENERY, Shape

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
    """Read what :func:`save_scenery` wrote.

    Raises:
        DataError: when the file is not such a table.
    """
    try:
        content = json.loads(gunzip(read_bytes(path, "a scenery file"), str(path)))
        if content["format"] != FORMAT:
            raise ValueError(f"format {content['format']!r} is not {FORMAT}")
        rows = [_row(item) for item in content["objects"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(f"{path} is not a scenery file: {error}; generate it anew") from error
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
