"""Which lane goes on where another ends, found from the lines alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from jaywalk.metrics.realism.scene import Polylines

_REACH_M = 2.5
_SAME_LEVEL_M = 2.0
_SAME_WAY = 0.7


def _directions(lines: Polylines, *, at_end: bool) -> NDArray[np.float64]:
    """Unit vectors of the first or last piece of every line; zero for a single point."""
    found = np.zeros((len(lines), 2))
    for i in range(len(lines)):
        points = lines.points_m[lines.offsets[i] : lines.offsets[i + 1], :2].astype(np.float64)
        steps = np.diff(points, axis=0)
        length = np.hypot(steps[:, 0], steps[:, 1])
        moving = np.flatnonzero(length > 1e-3)
        if len(moving):
            k = moving[-1] if at_end else moving[0]
            found[i] = steps[k] / length[k]
    return found


def lane_successors(lines: Polylines) -> list[list[int]]:
    """For every line those that begin where it ends and lead the same way."""
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
