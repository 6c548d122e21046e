"""A scenario file to begin with: a type, its parameters with their defaults, a place in a town."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import carla
import numpy as np

from jaywalk.core.errors import DataError, UsageError
from jaywalk.core.seeds import stream
from jaywalk.scenarios.catalogue import SCENARIOS
from jaywalk.scenarios.lane_paths import opposite_lane
from jaywalk.scenarios.toolbox.form import FORMAT
from jaywalk.scenarios.toolbox.places import planner_of
from jaywalk.scenarios.toolbox.routes import defaults_of
from jaywalk.scenarios.toolbox.text import format_text
from jaywalk.town.routes import DenseRoute, Point, RoutePlanner
from jaywalk.town.town import Town, load_town

LENGTH_M: Final = 160.0
AT_M: Final = 20.0
VEHICLES: Final = 10
_FARTHEST_M: Final = 40.0  # a default distance is cut to this, to leave a way to pass and go on
_AFTER_M: Final = 25.0
_BACK_M: Final = 80.0  # at most so far back to where a lane begins
_JUNCTION_M: Final = (60.0, 120.0)  # where the first junction should be, for types that need one
_LEAP_M: Final = 2.0
_STRAIGHT_RAD: Final = math.radians(25.0)
_TRIES: Final = 400
_AT_JUNCTION: Final = (
    "RedLight", "TakingPriority", "red-light", "priority", "stop-junction", "Stop", "Turning",
    "crosswalk", "PedestrianCrossing", "PriorityAtJunction",
)  # fmt: skip
_THINGS: Final = (("static.prop.barrel", -0.8), ("static.prop.barrel", 0.0),
                  ("static.prop.barrel", 0.8))  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What to begin with; without ``points`` a place is looked for."""

    name: str
    type: str
    town: str
    points: tuple[tuple[float, float], ...] = ()
    at_m: float = AT_M
    seed: int = 1


def beginning(wanted: Wanted, path: str = "") -> str:
    """Text of a scenario file of that name, NAME.toml by default.

    Raises:
        RegistryError: The type is unknown.
        DataError: The town has no place for it.
    """
    path = path or f"{wanted.name}.toml"
    defaults = defaults_of(wanted.type)
    points = wanted.points or find_place(wanted)
    distance = defaults.get("distance")
    if isinstance(distance, float) and distance > _FARTHEST_M:
        defaults["distance"] = _FARTHEST_M
    short = wanted.type.rsplit("/", 1)[-1].removesuffix("-v1")
    scenario: dict[str, Any] = {
        "name": f"{short}_1",
        "type": wanted.type,
        "at": wanted.at_m,
    }
    params = {key: _plain(value) for key, value in defaults.items() if value not in ("", ())}
    if params:
        scenario["params"] = params
    if defaults.get("objects") == ():
        scenario["objects"] = [{"model": model, "x": 0.0, "y": y_m} for model, y_m in _THINGS]
    document = {
        "format": FORMAT,
        "name": wanted.name,
        "town": wanted.town,
        "vehicles": VEHICLES,
        "weather": "noon",
        "route": {"points": [list(point) for point in points]},
        "scenario": [scenario],
    }
    head = (
        f"{SCENARIOS.get(wanted.type).summary}.",
        f"Look at it: jaywalk scenario show {path} -o {Path(path).with_suffix('.png')}",
        f"Can it be driven? jaywalk scenario check {path}",
    )
    return format_text(document, path, head)


def _plain(value: Any) -> Any:
    """A default as a file has it."""
    if not isinstance(value, tuple):
        return value
    if all(isinstance(entry, str) for entry in value):
        return dict(zip("abcdefghijklmnopqrstuvwxyz", value, strict=False))
    return list(value)


def find_place(wanted: Wanted) -> tuple[tuple[float, float], ...]:
    """First and last point of a route that suits a type, by its needs alone."""
    town = load_town(wanted.town)
    planner = planner_of(wanted.town)
    poses = town.spawn_points
    order = stream(wanted.seed, "scenario-place", wanted.town, wanted.type).permutation(len(poses))
    for number in order[:_TRIES].tolist():
        pose = poses[number]
        route = _ahead(planner, (pose.x, pose.y, pose.z))
        if route is not None and _suits(route, planner, town, wanted):
            ends = (route.position_m[0, :2], route.position_m[-1, :2])
            return tuple((round(float(x), 1), round(float(y), 1)) for x, y in ends)
    raise DataError(
        f"{wanted.town} has no place for {wanted.type} among {min(len(poses), _TRIES)} tried. Give "
        "the route yourself with --from X,Y --to X,Y, or another --seed."
    )


def _ahead(planner: RoutePlanner, start: Point) -> DenseRoute | None:
    """About 160 m from where a place's lane begins, straight on at junctions."""
    first = lane = _lane_begins(planner.graph.map.get_waypoint(_location(start)))
    driven_m = 0.0
    while driven_m < LENGTH_M:
        following = lane.next(2.0)
        if not following:
            return None
        yaw = lane.transform.rotation.yaw
        lane = min(following, key=lambda one: abs(_turn_deg(one.transform.rotation.yaw - yaw)))
        driven_m += 2.0
    if lane.is_junction:
        return None
    ends = [_rounded(one.transform.location) for one in (first, lane)]
    try:
        route = planner.plan(ends)
    except DataError:
        return None
    # One lane all the way: where the planner changes lanes, points leap.
    steps = np.hypot(*np.diff(route.position_m[:, :2], axis=0).T)
    good = abs(float(route.along_m[-1]) - LENGTH_M) < 30.0 and float(steps.max()) < _LEAP_M
    return route if good else None


def _lane_begins(lane: Any) -> Any:
    """Back to the junction before a place: blocks are short, scenarios need room."""
    for _ in range(int(_BACK_M / 4.0)):
        before = lane.previous(4.0)
        if len(before) != 1 or before[0].is_junction:
            break
        lane = before[0]
    return lane


def _suits(route: DenseRoute, planner: RoutePlanner, town: Town, wanted: Wanted) -> bool:
    along = route.along_m
    inside = route.in_junction
    if any(word in wanted.type for word in _AT_JUNCTION):
        return bool(inside.any()) and _junction_suits(route, town, wanted.type)
    stage = (along > wanted.at_m - 10.0) & (along < wanted.at_m + _FARTHEST_M + _AFTER_M)
    if inside[stage].any():
        return False
    yaw = np.unwrap(np.deg2rad(route.rotation_deg[stage, 1]))
    if np.ptp(yaw) > _STRAIGHT_RAD:
        return False
    row = int(np.argmin(np.abs(along - wanted.at_m - _FARTHEST_M)))
    x, y, z = route.position_m[row].tolist()
    lane = planner.graph.map.get_waypoint(_location((x, y, z)))
    if "TwoWays" in wanted.type or "two-ways" in wanted.type or "Opposite" in wanted.type:
        return opposite_lane(lane) is not None
    if any(word in wanted.type for word in ("Obstacle", "construction", "parked")):
        left = lane.get_left_lane()
        return left is not None and left.lane_id * lane.lane_id > 0 and _drives(left)
    return True


def _junction_suits(route: DenseRoute, town: Town, kind: str) -> bool:
    """Whether the first junction is far enough and has the lights or signs a type needs."""
    first_m = float(route.along_m[np.argmax(route.in_junction)])
    if not _JUNCTION_M[0] <= first_m <= _JUNCTION_M[1]:
        return False
    before = route.position_m[(route.along_m > first_m - 30.0) & (route.along_m < first_m + 3.0)]
    has_light = any(_on_way(light.stops, before) for light in town.lights)
    signs = [sign for sign in town.signs if sign.type_id in ("traffic.stop", "traffic.yield")]
    if "RedLight" in kind or "red-light" in kind or "PriorityAtJunction" in kind:
        return has_light
    if "Stop" in kind or "stop" in kind:
        stops = [sign for sign in signs if sign.type_id == "traffic.stop"]
        return not has_light and any(_on_way(sign.stops, before) for sign in stops)
    if "Priority" in kind or "priority" in kind:
        return not has_light and not any(_on_way(sign.stops, before) for sign in signs)
    return True


def _on_way(stops: Any, way_m: Any) -> bool:
    return any(
        float(np.hypot(*(way_m[:, :2] - np.asarray(stop)[:2]).T).min()) < 1.5 for stop in stops
    )


def _drives(lane: Any) -> bool:
    return str(lane.lane_type) == "Driving"


def _location(point: Point) -> Any:
    return carla.Location(*point)


def _rounded(place: Any) -> Point:
    return round(place.x, 1), round(place.y, 1), round(place.z, 1)


def _turn_deg(angle: float) -> float:
    return (angle + 180.0) % 360.0 - 180.0


def parse_point(text: str, option: str) -> tuple[float, float]:
    """``X,Y`` as numbers."""
    try:
        x, y = (float(part) for part in text.split(","))
    except ValueError:
        raise UsageError(f"{option} is '{text}', expected X,Y as in 8.0,-114.3.") from None
    return x, y
