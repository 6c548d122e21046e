"""Looks of vehicles: which model shows a blueprint, and how its wheels and doors move."""

from __future__ import annotations

import math
from functools import cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.server.sensors._mesh import LEVELS, Look, Model
from jaywalk.server.sensors.models.shown import ActorLook, Body, Motion, PosePart
from jaywalk.server.sensors.models.vehicles._cars import CARS
from jaywalk.server.sensors.models.vehicles._extras import EXTRAS
from jaywalk.server.sensors.models.vehicles._fittings import (
    add_face,
    add_handles,
    add_mirrors,
    add_wheels,
    wheel_side,
)
from jaywalk.server.sensors.models.vehicles._kinds import CarSpec
from jaywalk.server.sensors.models.vehicles._shell import Shell
from jaywalk.server.sensors.models.vehicles._surfaces import (
    DOORS,
    PARTS,
    WHEELS,
    Joints,
    Surfaces,
    fitted,
)
from jaywalk.server.sensors.models.vehicles._trucks import TRUCKS, build_truck
from jaywalk.server.sensors.models.vehicles._vans import VANS

_SPECS: Final = {**CARS, **VANS}
_STEEL: Final = (156, 159, 163)
_OPEN_RAD: Final = math.radians(62.0)
Half = tuple[float, float, float]


def vehicle_look(body: Body) -> ActorLook | None:
    """Return the look of a vehicle; None for other actors."""
    name = body.type_id.removeprefix("vehicle.")
    if name == body.type_id or (name not in _SPECS and name not in TRUCKS):
        return None
    model, joints = _model(name, body.half_m, body.centre_m[0])
    color = _STEEL if "color" not in body.attributes and name == "tesla.cybertruck" else body.color
    look = Look(model, colors=((0, color),), parts=PARTS)
    return ActorLook(look, _pose(joints))


def parked_car_look(item: np.void, index: int) -> Look | None:
    """Return the look of a parked car of a town; None for other things."""
    del item, index
    return None


@cache
def _model(name: str, half_m: Half, middle_m: float) -> tuple[Model, Joints]:
    low, high = (
        (middle_m - half_m[0], -half_m[1], 0.0),
        (middle_m + half_m[0], half_m[1], 2.0 * half_m[2]),
    )
    levels = []
    for level in range(LEVELS):
        if name in TRUCKS:
            out, joints = build_truck(name, half_m, middle_m, level)
        else:
            out, joints = _build_car(_SPECS[name], half_m, middle_m, level)
        levels.append(fitted(out.mesh(), low, high))
    return Model(tuple(levels)), joints


def _build_car(spec: CarSpec, half_m: Half, middle_m: float, level: int) -> tuple[Surfaces, Joints]:
    front, rear = middle_m + half_m[0] - spec.before_m, middle_m - half_m[0] + spec.behind_m
    wide = half_m[1] - spec.shape.mirror_m
    shell = Shell(spec.shape, front, rear, wide, 2.0 * half_m[2] - spec.above_m, level)
    out = Surfaces()
    shell.build(out)
    add_face(out, shell, spec.face)
    add_wheels(out, shell, spec.tyre_m, rim=spec.rim)
    add_mirrors(out, shell, spec.shape.mirror_m, tall="tall_mirrors" in spec.extras)
    add_handles(out, shell, spec.face.handles)
    for name in spec.extras:
        EXTRAS[name](out, shell)
    return out, _joints(shell, spec.tyre_m)


def _joints(shell: Shell, tyre_m: float) -> Joints:
    s = shell.shape
    wheels = []
    for axle in s.axles:
        for side in (-1.0, 1.0):
            y = wheel_side(shell, axle) - 0.5 * tyre_m
            wheels.append((shell.x(axle), side * y, s.wheel_m))
    return Joints(tuple(wheels), 2, shell.hinges())


def _pose(joints: Joints) -> PosePart:
    def pose(row: np.void, motion: Motion, out: NDArray[Any]) -> None:
        for k, (place, part) in enumerate(zip(joints.wheels, WHEELS, strict=False)):
            turn = motion.rolled_m / place[2]
            steer = float(row["wheel_angle"]) if k < joints.steered else 0.0
            steer = math.radians(motion.wheels_deg.get(k, math.degrees(steer)))
            out[part] = _about(place, _upright(steer) @ _rolling(turn))
        for k, ((x, y), part) in enumerate(zip(joints.hinges, DOORS, strict=False)):
            if motion.doors >> k & 1:
                out[part] = _about((x, y, 0.0), _upright(-math.copysign(_OPEN_RAD, y)))

    return pose


def _about(place: tuple[float, float, float], turn: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the motion (3, 4) that turns about a place."""
    at = np.array(place)
    return np.column_stack([turn, at - turn @ at])


def _upright(angle_rad: float) -> NDArray[np.float64]:
    """Return a turn about the upright axis, to the right."""
    c, s = math.cos(angle_rad), math.sin(angle_rad)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def _rolling(angle_rad: float) -> NDArray[np.float64]:
    """Return a turn about the axle, forwards."""
    c, s = math.cos(angle_rad), math.sin(angle_rad)
    return np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])
