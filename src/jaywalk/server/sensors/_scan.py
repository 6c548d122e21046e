"""Regular scans of many rays, and single rays against all solids.

A scan is a grid of channels (vertical angles at equal steps) and columns (horizontal angles at
equal steps, wrapping around inside the horizontal field of view). Rays are cast solid by solid, in
the window of angles that each solid fills. Single rays serve radars and are the reference for the
faster scans.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jaywalk.server.sensors._intersect import (
    ROUND,
    ray_box,
    ray_capsule,
    ray_cylinder,
    ray_solid,
    ray_sphere,
)
from jaywalk.server.sensors._mesh import Meshes
from jaywalk.server.sensors._mesh_rays import (
    cast_rays_at_meshes,
    place_in_frame,
    room_for_rays,
    scan_mesh,
    sees_through,
)
from jaywalk.server.sensors._solids import BOX, CAPSULE, CYLINDER, MESH, Solids, kernel
from jaywalk.server.sensors._terrain import Relief, ground_height, ray_ground
from jaywalk.server.sensors._triangles import MESH_PART
from jaywalk.server.sensors._visibility import GROUND, SKY


class Hits(NamedTuple):
    """What each ray meets first."""

    distance_m: NDArray[np.float64]  # (n,): inf: nothing
    surface: NDArray[np.int64]
    triangle: NDArray[np.int32]  # of ``Meshes``, where the surface is a mesh


@kernel
def cast_rays(
    solids: Solids,
    meshes: Meshes,
    relief: Relief,
    origin: NDArray[np.float64],
    directions: NDArray[np.float64],
    reach: NDArray[np.float64],
    hidden_row: int,
) -> Hits:
    """Distance and surface that each ray meets first; inf and SKY if nothing within its reach.

    Args:
        solids: Everything but the ground.
        meshes: Triangles of the solids that are meshes.
        relief: The ground.
        origin: Where all rays start.
        directions: (n, 3) unit vectors in the world.
        reach: (n,) how far each ray goes, metres.
        hidden_row: Row of the actor table that rays pass through (-2: none).
    """
    form, shapes = solids.form, solids.shape
    count = len(directions)
    distance = np.full(count, math.inf)
    surface = np.full(count, SKY, np.int64)
    triangle = np.full(count, -1, np.int32)
    ox, oy, oz = origin[0], origin[1], origin[2]
    level = ground_height(relief, ox, oy, oz)
    farthest = 0.0
    for i in range(count):
        farthest = max(farthest, reach[i])
    for k in range(solids.used):
        if solids.owner[k] == hidden_row or shapes[k] == MESH:
            continue
        px, py, pz, r = form[k, 0] - ox, form[k, 1] - oy, form[k, 2] - oz, form[k, 15]
        square = px * px + py * py + pz * pz
        if square > (farthest + r) ** 2:
            continue
        for i in range(count):
            dx, dy, dz = directions[i, 0], directions[i, 1], directions[i, 2]
            along = px * dx + py * dy + pz * dz
            if along < -r or square - along * along > r * r:
                continue
            t, part = ray_solid(form, shapes, k, ox, oy, oz, dx, dy, dz)
            if t < distance[i] and t <= reach[i]:
                distance[i] = t
                surface[i] = k * 8 + part
    cast_rays_at_meshes(
        solids,
        meshes,
        origin,
        directions,
        reach,
        hidden_row,
        MESH_PART,
        distance,
        surface,
        triangle,
    )
    for i in range(count):
        direction = (directions[i, 0], directions[i, 1], directions[i, 2])
        limit = min(distance[i], reach[i])
        t = ray_ground(relief, (ox, oy, oz), direction, level, limit)
        if t < distance[i]:
            distance[i] = t
            surface[i] = GROUND
    return Hits(distance, surface, triangle)


@kernel
def row_around(actors: NDArray[np.void], row: int, x: float, y: float, z: float) -> int:
    """Return the row if its box holds the point, else -2: a body does not hide its own sensors."""
    if row < 0:
        return -2
    actor = actors[row]
    cp, sp = math.cos(actor.pitch), math.sin(actor.pitch)
    cy, sy = math.cos(actor.yaw), math.sin(actor.yaw)
    cr, sr = math.cos(actor.roll), math.sin(actor.roll)
    px, py, pz = x - actor.x, y - actor.y, z - actor.z
    forward = cp * cy * px + cp * sy * py + sp * pz
    right = (cy * sp * sr - sy * cr) * px + (sy * sp * sr + cy * cr) * py - cp * sr * pz
    up = (-cy * sp * cr - sy * sr) * px + (-sy * sp * cr + cy * sr) * py + cp * cr * pz
    inside = (
        abs(forward - actor.cx) <= actor.ex
        and abs(right - actor.cy) <= actor.ey
        and abs(up - actor.cz) <= actor.ez
    )
    return row if inside else -2


_SLACK: Final = 1e-6  # steps, against rounding at the border of a window


class Scan(NamedTuple):
    """Ray directions of one scan. Angles in degrees; columns start at ``start_deg``."""

    origin: NDArray[np.float64]  # (3,)
    axes: NDArray[np.float64]  # (3, 3): rows forward, right, up
    channels: int
    columns: int
    upper_deg: float
    channel_step_deg: float  # downwards from ``upper_deg``
    start_deg: float  # 0 .. fov_deg; the angle 0 is the left end of the field of view
    column_step_deg: float
    fov_deg: float
    range_m: float


class Echoes(NamedTuple):
    """Distance and surface hit by each ray, (channels, columns)."""

    distance_m: NDArray[np.float64]  # inf: nothing
    surface: NDArray[np.int64]
    triangle: NDArray[np.int32]  # of ``Meshes``, where the surface is a mesh


@kernel
def scan_directions(scan: Scan) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return cosines and sines of vertical (channels, 2) and horizontal (columns, 2) angles."""
    vertical = np.empty((scan.channels, 2))
    horizontal = np.empty((scan.columns, 2))
    for c in range(scan.channels):
        angle = math.radians(scan.upper_deg - c * scan.channel_step_deg)
        vertical[c, 0], vertical[c, 1] = math.cos(angle), math.sin(angle)
    for j in range(scan.columns):
        turn = (scan.start_deg + scan.column_step_deg * j) % scan.fov_deg
        angle = math.radians(turn - 0.5 * scan.fov_deg)
        horizontal[j, 0], horizontal[j, 1] = math.cos(angle), math.sin(angle)
    return vertical, horizontal


def cast_scan(
    solids: Solids, meshes: Meshes, relief: Relief, scan: Scan, hidden_row: int
) -> Echoes:
    """Cast a scan; rays pass through the solids of ``hidden_row`` (-2: none)."""
    echoes = Echoes(
        np.full((scan.channels, scan.columns), math.inf),
        np.full((scan.channels, scan.columns), SKY, np.int64),
        np.empty((scan.channels, scan.columns), np.int32),
    )
    vertical, horizontal = scan_directions(scan)
    _cast_solids(solids, meshes, scan, hidden_row, vertical, horizontal, echoes)
    _cast_ground(relief, scan, vertical, horizontal, echoes)
    return echoes


@kernel
def _cast_solids(
    solids: Solids,
    meshes: Meshes,
    scan: Scan,
    hidden_row: int,
    vertical: NDArray[np.float64],
    horizontal: NDArray[np.float64],
    echoes: Echoes,
) -> None:
    form = solids.form
    corners = np.empty((8, 3))
    turn = np.empty((3, 3))  # from the sensor's frame into the solid's
    at = np.empty(3)  # the sensor in the solid's frame
    placed = room_for_rays(solids, meshes)
    angles = np.empty((len(placed), 2))
    fan = (
        scan.upper_deg,
        scan.channel_step_deg,
        scan.start_deg,
        scan.column_step_deg,
        scan.fov_deg,
        scan.range_m,
    )
    for k in range(solids.used):
        if solids.owner[k] == hidden_row:
            continue
        px = scan.origin[0] - form[k, 0]
        py = scan.origin[1] - form[k, 1]
        pz = scan.origin[2] - form[k, 2]
        if px * px + py * py + pz * pz > (scan.range_m + form[k, 15]) ** 2:
            continue
        for i in range(3):
            first = 3 + 3 * i
            ax, ay, az = form[k, first], form[k, first + 1], form[k, first + 2]
            at[i] = ax * px + ay * py + az * pz
            for j in range(3):
                turn[i, j] = ax * scan.axes[j, 0] + ay * scan.axes[j, 1] + az * scan.axes[j, 2]
        round_end = solids.shape[k] != MESH and solids.shape[k] >= 2
        hz = form[k, 14] + (form[k, 12] if round_end else 0.0)
        half = (form[k, 12], form[k, 13], hz)
        for i in range(8):
            lx = (half[0] if i & 1 else -half[0]) - at[0]
            ly = (half[1] if i & 2 else -half[1]) - at[1]
            lz = (half[2] if i & 4 else -half[2]) - at[2]
            for j in range(3):
                corners[i, j] = turn[0, j] * lx + turn[1, j] * ly + turn[2, j] * lz
        left, right, low, high = _window(corners)
        c0, c1 = _channel_span(scan, low, high)
        if c0 > c1:
            continue
        if solids.shape[k] == MESH:
            if sees_through(solids, k, scan.origin[0], scan.origin[1], scan.origin[2]):
                continue
            count = place_in_frame(solids, meshes, k, scan.origin, scan.axes, placed)
            scan_mesh(
                meshes,
                solids.mesh[k],
                k * 8 + MESH_PART,
                placed,
                angles,
                count,
                fan,
                vertical,
                horizontal,
                echoes.distance_m,
                echoes.surface,
                echoes.triangle,
            )
        else:
            _cast_window(
                form,
                solids.shape[k],
                k,
                scan,
                at,
                turn,
                (left, right),
                (c0, c1),
                vertical,
                horizontal,
                echoes,
            )


@kernel
def _window(corners: NDArray[np.float64]) -> tuple[float, float, float, float]:
    """Horizontal and vertical angles (degrees) between which a convex body lies.

    The horizontal window is (-180, 180) when the body is above, below or around the sensor.
    """
    cx, cy = 0.0, 0.0
    low_z, high_z, far2 = math.inf, -math.inf, 0.0
    for i in range(8):
        x, y, z = corners[i, 0], corners[i, 1], corners[i, 2]
        cx += x
        cy += y
        low_z, high_z = min(low_z, z), max(high_z, z)
        far2 = max(far2, x * x + y * y)
    left, right = math.inf, -math.inf
    for i in range(8):
        # Angle of the corner as seen from the direction of the centre.
        x, y = corners[i, 0], corners[i, 1]
        angle = math.atan2(cx * y - cy * x, cx * x + cy * y)
        left, right = min(left, angle), max(right, angle)
    near = 0.0
    if right - left >= math.pi - 1e-9:
        left, right, middle = -math.pi, math.pi, 0.0
    else:
        near = _nearest_edge(corners)
        middle = math.atan2(cy, cx)
    far = math.sqrt(far2)
    high = math.atan2(high_z, near if high_z > 0.0 else far)
    low = math.atan2(low_z, near if low_z < 0.0 else far)
    return (
        math.degrees(middle + left),
        math.degrees(middle + right),
        math.degrees(low),
        math.degrees(high),
    )


@kernel
def _nearest_edge(corners: NDArray[np.float64]) -> float:
    """Least horizontal distance of the twelve edges of a box from the sensor."""
    best = math.inf
    for i in range(8):
        for bit in (1, 2, 4):
            if i & bit:
                continue
            ax, ay = corners[i, 0], corners[i, 1]
            bx, by = corners[i | bit, 0] - ax, corners[i | bit, 1] - ay
            square = bx * bx + by * by
            share = -(ax * bx + ay * by) / square if square > 0.0 else 0.0
            share = min(max(share, 0.0), 1.0)
            x, y = ax + share * bx, ay + share * by
            best = min(best, x * x + y * y)
    return math.sqrt(best)


@kernel
def _channel_span(scan: Scan, low: float, high: float) -> tuple[int, int]:
    step = scan.channel_step_deg
    if step == 0.0:
        inside = low - 1e-9 <= scan.upper_deg <= high + 1e-9
        return 0, (scan.channels - 1 if inside else -1)
    a, b = (scan.upper_deg - high) / step, (scan.upper_deg - low) / step
    first = max(0, math.ceil(min(a, b) - _SLACK))
    last = min(scan.channels - 1, math.floor(max(a, b) + _SLACK))
    return first, last


@kernel
def _cast_window(
    form: NDArray[np.float64],
    shape: int,
    k: int,
    scan: Scan,
    at: NDArray[np.float64],
    turn: NDArray[np.float64],
    angles: tuple[float, float],
    channels: tuple[int, int],
    vertical: NDArray[np.float64],
    horizontal: NDArray[np.float64],
    echoes: Echoes,
) -> None:
    """Cast the columns with an angle inside the window, in every turn of the sensor."""
    fov, step = scan.fov_deg, scan.column_step_deg
    turns = math.ceil((scan.start_deg + step * scan.columns) / fov)
    for shift in (-360.0, 0.0, 360.0):
        left = max(angles[0] + shift, -0.5 * fov) + 0.5 * fov
        right = min(angles[1] + shift, 0.5 * fov) + 0.5 * fov
        if left > right:
            continue
        for lap in range(turns):
            a = (left + lap * fov - scan.start_deg) / step
            b = (right + lap * fov - scan.start_deg) / step
            first = max(0, math.ceil(a - _SLACK))
            last = min(scan.columns - 1, math.floor(b + _SLACK))
            for j in range(first, last + 1):
                _cast_column(
                    form,
                    shape,
                    k,
                    at,
                    turn,
                    j,
                    channels,
                    vertical,
                    horizontal,
                    scan.range_m,
                    echoes.distance_m,
                    echoes.surface,
                )


@kernel
def _cast_column(
    form: NDArray[np.float64],
    shape: int,
    k: int,
    at: NDArray[np.float64],
    turn: NDArray[np.float64],
    j: int,
    channels: tuple[int, int],
    vertical: NDArray[np.float64],
    horizontal: NDArray[np.float64],
    range_m: float,
    distance_m: NDArray[np.float64],
    surface: NDArray[np.int64],
) -> None:
    ox, oy, oz = at[0], at[1], at[2]
    hx, hy, hz = form[k, 12], form[k, 13], form[k, 14]
    ch, sh = horizontal[j, 0], horizontal[j, 1]
    ax, ay = ch * turn[0, 0] + sh * turn[0, 1], ch * turn[1, 0] + sh * turn[1, 1]
    az = ch * turn[2, 0] + sh * turn[2, 1]
    for c in range(channels[0], channels[1] + 1):
        cv, sv = vertical[c, 0], vertical[c, 1]
        dx, dy = cv * ax + sv * turn[0, 2], cv * ay + sv * turn[1, 2]
        dz = cv * az + sv * turn[2, 2]
        part = ROUND
        if shape == BOX:
            t, part = ray_box(ox, oy, oz, dx, dy, dz, hx, hy, hz)
        elif shape == CYLINDER:
            t, part = ray_cylinder(ox, oy, oz, dx, dy, dz, hx, hz)
        elif shape == CAPSULE:
            t = ray_capsule(ox, oy, oz, dx, dy, dz, hx, hz)
        else:
            t = ray_sphere(ox, oy, oz, dx, dy, dz, hx)
        if t <= range_m and t < distance_m[c, j]:
            distance_m[c, j] = t
            surface[c, j] = k * 8 + part


@kernel
def _cast_ground(
    relief: Relief,
    scan: Scan,
    vertical: NDArray[np.float64],
    horizontal: NDArray[np.float64],
    echoes: Echoes,
) -> None:
    x, y, z = scan.origin[0], scan.origin[1], scan.origin[2]
    axes = scan.axes
    flat = relief.low_m == relief.high_m
    above = z - relief.low_m
    level = ground_height(relief, x, y, z)
    for c in range(scan.channels):
        cv, sv = vertical[c, 0], vertical[c, 1]
        for j in range(scan.columns):
            a, b = cv * horizontal[j, 0], cv * horizontal[j, 1]
            dz = a * axes[0, 2] + b * axes[1, 2] + sv * axes[2, 2]
            limit = min(echoes.distance_m[c, j], scan.range_m)
            if flat:
                t = -above / dz if dz < 0.0 and above > 0.0 else math.inf
            else:
                dx = a * axes[0, 0] + b * axes[1, 0] + sv * axes[2, 0]
                dy = a * axes[0, 1] + b * axes[1, 1] + sv * axes[2, 1]
                t = ray_ground(relief, (x, y, z), (dx, dy, dz), level, limit)
            if t <= limit and t < math.inf:
                echoes.distance_m[c, j] = t
                echoes.surface[c, j] = GROUND
