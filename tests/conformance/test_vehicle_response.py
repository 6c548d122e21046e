"""Throttle, brake and steering of the Lincoln MKZ against the figures its controllers assume.

A generated straight road gives room; the expected numbers are evaluated here from the published
regressions (speed after one step of 0.05 s from speed and pedal) or quoted from their table.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import carla
import numpy as np
import pytest
from live_server import LiveServer, live_server
from scene import DELTA_S, Scene, straight_road

from jaywalk.record.episode import ask_wet_grip

THROTTLE = [
    0.963873001,
    4.37535692e-4,
    -0.380192912,
    1.74950069,
    0.0916787414,
    -0.070546153,
    -1.05996152e-3,
    6.71079346e-4,
]
BRAKE = [
    9.3171137e-3,
    8.20967431e-2,
    -2.83832427e-3,
    5.06587474e-5,
    -4.90357228e-7,
    2.44419284e-9,
    -4.91381935e-12,
]
KMH = 3.6


def throttle_law(v: float, t: float) -> float:
    """Speed in km/h one step later."""
    terms = [v, v * v, t, t * t, v * t, v * t * t, v * v * t, v * v * t * t]
    return float(np.dot(terms, THROTTLE))


def brake_law(v: float) -> float:
    """Speed in km/h after one step of full brake."""
    return max(0.0, float(np.dot([v**power for power in range(1, 8)], BRAKE)))


@pytest.fixture(scope="module")
def road(client: carla.Client) -> Iterator[Scene]:
    scene = Scene.of(client, client.generate_opendrive_world(straight_road(3000.0)))
    yield scene
    scene.leave()


@pytest.fixture
def car(road: Scene) -> Iterator[carla.Vehicle]:
    pose = carla.Transform(carla.Location(100.0, 1.75, 0.3))
    yield road.spawn("vehicle.lincoln.mkz_2020", pose, settle=10)
    road.clear()


def set_speed(scene: Scene, car: carla.Vehicle, speed_kmh: float) -> None:
    """Bring the car to a speed, straight ahead, whatever it did before."""
    car.apply_control(carla.VehicleControl())
    car.set_transform(carla.Transform(carla.Location(100.0, 1.75, 0.05)))
    scene.tick(4)
    car.set_target_velocity(carla.Vector3D(x=speed_kmh / KMH))


def speed_kmh(car: carla.Vehicle) -> float:
    return car.get_velocity().length() * KMH


@pytest.mark.parametrize("throttle", [1.0, 0.7, 0.5, 0.4])
def test_acceleration_follows_the_throttle_law(
    road: Scene, car: carla.Vehicle, throttle: float
) -> None:
    for start in (10.0, 30.0, 50.0, 70.0):
        set_speed(road, car, start)
        car.apply_control(carla.VehicleControl(throttle=throttle))
        road.tick(10)
        law = start
        for _ in range(10):
            law = throttle_law(law, throttle)
        assert speed_kmh(car) == pytest.approx(law, rel=0.05), start
        gained, expected = speed_kmh(car) - start, law - start
        if abs(expected) > 2.0:
            assert gained == pytest.approx(expected, rel=0.05), start


def test_standing_start_times(road: Scene, car: carla.Vehicle) -> None:
    car.apply_control(carla.VehicleControl(throttle=1.0))
    times = {}
    for step in range(1, 80):
        road.tick()
        for mark in (36.0, 50.0):
            if speed_kmh(car) >= mark and mark not in times:
                times[mark] = step * DELTA_S
    assert times[36.0] == pytest.approx(1.65, rel=0.05)
    assert times[50.0] == pytest.approx(2.5, rel=0.05)


@pytest.mark.parametrize(
    ("start", "distance_m", "time_s"), [(30.0, 2.5, 0.55), (50.0, 11.0, 1.3), (72.0, 24.0, 2.1)]
)
def test_full_brake_stops_as_the_table_says(
    road: Scene, car: carla.Vehicle, start: float, distance_m: float, time_s: float
) -> None:
    set_speed(road, car, start)
    car.apply_control(carla.VehicleControl(brake=1.0))
    begin = car.get_location()
    law, steps_of_law, metres_of_law = start, 0, 0.0
    while law > 0.5:
        after = brake_law(law)
        metres_of_law += 0.5 * (law + after) / KMH * DELTA_S
        law, steps_of_law = after, steps_of_law + 1
    road.tick()
    steps = 1 + road.until(lambda: speed_kmh(car) <= 0.5, 80)
    assert steps == pytest.approx(steps_of_law, abs=1)
    assert steps * DELTA_S == pytest.approx(time_s, abs=DELTA_S * 1.5)
    assert car.get_location().distance(begin) == pytest.approx(metres_of_law, rel=0.05, abs=0.2)
    assert metres_of_law == pytest.approx(distance_m, rel=0.1)
    road.tick(3)
    assert car.get_velocity().length() == 0.0


@pytest.mark.parametrize("steer", [0.1, 0.3, -0.3, 1.0])
def test_steering_gives_the_fitted_curvature(road: Scene, car: carla.Vehicle, steer: float) -> None:
    speed = 10.0 if abs(steer) < 0.5 else 4.0
    set_speed(road, car, speed)
    car.enable_constant_velocity(carla.Vector3D(x=speed / KMH))
    car.apply_control(carla.VehicleControl(steer=steer))
    road.tick(10)
    places, headings = [], []
    for _ in range(20):
        road.tick()
        places.append([car.get_location().x, car.get_location().y])
        headings.append(car.get_transform().rotation.yaw)
    travelled = np.linalg.norm(np.diff(places, axis=0), axis=1).sum()
    turned = np.diff(np.unwrap(np.radians(headings))).sum()
    slip = math.atan(1.4178275 / (1.4178275 - 0.090769015) * math.tan(0.36848336 * steer))
    assert turned / travelled == pytest.approx(math.sin(slip) / 1.4178275, rel=0.05)
    table = {0.1: 0.028, 0.3: 0.083, -0.3: -0.083, 1.0: 0.27}
    assert turned / travelled == pytest.approx(table[steer], rel=0.05)


WEATHERS = (
    carla.WeatherParameters.ClearNoon,
    carla.WeatherParameters(precipitation=100.0, precipitation_deposits=100.0, wetness=100.0),
)


@pytest.fixture
def slippery_when_wet(harbour: LiveServer) -> Iterator[None]:
    assert ask_wet_grip(harbour.host, harbour.port) is False  # a server starts without
    assert ask_wet_grip(harbour.host, harbour.port, True) is True
    yield
    ask_wet_grip(harbour.host, harbour.port, False)


def cornering_mps2(road: Scene, car: carla.Vehicle, weather: carla.WeatherParameters) -> float:
    """Acceleration to the side in a corner that is too tight for the tyres."""
    road.world.set_weather(weather)
    set_speed(road, car, 72.0)
    car.apply_control(carla.VehicleControl(steer=1.0, throttle=0.5))
    road.tick(6)
    return math.radians(abs(car.get_angular_velocity().z)) * car.get_velocity().length()


def stopping_m(road: Scene, car: carla.Vehicle, weather: carla.WeatherParameters) -> float:
    """Way from 72 km/h to a stop under full brake."""
    road.world.set_weather(weather)
    set_speed(road, car, 72.0)
    road.tick()
    start = car.get_location().x
    car.apply_control(carla.VehicleControl(brake=1.0))
    road.until(lambda: car.get_velocity().length() == 0.0, 200)
    return car.get_location().x - start


def test_weather_does_not_change_grip(road: Scene, car: carla.Vehicle) -> None:
    dry, rain = (stopping_m(road, car, weather) for weather in WEATHERS)
    assert rain == pytest.approx(dry, abs=1e-3)
    dry, rain = (cornering_mps2(road, car, weather) for weather in WEATHERS)
    assert 13.0 < dry < 18.0  # about 1.6 g
    assert rain == pytest.approx(dry, rel=1e-6)
    road.world.set_weather(WEATHERS[0])


@pytest.mark.usefixtures("slippery_when_wet")
def test_rain_lowers_grip_when_asked_to(road: Scene, car: carla.Vehicle) -> None:
    dry, rain = (stopping_m(road, car, weather) for weather in WEATHERS)
    assert rain > 1.1 * dry
    dry, rain = (cornering_mps2(road, car, weather) for weather in WEATHERS)
    assert rain < 0.8 * dry
    road.world.set_weather(WEATHERS[0])


def test_wet_grip_is_an_option_of_serve() -> None:
    with live_server("--town", "Harbour", "--wet-grip") as server:
        assert ask_wet_grip(server.host, server.port) is True


def test_reverse_hand_brake_and_rolling_to_rest(road: Scene, car: carla.Vehicle) -> None:
    car.apply_control(carla.VehicleControl(throttle=0.6, reverse=True))
    road.tick(40)
    assert car.get_velocity().x < -1.0
    assert car.get_control().reverse is True
    car.apply_control(carla.VehicleControl(hand_brake=True))
    road.until(lambda: car.get_velocity().length() == 0.0, 100)
    set_speed(road, car, 20.0)
    road.until(lambda: car.get_velocity().length() == 0.0, 600)  # it rolls to a stop


def test_trucks_and_bicycles_are_slower_than_cars(road: Scene, car: carla.Vehicle) -> None:
    speeds = {}
    for index, name in enumerate(("carlamotors.firetruck", "bh.crossbike", "audi.tt")):
        pose = carla.Transform(carla.Location(200.0 + 40.0 * index, 1.75, 0.5))
        other = road.spawn(f"vehicle.{name}", pose, settle=10)
        other.apply_control(carla.VehicleControl(throttle=1.0))
        road.tick(30)
        speeds[name] = speed_kmh(other)
        other.destroy()
        road.spawned.remove(other)
    assert speeds["audi.tt"] > 25.0
    assert speeds["carlamotors.firetruck"] < 0.8 * speeds["audi.tt"]
    assert speeds["bh.crossbike"] < 0.8 * speeds["audi.tt"]


def test_nan_brake_from_the_wheel_is_full_brake(road: Scene, car: carla.Vehicle) -> None:
    set_speed(road, car, 50.0)
    road.tick()
    nan = carla.VehicleControl(throttle=0.0, brake=float("nan"))
    road.client.apply_batch_sync([carla.command.ApplyVehicleControl(car, nan)], True)
    assert car.get_control().brake == 1.0
    road.tick(40)
    assert car.get_velocity().length() == 0.0


@pytest.mark.parametrize("field", ["throttle", "steer"])
@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_no_other_nan_or_infinity_is_integrated(
    road: Scene, car: carla.Vehicle, field: str, value: float
) -> None:
    set_speed(road, car, 30.0)
    control = carla.VehicleControl()
    setattr(control, field, value)
    road.client.apply_batch_sync([carla.command.ApplyVehicleControl(car, control)], True)
    velocity = carla.Vector3D(value, 0.0, 0.0)
    road.client.apply_batch_sync([carla.command.ApplyTargetVelocity(car, velocity)], True)
    for _ in range(5):
        road.tick()
        pose, moving = car.get_transform(), car.get_velocity()
        numbers = [pose.location.x, pose.location.y, pose.location.z, pose.rotation.yaw]
        assert np.isfinite([*numbers, moving.x, moving.y, moving.z]).all()
        assert math.isfinite(car.get_control().throttle)
        assert math.isfinite(car.get_control().steer)
    assert car.get_location().x < 200.0


def test_the_automatic_box_tells_its_gear(road: Scene, car: carla.Vehicle) -> None:
    def gear_at(speed_kmh: float, **control: Any) -> int:
        set_speed(road, car, speed_kmh)
        car.apply_control(carla.VehicleControl(**control))
        road.tick(2)
        assert car.get_telemetry_data().gear == car.get_control().gear
        return int(car.get_control().gear)

    assert [gear_at(kmh, throttle=0.6) for kmh in (0.0, 20.0, 50.0, 80.0, 110.0)] == [1, 1, 2, 3, 4]
    assert gear_at(0.0, brake=1.0) == 1
    assert gear_at(0.0, throttle=0.5, reverse=True) == -1
    # A driver's own choice is kept.
    assert gear_at(20.0, throttle=0.5, manual_gear_shift=True, gear=3) == 3
