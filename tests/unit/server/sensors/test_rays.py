import math
import struct

import numpy as np
import pytest
from sensor_payloads import payload

from jaywalk.server.sensors._readings import LIDAR_POINT, RADAR_POINT, SEMANTIC_POINT, SensorPose
from jaywalk.server.sensors._rig import make_sensor
from jaywalk.server.sensors._scan import Scan, cast_rays, cast_scan, scan_directions
from jaywalk.server.sensors._solids import pose_axes

LOSSLESS = {"dropoff_general_rate": "0.0", "dropoff_intensity_limit": "0", "range": "50"}


def scatter(world, generator):
    for _ in range(40):
        place = generator.uniform([-30, -30, -1], [30, 30, 5])
        world.box(*place, generator.uniform(0.2, 5.0, 3), yaw=generator.uniform(0, 6))
    for shape in (1, 2):
        for _ in range(15):
            place = generator.uniform([-30, -30, -1], [30, 30, 5])
            world.shape(shape, *place, generator.uniform(0.1, 2.0), generator.uniform(0.2, 4.0))
    world.car(5.0, 3.0, 0.7)
    world.car(-6.0, -3.0, 2.0)
    world.person(3.0, -4.0, gait_phase=0.3, vx=1.3)
    world.person(6.0, 0.5, down_s=3.0)


def unpack(data, dtype):
    angle, channels = struct.unpack("<fI", data[48:56])
    counts = np.frombuffer(data[56 : 56 + 4 * channels], "<u4")
    points = np.frombuffer(data[56 + 4 * channels :], dtype)
    assert counts.sum() == len(points)
    return angle, counts, points


@pytest.mark.parametrize("rough", [False, True])
def test_scan_equals_brute_force(world, hills, rough):
    generator = np.random.default_rng(11)
    if rough:
        world.ground = hills
    scatter(world, generator)
    scene = world.scene()
    rays = 0
    for trial in range(16):
        pose = SensorPose(
            *generator.uniform([-15, -15, 3.0], [15, 15, 6]),
            *(generator.uniform([-0.4, -3.2, -0.4], [0.4, 3.2, 0.4]) if trial else (0, 0, 0)),
        )
        fov = (360.0, 120.0, 360.0, 40.0)[trial % 4]
        step = fov / 200.0 * generator.choice([0.3, 1.0, 2.7])
        start = generator.uniform(0.0, fov)
        upper, lower = (10.0, -30.0) if trial % 2 else (80.0, -80.0)
        scan = Scan(
            np.array(pose[:3]),
            pose_axes(pose),
            24,
            200,
            upper,
            (upper - lower) / 23,
            start,
            step,
            fov,
            60.0,
        )
        echoes = cast_scan(scene.solids, scene.meshes, scene.relief, scan, -2)
        vertical, horizontal = scan_directions(scan)
        local = np.stack(
            [
                np.outer(vertical[:, 0], horizontal[:, 0]),
                np.outer(vertical[:, 0], horizontal[:, 1]),
                np.outer(vertical[:, 1], np.ones(200)),
            ],
            axis=-1,
        ).reshape(-1, 3)
        directions = np.ascontiguousarray(local @ scan.axes)
        reach = np.full(len(local), 60.0)
        expected, surface, _ = cast_rays(
            scene.solids, scene.meshes, scene.relief, scan.origin, directions, reach, -2
        )
        got = echoes.distance_m.ravel()
        # On hills a grazing ray may end a little before or after the end of its range.
        inside = (expected < 59.5) | (got < 59.5) if rough else np.ones(len(got), bool)
        assert (np.isfinite(got) == np.isfinite(expected))[inside].all()
        hit = np.isfinite(expected) & np.isfinite(got)
        np.testing.assert_allclose(got[hit], expected[hit], atol=0.01)
        solid = hit & (surface >= 0)
        np.testing.assert_array_equal(echoes.surface.ravel()[solid], surface[solid])
        rays += len(got)
    assert rays == 16 * 24 * 200


def test_lidar_rotates_as_in_the_real_simulator(world):
    sensor = world.sensor(0.0, 0.0, 2.0)
    lidar = make_sensor(
        "sensor.lidar.ray_cast", {**LOSSLESS, "channels": "4.0", "points_per_second": "8000"}, 1, 0
    )
    scene = world.scene()
    # 10 turns per second and 20 Hz: half a turn per tick, from behind over the left to the front.
    angle, counts, points = unpack(payload(lidar, scene, sensor, 1, 0.05, 0.05), LIDAR_POINT)
    assert angle == pytest.approx(math.pi)
    # 100 columns; channels at 10, -3.33, -16.67, -30 degrees: all but the first reach the ground.
    np.testing.assert_array_equal(counts, [0, 100, 100, 100])
    assert (points["y"] < 0.001).all()
    np.testing.assert_allclose(points["z"], -2.0, atol=1e-5)
    distance = 2.0 / math.sin(math.radians(30.0))
    np.testing.assert_allclose(points["intensity"][-1], math.exp(-0.004 * distance), rtol=1e-5)
    angle, counts, points = unpack(payload(lidar, scene, sensor, 2, 0.10, 0.05), LIDAR_POINT)
    assert angle == pytest.approx(0.0)
    assert (points["y"] > -0.001).all()


def test_lidar_losses_and_noise_follow_their_attributes(world):
    sensor = world.sensor(0.0, 0.0, 2.0)
    scene = world.scene()
    base = {
        "range": "200",
        "upper_fov": "-5",
        "lower_fov": "-30",
        "points_per_second": "640000",
        "rotation_frequency": "20",
    }

    def count(seed=0, frame=1, **attributes):
        lidar = make_sensor("sensor.lidar.ray_cast", {**base, **attributes}, 1, seed)
        data = payload(lidar, scene, sensor, frame, 0.05, 0.05)
        return unpack(data, LIDAR_POINT)[2]

    full = count(dropoff_general_rate="0", dropoff_intensity_limit="0")
    assert len(full) == 32000
    assert len(count(dropoff_intensity_limit="0")) == pytest.approx(0.55 * 32000, rel=0.02)
    faded = count(
        dropoff_general_rate="0", dropoff_intensity_limit="1", atmosphere_attenuation_rate="1000"
    )
    assert len(faded) == pytest.approx(0.6 * 32000, rel=0.02)  # 40 % are lost at zero intensity
    noisy = count(dropoff_general_rate="0", dropoff_intensity_limit="0", noise_stddev="0.2")
    error = np.sqrt(noisy["x"] ** 2 + noisy["y"] ** 2 + noisy["z"] ** 2) - np.sqrt(
        full["x"] ** 2 + full["y"] ** 2 + full["z"] ** 2
    )
    assert np.std(error) == pytest.approx(0.2, rel=0.03)
    assert count().tobytes() == count().tobytes()
    assert count().tobytes() != count(seed=1).tobytes()
    assert count().tobytes() != count(frame=2).tobytes()
    assert count().tobytes() != count(noise_seed="3").tobytes()


def test_semantic_lidar_names_what_it_meets(world):
    car = world.car(12.0, 0.0)
    world.box(-10.5, 0.0, 5.0, (0.5, 20.0, 5.0), label=3)
    parent = world.car(0.0, 0.0)
    sensor = world.sensor(0.0, 0.0, 1.2, parent_row=parent)  # inside its own car
    lidar = make_sensor(
        "sensor.lidar.ray_cast_semantic",
        {"range": "50", "points_per_second": "640000", "rotation_frequency": "20"},
        1,
        0,
    )
    _, _, points = unpack(payload(lidar, world.scene(), sensor, 1, 0.05, 0.05), SEMANTIC_POINT)
    assert set(points["object_id"]) == {0, 300 + car}
    on_car = points["object_id"] == 300 + car
    assert (points["label"][on_car] == 14).all()
    assert points["x"][on_car].min() == pytest.approx(12.0 - 2.4, abs=0.02)
    wall = points["label"] == 3
    np.testing.assert_allclose(points["x"][wall], -10.0, atol=1e-4)
    distance = np.sqrt(points["x"] ** 2 + points["y"] ** 2 + points["z"] ** 2)
    np.testing.assert_allclose(points["cos_incidence"][wall], (10.0 / distance)[wall], rtol=1e-4)
    ground = np.isin(points["label"], [1, 2, 10])
    np.testing.assert_allclose(points["z"][ground], -1.2, atol=1e-4)
    road = points["label"] == 1
    assert (np.abs(points["y"][road]) < 4.01).all()


def test_radar_measures_speed_along_the_ray(world):
    world.car(30.0, 0.0, vx=5.0)
    parent = world.car(0.0, 0.0, vx=12.0)
    sensor = world.sensor(2.0, 0.0, 1.0, parent_row=parent)
    attributes = {"points_per_second": "20000.0", "horizontal_fov": "20", "vertical_fov": "10"}
    radar = make_sensor("sensor.other.radar", attributes, 9, 4)
    data = payload(radar, world.scene(), sensor, 3, 0.15, 0.05)
    detections = np.frombuffer(data[48:], RADAR_POINT)
    assert np.abs(detections["azimuth"]).max() <= math.radians(10.0) + 1e-6
    assert np.abs(detections["altitude"]).max() <= math.radians(5.0) + 1e-6
    # Of a unit ray the share along x is cos(altitude) cos(azimuth), the rise sin(altitude).
    along = np.cos(detections["altitude"]) * np.cos(detections["azimuth"])
    ground = np.abs(detections["depth"] * np.sin(detections["altitude"]) + 1.0) < 1e-3
    car = ~ground
    np.testing.assert_allclose(detections["velocity"][car], -7.0 * along[car], rtol=1e-4)
    np.testing.assert_allclose(detections["velocity"][ground], -12.0 * along[ground], rtol=1e-4)
    assert ((detections["depth"][car] > 25.5) & (detections["depth"][car] < 31.0)).all()
    assert car.sum() > 20
    assert payload(radar, world.scene(), sensor, 3, 0.15, 0.05) == data
