"""The lanes of a town as flat arrays for traffic: centre lines, successors, stops, conflicts.

The network is built through the public API from a server's map text, lights and signs, so it is
the same on every server. Frame: CARLA's left-handed metres and radians.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any, Final

import carla
import numpy as np
from numpy.typing import NDArray

from jaywalk.core.arrays import FloatArray, IntArray
from jaywalk.core.kernels import kernel
from jaywalk.core.units import MPS_TO_KMH
from jaywalk.geometry.path import arc_lengths, nearest_vertex
from jaywalk.town.lane_graph import LaneGraph, LaneKey, lane_key, lane_points
from jaywalk.town.limits import speed_limit_at
from jaywalk.town.town import Town

# Default where the map states none; CARLA's vehicles assume the same.
DEFAULT_LIMIT_MPS: Final = 30.0 / MPS_TO_KMH
_CONFLICT_M: Final = 2.6  # centre lines nearer than this cannot be used at the same time
_SIGN_REACH_M: Final = 8.0  # a sign acts on the lanes that end this near to its trigger
_PIECE_M: Final = 60.0  # longer lanes are cut, so that a path of fixed size reaches far enough
_SHORT_M: Final = 7.0  # too short to wait on between two junctions


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneNetwork:
    """Segment ``k`` owns the points ``starts[k]:starts[k + 1]``."""

    keys: list[LaneKey]
    starts: IntArray  # (n + 1,)
    points: FloatArray  # (m, 5): x, y, z, yaw, distance along the segment
    limit_mps: FloatArray  # (m,)
    length_m: FloatArray  # (n,)
    successors: list[list[int]]  # if possible, only those that do not lead to a dead end
    in_junction: NDArray[np.bool_]  # also True for lanes too short to wait on
    conflict_m: NDArray[np.float32]  # (n, n): along a, where the conflict with b ends; 0: none
    light: IntArray  # (n,) index of the traffic light that stops the segment, -1: none
    light_at_m: FloatArray  # (n,) its stop line, along the segment
    sign: IntArray  # (n,) 0: none, 1: yield, 2: stop, acting at the end of the segment
    crossings: list[list[tuple[float, float, int]]]  # per segment: from, to, crosswalk
    crosswalks: FloatArray  # (c, k, 2) corners; short polygons repeat their last one

    def __len__(self) -> int:
        return len(self.keys)


def build_network(town: Town, lights: list[carla.TrafficLight], signs: list[Any]) -> LaneNetwork:
    """Build the network of a town with a server's traffic-light, stop and yield actors."""
    keys, lines, successors, junction = _lanes(LaneGraph(town.carla_map))
    lengths = np.array([line[-1, 4] for line in lines])
    starts = np.concatenate([[0], np.cumsum([len(line) for line in lines])]).astype(np.int64)
    points = np.concatenate(lines)
    inside = np.array(junction)
    light, light_at = _light_stops(lights, keys, lines)
    merged = inside | ((lengths < _SHORT_M) & (light < 0))
    return LaneNetwork(
        keys=keys,
        starts=starts,
        points=points,
        limit_mps=_limits(town, points),
        length_m=lengths,
        successors=_endless(successors),
        in_junction=merged,
        conflict_m=_conflicts(starts, points, merged, successors),
        light=light,
        light_at_m=light_at,
        sign=_signs(signs, lines, merged, successors),
        crossings=_all_crossings(lines, town.crosswalks),
        crosswalks=_padded(town.crosswalks),
    )


def _lanes(
    graph: LaneGraph,
) -> tuple[list[LaneKey], list[FloatArray], list[list[int]], list[bool]]:
    """Return every lane once, with long lanes cut into consecutive pieces."""
    first: dict[LaneKey, int] = {}
    last: dict[LaneKey, int] = {}
    keys: list[LaneKey] = []
    lines: list[FloatArray] = []
    junction: list[bool] = []
    after: dict[LaneKey, set[LaneKey]] = {}
    for segment in graph.segments:
        key = lane_key(segment.entry)
        if key not in first:
            pieces = _pieces(_line(segment))
            first[key], last[key] = len(lines), len(lines) + len(pieces) - 1
            lines += pieces
            keys += [key] * len(pieces)
            junction += [bool(segment.entry.is_junction)] * len(pieces)
            after[key] = set()
        after[key].add(lane_key(segment.exit))
    successors = [[number + 1] for number in range(len(lines))]
    for key, number in last.items():
        successors[number] = sorted(first[k] for k in after[key] if k in first and k != key)
    return keys, lines, successors, junction


def _pieces(line: FloatArray) -> list[FloatArray]:
    count = max(1, round(line[-1, 4] / _PIECE_M))
    cuts = np.linspace(0, len(line) - 1, count + 1).astype(int)
    pieces = []
    for low, high in itertools.pairwise(cuts.tolist()):
        piece = line[low : high + 1].copy()
        piece[:, 4] -= piece[0, 4]
        pieces.append(piece)
    return pieces


def _line(segment: Any) -> FloatArray:
    """Points (x, y, z, yaw, along) of a lane from its start to the start of the next."""
    waypoints = [segment.entry, *segment.path, segment.exit]
    if segment.entry.transform.location.distance(segment.exit.transform.location) <= 1.0:
        waypoints = [segment.entry, segment.exit]
    places = lane_points(waypoints)
    steps = np.hypot(*np.diff(places[:, :2], axis=0).T)
    keep = np.concatenate([[True], steps > 1e-3])
    keep[-1] = True
    places = places[keep]
    along = arc_lengths(places)
    return np.column_stack([places, along])


def _limits(town: Town, points: FloatArray) -> FloatArray:
    limits = town.limits
    values = np.array([speed_limit_at(limits, p[0], p[1], p[2], p[3]) for p in points]) / MPS_TO_KMH
    return np.where(np.isfinite(values), values, DEFAULT_LIMIT_MPS)


def _endless(successors: list[list[int]]) -> list[list[int]]:
    """Remove successors that lead to a dead end, wherever another successor exists."""
    alive = [bool(group) for group in successors]
    changed = True
    while changed:
        changed = False
        for me, group in enumerate(successors):
            if alive[me] and not any(alive[other] for other in group):
                alive[me], changed = False, True
    return [[other for other in group if alive[other]] for group in successors]


def _light_stops(
    lights: list[carla.TrafficLight], keys: list[LaneKey], lines: list[FloatArray]
) -> tuple[IntArray, FloatArray]:
    light = np.full(len(lines), -1, dtype=np.int64)
    at_m = np.zeros(len(lines))
    pieces: dict[LaneKey, list[int]] = {}
    for number, key in enumerate(keys):
        pieces.setdefault(key, []).append(number)
    for number, actor in enumerate(lights):
        for waypoint in actor.get_stop_waypoints():
            place = waypoint.transform.location
            best_m = np.inf
            stop: tuple[int, float] | None = None
            for piece in pieces.get(lane_key(waypoint), []):
                line = lines[piece]
                nearest, gap_m = nearest_vertex(line, place.x, place.y)
                if gap_m < best_m:
                    best_m, stop = gap_m, (piece, float(line[nearest, 4]))
            if stop is not None:
                light[stop[0]], at_m[stop[0]] = number, stop[1]
    return light, at_m


def _signs(
    signs: list[Any], lines: list[FloatArray], inside: NDArray[np.bool_], after: list[list[int]]
) -> IntArray:
    """Return the sign of each lane: signs act on lanes that enter a junction near their trigger."""
    result = np.zeros(len(lines), dtype=np.int64)
    enters = [
        me for me in range(len(lines)) if not inside[me] and any(inside[k] for k in after[me])
    ]
    for actor in signs:
        box = actor.trigger_volume
        place = carla.Location(box.location.x, box.location.y, box.location.z)
        actor.get_transform().transform(place)  # in place: the wheel changes its argument
        kind = 2 if actor.type_id == "traffic.stop" else 1
        matches: list[tuple[float, int]] = []
        for me in enters:
            line = lines[me]
            nearest, gap_m = nearest_vertex(line, place.x, place.y)
            left_m = line[-1, 4] - line[nearest, 4]
            reach = max(box.extent.x, box.extent.y, 1.0) + 0.3
            if gap_m < reach and left_m < _SIGN_REACH_M:
                matches.append((gap_m, me))
        if matches:
            # Lanes of the other direction end elsewhere, so all near lanes count.
            for _, me in matches:
                result[me] = max(result[me], kind)
    return result


def _all_crossings(
    lines: list[FloatArray], crosswalks: list[FloatArray]
) -> list[list[tuple[float, float, int]]]:
    """Find the crosswalks on each lane, with start and end along the lane."""
    low = np.array([polygon[:, :2].min(axis=0) - 1.0 for polygon in crosswalks]).reshape(-1, 2)
    high = np.array([polygon[:, :2].max(axis=0) + 1.0 for polygon in crosswalks]).reshape(-1, 2)
    numbers = []
    for line in lines:
        first, last = line[:, :2].min(axis=0), line[:, :2].max(axis=0)
        # Most crosswalks are far from most lanes.
        about = np.flatnonzero(np.all((low <= last) & (high >= first), axis=1)).tolist()
        meets = [_crossing(line, crosswalks[k], low[k], high[k], k) for k in about]
        numbers.append(sorted(number for number in meets if number is not None))
    return numbers


def _crossing(
    line: FloatArray, polygon: FloatArray, low: FloatArray, high: FloatArray, number: int
) -> tuple[float, float, int] | None:
    near = np.all((line[:, :2] >= low) & (line[:, :2] <= high), axis=1)
    if not near.any() or abs(line[near][0, 2] - polygon[0, 2]) > 4.0:
        return None
    corners = np.ascontiguousarray(polygon[:, :2])
    inside = [k for k in np.flatnonzero(near) if in_polygon(line[k, 0], line[k, 1], corners)]
    return (float(line[inside[0], 4]), float(line[inside[-1], 4]), number) if inside else None


def _padded(polygons: list[FloatArray]) -> FloatArray:
    most = max((len(polygon) for polygon in polygons), default=3)
    corners = np.zeros((len(polygons), most, 2))
    for number, polygon in enumerate(polygons):
        corners[number, : len(polygon)] = polygon[:, :2]
        corners[number, len(polygon) :] = polygon[-1, :2]
    return corners


@kernel
def in_polygon(x_m: float, y_m: float, corners: NDArray[np.float64]) -> bool:
    """Return True if a point lies in a polygon."""
    inside = False
    j = corners.shape[0] - 1
    for i in range(corners.shape[0]):
        yi, yj = corners[i, 1], corners[j, 1]
        if (yi > y_m) != (yj > y_m):
            at = corners[i, 0] + (y_m - yi) / (yj - yi) * (corners[j, 0] - corners[i, 0])
            if x_m < at:
                inside = not inside
        j = i
    return inside


def _conflicts(
    starts: IntArray, points: FloatArray, inside: NDArray[np.bool_], after: list[list[int]]
) -> NDArray[np.float32]:
    count = len(inside)
    before = np.full((count, count), False)
    for me, group in enumerate(after):
        for other in group:
            before[other, me] = True
    shared = (before.astype(np.float32) @ before.T.astype(np.float32)) > 0.0  # common predecessor
    # A follower on the same lane is not a conflict, not even over a piece shorter than a car.
    short = np.array([line_m < _SHORT_M for line_m in points[starts[1:] - 1, 4]])
    over = (before.astype(np.float32) @ (before & short[:, None]).astype(np.float32)) > 0.0
    linked = before | over
    linked = linked | linked.T
    result = np.zeros((count, count), dtype=np.float32)
    _fill_conflicts(starts, points, inside, shared | linked, result)
    return result


@kernel
def _fill_conflicts(
    starts: NDArray[np.int64],
    points: NDArray[np.float64],
    inside: NDArray[np.bool_],
    exempt: NDArray[np.bool_],
    result: NDArray[np.float32],
) -> None:
    for a in range(len(inside)):
        if not inside[a]:
            continue
        for b in range(len(inside)):
            if a == b or not inside[b] or exempt[a, b]:
                continue
            dx = points[starts[a], 0] - points[starts[b], 0]
            dy = points[starts[a], 1] - points[starts[b], 1]
            reach = (starts[a + 1] - starts[a]) + (starts[b + 1] - starts[b]) + _CONFLICT_M + 4.0
            if dx * dx + dy * dy > reach * reach:
                continue
            last = 0.0
            for i in range(starts[a], starts[a + 1]):
                for j in range(starts[b], starts[b + 1]):
                    dx, dy = points[i, 0] - points[j, 0], points[i, 1] - points[j, 1]
                    if abs(points[i, 2] - points[j, 2]) > 3.0:
                        continue
                    if dx * dx + dy * dy < _CONFLICT_M * _CONFLICT_M:
                        last = max(points[i, 4], 0.5)
                        break
            result[a, b] = last
