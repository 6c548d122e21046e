"""Signed distance of a box to the road edge: positive off the road.

The road lies to the left of an edge's direction. The nearest segment is chosen with heights
stretched, so that a bridge and the road below it stay apart.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.arrays import IntArray
from jaywalk.core.kernels import kernel
from jaywalk.metrics.realism._object_distance import FAN, BoxTree, box_distance_sq, build_box_tree
from jaywalk.metrics.realism._trajectories import SceneTrajectories
from jaywalk.metrics.realism.scene import Polylines

NO_EDGE_M = -1e10
Z_STRETCH = 3.0
CYCLE_TOLERANCE_M = 1.0


class EdgeSegments(NamedTuple):
    """Segments of all road edges in their order, with neighbours (-1: none) and a search tree.

    Attributes:
        start: First point [segment, 3]; ``end`` the second one.
        end: See ``start``.
        before: The segment before; ``after`` the one after.
        after: See ``before``.
        z_stretch: Factor on height differences when choosing the nearest segment.
        tree: Over the segments, with stretched heights.
    """

    start: NDArray[np.float64]
    end: NDArray[np.float64]
    before: NDArray[np.int64]
    after: NDArray[np.int64]
    z_stretch: float
    tree: BoxTree


def edge_segments(
    edges: Polylines, *, z_stretch: float = Z_STRETCH, cycle_tolerance_m: float = CYCLE_TOLERANCE_M
) -> EdgeSegments | None:
    """Cut road edges into segments; None if there are none.

    A closed edge joins its last segment to its first only if no edge has more points: the official
    code pads all edges to the longest one and looks for the neighbour behind the padding.
    """
    points = edges.points_m.astype(np.float64)
    spans = [
        (int(a), int(b))
        for a, b in zip(edges.offsets[:-1], edges.offsets[1:], strict=True)
        if b - a >= 2
    ]
    if not spans:
        return None
    longest = max(b - a for a, b in spans)
    before, after, count = [], [], 0
    for a, b in spans:
        n = b - a - 1
        index = np.arange(count, count + n)
        closed = b - a == longest and _closed(points[a], points[b - 1], cycle_tolerance_m)
        before.append(np.append(index[-1] if closed else -1, index[:-1]))
        after.append(np.append(index[1:], index[0] if closed else -1))
        count += n
    start = np.concatenate([points[a : b - 1] for a, b in spans])
    end = np.concatenate([points[a + 1 : b] for a, b in spans])
    scale = np.array([1.0, 1.0, z_stretch])
    return EdgeSegments(
        start=start,
        end=end,
        before=np.concatenate(before).astype(np.int64),
        after=np.concatenate(after).astype(np.int64),
        z_stretch=z_stretch,
        tree=build_box_tree(
            np.minimum(start * scale, end * scale), np.maximum(start * scale, end * scale)
        ),
    )


def _closed(first: NDArray[np.float64], last: NDArray[np.float64], tolerance_m: float) -> bool:
    return float(((last - first) ** 2).sum()) < tolerance_m**2


@kernel
def _segment_distance_sq(edges: EdgeSegments, i: int, x: float, y: float, z: float) -> float:
    """Squared distance by which the nearest segment is chosen."""
    sx, sy, sz = edges.start[i, 0], edges.start[i, 1], edges.start[i, 2]
    ux, uy, uz = edges.end[i, 0] - sx, edges.end[i, 1] - sy, edges.end[i, 2] - sz
    square = ux * ux + uy * uy
    t = 0.0
    if square > 0.0:
        t = min(max(((x - sx) * ux + (y - sy) * uy) / square, 0.0), 1.0)
    dx, dy = x - sx - t * ux, y - sy - t * uy
    dz = (z - sz - t * uz) * edges.z_stretch
    return float(dx * dx + dy * dy + dz * dz)


@kernel
def _nearest_segment(
    edges: EdgeSegments, x: float, y: float, z: float, hint: int, stack: NDArray[np.int64]
) -> int:
    """The nearest segment, the first one if several are equally near."""
    best_i = hint
    best = _segment_distance_sq(edges, hint, x, y, z)
    tree = edges.tree
    start = tree.level_start
    n_levels, n_items = len(start) - 1, len(tree.order)
    zs = z * edges.z_stretch
    top = 1
    stack[0] = start[n_levels - 1]
    while top > 0:
        top -= 1
        node = stack[top]
        if box_distance_sq(tree, node, x, y, zs) > best:
            continue
        level = 0
        while node >= start[level + 1]:
            level += 1
        first = (node - start[level]) * FAN
        if level == 0:
            for place in range(first, min(first + FAN, n_items)):
                i = tree.order[place]
                distance = _segment_distance_sq(edges, i, x, y, z)
                if distance < best or (distance == best and i < best_i):
                    best, best_i = distance, i
        else:
            below = start[level - 1]
            for child in range(below + first, min(below + first + FAN, start[level])):
                if box_distance_sq(tree, child, x, y, zs) <= best:
                    stack[top] = child
                    top += 1
    return best_i


@kernel
def _side(edges: EdgeSegments, i: int, x: float, y: float) -> float:
    """1 right of the line through a segment (off the road), -1 left, 0 on it."""
    sx, sy = edges.start[i, 0], edges.start[i, 1]
    cross = (x - sx) * (edges.end[i, 1] - sy) - (y - sy) * (edges.end[i, 0] - sx)
    return 1.0 if cross > 0.0 else (-1.0 if cross < 0.0 else 0.0)


@kernel
def _turns_left(edges: EdgeSegments, i: int, j: int) -> bool:
    """Return whether the line turns left from segment i to segment j."""
    ax, ay = edges.end[i, 0] - edges.start[i, 0], edges.end[i, 1] - edges.start[i, 1]
    bx, by = edges.end[j, 0] - edges.start[j, 0], edges.end[j, 1] - edges.start[j, 1]
    return bool(ax * by - ay * bx > 0.0)


@kernel
def _signed_distance(edges: EdgeSegments, i: int, x: float, y: float) -> float:
    """Signed plane distance to segment i, its neighbours deciding the side beyond its ends."""
    sx, sy = edges.start[i, 0], edges.start[i, 1]
    ux, uy = edges.end[i, 0] - sx, edges.end[i, 1] - sy
    square = ux * ux + uy * uy
    t = ((x - sx) * ux + (y - sy) * uy) / square if square > 0.0 else 0.0
    side = _side(edges, i, x, y)
    if t < 0.0 and edges.before[i] >= 0:
        j = edges.before[i]
        other = _side(edges, j, x, y)
        side = max(side, other) if _turns_left(edges, j, i) else min(side, other)
    elif t > 1.0 and edges.after[i] >= 0:
        j = edges.after[i]
        other = _side(edges, j, x, y)
        side = max(side, other) if _turns_left(edges, i, j) else min(side, other)
    t = min(max(t, 0.0), 1.0)
    dx, dy = x - sx - t * ux, y - sy - t * uy
    return side * math.sqrt(dx * dx + dy * dy)


@kernel
def edge_gap(
    edges: EdgeSegments, x: float, y: float, z: float, hint: int, stack: NDArray[np.int64]
) -> tuple[float, int]:
    """Distance to the nearest segment, heights stretched, and the segment."""
    i = _nearest_segment(edges, x, y, z, hint, stack)
    return math.sqrt(_segment_distance_sq(edges, i, x, y, z)), i


@kernel
def _most_offroad(
    edges: EdgeSegments,
    x: NDArray[np.float32],
    y: NDArray[np.float32],
    z: NDArray[np.float32],
    heading: NDArray[np.float32],
    valid: NDArray[np.bool_],
    length: NDArray[np.float32],
    width: NDArray[np.float32],
    height: NDArray[np.float32],
    rows: NDArray[np.int64],
    first: int,
) -> NDArray[np.float32]:
    n_rollouts, _, n_steps = x.shape
    out = np.full((n_rollouts, len(rows), n_steps - first), np.float32(NO_EDGE_M), dtype=np.float32)
    stack = np.empty(FAN * 16, dtype=np.int64)
    start_hint = np.zeros(len(rows), dtype=np.int64)
    for k in range(n_rollouts):
        for row in range(len(rows)):
            e = rows[row]
            hx, hy = float(length[e]) / 2.0, float(width[e]) / 2.0
            # Rollouts of an object start near each other, and it moves little in a step.
            hint, fresh = start_hint[row], True
            for step in range(first, n_steps):
                if not valid[e, step]:
                    continue
                yaw = float(heading[k, e, step])
                c, s = math.cos(yaw), math.sin(yaw)
                ex, ey = float(x[k, e, step]), float(y[k, e, step])
                ez = float(z[k, e, step]) - float(height[e]) / 2.0
                worst = -np.inf
                for corner in range(4):
                    fx = hx if corner & 1 else -hx
                    fy = hy if corner & 2 else -hy
                    px, py = ex + fx * c - fy * s, ey + fx * s + fy * c
                    hint = _nearest_segment(edges, px, py, ez, hint, stack)
                    worst = max(worst, _signed_distance(edges, hint, px, py))
                if fresh:
                    start_hint[row], fresh = hint, False
                out[k, row, step - first] = worst
    return out


def distance_to_road_edge(
    tracks: SceneTrajectories, edges: EdgeSegments | None, rows: IntArray, first_step: int
) -> NDArray[np.float32]:
    """Signed distance [rollout, row, step] of the most off-road corner; positive: off the road.

    -1e10 where the object is not valid, and everywhere if the map has no road edge.
    """
    if edges is None:
        shape = (tracks.x_m.shape[0], len(rows), tracks.x_m.shape[2] - first_step)
        return np.full(shape, NO_EDGE_M, dtype=np.float32)
    return _most_offroad(
        edges,
        tracks.x_m,
        tracks.y_m,
        tracks.z_m,
        tracks.heading_rad,
        tracks.valid,
        tracks.length_m,
        tracks.width_m,
        tracks.height_m,
        rows,
        first_step,
    )
