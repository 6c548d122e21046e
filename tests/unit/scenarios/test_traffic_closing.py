"""Lanes that background traffic keeps off: along a way, and much faster than it."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from jaywalk.actors.traffic._placing import closed_segments


def network():
    """Four lanes along x, 20 m apart: 30, 30, 50 and 100 km/h; the last leads to the third."""
    lines = [
        np.column_stack(
            [
                np.arange(0.0, 30.0),
                np.full(30, 20.0 * k),
                np.zeros(30),
                np.zeros(30),
                np.arange(0.0, 30.0),
            ]
        )
        for k in range(4)
    ]
    limits = np.repeat([30.0, 30.0, 50.0, 100.0], 30) / 3.6
    return SimpleNamespace(
        points=np.concatenate(lines),
        starts=np.arange(0, 121, 30),
        limit_mps=limits,
        successors=[[1], [0], [3], [2]],
    )


def way(row: int):
    return network().points[30 * row : 30 * row + 30, :4]


def test_only_the_way_itself_is_closed():
    assert closed_segments(network(), [way(0)]) == {0, 1}  # the second leads nowhere else


def test_lanes_much_faster_than_the_way_are_closed_too():
    assert closed_segments(network(), [], way(2)) == {2, 3}  # 100 km/h, and what leads only there
    assert closed_segments(network(), [], way(3)) == frozenset()
    assert closed_segments(network(), [], way(0)) == {2, 3}
