"""What a maker of models returns: the look of an actor and how its parts move."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jaywalk.server.sensors._mesh import Look

_NONE: Mapping[int, float] = MappingProxyType({})


class ActorMotion(NamedTuple):
    """What moves the parts of an actor and is not in its row of the actor table."""

    time_s: float = 0.0
    rolled_m: float = 0.0  # way along the own axis since the spawn, backwards negative
    doors: int = 0  # open doors: bit n for door n of CARLA's ``VehicleDoor``
    wheels_deg: Mapping[int, float] = _NONE  # steering angles that a client set for show
    signal: int = -1  # state of a traffic light: CARLA's ``TrafficLightState``


#: Writes the poses of the parts: (parts, 3, 4), rotation and shift of each, identities at first.
PosePart = Callable[[np.void, ActorMotion, NDArray[Any]], None]


class ActorLook(NamedTuple):
    """How an actor looks, and how its parts move."""

    look: Look
    pose: PosePart | None = None  # with ``look.parts`` parts


class Body(NamedTuple):
    """Facts about an actor that choose its look."""

    type_id: str  # blueprint
    attributes: Mapping[str, str]
    half_m: tuple[float, float, float]  # of its box
    centre_m: tuple[float, float, float]
    color: tuple[int, int, int]
    actor_id: int
