"""Closed loops: PDM-Lite's published control laws drive the car; random controls never break it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

_HOLD = np.array(
    [
        1.1990342347353184,
        -0.8057602384167799,
        1.710818710950062,
        0.921890257450335,
        1.556497522998393,
        -0.7013479734904027,
    ]
)


def _pedals(speed_kmh: float, target_kmh: float) -> tuple[float, float]:
    error = target_kmh - speed_kmh
    if target_kmh < 1e-5 or speed_kmh / target_kmh > 1.031266635497984:
        return 0.0, 1.0
    if error > 1.89:
        return 1.0, 0.0
    v, e = speed_kmh / 100.0, max(error, 0.0) / 100.0
    features = [v, v * v, 100.0 * e, e * e, v * e, v * v * e]
    return float(np.clip(np.dot(features, _HOLD), 0.0, 1.0)), 0.0


class _Lateral:
    def __init__(self) -> None:
        self.errors = [0.0] * 6

    def steer(self, row, path: np.ndarray, speed_kmh: float) -> float:
        nearest = int(np.argmin(np.hypot(path[:, 0] - row["x"], path[:, 1] - row["y"])))
        ahead = int(np.clip(0.9755321901954155 * speed_kmh + 1.9152884533402488, 24, 105))
        aim = path[min(nearest + ahead, len(path) - 1)]
        angle = np.arctan2(aim[1] - row["y"], aim[0] - row["x"]) - row["yaw"]
        error = float((angle + np.pi) % (2 * np.pi) - np.pi) / (np.pi / 2)
        self.errors = [*self.errors[1:], error]
        change = self.errors[-1] - self.errors[-2]
        steer = 3.118357247806046 * error + 1.3782508892109167 * change
        return float(np.clip(steer + 0.6406067986034124 * np.mean(self.errors), -1.0, 1.0))


@pytest.mark.parametrize("target_kmh", [5, 10, 20, 30, 40, 50, 60, 72])
def test_the_experts_pedals_hold_the_target(make_world, target_kmh: float) -> None:
    world = make_world()
    car = world.car()
    speeds = []
    for _ in range(300):
        car["throttle"], car["brake"] = _pedals(float(car["vx"]) * 3.6, target_kmh)
        world.move()
        speeds.append(float(car["vx"]) * 3.6)
    assert np.abs(np.array(speeds[150:]) / target_kmh - 1.0).max() < 0.04


@pytest.mark.parametrize(("target_kmh", "radius_m"), [(18, 8.0), (30, 20.0), (50, 60.0)])
def test_the_experts_steering_follows_a_bend(make_world, target_kmh, radius_m) -> None:
    straight = np.column_stack([np.arange(0, 40, 0.1), np.zeros(400)])
    turn = np.arange(0.1, radius_m * np.pi / 2, 0.1) / radius_m
    bend = np.column_stack([40 + radius_m * np.sin(turn), radius_m * (1 - np.cos(turn))])
    out = np.column_stack([np.full(400, 40 + radius_m), radius_m + np.arange(0, 40, 0.1)])
    path = np.concatenate([straight, bend, out])
    world = make_world()
    car, lateral = world.car(target_kmh / 3.6), _Lateral()
    worst = 0.0
    for _ in range(600):
        speed_kmh = float(np.hypot(car["vx"], car["vy"])) * 3.6
        car["throttle"], car["brake"] = _pedals(speed_kmh, target_kmh)
        car["steer"] = round(lateral.steer(car, path, speed_kmh), 3)
        world.move()
        worst = max(worst, float(np.hypot(path[:, 0] - car["x"], path[:, 1] - car["y"]).min()))
        if car["y"] > radius_m + 20.0:
            break
    assert car["y"] > radius_m + 20.0
    assert worst < 0.6
    assert car["yaw"] == pytest.approx(np.pi / 2, abs=0.05)


_any = st.floats(allow_nan=True, allow_infinity=True)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(_any, _any, _any, st.booleans(), st.booleans(), st.booleans(), _any), max_size=8
    )
)
def test_whatever_a_client_sends_stays_finite(make_world, commands) -> None:
    world = make_world()
    world.wall(12.0, 0.0, 1.0, 20.0)
    car, person = world.car(5.0), world.person(x=6.0, y=0.5)
    world.prop(20.0, (0.3, 0.3, 0.5), x=4.0, y=-0.5)
    for throttle, brake, steer, reverse, hand, ackermann, other in commands:
        car["throttle"], car["brake"], car["steer"] = throttle, brake, steer
        car["reverse"], car["hand_brake"], car["ackermann"] = reverse, hand, ackermann
        car["ack_speed"], car["ack_steer"], car["ack_accel"] = other, steer, throttle
        person["dir_x"], person["dir_y"], person["walk_speed"] = throttle, steer, other
        world.tick(5)
        for row in world.actors[:3]:
            for name in ("x", "y", "z", "yaw", "pitch", "roll", "vx", "vy", "vz", "wz", "ax"):
                assert np.isfinite(row[name]), name
        assert np.hypot(car["vx"], car["vy"]) < 60.0


def test_stopped_by_nan_brake_like_the_traffic_manager_sends(make_world) -> None:
    world = make_world()
    car = world.car(11.0, throttle=0.0, brake=0.7)
    world.move()
    for _ in range(40):
        car["brake"] = np.nan
        world.move()
    assert [car[name] for name in ("vx", "vy", "vz", "wx", "wy", "wz")] == [0.0] * 6
    assert car["brake"] == 1.0
