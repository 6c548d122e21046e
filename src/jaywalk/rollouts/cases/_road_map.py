"""Road edges, lanes and traffic lights of a town in the form of logged scenes.

Coordinates are right-handed, and the road is to the left of its edges. Traffic lights of a record
become states of the lanes behind their stop lines.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import shapely
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from jaywalk.geometry.frames import carla_to_right_handed
from jaywalk.metrics.realism.red_light import lane_successors
from jaywalk.metrics.realism.scene import (
    N_STEPS,
    SURFACE_STREET,
    Polylines,
    SceneLanes,
    SceneSignals,
)
from jaywalk.record import columns as c
from jaywalk.record.queries import TRAFFIC_LIGHT, landmark_rows
from jaywalk.record.reader import Record
from jaywalk.record.tracks import light_states
from jaywalk.town.lanes import LaneStrip
from jaywalk.town.town import Town

Points = NDArray[np.float64]

BIKE_LANE = 3
_LANES = {"driving": SURFACE_STREET, "bidirectional": SURFACE_STREET, "biking": BIKE_LANE}
_PAVED = frozenset(
    {
        "driving",
        "shoulder",
        "stop",
        "bidirectional",
        "entry",
        "exit",
        "onRamp",
        "offRamp",
        "restricted",
        "parking",
        "biking",
    }
)
_SEAM_M = 0.05  # closes the narrow gaps between neighbouring lanes, which are sampled separately
_HOLE_M2 = 60.0  # largest gap between turning lanes that counts as pavement
_SIMPLER_M = 0.04
_SAME_WAY = 0.5
_APPROACH_M = 25.0  # from a stop line to its junction


@dataclass(frozen=True, kw_only=True)
class RoadMap:
    """Map of a whole town; the id of a lane is its row here.

    Attributes:
        edges: Outlines of the pavement [n, 3], with the road to their left.
        lanes: Centre lines in the direction of travel.
        lane_type: Type as in the Waymo messages.
        in_junction: True for lanes in a junction.
    """

    edges: tuple[Points, ...]
    lanes: Polylines
    lane_type: NDArray[np.int64]
    in_junction: NDArray[np.bool_]

    @cached_property
    def successors(self) -> list[list[int]]:
        """Rows of the lanes that continue each lane."""
        return lane_successors(self.lanes)

    @cached_property
    def _tree(self) -> cKDTree:
        return cKDTree(self.lanes.points_m[:, :2])

    def line(self, lane: int) -> Points:
        """Points of a lane."""
        low, high = self.lanes.offsets[lane], self.lanes.offsets[lane + 1]
        return np.asarray(self.lanes.points_m[low:high], dtype=np.float64)

    def around(self, centre_m: Points, radius_m: float) -> tuple[Polylines, SceneLanes]:
        """Return the part of the map within a radius; lines that cross the radius stay whole."""
        edges = [part for edge in self.edges for part in _near_runs(edge, centre_m, radius_m)]
        chosen = [
            i
            for i in range(len(self.lanes))
            if (np.hypot(*(self.line(i)[:, :2] - centre_m).T) < radius_m).any()
        ]
        return Polylines.of(edges), SceneLanes(
            lines=Polylines.of([self.line(i) for i in chosen]),
            lane_id=np.array(chosen, dtype=np.int64),
            lane_type=self.lane_type[chosen],
        )

    def lanes_behind_stop(self, stop_m: Points, yaw_rad: float) -> list[int]:
        """Return the lanes of the junction behind a stop line, which a red light closes."""
        lane = self._lane_at(stop_m, yaw_rad)
        if lane is None:
            return []
        if self.in_junction[lane]:
            return [lane]
        lanes: set[int] = set()
        open_ends, far_m = [lane], {lane: 0.0}
        while open_ends:
            current = open_ends.pop()
            for after in self.successors[current]:
                if self.in_junction[after]:
                    lanes.add(after)
                elif after not in far_m:
                    length = float(np.hypot(*np.diff(self.line(after)[:, :2], axis=0).T).sum())
                    far_m[after] = far_m[current] + length
                    if far_m[after] < _APPROACH_M:
                        open_ends.append(after)
        return sorted(lanes)

    def _lane_at(self, place_m: Points, yaw_rad: float) -> int | None:
        """Return the nearest lane whose direction agrees."""
        way = np.array([np.cos(yaw_rad), np.sin(yaw_rad)])
        near = np.array(self._tree.query_ball_point(place_m[:2], 3.0), dtype=np.int64)
        away = np.hypot(*(self.lanes.points_m[near, :2] - place_m[:2]).T)
        for point in near[np.argsort(away, kind="stable")].tolist():
            lane = int(np.searchsorted(self.lanes.offsets, point, side="right") - 1)
            line = self.line(lane)
            k = min(point - int(self.lanes.offsets[lane]), len(line) - 2)
            step = line[k + 1, :2] - line[k, :2]
            if float(step @ way) > _SAME_WAY * float(np.hypot(*step)):
                return lane
        return None


def _near_runs(line: Points, centre_m: Points, radius_m: float) -> list[Points]:
    """Return runs of whole segments within a radius, in the line's order."""
    a, b = line[:-1, :2], line[1:, :2]
    d = b - a
    t = np.clip(((centre_m - a) * d).sum(axis=1) / np.maximum((d * d).sum(axis=1), 1e-12), 0, 1)
    near = np.hypot(*(a + t[:, None] * d - centre_m).T) < radius_m
    if near.all():
        return [line]
    change = np.flatnonzero(np.diff(np.concatenate([[False], near, [False]]).astype(np.int8)))
    return [line[low : high + 1] for low, high in zip(change[::2], change[1::2], strict=True)]


def _polygon(strip: LaneStrip) -> shapely.Geometry:
    ring = np.concatenate([strip.inner_m, strip.outer_m[::-1]])
    return shapely.make_valid(shapely.polygons(carla_to_right_handed(ring)[:, :2]))


def _edges(strips: list[LaneStrip]) -> tuple[Points, ...]:
    """Return outlines of all pavement; heights are those of the nearest lane edge."""
    paved = [strip for strip in strips if strip.kind in _PAVED]
    if not paved:
        return ()
    whole = shapely.union_all([_polygon(strip) for strip in paved])
    whole = shapely.buffer(
        shapely.buffer(whole, _SEAM_M, join_style="mitre"), -_SEAM_M, join_style="mitre"
    )
    whole = shapely.simplify(whole, _SIMPLER_M)
    border = carla_to_right_handed(
        np.concatenate([p for s in paved for p in (s.inner_m, s.outer_m)])
    )
    tree = cKDTree(border[:, :2])
    edges = []
    for part in shapely.get_parts(whole):
        if not isinstance(part, shapely.Polygon) or part.is_empty:
            continue
        # Outer rings counter-clockwise, holes clockwise: the pavement is to the left of both.
        part = shapely.geometry.polygon.orient(part, 1.0)
        rings = [part.exterior] + [
            ring for ring in part.interiors if abs(shapely.Polygon(ring).area) > _HOLE_M2
        ]
        for ring in rings:
            xy = np.asarray(ring.coords, dtype=np.float64)[:, :2]
            edges.append(np.column_stack([xy, border[tree.query(xy)[1], 2]]))
    return tuple(edges)


def road_map(town: Town) -> RoadMap:
    """Build the map of a town; takes a second or two, so keep it."""
    chosen = [strip for strip in town.strips if strip.kind in _LANES and len(strip.s_m) >= 2]
    return RoadMap(
        edges=_edges(town.strips),
        lanes=Polylines.of([carla_to_right_handed(strip.travel_m) for strip in chosen]),
        lane_type=np.array([_LANES[strip.kind] for strip in chosen], dtype=np.int64),
        in_junction=np.array([strip.in_junction for strip in chosen], dtype=np.bool_),
    )


# States of the record (red, yellow, green, off, unknown) as numbers of the Waymo messages.
_STATE_OF = np.array([4, 5, 6, 0, 0], dtype=np.int64)


def signals_of(
    record: Record, ticks: NDArray[np.int64], town: RoadMap, lanes: set[int]
) -> SceneSignals:
    """Return the state of every signalled lane at every step; vehicles stop where it begins."""
    step: list[NDArray[np.int64]] = []
    lane_id: list[NDArray[np.int64]] = []
    state: list[NDArray[np.int64]] = []
    stop: list[NDArray[np.float64]] = []
    states = light_states(record, ticks)
    for light, forbidden in _lanes_of_lights(record, town, lanes).items():
        if light not in states:
            continue
        seen = np.flatnonzero(states[light] >= 0)
        now = _STATE_OF[np.minimum(states[light][seen], 4)]
        for lane in forbidden:
            step.append(seen.astype(np.int64))
            lane_id.append(np.full(len(seen), lane, dtype=np.int64))
            state.append(now)
            stop.append(np.tile(town.line(lane)[0], (len(seen), 1)))
    none = np.zeros(0, np.int64)
    return SceneSignals(
        n_steps=N_STEPS if step else 0,
        step=np.concatenate([none, *step]),
        lane_id=np.concatenate([none, *lane_id]),
        state=np.concatenate([none, *state]),
        stop_point_m=np.concatenate([np.zeros((0, 3)), *stop]).astype(np.float32),
    )


def _lanes_of_lights(record: Record, town: RoadMap, lanes: set[int]) -> dict[int, list[int]]:
    """Return lanes by light; a lane behind two lights obeys the first."""
    rows = landmark_rows(record, TRAFFIC_LIGHT).select(c.ACTOR, c.STOP_WAYPOINTS)
    taken: set[int] = set()
    by_light: dict[int, list[int]] = {}
    for light, stops in rows.iter_rows():
        for stop in stops or []:
            place = np.array([stop["x_m"], -stop["y_m"], stop["z_m"]])
            for lane in town.lanes_behind_stop(place, -float(np.deg2rad(stop["yaw_deg"]))):
                if lane in lanes and lane not in taken:
                    taken.add(lane)
                    by_light.setdefault(int(light), []).append(lane)
    return by_light
