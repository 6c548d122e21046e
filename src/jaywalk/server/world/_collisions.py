"""Contacts of one tick: detection, response and the list for later readers.

The response covers the exchange of momentum, friction, separation, and people who are knocked down.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.kernels import kernel
from jaywalk.geometry.box import box_box_overlap, upright_box
from jaywalk.geometry.rotation import rotation_matrix_carla
from jaywalk.server.world._blueprint_types import BodyShape
from jaywalk.server.world._contacts import (
    CONTACT,
    ROUND_RATIO,
    VEHICLE,
    WALKER,
    box_overlaps_any,
    find_contacts,
    movable,
)
from jaywalk.server.world._scenery_index import SceneryIndex, build_static_grid
from jaywalk.server.world._tables import ActorColumns, Kind
from jaywalk.town.scenery import KINDS

_RESTITUTION: Final = 0.1
_RESTING_MPS: Final = 1.0  # slower approaches do not bounce
_FRICTION: Final = 0.3
_PASSES: Final = 4
_SLOP_M: Final = 0.01  # overlap left alone, keeps resting contacts alive without jitter
_ALONE_SHARE: Final = 0.85
_KNOCK_DOWN_MPS: Final = 1.75
_STRIKING_MPS: Final = 1.0  # a person walked into a slower vehicle; it did not hit the person
_THROW_SHARE: Final = 0.15  # of the approach speed, upwards
_MAX_THROW_MPS: Final = 3.0


@kernel
def _inverse_mass(row: Any, against_fixed: bool) -> tuple[float, float]:
    """Return inverse mass and inverse yaw inertia; 0 for actors that contacts cannot push.

    A constant-velocity vehicle keeps its speed except against bodies that cannot move at all.
    """
    if not movable(row) or (row["const_vel"] and not against_fixed):
        return 0.0, 0.0
    mass = max(row["mass"], 1.0)
    if row["kind"] == WALKER:
        return 1.0 / mass, 0.0
    return 1.0 / mass, 3.0 / (mass * (row["ex"] ** 2 + row["ey"] ** 2) + 1e-3)


@kernel
def _rewind(actors: NDArray[Any], contacts: NDArray[Any], count: int) -> None:
    """Move actors with a deep overlap back to the place of first contact."""
    for k in range(count):
        contact = contacts[k]
        if contact["when"] >= 1.0:
            continue
        for side in range(2):
            index = contact["row_a"] if side == 0 else contact["row_b"]
            if index < 0 or not movable(actors[index]):
                continue
            row = actors[index]
            first = k
            for m in range(count):
                other = contacts[m]
                involved = other["row_a"] == index or other["row_b"] == index
                if involved and (other["when"], m) < (contacts[first]["when"], first):
                    first = m
            if first == k:
                back = 1.0 - contact["when"]
                row["x"] -= back * (row["x"] - row["prev_x"])
                row["y"] -= back * (row["y"] - row["prev_y"])
                row["z"] -= back * (row["z"] - row["prev_z"])
                row["yaw"] -= back * (row["yaw"] - row["prev_yaw"])


@kernel
def _point_velocity(row: Any, px: float, py: float) -> tuple[float, float]:
    rx, ry = px - row["x"], py - row["y"]
    return row["vx"] - row["wz"] * ry, row["vy"] + row["wz"] * rx


@kernel
def _push(row: Any, jx: float, jy: float, rx: float, ry: float, im: float, ii: float) -> None:
    row["vx"] += jx * im
    row["vy"] += jy * im
    row["wz"] += (rx * jy - ry * jx) * ii


@kernel
def _exchange(actors: NDArray[Any], contact: Any, bias: float, done: NDArray[np.float64]) -> None:
    """One pass over one contact; ``done`` holds the impulse so far along normal and tangent."""
    a = actors[contact["row_a"]]
    fixed_b = contact["row_b"] < 0
    b = a if fixed_b else actors[contact["row_b"]]
    a_im, a_ii = _inverse_mass(a, fixed_b or not movable(b))
    b_im, b_ii = (0.0, 0.0) if fixed_b else _inverse_mass(b, not movable(a))
    nx, ny, px, py = contact["nx"], contact["ny"], contact["px"], contact["py"]
    ax, ay = px - a["x"], py - a["y"]
    bx, by = (0.0, 0.0) if fixed_b else (px - b["x"], py - b["y"])
    for part in range(2):
        ux, uy = (nx, ny) if part == 0 else (-ny, nx)
        arm_a, arm_b = ax * uy - ay * ux, bx * uy - by * ux
        inverse = a_im + b_im + arm_a * arm_a * a_ii + arm_b * arm_b * b_ii
        if inverse <= 0.0:
            return
        vx, vy = _point_velocity(a, px, py)
        if not fixed_b:
            wx, wy = _point_velocity(b, px, py)
            vx, vy = vx - wx, vy - wy
        along = vx * ux + vy * uy
        if part == 0:
            total = max(done[0] + (bias - along) / inverse, 0.0)
        else:
            most = _FRICTION * done[0]
            total = min(max(done[1] - along / inverse, -most), most)
        impulse = total - done[part]
        done[part] = total
        _push(a, impulse * ux, impulse * uy, ax, ay, a_im, a_ii)
        if not fixed_b:
            _push(b, -impulse * ux, -impulse * uy, bx, by, b_im, b_ii)


@kernel
def _part(actors: NDArray[Any], contact: Any) -> None:
    """Push an overlapping pair apart, each by its share of the inverse masses."""
    a = actors[contact["row_a"]]
    fixed_b = contact["row_b"] < 0
    b = a if fixed_b else actors[contact["row_b"]]
    a_im, _ = _inverse_mass(a, fixed_b or not movable(b))
    b_im = 0.0 if fixed_b else _inverse_mass(b, not movable(a))[0]
    depth = contact["depth_m"] - _SLOP_M
    if depth <= 0.0 or a_im + b_im <= 0.0:
        return
    share = a_im / (a_im + b_im)
    # A much lighter body moves alone: people do not push parked cars.
    if share > _ALONE_SHARE:
        share = 1.0
    elif share < 1.0 - _ALONE_SHARE:
        share = 0.0
    a["x"] += contact["nx"] * depth * share
    a["y"] += contact["ny"] * depth * share
    if not fixed_b:
        b["x"] -= contact["nx"] * depth * (1.0 - share)
        b["y"] -= contact["ny"] * depth * (1.0 - share)


@kernel
def _knock_down(row: Any, closing_mps: float) -> None:
    """Make a person hit by a vehicle fall, with a small upward velocity."""
    row["down_s"] = np.inf
    row["vz"] = min(_THROW_SHARE * closing_mps, _MAX_THROW_MPS)
    row["settled"] = 0


@kernel
def _is_struck(person: Any, other: Any, contact: Any) -> bool:
    """Return whether a contact knocks a person down; called before the response."""
    if person["kind"] != WALKER or other["kind"] != VEHICLE or person["down_s"] > 0.0:
        return False
    vx, vy = _point_velocity(other, contact["px"], contact["py"])
    strike = abs(vx * contact["nx"] + vy * contact["ny"])
    return bool(contact["closing_mps"] > _KNOCK_DOWN_MPS and strike > _STRIKING_MPS)


@kernel
def _take_velocity(row: Any) -> None:
    """Bring the body-frame state of a vehicle in line with its new world velocity."""
    if row["kind"] == VEHICLE:
        cos, sin = np.cos(row["yaw"]), np.sin(row["yaw"])
        row["v_long"] = row["vx"] * cos + row["vy"] * sin
        row["v_lat"] = -row["vx"] * sin + row["vy"] * cos
        row["yaw_rate"] = row["wz"]


@kernel
def resolve_contacts(actors: NDArray[Any], contacts: NDArray[Any], count: int, dt_s: float) -> None:
    """Apply every contact to its actors; fill ``ix, iy, iz`` and ``closing_mps`` of each.

    Args:
        actors: ``ACTOR`` table.
        contacts: Output of ``find_contacts``.
        count: Number of contacts.
        dt_s: Step; turns velocity changes into reported acceleration.
    """
    if count == 0:
        return
    _rewind(actors, contacts, count)
    done = np.zeros((count, 2))
    bias = np.zeros(count)
    for k in range(count):
        contact = contacts[k]
        a = actors[contact["row_a"]]
        vx, vy = _point_velocity(a, contact["px"], contact["py"])
        if contact["row_b"] >= 0:
            b = actors[contact["row_b"]]
            wx, wy = _point_velocity(b, contact["px"], contact["py"])
            vx, vy = vx - wx, vy - wy
        closing = max(-(vx * contact["nx"] + vy * contact["ny"]), 0.0)
        contact["closing_mps"] = closing
        bias[k] = _RESTITUTION * closing if closing > _RESTING_MPS else 0.0
        if contact["row_b"] >= 0:
            b = actors[contact["row_b"]]
            if _is_struck(a, b, contact):
                _knock_down(a, closing)
            if _is_struck(b, a, contact):
                _knock_down(b, closing)
    for _ in range(_PASSES):
        for k in range(count):
            _exchange(actors, contacts[k], bias[k], done[k])
    for k in range(count):
        contact = contacts[k]
        contact["ix"] = done[k, 0] * contact["nx"] - done[k, 1] * contact["ny"]
        contact["iy"] = done[k, 0] * contact["ny"] + done[k, 1] * contact["nx"]
        _part(actors, contact)
        for side in range(2):
            index = contact["row_a"] if side == 0 else contact["row_b"]
            if index >= 0 and movable(actors[index]):
                row = actors[index]
                _take_velocity(row)
                share = (1.0 if side == 0 else -1.0) / (max(row["mass"], 1.0) * dt_s)
                row["ax"] += contact["ix"] * share
                row["ay"] += contact["iy"] * share


_MOST_CONTACTS: Final = 4096
_SPAWN_TOLERANCE_M: Final = 0.02
_PICTURE_M: Final = 0.01  # half the thickness below which a prop is a picture
_MASSIVE: Final = tuple(KINDS.index(kind) for kind in ("building", "wall", "container", "kiosk"))

Transform = tuple[tuple[float, float, float], tuple[float, float, float]]


class Collisions:
    """Finds and resolves contacts against other actors and the scenery."""

    def __init__(self, scenery: SceneryIndex) -> None:
        self._scenery = scenery
        self._scenery_version = -1
        self._buffer: NDArray[Any] = np.zeros(_MOST_CONTACTS, CONTACT)
        self.contacts: NDArray[Any] = self._buffer[:0]  # of the last step

    def step(self, columns: ActorColumns, delta_s: float) -> None:
        """Find the contacts at the end of a step and let them act."""
        if self._scenery_version != self._scenery.version:
            self._grid = build_static_grid(self._scenery.visible())
            self._scenery_version = self._scenery.version
        table, rows = columns.table, columns.rows
        count = find_contacts(table, rows, self._grid, self._buffer)
        if count:
            resolve_contacts(table, self._buffer, count, delta_s)
        self.contacts = self._buffer[:count]

    def blocked(self, columns: ActorColumns, kind: Kind, pose: Transform, body: BodyShape) -> bool:
        """Return whether a body would overlap a vehicle, walker or prop at a pose."""
        (x, y, z), rotation = pose
        dx, dy, dz = rotation_matrix_carla(*rotation) @ np.array(body.centre_m)
        half_x, half_y, half_z = body.half_extents_m
        if kind is Kind.PROP:
            if half_z < _PICTURE_M:  # hangs on something, or lies on it
                return False
            pitch, roll = math.radians(rotation[0]), math.radians(rotation[2])
            half_x, half_y, half_z, *_ = upright_box(
                half_x, half_y, half_z, 0.0, 0.0, 0.0, pitch, roll
            )
            body = replace(body, half_extents_m=(half_x, half_y, half_z))
        hit = box_overlaps_any(
            columns.table,
            columns.rows,
            x + dx,
            y + dy,
            z + dz,
            math.radians(rotation[1]),
            half_x,
            half_y,
            half_z,
            kind is Kind.WALKER and half_x <= ROUND_RATIO * half_y,
            -1,
            _SPAWN_TOLERANCE_M,
        )
        return bool(hit >= 0) or self._in_a_building(x + dx, y + dy, z + dz, rotation[1], body)

    def _in_a_building(self, x: float, y: float, z: float, yaw_deg: float, body: BodyShape) -> bool:
        """Return whether a body would overlap a building or wall.

        Poles and trees do not count: Jaywalk places its own in towns of other authors, and
        programs for these towns know the original ones.
        """
        scenery = self._scenery.visible()
        walls = scenery[np.isin(scenery["kind"], _MASSIVE)]
        half_x, half_y, half_z = body.half_extents_m
        reach = np.hypot(walls["ex"], walls["ey"]) + math.hypot(half_x, half_y)
        near = np.hypot(walls["x"] - x, walls["y"] - y) < reach
        near &= np.abs(walls["z"] - z) < walls["ez"] + half_z - _SPAWN_TOLERANCE_M
        cos, sin = math.cos(math.radians(yaw_deg)), math.sin(math.radians(yaw_deg))
        return any(
            box_box_overlap(
                x,
                y,
                cos,
                sin,
                half_x,
                half_y,
                wall["x"],
                wall["y"],
                math.cos(wall["yaw"]),
                math.sin(wall["yaw"]),
                wall["ex"],
                wall["ey"],
            )[0]
            > _SPAWN_TOLERANCE_M
            for wall in walls[near]
        )
