"""Light of lamps at night: headlamps, street lamps, traffic lights and the lamps of vehicles.

A lamp lights the surfaces around it and glows in pictures. Lamps cast no shadows. By day they light
nothing.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.carla_enums import LightState, VehicleLight
from jaywalk.server.sensors._nearby import Cells, index_discs
from jaywalk.server.sensors._rows import Row
from jaywalk.server.sensors._solids import kernel
from jaywalk.server.sensors._visibility import GROUND, NEAR_M, SKY, CameraView
from jaywalk.server.sensors._weather import SceneLight

Values = NDArray[np.float64]

# Columns of lamps: place, direction, cosine of half the cone (-1: all around), reach in metres,
# light at 1 m (red, green, blue), radius in metres of what is seen of the lamp.
X, DIRECTION, CONE, REACH, LIGHT, SIZE, COLUMNS = 0, 3, 6, 7, 8, 11, 12
_CELL_M: Final = 4.0
_SIDE: Final = 48
_WET_REACH_M: Final = 34.0  # of reflections on wet ground
_ROUGH, _ROAD_ROUGH = 0.12, 0.35
_GLOW_M: Final = 160.0  # farther lamps do not glow
_MOST_GLOW_PX: Final = 0.12  # share of the picture's width

_BLINKS_PER_S: Final = 1.5
_FLASHES_PER_S: Final = 2.0
_LEFT, _RIGHT = int(VehicleLight.LEFT_BLINKER), int(VehicleLight.RIGHT_BLINKER)
_FIRST_BLUE, _SECOND_BLUE = int(VehicleLight.SPECIAL1), int(VehicleLight.SPECIAL2)


class LampSpec(NamedTuple):
    """One kind of lamp of a vehicle."""

    bits: int
    ahead: float  # place, in shares of the half length, of the half width, and of the height
    aside: tuple[float, ...]
    high: float
    forward: float  # 1: shines ahead, -1: back, 0: all around
    cone_deg: float
    reach_m: float
    light: tuple[float, float, float]
    size_m: float


_VEHICLE_LAMPS: Final = (
    LampSpec(
        int(VehicleLight.LOW_BEAM), 0.98, (-0.7, 0.7), 0.42, 1.0, 34.0, 46.0, (8.5, 8.0, 7.0), 0.3
    ),
    LampSpec(
        int(VehicleLight.HIGH_BEAM), 0.98, (-0.7, 0.7), 0.42, 1.0, 22.0, 90.0, (26, 25, 22), 0.4
    ),
    LampSpec(
        int(VehicleLight.POSITION), 0.98, (-0.7, 0.7), 0.42, 1.0, 80.0, 5.0, (0.25, 0.24, 0.2), 0.14
    ),
    LampSpec(
        int(VehicleLight.POSITION | VehicleLight.LOW_BEAM | VehicleLight.HIGH_BEAM),
        -0.98, (-0.75, 0.75), 0.5, -1.0, 80.0, 4.0, (0.06, 0.003, 0.002), 0.14,
    ),
    LampSpec(
        int(VehicleLight.BRAKE), -0.98, (-0.75, 0.75), 0.5, -1.0, 80.0, 7.0, (0.22, 0.01, 0.01), 0.3
    ),
    LampSpec(
        int(VehicleLight.REVERSE), -0.98, (-0.6, 0.6), 0.45, -1.0, 70.0, 8.0, (0.6, 0.6, 0.55), 0.2
    ),
    LampSpec(_LEFT, 0.95, (-0.95,), 0.45, 0.0, 180.0, 4.0, (0.16, 0.07, 0.006), 0.18),
    LampSpec(_LEFT, -0.95, (-0.95,), 0.5, 0.0, 180.0, 4.0, (0.16, 0.07, 0.006), 0.18),
    LampSpec(_RIGHT, 0.95, (0.95,), 0.45, 0.0, 180.0, 4.0, (0.16, 0.07, 0.006), 0.18),
    LampSpec(_RIGHT, -0.95, (0.95,), 0.5, 0.0, 180.0, 4.0, (0.16, 0.07, 0.006), 0.18),
    LampSpec(_FIRST_BLUE, 0.15, (-0.5,), 1.02, 0.0, 180.0, 16.0, (0.08, 0.3, 3.2), 0.4),
    LampSpec(_SECOND_BLUE, 0.15, (0.5,), 1.02, 0.0, 180.0, 16.0, (0.08, 0.3, 3.2), 0.4),
)  # fmt: skip
_SIGNALS: Final = {
    int(LightState.RED): (0.34, (0.26, 0.012, 0.008)),
    int(LightState.YELLOW): (0.0, (0.24, 0.124, 0.01)),
    int(LightState.GREEN): (-0.34, (0.012, 0.22, 0.11)),
}
_LENS_M: Final = 0.16  # from the middle of a head to its lenses
_STREET: Final = (5.0, 4.3, 3.2)  # light of a street lamp, 1 m below it
_STREET_REACH_M: Final = 24.0


def no_lamps() -> Values:
    """Return the table of a scene without lamps."""
    return np.zeros((0, COLUMNS))


def shown_bits(flags: NDArray[np.uint32], time_s: float) -> NDArray[np.uint32]:
    """Return the lamps that are lit at a moment: blinkers and blue lights go on and off."""
    hidden = 0
    if math.floor(2.0 * _BLINKS_PER_S * time_s + 1e-6) % 2:
        hidden |= _LEFT | _RIGHT
    hidden |= _FIRST_BLUE if math.floor(2.0 * _FLASHES_PER_S * time_s + 1e-6) % 2 else _SECOND_BLUE
    return flags & np.uint32(~hidden & 0xFFFFFFFF)


def vehicle_lamps(table: NDArray[np.void], time_s: float) -> Values:
    """Return the lamps of rows of the actor table."""
    table = table[(table["light_flags"] != 0) & (table["id"] != 0)]
    flags = shown_bits(table["light_flags"], time_s)
    cos, sin = np.cos(table["yaw"]), np.sin(table["yaw"])
    cp, sp = np.cos(table["pitch"]), np.sin(table["pitch"])
    made = [no_lamps()]
    for spec in _VEHICLE_LAMPS:
        on = flags & np.uint32(spec.bits) != 0
        if not on.any():
            continue
        rows, c, s, level, rise = table[on], cos[on], sin[on], cp[on], sp[on]
        for aside in spec.aside:
            out = np.zeros((len(rows), COLUMNS))
            # Lamps of tall bodies are in their lower part.
            high = np.minimum(2.0 * rows["ez"] * spec.high, 1.0 if spec.high < 1.0 else 9.0)
            ahead, right = rows["cx"] + spec.ahead * rows["ex"], rows["cy"] + aside * rows["ey"]
            up = rows["cz"] - rows["ez"] + high
            flat = ahead * level - up * rise
            out[:, X] = rows["x"] + c * flat - s * right
            out[:, X + 1] = rows["y"] + s * flat + c * right
            out[:, X + 2] = rows["z"] + ahead * rise + up * level
            out[:, DIRECTION] = spec.forward * c * level
            out[:, DIRECTION + 1] = spec.forward * s * level
            out[:, DIRECTION + 2] = spec.forward * rise - 0.03 * abs(spec.forward)
            out[:, CONE] = math.cos(math.radians(spec.cone_deg))
            out[:, REACH] = spec.reach_m
            out[:, LIGHT : LIGHT + 3] = spec.light
            out[:, SIZE] = spec.size_m
            made.append(out)
    return np.concatenate(made)


def signal_lamps(signals: Values) -> Values:
    """Return the lamps of traffic lights: x, y, z, heading of the lane's right, state."""
    made = [no_lamps()]
    for state, (up, light) in _SIGNALS.items():
        mine = signals[signals[:, 4] == state]
        out = np.zeros((len(mine), COLUMNS))
        face = mine[:, 3] + 0.5 * math.pi
        reach = _LENS_M
        out[:, X], out[:, X + 1] = (
            mine[:, 0] + reach * np.cos(face),
            mine[:, 1] + reach * np.sin(face),
        )
        out[:, X + 2] = mine[:, 2] + up
        out[:, DIRECTION], out[:, DIRECTION + 1] = np.cos(face), np.sin(face)
        out[:, CONE], out[:, REACH] = math.cos(math.radians(75.0)), 10.0
        out[:, LIGHT : LIGHT + 3], out[:, SIZE] = light, 0.42
        made.append(out)
    return np.concatenate(made)


def street_lamps(places_m: Values, color: Values) -> Values:
    """Return the lamps on posts whose tops are given, with colours of which 1 is the usual."""
    out = np.zeros((len(places_m), COLUMNS))
    out[:, X : X + 3] = places_m
    out[:, X + 2] -= 0.05
    out[:, DIRECTION + 2] = -1.0
    out[:, CONE], out[:, REACH], out[:, SIZE] = -0.2, _STREET_REACH_M, 0.6
    out[:, LIGHT : LIGHT + 3] = np.array(_STREET) * color
    return out


class Lamplight(NamedTuple):
    """Lamps near a camera, for kernels."""

    lamps: Values  # (n, COLUMNS)
    cells: Cells
    glows: Values  # (m, 6): column and row in the picture, radius in pixels, red, green, blue


def lamps_near(lamps: Values, eye: tuple[float, float, float], light: SceneLight) -> Lamplight:
    """Return the lamps that light the surroundings of a camera; none by day."""
    half = 0.5 * _SIDE * _CELL_M
    if light.dark <= 0.01:
        lamps = no_lamps()
    reach = lamps[:, REACH] + (light.wet > 0.05) * np.maximum(_WET_REACH_M - lamps[:, REACH], 0.0)
    near = (np.abs(lamps[:, X] - eye[0]) < half + reach) & (
        np.abs(lamps[:, 1] - eye[1]) < half + reach
    )
    lamps, reach = lamps[near], reach[near]
    # A cone lights what lies before it: its disc lies there too.
    shift = np.where(lamps[:, CONE] > 0.5, 0.5 * reach, 0.0)
    x = lamps[:, X] + shift * lamps[:, DIRECTION]
    y = lamps[:, X + 1] + shift * lamps[:, DIRECTION + 1]
    reach = np.where(shift > 0.0, 0.62 * reach, reach)
    return Lamplight(lamps, index_discs(x, y, reach, eye[:2], _CELL_M, _SIDE), np.zeros((0, 6)))


@kernel
def glows_of(
    lamps: Values,
    view: CameraView,
    inverse_depth: NDArray[np.float32],
    strength: float,
    out: Values,
) -> int:
    """Write the glows of the lamps that the camera sees; return their number."""
    count = 0
    for k in range(len(lamps)):
        px = lamps[k, 0] - view.origin[0]
        py = lamps[k, 1] - view.origin[1]
        pz = lamps[k, 2] - view.origin[2]
        x = view.axes[0, 0] * px + view.axes[0, 1] * py + view.axes[0, 2] * pz
        if x < 0.5 or x > _GLOW_M:
            continue
        far = math.sqrt(px * px + py * py + pz * pz)
        facing = 1.0
        if lamps[k, CONE] > -0.9:
            facing = -(lamps[k, 3] * px + lamps[k, 4] * py + lamps[k, 5] * pz) / far
            facing = 0.5 + 0.5 * facing if lamps[k, CONE] < 0.0 else facing
            if facing <= 0.05:
                continue
        u = 0.5 * view.width + view.focal_px * (
            (view.axes[1, 0] * px + view.axes[1, 1] * py + view.axes[1, 2] * pz) / x
        )
        v = 0.5 * view.height - view.focal_px * (
            (view.axes[2, 0] * px + view.axes[2, 1] * py + view.axes[2, 2] * pz) / x
        )
        # What part of the lamp is not hidden: five places on it.
        seen, inside = 0, 0
        spread = max(0.25 * lamps[k, SIZE] * view.focal_px / x, 0.5)
        for tap in range(5):
            i = math.floor(u + (spread if tap == 1 else -spread if tap == 2 else 0.0))
            j = math.floor(v + (spread if tap == 3 else -spread if tap == 4 else 0.0))
            if 0 <= i < view.width and 0 <= j < view.height:
                inside += 1
                if inverse_depth[j, i] <= 1.0 / max(x - 0.7, NEAR_M):
                    seen += 1
        if seen == 0:
            continue
        radius = 3.2 * lamps[k, SIZE] * view.focal_px / x + 3.0
        radius = min(radius, _MOST_GLOW_PX * view.width)
        most = max(lamps[k, LIGHT], lamps[k, LIGHT + 1], lamps[k, LIGHT + 2], 1e-6)
        bright = strength * facing * seen / inside * min(45.0 / (far + 12.0), 1.0)
        out[count, 0], out[count, 1], out[count, 2] = u, v, radius
        for m in range(3):
            out[count, 3 + m] = bright * lamps[k, LIGHT + m] / most
        count += 1
    return count


@kernel
def glow_row(glows: Values, v: int, row: Row) -> None:
    """Add the glows to a row of lit pixels."""
    width = len(row.red)
    middle = v + 0.5
    for k in range(len(glows)):
        radius = glows[k, 2]
        dv = middle - glows[k, 1]
        if abs(dv) >= radius:
            continue
        half = math.sqrt(radius * radius - dv * dv)
        first, last = max(0, math.ceil(glows[k, 0] - half)), min(width, int(glows[k, 0] + half) + 1)
        scale = 1.0 / (radius * radius)
        for u in range(first, last):
            du = u + 0.5 - glows[k, 0]
            q = min((du * du + dv * dv) * scale, 1.0)
            share = (1.0 - q) * (1.0 - q) * 0.03 / (0.02 + q)
            row.red[u] += share * glows[k, 3]
            row.green[u] += share * glows[k, 4]
            row.blue[u] += share * glows[k, 5]


@kernel
def lamp_row(near: Lamplight, light: SceneLight, surface: NDArray[np.int32], row: Row) -> None:
    """Write the light of lamps on the pixels of a row."""
    lamps = near.lamps
    x0, y0, cell_m, side, starts, items = near.cells
    scale = 1.0 / cell_m
    wet = light.wet > 0.05
    for u in range(len(surface)):
        row.lamp_red[u] = row.lamp_green[u] = row.lamp_blue[u] = 0.0
        if surface[u] == SKY or len(lamps) == 0:
            continue
        x, y, z = row.x[u], row.y[u], row.z[u]
        i, j = math.floor((x - x0) * scale), math.floor((y - y0) * scale)
        if i < 0 or j < 0 or i >= side or j >= side:
            continue
        cell = j * side + i
        nx, ny, nz = row.nx[u], row.ny[u], row.nz[u]
        rough = _ROAD_ROUGH if surface[u] == GROUND else _ROUGH
        red, green, blue = 0.0, 0.0, 0.0
        for index in range(starts[cell], starts[cell + 1]):
            k = items[index]
            px, py, pz = lamps[k, 0] - x, lamps[k, 1] - y, lamps[k, 2] - z
            square = px * px + py * py + pz * pz
            reach = lamps[k, REACH]
            if square >= reach * reach:
                continue
            one = 1.0 / math.sqrt(square + 1e-6)
            ahead = -(lamps[k, 3] * px + lamps[k, 4] * py + lamps[k, 5] * pz) * one
            cone = lamps[k, CONE]
            beam = 1.0
            if cone > -0.9:
                beam = min(max((ahead - cone) / (1.0 - cone), 0.0), 1.0)
                if beam <= 0.0:
                    continue
                beam = beam * (2.0 - beam)
            # Rough surfaces throw light back at grazing angles too, roads most of all.
            facing = (nx * px + ny * py + nz * pz) * one
            facing = (facing + rough) / (1.0 + rough)
            if facing <= 0.0:
                continue
            edge = 1.0 - square / (reach * reach)
            value = beam * facing * edge * edge / (square + lamps[k, SIZE])
            red += value * lamps[k, LIGHT]
            green += value * lamps[k, LIGHT + 1]
            blue += value * lamps[k, LIGHT + 2]
        row.lamp_red[u], row.lamp_green[u], row.lamp_blue[u] = red, green, blue
        if wet and surface[u] == GROUND and row.rough[u] < 0.6:
            _mirror(lamps, items, starts[cell], starts[cell + 1], light.exposure, row, u)


@kernel
def _mirror(
    lamps: Values,
    items: NDArray[np.int32],
    first: int,
    last: int,
    exposure: float,
    row: Row,
    u: int,
) -> None:
    """Add what wet ground mirrors of lamps, as light of its own."""
    x, y, z = row.x[u], row.y[u], row.z[u]
    dx, dy, dz = row.dx[u], row.dy[u], row.dz[u]
    grazing = 1.0 - min(max(-dz, 0.0), 1.0)
    five = grazing * grazing
    five = five * five * grazing
    rough = row.rough[u]
    wide = 0.0006 + 0.05 * rough * rough
    share = (0.03 + 0.97 * five) * (1.0 - rough)
    for index in range(first, last):
        k = items[index]
        px, py, pz = lamps[k, 0] - x, lamps[k, 1] - y, lamps[k, 2] - z
        square = px * px + py * py + pz * pz
        if square > _WET_REACH_M * _WET_REACH_M:
            continue
        one = 1.0 / math.sqrt(square + 1e-6)
        # Ripples smear the mirror image along the ray much more than across it.
        across = (dx * py - dy * px) * one
        along = dx * px + dy * py
        if along <= 0.0:
            continue
        up = pz * one + dz
        miss = across * across * 8.0 + up * up * 0.35
        spot = wide / (wide + miss)
        back = -(lamps[k, 3] * px + lamps[k, 4] * py + lamps[k, 5] * pz) * one
        cone = lamps[k, CONE]
        beam = 1.0 if cone < -0.9 else min(max((back + 0.3) / 1.3, 0.0), 1.0)
        fade = 1.0 - square / (_WET_REACH_M * _WET_REACH_M)
        value = share * spot * spot * beam * fade * min(1.0, 14.0 * one) / exposure
        most = max(lamps[k, LIGHT], lamps[k, LIGHT + 1], lamps[k, LIGHT + 2], 1e-6)
        row.own_red[u] += value * lamps[k, LIGHT] / most
        row.own_green[u] += value * lamps[k, LIGHT + 1] / most
        row.own_blue[u] += value * lamps[k, LIGHT + 2] / most
