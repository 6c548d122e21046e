"""Time between two uses of the same ground, and time until two bodies touch.

:func:`later_use` and :func:`finer_gap` compute the time between two uses of the same ground: one
body leaves a place and another body covers it later. :func:`times_to_touch` computes the time until
two bodies touch if both keep their present speed. Vehicles follow the path that they actually drove
(straight on after its end), so that a bend, or a parked car beside it, is not a conflict. People
and animals, which turn on the spot, go straight on.

A track is (ticks, 8): centre x, y, height z, heading as cosine and sine, velocity x, y, and one
column not used here. A shape is half length, half width, and 1 for an upright cylinder whose radius
is the half length. Bodies move in straight lines between ticks.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from jaywalk.core.arrays import BoolArray, FloatArray
from jaywalk.core.kernels import kernel
from jaywalk.geometry.box import shape_overlap

_STOREY_M = 2.5  # bodies whose middles differ more in height are on different levels
_FINE = 16  # parts of a tick in the search for the smallest gap


@kernel
def overlap_m(a: FloatArray, a_shape: FloatArray, b: FloatArray, b_shape: FloatArray) -> float:
    """Penetration depth of two bodies; 0 or less if they are apart."""
    depth, _, _ = shape_overlap(
        a[0],
        a[1],
        a[3],
        a[4],
        a_shape[0],
        a_shape[1],
        a_shape[2] != 0.0,
        b[0],
        b[1],
        b[3],
        b[4],
        b_shape[0],
        b_shape[1],
        b_shape[2] != 0.0,
    )
    return float(depth)


@kernel
def reach_m(shape: FloatArray) -> float:
    """Radius of the smallest circle around the centre that contains a body."""
    if shape[2] != 0.0:
        return float(shape[0])
    return float(np.sqrt(shape[0] * shape[0] + shape[1] * shape[1]))


@kernel
def longest_step_m(track: FloatArray) -> float:
    """Longest distance that a track covers from one tick to the next."""
    longest = 1e-6
    for k in range(1, track.shape[0]):
        longest = max(
            longest, np.hypot(track[k, 0] - track[k - 1, 0], track[k, 1] - track[k - 1, 1])
        )
    return float(longest)


@kernel
def later_use(
    time_s: FloatArray,
    first: FloatArray,
    first_shape: FloatArray,
    first_here: BoolArray,
    second: FloatArray,
    second_shape: FloatArray,
    second_here: BoolArray,
    window_s: float,
) -> Any:
    """Time from each tick of ``first`` until ``second`` covers some of the same ground.

    Returns:
        Seconds (ticks,), infinite if not within ``window_s``; and the tick of ``second``, or -1.
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
                # The second body needs at least this many ticks to arrive.
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
def _between(
    track: FloatArray, time_s: FloatArray, at: int, share: float, out: FloatArray
) -> float:
    """Write the pose a share of a step after (or before) tick ``at``; return its time."""
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
    time_s: FloatArray,
    first: FloatArray,
    first_shape: FloatArray,
    i: int,
    second: FloatArray,
    second_shape: FloatArray,
    k: int,
) -> float:
    """Smallest gap around a pair of ticks that share ground, to a sixteenth of a tick."""
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


_STEP_S = 0.05  # spacing of the tested times once the bodies are near
_EXACT_S = 1e-3


@kernel
def arc_lengths(track: FloatArray) -> FloatArray:
    """Distance travelled until each tick."""
    arc = np.zeros(track.shape[0])
    for k in range(1, track.shape[0]):
        arc[k] = arc[k - 1] + np.hypot(track[k, 0] - track[k - 1, 0], track[k, 1] - track[k - 1, 1])
    return arc


@kernel
def pose_ahead(
    track: FloatArray, arc: FloatArray, at: int, way_m: float, straight: bool, out: FloatArray
) -> None:
    """Pose after ``way_m`` more metres from tick ``at``."""
    last = track.shape[0] - 1
    start, base = at, way_m
    if not straight:
        target = arc[at] + way_m
        if target <= arc[last]:
            k = np.searchsorted(arc, target)
            k = max(k, at)
            if k > at and arc[k] > arc[k - 1]:
                part = (target - arc[k - 1]) / (arc[k] - arc[k - 1])
                for j in range(5):
                    out[j] = track[k - 1, j] + part * (track[k, j] - track[k - 1, j])
                norm = np.sqrt(out[3] ** 2 + out[4] ** 2)
                if norm > 1e-9:
                    out[3], out[4] = out[3] / norm, out[4] / norm
            else:
                out[:5] = track[at, :5]
            return
        start, base = last, target - arc[last]
    out[:5] = track[start, :5]
    ux, uy = track[start, 3], track[start, 4]
    speed = np.hypot(track[at, 5], track[at, 6])
    if straight and speed > 1e-6:
        ux, uy = track[at, 5] / speed, track[at, 6] / speed
    elif track[at, 5] * track[at, 3] + track[at, 6] * track[at, 4] < 0.0:
        ux, uy = -ux, -uy  # the body moves backwards
    out[0] += base * ux
    out[1] += base * uy


@kernel
def _touch_s(
    a: FloatArray,
    a_arc: FloatArray,
    a_shape: FloatArray,
    b: FloatArray,
    b_arc: FloatArray,
    b_shape: FloatArray,
    b_straight: bool,
    at: int,
    horizon_s: float,
    at_a: FloatArray,
    at_b: FloatArray,
) -> float:
    a_mps, b_mps = np.hypot(a[at, 5], a[at, 6]), np.hypot(b[at, 5], b[at, 6])
    reach = reach_m(a_shape) + reach_m(b_shape)
    after, before = 0.0, 0.0
    while after <= horizon_s:
        pose_ahead(a, a_arc, at, a_mps * after, False, at_a)
        pose_ahead(b, b_arc, at, b_mps * after, b_straight, at_b)
        away = np.hypot(at_a[0] - at_b[0], at_a[1] - at_b[1]) - reach
        if away <= 0.0 and overlap_m(at_a, a_shape, at_b, b_shape) > 0.0:
            break
        before = after
        if a_mps + b_mps < 1e-3:
            return np.inf
        after += max(away / (a_mps + b_mps), _STEP_S)
    if after > horizon_s:
        return np.inf
    while after - before > _EXACT_S:
        middle = 0.5 * (before + after)
        pose_ahead(a, a_arc, at, a_mps * middle, False, at_a)
        pose_ahead(b, b_arc, at, b_mps * middle, b_straight, at_b)
        if overlap_m(at_a, a_shape, at_b, b_shape) > 0.0:
            after = middle
        else:
            before = middle
    pose_ahead(a, a_arc, at, a_mps * after, False, at_a)
    pose_ahead(b, b_arc, at, b_mps * after, b_straight, at_b)
    return after


@kernel
def times_to_touch(
    ego: FloatArray,
    ego_shape: FloatArray,
    other: FloatArray,
    other_shape: FloatArray,
    wanted: BoolArray,
    horizon_s: float,
    other_walks: bool,
) -> Any:
    """Seconds until the front half of ``ego`` touches ``other``, for each wanted tick.

    A walker goes straight on, whatever its shape: animals are boxes, but turn on the spot as people
    do. Contacts behind the middle of the ego are caused by the other body and give infinity.
    """
    n = ego.shape[0]
    result = np.full(n, np.inf)
    ego_arc, other_arc = arc_lengths(ego), arc_lengths(other)
    at_a, at_b = np.zeros(5), np.zeros(5)
    for k in range(n):
        if not wanted[k] or abs(ego[k, 2] - other[k, 2]) > _STOREY_M:
            continue
        after = _touch_s(
            ego,
            ego_arc,
            ego_shape,
            other,
            other_arc,
            other_shape,
            other_walks,
            k,
            horizon_s,
            at_a,
            at_b,
        )
        if after < np.inf:
            ahead = (at_b[0] - at_a[0]) * at_a[3] + (at_b[1] - at_a[1]) * at_a[4]
            if ahead >= 0.0:
                result[k] = after
    return result
