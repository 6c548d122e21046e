"""Effects of place and attachment: traffic lights, speed limits, friction volumes, parents.

Vehicles learn the traffic light that they stand at and the speed limit in force. The pose and
motion of attached actors follow the parent. Inside friction volumes (``static.trigger.friction``)
tyres have the friction of the volume.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.kernels import kernel
from jaywalk.geometry.box import boxes_touch
from jaywalk.geometry.rotation import fill_rotation_matrix
from jaywalk.server.world._lights import GREEN
from jaywalk.server.world._tables import Actor, Kind
from jaywalk.server.world._vehicle_models import set_tyre_friction
from jaywalk.server.world._vehicle_physics import VehiclePhysics
from jaywalk.server.world.blueprints import parse_float
from jaywalk.town.limits import SpeedLimits, speed_limit_at

if TYPE_CHECKING:
    from jaywalk.server.world._world import World


@kernel
def follow_parents(actors: NDArray[Any], rows: int) -> None:
    """Place every attached actor; two passes allow attachments of attached actors."""
    outer, inner = np.empty((3, 3)), np.empty((3, 3))
    for _ in range(2):
        for index in range(rows):
            row = actors[index]
            if row.id == 0 or row.attached == 0:
                continue
            parent = actors[row.parent_row]
            fill_rotation_matrix(parent.pitch, parent.yaw, parent.roll, outer)
            dx = outer[0, 0] * row.rel_x + outer[0, 1] * row.rel_y + outer[0, 2] * row.rel_z
            dy = outer[1, 0] * row.rel_x + outer[1, 1] * row.rel_y + outer[1, 2] * row.rel_z
            dz = outer[2, 0] * row.rel_x + outer[2, 1] * row.rel_y + outer[2, 2] * row.rel_z
            row.x, row.y, row.z = parent.x + dx, parent.y + dy, parent.z + dz
            if row.rel_pitch == 0.0 and row.rel_yaw == 0.0 and row.rel_roll == 0.0:
                row.pitch, row.yaw, row.roll = parent.pitch, parent.yaw, parent.roll
            else:
                fill_rotation_matrix(row.rel_pitch, row.rel_yaw, row.rel_roll, inner)
                total = outer @ inner
                row.pitch = np.arcsin(min(max(total[2, 0], -1.0), 1.0))
                row.yaw = np.arctan2(total[1, 0], total[0, 0])
                row.roll = np.arctan2(-total[2, 1], total[2, 2])
            # A point off the parent's centre moves with the parent's turning too.
            row.vx = parent.vx - parent.wz * dy
            row.vy = parent.vy + parent.wz * dx
            row.vz = parent.vz
            row.wx, row.wy, row.wz = parent.wx, parent.wy, parent.wz
            row.ax, row.ay, row.az = parent.ax, parent.ay, parent.az


FRICTION_TRIGGER: Final = "static.trigger.friction"
_CM: Final = 0.01


class FrictionVolumes:
    """Axis-aligned boxes that change the tyre friction of the vehicles inside."""

    def __init__(self) -> None:
        self._volumes: dict[int, tuple[np.ndarray[tuple[int], np.dtype[np.float64]], float]] = {}
        self._inside: dict[int, VehiclePhysics] = {}  # vehicle -> what it had before

    def add(self, world: World, actor: Actor) -> None:
        """Take over a trigger actor; its extents are in centimetres, as in the simulator."""
        half = [parse_float(actor.value(f"extent_{axis}", "100")) * _CM for axis in "xyz"]
        centre = world.pose(actor)[0]
        box = np.array([*np.subtract(centre, half), *np.add(centre, half)])
        self._volumes[actor.id] = (box, parse_float(actor.value("friction", "3.5")))

    def remove(self, actor_id: int) -> None:
        """Forget a volume or a vehicle."""
        self._volumes.pop(actor_id, None)
        self._inside.pop(actor_id, None)

    def step(self, world: World) -> None:
        """Apply the volumes to vehicles that entered and restore vehicles that left."""
        if not self._volumes and not self._inside:
            return
        for actor in list(world.actors.values()):
            if actor.kind is not Kind.VEHICLE:
                continue
            friction = self._friction_at(np.array(world.pose(actor)[0]))
            if friction is not None and actor.id not in self._inside:
                self._inside[actor.id] = actor.physics
                set_tyre_friction(world, actor, friction)
            elif friction is None and actor.id in self._inside:
                before = self._inside.pop(actor.id)
                set_tyre_friction(world, actor, before.wheels[0].tire_friction)

    def _friction_at(self, place: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float | None:
        for box, friction in self._volumes.values():
            if (place >= box[:3]).all() and (place <= box[3:]).all():
                return friction
        return None


_VEHICLE: Final = int(Kind.VEHICLE)
DEFAULT_LIMIT_KMH: Final = 30.0
# A limit is looked up every tenth tick: a car moves a few metres between two looks.
_LIMIT_PERIOD: Final = 10


@kernel
def mark_lights(
    actors: NDArray[Any],
    rows: int,
    boxes: NDArray[np.float64],
    owner: NDArray[np.int64],
    lights: NDArray[Any],
) -> None:
    """Set for every vehicle whether it is at a traffic light.

    Args:
        actors: The actor table.
        rows: Rows in use.
        boxes: (n, 7) stop boxes: centre x, y, z, lane yaw (rad), half length, width, height.
        owner: (n,) index of each box's light.
        lights: The light table.
    """
    for index in range(rows):
        row = actors[index]
        if row.id == 0 or row.kind != _VEHICLE:
            continue
        row.light_state, row.at_light, row.light_id = GREEN, 0, 0
        forward_x, forward_y = np.cos(row.yaw), np.sin(row.yaw)
        centre_x = row.x + row.cx * forward_x
        centre_y = row.y + row.cx * forward_y
        reach = row.ex + row.ey + 4.0
        for k in range(len(boxes)):
            dx, dy = boxes[k, 0] - centre_x, boxes[k, 1] - centre_y
            if dx * dx + dy * dy > reach * reach or abs(boxes[k, 2] - row.z) > 4.0:
                continue
            lane_x, lane_y = np.cos(boxes[k, 3]), np.sin(boxes[k, 3])
            if forward_x * lane_x + forward_y * lane_y <= 0.5:
                continue
            if boxes_touch(
                dx,
                dy,
                forward_x,
                forward_y,
                row.ex,
                row.ey,
                lane_x,
                lane_y,
                boxes[k, 4],
                boxes[k, 5],
            ):
                light = lights[owner[k]]
                row.light_state, row.at_light, row.light_id = light.state, 1, light.actor
                break


@kernel
def update_limits(actors: NDArray[Any], rows: int, limits: SpeedLimits, frame: int) -> None:
    """Store the road's speed limit for each vehicle; keep the old one where the road has none.

    All vehicles are updated on the same tick, so that the time does not depend on other actors.
    """
    if frame % _LIMIT_PERIOD:
        return
    for index in range(rows):
        row = actors[index]
        if row.id == 0 or row.kind != _VEHICLE:
            continue
        limit = speed_limit_at(limits, row.x, row.y, row.z, row.yaw)
        if not np.isnan(limit):
            row.speed_limit_kmh = limit
