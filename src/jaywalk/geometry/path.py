"""Paths by arc length, and projections of points onto them: distance along and lateral offset.

The ground plane is right-handed: the lateral offset is positive to the left of the direction of
travel. CARLA's left-handed positions must be converted first (:mod:`jaywalk.geometry.frames`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from jaywalk.core.arrays import BoolArray, FloatArray
from jaywalk.core.errors import UsageError
from jaywalk.core.kernels import kernel

_TIE_M = 1e-6
"""Two path points whose distances from a point differ by less are a tie, decided by continuity."""


@dataclass(frozen=True, slots=True)
class Path:
    """A polyline in metres with the arc length of each vertex.

    The project's only polyline type; a class that adds something, such as headings, extends it.

    Attributes:
        points_m: ``(n, 2 or more)`` vertices: x, y, and further columns such as the height.
        arc_m: ``(n,)`` distance along the path of each vertex.
    """

    points_m: FloatArray
    arc_m: FloatArray

    @property
    def length_m(self) -> float:
        """Arc length of the whole path."""
        return float(self.arc_m[-1])

    def at(self, along_m: ArrayLike) -> FloatArray:
        """Return the points ``(k, c)`` at distances ``(k,)``; beyond an end, the end point."""
        return points_at(np.asarray(along_m, np.float64), self.arc_m, self.points_m)

    def point_at(self, along_m: float) -> list[float]:
        """Return the coordinates of one point; beyond an end, those of the end point."""
        point: list[float] = self.at([along_m])[0].tolist()
        return point

    def nearest(self, x_m: float, y_m: float) -> int:
        """Return the number of the vertex nearest to a place."""
        return nearest_vertex(self.points_m, x_m, y_m)[0]

    def vertex_at(self, along_m: float) -> int:
        """Return the number of the vertex whose distance along the path is nearest."""
        return int(np.argmin(np.abs(self.arc_m - along_m)))

    def covering(self, from_m: float, to_m: float) -> Path:
        """Return the shortest run of vertices around a stretch; their distances along stay."""
        arc = self.arc_m
        low = max(int(np.searchsorted(arc, from_m)) - 1, 0)
        high = min(int(np.searchsorted(arc, to_m)) + 1, len(arc))
        high = max(high, low + 2)
        low = min(low, len(arc) - 2)
        return Path(self.points_m[low:high], arc[low:high])

    def extended(self, ahead_m: float) -> Path:
        """Return the path extended straight along its last heading by ``ahead_m``."""
        if not ahead_m > 0.0:
            return self
        step = self.points_m[-1] - self.points_m[-2]
        end = self.points_m[-1] + step / np.hypot(*step) * ahead_m
        return Path(np.vstack([self.points_m, end]), np.append(self.arc_m, self.length_m + ahead_m))


@dataclass(frozen=True, slots=True)
class Projection:
    """Projection of points onto a path.

    Attributes:
        along_m: Arc length of the nearest path point.
        lateral_m: Signed distance from the path, left positive.
        beyond: True for a point past one of the ends, hence in no corridor.
    """

    along_m: FloatArray
    lateral_m: FloatArray
    beyond: BoolArray


def arc_lengths(points_m: FloatArray) -> FloatArray:
    """Distance along a polyline of each vertex, in the plane; columns after x and y do not count.

    Takes points ``(n, 2 or more)`` and returns ``(n,)``, beginning with 0.
    """
    steps = np.hypot(*np.diff(points_m[:, :2], axis=0).T)
    return np.concatenate([[0.0], np.cumsum(steps)])


def points_at(at_m: FloatArray, arc_m: FloatArray, points_m: FloatArray) -> FloatArray:
    """Points of a polyline at distances along it; every column is interpolated.

    Takes distances ``(k,)``, the arc length ``(n,)`` of the vertices and the vertices ``(n, c)``,
    and returns ``(k, c)``. Distances beyond the ends give the end points.
    """
    return np.column_stack([np.interp(at_m, arc_m, column) for column in points_m.T])


def nearest_vertex(points_m: FloatArray, x_m: float, y_m: float) -> tuple[int, float]:
    """Return number and distance of the vertex nearest to a place, in the plane."""
    gaps = np.hypot(points_m[:, 0] - x_m, points_m[:, 1] - y_m)
    nearest = int(np.argmin(gaps))
    return nearest, float(gaps[nearest])


def nearest_vertices(first_m: FloatArray, second_m: FloatArray) -> tuple[int, int, float]:
    """Return where two polylines come nearest: a vertex of each, and their distance."""
    gaps = np.hypot(
        first_m[:, None, 0] - second_m[None, :, 0], first_m[:, None, 1] - second_m[None, :, 1]
    )
    row, column = np.unravel_index(int(np.argmin(gaps)), gaps.shape)
    return int(row), int(column), float(gaps[row, column])


def without_repeats(points_m: FloatArray, gap_m: float) -> FloatArray:
    """Drop the points that are within ``gap_m`` of the point before them, in the plane."""
    steps = np.hypot(*np.diff(points_m[:, :2], axis=0).T)
    return np.asarray(points_m[np.concatenate([[True], steps > gap_m])])


def make_path(points_m: ArrayLike, spacing_m: float = 1e-6) -> Path:
    """Build a path from positions, keeping vertices at least ``spacing_m`` apart.

    A spacing of 0.1 m removes the jitter of a vehicle that stands still.
    """
    points = np.asarray(points_m, dtype=np.float64)
    if points.ndim != 2 or points.shape[1] != 2:
        raise UsageError(f"a path needs points of shape (n, 2), got {points.shape}")
    if not np.all(np.isfinite(points)):
        raise UsageError("a path holds NaN or infinite points; drop those first")
    kept = points[_spaced(points, max(spacing_m, 1e-9))]
    if len(kept) < 2:
        raise UsageError(
            f"a path needs two points at least {spacing_m:g} m apart, got {len(points)} points "
            "in one place; a vehicle that never moves has no path"
        )
    return Path(kept, arc_lengths(kept))


def project(path: Path, points_m: ArrayLike, start_m: float = 0.0) -> Projection:
    """Project the consecutive positions of one track.

    If two points of the path are equally near (a path that crosses itself), the one closest in arc
    length to the previous position counts; for the first position, the first at or after
    ``start_m``.
    """
    points = np.ascontiguousarray(points_m, dtype=np.float64)
    return Projection(*_project(path.points_m, path.arc_m, points, True, float(start_m)))


def project_each(path: Path, points_m: ArrayLike, start_m: float = 0.0) -> Projection:
    """Project independent positions (samples of a forecast), each as if it were a first one."""
    points = np.ascontiguousarray(points_m, dtype=np.float64)
    return Projection(*_project(path.points_m, path.arc_m, points, False, float(start_m)))


@kernel
def _spaced(points: FloatArray, spacing_m: float) -> Any:
    keep = np.zeros(points.shape[0], dtype=np.bool_)
    last = -1
    for i in range(points.shape[0]):
        if last >= 0:
            gap = np.hypot(points[i, 0] - points[last, 0], points[i, 1] - points[last, 1])
            if gap < spacing_m:
                continue
        keep[i] = True
        last = i
    return keep


@kernel
def _project(
    path: FloatArray, arc: FloatArray, points: FloatArray, sequence: bool, start_m: float
) -> Any:
    n, m = points.shape[0], path.shape[0] - 1
    along, lateral = np.empty(n), np.empty(n)
    beyond = np.zeros(n, dtype=np.bool_)
    previous, first = start_m, True
    for i in range(n):
        best, best_gap = np.inf, np.inf
        px, py = points[i, 0], points[i, 1]
        for j in range(m):
            dx, dy = path[j + 1, 0] - path[j, 0], path[j + 1, 1] - path[j, 1]
            wx, wy = px - path[j, 0], py - path[j, 1]
            length = arc[j + 1] - arc[j]
            raw = (wx * dx + wy * dy) / (length * length)
            u = min(max(raw, 0.0), 1.0)
            rx, ry = wx - u * dx, wy - u * dy
            distance = np.sqrt(rx * rx + ry * ry)
            if distance > best + _TIE_M:
                continue
            s = arc[j] + u * length
            gap = abs(s - previous)
            if first and s < start_m:
                gap += 1e9
            if distance >= best - _TIE_M and gap >= best_gap:
                continue
            best, best_gap = distance, gap
            along[i] = s
            lateral[i] = distance if dx * ry - dy * rx >= 0.0 else -distance
            beyond[i] = (j == 0 and raw < 0.0) or (j == m - 1 and raw > 1.0)
        if sequence:
            previous, first = along[i], False
    return along, lateral, beyond
