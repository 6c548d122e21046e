"""Solid objects and people of a world, read from snapshots into arrays with few calls."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from jaywalk.client.snapshot import place_boxes, pose_rows
from jaywalk.core.arrays import FloatArray
from jaywalk.geometry.box import upright_box

if TYPE_CHECKING:
    import carla

_PERSON_RADIUS_M: Final = 0.35
_LOW_M: Final = 0.2  # props flatter than this can be driven over


class Surroundings:
    """Vehicles, props and people of a world.

    Attributes:
        owner: Row in the fleet of each box; -1 for other actors.
        own_rows: Box row of each vehicle of the fleet.
        origin: (k, 3) actor origin and yaw of each box.
    """

    def __init__(self, world: carla.World, own_ids: list[int]) -> None:
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
        self._box = np.zeros((len(things), 8))
        outlines = np.array([_outline(thing) for thing in things]).reshape(-1, 4)
        self._box[:, 4:6], self._centre = outlines[:, :2], outlines[:, 2:]
        self._person = np.zeros((len(self._people), 5))
        self._person[:, 4] = _PERSON_RADIUS_M

    def look(self, snapshot: carla.WorldSnapshot) -> tuple[FloatArray, FloatArray]:
        """Read boxes (x, y, cos, sin, half length and width, vx, vy), people (x, y, vx, vy, r)."""
        if len(snapshot) != self._count or not self._read(snapshot):
            self._count = len(snapshot)
            self._rescan()
            self._read(snapshot)
        return self._box, self._person

    def _read(self, snapshot: carla.WorldSnapshot) -> bool:
        things = pose_rows(snapshot, self._ids)
        people = pose_rows(snapshot, self._people)
        if things is None or people is None:
            return False
        self.origin[:] = things[:, :3]
        place_boxes(self._box, self._centre, things)
        self._person[:, :4] = people[:, [0, 1, 3, 4]]
        return True


def _outline(thing: Any) -> tuple[float, float, float, float]:
    """Half length, half width and middle of a body from above; props may lie on their side."""
    box = thing.bounding_box
    half, centre = box.extent, box.location
    if not thing.type_id.startswith("static."):
        return half.x, half.y, centre.x, centre.y
    turn = thing.get_transform().rotation
    hx, hy, _, cx, cy, _ = upright_box(
        half.x,
        half.y,
        half.z,
        centre.x,
        centre.y,
        centre.z,
        math.radians(turn.pitch),
        math.radians(turn.roll),
    )
    return hx, hy, cx, cy
