"""Where one clip best passes into another: frames at which the body is and moves most alike.

Who walks goes on walking: clips that lead somewhere are looped, left and entered within the stretch
in which they do so, whatever standing comes before and after it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from jaywalk.core.arrays import FloatArray

#: Joins last between these, in proportion to how far the poses are apart.
SHORTEST_S: Final = 0.25
LONGEST_S: Final = 0.9
_SECONDS_PER_M: Final = 1.1  # of the mean distance of hands, feet, hips and head
_LOOP_SHARE: Final = 0.35  # a loop leaves in the last third of a clip and enters in the first
_SHORT_LOOP_M: Final = 0.3  # what a loop of no length costs, against one of the whole clip
_SPEED_S: Final = 0.6  # speed is taken over so long: about a step
_UNDER_WAY: Final = 0.65  # of a clip's usual speed; who is slower starts, stops or stands
_UNDER_WAY_MPS: Final = 0.3
_SHORTEST_STRETCH_S: Final = 1.7  # a stride to loop, and room to choose the foot


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


def speeds_mps(way: FloatArray, rate_hz: float) -> FloatArray:
    """(frames,) speed over the ground at every frame of a way (frames, 2 or more)."""
    half = max(round(0.5 * _SPEED_S * rate_hz), 1)
    at = np.arange(len(way))
    before, after = np.maximum(at - half, 0), np.minimum(at + half, len(way) - 1)
    gone = np.hypot(*(way[after, :2] - way[before, :2]).T)
    return np.asarray(gone * rate_hz / np.maximum(after - before, 1))


def walking_stretch(way: FloatArray, rate_hz: float) -> range | None:
    """Frames in which a clip keeps on walking, at its usual speed and to its end if it can be.

    The last stretch that is long enough to be looped; None when there is none.
    """
    speed = speeds_mps(way, rate_hz)
    usual = float(np.percentile(speed, 80.0))
    moves = np.concatenate([[False], speed >= max(_UNDER_WAY * usual, _UNDER_WAY_MPS), [False]])
    edges = np.flatnonzero(moves[1:] != moves[:-1])
    for first, end in zip(edges[-2::-2].tolist(), edges[-1::-2].tolist(), strict=True):
        if end - first >= _SHORTEST_STRETCH_S * rate_hz:
            return range(first, end)
    return None


def going_until(way: FloatArray, rate_hz: float) -> int:
    """Frame after the last one in which a clip goes anywhere; its length if it never does."""
    stretch = walking_stretch(way, rate_hz)
    if stretch is not None:
        return stretch.stop
    moves = np.flatnonzero(speeds_mps(way, rate_hz) >= _UNDER_WAY_MPS)
    return int(moves[-1]) + 1 if len(moves) else len(way)


def best_loop(features: FloatArray, blend_frames: int, within: range) -> Join:
    """Where a clip best passes into itself; long loops are preferred among equals.

    The join must end before the frames ``within`` which it is looped do, so it is left
    ``blend_frames`` before their end at the latest.
    """
    latest = max(len(within) - 1 - blend_frames, 1)
    first = within.start
    leave = range(first + max(round((1.0 - _LOOP_SHARE) * latest), 1), first + latest + 1)
    enter = range(first, first + max(round(_LOOP_SHARE * latest), 1))
    apart = _apart_m(features[leave.start : leave.stop], features[enter.start : enter.stop])
    length = np.arange(leave.start, leave.stop)[:, None] - np.arange(enter.start, enter.stop)
    cost = apart + _SHORT_LOOP_M * (1.0 - length / latest) + np.where(length < 1, 1e3, 0.0)
    i, j = np.unravel_index(int(cost.argmin()), cost.shape)
    return Join(leave=leave.start + int(i), enter=enter.start + int(j), apart_m=float(apart[i, j]))
