"""Things that people carry, push or sit in, attached to bones."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from jaywalk.core.arrays import FloatArray
from jaywalk.motion.posing import CHEST, HAND_L, HAND_R, HIPS, ROOT
from jaywalk.server.sensors._materials import Material
from jaywalk.server.sensors.bodies._frame import FAR, NEAR, Frame
from jaywalk.server.sensors.bodies._loft import BodyPart, Ring, box, loft, make_part

_HAND: Final = {True: HAND_L, False: HAND_R}
#: Things that a hand holds, and which.
PHONE_LEFT: Final = False
_DARK, _CASE = int(Material.BLACK), int(Material.BAG)


def things(frame: Frame) -> list[BodyPart]:
    """Return everything that the person carries."""
    parts: list[BodyPart] = []
    for name in frame.looks.carries:
        parts += _MAKERS[name](frame)
    return parts


def _rod(
    start: FloatArray,
    end: FloatArray,
    half: float,
    material: int,
    weights: Mapping[int, float],
    sides: int = 5,
) -> BodyPart:
    way = (end - start) / max(float(np.linalg.norm(end - start)), 1e-9)
    other = np.array([0.0, 0.0, 1.0]) if abs(way[2]) < 0.8 else np.array([1.0, 0.0, 0.0])
    right = np.cross(way, other)
    right /= np.linalg.norm(right)
    front = np.cross(way, right)
    axes = tuple(right.tolist()), tuple(front.tolist())
    rings = [
        Ring(
            centre=tuple(point.tolist()),
            half=(half,) * 3,
            weights=weights,
            right=axes[0],
            front=axes[1],
        )
        for point in (start, end)
    ]
    return loft(rings, sides, [material])


def _disc(
    centre: tuple[float, float, float],
    radius: float,
    half: float,
    material: int,
    weights: Mapping[int, float],
    sides: int,
) -> BodyPart:
    """Wheel that rolls forward (y)."""
    x, y, z = centre
    rings = [
        Ring(
            centre=(x + side * half, y, z),
            half=(radius,) * 3,
            weights=weights,
            right=(0.0, 1.0, 0.0),
            front=(0.0, 0.0, 1.0),
        )
        for side in (-1.0, 1.0)
    ]
    return loft(rings, sides, [material])


def _tyre(
    centre: tuple[float, float, float],
    radius: float,
    half: float,
    weights: Mapping[int, float],
    sides: int,
) -> list[BodyPart]:
    """Large wheel with an open rim: a band and spokes."""
    x, y, z = centre
    angles = (2.0 * math.pi * np.arange(sides) / sides).tolist()
    places = [(y + radius * math.cos(a), z + radius * math.sin(a)) for a in angles]
    points = [(x + side * half, py, pz) for side in (-1.0, 1.0) for py, pz in places]
    triangles = []
    for k in range(sides):
        a, b = k, (k + 1) % sides
        triangles += [(a, b, b + sides), (a, b + sides, a + sides)]
    parts = [
        make_part(
            np.array(points),
            triangles,
            [int(Material.RUBBER)] * len(triangles),
            [weights] * len(points),
            inner=np.array([[x, y, z]]),
        )
    ]
    for k in range(4):
        angle = 0.25 * math.pi * k
        step = radius * np.array([0.0, math.cos(angle), math.sin(angle)])
        middle = np.array(centre)
        parts.append(_rod(middle - step, middle + step, 0.006, int(Material.RIM), weights, 3))
    return parts


def _phone(frame: Frame) -> list[BodyPart]:
    hand = _HAND[PHONE_LEFT]
    side = 1.0 if PHONE_LEFT else -1.0
    x, y, z = frame.at(hand)
    size = frame.width
    place = (x + side * 0.10 * size, y + 0.015, z - 0.030 * size)
    weights = {hand: 1.0}
    parts = [box(place, (0.076, 0.037, 0.005), _DARK, weights)]
    lit = (place[0], place[1], place[2] - 0.0062)
    parts.append(box(lit, (0.068, 0.032, 0.001), int(Material.SCREEN), weights))
    return parts


def _rucksack(frame: Frame) -> list[BodyPart]:
    size = frame.width
    weights = {CHEST: 1.0}
    back = -0.105 * size
    rings = []
    for out, wide, high in (
        (0.0, 0.11, 0.15),
        (-0.04, 0.14, 0.19),
        (-0.11, 0.14, 0.19),
        (-0.15, 0.10, 0.14),
    ):
        rings.append(
            Ring(
                centre=(0.0, back + size * out, frame.height(1.27)),
                half=(size * wide, size * high, size * high),
                weights=weights,
                power=0.6,
                front=(0.0, 0.0, 1.0),
            )
        )
    parts = [loft(rings, (10, 8, 6)[frame.level], [_CASE])]
    if frame.level != FAR:
        parts += [_strap(frame, side * 0.105) for side in (-1.0, 1.0)]
    return parts


_STRAP: Final = (  # height, forward
    (1.10, 0.125),
    (1.25, 0.140),
    (1.38, 0.128),
    (1.485, 0.060),
    (1.49, -0.03),
    (1.40, -0.12),
)


def _strap(frame: Frame, x: float) -> BodyPart:
    """Return a strap over a shoulder, from the belly to the back."""
    size = frame.width
    lift = 0.010 if frame.looks.sex == "male" else 0.014
    points = [
        (
            size * (x + edge),
            size * (y + lift),
            frame.height(height) + (0.012 if abs(y) < 0.08 else 0.0),
        )
        for height, y in _STRAP
        for edge in (-0.018, 0.018)
    ]
    middle = np.array([[0.0, 0.0, frame.height(1.25)]])
    weights: list[Mapping[int, float]] = [{CHEST: 1.0}] * len(points)
    return _ribbon(np.array(points), weights, middle)


def _ribbon(
    points: FloatArray, weights: Sequence[Mapping[int, float]], inner: FloatArray
) -> BodyPart:
    """Return a strip between pairs of points."""
    triangles = []
    for a in range(0, len(points) - 2, 2):
        triangles += [(a, a + 1, a + 3), (a, a + 3, a + 2)]
    return make_part(points, triangles, [_CASE] * len(triangles), weights, inner=inner)


def _bag(frame: Frame) -> list[BodyPart]:
    """Return a bag at the hip on a strap over the other shoulder."""
    size = frame.width
    weights = {HIPS: 1.0}
    side = 0.212 * size * frame.looks.girth + (0.02 if frame.looks.top == "coat" else 0.0)
    low = frame.height(0.96)
    parts = [box((side, 0.02, low), (0.045 * size, 0.125 * size, 0.095 * size), _CASE, weights)]
    if frame.level == FAR:
        return parts
    top = frame.height(1.50)
    for ahead in (1.0, -1.0):
        rows = ((0.07, 0.0, 1.0), (0.0, 0.105, 0.80), (-0.10, 0.142, 0.45), (-0.2, 0.11, 0.08))
        points, weights_of = [], []
        for x, y, share in rows:
            z = low + share * (top - low)
            for edge in (-0.014, 0.014):
                across = size * (ahead * (y + 0.022) + 0.012)
                points.append((-size * (x - edge), across, z + 0.018 * share))
                weights_of.append({CHEST: share, HIPS: 1.0 - share})
        middle = np.array([[0.0, 0.0, frame.height(1.25)]])
        parts.append(_ribbon(np.array(points), weights_of, middle))
    return parts


def _umbrella(frame: Frame) -> list[BodyPart]:
    """Return an open umbrella in the left hand: its stick leads forward at rest."""
    x, y, z = frame.at(HAND_L)
    weights = {HAND_L: 1.0}
    grip = np.array([x + 0.075, y, z - 0.02])
    along = np.array([0.0, 1.0, 0.0])
    top = grip + 0.72 * along
    sides = (12, 8, 6)[frame.level]
    rings = []
    for back, radius in ((0.20, 0.52), (0.09, 0.40), (0.02, 0.18)):
        place = tuple((top - back * along).tolist())
        rings.append(
            Ring(
                centre=place,
                half=(radius,) * 3,
                weights=weights,
                right=(1.0, 0.0, 0.0),
                front=(0.0, 0.0, 1.0),
            )
        )
    canopy = loft(rings, sides, [int(Material.CLOTH)], start=False)
    return [canopy, _rod(grip - 0.12 * along, top + 0.03 * along, 0.008, _DARK, weights)]


def _stick(frame: Frame) -> list[BodyPart]:
    """Return a walking stick in the right hand: it leads down when the arm hangs."""
    x, y, z = frame.at(HAND_R)
    weights = {HAND_R: 1.0}
    grip = np.array([x - 0.085, y + 0.01, z - 0.02])
    length = 0.92 * frame.height(0.84)
    tip = grip + np.array([-length, 0.10, 0.0])
    parts = [_rod(grip, tip, 0.012, int(Material.WOOD), weights)]
    parts.append(
        _rod(
            grip - np.array([0.0, 0.06, 0.0]),
            grip + np.array([0.0, 0.06, 0.0]),
            0.014,
            int(Material.WOOD),
            weights,
        )
    )
    return parts


def _suitcase(frame: Frame) -> list[BodyPart]:
    """Return a small suitcase that rolls beside the left foot, behind the person."""
    weights = {ROOT: 1.0}
    size = frame.height(1.0)
    parts = [box((0.30, -0.52, 0.33), (0.19, 0.12, 0.27), _CASE, weights)]
    tyre = int(Material.RUBBER)
    parts += [_disc((x, -0.50, 0.04), 0.04, 0.015, tyre, weights, 6) for x in (0.16, 0.44)]
    handle = np.array([0.30, -0.44, 0.60]), np.array([0.28, -0.16, 0.76 * size])
    parts.append(_rod(*handle, 0.012, int(Material.METAL), weights))
    return parts


def _wheels(
    places: tuple[tuple[float, float, float], ...], radius: float, sides: int
) -> list[BodyPart]:
    weights = {ROOT: 1.0}
    return [_disc(place, radius, 0.02, int(Material.RUBBER), weights, sides) for place in places]


def _pram(frame: Frame) -> list[BodyPart]:
    """Return a pram ahead of the person, with a hood on the person's side."""
    weights = {ROOT: 1.0}
    sides = (12, 8, 6)[frame.level]
    rings = []
    for z, half_x, half_y, y in (
        (0.52, 0.15, 0.32, 0.98),
        (0.60, 0.20, 0.40, 0.98),
        (0.78, 0.22, 0.44, 0.98),
    ):
        rings.append(
            Ring(centre=(0.0, y, z), half=(half_x, half_y, half_y), weights=weights, power=0.7)
        )
    parts = [loft(rings, sides, [_CASE])]
    dome = []
    for y, half in ((0.56, 0.10), (0.64, 0.20), (0.80, 0.24), (0.94, 0.24)):
        dome.append(
            Ring(
                centre=(0.0, y, 0.80),
                half=(half, 1.2 * half, 0.06),
                weights=weights,
                front=(0.0, 0.0, 1.0),
            )
        )
    parts.append(loft(dome, sides, [int(Material.CLOTH)]))
    parts += _wheels(
        ((0.24, 0.66, 0.15), (-0.24, 0.66, 0.15), (0.24, 1.28, 0.15), (-0.24, 1.28, 0.15)),
        0.15,
        sides,
    )
    grip = frame.height(1.02)
    for side in (-0.20, 0.20):
        low, high = np.array([side, 1.20, 0.25]), np.array([side, 0.42, grip])
        parts.append(_rod(low, high, 0.014, int(Material.METAL), weights))
    parts.append(
        _rod(np.array([-0.22, 0.42, grip]), np.array([0.22, 0.42, grip]), 0.018, _DARK, weights)
    )
    return parts


def _cart(frame: Frame) -> list[BodyPart]:
    """Return a shopping cart ahead of the person: a basket of bars on four wheels."""
    weights = {ROOT: 1.0}
    metal = int(Material.METAL)
    parts: list[BodyPart] = []
    low, high = (0.20, 0.60, 0.92, 0.50), (0.26, 0.50, 1.22, 0.98)
    corners = []
    for half, near, far, z in (low, high):
        corners.append([(-half, near, z), (half, near, z), (half, far, z), (-half, far, z)])
    thick = 0.010
    for ring in corners:
        ends = [np.array(corner) for corner in ring]
        parts += [_rod(ends[k], ends[(k + 1) % 4], thick, metal, weights, 4) for k in range(4)]
    bars = 5 if frame.level == NEAR else 2
    for k in range(4):
        for j in range(bars):
            share = j / bars
            a = (1 - share) * np.array(corners[0][k]) + share * np.array(corners[0][(k + 1) % 4])
            b = (1 - share) * np.array(corners[1][k]) + share * np.array(corners[1][(k + 1) % 4])
            parts.append(_rod(a, b, 0.006, metal, weights, 3))
    parts.append(box((0.0, 0.78, 0.62), (0.17, 0.16, 0.12), int(Material.CLOTH), weights))
    parts += _wheels(
        ((0.2, 0.58, 0.06), (-0.2, 0.58, 0.06), (0.2, 1.12, 0.06), (-0.2, 1.12, 0.06)), 0.06, 6
    )
    for side in (-0.2, 0.2):
        parts.append(
            _rod(
                np.array([side, 0.58, 0.10]), np.array([side, 0.62, 0.50]), thick, metal, weights, 4
            )
        )
        parts.append(
            _rod(
                np.array([side, 1.10, 0.10]), np.array([side, 0.62, 0.18]), thick, metal, weights, 4
            )
        )
    grip = frame.height(1.02)
    parts.append(
        _rod(
            np.array([-0.25, 0.42, grip]),
            np.array([0.25, 0.42, grip]),
            0.016,
            int(Material.RED),
            weights,
        )
    )
    for side in (-0.25, 0.25):
        parts.append(
            _rod(
                np.array([side, 0.42, grip]), np.array([side, 0.52, 0.96]), thick, metal, weights, 4
            )
        )
    return parts


def chair(frame: Frame, ahead_m: float = 0.0) -> list[BodyPart]:
    """Return a wheelchair below the person, or at a distance ahead."""
    weights = {ROOT: 1.0}
    sides = (20, 12, 8)[frame.level]
    metal, dark = int(Material.METAL), _DARK
    parts: list[BodyPart] = [
        box((0.0, ahead_m - 0.04, 0.475), (0.21, 0.24, 0.03), dark, weights),
        box((0.0, ahead_m - 0.31, 0.72), (0.21, 0.025, 0.23), dark, weights),
    ]
    for side in (-1.0, 1.0):
        parts += _tyre((side * 0.31, ahead_m - 0.12, 0.31), 0.30, 0.018, weights, sides)
        parts.append(
            _disc((side * 0.22, ahead_m + 0.30, 0.09), 0.09, 0.02, int(Material.RUBBER), weights, 8)
        )
        bars = (
            ((-0.34, 0.95), (-0.30, 0.44)),
            ((-0.30, 0.46), (0.22, 0.47)),
            ((0.22, 0.47), (0.40, 0.10)),
            ((-0.34, 0.94), (-0.46, 0.94)),
            ((0.30, 0.10), (0.22, 0.44)),
        )
        for (y0, z0), (y1, z1) in bars:
            parts.append(
                _rod(
                    np.array([side * 0.22, ahead_m + y0, z0]),
                    np.array([side * 0.22, ahead_m + y1, z1]),
                    0.014,
                    metal,
                    weights,
                    4,
                )
            )
        parts.append(box((side * 0.12, ahead_m + 0.40, 0.09), (0.08, 0.09, 0.012), dark, weights))
        parts.append(box((side * 0.23, ahead_m - 0.06, 0.68), (0.03, 0.16, 0.015), dark, weights))
    return parts


def _pushed_chair(frame: Frame) -> list[BodyPart]:
    return chair(frame, 0.92)


def _leash(frame: Frame) -> list[BodyPart]:
    """Return the grip and the line of a leash that leads ahead and down to the left."""
    x, y, z = frame.at(HAND_L)
    weights = {HAND_L: 1.0}
    grip = np.array([x + 0.08, y + 0.01, z - 0.02])
    return [_rod(grip, grip + np.array([0.34, 0.62, 0.0]), 0.006, int(Material.RED), weights, 3)]


_MAKERS: Final = {
    "phone": _phone,
    "bag": _bag,
    "rucksack": _rucksack,
    "umbrella": _umbrella,
    "stick": _stick,
    "pram": _pram,
    "cart": _cart,
    "wheelchair": _pushed_chair,
    "suitcase": _suitcase,
    "leash": _leash,
}
