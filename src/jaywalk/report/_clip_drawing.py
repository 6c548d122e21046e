"""Animated drawing of a motion clip from the side, with the points at which failures began."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from jaywalk.core.arrays import FloatArray
from jaywalk.motion.clip import Clip
from jaywalk.motion.review.pack import view_direction
from jaywalk.motion.smpl import JOINTS, PARENTS
from jaywalk.report.svg import (
    HAIR,
    INK,
    NEITHER,
    SOFT,
    WORSE,
    drawing,
    el,
    text,
)

_WIDTH, _HEIGHT = 190.0, 178.0
_GROUND_PX: Final = 138.0
_PX_PER_M: Final = 66.0
_FRAMES_PER_S: Final = 10.0
_MAX_FRAMES: Final = 60
_SIDES: Final = (("right", "#0f766e"), ("", INK), ("left", "#c2410c"))


def clip_drawing(motion: Clip, begun: Sequence[tuple[float, bool]]) -> str:
    """Draw a clip.

    Args:
        motion: The clip.
        begun: Where in the clip (0 to 1, nan if unknown) each failure began, and whether the hit
            was unavoidable.
    """
    every = max(1, round(motion.rate_hz / _FRAMES_PER_S))
    rows = np.arange(0, len(motion.root_m), every)[:_MAX_FRAMES]
    joints = motion.joints_m()[rows]
    along = view_direction(motion)
    flat = (joints[:, :, [0, 2]] - joints[:, :1, [0, 2]]) @ along
    x = _WIDTH / 2.0 + _PX_PER_M * flat
    y = _GROUND_PX - _PX_PER_M * joints[:, :, 1]
    seconds = len(rows) * every / motion.rate_hz
    parts = [
        el("line", x1=12, x2=_WIDTH - 12, y1=_GROUND_PX, y2=_GROUND_PX, stroke=SOFT, class_="rule")
    ]
    parts += _ground(joints, along, seconds)
    for side, colour in _SIDES:
        frames = [_limbs(x[k], y[k], side) for k in range(len(rows))]
        moves = el(
            "animate",
            attributeName="d",
            dur=f"{seconds:.2f}s",
            calcMode="discrete",
            repeatCount="indefinite",
            values=";".join(frames),
        )
        # bones on neither side of the body take the colour of the page's text
        parts.append(
            el(
                "path",
                moves,
                d=frames[0],
                fill="none",
                stroke=colour,
                stroke_width=3,
                stroke_linecap="round",
                class_="bone" if not side else None,
            )
        )
    parts.append(_time_bar(begun, seconds))
    return drawing(_WIDTH, _HEIGHT, parts, title=f"{motion.name}, {seconds:.1f} s")


def _limbs(x: FloatArray, y: FloatArray, side: str) -> str:
    words = []
    for joint in range(1, len(JOINTS)):
        name = JOINTS[joint]
        mine = "left" if name.startswith("left") else "right" if name.startswith("right") else ""
        if mine == side:
            a = int(PARENTS[joint])
            words.append(f"M{x[a]:.0f} {y[a]:.0f}L{x[joint]:.0f} {y[joint]:.0f}")
    return "".join(words)


def _ground(joints: FloatArray, along: FloatArray, seconds: float) -> list[str]:
    """Marks a metre apart that pass under the person."""
    gone = (joints[:, 0][:, [0, 2]] - joints[0, 0, [0, 2]]) @ along
    frames = []
    for moved in gone:
        first = _WIDTH / 2.0 - _PX_PER_M * float(moved)
        marks = [first + _PX_PER_M * k for k in range(-12, 13)]
        kept = [at for at in marks if 12.0 < at < _WIDTH - 12.0]
        frames.append("".join(f"M{at:.0f} {_GROUND_PX:.0f}v5" for at in kept) or "M0 0")
    moves = el(
        "animate",
        attributeName="d",
        dur=f"{seconds:.2f}s",
        calcMode="discrete",
        repeatCount="indefinite",
        values=";".join(frames),
    )
    return [el("path", moves, d=frames[0], fill="none", stroke=SOFT, class_="rule")]


def _time_bar(begun: Sequence[tuple[float, bool]], seconds: float) -> str:
    left, right, y = 14.0, _WIDTH - 14.0, _GROUND_PX + 22.0
    parts = [el("line", x1=left, x2=right, y1=y, y2=y, stroke=HAIR, stroke_width=4, class_="hair")]
    for phase, unavoidable in begun:
        if np.isfinite(phase):
            parts.append(
                el(
                    "circle",
                    cx=left + float(phase) * (right - left),
                    cy=y,
                    r=4,
                    fill=NEITHER if unavoidable else WORSE,
                    fill_opacity=0.75,
                )
            )
    parts.append(text(left, y + 15.0, "0", size=9.0, fill=SOFT, class_="s"))
    parts.append(
        text(
            right, y + 15.0, f"{seconds:.1f} s", size=9.0, fill=SOFT, class_="s", text_anchor="end"
        )
    )
    return "".join(parts)
