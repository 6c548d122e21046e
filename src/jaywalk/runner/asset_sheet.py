"""A picture of the novel assets: what hangs on props, and how the animals step."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from jaywalk.core.errors import UsageError
from jaywalk.server.world.animals import ANIMALS, Animal, body_lift_m, feet_m, gait_of, stride_m
from jaywalk.server.world.textures import TEXTURED, texture
from jaywalk.town.picture import INK, PAPER

_COLUMNS: Final = 7
_SIGN: Final = "#b3202a"  # behind what is transparent: a stop sign's red


def draw_assets(path: Path) -> None:
    """All pictures, then every animal at a walk and at a run, from its left side.

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
    grid = figure.add_gridspec(rows, _COLUMNS, left=0.01, right=0.99, top=0.96, bottom=0.01,
                               wspace=0.08, hspace=0.25)  # fmt: skip
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
    """A trunk, a head and the legs, at a walk and above it at a run."""
    length_m, _, height_m = animal.size_m
    for level, speed_mps in enumerate((animal.walk_mps, animal.run_mps)):
        floor = 1.35 * level * height_m
        along_m = 0.3 * stride_m(animal, speed_mps)
        feet = feet_m(animal, along_m, speed_mps)
        hip = animal.leg_m + body_lift_m(animal, along_m, speed_mps)
        colour = tuple(value / 255.0 for value in animal.colour)
        hips = np.linspace(-0.33, 0.33, 2) * length_m if animal.legs == 4 else [0.0, 0.0]
        for foot, (x, _, z) in enumerate(feet):
            ax.plot([hips[foot % 2], x], [floor + hip, floor + z], color=colour, linewidth=2.0,
                    solid_capstyle="round")  # fmt: skip
        ax.add_patch(FancyBboxPatch(
            (-0.4 * length_m, floor + hip), 0.72 * length_m, 0.26 * height_m,
            boxstyle=f"round,pad={0.04 * height_m}", facecolor=colour, edgecolor="none",
        ))  # fmt: skip
        ax.plot([0.3 * length_m, 0.46 * length_m], [floor + hip + 0.2 * height_m,
                floor + 0.95 * height_m], color=colour, linewidth=4.0,
                solid_capstyle="round")  # fmt: skip
        ax.plot([-0.6 * length_m, 0.6 * length_m], [floor, floor], color=INK, linewidth=0.4)
        ax.text(0.6 * length_m, floor + 0.05 * height_m, gait_of(animal, speed_mps), fontsize=5,
                ha="right", color=INK)  # fmt: skip
    ax.set_aspect("equal")
    ax.set_xlim(-0.65 * length_m, 0.65 * length_m)
    ax.set_ylim(-0.05 * height_m, 2.55 * height_m)
    _plain(ax, f"{animal.number} {animal.species}, {length_m:g} m, {animal.mass_kg:g} kg")
