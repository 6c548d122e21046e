"""Lanes as strips: the two edges of every lane of every section, sampled along the road.

Ground, raster, pedestrian mesh, speed limits and spawn points are built from these strips. Frame:
CARLA's left-handed world, metres, radians.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.arrays import FloatArray
from jaywalk.core.kernels import kernel
from jaywalk.town.roads import Lane, LaneSection, Road

_ARC_STEPS = 64  # intervals of the arc-length table of one cubic


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneStrip:
    """One lane of one section; edges run along the road, the inner one is next to the middle."""

    road: Road
    section: LaneSection
    lane: Lane
    s_m: FloatArray  # (n,)
    inner_m: FloatArray  # (n, 3)
    outer_m: FloatArray  # (n, 3)
    road_yaw_rad: FloatArray  # (n,) of the road, independent of the lane's direction of travel

    @property
    def kind(self) -> str:
        """OpenDRIVE type of the lane."""
        return self.lane.kind

    @property
    def in_junction(self) -> bool:
        """True if the lane lies inside a junction."""
        return self.road.junction_id != -1

    @property
    def centre_m(self) -> FloatArray:
        """Centre line, (n, 3), in the order of the road."""
        return 0.5 * (self.inner_m + self.outer_m)

    @property
    def width_m(self) -> FloatArray:
        """Width at each sample."""
        difference = self.outer_m[:, :2] - self.inner_m[:, :2]
        return np.hypot(difference[:, 0], difference[:, 1])

    @property
    def travel_m(self) -> FloatArray:
        """Centre line in the direction of travel (against the road for positive lane ids)."""
        return self.centre_m if self.lane.lane_id < 0 else self.centre_m[::-1]


def lane_strips(roads: list[Road], step_m: float = 1.0) -> list[LaneStrip]:
    """Sample every lane of ``roads`` at most ``step_m`` apart, in file order."""
    return [strip for road in roads for strip in _road_strips(road, step_m)]


def _road_strips(road: Road, step_m: float) -> Iterator[LaneStrip]:
    for section in road.sections:
        length_m = section.end_m - section.start_m
        if length_m < 1e-3:
            continue
        count = max(2, int(np.ceil(length_m / step_m)) + 1)
        s = np.linspace(section.start_m, section.end_m, count)
        line = reference_line(road, s)
        middle = evaluate(road.lane_offset, s)
        for lanes, side in ((section.left, 1.0), (section.right, -1.0)):
            inner_t = middle
            for lane in lanes:
                outer_t = inner_t + side * np.maximum(evaluate(lane.widths, s), 0.0)
                yield LaneStrip(
                    road=road,
                    section=section,
                    lane=lane,
                    s_m=s,
                    inner_m=offset_points(line, inner_t),
                    outer_m=offset_points(line, outer_t),
                    road_yaw_rad=-line[:, 3],
                )
                inner_t = outer_t


def reference_line(road: Road, s_m: FloatArray) -> FloatArray:
    """Reference line at ``s_m``: rows (x, y, z, heading) in OpenDRIVE's right-handed frame."""
    line = np.empty((len(s_m), 4))
    _evaluate_geometry(road.geometry, np.asarray(s_m, dtype=np.float64), line)
    line[:, 2] = evaluate(road.elevation, s_m)
    return line


def offset_points(line: FloatArray, t_m: FloatArray | float) -> FloatArray:
    """Points ``t_m`` to the left of a reference line, (n, 3), in CARLA's frame."""
    points = np.empty((len(line), 3))
    points[:, 0] = line[:, 0] - t_m * np.sin(line[:, 3])
    points[:, 1] = -(line[:, 1] + t_m * np.cos(line[:, 3]))
    points[:, 2] = line[:, 2]
    return points


def road_point(road: Road, s_m: float, t_m: float) -> tuple[FloatArray, float]:
    """Point (s, t) of a road in CARLA's frame, and the yaw of the road there (radians)."""
    line = reference_line(road, np.array([min(max(s_m, 0.0), road.length_m)]))
    return offset_points(line, t_m)[0], float(-line[0, 3])


def evaluate(polynomials: FloatArray, s_m: FloatArray) -> FloatArray:
    """Evaluate piecewise cubics (rows s, a, b, c, d) at ``s_m``."""
    if len(polynomials) == 1:
        s0, a, b, c, d = polynomials[0]
    else:
        index = np.searchsorted(polynomials[:, 0], s_m + 1e-9, side="right") - 1
        s0, a, b, c, d = polynomials[np.maximum(index, 0)].T
    u = s_m - s0
    result: FloatArray = a + u * (b + u * (c + u * d))
    return result


@kernel
def _evaluate_geometry(
    geometry: NDArray[np.float64], s: NDArray[np.float64], out: NDArray[np.float64]
) -> None:
    """Write x, y and heading of the reference line at each ``s`` (ascending) into ``out``."""
    table = np.empty(_ARC_STEPS + 1)
    tabled = -1
    piece = 0
    for k in range(len(s)):
        while piece + 1 < len(geometry) and geometry[piece + 1, 0] <= s[k] + 1e-9:
            piece += 1
        row = geometry[piece]
        length = row[4]
        along = min(max(s[k] - row[0], 0.0), length)
        kind = int(row[5])
        if kind == 0:
            u, v, turn = along, 0.0, 0.0
        elif kind == 1 and abs(row[6]) > 1e-12:
            turn = row[6] * along
            u, v = np.sin(turn) / row[6], (1.0 - np.cos(turn)) / row[6]
        elif kind <= 2:
            rate = (row[7] - row[6]) / length if kind == 2 and length > 0.0 else 0.0
            turn = along * (row[6] + 0.5 * rate * along)
            u, v = _clothoid(row[6], rate, along)
        else:
            if tabled != piece:
                _arc_table(row, table)
                tabled = piece
            u, v, turn = _cubic_point(row, table, along)
        cos, sin = np.cos(row[3]), np.sin(row[3])
        out[k, 0] = row[1] + u * cos - v * sin
        out[k, 1] = row[2] + u * sin + v * cos
        out[k, 3] = row[3] + turn


@kernel
def _clothoid(curvature: float, rate: float, along: float) -> tuple[float, float]:
    """End point of a clothoid by Simpson's rule (64 intervals; 1e-6 m for road-like curves)."""
    u = v = 0.0
    step = along / _ARC_STEPS
    for k in range(_ARC_STEPS + 1):
        at = k * step
        weight = 1.0 if k in (0, _ARC_STEPS) else (4.0 if k % 2 else 2.0)
        turn = at * (curvature + 0.5 * rate * at)
        u += weight * np.cos(turn)
        v += weight * np.sin(turn)
    return u * step / 3.0, v * step / 3.0


@kernel
def _cubic(row: NDArray[np.float64], p: float) -> tuple[float, float, float, float]:
    """Point and derivative of a cubic piece at its parameter: u, v, du, dv."""
    if int(row[5]) == 3:  # v(u), u is the parameter
        v = row[6] + p * (row[7] + p * (row[8] + p * row[9]))
        return p, v, 1.0, row[7] + p * (2.0 * row[8] + 3.0 * p * row[9])
    u = row[6] + p * (row[7] + p * (row[8] + p * row[9]))
    v = row[10] + p * (row[11] + p * (row[12] + p * row[13]))
    du = row[7] + p * (2.0 * row[8] + 3.0 * p * row[9])
    dv = row[11] + p * (2.0 * row[12] + 3.0 * p * row[13])
    return u, v, du, dv


@kernel
def _arc_table(row: NDArray[np.float64], table: NDArray[np.float64]) -> None:
    """Fill ``table`` with the arc length at equal steps of the parameter."""
    end = row[4] if int(row[5]) == 3 else 1.0
    table[0] = 0.0
    for k in range(_ARC_STEPS):
        total = 0.0
        for j in range(3):  # Simpson over one interval
            _, _, du, dv = _cubic(row, end * (k + 0.5 * j) / _ARC_STEPS)
            total += (4.0 if j == 1 else 1.0) * np.hypot(du, dv)
        table[k + 1] = table[k] + total * end / (6.0 * _ARC_STEPS)


@kernel
def _cubic_point(
    row: NDArray[np.float64], table: NDArray[np.float64], along: float
) -> tuple[float, float, float]:
    """Point at a distance along a cubic piece: u, v and the turn of the heading."""
    k = min(max(int(np.searchsorted(table, along)) - 1, 0), _ARC_STEPS - 1)
    span = table[k + 1] - table[k]
    part = (along - table[k]) / span if span > 0.0 else 0.0
    end = row[4] if int(row[5]) == 3 else 1.0
    p = min(end * (k + part) / _ARC_STEPS, end)
    u, v, du, dv = _cubic(row, p)
    return u, v, np.arctan2(dv, du)
