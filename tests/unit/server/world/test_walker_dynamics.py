"""Walkers: control, settling, the client's navigation, being knocked down."""

from __future__ import annotations

import numpy as np
import pytest


def _still(row) -> bool:
    return all(row[name] == 0.0 for name in ("vx", "vy", "vz", "wx", "wy", "wz"))


def test_walks_where_told_and_stops_dead(make_world) -> None:
    world = make_world()
    person = world.person(dir_x=3.0, dir_y=4.0, walk_speed=1.4)  # direction need not be a unit
    for _ in range(3):
        world.move()
    assert np.hypot(person["vx"], person["vy"]) == pytest.approx(1.4)
    for _ in range(40):
        world.move()
    assert person["yaw"] == pytest.approx(np.arctan2(4.0, 3.0))
    assert person["y"] / person["x"] == pytest.approx(4.0 / 3.0)
    person["walk_speed"] = 0.0
    for _ in range(4):
        world.move()
    assert _still(person)


def test_gait_phase_counts_strides(make_world) -> None:
    world = make_world()
    person = world.person(dir_x=1.0, walk_speed=1.4)
    phases = [0.0]
    for _ in range(100):
        world.move()
        phases.append(float(person["gait_phase"]))
    cycles = np.count_nonzero(np.diff(phases) < 0) + phases[-1]
    assert cycles == pytest.approx(person["x"] / 1.4, rel=0.03)


@pytest.mark.parametrize("height_m", [0.5, 1.0, 1.5])
def test_settles_with_the_feet_on_the_ground(make_world, height_m: float) -> None:
    world = make_world()
    person = world.person(z=0.93 + height_m, settled=0)
    steps = []
    for _ in range(10):
        before = float(person["z"])
        world.move()
        steps.append(before - float(person["z"]))
    assert person["z"] == pytest.approx(0.93)
    assert max(steps) < 0.6
    assert steps[0] == pytest.approx(0.3, abs=0.03)
    assert _still(person)


def test_follows_a_slope(make_world, make_slope) -> None:
    world = make_world(make_slope(0.1))
    person = world.person(dir_x=1.0, walk_speed=2.0)
    for _ in range(100):
        world.move()
    assert person["z"] == pytest.approx(0.1 * person["x"] + 0.93, abs=0.01)


def test_jump_returns_to_the_ground(make_world) -> None:
    world = make_world()
    person = world.person(jump=1)
    heights = []
    for _ in range(40):
        world.move()
        heights.append(float(person["z"]))
    assert max(heights) > 1.3
    assert heights[-1] == pytest.approx(0.93)


def test_led_by_the_client(make_world) -> None:
    world = make_world()
    person = world.person(ai=1, walk_speed=9.0, dir_x=1.0)
    world.move()
    assert person["x"] == 0.0
    person["x"], person["teleported"] = 0.07, 1
    world.move()
    assert person["vx"] == pytest.approx(1.4)
    assert person["gait_phase"] > 0.0
    world.move()
    assert _still(person)
    person["x"], person["teleported"] = 80.0, 1
    world.move()
    assert _still(person)


def test_parked_under_the_world(make_world) -> None:
    world = make_world()
    person = world.person(physics=0, z=-200.0)
    for _ in range(5):
        world.move()
    assert person["z"] == -200.0
    assert _still(person)
    person["physics"], person["z"], person["teleported"] = 1, 1.5, 1
    for _ in range(10):
        world.move()
    assert person["z"] == pytest.approx(0.93)


def test_down_slides_to_rest_and_gets_up_when_the_time_is_over(make_world) -> None:
    world = make_world()
    person = world.person(down_s=2.0, vx=5.0, dir_y=1.0, walk_speed=1.5)
    other = world.person(y=5.0, down_s=np.inf, dir_y=1.0, walk_speed=1.5)
    for _ in range(38):
        world.move()
    assert _still(person)
    flight_m = 5.0 * np.sqrt(2 * (0.93 - 0.25) / 9.81)
    assert person["x"] == pytest.approx(flight_m + 25.0 / (2 * 0.6 * 9.81), rel=0.2)
    assert person["z"] < 0.5
    for _ in range(20):
        world.move()
    assert person["vy"] == pytest.approx(1.5)
    assert person["z"] == pytest.approx(0.93)
    assert other["down_s"] == np.inf
    assert _still(other)


def test_not_a_number_control(make_world) -> None:
    world = make_world()
    person = world.person(dir_x=np.nan, dir_y=np.inf, walk_speed=np.nan, imp_x=np.nan)
    for _ in range(5):
        world.move()
    assert _still(person)
    assert np.isfinite([person["x"], person["y"], person["z"], person["yaw"]]).all()
