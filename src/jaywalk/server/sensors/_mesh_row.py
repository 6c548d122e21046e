"""Meshes in one row of a picture: materials, colours of the instance, lamps that are on."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.carla_enums import VehicleLight
from jaywalk.server.sensors._materials import (
    MATERIAL_COLORS,
    MATERIAL_GLOSS,
    MATERIAL_LAMP,
    MATERIAL_ROUGHNESS,
    MATERIAL_SLOT,
    MATERIAL_TEXTURE,
    Lamp,
    Texture,
)
from jaywalk.server.sensors._mesh import Meshes, mesh_surface
from jaywalk.server.sensors._rows import LINEAR, Row
from jaywalk.server.sensors._solids import MESH, Solids, as_int64, kernel
from jaywalk.server.sensors._textures import Textures, texel_index
from jaywalk.server.sensors._weather import SceneLight

_BEAMS: Final = int(VehicleLight.POSITION | VehicleLight.LOW_BEAM | VehicleLight.HIGH_BEAM)
# Bits that light each lamp up, bits that make it glow weakly, and its light when it is on.
_LAMPS: Final[dict[Lamp, tuple[int, int, tuple[float, float, float]]]] = {
    Lamp.NONE: (0, 0, (0.0, 0.0, 0.0)),
    Lamp.HEAD: (_BEAMS, 0, (2.6, 2.5, 2.2)),
    Lamp.TAIL: (0, _BEAMS, (1.5, 0.03, 0.02)),
    Lamp.BRAKE: (int(VehicleLight.BRAKE), _BEAMS, (2.0, 0.05, 0.03)),
    Lamp.BLINKER_LEFT: (int(VehicleLight.LEFT_BLINKER), 0, (1.9, 0.62, 0.02)),
    Lamp.BLINKER_RIGHT: (int(VehicleLight.RIGHT_BLINKER), 0, (1.9, 0.62, 0.02)),
    Lamp.REVERSE: (int(VehicleLight.REVERSE), 0, (1.6, 1.6, 1.5)),
    Lamp.BEACON: (int(VehicleLight.SPECIAL1 | VehicleLight.SPECIAL2), 0, (0.05, 0.22, 2.2)),
    Lamp.ALWAYS: (0, 0, (0.0, 0.0, 0.0)),
    Lamp.SIGNAL: (0, 0, (0.0, 0.0, 0.0)),
}
_ON: Final = np.array([_LAMPS[lamp][0] for lamp in Lamp], np.int64)
_WEAK: Final = np.array([_LAMPS[lamp][1] for lamp in Lamp], np.int64)
_LIGHT: Final = np.array([_LAMPS[lamp][2] for lamp in Lamp])
_WEAKLY: Final = 0.22
_ALWAYS: Final = int(Lamp.ALWAYS)
_SIGNAL: Final = int(Lamp.SIGNAL)
_SIGNAL_LIGHT: Final = 2.2  # of a lit traffic light, times its colour
_NO_LAMP: Final = int(Lamp.NONE)
_LEAVES: Final = int(Texture.LEAVES)
_HEDGE: Final = int(Texture.HEDGE)


@kernel
def _color(
    meshes: Meshes, color: NDArray[np.uint8], k: int, instance: int, material: int
) -> tuple[int, int, int]:
    """Colour of a material on an instance: its own, the actor's or that of the table."""
    slot = MATERIAL_SLOT[material]
    if slot >= 0 and meshes.slots[instance, slot, 3] != 0:
        own = meshes.slots[instance, slot]
        return own[0], own[1], own[2]
    if slot == 0:
        return color[k, 0], color[k, 1], color[k, 2]
    table = MATERIAL_COLORS[material]
    return table[0], table[1], table[2]


@kernel
def _lamp(lamp: int, flags: int) -> float:
    """Brightness of a lamp, 0 if it is off."""
    if flags & _ON[lamp]:
        return 1.0
    return _WEAKLY if flags & _WEAK[lamp] else 0.0


@kernel
def mesh_row(
    solids: Solids,
    meshes: Meshes,
    textures: Textures,
    light: SceneLight,
    surface: NDArray[np.int32],
    triangle: NDArray[np.int32],
    focal_px: float,
    row: Row,
) -> None:
    """Write the meshes' part of a row."""
    form = solids.form
    texels, first, size, per_m = textures
    for u in range(len(surface)):
        code = surface[u]
        if code < 0 or solids.shape[code >> 3] != MESH:
            continue
        k = code >> 3
        instance = as_int64(solids.mesh[k])
        nx, ny, nz, s, t, material = mesh_surface(
            meshes, form, k, instance, as_int64(triangle[u]), row.x[u], row.y[u], row.z[u]
        )
        kind = as_int64(MATERIAL_TEXTURE[material])
        # Both sides of a sheet are lit; leaves take the light of the crown that they are part of.
        if kind != _LEAVES and nx * row.dx[u] + ny * row.dy[u] + nz * row.dz[u] > 0.0:
            nx, ny, nz = -nx, -ny, -nz
        row.nx[u], row.ny[u], row.nz[u] = nx, ny, nz
        r, g, b = _color(meshes, solids.color, k, instance, material)
        red, green, blue = LINEAR[r], LINEAR[g], LINEAR[b]
        if kind > 0:
            if kind == _LEAVES:
                kind = _HEDGE
            pixel = row.far[u] / focal_px
            index = texel_index(first, size, per_m, kind, s, t, pixel)
            red *= texels[index, 0] * 0.0078125
            green *= texels[index, 1] * 0.0078125
            blue *= texels[index, 2] * 0.0078125
        lamp = as_int64(MATERIAL_LAMP[material])
        own_red = own_green = own_blue = 0.0
        if lamp != _NO_LAMP:
            bright = _lamp(lamp, as_int64(solids.lamps[k])) / light.exposure
            own_red = bright * _LIGHT[lamp, 0]
            own_green = bright * _LIGHT[lamp, 1]
            own_blue = bright * _LIGHT[lamp, 2]
            if lamp == _ALWAYS:
                own_red, own_green, own_blue = 0.3 * red, 0.3 * green, 0.3 * blue
            elif lamp == _SIGNAL:
                bright = _SIGNAL_LIGHT / light.exposure
                own_red, own_green, own_blue = bright * red, bright * green, bright * blue
        row.red[u], row.green[u], row.blue[u] = red, green, blue
        row.gloss[u], row.rough[u] = MATERIAL_GLOSS[material], MATERIAL_ROUGHNESS[material]
        row.own_red[u], row.own_green[u], row.own_blue[u] = own_red, own_green, own_blue
        # The lower parts of a body see less of the sky.
        height = 0.5 + 0.5 * (row.z[u] - form[k, 2]) / max(form[k, 14], 0.05)
        row.open[u] = 0.55 + 0.45 * min(max(2.0 * height, 0.0), 1.0)
