"""Draws meshes into the visibility buffers of a camera.

Corners are rounded to 1/256 pixel and edges are tested in whole numbers: triangles that share an
edge leave no hole between them, and no pixel belongs to both. Depth follows the exact plane of the
triangle. A band of rows can be drawn alone; it is the same as in the whole picture.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.server.sensors._leaves import leaf_there
from jaywalk.server.sensors._mesh import (
    END_TRIANGLE,
    FIRST_POINT,
    FIRST_TRIANGLE,
    LEVEL_M,
    LEVELS,
    SHIFT,
    Meshes,
    corner_shares,
    most_points,
    place_points,
)
from jaywalk.server.sensors._mesh_rays import sees_through
from jaywalk.server.sensors._solids import MESH, Solids, kernel

MESH_PART: Final = 7  # last three bits of ``Visible.surface`` where a mesh is seen
_NEAR_M: Final = 0.05
_FAR_M: Final = 1000.0
STEPS: Final = 256  # of a pixel, to which corners are rounded
_GUARD_PX: Final = float(1 << 20)  # corners farther out are clipped first
_LEVEL_FOCAL_PX: Final = 512.0  # the focal length for which the distances of levels hold


@kernel
def draw_meshes(
    solids: Solids,
    meshes: Meshes,
    origin: NDArray[np.float64],
    axes: NDArray[np.float64],
    size: tuple[int, int],
    focal_px: float,
    rows: tuple[int, int],
    surface: NDArray[np.int32],
    inverse_depth: NDArray[np.float32],
    triangle: NDArray[np.int32],
    thin: NDArray[np.int32],
) -> None:
    """Draw the rows ``rows[0]`` to ``rows[1]`` of all meshes in front of what was drawn before."""
    seen, spot = room_for_points(meshes)
    polygon, clipped = np.empty((12, 3)), np.empty((12, 3))
    for k in range(solids.used):
        if solids.shape[k] != MESH or sees_through(solids, k, origin[0], origin[1], origin[2]):
            continue
        if not in_picture(solids, k, origin, axes, size, focal_px, rows):
            continue
        level = level_in(solids, k, origin, focal_px)
        project_mesh(solids, meshes, k, level, origin, axes, size, focal_px, seen, spot)
        _draw_instance(
            meshes, solids.mesh[k], level, k * 8 + MESH_PART, seen, spot, size, focal_px, rows,
            polygon, clipped, surface, inverse_depth, triangle, thin,
        )  # fmt: skip


UNKNOWN: Final = -(1 << 40)  # place in the picture of a point behind the camera


@kernel
def room_for_points(meshes: Meshes) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return arrays for the points of any mesh: in the camera frame, and in the picture."""
    most = most_points(meshes)
    return np.empty((most, 3)), np.empty((most, 2), np.int64)


@kernel
def in_picture(
    solids: Solids,
    k: int,
    origin: NDArray[np.float64],
    axes: NDArray[np.float64],
    size: tuple[int, int],
    focal_px: float,
    rows: tuple[int, int],
) -> bool:
    """Return whether a solid may reach into some rows of the picture."""
    form = solids.form
    centre = np.empty(3)
    for i in range(3):
        centre[i] = 0.0
        for j in range(3):
            centre[i] += axes[i, j] * (form[k, j] - origin[j])
    return _in_sight(centre, form[k, 15], size, focal_px, rows)


@kernel
def level_in(solids: Solids, k: int, origin: NDArray[np.float64], focal_px: float) -> int:
    """Return the level of detail in which a camera shows a mesh."""
    x, y, z = solids.form[k, 0], solids.form[k, 1], solids.form[k, 2]
    distance = math.sqrt((x - origin[0]) ** 2 + (y - origin[1]) ** 2 + (z - origin[2]) ** 2)
    level = 0
    while level < LEVELS - 1 and distance * _LEVEL_FOCAL_PX > LEVEL_M[level] * focal_px:
        level += 1
    return level


@kernel
def project_mesh(
    solids: Solids,
    meshes: Meshes,
    k: int,
    level: int,
    origin: NDArray[np.float64],
    axes: NDArray[np.float64],
    size: tuple[int, int],
    focal_px: float,
    seen: NDArray[np.float64],
    spot: NDArray[np.int64],
) -> None:
    """Write the points of a mesh in the camera frame, and rounded in the picture.

    A mark in the first coordinate of ``spot`` sends a triangle to the clipper.
    """
    form, instance = solids.form, solids.mesh[k]
    turn = np.empty((3, 3))
    centre = np.empty(3)
    for i in range(3):
        for j in range(3):
            total = 0.0
            for m in range(3):
                total += axes[i, m] * form[k, 3 + 3 * j + m]
            turn[i, j] = total
        centre[i] = 0.0
        for m in range(3):
            centre[i] += axes[i, m] * (meshes.origin[instance, m] - origin[m])
    count = place_points(meshes, instance, level, turn, (centre[0], centre[1], centre[2]), seen)
    for p in range(count):
        if seen[p, 0] >= _NEAR_M:
            u = 0.5 * size[0] + focal_px * seen[p, 1] / seen[p, 0]
            v = 0.5 * size[1] - focal_px * seen[p, 2] / seen[p, 0]
            if abs(u) < _GUARD_PX and abs(v) < _GUARD_PX:
                spot[p, 0] = math.floor(u * STEPS + 0.5)
                spot[p, 1] = math.floor(v * STEPS + 0.5)
                continue
        spot[p, 0] = UNKNOWN


@kernel
def _in_sight(
    centre: NDArray[np.float64],
    r: float,
    size: tuple[int, int],
    focal_px: float,
    rows: tuple[int, int],
) -> bool:
    """Return whether a ball, given in the camera frame, may reach into some rows of the picture."""
    x, y, z = centre[0], centre[1], centre[2]
    if x + r < _NEAR_M or x - r > _FAR_M:
        return False
    across, down = 0.5 * size[0] / focal_px, 0.5 * size[1] / focal_px
    if abs(y) - across * x > r * math.sqrt(1.0 + across * across):
        return False
    if abs(z) - down * x > r * math.sqrt(1.0 + down * down):
        return False
    if x - r <= _NEAR_M:
        return True
    near, far = x - r, x + r
    top = 0.5 * size[1] - focal_px * (z + r) / (near if z + r > 0.0 else far)
    bottom = 0.5 * size[1] - focal_px * (z - r) / (near if z - r < 0.0 else far)
    return bool(top <= rows[1] + 1.0 and bottom >= rows[0] - 1.0)


@kernel
def _draw_instance(
    meshes: Meshes,
    instance: int,
    level: int,
    code: int,
    seen: NDArray[np.float64],
    spot: NDArray[np.int64],
    size: tuple[int, int],
    focal_px: float,
    rows: tuple[int, int],
    polygon: NDArray[np.float64],
    clipped: NDArray[np.float64],
    surface: NDArray[np.int32],
    inverse_depth: NDArray[np.float32],
    triangle: NDArray[np.int32],
    thin: NDArray[np.int32],
) -> None:
    span = meshes.span[instance, level]
    # Triangles count from the model's first point; a posed instance keeps that order.
    first = span[FIRST_POINT] - span[SHIFT]
    corners, cut_out, uv = meshes.triangles, meshes.cut_out, meshes.uv
    for t in range(span[FIRST_TRIANGLE], span[END_TRIANGLE]):
        a, b, c = corners[t, 0] - first, corners[t, 1] - first, corners[t, 2] - first
        ua, ub, uc = spot[a, 0], spot[b, 0], spot[c, 0]
        if ua != UNKNOWN and ub != UNKNOWN and uc != UNKNOWN:
            va, vb, vc = spot[a, 1], spot[b, 1], spot[c, 1]
            if max(ua, ub, uc) < 0 or min(ua, ub, uc) > size[0] * STEPS:
                continue
            if max(va, vb, vc) < rows[0] * STEPS or min(va, vb, vc) > rows[1] * STEPS:
                continue
            _fill(
                seen, a, b, c, (ua, va), (ub, vb), (uc, vc), size, focal_px, rows,
                code, t, cut_out[t], uv, surface, inverse_depth, triangle,
                thin,
            )  # fmt: skip
            continue
        for m in range(3):
            polygon[0, m], polygon[1, m], polygon[2, m] = seen[a, m], seen[b, m], seen[c, m]
        count = _clip(polygon, clipped, 3, size, focal_px)
        for i in range(1, count - 1):
            _fill(
                seen, a, b, c,
                _spot(polygon, 0, size, focal_px),
                _spot(polygon, i, size, focal_px),
                _spot(polygon, i + 1, size, focal_px),
                size, focal_px, rows, code, t, cut_out[t], uv, surface, inverse_depth, triangle,
                thin,
            )  # fmt: skip


@kernel
def _spot(
    polygon: NDArray[np.float64], i: int, size: tuple[int, int], focal_px: float
) -> tuple[int, int]:
    u = 0.5 * size[0] + focal_px * polygon[i, 1] / polygon[i, 0]
    v = 0.5 * size[1] - focal_px * polygon[i, 2] / polygon[i, 0]
    return math.floor(u * STEPS + 0.5), math.floor(v * STEPS + 0.5)


@kernel
def _clip(
    polygon: NDArray[np.float64],
    spare: NDArray[np.float64],
    count: int,
    size: tuple[int, int],
    focal_px: float,
) -> int:
    """Cut a polygon at the near plane and a little outside the picture; return its corners."""
    across, down = 0.5 * (size[0] + 8.0) / focal_px, 0.5 * (size[1] + 8.0) / focal_px
    for plane in range(5):
        # Inside: shift + nx x + ny y + nz z >= 0.
        nx, ny, nz, shift = 1.0, 0.0, 0.0, -_NEAR_M
        if plane >= 1:
            shift = 0.0
            nx = across if plane <= 2 else down
            ny = (1.0 if plane == 1 else -1.0) if plane <= 2 else 0.0
            nz = (1.0 if plane == 3 else -1.0) if plane >= 3 else 0.0
        kept = 0
        for i in range(count):
            j = (i + 1) % count
            here = shift + nx * polygon[i, 0] + ny * polygon[i, 1] + nz * polygon[i, 2]
            there = shift + nx * polygon[j, 0] + ny * polygon[j, 1] + nz * polygon[j, 2]
            if here >= 0.0:
                for m in range(3):
                    spare[kept, m] = polygon[i, m]
                kept += 1
            if (here >= 0.0) != (there >= 0.0):
                # From the inner to the outer corner: the same for both triangles at an edge.
                inner, outer = (i, j) if here >= 0.0 else (j, i)
                start, end = (here, there) if here >= 0.0 else (there, here)
                share = start / (start - end)
                for m in range(3):
                    gap = polygon[outer, m] - polygon[inner, m]
                    spare[kept, m] = polygon[inner, m] + share * gap
                if plane == 0:
                    spare[kept, 0] = _NEAR_M
                kept += 1
        count = kept
        for i in range(count):
            for m in range(3):
                polygon[i, m] = spare[i, m]
        if count < 3:
            return 0
    return count


@kernel
def edge_at(a: tuple[int, int], b: tuple[int, int], u: int, v: int) -> tuple[int, int, int]:
    """Return value of an edge at a point, and its growth per pixel to the right and downwards.

    At least 0: inside. The rule for points on the edge gives each to one of two neighbours.
    """
    du, dv = b[0] - a[0], b[1] - a[1]
    value = du * (v - a[1]) - dv * (u - a[0])
    if not (dv < 0 or (dv == 0 and du > 0)):
        value -= 1
    return value, -dv * STEPS, du * STEPS


@kernel
def _fill(  # noqa: C901 - one loop over pixels; calls would cost more than the work
    seen: NDArray[np.float64],
    a: int,
    b: int,
    c: int,
    spot_a: tuple[int, int],
    spot_b: tuple[int, int],
    spot_c: tuple[int, int],
    size: tuple[int, int],
    focal_px: float,
    rows: tuple[int, int],
    code: int,
    t: int,
    cut_out: bool,
    uv: NDArray[np.float32],
    surface: NDArray[np.int32],
    inverse_depth: NDArray[np.float32],
    triangle: NDArray[np.int32],
    thin: NDArray[np.int32],
) -> None:
    """Fill the pixels whose centres lie between three corners on the plane of a triangle."""
    half = STEPS // 2
    left = max((min(spot_a[0], spot_b[0], spot_c[0]) + half - 1) // STEPS, 0)
    right = min((max(spot_a[0], spot_b[0], spot_c[0]) - half) // STEPS, size[0] - 1)
    top = max((min(spot_a[1], spot_b[1], spot_c[1]) + half - 1) // STEPS, rows[0])
    bottom = min((max(spot_a[1], spot_b[1], spot_c[1]) - half) // STEPS, rows[1] - 1)
    if left > right or top > bottom:
        if not cut_out:
            nearest = 1.0 / max(min(seen[a, 0], seen[b, 0], seen[c, 0]), _NEAR_M)
            _note_thin(
                (spot_a, spot_b, spot_c), size, rows, nearest, code >> 3, inverse_depth, thin
            )
        return
    area = (spot_b[0] - spot_a[0]) * (spot_c[1] - spot_a[1]) - (spot_b[1] - spot_a[1]) * (
        spot_c[0] - spot_a[0]
    )
    if area == 0:
        return
    if area < 0:
        spot_b, spot_c = spot_c, spot_b
    u0, v0 = left * STEPS + half, top * STEPS + half
    e0, e0u, e0v = edge_at(spot_a, spot_b, u0, v0)
    e1, e1u, e1v = edge_at(spot_b, spot_c, u0, v0)
    e2, e2u, e2v = edge_at(spot_c, spot_a, u0, v0)
    ax, ay, az = seen[a, 0], seen[a, 1], seen[a, 2]
    bx, by, bz = seen[b, 0], seen[b, 1], seen[b, 2]
    cx, cy, cz = seen[c, 0], seen[c, 1], seen[c, 2]
    # 1/x is linear in the picture: n.(1, y/x, z/x) / (n.p) for any point p of the plane.
    nx = (by - ay) * (cz - az) - (bz - az) * (cy - ay)
    ny = (bz - az) * (cx - ax) - (bx - ax) * (cz - az)
    nz = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
    reach = nx * ax + ny * ay + nz * az
    # Rounded corners reach a little beyond the triangle; depth does not.
    nearest = 1.0 / max(min(ax, bx, cx), _NEAR_M)
    farthest = 1.0 / max(ax, bx, cx)
    if abs(reach) > 1e-12:
        du, dv = ny / (focal_px * reach), -nz / (focal_px * reach)
        at_zero = nx / reach - du * 0.5 * size[0] - dv * 0.5 * size[1]
    else:
        du, dv, at_zero = 0.0, 0.0, farthest
    for v in range(top, bottom + 1):
        first, last = left, right
        for e, step in ((e0, e0u), (e1, e1u), (e2, e2u)):
            if step > 0:
                first = max(first, left + (-e + step - 1) // step)
            elif step < 0:
                last = min(last, left + e // -step if e >= 0 else left - 1)
            elif e < 0:
                last = left - 1
        base = at_zero + dv * (v + 0.5) + du * 0.5
        depth_row = inverse_depth[v]
        if first > last and not cut_out:
            # It passes between the middles of two pixels.
            for u in range(max(last, left), min(first, right) + 1):
                if nearest > depth_row[u]:
                    thin[v, u] = code >> 3
        for u in range(first, last + 1):
            inverse = min(max(base + du * u, farthest), nearest)
            value = np.float32(inverse)
            if value > depth_row[u]:
                if cut_out and not leaf_in(
                    seen, a, b, c, u + 0.5, v + 0.5, inverse, size, focal_px, uv, t
                ):
                    continue
                depth_row[u] = value
                surface[v, u] = code
                triangle[v, u] = t
        e0, e1, e2 = e0 + e0v, e1 + e1v, e2 + e2v


@kernel
def _note_thin(
    spots: tuple[tuple[int, int], tuple[int, int], tuple[int, int]],
    size: tuple[int, int],
    rows: tuple[int, int],
    nearest: float,
    k: int,
    inverse_depth: NDArray[np.float32],
    thin: NDArray[np.int32],
) -> None:
    """Note a triangle that contains no middle of a pixel in the pixels that it may touch."""
    (ua, va), (ub, vb), (uc, vc) = spots
    left, right = max(min(ua, ub, uc) // STEPS, 0), min(max(ua, ub, uc) // STEPS, size[0] - 1)
    top, bottom = max(min(va, vb, vc) // STEPS, rows[0]), min(max(va, vb, vc) // STEPS, rows[1] - 1)
    for v in range(top, bottom + 1):
        for u in range(left, right + 1):
            if nearest > inverse_depth[v, u]:
                thin[v, u] = k


@kernel
def leaf_in(
    seen: NDArray[np.float64],
    a: int,
    b: int,
    c: int,
    u: float,
    v: float,
    inverse: float,
    size: tuple[int, int],
    focal_px: float,
    uv: NDArray[np.float32],
    t: int,
) -> bool:
    """Return whether a cut-out triangle has something at a point of the picture."""
    x = 1.0 / inverse
    y, z = x * (u - 0.5 * size[0]) / focal_px, x * (0.5 * size[1] - v) / focal_px
    second, third = corner_shares(
        seen[a, 0], seen[a, 1], seen[a, 2],
        seen[b, 0], seen[b, 1], seen[b, 2],
        seen[c, 0], seen[c, 1], seen[c, 2],
        x, y, z,
    )  # fmt: skip
    first = 1.0 - second - third
    return leaf_there(
        first * uv[t, 0, 0] + second * uv[t, 1, 0] + third * uv[t, 2, 0],
        first * uv[t, 0, 1] + second * uv[t, 1, 1] + third * uv[t, 2, 1],
    )
