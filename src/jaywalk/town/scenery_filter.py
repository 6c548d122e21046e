"""Keeps scenery off the roads, off the middle of the sidewalks and apart from each other."""

from __future__ import annotations

import numpy as np
import shapely
from numpy.typing import NDArray

from jaywalk.town.frontage import Surfaces, Values
from jaywalk.town.scenery_table import SCENERY, footprints

MARGIN_M = 0.12
HEADROOM_M = 0.3
BRIDGE_STEP_M = 3.0
BRIDGE_NEAR_M = 30.0
BELOW_M = 2.5  # a surface this far under an object's foot is another level (a bridge)


def _meets(
    shapes: NDArray[np.object_], table: NDArray[np.void], tree: shapely.STRtree, heights: Values
) -> NDArray[np.bool_]:
    """Which objects touch a surface of their own level."""
    hit = np.zeros(len(table), bool)
    mine, other = tree.query(shapes, predicate="intersects")
    base, top = table["z"] - table["ez"], table["z"] + table["ez"]
    same = (heights[other] <= top[mine] + HEADROOM_M) & (heights[other] >= base[mine] - BELOW_M)
    hit[mine[same]] = True
    return hit


class Placer:
    """Accepts scenery class by class; what came first stays."""

    def __init__(self, surfaces: Surfaces) -> None:
        self._surfaces = surfaces
        self._accepted: list[NDArray[np.void]] = []
        self._shapes: list[shapely.Polygon] = []

    def near_another_level(self, table: NDArray[np.void]) -> NDArray[np.bool_]:
        """Which rows stand near a road far above or below their foot: on or beside a bridge."""
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
        """Which rows stand clear of the surfaces and of what was accepted before.

        Large objects keep off whole sidewalks, medians and junctions too; small ones only off the
        lanes, the middle of the sidewalks and, but for signals, the mouths of crosswalks.
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
        """Marks rows that touch an earlier unmarked row."""
        first, second = shapely.STRtree(shapes).query(shapes, predicate="intersects")
        order = np.lexsort((second, first))
        for later, earlier in zip(first[order], second[order], strict=True):
            if earlier < later and not hit[earlier]:
                hit[later] = True

    def add(self, table: NDArray[np.void], *, blocks: bool = True) -> None:
        """Accept rows; ``blocks`` keeps later ones off them."""
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
        """Accept the rows that are free; returns which. Grounded ones keep away from bridges."""
        mask = self.free(table, large=large, signals=signals)
        if grounded:
            mask &= ~self.near_another_level(table)
        self.add(table[mask])
        return mask

    def result(self) -> NDArray[np.void]:
        """All accepted rows."""
        return np.concatenate(self._accepted) if self._accepted else np.zeros(0, SCENERY)
