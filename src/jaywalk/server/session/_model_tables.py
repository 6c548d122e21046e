"""Tables of the models that actors and scenery show in a tick."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from jaywalk.server.sensors._mesh import (
    ActorMeshes,
    MeshLibrary,
    SceneryMeshes,
    no_actor_meshes,
    no_scenery_meshes,
)
from jaywalk.server.sensors.models import ActorLook, ActorMotion, Body, actor_look, scenery_look
from jaywalk.server.world._tables import Actor, Kind
from jaywalk.server.world._world import World

_SHOWN = (Kind.VEHICLE, Kind.WALKER, Kind.PROP, Kind.LIGHT)


def scenery_meshes(scenery: NDArray[Any], library: MeshLibrary) -> SceneryMeshes:
    """Return the models of the scenery and put them into the library."""
    out = no_scenery_meshes(len(scenery))
    for index, item in enumerate(scenery):
        look = scenery_look(item, index)
        if look is not None:
            out.model[index] = library.number(look.model)
            out.scale[index] = look.scale
            out.slots[index] = look.slots()
    return out


class ActorModels:
    """The looks of the actors of one world; a look is chosen when its actor is first seen."""

    def __init__(self, library: MeshLibrary) -> None:
        self._library = library
        self._looks: dict[tuple[int, str, tuple[int, int, int]], ActorLook | None] = {}

    def _look(self, actor: Actor) -> ActorLook | None:
        key = (actor.id, actor.type_id, actor.color)
        if key not in self._looks:
            values = {name: value for name, (_, value) in actor.attributes.items()}
            body = Body(
                actor.type_id, values, actor.box_extent, actor.box_centre, actor.color, actor.id
            )
            self._looks[key] = actor_look(body)
        return self._looks[key]

    def tables(self, world: World) -> ActorMeshes:
        """Return the models of this tick."""
        table = world.columns.table
        out = no_actor_meshes(len(table))
        poses: list[NDArray[np.float64]] = []
        count = 0
        for actor in world.actors.values():
            shown = self._look(actor) if actor.kind in _SHOWN else None
            if shown is None:
                continue
            look, row = shown.look, actor.row
            out.model[row] = self._library.number(look.model)
            out.scale[row] = look.scale
            out.slots[row] = look.slots()
            if look.rider is not None:
                out.rider[row] = self._library.number(look.rider)
            if shown.pose is not None:
                own = np.tile(np.eye(3, 4), (look.parts, 1, 1))
                doors = world.open_doors.get(actor.id, 0)
                motion = ActorMotion(
                    world.time_s,
                    world.rolled_m(row),
                    doors,
                    actor.wheel_angles_deg,
                    world.lights.state_of(actor.id),
                )
                shown.pose(table[row], motion, own)
                out.first_part[row] = count
                poses.append(own)
                count += look.parts
        return out._replace(part_pose=np.concatenate([np.zeros((0, 3, 4)), *poses]))
