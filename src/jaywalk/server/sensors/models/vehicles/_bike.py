"""What two-wheelers are put together from, and where their riders sit."""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np

from jaywalk.server.sensors._materials import Material
from jaywalk.server.sensors.models.vehicles._surfaces import DOORS, WHEELS, Point, Surfaces

M = Material
_SIDES: Final = (24, 14, 9)


class Seat(NamedTuple):
    """Where a rider sits, and what the hands and feet hold; all in the frame of the vehicle."""

    hips: Point
    lean_rad: float  # of the trunk, forwards
    hand: Point  # the right one; the left one is its mirror image
    foot: Point  # the right one
    left_foot: Point | None = None  # None: the mirror image
    helmet: bool = False


class Bike:
    """A two-wheeler under construction."""

    bars = DOORS[0]  # part that is steered: handlebars and fork
    pedals = DOORS[1]  # part that turns with the rear wheel

    def __init__(self, half_m: tuple[float, float, float], middle_m: float, level: int) -> None:
        self.out, self.level = Surfaces(), level
        self.front, self.rear = middle_m + half_m[0], middle_m - half_m[0]
        self.long, self.half, self.high = 2.0 * half_m[0], half_m[1], 2.0 * half_m[2]
        self.wheels: list[Point] = []
        self.head: tuple[Point, Point] | None = None  # two points of the steering axis
        self.crank: Point | None = None

    def wheel(
        self,
        place: tuple[float, float],
        radius: float,
        width: float,
        number: int,
        *,
        spokes: bool = False,
    ) -> None:
        """Add a wheel; ``number`` 0 is the front one."""
        out, part = self.out, WHEELS[number]
        centre, w, sides = (place[0], 0.0, place[1]), 0.5 * width, _SIDES[self.level]
        axis = (0.0, 1.0, 0.0)
        inner = radius - max(0.75 * width, 0.035)
        tyre = [(-0.6 * w, inner), (-w, radius - 0.6 * w), (-0.4 * w, radius), (0.4 * w, radius)]
        tyre += [(w, radius - 0.6 * w), (0.6 * w, inner)]
        if self.level:
            tyre = [(-w, inner), (-w, radius), (w, radius), (w, inner)]
        out.lathe(centre, axis, tyre, sides, M.RUBBER, part=part)
        rim = [
            (0.4 * w, inner),
            (0.4 * w, inner - 0.02),
            (-0.4 * w, inner - 0.02),
            (-0.4 * w, inner),
        ]
        if self.level < 2:
            out.lathe(centre, axis, rim, sides, M.RIM, part=part)
        count = (10 if spokes else 6) if self.level < 2 else 0
        thick = 0.0035 if spokes else 0.02
        for k in range(count):
            turn = 2.0 * math.pi * k / count
            end = (place[0] + inner * math.cos(turn), 0.0, place[1] + inner * math.sin(turn))
            out.bar(centre, end, thick, M.RIM, sides=3 if spokes else 4, part=part)
        hub = 0.02 if spokes else 0.055
        sides = 8 if self.level < 2 else 6
        out.lathe(
            centre, axis, [(-w, 0.0), (-w, hub), (w, hub), (w, 0.0)], sides, M.METAL, part=part
        )
        if not spokes and self.level == 0:
            disc = [(w + 0.005, 0.55 * inner), (w + 0.01, 0.8 * inner)]
            out.lathe(centre, axis, disc, 16, M.METAL, part=part, mirror=False)
        self.wheels.append(centre)


def ellipsoid(
    out: Surfaces, centre: Point, half: Point, level: int, material: int, part: int = 0
) -> None:
    """Add an ellipsoid."""
    rows, columns = ((9, 14), (6, 9), (5, 7))[level]
    up = np.linspace(-0.5 * np.pi, 0.5 * np.pi, rows)
    around = np.linspace(0.0, 2.0 * np.pi, columns)
    points = np.empty((rows, columns, 3))
    points[..., 0] = centre[0] + half[0] * np.outer(np.cos(up), np.cos(around))
    points[..., 1] = centre[1] + half[1] * np.outer(np.cos(up), np.sin(around))
    points[..., 2] = centre[2] + half[2] * np.sin(up)[:, None]
    out.tube(points, material, part=part)
