"""Render the visible surfaces of a view: colours, labels, instances, depth and normals, as BGRA."""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.carla_enums import SemanticTag
from jaywalk.server.sensors._bands import in_bands
from jaywalk.server.sensors._intersect import ROUND, solid_normal
from jaywalk.server.sensors._lamplight import Lamplight, glows_of, lamps_near
from jaywalk.server.sensors._lighting import FilmCurve, fog_table, tone_table
from jaywalk.server.sensors._mesh import Meshes, mesh_surface
from jaywalk.server.sensors._nearby import feet_of
from jaywalk.server.sensors._rows import new_row
from jaywalk.server.sensors._scene import GroundPaint, SensorScene
from jaywalk.server.sensors._shade_rows import (
    Lens,
    ShadingInputs,
    Stage,
    put_edges,
    shade_edges,
    shade_rows,
)
from jaywalk.server.sensors._shadows import NO_SHADOWS
from jaywalk.server.sensors._smoothing import look_at_edges, widest, windows_of
from jaywalk.server.sensors._solids import MESH, Solids, as_int64, kernel
from jaywalk.server.sensors._terrain import Relief, ground_height
from jaywalk.server.sensors._textures import textures
from jaywalk.server.sensors._visibility import GROUND, SKY, CameraView, Visible, pixel_ray
from jaywalk.server.sensors._weather import SceneLight, light_of

SKY_LABEL: Final = int(SemanticTag.SKY)
TERRAIN_LABEL: Final = int(SemanticTag.TERRAIN)


class Exposure(NamedTuple):
    """How a camera turns light into bytes."""

    gain: tuple[float, float, float] = (1.0, 1.0, 1.0)  # on the exposure of the scene, by colour
    fixed: bool = False  # True: the gain does not follow the light of the scene
    film: FilmCurve = FilmCurve()
    bloom: float = 1.0  # strength of the glow of lamps
    vignette: tuple[float, float] = (0.0, 5.0)  # strength, and how fast it grows to the corners


DAYLIGHT: Final = Exposure()
_MANUAL_EXPOSURE: Final = 0.80  # of a fixed exposure with CARLA's defaults: right at noon
_STEP_M: Final = 16.0  # cameras this near to each other share tables of their surroundings


def _around(scene: SensorScene, view: CameraView, light: SceneLight) -> ShadingInputs:
    eye = (float(view.origin[0]), float(view.origin[1]), float(view.origin[2]))
    middle = (_STEP_M * round(eye[0] / _STEP_M), _STEP_M * round(eye[1] / _STEP_M), eye[2])
    shared, solids = scene.shared, scene.solids
    sun = NO_SHADOWS
    if max(light.direct) > 1e-3:
        sun = scene.shadows.maps(solids, scene.meshes, scene.static, light.sun, eye, shared)
    key = ("near", middle[:2])
    if key not in shared:
        lamps = scene.lamp_source()
        shared[key] = (feet_of(solids, scene.relief, middle), lamps_near(lamps, middle, light))
    return ShadingInputs(sun, *shared[key])


def _with_glows(
    lamps: Lamplight, view: CameraView, seen: Visible, light: SceneLight, bloom: float
) -> Lamplight:
    glows = np.empty((len(lamps.lamps), 6))
    strength = bloom * light.dark / light.exposure
    count = glows_of(lamps.lamps, view, seen.inverse_depth, strength, glows)
    return lamps._replace(glows=glows[:count])


def rgb_picture(
    scene: SensorScene,
    view: CameraView,
    seen: Visible,
    exposure: Exposure = DAYLIGHT,
    threads: int | None = None,
) -> NDArray[np.uint8]:
    """Return a colour picture of lit, textured surfaces.

    Args:
        scene: What there is.
        view: The camera.
        seen: What it sees.
        exposure: How it turns light into bytes.
        threads: How many draw it; None: one per core. The picture is always the same.
    """
    light = light_of(scene.sky)
    scale = _MANUAL_EXPOSURE if exposure.fixed else light.exposure
    red, green, blue = exposure.gain
    around = _around(scene, view, light)
    around = around._replace(lamps=_with_glows(around.lamps, view, seen, light, exposure.bloom))
    stage = Stage(
        scene.solids,
        scene.meshes,
        scene.pictures,
        scene.road,
        scene.relief,
        textures(),
        light,
        around,
        fog_table(light),
    )
    gain = (scale * red, scale * green, scale * blue)
    lens = Lens(gain, exposure.vignette, scene.sky.time_s, tone_table(exposure.film))
    out = np.empty((view.height, view.width, 4), np.uint8)
    windows: list[NDArray[np.int32]] = []
    edges: list[tuple[NDArray[np.int64], NDArray[np.uint8]]] = []

    def shade(rows: tuple[int, int]) -> None:
        windows.append(windows_of(scene.solids.used, seen, rows))
        shade_rows(stage, lens, view, seen, rows, new_row(view.width), out)

    def smooth(rows: tuple[int, int]) -> None:
        points = look_at_edges(scene.solids, scene.meshes, view, rows, seen, window)
        colors = shade_edges(stage, lens, view, seen, points, new_row(view.width), out)
        edges.append((points.at, colors))

    in_bands(view.height, shade, threads)
    window = widest(windows)
    in_bands(view.height, smooth, threads)
    for at, colors in edges:
        put_edges(at, colors, out)
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
