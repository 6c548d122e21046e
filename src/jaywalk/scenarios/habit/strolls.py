"""Ways of people who walk along the sidewalk."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.scenarios.crowd_network import WalkNetwork
from jaywalk.town.walk_search import find_way

_NEAREST_M: Final = 12.0
_FARTHEST_M: Final = 35.0
_KEEP_M: Final = 0.9
_TRIES: Final = 4
_EVERY: Final = 4  # cells between corners


def stroll_way(
    network: WalkNetwork, here: tuple[float, float], random: np.random.Generator,
    course_rad: float | None = None,
) -> NDArray[np.float64] | None:  # fmt: skip
    """Corners (n, 2) of a way to some place on the same sidewalk; None: there is none.

    Args:
        network: Where people walk.
        here: Where the way begins.
        random: Draws the place.
        course_rad: Of somebody under way, who takes the place that is least behind them.
    """
    places = network.places
    away = np.hypot(places.x - here[0], places.y - here[1])
    own = int(places.block[int(np.argmin(away))])
    found = np.flatnonzero((places.block == own) & (away > _NEAREST_M) & (away < _FARTHEST_M))
    if not len(found):
        return None
    goals = found[(random.random(_TRIES) * len(found)).astype(np.int64)]
    if course_rad is not None:
        bearing = np.arctan2(places.y[goals] - here[1], places.x[goals] - here[0])
        goals = goals[np.argsort(-np.cos(bearing - course_rad), kind="stable")]
    for goal in goals.tolist():
        way = find_way(network.grid, here, (float(places.x[goal]), float(places.y[goal])), _KEEP_M)
        if len(way) > 2 * _EVERY:
            return np.concatenate([way[:-1:_EVERY], way[-1:]])
    return None
