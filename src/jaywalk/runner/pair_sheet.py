"""A contact sheet of pairs from above: one class a column, base above, shift below."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Polygon

from jaywalk.core.errors import UsageError
from jaywalk.runner.staging import StagedBody, StagedRoute
from jaywalk.scenarios.suite import Suite, SuiteRoute
from jaywalk.town.picture import INK, PAPER, town_axes
from jaywalk.town.town import load_town

_COLUMNS: Final = 6
_HALF_M: Final = 21.0  # of a picture's side
_CELL_INCH: Final = 2.7
_FILLS: Final = {"hero": "#1d6fb8", "background": "#f4f4f2"}
_PROP, _PERSON, _ANIMAL, _CAR = "#e08a1e", "#e11d74", "#7a3fb0", "#c8323c"
_AHEAD_M: Final = 50.0  # of the trigger, where nothing else says where to look


def first_of_each_class(suite: Suite) -> list[SuiteRoute]:
    """Both routes of the first pair of each class, in order of the towns: loading costs time."""
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
    for one in sorted(staged, key=lambda one: int(one.item.route.id)):
        pairs.setdefault(one.item.pair, []).append(one)
    rows = -(-len(pairs) // _COLUMNS)
    figure = Figure(figsize=(_CELL_INCH * _COLUMNS, 2.12 * _CELL_INCH * rows), facecolor=PAPER)
    FigureCanvasAgg(figure)
    grid = figure.add_gridspec(2 * rows, _COLUMNS, left=0.005, right=0.995, top=0.985,
                               bottom=0.005, wspace=0.03, hspace=0.12)  # fmt: skip
    for number, (name, halves) in enumerate(sorted(pairs.items())):
        middle = _middle(halves)
        for half, one in enumerate(halves[:2]):
            ax = figure.add_subplot(grid[2 * (number // _COLUMNS) + half, number % _COLUMNS])
            _draw(ax, one, middle)
            words = "shift" if half else "base"
            ax.set_title(f"{name.rpartition('_')[0]}, {words}", fontsize=7, color=INK, pad=2)
    figure.savefig(path, dpi=120)


def _middle(halves: Sequence[StagedRoute]) -> tuple[float, float]:
    """Where it happens: the middle of what the scenarios of the pair brought."""
    for one in reversed(halves):
        things = [body for body in one.bodies if body.role not in _FILLS]
        if things:
            x = np.median([body.x_m for body in things])
            y = np.median([body.y_m for body in things])
            return float(x), float(y)
    one = halves[0]
    assert one.route_m is not None
    assert one.along_m is not None
    at = int(np.searchsorted(one.along_m, np.nan_to_num(one.trigger_m) + _AHEAD_M))
    x, y = one.route_m[min(at, len(one.route_m) - 1)]
    return float(x), float(y)


def _draw(ax: Axes, one: StagedRoute, middle: tuple[float, float]) -> None:
    x, y = middle
    window = (x - _HALF_M, y - _HALF_M, x + _HALF_M, y + _HALF_M)
    town_axes(load_town(one.item.route.town), ax, window_m=window)
    if one.route_m is not None:
        ax.plot(*one.route_m.T, color="#1d6fb8", linewidth=0.8, linestyle=":", zorder=11)
    for body in one.bodies:
        _draw_body(ax, body)
    ax.set_xlim(window[0], window[2])
    ax.set_ylim(window[3], window[1])
    ax.set_xticks([])
    ax.set_yticks([])


def _draw_body(ax: Axes, body: StagedBody) -> None:
    fill = _FILLS.get(body.role) or (
        _ANIMAL if body.type_id.startswith("walker.animal.")
        else _PERSON if body.type_id.startswith("walker.")
        else _CAR if body.type_id.startswith("vehicle.")
        else _PROP
    )  # fmt: skip
    if body.type_id.startswith("walker.pedestrian."):
        ax.add_patch(Circle((body.x_m, body.y_m), 0.35, facecolor=fill, edgecolor=INK,
                            linewidth=0.3, zorder=14))  # fmt: skip
        return
    cos, sin = np.cos(body.yaw_rad), np.sin(body.yaw_rad)
    hx, hy = max(body.half_m[0], 0.12), max(body.half_m[1], 0.12)  # pictures are thin
    corners = np.array([(-hx, -hy), (hx, -hy), (hx, hy), (-hx, hy)])
    turned = corners @ np.array([[cos, sin], [-sin, cos]]) + (body.x_m, body.y_m)
    ax.add_patch(Polygon(turned, facecolor=fill, edgecolor=INK, linewidth=0.3, zorder=13))
