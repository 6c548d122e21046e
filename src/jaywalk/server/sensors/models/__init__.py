"""Models of vehicles, animals, props and scenery, and which actor shows which.

A maker looks at an actor or at a row of the scenery and returns its look, or None if the thing is
not its own. ``_ACTORS`` and ``_SCENERY`` list the makers; what no maker takes is drawn as a solid.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from jaywalk.server.sensors._mesh import Look
from jaywalk.server.sensors.models.animals import animal_look
from jaywalk.server.sensors.models.props import prop_look
from jaywalk.server.sensors.models.scenery import street_look
from jaywalk.server.sensors.models.shown import ActorLook, ActorMotion, Body
from jaywalk.server.sensors.models.signals import signal_look
from jaywalk.server.sensors.models.vehicles import parked_car_look, vehicle_look

__all__ = ["ActorLook", "ActorMotion", "Body", "actor_look", "scenery_look"]

_ACTORS: Final[tuple[Callable[[Body], ActorLook | None], ...]] = (
    vehicle_look,
    signal_look,
    prop_look,
    animal_look,
)
_SCENERY: Final[tuple[Callable[[np.void, int], Look | None], ...]] = (
    parked_car_look,
    street_look,
)


def actor_look(body: Body) -> ActorLook | None:
    """Return the look of an actor; None: it is drawn as a solid."""
    return next((look for make in _ACTORS if (look := make(body)) is not None), None)


def scenery_look(item: np.void, index: int) -> Look | None:
    """Return the look of a row of the scenery; None: it is drawn as a solid."""
    return next((look for make in _SCENERY if (look := make(item, index)) is not None), None)
