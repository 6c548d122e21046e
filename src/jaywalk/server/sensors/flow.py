"""Optical flow from depth: where each visible point was in the camera's last picture."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jaywalk.server.sensors.kernel import kernel
from jaywalk.server.sensors.scene import Scene
from jaywalk.server.sensors.visibility import NEAR_M, SKY, View, Visible, pixel_ray


def static_flow(
    scene: Scene, view: View, seen: Visible, last: View, elapsed_s: float
) -> NDArray[np.float32]:
    """Flow to the right and down since the ``last`` view, as shares of width and height.

    Points of actors are moved back by their actor's velocity; turning and gait are left out.
    """
    table = scene.actors[: scene.rows]
    velocity = np.stack([table["vx"], table["vy"], table["vz"]], axis=1).astype(np.float64)
    owner = scene.solids.owner[: max(scene.solids.used, 1)]
    out = np.zeros((view.height, view.width, 2), np.float32)
    _flow(owner, velocity, view, seen, last, elapsed_s, out)
    return out


@kernel
def _flow(
    owner: NDArray[np.int32],
    velocity: NDArray[np.float64],
    view: View,
    seen: Visible,
    last: View,
    elapsed_s: float,
    out: NDArray[np.float32],
) -> None:
    axes = last.axes
    for v in range(view.height):
        for u in range(view.width):
            dx, dy, dz = pixel_ray(view, u + 0.5, v + 0.5)
            surface = seen.surface[v, u]
            if surface == SKY:
                x, y, z = dx, dy, dz  # infinitely far: only rotation counts
            else:
                t = 1.0 / seen.inverse_depth[v, u]
                x = view.origin[0] + t * dx - last.origin[0]
                y = view.origin[1] + t * dy - last.origin[1]
                z = view.origin[2] + t * dz - last.origin[2]
                row = owner[surface >> 3] if surface >= 0 else -1
                if row >= 0:
                    x -= elapsed_s * velocity[row, 0]
                    y -= elapsed_s * velocity[row, 1]
                    z -= elapsed_s * velocity[row, 2]
            depth = axes[0, 0] * x + axes[0, 1] * y + axes[0, 2] * z
            if depth < NEAR_M * 0.02:
                continue  # was behind the camera
            right = axes[1, 0] * x + axes[1, 1] * y + axes[1, 2] * z
            up = axes[2, 0] * x + axes[2, 1] * y + axes[2, 2] * z
            old_u = 0.5 * last.width + last.focal_px * right / depth
            old_v = 0.5 * last.height - last.focal_px * up / depth
            out[v, u, 0] = (u + 0.5 - old_u) / view.width
            out[v, u, 1] = (v + 0.5 - old_v) / view.height
