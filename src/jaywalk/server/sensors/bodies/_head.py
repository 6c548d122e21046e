"""Head, face, hair and hats of a person."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

import numpy as np

from jaywalk.core.arrays import FloatArray
from jaywalk.motion.posing import CHEST, NECK
from jaywalk.server.sensors._materials import Material
from jaywalk.server.sensors.bodies._frame import EYE_L, FAR, HEAD_BONE, NEAR, Frame
from jaywalk.server.sensors.bodies._loft import BodyPart, Ring, loft, make_part

# Share of the height from chin to crown; half width, front and back depth as shares of the height.
_PROFILE: Final = np.array(
    [
        (0.00, 0.10, 0.30, 0.02),
        (0.06, 0.20, 0.37, 0.10),
        (0.18, 0.265, 0.385, 0.27),
        (0.32, 0.300, 0.385, 0.37),
        (0.48, 0.322, 0.385, 0.42),
        (0.62, 0.332, 0.385, 0.43),
        (0.76, 0.315, 0.345, 0.40),
        (0.88, 0.250, 0.255, 0.31),
        (0.96, 0.145, 0.145, 0.18),
        (1.00, 0.02, 0.02, 0.02),
    ]
)
_SIDES: Final = (12, 8, 5)
_ROWS: Final = (
    (0.0, 0.06, 0.18, 0.32, 0.48, 0.62, 0.76, 0.88, 0.96),
    (0.0, 0.20, 0.50, 0.80),
    (0.05, 0.50, 0.85),
)
# Lower edge of hair and hats by the angle from the front, degrees.
_ANGLES: Final = (0.0, 48.0, 74.0, 105.0, 180.0)
_EDGES: Final[dict[str, tuple[float, ...]]] = {
    "short": (0.80, 0.80, 0.56, 0.40, 0.20),
    "medium": (0.84, 0.78, 0.34, 0.08, -0.02),
    "long": (0.84, 0.78, 0.20, -0.40, -0.70),
    "bun": (0.82, 0.80, 0.58, 0.38, 0.22),
    "cap": (0.70, 0.68, 0.66, 0.62, 0.56),
    "beanie": (0.68, 0.66, 0.60, 0.54, 0.46),
    "hood": (0.88, 0.80, 0.10, -0.14, -0.25),
    "scarf": (0.86, 0.78, 0.04, -0.22, -0.34),
    "helmet": (0.74, 0.72, 0.62, 0.50, 0.40),
}
_THICK: Final = {
    "short": 0.045,
    "medium": 0.075,
    "long": 0.075,
    "bun": 0.040,
    "cap": 0.055,
    "beanie": 0.065,
    "hood": 0.130,
    "scarf": 0.065,
    "helmet": 0.11,
}
_CLOTH: Final = {
    "cap": int(Material.CLOTH),
    "beanie": int(Material.CLOTH),
    "hood": int(Material.TOP),
    "scarf": int(Material.CLOTH),
    "helmet": int(Material.PAINT_2),
}
_EYE_AT: Final = 0.525  # height of the eyes as a share of the head's


class _Skull:
    """Surface of a head: share of its height and angle to a point."""

    def __init__(self, frame: Frame) -> None:
        self.size_m = frame.head_m
        eye = frame.at(EYE_L)
        self.chin_m = eye[2] - _EYE_AT * self.size_m
        self.y_m = frame.at(HEAD_BONE)[1] + 0.035 * self.size_m

    def point(self, share: float, angle: float, thick: float = 0.0) -> FloatArray:
        """Return the point at a height and an angle (0 left, a quarter to the front)."""
        inner = min(max(share, 0.0 if share >= 0.0 else 0.18), 1.0)
        if share < 0.0:  # hair below the chin hangs straight down
            inner = 0.30
        wide, front, back = (
            float(np.interp(inner, _PROFILE[:, 0], _PROFILE[:, k])) + thick for k in (1, 2, 3)
        )
        c, s = math.cos(angle), math.sin(angle)
        y = (front if s > 0.0 else back) * s
        z = share + (thick * max(0.0, share - 0.75) / 0.25 if share > 0.75 else 0.0)
        return np.array(
            [self.size_m * wide * c, self.y_m + self.size_m * y, self.chin_m + self.size_m * z]
        )

    def height(self, share: float) -> float:
        """Return the height of a share."""
        return self.chin_m + share * self.size_m


def head(frame: Frame) -> list[BodyPart]:
    """Return the head with its face and hair."""
    skull = _Skull(frame)
    rows, sides = _ROWS[frame.level], _SIDES[frame.level]
    parts = [_shell(skull, sides, rows)]
    if frame.level != FAR:
        parts.append(_nose(skull))
    if frame.level == NEAR:
        parts += [_ear(skull, 1.0), _ear(skull, -1.0)]
    if frame.level != FAR:
        parts += _face(skull, frame)
    parts += _hair(skull, frame, sides)
    return parts


def _shell(skull: _Skull, sides: int, rows: tuple[float, ...]) -> BodyPart:
    """Return the closed surface of the head itself."""
    points, triangles = [], []
    angles = 2.0 * math.pi * (np.arange(sides) + 0.5) / sides
    for share in rows:
        points += [skull.point(share, angle) for angle in angles.tolist()]
    for row in range(len(rows) - 1):
        for k in range(sides):
            a, b = row * sides + k, row * sides + (k + 1) % sides
            triangles += [(a, b, b + sides), (a, b + sides, a + sides)]
    for share, first in ((rows[0], 0), (1.0, (len(rows) - 1) * sides)):
        ahead = 0.10 * skull.size_m if first == 0 else 0.0
        points.append(np.array([0.0, skull.y_m + ahead, skull.height(share)]))
        pole = len(points) - 1
        triangles += [(first + k, first + (k + 1) % sides, pole) for k in range(sides)]
    return make_part(
        np.array(points),
        triangles,
        [int(Material.SKIN)] * len(triangles),
        [{HEAD_BONE: 1.0}] * len(points),
        inner=np.array([[0.0, skull.y_m, skull.height(0.5)]]),
    )


def _covering(skull: _Skull, sides: int, rows: int, style: str, material: int) -> BodyPart:
    """Return hair or a hat: from its lower edge to the crown, thickest above."""
    edges, thick = _EDGES[style], _THICK[style]
    points, weights, triangles = [], [], []
    angles = 2.0 * math.pi * (np.arange(sides) + 0.5) / sides
    for row in range(rows):
        for angle in angles.tolist():
            off_deg = abs(math.degrees(math.remainder(angle - 0.5 * math.pi, 2.0 * math.pi)))
            low = float(np.interp(off_deg, _ANGLES, edges))
            share = low + (0.965 - low) * (row / (rows - 1)) ** 0.9
            grow = thick * (0.45 if row == 0 and style not in ("hood", "cap") else 1.0)
            points.append(skull.point(share, angle, grow))
            weights.append(_hair_weights(share))
    for row in range(rows - 1):
        for k in range(sides):
            a, b = row * sides + k, row * sides + (k + 1) % sides
            triangles += [(a, b, b + sides), (a, b + sides, a + sides)]
    points.append(np.array([0.0, skull.y_m, skull.height(1.0 + thick)]))
    weights.append({HEAD_BONE: 1.0})
    first, pole = (rows - 1) * sides, len(points) - 1
    triangles += [(first + k, first + (k + 1) % sides, pole) for k in range(sides)]
    inner = np.array([[0.0, skull.y_m, skull.height(0.4)]])
    return make_part(np.array(points), triangles, [material] * len(triangles), weights, inner=inner)


def _hair_weights(share: float) -> Mapping[int, float]:
    if share > -0.05:
        return {HEAD_BONE: 1.0}
    down = min((-0.05 - share) / 0.5, 1.0)
    return {HEAD_BONE: 1.0 - 0.8 * down, NECK: 0.3 * down, CHEST: 0.5 * down}


def _hair(skull: _Skull, frame: Frame, sides: int) -> list[BodyPart]:
    style = frame.looks.hair
    rows = (6, 3, 2)[frame.level]
    hair = int(Material.HAIR)
    if style == "bald":
        return []
    if style in _CLOTH:
        parts = [_covering(skull, sides, rows, style, _CLOTH[style])]
        if style in ("cap", "beanie") and frame.level != FAR:
            under = "medium" if frame.looks.sex == "female" else "short"
            parts.insert(0, _covering(skull, sides, rows, under, hair))
        if style == "cap" and frame.level != FAR:
            parts.append(_peak(skull))
        return parts
    parts = [_covering(skull, sides, rows, style, hair)]
    if style == "bun" and frame.level != FAR:
        parts.append(_bun(skull))
    return parts


def _bun(skull: _Skull) -> BodyPart:
    size = skull.size_m
    rings = []
    for back, half in ((-0.40, 0.06), (-0.46, 0.13), (-0.54, 0.12), (-0.60, 0.05)):
        rings.append(
            Ring(
                centre=(0.0, skull.y_m + back * size, skull.height(0.74)),
                half=(half * size,) * 3,
                weights={HEAD_BONE: 1.0},
                front=(0.0, 0.0, 1.0),
            )
        )
    return loft(rings, 7, [int(Material.HAIR)])


def _peak(skull: _Skull) -> BodyPart:
    """Peak of a cap."""
    points = []
    for out, drop in ((0.0, 0.0), (0.30, -0.06)):
        for degrees in (35.0, 63.0, 90.0, 117.0, 145.0):
            angle = math.radians(degrees)
            base = skull.point(0.70, angle, 0.05)
            ahead = out * skull.size_m * math.sin(angle) ** 2
            points.append(base + np.array([0.0, ahead, drop * skull.size_m]))
    triangles = []
    for k in range(4):
        triangles += [(k, k + 1, k + 6), (k, k + 6, k + 5)]
    inner = np.array([[0.0, skull.y_m, skull.height(0.0)]])
    return make_part(
        np.array(points),
        triangles,
        [int(Material.CLOTH)] * len(triangles),
        [{HEAD_BONE: 1.0}] * len(points),
        inner=inner,
    )


def _nose(skull: _Skull) -> BodyPart:
    size = skull.size_m
    front = skull.point(0.40, 0.5 * math.pi)[1]
    points = np.array(
        [
            (0.0, skull.point(0.53, 0.5 * math.pi)[1] - 0.004, skull.height(0.53)),
            (0.075 * size, front - 0.012, skull.height(0.30)),
            (-0.075 * size, front - 0.012, skull.height(0.30)),
            (0.0, front + 0.085 * size, skull.height(0.335)),
        ]
    )
    triangles = [(0, 1, 3), (0, 3, 2), (1, 2, 3)]
    return make_part(points, triangles, [int(Material.SKIN)] * 3, [{HEAD_BONE: 1.0}] * 4)


def _ear(skull: _Skull, side: float) -> BodyPart:
    size = skull.size_m
    base = skull.point(0.44, 0.0 if side > 0.0 else math.pi)
    x = float(base[0])
    rows = [(0.55, -0.02, 0.030), (0.50, -0.07, 0.055), (0.36, -0.04, 0.045), (0.32, 0.0, 0.0)]
    points = [(x - side * 0.012, skull.y_m, skull.height(0.44))]
    for share, back, out in rows:
        points.append(
            (x + side * out * size, skull.y_m + (back - 0.03) * size, skull.height(share))
        )
    triangles = [(0, 1, 2), (0, 2, 3), (0, 3, 4)]
    return make_part(
        np.array(points),
        triangles,
        [int(Material.SKIN)] * 3,
        [{HEAD_BONE: 1.0}] * 5,
        inner=np.array([[0.0, skull.y_m, skull.height(0.44)]]),
    )


def _patch(
    skull: _Skull,
    centre: tuple[float, float],
    half: tuple[float, float],
    material: int,
    lift: float,
    columns: int = 1,
) -> BodyPart:
    """Return a patch on the face; places and sizes are shares of the head's height."""
    size, points = skull.size_m, []
    for z in (centre[1] - half[1], centre[1] + half[1]):
        for k in range(columns + 1):
            x = centre[0] + half[0] * (2.0 * k / columns - 1.0)
            wide = float(np.interp(z, _PROFILE[:, 0], _PROFILE[:, 1]))
            deep = float(np.interp(z, _PROFILE[:, 0], _PROFILE[:, 2]))
            y = deep * math.sqrt(max(1.0 - (x / wide) ** 2, 0.0)) + lift
            points.append((x * size, skull.y_m + y * size, skull.height(z)))
    triangles = []
    for k in range(columns):
        a, b = k, k + columns + 1
        triangles += [(a, a + 1, b + 1), (a, b + 1, b)]
    return make_part(
        np.array(points),
        triangles,
        [material] * len(triangles),
        [{HEAD_BONE: 1.0}] * len(points),
        inner=np.array([[0.0, skull.y_m, skull.height(0.5)]]),
    )


def _face(skull: _Skull, frame: Frame) -> list[BodyPart]:
    """Return eyes, brows, mouth and beard."""
    near, looks = frame.level == NEAR, frame.looks
    parts = []
    for side in (1.0, -1.0):
        if near:
            parts.append(
                _patch(skull, (side * 0.140, _EYE_AT), (0.062, 0.026), int(Material.WHITE), 0.012)
            )
        half = (0.028, 0.026) if near else (0.060, 0.028)
        parts.append(_patch(skull, (side * 0.140, _EYE_AT), half, int(Material.EYE), 0.018))
        if near:
            parts.append(
                _patch(skull, (side * 0.142, 0.60), (0.075, 0.014), int(Material.HAIR), 0.014)
            )
    if looks.beard:
        parts.append(_patch(skull, (0.0, 0.085), (0.22, 0.075), int(Material.HAIR), 0.020, 4))
    parts.append(
        _patch(skull, (0.0, 0.195), (0.085, 0.020), int(Material.LIPS), 0.034, 2 if near else 1)
    )
    return parts
