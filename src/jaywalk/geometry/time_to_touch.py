"""Time until two bodies touch if both go on at their present speed.

Vehicles go on along the way they truly took (straight on after its end), so that a bend or a parked
car beside it is no conflict; people and animals, who turn on the spot, go straight on.
Tracks and shapes as in :mod:`jaywalk.geometry.encroachment`; columns 5 and 6 are the velocity.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.kernels import kernel
from jaywalk.geometry.encroachment import overlap_m, reach_m

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

_STEP_S = 0.05  # spacing of tries once the bodies are near
_EXACT_S = 1e-3
_STOREY_M = 2.5


@kernel
def arc_lengths(track: Floats) -> Floats:
    """Way driven until each tick."""
    arc = np.zeros(track.shape[0])
    for k in range(1, track.shape[0]):
        arc[k] = arc[k - 1] + np.hypot(track[k, 0] - track[k - 1, 0], track[k, 1] - track[k - 1, 1])
    return arc


@kernel
def pose_ahead(
    track: Floats, arc: Floats, at: int, way_m: float, straight: bool, out: Floats
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
        ux, uy = -ux, -uy  # it drives backwards
    out[0] += base * ux
    out[1] += base * uy


@kernel
def _touch_s(
    a: Floats, a_arc: Floats, a_shape: Floats, b: Floats, b_arc: Floats, b_shape: Floats,
    b_straight: bool, at: int, horizon_s: float, at_a: Floats, at_b: Floats,
) -> float:  # fmt: skip
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
    ego: Floats, ego_shape: Floats, other: Floats, other_shape: Floats, wanted: Bools,
    horizon_s: float, other_walks: bool,
) -> Any:  # fmt: skip
    """Seconds until the front half of ``ego`` touches ``other``, for each wanted tick.

    Who walks goes straight on, whatever its shape: animals are boxes, but turn on the spot as
    people do. Touches behind the middle of the ego are the other's doing and give infinity.
    """
    n = ego.shape[0]
    found = np.full(n, np.inf)
    ego_arc, other_arc = arc_lengths(ego), arc_lengths(other)
    at_a, at_b = np.zeros(5), np.zeros(5)
    for k in range(n):
        if not wanted[k] or abs(ego[k, 2] - other[k, 2]) > _STOREY_M:
            continue
        after = _touch_s(
            ego, ego_arc, ego_shape, other, other_arc, other_shape, other_walks, k, horizon_s,
            at_a, at_b,
        )  # fmt: skip
        if after < np.inf:
            ahead = (at_b[0] - at_a[0]) * at_a[3] + (at_b[1] - at_a[1]) * at_a[4]
            if ahead >= 0.0:
                found[k] = after
    return found
