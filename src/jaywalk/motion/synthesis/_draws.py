"""Random numbers that stay the same when numpy's samplers change.

Only the raw 64-bit words of a stream are used; uniforms, normals, picks and mixtures are made here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, TypeVar

import numpy as np

from jaywalk.core.arrays import FloatArray
from jaywalk.core.seeds import stream

_T = TypeVar("_T")
_WORD: Final = 2.0**-53


class Draws:
    """Draws of one component, keyed like :func:`jaywalk.core.seeds.stream`."""

    def __init__(self, seed: int, *names: str | int) -> None:
        self._words = stream(seed, *names).bit_generator

    def uniforms(self, count: int) -> FloatArray:
        """(count,) numbers in the open interval from 0 to 1."""
        words = np.asarray(self._words.random_raw(count), dtype=np.uint64)
        return np.asarray(((words >> np.uint64(11)).astype(np.float64) + 0.5) * _WORD)

    def uniform(self, low: float = 0.0, high: float = 1.0) -> float:
        """One number between two bounds."""
        return low + (high - low) * float(self.uniforms(1)[0])

    def angle(self, low_deg: float, high_deg: float) -> float:
        """One angle in radians between two bounds in degrees."""
        return math.radians(self.uniform(low_deg, high_deg))

    def normals(self, count: int) -> FloatArray:
        """(count,) standard normal numbers (Box and Muller)."""
        pairs = (count + 1) // 2
        u = self.uniforms(2 * pairs)
        radius = np.sqrt(-2.0 * np.log(u[:pairs]))
        angle = 2.0 * math.pi * u[pairs:]
        both = np.concatenate([radius * np.cos(angle), radius * np.sin(angle)])
        return np.asarray(both[:count])

    def normal(self, mean: float = 0.0, spread: float = 1.0) -> float:
        """One normal number."""
        return mean + spread * float(self.normals(1)[0])

    def chance(self, share: float) -> bool:
        """True in this share of cases."""
        return self.uniform() < share

    def pick(self, weights: FloatArray) -> int:
        """A place, drawn in proportion to the weights."""
        total = np.cumsum(weights)
        place = int(np.searchsorted(total, self.uniform() * total[-1], side="right"))
        return min(place, len(weights) - 1)

    def one_of(self, things: Sequence[_T]) -> _T:
        """One of them, all alike."""
        return things[min(int(self.uniform() * len(things)), len(things) - 1)]

    def shares(self, first: float, others: int) -> FloatArray:
        """Dirichlet weights with shape ``first`` (1 or 1.5) of the first, 1 of the others."""
        gammas = -np.log(self.uniforms(1 + others))
        if first == 1.5:
            gammas[0] += 0.5 * self.normal() ** 2
        return np.asarray(gammas / gammas.sum())
