"""Scenery for queries (boxes by label, objects by id, layers, rays) and for contacts.

For contacts, the solid scenery lies in a uniform grid, so that an actor checks only solids nearby.
"""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.carla_enums import SemanticTag
from jaywalk.town.scenery import KINDS, Shape
from jaywalk.town.town import Town

_CELL_M = 8.0
_LOW_M = 0.24  # lower things are driven over


class StaticGrid(NamedTuple):
    """Solids as plain columns, and the solids whose bounds touch each cell.

    Cell (i, j) covers x0_m + i * cell_m .. and owns ``items[starts[k]:starts[k + 1]]`` with
    ``k = j * columns + i``. ``source`` gives the rows of the scenery array.
    """

    x0_m: float
    y0_m: float
    cell_m: float
    columns: int
    rows: int
    starts: NDArray[np.int64]
    items: NDArray[np.int64]
    is_round: NDArray[np.uint8]  # 1: upright cylinder of radius hx
    x: NDArray[np.float64]
    y: NDArray[np.float64]
    cos: NDArray[np.float64]
    sin: NDArray[np.float64]
    hx: NDArray[np.float64]
    hy: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    source: NDArray[np.int64]


def build_static_grid(scenery: NDArray[Any]) -> StaticGrid:
    """Index the solid rows of a ``SCENERY`` array that are at least 0.24 m high.

    Spheres count as cylinders over the middle of their height.
    """
    solid = (scenery["solid"] != 0) & (2.0 * scenery["ez"] >= _LOW_M)
    sphere = scenery["shape"] == Shape.SPHERE
    index = np.flatnonzero(solid | (sphere & (scenery["solid"] != 0))).astype(np.int64)
    part = scenery[index]
    is_round = (part["shape"] != Shape.BOX).astype(np.uint8)
    hx = part["ex"].astype(np.float64)
    hy = np.where(is_round, hx, part["ey"])
    half_height = np.where(part["shape"] == Shape.SPHERE, 0.7 * hx, part["ez"])
    cos, sin = np.cos(part["yaw"]), np.sin(part["yaw"])
    reach_x = np.where(is_round, hx, np.abs(cos) * hx + np.abs(sin) * hy)
    reach_y = np.where(is_round, hx, np.abs(sin) * hx + np.abs(cos) * hy)
    x, y = part["x"].astype(np.float64), part["y"].astype(np.float64)
    bounds = (x - reach_x, x + reach_x, y - reach_y, y + reach_y)
    x0, y0, columns, rows, starts, items = _fill_cells(bounds)
    return StaticGrid(
        x0,
        y0,
        _CELL_M,
        columns,
        rows,
        starts,
        items,
        is_round,
        x,
        y,
        cos,
        sin,
        hx,
        hy,
        part["z"] - half_height,
        part["z"] + half_height,
        index,
    )


def _fill_cells(
    bounds: tuple[NDArray[np.float64], ...],
) -> tuple[float, float, int, int, NDArray[np.int64], NDArray[np.int64]]:
    """Cell lists in compressed rows, solids ascending within each cell."""
    west, east, north, south = bounds
    if west.size == 0:
        return 0.0, 0.0, 0, 0, np.zeros(1, np.int64), np.zeros(0, np.int64)
    x0, y0 = float(west.min()), float(north.min())
    columns = int((east.max() - x0) / _CELL_M) + 1
    rows = int((south.max() - y0) / _CELL_M) + 1
    first_i, last_i = ((west - x0) // _CELL_M).astype(int), ((east - x0) // _CELL_M).astype(int)
    first_j, last_j = ((north - y0) // _CELL_M).astype(int), ((south - y0) // _CELL_M).astype(int)
    cells: list[int] = []
    owners: list[int] = []
    for solid in range(west.size):
        for j in range(first_j[solid], last_j[solid] + 1):
            for i in range(first_i[solid], last_i[solid] + 1):
                cells.append(j * columns + i)
                owners.append(solid)
    cell_of = np.array(cells, np.int64)
    order = np.argsort(cell_of, kind="stable")
    counts = np.bincount(cell_of, minlength=columns * rows)
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)]).astype(np.int64)
    return x0, y0, columns, rows, starts, np.array(owners, np.int64)[order]


Vector = tuple[float, float, float]
# Bits of carla.MapLayer.
_LAYER_KINDS: Final = {
    1: ("building", "kiosk"),
    4: ("trunk", "crown", "hedge"),
    16: ("parked_car",),
    64: ("bench", "bin", "bus_shelter", "hydrant", "mailbox", "bollard", "container", "other"),
    128: ("lamp",),
    256: ("wall", "fence", "guard_rail"),
}
_RAY_STEP_M: Final = 0.5


class SceneryBox(NamedTuple):
    """World box of an object."""

    centre_m: Vector
    half_extents_m: Vector
    yaw_deg: float


class SceneryObject(NamedTuple):
    """An object of the scenery that programs can find by its label."""

    box: SceneryBox
    id: int
    name: str
    label: int


class SceneryIndex:
    """A town's scenery with its hidden objects; ``version`` counts the changes."""

    def __init__(self, town: Town) -> None:
        self._town = town
        self._objects = town.scenery
        self._shown = np.ones(len(self._objects), bool)
        self.version = 0

    def visible(self) -> NDArray[Any]:
        """Return the scenery that is not hidden."""
        return self._objects if self._shown.all() else self._objects[self._shown]

    def visible_object(self, index: int) -> Any:
        """Return a row of :meth:`visible`."""
        return self.visible()[index]

    def enable(self, ids: list[int], shown: bool) -> None:
        """Show or hide objects by their environment-object id."""
        rows = [object_id - 1 for object_id in ids if 1 <= object_id <= len(self._objects)]
        self._set(np.array(rows, np.int64), shown)

    def enable_layers(self, layers: int, shown: bool) -> None:
        """Show or hide the objects of map layers."""
        names = [name for bit, kinds in _LAYER_KINDS.items() if layers & bit for name in kinds]
        wanted = [KINDS.index(name) for name in names]
        self._set(np.flatnonzero(np.isin(self._objects["kind"], wanted)), shown)

    def _set(self, rows: NDArray[np.int64], shown: bool) -> None:
        if len(rows) and (self._shown[rows] != shown).any():
            self._shown[rows] = shown
            self.version += 1

    def _rows(self, label: int) -> NDArray[np.int64]:
        chosen = self._shown.copy()
        if label != SemanticTag.ANY:
            chosen &= self._objects["label"] == label
        return np.flatnonzero(chosen)

    def boxes(self, label: int) -> list[SceneryBox]:
        """World boxes of everything with a label, sign posts and signal heads included."""
        boxes = [self._box(int(row)) for row in self._rows(label)]
        if label in (SemanticTag.ANY, SemanticTag.TRAFFIC_LIGHT):
            boxes += [_post_box(spec.pose) for spec in self._town.lights]
        if label in (SemanticTag.ANY, SemanticTag.TRAFFIC_SIGN):
            boxes += [_post_box(spec.pose) for spec in self._town.signs]
        return boxes

    def _box(self, row: int) -> SceneryBox:
        item = self._objects[row]
        wide = float(item["ey"]) if item["shape"] == Shape.BOX else float(item["ex"])
        high = float(item["ex"]) if item["shape"] == Shape.SPHERE else float(item["ez"])
        return SceneryBox(
            (float(item["x"]), float(item["y"]), float(item["z"])),
            (float(item["ex"]), wide, high),
            math.degrees(float(item["yaw"])),
        )

    def objects(self, label: int) -> list[SceneryObject]:
        """Return the objects with a label."""
        objects = [
            SceneryObject(
                self._box(int(row)),
                int(row) + 1,
                self.name(int(row)),
                int(self._objects[row]["label"]),
            )
            for row in self._rows(label)
        ]
        if label in (SemanticTag.ANY, SemanticTag.TRAFFIC_LIGHT):
            objects += self._signal_heads()
        return objects

    def _signal_heads(self) -> list[SceneryObject]:
        """Traffic lights, which are actors too: they can be found here, but not hidden."""
        return [
            SceneryObject(
                _post_box(spec.pose),
                number,
                f"TrafficLight_{spec.signal_id}",
                SemanticTag.TRAFFIC_LIGHT,
            )
            for number, spec in enumerate(self._town.lights, len(self._objects) + 1)
        ]

    def name(self, row: int) -> str:
        """Name of an object: its kind and number."""
        return f"{KINDS[int(self._objects[row]['kind'])].title().replace('_', '')}_{row + 1}"

    def names(self) -> list[str]:
        """Return the names of all objects."""
        return [self.name(row) for row in range(len(self._objects))]


def _post_box(pose: Any) -> SceneryBox:
    return SceneryBox((pose.x, pose.y, pose.z + 1.5), (0.3, 0.3, 1.5), pose.yaw)
