"""Review in the terminal: one clip after the other, with one key for each decision."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from jaywalk.core.arrays import FloatArray
from jaywalk.motion.library.reading import MotionLibrary
from jaywalk.motion.review.decisions import (
    ReviewDecision,
    ReviewVerdict,
    read_decisions,
    write_decisions,
)
from jaywalk.motion.review.pack import facts_of
from jaywalk.motion.smpl import PARENTS

_HELP: Final = "a accept, r reject, s skip, b back, q quit; words after a or r are a note"
_ROWS, _COLUMNS, _POSES = 12, 14, 5


def pose_text(joints_m: FloatArray, along: FloatArray) -> list[str]:
    """Draw a pose from the side as lines of characters."""
    grid = np.full((_ROWS, _COLUMNS), " ")
    flat = (joints_m[:, [0, 2]] - joints_m[0, [0, 2]]) @ along
    for joint in range(1, len(PARENTS)):
        parent = int(PARENTS[joint])
        for share in np.linspace(0.0, 1.0, 6):
            x = flat[parent] + share * (flat[joint] - flat[parent])
            y = joints_m[parent, 1] + share * (joints_m[joint, 1] - joints_m[parent, 1])
            row = _ROWS - 1 - int(np.clip(y / 1.9 * _ROWS, 0, _ROWS - 1))
            column = int(np.clip((x / 1.6 + 0.5) * _COLUMNS, 0, _COLUMNS - 1))
            grid[row, column] = "o" if joint == 15 and share == 1.0 else "#"
    return ["".join(row) for row in grid]


def clip_text(library: MotionLibrary, name: str) -> str:
    """Return five poses side by side, the caption and a line of facts."""
    from jaywalk.motion.review.pack import view_direction

    motion = library.motion(name)
    joints, along = motion.joints_m(), view_direction(motion)
    frames = np.linspace(0, motion.frames - 1, _POSES).astype(int)
    columns = [pose_text(joints[frame], along) for frame in frames]
    rows = [" ".join(parts).rstrip() for parts in zip(*columns, strict=True)]
    return "\n".join([*rows, f"{name}: {motion.caption}", facts_of(library, name)])


def review_in_terminal(
    library: MotionLibrary,
    names: Sequence[str],
    file: Path,
    *,
    ask: Callable[[str], str],
    show: Callable[[str], None],
) -> int:
    """Ask about each clip and write every answer at once; returns the number of answers."""
    decisions = read_decisions(file)
    show(_HELP)
    place, given = 0, 0
    while place < len(names):
        name = names[place]
        show(clip_text(library, name))
        try:
            words = ask(f"[{place + 1}/{len(names)}] a/r/s/b/q: ").strip().split(maxsplit=1)
        except EOFError:
            break
        key = words[0].lower() if words else ""
        if key == "q":
            break
        if key == "b":
            place = max(0, place - 1)
        elif key == "s":
            place += 1
        elif key in ("a", "r"):
            verdict = ReviewVerdict.ACCEPT if key == "a" else ReviewVerdict.REJECT
            note = words[1] if len(words) > 1 else ""
            decisions[name] = ReviewDecision(name=name, verdict=verdict, note=note)
            write_decisions(decisions.values(), file)
            place, given = place + 1, given + 1
        else:
            show(_HELP)
    return given
