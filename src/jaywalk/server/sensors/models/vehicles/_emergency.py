"""The fire engine and the ambulance."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from jaywalk.server.sensors._materials import Material
from jaywalk.server.sensors.models.vehicles._face import Face
from jaywalk.server.sensors.models.vehicles._fittings import (
    add_mirrors,
    end_patch,
    side_patch,
)
from jaywalk.server.sensors.models.vehicles._surfaces import WHEELS
from jaywalk.server.sensors.models.vehicles._truck import CAB, CAB_FACE, Truck

M = Material


def fire_engine(truck: Truck) -> None:
    half, wheel = truck.half - 0.15, 0.54
    shape = replace(
        CAB,
        wheel_m=wheel,
        clearance_m=0.42,
        axles=(0.30, 9.0),
        pillars=(0.50, 0.90),
        blind=(),
        doors=4,
        roof_front=(0.07, 0.95),
        cowl=(0.0, 0.50),
        deck=(1.0, 0.50),
        front_lean=((0.0, 0.0), (1.0, 0.02)),
    )
    cab_m, top = 3.3, 3.05
    face = replace(
        CAB_FACE, bumper=M.CHROME, head=(0.6, 0.95, 0.42, 0.58), grille=(0.0, 0.5, 0.40, 0.80)
    )
    shell = truck.cab(shape, face, cab_m, half - 0.02, top)
    start = truck.front - cab_m - 0.03
    floor = 0.62
    truck.out.box((truck.rear, -half, floor), (start, half, top), M.PAINT)
    truck.chassis(truck.front - 0.3, truck.rear + 0.1, floor, half)
    truck.axle(shell.x(0.30), half - 0.03, wheel, 0.32, WHEELS[1])
    rear = truck.rear + 2.25
    truck.axle(rear, half - 0.02, wheel, 0.56, WHEELS[3])
    # Wheel arch, roller shutters, stripes.
    arch = wheel + 0.08
    truck.arch(rear, half + 0.01, arch, floor)
    for x1, x0, low in ((start - 0.12, rear + arch + 0.1, 0.8), (rear + 0.6, rear - 0.6, 1.42)):
        truck.panel((x0, x1), (low, top - 0.35), half + 0.012, M.RIM)
        for k in range(8 if truck.level == 0 else 0):
            z = low + (k + 0.5) / 8.0 * (top - 0.35 - low)
            truck.panel((x0, x1), (z, z + 0.02), half + 0.018, M.GREY)
    truck.panel((truck.rear + 0.12, rear - arch - 0.08), (0.8, top - 0.35), half + 0.012, M.RIM)
    for low, high, shade in (
        (top - 0.28, top - 0.12, M.WHITE),
        (floor + 0.02, floor + 0.14, M.YELLOW),
    ):
        if low > 1.0 or truck.level < 2:
            truck.panel((truck.rear, start), (low, high), half + 0.011, shade)
    z = shell.belt(0.5)
    for door, (first, last) in enumerate(shell.door_edges()):
        area = (first, last, z - 0.28, z - 0.10)
        side_patch(truck.out, shell, area, M.WHITE, lift=0.02, part=(6, 8)[door])
    # Rear: shutter, chevrons, lamps, ladder up to the roof.
    truck.back((0.0, half - 0.35), (1.1, top - 0.3), truck.rear - 0.012, M.RIM)
    for k in range(5 if truck.level < 2 else 0):
        y0 = k / 5.0 * (half - 0.06)
        shade = M.YELLOW if k % 2 else M.RED
        truck.back((y0, y0 + (half - 0.06) / 5.0), (0.66, 0.98), truck.rear - 0.012, shade)
    truck.rear_lamps(truck.rear - 0.01, half - 0.42, 1.06)
    # Roof: ladder on a frame, beacons, pump panel.
    ladder = truck.height - 0.06
    for y in (0.18, 0.62):
        truck.out.bar(
            (truck.rear + 0.1, y, ladder), (truck.front - 0.9, y, ladder), 0.06, M.METAL, sides=4
        )
    for k in range(18 if truck.level == 0 else 7 if truck.level == 1 else 0):
        x = truck.rear + 0.3 + k / (18 if truck.level == 0 else 7) * 6.9
        truck.out.bar((x, 0.18, ladder), (x, 0.62, ladder), 0.03, M.METAL, sides=4)
    for x in (truck.rear + 0.6, start - 0.3):
        truck.out.box((x, 0.1, top - 0.02), (x + 0.12, 0.7, ladder), M.GREY)
    truck.out.box((truck.rear + 0.4, -half + 0.1, top), (start - 0.3, -0.25, top + 0.32), M.METAL)
    bar = shell.x(0.16)
    truck.out.box(
        (bar - 0.16, -0.95, top - 0.02), (bar + 0.16, 0.95, top + 0.16), M.BEACON, taper=(0.8, 0.97)
    )
    for side in (-1.0, 1.0):
        place = (truck.rear + 0.12, side * (half - 0.2) - 0.09, top)
        corner = (truck.rear + 0.30, side * (half - 0.2) + 0.09, top + 0.16)
        truck.out.box(place, corner, M.BEACON)
    end_patch(truck.out, shell, (0.2, 0.36, 0.60, 0.68), M.BEACON, lift=0.02)
    add_mirrors(truck.out, shell, truck.half - shell.half_m, tall=True)


def ambulance(truck: Truck) -> None:
    half, wheel = truck.half - 0.04, 0.40
    shape = replace(
        CAB,
        nose=0.52,
        cowl=(0.36, 0.62),
        roof_front=(0.60, 0.96),
        roof_rear=(0.99, 0.99),
        deck=(1.0, 0.62),
        tail=0.62,
        clearance_m=0.32,
        axles=(0.28, 9.0),
        wheel_m=wheel,
        pillars=(0.985,),
        blind=(1,),
        doors=2,
        roof_width=0.86,
        front_bow_m=0.20,
        front_lean=((0.0, 0.06), (0.22, 0.0), (0.5, 0.02), (1.0, 0.10)),
        pillar_m=(0.07, 0.02),
        low=M.PAINT,
    )
    face = Face(
        head=(0.66, 1.0, 0.56, 0.84),
        blinker=(0.9, 1.0, 0.46, 0.56),
        grille=(0.0, 0.62, 0.56, 0.86),
        bars=4,
        bumper=M.CHROME,
        intake=(0.0, 0.0, 0.0, 0.1),
        plate=(0.26, 0.0),
    )
    cab_m = 2.55
    shell = truck.cab(shape, face, cab_m, 0.98, 2.02)
    start, floor, top = truck.front - cab_m + 0.12, 0.50, truck.height - 0.10
    truck.out.box((truck.rear, -half, floor), (start, half, top), M.PAINT)
    # The overhang above the cab.
    truck.out.box((start, -half, 1.98), (start + 0.5, half, top), M.PAINT, taper=(0.6, 1.0))
    truck.chassis(truck.front - 0.5, truck.rear + 0.1, floor, half)
    truck.axle(shell.x(0.28), 0.93, wheel, 0.24, WHEELS[1])
    rear = truck.rear + 1.55
    truck.axle(rear, half + 0.005, wheel, 0.42, WHEELS[3])
    truck.arch(rear, half + 0.004, wheel + 0.07, floor - 0.06)
    lift = half + 0.012
    truck.panel((truck.rear, start), (1.02, 1.24), lift, M.ORANGE)
    truck.panel((truck.rear, start), (0.94, 0.98), lift, M.BLUE)
    z = shell.belt(0.6)
    (first, last) = shell.door_edges()[0]
    side_patch(truck.out, shell, (first, last, z - 0.24, z - 0.06), M.ORANGE, lift=0.01, part=6)
    truck.panel((start - 0.55, start - 1.15), (1.4, 1.85), lift, M.GLASS)
    if truck.level < 2:
        for x in (start - 0.3, start - 1.3):
            truck.panel((x, x - 0.015), (floor, top - 0.15), lift + 0.002, M.GREY)
        # A star of life, from three crossed bars.
        x, z, r = truck.rear + 1.0, 1.62, 0.2
        for turn in (0.0, 1.0, 2.0):
            c, s = np.cos(turn * np.pi / 3.0), np.sin(turn * np.pi / 3.0)
            ends = [(-0.05, -r), (0.05, -r), (0.05, r), (-0.05, r)]
            spots = [(x + a * c - b * s, lift + 0.004, z + a * s + b * c) for a, b in ends]
            truck.out.quad(spots, M.BLUE, mirror=True, outward=(0.0, 1.0, 0.0))
    truck.back((0.06, 0.72), (1.35, 1.95), truck.rear - 0.012, M.GLASS)
    truck.back((0.0, half), (1.02, 1.24), truck.rear - 0.010, M.ORANGE)
    truck.back((0.0, 0.012), (0.6, 2.1), truck.rear - 0.014, M.BLACK)
    truck.rear_lamps(truck.rear - 0.01, half - 0.42, 0.82)
    truck.out.box((truck.rear - 0.0, -half, 0.40), (truck.rear + 0.3, half, 0.52), M.GREY)
    for x in (truck.rear + 0.02, start + 0.36):
        for side in (-1.0, 1.0):
            y = side * (half - 0.22)
            truck.out.box((x, y - 0.18, top - 0.16), (x + 0.09, y + 0.18, top + 0.0), M.BEACON)
    x = start + 0.12
    truck.out.box(
        (x - 0.14, -0.75, top - 0.01), (x + 0.14, 0.75, top + 0.10), M.BEACON, taper=(0.8, 0.95)
    )
    add_mirrors(truck.out, shell, truck.half - shell.half_m, tall=True)
