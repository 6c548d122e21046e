"""Loose props: cones and bins that were hit slide to rest on the ground."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.kernels import kernel
from jaywalk.server.world.longitudinal import GRAVITY_MPS2
from jaywalk.server.world.tables import Kind
from jaywalk.town.ground import Ground, surface_height

PROP: Final = int(Kind.PROP)
MOVABLE_KG: Final = 60.0  # heavier props stand like walls
_FRICTION: Final = 0.6
_SPIN_RAD_PER_S2: Final = 12.0


@kernel
def step_props(actors: NDArray[Any], n_rows: int, ground: Ground, dt_s: float) -> None:
    """Advance every light prop (mass up to 60 kg) that moves; all others report zero velocity.

    Args:
        actors: ``ACTOR`` table.
        n_rows: Rows in use.
        ground: Surface to slide on.
        dt_s: Step; must be positive.
    """
    for index in range(n_rows):
        row = actors[index]
        if row["id"] == 0 or row["kind"] != PROP or row["attached"]:
            continue
        row["age_s"] += dt_s
        row["prev_x"], row["prev_y"], row["prev_z"] = row["x"], row["y"], row["z"]
        row["prev_yaw"] = row["yaw"]
        row["teleported"] = 0
        if row["vx"] == 0.0 and row["vy"] == 0.0 and row["wz"] == 0.0:
            continue
        speed = np.sqrt(row["vx"] ** 2 + row["vy"] ** 2)
        if not row["physics"] or not (0.0 < row["mass"] <= MOVABLE_KG) or not np.isfinite(speed):
            row["vx"] = row["vy"] = row["vz"] = row["wz"] = 0.0
            continue
        left = max(speed - _FRICTION * GRAVITY_MPS2 * dt_s, 0.0)
        share = left / speed if speed > 0.0 else 0.0
        row["vx"], row["vy"] = row["vx"] * share, row["vy"] * share
        spin = max(abs(row["wz"]) - _SPIN_RAD_PER_S2 * dt_s, 0.0)
        row["wz"] = spin if row["wz"] > 0.0 else -spin
        before = surface_height(ground, row["x"], row["y"], row["z"])
        row["x"] += row["vx"] * dt_s
        row["y"] += row["vy"] * dt_s
        row["yaw"] += row["wz"] * dt_s
        # The prop keeps its height above the ground, whatever its mesh's origin is.
        row["z"] += surface_height(ground, row["x"], row["y"], row["z"]) - before
