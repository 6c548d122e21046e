"""Meshes of geese and ducks: a boat-shaped body, a curved neck, a beak and webbed feet."""

from __future__ import annotations

import numpy as np

from jaywalk.server.sensors._materials import Material
from jaywalk.server.sensors.models.animals._beasts import Beast, Leg, tube
from jaywalk.server.sensors.models.vehicles._surfaces import Surfaces

_FUR, _FUR_2, _BEAK = int(Material.FUR), int(Material.FUR_2), int(Material.ORANGE)


def make_bird(size_m: tuple[float, float, float], level: int, *, long_neck: bool) -> Beast:
    """Return a bird of a size (length, width, height), standing."""
    long, wide, high = size_m
    out = Surfaces()
    top = 0.62 if long_neck else 0.68
    low = 0.24
    middle, tall = 0.5 * (top + low) * high, 0.5 * (top - low) * high
    spine = [
        (-0.50, 0.62, 0.08),
        (-0.40, 0.56, 0.35),
        (-0.22, 0.50, 0.85),
        (0.0, 0.47, 1.0),
        (0.18, 0.48, 0.9),
        (0.27, 0.52, 0.55),
        (0.30, 0.54, 0.2),
    ]
    path = [(x * long, 0.0, middle + (z - 0.48) * high * 0.6) for x, z, _ in spine]
    half = [(0.5 * wide * share, tall * share) for *_, share in spine]
    tube(out, path, half, level, _FUR)
    neck = (
        [(0.20, 0.50), (0.31, 0.62), (0.29, 0.78), (0.31, 0.90)]
        if long_neck
        else [(0.20, 0.54), (0.29, 0.66), (0.29, 0.78), (0.31, 0.86)]
    )
    r = (0.11, 0.075, 0.055, 0.055) if long_neck else (0.15, 0.12, 0.10, 0.10)
    kinds = _FUR if long_neck else _FUR_2
    way = [(x * long, 0.0, z * high) for x, z in neck]
    tube(out, way, [(0.8 * t * high, t * high) for t in r], level, kinds)
    hx, hz = 0.34 * long, (0.93 if long_neck else 0.88) * high
    h = (0.07 if long_neck else 0.12) * high
    head = [
        (hx - 1.2 * h, 0.0, hz),
        (hx - 0.5 * h, 0.0, hz),
        (hx + 0.4 * h, 0.0, hz),
        (hx + h, 0.0, hz),
    ]
    tube(
        out,
        head,
        [(0.4 * h, 0.4 * h), (0.85 * h, h), (0.8 * h, 0.9 * h), (0.35 * h, 0.4 * h)],
        level,
        kinds,
    )
    beak = [
        (hx + 0.7 * h, 0.0, hz - 0.1 * h),
        (hx + 1.5 * h, 0.0, hz - 0.3 * h),
        (0.5 * long, 0.0, hz - 0.4 * h),
    ]
    tube(out, beak, [(0.5 * h, 0.4 * h), (0.4 * h, 0.2 * h), (0.3 * h, 0.06 * h)], level, _BEAK)
    if level < 2:
        for side in (-1.0, 1.0):
            eye = (hx + 0.35 * h, side * 0.72 * h, hz + 0.25 * h)
            out.lathe(
                eye,
                (0.2, side, 0.0),
                [(-0.01, 0.0), (0.0, 0.2 * h), (0.1 * h, 0.0)],
                8,
                int(Material.EYE),
            )
            rows = np.array(
                [(-0.46, 0.10, 0.10), (-0.2, 0.44, 0.20), (0.08, 0.46, 0.20), (0.18, 0.36, 0.1)]
            )
            wing = np.array(
                [
                    [
                        (
                            x * long,
                            side * (y + 0.06 - 0.1 * e * e) * wide,
                            middle + (0.06 + e * z) * high,
                        )
                        for e in (-1.0, 0.0, 1.0)
                    ]
                    for x, y, z in rows
                ]
            )
            out.grid(wing, _FUR, outward=(0.0, side, 0.0))
    legs = []
    for number, side in enumerate((-1.0, 1.0)):
        x, y, hip = 0.02 * long, side * 0.2 * wide, 0.30 * high
        joint = 0.15 * high
        part = 1 + 2 * number
        tube(
            out,
            [(x, y, hip), (x, y, joint)],
            [(0.04 * high, 0.045 * high), (0.02 * high, 0.022 * high)],
            level,
            _FUR,
            part=part,
        )
        tube(
            out,
            [(x, y, joint + 0.01), (x, y, 0.02 * high)],
            [(0.02 * high, 0.022 * high)] * 2,
            level,
            _BEAK,
            part=part + 1,
        )
        web = np.array(
            [
                [(x - 0.02 * long, y + e * 0.01, 0.012 * high) for e in (-1.0, 1.0)],
                [(x + 0.12 * long, y + e * 0.14 * wide, 0.0) for e in (-1.0, 1.0)],
            ]
        )
        out.grid(web, _BEAK, part=part + 1, outward=(0.0, 0.0, 1.0))
        legs.append(Leg((x, y, hip), joint, fore=False))
    return Beast(out.mesh(), tuple(legs))
