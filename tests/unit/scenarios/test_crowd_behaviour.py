"""People's decisions on a street made here: gaps, evasion, obstacles, lights, falls."""

from __future__ import annotations

import numpy as np
import pytest
from crowd_street import DELTA_S, crossing, going_over, seen, street, walkers

from jaywalk.actors.crowd._crossings import Crossings
from jaywalk.actors.crowd._kernels import _endangers, advance
from jaywalk.actors.crowd.state import (
    ARRIVED,
    CROSSING,
    DOWN,
    GAVE_UP,
    STANDING,
    WAITING,
    CrowdRows,
    CrowdSurroundings,
)
from jaywalk.geometry.box import box_distance
from jaywalk.town.ground import flat_ground
from jaywalk.town.walkways import SIDEWALK, WalkGrid, underfoot


def run(
    people: CrowdRows,
    grid: WalkGrid,
    around: CrowdSurroundings,
    ticks: int,
    ways: Crossings | None = None,
) -> np.ndarray:
    """Let them walk as the server lets them; places (ticks, n, 2)."""
    trace = np.zeros((ticks, len(people.x), 2))
    for tick in range(ticks):
        advance(people, around, ways or crossing(), grid, flat_ground(), DELTA_S)
        people.sent_heading[:], people.sent_pace[:] = people.heading, people.pace
        people.x[:] += people.pace * np.cos(people.heading) * DELTA_S
        people.y[:] += people.pace * np.sin(people.heading) * DELTA_S
        around.vehicles[:, 0] += around.vehicles[:, 6] * DELTA_S
        around.vehicles[:, 1] += around.vehicles[:, 7] * DELTA_S
        trace[tick] = np.column_stack([people.x, people.y])
    return trace


def test_somebody_alone_walks_the_path_at_their_speed() -> None:
    people = walkers([(5.0, 1.5), (45.0, 1.5)])
    trace = run(people, street(), seen(), 330)
    assert people.need[0] == ARRIVED
    assert people.state[0] == STANDING
    assert abs(trace[-1, 0, 0] - 45.0) < 0.6
    assert np.abs(trace[:, 0, 1] - 1.5).max() < 0.05
    speed = np.hypot(*np.diff(trace[20:200, 0], axis=0).T) / DELTA_S
    assert np.allclose(speed, 1.3, atol=0.02)


@pytest.mark.parametrize("width_m", [2.0, 3.0])
def test_people_who_meet_pass_without_touching(width_m: float) -> None:
    y = 0.5 * width_m
    people = walkers([(10.0, y), (40.0, y)], [(40.0, y), (10.0, y)], speed=1.4)
    grid = street(width_m)
    trace = run(people, grid, seen(), 280)
    gap = np.hypot(*(trace[:, 0] - trace[:, 1]).T)
    assert gap.min() > 0.45
    assert abs(trace[-1, 0, 0] - 40.0) < 0.7
    assert abs(trace[-1, 1, 0] - 10.0) < 0.7
    on = {int(underfoot(grid, *place)) for place in trace.reshape(-1, 2)}
    assert on == {SIDEWALK}


def test_a_prop_on_the_sidewalk_is_walked_round() -> None:
    people = walkers([(5.0, 1.5), (45.0, 1.5)])
    box = [25.0, 1.2, 1.0, 0.0, 0.6, 0.5]
    grid = street()
    trace = run(people, grid, seen(props=[box]), 400)
    gaps = [box_distance(x, y, *box) for x, y in trace[:, 0]]
    assert min(gaps) > 0.2
    assert trace[-1, 0, 0] > 44.0
    assert {int(underfoot(grid, *place)) for place in trace[:, 0]} == {SIDEWALK}


def test_mid_block_people_wait_for_a_gap_and_are_never_hit() -> None:
    ways = crossing(painted=-1)
    waited = 0
    for start in np.arange(-80.0, 40.0, 7.0):
        cars = [[start - 60.0 * k, 5.0, 1.0, 0.0, 2.3, 0.9, 12.0, 0.0] for k in range(3)]
        people, around = going_over(ways), seen(cars)
        touched = False
        for _ in range(400):
            run(people, street(), around, 1, ways)
            place = float(people.x[0]), float(people.y[0])
            gaps = [box_distance(*place, *car[:6]) for car in around.vehicles]
            touched = touched or min(gaps) < 0.3
            waited += int(people.state[0] == WAITING)
        assert not touched
        assert people.y[0] > 10.0
    assert waited > 50


def test_who_finds_no_gap_gives_up() -> None:
    ways = crossing(painted=-1)
    cars = [[40.0 - 20.0 * k, 5.0, 1.0, 0.0, 2.3, 0.9, 8.0, 0.0] for k in range(60)]
    people = going_over(ways)
    run(people, street(), seen(cars), 400, ways)
    assert people.need[0] == GAVE_UP
    assert people.y[0] < 3.0


def test_red_for_cars_lets_people_walk() -> None:
    ways = crossing(lights=0)
    for red_s, moves in ((-1.0, False), (1.0, True), (17.0, False)):
        people = going_over(ways)
        run(people, street(), seen(red_s=red_s), 150, ways)
        assert (people.state[0] == CROSSING or people.y[0] > 4.0) == moves, red_s
    people = going_over(ways)
    people.obeys[0] = 0
    run(people, street(), seen(), 150, ways)
    assert people.y[0] > 4.0


def test_a_crosswalk_needs_only_that_cars_can_stop() -> None:
    """At 45 m a car at 10 m/s can brake at 2 m/s2; mid-block nobody trusts it to."""
    car = np.array([40.0 - 45.0, 5.0, 1.0, 0.0, 2.3, 0.9, 10.0, 0.0])
    way = (40.0, 2.3, 0.0, 1.0, 8.4, 1.0, 2.5)
    assert _endangers(car, *way, False)
    assert not _endangers(car, *way, True)
    near = car.copy()
    near[0] = 40.0 - 25.0
    assert _endangers(near, *way, True)


def test_gap_rule_against_a_simulation() -> None:
    """Whoever the rule lets go stays clear of the car by the margin, in time."""
    random = np.random.default_rng(5)
    times = np.arange(0.0, 15.0, 0.02)
    checked = refused = 0
    for _ in range(400):
        speed, pace = random.uniform(2.0, 15.0), random.uniform(0.8, 1.8)
        turn = random.uniform(-0.6, 0.6) + (np.pi if random.random() < 0.5 else 0.0)
        cos, sin = np.cos(turn), np.sin(turn)
        meet, back = random.uniform(4.0, 9.0), random.uniform(0.0, 70.0)
        car = np.array(
            [-back * cos, meet - back * sin, cos, sin, 2.3, 0.9, speed * cos, speed * sin]
        )
        go = not _endangers(car, 0.0, 0.0, 0.0, 1.0, 10.0, pace, 1.0, False)
        y = np.minimum(pace * times, 10.0)
        walking = y < 10.0
        near = [
            box_distance(0.0, v, car[0] + t * car[6], car[1] + t * car[7], *car[2:6])
            for t, v in zip(times[walking], y[walking], strict=True)
        ]
        if go:
            assert min(near) > 0.4
            checked += 1
        else:
            refused += 1
    assert checked > 100
    assert refused > 100


def test_who_lies_stays_lying() -> None:
    people = walkers([(5.0, 1.5), (45.0, 1.5)])
    run(people, street(), seen(), 20)
    people.z[0] = 0.25
    trace = run(people, street(), seen(), 20)
    assert people.state[0] == DOWN
    assert people.pace[0] == 0.0
    assert np.ptp(trace[:, 0, 0]) < 1e-9


def test_controls_are_sent_only_when_they_change() -> None:
    people = walkers([(5.0, 1.5), (45.0, 1.5)])
    run(people, street(), seen(), 30)
    changes = 0
    for _ in range(100):
        advance(people, seen(), crossing(), street(), flat_ground(), DELTA_S)
        changes += int(people.changed[0])
        people.x[0] += people.pace[0] * DELTA_S
    assert changes == 0


@pytest.mark.parametrize("aside_m", [-2.0, -1.0, 0.0, 1.0, 2.0])
def test_a_car_that_stands_on_the_crossing_is_walked_round(aside_m: float) -> None:
    """Drivers wait for people on the road; people who cannot get past them would wait for ever."""
    people = going_over(crossing())
    car = [40.0 + aside_m, 6.5, 1.0, 0.0, 2.4, 0.95, 0.0, 0.0]
    trace = run(people, street(), seen(vehicles=[car]), 400)
    gaps = [box_distance(x, y, *car[:6]) for x, y in trace[:, 0]]
    assert min(gaps) > 0.15
    assert trace[-1, 0, 1] > 10.0
