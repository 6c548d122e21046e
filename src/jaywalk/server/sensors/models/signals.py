"""Heads of traffic lights: three lenses in a housing with visors; the lit one shines.

A head hangs at its actor's origin and faces along y. A lit lens is a part of its own: it is pushed
in front of the dark one while it is lit, and is inside the housing otherwise.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.carla_enums import LightState
from jaywalk.server.sensors._materials import Material
from jaywalk.server.sensors._mesh import LEVELS, Look, Mesh, Model
from jaywalk.server.sensors.models.shown import ActorLook, ActorMotion, Body
from jaywalk.server.sensors.models.vehicles._surfaces import Surfaces

_LIGHT: Final = "traffic.traffic_light"
_RADIUS_M: Final = 0.14
_STEP_M: Final = 0.34  # between the middles of two lenses
_FACE_M: Final = 0.12  # the front of the housing
_VISOR_M: Final = 0.16
_INSIDE_M: Final = -0.06
_LENSES: Final = (
    (LightState.RED, Material.LENS_RED, Material.SIGNAL_RED),
    (LightState.YELLOW, Material.LENS_AMBER, Material.SIGNAL_AMBER),
    (LightState.GREEN, Material.LENS_GREEN, Material.SIGNAL_GREEN),
)


def signal_look(body: Body) -> ActorLook | None:
    """Return the look of a traffic light; None for other actors."""
    if body.type_id != _LIGHT:
        return None
    return ActorLook(Look(_model(), parts=1 + len(_LENSES)), _pose)


def _pose(row: np.void, motion: ActorMotion, out: NDArray[Any]) -> None:
    for part, (state, _, _) in enumerate(_LENSES, start=1):
        if motion.signal != int(state):
            out[part, 1, 3] = _INSIDE_M


@cache
def _model() -> Model:
    return Model(tuple(_head(level) for level in range(LEVELS)))


def _head(level: int) -> Mesh:
    out = Surfaces()
    sides = (20, 12, 8)[level]
    half = 1.5 * _STEP_M + 0.02
    black = int(Material.BLACK)
    out.box((-0.19, -0.10, -half), (0.19, _FACE_M, half), black)
    out.box((-0.27, -0.012, -half - 0.08), (0.27, 0.0, half + 0.08), black)
    out.bar((0.0, -0.25, 0.3), (0.0, -0.1, 0.3), 0.03, black)
    out.bar((0.0, -0.25, -0.3), (0.0, -0.1, -0.3), 0.03, black)
    for number, (_, dark, lit) in enumerate(_LENSES):
        z = _STEP_M * (1 - number)
        disc = [(0.0, _RADIUS_M), (0.012, 0.0)]
        out.lathe((0.0, _FACE_M + 0.001, z), (0.0, 1.0, 0.0), disc, sides, int(dark))
        shape = [(0.0, _RADIUS_M), (0.02, 0.0)]
        place = (0.0, _FACE_M + 0.006, z)
        out.lathe(place, (0.0, 1.0, 0.0), shape, sides, int(lit), part=number + 1)
        if level < 2:
            angles = np.linspace(-0.2, math.pi + 0.2, 9 if level == 0 else 6)
            r = _RADIUS_M + 0.012
            rim = np.column_stack([r * np.cos(angles), np.zeros(len(angles)), r * np.sin(angles)])
            reach = np.array([(0.0, _FACE_M, z), (0.0, _FACE_M + _VISOR_M, z - 0.02)])
            out.grid(rim[None] + reach[:, None], black, outward=(0.0, 0.0, 1.0))
    return out.mesh()
