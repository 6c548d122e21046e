"""Vehicles, props, people and lights of a world, read from snapshots into arrays with few calls.

``Surroundings`` serves the background traffic. ``CrowdView`` serves people on foot: it reads the
people on every look, vehicles and lights less often.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from jaywalk.actors.crowd.state import RELEASED, CrowdRows, CrowdSurroundings
from jaywalk.client.snapshot import place_boxes, pose_rows
from jaywalk.core.arrays import FloatArray, IntArray
from jaywalk.core.carla_enums import LightState
from jaywalk.geometry.box import upright_carla_box
from jaywalk.geometry.pose import yaw_rad

if TYPE_CHECKING:
    import carla

_PERSON_RADIUS_M: Final = 0.35
_LOW_M: Final = 0.2  # props with a smaller half height can be driven over ...
_STEP_M: Final = 0.1  # ... and people walk over these
_HIDES_M: Final = 1.2  # props higher than this hide what is behind them
_STANDING_MPS: Final = 0.3
_CARS_EVERY: Final = 2  # every n-th look reads the cars
_LIGHTS_EVERY: Final = 5


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
        by_id = {actor.id: actor for actor in self._world.get_actors(ids)}
        return [by_id[actor] for actor in ids]

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
    hx, hy, _, cx, cy, _ = upright_carla_box(box, thing.get_transform().rotation)
    return hx, hy, cx, cy


class CrowdView:
    """Vehicles, props, other people and lights around people on foot.

    Attributes:
        vehicle_ids: Ids of the vehicles, in rising order; a new list when one comes or goes.
        vehicle_roles: Their role names.
    """

    def __init__(
        self, world: carla.World, own_ids: list[int], cars_every: int = _CARS_EVERY
    ) -> None:
        self._world = world
        self._cars_every = cars_every
        self._own = own_ids
        self._count = -1
        self._looks = 0
        self.lights = RedLights(world)
        self._rescan()

    def _rescan(self) -> None:
        actors = self._world.get_actors()
        vehicles = sorted(actors.filter("vehicle.*"), key=lambda actor: actor.id)
        props = [a for a in actors.filter("static.prop.*") if a.bounding_box.extent.z > _STEP_M]
        own = set(self._own)
        self.vehicle_ids = [actor.id for actor in vehicles]
        self.vehicle_roles = [str(a.attributes.get("role_name", "")) for a in vehicles]
        self._other_ids = sorted(a.id for a in actors.filter("walker.*") if a.id not in own)
        boxes = [actor.bounding_box for actor in vehicles]
        self._centre = np.array([(b.location.x, b.location.y) for b in boxes]).reshape(-1, 2)
        self._vehicles = np.zeros((len(vehicles), 8))
        if boxes:
            self._vehicles[:, 4:6] = [(b.extent.x, b.extent.y) for b in boxes]
        self._other_people = np.zeros((len(self._other_ids), 4))
        props.sort(key=lambda prop: prop.id)
        self._props = np.array([flat_box(prop) for prop in props]).reshape(-1, 6)
        heights_m = [2.0 * prop.bounding_box.extent.z for prop in props]
        self._tall = np.array(heights_m) > _HIDES_M

    def look(
        self, snapshot: carla.WorldSnapshot, people: CrowdRows, delta_s: float
    ) -> CrowdSurroundings:
        """Update the positions of people; read cars and lights when they are due.

        ``delta_s`` is the time since the last look, in seconds.
        """
        self._read_people(snapshot, people)
        if self._looks % self._cars_every == 0:
            self._look_around(snapshot)
        if self._looks % _LIGHTS_EVERY == 0:
            self.lights.read(_LIGHTS_EVERY * delta_s)
        self._looks += 1
        return CrowdSurroundings(
            self._vehicles,
            self._props,
            self._other_people,
            self.lights.red_s,
            self.lights.red_length_s,
        )

    def around(
        self, snapshot: carla.WorldSnapshot
    ) -> tuple[IntArray, FloatArray, FloatArray, FloatArray]:
        """Read vehicles and other people now.

        Returns:
            Ids of the vehicles in rising order, their rows (k, 8), the boxes (b, 6) of what hides
            things behind it (standing vehicles and tall props), and other people (p, 4).
        """
        self._look_around(snapshot)
        standing = np.hypot(self._vehicles[:, 6], self._vehicles[:, 7]) < _STANDING_MPS
        hides = np.concatenate([self._vehicles[standing, :6], self._props[self._tall]])
        ids = np.array(self.vehicle_ids, np.int64)
        return ids, self._vehicles, np.ascontiguousarray(hides), self._other_people

    def _look_around(self, snapshot: carla.WorldSnapshot) -> None:
        if len(snapshot) != self._count or not self._read_others(snapshot):
            self._count = len(snapshot)
            self._rescan()
            self._read_others(snapshot)

    def _read_people(self, snapshot: carla.WorldSnapshot, people: CrowdRows) -> None:
        find = snapshot.find
        rows = []
        for row, actor in enumerate(self._own):
            state = find(actor)
            if state is None:  # not yet spawned, or already destroyed
                rows.append((people.x[row], people.y[row], people.z[row]))
                if self._looks:
                    people.state[row] = RELEASED
                continue
            place = state.get_transform().location
            rows.append((place.x, place.y, place.z))
        if rows:
            people.x[:], people.y[:], people.z[:] = np.array(rows).T

    def _read_others(self, snapshot: carla.WorldSnapshot) -> bool:
        vehicles = pose_rows(snapshot, self.vehicle_ids)
        others = pose_rows(snapshot, self._other_ids)
        if vehicles is None or others is None:
            return False
        self._other_people[:] = others[:, [0, 1, 3, 4]]
        place_boxes(self._vehicles, self._centre, vehicles)
        return True


class RedLights:
    """Traffic lights of a world, and for how long they have been red.

    Attributes:
        red_s: Seconds since each light turned red; -1: it is not red.
        red_length_s: Duration of its last red phase; 0: not yet known.
    """

    def __init__(self, world: carla.World) -> None:
        self._lights = sorted(
            world.get_actors().filter("traffic.traffic_light"), key=lambda light: light.id
        )
        self._is_first = True
        self.red_s = np.full(len(self._lights), -1.0)
        self.red_length_s = np.zeros(len(self._lights))

    def read(self, since_s: float) -> None:
        """Read all lights; ``since_s`` is the time since they were last read, in seconds."""
        first, self._is_first = self._is_first, False
        red = np.array([int(light.state) == LightState.RED for light in self._lights], np.bool_)
        if not len(red):
            return
        ended = ~red & (self.red_s >= 0.0)
        self.red_length_s[ended] = self.red_s[ended]
        begun = red & (self.red_s < 0.0)
        self.red_s = np.where(red, self.red_s + since_s, -1.0)
        self.red_s[begun] = 3.0 if first else 0.0


def flat_box(actor: carla.Actor) -> tuple[float, ...]:
    """Return the box of an actor from above: x, y, cos, sin, half length, half width."""
    pose, box = actor.get_transform(), actor.bounding_box
    yaw = yaw_rad(pose)
    cos, sin = math.cos(yaw), math.sin(yaw)
    x = pose.location.x + box.location.x * cos - box.location.y * sin
    y = pose.location.y + box.location.x * sin + box.location.y * cos
    return x, y, cos, sin, box.extent.x, box.extent.y


# Number of the first vehicle of each role; vehicles of scenarios come after these.
_FIRST_OF: Final = {"hero": 1, "background": 101}
FIRST_OTHER: Final = 50_001


class VehicleNumbers:
    """Numbers of vehicles for memories and noise.

    Actor ids will not do: they depend on earlier episodes of the server, and the two halves of a
    pair have different actors, but the same background.

    Attributes:
        numbers: Numbers of the present vehicles, rising.
        order: Rows of these vehicles in the list of ids.
    """

    def __init__(self) -> None:
        self._ids: list[int] = []
        self._number: dict[int, int] = {}
        self._actor: dict[int, int] = {0: 0}
        self.order = np.zeros(0, np.int64)
        self.numbers = np.zeros(0, np.int64)

    def update(self, ids: list[int], roles: list[str]) -> None:
        """Number vehicles that are new; ``order`` sorts them by ``numbers``."""
        if ids is self._ids:
            return
        self._ids = ids
        for actor, role in zip(ids, roles, strict=True):
            number = _FIRST_OF.get(role, FIRST_OTHER)
            while self._actor.setdefault(number, actor) != actor:
                number += 1
            self._number.setdefault(actor, number)
        unsorted = np.array([self._number[actor] for actor in ids], np.int64)
        self.order = np.argsort(unsorted, kind="stable")
        self.numbers = unsorted[self.order]

    def number_of(self, actor: int) -> int:
        """Return the number of a vehicle; -1 if it has none."""
        return self._number.get(actor, -1)

    def actors(self, numbers: IntArray) -> IntArray:
        """Actor ids of numbers; 0 stays 0."""
        return np.array([self._actor[number] for number in numbers.tolist()], np.int64)
