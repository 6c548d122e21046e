"""Contact sheets of pairs and a sheet of the novel assets.

Pairs are drawn as the driver sees them or from above, one class per column with base above and
shift below. The sheet of assets shows the pictures that hang on props and the gaits of the animals.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyBboxPatch, Polygon, Rectangle

from jaywalk.checks.staging import StagedRoute, StagingStagedBody
from jaywalk.core.errors import UsageError
from jaywalk.runner.driver_view import SIZE_PX, Photo
from jaywalk.scenarios.catalogue import shift_classes
from jaywalk.scenarios.suite import Suite, SuiteRoute
from jaywalk.server.world.textures import TEXTURED, texture
from jaywalk.server.world.walker_blueprints import (
    ANIMALS,
    Animal,
    body_lift_m,
    feet_m,
    gait_of,
    stride_m,
)
from jaywalk.town.picture import INK, PAPER, town_axes
from jaywalk.town.town import load_town

_COLUMNS: Final = 7
_SIGN: Final = "#b3202a"  # background of transparent pictures: a stop sign's red


def draw_assets(path: Path) -> None:
    """Draw all pictures, then every animal walking and running, from its left side.

    Raises:
        UsageError: The file's name has another suffix than .png.
    """
    if path.suffix != ".png":
        raise UsageError(f"--out is '{path}', expected a file that ends in .png.")
    path.parent.mkdir(parents=True, exist_ok=True)
    picture_rows = -(-len(TEXTURED) // _COLUMNS)
    animal_rows = -(-len(ANIMALS) // _COLUMNS)
    rows = picture_rows + animal_rows
    figure = Figure(figsize=(2.2 * _COLUMNS, 1.9 * rows), facecolor=PAPER)
    FigureCanvasAgg(figure)
    grid = figure.add_gridspec(
        rows, _COLUMNS, left=0.01, right=0.99, top=0.96, bottom=0.01, wspace=0.08, hspace=0.25
    )
    for number, name in enumerate(TEXTURED):
        ax = figure.add_subplot(grid[number // _COLUMNS, number % _COLUMNS])
        ax.imshow(np.asarray(texture(name)))
        ax.set_facecolor(_SIGN)
        _plain(ax, f"static.prop.{name}")
    for number, animal in enumerate(ANIMALS):
        ax = figure.add_subplot(grid[picture_rows + number // _COLUMNS, number % _COLUMNS])
        _draw_animal(ax, animal)
    figure.savefig(path, dpi=110)


def _plain(ax: Axes, title: str) -> None:
    ax.set_xticks([])
    ax.set_yticks([])
    ax.set_title(title, fontsize=7, color=INK, pad=2)


def _draw_animal(ax: Axes, animal: Animal) -> None:
    """Draw trunk, head and legs of an animal, walking and, above, running."""
    length_m, _, height_m = animal.size_m
    for level, speed_mps in enumerate((animal.walk_mps, animal.run_mps)):
        floor = 1.35 * level * height_m
        along_m = 0.3 * stride_m(animal, speed_mps)
        feet = feet_m(animal, along_m, speed_mps)
        hip = animal.leg_m + body_lift_m(animal, along_m, speed_mps)
        colour = tuple(value / 255.0 for value in animal.colour)
        hips = np.linspace(-0.33, 0.33, 2) * length_m if animal.legs == 4 else [0.0, 0.0]
        for foot, (x, _, z) in enumerate(feet):
            ax.plot(
                [hips[foot % 2], x],
                [floor + hip, floor + z],
                color=colour,
                linewidth=2.0,
                solid_capstyle="round",
            )
        ax.add_patch(
            FancyBboxPatch(
                (-0.4 * length_m, floor + hip),
                0.72 * length_m,
                0.26 * height_m,
                boxstyle=f"round,pad={0.04 * height_m}",
                facecolor=colour,
                edgecolor="none",
            )
        )
        ax.plot(
            [0.3 * length_m, 0.46 * length_m],
            [floor + hip + 0.2 * height_m, floor + 0.95 * height_m],
            color=colour,
            linewidth=4.0,
            solid_capstyle="round",
        )
        ax.plot([-0.6 * length_m, 0.6 * length_m], [floor, floor], color=INK, linewidth=0.4)
        ax.text(
            0.6 * length_m,
            floor + 0.05 * height_m,
            gait_of(animal, speed_mps),
            fontsize=5,
            ha="right",
            color=INK,
        )
    ax.set_aspect("equal")
    ax.set_xlim(-0.65 * length_m, 0.65 * length_m)
    ax.set_ylim(-0.05 * height_m, 2.55 * height_m)
    _plain(ax, f"{animal.number} {animal.species}, {length_m:g} m, {animal.mass_kg:g} kg")


_DRIVER_SHEET_COLUMNS: Final = 6
_WIDE_INCH: Final = 3.2  # width of a picture
_TALL_INCH: Final = _WIDE_INCH * SIZE_PX[1] / SIZE_PX[0]
_GAP_INCH, _HEAD_INCH, _HALVES_INCH = 0.16, 0.50, 0.05
_DETAIL: Final = 0.05  # half side of the enlarged area, as a share of the picture's width
_DPI: Final = 150
_MUTED: Final = "#6b675f"
_TAGS: Final = (("base", "#1d4f7c"), ("shift", "#c2410c"))


def draw_driver_sheet(pairs: Sequence[tuple[Photo, Photo]], path: Path) -> None:
    """Draw photographed pairs, one class after the other.

    Raises:
        UsageError: The file's name has another suffix than .png.
    """
    if path.suffix != ".png":
        raise UsageError(f"--out is '{path}', expected a file that ends in .png.")
    path.parent.mkdir(parents=True, exist_ok=True)
    columns = min(_DRIVER_SHEET_COLUMNS, len(pairs))
    rows = -(-len(pairs) // columns)
    cell = _HEAD_INCH + 2.0 * _TALL_INCH + _HALVES_INCH + _GAP_INCH
    wide, tall = columns * (_WIDE_INCH + _GAP_INCH) + _GAP_INCH, rows * cell + _GAP_INCH
    figure = Figure(figsize=(wide, tall), facecolor=PAPER, dpi=_DPI)
    FigureCanvasAgg(figure)
    for number, pair in enumerate(sorted(pairs, key=lambda pair: pair[0].item.pair)):
        left = _GAP_INCH + number % columns * (_WIDE_INCH + _GAP_INCH)
        top = tall - _GAP_INCH / 2.0 - number // columns * cell
        _draw_pair(figure, pair, left, top)
    figure.savefig(path)


def _draw_detail(ax: Axes, photo: Photo, at_px: tuple[int, int]) -> None:
    """Draw a small object, enlarged in the lower left corner."""
    rows, columns, _ = photo.pixels.shape
    half = round(_DETAIL * columns)
    u = min(max(at_px[0], half), columns - half)
    v = min(max(at_px[1], half), rows - half)
    crop = photo.pixels[v - half : v + half, u - half : u + half]
    inset = ax.inset_axes((0.02, 0.04, 0.52 * SIZE_PX[1] / SIZE_PX[0], 0.52))
    inset.imshow(crop, interpolation="bilinear")
    inset.set_xticks([])
    inset.set_yticks([])
    for side in inset.spines.values():
        side.set(color="white", linewidth=1.5)
    ax.add_patch(
        Rectangle(
            (u - half, v - half), 2 * half, 2 * half, fill=False, edgecolor="white", linewidth=1.0
        )
    )


def _draw_pair(figure: Figure, pair: tuple[Photo, Photo], left: float, top: float) -> None:
    """Draw a pair; its upper left corner is in inches from the lower left of the sheet."""
    wide, tall = (float(inch) for inch in figure.get_size_inches())
    name = pair[0].item.pair.rpartition("_")[0]
    head = top - _HEAD_INCH
    figure.text(left / wide, (head + 0.27) / tall, name, fontsize=12, weight="bold", color=INK)
    shift = shift_classes().get(name)  # classes of other suites have no caption
    caption = "" if shift is None else shift.caption
    figure.text(left / wide, (head + 0.09) / tall, caption, fontsize=9, color=_MUTED)
    has_lamps = any(photo.lamps for photo in pair)
    detail = pair[1].detail_px
    for half, photo in enumerate(pair):
        bottom = head - (half + 1) * _TALL_INCH - half * _HALVES_INCH
        box = (left / wide, bottom / tall, _WIDE_INCH / wide, _TALL_INCH / tall)
        ax = figure.add_axes(box)
        ax.imshow(photo.pixels, aspect="auto")
        ax.set_axis_off()
        if detail is not None:
            _draw_detail(ax, photo, detail)
        word, colour = _TAGS[half]
        ax.text(
            0.018,
            0.955,
            word,
            transform=ax.transAxes,
            va="top",
            fontsize=8,
            color="white",
            weight="bold",
            bbox={"boxstyle": "round,pad=0.28", "facecolor": colour, "edgecolor": "none"},
        )
        if has_lamps:
            ax.text(
                0.018,
                0.05,
                photo.lamps or "no lights on",
                transform=ax.transAxes,
                fontsize=8,
                color="white",
                bbox={"boxstyle": "round,pad=0.28", "facecolor": "#1c1b19c0", "edgecolor": "none"},
            )


_PAIR_SHEET_COLUMNS: Final = 6
_HALF_M: Final = 21.0  # half side of a picture
_CELL_INCH: Final = 2.7
_FILLS: Final = {"hero": "#1d6fb8", "background": "#f4f4f2"}
_PROP, _PERSON, _ANIMAL, _CAR = "#e08a1e", "#e11d74", "#7a3fb0", "#c8323c"
_AHEAD_M: Final = 50.0  # beyond the trigger, if the scenario has no actors to look at


def first_of_each_class(suite: Suite) -> list[SuiteRoute]:
    """Return both routes of the first pair of each class, by town, as loading one is slow."""
    classes: dict[str, str] = {}
    for item in suite.routes:
        if item.pair:
            classes.setdefault(item.pair.rpartition("_")[0], item.pair)
    if not classes:
        raise UsageError(f"{suite.name} has no pairs.")
    wanted = set(classes.values())
    found = [item for item in suite.routes if item.pair in wanted]
    return sorted(found, key=lambda item: (item.route.town, item.pair))


def draw_sheet(staged: Sequence[StagedRoute], path: Path) -> None:
    """Draw every pair of some staged routes.

    Raises:
        UsageError: A route does not fit, or the file's name has another suffix than .png.
    """
    bad = [f"{one.item.id}: {one.problem}" for one in staged if one.problem]
    if bad:
        raise UsageError(f"{len(bad)} routes do not fit. {bad[0]}")
    if path.suffix != ".png":
        raise UsageError(f"--out is '{path}', expected a file that ends in .png.")
    path.parent.mkdir(parents=True, exist_ok=True)
    pairs: dict[str, list[StagedRoute]] = {}
    for route in sorted(staged, key=lambda one: int(one.item.route.id)):
        pairs.setdefault(route.item.pair, []).append(route)
    rows = -(-len(pairs) // _PAIR_SHEET_COLUMNS)
    figure = Figure(
        figsize=(_CELL_INCH * _PAIR_SHEET_COLUMNS, 2.12 * _CELL_INCH * rows), facecolor=PAPER
    )
    FigureCanvasAgg(figure)
    grid = figure.add_gridspec(
        2 * rows,
        _PAIR_SHEET_COLUMNS,
        left=0.005,
        right=0.995,
        top=0.985,
        bottom=0.005,
        wspace=0.03,
        hspace=0.12,
    )
    for number, (name, halves) in enumerate(sorted(pairs.items())):
        middle = _middle(halves)
        for half, route in enumerate(halves[:2]):
            ax = figure.add_subplot(
                grid[2 * (number // _PAIR_SHEET_COLUMNS) + half, number % _PAIR_SHEET_COLUMNS]
            )
            _draw(ax, route, middle)
            words = "shift" if half else "base"
            ax.set_title(f"{name.rpartition('_')[0]}, {words}", fontsize=7, color=INK, pad=2)
    figure.savefig(path, dpi=120)


def _middle(halves: Sequence[StagedRoute]) -> tuple[float, float]:
    """Middle of the actors that the scenarios of a pair add, in metres."""
    for half in reversed(halves):
        things = [body for body in half.bodies if body.role not in _FILLS]
        if things:
            x = np.median([body.x_m for body in things])
            y = np.median([body.y_m for body in things])
            return float(x), float(y)
    half = halves[0]
    assert half.route_m is not None
    assert half.along_m is not None
    at = int(np.searchsorted(half.along_m, np.nan_to_num(half.trigger_m) + _AHEAD_M))
    x, y = half.route_m[min(at, len(half.route_m) - 1)]
    return float(x), float(y)


def _draw(ax: Axes, route: StagedRoute, middle: tuple[float, float]) -> None:
    x, y = middle
    window = (x - _HALF_M, y - _HALF_M, x + _HALF_M, y + _HALF_M)
    town_axes(load_town(route.item.route.town), ax, window_m=window)
    if route.route_m is not None:
        ax.plot(*route.route_m.T, color="#1d6fb8", linewidth=0.8, linestyle=":", zorder=11)
    for body in route.bodies:
        _draw_body(ax, body)
    ax.set_xlim(window[0], window[2])
    ax.set_ylim(window[3], window[1])
    ax.set_xticks([])
    ax.set_yticks([])


def _draw_body(ax: Axes, body: StagingStagedBody) -> None:
    fill = _FILLS.get(body.role) or (
        _ANIMAL
        if body.type_id.startswith("walker.animal.")
        else _PERSON
        if body.type_id.startswith("walker.")
        else _CAR
        if body.type_id.startswith("vehicle.")
        else _PROP
    )
    if body.type_id.startswith("walker.pedestrian."):
        ax.add_patch(
            Circle(
                (body.x_m, body.y_m), 0.35, facecolor=fill, edgecolor=INK, linewidth=0.3, zorder=14
            )
        )
        return
    cos, sin = np.cos(body.yaw_rad), np.sin(body.yaw_rad)
    hx, hy = max(body.half_m[0], 0.12), max(body.half_m[1], 0.12)  # pictures are thin
    corners = np.array([(-hx, -hy), (hx, -hy), (hx, hy), (-hx, hy)])
    turned = corners @ np.array([[cos, sin], [-sin, cos]]) + (body.x_m, body.y_m)
    ax.add_patch(Polygon(turned, facecolor=fill, edgecolor=INK, linewidth=0.3, zorder=13))
