"""Solids that rays and rasterisers see: boxes, cylinders, spheres and capsules in plain arrays.

Frame: CARLA's left-handed world, metres. Every kernel of this room reads the same arrays.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jaywalk.server.sensors.header import Pose
from jaywalk.server.sensors.kernel import kernel

BOX: Final = 0
CYLINDER: Final = 1  # half: radius, radius, half height along the third axis
SPHERE: Final = 2  # half: radius three times
CAPSULE: Final = 3  # half: radius, radius, half length of the segment along the third axis

# Columns of ``form``: 0-2 centre; 3-5, 6-8, 9-11 unit vectors of the local axes in the world;
# 12-14 half extents; 15 radius of the bounding sphere. One array keeps kernel calls cheap.
FORM: Final = 16

# What is painted on a solid.
PLAIN: Final = 0
WINDOWS: Final = 1  # a building's front
GLASS: Final = 2  # a car's cabin
BUS_WINDOWS: Final = 3  # a band of glass in the upper half, and lamps
HULL: Final = 4  # the lower half of a car: lamps
PICTURE: Final = 64  # and the number of a picture, on a box
CUT_OUT: Final = 128  # and the number of a picture that is not there everywhere


class Solids(NamedTuple):
    """Struct of arrays; rows from ``used`` on are spare room."""

    used: int
    shape: NDArray[np.uint8]
    form: NDArray[np.float64]  # (n, 16): see FORM
    label: NDArray[np.uint8]
    owner: NDArray[np.int32]  # row of the actor table, -1 for scenery
    object_id: NDArray[np.uint32]  # actor id, 0 for scenery
    instance: NDArray[np.uint32]  # 16-bit id of the instance picture
    color: NDArray[np.uint8]  # (n, 3): red, green, blue
    pattern: NDArray[np.uint8]
    lamps: NDArray[np.uint32]  # lamps of vehicles that are on: see lamps.py


class Paint(NamedTuple):
    """What a solid belongs to and looks like."""

    label: int
    owner: int
    object_id: int
    instance: int
    red: int
    green: int
    blue: int
    pattern: int


def empty_solids(capacity: int) -> Solids:
    """Room for ``capacity`` solids, none of them set."""
    return Solids(
        0,
        np.zeros(capacity, np.uint8),
        np.zeros((capacity, FORM)),
        np.zeros(capacity, np.uint8),
        np.full(capacity, -1, np.int32),
        np.zeros(capacity, np.uint32),
        np.zeros(capacity, np.uint32),
        np.zeros((capacity, 3), np.uint8),
        np.zeros(capacity, np.uint8),
        np.zeros(capacity, np.uint32),
    )


def with_room(solids: Solids, capacity: int) -> Solids:
    """The same solids in arrays that hold at least ``capacity``."""
    if len(solids.shape) >= capacity:
        return solids
    larger = empty_solids(capacity)
    for name in Solids._fields[1:]:
        getattr(larger, name)[: solids.used] = getattr(solids, name)[: solids.used]
    return larger._replace(used=solids.used)


@kernel
def fill_axes(axes: NDArray[np.float64], pitch_rad: float, yaw_rad: float, roll_rad: float) -> None:
    """Write forward, right and up of an Unreal rotator into the rows of ``axes``."""
    cp, sp = math.cos(pitch_rad), math.sin(pitch_rad)
    cy, sy = math.cos(yaw_rad), math.sin(yaw_rad)
    cr, sr = math.cos(roll_rad), math.sin(roll_rad)
    axes[0, 0], axes[0, 1], axes[0, 2] = cp * cy, cp * sy, sp
    axes[1, 0], axes[1, 1] = cy * sp * sr - sy * cr, sy * sp * sr + cy * cr
    axes[1, 2] = -cp * sr
    axes[2, 0], axes[2, 1] = -cy * sp * cr - sy * sr, -sy * sp * cr + cy * sr
    axes[2, 2] = cp * cr


def pose_axes(pose: Pose) -> NDArray[np.float64]:
    """Forward, right and up of a pose as rows."""
    axes = np.empty((3, 3))
    fill_axes(axes, pose.pitch_rad, pose.yaw_rad, pose.roll_rad)
    return axes


@kernel
def _put_paint(solids: Solids, k: int, paint: Paint) -> None:
    solids.label[k] = paint.label
    solids.owner[k] = paint.owner
    solids.object_id[k] = paint.object_id
    solids.instance[k] = paint.instance
    solids.color[k, 0], solids.color[k, 1] = paint.red, paint.green
    solids.color[k, 2] = paint.blue
    solids.pattern[k] = paint.pattern
    solids.lamps[k] = 0


@kernel
def put_box(
    solids: Solids,
    k: int,
    origin: NDArray[np.float64],
    axes: NDArray[np.float64],
    centre: tuple[float, float, float],
    half: tuple[float, float, float],
    paint: Paint,
) -> None:
    """Write a box given in the frame (origin, axes)."""
    form = solids.form
    solids.shape[k] = BOX
    for i in range(3):
        form[k, i] = (
            origin[i] + axes[0, i] * centre[0] + axes[1, i] * centre[1] + axes[2, i] * centre[2]
        )
        form[k, 12 + i] = half[i]
        for j in range(3):
            form[k, 3 * j + 3 + i] = axes[j, i]
    form[k, 15] = math.sqrt(half[0] ** 2 + half[1] ** 2 + half[2] ** 2)
    _put_paint(solids, k, paint)


@kernel
def put_rod(
    solids: Solids,
    k: int,
    shape: int,
    origin: NDArray[np.float64],
    axes: NDArray[np.float64],
    start: tuple[float, float, float],
    end: tuple[float, float, float],
    radius: float,
    paint: Paint,
) -> None:
    """Write a cylinder or capsule from ``start`` to ``end``, given in the frame (origin, axes)."""
    form = solids.form
    length2 = (end[0] - start[0]) ** 2 + (end[1] - start[1]) ** 2 + (end[2] - start[2]) ** 2
    length = math.sqrt(length2)
    scale = 1.0 / length if length > 1e-9 else 0.0
    solids.shape[k] = shape
    for i in range(3):
        a = origin[i] + axes[0, i] * start[0] + axes[1, i] * start[1] + axes[2, i] * start[2]
        b = origin[i] + axes[0, i] * end[0] + axes[1, i] * end[1] + axes[2, i] * end[2]
        form[k, i] = 0.5 * (a + b)
        form[k, 9 + i] = (b - a) * scale
    if length <= 1e-9:
        form[k, 11] = 1.0
    _complete_axes(form, k)
    form[k, 12], form[k, 13] = radius, radius
    form[k, 14] = 0.5 * length
    if shape == CAPSULE:
        form[k, 15] = 0.5 * length + radius
    else:
        form[k, 15] = math.sqrt(0.25 * length2 + radius * radius)
    _put_paint(solids, k, paint)


@kernel
def _complete_axes(form: NDArray[np.float64], k: int) -> None:
    """Fill the first two axes with unit vectors at right angles to the third."""
    x, y, z = form[k, 9], form[k, 10], form[k, 11]
    if abs(z) < 0.9:
        norm = 1.0 / math.sqrt(x * x + y * y)
        ax, ay, az = -y * norm, x * norm, 0.0
    else:
        norm = 1.0 / math.sqrt(y * y + z * z)
        ax, ay, az = 0.0, -z * norm, y * norm
    form[k, 3], form[k, 4], form[k, 5] = ax, ay, az
    form[k, 6], form[k, 7], form[k, 8] = y * az - z * ay, z * ax - x * az, x * ay - y * ax
