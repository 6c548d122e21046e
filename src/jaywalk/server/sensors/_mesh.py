"""Meshes of triangles: shapes with detail levels, and their packed form for kernels.

A :class:`Model` is a shape in up to three levels of detail. A :class:`MeshLibrary` packs the models
of a scene into arrays once. Each instance of a model is one row of ``Solids`` with the shape
``MESH``; ``Solids.mesh`` names its row in the instance tables of :class:`Meshes`. Labels, owners
and lamps of an instance therefore stand where those of any solid stand.

The points of a rigid instance are ``origin + axes * scale * (part * point)``. A posed instance (a
person on bones) brings points of its own in world coordinates, in the order of its model.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.errors import UsageError
from jaywalk.server.sensors._solids import kernel

LEVELS: Final = 3  # near, mid, far
MID: Final = 1  # the level that LiDAR and radar meet
LEVEL_M: Final = (25.0, 60.0)  # distances from which the mid and the far level are drawn
SLOTS: Final = 8  # colours that an instance may set, see ``_materials.Slot``
# Columns of ``Meshes.span``: first and end of the points and triangles of a level, and what to add
# to the point numbers of its triangles (not 0: a posed instance).
FIRST_POINT, END_POINT, FIRST_TRIANGLE, END_TRIANGLE, SHIFT = range(5)


class Mesh(NamedTuple):
    """A rigid or posed shape of triangles.

    Local frame: x forward, y right, z up, metres. The origin is the actor's origin; for vehicles
    and animals it lies on the ground below the middle.
    """

    points_m: NDArray[np.float64]  # (n, 3)
    triangles: NDArray[np.int32]  # (m, 3); back faces are drawn too
    normals: NDArray[np.float32]  # (m, 3, 3): outward unit normal at each corner
    uv: NDArray[np.float32]  # (m, 3, 2): texture coordinates as the material says
    material: NDArray[np.int32]  # (m,): a ``Material``
    part: NDArray[np.int32]  # (m,): 0 body; others are moved by a part transform


class Model(NamedTuple):
    """A shape in one to three levels of detail, near first; missing levels repeat the last."""

    levels: tuple[Mesh, ...]


class Look(NamedTuple):
    """How one actor or row of the scenery looks."""

    model: Model
    scale: tuple[float, float, float] = (1.0, 1.0, 1.0)
    colors: tuple[tuple[int, tuple[int, int, int]], ...] = ()  # slots and their colours
    parts: int = 0  # parts with poses of their own, part 0 included; 0: none moves
    rider: Model | None = None  # a person on it, who takes its colours

    def slots(self) -> NDArray[np.uint8]:
        """Return the colours as a row of ``Meshes.slots``."""
        out = np.zeros((SLOTS, 4), np.uint8)
        for slot, color in self.colors:
            out[slot] = (*color, 255)
        return out


class Meshes(NamedTuple):
    """All meshes and instances of a scene, for kernels."""

    points: NDArray[np.float64]  # (p, 3): of the models, then of posed instances
    point_part: NDArray[np.int32]  # (p,)
    point_normals: NDArray[np.float32]  # (p, 3): only of posed instances
    triangles: NDArray[np.int32]  # (t, 3): numbers of points
    normals: NDArray[np.float32]  # (t, 3, 3): of rigid instances
    uv: NDArray[np.float32]  # (t, 3, 2)
    material: NDArray[np.uint8]  # (t,)
    part: NDArray[np.int32]  # (t,)
    level: NDArray[np.uint8]  # (t,)
    cut_out: NDArray[np.bool_]  # (t,): not there everywhere, see ``_leaves``
    span: NDArray[np.int64]  # (i, LEVELS, 5)
    origin: NDArray[np.float64]  # (i, 3)
    scale: NDArray[np.float64]  # (i, 3)
    slots: NDArray[np.uint8]  # (i, SLOTS, 4): red, green, blue, 255 if set
    first_part: NDArray[np.int64]  # (i,): row of part 0 in ``part_pose``; -1: no part moves
    part_pose: NDArray[np.float64]  # (q, 3, 4): rotation and shift of a part in the model's frame


class ActorMeshes(NamedTuple):
    """Rigid models of the actors, by row of the actor table."""

    model: NDArray[np.int32]  # (n,): number in the library; -1: drawn as a solid
    scale: NDArray[np.float64]  # (n, 3)
    slots: NDArray[np.uint8]  # (n, SLOTS, 4)
    first_part: NDArray[np.int64]  # (n,)
    part_pose: NDArray[np.float64]  # (q, 3, 4)
    rider: NDArray[np.int32]  # (n,): number of the person on it in the library; -1: nobody


class PosedMeshes(NamedTuple):
    """Instances with points of their own, in world coordinates."""

    row: NDArray[np.int32]  # (n,): row of the actor table
    model: NDArray[np.int32]  # (n,): number in the library
    slots: NDArray[np.uint8]  # (n, SLOTS, 4)
    points_world_m: NDArray[np.float64]  # (p, 3): near, mid and far points of the first, ...
    normals: NDArray[np.float32]  # (p, 3)
    label: NDArray[np.uint8]  # (n,): semantic label; 0: that of the actor


class SceneryMeshes(NamedTuple):
    """Rigid models of scenery rows that are not drawn as solids."""

    model: NDArray[np.int32]  # (rows,): number in the library; -1: drawn as a solid
    scale: NDArray[np.float64]  # (rows, 3)
    slots: NDArray[np.uint8]  # (rows, SLOTS, 4)


def no_actor_meshes(rows: int) -> ActorMeshes:
    """Return tables in which no actor has a model."""
    return ActorMeshes(
        np.full(rows, -1, np.int32),
        np.ones((rows, 3)),
        np.zeros((rows, SLOTS, 4), np.uint8),
        np.full(rows, -1, np.int64),
        np.zeros((0, 3, 4)),
        np.full(rows, -1, np.int32),
    )


def no_scenery_meshes(rows: int) -> SceneryMeshes:
    """Return tables in which no scenery row has a model."""
    return SceneryMeshes(
        np.full(rows, -1, np.int32), np.ones((rows, 3)), np.zeros((rows, SLOTS, 4), np.uint8)
    )


def no_posed_meshes() -> PosedMeshes:
    """Return tables without instances."""
    return PosedMeshes(
        np.zeros(0, np.int32),
        np.zeros(0, np.int32),
        np.zeros((0, SLOTS, 4), np.uint8),
        np.zeros((0, 3)),
        np.zeros((0, 3), np.float32),
        np.zeros(0, np.uint8),
    )


_MAKERS: Final[dict[str, Callable[[], Model]]] = {}


def register_model(name: str, make: Callable[[], Model]) -> None:
    """Register the maker of a model; it runs once, when the model is first needed."""
    _MAKERS[name] = make


def model_names() -> list[str]:
    """Return the names of all registered models."""
    return sorted(_MAKERS)


@cache
def model_named(name: str) -> Model:
    """Return a registered model."""
    if name not in _MAKERS:
        raise UsageError(f"No model is named {name!r}; expected one of {', '.join(model_names())}.")
    return _MAKERS[name]()


class _Packed(NamedTuple):
    """Box and span of one model in the library."""

    span: NDArray[np.int64]  # (LEVELS, 5)
    parts: NDArray[np.int64]  # numbers of its parts
    boxes_m: NDArray[np.float64]  # (parts, 2, 3): least and greatest corner of each part


class MeshLibrary:
    """Models packed one after the other; a model keeps its number."""

    def __init__(self) -> None:
        self._models: list[Model] = []
        self._packed: list[_Packed] = []
        self._numbers: dict[int, int] = {}
        self._meshes: dict[int, tuple[int, int, int, int]] = {}
        self._columns: list[list[NDArray[np.generic]]] = [[] for _ in range(9)]
        self._points = 0
        self._triangles = 0
        self._arrays: tuple[NDArray[np.generic], ...] | None = None

    def __len__(self) -> int:
        return len(self._models)

    def number(self, model: Model) -> int:
        """Return the number of a model; a new one is packed."""
        known = self._numbers.get(id(model))
        if known is not None:
            return known
        if not 1 <= len(model.levels) <= LEVELS:
            raise UsageError(f"A model has 1 to {LEVELS} levels; found {len(model.levels)}.")
        levels = (*model.levels, *[model.levels[-1]] * (LEVELS - len(model.levels)))
        span = np.zeros((LEVELS, 5), np.int64)
        for level, mesh in enumerate(levels):
            if level and mesh is levels[level - 1]:
                span[level] = span[level - 1]
            else:
                span[level, :4] = self._add(mesh, level)
        number = self._numbers[id(model)] = len(self._models)
        self._models.append(model)
        self._packed.append(_Packed(span, *_boxes(model.levels)))
        self._arrays = None
        return number

    def _add(self, mesh: Mesh, level: int) -> tuple[int, int, int, int]:
        count, triangles = len(mesh.points_m), np.asarray(mesh.triangles, np.int32)
        if len(triangles) and not 0 <= triangles.min() <= triangles.max() < count:
            raise UsageError(f"A triangle names a point that is not among {count} points.")
        part = np.asarray(mesh.part, np.int32)
        point_part = np.zeros(count, np.int32)
        point_part[triangles.ravel()] = np.repeat(part, 3)
        if (point_part[triangles] != part[:, None]).any():
            raise UsageError("A point of a mesh belongs to two parts; give each part its points.")
        first, first_triangle = self._points, self._triangles
        values: tuple[NDArray[Any], ...] = (
            np.asarray(mesh.points_m, np.float64).reshape(-1, 3),
            point_part,
            triangles.reshape(-1, 3) + np.int32(first),
            np.asarray(mesh.normals, np.float32).reshape(-1, 3, 3),
            np.asarray(mesh.uv, np.float32).reshape(-1, 3, 2),
            np.asarray(mesh.material).astype(np.uint8),
            part,
            np.full(len(part), level, np.uint8),
            _cut_out(np.asarray(mesh.material)),
        )
        for column, value in zip(self._columns, values, strict=True):
            column.append(value)
        self._points += count
        self._triangles += len(part)
        return first, self._points, first_triangle, self._triangles

    def span(self, number: int) -> NDArray[np.int64]:
        """Return the span table of a model."""
        return self._packed[number].span

    def spans(self) -> NDArray[np.int64]:
        """Return the span tables of all models, (models, LEVELS, 5)."""
        if not self._packed:
            return np.zeros((0, LEVELS, 5), np.int64)
        return np.stack([packed.span for packed in self._packed])

    def boxes(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return where the parts of each model begin, and number and box of each part.

        The first array has one row a model and one more: first rows in the second array. A row of
        the second array is the number of the part, its least and its greatest corner.
        """
        first = np.zeros(len(self._packed) + 1, np.int64)
        rows = [np.zeros((0, 7))]
        for number, packed in enumerate(self._packed):
            first[number + 1] = first[number] + len(packed.parts)
            rows.append(np.column_stack([packed.parts, packed.boxes_m.reshape(-1, 6)]))
        return first, np.concatenate(rows)

    def arrays(self) -> tuple[NDArray[np.generic], ...]:
        """Return the packed arrays: points, their parts, triangles, ... as in ``Meshes``."""
        if self._arrays is None:
            empty = (
                np.zeros((0, 3)),
                np.zeros(0, np.int32),
                np.zeros((0, 3), np.int32),
                np.zeros((0, 3, 3), np.float32),
                np.zeros((0, 3, 2), np.float32),
                np.zeros(0, np.uint8),
                np.zeros(0, np.int32),
                np.zeros(0, np.uint8),
                np.zeros(0, np.bool_),
            )
            pairs = zip(empty, self._columns, strict=True)
            self._arrays = tuple(np.concatenate([start, *column]) for start, column in pairs)
        return self._arrays


def _cut_out(material: NDArray[np.integer[Any]]) -> NDArray[np.bool_]:
    # Imported here: at the top, every new material would compile all kernels of the sensors again.
    from jaywalk.server.sensors._materials import MATERIAL_TEXTURE, Texture

    cut_out: NDArray[np.bool_] = MATERIAL_TEXTURE[material] == Texture.LEAVES
    return cut_out


def _boxes(levels: Sequence[Mesh]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the numbers of the parts and the box of each, over all levels."""
    parts = np.unique(np.concatenate([mesh.part for mesh in levels]).astype(np.int64))
    boxes = np.empty((len(parts), 2, 3))
    for row, part in enumerate(parts):
        points = np.concatenate(
            [mesh.points_m[np.unique(mesh.triangles[mesh.part == part])] for mesh in levels]
        )
        boxes[row] = points.min(axis=0), points.max(axis=0)
    return parts, boxes


def box_mesh(
    low_m: tuple[float, float, float],
    high_m: tuple[float, float, float],
    material: int,
    part: int = 0,
) -> Mesh:
    """Return a box as a mesh: the simplest example, and a shape for tests."""
    points: list[list[float]] = []
    triangles: list[list[int]] = []
    normals: list[Any] = []
    uv: list[list[list[float]]] = []
    for axis in range(3):
        b, c = (axis + 1) % 3, (axis + 2) % 3
        for side in (0, 1):
            start = len(points)
            for i, j in ((0, 0), (1, 0), (1, 1), (0, 1)):
                point = [0.0, 0.0, 0.0]
                point[axis] = (low_m, high_m)[side][axis]
                point[b], point[c] = (low_m, high_m)[i][b], (low_m, high_m)[j][c]
                points.append(point)
            normal = np.zeros(3)
            normal[axis] = 2.0 * side - 1.0
            for corners in ((0, 1, 2), (0, 2, 3)):
                triangles.append([start + corner for corner in corners])
                normals.append([normal] * 3)
                uv.append(
                    [[points[start + corner][b], points[start + corner][c]] for corner in corners]
                )
    count = len(triangles)
    return Mesh(
        np.array(points),
        np.array(triangles, np.int32),
        np.array(normals, np.float32),
        np.array(uv, np.float32),
        np.full(count, material, np.int32),
        np.full(count, part, np.int32),
    )


@kernel
def fill_matrix(
    matrix: NDArray[np.float64],
    axes: NDArray[np.float64],
    scale: NDArray[np.float64],
    shift: tuple[float, float, float],
    part_pose: NDArray[np.float64],
    part_row: int,
) -> None:
    """Write the (3, 4) map from a part's frame to ``shift + axes^T (scale * (part * point))``.

    Args:
        matrix: Output.
        axes: Columns are the images of the model's axes (rows of world axes turned into the output
            frame): ``axes[i, j]`` is coordinate i of axis j.
        scale: Of the model's axes.
        shift: Image of the model's origin.
        part_pose: Of all parts.
        part_row: Row in ``part_pose``; -1: the part does not move.
    """
    for i in range(3):
        if part_row < 0:
            for j in range(3):
                matrix[i, j] = axes[i, j] * scale[j]
            matrix[i, 3] = shift[i]
        else:
            for j in range(4):
                total = 0.0
                for m in range(3):
                    total += axes[i, m] * scale[m] * part_pose[part_row, m, j]
                matrix[i, j] = total
            matrix[i, 3] += shift[i]


@kernel
def place_points(
    meshes: Meshes,
    instance: int,
    level: int,
    axes: NDArray[np.float64],
    shift: tuple[float, float, float],
    out: NDArray[np.float64],
) -> int:
    """Write the points of an instance in another frame; return their number.

    Args:
        meshes: All meshes.
        instance: The instance.
        level: Its level of detail.
        axes: (3, 3): ``axes[i, j]`` is coordinate i of the instance's axis j in the frame.
        shift: The instance's origin in the frame.
        out: Output, with room for the points.
    """
    first = meshes.span[instance, level, FIRST_POINT]
    count = meshes.span[instance, level, END_POINT] - first
    first_part = meshes.first_part[instance]
    scale = meshes.scale[instance]
    points, point_part = meshes.points, meshes.point_part
    matrix = np.empty((3, 4))
    last = -1
    for index in range(count):
        part = point_part[first + index] if first_part >= 0 else 0
        if part != last:
            row = first_part + part if first_part >= 0 else -1
            fill_matrix(matrix, axes, scale, shift, meshes.part_pose, row)
            last = part
        x, y, z = points[first + index, 0], points[first + index, 1], points[first + index, 2]
        for i in range(3):
            out[index, i] = matrix[i, 0] * x + matrix[i, 1] * y + matrix[i, 2] * z + matrix[i, 3]
    return int(count)


@kernel
def most_points(meshes: Meshes) -> int:
    """Return the number of points of the largest mesh that an instance shows."""
    most = 0
    for instance in range(len(meshes.span)):
        for level in range(LEVELS):
            span = meshes.span[instance, level]
            most = max(most, span[END_POINT] - span[FIRST_POINT])
    return most


@kernel
def corner_shares(
    ax: float, ay: float, az: float,
    bx: float, by: float, bz: float,
    cx: float, cy: float, cz: float,
    px: float, py: float, pz: float,
) -> tuple[float, float]:  # fmt: skip
    """Shares of the second and third corner at a point of a triangle's plane, within 0..1."""
    ux, uy, uz = bx - ax, by - ay, bz - az
    vx, vy, vz = cx - ax, cy - ay, cz - az
    wx, wy, wz = px - ax, py - ay, pz - az
    uu, uv, vv = (
        ux * ux + uy * uy + uz * uz,
        ux * vx + uy * vy + uz * vz,
        vx * vx + vy * vy + vz * vz,
    )
    wu, wv = wx * ux + wy * uy + wz * uz, wx * vx + wy * vy + wz * vz
    area = uu * vv - uv * uv
    if area <= 1e-30:
        return 0.0, 0.0
    second = min(max((vv * wu - uv * wv) / area, 0.0), 1.0)
    third = min(max((uu * wv - uv * wu) / area, 0.0), 1.0 - second)
    return second, third


@kernel
def mesh_surface(
    meshes: Meshes,
    form: NDArray[np.float64],
    k: int,
    instance: int,
    triangle: int,
    x: float,
    y: float,
    z: float,
) -> tuple[float, float, float, float, float, int]:
    """Normal in the world, texture coordinates and material at a point of a mesh.

    Args:
        meshes: All meshes.
        form: Of the solids.
        k: Row of the solids.
        instance: ``solids.mesh[k]``.
        triangle: From ``Visible.triangle`` or ``Echoes.triangle``.
        x: The point in the world.
        y: The point in the world.
        z: The point in the world.
    """
    shift = meshes.span[instance, meshes.level[triangle], SHIFT]
    points, corners, uv = meshes.points, meshes.triangles, meshes.uv
    first_part = meshes.first_part[instance]
    px, py, pz = (
        x - meshes.origin[instance, 0],
        y - meshes.origin[instance, 1],
        z - meshes.origin[instance, 2],
    )
    sx, sy, sz = meshes.scale[instance, 0], meshes.scale[instance, 1], meshes.scale[instance, 2]
    lx = (form[k, 3] * px + form[k, 4] * py + form[k, 5] * pz) / sx
    ly = (form[k, 6] * px + form[k, 7] * py + form[k, 8] * pz) / sy
    lz = (form[k, 9] * px + form[k, 10] * py + form[k, 11] * pz) / sz
    row = first_part + meshes.part[triangle] if first_part >= 0 else -1
    if row >= 0:
        pose = meshes.part_pose[row]
        ox, oy, oz = lx - pose[0, 3], ly - pose[1, 3], lz - pose[2, 3]
        lx = pose[0, 0] * ox + pose[1, 0] * oy + pose[2, 0] * oz
        ly = pose[0, 1] * ox + pose[1, 1] * oy + pose[2, 1] * oz
        lz = pose[0, 2] * ox + pose[1, 2] * oy + pose[2, 2] * oz
    a, b, c = (
        corners[triangle, 0] + shift,
        corners[triangle, 1] + shift,
        corners[triangle, 2] + shift,
    )
    second, third = corner_shares(
        points[a, 0], points[a, 1], points[a, 2],
        points[b, 0], points[b, 1], points[b, 2],
        points[c, 0], points[c, 1], points[c, 2],
        lx, ly, lz,
    )  # fmt: skip
    first = 1.0 - second - third
    u = first * uv[triangle, 0, 0] + second * uv[triangle, 1, 0] + third * uv[triangle, 2, 0]
    v = first * uv[triangle, 0, 1] + second * uv[triangle, 1, 1] + third * uv[triangle, 2, 1]
    if shift != 0:
        normals = meshes.point_normals
        nx = first * normals[a, 0] + second * normals[b, 0] + third * normals[c, 0]
        ny = first * normals[a, 1] + second * normals[b, 1] + third * normals[c, 1]
        nz = first * normals[a, 2] + second * normals[b, 2] + third * normals[c, 2]
    else:
        corner = meshes.normals
        mx = (
            first * corner[triangle, 0, 0]
            + second * corner[triangle, 1, 0]
            + third * corner[triangle, 2, 0]
        )
        my = (
            first * corner[triangle, 0, 1]
            + second * corner[triangle, 1, 1]
            + third * corner[triangle, 2, 1]
        )
        mz = (
            first * corner[triangle, 0, 2]
            + second * corner[triangle, 1, 2]
            + third * corner[triangle, 2, 2]
        )
        if row >= 0:
            pose = meshes.part_pose[row]
            tx = pose[0, 0] * mx + pose[0, 1] * my + pose[0, 2] * mz
            ty = pose[1, 0] * mx + pose[1, 1] * my + pose[1, 2] * mz
            mz = pose[2, 0] * mx + pose[2, 1] * my + pose[2, 2] * mz
            mx, my = tx, ty
        mx, my, mz = mx / sx, my / sy, mz / sz
        nx = form[k, 3] * mx + form[k, 6] * my + form[k, 9] * mz
        ny = form[k, 4] * mx + form[k, 7] * my + form[k, 10] * mz
        nz = form[k, 5] * mx + form[k, 8] * my + form[k, 11] * mz
    norm = 1.0 / max(math.sqrt(nx * nx + ny * ny + nz * nz), 1e-12)
    return nx * norm, ny * norm, nz * norm, u, v, int(meshes.material[triangle])
