"""Oriented boxes and upright cylinders seen from above: corners, overlap and distance.

A box is (x, y, cos, sin, hx, hy): centre, heading as cosine and sine, half length, half width. The
results hold in either frame of the project as long as all arguments share it. A depth <= 0 means
"apart"; normals are unit vectors pointing from the second shape to the first.

:func:`upright_box` encloses a tipped box in an upright one. Its angles are an Unreal rotator's
(pitch, roll) in radians, in CARLA's left-handed frame.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike

from jaywalk.core.arrays import FloatArray
from jaywalk.core.kernels import kernel

CORNERS: Final[FloatArray] = np.array([(1.0, 1.0), (1.0, -1.0), (-1.0, -1.0), (-1.0, 1.0)])
"""Corners of a box in shares of its half length and half width, in order around the box."""

Hit = tuple[float, float, float]
"""Penetration depth (<= 0: apart) and the unit normal from the second shape to the first."""


def box_points(
    centre_m: ArrayLike,
    cos: ArrayLike,
    sin: ArrayLike,
    half_m: ArrayLike,
    shares: FloatArray = CORNERS,
) -> FloatArray:
    """Points of boxes, by default their corners.

    Args:
        centre_m: ``(..., 2)`` centres.
        cos: ``(...,)`` cosine of each heading.
        sin: ``(...,)`` sine of each heading.
        half_m: ``(..., 2)`` half length and half width.
        shares: ``(k, 2)`` the points, in shares of the half length and half width.

    Returns:
        ``(..., k, 2)``.
    """
    centre, half = np.asarray(centre_m, np.float64), np.asarray(half_m, np.float64)
    c, s = np.asarray(cos)[..., None], np.asarray(sin)[..., None]
    along, aside = shares[:, 0] * half[..., 0:1], shares[:, 1] * half[..., 1:2]
    x = centre[..., 0:1] + along * c - aside * s
    y = centre[..., 1:2] + along * s + aside * c
    return np.stack([x, y], axis=-1)


def axis_gaps(
    dx: Any, dy: Any, ac: Any, as_: Any, ahx: Any, ahy: Any, bc: Any, bs: Any, bhx: Any, bhy: Any
) -> Any:
    """Centre distance and reach of two boxes along their four face normals.

    Two boxes overlap where each distance is below its reach. Takes numbers, or arrays that
    broadcast against each other. (dx, dy) leads from one centre to the other.
    """
    cos = abs(ac * bc + as_ * bs)
    sin = abs(ac * bs - as_ * bc)
    return (
        (abs(dx * ac + dy * as_), ahx + bhx * cos + bhy * sin),
        (abs(dy * ac - dx * as_), ahy + bhx * sin + bhy * cos),
        (abs(dx * bc + dy * bs), bhx + ahx * cos + ahy * sin),
        (abs(dy * bc - dx * bs), bhy + ahx * sin + ahy * cos),
    )


_axis_gaps = kernel(axis_gaps)


@kernel
def boxes_touch(
    dx: float,
    dy: float,
    ac: float,
    as_: float,
    ahx: float,
    ahy: float,
    bc: float,
    bs: float,
    bhx: float,
    bhy: float,
) -> bool:
    """Return True if two boxes whose centres are (dx, dy) apart overlap or touch."""
    for distance, reach in _axis_gaps(dx, dy, ac, as_, ahx, ahy, bc, bs, bhx, bhy):
        if distance > reach:
            return False
    return True


@kernel
def box_box_overlap(
    ax: float,
    ay: float,
    ac: float,
    as_: float,
    ahx: float,
    ahy: float,
    bx: float,
    by: float,
    bc: float,
    bs: float,
    bhx: float,
    bhy: float,
) -> Hit:
    """Separating-axis test of two boxes: least penetration over the four edge normals."""
    dx, dy = ax - bx, ay - by
    cos_ab = abs(ac * bc + as_ * bs)
    sin_ab = abs(ac * bs - as_ * bc)
    best, nx, ny = np.inf, 0.0, 0.0
    for axis in range(4):
        if axis == 0:
            ux, uy, reach = ac, as_, ahx + bhx * cos_ab + bhy * sin_ab
        elif axis == 1:
            ux, uy, reach = -as_, ac, ahy + bhx * sin_ab + bhy * cos_ab
        elif axis == 2:
            ux, uy, reach = bc, bs, bhx + ahx * cos_ab + ahy * sin_ab
        else:
            ux, uy, reach = -bs, bc, bhy + ahx * sin_ab + ahy * cos_ab
        along = dx * ux + dy * uy
        depth = reach - abs(along)
        # The small margin keeps the choice stable between (nearly) parallel faces.
        if depth < best - 1e-9:
            best = depth
            sign = 1.0 if along >= 0.0 else -1.0
            nx, ny = sign * ux, sign * uy
        if best <= 0.0:
            return best, nx, ny
    return best, nx, ny


@kernel
def box_box_point(
    ax: float,
    ay: float,
    ac: float,
    as_: float,
    ahx: float,
    ahy: float,
    bx: float,
    by: float,
    bc: float,
    bs: float,
    bhx: float,
    bhy: float,
) -> tuple[float, float]:
    """Contact point of two overlapping boxes: the mean of the corners of each inside the other.

    Crossing boxes (no corner inside) touch at the middle of the segment between the centres,
    clamped into the second box.
    """
    sx, sy, count = 0.0, 0.0, 0
    for corner in range(8):
        fx = 1.0 if corner & 1 else -1.0
        fy = 1.0 if corner & 2 else -1.0
        if corner < 4:
            px = ax + fx * ahx * ac - fy * ahy * as_
            py = ay + fx * ahx * as_ + fy * ahy * ac
            inside = box_distance(px, py, bx, by, bc, bs, bhx, bhy) <= 1e-6
        else:
            px = bx + fx * bhx * bc - fy * bhy * bs
            py = by + fx * bhx * bs + fy * bhy * bc
            inside = box_distance(px, py, ax, ay, ac, as_, ahx, ahy) <= 1e-6
        if inside:
            sx, sy, count = sx + px, sy + py, count + 1
    if count:
        return sx / count, sy / count
    dx, dy = ax - bx, ay - by
    u = min(max(dx * bc + dy * bs, -bhx), bhx)
    v = min(max(-dx * bs + dy * bc, -bhy), bhy)
    return bx + u * bc - v * bs, by + u * bs + v * bc


@kernel
def box_distance(
    px: float, py: float, bx: float, by: float, bc: float, bs: float, bhx: float, bhy: float
) -> float:
    """Distance of a point from a box; 0 inside."""
    dx, dy = px - bx, py - by
    u = max(abs(dx * bc + dy * bs) - bhx, 0.0)
    v = max(abs(-dx * bs + dy * bc) - bhy, 0.0)
    return float(np.sqrt(u * u + v * v))


@kernel
def circle_box_overlap(
    px: float,
    py: float,
    radius: float,
    bx: float,
    by: float,
    bc: float,
    bs: float,
    bhx: float,
    bhy: float,
) -> Hit:
    """Overlap of a circle with a box; a centre inside the box leaves through the nearest face."""
    dx, dy = px - bx, py - by
    u, v = dx * bc + dy * bs, -dx * bs + dy * bc
    cu, cv = min(max(u, -bhx), bhx), min(max(v, -bhy), bhy)
    gap = np.sqrt((u - cu) ** 2 + (v - cv) ** 2)
    if gap > 1e-9:
        nu, nv, depth = (u - cu) / gap, (v - cv) / gap, radius - gap
    else:
        out_u, out_v = bhx - abs(u), bhy - abs(v)
        if out_u < out_v:
            nu, nv, depth = (1.0 if u >= 0.0 else -1.0), 0.0, radius + out_u
        else:
            nu, nv, depth = 0.0, (1.0 if v >= 0.0 else -1.0), radius + out_v
    return depth, nu * bc - nv * bs, nu * bs + nv * bc


@kernel
def circle_circle_overlap(
    ax: float, ay: float, a_radius: float, bx: float, by: float, b_radius: float
) -> Hit:
    """Overlap of two circles; for concentric circles the normal is the x axis."""
    dx, dy = ax - bx, ay - by
    gap = np.sqrt(dx * dx + dy * dy)
    if gap < 1e-9:
        return a_radius + b_radius, 1.0, 0.0
    return a_radius + b_radius - gap, dx / gap, dy / gap


@kernel
def shape_overlap(
    ax: float,
    ay: float,
    ac: float,
    as_: float,
    ahx: float,
    ahy: float,
    a_round: bool,
    bx: float,
    by: float,
    bc: float,
    bs: float,
    bhx: float,
    bhy: float,
    b_round: bool,
) -> Hit:
    """Overlap of two shapes, each a box or a circle whose radius is the half length."""
    if a_round and b_round:
        return circle_circle_overlap(ax, ay, ahx, bx, by, bhx)
    if a_round:
        return circle_box_overlap(ax, ay, ahx, bx, by, bc, bs, bhx, bhy)
    if b_round:
        depth, nx, ny = circle_box_overlap(bx, by, bhx, ax, ay, ac, as_, ahx, ahy)
        return depth, -nx, -ny
    return box_box_overlap(ax, ay, ac, as_, ahx, ahy, bx, by, bc, bs, bhx, bhy)


Six = tuple[float, float, float, float, float, float]


def upright_carla_box(box: Any, rotation: Any) -> Six:
    """Return the upright box around a ``carla.BoundingBox`` turned by a ``carla.Rotation``."""
    half, centre = box.extent, box.location
    pitch, roll = math.radians(rotation.pitch), math.radians(rotation.roll)
    values: Six = upright_box(half.x, half.y, half.z, centre.x, centre.y, centre.z, pitch, roll)
    return values


@kernel
def upright_box(
    hx: float, hy: float, hz: float, cx: float, cy: float, cz: float, pitch: float, roll: float
) -> Six:
    """Half extents and centre of the smallest upright box around a tipped one."""
    cp, sp = np.cos(pitch), np.sin(pitch)
    cr, sr = np.cos(roll), np.sin(roll)
    ax, ay, az = cp, sp * sr, -sp * cr
    dx, dy, dz = sp, -cp * sr, cp * cr
    return (
        abs(ax) * hx + abs(ay) * hy + abs(az) * hz,
        abs(cr) * hy + abs(sr) * hz,
        abs(dx) * hx + abs(dy) * hy + abs(dz) * hz,
        ax * cx + ay * cy + az * cz,
        cr * cy + sr * cz,
        dx * cx + dy * cy + dz * cz,
    )
