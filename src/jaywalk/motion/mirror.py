"""Mirror image of a motion: left and right exchanged."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np

from jaywalk.motion.clip import Motion
from jaywalk.motion.smpl import MIRRORED


def mirror(motion: Motion) -> Motion:
    """Reflect in the plane x = 0; mirroring twice gives the motion back."""
    rotations = motion.rotations[:, MIRRORED] * np.array([1.0, 1.0, -1.0, -1.0])
    root = motion.root_m * np.array([-1.0, 1.0, 1.0])
    name = motion.name[1:] if motion.mirrored else "M" + motion.name
    return replace(
        motion,
        name=name,
        rotations=rotations,
        root_m=root,
        mirrored=not motion.mirrored,
        caption=mirror_caption(motion.caption),
    )


def mirror_caption(caption: str) -> str:
    """Exchange left and right, clockwise and counterclockwise."""
    exchange = {"left": "right", "right": "left", "clockwise": "counterclockwise"}

    def swap(found: re.Match[str]) -> str:
        word = found.group(0)
        other = exchange.get(word.lower(), "clockwise")
        return other.capitalize() if word[0].isupper() else other

    return re.sub(r"\b(left|right|counter-?clockwise|clockwise)\b", swap, caption, flags=re.I)
