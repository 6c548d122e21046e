"""Solid scenery as a client sees it: footprints of buildings, walls, poles, trunks, street things.

Asked of the server through the public API, so it works on any: boxes of the level's objects, with
the rules below for what a box alone does not tell (lamp arms, tree crowns, awnings).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

import carla
import numpy as np
from numpy.typing import NDArray

from jaywalk.town.ground import Ground, surface_height

FloatArray = NDArray[np.float64]

_HEAD_M: Final = 1.9  # what hangs higher is walked under
_STEP_M: Final = 0.2  # what is flatter is walked over
_POLE_M: Final = 0.2
_TRUNK_M: Final = 0.25
_TREE_HEIGHT_M: Final = 2.5
_TREE_HALF_M: Final = 0.9  # wider plants as high as a tree are one: only the trunk is solid
_LABELS: Final = carla.CityObjectLabel
_SOLID: Final = frozenset({
    _LABELS.Buildings, _LABELS.Walls, _LABELS.Fences, _LABELS.Poles, _LABELS.TrafficLight,
    _LABELS.TrafficSigns, _LABELS.Vegetation, _LABELS.Static, _LABELS.Dynamic, _LABELS.Other,
    _LABELS.GuardRail, _LABELS.Car, _LABELS.Truck, _LABELS.Bus, _LABELS.Motorcycle,
    _LABELS.Bicycle,
})  # fmt: skip
_THIN: Final = frozenset({_LABELS.Poles, _LABELS.TrafficLight, _LABELS.TrafficSigns})
_PARKED: Final = frozenset({_LABELS.Car, _LABELS.Truck, _LABELS.Bus})
_STOP_NAMES: Final = ("busshelter", "busstop", "bus_stop", "shelter")


@dataclass(frozen=True, slots=True, kw_only=True)
class Solids:
    """Footprints (n, 6): x, y, cos, sin, half length, half width (0: a cylinder)."""

    all: FloatArray
    buildings: FloatArray
    shelters: FloatArray  # of bus stops
    parked: FloatArray  # vehicles that belong to the scenery


def read_solids(world: Any, ground: Ground) -> Solids:
    """Read the level's objects; order by id, so that every client sees the same."""
    objects = sorted(
        (item for item in world.get_environment_objects(_LABELS.Any) if item.type in _SOLID),
        key=lambda item: int(item.id),
    )
    groups: dict[str, list[tuple[float, ...]]] = {
        "all": [], "buildings": [], "shelters": [], "parked": [],
    }  # fmt: skip
    for item in objects:
        foot = _footprint(item, ground)
        if foot is None:
            continue
        groups["all"].append(foot)
        if item.type == _LABELS.Buildings:
            groups["buildings"].append(foot)
        elif item.type in _PARKED:
            groups["parked"].append(foot)
        elif any(word in item.name.lower() for word in _STOP_NAMES):
            groups["shelters"].append(foot)
    return Solids(**{name: np.array(rows).reshape(-1, 6) for name, rows in groups.items()})


def _footprint(item: Any, ground: Ground) -> tuple[float, ...] | None:
    """Where an object stands in the way of people, or None."""
    box = item.bounding_box
    place, half = box.location, box.extent
    base_m, top_m = place.z - half.z, place.z + half.z
    floor_m = float(surface_height(ground, place.x, place.y, base_m))
    thin = item.type in _THIN
    tree = item.type == _LABELS.Vegetation and (
        2.0 * half.z > _TREE_HEIGHT_M and min(half.x, half.y) > _TREE_HALF_M
    )
    if tree:
        return place.x, place.y, 1.0, 0.0, _TRUNK_M, 0.0
    if base_m > floor_m + _HEAD_M or top_m < floor_m + _STEP_M:
        return None
    if thin:
        foot = item.transform.location
        return foot.x, foot.y, 1.0, 0.0, min(half.x, half.y, _POLE_M), 0.0
    yaw = math.radians(box.rotation.yaw)
    return place.x, place.y, math.cos(yaw), math.sin(yaw), half.x, max(half.y, 0.02)
