"""Contacts of one tick: found, resolved, and kept for whoever wants to hear of them."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.frames import rotation_matrix_carla
from jaywalk.geometry.boxes import box_box_overlap
from jaywalk.geometry.tilted import upright_box
from jaywalk.server.world.blueprint_types import Body
from jaywalk.server.world.columns import ActorColumns
from jaywalk.server.world.contact_response import resolve_contacts
from jaywalk.server.world.contacts import CONTACT, box_overlaps_any, find_contacts
from jaywalk.server.world.scenery_index import SceneryIndex
from jaywalk.server.world.static_grid import build_static_grid
from jaywalk.server.world.tables import Kind
from jaywalk.town.scenery import KINDS

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

    def blocked(self, columns: ActorColumns, kind: Kind, pose: Transform, body: Body) -> bool:
        """Whether a body would overlap a vehicle, walker or prop at that pose."""
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
            columns.table, columns.rows, x + dx, y + dy, z + dz, math.radians(rotation[1]),
            half_x, half_y, half_z, kind is Kind.WALKER, -1, _SPAWN_TOLERANCE_M,
        )  # fmt: skip
        return bool(hit >= 0) or self._in_a_building(x + dx, y + dy, z + dz, rotation[1], body)

    def _in_a_building(self, x: float, y: float, z: float, yaw_deg: float, body: Body) -> bool:
        """Whether a body would stand in a building or wall.

        Poles and trees do not count: they are of our own making beside towns of others, whose
        programs know the real ones.
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
                x, y, cos, sin, half_x, half_y,
                wall["x"], wall["y"], math.cos(wall["yaw"]), math.sin(wall["yaw"]),
                wall["ex"], wall["ey"],
            )[0] > _SPAWN_TOLERANCE_M
            for wall in walls[near]
        )  # fmt: skip
