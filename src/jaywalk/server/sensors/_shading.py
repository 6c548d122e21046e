"""Render the visible surfaces of a view: colours, labels, instances, depth and normals, as BGRA.

Lamps are painted on the bodies of vehicles according to the bits of CARLA's light state. They are
not solids, so LiDAR rays hit the same body whether lamps are on or off.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.carla_enums import SemanticTag, VehicleLight
from jaywalk.server.sensors._intersect import ROUND, solid_normal
from jaywalk.server.sensors._materials import MATERIAL_COLORS, MATERIAL_SLOT
from jaywalk.server.sensors._mesh import Meshes, mesh_surface
from jaywalk.server.sensors._scene import GroundPaint, SensorScene, Sky
from jaywalk.server.sensors._solids import (
    BUS_WINDOWS,
    CUT_OUT,
    GLASS,
    HULL,
    LOWER,
    MESH,
    PICTURE,
    PLAIN,
    UPPER,
    WINDOWS,
    Pictures,
    Solids,
    as_int64,
    ink_at,
    kernel,
)
from jaywalk.server.sensors._terrain import Relief, ground_height
from jaywalk.server.sensors._visibility import GROUND, SKY, CameraView, Visible, pixel_ray

FRONT: Final = 0  # parts of a box
BACK: Final = 1
_ROOF: Final = 4
_BEAMS: Final = int(VehicleLight.POSITION | VehicleLight.LOW_BEAM | VehicleLight.HIGH_BEAM)
_BRAKE: Final = int(VehicleLight.BRAKE)
_RIGHT: Final = int(VehicleLight.RIGHT_BLINKER)
_LEFT: Final = int(VehicleLight.LEFT_BLINKER)
_REVERSE: Final = int(VehicleLight.REVERSE)
_SPECIAL: Final = int(VehicleLight.SPECIAL1 | VehicleLight.SPECIAL2)
# Looks, each off and on; ``COLORS`` has them in this order.
NO_LAMP: Final = -1
_RED, _RED_DIM, _RED_ON, _AMBER, _AMBER_ON, _WHITE, _WHITE_ON, _BLUE_ON = range(8)
COLORS: Final = np.array(
    [
        [96, 16, 18],
        [190, 24, 24],
        [255, 40, 32],
        [150, 92, 30],
        [255, 168, 20],
        [196, 200, 204],
        [255, 252, 236],
        [40, 90, 255],
    ],
    np.uint8,
)
# Lamps lie between these shares of the half width, blinkers outside, and of the hull's height.
_INNER, _BLINKER, _OUTER = 0.58, 0.82, 0.97
_HULL_LOW, _HULL_HIGH = 0.52, 0.92
_BUS_LOW, _BUS_HIGH = 0.08, 0.24
_BAR: Final = 0.86  # blue lights shine above this share of the height
_BAR_LONG: Final = 0.2  # and on this share of the roof


@kernel
def lamp_at(
    form: NDArray[np.float64],
    pattern: int,
    flags: int,
    k: int,
    part: int,
    place: tuple[float, float, float],
) -> int:
    """The look (a row of ``COLORS``) of the lamp at a point of a vehicle's body, or NO_LAMP.

    Args:
        form: Of the solids.
        pattern: Of the solid: HULL, GLASS or BUS_WINDOWS.
        flags: Lamps that are on.
        k: The solid.
        part: Side of the box.
        place: The point, in the world.
    """
    px, py, pz = place[0] - form[k, 0], place[1] - form[k, 1], place[2] - form[k, 2]
    if pattern != HULL and flags & _SPECIAL:
        up = form[k, 9] * px + form[k, 10] * py + form[k, 11] * pz
        if part < _ROOF and up > (2.0 * _BAR - 1.0) * form[k, 14]:
            return _BLUE_ON
        ahead = form[k, 3] * px + form[k, 4] * py + form[k, 5] * pz
        if part == _ROOF and abs(ahead) < _BAR_LONG * form[k, 12]:
            return _BLUE_ON
    if part > BACK or pattern == GLASS:
        return NO_LAMP
    right = (form[k, 6] * px + form[k, 7] * py + form[k, 8] * pz) / form[k, 13]
    if not _INNER < abs(right) < _OUTER:
        return NO_LAMP
    share = 0.5 + 0.5 * (form[k, 9] * px + form[k, 10] * py + form[k, 11] * pz) / form[k, 14]
    low, high = (_BUS_LOW, _BUS_HIGH) if pattern == BUS_WINDOWS else (_HULL_LOW, _HULL_HIGH)
    if not low < share < high:
        return NO_LAMP
    if abs(right) > _BLINKER:
        return _AMBER_ON if flags & (_RIGHT if right > 0.0 else _LEFT) else _AMBER
    if part == FRONT:
        return _WHITE_ON if flags & _BEAMS else _WHITE
    if flags & _BRAKE:
        return _RED_ON
    if flags & _REVERSE:
        return _WHITE_ON
    return _RED_DIM if flags & _BEAMS else _RED


@kernel
def shines(look: int) -> bool:
    """True for lamps that are on: they are as bright at night."""
    return look in (_RED_DIM, _RED_ON, _AMBER_ON, _WHITE_ON, _BLUE_ON)


SKY_LABEL: Final = int(SemanticTag.SKY)
TERRAIN_LABEL: Final = int(SemanticTag.TERRAIN)
# Colours of the ground by CARLA label; labels without a colour look like earth.
_GROUND_COLORS: Final = {
    SemanticTag.ROAD: (92, 92, 96),
    SemanticTag.SIDEWALK: (158, 154, 148),
    SemanticTag.BUILDING: (130, 125, 120),
    SemanticTag.TRAFFIC_SIGN: (200, 200, 200),
    SemanticTag.VEGETATION: (82, 118, 58),
    SemanticTag.TERRAIN: (96, 124, 70),
    SemanticTag.OTHER: (125, 118, 105),
    SemanticTag.WATER: (62, 92, 120),
    SemanticTag.ROAD_LINE: (222, 220, 212),
    SemanticTag.GROUND: (140, 128, 108),
    SemanticTag.BRIDGE: (120, 120, 122),
    SemanticTag.RAIL_TRACK: (105, 98, 92),
}
_EARTH: Final = (122, 112, 95)


def _ground_palette() -> NDArray[np.uint8]:
    palette = np.empty((256, 3), np.uint8)
    palette[:] = _EARTH
    for label, color in _GROUND_COLORS.items():
        palette[label] = color
    return palette


PALETTE: Final = _ground_palette()
# Colour of windows by pattern (PLAIN has none).
GLASS_COLORS: Final = np.array(
    [[0, 0, 0], [62, 76, 92], [34, 40, 46], [34, 40, 46]], dtype=np.uint8
)


class SceneLight(NamedTuple):
    """SceneLight of one tick, ready for kernels."""

    sun: tuple[float, float, float]  # unit vector towards the sun
    direct: float
    ambient: float
    sky_high: tuple[float, float, float]
    sky_low: tuple[float, float, float]
    fog_per_m: float


def light_of(sky: Sky) -> SceneLight:
    """SceneLight that the sun's place, clouds and fog give."""
    altitude, azimuth = math.radians(sky.sun_altitude_deg), math.radians(sky.sun_azimuth_deg)
    sun = (
        math.cos(altitude) * math.cos(azimuth),
        math.cos(altitude) * math.sin(azimuth),
        math.sin(altitude),
    )
    day = min(max((sky.sun_altitude_deg + 8.0) / 20.0, 0.0), 1.0)
    cloud = min(max(sky.cloudiness / 100.0, 0.0), 1.0)
    direct = 0.45 * day * (1.0 - 0.8 * cloud)
    ambient = 0.14 + 0.56 * day * (1.0 + 0.25 * cloud)
    bright = 0.08 + 0.92 * day
    grey = 0.75 * cloud
    high = tuple(bright * ((1.0 - grey) * c + grey * 165.0) for c in (96.0, 148.0, 214.0))
    low = tuple(bright * ((1.0 - grey) * c + grey * 190.0) for c in (196.0, 212.0, 226.0))
    # Half of the light is lost at 35 m in the densest fog.
    fog = max(sky.fog_density, 0.0) / 100.0 * math.log(2.0) / 35.0
    return SceneLight(
        sun,
        direct,
        ambient,
        (high[0], high[1], high[2]),
        (low[0], low[1], low[2]),
        fog,
    )


def rgb_picture(scene: SensorScene, view: CameraView, seen: Visible) -> NDArray[np.uint8]:
    """Return a colour picture with plain shading."""
    out = np.empty((view.height, view.width, 4), np.uint8)
    light = light_of(scene.sky)
    colors = (PALETTE, GLASS_COLORS, COLORS)
    _shade(scene.solids, scene.meshes, scene.pictures, scene.paint, colors, light, view, seen, out)
    return out


def label_picture(
    scene: SensorScene, view: CameraView, seen: Visible, instances: bool
) -> NDArray[np.uint8]:
    """Labels in the red channel; with ``instances`` also ids in green (low byte) and blue."""
    out = np.empty((view.height, view.width, 4), np.uint8)
    _label(scene.solids, scene.paint, view, seen, instances, out)
    return out


def depth_picture(view: CameraView, seen: Visible) -> NDArray[np.uint8]:
    """Depth along the camera axis in 24 bits; the sky is 1000 m away."""
    out = np.empty((view.height, view.width, 4), np.uint8)
    _code_depth(seen, out)
    return out


def normal_picture(scene: SensorScene, view: CameraView, seen: Visible) -> NDArray[np.uint8]:
    """Surface normals in the world frame, each axis from -1..1 onto 0..255 (red is x)."""
    out = np.empty((view.height, view.width, 4), np.uint8)
    _code_normals(scene.solids, scene.meshes, scene.relief, view, seen, out)
    return out


@kernel
def ground_label(paint: GroundPaint, x_m: float, y_m: float) -> int:
    """Label of the ground at a place; terrain outside the raster."""
    column = math.floor((x_m - paint.x0_m) / paint.cell_m)
    row = math.floor((y_m - paint.y0_m) / paint.cell_m)
    rows, columns = paint.labels.shape
    if column < 0 or row < 0 or column >= columns or row >= rows:
        return TERRAIN_LABEL
    label = paint.labels[row, column]
    return as_int64(label) if label != 0 else TERRAIN_LABEL


@kernel
def _label(
    solids: Solids,
    paint: GroundPaint,
    view: CameraView,
    seen: Visible,
    instances: bool,
    out: NDArray[np.uint8],
) -> None:
    for v in range(view.height):
        for u in range(view.width):
            surface = seen.surface[v, u]
            instance = 0
            if surface == SKY:
                label = SKY_LABEL
            elif surface == GROUND:
                t = 1.0 / seen.inverse_depth[v, u]
                dx, dy, _ = pixel_ray(view, u + 0.5, v + 0.5)
                label = ground_label(paint, view.origin[0] + t * dx, view.origin[1] + t * dy)
            else:
                label = as_int64(solids.label[surface >> 3])
                instance = as_int64(solids.instance[surface >> 3])
            out[v, u, 2] = label
            out[v, u, 1] = instance & 0xFF if instances else 0
            out[v, u, 0] = (instance >> 8) & 0xFF if instances else 0
            out[v, u, 3] = 255


@kernel
def _code_depth(seen: Visible, out: NDArray[np.uint8]) -> None:
    rows, columns = seen.inverse_depth.shape
    for v in range(rows):
        for u in range(columns):
            inverse = np.float64(seen.inverse_depth[v, u])
            share = min(0.001 / inverse, 1.0) if inverse > 0.0 else 1.0
            code = as_int64(share * 16777215.0 + 0.5)
            out[v, u, 2] = code & 0xFF
            out[v, u, 1] = (code >> 8) & 0xFF
            out[v, u, 0] = code >> 16
            out[v, u, 3] = 255


@kernel
def ground_normal(relief: Relief, x: float, y: float, z: float) -> tuple[float, float, float]:
    """Upward unit normal of the ground under a point."""
    if relief.low_m == relief.high_m:
        return 0.0, 0.0, 1.0
    step = 0.5
    east = ground_height(relief, x + step, y, z) - ground_height(relief, x - step, y, z)
    south = ground_height(relief, x, y + step, z) - ground_height(relief, x, y - step, z)
    nx, ny = -east / (2.0 * step), -south / (2.0 * step)
    scale = 1.0 / math.sqrt(nx * nx + ny * ny + 1.0)
    return nx * scale, ny * scale, scale


@kernel
def _code_normals(
    solids: Solids,
    meshes: Meshes,
    relief: Relief,
    view: CameraView,
    seen: Visible,
    out: NDArray[np.uint8],
) -> None:
    form = solids.form
    for v in range(view.height):
        for u in range(view.width):
            surface = seen.surface[v, u]
            out[v, u, 3] = 255
            if surface == SKY:
                out[v, u, 0] = out[v, u, 1] = out[v, u, 2] = 0
                continue
            k, part = surface >> 3, surface & 7
            if surface >= 0 and part < ROUND:
                sign = 1.0 if part % 2 == 0 else -1.0
                nx = sign * form[k, 3 * (part // 2) + 3]
                ny = sign * form[k, 3 * (part // 2) + 4]
                nz = sign * form[k, 3 * (part // 2) + 5]
            else:
                t = 1.0 / seen.inverse_depth[v, u]
                dx, dy, dz = pixel_ray(view, u + 0.5, v + 0.5)
                x, y = view.origin[0] + t * dx, view.origin[1] + t * dy
                z = view.origin[2] + t * dz
                if surface == GROUND:
                    nx, ny, nz = ground_normal(relief, x, y, z)
                elif solids.shape[k] == MESH:
                    nx, ny, nz, _, _, _ = mesh_surface(
                        meshes, form, k, solids.mesh[k], seen.triangle[v, u], x, y, z
                    )
                else:
                    nx, ny, nz = solid_normal(form, solids.shape, k, part, x, y, z)
            out[v, u, 2] = as_int64(127.5 + 127.5 * nx + 0.5)
            out[v, u, 1] = as_int64(127.5 + 127.5 * ny + 0.5)
            out[v, u, 0] = as_int64(127.5 + 127.5 * nz + 0.5)


@kernel
def _lit(light: SceneLight, nx: float, ny: float, nz: float) -> float:
    """Brightness of a surface; a little more light from above keeps edges visible in shadow."""
    direct = max(nx * light.sun[0] + ny * light.sun[1] + nz * light.sun[2], 0.0)
    return light.ambient * (0.85 + 0.15 * nz) + light.direct * direct


@kernel
def _face_light(solids: Solids, light: SceneLight) -> NDArray[np.float64]:
    """Brightness of the flat faces of every solid, at solid * 8 + face."""
    form = solids.form
    out = np.ones(8 * solids.used)
    for k in range(solids.used):
        for face in range(6):
            sign = 1.0 if face % 2 == 0 else -1.0
            first = 3 * (face // 2) + 3
            nx, ny, nz = form[k, first], form[k, first + 1], form[k, first + 2]
            out[8 * k + face] = _lit(light, sign * nx, sign * ny, sign * nz)
    return out


@kernel
def _shows_glass(
    form: NDArray[np.float64], pattern: int, k: int, part: int, x: float, y: float, z: float
) -> bool:
    """True where the pattern of a box has a window at a point of one of its sides."""
    if part >= 4 or pattern == HULL:  # no windows in roofs
        return False
    px, py, pz = x - form[k, 0], y - form[k, 1], z - form[k, 2]
    axis = 1 if part < 2 else 0
    first = 3 * axis + 3
    along = form[k, first] * px + form[k, first + 1] * py + form[k, first + 2] * pz
    up = form[k, 9] * px + form[k, 10] * py + form[k, 11] * pz + form[k, 14]
    if pattern == WINDOWS:
        across, rise = along / 3.0 + 0.5, up / 3.2
        across -= math.floor(across)
        rise -= math.floor(rise)
        return bool(0.28 < across < 0.72 and 0.32 < rise < 0.78)
    side = abs(along) / max(form[k, 12 + axis], 1e-6)
    share = up / max(2.0 * form[k, 14], 1e-6)
    if pattern == GLASS:
        return bool(side < 0.93 and share < 0.88)
    # BUS_WINDOWS: all sides but the back
    return bool(side < 0.94 and 0.52 < share < 0.88 and part != 1)


@kernel
def _shows_picture(pattern: int, part: int) -> bool:
    """True for the faces with ink: both large ones, of cut-outs only the front."""
    return bool(part == UPPER or (part == LOWER and pattern < CUT_OUT))


@kernel
def _mesh_color(
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
def _shade(
    solids: Solids,
    meshes: Meshes,
    pictures: Pictures,
    paint: GroundPaint,
    colors: tuple[NDArray[np.uint8], NDArray[np.uint8], NDArray[np.uint8]],
    light: SceneLight,
    view: CameraView,
    seen: Visible,
    out: NDArray[np.uint8],
) -> None:
    form = solids.form
    palette, glass, lamp_colors = colors
    face_light = _face_light(solids, light)
    ground_light = _lit(light, 0.0, 0.0, 1.0)
    right_x = view.axes[1, 0] / view.focal_px
    right_y = view.axes[1, 1] / view.focal_px
    right_z = view.axes[1, 2] / view.focal_px
    eye_x, eye_y, eye_z = view.origin[0], view.origin[1], view.origin[2]
    for v in range(view.height):
        left_x, left_y, left_z = pixel_ray(view, 0.5, v + 0.5)
        for u in range(view.width):
            surface = seen.surface[v, u]
            dx, dy, dz = left_x + u * right_x, left_y + u * right_y, left_z + u * right_z
            if surface == SKY:
                rise = min(max(dz / math.sqrt(dx * dx + dy * dy + dz * dz), 0.0) * 1.6, 1.0)
                r = light.sky_low[0] + rise * (light.sky_high[0] - light.sky_low[0])
                g = light.sky_low[1] + rise * (light.sky_high[1] - light.sky_low[1])
                b = light.sky_low[2] + rise * (light.sky_high[2] - light.sky_low[2])
                t = 1000.0
                shade = 1.0
            else:
                t = 1.0 / seen.inverse_depth[v, u]
                x, y = eye_x + t * dx, eye_y + t * dy
                if surface == GROUND:
                    label = ground_label(paint, x, y)
                    r, g, b = palette[label, 0], palette[label, 1], palette[label, 2]
                    shade = ground_light * (_grain(x, y) if t < 40.0 else 1.0)
                else:
                    k, part = surface >> 3, surface & 7
                    z = eye_z + t * dz
                    r, g, b = solids.color[k, 0], solids.color[k, 1], solids.color[k, 2]
                    pattern = as_int64(solids.pattern[k])
                    lamp = NO_LAMP
                    if GLASS <= pattern <= HULL:
                        lamp = lamp_at(form, pattern, as_int64(solids.lamps[k]), k, part, (x, y, z))
                    if lamp != NO_LAMP:
                        r, g, b = lamp_colors[lamp, 0], lamp_colors[lamp, 1], lamp_colors[lamp, 2]
                    elif pattern >= PICTURE:
                        if _shows_picture(pattern, part):
                            place = (x, y, z)
                            pixel_m = t / view.focal_px
                            r, g, b, _ = ink_at(pictures, form, pattern, k, part, place, pixel_m)
                    elif pattern != PLAIN and _shows_glass(form, pattern, k, part, x, y, z):
                        r, g, b = glass[pattern, 0], glass[pattern, 1], glass[pattern, 2]
                    if solids.shape[k] == MESH:
                        nx, ny, nz, _, _, material = mesh_surface(
                            meshes, form, k, solids.mesh[k], seen.triangle[v, u], x, y, z
                        )
                        shade = _lit(light, nx, ny, nz)
                        r, g, b = _mesh_color(meshes, solids.color, k, solids.mesh[k], material)
                    elif shines(lamp):
                        shade = 1.0
                    elif part < ROUND:
                        shade = face_light[surface]
                    else:
                        nx, ny, nz = solid_normal(form, solids.shape, k, part, x, y, z)
                        shade = _lit(light, nx, ny, nz)
            if light.fog_per_m > 0.0:
                clear = math.exp(-light.fog_per_m * t)
                shade *= clear
                mist = 1.0 - clear
            else:
                mist = 0.0
            out[v, u, 2] = as_int64(min(r * shade + mist * light.sky_low[0], 255.0))
            out[v, u, 1] = as_int64(min(g * shade + mist * light.sky_low[1], 255.0))
            out[v, u, 0] = as_int64(min(b * shade + mist * light.sky_low[2], 255.0))
            out[v, u, 3] = 255


@kernel
def _grain(x: float, y: float) -> float:
    """Brightness of a 25 cm patch of ground, so that motion over it is visible."""
    i, j = math.floor(4.0 * x), math.floor(4.0 * y)
    mix = (i * 73856093) ^ (j * 19349663)
    return 0.955 + 0.09 * ((mix >> 4) & 63) / 63.0
