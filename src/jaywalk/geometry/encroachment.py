"""Who stands where somebody else stood, and how soon after: the time between two uses of ground.

A track is (ticks, 8): centre x, y, height z, heading as cosine and sine, and three more columns not
used here. A shape is half length, half width, and 1 for an upright cylinder whose radius is the
half length. Between ticks bodies move straight.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.kernels import kernel
from jaywalk.geometry.boxes import box_box_overlap, circle_box_overlap, circle_circle_overlap

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

_STOREY_M = 2.5  # bodies whose middles differ more in height are on different levels
_FINE = 16  # parts of a tick in which the smallest gap is looked for


@kernel
def overlap_m(a: Floats, a_shape: Floats, b: Floats, b_shape: Floats) -> float:
    """Penetration depth of two bodies; not above 0: apart."""
    if a_shape[2] != 0.0 and b_shape[2] != 0.0:
        return float(circle_circle_overlap(a[0], a[1], a_shape[0], b[0], b[1], b_shape[0])[0])
    if a_shape[2] != 0.0:
        return float(
            circle_box_overlap(
                a[0], a[1], a_shape[0], b[0], b[1], b[3], b[4], b_shape[0], b_shape[1]
            )[0]
        )
    if b_shape[2] != 0.0:
        return float(
            circle_box_overlap(
                b[0], b[1], b_shape[0], a[0], a[1], a[3], a[4], a_shape[0], a_shape[1]
            )[0]
        )
    return float(
        box_box_overlap(
            a[0], a[1], a[3], a[4], a_shape[0], a_shape[1],
            b[0], b[1], b[3], b[4], b_shape[0], b_shape[1],
        )[0]
    )  # fmt: skip


@kernel
def reach_m(shape: Floats) -> float:
    """Radius of the circle around a body."""
    if shape[2] != 0.0:
        return float(shape[0])
    return float(np.sqrt(shape[0] * shape[0] + shape[1] * shape[1]))


@kernel
def longest_step_m(track: Floats) -> float:
    """Longest way between two ticks."""
    longest = 1e-6
    for k in range(1, track.shape[0]):
        longest = max(
            longest, np.hypot(track[k, 0] - track[k - 1, 0], track[k, 1] - track[k - 1, 1])
        )
    return float(longest)


@kernel
def later_use(
    time_s: Floats, first: Floats, first_shape: Floats, first_here: Bools,
    second: Floats, second_shape: Floats, second_here: Bools, window_s: float,
) -> Any:  # fmt: skip
    """For each tick of ``first``: how soon afterwards ``second`` covers some of the same ground.

    Returns:
        Seconds (ticks,), infinite when not within ``window_s``; and the tick of ``second``, or -1.
    """
    n = time_s.shape[0]
    gap_s, at = np.full(n, np.inf), np.full(n, -1, np.int64)
    reach = reach_m(first_shape) + reach_m(second_shape)
    step_m = longest_step_m(second)
    for i in range(n):
        if not first_here[i]:
            continue
        k = i + 1
        while k < n and time_s[k] - time_s[i] <= window_s:
            away = np.hypot(first[i, 0] - second[k, 0], first[i, 1] - second[k, 1]) - reach
            if away > 0.0:
                # It cannot arrive before it has come this far.
                k += max(1, int(min(away / step_m, float(n))))
                continue
            level = abs(first[i, 2] - second[k, 2]) < _STOREY_M
            if (
                level
                and second_here[k]
                and overlap_m(first[i], first_shape, second[k], second_shape) > 0.0
            ):
                gap_s[i], at[i] = time_s[k] - time_s[i], k
                break
            k += 1
    return gap_s, at


@kernel
def _between(track: Floats, time_s: Floats, at: int, share: float, out: Floats) -> float:
    """Pose at ``at`` plus a share of the step to its neighbour; gives the time."""
    to = at + 1 if share >= 0.0 else at - 1
    part = abs(share)
    if to < 0 or to >= track.shape[0]:
        to, part = at, 0.0
    for k in range(5):
        out[k] = track[at, k] + part * (track[to, k] - track[at, k])
    norm = np.sqrt(out[3] ** 2 + out[4] ** 2)
    if norm > 1e-9:
        out[3], out[4] = out[3] / norm, out[4] / norm
    return float(time_s[at] + part * (time_s[to] - time_s[at]))


@kernel
def finer_gap(
    time_s: Floats, first: Floats, first_shape: Floats, i: int,
    second: Floats, second_shape: Floats, k: int,
) -> float:  # fmt: skip
    """The smallest gap around a pair of ticks that share ground, to a sixteenth of a tick."""
    a, b = np.zeros(5), np.zeros(5)
    best = time_s[k] - time_s[i]
    for p in range(-_FINE, _FINE + 1):
        left = _between(first, time_s, i, p / _FINE, a)
        for q in range(-_FINE, _FINE + 1):
            came = _between(second, time_s, k, q / _FINE, b)
            if came - left >= best or came < left:
                continue
            if overlap_m(a, first_shape, b, second_shape) > 0.0:
                best = came - left
    return float(best)
