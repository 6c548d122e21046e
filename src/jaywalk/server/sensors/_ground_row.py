"""The ground in one row of a picture: asphalt, paving, kerbs, grass, paint, water."""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jaywalk.server.sensors._ground_colors import (
    ASPHALT,
    KERB,
    KERB_COLOR,
    ROAD_BLUE,
    ROAD_GREEN,
    ROAD_RED,
    WATER,
    kerb_normal,
    painted_road,
    soaked,
    verge,
)
from jaywalk.server.sensors._road_paint import (
    INDEX_CELL_M,
    MIXED,
    ROAD,
    SIDEWALK,
    TERRAIN,
    RoadPaint,
    paint_at,
    share_at,
)
from jaywalk.server.sensors._rows import Row, Values
from jaywalk.server.sensors._solids import as_int64, kernel
from jaywalk.server.sensors._terrain import Relief, ground_height
from jaywalk.server.sensors._textures import Textures, level_of, texel_at, texel_index
from jaywalk.server.sensors._visibility import GROUND
from jaywalk.server.sensors._weather import SceneLight

_KERB_M: Final = 0.11  # height of kerbs in pictures
_MOST_KERB_M: Final = 3.0  # length of road that one hides, or of its face, on the ground
_GUTTER: Final = 0.82  # the road is darker beside a kerb
_GUTTER_M: Final = 0.10
_BESIDE_M: Final = 0.2  # from a sidewalk, as far as which the ground is as high as it
_WATER_M: Final = 11.0  # size of the pattern of puddles


class _Patch(NamedTuple):
    """Columns of the ground in a row: where each pixel lies, and what it shows."""

    wide: Values  # footprint of the pixel across and along the ray, and the mean
    long: Values
    mean: Values
    ahead_x: Values  # unit vector along the ray on the ground
    ahead_y: Values
    top_x: NDArray[np.float64]  # the place where the ray is as high as a kerb
    top_y: NDArray[np.float64]
    label: NDArray[np.int16]  # at the place on the ground; -1: outside the raster
    road: Values
    walk: Values
    top_label: NDArray[np.int16]  # where the ray is as high as a kerb
    top_road: Values
    top_walk: Values
    top_on: Values  # shares of the pixel: the ground beside the road, the face of the kerb
    face_on: Values


@kernel
def _new_patch(width: int) -> _Patch:
    values = np.empty((11, width), np.float32)
    return _Patch(
        values[0],
        values[1],
        values[2],
        values[3],
        values[4],
        np.empty(width),
        np.empty(width),
        np.empty(width, np.int16),
        values[5],
        values[6],
        np.empty(width, np.int16),
        values[7],
        values[8],
        values[9],
        values[10],
    )


@kernel
def ground_row(
    paint: RoadPaint,
    relief: Relief,
    textures: Textures,
    light: SceneLight,
    surface: NDArray[np.int32],
    focal_px: float,
    row: Row,
) -> None:
    """Write the ground's part of a row.

    Sidewalks rise over the road in the picture alone: a pixel shows the kerb's top where the ray
    meets it, its face where the ray passes below the top, and the road before it.
    """
    patch = _new_patch(len(surface))
    _footprints(relief, surface, 1.0 / focal_px, patch, row)
    _classes(paint, surface, row.x, row.y, patch.label, patch.road, patch.walk)
    _classes(
        paint, surface, patch.top_x, patch.top_y, patch.top_label, patch.top_road, patch.top_walk
    )
    _kerbs(paint.reach_m, surface, patch)
    _roads(paint, textures, surface, patch, row)
    _verges(paint.reach_m, textures, surface, patch, row)
    _faces(paint, textures, surface, patch, row)
    if light.wet > 0.0:
        _soak(textures, light, surface, patch, row)


@kernel
def _footprints(
    relief: Relief, surface: NDArray[np.int32], per_pixel: float, patch: _Patch, row: Row
) -> None:
    """Write normals and footprints: wide across the ray, long along it."""
    flat = relief.low_m == relief.high_m
    for u in range(len(surface)):
        if surface[u] != GROUND:
            continue
        x, y = row.x[u], row.y[u]
        dx, dy, dz = row.dx[u], row.dy[u], row.dz[u]
        nx, ny, nz = 0.0, 0.0, 1.0
        if not flat:
            z = row.z[u]
            east = ground_height(relief, x + 0.5, y, z) - ground_height(relief, x - 0.5, y, z)
            south = ground_height(relief, x, y + 0.5, z) - ground_height(relief, x, y - 0.5, z)
            nz = 1.0 / math.sqrt(east * east + south * south + 1.0)
            nx, ny = -east * nz, -south * nz
        row.nx[u], row.ny[u], row.nz[u] = nx, ny, nz
        wide = row.far[u] * per_pixel
        long = wide / max(abs(dx * nx + dy * ny + dz * nz), 0.02)
        level = math.sqrt(dx * dx + dy * dy) + 1e-9
        ahead_x, ahead_y = dx / level, dy / level
        back = min(_KERB_M * level / max(-dz, 0.02), _MOST_KERB_M)
        patch.wide[u], patch.long[u], patch.mean[u] = wide, long, math.sqrt(wide * long)
        patch.ahead_x[u], patch.ahead_y[u] = ahead_x, ahead_y
        patch.top_x[u], patch.top_y[u] = x - back * ahead_x, y - back * ahead_y
        row.gloss[u], row.rough[u], row.open[u] = 0.02, 0.95, 1.0
        row.own_red[u] = row.own_green[u] = row.own_blue[u] = 0.0


@kernel
def _classes(
    paint: RoadPaint,
    surface: NDArray[np.int32],
    xs: NDArray[np.float64],
    ys: NDArray[np.float64],
    label: NDArray[np.int16],
    road: Values,
    walk: Values,
) -> None:
    """Write the label of the ground (-1 outside the raster) and the shares of road and sidewalk."""
    kind, labels, roads, walks = paint.kind, paint.label, paint.road, paint.walk
    x0, y0, per_cell = paint.x0_m, paint.y0_m, 1.0 / paint.cell_m
    rows, columns = kind.shape
    for u in range(len(surface)):
        if surface[u] != GROUND:
            continue
        at_u, at_v = (xs[u] - x0) * per_cell, (ys[u] - y0) * per_cell
        label[u], road[u], walk[u] = -1, 0.0, 0.0
        if not (0.0 <= at_u < columns and 0.0 <= at_v < rows):
            continue
        i, j = int(at_u), int(at_v)
        own = kind[j, i]
        if own == MIXED:
            label[u] = labels[j, i]
            road[u], walk[u] = share_at(roads, at_u, at_v), share_at(walks, at_u, at_v)
        else:
            label[u] = own
            road[u] = 1.0 if own == ROAD else 0.0
            walk[u] = 1.0 if own == SIDEWALK else 0.0


@kernel
def _kerbs(reach_m: float, surface: NDArray[np.int32], patch: _Patch) -> None:
    """Write the shares of each pixel that show the ground beside the road and a kerb's face."""
    roads, walks, top_roads, top_walks = patch.road, patch.walk, patch.top_road, patch.top_walk
    near = 0.5 - _BESIDE_M / reach_m
    for u in range(len(surface)):
        if surface[u] != GROUND:
            continue
        road, walk, top_road, top_walk = roads[u], walks[u], top_roads[u], top_walks[u]
        if top_walk == 0.0 and walk == 0.0 and (road == 0.0 or road == 1.0):
            patch.top_on[u], patch.face_on[u] = 1.0 - road, 0.0
            continue
        sharp = reach_m / max(min(patch.mean[u], reach_m), 1e-3)
        road_on = min(max((road - 0.5) * sharp + 0.5, 0.0), 1.0)
        top_on, face_on = 1.0 - road_on, 0.0
        if top_walk > near and patch.label[u] >= 0:
            before = min(max((top_road - 0.5) * sharp + 0.5, 0.0), 1.0)
            top_on, face_on = 1.0 - before, before * (1.0 - road_on)
        elif walk > near and top_road > 0.5:
            top_on, face_on = 0.0, 1.0 - road_on
        patch.top_on[u], patch.face_on[u] = top_on, face_on


@kernel
def _roads(
    paint: RoadPaint, textures: Textures, surface: NDArray[np.int32], patch: _Patch, row: Row
) -> None:
    """Write the colour of the road with its paint."""
    texels = textures.texels
    first, size = textures.first[ASPHALT], textures.size[ASPHALT]
    per_m = textures.per_m[ASPHALT]
    bands, starts, items = paint.bands, paint.starts, paint.items
    x0, y0, index_columns = paint.x0_m, paint.y0_m, paint.index_columns
    paint_reach_m = paint.reach_m
    for u in range(len(surface)):
        if surface[u] != GROUND or patch.top_on[u] >= 1.0:
            continue
        x, y = row.x[u], row.y[u]
        texels_per_pixel = patch.mean[u] * per_m * size
        level = level_of(texels_per_pixel, size)
        side = size >> level
        fine = per_m * side
        tone = texels[first[level] + texel_at(x * fine, y * fine, side), 0] * 0.0078125
        # Patches and worn lanes, from the same texture at another scale.
        level = level_of(0.05 * texels_per_pixel, size)
        side = size >> level
        fine = per_m * side
        index = first[level] + texel_at((0.053 * x + 0.7) * fine, 0.047 * y * fine, side)
        tone *= 0.72 + 0.28 * texels[index, 0] * 0.0078125
        red, green, blue = tone * ROAD_RED, tone * ROAD_GREEN, tone * ROAD_BLUE
        if patch.label[u] >= 0:
            column = int((x - x0) * (1.0 / INDEX_CELL_M))
            cell = int((y - y0) * (1.0 / INDEX_CELL_M)) * index_columns + column
            if starts[cell] != starts[cell + 1]:
                ahead = (patch.ahead_x[u], patch.ahead_y[u])
                painted, yellow = paint_at(
                    bands, starts, items, cell, x, y, ahead, patch.wide[u], patch.long[u]
                )
                if painted > 0.0:
                    red, green, blue = painted_road(red, green, blue, painted, yellow)
            if patch.road[u] < 1.0 and patch.walk[u] > 0.0:
                # The gutter is a hand wide.
                shade = (0.5 + _GUTTER_M / paint_reach_m - patch.road[u]) * paint_reach_m
                shade = min(max(shade / max(patch.mean[u], 1e-3) + 0.5, 0.0), 1.0)
                shade = 1.0 - (1.0 - _GUTTER) * shade
                red, green, blue = red * shade, green * shade, blue * shade
        row.red[u], row.green[u], row.blue[u] = red, green, blue


@kernel
def _verges(
    reach_m: float, textures: Textures, surface: NDArray[np.int32], patch: _Patch, row: Row
) -> None:
    """Mix the ground beside the road into the colours."""
    texels, first, size, per_m = textures
    near = 0.5 - _BESIDE_M / reach_m
    for u in range(len(surface)):
        on = patch.top_on[u]
        if surface[u] != GROUND or on <= 0.0:
            continue
        sharp = reach_m / max(min(patch.mean[u], reach_m), 1e-3)
        if patch.top_walk[u] > near and patch.label[u] >= 0:
            place, label = (patch.top_x[u], patch.top_y[u]), patch.top_label[u]
            shares = (patch.top_road[u], patch.top_walk[u])
        else:
            place, label = (row.x[u], row.y[u]), patch.label[u]
            shares = (patch.road[u], patch.walk[u])
        label = label if label >= 0 else TERRAIN
        red, green, blue = verge(
            texels,
            first,
            size,
            per_m,
            place,
            patch.mean[u],
            as_int64(label),
            shares,
            (sharp, reach_m),
        )
        if on >= 1.0:
            row.red[u], row.green[u], row.blue[u] = red, green, blue
        else:
            row.red[u] += on * (red - row.red[u])
            row.green[u] += on * (green - row.green[u])
            row.blue[u] += on * (blue - row.blue[u])


@kernel
def _faces(
    paint: RoadPaint, textures: Textures, surface: NDArray[np.int32], patch: _Patch, row: Row
) -> None:
    """Mix the faces of kerbs into the colours and the normals."""
    texels, first, size, per_m = textures
    roads, x0, y0, per_cell = paint.road, paint.x0_m, paint.y0_m, 1.0 / paint.cell_m
    for u in range(len(surface)):
        on = patch.face_on[u]
        if surface[u] != GROUND or on <= 0.0:
            continue
        x, y = row.x[u], row.y[u]
        index = texel_index(first, size, per_m, KERB, x + y, 0.0, patch.mean[u])
        tone = texels[index, 0] * 0.0078125 * 0.86 * KERB_COLOR
        row.red[u] += on * (tone - row.red[u])
        row.green[u] += on * (tone - row.green[u])
        row.blue[u] += on * (tone * 0.97 - row.blue[u])
        level = (row.nx[u], row.ny[u], row.nz[u])
        at_u, at_v = (x - x0) * per_cell, (y - y0) * per_cell
        normal = kerb_normal(roads, at_u, at_v, 0.3 * per_cell, on, level)
        row.nx[u], row.ny[u], row.nz[u] = normal


@kernel
def _soak(
    textures: Textures,
    light: SceneLight,
    surface: NDArray[np.int32],
    patch: _Patch,
    row: Row,
) -> None:
    """Darken wet ground and make it shine; meadows stay dull."""
    texels, first, size, per_m = textures
    for u in range(len(surface)):
        if surface[u] != GROUND:
            continue
        built = patch.road[u] > 0.4 or patch.walk[u] > 0.4 or patch.top_walk[u] > 0.4
        if not built and (patch.label[u] < 0 or patch.label[u] == TERRAIN):
            continue
        across, along = row.x[u] * 4.0 / _WATER_M, row.y[u] * 4.0 / _WATER_M
        index = texel_index(first, size, per_m, WATER, across, along, patch.mean[u])
        dark, gloss, rough = soaked(light, texels[index, 0], 1.0 - patch.top_on[u])
        row.red[u], row.green[u], row.blue[u] = (
            row.red[u] * dark,
            row.green[u] * dark,
            row.blue[u] * dark,
        )
        row.gloss[u], row.rough[u] = gloss, rough
