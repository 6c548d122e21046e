"""Trees, hedges and leaves: crowns of several clusters with loose leaves around them."""

from __future__ import annotations

import math
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.arrays import FloatArray
from jaywalk.core.seeds import stream
from jaywalk.server.sensors._materials import Material
from jaywalk.server.sensors._mesh import Mesh, Model
from jaywalk.server.sensors.models.vehicles._surfaces import Surfaces

CROWNS: Final = 6  # shapes of crowns
HEDGES: Final = 4
_CROWN_M: Final = 2.0  # radius for which texture coordinates of the unit crown are metres
_CLUSTERS: Final = (9, 9, 6)  # by level
_SPLITS: Final = (2, 1, 1)
_CARDS: Final = (110, 36, 0)  # loose leaves, by level
_TRUNK_SIDES: Final = (9, 6, 4)


@cache
def _ball(splits: int) -> tuple[FloatArray, NDArray[np.int32]]:
    """Points and triangles of an icosahedron whose faces are split; unit radius."""
    g = 0.5 * (1.0 + math.sqrt(5.0))
    corners = [(0, s, t * g) for s in (-1, 1) for t in (-1, 1)]
    points = np.array([np.roll(c, k) for k in range(3) for c in corners], np.float64)
    points /= np.linalg.norm(points[0])
    near = np.linalg.norm(points[:, None] - points[None], axis=2) < 1.1
    n = len(points)
    faces = [
        (a, b, c)
        for a in range(n)
        for b in range(a + 1, n)
        for c in range(b + 1, n)
        if near[a, b] and near[b, c] and near[a, c]
    ]
    triangles = np.array(faces, np.int32)
    for _ in range(splits):
        edges: dict[tuple[int, int], int] = {}
        places = points.tolist()
        split = []
        for a, b, c in triangles.tolist():
            middle = []
            for low, high in ((a, b), (b, c), (c, a)):
                key = (min(low, high), max(low, high))
                if key not in edges:
                    edges[key] = len(places)
                    half = points[low] + points[high]
                    places.append((half / np.linalg.norm(half)).tolist())
                middle.append(edges[key])
            ab, bc, ca = middle
            split += [(a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)]
        points, triangles = np.array(places), np.array(split, np.int32)
    return points, triangles


def _mesh(
    points: FloatArray, triangles: NDArray[np.int32], normals: FloatArray, uv: FloatArray, kind: int
) -> Mesh:
    """A mesh of one material from normals and texture coordinates at its points."""
    return Mesh(
        points,
        triangles,
        normals[triangles].astype(np.float32),
        uv[triangles].astype(np.float32),
        np.full(len(triangles), kind, np.int32),
        np.zeros(len(triangles), np.int32),
    )


def joined(meshes: list[Mesh]) -> Mesh:
    """Return several meshes as one."""
    start = np.cumsum([0] + [len(mesh.points_m) for mesh in meshes[:-1]])
    pairs = zip(meshes, start.tolist(), strict=True)
    triangles = np.concatenate([mesh.triangles + np.int32(first) for mesh, first in pairs])
    return Mesh(
        np.concatenate([mesh.points_m for mesh in meshes]),
        triangles,
        *(np.concatenate([mesh[k] for mesh in meshes]) for k in range(2, 6)),
    )


def _lump(
    random: np.random.Generator, centre: FloatArray, radius: float, splits: int, crown: FloatArray
) -> Mesh:
    """A bumpy ball of leaves; its normals lean towards those of the whole crown."""
    ball, triangles = _ball(splits)
    bumps = np.zeros(len(ball))
    for _ in range(5):
        way = random.normal(size=3)
        bumps += np.cos(ball @ (way * 2.6) + random.uniform(0.0, 6.3))
    points = centre + ball * (radius * (1.0 + 0.06 * bumps))[:, None]
    away = points - crown
    away /= np.maximum(np.linalg.norm(away, axis=1, keepdims=True), 1e-9)
    normals = ball + 0.6 * away
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    along = np.arctan2(ball[:, 1], ball[:, 0])
    uv = _CROWN_M * np.column_stack([along * radius, points[:, 2]])
    return _mesh(points, triangles, normals, uv, int(Material.HEDGE))


def _cards(
    random: np.random.Generator,
    anchors: FloatArray,
    normals: FloatArray,
    half: float,
    metres: float,
) -> Mesh:
    """Small sheets of cut-out leaves, each about an anchor."""
    count = len(anchors)
    first = np.cross(normals, random.normal(size=(count, 3)))
    first /= np.maximum(np.linalg.norm(first, axis=1, keepdims=True), 1e-9)
    tilt = normals + 0.9 * random.normal(size=(count, 3))
    second = np.cross(tilt, first)
    second /= np.maximum(np.linalg.norm(second, axis=1, keepdims=True), 1e-9)
    size = half * random.uniform(0.7, 1.3, count)[:, None]
    corners = [
        anchors + size * (i * first + j * second) for i, j in ((-1, -1), (1, -1), (1, 1), (-1, 1))
    ]
    points = np.stack(corners, axis=1).reshape(-1, 3)
    k = 4 * np.arange(count, dtype=np.int32)[:, None]
    triangles = np.concatenate([k + np.array([0, 1, 2]), k + np.array([0, 2, 3])]).astype(np.int32)
    shift = random.uniform(0.0, 8.0, (count, 1, 2))
    square = np.array([(0.0, 0.0), (2.0, 0.0), (2.0, 2.0), (0.0, 2.0)])
    uv = (shift + half * metres * square).reshape(-1, 2)
    return _mesh(points, triangles, np.repeat(normals, 4, axis=0), uv, int(Material.LEAVES))


@cache
def crown(number: int) -> Model:
    """Return the crown of a tree in a ball of radius 1 that stands on the origin."""
    random = stream(0, "crown", number)
    count = max(_CLUSTERS)
    turn = random.uniform(0.0, 2.0 * math.pi)
    rows = []
    for k in range(count):
        # Points spread over a ball by the golden angle, a little flattened below.
        up = 1.0 - 2.0 * (k + 0.5) / count
        level = math.sqrt(1.0 - up * up)
        angle = turn + 2.399963 * k
        reach = float(random.uniform(0.42, 0.56))
        place = (level * math.cos(angle), level * math.sin(angle), 0.92 * up)
        rows.append((*(reach * p for p in place), float(random.uniform(0.40, 0.50))))
    clusters = np.array(rows)
    middle = np.array([0.0, 0.0, 1.0])
    levels = []
    for level in range(3):
        own = stream(0, "crown", number, level)
        chosen = clusters[: _CLUSTERS[level]] if level < 2 else clusters[::2]
        grown = 1.0 if level < 2 else 1.22
        lumps = [
            _lump(own, middle + row[:3], float(grown * row[3]), _SPLITS[level], middle)
            for row in chosen
        ]
        if _CARDS[level]:
            body = np.concatenate([lump.points_m for lump in lumps])
            away = body - middle
            far = np.linalg.norm(away, axis=1)
            outer = np.flatnonzero(far > np.quantile(far, 0.45))
            picked = own.choice(outer, _CARDS[level], replace=False)
            normals = away[picked] / far[picked, None]
            half = 0.17 if level == 0 else 0.24
            lumps.append(_cards(own, body[picked], normals, half, _CROWN_M))
        mesh = joined(lumps)
        away = mesh.points_m - middle
        far = np.linalg.norm(away, axis=1, keepdims=True)
        levels.append(mesh._replace(points_m=middle + away * np.minimum(1.0, 1.0 / far)))
    return Model(tuple(levels))


@cache
def trunk() -> Model:
    """Return a trunk of radius 1 and height 1."""
    levels = []
    for sides in _TRUNK_SIDES:
        out = Surfaces()
        profile = [(0.0, 1.0), (0.06, 0.86), (0.2, 0.78), (0.7, 0.70), (1.0, 0.62)]
        chosen = profile if sides > 4 else [profile[0], profile[-1]]
        out.lathe((0.0, 0.0, 0.0), (0.0, 0.0, 1.0), chosen, sides, int(Material.BARK))
        mesh = out.mesh()
        around = np.arctan2(mesh.points_m[:, 1], mesh.points_m[:, 0])
        uv = np.column_stack([0.14 * around, 2.6 * mesh.points_m[:, 2]])
        levels.append(mesh._replace(uv=uv[mesh.triangles].astype(np.float32)))
    return Model(tuple(levels))


@cache
def hedge(number: int, half_x_m: float, half_y_m: float, height_m: float) -> Model:
    """Return a clipped hedge of a size; it fills its box."""
    levels = []
    for level in range(3):
        random = stream(0, "hedge", number)
        step = (0.3, 0.8, 4.0)[level]
        along = np.linspace(-half_x_m, half_x_m, max(2, 1 + math.ceil(2.0 * half_x_m / step)))
        inset = 0.06 if level < 2 else 0.0
        # A section of the hedge from one foot over the top to the other.
        around = [(-1.0, 0.0), (-1.0, 0.35), (-1.0, 0.7), (-0.92, 0.93), (-0.75, 1.0), (0.0, 1.0)]
        if level == 2:
            around = [(-1.0, 0.0), (-1.0, 0.93), (-0.85, 1.0), (0.0, 1.0)]
        section = np.array([*around, *[(-y, z) for y, z in around[-2::-1]]])
        points = np.empty((len(along), len(section), 3))
        points[..., 0] = along[:, None]
        points[..., 1] = section[:, 0] * half_y_m
        points[..., 2] = section[:, 1] * height_m
        bump = inset * random.uniform(0.0, 1.0, points.shape[:2])
        points[..., 1] -= np.sign(section[:, 0]) * bump
        points[..., 2] -= (section[:, 1] > 0.9) * bump
        out = Surfaces()
        material = int(Material.HEDGE)
        out.grid(points, material)
        for end in (0, -1):
            face = points[end]
            middle = np.array([face[0, 0], 0.0, 0.5 * height_m])
            fan = np.stack([face, np.broadcast_to(middle, face.shape)])
            out.grid(fan, material, outward=(-1.0 if end == 0 else 1.0, 0.0, 0.0))
        meshes = [out.mesh()]
        if level == 0:
            flat = points.reshape(-1, 3)
            picked = random.choice(len(flat), min(len(flat), 90), replace=False)
            away = flat[picked] - np.array([0.0, 0.0, 0.6 * height_m])
            away[:, 0] = 0.0
            away /= np.maximum(np.linalg.norm(away, axis=1, keepdims=True), 1e-9)
            meshes.append(_cards(random, flat[picked], away, 0.13, 1.0))
        mesh = joined(meshes)
        mesh.points_m[:, 2] = mesh.points_m[:, 2].clip(0.0, height_m)
        levels.append(mesh)
    return Model(tuple(levels))
