import math
import struct

import numpy as np
import pytest
from sensor_payloads import look, payload

from jaywalk.geometry.rotation import rotation_matrix_carla
from jaywalk.server.encoding._sensor_frames import bgra_to_depth
from jaywalk.server.sensors._figure import FIGURE_PARTS
from jaywalk.server.sensors._intersect import ray_solid
from jaywalk.server.sensors._readings import SensorPose
from jaywalk.server.sensors._rig import make_sensor
from jaywalk.server.sensors._scan import cast_rays
from jaywalk.server.sensors._solids import pose_axes
from jaywalk.server.sensors._terrain import ground_height, measure_relief, ray_ground
from jaywalk.server.sensors._visibility import (
    GROUND,
    SKY,
    CameraView,
    focal_length_px,
    pixel_ray,
)
from jaywalk.server.sensors._weather import Sky
from jaywalk.server.world._tables import Kind
from jaywalk.town.ground import surface_height

SIZE = {"image_size_x": "320.0", "image_size_y": "200", "fov": "90"}


def shoot(world, type_id, row, attributes=SIZE, frame=7, **options):
    camera = make_sensor(type_id, attributes, 1, 0)
    data = payload(camera, world.scene(**options), row, frame, 0.35, 0.05)
    kind, number, _ = struct.unpack("<QQd", data[:24])
    assert number == frame
    width, height, fov = struct.unpack("<IIf", data[48:60])
    assert fov == float(attributes["fov"])
    return kind, np.frombuffer(data[60:], np.uint8).reshape(height, width, 4)


def make_view(pose: SensorPose, width=160, height=120, fov_deg=90.0) -> CameraView:
    return CameraView(
        np.array(pose[:3]), pose_axes(pose), width, height, focal_length_px(width, fov_deg)
    )


def test_axes_are_those_of_the_real_rotator():
    pose = SensorPose(0, 0, 0, 0.3, -1.2, 0.4)
    expected = rotation_matrix_carla(*np.rad2deg(pose[3:])).T
    np.testing.assert_allclose(pose_axes(pose), expected, atol=1e-12)


def test_known_points_project_as_in_the_pinhole_model(world):
    # Small balls at known places must appear at u = cx + f y/x, v = cy - f z/x.
    sensor = world.sensor(1.0, -2.0, 2.0, pitch=-0.1, yaw=0.4, roll=0.2)
    axes = pose_axes(SensorPose(1.0, -2.0, 2.0, -0.1, 0.4, 0.2))
    local = np.array([[10.0, 3.0, 1.0], [14.0, -8.0, 2.0], [9.0, -1.0, 4.0], [20.0, 10.0, 7.0]])
    for place in local:
        x, y, z = np.array([1.0, -2.0, 2.0]) + place @ axes
        world.shape(2, x, y, z, 0.25)
    _, picture = shoot(world, "sensor.camera.semantic_segmentation", sensor)
    focal = 160.0
    rows, columns = np.nonzero(picture[..., 2] == 9)
    for x, y, z in local:
        u, v = 160.0 + focal * y / x, 100.0 - focal * z / x
        near = np.hypot(columns + 0.5 - u, rows + 0.5 - v) < 0.35 * focal / x
        assert near.any()
        assert np.mean(columns[near] + 0.5) == pytest.approx(u, abs=0.6)
        assert np.mean(rows[near] + 0.5) == pytest.approx(v, abs=0.6)


def test_depth_of_a_wall_is_planar_and_exact(world):
    world.box(25.5, 0.0, 10.0, (0.5, 60.0, 10.0), label=4)
    sensor = world.sensor(5.0, 0.0, 2.0)
    kind, picture = shoot(world, "sensor.camera.depth", sensor)
    assert kind == 1
    depth = bgra_to_depth(picture)
    np.testing.assert_allclose(depth[20:80], 20.0, atol=1e-4)
    # The ground below: depth = height / tan(angle below the axis), for a level camera.
    v = np.arange(150, 200) + 0.5
    expected = np.broadcast_to((2.0 * 160.0 / (v - 100.0))[:, None], (50, 320))
    np.testing.assert_allclose(depth[150:], expected, rtol=1e-5)


def test_labels_and_instances_are_at_the_right_pixels(world):
    person = world.person(8.0, 0.0)
    car = world.car(12.0, 4.0, yaw=math.pi)
    sensor = world.sensor(0.0, 0.0, 1.5)
    kind, picture = shoot(world, "sensor.camera.instance_segmentation", sensor)
    assert kind == 15
    label = picture[..., 2].astype(int)
    instance = picture[..., 1].astype(int) + 256 * picture[..., 0].astype(int)
    assert set(np.unique(instance[label == 12])) == {300 + person}
    assert set(np.unique(instance[label == 14])) == {300 + car}
    rows, columns = np.nonzero(label == 12)
    assert columns.min() > 140
    assert columns.max() < 180
    # Head at 1.86 m, feet on the ground, 8 m away.
    assert rows.min() == pytest.approx(100 - 160 * (1.86 - 1.5) / 8.0, abs=2.5)
    assert rows.max() == pytest.approx(100 + 160 * 1.5 / 7.9, abs=3.0)
    assert np.mean(np.nonzero(label == 14)[1]) > 200
    assert label[5, 160] == 11
    assert label[199, 160] == 1  # road under the camera
    assert label[105, 5] == 10  # terrain far to the side
    assert instance[199, 160] == 0
    kind, picture = shoot(world, "sensor.camera.semantic_segmentation", sensor)
    assert kind == 14
    np.testing.assert_array_equal(picture[..., 2], label)
    assert not picture[..., :2].any()


def test_picture_agrees_with_rays_at_any_attitude(world):
    generator = np.random.default_rng(3)
    for _ in range(30):
        world.box(
            *generator.uniform([-15, -15, 0], [15, 15, 4]),
            generator.uniform(0.2, 3.0, 3),
            yaw=generator.uniform(0, 6),
        )
    for _ in range(10):
        world.shape(1, *generator.uniform([-15, -15, 0], [15, 15, 4]), 0.5, 2.0)
    world.car(3.0, 2.0, 0.5)
    world.person(-2.0, 3.0)
    scene = world.scene()
    solids = scene.solids
    wrong = 0
    for _ in range(4):
        pose = SensorPose(
            *generator.uniform([-6, -6, 0.5], [6, 6, 4]), *generator.uniform(-0.6, 0.6, 3) * 2
        )
        view = make_view(pose)
        seen = look(solids, scene.meshes, scene.relief, view)
        for v, u in generator.integers(0, [120, 160], (400, 2)):
            ray = pixel_ray(view, u + 0.5, v + 0.5)
            best = ray_ground(scene.relief, pose[:3], ray, 0.0, 1000.0)
            for k in range(solids.used):
                t, _ = ray_solid(solids.form, solids.shape, k, *pose[:3], *ray)
                best = t if 0.05 <= t < best else best
            got = 1.0 / seen.inverse_depth[v, u] if seen.surface[v, u] != SKY else math.inf
            wrong += not (got == best or abs(got - best) < 1e-3 * best)
    assert wrong <= 4  # pixels whose centre lies on an edge, of 1600


def test_a_box_around_and_behind_the_camera_does_not_hide_the_view(world):
    world.box(0.0, 0.0, 2.0, (1.0, 1.0, 1.0))
    # A long wall that starts behind the camera and passes it on the right.
    world.box(0.0, 3.5, 2.0, (30.0, 0.5, 2.0), label=4)
    sensor = world.sensor(0.0, 0.0, 2.0)
    _, picture = shoot(world, "sensor.camera.semantic_segmentation", sensor)
    assert not (picture[..., 2] == 3).any()
    assert (picture[80:120, 300:, 2] == 4).all()
    _, picture = shoot(world, "sensor.camera.depth", sensor)
    depth = bgra_to_depth(picture)[100]
    u = np.arange(200, 320) + 0.5
    expected = 3.0 * 160.0 / (u - 160.0)
    visible = expected < 29.0
    np.testing.assert_allclose(depth[200:][visible], expected[visible], rtol=1e-4)


def test_hills_are_right_within_decimetres(world, hills):
    world.ground = hills
    scene = world.scene()
    generator = np.random.default_rng(8)
    for _ in range(6):
        x, y = generator.uniform(-60, 60, 2)
        z = surface_height(hills, x, y, 0.0) + 1.8
        view = make_view(SensorPose(x, y, z, -0.1, generator.uniform(-3, 3), 0.05), 320, 200)
        seen = look(scene.solids, scene.meshes, scene.relief, view)
        checked = 0
        for v, u in generator.integers(0, [200, 320], (300, 2)):
            if seen.surface[v, u] != GROUND:
                continue
            t = 1.0 / float(seen.inverse_depth[v, u])
            if t > 60.0:
                continue
            ray = np.array(pixel_ray(view, u + 0.5, v + 0.5))
            place = view.origin + t * ray
            assert abs(place[2] - surface_height(hills, place[0], place[1], 0.0)) < 0.12
            # Nothing stands in front of what is shown.
            for share in np.linspace(0.02, 0.97, 60):
                px, py, pz = view.origin + share * t * ray
                assert pz > surface_height(hills, px, py, 0.0) - 0.12
            checked += 1
        assert checked > 30


def test_fast_heights_agree_with_the_town(hills):
    # A deck 8 m above a strip of the hills, and a hole without any height.
    levels = [[float(h)] for h in hills.heights_m]
    for node in range(len(levels)):
        if 40 <= node % 101 < 45:
            levels[node].append(levels[node][0] + 8.0)
        if 60 <= node % 101 < 64 and 10 <= node // 101 < 20:
            levels[node] = []
    starts = np.cumsum([0, *(len(item) for item in levels)]).astype(np.int32)
    ground = hills._replace(
        starts=starts, heights_m=np.concatenate(levels).astype(np.float32), base_m=-1.0
    )
    relief = measure_relief(ground)
    generator = np.random.default_rng(1)
    places = generator.uniform([-110, -110, -5], [110, 110, 10], (2000, 3))
    expected = [surface_height(ground, *place) for place in places]
    got = [ground_height(relief, *place) for place in places]
    np.testing.assert_allclose(got, expected, atol=1e-5)
    # From the deck one sees the deck, from below the hill under it.
    x, y = -100.0 + 2.0 * 42, 3.0
    low = surface_height(ground, x, y, -5.0)
    for level in (low, low + 8.0):
        t = ray_ground(relief, (x, y, level + 2.0), (0.1, 0.0, -1.0), level, 100.0)
        assert t == pytest.approx(2.0, abs=0.2)


def test_colours_normals_and_light(world):
    world.box(20.0, 0.0, 5.0, (1.0, 3.0, 5.0), label=4)
    sensor = world.sensor(0.0, 0.0, 1.5)
    kind, day = shoot(world, "sensor.camera.rgb", sensor)
    assert kind == 13
    assert (day[..., 3] == 255).all()
    assert day[2, 2, 0] > day[2, 2, 2]  # blue sky
    _, night = shoot(world, "sensor.camera.rgb", sensor, sky=Sky(sun_altitude_deg=-30.0))
    assert night[..., :3].mean() < 0.4 * day[..., :3].mean()
    _, fog = shoot(world, "sensor.camera.rgb", sensor, sky=Sky(fog_density=100.0))
    # Far ground in dense fog has the colour of the haze, whatever it is.
    assert np.ptp(fog[101, :100, :3].astype(int), axis=0).max() <= 3
    assert np.abs(fog[101, 50, :3].astype(int) - fog[99, 50, :3]).max() <= 12  # as the sky there
    assert np.abs(day[101, 50, :3].astype(int) - day[99, 50, :3]).max() > 12
    _, normals = shoot(world, "sensor.camera.normals", sensor)
    np.testing.assert_array_equal(normals[199, 160, :3], [255, 128, 128])  # up
    np.testing.assert_array_equal(normals[90, 160, :3], [128, 128, 0])  # towards -x


def test_flow_of_a_moving_camera(world):
    world.box(25.0, 0.0, 10.0, (5.0, 60.0, 10.0), label=4)
    sensor = world.sensor(0.0, 0.0, 5.0)
    camera = make_sensor("sensor.camera.optical_flow", SIZE, 1, 0)
    first = payload(camera, world.scene(), sensor, 1, 0.05, 0.05)
    np.testing.assert_allclose(np.frombuffer(first[60:], "<f4"), 0.0, atol=1e-6)
    world.actors[sensor]["y"] = 0.5  # half a metre to the right: the wall moves left
    data = payload(camera, world.scene(), sensor, 2, 0.10, 0.05)
    flow = np.frombuffer(data[60:], "<f4").reshape(200, 320, 2)
    np.testing.assert_allclose(flow[60, 100:200, 0] * 320, -160.0 * 0.5 / 20.0, rtol=1e-3)
    np.testing.assert_allclose(flow[60, 100:200, 1], 0.0, atol=1e-4)


def test_events_where_something_moves(world):
    world.box(10.0, 0.0, 2.0, (0.5, 1.0, 2.0), label=4)
    world.scenery["red"] = world.scenery["green"] = world.scenery["blue"] = 5
    sensor = world.sensor(0.0, 0.0, 2.0)
    camera = make_sensor("sensor.camera.dvs", SIZE, 1, 0)
    assert payload(camera, world.scene(), sensor, 1, 0.05, 0.05) is None
    assert payload(camera, world.scene(), sensor, 2, 0.10, 0.05) is None
    world.scenery["y"] = 1.0
    data = payload(camera, world.scene(), sensor, 3, 0.15, 0.05)
    events = np.frombuffer(
        data[60:], np.dtype([("x", "<u2"), ("y", "<u2"), ("t", "<i8"), ("on", "?")])
    )
    assert (np.diff(events["t"]) >= 0).all()
    assert events["t"].min() >= 100_000_000
    assert events["t"].max() <= 150_000_000
    left, right = events["x"] < 150, events["x"] > 180
    assert events["on"][left].all()  # uncovered sky
    assert not events["on"][right].any()  # covered by the dark box


def test_pictures_are_reproducible_and_shared(world):
    world.person(8.0, 0.0)
    sensor = world.sensor(0.0, 0.0, 1.5)
    scene = world.scene()
    cameras = [make_sensor("sensor.camera.rgb", SIZE, i, 0) for i in range(2)]
    first, second = (payload(camera, scene, sensor, 1, 0.05, 0.05) for camera in cameras)
    assert first == second
    assert len([key for key in scene.shared if key[0] == "view"]) == 1
    assert payload(cameras[0], world.scene(), sensor, 1, 0.05, 0.05) == first


def test_people_without_bones_get_a_figure_that_can_lie(world):
    person = world.person(8.0, 1.5)
    scene = world.scene()
    owners = scene.solids.owner[: scene.solids.used]
    assert (owners == person).sum() == FIGURE_PARTS
    world.actors[person]["down_s"] = 4.0
    scene = world.scene()
    owners = scene.solids.owner[: scene.solids.used]
    heights = scene.solids.form[: scene.solids.used][owners == person, 2]
    assert heights.max() < 0.45
    assert heights.min() > 0.0


def test_a_vehicle_fills_its_box(world):
    for label, half in ((14, (2.4, 0.92, 0.74)), (16, (5.0, 1.3, 1.6)), (19, (0.9, 0.3, 0.6))):
        world.rows = 0
        world.add(Kind.VEHICLE, 3.0, -2.0, 0.0, 0.3, half, half[2], label=label)
        scene = world.scene()
        solids = scene.solids
        directions = np.array([[0.0, 0.0, -1.0]])
        for ahead in np.linspace(-0.95, 0.95, 9):
            x = 3.0 + ahead * half[0] * math.cos(0.3)
            y = -2.0 + ahead * half[0] * math.sin(0.3)
            place, reach = np.array([x, y, 9.0]), np.full(1, 20.0)
            _, surface, _ = cast_rays(
                solids, scene.meshes, scene.relief, place, directions, reach, -2
            )
            assert surface[0] >= 0
        corners = solids.form[: solids.used, 15] + np.hypot(
            solids.form[: solids.used, 0] - 3.0, solids.form[: solids.used, 1] + 2.0
        )
        assert corners.max() < 1.3 * np.linalg.norm(half) + 0.6
