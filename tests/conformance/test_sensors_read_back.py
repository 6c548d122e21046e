"""Every sensor delivers on the right frame, and what it shows is where it should be."""

from __future__ import annotations

import math
import queue
from typing import Any

import carla
import numpy as np
import pytest
from child import PATIENCE_S
from scene import Scene, xyz

CAR, ROAD, SKY, PEDESTRIAN = 14, 1, 11, 12
GAP_M = 20.0


class Reader:
    """Collects what a sensor sends."""

    def __init__(self, sensor: carla.Sensor) -> None:
        self._data: queue.Queue[Any] = queue.Queue()
        sensor.listen(self._data.put)

    def next(self) -> Any:
        """The next measurement."""
        return self._data.get(timeout=PATIENCE_S)

    def of_frame(self, frame: int) -> Any:
        """The measurement of exactly this frame."""
        while True:
            data = self.next()
            assert data.frame <= frame, "a measurement was lost"
            if data.frame == frame:
                return data

    def all(self) -> list[Any]:
        """What has arrived so far."""
        found = []
        while not self._data.empty():
            found.append(self._data.get())
        return found


def pixels(image: carla.Image) -> np.ndarray:
    """BGRA rows."""
    return np.frombuffer(image.raw_data, np.uint8).reshape(image.height, image.width, 4)


def depth_m(image: carla.Image) -> np.ndarray:
    blue, green, red = (pixels(image)[:, :, k].astype(float) for k in range(3))
    return 1000.0 * (red + 256.0 * green + 65536.0 * blue) / (2**24 - 1)


@pytest.fixture
def pair(scene: Scene) -> tuple[carla.Vehicle, carla.Vehicle]:
    """Two cars in one lane, their origins 20 m apart."""
    lane = scene.straight_lane(80.0)
    poses = [lane.transform, lane.next(GAP_M)[0].transform]
    cars = []
    for pose in poses:
        pose.location.z += 0.2
        cars.append(scene.spawn("vehicle.lincoln.mkz_2020", pose, settle=8))
    return cars[0], cars[1]


MOUNT = carla.Transform(carla.Location(x=0.0, z=1.0))
# From the sensor at the origin of the rear car to the rear bumper of the front car.
BUMPER_M = GAP_M - 2.446


def camera(scene: Scene, kind: str, parent: carla.Actor, **more: Any) -> tuple[Any, Reader]:
    size = {"image_size_x": 160, "image_size_y": 120, "fov": 60, **more}
    mount = carla.Transform(carla.Location(x=2.6, z=1.0))  # ahead of its own bonnet
    sensor = scene.spawn(f"sensor.camera.{kind}", mount, parent, **size)
    return sensor, Reader(sensor)


def test_rgb_camera_sends_one_picture_per_frame(scene: Scene, pair: Any) -> None:
    sensor, reader = camera(scene, "rgb", pair[0])
    for _ in range(5):
        frame = scene.tick()
        image = reader.of_frame(frame)
        assert (image.width, image.height) == (160, 120)
        assert image.fov == pytest.approx(60.0)
        assert len(image.raw_data) == 160 * 120 * 4
        stamp = scene.world.get_snapshot().timestamp.elapsed_seconds
        assert image.timestamp == pytest.approx(stamp)
        assert image.transform.location.distance(sensor.get_location()) < 0.01
    colours = pixels(image)[:, :, :3].reshape(-1, 3)
    assert len(np.unique(colours, axis=0)) > 10  # a picture, not a blank
    assert reader.all() == []


def test_sensor_tick_thins_the_frames(scene: Scene, pair: Any) -> None:
    _, reader = camera(scene, "rgb", pair[0], sensor_tick=0.2)
    first = scene.tick()
    last = scene.tick(19)
    frames = [reader.next().frame]
    while frames[-1] <= last - 4:
        frames.append(reader.next().frame)
    assert first <= frames[0] < first + 4
    assert len(frames) == 5
    assert set(np.diff(frames)) == {4}
    assert reader.all() == []


def test_depth_camera_measures_the_car_ahead(scene: Scene, pair: Any) -> None:
    _, reader = camera(scene, "depth", pair[0])
    depth = depth_m(reader.of_frame(scene.tick()))
    assert depth[62, 80] == pytest.approx(BUMPER_M - 2.6, abs=0.25)
    # Ground: camera 1 m up, a row 30 pixels below the middle, focal length from the field of view.
    focal = 80.0 / math.tan(math.radians(30.0))
    assert depth[110, 80] == pytest.approx(1.0 * focal / 50.5, rel=0.05)
    assert depth[5, 80] > 60.0 or depth[5, 80] > depth[62, 80]


def test_semantic_camera_labels_car_and_road(scene: Scene, pair: Any) -> None:
    _, reader = camera(scene, "semantic_segmentation", pair[0])
    labels = pixels(reader.of_frame(scene.tick()))[:, :, 2]
    assert labels[62, 80] == CAR
    assert labels[115, 80] in (ROAD, 24)
    assert {CAR, ROAD} <= set(np.unique(labels).tolist())


def test_instance_camera_tells_two_cars_apart(scene: Scene, pair: Any) -> None:
    lane = scene.map.get_waypoint(pair[1].get_location())
    beside = lane.next(14.0)[0].transform
    beside.location += beside.get_right_vector() * 3.0
    beside.location.z += 0.2
    other = scene.world.try_spawn_actor(scene.blueprint("vehicle.audi.tt"), beside)
    if other is not None:
        scene.spawned.append(other)
    _, reader = camera(scene, "instance_segmentation", pair[0])
    image = pixels(reader.of_frame(scene.tick()))
    cars = image[image[:, :, 2] == CAR]
    assert len(cars) > 20
    numbers = np.unique(cars[:, 1].astype(int) + 256 * cars[:, 0].astype(int))
    assert len(numbers) >= (2 if other is not None else 1)


def test_lidar_sees_ground_and_car_in_its_own_frame(scene: Scene, pair: Any) -> None:
    sensor = scene.spawn(
        "sensor.lidar.ray_cast",
        carla.Transform(carla.Location(z=2.0)),
        pair[0],
        channels=16,
        points_per_second=64000,
        rotation_frequency=20,
        range=50,
        upper_fov=5,
        lower_fov=-25,
        dropoff_general_rate=0.0,
        dropoff_intensity_limit=0.0,
        dropoff_zero_intensity=0.0,
        noise_stddev=0.0,
    )
    reader = Reader(sensor)
    scene.tick()
    cloud = reader.of_frame(scene.tick())
    points = np.frombuffer(cloud.raw_data, np.float32).reshape(-1, 4)
    assert cloud.channels == 16
    assert sum(cloud.get_point_count(k) for k in range(16)) == len(points)
    assert len(points) > 500
    assert (np.linalg.norm(points[:, :3], axis=1) <= 50.5).all()
    assert ((points[:, 3] >= 0.0) & (points[:, 3] <= 1.0)).all()
    ground = points[(np.abs(points[:, 1]) < 1.2) & (points[:, 0] > 4.0) & (points[:, 0] < 12.0)]
    assert len(ground) > 5
    assert np.median(ground[:, 2]) == pytest.approx(-2.0, abs=0.1)
    car = points[
        (np.abs(points[:, 1]) < 0.8)
        & (points[:, 2] > -1.7)
        & (points[:, 0] > BUMPER_M - 1.0)
        & (points[:, 0] < BUMPER_M + 4.0)
    ]
    assert len(car) > 3
    assert car[:, 0].min() == pytest.approx(BUMPER_M, abs=0.6)


def test_semantic_lidar_names_the_car_it_hits(scene: Scene, pair: Any) -> None:
    sensor = scene.spawn(
        "sensor.lidar.ray_cast_semantic",
        carla.Transform(carla.Location(z=2.0)),
        pair[0],
        channels=16,
        points_per_second=64000,
        rotation_frequency=20,
        range=50,
        upper_fov=5,
        lower_fov=-25,
    )
    reader = Reader(sensor)
    scene.tick()
    cloud = reader.of_frame(scene.tick())
    kind = np.dtype("f4,f4,f4,f4,u4,u4")
    points = np.frombuffer(cloud.raw_data, kind)
    hits = points[points["f4"] == pair[1].id]
    assert len(hits) > 3
    assert set(hits["f5"].tolist()) == {CAR}
    assert hits["f0"].min() == pytest.approx(BUMPER_M, abs=0.6)
    assert ROAD in points["f5"]


def test_radar_measures_distance_and_closing_speed(scene: Scene, pair: Any) -> None:
    mount = carla.Transform(carla.Location(x=2.6, z=0.8))
    sensor = scene.spawn(
        "sensor.other.radar",
        mount,
        pair[0],
        horizontal_fov=10,
        vertical_fov=6,
        range=60,
        points_per_second=20000,
    )
    reader = Reader(sensor)
    way = pair[0].get_transform().get_forward_vector()
    pair[0].set_target_velocity(carla.Vector3D(way.x * 6.0, way.y * 6.0, 0.0))
    pair[0].apply_control(carla.VehicleControl(throttle=0.4))
    scene.tick()
    data = reader.of_frame(scene.tick())
    found = np.array([[d.velocity, d.azimuth, d.altitude, d.depth] for d in data])
    gap = pair[0].get_location().distance(pair[1].get_location()) - 2.446 - 2.6
    car = found[np.abs(found[:, 3] - gap) < 0.6]
    assert len(car) > 3
    assert np.abs(car[:, 1]).max() < math.radians(6.0)
    speed = pair[0].get_velocity().length()
    assert np.median(car[:, 0]) == pytest.approx(-speed, abs=0.7)


def test_imu_feels_gravity_and_turning(scene: Scene) -> None:
    car = scene.car()
    reader = Reader(scene.spawn("sensor.other.imu", carla.Transform(), car))
    scene.tick(5)
    data = reader.of_frame(scene.tick())
    assert xyz(data.accelerometer) == pytest.approx((0.0, 0.0, 9.81), abs=0.1)
    assert xyz(data.gyroscope) == pytest.approx((0.0, 0.0, 0.0), abs=1e-3)
    yaw = math.radians(car.get_transform().rotation.yaw)
    assert math.cos(data.compass - (yaw + math.pi / 2.0)) > 0.999  # 0 points north, -y
    car.enable_constant_velocity(carla.Vector3D(x=5.0))
    car.apply_control(carla.VehicleControl(steer=0.4))
    scene.tick(10)
    data = reader.of_frame(scene.tick())
    turning = math.radians(car.get_angular_velocity().z)
    assert abs(turning) > 0.2
    assert data.gyroscope.z == pytest.approx(turning, abs=0.05)
    assert abs(data.accelerometer.y) == pytest.approx(abs(turning) * 5.0, rel=0.25)


def test_gnss_agrees_with_the_maps_projection(scene: Scene) -> None:
    car = scene.car(11)
    reader = Reader(scene.spawn("sensor.other.gnss", carla.Transform(), car))
    scene.tick()
    fix = reader.of_frame(scene.tick())
    wanted = scene.map.transform_to_geolocation(car.get_location())
    assert fix.latitude == pytest.approx(wanted.latitude, abs=1e-7)
    assert fix.longitude == pytest.approx(wanted.longitude, abs=1e-7)
    assert fix.altitude == pytest.approx(wanted.altitude, abs=0.05)


def test_gnss_noise_has_the_asked_spread(scene: Scene) -> None:
    car = scene.car(11)
    sensor = scene.spawn("sensor.other.gnss", carla.Transform(), car, noise_alt_stddev=2.0)
    reader = Reader(sensor)
    heights = [reader.of_frame(scene.tick()).altitude for _ in range(120)]
    assert 1.4 < np.std(heights) < 2.6


def test_obstacle_sensor_reports_what_is_ahead(scene: Scene, pair: Any) -> None:
    sensor = scene.spawn(
        "sensor.other.obstacle",
        carla.Transform(carla.Location(x=2.6, z=0.7)),
        pair[0],
        distance=30,
        hit_radius=0.3,
        only_dynamics=True,
    )
    events: list[carla.ObstacleDetectionEvent] = []
    sensor.listen(events.append)
    scene.tick()
    scene.until_heard(events, 20)
    assert events[0].actor.id == pair[0].id
    assert events[0].other_actor.id == pair[1].id
    assert events[0].distance == pytest.approx(BUMPER_M - 2.6, abs=0.8)


def test_all_sensors_together_deliver_on_every_frame(scene: Scene, pair: Any) -> None:
    kinds = [
        "camera.rgb",
        "camera.depth",
        "camera.semantic_segmentation",
        "camera.instance_segmentation",
        "lidar.ray_cast",
        "lidar.ray_cast_semantic",
        "other.radar",
        "other.imu",
        "other.gnss",
    ]
    readers = []
    for kind in kinds:
        small = {"image_size_x": 64, "image_size_y": 48} if kind.startswith("camera") else {}
        readers.append(Reader(scene.spawn(f"sensor.{kind}", MOUNT, pair[0], settle=0, **small)))
    for _ in range(6):
        frame = scene.tick()
        for reader in readers:
            assert reader.of_frame(frame).frame == frame


def test_walker_is_seen_as_pedestrian(scene: Scene, pair: Any) -> None:
    lane = scene.map.get_waypoint(pair[0].get_location())
    scene.walker(lane.next(9.0)[0].transform.location)
    _, reader = camera(scene, "semantic_segmentation", pair[0])
    labels = pixels(reader.of_frame(scene.tick()))[:, :, 2]
    assert np.count_nonzero(labels == PEDESTRIAN) > 20


def test_stopped_sensor_is_silent_and_listens_again(scene: Scene) -> None:
    car = scene.car()
    sensor = scene.spawn("sensor.other.gnss", carla.Transform(), car)
    witness = Reader(scene.spawn("sensor.other.gnss", carla.Transform(), car))
    got: list[int] = []
    sensor.listen(lambda data: got.append(data.frame))
    scene.until_heard(got, 3)
    sensor.stop()
    assert not sensor.is_listening()
    stopped = scene.tick(2)
    witness.of_frame(scene.tick(3))  # by now the other one would have arrived as well
    assert max(got) <= stopped
    again = Reader(sensor)
    frame = scene.tick(2)
    assert again.of_frame(frame).frame == frame


def test_a_camera_sees_the_picture_on_a_wall(scene: Scene, pair: Any) -> None:
    rear, _ = pair
    pose = rear.get_transform()
    ahead = pose.get_forward_vector()
    spot = carla.Location(
        pose.location.x + 10.0 * ahead.x, pose.location.y + 10.0 * ahead.y, pose.location.z + 1.6
    )
    turn = carla.Rotation(yaw=pose.rotation.yaw + 90.0, roll=90.0)
    _, reader = camera(scene, "rgb", rear, image_size_x=320, image_size_y=240)
    scene.spawn("static.prop.brickwall", carla.Transform(spot, turn))
    seen = pixels(reader.of_frame(scene.tick())).astype(int)[100:140, 130:190]
    red = seen[..., 2] - seen[..., 0]
    assert red.mean() > 30.0  # bricks, not the grey of a prop without a picture
    assert red.std() > 5.0  # and the joints between them


@pytest.mark.parametrize("fov", ["0.001", "179.9", "240", "-5"])
def test_any_field_of_view_is_taken_and_reported(scene: Scene, fov: str) -> None:
    pose = carla.Transform(carla.Location(z=5.0))
    camera = scene.spawn("sensor.camera.depth", pose, fov=fov, image_size_x="32", image_size_y="16")
    frames: queue.Queue[Any] = queue.Queue()
    camera.listen(frames.put)
    scene.tick(2)
    assert frames.get(timeout=60.0).fov == pytest.approx(float(fov), rel=1e-6)
