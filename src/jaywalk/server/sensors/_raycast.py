"""Objects along a single ray, for queries to the world."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from jaywalk.server.sensors._scan import cast_rays
from jaywalk.server.sensors._scene import SensorScene
from jaywalk.server.sensors._shading import ground_label
from jaywalk.server.sensors._visibility import GROUND, SKY

Point = tuple[float, float, float]

_MAX_HITS: Final = 64
_STEP_BEYOND_M: Final = 1e-3  # the next ray starts this far behind the last hit


def raycast_all(scene: SensorScene, start: Point, end: Point) -> list[tuple[Point, int]]:
    """Return place and semantic label of everything between two points, near to far.

    An object of several solids (the body and cabin of a car) is reported once, where the ray enters
    it; the ground ends the ray.
    """
    origin = np.array(start, dtype=np.float64)
    direction = np.array(end, dtype=np.float64) - origin
    remaining_m = float(np.linalg.norm(direction))
    if not math.isfinite(remaining_m) or remaining_m <= 0.0:
        return []
    direction /= remaining_m
    hits: list[tuple[Point, int]] = []
    reported: set[tuple[int, int]] = set()
    for _ in range(_MAX_HITS):
        reach = np.array([remaining_m])
        distance, surface, _ = cast_rays(
            scene.solids, scene.meshes, scene.relief, origin, direction[None], reach, -2
        )
        if surface[0] == SKY:
            break
        place = origin + float(distance[0]) * direction
        here = (float(place[0]), float(place[1]), float(place[2]))
        if surface[0] == GROUND:
            hits.append((here, int(ground_label(scene.paint, here[0], here[1]))))
            break
        solid = int(surface[0]) >> 3
        # Scenery has no owner; each of its solids stands for itself.
        owner = int(scene.solids.owner[solid])
        target = (owner, -1) if owner >= 0 else (-1, solid)
        if target not in reported:
            reported.add(target)
            hits.append((here, int(scene.solids.label[solid])))
        step_m = float(distance[0]) + _STEP_BEYOND_M
        origin, remaining_m = origin + step_m * direction, remaining_m - step_m
        if remaining_m <= 0.0:
            break
    return hits
