"""Meshes of four-legged animals: trunk, neck and head swept over ovals, legs of two parts."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.arrays import FloatArray
from jaywalk.core.seeds import stream
from jaywalk.server.sensors._materials import Material
from jaywalk.server.sensors._mesh import Mesh
from jaywalk.server.sensors.models.animals._species import AnimalShape
from jaywalk.server.sensors.models.vehicles._surfaces import Surfaces

LEGS: Final = 4  # hind left, fore left, hind right, fore right, as in ``feet_m``
UPPER: Final = 1  # part of the first upper leg; its lower leg is the next part
PARTS: Final = 1 + 2 * LEGS
_KNEE: Final = 0.5  # height of the knee, as a share of that of the hip
_FUR, _FUR_2 = int(Material.FUR), int(Material.FUR_2)
_HORN, _EYE, _NOSE = int(Material.HORN), int(Material.EYE), int(Material.NOSE)
_ROUND: Final = (16, 12, 7)  # corners of an oval, by level


class Leg(NamedTuple):
    """Joints of a leg in the frame of the animal, metres."""

    hip: tuple[float, float, float]
    knee_m: float  # heights
    fore: bool


class Beast(NamedTuple):
    """A mesh at rest and its legs."""

    mesh: Mesh
    legs: tuple[Leg, ...]


def tube(
    out: Surfaces,
    path: Sequence[tuple[float, float, float]],
    half: Sequence[tuple[float, float]],
    level: int,
    materials: int | NDArray[np.int32] = _FUR,
    part: int = 0,
    bumps: FloatArray | None = None,
) -> None:
    """Add a closed tube along a path; ``half`` are its half widths across and in its plane."""
    points = np.array(path)
    ahead = np.gradient(points, axis=0)
    ahead /= np.maximum(np.linalg.norm(ahead, axis=1, keepdims=True), 1e-9)
    aside = np.array([0.0, 1.0, 0.0])
    upward = np.cross(ahead, aside)
    n = _ROUND[level]
    angles = 2.0 * math.pi * np.arange(n + 1) / n
    rings = [np.broadcast_to(points[0], (n + 1, 3))]
    for k in range(len(points)):
        grow = 1.0 if bumps is None else bumps[k][:, None]
        oval = np.cos(angles)[:, None] * half[k][0] * aside
        oval = oval + np.sin(angles)[:, None] * half[k][1] * upward[k]
        rings.append(points[k] + grow * oval)
    rings.append(np.broadcast_to(points[-1], (n + 1, 3)))
    grid = np.stack(rings)
    out.grid(grid, materials, part=part)


def make_beast(shape: AnimalShape, size_m: tuple[float, float, float], level: int) -> Beast:
    """Return an animal of a size (length, width, height), standing."""
    long, _, high = size_m
    out = Surfaces()
    _trunk(out, shape, size_m, level)
    neck = [(x * long, 0.0, z * high) for x, z in shape.neck]
    thick = [(0.8 * h * high, h * high) for h in shape.neck_half]
    tube(out, neck, thick, level)
    _head(out, shape, size_m, level)
    _tail(out, shape, size_m, level)
    if shape.mane and level < 2:
        top = [
            (x * long - 0.02, 0.0, (z + 0.85 * h) * high)
            for (x, z), h in zip(shape.neck, shape.neck_half, strict=True)
        ]
        tube(out, top, [(0.025, 0.05 * high)] * len(top), level, _FUR_2)
    legs = _legs(out, shape, size_m, level)
    return Beast(out.mesh(), legs)


def _trunk(out: Surfaces, s: AnimalShape, size_m: tuple[float, float, float], level: int) -> None:
    long, wide, high = size_m
    count = (11, 8, 6)[level]
    path, half = [], []
    for k in range(count):
        share = k / (count - 1)
        x = s.rump + share * (s.chest - s.rump)
        back = s.back[0] + (s.back[1] - s.back[0]) * _smooth(share)
        belly = s.belly[0] + (s.belly[1] - s.belly[0]) * share
        # The groin is higher, the chest and the haunches are deep; both ends are rounded.
        belly += 0.03 * math.sin(math.pi * share) * (1.0 if share < 0.5 else 0.2)
        end = min(1.0, 2.6 * math.sqrt(max(share, 0.012) * max(1.0 - share, 0.012)) * 1.02)
        tall = 0.5 * (back - belly) * high * end
        across = 0.5 * wide * (s.width[0] + (s.width[1] - s.width[0]) * share) * end
        path.append((x * long, 0.0, 0.5 * (back + belly) * high))
        half.append((across, tall))
    n = _ROUND[level]
    kinds = np.full((count + 1, n), _FUR, np.int32)
    if s.pale_belly:
        middle = (np.arange(n) + 0.5) / n * 2.0 * math.pi
        kinds[:, np.sin(middle) < -0.72] = _FUR_2
    if s.patches:
        random = stream(0, "patches", round(1000.0 * long))
        waves = np.zeros(kinds.shape)
        around = np.arange(n)[None] / n * 2.0 * math.pi
        lengthwise = np.arange(count + 1)[:, None] / count
        for _ in range(6):
            a, b = random.uniform(3.0, 9.0), random.integers(1, 4)
            waves += np.cos(a * lengthwise + b * around + random.uniform(0.0, 6.28))
        kinds[waves > np.quantile(waves, 1.0 - s.patches)] = _FUR_2
    bumps = None
    if s.wool:
        random = stream(0, "wool", level)
        bumps = 1.0 + 0.05 * random.uniform(-1.0, 1.0, (count, n + 1))
        bumps[:, -1] = bumps[:, 0]
    tube(out, path, half, level, kinds, bumps=bumps)


def _smooth(share: float) -> float:
    return share * share * (3.0 - 2.0 * share)


def _head(out: Surfaces, s: AnimalShape, size_m: tuple[float, float, float], level: int) -> None:
    long, _, high = size_m
    (x0, z0), (x1, z1), (x2, z2) = ((x * long, z * high) for x, z in s.head)
    h0, h1, h2 = (half * high for half in s.head_half)
    back = (x0 - 0.9 * h0, 0.0, z0 - 0.1 * h0)
    path = [back, (x0 - 0.5 * h0, 0.0, z0), (x0, 0.0, z0), (x1, 0.0, z1), (x2 - 0.35 * h2, 0.0, z2),
            (x2, 0.0, z2)]  # fmt: skip
    half = [(0.3 * h0, 0.35 * h0), (0.62 * h0, 0.85 * h0), (0.72 * h0, h0), (0.66 * h1, h1),
            (0.75 * h2, h2), (0.5 * h2, 0.6 * h2)]  # fmt: skip
    kinds = np.full((len(path) + 1, _ROUND[level]), _FUR, np.int32)
    if not s.snout:
        kinds[4] = _FUR_2
    kinds[5:] = _FUR_2 if s.snout else _NOSE
    tube(out, path, half, level, kinds)
    if level == 2:
        return
    for side in (-1.0, 1.0):
        eye = (x0 + 0.5 * h0, side * 0.62 * h0, z0 + 0.3 * h0)
        out.lathe(
            eye,
            (0.25, side, 0.1),
            [(-0.02 * high, 0.0), (0.0, 0.2 * h0), (0.14 * h0, 0.0)],
            8,
            _EYE,
        )
        _ear(out, s, (x0 - 0.25 * h0, side * 0.55 * h0, z0 + 0.75 * h0), side, high)
    _horns(out, s.horns, (x0 - 0.1 * h0, 0.4 * h0, z0 + 0.85 * h0), high, level)


def _ear(
    out: Surfaces, s: AnimalShape, root: tuple[float, float, float], side: float, high: float
) -> None:
    length, half, hang = s.ears[0] * high, s.ears[1] * high, s.ears[2]
    way = np.array([-0.15, side * (0.35 + 0.6 * hang), 1.0 - 1.25 * hang])
    way /= np.linalg.norm(way)
    across = np.array([1.0, 0.0, 0.0]) - way * way[0]
    across /= np.linalg.norm(across)
    base = np.array(root)
    rows = [(0.0, 0.6), (0.35, 1.0), (0.7, 0.75), (1.0, 0.05)]
    depth = np.cross(way, across) * 0.5 * half
    grid = np.array(
        [
            [
                base + t * length * way + w * half * e * across - (1.0 - abs(e)) * depth
                for e in (-1.0, 0.0, 1.0)
            ]
            for t, w in rows
        ]
    )
    out.grid(grid, _FUR, outward=(1.0, 0.0, 0.2))
    out.grid(grid - 0.012 * np.array([1.0, 0.0, 0.0]), _FUR_2, outward=(-1.0, 0.0, 0.0))


# Places of a horn or antler from its root; forward, outward and up, shares of the height.
_HORNS: Final[dict[str, list[list[tuple[float, float, float]]]]] = {
    "cow": [[(0.0, 0.0, 0.0), (0.0, 0.07, 0.015), (0.03, 0.10, 0.05)]],
    "goat": [[(0.0, 0.0, 0.0), (-0.04, 0.015, 0.10), (-0.12, 0.04, 0.15)]],
    "roe": [
        [(0.0, 0.0, 0.0), (-0.01, 0.03, 0.08), (0.0, 0.035, 0.14)],
        [(-0.01, 0.03, 0.08), (0.04, 0.035, 0.12)],
    ],
    "deer": [
        [(0.0, 0.0, 0.0), (-0.06, 0.10, 0.10), (-0.05, 0.13, 0.20), (0.0, 0.10, 0.27)],
        [(0.0, 0.01, 0.01), (0.08, 0.05, 0.05)],
        [(-0.05, 0.09, 0.09), (0.03, 0.12, 0.13)],
        [(-0.05, 0.13, 0.20), (-0.10, 0.14, 0.26)],
    ],
    "moose": [
        [(0.0, 0.0, 0.0), (-0.01, 0.09, 0.02), (-0.03, 0.14, 0.06)],
        [(-0.02, 0.11, 0.04), (0.05, 0.16, 0.09)],
        [(-0.03, 0.14, 0.06), (0.0, 0.19, 0.15)],
        [(-0.03, 0.14, 0.06), (-0.05, 0.18, 0.16)],
        [(-0.03, 0.14, 0.06), (-0.10, 0.15, 0.14)],
    ],
}


def _horns(
    out: Surfaces, kind: str, root: tuple[float, float, float], high: float, level: int
) -> None:
    """Add a pair of horns or antlers."""
    x, y, z = root
    thick = {"cow": 0.016, "goat": 0.016, "roe": 0.010, "deer": 0.011, "moose": 0.020}.get(
        kind, 0.0
    )
    for branch in _HORNS.get(kind, []):
        for k, (start, end) in enumerate(itertools.pairwise(branch)):
            ends = [(x + a * high, y + b * high, z + c * high) for a, b, c in (start, end)]
            r = thick * high * (1.0 - 0.25 * k)
            out.bar(ends[0], ends[1], r, _HORN, sides=6 if level == 0 else 4, mirror=True,
                    end_radius=0.6 * r)  # fmt: skip


def _tail(out: Surfaces, s: AnimalShape, size_m: tuple[float, float, float], level: int) -> None:
    long, _, high = size_m
    root = (s.rump * long, (s.back[0] - 0.06) * high)
    hang = {
        "tassel": [(0.0, 0.0), (-0.035, -0.06), (-0.045, -0.25), (-0.04, -0.42)],
        "hair": [(0.02, 0.0), (-0.05, -0.03), (-0.085, -0.2), (-0.08, -0.5)],
        "brush": [(0.02, 0.0), (-0.06, -0.06), (-0.11, -0.2), (-0.13, -0.32)],
        "thin": [(0.02, 0.0), (-0.10, 0.04), (-0.17, 0.12), (-0.20, 0.2)],
        "stub": [(0.01, 0.0), (-0.02, 0.01), (-0.035, -0.04)],
        "curl": [(0.02, -0.05), (-0.03, -0.02), (-0.03, 0.03), (-0.01, 0.02)],
    }[s.tail]
    thick = {"tassel": (0.02, 0.016, 0.016, 0.035), "hair": (0.03, 0.04, 0.06, 0.03),
             "brush": (0.04, 0.07, 0.10, 0.03), "thin": (0.045, 0.04, 0.04, 0.03),
             "stub": (0.05, 0.05, 0.02), "curl": (0.02, 0.018, 0.016, 0.01)}[s.tail]  # fmt: skip
    path = [(root[0] + a * long, 0.0, root[1] + b * high) for a, b in hang]
    half = [(t * high, t * high) for t in thick]
    kinds = np.full((len(path) + 1, _ROUND[level]), _FUR, np.int32)
    if s.tail in ("tassel", "hair"):
        kinds[3:] = _FUR_2
    tube(out, path, half, level, kinds)


def _legs(
    out: Surfaces, s: AnimalShape, size_m: tuple[float, float, float], level: int
) -> tuple[Leg, ...]:
    long, wide, high = size_m
    legs = []
    hip_z = {True: (s.belly[1] + 0.10) * high, False: (s.belly[0] + 0.12) * high}
    top, knee, foot = (t * high for t in s.leg)
    for number in range(LEGS):
        side, fore = (-1.0 if number < 2 else 1.0), number % 2 == 1
        x = (s.chest - 0.075 if fore else s.rump + 0.10) * long
        y = side * 0.30 * wide * s.width[1 if fore else 0]
        hip = hip_z[fore]
        joint = _KNEE * (s.belly[1 if fore else 0]) * high
        part = UPPER + 2 * number
        wide_top = min(0.9 * top, 0.30 * wide)
        bulge = 1.0 if fore else 1.35
        path = [(x, y, hip), (x, y, 0.55 * hip + 0.45 * joint), (x, y, joint), (x, y, joint - knee)]
        half = [(wide_top, bulge * top), (0.75 * wide_top, 0.8 * bulge * top), (knee, 1.1 * knee),
                (0.8 * knee, 0.9 * knee)]  # fmt: skip
        tube(out, path, half, level, _FUR, part=part)
        low = [(x, y, joint + 0.4 * knee), (x, y, 0.5 * joint), (x, y, 1.8 * foot)]
        thin = [(0.9 * knee, knee), (0.85 * foot, foot), (1.05 * foot, 1.2 * foot)]
        tube(out, low, thin, level, _FUR_2 if s.pale_belly is False and s.hooves else _FUR,
             part=part + 1)  # fmt: skip
        hoof = int(Material.HOOF) if s.hooves else _FUR_2
        shape = [(x - 0.1 * foot, y, 1.9 * foot), (x + 0.25 * foot, y, 0.7 * foot),
                 (x + 0.3 * foot, y, 0.0)]  # fmt: skip
        tube(out, shape, [(1.1 * foot, 1.25 * foot), (1.25 * foot, 1.6 * foot),
             (1.25 * foot, 1.7 * foot)], level, hoof, part=part + 1)  # fmt: skip
        legs.append(Leg((x, y, hip), joint, fore))
    return tuple(legs)
