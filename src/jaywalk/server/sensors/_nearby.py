"""What stands near a place: an index of discs by cells, and the dark places at the foot of things.

Light from the sky does not reach under vehicles and beside feet and walls, on cloudy days too. The
ground there is darkened by the distance to the outline of each thing that stands on it.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.carla_enums import SemanticTag
from jaywalk.server.sensors._figure import is_vehicle_label
from jaywalk.server.sensors._rows import Row
from jaywalk.server.sensors._solids import BOX, CUT_OUT, MESH, SPHERE, Solids, as_int64, kernel
from jaywalk.server.sensors._terrain import Relief, ground_height
from jaywalk.server.sensors._visibility import GROUND


class Cells(NamedTuple):
    """Numbers of the discs that touch each cell of a square grid."""

    x0_m: float
    y0_m: float
    cell_m: float
    side: int
    starts: NDArray[np.int32]  # (side * side + 1,)
    items: NDArray[np.int32]


def index_discs(
    x_m: NDArray[np.float64],
    y_m: NDArray[np.float64],
    reach_m: NDArray[np.float64],
    middle: tuple[float, float],
    cell_m: float,
    side: int,
) -> Cells:
    """Return the index of discs around a place."""
    x0 = (math.floor(middle[0] / cell_m) - side // 2) * cell_m
    y0 = (math.floor(middle[1] / cell_m) - side // 2) * cell_m
    starts = np.zeros(side * side + 1, np.int32)
    spans = np.stack(
        [x_m - reach_m - x0, x_m + reach_m - x0, y_m - reach_m - y0, y_m + reach_m - y0]
    )
    cells = np.clip(np.floor(spans / cell_m), -1, side).astype(np.int64)
    items = _fill_cells(cells, side, starts)
    return Cells(x0, y0, cell_m, side, starts, items)


@kernel
def _fill_cells(
    cells: NDArray[np.int64], side: int, starts: NDArray[np.int32]
) -> NDArray[np.int32]:
    """Write where the items of each cell begin; return the items, ascending within a cell."""
    count = cells.shape[1]
    for k in range(count):
        for j in range(max(cells[2, k], 0), min(cells[3, k], side - 1) + 1):
            for i in range(max(cells[0, k], 0), min(cells[1, k], side - 1) + 1):
                starts[j * side + i + 1] += 1
    for cell in range(side * side):
        starts[cell + 1] += starts[cell]
    at = starts[:-1].copy()
    items = np.empty(starts[-1], np.int32)
    for k in range(count):
        for j in range(max(cells[2, k], 0), min(cells[3, k], side - 1) + 1):
            for i in range(max(cells[0, k], 0), min(cells[1, k], side - 1) + 1):
                items[at[j * side + i]] = k
                at[j * side + i] += 1
    return items


_CELL_M: Final = 2.0
_SIDE: Final = 64
_GAP_M: Final = 0.6  # things that hang higher darken nothing
_LEVEL_M: Final = 1.0
# Columns of the feet: centre x y z, unit vector of the first axis, half extents, how far the
# darkness reaches, and how dark it is.
_COLUMNS: Final = 9
_VEGETATION: Final = int(SemanticTag.VEGETATION)
_TRUNK_M: Final = 0.25
_HEDGE_M: Final = 2.6  # higher plants are trees


class Feet(NamedTuple):
    """Outlines of the things that stand on the ground near a camera."""

    feet: NDArray[np.float64]  # (n, _COLUMNS)
    cells: Cells


def feet_of(solids: Solids, relief: Relief, eye: tuple[float, float, float]) -> Feet:
    """Return the outlines around a place."""
    feet = _feet(solids, relief, eye[0], eye[1], 0.5 * _SIDE * _CELL_M)
    reach = np.hypot(feet[:, 5], feet[:, 6]) + feet[:, 7]
    return Feet(feet, index_discs(feet[:, 0], feet[:, 1], reach, eye[:2], _CELL_M, _SIDE))


@kernel
def _feet(
    solids: Solids, relief: Relief, x_m: float, y_m: float, reach_m: float
) -> NDArray[np.float64]:
    form = solids.form
    out = np.empty((solids.used, _COLUMNS))
    count = 0
    for k in range(solids.used):
        x, y, r = form[k, 0], form[k, 1], form[k, 15]
        if abs(x - x_m) > reach_m + r or abs(y - y_m) > reach_m + r:
            continue
        shape = solids.shape[k]
        if shape == SPHERE or solids.pattern[k] >= CUT_OUT:
            continue
        down = abs(form[k, 11]) * form[k, 14]
        if shape in (BOX, MESH):
            down += abs(form[k, 5]) * form[k, 12] + abs(form[k, 8]) * form[k, 13]
        bottom = form[k, 2] - down
        ground = ground_height(relief, x, y, bottom)
        if bottom > ground + _GAP_M or form[k, 2] + down < ground + 0.05:
            continue
        out[count, 0], out[count, 1], out[count, 2] = x, y, ground
        out[count, 3], out[count, 4] = 1.0, 0.0
        along, aside = form[k, 12], form[k, 12]
        reach, dark = 0.22, 0.55
        label = as_int64(solids.label[k])
        if shape in (BOX, MESH):
            flat = math.sqrt(form[k, 3] * form[k, 3] + form[k, 4] * form[k, 4])
            if flat < 0.3:
                continue  # it lies on its face or stands on its nose
            out[count, 3], out[count, 4] = form[k, 3] / flat, form[k, 4] / flat
            aside = form[k, 13]
            if is_vehicle_label(label):
                reach, dark = 0.55, 0.9
            elif solids.owner[k] < 0 and label != _VEGETATION:
                reach, dark = 0.9 if down > 1.5 else 0.35, 0.5
            elif label == _VEGETATION and shape == MESH and down > 0.5 * _HEDGE_M:
                along, aside = min(along, _TRUNK_M), min(aside, _TRUNK_M)
            elif shape == MESH:
                along, aside = 0.5 * along, 0.5 * aside  # arms and tails reach farther than feet
        out[count, 5], out[count, 6] = along, aside
        out[count, 7], out[count, 8] = reach, dark
        count += 1
    return out[:count]


@kernel
def feet_row(near: Feet, surface: NDArray[np.int32], row: Row) -> None:
    """Lower the share of the sky that lights the ground of a row beside and under things."""
    feet = near.feet
    x0, y0, cell_m, side, starts, items = near.cells
    scale = 1.0 / cell_m
    for u in range(len(surface)):
        if surface[u] != GROUND:
            continue
        x, y = row.x[u], row.y[u]
        i, j = math.floor((x - x0) * scale), math.floor((y - y0) * scale)
        if i < 0 or j < 0 or i >= side or j >= side:
            continue
        cell = j * side + i
        for index in range(starts[cell], starts[cell + 1]):
            k = items[index]
            if abs(row.z[u] - feet[k, 2]) > _LEVEL_M:
                continue
            px, py = x - feet[k, 0], y - feet[k, 1]
            ax, ay = feet[k, 3], feet[k, 4]
            p, q = abs(ax * px + ay * py) - feet[k, 5], abs(ax * py - ay * px) - feet[k, 6]
            reach = feet[k, 7]
            if p >= reach or q >= reach:
                continue
            if p > 0.0 and q > 0.0:
                gap = math.sqrt(p * p + q * q)
            else:
                gap = max(p, q)
            inset = min(feet[k, 5], feet[k, 6], 0.6)
            share = min(max((reach - gap) / (reach + inset), 0.0), 1.0)
            row.open[u] *= 1.0 - feet[k, 8] * share * share * (3.0 - 2.0 * share)
