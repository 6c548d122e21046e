"""Pictures of motions on a walker rig: an animation from the side and from above."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any, Final

import numpy as np

from jaywalk.motion.carla_rigs import load_rig
from jaywalk.motion.retarget import DRIVEN, RigMotion
from jaywalk.motion.rotation import FloatArray

_LEFT, _RIGHT, _MIDDLE = "#c0392b", "#2471a3", "#2c3e50"
_ENDS: Final = ("crl_toeEnd__L", "crl_toeEnd__R")


def animate(posed: RigMotion, file: Path, *, title: str = "", every: int = 2) -> None:
    """Write a GIF: side view along the walk (left side red) and view from above with footprints."""
    from matplotlib.animation import FuncAnimation, PillowWriter
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    joints = posed.joints_m()
    figure = Figure(figsize=(9.0, 4.2), dpi=80, layout="constrained")
    FigureCanvasAgg(figure)
    side, above = figure.subplots(1, 2)
    figure.suptitle(textwrap.shorten(title or posed.rig, 110), fontsize=9)
    along = _direction(posed.actor)
    frames = range(0, len(joints), every)

    def draw(frame: int) -> list[Any]:
        for axes in (side, above):
            axes.clear()
            axes.set_aspect("equal")
        _draw_side(side, joints[frame], posed.actor[frame], along)
        _draw_above(above, joints, frame, posed)
        return []

    movie = FuncAnimation(figure, draw, frames=list(frames), blit=False)
    movie.save(str(file), writer=PillowWriter(fps=max(1, round(posed.rate_hz / every))))


def _direction(actor: FloatArray) -> FloatArray:
    """Unit vector in which most of the walk goes; where the person faces if it goes nowhere."""
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


def _draw_side(axes: Any, joints: FloatArray, actor: FloatArray, along: FloatArray) -> None:
    flat = joints[:, :2] @ along
    for a, b, colour in _bone_lines("man"):  # all rigs share the bone order
        axes.plot([flat[a], flat[b]], [joints[a, 2], joints[b, 2]], color=colour, lw=2)
    axes.axhline(0.0, color="#888888", lw=1)
    centre = float(actor[:2] @ along)
    axes.set_xlim(centre - 1.2, centre + 1.2)
    axes.set_ylim(-0.15, 2.1)
    axes.set_xlabel("along the walk (m)")
    axes.set_ylabel("height (m)")


def _draw_above(axes: Any, joints: FloatArray, frame: int, posed: RigMotion) -> None:
    rig = load_rig(posed.rig)
    actor = posed.actor
    # CARLA's y points right: drawn downwards, so that left turns look like left turns
    axes.plot(actor[:, 0], -actor[:, 1], color="#bbbbbb", lw=1)
    for name, colour in (("crl_toe__L", _LEFT), ("crl_toe__R", _RIGHT)):
        toe = joints[: frame + 1, rig.bone_index[name]]
        low = toe[toe[:, 2] < rig.rest_mesh[rig.bone_index[name], 2] + 0.02]
        axes.plot(low[:, 0], -low[:, 1], ".", color=colour, ms=3)
    for a, b, colour in _bone_lines(posed.rig):
        axes.plot(joints[frame, [a, b], 0], -joints[frame, [a, b], 1], color=colour, lw=1.5)
    x, y, yaw = actor[frame, 0], -actor[frame, 1], -actor[frame, 3]
    axes.plot([x, x + 0.5 * np.cos(yaw)], [y, y + 0.5 * np.sin(yaw)], color="#27ae60", lw=2)
    reach = np.array([actor[:, :2].min(axis=0), actor[:, :2].max(axis=0)])
    middle, half = reach.mean(axis=0), max(1.0, float(np.ptp(reach, axis=0).max()) / 2.0 + 0.6)
    axes.set_xlim(middle[0] - half, middle[0] + half)
    axes.set_ylim(-middle[1] - half, -middle[1] + half)
    axes.set_xlabel("x (m)")
    axes.set_ylabel("to the left (m)")
