"""Context of windows besides positions: the nearest vehicle, head and body angles, and the map.

The map of a town is drawn in the classes that predictors know.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jaywalk.core.arrays import FloatArray, IntArray
from jaywalk.core.errors import DataError
from jaywalk.core.files import read_text
from jaywalk.datasets.semantic_map import CLASSES, SemanticMap
from jaywalk.datasets.trajectories import Trajectories
from jaywalk.town.raster import (
    GROUND,
    ROAD,
    ROAD_LINE,
    SIDEWALK,
    TERRAIN,
    build_raster,
    fill_polygon,
)
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
    """Draw the map of a town between two corners, given in right-handed metres."""
    if np.prod((high_m - low_m) / cell_m) > _MOST_CELLS:
        raise DataError(f"the map of '{name}' would have over {_MOST_CELLS:,} cells; give --cell")
    town = town_from_opendrive(read_text(opendrive, "an OpenDRIVE file (.xodr)"), name)
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


def class_at(semantic_map: SemanticMap, points_m: NDArray[np.float64]) -> NDArray[np.uint8]:
    """Return the class ids at points ``(N, 2)``; 0 outside the map."""
    cell = np.floor((points_m - np.array(semantic_map.origin_m)) / semantic_map.cell_m).astype(
        np.int64
    )
    rows, columns = semantic_map.labels.shape
    inside = (cell >= 0).all(axis=1) & (cell[:, 0] < columns) & (cell[:, 1] < rows)
    found = np.zeros(len(points_m), dtype=np.uint8)
    found[inside] = semantic_map.labels[cell[inside, 1], cell[inside, 0]]
    return found


_FAR_K = 10_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """Context of N samples with P positions of history.

    Attributes:
        ego_m: ``(N, P, 2)`` reference point of the vehicle that is nearest now; NaN if none.
        head_rad: ``(N, P)`` direction of the head; NaN where not labelled.
        body_rad: ``(N, P)`` direction of the body.
        map_index: Index into ``maps``; -1 without map.
        maps: The maps.
    """

    ego_m: FloatArray
    head_rad: FloatArray
    body_rad: FloatArray
    map_index: IntArray
    maps: tuple[SemanticMap, ...]

    def rows(self, index: IntArray | NDArray[np.bool_]) -> Context:
        """Return the selected samples."""
        return Context(
            ego_m=self.ego_m[index],
            head_rad=self.head_rad[index],
            body_rad=self.body_rad[index],
            map_index=self.map_index[index],
            maps=self.maps,
        )


def context_of(
    data: Trajectories,
    scene_names: tuple[str, ...],
    track: IntArray,
    scene: IntArray,
    now: IntArray,
    now_m: FloatArray,
    steps: int,
) -> Context:
    """Look up the context of samples given by track, scene, time and place."""
    times = now[:, None] + data.stride * np.arange(1 - steps, 1)
    tracks = data.tracks.with_columns(
        (pl.struct("scene_id", "track_id").rle_id().cast(pl.Int64) * _FAR_K + pl.col("k")).alias(
            "place"
        )
    )
    places = tracks["place"].to_numpy()
    # Every position of a window is a row of its track, so each key is found exactly.
    row = np.searchsorted(places, track[:, None] * _FAR_K + times)
    angles = [tracks[name].to_numpy()[row] for name in ("head_rad", "body_rad")]
    courses = list(data.maps)
    codes = {name: code for code, name in enumerate(courses)}
    course = np.array([codes.get(name, -1) for name in tracks["course_id"].to_list()])
    return Context(
        ego_m=_nearest_vehicle(data.ego, scene_names, scene, times, now_m),
        head_rad=angles[0].astype(np.float64),
        body_rad=angles[1].astype(np.float64),
        map_index=course[row[:, -1]].astype(np.int64),
        maps=tuple(data.maps[name] for name in courses),
    )


def _nearest_vehicle(
    ego: pl.DataFrame,
    scene_names: tuple[str, ...],
    scene: IntArray,
    times: IntArray,
    now_m: FloatArray,
) -> FloatArray:
    positions = np.full((*times.shape, 2), np.nan)
    codes = {name: code for code, name in enumerate(scene_names)}
    for part in ego.partition_by("scene_id", maintain_order=True):
        members = np.flatnonzero(scene == codes.get(part["scene_id"][0], -1))
        if members.size == 0:
            continue
        low = min(int(times[members].min()), int(part["k"].to_numpy().min()))
        high = max(int(times[members].max()), int(part["k"].to_numpy().max()))
        vehicles = part.partition_by("ego_id", maintain_order=True)
        grid = np.full((len(vehicles), high - low + 1, 2), np.nan)
        for i, vehicle in enumerate(vehicles):
            grid[i, vehicle["k"].to_numpy() - low] = vehicle.select("x", "y").to_numpy()
        at = times[members] - low
        away = np.linalg.norm(grid[:, at[:, -1]] - now_m[members], axis=2)
        nearest = np.where(np.isnan(away), np.inf, away).argmin(axis=0)
        positions[members] = grid[nearest[:, None], at]
    return positions
