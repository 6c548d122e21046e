"""A contact sheet of pairs as the driver sees them: base above, shift below."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from jaywalk.core.errors import UsageError
from jaywalk.runner.driver_view import SIZE_PX, Photo
from jaywalk.town.picture import INK, PAPER

_COLUMNS: Final = 6
_WIDE_INCH: Final = 3.2  # of a picture
_TALL_INCH: Final = _WIDE_INCH * SIZE_PX[1] / SIZE_PX[0]
_GAP_INCH, _HEAD_INCH, _HALVES_INCH = 0.16, 0.50, 0.05
_DETAIL: Final = 0.05  # half of the side of what is enlarged, of the picture's width
_DPI: Final = 150
_MUTED: Final = "#6b675f"
_TAGS: Final = (("base", "#1d4f7c"), ("shift", "#c2410c"))
# What the shift is; the classes of other suites go without.
_WORDS: Final = {
    "Animals": "an animal crosses, not a person",
    "BadParking": "parked askew, nothing warns",
    "ConstructionPedestrian": "somebody steps out of the site",
    "ConstructionPermutations": "cues of the site are missing",
    "CustomObstacles": "obstacles never seen before",
    "FullyBlocked": "blocked from kerb to kerb",
    "HardBrake": "the car ahead brakes without lights",
    "ImageOnObject": "a picture of a child or a red light",
    "ObscuredStop": "the sign is covered, and in force",
    "OppositeConstruction": "a site on the other side",
    "PassableObstacles": "things beside the way",
    "PedestrianCrowd": "many people on the sidewalk",
    "PedestrianOtherBlocker": "hidden by something else",
    "PedestriansOnRoad": "people walk on the road",
    "RightConstruction": "a site beside the lane",
    "RightOfWay": "who runs the light is no emergency vehicle",
    "Wall": "bricks, or a picture of a road",
}


def draw_driver_sheet(pairs: Sequence[tuple[Photo, Photo]], path: Path) -> None:
    """Draw photographed pairs, one class after the other.

    Raises:
        UsageError: The file's name has another suffix than .png.
    """
    if path.suffix != ".png":
        raise UsageError(f"--out is '{path}', expected a file that ends in .png.")
    path.parent.mkdir(parents=True, exist_ok=True)
    columns = min(_COLUMNS, len(pairs))
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
    """Something small, enlarged in the lower left corner."""
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
    ax.add_patch(Rectangle((u - half, v - half), 2 * half, 2 * half, fill=False,
                           edgecolor="white", linewidth=1.0))  # fmt: skip


def _draw_pair(figure: Figure, pair: tuple[Photo, Photo], left: float, top: float) -> None:
    """A pair whose upper left corner is so many inches from the lower left of the sheet."""
    wide, tall = (float(inch) for inch in figure.get_size_inches())
    name = pair[0].item.pair.rpartition("_")[0]
    head = top - _HEAD_INCH
    figure.text(left / wide, (head + 0.27) / tall, name, fontsize=12, weight="bold", color=INK)
    figure.text(left / wide, (head + 0.09) / tall, _WORDS.get(name, ""), fontsize=9, color=_MUTED)
    told = any(photo.lamps for photo in pair)
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
        ax.text(0.018, 0.955, word, transform=ax.transAxes, va="top", fontsize=8, color="white",
                weight="bold", bbox={"boxstyle": "round,pad=0.28", "facecolor": colour,
                                     "edgecolor": "none"})  # fmt: skip
        if told:
            ax.text(0.018, 0.05, photo.lamps or "no lights on", transform=ax.transAxes, fontsize=8,
                    color="white", bbox={"boxstyle": "round,pad=0.28", "facecolor": "#1c1b19c0",
                                         "edgecolor": "none"})  # fmt: skip
