"""Surfaces swept over rings, with the bones that move them: the parts of a person's mesh.

Space: that of the rig at rest (x left, y forward, z up, metres).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.arrays import FloatArray

MOST_BONES: Final = 4  # that move one point
#: Bones and their shares, for the point at an angle (rad) of a ring.
Weights = Mapping[int, float] | Callable[[float], Mapping[int, float]]


class BodyPart(NamedTuple):
    """A surface at rest with the bones that move its points."""

    points_m: FloatArray  # (n, 3)
    normals: FloatArray  # (n, 3)
    bones: NDArray[np.int32]  # (n, MOST_BONES)
    shares: NDArray[np.float32]  # (n, MOST_BONES), sum 1
    triangles: NDArray[np.int32]  # (m, 3)
    material: NDArray[np.int32]  # (m,)
    uv: NDArray[np.float32]  # (n, 2) metres


@dataclass(frozen=True, slots=True, kw_only=True)
class Ring:
    """An oval about ``centre``; angle 0 lies towards ``right``, a quarter towards ``front``.

    Attributes:
        centre: Middle.
        half: Half widths along ``right``, ``front`` and opposite to ``front``.
        weights: Bones that move it.
        power: 1 is an ellipse, smaller values are rounder boxes.
        right: First axis.
        front: Second axis.
    """

    centre: tuple[float, float, float]
    half: tuple[float, float, float]
    weights: Weights
    power: float = 1.0
    right: tuple[float, float, float] = (1.0, 0.0, 0.0)
    front: tuple[float, float, float] = (0.0, 1.0, 0.0)


def blend(low: int, high: int, share: float) -> dict[int, float]:
    """Weights between two bones: ``share`` 0 gives the first, 1 the second, smoothly between."""
    s = min(max(share, 0.0), 1.0)
    s = s * s * (3.0 - 2.0 * s)
    return {low: 1.0 - s, high: s}


def loft(
    rings: Sequence[Ring],
    sides: int,
    materials: Sequence[int],
    *,
    start: bool = True,
    end: bool = True,
) -> BodyPart:
    """Return the surface over the rings.

    Args:
        rings: Two or more, from one end to the other.
        sides: Points of a ring.
        materials: Of each band between two rings, or one for all.
        start: Whether the first ring is closed.
        end: Whether the last ring is closed.
    """
    angles = 2.0 * math.pi * (np.arange(sides) + 0.5) / sides
    points = [_on_ring(ring, angles) for ring in rings]
    weights: list[Mapping[int, float]] = []
    uv, along = [], 0.0
    for k, ring in enumerate(rings):
        if callable(ring.weights):
            weights += [ring.weights(angle) for angle in angles.tolist()]
        else:
            weights += [ring.weights] * sides
        along += math.dist(ring.centre, rings[k - 1].centre) if k else 0.0
        girth = sum(ring.half) * 2.0 / 3.0
        uv.append(np.column_stack([girth * angles, np.full(sides, along)]))
    side = np.arange(sides)
    after = (side + 1) % sides
    band = np.stack(
        [
            np.column_stack([side, after, after + sides]),
            np.column_stack([side, after + sides, side + sides]),
        ],
        axis=1,
    ).reshape(-1, 3)
    kinds = list(materials) if len(materials) > 1 else [materials[0]] * (len(rings) - 1)
    triangles = [band + k * sides for k in range(len(rings) - 1)]
    material = np.repeat(kinds, 2 * sides).tolist()
    inner = [np.tile(ring.centre, (sides, 1)) for ring in rings]
    count = len(rings) * sides
    for wanted, ring, first, kind in (
        (start, rings[0], 0, kinds[0]),
        (end, rings[-1], count - sides, kinds[-1]),
    ):
        if not wanted:
            continue
        pole = sum(len(part) for part in points)
        points.append(np.array([ring.centre]))
        weights.append(weights[first])
        uv.append(uv[first // sides][:1])
        triangles.append(np.column_stack([first + side, first + after, np.full(sides, pole)]))
        material += [kind] * sides
        inner.append(np.mean([[other.centre for other in rings]], axis=1))
    return make_part(
        np.concatenate(points),
        np.concatenate(triangles),
        material,
        weights,
        np.concatenate(uv),
        np.concatenate(inner),
    )


def make_part(
    points: FloatArray,
    triangles: Sequence[tuple[int, int, int]] | NDArray[np.int64],
    material: Sequence[int],
    weights: Sequence[Mapping[int, float]],
    uv: FloatArray | None = None,
    inner: FloatArray | None = None,
) -> BodyPart:
    """Return a surface with smooth normals that point away from ``inner`` (n or 1, 3)."""
    corner = np.asarray(triangles, np.int32).reshape(-1, 3)
    if inner is None:
        inner = points.mean(axis=0, keepdims=True)
    inner = np.broadcast_to(inner, points.shape)
    a, b, c = (points[corner[:, k]] for k in range(3))
    flat = np.cross(b - a, c - a)
    away = (a + b + c - inner[corner].sum(axis=1)) / 3.0
    flat *= np.where(np.einsum("ij,ij->i", flat, away) < 0.0, -1.0, 1.0)[:, None]
    normals: FloatArray = np.zeros_like(points)
    for axis in range(3):
        normals[:, axis] = np.bincount(corner.ravel(), np.repeat(flat[:, axis], 3), len(points))
    normals = normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-12)
    bones = np.zeros((len(points), MOST_BONES), np.int32)
    shares = np.zeros((len(points), MOST_BONES), np.float32)
    last: Mapping[int, float] | None = None
    for row, weight in enumerate(weights):
        if weight is last:
            bones[row], shares[row] = bones[row - 1], shares[row - 1]
            continue
        last = weight
        kept = sorted(weight.items(), key=lambda item: -item[1])[:MOST_BONES]
        total = sum(share for _, share in kept)
        for k, (bone, share) in enumerate(kept):
            bones[row, k], shares[row, k] = bone, share / total
    return BodyPart(
        points_m=np.asarray(points, np.float64),
        normals=normals,
        bones=bones,
        shares=shares,
        triangles=corner,
        material=np.array(material, np.int32),
        uv=np.zeros((len(points), 2), np.float32) if uv is None else uv.astype(np.float32),
    )


def joined(parts: Sequence[BodyPart]) -> BodyPart:
    """Return several surfaces as one."""
    first = np.cumsum([0] + [len(part.points_m) for part in parts[:-1]])
    rows = zip(parts, first.tolist(), strict=True)
    triangles = [part.triangles + np.int32(start) for part, start in rows]
    return BodyPart(
        np.concatenate([part.points_m for part in parts]),
        np.concatenate([part.normals for part in parts]),
        np.concatenate([part.bones for part in parts]),
        np.concatenate([part.shares for part in parts]),
        np.concatenate(triangles),
        np.concatenate([part.material for part in parts]),
        np.concatenate([part.uv for part in parts]),
    )


def box(
    centre: tuple[float, float, float],
    half: tuple[float, float, float],
    material: int,
    weights: Mapping[int, float],
    axes: FloatArray | None = None,
) -> BodyPart:
    """Return a box with flat sides; rows of ``axes`` are its directions."""
    frame = np.eye(3) if axes is None else axes
    points: list[FloatArray] = []
    triangles = []
    for axis in range(3):
        u, v = frame[(axis + 1) % 3] * half[(axis + 1) % 3], frame[(axis + 2) % 3]
        v = v * half[(axis + 2) % 3]
        for sign in (-1.0, 1.0):
            middle = np.array(centre) + sign * half[axis] * frame[axis]
            first = len(points)
            points += [middle - u - v, middle + u - v, middle + u + v, middle - u + v]
            triangles += [(first, first + 1, first + 2), (first, first + 2, first + 3)]
    return make_part(
        np.array(points),
        triangles,
        [material] * len(triangles),
        [weights] * len(points),
        inner=np.array([centre]),
    )


def _on_ring(ring: Ring, angles: FloatArray) -> FloatArray:
    c, s = np.cos(angles), np.sin(angles)
    x = np.sign(c) * np.abs(c) ** ring.power * ring.half[0]
    deep = np.where(s > 0.0, ring.half[1], ring.half[2])
    y = np.sign(s) * np.abs(s) ** ring.power * deep
    points: FloatArray = np.array(ring.centre) + np.outer(x, ring.right) + np.outer(y, ring.front)
    return points
