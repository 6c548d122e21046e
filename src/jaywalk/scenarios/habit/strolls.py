"""Ways of people who walk along the sidewalk."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.seeds import stream
from jaywalk.scenarios.crowd_network import WalkNetwork
from jaywalk.scenarios.habit.spawning import Placed
from jaywalk.town.walk_search import find_way

_NEAREST_M: Final = 12.0
_FARTHEST_M: Final = 35.0
_KEEP_M: Final = 0.9
_TRIES: Final = 4
_EVERY: Final = 4  # cells between corners


def stroll_way(network: WalkNetwork, placed: Placed, seed: int) -> NDArray[np.float64] | None:
    """Corners (n, 2) of a way to some place on the same sidewalk; None: there is none."""
    places, here = network.places, placed.a_m
    away = np.hypot(places.x - here[0], places.y - here[1])
    own = int(places.block[int(np.argmin(away))])
    found = np.flatnonzero((places.block == own) & (away > _NEAREST_M) & (away < _FARTHEST_M))
    if not len(found):
        return None
    random = stream(seed, "habit", "stroll", placed.role.number)
    for draw in random.random(_TRIES):
        goal = int(found[int(draw * len(found))])
        way = find_way(network.grid, here, (float(places.x[goal]), float(places.y[goal])), _KEEP_M)
        if len(way) > 2 * _EVERY:
            return np.concatenate([way[:-1:_EVERY], way[-1:]])
    return None
