"""Search for the best joins: pairs of frames with the most similar pose and movement.

A walking person keeps walking: a walking clip is looped, left and entered within its steady
walking, without the standing frames before and after it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from jaywalk.core.arrays import FloatArray

#: Shortest and longest join; the length grows with the distance between the poses.
SHORTEST_S: Final = 0.25
LONGEST_S: Final = 0.9
_SECONDS_PER_M: Final = 1.1  # per metre of mean distance of hands, feet, hips and head
_LOOP_SHARE: Final = 0.35  # a loop leaves in the last third of a clip and enters in the first third
_SHORT_LOOP_M: Final = 0.3  # cost of a loop of length 0, compared with one of the whole clip
_SPEED_S: Final = 0.6  # window of the speed: about one step
_UNDER_WAY: Final = 0.65  # of a clip's usual speed; a slower person starts, stops or stands
_UNDER_WAY_MPS: Final = 0.3
_SHORTEST_STRETCH_S: Final = 1.7  # a stride to loop, and room to choose the foot


@dataclass(frozen=True, slots=True, kw_only=True)
class Join:
    """A join: the frame at which one clip is left and the frame at which the other is entered.

    Attributes:
        leave: Frame of the old clip when the join begins.
        enter: Frame of the new clip at the same moment.
        apart_m: Root mean square distance of the compared points, speeds included.
    """

    leave: int
    enter: int
    apart_m: float

    @property
    def blend_s(self) -> float:
        """Recommended length of the join."""
        return float(np.clip(_SECONDS_PER_M * self.apart_m, SHORTEST_S, LONGEST_S))


def _apart_m(a: FloatArray, b: FloatArray) -> FloatArray:
    """Distances (frames of a, frames of b)."""
    square = (
        np.einsum("if,if->i", a, a)[:, None] + np.einsum("jf,jf->j", b, b)[None] - 2.0 * (a @ b.T)
    )
    points = a.shape[1] // 6
    return np.asarray(np.sqrt(np.maximum(square, 0.0) / points))


def best_entry(here: FloatArray, there: FloatArray, first: int, last: int) -> Join:
    """Find the frame of ``there`` from ``first`` to ``last`` most similar to the frame ``here``."""
    apart = _apart_m(here[None], there[first : last + 1])[0]
    enter = int(apart.argmin())
    return Join(leave=0, enter=first + enter, apart_m=float(apart[enter]))


def best_join(here: FloatArray, there: FloatArray, leave: range, enter: range) -> Join:
    """Find the best pair of frames within two ranges."""
    apart = _apart_m(here[leave.start : leave.stop], there[enter.start : enter.stop])
    i, j = np.unravel_index(int(apart.argmin()), apart.shape)
    return Join(leave=leave.start + int(i), enter=enter.start + int(j), apart_m=float(apart[i, j]))


def speeds_mps(way: FloatArray, rate_hz: float) -> FloatArray:
    """Speed over the ground (frames,) at every frame of a path (frames, 2 or more)."""
    half = max(round(0.5 * _SPEED_S * rate_hz), 1)
    at = np.arange(len(way))
    before, after = np.maximum(at - half, 0), np.minimum(at + half, len(way) - 1)
    gone = np.hypot(*(way[after, :2] - way[before, :2]).T)
    return np.asarray(gone * rate_hz / np.maximum(after - before, 1))


def walking_stretch(way: FloatArray, rate_hz: float) -> range | None:
    """Frames of steady walking, at about the usual speed of the clip.

    This is the last interval that is long enough to be looped; None if there is none.
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
    """Frame after the last frame with movement; the length of the clip if there is none."""
    stretch = walking_stretch(way, rate_hz)
    if stretch is not None:
        return stretch.stop
    moves = np.flatnonzero(speeds_mps(way, rate_hz) >= _UNDER_WAY_MPS)
    return int(moves[-1]) + 1 if len(moves) else len(way)


def best_loop(features: FloatArray, blend_frames: int, within: range) -> Join:
    """Find the best join of a clip with itself; among equal joins, long loops are preferred.

    The join must end inside the range ``within``, so the clip is left at least ``blend_frames``
    before the end of the range.
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
