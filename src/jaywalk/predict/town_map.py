"""The map of a town in the classes that predictors know."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.errors import DataError
from jaywalk.datasets.semantic_map import CLASSES, SemanticMap
from jaywalk.town.fill import fill_polygon
from jaywalk.town.raster import GROUND, ROAD, ROAD_LINE, SIDEWALK, TERRAIN, build_raster
from jaywalk.town.town import town_from_opendrive

_CLASS = {name: CLASSES.index(name) for name in CLASSES}
_BY_LABEL = {
    ROAD: _CLASS["road"],
    ROAD_LINE: _CLASS["road"],
    SIDEWALK: _CLASS["sidewalk"],
    TERRAIN: _CLASS["lawn"],
    GROUND: _CLASS["barred area"],
}
_MOST_CELLS = 400_000_000


def town_map(
    opendrive: Path,
    name: str,
    low_m: NDArray[np.float64],
    high_m: NDArray[np.float64],
    cell_m: float,
) -> SemanticMap:
    """Draw the part of a town between two corners, given in right-handed metres."""
    if np.prod((high_m - low_m) / cell_m) > _MOST_CELLS:
        raise DataError(f"the map of '{name}' would have over {_MOST_CELLS:,} cells; give --cell")
    town = town_from_opendrive(opendrive.read_text(), name)
    x0, y0 = np.floor([low_m[0], -high_m[1]]).tolist()
    x1, y1 = np.ceil([high_m[0], -low_m[1]]).tolist()
    drawn = build_raster(town.strips, town.crosswalks, cell_m, (x0, y0, x1, y1))
    table = np.zeros(256, dtype=np.uint8)
    for label, number in _BY_LABEL.items():
        table[label] = number
    labels = table[drawn.labels]
    for polygon in town.crosswalks:
        corners = np.ascontiguousarray(polygon[:, :2], dtype=np.float64)
        fill_polygon(labels, x0, y0, cell_m, corners, _CLASS["zebra"])
    # Mirrored into the right-handed frame: rows now run north.
    top = -(y0 + drawn.rows * cell_m)
    return SemanticMap(labels=np.ascontiguousarray(labels[::-1]), origin_m=(x0, top), cell_m=cell_m)


def class_at(one: SemanticMap, points_m: NDArray[np.float64]) -> NDArray[np.uint8]:
    """Class ids under points ``(N, 2)``; 0 outside of the map."""
    cell = np.floor((points_m - np.array(one.origin_m)) / one.cell_m).astype(np.int64)
    rows, columns = one.labels.shape
    inside = (cell >= 0).all(axis=1) & (cell[:, 0] < columns) & (cell[:, 1] < rows)
    found = np.zeros(len(points_m), dtype=np.uint8)
    found[inside] = one.labels[cell[inside, 1], cell[inside, 0]]
    return found
