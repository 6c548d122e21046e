import math

import msgpack
import numpy as np
import pytest
from sensor_payloads import payload

from jaywalk.core.errors import RegistryError, UsageError
from jaywalk.server.encoding.codec import CARLA_0_9_15
from jaywalk.server.sensors._obstacle import ObstacleDetector
from jaywalk.server.sensors._readings import SensorType
from jaywalk.server.sensors._rig import make_sensor
from jaywalk.server.sensors.catalogue import SENSORS
from jaywalk.server.world._tables import Kind


def test_imu_at_rest_and_compass(world):
    expected = {-90.0: 0.0, 0.0: 90.0, 90.0: 180.0, 180.0: 270.0}  # yaw of -90 faces -y: north
    for yaw, compass in expected.items():
        row = world.sensor(1.0, 2.0, 3.0, yaw=math.radians(yaw))
        imu = make_sensor("sensor.other.imu", {}, 1, 0)
        force, turn, heading = msgpack.unpackb(payload(imu, world.scene(), row, 1, 0.05, 0.05)[48:])
        np.testing.assert_allclose(force, [0.0, 0.0, 9.81], atol=1e-9)
        np.testing.assert_allclose(turn, 0.0, atol=1e-12)
        assert math.degrees(heading) == pytest.approx(compass, abs=1e-9)


def test_imu_of_a_circling_car(world):
    car = world.car(0.0, 0.0)
    row = world.sensor(0.0, 0.0, 0.0, parent_row=car)
    imu = make_sensor("sensor.other.imu", {}, 1, 0)
    radius, rate = 20.0, 0.5  # turning right: yaw grows
    for step in range(10):
        time = 0.05 * step
        yaw = rate * time
        for index in (car, row):
            actor = world.actors[index]
            actor["x"], actor["y"] = radius * math.sin(yaw), radius * (1.0 - math.cos(yaw))
            actor["yaw"] = yaw
        world.actors[car]["wz"] = rate
        data = payload(imu, world.scene(), row, step, time, 0.05)
    force, turn, _ = msgpack.unpackb(data[48:])
    # Centripetal, to the right; the difference formula lags by one step.
    assert force[1] == pytest.approx(radius * rate**2, rel=0.01)
    assert force[0] == pytest.approx(0.0, abs=0.2)
    assert force[2] == pytest.approx(9.81)
    np.testing.assert_allclose(turn, [0.0, 0.0, rate], atol=1e-12)


def test_imu_noise(world):
    row = world.sensor(0.0, 0.0, 1.0)
    attributes = {
        "noise_accel_stddev_x": "0.5",
        "noise_gyro_stddev_y": "0.1",
        "noise_gyro_bias_z": "0.3",
        "noise_seed": "4.0",
    }
    imu = make_sensor("sensor.other.imu", attributes, 1, 0)
    scene = world.scene()
    values = [
        np.hstack(msgpack.unpackb(payload(imu, scene, row, i, 0.05 * i, 0.05)[48:])[:2])
        for i in range(800)
    ]
    values = np.array(values)
    np.testing.assert_allclose(values.std(axis=0), [0.5, 0, 0, 0, 0.1, 0], rtol=0.1, atol=1e-9)
    np.testing.assert_allclose(values[:, 5], 0.3, atol=1e-12)


def test_gnss_in_both_forms_with_noise(world):
    row = world.sensor(100.0, 50.0, 2.0)
    gnss = make_sensor("sensor.other.gnss", {"noise_alt_bias": "5"}, 1, 0)
    data = payload(gnss, world.scene(), row, 1, 0.05, 0.05)
    newer = msgpack.unpackb(data[48:])
    data_0915 = payload(gnss, world.scene(), row, 1, 0.05, 0.05, CARLA_0_9_15)
    older = msgpack.unpackb(data_0915[48:])
    assert data[:48] == data_0915[:48]
    assert newer == pytest.approx([0.0004493, 0.0008987, 7.0], abs=5e-8)
    assert older == pytest.approx([-0.0004492, 0.0008983, 7.0], abs=5e-8)
    gnss = make_sensor("sensor.other.gnss", {"noise_lat_stddev": "0.001"}, 1, 0)
    scene = world.scene()
    values = [msgpack.unpackb(payload(gnss, scene, row, i, 0.0, 0.05)[48:]) for i in range(800)]
    spread = np.std(np.array(values), axis=0)
    np.testing.assert_allclose(spread, [0.001, 0.0, 0.0], rtol=0.1, atol=1e-12)


def obstacle(world, row, time=0.0, **attributes):
    sensor = make_sensor("sensor.other.obstacle", attributes, 1, 0)
    assert isinstance(sensor, ObstacleDetector)
    readings = sensor.measure(world.scene(), row, 1, time, 0.05)
    return readings[0] if readings else None


def test_obstacle_detector(world):
    parent = world.car(0.0, 0.0)
    row = world.sensor(1.0, 0.0, 1.0, parent_row=parent)
    assert obstacle(world, row, distance="20") is None
    world.box(15.0, 0.0, 1.0, (1.0, 1.0, 1.0), label=4)
    found = obstacle(world, row, distance="20")
    assert (found.row, found.label) == (-1, 4)
    assert found.distance_m == pytest.approx(13.0 - 0.5, abs=1e-3)
    assert obstacle(world, row, distance="12") is None
    assert obstacle(world, row, distance="20", only_dynamics="true") is None
    person = world.person(10.0, 0.6)
    found = obstacle(world, row, distance="20", only_dynamics="True")
    assert found.row == person
    assert 8.0 < found.distance_m < 9.0
    assert obstacle(world, row, distance="20", hit_radius="0.1").row == -1
    world.add(Kind.PROP, 6.0, 0.0, 0.0, half=(0.3, 0.3, 0.8), centre_z=0.8, label=20)
    assert obstacle(world, row, distance="20").label == 20
    assert obstacle(world, row, distance="20", only_dynamics="true").row == person
    # A ball that misses the corner of a box by less than its radius touches it there.
    world.scenery = world.scenery[:0]
    world.rows -= 2
    world.box(10.0, 2.3, 1.0, (1.0, 2.0, 1.0), yaw=0.0)
    gap = 0.3
    found = obstacle(world, row, distance="20", hit_radius="0.5")
    assert found.distance_m == pytest.approx(8.0 - math.sqrt(0.5**2 - gap**2), abs=1e-3)


def test_every_blueprint_makes_a_sensor_that_answers(world):
    row = world.sensor(0.0, 0.0, 2.0)
    world.person(8.0, 0.0)
    scene = world.scene()
    speaking = set()
    for blueprint in SENSORS:
        attributes = {item.id: item.default for item in blueprint.attributes}
        if "image_size_x" in attributes:
            attributes |= {"image_size_x": "64", "image_size_y": "48"}
        sensor = make_sensor(blueprint.name, attributes, 5, 1)
        if sensor.kind is SensorType.OBSTACLE:  # its payload needs the actors of a whole world
            continue
        data = payload(sensor, scene, row, 12, 0.6, 0.05)
        if data is not None:
            assert int.from_bytes(data[:8], "little") == sensor.kind
            assert int.from_bytes(data[8:16], "little") == 12
            speaking.add(blueprint.name.rpartition(".")[2])
    assert speaking == {
        "rgb",
        "depth",
        "semantic_segmentation",
        "instance_segmentation",
        "normals",
        "optical_flow",
        "cosmos_visualization",
        "ray_cast",
        "ray_cast_semantic",
        "radar",
        "imu",
        "gnss",
    }


def test_sensor_tick_sets_the_rate(world):
    row = world.sensor(0.0, 0.0, 2.0)
    scene = world.scene()

    def frames(tick, dt):
        sensor = make_sensor("sensor.other.gnss", {"sensor_tick": tick}, 1, 0)
        times = np.cumsum(np.full(40, dt))
        return [i for i, t in enumerate(times) if payload(sensor, scene, row, i, t, dt) is not None]

    assert frames("0.0", 0.05) == list(range(40))
    assert frames("0.1", 0.05) == list(range(0, 40, 2))
    assert frames("0.05", 0.05) == list(range(40))
    assert frames("0.01", 0.05) == list(range(40))
    assert len(frames("0.12", 0.05)) == pytest.approx(40 * 0.05 / 0.12, abs=1)


def test_nonsense_is_refused():
    with pytest.raises(RegistryError):
        make_sensor("sensor.camera.infrared", {}, 1, 0)
    with pytest.raises(UsageError, match="image_size_x"):
        make_sensor("sensor.camera.rgb", {"image_size_x": "0"}, 1, 0)
    with pytest.raises(UsageError, match="fov"):
        make_sensor("sensor.camera.rgb", {"fov": "nan"}, 1, 0)
    with pytest.raises(UsageError, match="image_size_y"):
        make_sensor("sensor.camera.depth", {"image_size_y": "1e9"}, 1, 0)
