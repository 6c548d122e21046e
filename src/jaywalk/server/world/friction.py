"""Friction volumes (``static.trigger.friction``): inside them tyres hold as the volume says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from jaywalk.server.world.actor import Actor
from jaywalk.server.world.blueprints import parse_float
from jaywalk.server.world.drivetrain import set_tyre_friction
from jaywalk.server.world.tables import Kind
from jaywalk.server.world.vehicle_physics import VehiclePhysics

if TYPE_CHECKING:
    from jaywalk.server.world.world import World

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
        """Apply the volumes to whoever entered, restore whoever left."""
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
