"""Contacts of one tick: found, resolved, and kept for whoever wants to hear of them."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.frames import rotation_matrix_carla
from jaywalk.server.world.blueprint_types import Body
from jaywalk.server.world.columns import ActorColumns
from jaywalk.server.world.contact_response import resolve_contacts
from jaywalk.server.world.contacts import CONTACT, box_overlaps_any, find_contacts
from jaywalk.server.world.scenery_index import SceneryIndex
from jaywalk.server.world.static_grid import build_static_grid
from jaywalk.server.world.tables import Kind

_MOST_CONTACTS: Final = 4096
_SPAWN_TOLERANCE_M: Final = 0.02

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
        hit = box_overlaps_any(
            columns.table, columns.rows, x + dx, y + dy, z + dz, math.radians(rotation[1]),
            half_x, half_y, half_z, kind is Kind.WALKER, -1, _SPAWN_TOLERANCE_M,
        )  # fmt: skip
        return bool(hit >= 0)
