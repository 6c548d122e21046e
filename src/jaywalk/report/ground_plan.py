"""Outlines of the ground of an episode, from the OpenDRIVE text in the record.

Frame: CARLA's, left-handed, in metres.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final

import numpy as np
import shapely
from shapely.geometry.base import BaseGeometry

from jaywalk.core.arrays import FloatArray
from jaywalk.core.errors import JaywalkError, PrerequisiteError
from jaywalk.core.files import read_text
from jaywalk.record.reader import Record
from jaywalk.town.lanes import LaneStrip
from jaywalk.town.markings import lane_markings, zebra_stripes
from jaywalk.town.scenery import KINDS, Shape
from jaywalk.town.scenery_styles import footprints
from jaywalk.town.town import Town, load_town, town_from_opendrive

Window = tuple[float, float, float, float]  # x low, y low, x high, y high

# Later ones are drawn over earlier ones.
SURFACES: Final = ("verge", "walk", "road", "parking", "cycle")
_SURFACE_OF: Final = {
    "border": "verge",
    "median": "verge",
    "sidewalk": "walk",
    "walking": "walk",
    "curb": "walk",
    "parking": "parking",
    "biking": "cycle",
    "driving": "road",
    "shoulder": "road",
    "stop": "road",
    "bidirectional": "road",
    "entry": "road",
    "exit": "road",
    "onRamp": "road",
    "offRamp": "road",
    "restricted": "road",
}
_HOLE_M2: Final = 60.0  # the largest gap between turning lanes that is still pavement
_SEAM_M: Final = 0.05  # neighbouring lanes are sampled apart: closes the hairlines between them
_SIMPLER_M: Final = 0.04
_TALL_M: Final = 0.6  # half height above which a box of scenery is worth drawing
_SOLID: Final = frozenset({"building", "wall", "container", "kiosk", "bus_shelter", "parked_car"})


@dataclass(frozen=True, slots=True, kw_only=True)
class GroundPlan:
    """Outlines of surfaces, paint and objects beside the road.

    Attributes:
        surfaces: Surface -> geometry, for each of ``SURFACES`` that exists.
        stripes: Stripes of crosswalks, (4, 2) each.
        lines: Painted lines with their colour, (n, 2) each.
        boxes: Outlines of buildings and the like, (4, 2) each.
        crowns: (n, 3): x, y, radius of trees.
    """

    surfaces: dict[str, BaseGeometry]
    stripes: tuple[FloatArray, ...]
    lines: tuple[tuple[FloatArray, str], ...]
    boxes: tuple[FloatArray, ...]
    crowns: FloatArray

    def cut(self, area: BaseGeometry) -> GroundPlan:
        """The part inside an area; paint and boxes that reach into it stay whole."""
        shapely.prepare(area)
        west, south, east, north = area.bounds

        def near(points: FloatArray) -> bool:
            x, y = points[:, 0], points[:, 1]
            if x.max() < west or x.min() > east or y.max() < south or y.min() > north:
                return False
            return bool(shapely.intersects(area, shapely.linestrings(points)))

        crowns = shapely.points(self.crowns[:, :2])
        return replace(
            self,
            surfaces={
                name: cut
                for name, shape in self.surfaces.items()
                if not (cut := shapely.intersection(shape, area)).is_empty
            },
            stripes=tuple(s for s in self.stripes if near(s)),
            lines=tuple((line, colour) for line, colour in self.lines if near(line)),
            boxes=tuple(box for box in self.boxes if near(np.vstack([box, box[:1]]))),
            crowns=self.crowns[shapely.intersects(area, crowns)],
        )


def rings_of(shape: BaseGeometry) -> list[FloatArray]:
    """All rings of a geometry, holes too; filled by the even-odd rule they are the geometry."""
    rings = []
    for part in shapely.get_parts(shape):
        if part.geom_type == "Polygon":
            rings += [np.asarray(part.exterior.coords)[:-1, :2]]
            rings += [np.asarray(ring.coords)[:-1, :2] for ring in part.interiors]
    return rings


def town_of(record: Record) -> Town | None:
    """Return the town of an episode from the record's map; None if the record has no map.

    Buildings are those of our own town of that name when its map is the very same text: a
    watcher's record keeps the map alone.
    """
    if "opendrive" not in record.episode.files:
        return None
    file = record.episode.files["opendrive"]
    path = record.shared_file("opendrive")
    return _town(file.sha256, record.episode.town, read_text(path, "the map of a record (.xodr)"))


@lru_cache(maxsize=4)
def _town(sha256: str, name: str, text: str) -> Town:
    try:
        known = load_town(name)
        if known.opendrive == text:
            return known
    except JaywalkError:
        pass  # a town that is not ours is as good: it comes with the record
    short = name.rsplit("/", 1)[-1] or "town"
    try:
        return town_from_opendrive(text, short)
    except PrerequisiteError:  # without the carla wheel the structure alone is checked
        town = Town(name=short, opendrive=text)
        _ = town.root
        return town


def has_own_scenery(town: Town) -> bool:
    """Return whether the town has a scenery file, rather than scenery derived from its roads."""
    return town.scenery_path is not None


def ground_plan(town: Town) -> GroundPlan:
    """Outlines of a whole town."""
    marks = lane_markings(town.strips)
    scenery: Any = town.scenery if has_own_scenery(town) else np.zeros(0, _no_scenery())
    kinds = [KINDS[kind] for kind in scenery["kind"]]
    solid = np.array([kind in _SOLID for kind in kinds], bool)
    crown = np.array([kind == "crown" for kind in kinds], bool)
    blocks = scenery[(scenery["shape"] == Shape.BOX) & solid & (scenery["ez"] > _TALL_M)]
    trees = scenery[(scenery["shape"] != Shape.BOX) & crown]
    return GroundPlan(
        surfaces=_surfaces(town.strips),
        stripes=tuple(s for polygon in _crosswalks(town) for s in zebra_stripes(polygon)),
        lines=tuple((_simpler(mark.centre_m), mark.colour) for mark in marks),
        boxes=tuple(footprints(blocks)),
        crowns=np.column_stack([trees["x"], trees["y"], trees["ex"]]).astype(float),
    )


def _crosswalks(town: Town) -> list[FloatArray]:
    """Return the crosswalks; none without the carla wheel, which reads them from the map."""
    try:
        return town.crosswalks
    except PrerequisiteError:
        return []


def _no_scenery() -> Any:
    names = ("kind", "shape", "x", "y", "ex", "ey", "ez", "yaw")
    return np.dtype([(name, "u1" if name in ("kind", "shape") else "f8") for name in names])


def _surfaces(strips: list[LaneStrip]) -> dict[str, BaseGeometry]:
    pieces: dict[str, list[BaseGeometry]] = {name: [] for name in SURFACES}
    for strip in strips:
        name = _SURFACE_OF.get(strip.kind)
        if name is None or float(strip.width_m.max()) < 0.05:
            continue
        edge = np.concatenate([strip.inner_m[:, :2], strip.outer_m[::-1, :2]])
        whole = shapely.polygons(edge)
        pieces[name].append(whole if whole.is_valid else shapely.make_valid(whole))
    merged = {}
    for name, parts in pieces.items():
        if not parts:
            continue
        joined = shapely.unary_union(shapely.buffer(parts, _SEAM_M, quad_segs=1))
        if name == "road":
            joined = _without_small_holes(joined)
        merged[name] = shapely.simplify(joined, _SIMPLER_M)
    return merged


def _without_small_holes(shape: BaseGeometry) -> BaseGeometry:
    kept = []
    for part in shapely.get_parts(shape):
        if part.geom_type != "Polygon":
            continue
        holes = [ring for ring in part.interiors if shapely.Polygon(ring).area >= _HOLE_M2]
        kept.append(shapely.Polygon(part.exterior, holes))
    return shapely.union_all(kept)


def _simpler(line: FloatArray) -> FloatArray:
    return np.asarray(shapely.simplify(shapely.linestrings(line), _SIMPLER_M).coords)[:, :2]
