"""Tables of the models that actors and scenery show in a tick."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jaywalk.server.sensors._mesh import (
    ActorMeshes,
    Look,
    MeshLibrary,
    SceneryMeshes,
    no_actor_meshes,
    no_scenery_meshes,
)
from jaywalk.server.sensors.models import actor_look, pose_parts, scenery_look
from jaywalk.server.world._tables import Actor, Kind

_SHOWN = (Kind.VEHICLE, Kind.WALKER, Kind.PROP)


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
        self._looks: dict[tuple[int, str, tuple[int, int, int]], Look | None] = {}

    def _look(self, actor: Actor) -> Look | None:
        key = (actor.id, actor.type_id, actor.color)
        if key not in self._looks:
            values = {name: value for name, (_, value) in actor.attributes.items()}
            self._looks[key] = actor_look(actor.type_id, values, actor.box_extent, actor.color)
        return self._looks[key]

    def tables(self, actors: Iterable[Actor], table: NDArray[Any], time_s: float) -> ActorMeshes:
        """Return the models of this tick."""
        out = no_actor_meshes(len(table))
        poses: list[NDArray[np.float64]] = []
        count = 0
        for actor in actors:
            look = self._look(actor) if actor.kind in _SHOWN else None
            if look is None:
                continue
            row = actor.row
            out.model[row] = self._library.number(look.model)
            out.scale[row] = look.scale
            out.slots[row] = look.slots()
            if look.parts:
                own = np.tile(np.eye(3, 4), (look.parts, 1, 1))
                pose_parts(look, table[row], time_s, own)
                out.first_part[row] = count
                poses.append(own)
                count += look.parts
        return out._replace(part_pose=np.concatenate([np.zeros((0, 3, 4)), *poses]))
