"""Paint on the road: lane markings as thin bands, crosswalks as zebra stripes.

Frame: CARLA's left-handed world, metres.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from jaywalk.core.arrays import FloatArray
from jaywalk.geometry.path import points_at
from jaywalk.town.lanes import LaneStrip
from jaywalk.town.roads import RoadMark

DASH_M, GAP_M = 3.0, 4.5
_STRIPE_M = 0.5  # stripe and gap of a zebra
_PAINTED = frozenset(
    {"solid", "broken", "solid solid", "solid broken", "broken solid", "broken broken"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Marking:
    """One painted band: its two edges at the same stations."""

    left_m: FloatArray  # (n, 2)
    right_m: FloatArray  # (n, 2)
    colour: str  # "white", "yellow", ...

    @property
    def centre_m(self) -> FloatArray:
        """Middle of the band, (n, 2)."""
        return 0.5 * (self.left_m + self.right_m)


def lane_markings(strips: list[LaneStrip], least_width_m: float = 0.12) -> list[Marking]:
    """Return all painted lines of the lanes: outer edges, and centre lines once per section."""
    markings: list[Marking] = []
    for strip in strips:
        markings += _edge_markings(strip, strip.outer_m, strip.lane.marks, least_width_m)
        if strip.lane.lane_id == _first_lane(strip):
            marks = strip.section.centre_marks
            markings += _edge_markings(strip, strip.inner_m, marks, least_width_m)
    return markings


def _first_lane(strip: LaneStrip) -> int:
    """Lane that draws the centre line: the innermost right lane, else the innermost left lane."""
    lanes = strip.section.right or strip.section.left
    return lanes[0].lane_id if lanes else 0


def _edge_markings(
    strip: LaneStrip, edge_m: FloatArray, marks: tuple[RoadMark, ...], least_width_m: float
) -> Iterator[Marking]:
    if all(mark.kind not in _PAINTED for mark in marks):
        return
    breaks = _breaks(strip, edge_m)
    for k, mark in enumerate(marks):
        if mark.kind not in _PAINTED:
            continue
        start = max(mark.s_m, strip.s_m[0])
        end = marks[k + 1].s_m if k + 1 < len(marks) else strip.s_m[-1]
        end = min(end, strip.s_m[-1])
        width = max(mark.width_m, least_width_m)
        words = mark.kind.split()
        for index, word in enumerate(words):
            offset = 0.0 if len(words) == 1 else (index - 0.5) * 2.0 * width
            spans = _dashes(start, end) if word == "broken" else [(start, end)]
            for low, high in _without(spans, breaks):
                if high - low > 0.05:
                    yield _band(strip.s_m, edge_m, low, high, offset, width, mark.colour)


def _breaks(strip: LaneStrip, edge_m: FloatArray) -> list[tuple[float, float]]:
    """Intervals in which an edge runs across the road: a jump in the width, not a painted line."""
    steps = np.diff(edge_m[:, :2], axis=0)
    yaw = 0.5 * (strip.road_yaw_rad[1:] + strip.road_yaw_rad[:-1])
    along = steps[:, 0] * np.cos(yaw) + steps[:, 1] * np.sin(yaw)
    wild = along < 0.7 * np.hypot(steps[:, 0], steps[:, 1]) - 1e-6
    return [(strip.s_m[k], strip.s_m[k + 1]) for k in np.nonzero(wild)[0]]


def _without(
    spans: list[tuple[float, float]], breaks: list[tuple[float, float]]
) -> list[tuple[float, float]]:
    """Cut the (sorted) ``breaks`` out of ``spans``."""
    for low, high in breaks:
        spans = [
            part
            for a, b in spans
            for part in ((a, min(b, low)), (max(a, high), b))
            if part[0] < part[1]
        ]
    return spans


def _dashes(start_m: float, end_m: float) -> list[tuple[float, float]]:
    """Dashes counted from the start of the road, so that they continue from section to section."""
    period = DASH_M + GAP_M
    first = int(np.floor(start_m / period))
    last = int(np.ceil(end_m / period))
    return [
        (max(k * period, start_m), min(k * period + DASH_M, end_m))
        for k in range(first, last)
        if min(k * period + DASH_M, end_m) > max(k * period, start_m)
    ]


def _band(
    s_m: FloatArray,
    edge_m: FloatArray,
    low_m: float,
    high_m: float,
    offset_m: float,
    width_m: float,
    colour: str,
) -> Marking:
    """Band of ``width_m`` along an edge between two stations, shifted sideways by ``offset_m``."""
    first, last = np.searchsorted(s_m, [low_m + 1e-6, high_m - 1e-6])
    stations = np.concatenate([[low_m], s_m[first:last], [high_m]])
    line = points_at(stations, s_m, edge_m[:, :2])
    along = np.diff(line, axis=0)
    along = np.concatenate([along[:1], along[:-1] + along[1:], along[-1:]])
    along /= np.maximum(np.hypot(along[:, 0], along[:, 1]), 1e-9)[:, None]
    across = np.column_stack([-along[:, 1], along[:, 0]])
    return Marking(
        left_m=line + across * (offset_m - 0.5 * width_m),
        right_m=line + across * (offset_m + 0.5 * width_m),
        colour=colour,
    )


def zebra_stripes(polygon_m: FloatArray) -> list[FloatArray]:
    """Stripes of a crosswalk, (4, 2) each: parallel to the traffic, across the walking direction.

    People walk along the longer side of the polygon.
    """
    points = polygon_m[:, :2]
    sides = np.diff(np.concatenate([points, points[:1]]), axis=0)
    lengths = np.hypot(sides[:, 0], sides[:, 1])
    walk = sides[int(np.argmax(lengths))] / lengths.max()
    across = np.array([-walk[1], walk[0]])
    u, v = points @ walk, points @ across
    # A skewed crosswalk is a parallelogram: its two long sides give the reach of each stripe.
    count = max(int((u.max() - u.min() + _STRIPE_M) / (2.0 * _STRIPE_M)), 1)
    first = 0.5 * (u.max() + u.min()) - (count - 1) * _STRIPE_M
    stripes = []
    for k in range(count):
        middle = first + 2.0 * _STRIPE_M * k
        reach = _crossings(u, v, middle)
        if reach is not None:
            corners = [
                (middle + du, dv)
                for du, dv in (
                    (-_STRIPE_M / 2, reach[0]),
                    (_STRIPE_M / 2, reach[0]),
                    (_STRIPE_M / 2, reach[1]),
                    (-_STRIPE_M / 2, reach[1]),
                )
            ]
            stripes.append(np.array(corners) @ np.array([walk, across]))
    return stripes


def _crossings(u: FloatArray, v: FloatArray, at: float) -> tuple[float, float] | None:
    """Lowest and highest v at which the outline (u, v) crosses the line u = ``at``."""
    un, vn = np.roll(u, -1), np.roll(v, -1)
    cut = (u <= at) != (un <= at)
    if cut.sum() < 2:
        return None
    crossing = v[cut] + (at - u[cut]) * (vn[cut] - v[cut]) / (un[cut] - u[cut])
    return float(crossing.min()), float(crossing.max())
