"""Where the ego is on its route."""

from __future__ import annotations

import numpy as np
import pytest

from jaywalk.runner.ending import RouteProgress
from jaywalk.town.routes import DenseRoute


def _bend(straight: int = 60) -> DenseRoute:
    """East for ``straight`` metres, then south for as many."""
    east = [(k, 0.0, 0.0) for k in range(straight + 1)]
    south = [(float(straight), k, 0.0) for k in range(1, straight + 1)]
    position = np.array(east + south, dtype=float)
    yaw = np.array([0.0] * len(east) + [90.0] * len(south))
    count = len(position)
    return DenseRoute(
        position_m=position,
        rotation_deg=np.column_stack([np.zeros(count), yaw, np.zeros(count)]),
        option=np.full(count, 4, np.int8),
        lane=np.zeros((count, 3), np.int64),
        in_junction=np.zeros(count, np.bool_),
    )


def test_along_grows_with_the_way_driven() -> None:
    progress = RouteProgress(_bend())
    for x in np.arange(0.0, 50.0, 0.4):
        progress.follow(float(x), 0.3, 0.0)
        assert progress.along_m == pytest.approx(x, abs=1.0)
    assert progress.away_m == pytest.approx(0.3, abs=0.5)


def test_a_corner_is_followed_and_the_end_counts() -> None:
    progress = RouteProgress(_bend())
    for s in np.arange(0.0, 119.0, 0.5):
        place = (float(s), 0.0) if s <= 60.0 else (60.0, float(s) - 60.0)
        progress.follow(*place, 0.0)
    assert not progress.is_complete
    progress.follow(60.0, 59.9, 0.0)
    assert progress.is_complete


def test_going_back_takes_nothing_away() -> None:
    progress = RouteProgress(_bend())
    for x in (0.0, 3.0, 6.0, 9.0, 12.0):
        progress.follow(x, 0.0, 0.0)
    before = progress.index
    progress.follow(5.0, 0.0, 0.0)
    assert progress.index == before


def test_leaving_the_route_is_seen() -> None:
    progress = RouteProgress(_bend())
    for k in range(60):
        progress.follow(20.0, -float(k), 0.0)
    assert progress.away_m > 35.0
    assert not progress.is_complete
