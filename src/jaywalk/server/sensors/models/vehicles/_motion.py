"""How the parts of vehicles move: wheels, handlebars, pedals and doors."""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.arrays import FloatArray
from jaywalk.server.sensors.models.shown import ActorMotion, PosePart
from jaywalk.server.sensors.models.vehicles._bike import Bike
from jaywalk.server.sensors.models.vehicles._surfaces import DOORS, WHEELS, Point

_OPEN_RAD: Final = math.radians(62.0)
_GEAR: Final = 2.4  # turns of a wheel for one of the pedals


class Joints(NamedTuple):
    """Places about which parts turn, in the frame of the vehicle."""

    wheels: tuple[Point, ...]  # middles, in the order of ``WHEELS``
    steered: int  # how many of them, from the first
    hinges: tuple[tuple[float, float], ...] = ()  # x and y, in the order of ``DOORS``
    head: tuple[Point, Point] | None = None  # steering axis of a two-wheeler, from top to axle
    crank: Point | None = None  # of a bicycle


def pose_of(joints: Joints) -> PosePart:
    """Return what writes the poses of the parts of a vehicle."""

    def pose(row: np.void, motion: ActorMotion, out: NDArray[Any]) -> None:
        for k, (place, part) in enumerate(zip(joints.wheels, WHEELS, strict=False)):
            out[part] = _about(place, _rolling(motion.rolled_m / place[2]))
            if k < joints.steered or k in motion.wheels_deg:
                angle = math.radians(motion.wheels_deg.get(k, math.degrees(row["wheel_angle"])))
                steering = _steering(joints, place, angle)
                out[part] = _after(steering, out[part])
                if joints.head is not None and k == 0:
                    out[Bike.bars] = steering
        if joints.crank is not None:
            turn = motion.rolled_m / (_GEAR * joints.wheels[1][2])
            out[Bike.pedals] = _about(joints.crank, _rolling(turn))
        for k, ((x, y), part) in enumerate(zip(joints.hinges, DOORS, strict=False)):
            if motion.doors >> k & 1:
                axis = np.array([0.0, 0.0, 1.0])
                turn_out = _turn(axis, -math.copysign(_OPEN_RAD, y))
                out[part] = _about((x, y, 0.0), turn_out)

    return pose


def _steering(joints: Joints, place: Point, angle_rad: float) -> FloatArray:
    """Return the motion (3, 4) of a steered wheel, to the right for positive angles."""
    if joints.head is None:
        return _about(place, _turn(np.array([0.0, 0.0, 1.0]), angle_rad))
    top, axle = (np.array(point) for point in joints.head)
    axis = (top - axle) / np.linalg.norm(top - axle)
    return _about(joints.head[1], _turn(axis, angle_rad))


def _about(place: Point, turn: FloatArray) -> FloatArray:
    """Return the motion (3, 4) that turns about a place."""
    at = np.array(place)
    return np.column_stack([turn, at - turn @ at])


def _after(second: FloatArray, first: FloatArray) -> FloatArray:
    """Return the motion that is ``first`` and then ``second``."""
    turn = second[:, :3] @ first[:, :3]
    return np.column_stack([turn, second[:, :3] @ first[:, 3] + second[:, 3]])


def _turn(axis: FloatArray, angle_rad: float) -> FloatArray:
    """Return a turn about an axis; about the upright one it leads to the right."""
    x, y, z = axis
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    square = (1.0 - math.cos(angle_rad)) * cross @ cross
    turn: FloatArray = np.eye(3) + math.sin(angle_rad) * cross + square
    return turn


def _rolling(angle_rad: float) -> FloatArray:
    """Return a turn about the axle, forwards."""
    c, s = math.cos(angle_rad), math.sin(angle_rad)
    return np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])
