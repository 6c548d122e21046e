"""Tracks of people and vehicles seen from above, on a common clock per clip."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.errors import DataError

STEP_S = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Track:
    """One person or vehicle.

    Attributes:
        clip: Recording or episode; tracks of one clip share a clock.
        time_s: Increasing times [n].
        xy_m: Positions [n, 2].
    """

    clip: str
    time_s: NDArray[np.float64]
    xy_m: NDArray[np.float64]

    def __post_init__(self) -> None:
        if self.xy_m.shape != (len(self.time_s), 2) or len(self.time_s) < 2:
            raise DataError(
                f"A track of clip '{self.clip}' has {len(self.time_s)} times and positions of "
                f"shape {self.xy_m.shape}; expected at least two times and [n, 2]."
            )
        if not (np.diff(self.time_s) > 0).all():
            raise DataError(f"A track of clip '{self.clip}' has times that do not increase.")

    def resampled(self) -> tuple[int, NDArray[np.float64]]:
        """Positions at multiples of 0.1 s: number of the first one, and the positions."""
        first = int(np.ceil(self.time_s[0] / STEP_S - 1e-6))
        last = int(np.floor(self.time_s[-1] / STEP_S + 1e-6))
        times = np.arange(first, last + 1) * STEP_S
        xy = [np.interp(times, self.time_s, self.xy_m[:, k]) for k in range(2)]
        return first, np.stack(xy, axis=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleSet:
    """People of several clips, and the vehicles around them."""

    name: str
    people: tuple[Track, ...]
    vehicles: tuple[Track, ...] = ()

    def __post_init__(self) -> None:
        if not self.people:
            raise DataError(f"Set '{self.name}' has no people to compare.")
