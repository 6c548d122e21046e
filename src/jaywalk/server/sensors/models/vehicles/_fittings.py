"""Wheels, lamps, grilles, plates, mirrors and other fittings of vehicles with a shell."""

from __future__ import annotations

from typing import Final

import numpy as np

from jaywalk.server.sensors._materials import Material
from jaywalk.server.sensors.models.vehicles._face import Area, Face
from jaywalk.server.sensors.models.vehicles._shell import Shell
from jaywalk.server.sensors.models.vehicles._surfaces import BODY, DOORS, WHEELS, Surfaces

M = Material
_SIDES: Final = (18, 12, 8)
_SPOKES: Final = 5


def end_patch(
    out: Surfaces,
    shell: Shell,
    area: Area,
    material: int,
    *,
    rear: bool = False,
    mirror: bool = True,
    lift: float = 0.012,
    steps: int = 3,
) -> None:
    """Add a sheet that follows the front or the rear."""
    u0, u1, low, high = area
    steps = steps if shell.level == 0 else 1
    across, up = np.linspace(u0, u1, steps + 1), shell.heights(low, high)
    points = np.array([[shell.end(u, s, rear=rear, lift=lift) for u in across] for s in up])
    to = (-1.0 if rear else 1.0, 0.0, 0.0)
    out.grid(points, material, mirror=mirror, outward=to)


def end_disc(
    out: Surfaces,
    shell: Shell,
    place: tuple[float, float],
    radius_m: float,
    material: int,
    *,
    rear: bool = False,
    lift: float = 0.015,
) -> None:
    """Add a round lamp on the right side of the front or the rear, and its mirror image."""
    x, y, z = shell.end(*place, rear=rear)
    way = -1.0 if rear else 1.0
    profile = [(-0.08, radius_m), (lift, radius_m), (lift + 0.25 * radius_m, 0.0)]
    sides = _SIDES[shell.level] // 2
    out.lathe((x, y, z), (way, 0.0, 0.0), profile, sides, [M.CHROME, material], mirror=True)


def side_patch(
    out: Surfaces,
    shell: Shell,
    area: Area,
    material: int,
    *,
    lift: float = 0.012,
    steps: int = 2,
    part: int = BODY,
) -> None:
    """Add a sheet on both sides; the area is places along the length and heights in metres."""
    f0, f1, low, high = area
    ground = shell.shape.clearance_m
    tall = shell.belt(0.5 * (f0 + f1)) - ground
    up = shell.heights((low - ground) / tall, (high - ground) / tall)
    points = np.array(
        [[_beside(shell, f, s, lift) for f in np.linspace(f0, f1, steps + 1)] for s in up]
    )
    out.grid(points, material, mirror=True, outward=(0.0, 1.0, 0.0), part=part)


def _beside(shell: Shell, f: float, share: float, lift: float) -> tuple[float, float, float]:
    low = shell.shape.clearance_m
    return shell.side(f, low + share * (shell.belt(f) - low), lift)


def add_face(out: Surfaces, shell: Shell, face: Face, *, rear: bool = True) -> None:
    """Add lamps, grille, intake, bumpers and plates; without ``rear``, those of the front only."""
    ends = (False, True) if rear else (False,)
    low, high = shell.shape.clearance_m, shell.belt(shell.first)
    tall = high - low
    level = shell.level
    if level < 2 and face.bumper != M.PAINT:
        for aft in ends:
            end_patch(out, shell, (0.0, 1.0, 0.12, 0.40), face.bumper, rear=aft, lift=0.03, steps=4)
            f = shell.last if aft else shell.first
            run = (f - 0.028, f) if aft else (f, f + 0.028)
            z0, z1 = low + 0.12 * tall, low + 0.40 * tall
            side_patch(out, shell, (*run, z0, z1), face.bumper, lift=0.03)
    if face.grille[1] > 0.0:
        u0, u1, s0, s1 = face.grille
        if level < 2:
            rim = (u0, u1 + 0.03, s0 - 0.025, s1 + 0.025)
            end_patch(out, shell, rim, face.frame, lift=0.008)
        end_patch(out, shell, face.grille, face.grille_material, lift=0.012)
        for k in range(face.bars if level == 0 else 0):
            s = s0 + (k + 1.0) / (face.bars + 1.0) * (s1 - s0)
            end_patch(out, shell, (u0, u1, s - 0.012, s + 0.012), face.frame, lift=0.016)
    if face.intake[1] > 0.0 and level < 2:
        end_patch(out, shell, face.intake, M.BLACK, lift=0.034 if face.bumper != M.PAINT else 0.012)
    _add_head_lamps(out, shell, face)
    if rear:
        _add_tail_lamps(out, shell, face)
    for aft in ends:
        s = face.plate[1 if aft else 0]
        if s:
            _add_plate(out, shell, s, rear=aft)


def _add_head_lamps(out: Surfaces, shell: Shell, face: Face) -> None:
    u0, u1, s0, s1 = face.head
    if face.head_round:
        middle = 0.5 * (u0 + u1), 0.5 * (s0 + s1)
        end_disc(out, shell, middle, 1.12 * face.head_round, M.CHROME)
        end_disc(out, shell, middle, face.head_round, M.HEAD_LAMP, lift=0.03)
    else:
        end_patch(out, shell, face.head, M.HEAD_LAMP)
        if u1 >= 0.99 and shell.level < 2:
            low, high = _heights(shell, shell.first, s0, s1)
            wrap = 0.30 * (s1 - s0) / shell.long_m * 3.0
            side_patch(out, shell, (shell.first, shell.first + wrap, low, high), M.HEAD_LAMP)
    if shell.level < 2:
        end_patch(out, shell, face.blinker, M.BLINKER_RIGHT, lift=0.02)
        if face.blinker[1] >= 0.99:
            low, high = _heights(shell, shell.first, *face.blinker[2:])
            wrap = 0.12 / shell.long_m
            area = shell.first, shell.first + wrap, low, high
            side_patch(out, shell, area, M.BLINKER_RIGHT, lift=0.02)


def _add_tail_lamps(out: Surfaces, shell: Shell, face: Face) -> None:
    u0, u1, s0, s1 = face.tail
    if face.tail_round:
        step = 2.3 * face.tail_round / shell.half_m
        u, s = 0.5 * (u0 + u1), 0.5 * (s0 + s1)
        end_disc(out, shell, (u, s), face.tail_round, M.BRAKE_LAMP, rear=True, lift=0.03)
        end_disc(out, shell, (u - step, s), face.tail_round, M.TAIL_LAMP, rear=True, lift=0.03)
    else:
        middle = 0.45 * s0 + 0.55 * s1
        end_patch(out, shell, (u0, u1, middle, s1), M.TAIL_LAMP, rear=True)
        inner = u0 + face.tail_blinker * (u1 - u0)
        end_patch(out, shell, (inner, u1, s0, middle), M.BRAKE_LAMP, rear=True)
        if shell.level < 2:
            half = 0.5 * (u0 + inner)
            end_patch(out, shell, (u0, half, s0, middle), M.REVERSE_LAMP, rear=True)
            end_patch(out, shell, (half, inner, s0, middle), M.BLINKER_RIGHT, rear=True)
        if u1 >= 0.99 and shell.level < 2:
            low, high = _heights(shell, shell.last, s0, s1)
            wrap = 0.2 / shell.long_m
            side_patch(out, shell, (shell.last - wrap, shell.last, low, high), M.TAIL_LAMP)
    if shell.level < 2 and shell.shape.rear_glass:
        points = np.array([[shell.window(u, t) for u in (-0.2, 0.2)] for t in (0.95, 0.99)])
        points[..., 0] -= 0.012
        out.grid(points, M.BRAKE_LAMP, outward=(-1.0, 0.0, 0.0))
    if face.tail_round or face.tail_blinker <= 0.0:
        end_patch(out, shell, (u0, u1, s0 - 0.1, s0 - 0.03), M.BLINKER_RIGHT, rear=True, lift=0.035)
        area = (u0 - 0.18, u0, s0 - 0.1, s0 - 0.03)
        end_patch(out, shell, area, M.REVERSE_LAMP, rear=True, lift=0.035)


def _heights(shell: Shell, f: float, s0: float, s1: float) -> tuple[float, float]:
    low = shell.shape.clearance_m
    tall = shell.belt(f) - low
    return low + s0 * tall, low + s1 * tall


def _add_plate(out: Surfaces, shell: Shell, share: float, *, rear: bool) -> None:
    x, _, z = shell.end(0.0, share, rear=rear, lift=0.045)
    way = -1.0 if rear else 1.0
    wide, high = 0.26, 0.057
    for k, (material, y, dz) in enumerate(
        ((M.BLACK, wide + 0.012, high + 0.012), (M.PLATE, wide, high))
    ):
        at = x + way * 0.006 * k
        corners = [(at, -y, z - dz), (at, y, z - dz), (at, y, z + dz), (at, -y, z + dz)]
        out.quad(corners, material, outward=(way, 0.0, 0.0))
    at = x + way * 0.012
    for k in range(7 if shell.level == 0 else 0):
        if k == 3:
            continue
        y, dz = -0.2 + k * 0.0667, 0.032
        corners = [(at, y - 0.02, z - dz), (at, y + 0.02, z - dz)]
        corners += [(at, y + 0.02, z + dz), (at, y - 0.02, z + dz)]
        out.quad(corners, M.BLACK, outward=(way, 0.0, 0.0))


def add_wheel(
    out: Surfaces,
    centre: tuple[float, float, float],
    radius_m: float,
    width_m: float,
    part: int,
    level: int,
    *,
    rim: int = M.RIM,
    hole: int = M.BLACK,
    mirror: bool = True,
) -> None:
    """Add a right wheel whose outer side is at ``centre``, and the left one."""
    r, w = radius_m, width_m
    sides = _SIDES[level]
    tyre = [
        (-w, 0.0),
        (-w, 0.93 * r),
        (-0.8 * w, r),
        (-0.12 * w, r),
        (0.0, 0.92 * r),
        (0.0, 0.69 * r),
    ]
    if level:
        tyre = [(-w, r), (-0.05 * w, r), (0.0, 0.69 * r)]
    axis = (0.0, 1.0, 0.0)
    out.lathe(centre, axis, tyre, sides, M.RUBBER, part=part, mirror=mirror)
    if level == 2:
        disc = [(0.0, 0.69 * r), (-0.02, 0.0)]
        out.lathe(centre, axis, disc, sides, rim, part=part, mirror=mirror)
        return
    count = 4 * _SPOKES if level == 0 else sides
    disc = [(0.0, 0.69 * r), (-0.05, 0.58 * r), (-0.02, 0.22 * r), (0.0, 0.0)]
    kinds = np.full((3, count), rim)
    kinds[1] = np.where(np.arange(count) % (count // _SPOKES) < count // _SPOKES / 2, rim, hole)
    out.lathe(centre, axis, disc, count, kinds, part=part, mirror=mirror)


def add_wheels(
    out: Surfaces, shell: Shell, width_m: float, *, rim: int = M.RIM, inset_m: float = 0.02
) -> None:
    """Add the four wheels of a shell."""
    s = shell.shape
    for axle, part in zip(s.axles, (WHEELS[1], WHEELS[3]), strict=True):
        place = shell.x(axle), wheel_side(shell, axle, inset_m), s.wheel_m
        add_wheel(out, place, s.wheel_m, width_m, part, shell.level, rim=rim)


def wheel_side(shell: Shell, axle: float, inset_m: float = 0.02) -> float:
    """Return the coordinate y of the outer side of a right wheel."""
    return shell.side(axle, shell.shape.wheel_m + shell.arch_m)[1] - inset_m


def add_mirrors(out: Surfaces, shell: Shell, reach_m: float, *, tall: bool = False) -> None:
    """Add mirrors that stand out by ``reach_m`` from the widest place of the body."""
    s = shell.shape
    f = shell.cowl + 0.35 * (s.roof_front[0] - shell.cowl) + 0.01
    x, z = shell.x(f), shell.belt(f) + (0.20 if tall else 0.02)
    inner, outer = shell.half(f, 1.0) - 0.01, shell.half_m + reach_m
    part = DOORS[1] if s.doors else BODY
    start = max(inner + 0.02, outer - 0.24)
    high = 0.34 if tall else 0.14
    long = 0.10 if shell.level else 0.12
    shade = M.PLASTIC if tall else M.PAINT
    low_corner, top = (x - long, start, z), (x + 0.02, outer, z + high)
    out.box(low_corner, top, shade, part=part, mirror=True, taper=(0.7, 1.0))
    if shell.level == 0:
        back = x - long - 0.004
        corners = [(back, start + 0.015, z + 0.015), (back, outer - 0.015, z + 0.015)]
        corners += [(back + 0.01, outer - 0.015, z + high - 0.02)]
        corners += [(back + 0.01, start + 0.015, z + high - 0.02)]
        out.quad(corners, M.GLASS, part=part, mirror=True, outward=(-1.0, 0.0, 0.0))
    if start > inner + 0.03:
        foot = (x - 0.06, inner - 0.04, z - 0.01 if not tall else z + 0.1)
        arm = (x - 0.03, start + 0.02, foot[2] + 0.03)
        out.box(foot, arm, M.PLASTIC, part=part, mirror=True)


def add_handles(out: Surfaces, shell: Shell, material: int) -> None:
    """Add the handles of the doors."""
    if shell.level:
        return
    for number, (_, stop) in enumerate(shell.door_edges()):
        f = stop - 0.05
        z = shell.belt(f) - 0.10
        area = (f - 0.02, f + 0.018, z - 0.015, z + 0.015)
        side_patch(out, shell, area, material, lift=0.025, steps=1, part=DOORS[2 * number + 1])
