"""Looks of vehicles: which model shows a blueprint."""

from __future__ import annotations

from functools import cache
from typing import Final

import numpy as np

from jaywalk.server.sensors._materials import Slot
from jaywalk.server.sensors._mesh import LEVELS, Look, Model
from jaywalk.server.sensors.models.shown import ActorLook, Body
from jaywalk.server.sensors.models.vehicles._bicycles import BICYCLES
from jaywalk.server.sensors.models.vehicles._bike import Bike, Seat
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
from jaywalk.server.sensors.models.vehicles._motion import Joints, pose_of
from jaywalk.server.sensors.models.vehicles._motorcycles import MOTORCYCLES
from jaywalk.server.sensors.models.vehicles._riders import rider_looks, rider_model
from jaywalk.server.sensors.models.vehicles._shell import Shell
from jaywalk.server.sensors.models.vehicles._surfaces import PARTS, Surfaces, fitted
from jaywalk.server.sensors.models.vehicles._trucks import TRUCKS, build_truck
from jaywalk.server.sensors.models.vehicles._vans import VANS
from jaywalk.town.scenery import KINDS

_ONE_SHELL: Final = {**CARS, **VANS}
_TWO_WHEELED: Final = {**MOTORCYCLES, **BICYCLES}
_PARKED_CAR: Final = KINDS.index("parked_car")
_PARKED: Final = ("lincoln.mkz_2020", "seat.leon", "audi.etron", "citroen.c3", "tesla.model3")
_PARKED_HALF_M: Final = (2.25, 0.92, 0.75)
_STEEL: Final = (156, 159, 163)
_WHITE: Final = (226, 226, 222)
_BLACK: Final = (34, 36, 40)
_STRIPE: Final = (150, 28, 34)
_BRIGHT: Final = 480  # sum of a colour's channels from which stripes and helmets are dark
Half = tuple[float, float, float]
Color = tuple[int, int, int]


def vehicle_look(body: Body) -> ActorLook | None:
    """Return the look of a vehicle; None for other actors."""
    name = body.type_id.removeprefix("vehicle.")
    if name in _TWO_WHEELED:
        return _two_wheeler_look(name, body)
    if name not in _ONE_SHELL and name not in TRUCKS:
        return None
    model, joints = _model(name, body.half_m, body.centre_m[0])
    color = body.color if name != "tesla.cybertruck" else _STEEL
    second = _STRIPE if sum(color) > _BRIGHT else _WHITE
    colors = ((int(Slot.PAINT), color), (int(Slot.PAINT_2), second))
    return ActorLook(Look(model, colors=colors, parts=PARTS), pose_of(joints))


def parked_car_look(item: np.void, index: int) -> Look | None:
    """Return the look of a parked car of a town, stretched to its box; None for other things."""
    if item["kind"] != _PARKED_CAR:
        return None
    model, _ = _model(_PARKED[index % len(_PARKED)], _PARKED_HALF_M, 0.0)
    half = float(item["ex"]), float(item["ey"]), float(item["ez"])
    scale = [wanted / own for wanted, own in zip(half, _PARKED_HALF_M, strict=True)]
    return Look(model, scale=(scale[0], scale[1], scale[2]))


def _two_wheeler_look(name: str, body: Body) -> ActorLook:
    model, joints, seat = _two_wheeler(name, body.half_m, body.centre_m[0])
    looks = rider_looks(body.attributes.get("driver_id", "0"), body.actor_id)
    colors: dict[int, Color] = {
        slot: (r, g, b) for slot, (r, g, b) in enumerate(looks.colors.tolist())
    }
    colors[Slot.PAINT] = body.color
    colors[Slot.PAINT_2] = _BLACK if sum(body.color) > _BRIGHT else _WHITE
    rider = rider_model(looks, seat, name in MOTORCYCLES)
    look = Look(model, colors=tuple(colors.items()), parts=PARTS, rider=rider)
    return ActorLook(look, pose_of(joints))


@cache
def _two_wheeler(name: str, half_m: Half, middle_m: float) -> tuple[Model, Joints, Seat]:
    levels = []
    for level in range(LEVELS):
        bike = Bike(half_m, middle_m, level)
        seat = _TWO_WHEELED[name](bike)
        joints = Joints(tuple(bike.wheels), 1, head=bike.head, crank=bike.crank)
        levels.append(fitted(bike.out.mesh(), *_corners(half_m, middle_m)))
    return Model(tuple(levels)), joints, seat


@cache
def _model(name: str, half_m: Half, middle_m: float) -> tuple[Model, Joints]:
    levels = []
    for level in range(LEVELS):
        if name in TRUCKS:
            out, joints = build_truck(name, half_m, middle_m, level)
        else:
            out, joints = _build_car(_ONE_SHELL[name], half_m, middle_m, level)
        levels.append(fitted(out.mesh(), *_corners(half_m, middle_m)))
    return Model(tuple(levels)), joints


def _corners(half_m: Half, middle_m: float) -> tuple[Half, Half]:
    """Return the least and the greatest corner of a box that stands on the ground."""
    low = (middle_m - half_m[0], -half_m[1], 0.0)
    return low, (middle_m + half_m[0], half_m[1], 2.0 * half_m[2])


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
    wheels = []
    for axle in shell.axles:
        y = wheel_side(shell, axle) - 0.5 * spec.tyre_m
        wheels += [(shell.x(axle), side * y, spec.shape.wheel_m) for side in (-1.0, 1.0)]
    return out, Joints(tuple(wheels), 2, shell.hinges())
