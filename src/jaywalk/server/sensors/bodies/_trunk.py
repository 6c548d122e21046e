"""Trunk, arms, hands, legs and shoes of a person, with their clothes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

import numpy as np

from jaywalk.motion.posing import (
    ARM_L,
    ARM_R,
    CHEST,
    FOOT_L,
    FOOT_R,
    FOREARM_L,
    FOREARM_R,
    HAND_L,
    HAND_R,
    HIPS,
    NECK,
    SHANK_L,
    SHANK_R,
    SPINE,
    THIGH_L,
    THIGH_R,
    TOE_L,
    TOE_R,
)
from jaywalk.server.sensors._materials import Material
from jaywalk.server.sensors.bodies._frame import FAR, HEAD_BONE, NEAR, Frame
from jaywalk.server.sensors.bodies._loft import BodyPart, Ring, blend, loft

# Height, half width, front and back depth of the trunk, of the man and of the woman.
_MAN: Final = (
    (0.875, 0.085, 0.075, 0.085),
    (0.93, 0.148, 0.100, 0.112),
    (0.99, 0.166, 0.106, 0.124),
    (1.06, 0.156, 0.104, 0.106),
    (1.14, 0.144, 0.104, 0.094),
    (1.23, 0.152, 0.110, 0.100),
    (1.32, 0.166, 0.116, 0.112),
    (1.40, 0.172, 0.110, 0.114),
    (1.455, 0.168, 0.084, 0.098),
    (1.486, 0.126, 0.066, 0.080),
    (1.516, 0.064, 0.056, 0.066),
)
_WOMAN: Final = (
    (0.875, 0.090, 0.070, 0.085),
    (0.93, 0.154, 0.096, 0.114),
    (0.99, 0.172, 0.102, 0.128),
    (1.06, 0.150, 0.098, 0.104),
    (1.14, 0.124, 0.092, 0.084),
    (1.23, 0.130, 0.104, 0.088),
    (1.32, 0.142, 0.130, 0.096),
    (1.40, 0.146, 0.108, 0.098),
    (1.455, 0.142, 0.076, 0.084),
    (1.486, 0.106, 0.060, 0.070),
    (1.516, 0.056, 0.050, 0.060),
)
_SIDES: Final = (12, 8, 5)
_LIMB_SIDES: Final = (8, 5, 3)
_KEPT: Final = (  # rings of the trunk by level
    tuple(range(11)),
    (0, 2, 4, 6, 8, 10),
    (0, 2, 6, 10),
)
_BULK: Final = {"coat": 0.020, "jacket": 0.016, "hoodie": 0.014, "vest": 0.012}
_WAIST_M: Final = 1.02
_BANDS_M: Final = ((1.13, 1.18), (1.28, 1.33))  # reflecting stripes of a safety vest


def trunk(frame: Frame) -> list[BodyPart]:
    """Return the trunk and what hangs down from it."""
    looks = frame.looks
    sizes = _WOMAN if looks.rig == "woman" else _MAN
    hem = _WAIST_M - 0.05 + looks.waist_m
    bulk = _BULK.get(looks.top, 0.004)
    stations = [sizes[k] for k in _KEPT[frame.level]]
    heights = sorted({station[0] for station in stations} | _edges(frame, hem))
    rings: list[Ring] = []
    materials, last = [], -1
    for height in heights:
        row = [
            float(np.interp(height, [s[0] for s in sizes], [s[k] for s in sizes]))
            for k in (1, 2, 3)
        ]
        kind = _cloth_at(frame, height, hem)
        extra = bulk if height >= hem - 1e-9 and height < 1.47 else 0.0
        if last >= 0 and kind != last and len(rings):  # a lip between two clothes
            materials.append(kind)
            rings.append(_trunk_ring(frame, height, row, extra))
            last = kind
            continue
        if rings:
            materials.append(last)
        rings.append(_trunk_ring(frame, height, row, extra))
        last = kind
    parts = [loft(rings, _SIDES[frame.level], materials, start=frame.level != FAR, end=False)]
    if looks.top == "coat":
        parts.append(_gown(frame, 1.10, 0.68, 0.026, int(Material.TOP)))
    if looks.bottom == "skirt":
        parts.append(_gown(frame, 1.04, 0.50, 0.052, int(Material.BOTTOM)))
    if looks.top == "hoodie" and looks.hair != "hood" and frame.level == NEAR:
        parts.append(_hood_down(frame))
    return parts


def _edges(frame: Frame, hem: float) -> set[float]:
    if frame.level == FAR:
        return {round(hem, 3)}
    edges = {round(hem, 3)}
    if frame.looks.top == "vest":
        edges |= {edge for band in _BANDS_M for edge in band}
    return edges


def _cloth_at(frame: Frame, height: float, hem: float) -> int:
    """Material of the band that begins at a height."""
    if height < hem - 1e-9:
        return int(Material.BOTTOM)
    if frame.looks.top == "vest":
        if frame.level != FAR and any(low <= height < high for low, high in _BANDS_M):
            return int(Material.REFLECTOR)
        return int(Material.ORANGE)
    return int(Material.TOP)


def _trunk_ring(frame: Frame, height: float, row: list[float], extra: float) -> Ring:
    looks = frame.looks
    belly = 1.0 + (looks.girth - 1.0) * float(np.interp(height, (0.9, 1.1, 1.4), (0.9, 1.6, 0.7)))
    wide = looks.shoulders if height > 1.36 else 1.0
    size = frame.width
    y = float(
        np.interp(
            height, (0.9, 1.05, 1.155, 1.317, 1.45, 1.51), (0.03, 0.04, 0.04, 0.02, -0.004, 0.0)
        )
    )
    return Ring(
        centre=(0.0, _forward(frame, height, y), frame.height(height)),
        half=(
            size * (row[0] * belly * wide + extra),
            size * (row[1] * belly + extra),
            size * (row[2] * belly + extra),
        ),
        weights=_trunk_weights(height),
        power=0.86,
    )


def _forward(frame: Frame, height: float, of_man_m: float) -> float:
    """Forward place of the trunk's middle: that of the man, moved with the rig's joints."""
    joints = (THIGH_L, HIPS, SPINE, CHEST, NECK)
    man_z, man_y = (0.961, 1.049, 1.155, 1.317, 1.512), (0.042, 0.056, 0.045, 0.011, 0.0)
    own_y = [frame.at(joint)[1] for joint in joints]
    lead = float(np.interp(height, man_z, own_y)) - frame.width * float(
        np.interp(height, man_z, man_y)
    )
    return frame.width * of_man_m + lead


def _trunk_weights(height: float) -> Mapping[int, float]:
    if height < 1.02:
        return {HIPS: 1.0}
    if height < 1.19:
        return blend(HIPS, SPINE, (height - 1.02) / 0.17)
    if height < 1.36:
        return blend(SPINE, CHEST, (height - 1.19) / 0.17)
    if height < 1.50:
        return {CHEST: 1.0}
    return {CHEST: 0.6, NECK: 0.4}


def _gown(frame: Frame, top: float, bottom: float, flare: float, material: int) -> BodyPart:
    """Skirt, or the lower part of a coat: each side follows its leg."""
    count = (5, 3, 2)[frame.level]
    rings = []
    looks, size = frame.looks, frame.width
    for k in range(count):
        share = k / (count - 1)
        height = top + share * (bottom - top)
        wide = 0.166 + 0.018 + flare * share
        deep = 0.118 + 0.014 + (flare + 0.03) * share
        drop = min(max((0.98 - height) / 0.30, 0.0), 1.0)

        def weights(angle: float, drop: float = drop) -> Mapping[int, float]:
            left = min(max(0.5 + 0.9 * math.cos(angle), 0.0), 1.0)
            return {
                HIPS: 1.0 - 0.92 * drop,
                THIGH_L: 0.92 * drop * left,
                THIGH_R: 0.92 * drop * (1.0 - left),
            }

        y = float(np.interp(height, (0.5, 0.96, 1.06), (0.025, 0.032, 0.04)))
        rings.append(
            Ring(
                centre=(0.0, _forward(frame, max(height, 0.961), y), frame.height(height)),
                half=(
                    size * wide * looks.girth,
                    size * deep * looks.girth,
                    size * (deep + 0.01) * looks.girth,
                ),
                weights=weights,
                power=0.9,
            )
        )
    return loft(rings, _SIDES[frame.level], [material], start=False, end=False)


def _hood_down(frame: Frame) -> BodyPart:
    size = frame.width
    rings = []
    for back, half in ((-0.06, 0.03), (-0.09, 0.075), (-0.115, 0.08), (-0.14, 0.05)):
        rings.append(
            Ring(
                centre=(0.0, size * back, frame.height(1.47)),
                half=(size * half * 1.25, size * half * 0.7, size * half * 0.9),
                weights={CHEST: 1.0},
                front=(0.0, 0.0, 1.0),
            )
        )
    return loft(rings, 8, [int(Material.TOP)])


def neck(frame: Frame) -> BodyPart:
    """Return the neck; a collar keeps its lower half covered."""
    size, looks = frame.width, frame.looks
    low, high = frame.height(1.490), frame.at(HEAD_BONE)[2] + 0.16 * frame.head_m
    half = {"man": 0.058, "woman": 0.049, "boy": 0.050, "girl": 0.048}[looks.rig] * (
        1.0 if looks.age != "child" else 0.86
    )
    y0, y1 = frame.at(NECK)[1] - 0.004, frame.at(HEAD_BONE)[1] - 0.012
    rings = [
        Ring(
            centre=(0.0, y0, low),
            half=(half * 1.15, half * 1.1, half * 1.15),
            weights={CHEST: 0.7, NECK: 0.3},
        ),
        Ring(
            centre=(0.0, 0.6 * y0 + 0.4 * y1, low + 0.4 * (high - low)),
            half=(half, half, half),
            weights={NECK: 1.0},
        ),
        Ring(
            centre=(0.0, y1, high),
            half=(half * 0.95, half * 0.9, half),
            weights={NECK: 0.3, HEAD_BONE: 0.7},
        ),
    ]
    collar = looks.top in ("coat", "jacket", "hoodie") and size > 0.0
    kinds = [int(Material.TOP) if collar else int(Material.SKIN), int(Material.SKIN)]
    return loft(rings, (9, 5, 3)[frame.level], kinds, start=False, end=False)


# Distance along the arm (0 shoulder, 1 elbow, 2 wrist) and half width.
_ARM: Final = (
    (-0.075, 0.022),
    (-0.035, 0.045),
    (0.07, 0.056),
    (0.35, 0.052),
    (0.70, 0.046),
    (0.88, 0.043),
    (1.00, 0.041),
    (1.14, 0.042),
    (1.40, 0.040),
    (1.72, 0.033),
    (1.98, 0.027),
)
_ARM_KEPT: Final = ((0, 1, 2, 3, 5, 6, 7, 8, 10), (0, 2, 5, 7, 10), (1, 6, 10))
_SLEEVE: Final = 0.5  # a short sleeve ends here


def arm(frame: Frame, left: bool) -> list[BodyPart]:
    """Return an arm with its sleeve, and the hand."""
    bones = (ARM_L, FOREARM_L, HAND_L) if left else (ARM_R, FOREARM_R, HAND_R)
    joints = [np.array(frame.at(bone)) for bone in bones]
    looks, size = frame.looks, frame.width
    thin = 0.86 if looks.sex == "female" else 1.0
    bulk = {"coat": 0.012, "jacket": 0.010, "hoodie": 0.010, "vest": 0.006}.get(looks.top, 0.003)
    short = looks.top == "tshirt"
    stations = [_ARM[k] for k in _ARM_KEPT[frame.level]]
    if short and frame.level != FAR:
        stations = sorted([*stations, (_SLEEVE, 0.050), (_SLEEVE + 0.01, 0.047)])
    rings, materials = [], []
    for k, (along, half) in enumerate(stations):
        upper = along < 1.0
        a, b = (joints[0], joints[1]) if upper else (joints[1], joints[2])
        centre = a + (along if upper else along - 1.0) * (b - a)
        bare = short and along > _SLEEVE
        wide = size * (half * thin * (0.5 + 0.5 * looks.girth) + (0.0 if bare else bulk))
        if not bare and along > 1.5:
            wide += 0.006 * size
        x, y, z = centre.tolist()
        rings.append(
            Ring(
                centre=(x, y, z),
                half=(wide, wide, wide),
                weights=_arm_weights(bones, along),
                right=(0.0, 1.0, 0.0),
                front=(0.0, 0.0, 1.0),
            )
        )
        if k:
            middle = 0.5 * (stations[k - 1][0] + along)
            skin = short and middle > _SLEEVE
            materials.append(int(Material.SKIN if skin else Material.TOP))
    near = frame.level == NEAR
    parts = [loft(rings, _LIMB_SIDES[frame.level], materials, start=near, end=False)]
    if frame.level != FAR:
        parts += _hand(frame, left, bones[2])
    return parts


def _arm_weights(bones: tuple[int, int, int], along: float) -> Mapping[int, float]:
    if along < 0.8:
        return {bones[0]: 1.0}
    if along < 1.2:
        return blend(bones[0], bones[1], (along - 0.8) / 0.4)
    if along < 1.7:
        return {bones[1]: 1.0}
    return blend(bones[1], bones[2], 0.6 * (along - 1.7) / 0.3)


def _hand(frame: Frame, left: bool, hand: int) -> list[BodyPart]:
    """Palm with bent fingers, and a thumb."""
    size = frame.width * (0.88 if frame.looks.sex == "female" else 1.0)
    side = 1.0 if left else -1.0
    wrist, knuckle, joint, tip = (np.array(frame.at(hand + k)) for k in (0, 9, 10, 12))
    skin = [int(Material.SKIN)]
    flat = ((0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    bent = ((0.0, 1.0, 0.0), (side * 0.7, 0.0, 0.7))
    down = ((0.0, 1.0, 0.0), (side, 0.0, 0.1))
    middle = 0.45 * wrist + 0.55 * knuckle
    rows = (
        (wrist - 0.1 * (knuckle - wrist), 0.024, 0.020, {hand: 1.0}, flat),
        (middle, 0.038, 0.018, {hand: 1.0}, flat),
        (knuckle, 0.042, 0.016, {hand: 0.6, hand + 9: 0.4}, flat),
        (joint, 0.038, 0.012, {hand + 9: 0.5, hand + 10: 0.5}, bent),
        (0.3 * joint + 0.7 * tip, 0.028, 0.010, {hand + 10: 1.0}, down),
    )
    kept = (0, 1, 2, 3, 4) if frame.level == NEAR else (0, 2, 4)
    rings = []
    for centre, wide, thick, weights, (right, front) in (rows[k] for k in kept):
        x, y, z = centre.tolist()
        rings.append(
            Ring(
                centre=(x, y, z),
                half=(size * wide, size * thick, size * thick),
                weights=weights,
                right=right,
                front=front,
            )
        )
    parts = [loft(rings, 6 if frame.level == NEAR else 4, skin, start=False)]
    if frame.level == NEAR:
        base, mid, end = (np.array(frame.at(hand + k)) for k in (1, 2, 4))
        thumb = []
        for centre, half, bone in ((base, 0.014, 1), (mid, 0.012, 2), (end, 0.008, 3)):
            x, y, z = centre.tolist()
            thumb.append(
                Ring(
                    centre=(x, y, z),
                    half=(size * half,) * 3,
                    weights={hand + bone: 1.0},
                    right=(0.6, -0.6 * side, 0.0),
                    front=(0.5, 0.5 * side, 0.7),
                )
            )
        parts.append(loft(thumb, 5, skin, start=False))
    return parts


# Height, half width, front and back depth of a leg.
_LEG: Final = (
    (1.010, 0.060, 0.060, 0.066),
    (0.955, 0.088, 0.086, 0.094),
    (0.860, 0.085, 0.086, 0.090),
    (0.740, 0.076, 0.080, 0.078),
    (0.620, 0.066, 0.070, 0.066),
    (0.545, 0.058, 0.062, 0.058),
    (0.499, 0.056, 0.062, 0.054),
    (0.450, 0.053, 0.056, 0.056),
    (0.360, 0.052, 0.048, 0.066),
    (0.250, 0.044, 0.042, 0.054),
    (0.150, 0.036, 0.038, 0.040),
    (0.085, 0.036, 0.040, 0.040),
)
_LEG_KEPT: Final = ((0, 1, 2, 3, 5, 6, 7, 8, 9, 11), (1, 3, 6, 8, 11), (1, 6, 11))
_SHORTS_M: Final = 0.56


def leg(frame: Frame, left: bool) -> list[BodyPart]:
    """Return a leg with its clothes, and the shoe."""
    bones = (THIGH_L, SHANK_L, FOOT_L) if left else (THIGH_R, SHANK_R, FOOT_R)
    looks = frame.looks
    stations = [_LEG[k] for k in _LEG_KEPT[frame.level]]
    if looks.bottom == "shorts" and frame.level != FAR:
        stations += [(_SHORTS_M, 0.076, 0.080, 0.078), (_SHORTS_M - 0.004, 0.059, 0.063, 0.060)]
        stations.sort(key=lambda row: -row[0])
    rings, materials = [], []
    for k, (height, wide, front, back) in enumerate(stations):
        bare = looks.bottom == "skirt" or (looks.bottom == "shorts" and height < _SHORTS_M)
        bulk = 0.0 if bare else float(np.interp(height, (0.085, 0.3, 0.9), (0.020, 0.014, 0.006)))
        grow = frame.width * (0.4 + 0.6 * looks.girth)
        rings.append(
            Ring(
                centre=_leg_centre(frame, bones, height),
                half=(grow * (wide + bulk), grow * (front + bulk), grow * (back + bulk)),
                weights=_leg_weights(bones, height),
            )
        )
        if k:
            middle = 0.5 * (stations[k - 1][0] + height)
            skin = looks.bottom == "skirt" or (looks.bottom == "shorts" and middle < _SHORTS_M)
            materials.append(int(Material.SKIN if skin else Material.BOTTOM))
    limb = loft(rings, _LIMB_SIDES[frame.level], materials, start=False, end=False)
    return [limb, _shoe(frame, left)]


def _leg_centre(
    frame: Frame, bones: tuple[int, int, int], height: float
) -> tuple[float, float, float]:
    z = frame.height(height)
    joints = sorted((frame.at(bone) for bone in bones), key=lambda joint: joint[2])
    heights = [joint[2] for joint in joints]
    x = float(np.interp(z, heights, [joint[0] for joint in joints]))
    y = float(np.interp(z, heights, [joint[1] for joint in joints]))
    return x, y, z


def _leg_weights(bones: tuple[int, int, int], height: float) -> Mapping[int, float]:
    if height > 0.98:
        return {HIPS: 0.5, bones[0]: 0.5}
    if height > 0.90:
        return {HIPS: 0.2, bones[0]: 0.8}
    if height > 0.57:
        return {bones[0]: 1.0}
    if height > 0.43:
        return blend(bones[0], bones[1], (0.57 - height) / 0.14)
    if height > 0.12:
        return {bones[1]: 1.0}
    return {bones[1]: 0.65, bones[2]: 0.35}


# Along the foot from the ankle, half width, height of the upper.
_SHOE: Final = (
    (-0.072, 0.018, 0.046),
    (-0.058, 0.033, 0.078),
    (-0.010, 0.038, 0.096),
    (0.045, 0.042, 0.084),
    (0.095, 0.049, 0.062),
    (0.150, 0.048, 0.048),
    (0.192, 0.034, 0.036),
    (0.206, 0.014, 0.024),
)
_SHOE_KEPT: Final = ((0, 1, 2, 3, 4, 5, 7), (0, 2, 5, 7), (0, 2, 7))


def _shoe(frame: Frame, left: bool) -> BodyPart:
    foot, toe = (FOOT_L, TOE_L) if left else (FOOT_R, TOE_R)
    ankle, ball = np.array(frame.at(foot)), np.array(frame.at(toe))
    way = ball - ankle
    way[2] = 0.0
    length = float(np.hypot(way[0], way[1]))
    way /= length
    size = length / 0.109
    across = (-float(way[1]), float(way[0]), 0.0)
    wide = frame.width * (0.9 if frame.looks.sex == "female" else 1.0)
    rings = []
    for along, half, high in (_SHOE[k] for k in _SHOE_KEPT[frame.level]):
        place = ankle + size * along * way
        top = high * (ankle[2] / 0.065)
        rings.append(
            Ring(
                centre=(float(place[0]), float(place[1]), 0.4 * top + 0.004),
                half=(wide * half, 0.6 * top, 0.4 * top),
                weights=blend(foot, toe, (along - 0.075) / 0.05),
                power=0.75,
                right=across,
                front=(0.0, 0.0, 1.0),
            )
        )
    return loft(rings, (7, 5, 3)[frame.level], [int(Material.SHOES)])
