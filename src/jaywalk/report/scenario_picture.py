"""A scenario from above: the whole route, and the place where it happens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure

from jaywalk.core.arrays import FloatArray
from jaywalk.geometry.box import box_points
from jaywalk.geometry.path import arc_lengths, nearest_vertices, points_at
from jaywalk.report._moment_picture import BODY_FILLS, pointed
from jaywalk.report.svg import claim
from jaywalk.town.picture import INK, PAPER, Window, town_axes
from jaywalk.town.town import Town

_BLUE: Final = "#1d6fb8"
_RED: Final = "#b3261e"
_WAY: Final = "#6a3fb5"
_MARGIN_M: Final = 25.0
_CLOSE_M: Final = 24.0  # half width of the second picture
_TICK_M: Final = 20
_BACKGROUND: Final = "#aeb4bd"  # vehicles that belong to no scenario
_TOGETHER_M: Final = 6.0  # things of a kind so near to each other share a name
_MOST_LABELS: Final = 18  # at either edge
_ROW: Final = 0.045  # height of a label, of the picture's


class Footprint(Protocol):
    """A body on the ground."""

    @property
    def kind(self) -> str: ...  # noqa: D102
    @property
    def type_id(self) -> str: ...  # noqa: D102
    @property
    def is_background(self) -> bool: ...  # noqa: D102
    @property
    def x_m(self) -> float: ...  # noqa: D102
    @property
    def y_m(self) -> float: ...  # noqa: D102
    @property
    def yaw_rad(self) -> float: ...  # noqa: D102
    @property
    def half_x_m(self) -> float: ...  # noqa: D102
    @property
    def half_y_m(self) -> float: ...  # noqa: D102


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """Trigger on the picture: its pose and its label."""

    x_m: float
    y_m: float
    yaw_deg: float
    words: str


def draw_scenario(
    town: Town,
    route_m: FloatArray,
    marks: Sequence[Mark],
    bodies: Sequence[Footprint],
    path: Path,
    *,
    title: str,
    ways_m: Sequence[FloatArray] = (),
) -> None:
    """Write a PNG with the route on the left and the scenario on the right.

    Args:
        town: The ground.
        route_m: Points of the route about 1 m apart, (n, 2) or more columns.
        marks: Triggers.
        bodies: Who stands there.
        path: The picture.
        title: Words above.
        ways_m: Ways of others, (n, 2) or more columns each.
    """
    figure = Figure(figsize=(13.0, 7.0), dpi=110, facecolor=PAPER)
    FigureCanvasAgg(figure)
    whole, close = figure.subplots(1, 2, width_ratios=(1.0, 1.0))
    near = _close(route_m, marks, bodies, ways_m)
    for ax, window in ((whole, _window(route_m)), (close, near)):
        town_axes(town, ax, window_m=window)
        _draw_route(ax, route_m)
        for way in ways_m:
            _draw_way(ax, way)
        _draw_bodies(ax, bodies)
        _draw_marks(ax, marks)
        ax.tick_params(labelsize=7, colors="#6b6f76")
    _label(close, bodies)
    figure.suptitle(title, fontsize=12, color=INK, x=0.02, ha="left")
    counted = sum(body.is_background for body in bodies)
    figure.text(
        0.02,
        0.02,
        f"blue: the route, a dot every {_TICK_M} m, and the ego; red: trigger; orange: things; "
        f"white: vehicles; grey: background traffic ({counted}); pink: people and animals; "
        "dashed: ways of others",
        fontsize=9,
        color=INK,
    )
    figure.tight_layout(rect=(0.0, 0.04, 1.0, 0.96))
    figure.savefig(claim(path), facecolor=PAPER)


def _window(route_m: FloatArray) -> Window:
    low, high = route_m[:, :2].min(axis=0) - _MARGIN_M, route_m[:, :2].max(axis=0) + _MARGIN_M
    middle, half = (low + high) / 2.0, float((high - low).max()) / 2.0
    return _square(float(middle[0]), float(middle[1]), half)


def _close(
    route_m: FloatArray,
    marks: Sequence[Mark],
    bodies: Sequence[Footprint],
    ways_m: Sequence[FloatArray],
) -> Window:
    """Return the window around the scenario: its actors, a meeting point, trigger or mid-route."""
    own = [(b.x_m, b.y_m) for b in bodies if not b.is_background and b.kind != "ego"]
    near = np.array(own).reshape(-1, 2)
    if len(near):
        gaps = np.hypot(*(near[:, None] - route_m[None, :, :2]).transpose(2, 0, 1)).min(axis=1)
        near = near[gaps < 25.0]
    if len(near):
        low, high = near.min(axis=0), near.max(axis=0)
        middle, half = (low + high) / 2.0, max(_CLOSE_M, float((high - low).max()) / 2.0 + 8.0)
        return _square(float(middle[0]), float(middle[1]), half)
    for way in ways_m:
        _, column, gap_m = nearest_vertices(way, route_m)
        if gap_m < _TOGETHER_M:
            x, y = route_m[column, :2]
            return _square(float(x), float(y), _CLOSE_M)
    if marks:
        return _square(marks[0].x_m, marks[0].y_m, _CLOSE_M)
    x, y = route_m[len(route_m) // 2, :2]
    return _square(float(x), float(y), _CLOSE_M)


def _square(x: float, y: float, half: float) -> Window:
    return x - half, y - half, x + half, y + half


def _draw_route(ax: Axes, route_m: FloatArray) -> None:
    ax.plot(route_m[:, 0], route_m[:, 1], color=_BLUE, linewidth=1.6, alpha=0.8, zorder=11)
    along = arc_lengths(route_m)
    x, y = points_at(np.arange(0.0, along[-1], _TICK_M), along, route_m[:, :2]).T
    ax.scatter(x, y, s=9, color=_BLUE, zorder=11)
    (x0, y0), (x1, y1) = route_m[-4, :2].tolist(), route_m[-1, :2].tolist()
    ax.annotate(
        "",
        (2 * x1 - x0, 2 * y1 - y0),
        (x0, y0),
        zorder=12,
        annotation_clip=True,
        arrowprops={"arrowstyle": "-|>", "color": _BLUE, "lw": 1.6},
    )


def _draw_way(ax: Axes, way_m: FloatArray) -> None:
    """Draw the planned path of another actor as a dashed line with arrows."""
    ax.plot(way_m[:, 0], way_m[:, 1], color=_WAY, linewidth=1.4, linestyle=(0, (4, 2)), zorder=11)
    for k in range(min(len(way_m) - 1, 12), len(way_m), 40):
        (x0, y0), (x1, y1) = way_m[k - 1, :2].tolist(), way_m[k, :2].tolist()
        ax.annotate(
            "",
            (x1, y1),
            (x0, y0),
            zorder=12,
            annotation_clip=True,
            arrowprops={"arrowstyle": "-|>", "color": _WAY, "lw": 1.2},
        )


def _draw_bodies(ax: Axes, bodies: Sequence[Footprint]) -> None:
    order = {"prop": 0, "vehicle": 1, "ego": 2, "walker": 3}
    kinds = {(body.kind, body.is_background) for body in bodies}
    for kind, background in sorted(kinds, key=lambda one: (order[one[0]], not one[1])):
        some = [one for one in bodies if (one.kind, one.is_background) == (kind, background)]
        fill = _BACKGROUND if background and kind == "vehicle" else BODY_FILLS[kind]
        ax.add_collection(
            PolyCollection(
                [_outline(body) for body in some],
                facecolors=fill,
                edgecolors=INK,
                linewidths=0.6,
                zorder=13 + order[kind],
            )
        )


def _outline(body: Footprint) -> FloatArray:
    if body.kind == "walker":
        angles = np.linspace(0.0, 2.0 * np.pi, 17)[:-1]
        ring = 0.4 * np.column_stack([np.cos(angles), np.sin(angles)])
        return np.add(ring, (body.x_m, body.y_m))
    half = (body.half_x_m, body.half_y_m)
    pose = np.array([body.x_m, body.y_m, body.yaw_rad])
    if body.kind != "prop":
        return pointed(pose, half)
    return box_points(pose[:2], np.cos(body.yaw_rad), np.sin(body.yaw_rad), half)


def _draw_marks(ax: Axes, marks: Sequence[Mark]) -> None:
    for mark in marks:
        yaw = np.deg2rad(mark.yaw_deg)
        across = 2.2 * np.array([-np.sin(yaw), np.cos(yaw)])
        ends = np.array([mark.x_m, mark.y_m]) + np.array([[-1.0], [1.0]]) * across
        ax.plot(ends[:, 0], ends[:, 1], color=_RED, linewidth=2.4, zorder=17)
        left = mark.x_m < sum(ax.get_xlim()) / 2.0
        ax.annotate(
            mark.words,
            (mark.x_m, mark.y_m),
            xytext=(7 if left else -7, -15),
            textcoords="offset points",
            ha="left" if left else "right",
            fontsize=7.5,
            color=_RED,
            zorder=18,
            annotation_clip=True,
            bbox={"boxstyle": "round,pad=0.15", "fc": "#ffffffcc", "ec": "none"},
        )


@dataclass(slots=True)
class _Named:
    """Things of one name that stand together."""

    name: str
    places: list[tuple[float, float]]

    @property
    def words(self) -> str:
        return self.name if len(self.places) == 1 else f"{len(self.places)} × {self.name}"

    @property
    def middle(self) -> tuple[float, float]:
        x, y = np.mean(self.places, axis=0)
        return float(x), float(y)


def _named(bodies: Sequence[Footprint]) -> list[_Named]:
    """The scenario's own things; neighbours of a kind together."""
    names: list[_Named] = []
    for body in bodies:
        if body.is_background or body.kind == "ego":
            continue
        name, place = _short_name(body.type_id), (body.x_m, body.y_m)
        near = (
            one
            for one in names
            if one.name == name
            and min(np.hypot(x - place[0], y - place[1]) for x, y in one.places) < _TOGETHER_M
        )
        group = next(near, None)
        if group is None:
            names.append(_Named(name, [place]))
        else:
            group.places.append(place)
    return names


def _short_name(type_id: str) -> str:
    """``static.prop.barrel`` -> ``barrel``; people and animals keep their family."""
    return type_id.removeprefix("static.prop.").removeprefix("vehicle.").removeprefix("walker.")


def _label(ax: Axes, bodies: Sequence[Footprint]) -> None:
    """Names in a column at either edge, where they hide nothing, with a line to the thing."""
    (west, east), (south, north) = sorted(ax.get_xlim()), sorted(ax.get_ylim())
    seen = [
        one
        for one in _named(bodies)
        if west < one.middle[0] < east and south < one.middle[1] < north
    ]
    upside_down = ax.get_ylim()[0] > ax.get_ylim()[1]
    for right in (False, True):
        some = [one for one in seen if (one.middle[0] > 0.45 * west + 0.55 * east) == right]
        heights = [(one.middle[1] - south) / (north - south) for one in some]
        heights = [1.0 - height if upside_down else height for height in heights]
        order = np.argsort(heights)[::-1][:_MOST_LABELS].tolist()
        rows = _spread([heights[k] for k in order])
        for k, height in zip(order, rows, strict=True):
            ax.annotate(
                some[k].words,
                some[k].middle,
                xytext=(0.98 if right else 0.02, height),
                textcoords="axes fraction",
                ha="right" if right else "left",
                va="center",
                fontsize=7.5,
                color=INK,
                zorder=18,
                bbox={"boxstyle": "round,pad=0.2", "fc": "#ffffffdd", "ec": "none"},
                arrowprops={"arrowstyle": "-", "color": INK, "lw": 0.5},
            )


def _spread(heights: list[float]) -> list[float]:
    """Return heights of labels from the top, moved apart only as far as needed to read them."""
    rows: list[float] = []
    for height in heights:
        rows.append(min(height, rows[-1] - _ROW if rows else 1.0 - _ROW))
    short = _ROW - rows[-1] if rows else 0.0  # labels past the edge push the others up
    for k in reversed(range(len(rows))):
        if short <= 0.0:
            break
        floor = _ROW if k == len(rows) - 1 else rows[k + 1] + _ROW
        rows[k] = max(rows[k], floor)
    return rows
