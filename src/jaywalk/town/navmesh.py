"""Pedestrian mesh for clients: one Detour tile whose polygons are one or two grid cells.

Cells are sidewalks and crosswalks; neighbours share an edge, so people change sides only at
crosswalks. Two cells of the same area form one polygon. Its six corners are the limit of the
format, so every cell edge still has one neighbour. Mesh axes are (x, z, y) of CARLA's world.

The tile contains a bounding-volume tree; without it every query scans all polygons. Nodes are in
depth-first order. A leaf holds the number of its polygon; an inner node holds minus the number of
nodes in its subtree, which a query skips when it misses the node.
"""

from __future__ import annotations

import struct
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import label

from jaywalk.core.arrays import FloatArray
from jaywalk.core.errors import DataError
from jaywalk.core.kernels import kernel
from jaywalk.town._surface import covered_nodes, strip_triangles
from jaywalk.town.ground import Ground, surface_height
from jaywalk.town.lanes import LaneStrip
from jaywalk.town.raster import fill_polygon, fill_strip

NODE: Final = np.dtype([("low", "<u2", (3,)), ("high", "<u2", (3,)), ("index", "<i4")])
_LARGEST: Final = 0xFFFF


def quantise(
    low_m: NDArray[np.float64],
    high_m: NDArray[np.float64],
    origin_m: NDArray[np.float64],
    per_metre: float,
) -> NDArray[np.int64]:
    """Convert boxes to (n, 6) whole steps from the tile's corner, rounded outwards."""
    low = np.floor((low_m - origin_m) * per_metre)
    high = np.ceil((high_m - origin_m) * per_metre)
    boxes: NDArray[np.int64] = np.concatenate([low, high], axis=1).astype(np.int64)
    return np.clip(boxes, 0, _LARGEST)


def build_tree(boxes: NDArray[np.int64]) -> NDArray[np.void]:
    """Build the tree of boxes (n, 6): split at the median of the longest side, 2 n - 1 nodes."""
    count = len(boxes)
    bounds = np.zeros((2 * count - 1, 6), np.int64)
    index = np.zeros(2 * count - 1, np.int64)
    _fill(boxes, np.arange(count), bounds, index)
    nodes = np.zeros(2 * count - 1, NODE)
    nodes["low"], nodes["high"], nodes["index"] = bounds[:, :3], bounds[:, 3:], index
    return nodes


@kernel
def _fill(
    boxes: NDArray[np.int64],
    order: NDArray[np.int64],
    bounds: NDArray[np.int64],
    index: NDArray[np.int64],
) -> None:
    stack = [(0, len(order), 0)]  # first item, end, node
    while len(stack) > 0:
        first, end, node = stack.pop()
        for axis in range(3):
            bounds[node, axis] = boxes[order[first:end], axis].min()
            bounds[node, 3 + axis] = boxes[order[first:end], 3 + axis].max()
        size = end - first
        if size == 1:
            index[node] = order[first]
            continue
        index[node] = -(2 * size - 1)
        axis = int(np.argmax(bounds[node, 3:] - bounds[node, :3]))
        middle = boxes[order[first:end], axis] + boxes[order[first:end], 3 + axis]
        # A stable sort keeps the bytes the same on every machine.
        order[first:end] = order[first:end][np.argsort(middle, kind="mergesort")]
        half = first + size // 2
        stack.append((half, end, node + 2 * (half - first)))
        stack.append((first, half, node + 1))


SIDEWALK_AREA, CROSSWALK_AREA = 1, 2
SIDEWALK_FLAG, CROSSWALK_FLAG = 2, 4
_SET_MAGIC, _TILE_MAGIC = 0x4D534554, 0x444E4156
_MAX_VERTICES = 0xFFFF
_MAX_POLYGONS = 0x7FFE  # neighbours are numbered from 1 and the top bit marks another tile
_SMALLEST_CELLS = 12  # people placed on a smaller island could not leave it
_NO_LINK = 0xFFFFFFFF
_TREE_STEPS_PER_M = 20.0  # 16 bits reach 3.2 km
REACH_M = 3.0  # largest extension of a crosswalk across gutter and verge to the sidewalk
ROADWAY = frozenset(
    {
        "driving",
        "bidirectional",
        "parking",
        "stop",
        "biking",
        "entry",
        "exit",
        "onRamp",
        "offRamp",
        "restricted",
        "rail",
        "tram",
    }
)

_POLYGON = np.dtype(
    [
        ("first_link", "<u4"),
        ("vertices", "<u2", 6),
        ("neighbours", "<u2", 6),
        ("flags", "<u2"),
        ("count", "u1"),
        ("area", "u1"),
    ]
)
_DETAIL = np.dtype(
    [
        ("vertex_base", "<u4"),
        ("triangle_base", "<u4"),
        ("vertex_count", "u1"),
        ("triangle_count", "u1"),
        ("pad", "<u2"),
    ]
)


class NavMesh(NamedTuple):
    """A pedestrian mesh read back from its bytes; vertices in CARLA's world axes."""

    vertices_m: FloatArray  # (v, 3)
    counts: NDArray[np.int64]  # (p,) corners: 4 or 6
    polygons: NDArray[np.int64]  # (p, 6) vertex numbers, 0 beyond the count
    neighbours: NDArray[np.int64]  # (p, 6) polygon numbers, -1 at a border
    areas: NDArray[np.uint8]  # (p,) 1 sidewalk, 2 crosswalk


class _Pattern(NamedTuple):
    """Shape of a polygon as (column, row) offsets: corners, cell beyond each edge, triangles.

    Winding order that the client expects: (x-, y-), (x-, y+), (x+, y+), (x+, y-).
    """

    corners: tuple[tuple[int, int], ...]
    beyond: tuple[tuple[int, int], ...]
    triangles: tuple[tuple[int, int, int], ...]


# Index: 0 a single cell, 1 two cells along x, 2 two cells along y.
_PATTERNS = (
    _Pattern(
        ((0, 0), (0, 1), (1, 1), (1, 0)),
        ((-1, 0), (0, 1), (1, 0), (0, -1)),
        ((0, 1, 2), (0, 2, 3)),
    ),
    _Pattern(
        ((0, 0), (0, 1), (1, 1), (2, 1), (2, 0), (1, 0)),
        ((-1, 0), (0, 1), (1, 1), (2, 0), (1, -1), (0, -1)),
        ((0, 1, 2), (0, 2, 5), (5, 2, 3), (5, 3, 4)),
    ),
    _Pattern(
        ((0, 0), (0, 1), (0, 2), (1, 2), (1, 1), (1, 0)),
        ((-1, 0), (-1, 1), (0, 2), (1, 1), (1, 0), (0, -1)),
        ((0, 1, 4), (0, 4, 5), (1, 2, 3), (1, 3, 4)),
    ),
)


class _Cells(NamedTuple):
    """The walkable cells: row, column, area and height of each, in raster order."""

    x0_m: float
    y0_m: float
    cell_m: float
    areas: NDArray[np.uint8]  # (rows, columns), 0: not walkable
    heights_m: NDArray[np.float64]  # (rows, columns)


def build_navmesh(
    strips: list[LaneStrip], crosswalks: list[FloatArray], ground: Ground, cell_m: float = 1.0
) -> bytes:
    """Build the bytes of the mesh; empty if the town has no sidewalk.

    Cells are enlarged if the mesh would exceed the format's 65 535 vertices or 32 766 polygons.
    """
    sidewalks = [strip for strip in strips if strip.kind == "sidewalk"]
    if not sidewalks:
        return b""
    roadway = [strip for strip in strips if strip.kind in ROADWAY]
    while True:
        cells = _walkable_cells(sidewalks, roadway, crosswalks, cell_m)
        patterns = _pair_cells(cells.areas)
        vertices, polygons = _polygons(cells, patterns, ground)
        if len(vertices) <= _MAX_VERTICES and len(polygons) <= _MAX_POLYGONS:
            return _pack(vertices, polygons, patterns[patterns >= 0])
        cell_m *= 1.2


def _walkable_cells(
    sidewalks: list[LaneStrip],
    roadway: list[LaneStrip],
    crosswalks: list[FloatArray],
    cell_m: float,
) -> _Cells:
    triangles = strip_triangles(sidewalks)
    points = np.concatenate([triangles.reshape(-1, 3)[:, :2], *(c[:, :2] for c in crosswalks)])
    x0, y0 = (float(v) for v in np.floor(points.min(axis=0)) - 2.0)
    columns, rows = (int(n) for n in np.ceil((points.max(axis=0) + 2.0 - (x0, y0)) / cell_m))
    centre = (x0 + 0.5 * cell_m, y0 + 0.5 * cell_m)
    nodes, node_heights = covered_nodes(triangles, *centre, cell_m, columns, rows)
    areas = np.zeros((rows, columns), np.uint8)
    heights = np.full((rows, columns), np.nan)
    areas.flat[nodes] = SIDEWALK_AREA
    heights.flat[nodes] = node_heights
    road = np.zeros((rows, columns), np.uint8)
    for strip in roadway:
        fill_strip(road, x0, y0, cell_m, strip.inner_m, strip.outer_m, 1)
    areas[(road == 1) & (areas == SIDEWALK_AREA)] = 0  # corners that cut across a junction mouth
    for polygon in crosswalks:
        _add_crosswalk(areas, heights, road, polygon, (x0, y0, cell_m))
    pieces, _ = label(areas)
    areas[np.bincount(pieces.ravel())[pieces] < _SMALLEST_CELLS] = 0
    return _Cells(x0, y0, cell_m, areas, heights)


def _add_crosswalk(
    areas: NDArray[np.uint8],
    heights: NDArray[np.float64],
    road: NDArray[np.uint8],
    polygon: FloatArray,
    grid: tuple[float, float, float],
) -> None:
    """Mark a crosswalk, extended beyond the roadway until it touches the sidewalks."""
    x0, y0, cell = grid
    long = lengthened(polygon[:, :2], REACH_M)
    corners = np.concatenate([polygon[:, :2], long])
    low = np.maximum(((corners.min(axis=0) - (x0, y0)) / cell).astype(int) - 1, 0)
    high = ((corners.max(axis=0) - (x0, y0)) / cell).astype(int) + 2
    window = (slice(low[1], high[1]), slice(low[0], high[0]))
    at = (x0 + low[0] * cell, y0 + low[1] * cell, cell)
    core = np.zeros_like(areas[window])
    fill_polygon(core, *at, np.ascontiguousarray(polygon[:, :2]), 1)
    reach = np.zeros_like(core)
    fill_polygon(reach, *at, long, 1)
    free = ((core == 1) | ((reach == 1) & (road[window] == 0))) & (areas[window] != SIDEWALK_AREA)
    pieces, _ = label(free)
    # Pieces that the painted part does not touch lie behind the sidewalk.
    new = free & np.isin(pieces, np.unique(pieces[(core == 1) & free]))
    areas[window][new] = CROSSWALK_AREA
    heights[window][new] = polygon[:, 2].mean()


def lengthened(polygon: FloatArray, by_m: float) -> FloatArray:
    """Box of the polygon along its main axis, longer by ``by_m`` at both ends.

    The main axis is the walking direction: across the road.
    """
    centre = polygon.mean(axis=0)
    _, _, axes = np.linalg.svd(polygon - centre)
    local = (polygon - centre) @ axes.T
    low, high = local.min(axis=0), local.max(axis=0)
    low[0] -= by_m
    high[0] += by_m
    corners = np.array([[low[0], low[1]], [low[0], high[1]], [high[0], high[1]], [high[0], low[1]]])
    result: FloatArray = np.ascontiguousarray(corners @ axes + centre)
    return result


@kernel
def _pair_cells(areas: NDArray[np.uint8]) -> NDArray[np.int8]:
    """Pattern of the polygon that starts in each cell; -1 where none starts."""
    rows, columns = areas.shape
    patterns = np.full((rows, columns), -1, np.int8)
    taken = areas == 0
    for along_y in (False, True):
        for row in range(rows):
            for column in range(columns):
                r, c = (row + 1, column) if along_y else (row, column + 1)
                if taken[row, column] or r >= rows or c >= columns or taken[r, c]:
                    continue
                if areas[r, c] == areas[row, column]:
                    patterns[row, column] = 2 if along_y else 1
                    taken[row, column] = taken[r, c] = True
    for row in range(rows):
        for column in range(columns):
            if not taken[row, column]:
                patterns[row, column] = 0
    return patterns


def _polygons(
    cells: _Cells, patterns: NDArray[np.int8], ground: Ground
) -> tuple[FloatArray, NDArray[np.void]]:
    """Vertices (in mesh axes) and polygon records, in raster order of their first cells."""
    rows, columns = cells.areas.shape
    row, column = np.nonzero(patterns >= 0)
    kind = patterns[row, column]
    number = np.zeros((rows + 2, columns + 2), np.int64)  # from 1, within a border of zeros
    serial = np.arange(1, len(row) + 1)
    number[row + 1, column + 1] = serial
    for paired, (dx, dy) in ((1, (1, 0)), (2, (0, 1))):
        pair = kind == paired
        number[row[pair] + dy + 1, column[pair] + dx + 1] = serial[pair]
    corner = np.full((len(row), 6), -1, np.int64)
    records = np.zeros(len(row), _POLYGON)
    for index, pattern in enumerate(_PATTERNS):
        mine = np.nonzero(kind == index)[0]
        records["count"][mine] = len(pattern.corners)
        for edge, ((dx, dy), (nx, ny)) in enumerate(
            zip(pattern.corners, pattern.beyond, strict=True)
        ):
            corner[mine, edge] = (row[mine] + dy) * (columns + 1) + column[mine] + dx
            beyond = number[row[mine] + ny + 1, column[mine] + nx + 1]
            records["neighbours"][mine, edge] = np.minimum(beyond, _MAX_VERTICES)
    used, vertex = np.unique(corner[corner >= 0], return_inverse=True)
    near = np.zeros(len(used))
    near[vertex] = np.broadcast_to(cells.heights_m[row, column][:, None], corner.shape)[corner >= 0]
    vertices = np.empty((len(used), 3))
    vertices[:, 0] = cells.x0_m + (used % (columns + 1)) * cells.cell_m
    vertices[:, 2] = cells.y0_m + (used // (columns + 1)) * cells.cell_m
    vertices[:, 1] = _heights(ground, vertices[:, 0], vertices[:, 2], near)
    slots = np.zeros(corner.shape, np.uint16)
    slots[corner >= 0] = np.minimum(vertex, _MAX_VERTICES)
    area = cells.areas[row, column]
    records["vertices"] = slots
    records["first_link"] = _NO_LINK
    records["flags"] = np.where(area == SIDEWALK_AREA, SIDEWALK_FLAG, CROSSWALK_FLAG)
    records["area"] = area
    return vertices, records


@kernel
def _heights(
    ground: Ground, x: NDArray[np.float64], y: NDArray[np.float64], near: NDArray[np.float64]
) -> NDArray[np.float64]:
    out = np.empty(len(x))
    for k in range(len(x)):
        out[k] = surface_height(ground, x[k], y[k], near[k])
    return out


def _pack(
    vertices: FloatArray,
    polygons: NDArray[np.void],
    patterns: NDArray[np.int8],
) -> bytes:
    count = len(polygons)
    links = int(np.count_nonzero(polygons["neighbours"]))
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    details = np.zeros(count, _DETAIL)
    details["triangle_count"] = np.where(patterns == 0, 2, 4)
    details["triangle_base"][1:] = np.cumsum(details["triangle_count"][:-1], dtype=np.int64)
    rows = [
        np.array(
            [[*t, _outline_edges(t, len(pattern.corners))] for t in pattern.triangles], np.uint8
        )
        for pattern in _PATTERNS
    ]
    triangles = np.concatenate([rows[pattern].ravel() for pattern in patterns])
    tree = _tree(vertices, polygons, low)
    header = struct.pack(
        "<15i3f3f3ff",
        _TILE_MAGIC,
        7,
        0,
        0,
        0,
        0,
        count,
        len(vertices),
        links,
        count,
        0,
        len(triangles) // 4,
        len(tree),
        0,
        count,
        2.0,
        0.3,
        0.5,
        *low,
        *high,
        _TREE_STEPS_PER_M,
    )
    data = b"".join(
        [
            header,
            vertices.astype("<f4").tobytes(),
            polygons.tobytes(),
            bytes(12 * links),
            details.tobytes(),
            triangles.tobytes(),
            tree.tobytes(),
        ]
    )
    bits = max(count - 1, 1).bit_length()
    params = struct.pack("<5f2i", *low, high[0] - low[0], high[2] - low[2], 1, 1 << bits)
    head = struct.pack("<3i", _SET_MAGIC, 1, 1) + params
    return head + struct.pack("<Ii", 1 << bits, len(data)) + data


def _outline_edges(triangle: tuple[int, int, int], corners: int) -> int:
    """Flags, two bits an edge, of the triangle's edges that lie on the polygon's outline.

    Without them the client's crowd dereferences null when a walker starts off the mesh.
    """
    flags = 0
    for edge in range(3):
        a, b = triangle[edge], triangle[(edge + 1) % 3]
        if (a - b) % corners in (1, corners - 1):
            flags |= 1 << (2 * edge)
    return flags


def _tree(
    vertices: FloatArray, polygons: NDArray[np.void], origin_m: FloatArray
) -> NDArray[np.void]:
    corners = vertices[polygons["vertices"].astype(np.int64)]
    # Unused corner slots of four-cornered polygons repeat the first corner.
    spare = np.arange(6)[None, :] >= polygons["count"][:, None]
    corners[spare] = np.repeat(corners[:, :1], 6, axis=1)[spare]
    boxes = quantise(corners.min(axis=1), corners.max(axis=1), origin_m, _TREE_STEPS_PER_M)
    return build_tree(boxes)


def parse_navmesh(data: bytes) -> NavMesh:
    """Parse the bytes of a one-tile mesh; :class:`DataError` if they have another form."""
    try:
        magic, version, tiles = struct.unpack_from("<3i", data, 0)
        _, size = struct.unpack_from("<Ii", data, 40)
        fields = struct.unpack_from("<15i", data, 48)
    except struct.error as error:
        raise DataError(f"The pedestrian mesh is cut short ({len(data)} bytes).") from error
    if (magic, version, tiles, fields[0]) != (_SET_MAGIC, 1, 1, _TILE_MAGIC):
        raise DataError("The pedestrian mesh is not a one-tile Detour set of version 1.")
    count, vertex_count, links = fields[6], fields[7], fields[8]
    need = 100 + 12 * vertex_count + 32 * count + 12 * links + 12 * count + 4 * fields[11]
    need += NODE.itemsize * fields[12]
    if size != need or len(data) != 48 + size:
        raise DataError(f"The pedestrian mesh has {len(data)} bytes; its header says {48 + need}.")
    vertices = np.frombuffer(data, "<f4", 3 * vertex_count, 148).reshape(-1, 3).astype(np.float64)
    polygons = np.frombuffer(data, _POLYGON, count, 148 + 12 * vertex_count)
    return NavMesh(
        vertices[:, [0, 2, 1]],
        polygons["count"].astype(np.int64),
        polygons["vertices"].astype(np.int64),
        polygons["neighbours"].astype(np.int64) - 1,
        (polygons["area"] & 0x3F).astype(np.uint8),
    )
