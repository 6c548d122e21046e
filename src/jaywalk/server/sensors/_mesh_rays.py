"""Rays and balls against meshes: scans of LiDARs, single rays and the obstacle detector.

All of them meet the mid level of detail. A scan casts each triangle in the window of angles that it
fills. Leaves are cut out by the same test as in cameras.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.server.sensors._leaves import leaf_there
from jaywalk.server.sensors._mesh import (
    END_POINT,
    END_TRIANGLE,
    FIRST_POINT,
    FIRST_TRIANGLE,
    MID,
    SHIFT,
    Meshes,
    corner_shares,
    place_points,
)
from jaywalk.server.sensors._solids import MESH, Solids, kernel

_EDGE: Final = 1e-9  # share by which a ray may pass an edge: none slips between two triangles
_WIDE_DEG: Final = 30.0  # triangles that fill a wider angle are cast with all rays
_SLACK: Final = 1e-6  # steps, against rounding at the border of a window


@kernel
def sees_through(solids: Solids, k: int, x: float, y: float, z: float) -> bool:
    """Return whether a point is in the box of an actor's mesh: sensors inside do not see it."""
    if solids.owner[k] < 0:
        return False
    form = solids.form
    px, py, pz = x - form[k, 0], y - form[k, 1], z - form[k, 2]
    for axis in range(3):
        first = 3 + 3 * axis
        along = form[k, first] * px + form[k, first + 1] * py + form[k, first + 2] * pz
        if abs(along) > form[k, 12 + axis]:
            return False
    return True


@kernel
def room_for_rays(solids: Solids, meshes: Meshes) -> NDArray[np.float64]:
    """Return memory for the points of the largest mesh that rays may meet."""
    most = 0
    for k in range(solids.used):
        if solids.shape[k] == MESH:
            span = meshes.span[solids.mesh[k], MID]
            most = max(most, span[END_POINT] - span[FIRST_POINT])
    return np.empty((most, 3))


@kernel
def place_in_frame(
    solids: Solids,
    meshes: Meshes,
    k: int,
    origin: NDArray[np.float64],
    axes: NDArray[np.float64],
    out: NDArray[np.float64],
) -> int:
    """Write the points of a mesh in the frame (origin, axes); return their number."""
    turn = np.empty((3, 3))
    shift = np.zeros(3)
    instance = solids.mesh[k]
    for i in range(3):
        for j in range(3):
            total = 0.0
            for m in range(3):
                total += axes[i, m] * solids.form[k, 3 + 3 * j + m]
            turn[i, j] = total
        for m in range(3):
            shift[i] += axes[i, m] * (meshes.origin[instance, m] - origin[m])
    return place_points(meshes, instance, MID, turn, (shift[0], shift[1], shift[2]), out)


@kernel
def _is_leaf(uv: NDArray[np.float32], t: int, second: float, third: float) -> bool:
    first = 1.0 - second - third
    return leaf_there(
        first * uv[t, 0, 0] + second * uv[t, 1, 0] + third * uv[t, 2, 0],
        first * uv[t, 0, 1] + second * uv[t, 1, 1] + third * uv[t, 2, 1],
    )


@kernel
def ray_mesh(
    meshes: Meshes,
    instance: int,
    placed: NDArray[np.float64],
    direction: tuple[float, float, float],
) -> tuple[float, int]:
    """Distance and triangle at which a ray from the origin of the points meets a mesh first."""
    span = meshes.span[instance, MID]
    first = span[FIRST_POINT] - span[SHIFT]
    corners = meshes.triangles
    dx, dy, dz = direction
    best, triangle = math.inf, -1
    for t in range(span[FIRST_TRIANGLE], span[END_TRIANGLE]):
        a, b, c = corners[t, 0] - first, corners[t, 1] - first, corners[t, 2] - first
        ax, ay, az = placed[a, 0], placed[a, 1], placed[a, 2]
        ux, uy, uz = placed[b, 0] - ax, placed[b, 1] - ay, placed[b, 2] - az
        vx, vy, vz = placed[c, 0] - ax, placed[c, 1] - ay, placed[c, 2] - az
        px, py, pz = dy * vz - dz * vy, dz * vx - dx * vz, dx * vy - dy * vx
        det = ux * px + uy * py + uz * pz
        if abs(det) < 1e-15:
            continue
        second = -(ax * px + ay * py + az * pz) / det
        if second < -_EDGE or second > 1.0 + _EDGE:
            continue
        qx, qy, qz = az * uy - ay * uz, ax * uz - az * ux, ay * ux - ax * uy
        third = (dx * qx + dy * qy + dz * qz) / det
        if third < -_EDGE or second + third > 1.0 + _EDGE:
            continue
        distance = (vx * qx + vy * qy + vz * qz) / det
        if 0.0 < distance < best:
            if meshes.cut_out[t] and not _is_leaf(meshes.uv, t, second, third):
                continue
            best, triangle = distance, t
    return best, triangle


@kernel
def _ray_meets_box(
    form: NDArray[np.float64],
    k: int,
    origin: NDArray[np.float64],
    direction: tuple[float, float, float],
) -> bool:
    """Return whether a ray passes through the box of a solid or starts in it."""
    near, far = 0.0, math.inf
    for axis in range(3):
        o, d = 0.0, 0.0
        for m in range(3):
            o += form[k, 3 + 3 * axis + m] * (origin[m] - form[k, m])
            d += form[k, 3 + 3 * axis + m] * direction[m]
        h = form[k, 12 + axis] + 1e-6
        if abs(d) < 1e-12:
            if abs(o) > h:
                return False
            continue
        t0, t1 = (-h - o) / d, (h - o) / d
        near, far = max(near, min(t0, t1)), min(far, max(t0, t1))
    return near <= far


@kernel
def cast_rays_at_meshes(
    solids: Solids,
    meshes: Meshes,
    origin: NDArray[np.float64],
    directions: NDArray[np.float64],
    reach: NDArray[np.float64],
    hidden_row: int,
    code: int,
    distance: NDArray[np.float64],
    surface: NDArray[np.int64],
    triangle: NDArray[np.int32],
) -> None:
    """Shorten the rays that meet a mesh before ``distance``; see ``cast_rays``."""
    form = solids.form
    placed = room_for_rays(solids, meshes)
    axes = np.eye(3)
    for k in range(solids.used):
        if solids.shape[k] != MESH or solids.owner[k] == hidden_row:
            continue
        if sees_through(solids, k, origin[0], origin[1], origin[2]):
            continue
        ready = False
        px, py, pz = form[k, 0] - origin[0], form[k, 1] - origin[1], form[k, 2] - origin[2]
        r = form[k, 15]
        square = px * px + py * py + pz * pz
        for i in range(len(directions)):
            direction = (directions[i, 0], directions[i, 1], directions[i, 2])
            along = px * direction[0] + py * direction[1] + pz * direction[2]
            limit = min(distance[i], reach[i])
            if along < -r or along > limit + r or square - along * along > r * r:
                continue
            if not _ray_meets_box(form, k, origin, direction):
                continue
            if not ready:
                place_in_frame(solids, meshes, k, origin, axes, placed)
                ready = True
            t, found = ray_mesh(meshes, solids.mesh[k], placed, direction)
            if found >= 0 and t < distance[i] and t <= reach[i]:
                distance[i], surface[i], triangle[i] = t, k * 8 + code, found


@kernel
def scan_mesh(
    meshes: Meshes,
    instance: int,
    code: int,
    placed: NDArray[np.float64],
    angles: NDArray[np.float64],
    count: int,
    fan: tuple[float, float, float, float, float, float],
    vertical: NDArray[np.float64],
    horizontal: NDArray[np.float64],
    distance_m: NDArray[np.float64],
    surface: NDArray[np.int64],
    triangle: NDArray[np.int32],
) -> None:
    """Cast a scan at a mesh.

    Args:
        meshes: All meshes.
        instance: The instance.
        code: Surface to note where a ray meets it.
        placed: Its points in the frame of the sensor.
        angles: Room for two angles a point.
        count: Number of points.
        fan: Upper angle, step of channels, start, step of columns, width (degrees) and range.
        vertical: Cosine and sine of each channel.
        horizontal: Cosine and sine of each column.
        distance_m: Nearest echoes so far, (channels, columns).
        surface: Their surfaces.
        triangle: Their triangles.
    """
    for p in range(count):
        x, y, z = placed[p, 0], placed[p, 1], placed[p, 2]
        angles[p, 0] = math.degrees(math.atan2(y, x))
        angles[p, 1] = math.degrees(math.atan2(z, math.sqrt(x * x + y * y)))
    span = meshes.span[instance, MID]
    first = span[FIRST_POINT] - span[SHIFT]
    corners = meshes.triangles
    for t in range(span[FIRST_TRIANGLE], span[END_TRIANGLE]):
        a, b, c = corners[t, 0] - first, corners[t, 1] - first, corners[t, 2] - first
        middle = angles[a, 0]
        to_b, to_c = _turn(angles[b, 0] - middle), _turn(angles[c, 0] - middle)
        left, right = min(0.0, to_b, to_c), max(0.0, to_b, to_c)
        wide = right - left
        if wide < _WIDE_DEG:
            # Between two corners a straight edge rises by at most this above the higher one.
            rise = math.radians(wide) * wide / 15.0
            low = min(angles[a, 1], angles[b, 1], angles[c, 1]) - rise
            high = max(angles[a, 1], angles[b, 1], angles[c, 1]) + rise
            left, right = middle + left, middle + right
        else:
            left, right, low, high = -180.0, 180.0, -90.0, 90.0
        top, bottom = _channels(fan, len(vertical), low, high)
        if top > bottom:
            continue
        _scan_triangle(
            meshes,
            (a, b, c),
            t,
            code,
            placed,
            (left, right),
            (top, bottom),
            fan,
            vertical,
            horizontal,
            distance_m,
            surface,
            triangle,
        )


@kernel
def _turn(angle_deg: float) -> float:
    """Bring the difference of two angles into -180..180."""
    if angle_deg > 180.0:
        return angle_deg - 360.0
    if angle_deg < -180.0:
        return angle_deg + 360.0
    return angle_deg


@kernel
def _channels(
    fan: tuple[float, float, float, float, float, float], count: int, low: float, high: float
) -> tuple[int, int]:
    upper, step = fan[0], fan[1]
    if step == 0.0:
        inside = low - 1e-9 <= upper <= high + 1e-9
        return 0, (count - 1 if inside else -1)
    a, b = (upper - high) / step, (upper - low) / step
    first = max(0, math.ceil(min(a, b) - _SLACK))
    return first, min(count - 1, math.floor(max(a, b) + _SLACK))


@kernel
def _scan_triangle(
    meshes: Meshes,
    points: tuple[int, int, int],
    t: int,
    code: int,
    placed: NDArray[np.float64],
    angles: tuple[float, float],
    channels: tuple[int, int],
    fan: tuple[float, float, float, float, float, float],
    vertical: NDArray[np.float64],
    horizontal: NDArray[np.float64],
    distance_m: NDArray[np.float64],
    surface: NDArray[np.int64],
    triangle: NDArray[np.int32],
) -> None:
    """Cast the rays inside a window of angles at one triangle, in every turn of the sensor."""
    start, step, fov, range_m = fan[2], fan[3], fan[4], fan[5]
    columns = len(horizontal)
    a, b, c = points
    ax, ay, az = placed[a, 0], placed[a, 1], placed[a, 2]
    ux, uy, uz = placed[b, 0] - ax, placed[b, 1] - ay, placed[b, 2] - az
    vx, vy, vz = placed[c, 0] - ax, placed[c, 1] - ay, placed[c, 2] - az
    qx, qy, qz = az * uy - ay * uz, ax * uz - az * ux, ay * ux - ax * uy
    reach = vx * qx + vy * qy + vz * qz
    turns = math.ceil((start + step * columns) / fov)
    for shift in (-360.0, 0.0, 360.0):
        left = max(angles[0] + shift, -0.5 * fov) + 0.5 * fov
        right = min(angles[1] + shift, 0.5 * fov) + 0.5 * fov
        if left > right:
            continue
        for lap in range(turns):
            first = max(0, math.ceil((left + lap * fov - start) / step - _SLACK))
            last = min(columns - 1, math.floor((right + lap * fov - start) / step + _SLACK))
            for j in range(first, last + 1):
                for channel in range(channels[0], channels[1] + 1):
                    cv = vertical[channel, 0]
                    dx, dy = cv * horizontal[j, 0], cv * horizontal[j, 1]
                    dz = vertical[channel, 1]
                    px, py, pz = dy * vz - dz * vy, dz * vx - dx * vz, dx * vy - dy * vx
                    det = ux * px + uy * py + uz * pz
                    if abs(det) < 1e-15:
                        continue
                    distance = reach / det
                    if not 0.0 < distance < distance_m[channel, j] or distance > range_m:
                        continue
                    second = -(ax * px + ay * py + az * pz) / det
                    third = (dx * qx + dy * qy + dz * qz) / det
                    if second < -_EDGE or third < -_EDGE or second + third > 1.0 + _EDGE:
                        continue
                    if meshes.cut_out[t] and not _is_leaf(meshes.uv, t, second, third):
                        continue
                    distance_m[channel, j] = distance
                    surface[channel, j] = code
                    triangle[channel, j] = t


@kernel
def mesh_distance(
    meshes: Meshes, instance: int, placed: NDArray[np.float64], x: float, y: float, z: float
) -> float:
    """Distance of a point from the nearest triangle of a mesh, in the frame of its points."""
    span = meshes.span[instance, MID]
    first = span[FIRST_POINT] - span[SHIFT]
    corners = meshes.triangles
    best = math.inf
    for t in range(span[FIRST_TRIANGLE], span[END_TRIANGLE]):
        a, b, c = corners[t, 0] - first, corners[t, 1] - first, corners[t, 2] - first
        square = _triangle_square(placed, a, b, c, x, y, z)
        best = min(best, square)
    return math.sqrt(best)


@kernel
def _triangle_square(
    placed: NDArray[np.float64], a: int, b: int, c: int, x: float, y: float, z: float
) -> float:
    """Square of the distance of a point from a triangle."""
    best = math.inf
    for start, end in ((a, b), (b, c), (c, a)):
        ex = placed[end, 0] - placed[start, 0]
        ey = placed[end, 1] - placed[start, 1]
        ez = placed[end, 2] - placed[start, 2]
        px, py, pz = x - placed[start, 0], y - placed[start, 1], z - placed[start, 2]
        square = ex * ex + ey * ey + ez * ez
        share = (px * ex + py * ey + pz * ez) / square if square > 0.0 else 0.0
        share = min(max(share, 0.0), 1.0)
        gx, gy, gz = px - share * ex, py - share * ey, pz - share * ez
        best = min(best, gx * gx + gy * gy + gz * gz)
    ax, ay, az = placed[a, 0], placed[a, 1], placed[a, 2]
    ux, uy, uz = placed[b, 0] - ax, placed[b, 1] - ay, placed[b, 2] - az
    vx, vy, vz = placed[c, 0] - ax, placed[c, 1] - ay, placed[c, 2] - az
    nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    size = nx * nx + ny * ny + nz * nz
    if size <= 1e-24:
        return best
    above = ((x - ax) * nx + (y - ay) * ny + (z - az) * nz) / size
    fx, fy, fz = x - above * nx, y - above * ny, z - above * nz
    second, third = corner_shares(
        ax, ay, az, ax + ux, ay + uy, az + uz, ax + vx, ay + vy, az + vz, fx, fy, fz
    )
    gx = ax + second * ux + third * vx - fx
    gy = ay + second * uy + third * vy - fy
    gz = az + second * uz + third * vz - fz
    if gx * gx + gy * gy + gz * gz < 1e-12:
        best = min(best, above * above * size)
    return best
