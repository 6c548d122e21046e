"""Nearest surface and depth in each pixel of a pinhole camera.

One pass serves every kind of picture: it stores, per pixel, the nearest surface and the inverse of
its depth along the camera axis. ``shading`` makes pictures from these arrays.

Camera frame: x forward, y right, z up; u = cx + f y / x, v = cy - f z / x; pixel i spans i..i + 1.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jaywalk.server.sensors._intersect import ray_solid
from jaywalk.server.sensors._mesh import Meshes
from jaywalk.server.sensors._solids import BOX, CAPSULE, CUT_OUT, MESH, SPHERE, Solids, kernel
from jaywalk.server.sensors._terrain import Relief, ground_height, ray_ground
from jaywalk.server.sensors._triangles import draw_meshes

SKY: Final = -2
NOTHING_THIN: Final = -1
GROUND: Final = -1  # anything else is solid * 8 + part of its surface
NEAR_M: Final = 0.05
FAR_M: Final = 1000.0
# Ground depth is interpolated inside tiles (pixels) where that is exact enough, else inside small
# tiles, else computed for each pixel.
_TILE: Final = 16
BAND_PX: Final = _TILE
_SMALL_TILE: Final = 4
_TILE_ERROR: Final = 0.003  # relative depth error that is always allowed
_TILE_ERROR_PX: Final = 0.3  # shift of the ground in the picture that is always allowed


class CameraView(NamedTuple):
    """A pinhole camera in the world."""

    origin: NDArray[np.float64]  # (3,)
    axes: NDArray[np.float64]  # (3, 3): rows forward, right, up
    width: int
    height: int
    focal_px: float


class Visible(NamedTuple):
    """Nearest surface and inverse depth in each pixel of a view."""

    surface: NDArray[np.int32]  # (height, width)
    inverse_depth: NDArray[np.float32]  # (height, width), 1/m; 0 for the sky
    triangle: NDArray[np.int32]  # (height, width): of ``Meshes``, where the surface is a mesh
    ground: NDArray[np.float32]  # (height, width): inverse depth of the ground behind it all
    thin: NDArray[np.int32]  # (height, width): a mesh too thin to show in the pixel's middle


def focal_length_px(width: int, fov_deg: float) -> float:
    """Return the focal length in pixels for a horizontal field of view."""
    return 0.5 * width / math.tan(math.radians(fov_deg) / 2.0)


def nothing_seen(view: CameraView) -> Visible:
    """Return the buffers of a view in which nothing has been drawn."""
    return Visible(
        np.full((view.height, view.width), SKY, np.int32),
        np.zeros((view.height, view.width), np.float32),
        np.empty((view.height, view.width), np.int32),
        np.empty((view.height, view.width), np.float32),
        np.full((view.height, view.width), NOTHING_THIN, np.int32),
    )


@kernel
def look_rows(
    solids: Solids,
    meshes: Meshes,
    relief: Relief,
    view: CameraView,
    rows: tuple[int, int],
    seen: Visible,
) -> None:
    """Draw the rows from ``rows[0]`` up to ``rows[1]``; the same as in the whole picture.

    A band begins at a multiple of ``BAND_PX``.
    """
    _draw_ground(relief, view, rows, seen)
    seen.ground[rows[0] : rows[1]] = seen.inverse_depth[rows[0] : rows[1]]
    _draw_solids(solids, view, rows, seen)
    draw_meshes(
        solids,
        meshes,
        view.origin,
        view.axes,
        (view.width, view.height),
        view.focal_px,
        rows,
        seen.surface,
        seen.inverse_depth,
        seen.triangle,
        seen.thin,
    )


@kernel
def pixel_ray(view: CameraView, u: float, v: float) -> tuple[float, float, float]:
    """World direction of the ray through a point of the picture; 1 m long along the camera axis."""
    a = (u - 0.5 * view.width) / view.focal_px
    b = (0.5 * view.height - v) / view.focal_px
    return (
        view.axes[0, 0] + a * view.axes[1, 0] + b * view.axes[2, 0],
        view.axes[0, 1] + a * view.axes[1, 1] + b * view.axes[2, 1],
        view.axes[0, 2] + a * view.axes[1, 2] + b * view.axes[2, 2],
    )


@kernel
def _ground_inverse(relief: Relief, view: CameraView, u: float, v: float, level: float) -> float:
    origin = (view.origin[0], view.origin[1], view.origin[2])
    t = ray_ground(relief, origin, pixel_ray(view, u, v), level, FAR_M)
    return 1.0 / t if t < math.inf else 0.0


@kernel
def _draw_ground(relief: Relief, view: CameraView, band: tuple[int, int], seen: Visible) -> None:
    x, y, z = view.origin[0], view.origin[1], view.origin[2]
    level = ground_height(relief, x, y, z)
    columns = (view.width + _TILE - 1) // _TILE
    top = band[0] // _TILE
    rows = (band[1] - band[0] + _TILE - 1) // _TILE
    corner = np.empty((rows + 1, columns + 1))
    # Corners lie on pixel centres, the last ones beyond the picture.
    for j in range(rows + 1):
        v = (top + j) * _TILE + 0.5
        for i in range(columns + 1):
            corner[j, i] = _ground_inverse(relief, view, i * _TILE + 0.5, v, level)
    flat = relief.low_m == relief.high_m
    rise_px = view.focal_px * max(z - level, 0.1)
    for j in range(rows):
        for i in range(columns):
            c00, c10, c01, c11 = (
                corner[j, i],
                corner[j, i + 1],
                corner[j + 1, i],
                corner[j + 1, i + 1],
            )
            largest = max(c00, c10, c01, c11)
            smooth = min(c00, c10, c01, c11) > 0.0
            if not (smooth and flat):
                middle = _ground_inverse(
                    relief, view, (i + 0.5) * _TILE + 0.5, (top + j + 0.5) * _TILE + 0.5, level
                )
                if largest == 0.0 and middle == 0.0:
                    continue  # sky
                mean = 0.25 * (c00 + c10 + c01 + c11)
                allowed = max(_TILE_ERROR * mean, _TILE_ERROR_PX / rise_px)
                smooth = smooth and abs(middle - mean) <= allowed
            if smooth:
                _fill_tile(view, seen, i * _TILE, (top + j) * _TILE, _TILE, (c00, c10, c01, c11))
            else:
                _refine_tile(relief, view, seen, i * _TILE, (top + j) * _TILE, level)


@kernel
def _fill_tile(
    view: CameraView,
    seen: Visible,
    u0: int,
    v0: int,
    size: int,
    corners: tuple[float, float, float, float],
) -> None:
    c00, c10, c01, c11 = corners
    for v in range(v0, min(v0 + size, view.height)):
        fv = (v - v0) / size
        left = c00 + (c01 - c00) * fv
        slope = (c10 + (c11 - c10) * fv - left) / size
        for u in range(u0, min(u0 + size, view.width)):
            seen.inverse_depth[v, u] = left + slope * (u - u0)
            seen.surface[v, u] = GROUND


@kernel
def _refine_tile(
    relief: Relief, view: CameraView, seen: Visible, u0: int, v0: int, level: float
) -> None:
    count = _TILE // _SMALL_TILE
    corner = np.empty((count + 1, count + 1))
    for j in range(count + 1):
        for i in range(count + 1):
            corner[j, i] = _ground_inverse(
                relief, view, u0 + i * _SMALL_TILE + 0.5, v0 + j * _SMALL_TILE + 0.5, level
            )
    for j in range(count):
        for i in range(count):
            u, v = u0 + i * _SMALL_TILE, v0 + j * _SMALL_TILE
            corners = (
                corner[j, i],
                corner[j, i + 1],
                corner[j + 1, i],
                corner[j + 1, i + 1],
            )
            if min(corners) > 0.7 * max(corners):
                _fill_tile(view, seen, u, v, _SMALL_TILE, corners)
            elif max(corners) > 0.0:
                _cast_tile(relief, view, seen, u, v, level)


@kernel
def _cast_tile(
    relief: Relief, view: CameraView, seen: Visible, u0: int, v0: int, level: float
) -> None:
    for v in range(v0, min(v0 + _SMALL_TILE, view.height)):
        for u in range(u0, min(u0 + _SMALL_TILE, view.width)):
            inverse = _ground_inverse(relief, view, u + 0.5, v + 0.5, level)
            if inverse > 0.0:
                seen.inverse_depth[v, u] = inverse
                seen.surface[v, u] = GROUND


@kernel
def _draw_solids(solids: Solids, view: CameraView, rows: tuple[int, int], seen: Visible) -> None:
    axes, f, form = view.axes, view.focal_px, solids.form
    # Half widths of the frustum per metre of depth, and the slant of its side planes.
    across, down = 0.5 * view.width / f, 0.5 * view.height / f
    slant_across, slant_down = math.sqrt(1.0 + across * across), math.sqrt(1.0 + down * down)
    points = np.empty((8, 3))
    for k in range(solids.used):
        px = form[k, 0] - view.origin[0]
        py = form[k, 1] - view.origin[1]
        pz = form[k, 2] - view.origin[2]
        r = form[k, 15]
        x = axes[0, 0] * px + axes[0, 1] * py + axes[0, 2] * pz
        if x + r < NEAR_M or x - r > FAR_M:
            continue
        y = axes[1, 0] * px + axes[1, 1] * py + axes[1, 2] * pz
        if abs(y) - across * x > r * slant_across:
            continue
        z = axes[2, 0] * px + axes[2, 1] * py + axes[2, 2] * pz
        if abs(z) - down * x > r * slant_down:
            continue
        if solids.shape[k] == BOX:
            if solids.pattern[k] >= CUT_OUT:
                continue
            _draw_box(solids, k, view, rows, points, seen)
        elif solids.shape[k] != MESH:
            _draw_round(solids, k, view, (x, y, z), rows, seen)


@kernel
def _draw_box(
    solids: Solids,
    k: int,
    view: CameraView,
    rows: tuple[int, int],
    points: NDArray[np.float64],
    seen: Visible,
) -> None:
    """Draw the faces of a box that are turned towards the camera."""
    quad = np.empty((4, 3))
    for face in range(6):
        corners, reach, nx, ny, nz = box_face(solids, k, face, view, quad, points)
        if corners >= 3:
            _fill_polygon(view, points, corners, (nx, ny, nz), reach, k * 8 + face, rows, seen)


@kernel
def box_face(
    solids: Solids,
    k: int,
    face: int,
    view: CameraView,
    quad: NDArray[np.float64],
    points: NDArray[np.float64],
) -> tuple[int, float, float, float, float]:
    """Write the part of a face before the camera into ``points``.

    Returns the number of its corners, 0 if it is turned away, and its plane n.p = reach: 1/x is
    linear in the picture, n.(1, a, b) / reach.
    """
    form = solids.form
    axis = face // 2
    sign = 1.0 if face % 2 == 0 else -1.0
    b, c = (axis + 1) % 3, (axis + 2) % 3
    # Centre and edges of the box in the camera frame; edges are scaled by its half extents.
    centre, edge = np.empty(3), np.empty((3, 3))
    for j in range(3):
        centre[j] = 0.0
        for m in range(3):
            centre[j] += view.axes[j, m] * (form[k, m] - view.origin[m])
        for i in range(3):
            total = 0.0
            for m in range(3):
                total += view.axes[j, m] * form[k, 3 * i + 3 + m]
            edge[i, j] = total * form[k, 12 + i]
    size2 = edge[axis, 0] ** 2 + edge[axis, 1] ** 2 + edge[axis, 2] ** 2
    reach = 0.0
    for m in range(3):
        reach += sign * edge[axis, m] * (centre[m] + sign * edge[axis, m])
    normal = (sign * edge[axis, 0], sign * edge[axis, 1], sign * edge[axis, 2])
    if size2 < 1e-12 or reach >= 0.0:
        return 0, reach, normal[0], normal[1], normal[2]  # no face, turned away, or inside
    for m in range(3):
        middle = centre[m] + sign * edge[axis, m]
        quad[0, m] = middle - edge[b, m] - edge[c, m]
        quad[1, m] = middle + edge[b, m] - edge[c, m]
        quad[2, m] = middle + edge[b, m] + edge[c, m]
        quad[3, m] = middle - edge[b, m] + edge[c, m]
    return _clip_near(quad, points), reach, normal[0], normal[1], normal[2]


@kernel
def _clip_near(quad: NDArray[np.float64], out: NDArray[np.float64]) -> int:
    """Keep the part of a quad with x >= NEAR_M; return its number of corners (0 to 5)."""
    count = 0
    for i in range(4):
        j = (i + 1) % 4
        a, b = quad[i, 0], quad[j, 0]
        if a >= NEAR_M:
            out[count] = quad[i]
            count += 1
        if (a >= NEAR_M) != (b >= NEAR_M):
            share = (NEAR_M - a) / (b - a)
            for m in range(3):
                out[count, m] = quad[i, m] + share * (quad[j, m] - quad[i, m])
            out[count, 0] = NEAR_M
            count += 1
    return count


@kernel
def _fill_polygon(
    view: CameraView,
    points: NDArray[np.float64],
    corners: int,
    normal: tuple[float, float, float],
    reach: float,
    code: int,
    rows: tuple[int, int],
    seen: Visible,
) -> None:
    f = view.focal_px
    cx, cy = 0.5 * view.width, 0.5 * view.height
    us, vs = np.empty(8), np.empty(8)
    top, bottom = math.inf, -math.inf
    for i in range(corners):
        us[i] = cx + f * points[i, 1] / points[i, 0]
        vs[i] = cy - f * points[i, 2] / points[i, 0]
        top, bottom = min(top, vs[i]), max(bottom, vs[i])
    du = normal[1] / (f * reach)
    dv = -normal[2] / (f * reach)
    at_zero = normal[0] / reach - du * cx - dv * cy
    first = max(rows[0], math.ceil(max(top, -1.0) - 0.5))
    last = min(rows[1], math.ceil(min(bottom, view.height + 1.0) - 0.5))
    for v in range(first, last):
        middle = v + 0.5
        left, right = math.inf, -math.inf
        for i in range(corners):
            j = i + 1 if i + 1 < corners else 0
            if (vs[i] <= middle) != (vs[j] <= middle):
                u = us[i] + (us[j] - us[i]) * (middle - vs[i]) / (vs[j] - vs[i])
                left, right = min(left, u), max(right, u)
        if right < 0.0 or left > view.width:
            continue
        start = math.ceil(max(left, 0.0) - 0.5)
        end = math.ceil(min(right, float(view.width)) - 0.5)
        inverse = at_zero + dv * middle + du * (start + 0.5)
        depth_row, surface_row = seen.inverse_depth[v], seen.surface[v]
        for u in range(start, end):
            value = np.float32(inverse + du * (u - start))
            if value > depth_row[u]:
                depth_row[u] = value
                surface_row[u] = code


@kernel
def _sphere_span(along: float, depth: float, r: float) -> tuple[float, float]:
    """Bounds of the quotient of two coordinates over a sphere that lies in front of the camera."""
    near, far = depth - r, depth + r
    low = (along - r) / (near if along - r < 0.0 else far)
    high = (along + r) / (far if along + r < 0.0 else near)
    return low, high


@kernel
def _draw_round(
    solids: Solids,
    k: int,
    view: CameraView,
    centre: tuple[float, float, float],
    rows: tuple[int, int],
    seen: Visible,
) -> None:
    """Draw a sphere, cylinder or capsule by casting the rays of the pixels around it."""
    form = solids.form
    f = view.focal_px
    low_a, high_a, low_b, high_b = math.inf, -math.inf, math.inf, -math.inf
    ends = 1 if solids.shape[k] == SPHERE else 2
    # Spheres around both ends cover a rod; for a capsule they are exactly its ends.
    half = form[k, 14] if ends == 2 else 0.0
    r = form[k, 12] * (1.0 if solids.shape[k] in (CAPSULE, SPHERE) else 1.0001)
    for end in range(ends):
        shift = half if end == 0 else -half
        x, y, z = centre
        for m in range(3):
            step = shift * form[k, 9 + m]
            x += view.axes[0, m] * step
            y += view.axes[1, m] * step
            z += view.axes[2, m] * step
        if x - r < NEAR_M:
            low_a, high_a, low_b, high_b = -math.inf, math.inf, -math.inf, math.inf
            break
        a0, a1 = _sphere_span(y, x, r)
        b0, b1 = _sphere_span(z, x, r)
        low_a, high_a = min(low_a, a0), max(high_a, a1)
        low_b, high_b = min(low_b, b0), max(high_b, b1)
    cx, cy = 0.5 * view.width, 0.5 * view.height
    u0 = math.floor(max(0.0, cx + f * low_a - 1.0))
    u1 = math.ceil(min(float(view.width), cx + f * high_a + 1.0))
    v0 = math.floor(max(float(rows[0]), cy - f * high_b - 1.0))
    v1 = math.ceil(min(float(rows[1]), cy - f * low_b + 1.0))
    ox, oy, oz = view.origin[0], view.origin[1], view.origin[2]
    for v in range(v0, v1):
        for u in range(u0, u1):
            dx, dy, dz = pixel_ray(view, u + 0.5, v + 0.5)
            t, part = ray_solid(form, solids.shape, k, ox, oy, oz, dx, dy, dz)
            if t < math.inf and t >= NEAR_M:
                value = np.float32(1.0 / t)
                if value > seen.inverse_depth[v, u]:
                    seen.inverse_depth[v, u] = value
                    seen.surface[v, u] = k * 8 + part
