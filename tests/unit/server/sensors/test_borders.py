"""Codes of cells by their distance from the border of an area."""

from __future__ import annotations

import numpy as np
import pytest

from jaywalk.server.sensors._borders import area_of, border_codes

_GRID = (-12.0, -12.0, 0.25)
_SHAPE = (96, 96)
_REACH_M = 0.8


def _radius_m() -> np.ndarray:
    middle = -12.0 + 0.25 * (np.arange(96) + 0.5)
    return np.hypot(middle[None, :], middle[:, None])


def _ring(inner_m: float, outer_m: float) -> tuple[np.ndarray, np.ndarray]:
    turn = np.linspace(0.0, 2.0 * np.pi, 721)
    unit = np.stack([np.cos(turn), np.sin(turn)], axis=1)
    return inner_m * unit, outer_m * unit


@pytest.mark.parametrize("inner_m", [4.0, 6.5])
def test_codes_of_a_ring_are_its_distances(inner_m: float) -> None:
    """The distance from a circle is known; a code is 3 mm."""
    code = border_codes(area_of([_ring(inner_m, 9.0)]), _GRID, _SHAPE, _REACH_M)
    radius = _radius_m()
    inside_m = np.minimum(radius - inner_m, 9.0 - radius)
    wanted = np.clip(127.5 + 255.0 * inside_m / _REACH_M, 0.0, 255.0)
    assert np.abs(code - wanted).max() < 2.0


def test_lanes_side_by_side_have_no_border_between_them() -> None:
    """Two rings that touch are one area, and so are rings 3 cm apart."""
    wanted = border_codes(area_of([_ring(4.0, 9.0)]), _GRID, _SHAPE, _REACH_M)
    for gap_m in (0.0, 0.03):
        area = area_of([_ring(4.0, 6.0), _ring(6.0 + gap_m, 9.0)])
        code = border_codes(area, _GRID, _SHAPE, _REACH_M)
        assert np.abs(code.astype(int) - wanted).max() <= 1


def test_no_lanes_leave_no_area() -> None:
    """Without lanes every cell is outside."""
    assert not border_codes(area_of([]), _GRID, _SHAPE, _REACH_M).any()


def test_areas_that_leave_the_grid_are_cut() -> None:
    """A ring wider than the grid fills what is left of it."""
    code = border_codes(area_of([_ring(0.5, 40.0)]), _GRID, _SHAPE, _REACH_M)
    assert (code[_radius_m() > 1.2] == 255).all()
    assert (code[_radius_m() < 0.05] == 0).all()
