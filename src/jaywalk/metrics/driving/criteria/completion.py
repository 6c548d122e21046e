"""Route completion: how much of the dense route has been passed, and when it is done."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.metrics.driving.criteria.route_line import RouteLine, advance
from jaywalk.metrics.driving.criteria.track import Track

_WINDOW: Final = 2
_DONE_PERCENT: Final = 99.0
_DONE_M: Final = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """Percent passed at each row (two decimals), and the row on which the route was done."""

    percent: NDArray[np.float64]
    done_row: int | None

    def at(self, row: int) -> float:
        """Completion of a route that ends on ``row``."""
        if self.done_row is not None and row >= self.done_row:
            return 100.0
        return float(self.percent[row])


def find_completion(route: RouteLine, track: Track) -> Completion:
    """Follow the ego along the route."""
    index = advance(route, track.place_m, _WINDOW)
    along = route.along_m
    percent = np.round(along[index] / along[-1] * 100.0, 2)
    to_end = np.linalg.norm(track.place_m - route.place_m[-1], axis=1)
    done = np.flatnonzero((percent > _DONE_PERCENT) & (to_end < _DONE_M))
    return Completion(percent=percent, done_row=int(done[0]) if len(done) else None)
