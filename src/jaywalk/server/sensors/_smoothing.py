"""Smooth edges of geometry in colour pictures.

Pixels at which surfaces meet, and those that something thinner than a pixel passes, are looked at
again at four points each. A point shows the colour that the pixel or a neighbour has of the same
surface; where none has one, the point is shaded by itself. The pixel becomes the mean of the four.
Depth, labels and all other pictures keep what the middle of the pixel shows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jaywalk.server.sensors._intersect import ray_solid
from jaywalk.server.sensors._mesh import (
    END_TRIANGLE,
    FIRST_POINT,
    FIRST_TRIANGLE,
    SHIFT,
    Meshes,
)
from jaywalk.server.sensors._mesh_rays import sees_through
from jaywalk.server.sensors._solids import BOX, CUT_OUT, MESH, Solids, kernel
from jaywalk.server.sensors._triangles import (
    MESH_PART,
    STEPS,
    UNKNOWN,
    edge_at,
    leaf_in,
    level_in,
    project_mesh,
    room_for_points,
)
from jaywalk.server.sensors._visibility import (
    GROUND,
    NEAR_M,
    NOTHING_THIN,
    SKY,
    CameraView,
    Visible,
    box_face,
    pixel_ray,
)

POINTS: Final = 4
FAR_OUT: Final = 1 << 20  # beyond all pixels
# Points of a pixel from its middle, in 1/256 of it: no two in one row or column.
RIGHT: Final = np.array([-32, 96, -96, 32], np.int64)
DOWN: Final = np.array([-96, -32, 32, 96], np.int64)


class Points(NamedTuple):
    """What the points of the edge pixels of some rows show."""

    at: NDArray[np.int64]  # (n,): row * width + column of each edge pixel
    surface: NDArray[np.int32]  # (n, POINTS), as in ``Visible``
    inverse_depth: NDArray[np.float32]
    triangle: NDArray[np.int32]


class _Edges(NamedTuple):
    """Edge pixels of some rows."""

    first_row: int
    slot: NDArray[np.int32]  # (rows, width): number of the edge pixel; -1: none
    span: NDArray[np.int64]  # (rows, 2): first and last column with one


@kernel
def same_surface(material: NDArray[np.uint8], code: int, t: int, other: int, other_t: int) -> bool:
    """Return whether two pixels show the same face of a solid or material of a mesh.

    Here and below, kernels that run for every pixel take arrays: tuples of many cost more than
    the work.
    """
    if code != other:
        return False
    if code < 0 or code & 7 != MESH_PART:
        return True
    return t == other_t or material[t] == material[other_t]


@kernel
def windows_of(used: int, seen: Visible, rows: tuple[int, int]) -> NDArray[np.int32]:
    """Return where each solid is seen in some rows: first and last row, first and last column.

    The least and greatest values of all bands hold for the picture. They, not what a band shows,
    decide what is drawn into points, so that bands do not matter.
    """
    out = np.empty((used, 4), np.int32)
    out[:, 0], out[:, 1], out[:, 2], out[:, 3] = FAR_OUT, -FAR_OUT, FAR_OUT, -FAR_OUT
    for v in range(rows[0], rows[1]):
        surface, thin = seen.surface[v], seen.thin[v]
        last = -1
        for u in range(len(surface)):
            code = surface[u]
            if code != last:
                # The ends of runs are enough.
                if last >= 0:
                    _widen(out, last >> 3, v, u - 1)
                if code >= 0:
                    _widen(out, code >> 3, v, u)
                last = code
            if thin[u] != NOTHING_THIN:
                _widen(out, thin[u], v, u)
        if last >= 0:
            _widen(out, last >> 3, v, len(surface) - 1)
    return out


def widest(parts: Sequence[NDArray[np.int32]]) -> NDArray[np.int32]:
    """Return the windows of a picture from those of its bands."""
    all_parts = np.array(parts)
    out: NDArray[np.int32] = np.empty_like(all_parts[0])
    out[:, ::2] = all_parts[:, :, ::2].min(axis=0)
    out[:, 1::2] = all_parts[:, :, 1::2].max(axis=0)
    return out


@kernel
def _widen(out: NDArray[np.int32], k: int, v: int, u: int) -> None:
    out[k, 0], out[k, 1] = min(out[k, 0], v), max(out[k, 1], v)
    out[k, 2], out[k, 3] = min(out[k, 2], u), max(out[k, 3], u)


@kernel
def look_at_edges(
    solids: Solids,
    meshes: Meshes,
    view: CameraView,
    rows: tuple[int, int],
    seen: Visible,
    windows: NDArray[np.int32],
) -> Points:
    """Return what the points of the edge pixels of some rows show.

    Args:
        solids: All solids.
        meshes: Their meshes.
        view: The camera.
        rows: The band.
        seen: What the middles of pixels show, of the whole picture.
        windows: Of the whole picture, see ``windows_of``.
    """
    height = rows[1] - rows[0]
    slot = np.full((height, view.width), -1, np.int32)
    span = np.empty((height, 2), np.int64)
    count = _mark(meshes.material, solids.pattern, rows, seen, slot, span)
    edges = _Edges(rows[0], slot, span)
    points = Points(
        np.empty(count, np.int64),
        np.empty((count, POINTS), np.int32),
        np.empty((count, POINTS), np.float32),
        np.zeros((count, POINTS), np.int32),
    )
    _start(view.width, seen.ground, edges, points)
    quad, corners = np.empty((4, 3)), np.empty((8, 3))
    room = room_for_points(meshes)
    for k in range(solids.used):
        # A window grows by a pixel: its rim is seen at points alone.
        top, bottom = max(windows[k, 0] - 1, rows[0]), min(windows[k, 1] + 1, rows[1] - 1)
        if top > bottom:
            continue
        left, right = max(windows[k, 2] - 1, 0), min(windows[k, 3] + 1, view.width - 1)
        window = (left, right, top - rows[0], bottom - rows[0])
        if solids.shape[k] == BOX:
            if solids.pattern[k] < CUT_OUT:
                for face in range(6):
                    _draw_face(solids, k, face, view, window, quad, corners, edges, points)
        elif solids.shape[k] != MESH:
            _draw_round(solids, k, view, window, edges, points)
        elif not sees_through(
            solids, k, view.origin[0], view.origin[1], view.origin[2]
        ) and _draw_mesh(solids, meshes, k, view, window, room, edges, points):
            _keep(seen, k, points)
    return points


@kernel
def _keep(seen: Visible, k: int, points: Points) -> None:
    """Give the points of pixels that show a solid what the middle of the pixel shows."""
    width = seen.surface.shape[1]
    for n in range(len(points.at)):
        v, u = points.at[n] // width, points.at[n] % width
        if seen.surface[v, u] >> 3 == k:
            for q in range(POINTS):
                points.surface[n, q] = seen.surface[v, u]
                points.triangle[n, q] = seen.triangle[v, u]
                points.inverse_depth[n, q] = np.float32(1.0 / NEAR_M)


@kernel
def _mark(
    material: NDArray[np.uint8],
    pattern: NDArray[np.uint8],
    rows: tuple[int, int],
    seen: Visible,
    slot: NDArray[np.int32],
    span: NDArray[np.int64],
) -> int:
    """Number the edge pixels; return how many there are."""
    surface, triangle, thin = seen.surface, seen.triangle, seen.thin
    last_row, last = surface.shape[0] - 1, surface.shape[1] - 1
    count = 0
    for v in range(rows[0], rows[1]):
        line, over, under = surface[v], surface[max(v - 1, 0)], surface[min(v + 1, last_row)]
        row = slot[v - rows[0]]
        first, end = last + 1, -1
        for u in range(last + 1):
            code = line[u]
            left, right = line[max(u - 1, 0)], line[min(u + 1, last)]
            edge = thin[v, u] != NOTHING_THIN and thin[v, u] != code >> 3
            if not edge:
                if code == left and code == right and code == over[u] and code == under[u]:
                    if code < 0 or code & 7 != MESH_PART:
                        continue
                    own = material[triangle[v, u]]
                    edge = (
                        own != material[triangle[v, max(u - 1, 0)]]
                        or own != material[triangle[v, min(u + 1, last)]]
                        or own != material[triangle[max(v - 1, 0), u]]
                        or own != material[triangle[min(v + 1, last_row), u]]
                    )
                else:
                    # The haze of the horizon is smooth by itself.
                    edge = max(code, left, right, over[u], under[u]) >= 0
            if not edge or (code >= 0 and pattern[code >> 3] >= CUT_OUT):
                continue
            row[u] = count
            count += 1
            first, end = min(first, u), u
        span[v - rows[0], 0], span[v - rows[0], 1] = first, end
    return count


@kernel
def _start(width: int, ground: NDArray[np.float32], edges: _Edges, points: Points) -> None:
    """Write sky and ground, level between the middles of pixels."""
    slot, span = edges.slot, edges.span
    at, surface, inverse_depth = points.at, points.surface, points.inverse_depth
    last_row, last = ground.shape[0] - 1, width - 1
    for j in range(len(slot)):
        v = edges.first_row + j
        for u in range(span[j, 0], span[j, 1] + 1):
            n = slot[j, u]
            if n < 0:
                continue
            at[n] = v * width + u
            here = ground[v, u]
            if here <= 0.0:
                for q in range(POINTS):
                    surface[n, q], inverse_depth[n, q] = SKY, 0.0
                continue
            left, right = ground[v, max(u - 1, 0)], ground[v, min(u + 1, last)]
            over, under = ground[max(v - 1, 0), u], ground[min(v + 1, last_row), u]
            across = 0.5 * (right - left) if left > 0.0 and right > 0.0 else 0.0
            down = 0.5 * (under - over) if over > 0.0 and under > 0.0 else 0.0
            for q in range(POINTS):
                value = here + (across * RIGHT[q] + down * DOWN[q]) / STEPS
                surface[n, q], inverse_depth[n, q] = GROUND, max(value, 0.5 * here)


@kernel
def _draw_round(
    solids: Solids,
    k: int,
    view: CameraView,
    window: tuple[int, int, int, int],
    edges: _Edges,
    points: Points,
) -> None:
    """Draw a sphere, cylinder or capsule into the points."""
    slot, span, form, shape = edges.slot, edges.span, solids.form, solids.shape
    surface, inverse_depth = points.surface, points.inverse_depth
    ox, oy, oz = view.origin[0], view.origin[1], view.origin[2]
    left, right, top, bottom = window
    for j in range(top, bottom + 1):
        for u in range(max(left, span[j, 0]), min(right, span[j, 1]) + 1):
            n = slot[j, u]
            if n < 0:
                continue
            for q in range(POINTS):
                at_v = edges.first_row + j + 0.5 + DOWN[q] / STEPS
                dx, dy, dz = pixel_ray(view, u + 0.5 + RIGHT[q] / STEPS, at_v)
                t, part = ray_solid(form, shape, k, ox, oy, oz, dx, dy, dz)
                if t < math.inf and t >= NEAR_M:
                    value = np.float32(1.0 / t)
                    if value > inverse_depth[n, q]:
                        inverse_depth[n, q], surface[n, q] = value, k * 8 + part


@kernel
def _draw_face(
    solids: Solids,
    k: int,
    face: int,
    view: CameraView,
    window: tuple[int, int, int, int],
    quad: NDArray[np.float64],
    corners: NDArray[np.float64],
    edges: _Edges,
    points: Points,
) -> None:
    """Draw a face of a box into the points."""
    count, reach, nx, ny, nz = box_face(solids, k, face, view, quad, corners)
    if count < 3:
        return
    slot, span = edges.slot, edges.span
    inverse_depth, surface = points.inverse_depth, points.surface
    f = view.focal_px
    cx, cy = 0.5 * view.width, 0.5 * view.height
    us, vs = np.empty(8), np.empty(8)
    top, bottom = math.inf, -math.inf
    for i in range(count):
        us[i] = cx + f * corners[i, 1] / corners[i, 0]
        vs[i] = cy - f * corners[i, 2] / corners[i, 0]
        top, bottom = min(top, vs[i]), max(bottom, vs[i])
    du, dv = ny / (f * reach), -nz / (f * reach)
    at_zero = nx / reach - du * cx - dv * cy
    first = max(0, math.floor(max(top - edges.first_row, -1.0)))
    last = min(len(edges.slot) - 1, math.floor(min(bottom - edges.first_row, 1e6)))
    for j in range(first, last + 1):
        begin, end = max(span[j, 0], window[0]), min(span[j, 1], window[1])
        if begin > end:
            continue
        for q in range(POINTS):
            middle = edges.first_row + j + 0.5 + DOWN[q] / STEPS
            left, right = math.inf, -math.inf
            for i in range(count):
                m = i + 1 if i + 1 < count else 0
                if (vs[i] <= middle) != (vs[m] <= middle):
                    u = us[i] + (us[m] - us[i]) * (middle - vs[i]) / (vs[m] - vs[i])
                    left, right = min(left, u), max(right, u)
            shift = 0.5 + RIGHT[q] / STEPS
            if right < begin or left > end + 1:
                continue
            start = max(math.ceil(max(left, -1.0) - shift), begin)
            stop = min(math.ceil(min(right, view.width + 1.0) - shift), end + 1)
            base = at_zero + dv * middle + du * shift
            for u in range(start, stop):
                n = slot[j, u]
                if n < 0:
                    continue
                value = np.float32(base + du * u)
                if value > inverse_depth[n, q]:
                    inverse_depth[n, q], surface[n, q] = value, k * 8 + face


@kernel
def _draw_mesh(
    solids: Solids,
    meshes: Meshes,
    k: int,
    view: CameraView,
    window: tuple[int, int, int, int],
    room: tuple[NDArray[np.float64], NDArray[np.int64]],
    edges: _Edges,
    points: Points,
) -> bool:
    """Draw a mesh into the points; return whether parts that reach behind the camera lack."""
    seen, spot = room
    size = (view.width, view.height)
    lacks = False
    level = level_in(solids, k, view.origin, view.focal_px)
    instance = solids.mesh[k]
    project_mesh(solids, meshes, k, level, view.origin, view.axes, size, view.focal_px, seen, spot)
    span = meshes.span[instance, level]
    shift = span[FIRST_POINT] - span[SHIFT]
    triangles, cut_out = meshes.triangles, meshes.cut_out
    slot, columns, uv = edges.slot, edges.span, meshes.uv
    surface, inverse_depth, triangle = points.surface, points.inverse_depth, points.triangle
    first_row = edges.first_row
    low, high = (first_row + window[2]) * STEPS, (first_row + window[3] + 1) * STEPS
    begin, end = window[0] * STEPS, (window[1] + 1) * STEPS
    for t in range(span[FIRST_TRIANGLE], span[END_TRIANGLE]):
        a, b, c = triangles[t, 0] - shift, triangles[t, 1] - shift, triangles[t, 2] - shift
        ua, ub, uc = spot[a, 0], spot[b, 0], spot[c, 0]
        if ua == UNKNOWN or ub == UNKNOWN or uc == UNKNOWN:
            lacks = True
            continue
        va, vb, vc = spot[a, 1], spot[b, 1], spot[c, 1]
        if max(va, vb, vc) < low or min(va, vb, vc) > high:
            continue
        if max(ua, ub, uc) < begin or min(ua, ub, uc) > end:
            continue
        top = max(min(va, vb, vc) // STEPS - first_row, window[2])
        bottom = min(max(va, vb, vc) // STEPS - first_row, window[3])
        left = max(min(ua, ub, uc) // STEPS, window[0])
        right = min(max(ua, ub, uc) // STEPS, window[1])
        busy = False
        for j in range(top, bottom + 1):
            for u in range(max(left, columns[j, 0]), min(right, columns[j, 1]) + 1):
                if slot[j, u] >= 0:
                    busy = True
                    break
            if busy:
                break
        if busy:
            _fill(
                seen, a, b, c, (ua, va), (ub, vb), (uc, vc), size, view.focal_px, first_row,
                (left, right, top, bottom), k * 8 + MESH_PART, t, cut_out[t], uv,
                slot, columns, surface, inverse_depth, triangle,
            )  # fmt: skip
    return lacks


@kernel
def _fill(
    seen: NDArray[np.float64],
    a: int,
    b: int,
    c: int,
    spot_a: tuple[int, int],
    spot_b: tuple[int, int],
    spot_c: tuple[int, int],
    size: tuple[int, int],
    f: float,
    first_row: int,
    window: tuple[int, int, int, int],
    code: int,
    t: int,
    cut_out: bool,
    uv: NDArray[np.float32],
    slot: NDArray[np.int32],
    columns: NDArray[np.int64],
    surface: NDArray[np.int32],
    inverse_depth: NDArray[np.float32],
    triangle: NDArray[np.int32],
) -> None:
    """Fill the points between three corners; as ``_triangles`` does for middles of pixels."""
    area = (spot_b[0] - spot_a[0]) * (spot_c[1] - spot_a[1]) - (spot_b[1] - spot_a[1]) * (
        spot_c[0] - spot_a[0]
    )
    if area == 0:
        return
    if area < 0:
        spot_b, spot_c = spot_c, spot_b
    left, right, top, bottom = window
    ax, ay, az = seen[a, 0], seen[a, 1], seen[a, 2]
    bx, by, bz = seen[b, 0], seen[b, 1], seen[b, 2]
    cx, cy, cz = seen[c, 0], seen[c, 1], seen[c, 2]
    nx = (by - ay) * (cz - az) - (bz - az) * (cy - ay)
    ny = (bz - az) * (cx - ax) - (bx - ax) * (cz - az)
    nz = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
    reach = nx * ax + ny * ay + nz * az
    nearest, farthest = 1.0 / max(min(ax, bx, cx), NEAR_M), 1.0 / max(ax, bx, cx)
    du = dv = 0.0
    at_zero = farthest
    if abs(reach) > 1e-12:
        du, dv = ny / (f * reach), -nz / (f * reach)
        at_zero = nx / reach - du * 0.5 * size[0] - dv * 0.5 * size[1]
    half = STEPS // 2
    u0, v0 = left * STEPS + half, (first_row + top) * STEPS + half
    e0, e0u, e0v = edge_at(spot_a, spot_b, u0, v0)
    e1, e1u, e1v = edge_at(spot_b, spot_c, u0, v0)
    e2, e2u, e2v = edge_at(spot_c, spot_a, u0, v0)
    # No point of a pixel gains more on an edge than this over its middle.
    m0, m1, m2 = (
        (3 * (abs(e0u) + abs(e0v))) >> 3,
        (3 * (abs(e1u) + abs(e1v))) >> 3,
        (3 * (abs(e2u) + abs(e2v))) >> 3,
    )
    for j in range(top, bottom + 1):
        for u in range(max(left, columns[j, 0]), min(right, columns[j, 1]) + 1):
            n = slot[j, u]
            if n < 0:
                continue
            i = u - left
            g0 = e0 + (j - top) * e0v + i * e0u
            g1 = e1 + (j - top) * e1v + i * e1u
            g2 = e2 + (j - top) * e2v + i * e2u
            if g0 + m0 < 0 or g1 + m1 < 0 or g2 + m2 < 0:
                continue
            for q in range(POINTS):
                right_q, down_q = RIGHT[q], DOWN[q]
                # Growth per pixel is a multiple of STEPS.
                if g0 + (e0u // STEPS) * right_q + (e0v // STEPS) * down_q < 0:
                    continue
                if g1 + (e1u // STEPS) * right_q + (e1v // STEPS) * down_q < 0:
                    continue
                if g2 + (e2u // STEPS) * right_q + (e2v // STEPS) * down_q < 0:
                    continue
                at_u = u + 0.5 + right_q / STEPS
                at_v = first_row + j + 0.5 + down_q / STEPS
                inverse = min(max(at_zero + du * at_u + dv * at_v, farthest), nearest)
                value = np.float32(inverse)
                if value <= inverse_depth[n, q]:
                    continue
                if cut_out and not leaf_in(seen, a, b, c, at_u, at_v, inverse, size, f, uv, t):
                    continue
                inverse_depth[n, q], surface[n, q], triangle[n, q] = value, code, t
