"""Encounters on drawn tracks, against times and distances worked out by hand and with shapely."""

from __future__ import annotations

import math

import numpy as np
import pytest
import shapely
import shapely.affinity
from numpy.typing import NDArray

from jaywalk.metrics.realism.people.encounters import (
    BODY_M,
    Drive,
    Walk,
    body_distances_m,
    driven_way,
    encounters_with,
)

LENGTH_M, WIDTH_M = 4.0, 2.0


def drive(speed_mps: float, at_origin_s: float, *, steps: int = 200, turns: float = 0.0) -> Drive:
    """A vehicle on the x axis whose centre passes the origin at a time."""
    time_s = 0.1 * np.arange(steps)
    x = speed_mps * (time_s - at_origin_s)
    return Drive(
        start=0,
        xy_m=np.column_stack([x, np.zeros(steps)]),
        yaw_rad=np.full(steps, turns),
        half_length_m=LENGTH_M / 2,
        half_width_m=WIDTH_M / 2,
    )


def walk(y_m: NDArray[np.float64], x_m: float = 0.0, start: int = 0) -> Walk:
    """A person who walks along the y axis."""
    return Walk(start=start, xy_m=np.column_stack([np.full(len(y_m), x_m), y_m]))


def straight(speed_mps: float, at_origin_s: float, steps: int = 200) -> Walk:
    return walk(speed_mps * (0.1 * np.arange(steps) - at_origin_s))


def only(person: Walk, vehicle: Drive):
    way = driven_way(vehicle)
    assert way is not None
    found = encounters_with(person, way)
    assert len(found) == 1
    return found[0]


def test_the_gap_of_a_person_who_goes_first() -> None:
    # Within 1.3 m of the axis from 8.7 to 11.3 s at 1 m/s; the front arrives 0.2 s before 15 s.
    met = only(straight(1.0, 10.0), drive(10.0, 15.0))
    assert met.person_first
    assert not met.together
    assert met.gap_s == pytest.approx(14.8 - 11.3, abs=0.11)
    assert met.slowest_share == pytest.approx(1.0)
    assert met.deviation_m == pytest.approx(0.0, abs=1e-9)


def test_the_gap_of_a_person_who_goes_second() -> None:
    met = only(straight(1.0, 10.0), drive(10.0, 5.0))
    assert not met.person_first
    assert met.gap_s == pytest.approx(5.2 - 8.7, abs=0.11)


def test_bodies_at_the_same_place_at_the_same_time() -> None:
    met = only(straight(1.0, 10.0), drive(2.0, 10.0))
    assert met.together
    assert met.gap_s == 0.0
    assert met.distance_m == pytest.approx(-BODY_M)


def test_who_turns_back_or_comes_late_does_not_count() -> None:
    way = driven_way(drive(10.0, 8.0))
    assert way is not None
    time_s = 0.1 * np.arange(200)
    assert not encounters_with(walk(-np.abs(time_s - 10.0) + 0.5), way)
    late = driven_way(drive(10.0, 3.0, steps=200))
    assert late is not None
    assert not encounters_with(straight(1.0, 17.0), late)  # both pass, 12 s apart
    assert driven_way(drive(0.1, 5.0)) is None


def test_slowing_and_deviation_before_a_vehicle() -> None:
    time_s = 0.1 * np.arange(200)
    speed = np.where((time_s > 6.0) & (time_s < 8.0), 0.4, 1.2)
    y = np.concatenate([[0.0], np.cumsum(0.1 * speed[:-1])])
    y -= y[90] + 1.3  # onto the way of the vehicle at about 9 s
    met = only(walk(y), drive(10.0, 7.0))
    assert met.slowest_share == pytest.approx(0.4 / 1.2, abs=0.02)
    bent = Walk(
        start=0, xy_m=np.column_stack([0.5 * np.exp(-((time_s - 8.0) ** 2)), 1.2 * (time_s - 9.0)])
    )
    chord = shapely.LineString([bent.xy_m[met_row] for met_row in _window(bent, 7.0)])
    rows = bent.xy_m[slice(*_window(bent, 7.0))]
    expected = max(chord.distance(shapely.Point(*row)) for row in rows)
    assert only(bent, drive(10.0, 7.0)).deviation_m == pytest.approx(expected, abs=1e-9)


def _window(person: Walk, at_origin_s: float) -> tuple[int, int]:
    met = only(person, drive(10.0, at_origin_s))
    return met.enters - 30, met.leaves + 15


def test_distances_of_bodies_against_shapely() -> None:
    random = np.random.default_rng(2)
    for _ in range(20):
        yaw = float(random.uniform(-math.pi, math.pi))
        vehicle = Drive(
            start=3,
            xy_m=random.uniform(-3, 3, (10, 2)),
            yaw_rad=np.full(10, yaw),
            half_length_m=LENGTH_M / 2,
            half_width_m=WIDTH_M / 2,
        )
        person = Walk(start=0, xy_m=random.uniform(-6, 6, (8, 2)))
        found = body_distances_m(person, vehicle)
        assert len(found) == 5  # tenths of a second 3 to 7
        box = shapely.box(-LENGTH_M / 2, -WIDTH_M / 2, LENGTH_M / 2, WIDTH_M / 2)
        turned = shapely.affinity.rotate(box, yaw, origin=(0, 0), use_radians=True)
        for row, distance in enumerate(found):
            there = shapely.affinity.translate(turned, *vehicle.xy_m[row])
            expected = there.distance(shapely.Point(*person.xy_m[row + 3])) - BODY_M
            assert distance == pytest.approx(expected, abs=1e-9)
    assert len(body_distances_m(walk(np.zeros(2)), vehicle)) == 0
