"""Standing obstacles near posed people: vehicles, props and people who do not move."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from jaywalk.actors.crowd._plans import CrowdView
from jaywalk.actors.crowd.state import CrowdRows
from jaywalk.actors.posed._detour import NO_OBSTACLES, Obstacles
from jaywalk.core.arrays import BoolArray, FloatArray

STANDING_MPS: Final = 0.3  # people slower than this stand
_STOPPING_MPS: Final = 1.2  # a vehicle this slow is about to stop, or has just begun to move
_NEAR_M: Final = 15.0  # obstacles farther away from a walking person are ignored


@dataclass(slots=True)
class NearbyObstacles:
    """Standing obstacles near moving people, as of the last look.

    Attributes:
        view: Reader of vehicles, props and other people in a snapshot.
        people: Rows in which the view keeps the positions of the posed people.
        delta_s: Time between two looks, in seconds.
    """

    view: CrowdView
    people: CrowdRows
    delta_s: float
    _obstacles: Obstacles = field(default=NO_OBSTACLES, init=False)

    def look(self, snapshot: Any, places_m: FloatArray) -> None:
        """Read the obstacles near the moving people at ``places_m`` (n, 2) from a snapshot."""
        seen = self.view.look(snapshot, self.people, self.delta_s)
        slow = np.hypot(seen.vehicle[:, 6], seen.vehicle[:, 7]) < _STOPPING_MPS
        boxes = np.concatenate([seen.vehicle[slow, :6], seen.thing])
        still = np.hypot(seen.stranger[:, 2], seen.stranger[:, 3]) < STANDING_MPS
        boxes = boxes[_near(boxes[:, :2], places_m)]
        discs = seen.stranger[still, :2]
        self._obstacles = Obstacles(
            np.ascontiguousarray(boxes), np.ascontiguousarray(discs[_near(discs, places_m)])
        )

    def around(self, x: float, y: float, standing: Iterable[tuple[float, float]]) -> Obstacles:
        """Obstacles for a person at (x, y), including standing posed people nearby."""
        near = [(u, v) for u, v in standing if abs(u - x) < _NEAR_M and abs(v - y) < _NEAR_M]
        discs = np.concatenate([self._obstacles.disc, np.array(near).reshape(-1, 2)])
        return Obstacles(self._obstacles.box, discs)


def _near(points_m: FloatArray, people_m: FloatArray) -> BoolArray:
    """Mask of the points (n, 2) that are near any of the people (m, 2)."""
    if not len(points_m) or not len(people_m):
        return np.zeros(len(points_m), np.bool_)
    gap = np.abs(points_m[:, None] - people_m[None]).max(axis=2)
    return np.asarray(gap.min(axis=1) < _NEAR_M)
