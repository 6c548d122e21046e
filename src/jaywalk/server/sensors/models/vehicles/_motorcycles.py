"""Motorcycles and the scooter: wheels, fork, tank, fairing, engine, lamps and mirrors."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from jaywalk.server.sensors._materials import Material
from jaywalk.server.sensors.models.vehicles._bike import Bike, Seat
from jaywalk.server.sensors.models.vehicles._surfaces import Point

M = Material
Stations = Sequence[tuple[float, float, float, float]]  # x, z, half width, half height


def hull(
    bike: Bike, stations: Stations, material: int, *, part: int = 0, power: float = 0.8
) -> None:
    """Add a rounded body over ovals along x, closed at both ends."""
    sides = (14, 8, 6)[bike.level]
    angle = 2.0 * math.pi * np.arange(sides + 1) / sides
    c, s = np.cos(angle), np.sin(angle)
    y = np.sign(c) * np.abs(c) ** power
    z = np.sign(s) * np.abs(s) ** power
    first, last = stations[0], stations[-1]
    closed = [(first[0], first[1], 0.0, 0.0), *stations, (last[0], last[1], 0.0, 0.0)]
    rows = [
        np.stack([np.full(sides + 1, x), wide * y, middle + high * z], axis=1)
        for x, middle, wide, high in closed
    ]
    bike.out.tube(np.array(rows), material, part=part)


def _front(bike: Bike, top: Point, wheel: Point, width: float, shade: int) -> None:
    """Fork between the head and the front axle, and a mudguard."""
    out, y = bike.out, 0.5 * width + 0.05
    out.bar(
        (wheel[0], y, wheel[2]), (top[0], y, top[2]), 0.03, M.CHROME, part=bike.bars, mirror=True
    )
    _mudguard(bike, wheel, width, shade, (0.25, 1.05), bike.bars)


def _mudguard(
    bike: Bike, wheel: Point, width: float, shade: int, span: tuple[float, float], part: int = 0
) -> None:
    angle = np.pi * np.linspace(span[0], span[1], (9, 6, 4)[bike.level])
    r = wheel[2] + 0.03
    rows = []
    for share in (-1.0, -0.6, 0.6, 1.0):
        lower = r - (0.05 if abs(share) > 0.9 else 0.0)
        y = np.full(len(angle), share * (0.5 * width + 0.02))
        x, z = wheel[0] + lower * np.cos(angle), wheel[2] + lower * np.sin(angle)
        rows.append(np.stack([x, y, z], axis=1))
    bike.out.grid(np.array(rows), shade, part=part, outward=(0.0, 0.0, 1.0))


def _mirrors(bike: Bike, root: Point, reach: float, top: float) -> None:
    out = bike.out
    x, y, z = root
    out.bar(
        (x, y, z), (x - 0.02, reach - 0.09, top - 0.05), 0.009, M.BLACK, part=bike.bars, mirror=True
    )
    low, high = (x - 0.05, reach - 0.14, top - 0.09), (x - 0.01, reach, top)
    out.box(low, high, M.BLACK, part=bike.bars, mirror=True, taper=(1.0, 0.8))


def _grips(bike: Bike, inner: Point, outer: Point) -> None:
    bike.out.bar(inner, outer, 0.016, M.CHROME, part=bike.bars, mirror=True)
    grip = tuple(0.45 * a + 0.55 * b for a, b in zip(inner, outer, strict=True))
    bike.out.bar((grip[0], grip[1], grip[2]), outer, 0.023, M.RUBBER, part=bike.bars, mirror=True)


def _blinkers(bike: Bike, x: float, y: float, z: float, part: int = 0) -> None:
    low, high = (x - 0.03, y, z - 0.025), (x + 0.03, y + 0.07, z + 0.025)
    bike.out.box(low, high, M.BLINKER_RIGHT, part=part, mirror=True)


def _tail(bike: Bike, x: float, z: float) -> None:
    out = bike.out
    out.box((x - 0.02, -0.09, z - 0.035), (x + 0.05, 0.09, z + 0.035), M.BRAKE_LAMP)
    out.box((x - 0.025, -0.09, z + 0.012), (x + 0.05, 0.09, z + 0.05), M.TAIL_LAMP)
    plate = [
        (x - 0.05, -0.1, z - 0.24),
        (x - 0.05, 0.1, z - 0.24),
        (x, 0.1, z - 0.1),
        (x, -0.1, z - 0.1),
    ]
    out.quad(plate, M.PLATE, outward=(-1.0, 0.0, 0.0))
    _blinkers(bike, x + 0.04, 0.08, z - 0.05)


def _engine(bike: Bike, x: float, z: float, long: float, high: float, wide: float) -> None:
    """Crank case with two cylinders."""
    out = bike.out
    case = [(x - long, z - 0.08, 0.7 * wide, 0.09), (x - 0.4 * long, z - 0.06, wide, 0.13)]
    case += [(x + 0.4 * long, z - 0.06, wide, 0.13), (x + long, z - 0.06, 0.6 * wide, 0.08)]
    hull(bike, case, M.METAL)
    if bike.level < 2:
        for way in (-0.45, 0.45):
            end = (x + way * 2.2 * high, 0.0, z + high)
            out.bar((x + 0.3 * way * high, 0.0, z), end, 0.75 * wide, M.GREY, sides=8)
            cap = (end[0] + 0.1 * way * high, 0.0, end[2] + 0.05)
            out.bar(end, cap, 0.8 * wide, M.CHROME, sides=8)


def _exhaust(bike: Bike, front: Point, rear: Point, radius: float, shade: int) -> None:
    middle = (front[0] - 0.05, front[1], rear[2])
    bike.out.bar(front, middle, 0.028, shade)
    bike.out.bar(middle, (rear[0] + 0.45, rear[1], rear[2]), 0.03, shade)
    bike.out.bar((rear[0] + 0.45, rear[1], rear[2]), rear, radius, shade, sides=8)


def _sport(bike: Bike) -> Seat:
    k, h = bike.long / 2.1, bike.high / 1.2
    wheel = 0.31 * min(k, h)
    front, rear = bike.front - wheel, bike.rear + wheel + 0.06
    bike.wheel((front, wheel), wheel, 0.12, 0)
    bike.wheel((rear, wheel), wheel, 0.18, 1)
    top = (front - 0.25 * k, 0.0, 0.92 * h)
    bike.head = top, (front, 0.0, wheel)
    _front(bike, top, (front, 0.0, wheel), 0.12, M.PAINT)
    x = front - 0.05

    def at(rows: Stations) -> Stations:
        return [(x + a * k, b * h, c, d * h) for a, b, c, d in rows]

    fairing = [(0.06, 0.88, 0.05, 0.04), (-0.02, 0.88, 0.16, 0.12), (-0.16, 0.80, 0.24, 0.22)]
    fairing += [(-0.34, 0.62, 0.23, 0.30), (-0.58, 0.48, 0.20, 0.22), (-0.80, 0.40, 0.14, 0.12)]
    hull(bike, at(fairing), M.PAINT)
    hull(
        bike,
        at(
            [
                (-0.30, 0.90, 0.06, 0.05),
                (-0.42, 0.93, 0.16, 0.11),
                (-0.62, 0.88, 0.16, 0.12),
                (-0.78, 0.80, 0.10, 0.07),
            ]
        ),
        M.PAINT,
    )
    hull(
        bike,
        at([(-0.70, 0.79, 0.11, 0.05), (-0.90, 0.80, 0.14, 0.05), (-1.08, 0.84, 0.11, 0.04)]),
        M.PLASTIC,
    )
    hull(
        bike,
        at([(-0.92, 0.76, 0.10, 0.07), (-1.15, 0.86, 0.10, 0.06), (-1.40, 0.97, 0.05, 0.03)]),
        M.PAINT,
    )
    hull(
        bike,
        at([(-0.02, 0.99, 0.08, 0.03), (-0.10, 1.08, 0.13, 0.07), (-0.22, 1.08, 0.15, 0.10)]),
        M.GLASS,
    )
    hull(bike, at([(-0.55, 0.42, 0.12, 0.12), (-0.95, 0.36, 0.12, 0.10)]), M.METAL)
    for y in (0.03, 0.10):
        lamp = (x + 0.035 * k, y, 0.86 * h), (x + 0.075 * k - 0.02 * (y > 0.05), y + 0.06, 0.94 * h)
        bike.out.box(*lamp, M.HEAD_LAMP, mirror=True)
    _blinkers(bike, x - 0.1, 0.24, 0.82 * h)
    swing = (x - 0.85 * k, 0.11, 0.42 * h)
    bike.out.bar(swing, (rear, 0.12, wheel), 0.035, M.METAL, mirror=True)
    _exhaust(bike, (x - 0.5 * k, 0.12, 0.25), (rear - 0.05, 0.17, 0.46 * h), 0.06, M.METAL)
    _tail(bike, x - 1.40 * k, 0.95 * h)
    grip = (front - 0.34 * k, 0.32, 0.92 * h)
    _grips(bike, (top[0], 0.05, top[2]), grip)
    _mirrors(bike, (x - 0.06, 0.16, 1.0 * h), bike.half, bike.high)
    _mudguard(bike, (rear, 0.0, wheel), 0.16, M.BLACK, (0.3, 0.8))
    hips = (x - 0.92 * k, 0.0, 0.87 * h + 0.07)
    return Seat(
        hips,
        0.62,
        (grip[0] - 0.01, grip[1], grip[2] + 0.03),
        (x - 0.95 * k, 0.17, 0.38 * h),
        helmet=True,
    )


def _cruiser(bike: Bike) -> Seat:
    k, h = bike.long / 2.36, bike.high / 1.276
    wheel = 0.33
    front, rear = bike.front - wheel, bike.rear + wheel + 0.04
    bike.wheel((front, wheel), wheel, 0.11, 0)
    bike.wheel((rear, wheel), wheel, 0.17, 1)
    top = (front - 0.42 * k, 0.0, 0.92 * h)
    bike.head = top, (front, 0.0, wheel)
    _front(bike, top, (front, 0.0, wheel), 0.11, M.PAINT)
    _mudguard(bike, (rear, 0.0, wheel), 0.18, M.PAINT, (0.1, 0.98))
    x = top[0]
    hull(
        bike,
        [
            (x - 0.02, 0.80 * h, 0.06, 0.06),
            (x - 0.16, 0.82 * h, 0.16, 0.12),
            (x - 0.36, 0.80 * h, 0.15, 0.11),
            (x - 0.58, 0.72 * h, 0.06, 0.05),
        ],
        M.PAINT,
    )
    hull(
        bike,
        [
            (x - 0.52, 0.66 * h, 0.12, 0.05),
            (x - 0.72, 0.64 * h, 0.17, 0.06),
            (x - 0.92, 0.72 * h, 0.14, 0.07),
            (x - 1.18, 0.76 * h, 0.11, 0.04),
        ],
        M.PLASTIC,
    )
    _engine(bike, x - 0.36, 0.40 * h, 0.36, 0.22, 0.15)
    bike.out.bar((x, 0.0, 0.84 * h), (x - 0.1, 0.0, 0.25), 0.035, M.BLACK)
    bike.out.bar((x - 0.1, 0.0, 0.22), (rear + 0.3, 0.0, 0.24), 0.04, M.BLACK)
    bike.out.bar((rear + 0.4, 0.14, 0.34), (rear, 0.14, wheel), 0.03, M.BLACK, mirror=True)
    bike.out.bar((rear + 0.3, 0.14, 0.66 * h), (rear, 0.15, wheel), 0.028, M.CHROME, mirror=True)
    _exhaust(bike, (x - 0.25, 0.17, 0.40), (rear - 0.25, 0.20, 0.30), 0.055, M.CHROME)
    lamp = (x + 0.14, 0.0, 0.88 * h)
    bike.out.lathe(
        lamp,
        (1.0, 0.0, 0.0),
        [(-0.12, 0.0), (-0.06, 0.08), (0.0, 0.10), (0.01, 0.085)],
        12,
        M.CHROME,
        part=bike.bars,
    )
    bike.out.lathe(
        lamp, (1.0, 0.0, 0.0), [(0.0, 0.09), (0.03, 0.0)], 12, M.HEAD_LAMP, part=bike.bars
    )
    _blinkers(bike, x + 0.06, 0.14, 0.80 * h, bike.bars)
    _tail(bike, rear - 0.30, 0.66 * h)
    rise = (x - 0.10, 0.16, 1.08 * h)
    bike.out.bar((x, 0.05, 0.94 * h), rise, 0.016, M.CHROME, part=bike.bars, mirror=True)
    grip = (x - 0.28, bike.half - 0.02, 1.05 * h)
    _grips(bike, rise, grip)
    _mirrors(bike, (x - 0.14, 0.22, 1.08 * h), bike.half, bike.high)
    bike.out.bar((x - 0.30, 0.2, 0.30), (x - 0.30, 0.36, 0.30), 0.02, M.BLACK, mirror=True)
    hips = (x - 0.74, 0.0, 0.72 * h + 0.08)
    return Seat(
        hips, 0.12, (grip[0], grip[1] - 0.05, grip[2] + 0.03), (x - 0.26, 0.28, 0.34), helmet=True
    )


def _scooter(bike: Bike) -> Seat:
    k, h = bike.long / 1.8, bike.high / 1.236
    wheel = 0.23
    front, rear = bike.front - wheel - 0.03, bike.rear + wheel + 0.10
    bike.wheel((front, wheel), wheel, 0.10, 0)
    bike.wheel((rear, wheel), wheel, 0.11, 1)
    top = (front - 0.20 * k, 0.0, 0.96 * h)
    bike.head = top, (front, 0.0, wheel)
    bike.out.bar((front, 0.0, wheel), top, 0.045, M.PAINT, part=bike.bars)
    _mudguard(bike, (front, 0.0, wheel), 0.16, M.PAINT, (0.05, 1.0), bike.bars)
    x = top[0]
    # Leg shield and floor: a bent sheet with rounded edges.
    rows = []
    for dx, z, wide in (
        (0.02, 0.94, 0.10),
        (0.03, 0.82, 0.24),
        (0.0, 0.55, 0.27),
        (-0.05, 0.30, 0.22),
        (-0.22, 0.24, 0.20),
        (-0.62, 0.24, 0.19),
    ):
        rows.append(
            [
                (x + dx * k - 0.05 * abs(u) ** 2, u * wide, z * h)
                for u in (-1.0, -0.6, 0.0, 0.6, 1.0)
            ]
        )
    bike.out.grid(np.array(rows), M.PAINT, outward=(1.0, 0.0, -0.2))
    lift = np.array(rows) - np.array([0.025, 0.0, -0.02])
    bike.out.grid(lift, M.PLASTIC, outward=(-1.0, 0.0, 0.4))
    body = [
        (-0.50, 0.42, 0.14, 0.16),
        (-0.66, 0.46, 0.22, 0.20),
        (-0.92, 0.46, 0.24, 0.20),
        (-1.12, 0.48, 0.18, 0.16),
        (-1.25, 0.52, 0.08, 0.10),
    ]
    hull(bike, [(x + a * k, b * h, c, d * h) for a, b, c, d in body], M.PAINT)
    seat = [
        (-0.44, 0.70, 0.10, 0.05),
        (-0.70, 0.70, 0.15, 0.06),
        (-1.0, 0.72, 0.15, 0.06),
        (-1.20, 0.70, 0.09, 0.04),
    ]
    hull(bike, [(x + a * k, b * h, c, d * h) for a, b, c, d in seat], M.PLASTIC)
    hull(
        bike,
        [
            (x + 0.09, 1.0 * h, 0.05, 0.05),
            (x + 0.03, 1.0 * h, 0.12, 0.09),
            (x - 0.12, 0.99 * h, 0.10, 0.06),
        ],
        M.PAINT,
        part=bike.bars,
    )
    bike.out.lathe(
        (x + 0.075, 0.0, 1.0 * h),
        (1.0, 0.0, 0.0),
        [(0.0, 0.075), (0.03, 0.0)],
        10,
        M.HEAD_LAMP,
        part=bike.bars,
    )
    _blinkers(bike, x + 0.01, 0.20, 0.76 * h)
    _tail(bike, x - 1.26 * k, 0.58 * h)
    grip = (x - 0.16, 0.34, 1.0 * h)
    _grips(bike, (x - 0.04, 0.08, 1.0 * h), grip)
    _mirrors(bike, (x - 0.04, 0.16, 1.02 * h), bike.half, bike.high)
    _exhaust(bike, (x - 0.8 * k, 0.14, 0.26), (rear - 0.1, 0.17, 0.26), 0.055, M.METAL)
    hips = (x - 0.72 * k, 0.0, 0.76 * h + 0.08)
    return Seat(
        hips,
        0.05,
        (grip[0], grip[1] - 0.03, grip[2] + 0.03),
        (x - 0.22 * k, 0.13, 0.27 * h),
        helmet=True,
    )


MOTORCYCLES: Final[dict[str, Callable[[Bike], Seat]]] = {
    "harley-davidson.low_rider": _cruiser,
    "yamaha.yzf": _sport,
    "kawasaki.ninja": _sport,
    "vespa.zx125": _scooter,
}
