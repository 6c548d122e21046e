"""Who may enter a junction, where junctions lie close together."""

from __future__ import annotations

import numpy as np

from jaywalk.actors.traffic._junctions import arbitrate
from jaywalk.actors.traffic.paths import JUNCTION, Fleet, make_fleet

_LENGTH_M = 5.0
_FIRST, _SECOND, _ACROSS_FIRST, _ACROSS_SECOND = 0, 1, 2, 3


def put(fleet: Fleet, row: int, front_m: float, ways: list[tuple[int, float, float]]) -> None:
    """A vehicle on a path with junctions: the segment of each, and where it begins and ends."""
    fleet.half_length[row] = 0.5 * _LENGTH_M
    fleet.along[row] = front_m - 0.5 * _LENGTH_M
    for number, (segment, begin_m, end_m) in enumerate(ways):
        fleet.feature_kind[row, number] = JUNCTION
        fleet.feature_from[row, number], fleet.feature_to[row, number] = begin_m, end_m
        fleet.held[row, number] = segment
        fleet.held_from[row, number], fleet.held_to[row, number] = begin_m, end_m
    fleet.hit_along[row] = np.inf


def decide(fleet: Fleet) -> list[int]:
    conflict = np.zeros((4, 4), np.float32)
    for mine, other in ((_FIRST, _ACROSS_FIRST), (_SECOND, _ACROSS_SECOND)):
        conflict[mine, other] = conflict[other, mine] = 10.0
    for tick in range(3):
        arbitrate(fleet, conflict, np.zeros(4, np.bool_), np.zeros((0, 2)), tick, 0.05, 1.0, 25.0)
    return fleet.granted.tolist()


def test_a_tail_in_one_junction_does_not_bar_the_next() -> None:
    fleet = make_fleet(1)
    put(fleet, 0, 12.5, [(_FIRST, 0.0, 10.0), (_SECOND, 13.0, 30.0)])
    assert decide(fleet) == [1]


def test_the_tail_keeps_others_out_and_nothing_else_does() -> None:
    for front_m, enters in ((12.5, 0), (17.0, 1)):
        fleet = make_fleet(3)
        put(fleet, 0, front_m, [(_FIRST, 0.0, 10.0), (_SECOND, 20.0, 30.0)])
        put(fleet, 1, 18.0, [(_ACROSS_SECOND, 10.0, 30.0)])  # in the second junction already
        put(fleet, 2, 9.0, [(_ACROSS_FIRST, 10.0, 20.0)])
        assert decide(fleet) == [0, 1, enters]
