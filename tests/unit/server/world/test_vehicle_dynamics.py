"""The car answers as the expert's published regressions say, and stays sane outside of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jaywalk.server.world._longitudinal import acceleration_at, next_speed
from jaywalk.server.world._vehicle_models import vehicle_model
from jaywalk.server.world.vehicle_dynamics import grip_share, set_velocity

_THROTTLE = np.array(
    [
        0.963873001,
        4.37535692e-4,
        -0.380192912,
        1.74950069,
        0.0916787414,
        -0.070546153,
        -1.05996152e-3,
        6.71079346e-4,
    ]
)
_BRAKE = np.array(
    [
        9.3171137e-3,
        8.20967431e-2,
        -2.83832427e-3,
        5.06587474e-5,
        -4.90357228e-7,
        2.44419284e-9,
        -4.91381935e-12,
    ]
)


def _expected_kmh(v: float, t: float) -> float:
    features = [v, v * v, t, t * t, v * t, v * t * t, v * v * t, v * v * t * t]
    return float(np.dot(features, _THROTTLE))


def _expected_brake_kmh(v: float) -> float:
    return float(np.dot(v ** np.arange(1, 8), _BRAKE))


def _still(row) -> bool:
    return all(row[name] == 0.0 for name in ("vx", "vy", "vz", "wx", "wy", "wz"))


@pytest.mark.parametrize(("dt_s", "ticks"), [(0.05, 1), (0.01, 5), (0.025, 2)])
def test_throttle_regression_on_a_grid(make_world, dt_s: float, ticks: int) -> None:
    for speed_kmh in np.arange(0.0, 73.0, 6.0):
        for throttle in np.arange(0.3, 1.01, 0.1):
            world = make_world(dt_s=dt_s)
            car = world.car(speed_kmh / 3.6, throttle=throttle)
            for _ in range(ticks):
                world.move()
            expected = _expected_kmh(speed_kmh, throttle)
            assert car["vx"] * 3.6 == pytest.approx(expected, rel=0.01, abs=0.02)


@pytest.mark.parametrize(("dt_s", "ticks", "slack_kmh"), [(0.05, 1, 0.0), (0.01, 5, 0.1)])
def test_brake_regression(make_world, dt_s: float, ticks: int, slack_kmh: float) -> None:
    for speed_kmh in np.arange(4.0, 73.0, 4.0):
        world = make_world(dt_s=dt_s)
        car = world.car(speed_kmh / 3.6, brake=1.0)
        for _ in range(ticks):
            world.move()
        expected = _expected_brake_kmh(speed_kmh)
        assert car["vx"] * 3.6 == pytest.approx(expected, rel=0.01, abs=slack_kmh)


def test_a_longer_tick_is_two_short_ones(make_world) -> None:
    long, short = make_world(dt_s=0.1), make_world(dt_s=0.05)
    for world in (long, short):
        world.car(10.0, throttle=0.7, steer=0.2)
    long.move()
    short.move()
    short.move()
    for name in ("x", "y", "yaw", "vx", "vy", "wz"):
        assert long.actors[0][name] == pytest.approx(short.actors[0][name], abs=1e-9)


def test_sprint_times(make_world) -> None:
    world = make_world()
    car = world.car(throttle=1.0)
    times = {}
    for tick in range(1, 80):
        world.move()
        for mark in (36, 50):
            if car["vx"] * 3.6 >= mark:
                times.setdefault(mark, tick * 0.05)
    assert times[36] == pytest.approx(1.65, rel=0.05)
    assert times[50] == pytest.approx(2.5, rel=0.05)


@pytest.mark.parametrize(
    ("speed_kmh", "metres", "seconds"), [(30, 2.5, 0.55), (50, 11, 1.3), (72, 24, 2.1)]
)
@pytest.mark.parametrize("brake", [1.0, np.nan])
def test_full_stop(make_world, speed_kmh: float, metres: float, seconds: float, brake) -> None:
    world = make_world()
    car = world.car(speed_kmh / 3.6, brake=brake, throttle=0.0)
    ticks = 0
    while car["vx"] != 0.0 and ticks < 100:
        world.move()
        ticks += 1
    assert car["x"] == pytest.approx(metres, rel=0.05)
    assert ticks * 0.05 == pytest.approx(seconds, abs=0.051)
    world.move()
    assert _still(car)


@pytest.mark.parametrize(("steer", "per_metre"), [(0.1, 0.028), (0.3, 0.083), (1.0, 0.27)])
def test_curvature_table(make_world, steer: float, per_metre: float) -> None:
    world = make_world()
    car = world.car(3.0, steer=steer, throttle=0.31)
    for _ in range(10):
        world.move()
    curvature = car["wz"] / np.hypot(car["vx"], car["vy"])
    assert curvature == pytest.approx(per_metre, rel=0.03)


def test_pose_follows_the_experts_forecast(make_world) -> None:
    """Two seconds of the published forecast recursion, driven by the same controls."""
    world = make_world()
    car = world.car(8.0, throttle=0.6, steer=0.15)
    world.move()  # lets the wheels reach their angle
    x, y, yaw = float(car["x"]), float(car["y"]), float(car["yaw"])
    v = float(np.hypot(car["vx"], car["vy"]))
    start = np.array([x, y])
    front, rear, gain = -0.090769015, 1.4178275, 0.36848336
    slip = np.arctan(rear / (front + rear) * np.tan(gain * 0.15))
    for _ in range(40):
        x += v * np.cos(yaw + slip) * 0.05
        y += v * np.sin(yaw + slip) * 0.05
        yaw += v / rear * np.sin(slip) * 0.05
        v = _expected_kmh(v * 3.6, 0.6) / 3.6
        world.move()
    driven = np.hypot(x - start[0], y - start[1])
    assert np.hypot(car["x"] - x, car["y"] - y) < 0.05 * driven
    assert car["yaw"] == pytest.approx(yaw, rel=0.05)
    assert np.hypot(car["vx"], car["vy"]) == pytest.approx(v, rel=0.01)


@settings(max_examples=200, deadline=None)
@given(st.floats(0.0, 70.0), st.floats(0.0, 1.0), st.floats(0.0, 1.0))
def test_more_throttle_never_gives_less(speed: float, a: float, b: float) -> None:
    low, high = min(a, b), max(a, b)
    assert acceleration_at(speed, low, 1.0, 50.0) <= acceleration_at(speed, high, 1.0, 50.0) + 1e-9


@settings(max_examples=200, deadline=None)
@given(st.floats(0.0, 70.0), st.floats(0.0, 1.0), st.floats(0.0, 1.0), st.floats(0.005, 0.05))
def test_more_brake_never_goes_faster_nor_backwards(speed, a, b, dt_s) -> None:
    model = vehicle_model("vehicle.lincoln.mkz_2020", "car", 2.446, 0.918, 0.740)
    low, high = min(a, b), max(a, b)
    softer = next_speed(speed, 0.0, low, False, 1, 0.0, 1.0, model, dt_s)
    harder = next_speed(speed, 0.0, high, False, 1, 0.0, 1.0, model, dt_s)
    assert 0.0 <= harder <= softer + 0.02
    assert softer <= speed


def test_coasting_is_gentle_and_ends_at_exactly_zero(make_world) -> None:
    world = make_world()
    car = world.car(15.0)
    speeds = [15.0]
    while car["vx"] > 0.0 and len(speeds) < 800:
        world.move()
        speeds.append(float(car["vx"]))
    falls = -np.diff(speeds) / 0.05
    assert speeds[-1] == 0.0
    assert falls[:-1].min() > 0.25
    assert falls[:-1].max() < 2.0
    assert _still(car)


def test_top_speed_is_approached_from_both_sides(make_world) -> None:
    world = make_world()
    car, over = world.car(45.0, throttle=1.0), world.car(70.0, y=50.0, throttle=1.0)
    for _ in range(1200):
        world.move()
    assert 45.0 < car["vx"] <= 50.0 + 1e-6
    assert over["vx"] < 60.0
    for speed in np.arange(1.0, 80.0):
        assert acceleration_at(speed, 0.0, 1.0, 50.0) < -0.2


def test_reverse_and_gear_change(make_world) -> None:
    world = make_world()
    car = world.car(3.0, throttle=0.7, reverse=1)
    for _ in range(300):
        world.move()
    assert -8.01 < car["vx"] < -6.0
    car["brake"], car["throttle"] = 1.0, 0.0
    for _ in range(30):
        world.move()
    assert _still(car)
    backwards = world.car(-3.0, y=20.0, throttle=0.5)
    for _ in range(100):
        world.move()
    assert backwards["vx"] > 1.0


def test_reversing_with_steer_turns_the_other_way(make_world) -> None:
    world = make_world()
    car = world.car(-3.0, throttle=0.5, reverse=1, steer=0.5)
    for _ in range(20):
        world.move()
    assert car["yaw"] < -0.1


def test_neutral_and_hand_brake(make_world) -> None:
    world = make_world()
    neutral = world.car(throttle=1.0, manual_gear=1, gear=0)
    held = world.car(10.0, y=10.0, hand_brake=1)
    for _ in range(60):
        world.move()
    assert _still(neutral)
    assert _still(held)
    assert 5.0 < held["x"] < 20.0


def test_slope(make_world, make_slope) -> None:
    world = make_world(make_slope(0.1))
    parked, braked = world.car(y=0.0), world.car(y=20.0, brake=1.0)
    up, down = world.car(5.0, y=40.0, throttle=0.5), world.car(5.0, y=60.0, throttle=0.5)
    down["yaw"] = np.pi
    down["v_long"], down["vx"] = 5.0, -5.0
    for _ in range(60):
        world.move()
    assert _still(parked)
    assert parked["x"] == 0.0
    assert _still(braked)
    assert np.hypot(down["vx"], down["vy"]) > np.hypot(up["vx"], up["vy"]) + 3.0
    assert up["pitch"] == pytest.approx(np.arctan(0.1), abs=1e-3)
    assert down["pitch"] == pytest.approx(-np.arctan(0.1), abs=1e-3)
    assert up["z"] == pytest.approx(0.1 * up["x"], abs=0.02)
    assert up["vz"] > 0.1 > -0.1 > down["vz"]


def test_cross_slope_rolls_towards_the_low_side(make_world, make_slope) -> None:
    world = make_world(make_slope(0.1))
    car = world.car(yaw=np.pi / 2, settled=0)  # right side points to -x: downhill
    for _ in range(10):
        world.move()
    assert car["roll"] == pytest.approx(np.arctan(0.1), abs=1e-3)


def test_a_steep_slope_moves_an_unbraked_car(make_world, make_slope) -> None:
    world = make_world(make_slope(0.35))
    car = world.car(settled=0)
    for _ in range(60):
        world.move()
    assert car["vx"] < -0.5


@pytest.mark.parametrize("height_m", [0.2, 0.5, 0.7])
def test_spawned_above_the_road_settles(make_world, height_m: float) -> None:
    world = make_world()
    car = world.car(z=height_m, settled=0)
    drops = []
    for _ in range(10):
        before = float(car["z"])
        world.move()
        drops.append(before - float(car["z"]))
    assert max(drops) <= 0.4
    assert drops[0] >= 0.14
    assert car["z"] == 0.0
    assert _still(car)


def test_far_above_falls_freely_and_lands(make_world) -> None:
    world = make_world()
    car = world.car(z=20.0, settled=0)
    for _ in range(20):
        world.move()
    assert car["vz"] == pytest.approx(-9.81, rel=0.01)
    for _ in range(60):
        world.move()
    assert car["z"] == 0.0
    assert _still(car)


def test_parked_under_the_world(make_world) -> None:
    world = make_world()
    off, on = world.car(z=-100.0, physics=0), world.car(z=-100.0, y=10.0, settled=0)
    for _ in range(20):
        world.move()
    assert off["z"] == -100.0
    assert _still(off)
    assert on["z"] < -104.0  # nothing there to stand on
    off["x"], off["z"], off["physics"], off["teleported"] = 50.0, 0.3, 1, 1
    for _ in range(10):
        world.move()
    assert off["z"] == 0.0
    assert _still(off)


def test_physics_off_reports_displacement_but_no_jumps(make_world) -> None:
    world = make_world()
    car = world.car(physics=0)
    world.move()
    car["x"], car["yaw"], car["teleported"] = 0.5, 0.05, 1
    world.move()
    assert (car["vx"], car["vy"]) == (pytest.approx(10.0), 0.0)
    assert car["wz"] == pytest.approx(1.0)
    world.move()
    assert _still(car)
    car["x"], car["teleported"] = 500.0, 1
    world.move()
    assert _still(car)
    assert car["x"] == 500.0


def test_set_velocity_and_sideways_slide(make_world) -> None:
    world = make_world()
    car = world.car(yaw=0.5)
    set_velocity(car, 6.0, 0.0, np.nan)
    assert np.hypot(car["v_long"], car["v_lat"]) == pytest.approx(6.0)
    for _ in range(20):
        world.move()
    assert abs(car["v_lat"]) == 0.0
    assert car["v_long"] > 3.0


def test_constant_velocity_ignores_the_throttle_but_steers(make_world) -> None:
    world = make_world()
    car = world.car(const_vel=1, cvx=7.0, brake=1.0, steer=0.2)
    for _ in range(20):
        world.move()
    assert np.hypot(car["vx"], car["vy"]) == pytest.approx(7.0, rel=0.01)
    assert car["yaw"] > 0.3


@pytest.mark.parametrize("wetness", [0.0, 100.0])
def test_cornering_is_limited_by_grip(make_world, wetness: float) -> None:
    world = make_world()
    world.wetness = wetness
    car = world.car(18.0, steer=1.0, throttle=0.5)
    for _ in range(5):
        world.move()
    sideways = abs(car["wz"]) * np.hypot(car["vx"], car["vy"])
    assert sideways == pytest.approx(1.6 * 9.81 * (1.0 - 0.35 * wetness / 100.0), rel=0.03)


def test_wet_roads_lengthen_the_stop(make_world) -> None:
    stops = []
    for wetness in (0.0, 50.0, 100.0, np.nan):
        world = make_world()
        world.wetness = wetness
        car = world.car(20.0, brake=1.0)
        for _ in range(120):
            world.move()
        assert car["vx"] == 0.0
        stops.append(float(car["x"]))
    # The law of a dry road needs 24.2 m; 0.7 g on a soaked one 20^2 / (2 * 6.87) m.
    assert stops[0] <= stops[1] < stops[2]
    assert stops[0] == pytest.approx(24.2, rel=0.02)
    assert stops[2] == pytest.approx(29.1, rel=0.05)
    assert stops[3] == stops[0]
    assert grip_share(100.0) == pytest.approx(0.65)


def test_not_a_number_controls(make_world) -> None:
    world = make_world()
    car = world.car(10.0, throttle=np.nan, steer=0.2)
    world.move()
    world.move()
    angle = float(car["wheel_angle"])
    car["steer"] = np.nan
    car["force_x"], car["imp_y"], car["imp_yaw"] = np.inf, np.nan, np.nan
    world.move()
    assert car["wheel_angle"] == pytest.approx(angle)
    assert 9.0 < np.hypot(car["vx"], car["vy"]) < 10.0
    car["throttle"], car["brake"], car["steer"] = np.inf, -np.inf, -np.inf
    world.move()
    for name in car.dtype.names:
        assert np.isfinite(float(car[name])), name


def test_impulse_and_force_are_applied_once(make_world) -> None:
    world = make_world()
    car = world.car(10.0, throttle=0.5, imp_x=-1845.0 * 4.0)
    world.move()
    assert car["vx"] == pytest.approx(6.0, abs=0.2)
    assert car["imp_x"] == 0.0
    pushed = world.car(y=10.0, force_x=1845.0 * 200.0)
    world.move()
    assert 9.0 < pushed["vx"] <= 10.0
    spun = world.car(y=20.0, imp_yaw=6000.0)
    world.move()
    assert spun["wz"] > 0.3
    for _ in range(40):
        world.move()
    assert _still(spun)


def test_acceleration_is_reported_and_ends_at_zero(make_world) -> None:
    world = make_world()
    car = world.car(10.0, throttle=1.0)
    for _ in range(10):
        world.move()
    assert car["ax"] == pytest.approx(acceleration_at(car["vx"], 1.0, 1.0, 50.0), rel=0.05)
    car["throttle"], car["brake"] = 0.0, 1.0
    for _ in range(60):
        world.move()
    assert (car["ax"], car["ay"], car["az"]) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("target", [-3.0, 0.5, 2.0, 8.0, 15.0, 20.0])
@pytest.mark.parametrize("model", [0, 2])
def test_ackermann_tracks_speed_and_stops(make_world, target: float, model: int) -> None:
    world = make_world()
    car = world.car(model=model, ackermann=1, ack_speed=target)
    for _ in range(300):
        world.move()
    assert car["vx"] == pytest.approx(target, abs=0.3)
    car["ack_speed"] = 0.0
    for _ in range(120):
        world.move()
    assert _still(car)


def test_ackermann_steer_and_its_rate(make_world) -> None:
    world = make_world()
    fast = world.car(5.0, ackermann=1, ack_speed=5.0, ack_steer=np.deg2rad(35.0))
    slow = world.car(
        5.0, y=40.0, ackermann=1, ack_speed=5.0, ack_steer=np.deg2rad(35.0), ack_steer_speed=0.1
    )
    for _ in range(20):
        world.move()
    assert fast["steer"] == pytest.approx(0.5)
    assert slow["steer"] == pytest.approx(0.1 / np.deg2rad(70.0), rel=0.01)


@pytest.mark.parametrize(
    ("base", "half", "lightest", "heaviest"),
    [
        ("car", (1.853, 0.894, 0.775), 600, 2600),
        ("van", (2.958, 0.994, 1.28), 2000, 3500),
        ("truck", (4.234, 1.446, 1.914), 9000, 18000),
        ("bus", (5.136, 1.972, 2.12), 12000, 16000),
        ("bicycle", (0.821, 0.186, 0.598), 85, 95),
        ("motorcycle", (1.017, 0.401, 0.573), 200, 300),
    ],
)
def test_models_are_plausible(base, half, lightest, heaviest) -> None:
    model = vehicle_model(f"vehicle.some.{base}", base, *half)
    assert lightest <= model["mass_kg"] <= heaviest
    radius = (model["front_m"] + model["rear_m"]) / np.tan(model["steer_gain_rad"])
    assert 1.5 < radius < 10.0


def test_bicycle_is_slower_than_a_car(make_world) -> None:
    world = make_world()
    bike, car = world.car(model=1, throttle=1.0), world.car(y=10.0, throttle=1.0)
    for _ in range(300):
        world.move()
    assert 6.0 < bike["vx"] <= 9.01
    assert car["vx"] > 20.0


def test_a_run_repeats_bit_for_bit(make_world) -> None:
    runs = []
    for _ in range(2):
        world = make_world()
        car = world.car(5.0, throttle=0.6, steer=0.2)
        world.tick(50)
        runs.append(car.tobytes())
    assert runs[0] == runs[1]


def test_an_upward_impulse_throws_the_car_up_and_it_lands(make_world) -> None:
    world = make_world()
    car = world.car(0.0)
    world.move()
    car["imp_z"] = 10.0 * car["mass"]
    heights = []
    for _ in range(60):
        world.move()
        heights.append(float(car["z"]))
    # 10 m/s upwards: 10^2 / (2 * 9.81) m high, back after two seconds.
    assert max(heights) == pytest.approx(5.1, abs=0.6)
    assert heights[-1] == 0.0
    assert _still(car)
