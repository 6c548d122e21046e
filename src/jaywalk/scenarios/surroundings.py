"""Everything that can be hit, read from snapshots into arrays with few calls."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

_PERSON_RADIUS_M: Final = 0.35
_LOW_M: Final = 0.2  # props flatter than this can be driven over


class Surroundings:
    """Vehicles, props and people of a world.

    Attributes:
        owner: Row in the fleet of each box, -1 for others.
        own_rows: Box row of each vehicle of the fleet.
        origin: (k, 3) actor origin and yaw of each box.
    """

    def __init__(self, world: Any, own_ids: list[int]) -> None:
        self._world = world
        self._own = own_ids
        self._count = -1
        self._rescan()

    def actors(self, ids: list[int]) -> list[Any]:
        """Actor objects in the order of ``ids``."""
        found = {actor.id: actor for actor in self._world.get_actors(ids)}
        return [found[actor] for actor in ids]

    def _rescan(self) -> None:
        actors = self._world.get_actors()
        vehicles = {actor.id: actor for actor in actors.filter("vehicle.*")}
        props = [a for a in actors.filter("static.prop.*") if a.bounding_box.extent.z > _LOW_M]
        others = sorted(key for key in vehicles if key not in set(self._own))
        things = [
            *(vehicles[key] for key in self._own),
            *(vehicles[key] for key in others),
            *sorted(props, key=lambda prop: prop.id),
        ]
        self._ids = [thing.id for thing in things]
        self._people = sorted(walker.id for walker in actors.filter("walker.*"))
        self.owner = np.full(len(things), -1, np.int64)
        self.owner[: len(self._own)] = np.arange(len(self._own))
        self.own_rows = np.arange(len(self._own))
        self.origin = np.zeros((len(things), 3))
        boxes = [thing.bounding_box for thing in things]
        self._box = np.zeros((len(things), 8))
        self._centre = np.array([(b.location.x, b.location.y) for b in boxes]).reshape(-1, 2)
        if things:
            self._box[:, 4:6] = [(b.extent.x, b.extent.y) for b in boxes]
        self._person = np.zeros((len(self._people), 5))
        self._person[:, 4] = _PERSON_RADIUS_M

    def look(self, snapshot: Any) -> tuple[FloatArray, FloatArray]:
        """Boxes (x, y, cos, sin, half length, half width, vx, vy) and people (x, y, vx, vy, r)."""
        if len(snapshot) != self._count or not self._read(snapshot):
            self._count = len(snapshot)
            self._rescan()
            self._read(snapshot)
        return self._box, self._person

    def _read(self, snapshot: Any) -> bool:
        rows = []
        for actor in self._ids:
            state = snapshot.find(actor)
            if state is None:
                return False
            pose, velocity = state.get_transform(), state.get_velocity()
            place = pose.location
            rows.append((place.x, place.y, math.radians(pose.rotation.yaw), velocity.x, velocity.y))
        people = []
        for actor in self._people:
            state = snapshot.find(actor)
            if state is None:
                return False
            place, velocity = state.get_transform().location, state.get_velocity()
            people.append((place.x, place.y, velocity.x, velocity.y))
        if rows:
            values = np.array(rows)
            self.origin[:] = values[:, :3]
            cos, sin = np.cos(values[:, 2]), np.sin(values[:, 2])
            ahead, side = self._centre[:, 0], self._centre[:, 1]
            self._box[:, 0] = values[:, 0] + ahead * cos - side * sin
            self._box[:, 1] = values[:, 1] + ahead * sin + side * cos
            self._box[:, 2], self._box[:, 3] = cos, sin
            self._box[:, 6:8] = values[:, 3:5]
        if people:
            self._person[:, :4] = people
        return True
