"""State of the crowd as arrays with one row per person, its settings, and solid scenery.

Solid scenery is read from the server through the public API, so it works on any server: boxes of
the level's objects as footprints of buildings, walls, poles, trunks and street furniture. The
rules below add what a box alone does not tell (lamp arms, tree crowns, awnings).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import carla
import numpy as np
from numpy.typing import NDArray

from jaywalk.core.arrays import FloatArray
from jaywalk.geometry.pose import yaw_rad
from jaywalk.town.ground import Ground, surface_height

_HEAD_M: Final = 1.9  # people walk under objects above this height
_STEP_M: Final = 0.2  # people walk over flatter objects
_POLE_M: Final = 0.2
_TRUNK_M: Final = 0.25
_TREE_HEIGHT_M: Final = 2.5
_TREE_HALF_M: Final = 0.9  # a wider plant of tree height is a tree: only its trunk is solid
_LABELS: Final = carla.CityObjectLabel
_SOLID: Final = frozenset(
    {
        _LABELS.Buildings,
        _LABELS.Walls,
        _LABELS.Fences,
        _LABELS.Poles,
        _LABELS.TrafficLight,
        _LABELS.TrafficSigns,
        _LABELS.Vegetation,
        _LABELS.Static,
        _LABELS.Dynamic,
        _LABELS.Other,
        _LABELS.GuardRail,
        _LABELS.Car,
        _LABELS.Truck,
        _LABELS.Bus,
        _LABELS.Motorcycle,
        _LABELS.Bicycle,
    }
)
_THIN: Final = frozenset({_LABELS.Poles, _LABELS.TrafficLight, _LABELS.TrafficSigns})
_PARKED: Final = frozenset({_LABELS.Car, _LABELS.Truck, _LABELS.Bus})
_STOP_NAMES: Final = ("busshelter", "busstop", "bus_stop", "shelter")


@dataclass(frozen=True, slots=True, kw_only=True)
class SolidFootprints:
    """Footprints (n, 6): x, y, cos, sin, half length, half width (0: a cylinder)."""

    all: FloatArray
    buildings: FloatArray
    shelters: FloatArray  # bus stops
    parked: FloatArray  # vehicles of the scenery


def read_solids(world: carla.World, ground: Ground) -> SolidFootprints:
    """Read the level's objects, ordered by id, so that every client gets the same rows."""
    objects = sorted(
        (item for item in world.get_environment_objects(_LABELS.Any) if item.type in _SOLID),
        key=lambda item: int(item.id),
    )
    groups: dict[str, list[tuple[float, ...]]] = {
        "all": [],
        "buildings": [],
        "shelters": [],
        "parked": [],
    }
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
    return SolidFootprints(**{name: np.array(rows).reshape(-1, 6) for name, rows in groups.items()})


def _footprint(item: Any, ground: Ground) -> tuple[float, ...] | None:
    """Return the footprint of an object that blocks people; None if it does not."""
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
    yaw = yaw_rad(box)
    return place.x, place.y, math.cos(yaw), math.sin(yaw), half.x, max(half.y, 0.02)


PATH_POINTS: Final = 320  # half a metre apart
PATH_STEP_M: Final = 0.5
# Activity of a person.
STANDING, WALKING, WAITING, CROSSING, DOWN, RELEASED = 0, 1, 2, 3, 4, 5
# Reason for a new plan.
NOTHING, RESTED, ARRIVED, STUCK, GAVE_UP = 0, 1, 2, 3, 4
# Intended classes.
NOT_CROSSING, ATTEMPTING, WILL_CROSS = "not_crossing", "attempting", "crossing"


@dataclass(frozen=True, slots=True, kw_only=True)
class CrowdSettings:
    """Composition and behaviour of a crowd."""

    not_crossing: float = 0.5  # shares of the intended classes; the others cross
    attempting: float = 0.15
    jaywalking: float = 0.25  # share of crossings away from crosswalks where there are any
    children: float = 0.12
    obeying: float = 0.9  # share of people who wait for the light
    band_m: float = 30.0  # people stay within this distance of the route
    side: str = "both"  # side of the route where people start: "left", "right" or "both"
    oblivious: float = 0.02  # share of reacting people who never look at vehicles
    pause: float = 0.35  # share of arrivals that end in a pause
    pause_s: tuple[float, float] = (2.0, 12.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class CrowdMember:
    """One person as drawn before the first tick."""

    number: int
    actor_id: int
    blueprint: str
    age: str  # of the blueprint: "child", "adult", "elderly"; "" if it does not state one
    gender: str
    intended: str  # "not_crossing", "attempting" or "crossing"
    side: str  # side of the route at the start: "left" or "right"; "" without a route
    place: str  # kind of the starting place
    speed_mps: float


class CrowdRows(NamedTuple):
    """Rows of the controlled people; distances along a path start at its first point."""

    # From the world, every tick.
    x: NDArray[np.float64]
    y: NDArray[np.float64]
    z: NDArray[np.float64]
    # Constant.
    half_height: NDArray[np.float64]
    speed: NDArray[np.float64]  # preferred speed
    margin: NDArray[np.float64]  # time gap in seconds that they want between themselves and a car
    patience: NDArray[np.float64]  # seconds they wait for a gap
    obeys: NDArray[np.int64]  # 1: waits for the light
    # The path.
    path: NDArray[np.float64]  # (n, PATH_POINTS, 2)
    path_count: NDArray[np.int64]
    cross_from: NDArray[np.float64]  # along the path; inf: no crossing
    cross_to: NDArray[np.float64]
    cross_ref: NDArray[np.int64]  # row of the crossings; -1: none
    # State kept between ticks.
    state: NDArray[np.int64]
    at: NDArray[np.int64]  # last path point that was passed
    along: NDArray[np.float64]
    timer: NDArray[np.float64]  # seconds left to stand
    waited: NDArray[np.float64]  # seconds at the kerb
    blocked: NDArray[np.float64]  # seconds for which a person or an obstacle was in the way
    need: NDArray[np.int64]  # why a new plan is needed
    # Output.
    heading: NDArray[np.float64]
    pace: NDArray[np.float64]  # speed now
    sent_heading: NDArray[np.float64]
    sent_pace: NDArray[np.float64]
    changed: NDArray[np.bool_]


class CrowdSurroundings(NamedTuple):
    """Vehicles, props, other people and lights around the crowd."""

    vehicles: NDArray[np.float64]  # (k, 8): x, y, cos, sin, half length, half width, vx, vy
    props: NDArray[np.float64]  # (m, 6) props
    other_people: NDArray[np.float64]  # (j, 4) people not controlled here: x, y, vx, vy
    red_s: NDArray[np.float64]  # per light: seconds since it turned red, -1: not red
    red_length_s: NDArray[np.float64]  # duration of its last red phase


def make_crowd_rows(count: int) -> CrowdRows:
    """Return rows for ``count`` people, all standing."""
    whole = {"obeys", "path_count", "cross_ref", "state", "at", "need"}
    rows: dict[str, NDArray[Any]] = {}
    for name in CrowdRows._fields:
        shape = (count, PATH_POINTS, 2) if name == "path" else (count,)
        kind: Any = np.int64 if name in whole else np.float64
        rows[name] = np.zeros(shape, np.bool_ if name == "changed" else kind)
    rows["cross_from"] += np.inf
    rows["cross_ref"] -= 1
    return CrowdRows(**rows)
