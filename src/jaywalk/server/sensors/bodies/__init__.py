"""People as sensors see them: posed meshes with faces, clothes and things.

``draw_looks`` gives the appearance of a walker, ``build_body`` its mesh at rest, and
``move_points`` the points of all people of a tick.
"""

from jaywalk.server.sensors.bodies._looks import THINGS, Looks, carried, draw_looks
from jaywalk.server.sensors.bodies.body import (
    BodyModel,
    build_body,
    build_things,
    make_batch,
    move_points,
    posed_points,
)
from jaywalk.server.sensors.bodies.people import PeopleMeshes, SeenPerson, person_meshes

__all__ = [
    "THINGS",
    "BodyModel",
    "Looks",
    "PeopleMeshes",
    "SeenPerson",
    "build_body",
    "build_things",
    "carried",
    "draw_looks",
    "make_batch",
    "move_points",
    "person_meshes",
    "posed_points",
]
