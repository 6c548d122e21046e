"""What lies along one ray, for programs that ask the world instead of a sensor."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from jaywalk.server.sensors.cast import cast_rays
from jaywalk.server.sensors.scene import Scene
from jaywalk.server.sensors.shading import ground_label
from jaywalk.server.sensors.visibility import GROUND, SKY

Point = tuple[float, float, float]

_MOST: Final = 64
_BEYOND_M: Final = 1e-3  # the next ray starts so far behind what the last one met


def things_along_ray(scene: Scene, start: Point, end: Point) -> list[tuple[Point, int]]:
    """Place and semantic label of everything between two points, near to far.

    A thing of several solids (the body and cabin of a car) is met once, where the ray enters it;
    the ground ends the ray.
    """
    origin = np.array(start, dtype=np.float64)
    way = np.array(end, dtype=np.float64) - origin
    left_m = float(np.linalg.norm(way))
    if not math.isfinite(left_m) or left_m <= 0.0:
        return []
    way /= left_m
    found: list[tuple[Point, int]] = []
    met: set[tuple[int, int]] = set()
    for _ in range(_MOST):
        distance, surface = cast_rays(
            scene.solids, scene.relief, origin, way[None], np.array([left_m]), -2
        )
        if surface[0] == SKY:
            break
        place = origin + float(distance[0]) * way
        here = (float(place[0]), float(place[1]), float(place[2]))
        if surface[0] == GROUND:
            found.append((here, int(ground_label(scene.paint, here[0], here[1]))))
            break
        solid = int(surface[0]) >> 3
        # Scenery has no owner; each of its solids stands for itself.
        owner = int(scene.solids.owner[solid])
        thing = (owner, -1) if owner >= 0 else (-1, solid)
        if thing not in met:
            met.add(thing)
            found.append((here, int(scene.solids.label[solid])))
        step_m = float(distance[0]) + _BEYOND_M
        origin, left_m = origin + step_m * way, left_m - step_m
        if left_m <= 0.0:
            break
    return found
