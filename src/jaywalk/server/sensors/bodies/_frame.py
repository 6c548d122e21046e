"""Sizes of a rig that the parts of a body share."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from jaywalk.core.arrays import FloatArray
from jaywalk.motion.carla_rigs import ADULT_HEIGHT_M, Rig
from jaywalk.motion.posing import (
    ARM_L,
    CHEST,
    FOOT_L,
    HIPS,
    NECK,
    SHANK_L,
    SPINE,
    THIGH_L,
)
from jaywalk.server.sensors.bodies._looks import Looks

NEAR, MID, FAR = 0, 1, 2
LEVELS: Final = 3
HEAD_BONE: Final = 29
EYE_L: Final = 30
# Heights of the joints of the man, to which all heights in this package refer.
_HEIGHTS_M: Final = (0.0, 0.065, 0.499, 0.961, 1.049, 1.155, 1.317, 1.466, 1.512, 1.618)
_BONES: Final = (-1, FOOT_L, SHANK_L, THIGH_L, HIPS, SPINE, CHEST, ARM_L, NECK, HEAD_BONE)


class Frame(NamedTuple):
    """A rig at rest with the appearance and the level of detail to build."""

    rest_m: FloatArray  # (bones, 3)
    looks: Looks
    level: int
    width: float  # factor on widths
    head_m: float  # chin to crown
    heights_m: FloatArray  # of this rig, for those of the man

    def height(self, of_man_m: float) -> float:
        """Return the height that corresponds to one of the man."""
        return float(np.interp(of_man_m, _HEIGHTS_M, self.heights_m))

    def at(self, bone: int) -> tuple[float, float, float]:
        """Return the place of a joint."""
        x, y, z = self.rest_m[bone].tolist()
        return x, y, z


def make_frame(rig: Rig, looks: Looks, level: int) -> Frame:
    """Return the sizes of a rig."""
    rest = np.array(rig.rest_mesh[:, :3])
    scale = rig.height_m / ADULT_HEIGHT_M
    heights = np.array([0.0 if bone < 0 else rest[bone, 2] for bone in _BONES])
    head = {"man": 0.236, "woman": 0.226, "boy": 0.200, "girl": 0.184}[rig.name]
    return Frame(rest, looks, level, scale**0.9, head, heights)
