"""What trucks are put together from: a cab, a chassis, a box and axles."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from jaywalk.server.sensors._materials import Material
from jaywalk.server.sensors.models.vehicles._face import Face
from jaywalk.server.sensors.models.vehicles._fittings import (
    add_face,
    add_handles,
    add_mirrors,
    add_wheel,
)
from jaywalk.server.sensors.models.vehicles._kinds import SQUARE_SIDE
from jaywalk.server.sensors.models.vehicles._motion import Joints
from jaywalk.server.sensors.models.vehicles._shape import VehicleShape
from jaywalk.server.sensors.models.vehicles._shell import Shell
from jaywalk.server.sensors.models.vehicles._surfaces import WHEELS, Surfaces

M = Material
Half = tuple[float, float, float]

CAB: Final = VehicleShape(
    nose=0.5,
    cowl=(0.0, 0.54),
    roof_front=(0.16, 0.95),
    roof_rear=(0.98, 0.97),
    deck=(1.0, 0.54),
    tail=0.54,
    clearance_m=0.42,
    axles=(0.60, 9.0),
    wheel_m=0.5,
    roof_width=0.93,
    front_bow_m=0.22,
    rear_bow_m=0.0,
    front_lean=((0.0, 0.04), (0.25, 0.0), (0.6, 0.0), (1.0, 0.03)),
    rear_lean=((0.0, 0.0), (1.0, 0.0)),
    taper=(0.08, 0.0),
    side=SQUARE_SIDE,
    pillars=(0.68,),
    blind=(1,),
    doors=0,
    rear_glass=False,
    low=M.PLASTIC,
    roof_crown_m=0.06,
)
CAB_FACE: Final = Face(
    head=(0.58, 0.96, 0.16, 0.36),
    blinker=(0.96, 1.0, 0.18, 0.34),
    grille=(0.0, 0.7, 0.46, 0.80),
    grille_material=M.BLACK,
    frame=M.BLACK,
    bars=4,
    intake=(0.0, 0.45, 0.08, 0.3),
    plate=(0.24, 0.0),
    handles=M.BLACK,
)


class Truck:
    """A truck under construction: its box, its surfaces and its wheels."""

    def __init__(self, half_m: Half, middle_m: float, level: int) -> None:
        self.out, self.level = Surfaces(), level
        self.front, self.rear = middle_m + half_m[0], middle_m - half_m[0]
        self.half, self.height = half_m[1], 2.0 * half_m[2]
        self.wheels: list[tuple[float, float, float]] = []
        self.hinges: tuple[tuple[float, float], ...] = ()

    def cab(
        self, shape: VehicleShape, face: Face, long_m: float, half_m: float, high_m: float
    ) -> Shell:
        """Add a cab at the front."""
        shell = Shell(shape, self.front, self.front - long_m, half_m, high_m, self.level)
        shell.build(self.out)
        add_face(self.out, shell, face, rear=False)
        add_handles(self.out, shell, face.handles)
        self.hinges = shell.hinges()
        return shell

    def axle(self, x: float, y: float, radius: float, width: float, part: int) -> None:
        """Add a right wheel and its mirror image."""
        add_wheel(self.out, (x, y, radius), radius, width, part, self.level, rim=M.GREY)
        self.wheels += [(x, side * (y - 0.5 * width), radius) for side in (-1.0, 1.0)]

    def chassis(self, start: float, stop: float, z: float, half: float) -> None:
        """Add the frame below the body, and a dark floor."""
        for y in (0.35, half - 0.3):
            low, high = (stop + 0.5, y - 0.06, z - 0.26), (start, y + 0.06, z)
            self.out.box(low, high, M.INTERIOR, mirror=True)
        corners = [(start, -half, z), (start, half, z), (stop, half, z), (stop, -half, z)]
        self.out.quad(corners, M.INTERIOR, outward=(0.0, 0.0, -1.0))

    def rear_lamps(self, x: float, y: float, z: float, width: float = 0.36) -> None:
        """Add the lamps and the plate at the rear; the right one begins at ``y``."""
        parts = (M.REVERSE_LAMP, M.BLINKER_RIGHT, M.BRAKE_LAMP, M.TAIL_LAMP)
        step = width / len(parts)
        self.out.box(
            (x, y - 0.02, z - 0.08), (x + 0.05, y + width + 0.02, z + 0.08), M.BLACK, mirror=True
        )
        for k, lamp in enumerate(parts):
            y0, y1 = y + k * step, y + (k + 1) * step - 0.01
            at = x - 0.006
            face = [(at, y0, z - 0.06), (at, y1, z - 0.06), (at, y1, z + 0.06), (at, y0, z + 0.06)]
            self.out.quad(face, lamp, mirror=True, outward=(-1.0, 0.0, 0.0))
        plate = [(x - 0.006, -0.26, z - 0.06), (x - 0.006, 0.26, z - 0.06)]
        plate += [(x - 0.006, 0.26, z + 0.06), (x - 0.006, -0.26, z + 0.06)]
        self.out.quad(plate, M.PLATE, outward=(-1.0, 0.0, 0.0))
        self.out.box((x, -y, z - 0.07), (x + 0.04, y, z + 0.07), M.INTERIOR)

    def panel(
        self, x: tuple[float, float], z: tuple[float, float], y: float, material: int
    ) -> None:
        """Add a flat panel on both sides."""
        corners = [(x[0], y, z[0]), (x[1], y, z[0]), (x[1], y, z[1]), (x[0], y, z[1])]
        self.out.quad(corners, material, mirror=True, outward=(0.0, 1.0, 0.0))

    def back(self, y: tuple[float, float], z: tuple[float, float], x: float, material: int) -> None:
        """Add a flat panel on the right of the rear, and its mirror image."""
        corners = [(x, y[0], z[0]), (x, y[1], z[0]), (x, y[1], z[1]), (x, y[0], z[1])]
        self.out.quad(corners, material, mirror=True, outward=(-1.0, 0.0, 0.0))

    def cargo(
        self, start: float, z: tuple[float, float], half: float, material: int, edge: int
    ) -> None:
        """Add a box with edges, and doors with bars at the rear."""
        low, high = z
        self.out.box((self.rear, -half, low), (start, half, high), material)
        if self.level == 2:
            return
        w, lift = 0.07, 0.012
        for x in (start - w, self.rear):
            self.panel((x, x + w), z, half + lift, edge)
        for base in (low, high - w):
            self.panel((self.rear, start), (base, base + w), half + lift, edge)
            self.back((0.0, half), (base, base + w), self.rear - lift, edge)
        self.back((half - w, half), z, self.rear - lift, edge)
        self.back((0.0, 0.015), z, self.rear - lift, M.BLACK)
        if self.level == 0:
            for y in (0.22, 0.62 * half):
                start_bar = (self.rear - 0.03, y, low + 0.05)
                self.out.bar(
                    start_bar, (self.rear - 0.03, y, high - 0.05), 0.02, M.GREY, mirror=True
                )
            self.back((0.18, 0.5), (low + 0.5, low + 0.54), self.rear - 0.045, M.GREY)

    def arch(self, x: float, y: float, radius: float, floor: float) -> None:
        """Add a dark wheel arch on the flat sides of a body that reaches down to ``floor``."""
        angle = np.linspace(0.0, np.pi, 9)
        rise = radius - 0.07 + radius * np.sin(angle)
        rim = np.stack([x + radius * np.cos(angle), np.full(9, y), rise], axis=1)
        foot = rim.copy()
        foot[:, 2] = floor
        self.out.grid(np.stack([rim, foot]), M.INTERIOR, mirror=True, outward=(0.0, 1.0, 0.0))

    def mudguard(self, x: float, y: float, radius: float, width: float) -> None:
        """Add a bent sheet above a rear wheel."""
        angle = np.linspace(0.1, np.pi - 0.1, 7)
        r = radius + 0.07
        rim = np.stack([x + r * np.cos(angle), np.full(7, y), radius + r * np.sin(angle)], axis=1)
        inner = rim - np.array([0.0, width, 0.0])
        self.out.grid(np.stack([rim, inner]), M.BLACK, mirror=True, outward=(0.0, 0.0, 1.0))

    def joints(self) -> Joints:
        """Return the places about which parts turn."""
        return Joints(tuple(self.wheels), 2, self.hinges)


def box_truck(truck: Truck, cab_m: float, wheel: float, box: int, cab_high: float) -> Shell:
    """A cab over the front axle and a box behind it."""
    half = truck.half - 0.13
    shape = replace(CAB, wheel_m=wheel, clearance_m=0.75 * wheel)
    shell = truck.cab(shape, CAB_FACE, cab_m, half - 0.04, cab_high)
    floor = 1.9 * wheel
    start = truck.front - cab_m - 0.12
    truck.cargo(start, (floor, truck.height), half, box, M.GREY)
    gap = (start, 0.2 - half, 1.2 * wheel), (start + 0.14, half - 0.2, 0.8 * cab_high)
    truck.out.box(*gap, M.INTERIOR)
    truck.chassis(truck.front - 0.8 * cab_m, truck.rear + 0.1, floor - 0.01, half)
    truck.axle(shell.x(0.60), half - 0.07, wheel, 0.3, WHEELS[1])
    rear = truck.rear + 0.22 * (truck.front - truck.rear)
    truck.axle(rear, half - 0.03, wheel, 0.55, WHEELS[3])
    truck.mudguard(rear, half - 0.02, wheel, 0.6)
    truck.rear_lamps(truck.rear + 0.02, half - 0.55, floor - 0.16)
    truck.out.box(
        (truck.rear + 0.05, -half + 0.1, 0.45), (truck.rear + 0.15, half - 0.1, 0.57), M.GREY
    )
    front_side, back_side = start - 0.1, rear + wheel + 0.15
    for z in (0.55, 0.8) if truck.level < 2 else (0.7,):
        truck.panel((back_side, front_side), (z, z + 0.12), half - 0.04, M.GREY)
    truck.out.box(
        (front_side - 0.9, half - 0.62, 0.5),
        (front_side, half - 0.06, floor - 0.1),
        M.METAL,
        mirror=True,
    )
    add_mirrors(truck.out, shell, truck.half - shell.half_m, tall=True)
    return shell
