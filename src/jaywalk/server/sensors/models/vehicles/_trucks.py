"""Trucks, the ambulance and the bus."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

import numpy as np

from jaywalk.server.sensors._materials import Material
from jaywalk.server.sensors.models.vehicles._emergency import ambulance, fire_engine
from jaywalk.server.sensors.models.vehicles._face import Face
from jaywalk.server.sensors.models.vehicles._fittings import (
    add_face,
    add_mirrors,
    side_patch,
)
from jaywalk.server.sensors.models.vehicles._motion import Joints
from jaywalk.server.sensors.models.vehicles._shell import Shell
from jaywalk.server.sensors.models.vehicles._surfaces import WHEELS, Surfaces
from jaywalk.server.sensors.models.vehicles._truck import CAB, Half, Truck, box_truck

M = Material


def _hgv(truck: Truck) -> None:
    shell = box_truck(truck, 2.15, 0.5, M.WHITE, 3.05)
    half = truck.half - 0.13
    # Wind deflector above the cab, sun visor, stripe of the haulier along the box.
    x0, x1 = shell.x(0.95), shell.x(0.30)
    top = truck.height - 0.05
    points = np.array(
        [[(x1, u * half * 0.8, 2.98), (x0, u * half * 0.92, top)] for u in (-1.0, 0.0, 1.0)]
    )
    points[1, 0, 0] += 0.12
    truck.out.grid(points, M.PAINT, outward=(0.6, 0.0, 1.0))
    for side in (-1.0, 1.0):
        face = [(x1, side * half * 0.8, 2.96), (x0, side * half * 0.92, 2.96)]
        face += [(x0, side * half * 0.92, top), (x0, side * half * 0.92, top)]
        truck.out.quad(face, M.PAINT, outward=(0.0, side, 0.0))
    start, stop = truck.front - 2.5, truck.rear + 0.4
    truck.panel((stop, start), (1.55, 1.95), half + 0.014, M.PAINT)
    truck.panel((stop, start), (2.0, 2.12), half + 0.014, M.PAINT_2)


def _cola(truck: Truck) -> None:
    box_truck(truck, 1.55, 0.40, M.PAINT, 2.18)
    half = truck.half - 0.13
    start, stop = truck.front - 1.85, truck.rear + 0.15
    # A white wave along the box, above it crates behind a shutter.
    if truck.level < 2:
        x = np.linspace(start, stop, 9)
        wave = 1.28 + 0.14 * np.sin(np.linspace(0.0, 2.0 * np.pi, 9))
        thick = 0.12 + 0.1 * np.sin(np.linspace(0.0, np.pi, 9))
        y = np.full(9, half + 0.014)
        points = np.stack([np.stack([x, y, wave], -1), np.stack([x, y, wave + thick], -1)])
        truck.out.grid(points, M.PAINT_2, mirror=True, outward=(0.0, 1.0, 0.0))
        truck.panel((stop, start), (2.2, 2.26), half + 0.014, M.PAINT_2)


def _bus(truck: Truck) -> None:
    half, wheel, top = truck.half - 0.26, 0.60, truck.height - 0.22
    pillars = tuple(0.155 + 0.1365 * k for k in range(6))
    shape = replace(
        CAB,
        cowl=(0.0, 0.40),
        roof_front=(0.035, 0.93),
        roof_rear=(0.985, 0.95),
        deck=(1.0, 0.44),
        tail=0.44,
        nose=0.40,
        axles=(0.20, 0.75),
        wheel_m=wheel,
        clearance_m=0.42,
        pillars=pillars,
        blind=(),
        rear_glass=True,
        front_bow_m=0.36,
        rear_bow_m=0.12,
        roof_width=0.90,
        roof_crown_m=0.16,
        taper=(0.06, 0.03),
        upper=M.BLACK,
        pillar_m=(0.12, 0.25),
        low=M.PAINT,
    )
    face = Face(
        head=(0.60, 0.96, 0.30, 0.52),
        blinker=(0.96, 1.0, 0.32, 0.5),
        grille=(0.0, 0.5, 0.34, 0.48),
        frame=M.CHROME,
        bars=1,
        intake=(0.0, 0.6, 0.06, 0.2),
        tail=(0.84, 0.97, 0.30, 0.66),
        plate=(0.25, 0.32),
        bumper=M.PAINT,
        handles=M.BLACK,
    )
    shell = Shell(shape, truck.front, truck.rear, half, top, truck.level)
    shell.build(truck.out)
    add_face(truck.out, shell, face)
    for axle, part in ((0.20, WHEELS[1]), (0.75, WHEELS[3])):
        y = shell.side(axle, wheel)[1] - 0.04
        truck.axle(shell.x(axle), y, wheel, 0.4, part)
    # Destination sign, folding door with glass behind the front axle, stripe, air conditioning.
    points = np.array([[shell.screen(u, t) for u in (-0.55, 0.0, 0.55)] for t in (0.86, 0.99)])
    points[..., 0] += 0.02
    truck.out.grid(points, M.BLACK, outward=(1.0, 0.0, 0.0))
    letters = np.array([[shell.screen(u, t) for u in (-0.4, 0.0, 0.4)] for t in (0.90, 0.95)])
    letters[..., 0] += 0.03
    truck.out.grid(letters, M.YELLOW, outward=(1.0, 0.0, 0.0))
    z = shell.belt(0.5)
    side_patch(truck.out, shell, (0.02, 0.985, z - 0.32, z - 0.14), M.PAINT_2, lift=0.02, steps=10)
    low = shell.shape.clearance_m
    # A folding door of glass with a dark frame behind the front axle, up to above the belt.
    for first in (0.272, 0.322):
        frame = (first, first + 0.048, low + 0.04, z)
        side_patch(truck.out, shell, frame, M.BLACK, lift=0.012)
        pane = (first + 0.006, first + 0.042, low + 0.2, z)
        side_patch(truck.out, shell, pane, M.GLASS, lift=0.018)
    # Windscreen in two panes, and wipers.
    post = np.array([[shell.screen(u, t) for u in (-0.015, 0.015)] for t in (0.0, 0.5, 0.86)])
    post[..., 0] += 0.02
    truck.out.grid(post, M.BLACK, outward=(1.0, 0.0, 0.0))
    for u in (-0.6, 0.25) if truck.level == 0 else ():
        start, stop = shell.screen(u, 0.02), shell.screen(u + 0.32, 0.3)
        ends = [(x + 0.05, y, z) for x, y, z in (start, stop)]
        truck.out.bar(ends[0], ends[1], 0.02, M.BLACK, sides=4)
    x = shell.x(0.45)
    truck.out.box(
        (x - 1.5, -0.8, top - 0.12), (x + 1.5, 0.8, truck.height), M.WHITE, taper=(0.85, 0.85)
    )
    add_mirrors(truck.out, shell, truck.half - half, tall=True)


TRUCKS: Final[dict[str, Callable[[Truck], object]]] = {
    "carlamotors.carlacola": _cola,
    "carlamotors.european_hgv": _hgv,
    "carlamotors.firetruck": fire_engine,
    "ford.ambulance": ambulance,
    "mitsubishi.fusorosa": _bus,
}


def build_truck(name: str, half_m: Half, middle_m: float, level: int) -> tuple[Surfaces, Joints]:
    """Return the surfaces of a truck, ambulance or bus and the places about which parts turn."""
    truck = Truck(half_m, middle_m, level)
    TRUCKS[name](truck)
    return truck.out, truck.joints()
