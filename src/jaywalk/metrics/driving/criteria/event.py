"""What a criterion says: one event at one row of the ego's track."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One infraction as a protocol would note it.

    Attributes:
        key: Infraction key of the result files, e.g. ``red_light``.
        row: Row of the track at which it is noted.
        message: In the words of the result files.
        value: Percentage, where the kind has one; not rounded unless the protocol rounds it.
        other: Actor of the record.
    """

    key: str
    row: int
    message: str
    value: float | None = None
    other: int | None = None


def place_text(place_m: NDArray[np.float64] | Iterable[float]) -> str:
    """A place as result files write it."""
    x, y, z = (round(float(part), 3) for part in place_m)
    return f"(x={x}, y={y}, z={z})"
