"""Maps of towns: a ground layer for trajectories, and a finished picture with legend and scale.

The maps are drawn without pyplot and change no global state. North is up: CARLA's y axis points
down.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection, PatchCollection, PolyCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Circle, Patch
from matplotlib.transforms import ScaledTranslation

from jaywalk.core.arrays import FloatArray
from jaywalk.town.markings import lane_markings, zebra_stripes
from jaywalk.town.raster import GROUND, ROAD, ROAD_LINE, SIDEWALK, TERRAIN, build_raster
from jaywalk.town.scenery import KINDS, Shape
from jaywalk.town.scenery_styles import footprints
from jaywalk.town.town import Town

Window = tuple[float, float, float, float]  # x low, y low, x high, y high

INK, PAPER = "#2b3038", "#fbfaf7"
_GROUND_COLOURS = {TERRAIN: "#e3ead6", GROUND: "#c9d6b3", SIDEWALK: "#d8d1c5", ROAD: "#8b9199"}
_LANE_COLOURS = {"parking": "#9ba3b5", "biking": "#b98a7a", "stop": "#9a9f95"}
_PAINT = {"yellow": "#ffd24a"}
_RED, _AMBER, _GREEN = "#c8323c", "#e0912f", "#3fa36a"
_HEAD = [(-0.45, -1.0), (0.45, -1.0), (0.45, 1.0), (-0.45, 1.0)]  # outline of a light's head
_MARGIN_M = 12.0
_GREEN_KINDS = frozenset({"crown", "hedge"})


def town_axes(
    town: Town,
    ax: Axes,
    *,
    window_m: Window | None = None,
    scenery: bool = True,
    signals: bool = True,
    spawn_points: bool = False,
) -> Axes:
    """Draw a town into ``ax`` and return it; draw trajectories over it with ``zorder`` above 10.

    Example:
        >>> figure = Figure(figsize=(8, 8))  # doctest: +SKIP
        >>> ax = town_axes(load_town("Harbour"), figure.add_subplot())  # doctest: +SKIP
        >>> ax.plot(xs, ys, zorder=11)  # doctest: +SKIP
    """
    window = window_m or _whole(town)
    _draw_ground(town, ax, window)
    _draw_paint(town, ax, window)
    if scenery:
        _draw_scenery(town, ax, window)
    if signals:
        _draw_signals(town, ax, window)
    if spawn_points:
        _draw_spawn_points(town, ax, window)
    ax.set_xlim(window[0], window[2])
    ax.set_ylim(window[3], window[1])  # y points down: north is up
    ax.set_aspect("equal")
    return ax


def draw_town(
    town: Town,
    path_png: Path,
    *,
    window_m: Window | None = None,
    size_px: int = 2000,
    spawn_points: bool = False,
) -> None:
    """Write a finished map: the town, legend, scale bar, key figures; ``size_px`` wide or high."""
    window = window_m or _whole(town)
    wide, high = window[2] - window[0], window[3] - window[1]
    inches = size_px / 160.0
    map_inches = (inches * min(1.0, wide / high), inches * min(1.0, high / wide))
    figure = Figure(
        figsize=(max(map_inches[0], 6.0) + 0.9, map_inches[1] + 2.0), dpi=160, facecolor=PAPER
    )
    FigureCanvasAgg(figure)
    total_w, total_h = figure.get_size_inches()
    ax = figure.add_axes(
        (
            (total_w - map_inches[0] + 0.3) / 2 / total_w,
            1.25 / total_h,
            map_inches[0] / total_w,
            map_inches[1] / total_h,
        )
    )
    town_axes(town, ax, window_m=window, spawn_points=spawn_points)
    _frame(ax)
    _scale_bar(ax, window)
    _title(figure, ax, town)
    figure.legend(
        handles=_legend_entries(town, spawn_points),
        loc="lower center",
        ncols=_columns(total_w),
        frameon=False,
        fontsize=8,
        labelcolor=INK,
        bbox_to_anchor=(0.5, 0.1 / total_h),
        handlelength=1.6,
        columnspacing=1.6,
    )
    figure.savefig(path_png, facecolor=PAPER)


def _whole(town: Town) -> Window:
    edges = [edge[:, :2] for s in town.strips for edge in (s.inner_m[::5], s.outer_m[::5])]
    points = np.concatenate(edges)
    low, high = points.min(axis=0) - _MARGIN_M, points.max(axis=0) + _MARGIN_M
    if len(town.scenery):
        places = np.column_stack([town.scenery["x"], town.scenery["y"]])
        low = np.maximum(np.minimum(low, places.min(axis=0) - 8.0), low - 40.0)
        high = np.minimum(np.maximum(high, places.max(axis=0) + 8.0), high + 40.0)
    return float(low[0]), float(low[1]), float(high[0]), float(high[1])


def _draw_ground(town: Town, ax: Axes, window: Window) -> None:
    span = max(window[2] - window[0], window[3] - window[1])
    cell_m = min(max(span / 3000.0, 0.05), 0.5)
    raster = build_raster(town.strips, town.crosswalks, cell_m, window)
    palette = np.full((256, 3), 255, np.uint8)
    for label, colour in _GROUND_COLOURS.items():
        palette[label] = np.round(255.0 * np.array(to_rgb(colour)))
    palette[ROAD_LINE] = palette[ROAD]  # paint comes as sharp polygons on top
    extent = (
        raster.x0_m,
        raster.x0_m + raster.columns * cell_m,
        raster.y0_m + raster.rows * cell_m,
        raster.y0_m,
    )
    ax.imshow(
        palette[raster.labels], extent=extent, origin="upper", interpolation="antialiased", zorder=0
    )
    for kind, colour in _LANE_COLOURS.items():
        bands = [
            np.concatenate([s.inner_m[:, :2], s.outer_m[::-1, :2]])
            for s in town.strips
            if s.kind == kind and not s.in_junction
        ]
        ax.add_collection(PolyCollection(bands, facecolors=colour, edgecolors="none", zorder=1))


def _draw_paint(town: Town, ax: Axes, window: Window) -> None:
    span = max(window[2] - window[0], window[3] - window[1])
    markings = lane_markings(town.strips, least_width_m=max(0.12, span / 2600.0))
    bands = [np.concatenate([m.left_m, m.right_m[::-1]]) for m in markings]
    colours = [_PAINT.get(m.colour, "#ffffff") for m in markings]
    ax.add_collection(PolyCollection(bands, facecolors=colours, edgecolors="none", zorder=2))
    stripes = [stripe for polygon in town.crosswalks for stripe in zebra_stripes(polygon)]
    ax.add_collection(PolyCollection(stripes, facecolors="#ffffff", edgecolors="none", zorder=2.5))


def _draw_scenery(town: Town, ax: Axes, window: Window) -> None:
    table = town.scenery
    inside = (
        (table["x"] > window[0] - 40)
        & (table["x"] < window[2] + 40)
        & (table["y"] > window[1] - 40)
        & (table["y"] < window[3] + 40)
    )
    table = table[inside]
    span = max(window[2] - window[0], window[3] - window[1])
    boxes = table[table["shape"] == Shape.BOX]
    outlines = list(footprints(boxes))
    fills = [_softened(row) for row in boxes]
    tall = [outline for outline, row in zip(outlines, boxes, strict=True) if row["ez"] > 2.0]
    shadow = [np.add(outline, (0.8, 1.0)) for outline in tall]
    ax.add_collection(PolyCollection(shadow, facecolors="#00000018", edgecolors="none", zorder=3))
    ax.add_collection(
        PolyCollection(outlines, facecolors=fills, edgecolors="#5a5148", linewidths=0.35, zorder=4)
    )
    rounds = table[table["shape"] != Shape.BOX]
    for greens, order in ((False, 4.5), (True, 5.0)):
        rows = [r for r in rounds if (KINDS[r["kind"]] in _GREEN_KINDS) == greens]
        least = 0.0 if greens else span / 900.0  # poles stay visible on a large map
        discs = [Circle((r["x"], r["y"]), max(float(r["ex"]), least)) for r in rows]
        ax.add_collection(
            PatchCollection(
                discs,
                facecolors=[_softened(r, 0.85 if greens else 1.0) for r in rows],
                edgecolors="#4d6b3d66" if greens else "none",
                linewidths=0.3,
                zorder=order,
            )
        )


def _draw_signals(town: Town, ax: Axes, window: Window) -> None:
    bars = [_stop_bar(stop) for light in town.lights for stop in light.stops]
    ax.add_collection(LineCollection(bars, colors=_RED, linewidths=1.6, zorder=6))
    bars = [
        _stop_bar(stop)
        for sign in town.signs
        for stop in sign.stops
        if not sign.type_id.startswith("traffic.speed")
    ]
    ax.add_collection(LineCollection(bars, colors=_AMBER, linewidths=1.2, zorder=6))
    # Symbols shrink on maps of large towns, else they would hide the streets.
    span = max(window[2] - window[0], window[3] - window[1])
    scale = min(max((500.0 / span) ** 0.6, 0.5), 1.0)
    size = 26.0 * scale
    places = [(light.pose.x, light.pose.y) for light in town.lights]
    _light_heads(ax, [place for place in places if _inside(*place, window)], scale)
    for type_id, marker in (("traffic.stop", "8"), ("traffic.yield", "v")):
        places = [(s.pose.x, s.pose.y) for s in town.signs if s.type_id == type_id]
        _scatter(ax, places, window, marker, size * 1.3, _RED if marker == "8" else "#ffffff")
    for sign in town.signs:
        x, y = sign.pose.x, sign.pose.y
        if sign.type_id.startswith("traffic.speed") and _inside(x, y, window):
            ax.text(
                x,
                y,
                sign.type_id.rsplit(".", 1)[-1],
                fontsize=5.0 * scale,
                color=INK,
                ha="center",
                va="center",
                clip_on=True,
                zorder=8,
                bbox={"boxstyle": "circle,pad=0.25", "fc": "white", "ec": _RED, "lw": scale},
            )


def _light_heads(ax: Axes, places: list[tuple[float, float]], scale: float) -> None:
    """Draw a small three-lamp head at each position."""
    if not places:
        return
    xs, ys = zip(*places, strict=True)
    ax.scatter(
        xs,
        ys,
        s=95.0 * scale,
        marker=_HEAD,
        c=INK,
        edgecolors="white",
        linewidths=0.7 * scale,
        zorder=7,
    )
    for lift_pt, colour in ((2.7, _RED), (0.0, _AMBER), (-2.7, _GREEN)):
        lift = lift_pt * scale**0.5 / 72.0
        shift = ScaledTranslation(0.0, lift, ax.figure.dpi_scale_trans)
        ax.scatter(
            xs,
            ys,
            s=4.2 * scale,
            c=colour,
            linewidths=0,
            zorder=7.1,
            transform=ax.transData + shift,
        )


def _scatter(
    ax: Axes, places: list[tuple[float, float]], window: Window, marker: str, size: float, fill: str
) -> None:
    seen = [place for place in places if _inside(*place, window)]
    if seen:
        edge = "white" if fill == _RED else _RED
        xs, ys = zip(*seen, strict=True)
        ax.scatter(xs, ys, s=size, marker=marker, c=fill, edgecolors=edge, linewidths=0.8, zorder=7)


def _draw_spawn_points(town: Town, ax: Axes, window: Window) -> None:
    poses = [p for p in town.spawn_points if _inside(p.x, p.y, window)]
    if poses:
        yaw = np.deg2rad([p.yaw for p in poses])
        ax.quiver(
            [p.x for p in poses],
            [p.y for p in poses],
            4.0 * np.cos(yaw),
            4.0 * np.sin(yaw),
            angles="xy",
            scale_units="xy",
            scale=1.0,
            color="#1f5fa8",
            width=2.2,
            units="dots",
            pivot="mid",
            zorder=6.5,
        )


def _stop_bar(stop: FloatArray) -> FloatArray:
    """Return the line across the lane at the front of a stop box."""
    x, y, yaw, length, width = stop[0], stop[1], stop[3], stop[4], 2.0 * stop[5]
    front = np.array([x + length * np.cos(yaw), y + length * np.sin(yaw)])
    across = width * 0.8 * np.array([-np.sin(yaw), np.cos(yaw)])
    return np.stack([front - across, front + across])


def _softened(row: Any, alpha: float = 1.0) -> tuple[float, float, float, float]:
    """Mix the object's colour with the paper colour, so that it stays in the background."""
    own = np.array([row["red"], row["green"], row["blue"]]) / 255.0
    mixed = 0.6 * own + 0.4 * np.array(to_rgb(PAPER))
    return float(mixed[0]), float(mixed[1]), float(mixed[2]), alpha


def _inside(x: float, y: float, window: Window) -> bool:
    return window[0] <= x <= window[2] and window[1] <= y <= window[3]


def _frame(ax: Axes) -> None:
    ax.tick_params(labelsize=7, colors="#6b6f76", length=3)
    ax.set_xlabel("x (m)", fontsize=8, color="#6b6f76")
    ax.set_ylabel("y (m)", fontsize=8, color="#6b6f76")
    for spine in ax.spines.values():
        spine.set_color("#c6c4bd")


def _scale_bar(ax: Axes, window: Window) -> None:
    """Draw a scale bar under the right end of the map."""
    wide = window[2] - window[0]
    length = next(m for m in (500, 200, 100, 50, 20, 10, 5, 2, 1) if m <= max(wide * 0.25, 1.0))
    shift = ScaledTranslation(0.0, -0.5, ax.figure.dpi_scale_trans)
    place = ax.get_xaxis_transform() + shift  # metres across, inches below the map's lower edge
    for k in range(4):
        ends = (window[2] - length + k * length / 4, window[2] - length + (k + 1) * length / 4)
        ax.add_line(
            Line2D(
                ends,
                (0.0, 0.0),
                transform=place,
                clip_on=False,
                linewidth=3.5,
                color=INK,
                alpha=1.0 if k % 2 == 0 else 0.35,
                solid_capstyle="butt",
            )
        )
    ax.text(
        window[2] - length - 0.01 * wide,
        0.0,
        f"{length} m",
        fontsize=8,
        color=INK,
        transform=place,
        ha="right",
        va="center",
        clip_on=False,
    )


def _title(figure: Figure, ax: Axes, town: Town) -> None:
    driving = sum(float(s.s_m[-1] - s.s_m[0]) for s in town.strips if s.kind == "driving")
    kinds = [sign.type_id for sign in town.signs]
    counts = [
        (len(town.crosswalks), "crosswalks"),
        (len(town.lights), "traffic lights"),
        (kinds.count("traffic.stop"), "stop signs"),
        (kinds.count("traffic.yield"), "yield signs"),
    ]
    facts = [f"{driving / 1000:.1f} km of driving lanes"]
    facts += [f"{count} {things}" for count, things in counts if count]
    ax.set_title("  ·  ".join(facts), loc="left", fontsize=8.5, color="#6b6f76", pad=6)
    box = ax.get_position()
    figure.text(
        box.x0,
        box.y1 + 0.34 / figure.get_size_inches()[1],
        town.name,
        fontsize=17,
        color=INK,
        fontweight="bold",
        va="bottom",
    )


def _columns(width_inches: float) -> int:
    return max(3, min(9, int(width_inches / 1.45)))


def _legend_entries(town: Town, spawn_points: bool) -> list[Any]:
    """Return legend entries for the features that this town has."""
    lanes = {strip.kind for strip in town.strips}
    kinds = {
        sign.type_id.rsplit(".", 1)[0] if "speed" in sign.type_id else sign.type_id
        for sign in town.signs
    }
    things = {KINDS[k] for k in np.unique(town.scenery["kind"])} if len(town.scenery) else set()

    def patch(colour: str, label: str) -> Patch:
        return Patch(facecolor=colour, edgecolor="#00000030", linewidth=0.5, label=label)

    def mark(marker: Any, fill: str, edge: str, label: str) -> Line2D:
        return Line2D(
            [],
            [],
            linestyle="none",
            marker=marker,
            markersize=6,
            markerfacecolor=fill,
            markeredgecolor=edge,
            label=label,
        )

    candidates = [
        ("driving" in lanes, patch(_GROUND_COLOURS[ROAD], "Road")),
        ("sidewalk" in lanes, patch(_GROUND_COLOURS[SIDEWALK], "Sidewalk")),
        ("parking" in lanes, patch(_LANE_COLOURS["parking"], "Parking")),
        ("biking" in lanes, patch(_LANE_COLOURS["biking"], "Cycle lane")),
        ("stop" in lanes, patch(_LANE_COLOURS["stop"], "Bus bay")),
        ("median" in lanes, patch(_GROUND_COLOURS[GROUND], "Median")),
        (bool(town.crosswalks), patch("#ffffff", "Crosswalk")),
        ("building" in things, patch("#cdbfae", "Building")),
        ("crown" in things, mark("o", "#93b57c", "#4d6b3d", "Tree")),
        ("lamp" in things, mark("o", "#7d7f83", "none", "Lamp")),
        (bool(town.lights), mark(_HEAD, INK, "white", "Traffic light")),
        (bool(town.lights), Line2D([], [], color=_RED, linewidth=1.6, label="Stop line (light)")),
        ("traffic.stop" in kinds, mark("8", _RED, "white", "Stop sign")),
        ("traffic.yield" in kinds, mark("v", "white", _RED, "Yield sign")),
        ("traffic.speed_limit" in kinds, mark("o", "white", _RED, "Speed limit (km/h)")),
        (spawn_points, mark(">", "#1f5fa8", "none", "Spawn point")),
    ]
    return [entry for wanted, entry in candidates if wanted]
