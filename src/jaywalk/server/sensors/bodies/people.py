"""All people of a scene as instances of meshes: built once for a person, posed at every tick."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.arrays import FloatArray
from jaywalk.core.carla_enums import SemanticTag
from jaywalk.server.sensors._mesh import Mesh, MeshLibrary, Model, PosedMeshes, no_posed_meshes
from jaywalk.server.sensors.bodies._frame import LEVELS
from jaywalk.server.sensors.bodies._loft import BodyPart
from jaywalk.server.sensors.bodies._looks import Looks
from jaywalk.server.sensors.bodies.body import (
    BodyBatch,
    BodyModel,
    build_body,
    build_things,
    make_batch,
    move_points,
)

_OWN_LABEL: Final = 0  # that of the actor
_DYNAMIC: Final = int(SemanticTag.DYNAMIC)  # bags, buggies and wheelchairs in CARLA's catalogue


class SeenPerson(NamedTuple):
    """One walker of a tick: row of the actor table, id and appearance."""

    row: int
    actor_id: int
    looks: Looks
    in_wheelchair: bool = False


class _Built(NamedTuple):
    """A person at rest: parts of all levels, and the models that show them."""

    parts: tuple[BodyModel, ...]  # near, mid and far of the body, then of the things
    models: tuple[Model, ...]  # body, then things if there are any


@lru_cache(maxsize=512)
def _build(looks: Looks, in_wheelchair: bool) -> _Built:
    body = [build_body(looks, level) for level in range(LEVELS)]
    found = [build_things(looks, level, in_wheelchair=in_wheelchair) for level in range(LEVELS)]
    carried = [part for part in found if part is not None]
    groups = [group for group in (body, carried) if group]
    models = tuple(_model([part.surface for part in group]) for group in groups)
    return _Built((*body, *carried), models)


_MODELS: Final[dict[bytes, Model]] = {}  # people who differ in shape only share a model


def _model(levels: Sequence[BodyPart]) -> Model:
    key = b"".join(part.triangles.tobytes() + part.material.tobytes() for part in levels)
    if key not in _MODELS:
        _MODELS[key] = Model(tuple(_mesh(part) for part in levels))
    return _MODELS[key]


def _mesh(part: BodyPart) -> Mesh:
    corners = part.triangles
    return Mesh(
        part.points_m,
        corners,
        part.normals[corners].astype(np.float32),
        part.uv[corners],
        part.material,
        np.zeros(len(corners), np.int32),
    )


def person_meshes(looks: Looks, placed: FloatArray, *, in_wheelchair: bool = False) -> list[Model]:
    """Return a person in a fixed pose as rigid models: the body, and things if there are any.

    Args:
        looks: Appearance.
        placed: (bones, 7) bones in the frame of the model (x forward, y right, z up).
        in_wheelchair: Whether a wheelchair is below the person.
    """
    built = _build(looks, in_wheelchair)
    batch = make_batch([built.parts])
    points, normals = np.empty_like(batch.points_m), np.empty_like(batch.normals)
    move_points(batch, placed[np.newaxis], points, normals)
    models, first = [], 0
    for model in built.models:
        levels = []
        for mesh in model.levels:
            own = slice(first, first + len(mesh.points_m))
            first = own.stop
            corners = normals[own][mesh.triangles].astype(np.float32)
            levels.append(mesh._replace(points_m=points[own], normals=corners))
        models.append(Model(tuple(levels)))
    return models


class PeopleMeshes:
    """People of a scene. Their batch is made again only when somebody comes or goes."""

    def __init__(self, library: MeshLibrary) -> None:
        """Start without people.

        Args:
            library: Models of the scene.
        """
        self._library = library
        self._people: tuple[SeenPerson, ...] = ()
        self._batch: BodyBatch | None = None
        self._instances = no_posed_meshes()

    def posed(self, people: Sequence[SeenPerson], placed: FloatArray) -> PosedMeshes:
        """Return the instances of this tick.

        Args:
            people: Walkers with bones.
            placed: (people, bones, 7) bones in the world.
        """
        if not people:
            return no_posed_meshes()
        if tuple(people) != self._people:
            self._take(tuple(people))
        assert self._batch is not None
        points = np.empty_like(self._batch.points_m)
        normals = np.empty_like(points)
        move_points(self._batch, placed, points, normals)
        return self._instances._replace(points_world_m=points, normals=normals.astype(np.float32))

    def _take(self, people: tuple[SeenPerson, ...]) -> None:
        built = [_build(person.looks, person.in_wheelchair) for person in people]
        self._batch = make_batch([one.parts for one in built])
        rows, numbers, slots, labels = [], [], [], []
        for person, one in zip(people, built, strict=True):
            for label, model in zip((_OWN_LABEL, _DYNAMIC), one.models, strict=False):
                rows.append(person.row)
                numbers.append(self._library.number(model))
                slots.append(_slots(person.looks))
                labels.append(label)
        self._instances = no_posed_meshes()._replace(
            row=np.array(rows, np.int32),
            model=np.array(numbers, np.int32),
            slots=np.array(slots, np.uint8),
            label=np.array(labels, np.uint8),
        )
        self._people = people


def _slots(looks: Looks) -> NDArray[np.uint8]:
    opaque = np.full((len(looks.colors), 1), 255, np.uint8)
    return np.concatenate([looks.colors, opaque], axis=1)
