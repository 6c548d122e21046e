"""Covariance matrix adaptation (CMA-ES): the smallest value of a noisy function within bounds.

Weighted recombination, cumulative step-size adaptation, and rank-one and rank-mu updates with the
default constants of N. Hansen, The CMA Evolution Strategy: A Tutorial (arXiv:1604.00772, 2016).
Coordinates are scaled to the bounds; points outside are moved to the nearest point inside and
ranked with a penalty.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from jaywalk.core.arrays import FloatArray

_PENALTY: Final = 10.0  # per squared distance outside the bounds, of the spread of the values
_LEAST_SPREAD: Final = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class Minimum:
    """Result of a search.

    Attributes:
        point: Best point that was tried, within the bounds.
        value: Its value.
        evaluations: Number of calls of the function.
    """

    point: FloatArray
    value: float
    evaluations: int


def default_population(dimensions: int) -> int:
    """Return the usual number of points of a generation."""
    return 4 + int(3.0 * math.log(dimensions))


def minimise(
    function: Callable[[FloatArray], float],
    bounds: Sequence[tuple[float, float]],
    start: Sequence[float] | FloatArray,
    *,
    evaluations: int,
    random: np.random.Generator,
    spread: float = 0.2,
    population: int | None = None,
) -> Minimum:
    """Search for the smallest value of a function; the same generator gives the same search.

    Args:
        function: Function of a point within the bounds.
        bounds: Lower and upper end of each coordinate.
        start: First mean; its value is computed, too.
        evaluations: Largest number of calls.
        random: Source of all draws.
        spread: First standard deviation, as a share of the width of the bounds.
        population: Points of a generation; None: :func:`default_population`.
    """
    low, high = np.array(bounds, np.float64).T
    search = _Search(
        mean=(np.asarray(start, np.float64) - low) / (high - low),
        spread=spread,
        population=population or default_population(len(low)),
    )
    best = np.clip(search.mean, 0.0, 1.0)
    value, calls = function(low + best * (high - low)), 1
    while calls + search.population <= evaluations and search.spread > _LEAST_SPREAD:
        points = search.draw(random)
        inside = np.clip(points, 0.0, 1.0)
        values = np.array([function(low + point * (high - low)) for point in inside])
        calls += len(values)
        first = int(values.argmin())
        if values[first] < value:
            best, value = inside[first], float(values[first])
        scale = _PENALTY * max(float(np.ptp(values)), _LEAST_SPREAD)
        search.update(points, values + scale * ((points - inside) ** 2).sum(axis=1))
    return Minimum(point=low + best * (high - low), value=value, evaluations=calls)


class _Search:
    """Normal distribution of the next generation, and how it adapts."""

    def __init__(self, *, mean: FloatArray, spread: float, population: int) -> None:
        n = len(mean)
        self.mean, self.spread, self.population = mean, spread, population
        ranks = np.arange(1, population // 2 + 1)
        weights = math.log((population + 1) / 2.0) - np.log(ranks)
        self._weights: FloatArray = weights / weights.sum()
        self._mass = mass = float(1.0 / (self._weights**2).sum())
        self._step_rate = (mass + 2.0) / (n + mass + 5.0)
        excess = math.sqrt((mass - 1.0) / (n + 1.0)) - 1.0
        self._damping = 1.0 + 2.0 * max(0.0, excess) + self._step_rate
        self._path_rate = (4.0 + mass / n) / (n + 4.0 + 2.0 * mass / n)
        self._one_rate = 2.0 / ((n + 1.3) ** 2 + mass)
        rest = 2.0 * (mass - 2.0 + 1.0 / mass) / ((n + 2.0) ** 2 + mass)
        self._mu_rate = min(1.0 - self._one_rate, rest)
        self._expected = math.sqrt(n) * (1.0 - 1.0 / (4.0 * n) + 1.0 / (21.0 * n * n))
        self._covariance = np.eye(n)
        self._axes, self._lengths = np.eye(n), np.ones(n)
        self._path, self._step_path = np.zeros(n), np.zeros(n)
        self._generation = 0

    def draw(self, random: np.random.Generator) -> FloatArray:
        """Draw the points of a generation, one row each."""
        normal = random.standard_normal((self.population, len(self.mean)))
        return np.asarray(self.mean + self.spread * (normal * self._lengths) @ self._axes.T)

    def update(self, points: FloatArray, values: FloatArray) -> None:
        """Adapt mean, step size and covariance to the values of a generation."""
        n = len(self.mean)
        self._generation += 1
        order = np.argsort(values, kind="stable")[: len(self._weights)]
        steps = (points[order] - self.mean) / self.spread
        move = self._weights @ steps
        self.mean = self.mean + self.spread * move
        whitened = self._axes @ ((self._axes.T @ move) / self._lengths)
        rate = self._step_rate
        self._step_path *= 1.0 - rate
        self._step_path += math.sqrt(rate * (2.0 - rate) * self._mass) * whitened
        length = float(np.linalg.norm(self._step_path))
        known = math.sqrt(1.0 - (1.0 - rate) ** (2 * self._generation))
        slow = length / known < (1.4 + 2.0 / (n + 1.0)) * self._expected
        rate = self._path_rate
        self._path *= 1.0 - rate
        if slow:
            self._path += math.sqrt(rate * (2.0 - rate) * self._mass) * move
        lost = 0.0 if slow else rate * (2.0 - rate)
        one, many = self._one_rate, self._mu_rate
        self._covariance *= 1.0 - one - many + one * lost
        self._covariance += one * np.outer(self._path, self._path)
        self._covariance += many * (steps.T * self._weights) @ steps
        self.spread *= math.exp(self._step_rate / self._damping * (length / self._expected - 1.0))
        squares, self._axes = np.linalg.eigh(0.5 * (self._covariance + self._covariance.T))
        self._lengths = np.sqrt(np.maximum(squares, 1e-20))
