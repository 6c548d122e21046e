"""Colour rows of a picture, and the points of its edge pixels, from what a camera sees."""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jaywalk.server.sensors._ground_row import ground_row
from jaywalk.server.sensors._lamplight import Lamplight, glow_row, lamp_row
from jaywalk.server.sensors._lighting import light_row, tone_row
from jaywalk.server.sensors._mesh import Meshes
from jaywalk.server.sensors._mesh_row import mesh_row
from jaywalk.server.sensors._nearby import Feet, feet_row
from jaywalk.server.sensors._rain import rain_row
from jaywalk.server.sensors._road_paint import RoadPaint
from jaywalk.server.sensors._rows import Row, Values
from jaywalk.server.sensors._shadows import SunMaps, sun_row
from jaywalk.server.sensors._smoothing import DOWN, POINTS, RIGHT, Points, same_surface
from jaywalk.server.sensors._solid_row import sky_row, solid_row
from jaywalk.server.sensors._solids import Pictures, Solids, kernel
from jaywalk.server.sensors._terrain import Relief
from jaywalk.server.sensors._textures import Textures
from jaywalk.server.sensors._triangles import STEPS
from jaywalk.server.sensors._visibility import SKY, CameraView, Visible, pixel_ray
from jaywalk.server.sensors._weather import SceneLight

_LEAST_DARK: Final = 0.01  # lamps shine where it is darker


class ShadingInputs(NamedTuple):
    """What throws light or shadow on the surroundings of a camera."""

    sun: SunMaps
    feet: Feet
    lamps: Lamplight


class Stage(NamedTuple):
    """Everything that gives pixels their light before the film."""

    solids: Solids
    meshes: Meshes
    pictures: Pictures
    road: RoadPaint
    relief: Relief
    atlas: Textures
    light: SceneLight
    around: ShadingInputs
    fog: Values  # see ``fog_table``


class Lens(NamedTuple):
    """How light becomes bytes."""

    gain: tuple[float, float, float]
    vignette: tuple[float, float]
    time_s: float  # moves rain
    table: NDArray[np.uint8]  # see ``tone_table``


@kernel
def shade_rows(
    stage: Stage,
    lens: Lens,
    view: CameraView,
    seen: Visible,
    rows: tuple[int, int],
    row: Row,
    out: NDArray[np.uint8],
) -> None:
    """Colour the rows from ``rows[0]`` up to ``rows[1]``; no row depends on another."""
    slant = np.empty(view.width, np.float32)
    for v in range(rows[0], rows[1]):
        _place_row(view, v, seen.surface[v], seen.inverse_depth[v], slant, row)
        _shade(stage, view.focal_px, seen.surface[v], seen.triangle[v], slant, True, row)
        glow_row(stage.around.lamps.glows, v, row)
        rain_row(stage.light, lens.time_s, view.height, v, row)
        if lens.vignette[0] > 0.0:
            _vignette_row(lens.vignette, view, v, row)
        tone_row(row, lens.gain, lens.table, out[v])


@kernel
def _shade(
    stage: Stage,
    focal_px: float,
    surface: NDArray[np.int32],
    triangle: NDArray[np.int32],
    slant: Values,
    joined: bool,
    row: Row,
) -> None:
    """Light the columns of a row that have places; they need not be neighbours."""
    light, atlas, around = stage.light, stage.atlas, stage.around
    sky_row(atlas, light, surface, row)
    ground_row(stage.road, stage.relief, atlas, light, surface, focal_px, row)
    solid_row(stage.solids, stage.pictures, atlas, light, surface, focal_px, joined, row)
    mesh_row(stage.solids, stage.meshes, atlas, light, surface, triangle, focal_px, row)
    if max(light.direct[0], light.direct[1]) > 1e-3:
        sun_row(around.sun, light.sun, surface, row)
    feet_row(around.feet, surface, row)
    if light.dark > _LEAST_DARK:
        lamp_row(around.lamps, light, surface, row)
    light_row(light, stage.fog, surface, slant, row)


@kernel
def shade_edges(
    stage: Stage,
    lens: Lens,
    view: CameraView,
    seen: Visible,
    points: Points,
    row: Row,
    shaded: NDArray[np.uint8],
) -> NDArray[np.uint8]:
    """Return blue, green and red of the edge pixels: the mean of their points.

    Args:
        stage: What there is.
        lens: The camera's.
        view: The camera.
        seen: What the middles of pixels show.
        points: What the points of the edge pixels show.
        row: Room for the columns of a row.
        shaded: The whole picture with the colours of the middles.
    """
    count, width = len(points.at), view.width
    colors = np.empty((count, POINTS, 3), np.uint8)
    waiting = np.empty(width, np.int64)
    waits = 0
    material, surface, triangle = stage.meshes.material, seen.surface, seen.triangle
    at, own_surface, own_t = points.at, points.surface, points.triangle
    for n in range(count):
        v, u = at[n] // width, at[n] % width
        for q in range(POINTS):
            j, i = _like(material, surface, triangle, (v, u), own_surface[n, q], own_t[n, q], q)
            if j >= 0:
                for m in range(3):
                    colors[n, q, m] = shaded[j, i, m]
                continue
            waiting[waits] = n * POINTS + q
            waits += 1
            if waits == width:
                _shade_points(stage, lens, view, points, waiting[:waits], row, colors)
                waits = 0
    _shade_points(stage, lens, view, points, waiting[:waits], row, colors)
    out = np.empty((count, 3), np.uint8)
    for n in range(count):
        for m in range(3):
            total = POINTS // 2
            for q in range(POINTS):
                total += colors[n, q, m]
            out[n, m] = total // POINTS
    return out


@kernel
def _like(
    material: NDArray[np.uint8],
    surface: NDArray[np.int32],
    triangle: NDArray[np.int32],
    pixel: tuple[int, int],
    code: int,
    t: int,
    q: int,
) -> tuple[int, int]:
    """Return a pixel, this one or a neighbour, that shows the surface of point q; -1: none."""
    v, u = pixel
    if same_surface(material, code, t, surface[v, u], triangle[v, u]):
        return v, u
    right, down = 1 if RIGHT[q] > 0 else -1, 1 if DOWN[q] > 0 else -1
    for step in range(8):
        du = right if step in (0, 2, 5) else 0 if step in (1, 4) else -right
        dv = down if step in (1, 2, 6) else 0 if step in (0, 3) else -down
        j, i = v + dv, u + du
        if j < 0 or i < 0 or j >= surface.shape[0] or i >= surface.shape[1]:
            continue
        if same_surface(material, code, t, surface[j, i], triangle[j, i]):
            return j, i
    return -1, -1


@kernel
def _shade_points(
    stage: Stage,
    lens: Lens,
    view: CameraView,
    points: Points,
    waiting: NDArray[np.int64],
    row: Row,
    colors: NDArray[np.uint8],
) -> None:
    """Colour points that no pixel shows."""
    surface = np.full(view.width, SKY, np.int32)
    triangle = np.zeros(view.width, np.int32)
    slant = np.ones(view.width, np.float32)
    eye = view.origin
    for c in range(len(waiting)):
        n, q = waiting[c] // POINTS, waiting[c] % POINTS
        v, u = points.at[n] // view.width, points.at[n] % view.width
        surface[c], triangle[c] = points.surface[n, q], points.triangle[n, q]
        dx, dy, dz = pixel_ray(view, u + 0.5 + RIGHT[q] / STEPS, v + 0.5 + DOWN[q] / STEPS)
        length = math.sqrt(dx * dx + dy * dy + dz * dz)
        slant[c] = length
        row.dx[c], row.dy[c], row.dz[c] = dx / length, dy / length, dz / length
        row.sun[c] = 1.0
        if surface[c] != SKY:
            t = 1.0 / np.float64(points.inverse_depth[n, q])
            row.far[c] = t
            row.x[c], row.y[c], row.z[c] = eye[0] + t * dx, eye[1] + t * dy, eye[2] + t * dz
    used = len(waiting)
    _shade(stage, view.focal_px, surface[:used], triangle[:used], slant[:used], False, row)
    bytes_of = np.empty((view.width, 4), np.uint8)
    tone_row(row, lens.gain, lens.table, bytes_of)
    for c in range(used):
        n, q = waiting[c] // POINTS, waiting[c] % POINTS
        for m in range(3):
            colors[n, q, m] = bytes_of[c, m]


@kernel
def put_edges(at: NDArray[np.int64], colors: NDArray[np.uint8], out: NDArray[np.uint8]) -> None:
    """Write the colours of edge pixels into the picture."""
    width = out.shape[1]
    for n in range(len(at)):
        for m in range(3):
            out[at[n] // width, at[n] % width, m] = colors[n, m]


@kernel
def _place_row(
    view: CameraView,
    v: int,
    surface: NDArray[np.int32],
    inverse_depth: NDArray[np.float32],
    slant: NDArray[np.float32],
    row: Row,
) -> None:
    """Write the rays and places of a row."""
    left_x, left_y, left_z = pixel_ray(view, 0.5, v + 0.5)
    right_x = view.axes[1, 0] / view.focal_px
    right_y = view.axes[1, 1] / view.focal_px
    right_z = view.axes[1, 2] / view.focal_px
    eye_x, eye_y, eye_z = view.origin[0], view.origin[1], view.origin[2]
    for u in range(view.width):
        dx, dy, dz = left_x + u * right_x, left_y + u * right_y, left_z + u * right_z
        length = math.sqrt(dx * dx + dy * dy + dz * dz)
        scale = 1.0 / length
        row.dx[u], row.dy[u], row.dz[u] = dx * scale, dy * scale, dz * scale
        slant[u] = length
        row.sun[u] = 1.0
        if surface[u] != SKY:
            t = 1.0 / np.float64(inverse_depth[u])
            row.far[u] = t
            row.x[u], row.y[u], row.z[u] = eye_x + t * dx, eye_y + t * dy, eye_z + t * dz


@kernel
def _vignette_row(vignette: tuple[float, float], view: CameraView, v: int, row: Row) -> None:
    """Darken the pixels far from the middle of the picture."""
    strength, power = vignette
    down = (2.0 * v + 1.0) / view.height - 1.0
    for u in range(view.width):
        across = (2.0 * u + 1.0) / view.width - 1.0
        share = max(
            1.0 - strength * math.pow(0.5 * (across * across + down * down), 0.5 * power), 0.0
        )
        row.red[u] *= share
        row.green[u] *= share
        row.blue[u] *= share
