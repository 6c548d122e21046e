"""CMA-ES on functions with known minima, and beside scipy."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import rosen

from jaywalk.stats.cmaes import default_population, minimise

Point = NDArray[np.float64]


def ellipsoid(x: Point) -> float:
    """A rotated ellipsoid, a thousand times longer in one direction; 0 at 0.3."""
    turn = np.linalg.qr(np.random.default_rng(1).standard_normal((len(x), len(x))))[0]
    return float((10.0 ** np.linspace(0.0, 6.0, len(x)) * (turn @ (x - 0.3)) ** 2).sum())


@pytest.mark.parametrize(("function", "minimum"), [(rosen, 1.0), (ellipsoid, 0.3)])
def test_minima_of_known_functions(function: object, minimum: float) -> None:
    found = minimise(
        function,  # type: ignore[arg-type]
        [(-2.0, 2.0)] * 5,
        [-1.0] * 5,
        evaluations=6000,
        random=np.random.default_rng(4),
    )
    assert found.value < 1e-9
    assert np.abs(found.point - minimum).max() < 1e-3
    assert found.evaluations <= 6000


def test_a_minimum_on_the_border() -> None:
    found = minimise(
        lambda x: float(((x - np.array([5.0, 0.5, -9.0])) ** 2).sum()),
        [(0.0, 2.0), (0.0, 4.0), (-1.0, 1.0)],
        [1.0, 2.0, 0.0],
        evaluations=900,
        random=np.random.default_rng(0),
    )
    assert found.point == pytest.approx([2.0, 0.5, -1.0], abs=1e-3)


def test_every_point_lies_within_the_bounds_and_the_search_repeats() -> None:
    def searched(seed: int) -> list[Point]:
        seen: list[Point] = []

        def value(x: Point) -> float:
            seen.append(x.copy())
            return float(np.abs(x).sum())

        minimise(
            value, [(-0.1, 3.0)] * 4, [2.5] * 4, evaluations=80, random=np.random.default_rng(seed)
        )
        return seen

    points = np.array(searched(1))
    assert (points >= -0.1).all()
    assert (points <= 3.0).all()
    assert len(points) == 1 + 9 * default_population(4)
    assert np.array_equal(points, np.array(searched(1)))
    assert not np.array_equal(points, np.array(searched(2)))


def test_noise_does_not_end_the_search_far_from_the_minimum() -> None:
    noise = np.random.default_rng(7)
    found = minimise(
        lambda x: float(((x - 0.7) ** 2).sum() + 0.02 * noise.standard_normal()),
        [(-2.0, 2.0)] * 6,
        [-1.5] * 6,
        evaluations=1200,
        random=np.random.default_rng(2),
    )
    assert np.abs(found.point - 0.7).max() < 0.35
