"""Settings of sensors that are made by calls of their own, not by attributes."""

import msgpack
import numpy as np
import pytest


def test_a_lidar_does_not_see_ignored_vehicles(stage):
    car, other = stage.spawn("vehicle.lincoln.mkz_2020", 50.0), stage.spawn("vehicle.audi.tt", 60.0)
    lidar = stage.spawn(
        "sensor.lidar.ray_cast_semantic", z=1.8, parent=car.id, rotation_frequency="20"
    )

    def points_on_the_other() -> int:
        stage.tick()
        words = np.frombuffer(stage.payload(lidar), np.uint32)
        return int((words[2 + words[1] :].reshape(-1, 6)[:, 4] == other.id).sum())

    assert points_on_the_other() > 10
    stage.simulation.sensors.set_ignored(lidar.id, [other.id, 999_999])
    assert points_on_the_other() == 0
    stage.simulation.sensors.set_ignored(lidar.id, [])
    assert points_on_the_other() > 10


def test_an_obstacle_detector_does_not_see_ignored_vehicles(stage):
    car, other = stage.spawn("vehicle.lincoln.mkz_2020", 50.0), stage.spawn("vehicle.audi.tt", 60.0)
    detector = stage.spawn("sensor.other.obstacle", z=0.8, parent=car.id, distance="20")
    stage.tick()
    assert msgpack.unpackb(stage.payload(detector))[1][0] == other.id
    stage.simulation.sensors.set_ignored(detector.id, [other.id])
    stage.listener.last.clear()
    stage.tick()
    assert detector.stream_id not in stage.listener.last


def test_imus_report_the_gravity_that_was_set(stage):
    imu = stage.spawn("sensor.other.imu", parent=stage.spawn("vehicle.audi.tt", 50.0).id)
    stage.tick(20)
    stage.simulation.sensors.gravity_mps2 = 3.7
    stage.tick()
    force, _, _ = msgpack.unpackb(stage.payload(imu))
    assert force[2] == pytest.approx(3.7, abs=0.01)


def test_noise_of_two_sensors_is_never_the_same(stage):
    sensors = [stage.spawn("sensor.other.gnss", noise_lat_stddev="0.1") for _ in range(2)]
    stage.simulation.destroy(sensors[0].id)
    third = stage.spawn("sensor.other.gnss", noise_lat_stddev="0.1")
    stage.tick()
    assert stage.payload(third) != stage.payload(sensors[1])
