"""What a crowd sees of the world: itself every tick, cars and lights a few times a second."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.scenarios.crowd_state import RELEASED, People, Seen
from jaywalk.scenarios.snapshot_rows import place_boxes, pose_rows

FloatArray = NDArray[np.float64]

_RED: Final = 0
_CARS_EVERY: Final = 2  # of so many looks one is at cars
_LIGHTS_EVERY: Final = 5
_LOW_M: Final = 0.1  # half the height of props that are walked over


class CrowdView:
    """Reads snapshots into arrays with few calls."""

    def __init__(self, world: Any, own_ids: list[int], cars_every: int = _CARS_EVERY) -> None:
        self._world = world
        self._cars_every = cars_every
        self._own = own_ids
        self._count = -1
        self._looks = 0
        self._lights = sorted(
            world.get_actors().filter("traffic.traffic_light"), key=lambda light: light.id
        )
        self._red_s = np.full(len(self._lights), -1.0)
        self._red_length_s = np.zeros(len(self._lights))
        self._rescan()

    def _rescan(self) -> None:
        actors = self._world.get_actors()
        vehicles = sorted(actors.filter("vehicle.*"), key=lambda actor: actor.id)
        props = [a for a in actors.filter("static.prop.*") if a.bounding_box.extent.z > _LOW_M]
        own = set(self._own)
        self._vehicles = [actor.id for actor in vehicles]
        self._strangers = sorted(a.id for a in actors.filter("walker.*") if a.id not in own)
        boxes = [actor.bounding_box for actor in vehicles]
        self._centre = np.array([(b.location.x, b.location.y) for b in boxes]).reshape(-1, 2)
        self._vehicle = np.zeros((len(vehicles), 8))
        if boxes:
            self._vehicle[:, 4:6] = [(b.extent.x, b.extent.y) for b in boxes]
        self._stranger = np.zeros((len(self._strangers), 4))
        self._thing = np.array(
            [flat_box(prop) for prop in sorted(props, key=lambda prop: prop.id)]
        ).reshape(-1, 6)

    def look(self, snapshot: Any, people: People, delta_s: float) -> Seen:
        """Update the places of people; cars and lights when it is their turn.

        ``delta_s`` is the time since the last look.
        """
        self._read_people(snapshot, people)
        if self._looks % self._cars_every == 0:
            self._look_around(snapshot)
        if self._looks % _LIGHTS_EVERY == 0:
            self._read_lights(_LIGHTS_EVERY * delta_s)
        self._looks += 1
        return Seen(self._vehicle, self._thing, self._stranger, self._red_s, self._red_length_s)

    def _look_around(self, snapshot: Any) -> None:
        if len(snapshot) != self._count or not self._read_others(snapshot):
            self._count = len(snapshot)
            self._rescan()
            self._read_others(snapshot)

    def _read_people(self, snapshot: Any, people: People) -> None:
        find = snapshot.find
        rows = []
        for row, actor in enumerate(self._own):
            state = find(actor)
            if state is None:  # not yet in the world, or taken out of it
                rows.append((people.x[row], people.y[row], people.z[row]))
                if self._looks:
                    people.state[row] = RELEASED
                continue
            place = state.get_transform().location
            rows.append((place.x, place.y, place.z))
        if rows:
            people.x[:], people.y[:], people.z[:] = np.array(rows).T

    def _read_others(self, snapshot: Any) -> bool:
        vehicles = pose_rows(snapshot, self._vehicles)
        strangers = pose_rows(snapshot, self._strangers)
        if vehicles is None or strangers is None:
            return False
        self._stranger[:] = strangers[:, [0, 1, 3, 4]]
        place_boxes(self._vehicle, self._centre, vehicles)
        return True

    def _read_lights(self, since_s: float) -> None:
        red = np.array([int(light.state) == _RED for light in self._lights], np.bool_)
        if not len(red):
            return
        ended = ~red & (self._red_s >= 0.0)
        self._red_length_s[ended] = self._red_s[ended]
        begun = red & (self._red_s < 0.0)
        self._red_s = np.where(red, self._red_s + since_s, -1.0)
        self._red_s[begun] = 0.0 if self._looks else 3.0


def flat_box(actor: Any) -> tuple[float, ...]:
    """Box of an actor from above: x, y, cos, sin, half length, half width."""
    pose, box = actor.get_transform(), actor.bounding_box
    yaw = math.radians(pose.rotation.yaw)
    cos, sin = math.cos(yaw), math.sin(yaw)
    x = pose.location.x + box.location.x * cos - box.location.y * sin
    y = pose.location.y + box.location.x * sin + box.location.y * cos
    return x, y, cos, sin, box.extent.x, box.extent.y
