"""The dense route as arrays, and how an ego advances along it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteLine:
    """Points about 1 m apart with the direction of travel. Frame: CARLA's."""

    place_m: FloatArray  # (m, 3)
    forward: FloatArray  # (m, 3)

    @property
    def along_m(self) -> FloatArray:
        """Distance along the route of each point, in space."""
        steps = np.linalg.norm(np.diff(self.place_m, axis=0), axis=1)
        return np.concatenate([[0.0], np.cumsum(steps)])

    @property
    def length_m(self) -> float:
        """Length of the route."""
        return float(self.along_m[-1])


def advance(route: RouteLine, places_m: FloatArray, window: int) -> NDArray[np.int64]:
    """Last point passed at each place, looking ``window`` points beyond the one before.

    A point is passed when the ego is in front of the plane through it, across the route; of
    several the last counts. The index never goes back.
    """
    points, ways = route.place_m.tolist(), route.forward.tolist()
    last = len(points) - 1
    out = np.empty(len(places_m), np.int64)
    index = 0
    for row, (x, y, z) in enumerate(places_m.tolist()):
        for k in range(min(index + window, last), index, -1):
            (px, py, pz), (fx, fy, fz) = points[k], ways[k]
            if (x - px) * fx + (y - py) * fy + (z - pz) * fz > 0.0:
                index = k
                break
        out[row] = index
    return out
