"""Models of vehicles, animals, props and scenery, and which actor shows which."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jaywalk.server.sensors._mesh import Look

__all__ = ["actor_look", "pose_parts", "scenery_look"]


def actor_look(
    type_id: str,
    attributes: Mapping[str, str],
    half_m: tuple[float, float, float],
    color: tuple[int, int, int],
) -> Look | None:
    """Return the look of an actor; None: it is drawn as a solid.

    Args:
        type_id: Its blueprint.
        attributes: Of the actor, by id.
        half_m: Half extents of its box.
        color: Its main colour.
    """
    return None


def scenery_look(item: np.void, index: int) -> Look | None:
    """Return the look of a row of the scenery; None: it is drawn as a solid."""
    return None


def pose_parts(look: Look, actor: np.void, time_s: float, out: NDArray[Any]) -> None:
    """Write the poses of the parts of an actor: (parts, 3, 4), rotation and shift of each.

    Args:
        look: Of the actor.
        actor: Its row in the actor table.
        time_s: Simulated time.
        out: Output; identities at first.
    """
