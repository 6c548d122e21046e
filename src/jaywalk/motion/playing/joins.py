"""Where one clip best passes into another: frames at which the body is and moves most alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from jaywalk.motion.rotation import FloatArray

#: Joins last between these, in proportion to how far the poses are apart.
SHORTEST_S: Final = 0.25
LONGEST_S: Final = 0.9
_SECONDS_PER_M: Final = 1.1  # of the mean distance of hands, feet, hips and head
_LOOP_SHARE: Final = 0.35  # a loop leaves in the last third of a clip and enters in the first
_SHORT_LOOP_M: Final = 0.3  # what a loop of no length costs, against one of the whole clip


@dataclass(frozen=True, slots=True, kw_only=True)
class Join:
    """Leave one clip at a frame, enter the other at another.

    Attributes:
        leave: Frame of the clip that is left when the join begins.
        enter: Frame of the clip that is entered, at the same moment.
        apart_m: Root mean square distance of the compared points, speeds included.
    """

    leave: int
    enter: int
    apart_m: float

    @property
    def blend_s(self) -> float:
        """How long the join should take."""
        return float(np.clip(_SECONDS_PER_M * self.apart_m, SHORTEST_S, LONGEST_S))


def _apart_m(a: FloatArray, b: FloatArray) -> FloatArray:
    """(frames of a, frames of b) distances."""
    square = (
        np.einsum("if,if->i", a, a)[:, None] + np.einsum("jf,jf->j", b, b)[None] - 2.0 * (a @ b.T)
    )
    points = a.shape[1] // 6
    return np.asarray(np.sqrt(np.maximum(square, 0.0) / points))


def best_entry(here: FloatArray, there: FloatArray, first: int, last: int) -> Join:
    """The frame of ``there``, between two, that is most like one frame's features ``here``."""
    apart = _apart_m(here[None], there[first : last + 1])[0]
    enter = int(apart.argmin())
    return Join(leave=0, enter=first + enter, apart_m=float(apart[enter]))


def best_join(here: FloatArray, there: FloatArray, leave: range, enter: range) -> Join:
    """The best pair of frames within two ranges."""
    apart = _apart_m(here[leave.start : leave.stop], there[enter.start : enter.stop])
    i, j = np.unravel_index(int(apart.argmin()), apart.shape)
    return Join(leave=leave.start + int(i), enter=enter.start + int(j), apart_m=float(apart[i, j]))


def best_loop(felt: FloatArray, blend_frames: int) -> Join:
    """Where a clip best passes into itself; long loops are preferred among equals.

    The join must end before the clip does, so it is left ``blend_frames`` before the end at the
    latest.
    """
    count = len(felt)
    latest = max(count - 1 - blend_frames, 1)
    leave = range(max(round((1.0 - _LOOP_SHARE) * latest), 1), latest + 1)
    enter = range(0, max(round(_LOOP_SHARE * latest), 1))
    apart = _apart_m(felt[leave.start : leave.stop], felt[enter.start : enter.stop])
    length = np.arange(leave.start, leave.stop)[:, None] - np.arange(enter.start, enter.stop)
    cost = apart + _SHORT_LOOP_M * (1.0 - length / latest) + np.where(length < 1, 1e3, 0.0)
    i, j = np.unravel_index(int(cost.argmin()), cost.shape)
    return Join(leave=leave.start + int(i), enter=enter.start + int(j), apart_m=float(apart[i, j]))
