"""Surfaces that vehicles are made of: grids, boxes, bars and lathed shapes.

Frame of a vehicle: x forward, y right, z up, metres; the ground is z = 0. Shapes are drawn on the
right side and mirrored to the left, with the lamps and parts of that side.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.arrays import FloatArray
from jaywalk.server.sensors._materials import Material
from jaywalk.server.sensors._mesh import Mesh

NOTHING: Final = -1  # a quad of a grid that is left out
# Parts: the body, wheels and doors; those of the right side have even numbers.
BODY: Final = 0
WHEELS: Final = (1, 2, 3, 4)  # front left, front right, rear left, rear right
DOORS: Final = (5, 6, 7, 8)  # the same order, as in CARLA's ``VehicleDoor``
PARTS: Final = 9
_LEFT_OF: Final = {2: 1, 4: 3, 6: 5, 8: 7}
_LEFT_LAMP: Final = {int(Material.BLINKER_RIGHT): int(Material.BLINKER_LEFT)}

Point = tuple[float, float, float]


class _Surface(NamedTuple):
    points: FloatArray  # (n, 3)
    triangles: NDArray[np.int32]  # (m, 3)
    normals: FloatArray  # (m, 3, 3)
    material: NDArray[np.int32]  # (m,)
    part: int


class Surfaces:
    """Collects surfaces and returns them as one mesh."""

    def __init__(self) -> None:
        self._all: list[_Surface] = []

    def grid(
        self,
        points: FloatArray,
        material: int | Sequence[Sequence[int]] | NDArray[Any],
        *,
        part: int | NDArray[Any] = BODY,
        mirror: bool = False,
        outward: Point | None = None,
        around: bool = False,
    ) -> None:
        """Add a smooth surface over a grid of points.

        Args:
            points: (rows, columns, 3).
            material: Of all quads, or (rows - 1, columns - 1); NOTHING leaves a quad out.
            part: Of all quads, or (rows - 1, columns - 1).
            mirror: Whether the left side gets a copy.
            outward: A direction to the outside; without it, away from the middle of the vehicle.
            around: Whether each row is a closed ring; the outside lies away from its middle.
        """
        rows, columns = points.shape[:2]
        kinds = np.broadcast_to(np.asarray(material), (rows - 1, columns - 1))
        parts = np.broadcast_to(np.asarray(part), (rows - 1, columns - 1))
        number = np.arange(rows * columns).reshape(rows, columns)
        a, b = number[:-1, :-1], number[:-1, 1:]
        c, d = number[1:, 1:], number[1:, :-1]
        quads = np.stack([np.stack([a, b, c], -1), np.stack([a, c, d], -1)], axis=2)
        flat = points.reshape(-1, 3)
        normals = _smooth_normals(flat, quads.reshape(-1, 3))
        if around:
            rings = normals.reshape(points.shape)
            seam = rings[:, 0] + rings[:, -1]
            seam /= np.maximum(np.linalg.norm(seam, axis=1, keepdims=True), 1e-12)
            rings[:, 0] = rings[:, -1] = seam
            away = (points - points.mean(axis=1, keepdims=True)).reshape(-1, 3)
        elif outward is None:
            away = flat - np.array([0.8, 0.0, 1.0]) * flat.mean(axis=0)
            away[:, 2] += 0.3 * flat[:, 2].mean()
        else:
            away = np.broadcast_to(np.asarray(outward), flat.shape)
        if np.einsum("ij,ij->", normals, away) < 0.0:
            normals, quads = -normals, quads[..., ::-1]
        for own in np.unique(parts):
            shown = (parts == own) & (kinds != NOTHING)
            if not shown.any():
                continue
            corners = quads[shown].reshape(-1, 3)
            used, inverse = np.unique(corners, return_inverse=True)
            self._add(
                flat[used],
                inverse.reshape(-1, 3).astype(np.int32),
                normals[corners],
                np.repeat(kinds[shown], 2).astype(np.int32),
                int(own),
                mirror,
            )

    def tube(self, points: FloatArray, material: int, *, part: int = BODY) -> None:
        """Add a surface over closed rings (rings, points, 3); first and last point are the same."""
        self.grid(points, material, part=part, around=True)

    def _add(
        self,
        points: FloatArray,
        triangles: NDArray[np.int32],
        normals: FloatArray,
        material: NDArray[np.int32],
        part: int,
        mirror: bool,
    ) -> None:
        edges = points[triangles]
        area = np.cross(edges[:, 1] - edges[:, 0], edges[:, 2] - edges[:, 0])
        kept = np.einsum("ij,ij->i", area, area) > 1e-14  # corners may fall together
        triangles, normals, material = triangles[kept], normals[kept], material[kept]
        if not len(triangles):
            return
        self._all.append(_Surface(points, triangles, normals, material, part))
        if mirror:
            flip = np.array([1.0, -1.0, 1.0])
            lamps = np.array([_LEFT_LAMP.get(int(m), int(m)) for m in material], np.int32)
            turned = triangles[:, ::-1], normals[:, ::-1] * flip
            self._all.append(_Surface(points * flip, *turned, lamps, _LEFT_OF.get(part, part)))

    def quad(
        self,
        corners: Sequence[Point],
        material: int,
        *,
        part: int = BODY,
        mirror: bool = False,
        outward: Point | None = None,
    ) -> None:
        """Add a flat face with four corners, in order around it."""
        a, b, c, d = (np.array(corner) for corner in corners)
        points = np.array([[a, b], [d, c]])
        self.grid(points, material, part=part, mirror=mirror, outward=outward)

    def box(
        self,
        low: Point,
        high: Point,
        material: int,
        *,
        part: int = BODY,
        mirror: bool = False,
        taper: tuple[float, float] = (1.0, 1.0),
        open_below: bool = False,
    ) -> None:
        """Add a box; ``taper`` scales its top along x and y."""
        middle = [0.5 * (low[i] + high[i]) for i in range(2)]
        corners = {}
        for i in (0, 1):
            for j in (0, 1):
                x, y = (low, high)[i][0], (low, high)[j][1]
                corners[i, j, 0] = (x, y, low[2])
                top = [m + s * (v - m) for m, s, v in zip(middle, taper, (x, y), strict=True)]
                corners[i, j, 1] = (top[0], top[1], high[2])
        for axis in range(3):
            for side in (0, 1):
                if axis == 2 and side == 0 and open_below:
                    continue
                face = []
                for i, j in ((0, 0), (1, 0), (1, 1), (0, 1)):
                    key = [i, j]
                    key.insert(axis, side)
                    face.append(corners[key[0], key[1], key[2]])
                outward = [0.0, 0.0, 0.0]
                outward[axis] = 2.0 * side - 1.0
                to = (outward[0], outward[1], outward[2])
                self.quad(face, material, part=part, mirror=mirror, outward=to)

    def lathe(
        self,
        centre: Point,
        axis: Point,
        profile: Sequence[tuple[float, float]],
        sides: int,
        material: int | Sequence[int] | NDArray[Any],
        *,
        part: int = BODY,
        mirror: bool = False,
    ) -> None:
        """Add a surface of revolution.

        Args:
            centre: On the axis.
            axis: Direction of the axis.
            profile: Places along the axis and radii.
            sides: Corners around the axis.
            material: Of all, of each band, or (bands, sides).
            part: Of the surface.
            mirror: Whether the left side gets a copy.
        """
        along = np.asarray(axis, np.float64) / math.dist(axis, (0.0, 0.0, 0.0))
        first = np.array([0.0, 0.0, -1.0]) if abs(along[2]) < 0.9 else np.array([1.0, 0.0, 0.0])
        first = first - along * (first @ along)
        first /= np.linalg.norm(first)
        second = np.cross(along, first)
        angle = 2.0 * math.pi * np.arange(sides + 1) / sides
        around = np.outer(np.cos(angle), first) + np.outer(np.sin(angle), second)
        rings = [np.array(centre) + at * along + radius * around for at, radius in profile]
        kinds = np.asarray(material)
        if kinds.ndim == 1:
            kinds = kinds[:, None]
        kinds = np.broadcast_to(kinds, (len(profile) - 1, sides))
        # Each band has normals of its own: the edges of tyres and lamps are sharp.
        for band in range(len(profile) - 1):
            (low, r0), (high, r1) = profile[band], profile[band + 1]
            out = np.array([(r0 - r1) * along + (high - low) * way for way in around])
            out /= np.maximum(np.linalg.norm(out, axis=1, keepdims=True), 1e-12)
            if high < low or (high == low and r0 < r1):
                out = -out
            points = np.concatenate([rings[band], rings[band + 1]])
            k = np.arange(sides, dtype=np.int32)
            n = sides + 1
            corners = np.stack(
                [np.stack([k, k + 1, k + 1 + n], -1), np.stack([k, k + 1 + n, k + n], -1)], axis=1
            ).reshape(-1, 3)
            normals = np.concatenate([out, out])[corners]
            face = np.cross(
                points[corners[:, 1]] - points[corners[:, 0]],
                points[corners[:, 2]] - points[corners[:, 0]],
            )
            back = np.einsum("ij,ij->i", face, normals.mean(axis=1)) < 0.0
            corners[back], normals[back] = corners[back][:, ::-1], normals[back][:, ::-1]
            shades = np.repeat(kinds[band], 2).astype(np.int32)
            self._add(points, corners, normals, shades, part, mirror)

    def bar(
        self,
        start: Point,
        end: Point,
        radius: float,
        material: int,
        *,
        sides: int = 6,
        part: int = BODY,
        mirror: bool = False,
        end_radius: float | None = None,
    ) -> None:
        """Add a round bar between two points, closed at both ends."""
        axis = (end[0] - start[0], end[1] - start[1], end[2] - start[2])
        long = math.dist(start, end)
        last = radius if end_radius is None else end_radius
        profile = [(0.0, 0.0), (0.0, radius), (long, last), (long, 0.0)]
        self.lathe(start, axis, profile, sides, material, part=part, mirror=mirror)

    def bounds(self) -> tuple[FloatArray, FloatArray]:
        """Return the least and the greatest coordinates."""
        points = np.concatenate([s.points[np.unique(s.triangles)] for s in self._all])
        return points.min(axis=0), points.max(axis=0)

    def mesh(self) -> Mesh:
        """Return all surfaces as one mesh; texture coordinates are those of the nearest plane."""
        points = np.concatenate([surface.points for surface in self._all])
        start = np.cumsum([0] + [len(surface.points) for surface in self._all[:-1]])
        pairs = list(zip(self._all, start.tolist(), strict=True))
        triangles = np.concatenate([s.triangles + np.int32(first) for s, first in pairs])
        normals = np.concatenate([surface.normals for surface in self._all])
        material = np.concatenate([surface.material for surface in self._all])
        part = np.concatenate([np.full(len(s.triangles), s.part, np.int32) for s in self._all])
        axis = np.abs(normals.sum(axis=1)).argmax(axis=1)
        planes = np.array([[1, 2], [0, 2], [0, 1]])[axis]
        uv = np.take_along_axis(points[triangles], planes[:, None, :].repeat(3, axis=1), axis=2)
        return Mesh(
            points,
            triangles,
            normals.astype(np.float32),
            uv.astype(np.float32),
            material,
            part,
        )


def _smooth_normals(points: FloatArray, triangles: NDArray[Any]) -> FloatArray:
    """Return unit normals at points: means over the triangles around them, by area."""
    a, b, c = (points[triangles[:, k]] for k in range(3))
    face = np.cross(b - a, c - a)
    normals = np.zeros_like(points)
    for k in range(3):
        np.add.at(normals, triangles[:, k], face)
    # Points at the same place share their normal, where a grid ends in a corner.
    size = np.linalg.norm(normals, axis=1, keepdims=True)
    out: FloatArray = normals / np.maximum(size, 1e-12)
    return out


def fitted(mesh: Mesh, low: Point, high: Point) -> Mesh:
    """Return a mesh stretched along the axes so that it fills a box exactly."""
    used = mesh.points_m[np.unique(mesh.triangles)]
    least, size = used.min(axis=0), np.ptp(used, axis=0)
    scale = (np.array(high) - low) / size
    normals = mesh.normals / scale
    normals /= np.linalg.norm(normals, axis=2, keepdims=True)
    points = np.array(low) + (mesh.points_m - least) * scale
    return mesh._replace(points_m=points, normals=normals.astype(np.float32))
