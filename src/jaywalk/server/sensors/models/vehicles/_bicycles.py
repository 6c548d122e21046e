"""Bicycles: diamond and step-through frames, straight, drop and swept handlebars."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Final

import numpy as np

from jaywalk.server.sensors._materials import Material
from jaywalk.server.sensors.models.vehicles._bike import Bike, Seat
from jaywalk.server.sensors.models.vehicles._surfaces import Point

M = Material
_CRANK_M: Final = 0.16


def _frame(
    bike: Bike, saddle_z: float, head_z: float, *, low: bool = False
) -> tuple[Point, Point, Point]:
    """Add wheels, frame, fork, crank and saddle; return head, saddle and crank."""
    out = bike.out
    wheel = min(0.34, 0.245 * bike.long)
    front, rear = bike.front - wheel, bike.rear + wheel
    bike.wheel((front, wheel), wheel, 0.042, 0, spokes=True)
    bike.wheel((rear, wheel), wheel, 0.042, 1, spokes=True)
    span = front - rear
    crank = (rear + 0.42 * span, 0.0, 0.28)
    head = (front - 0.10 * span, 0.0, head_z)
    foot = (front - 0.055 * span, 0.0, wheel + 0.30)
    seat = (crank[0] - 0.20 * span, 0.0, saddle_z)
    joint = tuple(0.18 * c + 0.82 * s for c, s in zip(crank, seat, strict=True))
    top = (joint[0], joint[1], joint[2])
    bike.head = head, (front, 0.0, wheel)
    tube = 0.021
    if low:
        neck = (head[0] + 0.01, 0.0, head[2] - 0.16)
        bend = (crank[0] + 0.14, 0.0, crank[2] + 0.06)
        out.bar(neck, bend, tube, M.PAINT)
        out.bar(bend, crank, tube, M.PAINT)
        out.bar(
            (neck[0], 0.0, neck[2] + 0.06), (bend[0] - 0.02, 0.0, bend[2] + 0.14), 0.016, M.PAINT
        )
        out.bar(
            (bend[0] - 0.02, 0.0, bend[2] + 0.14),
            (crank[0] - 0.05, 0.0, crank[2] + 0.2),
            0.016,
            M.PAINT,
        )
    else:
        out.bar((head[0], 0.0, head[2] - 0.05), top, tube, M.PAINT)
        out.bar(foot, crank, tube + 0.004, M.PAINT)
    out.bar(crank, top, tube, M.PAINT)
    out.bar(top, seat, 0.014, M.CHROME)
    y = 0.045
    out.bar((rear, y, wheel), (crank[0], 0.02, crank[2]), 0.011, M.PAINT, mirror=True)
    out.bar((rear, y, wheel), (top[0], 0.015, top[2]), 0.010, M.PAINT, mirror=True)
    out.bar(
        (front, y, wheel), (foot[0], 0.03, foot[2]), 0.013, M.PAINT, part=bike.bars, mirror=True
    )
    out.bar(foot, head, 0.024, M.PAINT, part=bike.bars)
    # Saddle, chain ring, cranks and pedals.
    x, _, z = seat
    nose = [
        [(x + 0.14, -0.02, z), (x + 0.14, 0.02, z)],
        [(x, -0.05, z + 0.01), (x, 0.05, z + 0.01)],
        [(x - 0.12, -0.08, z + 0.02), (x - 0.12, 0.08, z + 0.02)],
    ]
    out.grid(np.array(nose), M.BLACK, outward=(0.0, 0.0, 1.0))
    out.box((x - 0.12, -0.07, z - 0.045), (x + 0.06, 0.07, z + 0.005), M.BLACK)
    sides = (16, 10, 6)[bike.level]
    middle = (crank[0], 0.05, crank[2])
    out.lathe(
        middle,
        (0.0, 1.0, 0.0),
        [(-0.004, 0.0), (-0.004, 0.09), (0.004, 0.09), (0.004, 0.0)],
        sides,
        M.METAL,
        part=bike.pedals,
    )
    for side in (-1.0, 1.0):
        end = (crank[0], side * 0.07, crank[2] - side * _CRANK_M)
        out.bar((crank[0], side * 0.05, crank[2]), end, 0.012, M.METAL, part=bike.pedals)
        out.box(
            (end[0] - 0.05, min(side * 0.07, side * 0.16), end[2] - 0.012),
            (end[0] + 0.05, max(side * 0.07, side * 0.16), end[2] + 0.012),
            M.BLACK,
            part=bike.pedals,
        )
    bike.crank = crank
    return head, seat, crank


def _feet(crank: Point) -> tuple[Point, Point]:
    """Places of the right and the left foot on the pedals."""
    return (crank[0], 0.11, crank[2] - _CRANK_M + 0.02), (
        crank[0],
        -0.11,
        crank[2] + _CRANK_M + 0.02,
    )


def _reflectors(bike: Bike, z: float) -> None:
    out = bike.out
    out.box((bike.rear + 0.20, -0.025, z), (bike.rear + 0.23, 0.025, z + 0.05), M.TAIL_LAMP)


def _straight(bike: Bike) -> Seat:
    head, seat, crank = _frame(bike, 0.90 * bike.high, 0.90 * bike.high)
    top = (head[0] + 0.05, 0.0, bike.high - 0.03)
    bike.out.bar(head, top, 0.018, M.BLACK, part=bike.bars)
    grip = (top[0] - 0.05, bike.half, top[2])
    bike.out.bar((top[0], 0.0, top[2]), grip, 0.016, M.BLACK, part=bike.bars, mirror=True)
    bike.out.bar(
        (grip[0] + 0.015, grip[1] - 0.13, grip[2]),
        grip,
        0.022,
        M.RUBBER,
        part=bike.bars,
        mirror=True,
    )
    _reflectors(bike, 0.62)
    hand = (grip[0], grip[1] - 0.07, grip[2] + 0.03)
    right, left = _feet(crank)
    return Seat((seat[0] - 0.03, 0.0, seat[2] + 0.10), 0.55, hand, right, left, helmet=True)


def _drop(bike: Bike) -> Seat:
    head, seat, crank = _frame(bike, 0.83 * bike.high, 0.80 * bike.high)
    top = (head[0] + 0.10, 0.0, 0.88 * bike.high)
    bike.out.bar(head, top, 0.018, M.BLACK, part=bike.bars)
    y = bike.half - 0.012
    bike.out.bar(top, (top[0], y, top[2]), 0.014, M.BLACK, part=bike.bars, mirror=True)
    path = [(0.0, 0.0), (0.08, 0.0), (0.11, -0.05), (0.07, -0.11), (-0.03, -0.12)]
    for (a, b), (c, d) in pairwise(path):
        start, stop = (top[0] + a, y, top[2] + b), (top[0] + c, y, top[2] + d)
        bike.out.bar(start, stop, 0.014, M.BLACK, part=bike.bars, mirror=True)
    hood = (top[0] + 0.09, y, top[2] + 0.0)
    lever = (hood[0] + 0.02, y, bike.high - 0.01)
    bike.out.bar(hood, lever, 0.016, M.BLACK, part=bike.bars, mirror=True)
    _reflectors(bike, 0.66)
    right, left = _feet(crank)
    hand = (hood[0] - 0.02, y, hood[2] + 0.035)
    return Seat((seat[0] - 0.03, 0.0, seat[2] + 0.10), 0.80, hand, right, left, helmet=True)


def _dutch(bike: Bike) -> Seat:
    head, seat, crank = _frame(bike, 0.78 * bike.high, 0.76 * bike.high, low=True)
    out = bike.out
    top = (head[0] - 0.03, 0.0, 0.96 * bike.high)
    out.bar(head, top, 0.016, M.CHROME, part=bike.bars)
    y = bike.half - 0.02
    bend = (top[0] + 0.02, y, bike.high - 0.018)
    grip = (top[0] - 0.22, y, bike.high - 0.07)
    out.bar(top, bend, 0.013, M.CHROME, part=bike.bars, mirror=True)
    out.bar(bend, grip, 0.018, M.CHROME, part=bike.bars, mirror=True)
    out.bar((grip[0] + 0.12, y, grip[2] + 0.03), grip, 0.02, M.RUBBER, part=bike.bars, mirror=True)
    wheel = min(0.34, 0.245 * bike.long)
    # Mudguards, chain case, rack, headlamp and rear lamp.
    for x, part, span in (
        (bike.front - wheel, bike.bars, (0.25, 1.05)),
        (bike.rear + wheel, 0, (0.02, 0.85)),
    ):
        angle = np.pi * np.linspace(span[0], span[1], (10, 6, 4)[bike.level])
        rows = [
            np.stack(
                [
                    x + (wheel + 0.025) * np.cos(angle),
                    np.full(len(angle), side),
                    wheel + (wheel + 0.025) * np.sin(angle),
                ],
                1,
            )
            for side in (-0.03, 0.03)
        ]
        out.grid(np.array(rows), M.BLACK, part=part, outward=(0.0, 0.0, 1.0))
    rear = bike.rear + wheel
    out.box((rear - 0.02, 0.05, 0.24), (crank[0] + 0.11, 0.075, 0.40), M.BLACK, taper=(0.95, 1.0))
    out.box((rear - 0.22, -0.07, 0.755), (rear + 0.22, 0.07, 0.775), M.BLACK)
    out.bar((rear - 0.12, 0.07, 0.76), (rear, 0.05, wheel), 0.008, M.BLACK, mirror=True)
    out.box((rear - 0.24, -0.03, 0.66), (rear - 0.21, 0.03, 0.72), M.TAIL_LAMP)
    lamp = (head[0] + 0.10, 0.0, head[2] - 0.04)
    out.lathe(
        lamp,
        (1.0, 0.0, 0.0),
        [(-0.06, 0.0), (-0.02, 0.04), (0.0, 0.045)],
        8,
        M.CHROME,
        part=bike.bars,
    )
    out.lathe(lamp, (1.0, 0.0, 0.0), [(0.0, 0.04), (0.01, 0.0)], 8, M.HEAD_LAMP, part=bike.bars)
    right, left = _feet(crank)
    hand = (grip[0] + 0.04, grip[1] - 0.01, grip[2] + 0.04)
    return Seat((seat[0] - 0.03, 0.0, seat[2] + 0.10), 0.10, hand, right, left)


BICYCLES: Final[dict[str, Callable[[Bike], Seat]]] = {
    "bh.crossbike": _straight,
    "gazelle.omafiets": _dutch,
    "diamondback.century": _drop,
}
