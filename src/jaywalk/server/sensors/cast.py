"""Single rays against everything: for radars, and the yardstick for the faster scans."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from jaywalk.server.sensors.intersect import ray_solid
from jaywalk.server.sensors.kernel import kernel
from jaywalk.server.sensors.solids import Solids
from jaywalk.server.sensors.terrain import Relief, ground_height, ray_ground
from jaywalk.server.sensors.visibility import GROUND, SKY


@kernel
def cast_rays(
    solids: Solids,
    relief: Relief,
    origin: NDArray[np.float64],
    directions: NDArray[np.float64],
    reach: NDArray[np.float64],
    hidden_row: int,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Distance and surface that each ray meets first; inf and SKY if nothing within its reach.

    Args:
        solids: Everything but the ground.
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
    ox, oy, oz = origin[0], origin[1], origin[2]
    level = ground_height(relief, ox, oy, oz)
    farthest = 0.0
    for i in range(count):
        farthest = max(farthest, reach[i])
    for k in range(solids.used):
        if solids.owner[k] == hidden_row:
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
    for i in range(count):
        direction = (directions[i, 0], directions[i, 1], directions[i, 2])
        limit = min(distance[i], reach[i])
        t = ray_ground(relief, (ox, oy, oz), direction, level, limit)
        if t < distance[i]:
            distance[i] = t
            surface[i] = GROUND
    return distance, surface


@kernel
def row_around(actors: NDArray[np.void], row: int, x: float, y: float, z: float) -> int:
    """The row itself if its box holds the point, else -2: a body does not blind what it carries."""
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
