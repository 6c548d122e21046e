"""Pictures of people on a walker rig, from the side and from above: animations and strips."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from jaywalk.core.arrays import FloatArray
from jaywalk.motion.carla_rigs import load_rig
from jaywalk.motion.retarget import DRIVEN, RigClip

_LEFT, _RIGHT, _MIDDLE = "#d55e00", "#0072b2", "#8a93a0"
_SKIN: Final = "#e8c4a2"
_GROUND, _SKY = "#d7dbd0", "#f6f7f5"
# Radius of a body part in metres, by the bone at its end.
_RADIUS_M: Final = {
    "spine": 0.13,
    "spine01": 0.14,
    "shoulder": 0.07,
    "arm": 0.06,
    "foreArm": 0.05,
    "hand": 0.04,
    "neck": 0.06,
    "thigh": 0.1,
    "leg": 0.08,
    "foot": 0.055,
    "toe": 0.045,
    "toeEnd": 0.04,
}
_HEAD_M: Final = 0.115
_ENDS: Final = ("crl_toeEnd__L", "crl_toeEnd__R")


@dataclass(frozen=True, slots=True, kw_only=True)
class MotionFilm:
    """Bones of a walker over time, for drawing. Frame: CARLA's left-handed metres.

    Attributes:
        rig: One of ``RIG_NAMES``.
        joints_m: (frames, bones, 3) in the world.
        actor: (frames, 4) ``x y z yaw`` with z the ground.
        rate_hz: Frames per second.
        notes: Text beside each frame; empty, or one per frame.
    """

    rig: str
    joints_m: FloatArray
    actor: FloatArray
    rate_hz: float
    notes: Sequence[str] = ()


def film_of(posed: RigClip) -> MotionFilm:
    """Make a film of a clip on a rig."""
    return MotionFilm(
        rig=posed.rig, joints_m=posed.joints_m(), actor=posed.actor, rate_hz=posed.rate_hz
    )


def animate(film: MotionFilm, file: Path, *, title: str = "", every: int = 2) -> None:
    """Write a GIF: side view (left limbs orange) and view from above with footprints."""
    from matplotlib.animation import FuncAnimation, PillowWriter

    figure = _figure(9.0, 4.2, title or film.rig)
    side, above = figure.subplots(1, 2)
    along = _direction(film.actor)

    def draw(frame: int) -> list[Any]:
        for axes in (side, above):
            axes.clear()
            axes.set_aspect("equal")
        centre = float((film.actor[frame, :2] - film.actor[0, :2]) @ along)
        _draw_side(side, film, frame, along, shift_m=-float(film.actor[0, :2] @ along))
        side.set_xlim(centre - 1.2, centre + 1.2)
        side.set_ylim(-0.15, 2.1)
        side.set_xlabel("along the walk (m)")
        side.set_ylabel("height (m)")
        if film.notes:
            side.set_title(film.notes[frame], fontsize=8, loc="left")
        _draw_above(above, film, [frame], along)
        return []

    frames = list(range(0, len(film.joints_m), every))
    movie = FuncAnimation(figure, draw, frames=frames, blit=False)
    movie.save(str(file), writer=PillowWriter(fps=max(1, round(film.rate_hz / every))))


def draw_strip(film: MotionFilm, file: Path, *, title: str = "", moments: int = 12) -> None:
    """Write a PNG: side views at equal time steps in a row, and the walk from above."""
    figure = _figure(13.0, 6.6, title or film.rig)
    side, above = figure.subplots(2, 1, height_ratios=[2.1, 3.0])
    along = _direction(film.actor)
    frames = np.linspace(0, len(film.joints_m) - 1, moments).round().astype(int).tolist()
    for place, frame in enumerate(frames):
        shift = 1.1 * place - float(film.actor[frame, :2] @ along)
        _draw_side(side, film, frame, along, shift_m=shift)
        label = f"{frame / film.rate_hz:.1f} s"
        side.text(1.1 * place, -0.22, label, fontsize=7, ha="center")
    side.set_xlim(-0.8, 1.1 * (moments - 1) + 0.8)
    side.set_ylim(-0.3, 2.05)
    side.set_ylabel("height (m)")
    side.set_xticks([])
    _draw_above(above, film, frames, along, fit=True)
    for axes in (side, above):
        axes.set_aspect("equal")
    figure.savefig(str(file))


def _figure(width: float, height: float, title: str) -> Any:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), dpi=100, layout="constrained")
    FigureCanvasAgg(figure)
    figure.suptitle(textwrap.shorten(title, 110), fontsize=10, x=0.01, ha="left")
    return figure


def _direction(actor: FloatArray) -> FloatArray:
    """Unit vector of the main walking direction; the facing direction if the person stays."""
    moved = actor[:, :2] - actor[0, :2]
    far = moved[np.linalg.norm(moved, axis=1).argmax()]
    if np.linalg.norm(far) < 0.5:
        far = np.array([np.cos(actor[0, 3]), np.sin(actor[0, 3])])
    return np.asarray(far / np.linalg.norm(far))


def _bone_lines(rig_name: str) -> list[tuple[int, int, str]]:
    rig = load_rig(rig_name)
    lines = []
    for name in (*list(DRIVEN)[1:], *_ENDS):
        bone = rig.bone_index[name]
        colour = _LEFT if name.endswith("L") else _RIGHT if name.endswith("R") else _MIDDLE
        lines.append((int(rig.parents[bone]), bone, colour))
    return lines


def _draw_side(
    axes: Any, film: MotionFilm, frame: int, along: FloatArray, *, shift_m: float
) -> None:
    """Draw the body from the side; near parts cover far ones."""
    from matplotlib.patches import Circle, Polygon

    rig, joints = load_rig(film.rig), film.joints_m[frame]
    flat, up = joints[:, :2] @ along + shift_m, joints[:, 2] - film.actor[frame, 2]
    depth = joints[:, :2] @ np.array([along[1], -along[0]])
    scale = _size(film.rig)
    names = {index: name for name, index in rig.bone_index.items()}
    bones = sorted(_bone_lines(film.rig), key=lambda bone: -(depth[bone[0]] + depth[bone[1]]))
    for a, b, colour in bones:
        part = names[b].removeprefix("crl_").partition("__")[0]
        outline = _capsule((flat[a], up[a]), (flat[b], up[b]), scale * _RADIUS_M.get(part, 0.05))
        fill = _SKIN if part in ("hand", "neck") else colour
        axes.add_patch(Polygon(outline, facecolor=fill, edgecolor="white", linewidth=0.5, zorder=2))
    head, neck = (
        np.array([flat[rig.bone_index[name]], up[rig.bone_index[name]]])
        for name in ("crl_Head__C", "crl_neck__C")
    )
    away = head - neck
    middle = head + scale * 0.08 * away / max(float(np.hypot(*away)), 1e-6)
    axes.add_patch(
        Circle(middle, scale * _HEAD_M, facecolor=_SKIN, edgecolor="white", linewidth=0.5, zorder=2)
    )
    axes.axhspan(-1.0, 0.0, color=_GROUND, zorder=0)
    axes.set_facecolor(_SKY)


def _size(rig_name: str) -> float:
    """Height of a rig's head against that of the man."""
    heights = [
        load_rig(name).rest_mesh[load_rig(name).bone_index["crl_Head__C"], 2]
        for name in (rig_name, "man")
    ]
    return float(heights[0] / heights[1])


def _capsule(first: tuple[float, float], last: tuple[float, float], radius: float) -> FloatArray:
    """Outline (n, 2) of all points within a radius of a line."""
    a, b = np.array(first, float), np.array(last, float)
    heading = float(np.arctan2(*(b - a)[::-1]))
    turn = np.linspace(-np.pi / 2.0, np.pi / 2.0, 9)
    ends = [
        place + radius * np.column_stack([np.cos(angle), np.sin(angle)])
        for place, angle in ((b, heading + turn), (a, heading + np.pi + turn))
    ]
    return np.concatenate(ends)


def _draw_above(
    axes: Any, film: MotionFilm, frames: list[int], along: FloatArray, *, fit: bool = False
) -> None:
    """Draw the bones of some frames, and the path and footprints up to the last of them.

    The view is rotated so that the walk goes from left to right and left turns go up.
    """
    rig, start = load_rig(film.rig), film.actor[0, :2]
    left = np.array([along[1], -along[0]])  # CARLA's y points to the right of x

    def flat(points: FloatArray) -> tuple[FloatArray, FloatArray]:
        return (points[..., :2] - start) @ along, (points[..., :2] - start) @ left

    x, y = flat(film.actor)
    axes.set_facecolor(_SKY)
    axes.plot(x, y, color="#8a93a0", lw=1.2, linestyle=":")
    for name, colour in (("crl_toe__L", _LEFT), ("crl_toe__R", _RIGHT)):
        toe = film.joints_m[: frames[-1] + 1, rig.bone_index[name]]
        height = toe[:, 2] - film.actor[: frames[-1] + 1, 2]
        low = toe[height < rig.rest_mesh[rig.bone_index[name], 2] + 0.02]
        axes.plot(*flat(low), ".", color=colour, ms=3)
    for frame in frames:
        u, v = flat(film.joints_m[frame])
        for a, b, colour in _bone_lines(film.rig):
            axes.plot(u[[a, b]], v[[a, b]], color=colour, lw=1.5)
        yaw = film.actor[frame, 3]
        ahead = film.actor[frame, :2] + 0.5 * np.array([np.cos(yaw), np.sin(yaw)])
        tip = flat(ahead)
        axes.plot([x[frame], tip[0]], [y[frame], tip[1]], color="#009e73", lw=2.5)
    spans = np.array([[x.min(), y.min()], [x.max(), y.max()]])
    middle, half = spans.mean(axis=0), np.ptp(spans, axis=0) / 2.0 + 0.7
    if not fit:
        half = np.full(2, max(1.0, float(half.max())))
    axes.set_xlim(middle[0] - half[0], middle[0] + half[0])
    axes.set_ylim(middle[1] - half[1], middle[1] + half[1])
    axes.set_xlabel("along the walk (m)")
    axes.set_ylabel("to the left (m)")
