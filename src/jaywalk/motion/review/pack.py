"""Review packs: contact sheets, an animation of every clip, and a page for the decisions.

The pictures are small and fast to draw; the left side of the body is red, the right side blue.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any, Final

import numpy as np
from jinja2 import Environment
from PIL import Image, ImageDraw, ImageFont

from jaywalk.core.arrays import FloatArray
from jaywalk.core.errors import UsageError
from jaywalk.motion.clip import Clip
from jaywalk.motion.heading import heading_rad
from jaywalk.motion.library.reading import MotionLibrary
from jaywalk.motion.review.decisions import ReviewDecision
from jaywalk.motion.smpl import JOINTS, LEFT_BALL, PARENTS, RIGHT_BALL

_LEFT, _RIGHT, _MIDDLE, _GROUND = "#c0392b", "#2471a3", "#2c3e50", "#b0b0b0"
_PATH: Final = "#27ae60"
_TALL_M: Final = 2.0
POSES: Final = 7
#: Pixels of one cell of a contact sheet, and of an animation.
CELL: Final = (360, 150)
FRAME: Final = (240, 150)
_FINE: Final = 2  # drawn twice as large and shrunk, for smooth lines


def _colour(joint: int) -> str:
    name = JOINTS[joint]
    return _LEFT if name.startswith("left") else _RIGHT if name.startswith("right") else _MIDDLE


_BONES: Final = tuple((int(PARENTS[j]), j, _colour(j)) for j in range(1, len(JOINTS)))


def view_direction(motion: Clip) -> FloatArray:
    """Main walking direction (2,), x and z; the facing direction if the person stays."""
    moved = motion.root_m[:, [0, 2]] - motion.root_m[0, [0, 2]]
    far = moved[np.linalg.norm(moved, axis=1).argmax()]
    if np.linalg.norm(far) < 0.8:
        yaw = float(heading_rad(motion)[0])
        far = np.array([np.sin(yaw), np.cos(yaw)])
    return np.asarray(far / np.linalg.norm(far))


def _draw_side(
    draw: ImageDraw.ImageDraw,
    joints: FloatArray,
    along: FloatArray,
    x0: float,
    y0: float,
    scale: float,
    width: int,
) -> None:
    """Draw one pose from its right side, with the pelvis at ``x0`` and the ground at ``y0``."""
    flat = (joints[:, [0, 2]] - joints[0, [0, 2]]) @ along
    for a, b, colour in _BONES:
        line = [
            (x0 + scale * flat[a], y0 - scale * joints[a, 1]),
            (x0 + scale * flat[b], y0 - scale * joints[b, 1]),
        ]
        draw.line(line, fill=colour, width=width)


def _draw_path(
    draw: ImageDraw.ImageDraw, motion: Clip, joints: FloatArray, box: tuple[float, ...]
) -> None:
    """Draw path and footprints from above, forward up, in a box (left, top, size)."""
    left, top, size = box
    ground = motion.root_m[:, [0, 2]]
    middle = (ground.min(axis=0) + ground.max(axis=0)) / 2.0
    half = max(0.7, float(np.ptp(ground, axis=0).max()) / 2.0 + 0.3)

    def place(point: FloatArray) -> tuple[float, float]:
        x = left + size / 2.0 - (point[0] - middle[0]) / half * size / 2.0  # +x is to the left
        y = top + size / 2.0 - (point[1] - middle[1]) / half * size / 2.0
        return float(x), float(y)

    draw.rectangle([left, top, left + size, top + size], outline=_GROUND)
    low = 0.035 * motion.body_scale
    for ball, colour in ((LEFT_BALL, _LEFT), (RIGHT_BALL, _RIGHT)):
        for foot in joints[joints[:, ball, 1] < low, ball]:
            x, y = place(foot[[0, 2]])
            draw.rectangle([x - 1, y - 1, x + 1, y + 1], fill=colour)
    draw.line([place(point) for point in ground], fill=_PATH, width=2)


def clip_cell(motion: Clip, title: str) -> Image.Image:
    """Draw a row of poses from first to last, the path from above, and a title."""
    width, height = CELL[0] * _FINE, CELL[1] * _FINE
    picture = Image.new("RGB", (width, height), "white")
    draw = ImageDraw.Draw(picture)
    joints = motion.joints_m()
    along = view_direction(motion)
    side = 0.62 * height
    ground, scale = 0.93 * height, 0.72 * height / _TALL_M
    room = width - side - 20
    draw.line([(0, ground), (room, ground)], fill=_GROUND, width=_FINE)
    for number, frame in enumerate(np.linspace(0, motion.frames - 1, POSES).astype(int)):
        x = (number + 0.5) * room / POSES
        _draw_side(draw, joints[frame], along, x, ground, scale, 2 * _FINE)
    _draw_path(draw, motion, joints, (width - side - 10, 0.3 * height, side))
    font = ImageFont.load_default(size=11 * _FINE)
    for line, text in enumerate(textwrap.wrap(title, 60)[:2]):
        draw.text((6, 4 + 13 * _FINE * line), text, fill="black", font=font)
    draw.rectangle([0, 0, width - 1, height - 1], outline="#dddddd")
    return picture.resize(CELL, Image.Resampling.LANCZOS)


def contact_sheet(cells: Sequence[Image.Image], file: Path, *, columns: int = 3) -> None:
    """Write cells as one PNG."""
    rows = max(1, -(-len(cells) // columns))
    sheet = Image.new("RGB", (columns * CELL[0], rows * CELL[1]), "white")
    for place, cell in enumerate(cells):
        sheet.paste(cell, (place % columns * CELL[0], place // columns * CELL[1]))
    sheet.quantize(64).save(file, optimize=True)


def animation(motion: Clip, file: Path, *, every: int = 2) -> None:
    """Write a small GIF: a side view that follows the person, and a view from behind."""
    joints = motion.joints_m()
    along = view_direction(motion)
    across = np.array([-along[1], along[0]])
    width, height = FRAME
    ground, scale = 0.92 * height, 0.8 * height / _TALL_M
    pictures = []
    for frame in range(0, motion.frames, every):
        picture = Image.new("RGB", FRAME, "white")
        draw = ImageDraw.Draw(picture)
        draw.line([(0, ground), (width, ground)], fill=_GROUND)
        gone = float((motion.root_m[frame, [0, 2]] - motion.root_m[0, [0, 2]]) @ along)
        for mark in range(-3, 4):  # moving metre marks show the speed
            x = 0.32 * width + scale * (mark - gone % 1.0)
            if 0.0 <= x < 0.62 * width:
                draw.line([(x, ground), (x, ground + 6)], fill=_GROUND)
        _draw_side(draw, joints[frame], along, 0.32 * width, ground, scale, 2)
        _draw_side(draw, joints[frame], across, 0.81 * width, ground, scale, 2)
        pictures.append(picture.quantize(8))
    step_ms = round(1000.0 * every / motion.rate_hz)
    pictures[0].save(
        file, save_all=True, append_images=pictures[1:], duration=step_ms, loop=0, optimize=False
    )


DECISIONS_FILE: Final = "review.csv"
PAGE: Final = "index.html"
_PER_SHEET: Final = 36


@dataclass(frozen=True, slots=True, kw_only=True)
class Pack:
    """Files of a review pack."""

    page: Path
    sheets: tuple[Path, ...]
    clips: int


def candidates(
    library: MotionLibrary,
    chosen: Sequence[str] | None,
    decisions: Mapping[str, ReviewDecision],
    *,
    undecided: bool = False,
) -> list[str]:
    """Return the clips to review: ``chosen`` (all if None), or only those without a decision.

    Raises:
        UsageError: No clip is left.
    """
    wanted = set(library.names if chosen is None else chosen)
    names = [name for name in library.names if name in wanted]
    if undecided:
        names = [name for name in names if name not in decisions]
    if not names:
        raise UsageError("no clips to review: none was chosen, or all are decided")
    return names


def facts_of(library: MotionLibrary, name: str) -> str:
    """Describe a clip in one line: class, duration, displacement, and a mark for copies."""
    row = library.rows[name]
    c = library.columns
    seconds = (c["frames"][row] - 1) / float(library.meta["rate_hz"])
    text = f"{c['class'][row]}, {seconds:.1f} s, ends {c['net_m'][row]:.1f} m away"
    return text + (f", copy ({c['augmented'][row]})" if c["augmented"][row] else "")


def make_pack(
    library: MotionLibrary,
    names: Sequence[str],
    out: Path,
    decisions: Mapping[str, ReviewDecision],
    *,
    say: Callable[[str], None] = lambda _: None,
) -> Pack:
    """Write contact sheets, animations and the page.

    Args:
        library: Library with the clips.
        names: Clips to show.
        out: Folder for the pack.
        decisions: Decisions made before; the page starts with them.
        say: Receives progress messages.
    """
    (out / "animations").mkdir(parents=True, exist_ok=True)
    cards: list[dict[str, str]] = []
    sheets: list[Path] = []
    cells = []
    for number, name in enumerate(names, 1):
        motion = library.motion(name)
        file = f"animations/{number:05d}-{_plain(name)}.gif"
        animation(motion, out / file)
        cells.append(clip_cell(motion, f"{name}: {motion.caption}"))
        cards.append(_card(library, name, motion.caption, file))
        if len(cells) == _PER_SHEET or number == len(names):
            sheets.append(out / f"sheet{len(sheets) + 1:03d}.png")
            contact_sheet(cells, sheets[-1])
            cells = []
        if number % 100 == 0:
            say(f"{number} of {len(names)} clips drawn")
    page = out / PAGE
    page.write_text(_page(library, cards, decisions), encoding="utf-8")
    return Pack(page=page, sheets=tuple(sheets), clips=len(names))


def _plain(name: str) -> str:
    """Convert a name so that it can be part of a file name."""
    return re.sub(r"[^A-Za-z0-9._-]", "_", name)[:80]


def _card(library: MotionLibrary, name: str, caption: str, file: str) -> dict[str, str]:
    kind = str(library.columns["class"][library.rows[name]])
    return {
        "name": name,
        "caption": caption,
        "kind": kind,
        "facts": facts_of(library, name),
        "animation": file,
    }


def _page(
    library: MotionLibrary, cards: list[dict[str, str]], decisions: Mapping[str, ReviewDecision]
) -> str:
    place = resources.files("jaywalk.motion") / "data" / "review.html.j2"
    template = Environment(autoescape=True).from_string(place.read_text(encoding="utf-8"))
    known: dict[str, Any] = {
        name: {"decision": str(decision.verdict), "note": decision.note}
        for name, decision in decisions.items()
    }
    return template.render(
        title=f"Review of {library.folder.name}",
        clips=cards,
        kinds=sorted({card["kind"] for card in cards}),
        decisions=known,
        key=f"{library.folder.name}:{len(library)}",
        file_name=DECISIONS_FILE,
    )
