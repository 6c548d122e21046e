"""The instances of models in a scene: place, size, colours and moving parts of each."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jaywalk.server.sensors._mesh import (
    END_POINT,
    FIRST_POINT,
    LEVELS,
    SHIFT,
    SLOTS,
    ActorMeshes,
    Meshes,
    MeshLibrary,
    PosedMeshes,
)
from jaywalk.server.sensors._solids import MESH, Paint, Solids, _put_paint, as_int64, kernel


class Instances:
    """Instance tables of one builder of scenes: the scenery first, then the actors of a tick."""

    def __init__(self, library: MeshLibrary) -> None:
        self.library = library
        self._span = np.zeros((0, LEVELS, 5), np.int64)
        self._origin = np.zeros((0, 3))
        self._scale = np.ones((0, 3))
        self._slots = np.zeros((0, SLOTS, 4), np.uint8)
        self._first_part = np.full(0, -1, np.int64)
        self._packed = -1  # models in the arrays below
        self._points = np.zeros((0, 3))
        self._point_part = np.zeros(0, np.int32)
        self._point_normals = np.zeros((0, 3), np.float32)

    def meshes(
        self, used: int, room: int, part_pose: NDArray[np.float64], posed: PosedMeshes
    ) -> Meshes:
        """Return tables with room for instances after the first ``used``, and posed points."""
        if len(self._span) < used + room:
            size = 2 * (used + room)
            for name in ("_span", "_origin", "_scale", "_slots", "_first_part"):
                old = getattr(self, name)
                new = np.zeros((size, *old.shape[1:]), old.dtype)
                new[: len(old)] = old
                setattr(self, name, new)
        points, point_part, *triangles = self.library.arrays()
        first, count = len(points), len(posed.points_world_m)
        if self._packed != len(self.library) or len(self._points) < first + count:
            size = first + count + count // 2
            self._points = np.zeros((size, 3))
            self._point_part = np.zeros(size, np.int32)
            self._point_normals = np.zeros((size, 3), np.float32)
            self._points[:first], self._point_part[:first] = points, point_part
            self._packed = len(self.library)
        self._points[first : first + count] = posed.points_world_m
        self._point_normals[first : first + count] = posed.normals
        packed: Any = (self._points, self._point_part, self._point_normals, *triangles)
        placed = (self._span, self._origin, self._scale, self._slots, self._first_part, part_pose)
        return Meshes._make((*packed, *placed))


@kernel
def put_instance(
    solids: Solids,
    k: int,
    meshes: Meshes,
    instance: int,
    origin: NDArray[np.float64],
    axes: NDArray[np.float64],
    scale: NDArray[np.float64],
    boxes: NDArray[np.float64],
    paint: Paint,
) -> None:
    """Write a rigid instance; its span, colours and first part are already in the tables.

    Args:
        solids: Where its row is.
        k: Its row.
        meshes: Where its tables are.
        instance: Its row in the tables.
        origin: Of the model in the world.
        axes: Rows forward, right, up.
        scale: Of the model.
        boxes: Number and box of each part, see ``MeshLibrary.boxes``.
        paint: Owner and labels.
    """
    for i in range(3):
        meshes.origin[instance, i] = origin[i]
        meshes.scale[instance, i] = scale[i]
    low, high = np.full(3, math.inf), np.full(3, -math.inf)
    first_part = meshes.first_part[instance]
    for box in range(len(boxes)):
        row = first_part + int(boxes[box, 0]) if first_part >= 0 else -1
        for corner in range(8):
            for i in range(3):
                value = boxes[box, 1 + i + (3 if (corner >> i) & 1 else 0)]
                if row >= 0:
                    value = meshes.part_pose[row, i, 3]
                    for j in range(3):
                        at = boxes[box, 1 + j + (3 if (corner >> j) & 1 else 0)]
                        value += meshes.part_pose[row, i, j] * at
                value *= scale[i]
                low[i], high[i] = min(low[i], value), max(high[i], value)
    _put_frame(solids, k, origin, axes, low, high)
    _put_paint(solids, k, paint)
    solids.mesh[k] = instance


@kernel
def _put_frame(
    solids: Solids,
    k: int,
    origin: NDArray[np.float64],
    axes: NDArray[np.float64],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
) -> None:
    """Write the box around an instance."""
    form = solids.form
    solids.shape[k] = MESH
    square = 0.0
    for i in range(3):
        form[k, i] = origin[i]
        for j in range(3):
            form[k, i] += axes[j, i] * 0.5 * (low[j] + high[j])
            form[k, 3 * j + 3 + i] = axes[j, i]
        half = 0.5 * (high[i] - low[i])
        form[k, 12 + i] = half
        square += half * half
    form[k, 15] = math.sqrt(square)


@kernel
def place_actor_meshes(
    solids: Solids,
    k: int,
    meshes: Meshes,
    instance: int,
    row: int,
    model: int,
    first_part: int,
    frame: tuple[NDArray[np.float64], NDArray[np.float64]],
    library: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]],
    shown: ActorMeshes,
    paint: Paint,
) -> None:
    """Write a rigid instance of an actor whose origin and axes are ``frame``.

    ``library`` holds the spans of all models, where their parts begin, and the boxes of the parts.
    """
    spans, first_box, boxes = library
    meshes.span[instance] = spans[model]
    meshes.slots[instance] = shown.slots[row]
    meshes.first_part[instance] = first_part
    own = boxes[first_box[model] : first_box[model + 1]]
    put_instance(solids, k, meshes, instance, frame[0], frame[1], shown.scale[row], own, paint)


@kernel
def place_posed_mesh(
    solids: Solids,
    k: int,
    meshes: Meshes,
    instance: int,
    span: NDArray[np.int64],
    first_point: int,
    slots: NDArray[np.uint8],
    paint: Paint,
) -> int:
    """Write an instance whose points begin at ``first_point``; return where they end."""
    for level in range(LEVELS):
        for i in range(5):
            meshes.span[instance, level, i] = span[level, i]
        repeated = level > 0 and span[level, FIRST_POINT] == span[level - 1, FIRST_POINT]
        if repeated:
            meshes.span[instance, level] = meshes.span[instance, level - 1]
            continue
        count = span[level, END_POINT] - span[level, FIRST_POINT]
        meshes.span[instance, level, SHIFT] = first_point - span[level, FIRST_POINT]
        meshes.span[instance, level, FIRST_POINT] = first_point
        meshes.span[instance, level, END_POINT] = first_point + count
        first_point += count
    low, high = np.full(3, math.inf), np.full(3, -math.inf)
    for level in range(LEVELS):
        first, end = (
            meshes.span[instance, level, FIRST_POINT],
            meshes.span[instance, level, END_POINT],
        )
        for p in range(first, end):
            for i in range(3):
                low[i] = min(low[i], meshes.points[p, i])
                high[i] = max(high[i], meshes.points[p, i])
    axes, origin = np.eye(3), np.zeros(3)
    for i in range(3):
        meshes.origin[instance, i] = 0.0
        meshes.scale[instance, i] = 1.0
    meshes.slots[instance] = slots
    meshes.first_part[instance] = -1
    _put_frame(solids, k, origin, axes, low, high)
    _put_paint(solids, k, paint)
    solids.mesh[k] = instance
    return as_int64(first_point)
