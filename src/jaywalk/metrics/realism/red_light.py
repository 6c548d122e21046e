"""Red-light violations: an object's centre passes its lane's stop point while the light is red.

The quirks of the official code are kept, because they decide cases: distances to lane segments use
a mirrored foot point, a lane shorter than the longest one continues to the origin, and a signal
missing at a step is placed at the origin. The module also finds the successors of lanes from their
lines alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from jaywalk.core.arrays import IntArray
from jaywalk.core.kernels import kernel
from jaywalk.metrics.realism._object_distance import FAN, BoxTree, box_distance_sq, build_box_tree
from jaywalk.metrics.realism._trajectories import SceneTrajectories
from jaywalk.metrics.realism.scene import N_STEPS, SURFACE_STREET, LoggedScene, Polylines

_REACH_M = 2.5
_SAME_LEVEL_M = 2.0
_SAME_WAY = 0.7


def _directions(lines: Polylines, *, at_end: bool) -> NDArray[np.float64]:
    """Unit vectors of the first or last piece of every line; zero for a single point."""
    directions = np.zeros((len(lines), 2))
    for i in range(len(lines)):
        points = lines.points_m[lines.offsets[i] : lines.offsets[i + 1], :2].astype(np.float64)
        steps = np.diff(points, axis=0)
        length = np.hypot(steps[:, 0], steps[:, 1])
        moving = np.flatnonzero(length > 1e-3)
        if len(moving):
            k = moving[-1] if at_end else moving[0]
            directions[i] = steps[k] / length[k]
    return directions


def lane_successors(lines: Polylines) -> list[list[int]]:
    """Return for every line the lines that begin at its end and continue in its direction."""
    if not len(lines):
        return []
    if (np.diff(lines.offsets) < 1).any():
        raise ValueError("every lane needs at least one point")
    starts, ends = lines.points_m[lines.offsets[:-1]], lines.points_m[lines.offsets[1:] - 1]
    leave, enter = _directions(lines, at_end=True), _directions(lines, at_end=False)
    near = cKDTree(starts[:, :2]).query_ball_point(ends[:, :2], _REACH_M)
    return [
        sorted(
            j
            for j in group
            if j != i
            and abs(float(starts[j, 2] - ends[i, 2])) < _SAME_LEVEL_M
            and float(leave[i] @ enter[j]) > _SAME_WAY
        )
        for i, group in enumerate(near)
    ]


RED_STATES = (1, 4)


class SignalledLanes(NamedTuple):
    """Lane segments to search, and every signal at every step.

    Attributes:
        start: First point [segment, 2]; ``end`` the second one.
        end: See ``start``.
        lane: Number of the segment's lane.
        tree: Over the first points: no segment counts as nearer than its first point is.
        red: Whether signal k is red at a step, [signal, step], False if its lane is unknown.
        signal_lane: Lane number of each signal, -1 if unknown.
        stop_segment: Segment nearest to the stop point, [signal, step].
        stop_along: Projection of the stop point on that segment, in its lengths.
    """

    start: NDArray[np.float64]
    end: NDArray[np.float64]
    lane: NDArray[np.int64]
    tree: BoxTree
    red: NDArray[np.bool_]
    signal_lane: NDArray[np.int64]
    stop_segment: NDArray[np.int64]
    stop_along: NDArray[np.float64]


def _lane_segments(
    scene: LoggedScene,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64], IntArray]:
    """Segments of the surface lanes, each shorter lane going on to the origin; and the ids."""
    lines = scene.lanes.lines
    kept = np.flatnonzero(scene.lanes.lane_type == SURFACE_STREET)
    sizes = lines.offsets[kept + 1] - lines.offsets[kept]
    kept, sizes = kept[sizes > 0], sizes[sizes > 0]
    longest = int(sizes.max()) if len(kept) else 0
    starts, ends, lanes = [np.zeros((0, 2))], [np.zeros((0, 2))], [np.zeros(0, np.int64)]
    for number, i in enumerate(kept):
        line = lines.points_m[lines.offsets[i] : lines.offsets[i + 1], :2].astype(np.float64)
        if len(line) < longest:
            line = np.concatenate([line, np.zeros((1, 2))])
        starts.append(line[:-1])
        ends.append(line[1:])
        lanes.append(np.full(len(line) - 1, number, dtype=np.int64))
    ids = scene.lanes.lane_id[kept].astype(np.int64)
    return np.concatenate(starts), np.concatenate(ends), np.concatenate(lanes), ids


def signalled_lanes(scene: LoggedScene) -> SignalledLanes | None:
    """Prepare lanes and signals; None if the scene lacks either and no violation is possible."""
    start, end, lane, lane_ids = _lane_segments(scene)
    signals = scene.signals
    if not len(start) or not signals.n_steps or not len(signals.step):
        return None
    ids = np.unique(signals.lane_id)
    known = {int(lane_id): number for number, lane_id in reversed(list(enumerate(lane_ids)))}
    signal_lane = np.array([known.get(int(i), -1) for i in ids], dtype=np.int64)
    state = np.zeros((len(ids), N_STEPS), dtype=np.int64)
    stop = np.zeros((len(ids), N_STEPS, 2))
    which = np.searchsorted(ids, signals.lane_id)
    state[which, signals.step] = signals.state
    stop[which, signals.step] = signals.stop_point_m[:, :2]
    low = np.column_stack([start, np.zeros(len(start))])
    lanes = SignalledLanes(
        start=start,
        end=end,
        lane=lane,
        tree=build_box_tree(low, low),
        red=np.isin(state, RED_STATES) & (signal_lane >= 0)[:, None],
        signal_lane=signal_lane,
        stop_segment=np.zeros((len(ids), N_STEPS), dtype=np.int64),
        stop_along=np.zeros((len(ids), N_STEPS)),
    )
    _place_stops(lanes, stop)
    return lanes


@kernel
def _along(lanes: SignalledLanes, i: int, x: float, y: float) -> float:
    """Projection on a segment, in its lengths; 0 on a segment without length."""
    sx, sy = lanes.start[i, 0], lanes.start[i, 1]
    ux, uy = lanes.end[i, 0] - sx, lanes.end[i, 1] - sy
    square = ux * ux + uy * uy
    return ((x - sx) * ux + (y - sy) * uy) / square if square > 0.0 else 0.0


@kernel
def _mirrored_distance_sq(lanes: SignalledLanes, i: int, x: float, y: float) -> float:
    """Squared distance with the foot point on the wrong side of the segment's start."""
    t = min(max(_along(lanes, i, x, y), 0.0), 1.0)
    sx, sy = lanes.start[i, 0], lanes.start[i, 1]
    dx = x - sx + t * (lanes.end[i, 0] - sx)
    dy = y - sy + t * (lanes.end[i, 1] - sy)
    return float(dx * dx + dy * dy)


@kernel
def _place_stops(lanes: SignalledLanes, stop: NDArray[np.float64]) -> None:
    """Find the segment of its own lane that is nearest to each stop point."""
    for k in range(len(lanes.signal_lane)):
        if lanes.signal_lane[k] < 0:
            continue
        for step in range(stop.shape[1]):
            best = np.inf
            for i in range(len(lanes.lane)):
                if lanes.lane[i] != lanes.signal_lane[k]:
                    continue
                distance = _mirrored_distance_sq(lanes, i, stop[k, step, 0], stop[k, step, 1])
                if distance < best:
                    best = distance
                    lanes.stop_segment[k, step] = i
            lanes.stop_along[k, step] = _along(
                lanes, lanes.stop_segment[k, step], stop[k, step, 0], stop[k, step, 1]
            )


@kernel
def _lane_at(lanes: SignalledLanes, x: float, y: float, stack: NDArray[np.int64]) -> int:
    """Lane of the nearest segment."""
    best, best_i = np.inf, -1
    tree = lanes.tree
    start = tree.level_start
    top = 1
    stack[0] = start[len(start) - 2]
    while top > 0:
        top -= 1
        node = stack[top]
        if box_distance_sq(tree, node, x, y, 0.0) > best:
            continue
        level = 0
        while node >= start[level + 1]:
            level += 1
        first = (node - start[level]) * FAN
        if level == 0:
            for place in range(first, min(first + FAN, len(tree.order))):
                i = tree.order[place]
                distance = _mirrored_distance_sq(lanes, i, x, y)
                if distance < best or (distance == best and i < best_i):
                    best, best_i = distance, i
        else:
            below = start[level - 1]
            for child in range(below + first, min(below + first + FAN, start[level])):
                stack[top] = child
                top += 1
    return int(lanes.lane[best_i])


@kernel
def _violations(
    lanes: SignalledLanes,
    x: NDArray[np.float32],
    y: NDArray[np.float32],
    valid: NDArray[np.bool_],
    rows: NDArray[np.int64],
    first: int,
) -> NDArray[np.bool_]:
    n_rollouts, _, n_steps = x.shape
    out = np.zeros((n_rollouts, len(rows), n_steps - first), dtype=np.bool_)
    stack = np.empty(FAN * 16, dtype=np.int64)
    for step in range(max(first, 1), n_steps):
        for signal in range(len(lanes.signal_lane)):
            if not lanes.red[signal, step]:
                continue
            now, then = lanes.stop_segment[signal, step], lanes.stop_segment[signal, step - 1]
            for k in range(n_rollouts):
                for row in range(len(rows)):
                    e = rows[row]
                    if not valid[e, step] or out[k, row, step - first]:
                        continue
                    px, py = float(x[k, e, step]), float(y[k, e, step])
                    qx, qy = float(x[k, e, step - 1]), float(y[k, e, step - 1])
                    # The crossing is cheap to test and rare; the lane is only then looked up.
                    past = _along(lanes, now, px, py) > lanes.stop_along[signal, step]
                    before = _along(lanes, then, qx, qy) < lanes.stop_along[signal, step - 1]
                    if past and before:
                        on_lane = _lane_at(lanes, px, py, stack) == lanes.signal_lane[signal]
                        out[k, row, step - first] = on_lane
    return out


def red_light_violations(
    tracks: SceneTrajectories, lanes: SignalledLanes | None, rows: IntArray, first_step: int
) -> NDArray[np.bool_]:
    """Return whether an object runs a red light at a step, [rollout, row, step]."""
    if lanes is None:
        shape = (tracks.x_m.shape[0], len(rows), tracks.x_m.shape[2] - first_step)
        return np.zeros(shape, dtype=np.bool_)
    return _violations(lanes, tracks.x_m, tracks.y_m, tracks.valid, rows, first_step)
