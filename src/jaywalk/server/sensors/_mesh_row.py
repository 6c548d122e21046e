"""Meshes in one row of a picture: materials, colours of the instance, lamps that are on."""

from __future__ import annotations

import math
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
from jaywalk.server.sensors._mesh import SHIFT, Meshes, corner_shares
from jaywalk.server.sensors._rows import LINEAR, Row
from jaywalk.server.sensors._solids import MESH, Solids, as_int64, kernel
from jaywalk.server.sensors._textures import Textures, texel_index
from jaywalk.server.sensors._triangles import MESH_PART
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
    slots: NDArray[np.uint8], color: NDArray[np.uint8], k: int, instance: int, material: int
) -> tuple[int, int, int]:
    """Colour of a material on an instance: its own, the actor's or that of the table."""
    slot = MATERIAL_SLOT[material]
    if slot >= 0 and slots[instance, slot, 3] != 0:
        return slots[instance, slot, 0], slots[instance, slot, 1], slots[instance, slot, 2]
    if slot == 0:
        return color[k, 0], color[k, 1], color[k, 2]
    return (
        MATERIAL_COLORS[material, 0],
        MATERIAL_COLORS[material, 1],
        MATERIAL_COLORS[material, 2],
    )


@kernel
def _lamp(lamp: int, flags: int) -> float:
    """Brightness of a lamp, 0 if it is off."""
    if flags & _ON[lamp]:
        return 1.0
    return _WEAKLY if flags & _WEAK[lamp] else 0.0


@kernel
def _lamp_light(
    lamp: int, flags: int, exposure: float, red: float, green: float, blue: float
) -> tuple[float, float, float]:
    """Light of a lamp; red, green and blue are the colour of its glass."""
    if lamp == _ALWAYS:
        return 0.3 * red, 0.3 * green, 0.3 * blue
    if lamp == _SIGNAL:
        bright = _SIGNAL_LIGHT / exposure
        return bright * red, bright * green, bright * blue
    bright = _lamp(lamp, flags) / exposure
    return bright * _LIGHT[lamp, 0], bright * _LIGHT[lamp, 1], bright * _LIGHT[lamp, 2]


@kernel
def _in_part(
    pose: NDArray[np.float64], row: int, x: float, y: float, z: float
) -> tuple[float, float, float]:
    """Turn a place of a model into the frame of one of its moving parts."""
    ox, oy, oz = x - pose[row, 0, 3], y - pose[row, 1, 3], z - pose[row, 2, 3]
    return (
        pose[row, 0, 0] * ox + pose[row, 1, 0] * oy + pose[row, 2, 0] * oz,
        pose[row, 0, 1] * ox + pose[row, 1, 1] * oy + pose[row, 2, 1] * oz,
        pose[row, 0, 2] * ox + pose[row, 1, 2] * oy + pose[row, 2, 2] * oz,
    )


@kernel
def _normal_of(
    normals: NDArray[np.float32], t: int, first: float, second: float, third: float
) -> tuple[float, float, float]:
    """Normal between the corners of a triangle, in the frame of its part."""
    return (
        first * normals[t, 0, 0] + second * normals[t, 1, 0] + third * normals[t, 2, 0],
        first * normals[t, 0, 1] + second * normals[t, 1, 1] + third * normals[t, 2, 1],
        first * normals[t, 0, 2] + second * normals[t, 1, 2] + third * normals[t, 2, 2],
    )


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
    form, shape, mesh, color, lamps = (
        solids.form,
        solids.shape,
        solids.mesh,
        solids.color,
        solids.lamps,
    )
    texels, first_texel, size, per_m = textures
    points, corners, uv, normals = meshes.points, meshes.triangles, meshes.uv, meshes.normals
    materials, parts, levels = meshes.material, meshes.part, meshes.level
    span, origin, scale, slots = meshes.span, meshes.origin, meshes.scale, meshes.slots
    first_parts, pose, own_normals = meshes.first_part, meshes.part_pose, meshes.point_normals
    # Tuples of arrays are taken apart here: to pass one on for each pixel costs more than the work.
    for u in range(len(surface)):
        code = surface[u]
        if code < 0 or code & 7 != MESH_PART or shape[code >> 3] != MESH:
            continue
        k = code >> 3
        instance, t3 = as_int64(mesh[k]), as_int64(triangle[u])
        shift = span[instance, levels[t3], SHIFT]
        x, y, z = row.x[u], row.y[u], row.z[u]
        px, py, pz = x - origin[instance, 0], y - origin[instance, 1], z - origin[instance, 2]
        sx, sy, sz = scale[instance, 0], scale[instance, 1], scale[instance, 2]
        lx = (form[k, 3] * px + form[k, 4] * py + form[k, 5] * pz) / sx
        ly = (form[k, 6] * px + form[k, 7] * py + form[k, 8] * pz) / sy
        lz = (form[k, 9] * px + form[k, 10] * py + form[k, 11] * pz) / sz
        part = first_parts[instance] + parts[t3] if first_parts[instance] >= 0 else -1
        if part >= 0:
            lx, ly, lz = _in_part(pose, part, lx, ly, lz)
        a, b, c = corners[t3, 0] + shift, corners[t3, 1] + shift, corners[t3, 2] + shift
        second, third = corner_shares(
            points[a, 0], points[a, 1], points[a, 2],
            points[b, 0], points[b, 1], points[b, 2],
            points[c, 0], points[c, 1], points[c, 2],
            lx, ly, lz,
        )  # fmt: skip
        first = 1.0 - second - third
        if shift != 0:
            nx = first * own_normals[a, 0] + second * own_normals[b, 0] + third * own_normals[c, 0]
            ny = first * own_normals[a, 1] + second * own_normals[b, 1] + third * own_normals[c, 1]
            nz = first * own_normals[a, 2] + second * own_normals[b, 2] + third * own_normals[c, 2]
        else:
            mx, my, mz = _normal_of(normals, t3, first, second, third)
            if part >= 0:
                mx, my, mz = (
                    pose[part, 0, 0] * mx + pose[part, 0, 1] * my + pose[part, 0, 2] * mz,
                    pose[part, 1, 0] * mx + pose[part, 1, 1] * my + pose[part, 1, 2] * mz,
                    pose[part, 2, 0] * mx + pose[part, 2, 1] * my + pose[part, 2, 2] * mz,
                )
            mx, my, mz = mx / sx, my / sy, mz / sz
            nx = form[k, 3] * mx + form[k, 6] * my + form[k, 9] * mz
            ny = form[k, 4] * mx + form[k, 7] * my + form[k, 10] * mz
            nz = form[k, 5] * mx + form[k, 8] * my + form[k, 11] * mz
        one = 1.0 / max(math.sqrt(nx * nx + ny * ny + nz * nz), 1e-12)
        nx, ny, nz = nx * one, ny * one, nz * one
        material = as_int64(materials[t3])
        kind = as_int64(MATERIAL_TEXTURE[material])
        # Both sides of a sheet are lit; leaves take the light of the crown that they are part of.
        if kind != _LEAVES and nx * row.dx[u] + ny * row.dy[u] + nz * row.dz[u] > 0.0:
            nx, ny, nz = -nx, -ny, -nz
        row.nx[u], row.ny[u], row.nz[u] = nx, ny, nz
        r, g, b2 = _color(slots, color, k, instance, material)
        red, green, blue = LINEAR[r], LINEAR[g], LINEAR[b2]
        if kind > 0:
            if kind == _LEAVES:
                kind = _HEDGE
            at_s = first * uv[t3, 0, 0] + second * uv[t3, 1, 0] + third * uv[t3, 2, 0]
            at_t = first * uv[t3, 0, 1] + second * uv[t3, 1, 1] + third * uv[t3, 2, 1]
            pixel = row.far[u] / focal_px
            index = texel_index(first_texel, size, per_m, kind, at_s, at_t, pixel)
            red *= texels[index, 0] * 0.0078125
            green *= texels[index, 1] * 0.0078125
            blue *= texels[index, 2] * 0.0078125
        lamp = as_int64(MATERIAL_LAMP[material])
        own_red = own_green = own_blue = 0.0
        if lamp != _NO_LAMP:
            own_red, own_green, own_blue = _lamp_light(
                lamp, as_int64(lamps[k]), light.exposure, red, green, blue
            )
        row.red[u], row.green[u], row.blue[u] = red, green, blue
        row.gloss[u], row.rough[u] = MATERIAL_GLOSS[material], MATERIAL_ROUGHNESS[material]
        row.own_red[u], row.own_green[u], row.own_blue[u] = own_red, own_green, own_blue
        # The lower parts of a body see less of the sky.
        height = 0.5 + 0.5 * (z - form[k, 2]) / max(form[k, 14], 0.05)
        row.open[u] = 0.55 + 0.45 * min(max(2.0 * height, 0.0), 1.0)
