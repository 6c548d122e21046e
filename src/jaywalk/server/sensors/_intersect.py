"""Exact intersections of rays with solids.

Directions need not be unit vectors: distances are multiples of the direction. A ray that starts
inside a solid does not hit it, so that a sensor mounted inside a body sees its surroundings.

The functions take only the two arrays of :class:`Solids` that they need, because passing the whole
tuple costs more than the geometry. For the columns of ``form`` see ``solids``.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.server.sensors._solids import BOX, CAPSULE, CYLINDER, MESH, SPHERE, kernel

# Parts of a solid's surface. Boxes: axis * 2, plus 1 for the side towards the negative axis.
ROUND: Final = 6
CAP_POSITIVE: Final = 4  # top of a cylinder, along its third axis
CAP_NEGATIVE: Final = 5


@kernel
def ray_box(
    ox: float,
    oy: float,
    oz: float,
    dx: float,
    dy: float,
    dz: float,
    hx: float,
    hy: float,
    hz: float,
) -> tuple[float, int]:
    """Distance and face at which a ray enters a box centred on the origin; inf if it does not."""
    near, far, face = -math.inf, math.inf, 0
    for axis in range(3):
        if axis == 0:
            o, d, h = ox, dx, hx
        elif axis == 1:
            o, d, h = oy, dy, hy
        else:
            o, d, h = oz, dz, hz
        if abs(d) < 1e-15:
            if abs(o) > h:
                return math.inf, 0
            continue
        inverse = 1.0 / d
        if d > 0.0:
            t0, t1, side = (-h - o) * inverse, (h - o) * inverse, 2 * axis + 1
        else:
            t0, t1, side = (h - o) * inverse, (-h - o) * inverse, 2 * axis
        if t0 > near:
            near, face = t0, side
        if t1 < far:
            far = t1
    if near > far or near <= 0.0:
        return math.inf, 0
    return near, face


@kernel
def ray_sphere(
    ox: float, oy: float, oz: float, dx: float, dy: float, dz: float, radius: float
) -> float:
    """Distance at which a ray enters a sphere centred on the origin; inf if it does not."""
    a = dx * dx + dy * dy + dz * dz
    b = ox * dx + oy * dy + oz * dz
    c = ox * ox + oy * oy + oz * oz - radius * radius
    root = b * b - a * c
    if c <= 0.0 or b >= 0.0 or root < 0.0:
        return math.inf
    return (-b - math.sqrt(root)) / a


@kernel
def ray_cylinder(
    ox: float, oy: float, oz: float, dx: float, dy: float, dz: float, radius: float, half: float
) -> tuple[float, int]:
    """Distance and part at which a ray enters a cylinder along z centred on the origin."""
    a = dx * dx + dy * dy
    b = ox * dx + oy * dy
    c = ox * ox + oy * oy - radius * radius
    if c <= 0.0 and abs(oz) <= half:
        return math.inf, ROUND
    if c > 0.0:
        root = b * b - a * c
        if a < 1e-18 or b >= 0.0 or root < 0.0:
            return math.inf, ROUND
        t = (-b - math.sqrt(root)) / a
        if abs(oz + t * dz) <= half:
            return t, ROUND
    if oz > half and dz < 0.0:
        t, part = (half - oz) / dz, CAP_POSITIVE
    elif oz < -half and dz > 0.0:
        t, part = (-half - oz) / dz, CAP_NEGATIVE
    else:
        return math.inf, ROUND
    x, y = ox + t * dx, oy + t * dy
    if x * x + y * y <= radius * radius:
        return t, part
    return math.inf, ROUND


@kernel
def ray_capsule(
    ox: float, oy: float, oz: float, dx: float, dy: float, dz: float, radius: float, half: float
) -> float:
    """Distance at which a ray enters a capsule along z centred on the origin."""
    gap = max(abs(oz) - half, 0.0)
    if ox * ox + oy * oy + gap * gap <= radius * radius:
        return math.inf
    a = dx * dx + dy * dy
    b = ox * dx + oy * dy
    c = ox * ox + oy * oy - radius * radius
    root = b * b - a * c
    if root < 0.0 or (c > 0.0 and b >= 0.0):
        return math.inf
    if a > 1e-18 and c > 0.0:
        t = (-b - math.sqrt(root)) / a
        if abs(oz + t * dz) <= half:
            return t
    # The side is missed, so only an end can be hit first.
    return min(
        ray_sphere(ox, oy, oz - half, dx, dy, dz, radius),
        ray_sphere(ox, oy, oz + half, dx, dy, dz, radius),
    )


@kernel
def ray_solid(
    form: NDArray[np.float64],
    shapes: NDArray[np.uint8],
    k: int,
    ox: float,
    oy: float,
    oz: float,
    dx: float,
    dy: float,
    dz: float,
) -> tuple[float, int]:
    """Distance and part at which a ray in the world enters solid ``k``; inf if it does not."""
    px, py, pz = ox - form[k, 0], oy - form[k, 1], oz - form[k, 2]
    lx = form[k, 3] * px + form[k, 4] * py + form[k, 5] * pz
    ly = form[k, 6] * px + form[k, 7] * py + form[k, 8] * pz
    lz = form[k, 9] * px + form[k, 10] * py + form[k, 11] * pz
    mx = form[k, 3] * dx + form[k, 4] * dy + form[k, 5] * dz
    my = form[k, 6] * dx + form[k, 7] * dy + form[k, 8] * dz
    mz = form[k, 9] * dx + form[k, 10] * dy + form[k, 11] * dz
    shape = shapes[k]
    if shape == BOX:
        return ray_box(lx, ly, lz, mx, my, mz, form[k, 12], form[k, 13], form[k, 14])
    if shape == CYLINDER:
        return ray_cylinder(lx, ly, lz, mx, my, mz, form[k, 12], form[k, 14])
    if shape == CAPSULE:
        return ray_capsule(lx, ly, lz, mx, my, mz, form[k, 12], form[k, 14]), ROUND
    return ray_sphere(lx, ly, lz, mx, my, mz, form[k, 12]), ROUND


@kernel
def solid_normal(
    form: NDArray[np.float64],
    shapes: NDArray[np.uint8],
    k: int,
    part: int,
    x: float,
    y: float,
    z: float,
) -> tuple[float, float, float]:
    """Outward unit normal of solid ``k`` at a point of its surface."""
    if part < ROUND:
        sign = 1.0 if part % 2 == 0 else -1.0
        axis = part // 2
        return (
            sign * form[k, 3 * axis + 3],
            sign * form[k, 3 * axis + 4],
            sign * form[k, 3 * axis + 5],
        )
    px, py, pz = x - form[k, 0], y - form[k, 1], z - form[k, 2]
    if shapes[k] != SPHERE:
        along = form[k, 9] * px + form[k, 10] * py + form[k, 11] * pz
        half = form[k, 14]
        along = min(max(along, -half), half)
        px -= along * form[k, 9]
        py -= along * form[k, 10]
        pz -= along * form[k, 11]
    norm = 1.0 / max(math.sqrt(px * px + py * py + pz * pz), 1e-12)
    return px * norm, py * norm, pz * norm


@kernel
def solid_distance(
    form: NDArray[np.float64], shapes: NDArray[np.uint8], k: int, x: float, y: float, z: float
) -> float:
    """Distance of a point from the surface of solid ``k``, or the box of a mesh; 0 inside."""
    px, py, pz = x - form[k, 0], y - form[k, 1], z - form[k, 2]
    lx = abs(form[k, 3] * px + form[k, 4] * py + form[k, 5] * pz)
    ly = abs(form[k, 6] * px + form[k, 7] * py + form[k, 8] * pz)
    lz = abs(form[k, 9] * px + form[k, 10] * py + form[k, 11] * pz)
    shape = shapes[k]
    if shape in (BOX, MESH):
        gx, gy, gz = (
            max(lx - form[k, 12], 0.0),
            max(ly - form[k, 13], 0.0),
            max(lz - form[k, 14], 0.0),
        )
        return float(math.sqrt(gx * gx + gy * gy + gz * gz))
    across = math.sqrt(lx * lx + ly * ly)
    if shape == CYLINDER:
        gap, rise = max(across - form[k, 12], 0.0), max(lz - form[k, 14], 0.0)
        return float(math.sqrt(gap * gap + rise * rise))
    rise = lz if shape == SPHERE else max(lz - form[k, 14], 0.0)
    return float(max(math.sqrt(across * across + rise * rise) - form[k, 12], 0.0))
