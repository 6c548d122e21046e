"""Meshes in pictures and scans, against exact rays and hand-computed places."""

import math

import numpy as np
import pytest
from sensor_payloads import look

from jaywalk.core.errors import UsageError
from jaywalk.geometry.geodesy import GeoReference
from jaywalk.server.sensors._cut_outs import draw_cut_outs
from jaywalk.server.sensors._materials import Material
from jaywalk.server.sensors._mesh import (
    Mesh,
    MeshLibrary,
    Model,
    PosedMeshes,
    box_mesh,
    mesh_surface,
    model_named,
    no_actor_meshes,
    no_scenery_meshes,
)
from jaywalk.server.sensors._obstacle import sweep_ball
from jaywalk.server.sensors._readings import SensorPose
from jaywalk.server.sensors._rig import make_sensor
from jaywalk.server.sensors._scan import Scan, cast_rays, cast_scan, scan_directions
from jaywalk.server.sensors._scene import SceneBuilder, without_rows
from jaywalk.server.sensors._solids import MESH, pose_axes
from jaywalk.server.sensors._visibility import CameraView, focal_length_px, pixel_ray
from jaywalk.server.world._tables import Kind

PAINT = int(Material.PAINT)
BOX = Model((box_mesh((-2.0, -1.0, 0.0), (2.0, 1.0, 1.5), PAINT),))


def ball_mesh(radius_m=1.0, rows=12, columns=24, material=PAINT, centre=(0.0, 0.0, 0.0)):
    """A closed ball whose triangles share their edges."""
    angles = np.linspace(0.0, math.pi, rows + 1)
    turns = np.linspace(0.0, 2.0 * math.pi, columns, endpoint=False)
    points = np.array(
        [
            [math.sin(a) * math.cos(t), math.sin(a) * math.sin(t), math.cos(a)]
            for a in angles
            for t in turns
        ]
    )
    corners = []
    for i in range(rows):
        for j in range(columns):
            a, b = i * columns + j, i * columns + (j + 1) % columns
            corners += [(a, b, b + columns), (a, b + columns, a + columns)]
    triangles = np.array(corners, np.int32)
    uv = np.stack([points[triangles][..., 0], points[triangles][..., 2]], axis=-1) * radius_m
    return Mesh(
        points * radius_m + np.array(centre),
        triangles,
        points[triangles].astype(np.float32),
        uv.astype(np.float32),
        np.full(len(triangles), material, np.int32),
        np.zeros(len(triangles), np.int32),
    )


class Stage:
    """A scene of meshes around a camera."""

    def __init__(self, world):
        self.world = world
        self.library = MeshLibrary()
        self.shown = no_actor_meshes(len(world.actors))
        self.posed = None
        self.poses = []

    def add(self, model, x, y, z=0.0, yaw=0.0, scale=(1.0, 1.0, 1.0), label=14, **fields):
        row = self.world.add(Kind.VEHICLE, x, y, z, yaw, (1.0, 1.0, 1.0), label=label, **fields)
        self.shown.model[row] = self.library.number(model)
        self.shown.scale[row] = scale
        return row

    def scene(self, **options):
        world = self.world
        builder = SceneBuilder(
            world.scenery, world.ground, world.raster, GeoReference(0.0, 0.0), library=self.library
        )
        shown = self.shown
        if self.poses:
            shown = shown._replace(part_pose=np.array(self.poses))
        return builder.build(
            world.actors,
            world.rows,
            world.labels,
            world.colors,
            actor_meshes=shown,
            posed=self.posed,
            **options,
        )


@pytest.fixture
def stage(world):
    return Stage(world)


def view_at(pose, width=160, height=120, fov_deg=90.0):
    focal = focal_length_px(width, fov_deg)
    return CameraView(np.array(pose[:3], float), pose_axes(pose), width, height, focal)


def see(scene, pose, **lens):
    view = view_at(pose, **lens)
    return view, look(scene.solids, scene.meshes, scene.relief, view)


def turned(model):
    """The same model with the near shape at all distances."""
    return Model((model.levels[0],))


def scatter(stage, generator, models):
    for _ in range(12):
        x, y = generator.uniform([-14.0, -14.0], [14.0, 14.0])
        stage.add(
            models[generator.integers(len(models))],
            x,
            y,
            generator.uniform(0.0, 1.5),
            generator.uniform(-3.0, 3.0),
            tuple(generator.uniform(0.5, 1.6, 3)),
            pitch=generator.uniform(-0.4, 0.4),
            roll=generator.uniform(-0.4, 0.4),
        )


def test_a_box_stands_at_its_pixels_with_its_depth_label_and_instance(stage):
    row = stage.add(BOX, 12.0, 0.0)
    scene = stage.scene()
    view, seen = see(scene, SensorPose(0.0, 0.0, 1.0, 0.0, 0.0, 0.0))
    focal = view.focal_px
    # The face towards the camera: 10 m away, 2 m wide, 1.5 m high.
    rows, columns = np.nonzero(seen.surface >= 0)
    assert columns.min() == math.ceil(80.0 - focal / 10.0 - 0.5)
    assert columns.max() == math.ceil(80.0 + focal / 10.0 - 0.5) - 1
    assert rows.max() == math.ceil(60.0 + focal * 1.0 / 10.0 - 0.5) - 1
    assert rows.min() == math.ceil(60.0 - focal * 0.5 / 10.0 - 0.5)
    np.testing.assert_allclose(1.0 / seen.inverse_depth[rows, columns], 10.0, atol=0.01)
    assert len(rows) == (np.ptp(rows) + 1) * (np.ptp(columns) + 1)
    owners = scene.solids.owner[seen.surface[rows, columns] >> 3]
    assert set(owners) == {row}
    camera = make_sensor(
        "sensor.camera.instance_segmentation", {"image_size_x": "160", "image_size_y": "120"}, 1, 0
    )
    pixels = camera.picture(scene, view, seen)
    actor_id = int(stage.world.actors["id"][row])
    expected = [actor_id >> 8, actor_id & 0xFF, 14]
    assert (pixels[rows, columns, :3] == expected).all()
    normals = make_sensor("sensor.camera.normals", {}, 1, 0).picture(scene, view, seen)
    assert (normals[rows, columns, 2] == 0).all()  # -1 along x: towards the camera


def test_triangles_that_share_edges_leave_no_hole_and_no_pixel_twice(stage):
    # A wall of uneven triangles fills the picture; each triangle is then drawn alone.
    generator = np.random.default_rng(5)
    across, up = np.meshgrid(np.linspace(-9.0, 9.0, 9), np.linspace(-9.0, 9.0, 9))
    points = np.stack([np.zeros(81), across.ravel(), up.ravel()], axis=1)
    inner = (np.abs(points[:, 1:]) < 8.9).all(axis=1)
    points[inner] += generator.uniform([-0.2, -0.5, -0.5], [0.2, 0.5, 0.5], (inner.sum(), 3))
    corners = []
    for i in range(8):
        for j in range(8):
            a = i * 9 + j
            corners += [(a, a + 1, a + 10), (a, a + 10, a + 9)]
    triangles = np.array(corners, np.int32)

    def wall(chosen):
        count = len(chosen)
        return Mesh(
            points,
            triangles[chosen],
            np.zeros((count, 3, 3), np.float32),
            np.zeros((count, 3, 2), np.float32),
            np.zeros(count, np.int32),
            np.zeros(count, np.int32),
        )

    pose = SensorPose(-6.0, 0.0, 50.0, 0.0, 0.0, 0.0)
    rows = [stage.add(Model((wall(np.arange(128)),)), 0.0, 0.0, 50.0)]
    rows += [stage.add(Model((wall(np.array([t])),)), 0.0, 0.0, 50.0) for t in range(50, 64)]
    full = without_rows(stage.scene(), rows[1:])
    assert (see(full, pose)[1].surface >= 0).all()
    _, together = see(full, pose)
    times = np.zeros((120, 160), int)
    for t, row in enumerate(rows[1:], 50):
        alone = without_rows(stage.scene(), [r for r in rows if r != row])
        drawn = see(alone, pose)[1].surface >= 0
        times += drawn
        np.testing.assert_array_equal(drawn, together.triangle == t)
    assert times.max() == 1
    assert times.sum() > 500


@pytest.mark.parametrize("seed", [1, 2])
def test_pictures_agree_with_exact_rays(stage, seed):
    generator = np.random.default_rng(seed)
    scatter(stage, generator, [BOX, Model((ball_mesh(),))])
    scene = stage.scene()
    compared = wrong = meshes = 0
    for _ in range(4):
        pose = SensorPose(
            *generator.uniform([-9, -9, 0.3], [9, 9, 4]), *generator.uniform(-0.6, 0.6, 3) * 2
        )
        view, seen = see(scene, pose)
        v, u = generator.integers(0, [120, 160], (2500, 2)).T
        rays = np.array([pixel_ray(view, a + 0.5, b + 0.5) for a, b in zip(u, v, strict=True)])
        length = np.linalg.norm(rays, axis=1)
        hits = cast_rays(
            scene.solids,
            scene.meshes,
            scene.relief,
            view.origin,
            rays / length[:, None],
            np.full(2500, 900.0),
            -2,
        )
        code = seen.surface[v, u]
        same = code == hits.surface
        solid = same & (code >= 0)
        depth = 1.0 / np.where(solid, seen.inverse_depth[v, u], 1.0)
        near = np.abs(depth * length - hits.distance_m)[solid] < 0.01 + 0.01 * depth[solid]
        wrong += int((~same).sum()) + int((~near).sum())
        meshes += int(solid.sum())
        compared += 2500
    assert meshes > 300
    # Only pixels at the very edge of a shape may differ: corners are rounded to 1/256 pixel.
    assert wrong <= 0.004 * compared


def test_a_mesh_through_the_near_plane_fills_its_part_of_the_picture(stage):
    # A long wall 0.4 m to the left, from behind the camera to 60 m ahead.
    wall = Model((box_mesh((-10.0, -0.1, 0.0), (60.0, 0.1, 8.0), PAINT),))
    stage.add(wall, 0.0, -0.5)
    scene = stage.scene()
    view, seen = see(scene, SensorPose(0.0, 0.0, 1.5, 0.0, 0.0, 0.0))
    for u in (0, 20, 60):
        expected = 0.4 * view.focal_px / (80.0 - (u + 0.5))
        assert 1.0 / seen.inverse_depth[60, u] == pytest.approx(expected, rel=1e-3)
    assert (seen.surface[:, 90:] < 0).all()


def test_a_scan_of_meshes_equals_single_rays(stage):
    generator = np.random.default_rng(3)
    leaves = Model((ball_mesh(1.4, material=int(Material.LEAVES)),))
    scatter(stage, generator, [BOX, Model((ball_mesh(),)), leaves])
    stage.add(Model((box_mesh((-9.0, -0.2, 0.0), (9.0, 0.2, 4.0), PAINT),)), 0.0, 3.0)
    scene = stage.scene()
    struck = 0
    for trial in range(8):
        pose = SensorPose(
            *generator.uniform([-9, -9, 1.0], [9, 2, 6]),
            *(generator.uniform([-0.4, -3.2, -0.4], [0.4, 3.2, 0.4]) if trial else (0, 0, 0)),
        )
        fov = (360.0, 120.0, 360.0, 40.0)[trial % 4]
        upper, lower = (10.0, -30.0) if trial % 2 else (80.0, -80.0)
        scan = Scan(
            np.array(pose[:3]),
            pose_axes(pose),
            24,
            200,
            upper,
            (upper - lower) / 23,
            generator.uniform(0.0, fov),
            fov / 200.0 * generator.choice([0.3, 1.0, 2.7]),
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
        hits = cast_rays(
            scene.solids,
            scene.meshes,
            scene.relief,
            scan.origin,
            np.ascontiguousarray(local @ scan.axes),
            np.full(len(local), 60.0),
            -2,
        )
        got = echoes.distance_m.ravel()
        np.testing.assert_array_equal(np.isfinite(got), np.isfinite(hits.distance_m))
        heard = np.isfinite(got)
        np.testing.assert_allclose(got[heard], hits.distance_m[heard], atol=1e-7)
        np.testing.assert_array_equal(echoes.surface.ravel()[heard], hits.surface[heard])
        struck += int((hits.surface >= 0).sum())
    assert struck > 2000


def test_leaves_are_cut_out_alike_for_cameras_and_rays(stage):
    stage.add(Model((ball_mesh(1.5, material=int(Material.LEAVES)),)), 6.0, 0.0, 2.0)
    scene = stage.scene()
    view, seen = see(scene, SensorPose(0.0, 0.0, 2.0, 0.0, 0.0, 0.0))
    v, u = np.mgrid[46:74, 66:94].reshape(2, -1)
    rays = np.array([pixel_ray(view, a + 0.5, b + 0.5) for a, b in zip(u, v, strict=True)])
    unit = rays / np.linalg.norm(rays, axis=1)[:, None]
    reach = np.full(len(rays), 500.0)
    hits = cast_rays(scene.solids, scene.meshes, scene.relief, view.origin, unit, reach, -2)
    there = hits.surface >= 0
    assert 0.4 < there.mean() < 0.99
    assert (there == (seen.surface[v, u] >= 0)).mean() > 0.99
    # A gap has the depth of what is behind: the ground or the sky.
    ground_m = 2.0 * view.focal_px / (v + 0.5 - 60.0)
    behind = np.where(v >= 60, 1.0 / ground_m, 0.0)
    assert (np.abs(seen.inverse_depth[v, u] - behind)[~there] < 1e-5).mean() > 0.97


def test_moving_parts_turn_about_their_own_place(stage):
    body = box_mesh((-1.0, -0.5, 0.0), (1.0, 0.5, 1.0), PAINT)
    arm = box_mesh((0.0, -0.1, 0.0), (1.0, 0.1, 0.2), PAINT, part=1)
    both = Mesh(
        np.concatenate([body.points_m, arm.points_m]),
        np.concatenate([body.triangles, arm.triangles + len(body.points_m)]).astype(np.int32),
        *(np.concatenate([a, b]) for a, b in zip(body[2:], arm[2:], strict=True)),
    )
    row = stage.add(Model((both,)), 10.0, 0.0)
    stage.shown.first_part[row] = 0
    # The arm points to the right (y) from a place 1.2 m above the ground.
    quarter = np.array([[0.0, -1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.2]])
    stage.poses = [np.eye(3, 4), quarter]
    scene = stage.scene()
    down = np.array([[0.0, 0.0, -1.0]])

    def top_at(x, y):
        place, reach = np.array([x, y, 9.0]), np.array([20.0])
        return (
            9.0
            - cast_rays(
                scene.solids, scene.meshes, scene.relief, place, down, reach, -2
            ).distance_m[0]
        )

    assert top_at(10.0, 0.9) == pytest.approx(1.4)
    assert top_at(10.5, 0.4) == pytest.approx(1.0)
    assert top_at(10.9, 0.9) == pytest.approx(0.0)
    _, seen = see(scene, SensorPose(10.0, 5.0, 1.3, 0.0, -math.pi / 2, 0.0))
    assert 1.0 / seen.inverse_depth[60, 80] == pytest.approx(4.0, abs=0.01)
    k = int(seen.surface[60, 80]) >> 3
    normal = mesh_surface(
        scene.meshes,
        scene.solids.form,
        k,
        scene.solids.mesh[k],
        seen.triangle[60, 80],
        10.0,
        1.0,
        1.3,
    )[:3]
    np.testing.assert_allclose(normal, (0.0, 1.0, 0.0), atol=1e-6)


def test_a_posed_instance_shows_its_own_points_and_normals(stage):
    model = Model((ball_mesh(0.5), ball_mesh(0.5, 6, 12), ball_mesh(0.5, 4, 8)))
    number = stage.library.number(model)
    person = stage.world.person(8.0, 0.0)
    points = np.concatenate([level.points_m for level in model.levels])
    stage.posed = PosedMeshes(
        np.array([person], np.int32),
        np.array([number], np.int32),
        np.zeros((1, 8, 4), np.uint8),
        points + np.array([8.0, 0.0, 1.5]),
        (points / 0.5).astype(np.float32),
        np.array([12], np.uint8),
    )
    scene = stage.scene()
    solids = scene.solids
    shapes = solids.shape[: solids.used]
    assert list(shapes) == [MESH]  # the mesh replaces the simple figure
    _, seen = see(scene, SensorPose(0.0, 0.0, 1.5, 0.0, 0.0, 0.0), width=640, height=480)
    assert 1.0 / seen.inverse_depth[240, 320] == pytest.approx(7.5, abs=0.01)
    assert (seen.surface >= 0).sum() == pytest.approx(math.pi * (320 * 0.5 / 8.0) ** 2, rel=0.05)
    nx, ny, nz, *_ = mesh_surface(
        scene.meshes, solids.form, 0, solids.mesh[0], seen.triangle[240, 320], 7.5, 0.0, 1.5
    )
    np.testing.assert_allclose((nx, ny, nz), (-1.0, 0.0, 0.0), atol=0.02)
    # Far away the coarser levels are drawn.
    far = SensorPose(-30.0, 0.0, 1.5, 0.0, 0.0, 0.0)
    _, distant = see(scene, far, width=1024, height=512)
    levels = scene.meshes.level[distant.triangle[distant.surface >= 0]]
    assert set(levels) == {1}


def test_scenery_models_replace_solids(world):
    world.box(6.0, 0.0, 1.0, (1.0, 1.0, 1.0), label=9)
    world.box(9.0, 4.0, 1.0, (1.0, 1.0, 1.0), label=3)
    library = MeshLibrary()
    shown = no_scenery_meshes(2)
    shown.model[0] = library.number(Model((ball_mesh(1.0, centre=(0.0, 0.0, 1.0)),)))
    builder = SceneBuilder(
        world.scenery, world.ground, world.raster, library=library, scenery_meshes=shown
    )
    scene = builder.build(world.actors, 0, world.labels, world.colors)
    assert sorted(scene.solids.shape[: scene.solids.used]) == [0, MESH]
    _, seen = see(scene, SensorPose(0.0, 0.0, 1.0, 0.0, 0.0, 0.0))
    assert 1.0 / seen.inverse_depth[60, 80] == pytest.approx(5.0, abs=0.02)
    k = int(seen.surface[60, 80]) >> 3
    assert (scene.solids.label[k], scene.solids.owner[k]) == (9, -1)


def test_a_ball_stops_at_the_triangles_not_at_their_box(stage):
    stage.add(Model((ball_mesh(1.0, 24, 48),)), 6.0, 0.0, 2.0)
    scene = stage.scene()
    rows = np.ones(len(stage.world.actors), bool)
    forward = np.array([1.0, 0.0, 0.0])

    def free(y, z):
        start = np.array([0.0, y, z])
        return sweep_ball(scene.solids, scene.meshes, start, forward, 20.0, 0.2, rows, True)[1]

    assert free(0.0, 2.0) == pytest.approx(4.8, abs=0.01)
    offset = 0.8
    assert free(offset, 2.0) == pytest.approx(6.0 - math.sqrt(1.2**2 - offset**2), abs=0.02)
    assert free(0.9, 2.9) == math.inf  # inside the corner of the box, past the ball


def test_a_sensor_inside_an_actor_does_not_see_it(stage):
    row = stage.add(BOX, 0.0, 0.0)
    scene = stage.scene()
    _, seen = see(scene, SensorPose(0.0, 0.0, 1.0, 0.0, 0.0, 0.0))
    assert (seen.surface < 0).all()
    hits = cast_rays(
        scene.solids,
        scene.meshes,
        scene.relief,
        np.array([0.0, 0.0, 1.0]),
        np.array([[1.0, 0.0, 0.0]]),
        np.array([50.0]),
        -2,
    )
    assert hits.distance_m[0] == math.inf
    assert scene.solids.owner[0] == row


def test_the_library_refuses_wrong_meshes():
    box = box_mesh((0.0, 0.0, 0.0), (1.0, 1.0, 1.0), PAINT)
    with pytest.raises(UsageError, match="not among 24 points"):
        MeshLibrary().number(Model((box._replace(triangles=box.triangles + 1),)))
    part = box.part.copy()
    part[0] = 1
    with pytest.raises(UsageError, match="two parts"):
        MeshLibrary().number(Model((box._replace(part=part),)))
    with pytest.raises(UsageError, match="1 to 3 levels"):
        MeshLibrary().number(Model(()))
    with pytest.raises(UsageError, match="No model is named 'nothing'"):
        model_named("nothing")


def test_pictures_and_scans_agree_on_random_scenes(stage):
    generator = np.random.default_rng(9)
    scatter(stage, generator, [BOX, Model((ball_mesh(),))])
    scene = stage.scene()
    view, seen = see(scene, SensorPose(0.0, 0.0, 2.5, 0.0, 0.4, 0.0), width=320, height=240)
    draw_cut_outs(scene.solids, scene.pictures, view, (0, view.height), seen)
    size = {"image_size_x": "320", "image_size_y": "240"}
    labels = make_sensor("sensor.camera.semantic_segmentation", size, 1, 0)
    depth = make_sensor("sensor.camera.depth", size, 1, 0)
    label = labels.picture(scene, view, seen)[..., 2]
    code = depth.picture(scene, view, seen).astype(np.int64)
    depth_m = (code[..., 2] + 256 * code[..., 1] + 65536 * code[..., 0]) / 16777215.0 * 1000.0
    v, u = np.mgrid[5:235:10, 5:315:10].reshape(2, -1)
    rays = np.array([pixel_ray(view, a + 0.5, b + 0.5) for a, b in zip(u, v, strict=True)])
    length = np.linalg.norm(rays, axis=1)
    hits = cast_rays(
        scene.solids,
        scene.meshes,
        scene.relief,
        view.origin,
        rays / length[:, None],
        np.full(len(rays), 900.0),
        -2,
    )
    solid = hits.surface >= 0
    assert solid.sum() > 40
    hit_label = scene.solids.label[np.maximum(hits.surface, 0) >> 3]
    right = (label[v, u] == hit_label)[solid]
    close = (np.abs(depth_m[v, u] * length - hits.distance_m) < 0.05)[solid]
    assert right.mean() > 0.99
    assert close.mean() > 0.97
    assert (label[v, u][hits.surface < -1] == 11).all()  # sky
