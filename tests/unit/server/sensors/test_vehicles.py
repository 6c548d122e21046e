"""Meshes of vehicles: they fill their boxes, are closed, and wheels, doors and lamps work."""

import math

import numpy as np
import pytest

from jaywalk.core.carla_enums import SemanticTag, VehicleLight
from jaywalk.geometry.geodesy import GeoReference
from jaywalk.server.sensors._materials import MATERIAL_LAMP, Lamp, Material
from jaywalk.server.sensors._mesh import MeshLibrary, no_actor_meshes
from jaywalk.server.sensors._readings import SensorPose
from jaywalk.server.sensors._rig import make_sensor
from jaywalk.server.sensors._scene import SceneBuilder
from jaywalk.server.sensors._weather import Sky
from jaywalk.server.sensors.models import ActorMotion, Body, actor_look, scenery_look
from jaywalk.server.sensors.models.vehicles import parked_car_look
from jaywalk.server.world._tables import ACTOR, Kind
from jaywalk.server.world._vehicle_blueprints import VEHICLES
from jaywalk.server.world.blueprints import find
from jaywalk.town.scenery import KINDS, SCENERY

NIGHT = Sky(sun_altitude_deg=-60.0)
NAMES = [f"vehicle.{spec.name}" for spec in VEHICLES]
CAR = "vehicle.lincoln.mkz_2020"
ALIKE = [n for n in NAMES if find(n).value("number_of_wheels") == "4"]
MOST = (3600, 1700, 1100)  # triangles of a level


def body_of(name, color=(150, 20, 24)):
    body = find(name).body
    return Body(name, {}, body.half_extents_m, body.centre_m, color, 300)


def look_of(name):
    shown = actor_look(body_of(name))
    assert shown is not None, name
    return shown


def posed(name, motion, **fields):
    """Points of the near level with moved parts."""
    shown = look_of(name)
    row = np.zeros(1, ACTOR)[0]
    for field, value in fields.items():
        row[field] = value
    parts = np.tile(np.eye(3, 4), (shown.look.parts, 1, 1))
    shown.pose(row, motion, parts)
    return shown.look.model.levels[0], parts


def picture(world, name, yaw, flags=0, kind="rgb", sky=NIGHT, ahead_m=9.0):
    """Pixels (rows, columns, red green blue) of a vehicle in front of a camera."""
    body = body_of(name)
    world.rows = 0
    place = ahead_m + body.half_m[0]
    row = world.add(
        Kind.VEHICLE, place, 0.0, 0.0, yaw, body.half_m, body.half_m[2], label=14, light_flags=flags
    )
    world.colors[row] = body.color
    library, shown = MeshLibrary(), no_actor_meshes(16)
    look = actor_look(body).look
    shown.model[row], shown.slots[row] = library.number(look.model), look.slots()
    if look.rider is not None:
        shown.rider[row] = library.number(look.rider)
    builder = SceneBuilder(
        world.scenery, world.ground, world.raster, GeoReference(0.0, 0.0), library=library
    )
    scene = builder.build(
        world.actors, world.rows, world.labels, world.colors, sky, actor_meshes=shown
    )
    size = {"image_size_x": "320", "image_size_y": "240", "fov": "50"}
    camera = make_sensor(f"sensor.camera.{kind}", size, 0, 0)
    pose = SensorPose(0.0, 0.0, 1.2, 0.0, 0.0, 0.0)
    view = camera.view(pose)
    seen = camera.see(scene, pose, view)
    return camera.picture(scene, view, seen)[..., 2::-1].astype(int)


def first_hits(mesh, origins, direction):
    """Distance to the first triangle along parallel rays, by brute force; inf: none."""
    a, b, c = (mesh.points_m[mesh.triangles[:, k]] for k in range(3))
    direction = np.asarray(direction, float)
    u, v = b - a, c - a
    p = np.cross(direction, v)
    area = np.einsum("ij,ij->i", u, p)
    out = np.full(len(origins), np.inf)
    met = np.abs(area) > 1e-12
    a, u, v, p, area = a[met], u[met], v[met], p[met], area[met]
    for k, origin in enumerate(origins):
        s = origin - a
        first = np.einsum("ij,ij->i", s, p) / area
        q = np.cross(s, u)
        second = q @ direction / area
        far = np.einsum("ij,ij->i", v, q) / area
        hit = (first > -1e-9) & (second > -1e-9) & (first + second < 1.0 + 1e-9) & (far > 0.0)
        if hit.any():
            out[k] = far[hit].min()
    return out


@pytest.mark.parametrize("name", NAMES)
def test_every_level_fills_the_box_of_the_blueprint(name):
    body = body_of(name)
    low = np.array([body.centre_m[0] - body.half_m[0], -body.half_m[1], 0.0])
    high = low + 2.0 * np.array(body.half_m)
    for mesh in look_of(name).look.model.levels:
        points = mesh.points_m[np.unique(mesh.triangles)]
        np.testing.assert_allclose(points.min(axis=0), low, atol=1e-9)
        np.testing.assert_allclose(points.max(axis=0), high, atol=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_farther_levels_have_fewer_triangles(name):
    counts = [len(mesh.triangles) for mesh in look_of(name).look.model.levels]
    assert counts == sorted(counts, reverse=True)
    assert all(count <= most for count, most in zip(counts, MOST, strict=True))


@pytest.mark.parametrize("name", ALIKE)
def test_bodies_have_no_holes_from_above_and_from_the_sides(name):
    body = body_of(name)
    ex, ey, ez = body.half_m
    for mesh in look_of(name).look.model.levels:
        x = body.centre_m[0] + ex * np.linspace(-0.75, 0.75, 13)
        y = ey * np.linspace(-0.6, 0.6, 7)
        above = np.array([(i, j, 9.0) for i in x for j in y])
        assert np.isfinite(first_hits(mesh, above, (0.0, 0.0, -1.0))).all()
        z = 2.0 * ez * np.linspace(0.3, 0.47, 4)
        beside = np.array([(i, 9.0, k) for i in x for k in z])
        assert (first_hits(mesh, beside, (0.0, -1.0, 0.0)) < 9.0 - 0.3 * ey).all()


@pytest.mark.parametrize("name", ALIKE)
def test_normals_point_outwards(name):
    mesh = look_of(name).look.model.levels[0]
    a, b, c = (mesh.points_m[mesh.triangles[:, k]] for k in range(3))
    face = np.cross(b - a, c - a)
    np.testing.assert_allclose(np.linalg.norm(mesh.normals, axis=2), 1.0, atol=1e-5)
    assert (np.einsum("ij,ij->i", face, mesh.normals.mean(axis=1)) > 0.0).mean() > 0.98
    shell = mesh.material == Material.PAINT
    middle = (a + b + c)[shell] / 3.0 - np.array([mesh.points_m[:, 0].mean(), 0.0, 0.8])
    away = np.einsum("ij,ij->i", mesh.normals[shell].mean(axis=1), middle)
    assert (away > 0.0).mean() > 0.8


@pytest.mark.parametrize("name", ALIKE)
def test_models_are_the_same_on_both_sides(name):
    if "police" in name or name.endswith("firetruck"):  # a search lamp; a ladder
        return
    mesh = look_of(name).look.model.levels[0]
    area = np.cross(
        mesh.points_m[mesh.triangles[:, 1]] - mesh.points_m[mesh.triangles[:, 0]],
        mesh.points_m[mesh.triangles[:, 2]] - mesh.points_m[mesh.triangles[:, 0]],
    )
    size = np.linalg.norm(area, axis=1)
    y = mesh.points_m[mesh.triangles][..., 1].mean(axis=1)
    assert abs((size * y).sum()) < 1e-6 * size.sum() + 0.02 * (size * np.abs(y)).sum()


def test_the_color_of_the_blueprint_paints_the_body(world):
    seen = picture(world, CAR, math.pi / 2.0, sky=Sky())
    red = (seen[..., 0] > 1.6 * seen[..., 1]) & (seen[..., 0] > 60)
    assert red.sum() > 800


def lit_by(world, name, yaw, flag):
    """Pixels of the vehicle that a lamp brightens; lamps also light the road around it."""
    tag = picture(world, name, yaw, kind="instance_segmentation")[..., 0]
    vehicle = (tag >= SemanticTag.CAR) & (tag <= SemanticTag.BICYCLE)
    change = picture(world, name, yaw, int(flag)) - picture(world, name, yaw)
    return vehicle & (np.abs(change).max(axis=2) > 60)


@pytest.mark.parametrize(
    ("flag", "lamp", "yaw"),
    [
        (VehicleLight.BRAKE, Lamp.BRAKE, 0.0),
        (VehicleLight.POSITION, Lamp.TAIL, 0.0),
        (VehicleLight.REVERSE, Lamp.REVERSE, 0.0),
        (VehicleLight.LOW_BEAM, Lamp.HEAD, math.pi),
    ],
)
@pytest.mark.parametrize(
    "name", [CAR, "vehicle.jeep.wrangler_rubicon", "vehicle.mercedes.sprinter"]
)
def test_a_lamp_shines_at_night_on_both_sides_of_its_end(world, name, flag, lamp, yaw):
    columns = np.nonzero(lit_by(world, name, yaw, flag))[1]
    assert (columns < 160).sum() > 3
    assert (columns >= 160).sum() == pytest.approx((columns < 160).sum(), rel=0.4, abs=6)
    if lamp in (Lamp.BRAKE, Lamp.REVERSE):  # the others are at both ends
        assert lit_by(world, name, math.pi - yaw, flag).sum() == 0


@pytest.mark.parametrize(
    ("flag", "side"), [(VehicleLight.LEFT_BLINKER, -1), (VehicleLight.RIGHT_BLINKER, 1)]
)
@pytest.mark.parametrize("yaw", [0.0, math.pi], ids=["back", "front"])
@pytest.mark.parametrize("name", [CAR, "vehicle.volkswagen.t2"])
def test_a_blinker_is_on_its_own_side(world, name, flag, side, yaw):
    columns = np.nonzero(lit_by(world, name, yaw, flag))[1] - 159.5
    assert columns.size > 4
    # Some of its light falls on the middle of the body.
    assert (np.sign(columns) == (side if yaw == 0.0 else -side)).mean() > 0.95


def test_lamps_do_not_change_other_sensors(world):
    for kind in ("depth", "instance_segmentation"):
        dark = picture(world, CAR, 0.5, kind=kind)
        np.testing.assert_array_equal(picture(world, CAR, 0.5, 0xFFFF, kind), dark)


@pytest.mark.parametrize("name", [n for n in NAMES if find(n).value("special_type") == "emergency"])
def test_emergency_vehicles_have_beacons(name):
    for mesh in look_of(name).look.model.levels:
        assert (MATERIAL_LAMP[mesh.material] == Lamp.BEACON).any()


BIKES = [name for name in NAMES if name not in ALIKE]


@pytest.mark.parametrize("name", BIKES)
def test_riders_sit_on_the_seat_and_hold_the_bar(name):
    look = look_of(name).look
    bike, rider = look.model.levels[0], look.rider.levels[0]
    assert [len(mesh.triangles) for mesh in look.rider.levels] == sorted(
        (len(mesh.triangles) for mesh in look.rider.levels), reverse=True
    )
    low, high = rider.points_m.min(axis=0), rider.points_m.max(axis=0)
    assert 1.45 < high[2] < 2.0  # the crown
    assert 0.02 < low[2] < 0.5  # the soles, off the ground
    assert -0.1 < 0.5 * (low[1] + high[1]) < 0.1
    body = body_of(name)
    assert low[0] > body.centre_m[0] - body.half_m[0]
    assert high[0] < body.centre_m[0] + body.half_m[0]
    bars = bike.points_m[np.unique(bike.triangles[bike.part == 5])]
    outer = np.abs(bars[:, 1]) > 0.6 * np.abs(bars[:, 1]).max()
    for side in (-1.0, 1.0):
        grips = bars[outer & (side * bars[:, 1] > 0.0)]
        away = np.linalg.norm(rider.points_m[:, None] - grips[None], axis=2)
        assert away.min() < 0.05


def test_a_rider_is_labelled_and_belongs_to_the_bike(world):
    name = "vehicle.gazelle.omafiets"
    labels = picture(world, name, math.pi / 2.0, kind="instance_segmentation", ahead_m=3.0)
    own = labels[..., 1] + 256 * labels[..., 2] == 300
    assert (labels[own][:, 0] == int(SemanticTag.RIDER)).sum() > 500
    assert (labels[own][:, 0] == 14).sum() > 300  # the label given to the bike
    rider = np.nonzero(own & (labels[..., 0] == int(SemanticTag.RIDER)))[0]
    bike = np.nonzero(own & (labels[..., 0] == 14))[0]
    assert rider.mean() < bike.mean()


def test_handlebars_turn_about_the_steering_axis():
    mesh, parts = posed("vehicle.gazelle.omafiets", ActorMotion(), wheel_angle=0.5)
    wheel = mesh.points_m[np.unique(mesh.triangles[mesh.part == 1])]
    middle = 0.5 * (wheel.min(axis=0) + wheel.max(axis=0))
    moved = parts[1, :, :3] @ middle + parts[1, :, 3]
    np.testing.assert_allclose(moved, middle, atol=0.03)
    ahead = parts[5, :, :3] @ [1.0, 0.0, 0.0]
    assert ahead[1] > 0.35  # to the right
    np.testing.assert_allclose(parts[5, :, :3] @ parts[5, :, :3].T, np.eye(3), atol=1e-12)
    np.testing.assert_array_equal(parts[2], np.eye(3, 4))


def test_pedals_turn_with_the_rear_wheel():
    mesh, parts = posed("vehicle.bh.crossbike", ActorMotion(rolled_m=0.4))
    pedals = mesh.points_m[np.unique(mesh.triangles[mesh.part == 6])]
    middle = np.array([pedals[:, 0].mean(), 0.0, 0.5 * (pedals[:, 2].min() + pedals[:, 2].max())])
    moved = parts[6, :, :3] @ middle + parts[6, :, 3]
    np.testing.assert_allclose(moved, middle, atol=0.02)
    assert parts[6, 0, 2] > 0.2


def test_a_parked_car_of_a_town_fills_its_box():
    item = np.zeros(1, SCENERY)[0]
    item["kind"], item["ex"], item["ey"], item["ez"] = KINDS.index("parked_car"), 2.1, 0.9, 0.8
    for index in range(5):
        look = scenery_look(item, index)
        points = look.model.levels[0].points_m * look.scale
        np.testing.assert_allclose(points.min(axis=0), [-2.1, -0.9, 0.0], atol=1e-9)
        np.testing.assert_allclose(points.max(axis=0), [2.1, 0.9, 1.6], atol=1e-9)
    item["kind"] = KINDS.index("building")
    assert parked_car_look(item, 0) is None


def test_wheels_roll_and_steer_about_their_middles():
    mesh, parts = posed(CAR, ActorMotion(rolled_m=0.0), wheel_angle=0.4)
    for part in (1, 2, 3, 4):
        points = mesh.points_m[np.unique(mesh.triangles[mesh.part == part])]
        middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
        moved = parts[part, :, :3] @ middle + parts[part, :, 3]
        np.testing.assert_allclose(moved, middle, atol=0.02)
        ahead = parts[part, :, :3] @ [1.0, 0.0, 0.0]
        expected = 0.4 if part < 3 else 0.0
        np.testing.assert_allclose(ahead, [math.cos(expected), math.sin(expected), 0.0], atol=1e-9)
    radius = 0.335
    _, parts = posed(CAR, ActorMotion(rolled_m=0.5 * math.pi * radius))
    top = parts[3, :, :3] @ [0.0, 0.0, 1.0]  # a quarter turn forwards
    np.testing.assert_allclose(top, [1.0, 0.0, 0.0], atol=1e-9)
    _, parts = posed(CAR, ActorMotion(wheels_deg={3: 90.0}))
    np.testing.assert_allclose(parts[4, :, :3] @ [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], atol=1e-9)


@pytest.mark.parametrize("name", [n for n in NAMES if find(n).value("has_dynamic_doors") == "true"])
def test_doors_open_to_their_side(name):
    for door, part in enumerate((5, 6)):
        mesh, parts = posed(name, ActorMotion(doors=1 << door))
        still = [k for k in range(9) if k != part]
        np.testing.assert_array_equal(parts[still], np.tile(np.eye(3, 4), (8, 1, 1)))
        points = mesh.points_m[np.unique(mesh.triangles[mesh.part == part])]
        side = -1.0 if door == 0 else 1.0
        assert (side * points[:, 1] > 0.0).all()
        moved = points @ parts[part, :, :3].T + parts[part, :, 3]
        assert (side * moved[:, 1]).max() > (side * points[:, 1]).max() + 0.4
        assert moved[:, 0].min() > points[:, 0].min() + 0.2  # hinged at the front
