"""Forecasts and trials of accelerations against independent geometry."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import shapely
from driver_fakes import FakeActor, FakeWorld, route_along_x, straight_map

from jaywalk.agents.driving._lanes import lanes_of
from jaywalk.agents.driving.perception import Perception
from jaywalk.agents.driving.route_line import make_line
from jaywalk.agents.expert._rollouts import TIMES_S, Boxes, foresee, overlap, own_distance, try_out


def seen_of(*others: FakeActor, ego_speed: float = 0.0, ego_x: float = 20.0):
    ego = FakeActor(1, "vehicle.ego", ego_x, 1.75, speed_mps=ego_speed, half=(2.4, 0.9, 0.7))
    world = FakeWorld([ego, *others])
    perception = Perception(world, ego)
    return perception.own(world.snapshot()), perception.look(world.snapshot())


def walker(x: float, y: float, yaw_deg: float, speed: float) -> FakeActor:
    return FakeActor(9, "walker.pedestrian.1", x, y, yaw_deg, speed, half=(0.2, 0.2, 0.9), z=0.9)


def test_box_overlap_agrees_with_shapely() -> None:
    random = np.random.default_rng(3)
    rows = np.column_stack(
        [
            random.uniform(-5, 5, 400),
            random.uniform(-5, 5, 400),
            random.uniform(0, 7, 400),
            random.uniform(0.2, 3, 400),
            random.uniform(0.2, 2, 400),
        ]
    )

    def boxes(part: np.ndarray) -> Boxes:
        x, y, yaw, half_x, half_y = part.T
        return Boxes(x=x, y=y, cos=np.cos(yaw), sin=np.sin(yaw), half_x=half_x, half_y=half_y)

    def shape(row: np.ndarray) -> shapely.Polygon:
        x, y, yaw, half_x, half_y = row
        box = shapely.box(-half_x, -half_y, half_x, half_y)
        box = shapely.affinity.rotate(box, yaw, origin=(0, 0), use_radians=True)
        return shapely.affinity.translate(box, x, y)

    found = overlap(boxes(rows[:200]), boxes(rows[200:]))
    truth = [shape(a).intersects(shape(b)) for a, b in zip(rows[:200], rows[200:], strict=True)]
    assert found.tolist() == truth
    assert 20 < sum(truth) < 180


@pytest.mark.parametrize("pull", [-8.0, -2.0, 0.0, 1.5])
def test_own_distance_agrees_with_integration(pull: float) -> None:
    driven = own_distance(9.0, np.array([pull]), 12.0)[0]
    speed, way, expected, step = 9.0, 0.0, [0.0], 1e-4
    for k in range(int(TIMES_S[-1] / step)):
        speed = min(max(speed + pull * step, 0.0), 12.0)
        way += speed * step
        if (k + 1) % round(0.2 / step) == 0:
            expected.append(way)
    assert driven == pytest.approx(expected, abs=0.01)


def test_a_car_stays_on_its_lane_and_gives_up_its_offset() -> None:
    lanes = lanes_of(straight_map())
    _, seen = seen_of(FakeActor(5, "vehicle.a", 60.0, 2.55, speed_mps=10.0))
    paths = foresee(seen, lanes)
    assert paths.xy_m[0, :, 0] == pytest.approx(60.0 + 10.0 * TIMES_S, abs=1.0)
    assert paths.xy_m[0, -1, 1] == pytest.approx(1.75, abs=0.05)
    assert np.all(np.diff(paths.xy_m[0, 5:, 1]) <= 1e-9)


def test_who_brakes_comes_to_rest_and_who_walks_goes_straight() -> None:
    lanes = lanes_of(straight_map())
    car = FakeActor(5, "vehicle.a", 60.0, 1.75, speed_mps=8.0)
    _, seen = seen_of(car, walker(80.0, 6.0, -90.0, 1.5))
    seen = replace(seen, acceleration_mps2=np.array([-4.0, 0.0]))
    paths = foresee(seen, lanes)
    assert paths.travelled_m[0, -1] == pytest.approx(64.0 / 8.0)
    assert paths.xy_m[1] == pytest.approx(
        np.column_stack([np.full(21, 80.0), 6.0 - 1.5 * TIMES_S]), abs=1e-9
    )


@pytest.mark.parametrize(
    ("y", "speed", "first_free"),
    [
        (30.0, 1.0, 0),  # far from the road for the whole horizon
        (5.5, 2.0, 2),  # in the lane when the car comes: only hard braking avoids that
        (1.75, 1.6, 1),  # leaving the lane: some braking leaves time between the two
    ],
)
def test_trial_takes_the_mildest_that_works(y: float, speed: float, first_free: int) -> None:
    road = straight_map()
    line = make_line(route_along_x(200.0), road, 8.0)
    own, seen = seen_of(walker(42.0, y, -90.0, speed), ego_speed=10.0)
    pulls = np.array([0.0, -2.5, -6.0])
    paths = foresee(seen, lanes_of(road))
    trial = try_out(line, 10.0, own, seen, paths, pulls, 10.0)
    free = np.flatnonzero(np.isinf(trial.first_s))
    assert len(free)
    assert free[0] == first_free
    assert trial.who[0] == (-1 if first_free == 0 else 0)


def test_somebody_touching_the_margin_already_does_not_freeze_the_car() -> None:
    road = straight_map()
    line = make_line(route_along_x(200.0), road, 8.0)
    beside = walker(20.5, 1.75 + 0.9 + 0.3 + 0.1, 0.0, 0.0)
    own, seen = seen_of(beside, ego_speed=0.0)
    trial = try_out(line, 10.0, own, seen, foresee(seen, lanes_of(road)), np.array([2.0]), 10.0)
    assert math.isinf(trial.first_s[0])
