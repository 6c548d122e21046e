"""Paths ahead of the vehicles of a scene, along the scene's lanes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from jaywalk.geometry.path import arc_lengths, points_at, without_repeats
from jaywalk.metrics.realism.red_light import lane_successors
from jaywalk.metrics.realism.scene import (
    CURRENT_STEP,
    N_STEPS,
    LoggedScene,
    Polylines,
    SceneSignals,
)

Points = NDArray[np.float64]

PATH_STEP_M = 1.0
PATH_POINTS = 240
LIGHTS = 4
_REACH_M = 3.0
_SAME_WAY = 0.6
_LEVEL_WEIGHT = 2.0  # weight of height differences, so that lanes of other levels are not chosen
_STOP_NEAR_M = 15.0  # leaves out invalid stop points such as the origin; the signal names its lane
_LATERAL_MPS2 = 2.0

OPEN, SHUT, STOP_FIRST = 0, 1, 2
# Red and yellow, for arrows and in general, stop; flashing red is a stop sign.
_MEANS = np.array([OPEN, SHUT, SHUT, OPEN, SHUT, SHUT, OPEN, STOP_FIRST, OPEN], np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class RolloutLaneGraph:
    """Lanes of a scene with points one metre apart, and their successors.

    Attributes:
        lines: (n, 4) of every lane: x, y, z, heading.
        successors: Rows of the lanes that follow.
        stop_m: Per lane, distance along it at which its light stops vehicles; inf: no light.
        light: [lane, future step]: OPEN, SHUT or STOP_FIRST.
    """

    lines: tuple[Points, ...]
    successors: list[list[int]]
    stop_m: NDArray[np.float64]
    light: NDArray[np.int64]

    def nearest(self, place_m: Points, heading_rad: float) -> tuple[int, int] | None:
        """Return the nearest lane and point to a place whose direction agrees with a heading."""
        best: tuple[float, int, int] | None = None
        for lane, line in enumerate(self.lines):
            away = np.hypot(line[:, 0] - place_m[0], line[:, 1] - place_m[1])
            away = away + _LEVEL_WEIGHT * np.maximum(np.abs(line[:, 2] - place_m[2]) - 2.0, 0.0)
            away = np.where(np.cos(line[:, 3] - heading_rad) > _SAME_WAY, away, np.inf)
            k = int(away.argmin())
            if away[k] < _REACH_M and (best is None or away[k] < best[0]):
                best = (float(away[k]), lane, k)
        return None if best is None else best[1:]


def _resampled(line: Points) -> Points | None:
    line = without_repeats(line, 1e-3)
    if len(line) < 2:
        return None
    along = arc_lengths(line)
    count = max(2, round(float(along[-1]) / PATH_STEP_M) + 1)
    at = np.linspace(0.0, along[-1], count)
    xyz = points_at(at, along, line[:, :3])
    way = np.gradient(xyz[:, :2], axis=0)
    return np.column_stack([xyz, np.arctan2(way[:, 1], way[:, 0])])


def _lights(
    signals: SceneSignals, lines: list[Points], ids: list[int]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the stop position on each lane, and the state of its light at each future step.

    A light that is not seen for a while keeps its last seen state: logs have gaps where something
    hides the light, and a passing truck must not turn yellow into green.
    """
    stop_m = np.full(len(lines), np.inf)
    light = np.full((len(lines), N_STEPS), OPEN, np.int64)
    rows_of: dict[int, list[int]] = {}
    for row in np.argsort(signals.step, kind="stable"):
        rows_of.setdefault(int(signals.lane_id[row]), []).append(int(row))
    for i, lane in enumerate(ids):
        for row in rows_of.get(lane, []):
            state = int(signals.state[row])
            away = np.hypot(*(lines[i][:, :2] - signals.stop_point_m[row, :2]).T)
            if state and away.min() < _STOP_NEAR_M:
                stop_m[i] = float(away.argmin()) * PATH_STEP_M
                light[i, signals.step[row] :] = _MEANS[state] if state < len(_MEANS) else OPEN
    return stop_m, light[:, CURRENT_STEP + 1 :]


def lane_graph(scene: LoggedScene) -> RolloutLaneGraph:
    """Return the lanes of a scene with its lights; their logged program is part of the world."""
    source, lines, ids = scene.lanes.lines, [], []
    for i in range(len(source)):
        low, high = source.offsets[i], source.offsets[i + 1]
        line = _resampled(source.points_m[low:high].astype(np.float64)) if high > low else None
        if line is not None:
            lines.append(line)
            ids.append(int(scene.lanes.lane_id[i]))
    stop_m, light = _lights(scene.signals, lines, ids)
    joined = Polylines.of([line[:, :3] for line in lines])
    return RolloutLaneGraph(
        lines=tuple(lines),
        successors=lane_successors(joined) if lines else [],
        stop_m=stop_m,
        light=light,
    )


def write_way(
    graph: RolloutLaneGraph,
    lane: int,
    point: int,
    random: np.random.Generator,
    path: Points,
    lights: Points,
) -> int:
    """Choose a random path from a point on a lane and write it; return its number of points.

    Args:
        graph: The lanes.
        lane: First lane of the path.
        point: First point on that lane.
        random: Decides at forks.
        path: (PATH_POINTS, 5) x, y, z, heading, comfortable speed in bends.
        lights: (LIGHTS, 2) lanes with a light on the path (-1: none) and stop distance along it.
    """
    pieces = [graph.lines[lane][point:]]
    lights[:] = -1.0
    met = [(lane, graph.stop_m[lane] - point * PATH_STEP_M)]
    count, current = len(pieces[0]), lane
    while count < PATH_POINTS and graph.successors[current]:
        choice = graph.successors[current]
        current = choice[int(random.integers(len(choice)))]
        met.append((current, (count - 1) * PATH_STEP_M + graph.stop_m[current]))
        pieces.append(graph.lines[current][1:])
        count += len(pieces[-1])
    found = [light for light in met if 0.0 <= light[1] < np.inf][:LIGHTS]
    if found:
        lights[: len(found)] = found
    line = np.concatenate(pieces)[:PATH_POINTS]
    path[: len(line), :4] = line
    turn = np.abs(np.diff(np.unwrap(line[:, 3]), prepend=line[0, 3]))
    smooth = np.convolve(turn, np.full(5, 0.2), mode="same") if len(turn) >= 5 else turn
    path[: len(line), 4] = np.sqrt(_LATERAL_MPS2 * PATH_STEP_M / np.maximum(smooth, 1e-4))
    return len(line)


def lane_places(scene: LoggedScene, graph: RolloutLaneGraph, rows: NDArray[np.int64]) -> Points:
    """Return lane and point of some tracks at the current step, [n, 2]; -1 where none fits."""
    places = np.full((len(rows), 2), -1.0)
    if not graph.lines:
        return places
    tree = cKDTree(np.concatenate([line[:, :2] for line in graph.lines]))
    for i, row in enumerate(rows):
        place = np.array(
            [values[row, CURRENT_STEP] for values in (scene.x_m, scene.y_m, scene.z_m)]
        )
        if tree.query(place[:2])[0] < _REACH_M:
            near = graph.nearest(place, float(scene.heading_rad[row, CURRENT_STEP]))
            if near is not None:
                places[i] = near
    return places
