"""Find contacts: broad and narrow phase over the actor table and the solid scenery.

Shapes are upright: oriented boxes for vehicles and props, cylinders for people. Two shapes touch
only where their heights overlap, so that bridges and cars parked under the world touch nothing.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.kernels import kernel
from jaywalk.geometry.box import box_box_point, shape_overlap, upright_box
from jaywalk.server.world._scenery_index import StaticGrid
from jaywalk.server.world._tables import Kind
from jaywalk.server.world._walker_dynamics import MOVABLE_KG

VEHICLE: Final = int(Kind.VEHICLE)
WALKER: Final = int(Kind.WALKER)
ROUND_RATIO: Final = 1.2  # a walker that much longer than wide is an animal, a box
PROP: Final = int(Kind.PROP)
_LOW_M: Final = 0.24  # lower props are driven over
_TOUCH_HEIGHT_M: Final = 0.05  # least common height of two actors in contact
_DEEP_M: Final = 0.25  # deeper overlaps are traced back along the step
_TRACE_M: Final = 0.2  # spacing of the poses tried then
_SIDELONG_M: Final = 0.03

CONTACT: Final = np.dtype(
    [
        ("row_a", "i4"),
        ("row_b", "i4"),  # -1: scenery
        ("scenery", "i4"),  # row of the scenery array, -1 for actors
        ("when", "f8"),  # share of the step at which the two met; both are set back to it
        ("nx", "f8"),
        ("ny", "f8"),
        ("nz", "f8"),  # unit normal from b to a
        ("depth_m", "f8"),
        ("px", "f8"),
        ("py", "f8"),
        ("pz", "f8"),
        ("ix", "f8"),
        ("iy", "f8"),
        ("iz", "f8"),  # impulse on a, kg m/s (b gets the opposite)
        ("closing_mps", "f8"),  # approach speed along the normal before the response, >= 0
    ],
    align=True,
)

# Columns of the scratch array of shapes.
_X, _Y, _COS, _SIN, _HX, _HY, _LOW, _HIGH, _REACH, _DX, _DY, _TURN = range(12)
Shapes = NDArray[np.float64]


@kernel
def movable(row: Any) -> bool:
    """Return whether contacts can push an actor (constant-velocity vehicles: walls only)."""
    if not row["physics"] and not (row["kind"] == WALKER and row["ai"]):
        return False
    if row["kind"] == PROP:
        return bool(0.0 < row["mass"] <= MOVABLE_KG)
    return True


@kernel
def touchable(row: Any) -> bool:
    """Return whether an actor takes part in contacts."""
    if row["id"] == 0 or not row["collides"] or row["attached"]:
        return False
    if row["kind"] == PROP:
        return bool(2.0 * row["ez"] >= _LOW_M)
    return bool(row["kind"] == VEHICLE or row["kind"] == WALKER)


@kernel
def is_round(row: Any) -> bool:
    """Return whether an actor is an upright cylinder, as people are; animals are boxes."""
    return bool(row["kind"] == WALKER and row["ex"] <= ROUND_RATIO * row["ey"])


@kernel
def _describe(row: Any, shape: Shapes) -> None:
    """Write the shape of an actor at the end of the step and its motion during the step."""
    cos, sin = np.cos(row["yaw"]), np.sin(row["yaw"])
    hx, hy, hz = row["ex"], row["ey"], row["ez"]
    cx, cy, cz = row["cx"], row["cy"], row["cz"]
    if row["kind"] == PROP and (row["pitch"] != 0.0 or row["roll"] != 0.0):
        hx, hy, hz, cx, cy, cz = upright_box(hx, hy, hz, cx, cy, cz, row["pitch"], row["roll"])
    shape[_X] = row["x"] + cx * cos - cy * sin
    shape[_Y] = row["y"] + cx * sin + cy * cos
    shape[_COS], shape[_SIN] = cos, sin
    shape[_HX], shape[_HY] = hx, hy
    middle = row["z"] + cz
    shape[_LOW], shape[_HIGH] = middle - hz, middle + hz
    shape[_REACH] = np.sqrt(hx**2 + hy**2)
    if row["kind"] == WALKER:
        if is_round(row):
            shape[_REACH] = row["ex"]
        if row["down_s"] > 0.0:
            shape[_LOW], shape[_HIGH] = row["z"] - 0.25, row["z"] + 0.25
    shape[_DX] = shape[_DY] = shape[_TURN] = 0.0
    if row["physics"]:
        shape[_DX], shape[_DY] = row["x"] - row["prev_x"], row["y"] - row["prev_y"]
        shape[_TURN] = row["yaw"] - row["prev_yaw"]


@kernel
def _set_back(shape: Shapes, when: float, out: Shapes) -> None:
    """Write the shape at a share of the step; ``when`` = 1 is its end."""
    out[:] = shape
    back = when - 1.0
    out[_X] += back * shape[_DX]
    out[_Y] += back * shape[_DY]
    if shape[_TURN] != 0.0:
        cos, sin = np.cos(back * shape[_TURN]), np.sin(back * shape[_TURN])
        out[_COS] = shape[_COS] * cos - shape[_SIN] * sin
        out[_SIN] = shape[_SIN] * cos + shape[_COS] * sin


@kernel
def _overlap(a: Shapes, a_round: bool, b: Shapes, b_round: bool) -> Any:
    return shape_overlap(
        a[_X],
        a[_Y],
        a[_COS],
        a[_SIN],
        a[_HX],
        a[_HY],
        a_round,
        b[_X],
        b[_Y],
        b[_COS],
        b[_SIN],
        b[_HX],
        b[_HY],
        b_round,
    )


@kernel
def _touch_point(a: Shapes, a_round: bool, b: Shapes, b_round: bool, nx: float, ny: float) -> Any:
    if a_round:
        return a[_X] - nx * a[_HX], a[_Y] - ny * a[_HX]
    if b_round:
        return b[_X] + nx * b[_HX], b[_Y] + ny * b[_HX]
    return box_box_point(
        a[_X],
        a[_Y],
        a[_COS],
        a[_SIN],
        a[_HX],
        a[_HY],
        b[_X],
        b[_Y],
        b[_COS],
        b[_SIN],
        b[_HX],
        b[_HY],
    )


@kernel
def _trace(
    a: Shapes, a_round: bool, b: Shapes, b_round: bool, moved: float, at_a: Shapes, at_b: Shapes
) -> float:
    """Return the share of the step at which two shapes first overlapped, to about 1 cm."""
    tries = min(int(np.ceil(moved / _TRACE_M)), 32)
    for k in range(tries + 1):
        _set_back(a, k / tries, at_a)
        _set_back(b, k / tries, at_b)
        if _overlap(at_a, a_round, at_b, b_round)[0] <= 0.0:
            continue
        if k == 0:
            return 0.0
        apart, met = (k - 1) / tries, k / tries
        for _ in range(4):
            middle = 0.5 * (apart + met)
            _set_back(a, middle, at_a)
            _set_back(b, middle, at_b)
            if _overlap(at_a, a_round, at_b, b_round)[0] > 0.0:
                met = middle
            else:
                apart = middle
        return met
    return 1.0


@kernel
def _meet(
    a: Shapes, a_round: bool, b: Shapes, b_round: bool, scratch: Shapes, contact: Any
) -> bool:
    """Narrow phase of one pair; a fast overlap is traced back to the place of first contact."""
    depth, nx, ny = _overlap(a, a_round, b, b_round)
    if depth <= 0.0:
        return False
    when = 1.0
    at_a, at_b = scratch[0], scratch[1]
    at_a[:], at_b[:] = a, b
    rx, ry = a[_DX] - b[_DX], a[_DY] - b[_DY]
    moved = np.sqrt(rx * rx + ry * ry)
    # The shortest way out is not the way in when the motion along it is less than the depth.
    sidelong = -(rx * nx + ry * ny) < depth - _SIDELONG_M
    if moved > _TRACE_M and (depth > _DEEP_M or sidelong):
        met = _trace(a, a_round, b, b_round, moved, at_a, at_b)
        _set_back(a, met, at_a)
        _set_back(b, met, at_b)
        overlap, fx, fy = _overlap(at_a, a_round, at_b, b_round)
        # An overlap from before the step is not new, unless it has become deep since.
        if overlap > 0.0 and (met > 0.0 or overlap <= _DEEP_M < depth):
            when, depth, nx, ny = met, overlap, fx, fy
        else:
            at_a[:], at_b[:] = a, b
    contact["when"] = when
    contact["nx"], contact["ny"], contact["nz"] = nx, ny, 0.0
    contact["depth_m"] = depth
    contact["px"], contact["py"] = _touch_point(at_a, a_round, at_b, b_round, nx, ny)
    contact["pz"] = 0.5 * (max(a[_LOW], b[_LOW]) + min(a[_HIGH], b[_HIGH]))
    contact["ix"] = contact["iy"] = contact["iz"] = contact["closing_mps"] = 0.0
    return True


@kernel
def _pair_counts(a: Any, row_a: int, b: Any, row_b: int) -> bool:
    """Return whether contacts between two touchable actors count."""
    if a["kind"] != VEHICLE and b["kind"] != VEHICLE and a["kind"] == b["kind"]:
        return False
    if a["parent_row"] == row_b or b["parent_row"] == row_a:
        return False
    return bool(movable(a) or movable(b))


@kernel
def _scenery_contacts(
    row: int, actor: Any, shape: Shapes, scratch: Shapes, grid: StaticGrid, out: Any, count: int
) -> int:
    """Append the contacts of one actor with the scenery to ``out``."""
    sweep = shape[_REACH] + np.sqrt(shape[_DX] ** 2 + shape[_DY] ** 2)
    first_i = max(int(np.floor((shape[_X] - sweep - grid.x0_m) / grid.cell_m)), 0)
    last_i = min(int(np.floor((shape[_X] + sweep - grid.x0_m) / grid.cell_m)), grid.columns - 1)
    first_j = max(int(np.floor((shape[_Y] - sweep - grid.y0_m) / grid.cell_m)), 0)
    last_j = min(int(np.floor((shape[_Y] + sweep - grid.y0_m) / grid.cell_m)), grid.rows - 1)
    first = count
    solid = scratch[2]
    for j in range(first_j, last_j + 1):
        for i in range(first_i, last_i + 1):
            cell = j * grid.columns + i
            for k in range(grid.starts[cell], grid.starts[cell + 1]):
                item = grid.items[k]
                common = min(shape[_HIGH], grid.high[item]) - max(shape[_LOW], grid.low[item])
                if common < _LOW_M:
                    continue
                solid[:] = 0.0
                solid[_X], solid[_Y] = grid.x[item], grid.y[item]
                solid[_COS], solid[_SIN] = grid.cos[item], grid.sin[item]
                solid[_HX], solid[_HY] = grid.hx[item], grid.hy[item]
                solid[_LOW], solid[_HIGH] = grid.low[item], grid.high[item]
                seen = False
                for c in range(first, count):
                    seen = seen or out[c]["scenery"] == grid.source[item]
                if seen or count >= len(out):
                    continue
                contact = out[count]
                round_a, round_b = is_round(actor), grid.is_round[item] != 0
                if _meet(shape, round_a, solid, round_b, scratch, contact):
                    contact["row_a"], contact["row_b"] = row, -1
                    contact["scenery"] = grid.source[item]
                    count += 1
    return count


@kernel
def _in_order(out: Any, count: int) -> None:
    """Sort contacts by (row_a, row_b, scenery), independent of the order of the sweep."""
    keys = np.empty(count, np.int64)
    for k in range(count):
        contact = out[k]
        # A contact has either another row or a scenery index; both are far below 2 ** 24.
        key = np.int64(contact["row_a"]) << np.int64(32)
        if contact["row_b"] >= 0:
            key += (np.int64(1) << np.int64(31)) + contact["row_b"]
        else:
            key += contact["scenery"]
        keys[k] = key
    order = np.argsort(keys)
    kept = out[:count].copy()
    for k in range(count):
        out[k : k + 1] = kept[order[k] : order[k] + 1]


@kernel
def find_contacts(actors: NDArray[Any], n_rows: int, grid: StaticGrid, out: NDArray[Any]) -> int:
    """Find every contact at the end of the step.

    Call it after all ``step_*`` kernels of the tick: it uses their ``prev_*`` poses to trace fast
    actors back to where they met something.

    Args:
        actors: ``ACTOR`` table.
        n_rows: Rows in use.
        grid: Solid scenery from ``build_static_grid``.
        out: ``CONTACT`` array to fill; contacts beyond its length are dropped.

    Returns:
        The number of contacts written, ordered by row_a < row_b; scenery (row_b = -1) first.
    """
    rows = np.empty(n_rows, np.int64)
    shapes = np.empty((n_rows, 12))
    scratch = np.zeros((3, 12))
    west = np.empty(n_rows)
    used = count = 0
    for index in range(n_rows):
        row = actors[index]
        if not touchable(row):
            continue
        shape = shapes[used]
        _describe(row, shape)
        rows[used] = index
        west[used] = shape[_X] - shape[_REACH]
        moves = row["kind"] != PROP and movable(row)
        if moves and not (row["kind"] == WALKER and row["ai"]):
            count = _scenery_contacts(index, row, shape, scratch, grid, out, count)
        used += 1
    order = np.argsort(west[:used])
    for p in range(used):
        a_at = order[p]
        east = west[a_at] + 2.0 * shapes[a_at, _REACH]
        for q in range(p + 1, used):
            b_at = order[q]
            if west[b_at] > east:
                break
            dy = shapes[a_at, _Y] - shapes[b_at, _Y]
            if abs(dy) > shapes[a_at, _REACH] + shapes[b_at, _REACH]:
                continue
            # Lower row first, so that the outcome does not depend on the sweep.
            lo, hi = min(a_at, b_at), max(a_at, b_at)
            a, b = shapes[lo], shapes[hi]
            if min(a[_HIGH], b[_HIGH]) - max(a[_LOW], b[_LOW]) < _TOUCH_HEIGHT_M:
                continue
            row_a, row_b = rows[lo], rows[hi]
            if count >= len(out) or not _pair_counts(actors[row_a], row_a, actors[row_b], row_b):
                continue
            contact = out[count]
            round_a = is_round(actors[row_a])
            round_b = is_round(actors[row_b])
            if _meet(a, round_a, b, round_b, scratch, contact):
                contact["row_a"], contact["row_b"], contact["scenery"] = row_a, row_b, -1
                count += 1
    if count > 1:
        _in_order(out, count)
    return count


@kernel
def box_overlaps_any(
    actors: NDArray[Any],
    n_rows: int,
    x_m: float,
    y_m: float,
    z_m: float,
    yaw_rad: float,
    half_x_m: float,
    half_y_m: float,
    half_z_m: float,
    is_person: bool,
    skip_row: int,
    tolerance_m: float,
) -> int:
    """Return the first row that a shape would overlap if it were spawned, or -1.

    Args:
        actors: ``ACTOR`` table.
        n_rows: Rows in use.
        x_m: Centre of the box (not the actor's origin).
        y_m: Centre of the box.
        z_m: Centre of the box.
        yaw_rad: Heading.
        half_x_m: Half length; the radius of a person.
        half_y_m: Half width.
        half_z_m: Half height.
        is_person: Upright cylinder instead of a box.
        skip_row: Row to leave out, -1 for none.
        tolerance_m: Overlap that is still allowed (0.02 is good).
    """
    shape = np.zeros(12)
    shape[_X], shape[_Y] = x_m, y_m
    shape[_COS], shape[_SIN] = np.cos(yaw_rad), np.sin(yaw_rad)
    shape[_HX], shape[_HY] = half_x_m, half_y_m
    shape[_LOW], shape[_HIGH] = z_m - half_z_m, z_m + half_z_m
    other = np.zeros(12)
    for index in range(n_rows):
        row = actors[index]
        if index == skip_row or not touchable(row):
            continue
        _describe(row, other)
        common = min(shape[_HIGH], other[_HIGH]) - max(shape[_LOW], other[_LOW])
        if common <= tolerance_m:
            continue
        depth, _, _ = _overlap(shape, is_person, other, is_round(row))
        if depth > tolerance_m:
            return index
    return -1
