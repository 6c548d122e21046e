"""Plane curves that towns are drawn with: dense points along smooth streets."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from jaywalk.town.author.plan import Point


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
