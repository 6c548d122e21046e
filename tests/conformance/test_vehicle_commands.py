"""Velocity commands, physics control, Ackermann, lamps, doors, telemetry."""

from __future__ import annotations

import math

import carla
import numpy as np
import pytest
from scene import DELTA_S, Scene, angle_between_deg, forward, xyz


def _on_straight(scene: Scene, type_id: str = "vehicle.lincoln.mkz_2020") -> carla.Vehicle:
    pose = scene.straight_lane(80.0).transform
    pose.location.z += 0.2
    return scene.spawn(type_id, pose, settle=10)


def test_constant_velocity_is_held_in_the_frame_of_the_car(scene: Scene) -> None:
    car = _on_straight(scene)
    start, yaw = xyz(car.get_location()), car.get_transform().rotation.yaw
    car.enable_constant_velocity(carla.Vector3D(x=7.0))
    car.apply_control(carla.VehicleControl(brake=1.0))
    scene.tick(40)
    assert car.get_velocity().length() == pytest.approx(7.0, abs=0.05)
    wanted = start + forward(yaw) * 7.0 * 40 * DELTA_S
    assert np.linalg.norm(xyz(car.get_location()) - wanted) < 0.5
    car.disable_constant_velocity()
    scene.until(lambda: car.get_velocity().length() == 0.0, 60)


def test_target_velocity_is_set_at_once_in_the_world_frame(scene: Scene) -> None:
    car = _on_straight(scene)
    way = car.get_transform().get_forward_vector()
    car.set_target_velocity(carla.Vector3D(way.x * 9.0, way.y * 9.0, 0.0))
    scene.tick()
    assert car.get_velocity().length() == pytest.approx(9.0, abs=0.8)
    assert xyz(car.get_velocity())[:2] @ xyz(way)[:2] > 8.0


def test_target_angular_velocity_turns_the_car(scene: Scene) -> None:
    car = _on_straight(scene)
    before = car.get_transform().rotation.yaw
    car.set_target_angular_velocity(carla.Vector3D(z=60.0))
    scene.tick()
    assert angle_between_deg(car.get_transform().rotation.yaw, before) > 0.5


def test_gravity_can_be_switched_off(scene: Scene) -> None:
    car = scene.car()
    car.set_enable_gravity(False)
    high = car.get_transform()
    high.location.z += 10.0
    car.set_transform(high)
    scene.tick(10)
    assert car.get_location().z == pytest.approx(high.location.z, abs=0.3)
    car.set_enable_gravity(True)
    scene.tick(60)
    assert car.get_location().z < high.location.z - 5.0


def test_physics_control_reads_and_writes(scene: Scene) -> None:
    car = scene.car()
    physics = car.get_physics_control()
    assert 1500.0 < physics.mass < 2500.0
    assert len(physics.wheels) == 4
    assert physics.wheels[0].max_steer_angle == pytest.approx(70.0, abs=1.0)
    assert physics.wheels[2].max_steer_angle == 0.0
    assert 25.0 < physics.wheels[0].radius < 50.0
    assert len(physics.forward_gears) >= 1
    assert len(physics.torque_curve) >= 3
    # Wheel positions are in the world, in centimetres, near the car.
    centre = np.mean([xyz(wheel.position) for wheel in physics.wheels], axis=0) / 100.0
    assert np.linalg.norm(centre[:2] - xyz(car.get_location())[:2]) < 1.0
    physics.mass = 3333.0
    physics.drag_coefficient = 0.5
    wheels = physics.wheels
    for wheel in wheels:
        wheel.tire_friction = 1.25
    physics.wheels = wheels
    car.apply_physics_control(physics)
    scene.tick()
    again = car.get_physics_control()
    assert again.mass == pytest.approx(3333.0)
    assert again.drag_coefficient == pytest.approx(0.5)
    assert [wheel.tire_friction for wheel in again.wheels] == pytest.approx([1.25] * 4)
    assert again.max_rpm == pytest.approx(physics.max_rpm)


def test_ackermann_reaches_and_holds_the_speed(scene: Scene) -> None:
    car = _on_straight(scene)
    car.apply_ackermann_control(
        carla.VehicleAckermannControl(speed=6.0, acceleration=3.0, steer=0.0)
    )
    scene.tick(80)
    assert car.get_velocity().length() == pytest.approx(6.0, rel=0.08)
    gains = car.get_ackermann_controller_settings()
    gains.speed_kp = 0.42
    car.apply_ackermann_controller_settings(gains)
    scene.tick()
    assert car.get_ackermann_controller_settings().speed_kp == pytest.approx(0.42)
    yaw = car.get_transform().rotation.yaw
    car.apply_ackermann_control(carla.VehicleAckermannControl(speed=3.0, steer=0.2))
    scene.tick(20)
    assert angle_between_deg(car.get_transform().rotation.yaw, yaw) > 3.0


def test_control_latches_and_reads_back(scene: Scene) -> None:
    car = _on_straight(scene)
    control = carla.VehicleControl(
        throttle=0.35, steer=-0.15, brake=0.05, manual_gear_shift=True, gear=1
    )
    car.apply_control(control)
    scene.tick(3)
    got = car.get_control()
    assert (got.throttle, got.steer, got.brake) == pytest.approx((0.35, -0.15, 0.05))
    assert (got.hand_brake, got.reverse, got.manual_gear_shift) == (False, False, True)


def test_lamps_read_back_for_one_and_for_all(scene: Scene) -> None:
    first, second = scene.car(0), scene.car(5)
    state = carla.VehicleLightState
    first.set_light_state(state(state.LowBeam | state.LeftBlinker | state.Brake))
    scene.tick()
    assert int(first.get_light_state()) == 2 | 32 | 8
    lamps = scene.world.get_vehicles_light_states()
    assert int(lamps[first.id]) == 2 | 32 | 8
    assert int(lamps[second.id]) == 0


def test_doors_open_and_close_without_complaint(scene: Scene) -> None:
    car = scene.car()
    for door in (carla.VehicleDoor.FL, carla.VehicleDoor.All):
        car.open_door(door)
        scene.tick()
        car.close_door(door)
    scene.tick()
    assert car.is_alive


def test_wheels_turn_with_the_steering(scene: Scene) -> None:
    car = _on_straight(scene)
    car.apply_control(carla.VehicleControl(steer=0.5))
    scene.tick(20)
    front = car.get_wheel_steer_angle(carla.VehicleWheelLocation.FL_Wheel)
    assert front > 5.0
    assert car.get_wheel_steer_angle(carla.VehicleWheelLocation.BL_Wheel) == 0.0
    car.set_wheel_steer_direction(carla.VehicleWheelLocation.FR_Wheel, 33.0)
    scene.tick()
    shown = car.get_wheel_steer_angle(carla.VehicleWheelLocation.FR_Wheel)
    assert shown == pytest.approx(33.0)


def test_telemetry_tells_the_speed(scene: Scene) -> None:
    car = _on_straight(scene)
    car.apply_control(carla.VehicleControl(throttle=0.8))
    scene.tick(30)
    data = car.get_telemetry_data()
    assert data.speed == pytest.approx(car.get_velocity().length(), rel=0.02)
    assert data.throttle == pytest.approx(0.8)
    assert data.engine_rpm > 0.0
    assert len(data.wheels) == 4
    assert all(math.isfinite(wheel.omega) for wheel in data.wheels)


def test_speed_limit_is_that_of_the_road(scene: Scene) -> None:
    limits = set()
    for index in range(0, 60, 6):
        car = scene.car(index)
        limits.add(round(car.get_speed_limit()))
        marks = scene.map.get_waypoint(car.get_location()).get_landmarks_of_type(150.0, "274")
        if marks and marks[0].distance < 3.0:
            assert car.get_speed_limit() == pytest.approx(float(marks[0].value), abs=1.0)
        scene.clear()
    assert limits <= {30, 40, 50}
    assert len(limits) >= 2


def test_failure_state_is_none_and_chrono_says_why_not(scene: Scene) -> None:
    car = scene.car()
    assert car.get_failure_state() == carla.VehicleFailureState.NONE
    car.enable_chrono_physics(100, 0.01, "", "", "", "")  # fire and forget: no reply to raise
    car.restore_physx_physics()
    car.show_debug_telemetry(False)
    scene.tick()
    assert car.is_alive


def test_bones_and_components_of_a_car_answer(scene: Scene) -> None:
    car = scene.car()
    names = car.get_component_names()
    assert names
    pose = car.get_component_world_transform(names[0])
    assert pose.location.distance(car.get_location()) < 0.1
    assert car.get_vehicle_bone_world_transforms()
    assert car.get_socket_names() is not None
