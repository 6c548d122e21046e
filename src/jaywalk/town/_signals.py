"""Traffic lights and signs of a town as actors: their poses and the lanes that they control.

The rules follow CARLA's own generator. The lanes of a signal are those of its validity records and
of all references to it; each lane gets a box 3 m before the junction. Frame: CARLA's left-handed
world, metres; yaw is in degrees for poses (as for actors) and in radians in ``stops``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from xml.etree.ElementTree import Element

import numpy as np

from jaywalk.core.arrays import FloatArray
from jaywalk.core.units import MPH_TO_KMH
from jaywalk.geometry.pose import CarlaPose
from jaywalk.town.lanes import evaluate, road_point
from jaywalk.town.roads import Road

if TYPE_CHECKING:
    import carla

LIGHT_TYPE, STOP_TYPE, YIELD_TYPE, SPEED_TYPE = "1000001", "206", "205", "274"
MAX_ID_CHARS = 31  # the snapshot record has 32 bytes for the sign id
_BACK_M = 3.0
_HALF_LENGTH_M, _HALF_HEIGHT_M = 1.5, 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Trigger:
    """Trigger volume in the actor's frame; local x runs across the lanes."""

    centre_m: tuple[float, float, float]
    half_m: tuple[float, float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class LightSpec:
    """A traffic light: one signal of type 1000001."""

    signal_id: str
    pose: CarlaPose
    trigger: Trigger
    stops: FloatArray  # (n, 7) boxes: centre x, y, z, yaw of the lane (rad), half extents
    group: int  # lights of one group take turns; 0, 1, ...
    stage: int  # lights of one stage are green together
    junction_id: int  # -1: outside any junction's controllers


@dataclass(frozen=True, slots=True, kw_only=True)
class SignSpec:
    """A stop, yield or speed-limit sign."""

    signal_id: str
    type_id: str  # "traffic.stop", "traffic.yield", "traffic.speed_limit.30"
    pose: CarlaPose
    trigger: Trigger
    stops: FloatArray  # as in LightSpec


@dataclass(frozen=True, slots=True)
class _Site:
    """A signal, reference or stencil on a road."""

    road: Road
    element: Element
    s_m: float


def read_signals(
    root: Element, roads: list[Road], carla_map: carla.Map
) -> tuple[list[LightSpec], list[SignSpec]]:
    """Return all lights and signs of a town, in file order."""
    references: dict[str, list[_Site]] = {}
    for site in _sites(roads, "signals/signalReference"):
        references.setdefault(site.element.get("id", ""), []).append(site)
    places = _stages(root)
    lights: list[LightSpec] = []
    signs: list[SignSpec] = []
    seen: set[str] = set()
    for site in _sites(roads, "signals/signal"):
        signal_id = site.element.get("id", "")[:MAX_ID_CHARS]
        type_id = _actor_type(site.element)
        if type_id is None or signal_id in seen:
            continue
        seen.add(signal_id)
        sites = [site, *references.get(site.element.get("id", ""), [])]
        pose, trigger, stops = _place(site, _stop_boxes(sites, carla_map))
        if type_id == "traffic.traffic_light":
            group, stage, junction_id = places.get(signal_id, (-1, 0, -1))
            if group < 0:  # without a controller: a group with this light only
                group = len(places)
                places[signal_id] = (group, 0, -1)
            lights.append(
                LightSpec(
                    signal_id=signal_id,
                    pose=pose,
                    trigger=trigger,
                    stops=stops,
                    group=group,
                    stage=stage,
                    junction_id=junction_id,
                )
            )
        else:
            signs.append(
                SignSpec(
                    signal_id=signal_id, type_id=type_id, pose=pose, trigger=trigger, stops=stops
                )
            )
    signs += _stencils(roads, carla_map, signs)
    return _renumber(lights), signs


def _sites(roads: list[Road], path: str) -> Iterator[_Site]:
    for road in roads:
        for element in road.element.iterfind(path):
            yield _Site(road, element, _number(element, "s"))


def _actor_type(signal: Element) -> str | None:
    kind = signal.get("type", "")
    if kind == SPEED_TYPE:
        value = _number(signal, "value")
        value = value if value > 0.0 else _number(signal, "subtype")
        if signal.get("unit") == "mph":
            value *= MPH_TO_KMH
        return f"traffic.speed_limit.{round(value)}" if value > 0.0 else None
    return {
        LIGHT_TYPE: "traffic.traffic_light",
        STOP_TYPE: "traffic.stop",
        YIELD_TYPE: "traffic.yield",
    }.get(kind)


def _stages(root: Element) -> dict[str, tuple[int, int, int]]:
    """(group, stage, junction) of each signal; a signal in two controllers keeps the first."""
    signals = {
        controller.get("id", ""): [
            control.get("signalId", "")[:MAX_ID_CHARS] for control in controller.iterfind("control")
        ]
        for controller in root.iterfind("controller")
    }
    groups = [
        (int(junction.get("id", "-1")), [c.get("id", "") for c in junction.iterfind("controller")])
        for junction in root.iterfind("junction")
    ]
    placed = {controller for _, controllers in groups for controller in controllers}
    groups += [(-1, [controller]) for controller in signals if controller not in placed]
    result: dict[str, tuple[int, int, int]] = {}
    for group, (junction_id, controllers) in enumerate(groups):
        stage = 0
        for controller in dict.fromkeys(controllers):
            fresh = [name for name in signals.get(controller, []) if name not in result]
            for name in fresh:
                result[name] = (group, stage, junction_id)
            stage += bool(fresh)
    return result


def _renumber(lights: list[LightSpec]) -> list[LightSpec]:
    """Number groups 0, 1, ... and the stages that have a light 0, 1, ... within each."""
    groups = {group: k for k, group in enumerate(dict.fromkeys(x.group for x in lights))}
    stages: dict[int, list[int]] = {}
    for light in lights:
        stages.setdefault(light.group, []).append(light.stage)
    return [
        LightSpec(
            signal_id=light.signal_id,
            pose=light.pose,
            trigger=light.trigger,
            stops=light.stops,
            group=groups[light.group],
            junction_id=light.junction_id,
            stage=sorted(set(stages[light.group])).index(light.stage),
        )
        for light in lights
    ]


def _stop_boxes(sites: list[_Site], carla_map: carla.Map) -> FloatArray:
    """Lane boxes of a signal: one per controlled lane, 3 m before the junction."""
    boxes: list[list[float]] = []
    for site in sites:
        for lane_id in _controlled_lanes(site):
            box = _lane_box(carla_map, site.road, lane_id, site.s_m)
            if box is not None:
                boxes.append(box)
    if not boxes:  # validity names no lane and no reference exists: use the lanes it faces
        for lane_id in _facing_lanes(sites[0]):
            box = _lane_box(carla_map, sites[0].road, lane_id, sites[0].s_m)
            if box is not None:
                boxes.append(box)
    unique: list[list[float]] = []
    for box in boxes:  # several turns from one lane give (nearly) the same box
        if all(math.dist(box[:3], other[:3]) > 1.0 for other in unique):
            unique.append(box)
    if not unique:
        return np.empty((0, 7))
    first = unique[0][3]
    return np.array([box for box in unique if math.cos(box[3] - first) > 0.5])


def _controlled_lanes(site: _Site) -> list[int]:
    records = site.element.findall("validity")
    if not records:
        return _facing_lanes(site)
    lanes: list[int] = []
    for record in records:
        first, last = int(_number(record, "fromLane")), int(_number(record, "toLane"))
        lanes += [lane for lane in range(min(first, last), max(first, last) + 1) if lane != 0]
    return list(dict.fromkeys(lanes))


def _facing_lanes(site: _Site) -> list[int]:
    """Driving lanes of the side that a signal faces: '-' means negative ids, '+' positive ids."""
    for section in site.road.sections:
        if section.start_m <= site.s_m <= section.end_m:
            side = {"-": section.right, "+": section.left}.get(
                site.element.get("orientation", ""), (*section.right, *section.left)
            )
            return [lane.lane_id for lane in side if lane.kind == "driving"]
    return []


def _lane_box(carla_map: Any, road: Road, lane_id: int, s_m: float) -> list[float] | None:
    s_m = min(max(s_m, 0.01), road.length_m - 0.01)
    waypoint = carla_map.get_waypoint_xodr(road.road_id, lane_id, s_m)
    if waypoint is None or str(waypoint.lane_type) != "Driving":
        return None
    for _ in range(400):  # 200 m: longer than any junction
        if not waypoint.is_junction:
            break
        before = waypoint.previous(0.5)
        if not before:
            break
        waypoint = before[0]
    before = waypoint.previous(_BACK_M)
    # A road may start less than 3 m before its junction: stay on it, not back in another junction.
    if before and not before[0].is_junction:
        waypoint = before[0]
    place, yaw_deg = waypoint.transform.location, waypoint.transform.rotation.yaw
    yaw = math.radians(math.remainder(yaw_deg, 360.0))
    return [
        place.x,
        place.y,
        place.z + _HALF_HEIGHT_M,
        yaw,
        _HALF_LENGTH_M,
        waypoint.lane_width / 4.0,
        _HALF_HEIGHT_M,
    ]


def _place(site: _Site, stops: FloatArray) -> tuple[CarlaPose, Trigger, FloatArray]:
    """Pose of the actor at its signal, the union of the boxes in its frame, and the boxes."""
    point, road_yaw = road_point(site.road, site.s_m, _number(site.element, "t"))
    z = float(point[2]) + _number(site.element, "zOffset")
    if len(stops):
        yaw = float(stops[0, 3]) + math.pi / 2.0
    else:
        forward = site.element.get("orientation") != "+"
        yaw = road_yaw + (0.0 if forward else math.pi) + math.pi / 2.0
    pose = CarlaPose(float(point[0]), float(point[1]), z, 0.0, _degrees(yaw), 0.0)
    return pose, _trigger(pose, stops), stops


def _trigger(pose: CarlaPose, stops: FloatArray) -> Trigger:
    if not len(stops):
        return Trigger(centre_m=(0.0, 0.0, 0.0), half_m=(0.5, 0.5, 0.5))
    corners = []
    for x, y, z, yaw, length, width, height in stops:
        cos, sin = math.cos(yaw), math.sin(yaw)
        for u, v, w in np.ndindex(2, 2, 2):
            along, across = (2 * u - 1) * length, (2 * v - 1) * width
            corners.append(
                (
                    x + along * cos - across * sin,
                    y + along * sin + across * cos,
                    z + (2 * w - 1) * height,
                )
            )
    world = np.array(corners) - (pose.x, pose.y, pose.z)
    cos, sin = math.cos(math.radians(pose.yaw)), math.sin(math.radians(pose.yaw))
    local = world @ np.array([[cos, -sin, 0.0], [sin, cos, 0.0], [0.0, 0.0, 1.0]])
    low, high = local.min(axis=0), local.max(axis=0)
    centre, half = (low + high) / 2.0, (high - low) / 2.0
    return Trigger(centre_m=tuple(centre.tolist()), half_m=tuple(half.tolist()))


def _stencils(roads: list[Road], carla_map: Any, signs: list[SignSpec]) -> list[SignSpec]:
    """Stop signs for lanes with the painted word STOP, unless another sign controls the lane."""
    specs: list[SignSpec] = []
    taken = [sign.stops for sign in signs if sign.type_id == "traffic.stop" and len(sign.stops)]
    for site in _sites(roads, "objects/object"):
        if site.element.get("name") != "Stencil_STOP":
            continue
        lane_id = _lane_at(site.road, site.s_m, _number(site.element, "t"))
        box = _lane_box(carla_map, site.road, lane_id, site.s_m) if lane_id else None
        if box is None or any(
            np.hypot(*(stops[:, :2] - box[:2]).T).min() < 12.0
            and math.cos(stops[0, 3] - box[3]) > 0
            for stops in taken
        ):
            continue
        pose, trigger, stops = _place(site, np.array([box]))
        specs.append(
            SignSpec(
                signal_id=f"stencil_{site.element.get('id', '')}"[:MAX_ID_CHARS],
                type_id="traffic.stop",
                pose=pose,
                trigger=trigger,
                stops=stops,
            )
        )
    return specs


def _lane_at(road: Road, s_m: float, t_m: float) -> int:
    """Id of the driving lane of a road at (s, t); 0 if there is none."""
    for section in road.sections:
        if not section.start_m <= s_m <= section.end_m:
            continue
        at = np.array([s_m])
        for lanes, side in ((section.left, 1.0), (section.right, -1.0)):
            inner = float(evaluate(road.lane_offset, at)[0])
            for lane in lanes:
                outer = inner + side * float(evaluate(lane.widths, at)[0])
                if min(inner, outer) <= t_m <= max(inner, outer) and lane.kind == "driving":
                    return lane.lane_id
                inner = outer
    return 0


def _degrees(yaw_rad: float) -> float:
    return math.degrees(math.atan2(math.sin(yaw_rad), math.cos(yaw_rad)))


def _number(element: Element, key: str) -> float:
    try:
        return float(element.get(key, "0"))
    except ValueError:
        return 0.0
