"""Fittings of some vehicles: light bars, signs, rails, spare wheels and liveries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from jaywalk.server.sensors._materials import Material
from jaywalk.server.sensors.models.vehicles._fittings import end_patch, side_patch
from jaywalk.server.sensors.models.vehicles._shell import Shell
from jaywalk.server.sensors.models.vehicles._surfaces import Surfaces

M = Material


def _light_bar(out: Surfaces, shell: Shell) -> None:
    f = shell.shape.roof_front[0] + 0.06
    x, _, z = shell.roof(f, 0.0)
    wide = 0.82 * shell.roof(f, 1.0)[1]
    out.box((x - 0.14, -wide, z + 0.03), (x + 0.14, wide, z + 0.055), M.BLACK)
    out.box((x - 0.13, -wide, z + 0.055), (x + 0.13, -0.12, z + 0.13), M.BEACON, taper=(0.8, 0.95))
    out.box((x - 0.13, 0.12, z + 0.055), (x + 0.13, wide, z + 0.13), M.BEACON, taper=(0.8, 0.95))
    out.box((x - 0.11, -0.12, z + 0.055), (x + 0.11, 0.12, z + 0.12), M.WHITE)
    for side in (-0.5, 0.5):
        out.box((x - 0.05, side - 0.04, z - 0.02), (x + 0.05, side + 0.04, z + 0.04), M.BLACK)


def _taxi_sign(out: Surfaces, shell: Shell) -> None:
    f = 0.5 * (shell.shape.roof_front[0] + shell.shape.roof_rear[0])
    x, _, z = shell.roof(f, 0.0)
    out.box((x - 0.09, -0.3, z - 0.01), (x + 0.09, 0.3, z + 0.02), M.BLACK)
    out.box((x - 0.08, -0.28, z + 0.02), (x + 0.08, 0.28, z + 0.16), M.WHITE, taper=(0.5, 0.9))


def _checkers(out: Surfaces, shell: Shell) -> None:
    if shell.level == 2:
        return
    start, stop = shell.cowl + 0.03, shell.deck - 0.03
    count = 24 if shell.level == 0 else 12
    step = (stop - start) / count
    for k in range(0, count, 2):
        f = start + k * step
        z = shell.belt(f + 0.5 * step) - 0.2
        side_patch(out, shell, (f, f + step, z, z + 0.06), M.BLACK, steps=1)


def _push_bar(out: Surfaces, shell: Shell) -> None:
    x, _, z = shell.end(0.0, 0.25)
    _, _, high = shell.end(0.0, 0.9)
    x += 0.06
    for side in (0.28, 0.5):
        out.bar((x, side, z - 0.1), (x - 0.01, side, high), 0.022, M.BLACK, mirror=True)
    for height in (z, 0.5 * (z + high), high):
        out.bar((x, -0.5, height), (x, 0.5, height), 0.02, M.BLACK)


def _police_livery(out: Surfaces, shell: Shell) -> None:
    # A coloured band along the white doors and a badge on the front door.
    if shell.level == 2:
        return
    (start, stop) = shell.door_edges()[0][0], shell.door_edges()[-1][1]
    z = shell.belt(0.5) - 0.16
    side_patch(out, shell, (start, stop, z, z + 0.06), M.BLUE, lift=0.006, steps=5)
    middle = 0.5 * sum(shell.door_edges()[0])
    f = 0.1 / shell.long_m
    side_patch(out, shell, (middle - f, middle + f, z - 0.26, z - 0.06), M.YELLOW, lift=0.008)


def _search_lamp(out: Surfaces, shell: Shell) -> None:
    if shell.level:
        return
    x, y, z = shell.screen(-1.0, 0.25)
    out.bar((x - 0.05, y - 0.02, z), (x + 0.05, y - 0.02, z), 0.06, M.CHROME, sides=8)


def _rails(out: Surfaces, shell: Shell) -> None:
    if shell.level == 2:
        return
    f0, f1 = shell.shape.roof_front[0] + 0.05, shell.shape.roof_rear[0] - 0.02
    for a, b in ((f0, 0.5 * (f0 + f1)), (0.5 * (f0 + f1), f1)):
        start, stop = shell.roof(a, 0.9), shell.roof(b, 0.9)
        lift = 0.035
        out.bar(
            (start[0], start[1], start[2] + lift),
            (stop[0], stop[1], stop[2] + lift),
            0.016,
            M.GREY,
            sides=5,
            mirror=True,
        )


def _spare_wheel(out: Surfaces, shell: Shell) -> None:
    x, _, z = shell.end(0.0, 0.8, rear=True)
    r = shell.shape.wheel_m * 0.95
    sides = (20, 14, 8)[shell.level]
    profile = [(0.0, 0.0), (0.0, r), (0.14, r), (0.16, 0.75 * r), (0.15, 0.0)]
    kinds = [M.RUBBER, M.RUBBER, M.RUBBER, M.PLASTIC]
    out.lathe((x + 0.0, 0.0, z), (-1.0, 0.0, 0.0), profile, sides, kinds)


def _slots(out: Surfaces, shell: Shell) -> None:
    """Seven upright slots in the grille of a Jeep: bars of paint on the dark grille."""
    if shell.level == 2:
        return
    for k in range(-3, 3):
        u = (k + 0.5) * 0.105
        end_patch(
            out,
            shell,
            (u - 0.018, u + 0.018, 0.42, 0.88),
            M.PAINT,
            lift=0.02,
            mirror=False,
            steps=1,
        )


def _rear_doors(out: Surfaces, shell: Shell) -> None:
    """Joint and hinges of the doors at the rear of a panel van, and its small windows."""
    if shell.level == 2:
        return
    points = np.array([[shell.window(u, t) for u in (-0.008, 0.008)] for t in (0.0, 0.97)])
    points[..., 0] -= 0.012
    out.grid(points, M.PLASTIC, outward=(-1.0, 0.0, 0.0))
    end_patch(out, shell, (-0.008, 0.008, 0.2, 1.0), M.PLASTIC, rear=True, mirror=False, steps=1)
    panes = np.array([[shell.window(u, t) for u in (0.12, 0.78)] for t in (0.12, 0.5, 0.85)])
    panes[..., 0] -= 0.014
    out.grid(panes, M.GLASS, mirror=True, outward=(-1.0, 0.0, 0.0))


EXTRAS: Final[dict[str, Callable[[Surfaces, Shell], None]]] = {
    "light_bar": _light_bar,
    "taxi_sign": _taxi_sign,
    "checkers": _checkers,
    "push_bar": _push_bar,
    "police_livery": _police_livery,
    "search_lamp": _search_lamp,
    "rails": _rails,
    "spare_wheel": _spare_wheel,
    "slots": _slots,
    "rear_doors": _rear_doors,
    "tall_mirrors": lambda out, shell: None,
}
