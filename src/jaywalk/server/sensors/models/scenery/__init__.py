"""Scenery of towns as sensors see it: trees, hedges, walls, fences and street furniture."""

from __future__ import annotations

from functools import cache
from typing import Final

import numpy as np

from jaywalk.server.sensors._materials import Slot
from jaywalk.server.sensors._mesh import LEVELS, Look, Model
from jaywalk.server.sensors.models.scenery._furniture import FURNITURE, Half
from jaywalk.server.sensors.models.scenery._green import CROWNS, HEDGES, crown, hedge, trunk
from jaywalk.server.sensors.models.vehicles._surfaces import Surfaces
from jaywalk.town.scenery import KINDS, Shape

__all__ = ["street_look"]

_LEAVES: Final = int(Slot.PAINT)
_STEP_M: Final = 0.25  # lengths of fences and hedges are rounded to it; the look is stretched


def street_look(item: np.void, index: int) -> Look | None:
    """Return the look of a row of the scenery; None: it is drawn as a solid."""
    del index
    kind = KINDS[int(item["kind"])]
    half = (float(item["ex"]), float(item["ey"]), float(item["ez"]))
    if kind == "crown" and item["shape"] == Shape.SPHERE:
        return Look(crown(_number(item, CROWNS)), (half[0],) * 3, ((_LEAVES, _leaf_color(item)),))
    if kind == "trunk":
        return Look(trunk(), (half[0], half[0], 2.0 * half[2]))
    if kind == "hedge":
        size, scale = _rounded(half)
        model = hedge(_number(item, HEDGES), *size[:2], 2.0 * size[2])
        return Look(model, scale, ((_LEAVES, _leaf_color(item)),))
    if kind in FURNITURE:
        size, scale = _rounded(half)
        return Look(_street_model(kind, size), scale)
    return None


def _leaf_color(item: np.void) -> tuple[int, int, int]:
    """Return the colour of leaves: that of the thing, less bright and more like olive."""
    red, green, blue = (float(item[name]) for name in ("red", "green", "blue"))
    return round(0.66 * red + 36.0), round(0.72 * green + 10.0), round(0.6 * blue + 12.0)


def _number(item: np.void, count: int) -> int:
    """Return which of several shapes a thing has: always the same at the same place."""
    return (round(13.0 * float(item["x"])) * 7 + round(17.0 * float(item["y"]))) % count


def _rounded(half: Half) -> tuple[Half, tuple[float, float, float]]:
    """Return a size that many things share, and how much each is stretched."""
    if half[0] < _STEP_M:
        return half, (1.0, 1.0, 1.0)
    long = max(_STEP_M, _STEP_M * round(half[0] / _STEP_M))
    return (long, half[1], half[2]), (half[0] / long, 1.0, 1.0)


@cache
def _street_model(kind: str, half: Half) -> Model:
    levels = []
    for level in range(LEVELS):
        out = Surfaces()
        FURNITURE[kind](out, half, level)
        levels.append(out.mesh())
    return Model(tuple(levels))
