"""Solids that rays and rasterisers see: boxes, cylinders, spheres and capsules in plain arrays.

All kernels of the sensors read these arrays. Frame: CARLA's left-handed world, metres. The kernel
decorator compiles inner loops with a cache, without the interpreter lock and bit-reproducible.

A picture on a solid is stored in sizes that halve. It covers the upper face of a box: columns run
along the box's first axis, rows along its second. If it is not cut out, the lower face also shows
it, readable from below.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.kernels import compile_kernel
from jaywalk.server.sensors._readings import SensorPose

_F = TypeVar("_F", bound=Callable[..., Any])


def kernel(function: _F) -> _F:
    """Compile with numba, keeping the function's types for the type checker."""
    return compile_kernel(function, nogil=True, error_model="numpy")


@kernel
def as_int64(value: Any) -> int:
    """Cast to int64 so that kernels are compiled for one type."""
    return np.int64(value)  # type: ignore[return-value]


BOX: Final = 0
CYLINDER: Final = 1  # half: radius, radius, half height along the third axis
SPHERE: Final = 2  # half: radius three times
CAPSULE: Final = 3  # half: radius, radius, half length of the segment along the third axis
MESH: Final = 4  # half: of the box around an instance of a model, see ``_mesh``
# Columns of ``form``: 0-2 centre; 3-5, 6-8, 9-11 unit vectors of the local axes in the world;
# 12-14 half extents; 15 radius of the bounding sphere. One array keeps kernel calls cheap.
FORM: Final = 16
# Patterns painted on solids.
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
    mesh: NDArray[np.int32]  # row of the instance tables of ``Meshes``, -1 if not a mesh


class Paint(NamedTuple):
    """Owner and appearance of a solid."""

    label: int
    owner: int
    object_id: int
    instance: int
    red: int
    green: int
    blue: int
    pattern: int


def empty_solids(capacity: int) -> Solids:
    """Return arrays for ``capacity`` solids, all of them unused."""
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
        np.full(capacity, -1, np.int32),
    )


def with_room(solids: Solids, capacity: int) -> Solids:
    """Return the solids in arrays that hold at least ``capacity``."""
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


def pose_axes(pose: SensorPose) -> NDArray[np.float64]:
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
    solids.mesh[k] = -1


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


UPPER: Final = 4  # parts of a box that show its picture
LOWER: Final = 5
_SIZES: Final = 8
_INK: Final = 127.5  # alpha from which a pixel is there
_COARSER: Final = 1.5  # texels per pixel from which the next size is taken


class Pictures(NamedTuple):
    """All pictures of a scene: RGBA texels one after the other, and where each size begins."""

    texels: NDArray[np.uint8]  # (n, 4)
    table: NDArray[np.int64]  # (pictures, sizes, 3): first texel, rows, columns


def no_pictures() -> Pictures:
    """Return the empty pictures of a scene without pictures."""
    return Pictures(np.zeros((0, 4), np.uint8), np.zeros((0, _SIZES, 3), np.int64))


def pack_pictures(pictures: Sequence[NDArray[np.uint8]]) -> Pictures:
    """Put (rows, columns, 4) pictures into the form that kernels read."""
    table = np.zeros((len(pictures), _SIZES, 3), np.int64)
    parts, first = [np.zeros((0, 4), np.uint8)], 0
    for number, picture in enumerate(pictures):
        for size in range(_SIZES):
            rows, columns, _ = picture.shape
            table[number, size] = first, rows, columns
            parts.append(picture.reshape(-1, 4))
            first += rows * columns
            picture = _halved(picture)
    return Pictures(np.concatenate(parts), table)


def pattern_of(picture: NDArray[np.uint8], number: int) -> int:
    """Return the pattern of a solid that shows a picture."""
    return number + (CUT_OUT if (picture[..., 3] < _INK).any() else PICTURE)


def _halved(picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return a picture of half the size: means of 2 x 2 pixels, weighted by their alpha."""
    rows, columns, _ = picture.shape
    even = np.pad(picture, ((0, rows % 2), (0, columns % 2), (0, 0)), mode="edge")
    four = even.reshape(even.shape[0] // 2, 2, even.shape[1] // 2, 2, 4).astype(np.float64)
    alpha = four[..., 3:].sum(axis=(1, 3))
    colour = (four[..., :3] * four[..., 3:]).sum(axis=(1, 3)) / np.maximum(alpha, 1.0)
    half: NDArray[np.float64] = np.concatenate([colour, alpha / 4.0], axis=-1)
    return np.rint(half).astype(np.uint8)


@kernel
def ink_at(
    pictures: Pictures,
    form: NDArray[np.float64],
    pattern: int,
    k: int,
    part: int,
    place: tuple[float, float, float],
    pixel_m: float,
) -> tuple[float, float, float, bool]:
    """Colour of a picture at a point of solid ``k``, and whether there is any.

    Args:
        pictures: All pictures.
        form: Of the solids.
        pattern: Of the solid.
        k: The solid.
        part: ``UPPER`` or ``LOWER``.
        place: The point, in the world.
        pixel_m: How much of a surface at that distance a pixel of the camera covers.
    """
    px, py, pz = place[0] - form[k, 0], place[1] - form[k, 1], place[2] - form[k, 2]
    across = (form[k, 3] * px + form[k, 4] * py + form[k, 5] * pz) / form[k, 12]
    down = (form[k, 6] * px + form[k, 7] * py + form[k, 8] * pz) / form[k, 13]
    # From behind a cut-out is the mirror image of its front; a picture is turned to be readable.
    if part == LOWER and pattern < CUT_OUT:
        across = -across
    number = pattern - (PICTURE if pattern < CUT_OUT else CUT_OUT)
    size = 0
    texels = pixel_m * pictures.table[number, 0, 2] / (2.0 * form[k, 12])
    while texels > _COARSER and size < _SIZES - 1:
        texels *= 0.5
        size += 1
    first, rows, columns = (
        pictures.table[number, size, 0],
        pictures.table[number, size, 1],
        pictures.table[number, size, 2],
    )
    return _blend(pictures.texels, first, rows, columns, 0.5 + 0.5 * across, 0.5 + 0.5 * down)


@kernel
def _blend(
    texels: NDArray[np.uint8], first: int, rows: int, columns: int, across: float, down: float
) -> tuple[float, float, float, bool]:
    """Between the four nearest texels; transparent ones lend no colour."""
    x = min(max(across * columns - 0.5, 0.0), columns - 1.0)
    y = min(max(down * rows - 0.5, 0.0), rows - 1.0)
    i, j = int(x), int(y)
    fx, fy = x - i, y - j
    red, green, blue, alpha = 0.0, 0.0, 0.0, 0.0
    for corner in range(4):
        right, low = corner & 1, corner >> 1
        weight = (fx if right else 1.0 - fx) * (fy if low else 1.0 - fy)
        at = first + min(j + low, rows - 1) * columns + min(i + right, columns - 1)
        weight *= texels[at, 3]
        red += weight * texels[at, 0]
        green += weight * texels[at, 1]
        blue += weight * texels[at, 2]
        alpha += weight
    scale = 1.0 / max(alpha, 1e-9)
    return red * scale, green * scale, blue * scale, alpha > _INK
