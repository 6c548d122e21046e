"""Kernels that find the touches of bodies between two ticks, see ``_contacts``."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.arrays import FloatArray
from jaywalk.core.kernels import kernel
from jaywalk.geometry.box import box_box_point, shape_overlap

# Columns of a pose: box centre, heading, bottom and top, velocity and rate of turning.
X, Y, COS, SIN, LOW, HIGH, VX, VY, TURN = range(9)
POSE_COLUMNS: Final = 9
# Columns of a shape: half length, half width, 1 for an upright cylinder, 1 if the body can drive.
HX, HY, ROUND, MOVES = range(4)
SHAPE_COLUMNS: Final = 4

TOUCH_HEIGHT_M: Final = 0.05  # least common height of two bodies in contact
FREE_DEPTH_M: Final = 0.02  # carried-on motion must overlap by this: braking may have averted it
_SPACING_M: Final = 0.05  # spacing of the poses tried along a motion
_MOST_TRIES: Final = 64

TOUCH: Final = np.dtype(
    [
        ("step", "i4"),
        ("a", "i4"),
        ("b", "i4"),
        ("depth_m", "f8"),
        ("x_m", "f8"),
        ("y_m", "f8"),
        ("z_m", "f8"),
        ("nx", "f8"),
        ("ny", "f8"),
        ("closing_mps", "f8"),
    ]
)


@kernel
def _overlap(a: FloatArray, a_shape: FloatArray, b: FloatArray, b_shape: FloatArray) -> Any:
    return shape_overlap(
        a[X],
        a[Y],
        a[COS],
        a[SIN],
        a_shape[HX],
        a_shape[HY],
        a_shape[ROUND] != 0.0,
        b[X],
        b[Y],
        b[COS],
        b[SIN],
        b_shape[HX],
        b_shape[HY],
        b_shape[ROUND] != 0.0,
    )


@kernel
def _point(
    a: FloatArray, a_shape: FloatArray, b: FloatArray, b_shape: FloatArray, nx: float, ny: float
) -> Any:
    if a_shape[ROUND] != 0.0:
        return a[X] - nx * a_shape[HX], a[Y] - ny * a_shape[HX]
    if b_shape[ROUND] != 0.0:
        return b[X] + nx * b_shape[HX], b[Y] + ny * b_shape[HX]
    return box_box_point(
        a[X],
        a[Y],
        a[COS],
        a[SIN],
        a_shape[HX],
        a_shape[HY],
        b[X],
        b[Y],
        b[COS],
        b[SIN],
        b_shape[HX],
        b_shape[HY],
    )


@kernel
def _between(start: FloatArray, end: FloatArray, share: float, out: FloatArray) -> None:
    """Pose at a share of the step."""
    for k in range(POSE_COLUMNS):
        out[k] = start[k] + share * (end[k] - start[k])
    norm = np.sqrt(out[COS] ** 2 + out[SIN] ** 2)
    if norm > 1e-9:
        out[COS], out[SIN] = out[COS] / norm, out[SIN] / norm
    else:
        out[COS], out[SIN] = end[COS], end[SIN]


@kernel
def _carry_on(start: FloatArray, delta_s: float, out: FloatArray) -> None:
    """Compute the pose at the end of an undisturbed step."""
    out[:] = start
    out[X] += start[VX] * delta_s
    out[Y] += start[VY] * delta_s
    angle = start[TURN] * delta_s
    cos, sin = np.cos(angle), np.sin(angle)
    out[COS] = start[COS] * cos - start[SIN] * sin
    out[SIN] = start[SIN] * cos + start[COS] * sin


@kernel
def _along(
    a0: FloatArray,
    a1: FloatArray,
    a_shape: FloatArray,
    b0: FloatArray,
    b1: FloatArray,
    b_shape: FloatArray,
    least_m: float,
    at_a: FloatArray,
    at_b: FloatArray,
    touch: Any,
) -> bool:
    """First overlap deeper than ``least_m`` along a motion, after its beginning."""
    moved = np.sqrt((a1[X] - a0[X] - b1[X] + b0[X]) ** 2 + (a1[Y] - a0[Y] - b1[Y] + b0[Y]) ** 2)
    tries = min(max(int(np.ceil(moved / _SPACING_M)), 1), _MOST_TRIES)
    for k in range(1, tries + 1):
        _between(a0, a1, k / tries, at_a)
        _between(b0, b1, k / tries, at_b)
        if min(at_a[HIGH], at_b[HIGH]) - max(at_a[LOW], at_b[LOW]) < TOUCH_HEIGHT_M:
            continue
        depth, nx, ny = _overlap(at_a, a_shape, at_b, b_shape)
        if depth > least_m:
            touch["depth_m"], touch["nx"], touch["ny"] = depth, nx, ny
            touch["x_m"], touch["y_m"] = _point(at_a, a_shape, at_b, b_shape, nx, ny)
            touch["z_m"] = 0.5 * (max(at_a[LOW], at_b[LOW]) + min(at_a[HIGH], at_b[HIGH]))
            return True
    return False


@kernel
def _meet(
    a0: FloatArray,
    a1: FloatArray,
    a_shape: FloatArray,
    b0: FloatArray,
    b1: FloatArray,
    b_shape: FloatArray,
    delta_s: float,
    work: FloatArray,
    touch: Any,
) -> bool:
    if not _along(a0, a1, a_shape, b0, b1, b_shape, 0.0, work[0], work[1], touch):
        _carry_on(a0, delta_s, work[2])
        _carry_on(b0, delta_s, work[3])
        met = _along(
            a0, work[2], a_shape, b0, work[3], b_shape, FREE_DEPTH_M, work[0], work[1], touch
        )
        if not met:
            return False
    towards = -((a0[VX] - b0[VX]) * touch["nx"] + (a0[VY] - b0[VY]) * touch["ny"])
    touch["closing_mps"] = max(towards, 0.0)
    return True


@kernel
def find_touches(
    poses: FloatArray,
    alive: NDArray[np.bool_],
    shapes: FloatArray,
    delta_s: FloatArray,
    only: int,
    out: Any,
) -> int:
    """Find every touching pair of every step.

    Args:
        poses: (ticks, actors, POSE_COLUMNS).
        alive: (ticks, actors).
        shapes: (actors, SHAPE_COLUMNS).
        delta_s: (ticks,) length of the step that ends at each tick.
        only: Index of the actor whose contacts are searched, -1 for all actors.
        out: ``TOUCH`` rows to fill.

    Returns:
        Number of touches; touches beyond the length of ``out`` are only counted.
    """
    ticks, actors = alive.shape
    work = np.zeros((4, POSE_COLUMNS))
    west, east = np.zeros(actors), np.zeros(actors)
    here = np.zeros(actors, np.int64)
    spare = np.zeros(1, TOUCH)
    count = 0
    for step in range(1, ticks):
        used = 0
        for k in range(actors):
            if not (alive[step, k] and alive[step - 1, k]):
                continue
            start, end = poses[step - 1, k], poses[step, k]
            reach = shapes[k, HX]
            if shapes[k, ROUND] == 0.0:
                reach = np.sqrt(shapes[k, HX] ** 2 + shapes[k, HY] ** 2)
            free = start[X] + start[VX] * delta_s[step]
            west[used] = min(start[X], end[X], free) - reach
            east[used] = max(start[X], end[X], free) + reach
            here[used] = k
            used += 1
        order = np.argsort(west[:used])
        for p in range(used):
            for q in range(p + 1, used):
                if west[order[q]] > east[order[p]]:
                    break
                a, b = min(here[order[p]], here[order[q]]), max(here[order[p]], here[order[q]])
                if only >= 0 and a != only and b != only:
                    continue
                if shapes[a, MOVES] == 0.0 and shapes[b, MOVES] == 0.0:
                    continue
                # People brush past each other; that is not a hit.
                if shapes[a, ROUND] != 0.0 and shapes[b, ROUND] != 0.0:
                    continue
                touch = out[count] if count < len(out) else spare[0]
                if _meet(
                    poses[step - 1, a],
                    poses[step, a],
                    shapes[a],
                    poses[step - 1, b],
                    poses[step, b],
                    shapes[b],
                    delta_s[step],
                    work,
                    touch,
                ):
                    touch["step"], touch["a"], touch["b"] = step, a, b
                    count += 1
    return count
