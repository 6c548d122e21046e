"""Reference lines of roads: lines and cubics in the plane with a height profile, by arc length.

Plane curves that towns are drawn with: dense points along smooth streets.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from town_author.plan import Point


def bow(
    start: Point, start_deg: float, end: Point, end_deg: float, step_m: float = 9.0
) -> list[Point]:
    """Inner points of a smooth street that leaves and arrives in the given directions."""
    p0, p1 = np.array(start), np.array(end)
    size = float(np.hypot(*(p1 - p0)))
    r0 = size * np.array([math.cos(math.radians(start_deg)), math.sin(math.radians(start_deg))])
    r1 = size * np.array([math.cos(math.radians(end_deg)), math.sin(math.radians(end_deg))])
    count = max(4, round(size / step_m))
    points = []
    for k in range(1, count):
        p = k / count
        a, b = 2 * p**3 - 3 * p**2 + 1, p**3 - 2 * p**2 + p
        c, d = 3 * p**2 - 2 * p**3, p**3 - p**2
        x, y = a * p0 + b * r0 + c * p1 + d * r1
        points.append((float(x), float(y)))
    return points


def through(points: Sequence[Point], step_m: float = 18.0) -> list[Point]:
    """Points along a smooth curve through all of ``points``, the two ends left out."""
    knots = np.array(points)
    chords = np.diff(knots, axis=0)
    sizes = np.hypot(chords[:, 0], chords[:, 1])
    units = chords / sizes[:, None]
    inner = units[:-1] * sizes[1:, None] + units[1:] * sizes[:-1, None]
    inner /= np.hypot(inner[:, 0], inner[:, 1])[:, None]
    tangents = np.vstack([units[0], inner, units[-1]])
    result: list[Point] = []
    for k, size in enumerate(sizes):
        degrees = [math.degrees(math.atan2(t[1], t[0])) for t in tangents[k : k + 2]]
        first = (float(knots[k, 0]), float(knots[k, 1]))
        last = (float(knots[k + 1, 0]), float(knots[k + 1, 1]))
        result += bow(first, degrees[0], last, degrees[1], min(step_m, float(size) / 4.0))
        if k + 1 < len(sizes):
            result.append(last)
    return result


Vector = NDArray[np.float64]
TABLE = np.linspace(0.0, 1.0, 129)
STRAIGHT_RAD = 1e-4


@dataclass(frozen=True, slots=True, kw_only=True)
class RoadPose:
    """A point of a road with the direction of travel."""

    x: float
    y: float
    z: float
    heading_rad: float
    slope: float = 0.0

    @property
    def direction(self) -> Vector:
        """Unit vector of the heading."""
        return np.array([math.cos(self.heading_rad), math.sin(self.heading_rad)])

    def moved(self, left_m: float) -> tuple[float, float]:
        """The point ``left_m`` to the left."""
        return (
            self.x - left_m * math.sin(self.heading_rad),
            self.y + left_m * math.cos(self.heading_rad),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One geometry record; ``u`` and ``v`` are cubics of p in [0, 1], empty for a line."""

    x: float
    y: float
    heading_rad: float
    length_m: float
    u: tuple[float, ...] = ()
    v: tuple[float, ...] = ()
    arc_m: tuple[float, ...] = ()  # arc length at TABLE

    def at(self, s_m: float) -> tuple[float, float, float]:
        """x, y, heading at arc length ``s_m`` from the start of the piece."""
        cosine, sine = math.cos(self.heading_rad), math.sin(self.heading_rad)
        if not self.u:
            return self.x + s_m * cosine, self.y + s_m * sine, self.heading_rad
        p = float(np.interp(s_m, self.arc_m, TABLE))
        u = ((self.u[3] * p + self.u[2]) * p + self.u[1]) * p
        v = ((self.v[3] * p + self.v[2]) * p + self.v[1]) * p
        du = (3.0 * self.u[3] * p + 2.0 * self.u[2]) * p + self.u[1]
        dv = (3.0 * self.v[3] * p + 2.0 * self.v[2]) * p + self.v[1]
        return (
            self.x + u * cosine - v * sine,
            self.y + u * sine + v * cosine,
            self.heading_rad + math.atan2(dv, du),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class HeightPiece:
    """A cubic of the height from ``s_m`` on."""

    s_m: float
    coefficients: tuple[float, float, float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceLine:
    """A road's reference line."""

    pieces: tuple[Piece, ...]
    starts_m: tuple[float, ...]
    heights: tuple[HeightPiece, ...]
    length_m: float

    def pose(self, s_m: float) -> RoadPose:
        """The pose at arc length ``s_m``."""
        index = max(0, int(np.searchsorted(self.starts_m, s_m, side="right")) - 1)
        x, y, heading = self.pieces[index].at(s_m - self.starts_m[index])
        level = self.heights[0]
        for piece in self.heights:
            if piece.s_m <= s_m:
                level = piece
        a, b, c, d = level.coefficients
        ds = s_m - level.s_m
        return RoadPose(
            x=x,
            y=y,
            z=((d * ds + c) * ds + b) * ds + a,
            heading_rad=heading,
            slope=(3.0 * d * ds + 2.0 * c) * ds + b,
        )


def line_piece(start: Vector, end: Vector) -> Piece:
    """A straight piece."""
    delta = end - start
    return Piece(
        x=float(start[0]),
        y=float(start[1]),
        heading_rad=math.atan2(delta[1], delta[0]),
        length_m=float(np.hypot(delta[0], delta[1])),
    )


def cubic_piece(start: Vector, start_rate: Vector, end: Vector, end_rate: Vector) -> Piece:
    """A cubic from ``start`` to ``end`` with the given derivatives by p at both ends."""
    heading = math.atan2(start_rate[1], start_rate[0])
    cosine, sine = math.cos(heading), math.sin(heading)
    turn = np.array([[cosine, sine], [-sine, cosine]])
    delta, r0, r1 = turn @ (end - start), turn @ start_rate, turn @ end_rate
    square, cube = 3.0 * delta - 2.0 * r0 - r1, r0 + r1 - 2.0 * delta
    rates = r0[:, None] + 2.0 * square[:, None] * TABLE + 3.0 * cube[:, None] * TABLE**2
    speed = np.hypot(rates[0], rates[1])
    middle = TABLE[:-1] + 0.5 * np.diff(TABLE)
    rates_middle = r0[:, None] + 2.0 * square[:, None] * middle + 3.0 * cube[:, None] * middle**2
    speed_middle = np.hypot(rates_middle[0], rates_middle[1])
    steps = (speed[:-1] + 4.0 * speed_middle + speed[1:]) / 6.0 * np.diff(TABLE)
    arc = np.concatenate([[0.0], np.cumsum(steps)])
    return Piece(
        x=float(start[0]),
        y=float(start[1]),
        heading_rad=heading,
        length_m=float(arc[-1]),
        u=(0.0, float(r0[0]), float(square[0]), float(cube[0])),
        v=(0.0, 0.0, float(square[1]), float(cube[1])),
        arc_m=tuple(arc.tolist()),
    )


def _height_pieces(stations: Vector, z: Vector, slopes: Vector) -> tuple[HeightPiece, ...]:
    pieces = []
    for k in range(len(stations) - 1):
        span = stations[k + 1] - stations[k]
        rise = z[k + 1] - z[k]
        c = (3.0 * rise - span * (2.0 * slopes[k] + slopes[k + 1])) / span**2
        d = (span * (slopes[k] + slopes[k + 1]) - 2.0 * rise) / span**3
        pieces.append(
            HeightPiece(
                s_m=float(stations[k]),
                coefficients=(float(z[k]), float(slopes[k]), float(c), float(d)),
            )
        )
    return tuple(pieces)


def _line_of(pieces: list[Piece], heights: tuple[HeightPiece, ...]) -> ReferenceLine:
    lengths = np.array([piece.length_m for piece in pieces])
    starts = np.concatenate([[0.0], np.cumsum(lengths)])
    return ReferenceLine(
        pieces=tuple(pieces),
        starts_m=tuple(starts[:-1].tolist()),
        heights=heights,
        length_m=float(starts[-1]),
    )


def _tangents(points: Vector) -> Vector:
    """Unit tangents: the chords' mean inside; mirrored at the ends, as on a circle."""
    chords = np.diff(points, axis=0)
    lengths = np.hypot(chords[:, 0], chords[:, 1])
    units = chords / lengths[:, None]
    inner = units[:-1] * lengths[1:, None] + units[1:] * lengths[:-1, None]
    inner /= np.hypot(inner[:, 0], inner[:, 1])[:, None]
    first = 2.0 * units[0] * (units[0] @ inner[0]) - inner[0]
    last = 2.0 * units[-1] * (units[-1] @ inner[-1]) - inner[-1]
    return np.vstack([first, inner, last])


def _thinned(points: Vector, gap_m: float) -> Vector:
    """Drops points nearer than ``gap_m`` to the one before; the ends stay."""
    kept = [points[0]]
    for point in points[1:-1]:
        far = np.hypot(*(point - kept[-1])[:2]) >= gap_m
        if far and np.hypot(*(points[-1] - point)[:2]) >= gap_m:
            kept.append(point)
    return np.array([*kept, points[-1]])


def _guarded(points: Vector) -> Vector:
    """Adds points on long chords beside short ones, so that a straight does not bulge at a bend."""
    sizes = np.hypot(*np.diff(points[:, :2], axis=0).T)
    result = [points[0]]
    for k, size in enumerate(sizes):
        for near, share in ((k - 1, 0.0), (k + 1, 1.0)):
            if 0 <= near < len(sizes) and size > 3.0 * sizes[near]:
                part = abs(share - sizes[near] / size)
                result.append(points[k] + (points[k + 1] - points[k]) * part)
        result.append(points[k + 1])
    return np.array(result)


def smooth_line(points: Vector) -> ReferenceLine:
    """A smooth line through (points, 3) in the plane and in height."""
    points = _guarded(_thinned(points, 1.5))
    plane, z = points[:, :2], points[:, 2]
    chords = np.diff(plane, axis=0)
    headings = np.unwrap(np.arctan2(chords[:, 1], chords[:, 0]))
    if np.ptp(headings) < STRAIGHT_RAD * 10.0:
        pieces = [line_piece(plane[0], plane[-1])]
        chord = np.hypot(*(plane[-1] - plane[0]))
        stations = np.hypot(*(plane - plane[0]).T)
        stations = stations * (chord / stations[-1])
    else:
        tangents = _tangents(plane)
        pieces = []
        for k in range(len(chords)):
            size = float(np.hypot(*chords[k]))
            ends = tangents[k : k + 2]
            bent = np.abs(ends[:, 0] * chords[k, 1] - ends[:, 1] * chords[k, 0]).max() / size
            if bent < STRAIGHT_RAD:
                pieces.append(line_piece(plane[k], plane[k + 1]))
            else:
                pieces.append(cubic_piece(plane[k], ends[0] * size, plane[k + 1], ends[1] * size))
        stations = np.concatenate([[0.0], np.cumsum([piece.length_m for piece in pieces])])
    if len(z) > 2:
        slopes = np.gradient(z, stations)
    else:
        slopes = np.full(len(z), (z[-1] - z[0]) / stations[-1])
    if np.ptp(z) < 1e-6:
        return _line_of(pieces, _height_pieces(stations[[0, -1]], z[[0, -1]], np.zeros(2)))
    return _line_of(pieces, _height_pieces(stations, z, slopes))


def _bend(start: Vector, out: Vector, end: Vector, into: Vector) -> list[Piece] | None:
    """Line, circular bend and line between two directed points; None where no bend fits."""
    cross = out[0] * into[1] - out[1] * into[0]
    if abs(cross) < 0.05:
        return None
    delta = end - start
    leg_in = (delta[0] * into[1] - delta[1] * into[0]) / cross
    leg_out = (out[0] * delta[1] - out[1] * delta[0]) / cross
    if leg_in < 0.3 or leg_out < 0.3:
        return None
    angle = abs(math.atan2(cross, float(out @ into)))
    legs = min(leg_in, leg_out)
    handle = 4.0 / 3.0 * math.tan(angle / 4.0) * legs / math.tan(angle / 2.0)
    first, second = start + out * (leg_in - legs), end - into * (leg_out - legs)
    pieces = []
    if leg_in - legs > 0.05:
        pieces.append(line_piece(start, first))
    else:
        first = start
    if leg_out - legs <= 0.05:
        second = end
    pieces.append(cubic_piece(first, out * handle * 3.0, second, into * handle * 3.0))
    if leg_out - legs > 0.05:
        pieces.append(line_piece(second, end))
    return pieces


def joining_line(start: RoadPose, end: RoadPose) -> ReferenceLine:
    """The line of a connecting road: from one directed point to another, as wide as it can turn."""
    a, b = np.array([start.x, start.y]), np.array([end.x, end.y])
    out, into = start.direction, end.direction
    delta = b - a
    size = float(np.hypot(*delta))
    aside = abs(out[0] * delta[1] - out[1] * delta[0])
    if aside < 0.005 and abs(out[0] * into[1] - out[1] * into[0]) < 1e-3:
        pieces = [line_piece(a, b)]
    else:
        pieces = _bend(a, out, b, into) or [cubic_piece(a, out * size, b, into * size)]
    total = sum(piece.length_m for piece in pieces)
    heights = _height_pieces(
        np.array([0.0, total]), np.array([start.z, end.z]), np.array([start.slope, end.slope])
    )
    return _line_of(pieces, heights)
