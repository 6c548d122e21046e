"""Pictures on props as cameras see them: upright, readable, cut out, in perspective."""

import math
import struct

import numpy as np
import pytest
from sensor_payloads import payload

from jaywalk.server.encoding._sensor_frames import bgra_to_depth
from jaywalk.server.sensors._rig import make_sensor
from jaywalk.server.sensors._scene import without_rows
from jaywalk.server.sensors._solids import CUT_OUT, PICTURE, no_pictures, pack_pictures, pattern_of
from jaywalk.server.sensors._weather import Sky
from jaywalk.server.session._world_view import pictures_of
from jaywalk.server.world._tables import Kind
from jaywalk.server.world.sign_faces import sign_pictures
from jaywalk.server.world.textures import TEXTURED, texture

SIZE = {"image_size_x": "200", "image_size_y": "150", "fov": "90"}
FOCAL_PX, HEIGHT_M = 100.0, 2.0
RED, GREEN, BLUE, WHITE = (200, 0, 0), (0, 200, 0), (0, 0, 200), (200, 200, 200)
RGB, DEPTH = "sensor.camera.rgb", "sensor.camera.depth"
LABELS, INSTANCES = "sensor.camera.semantic_segmentation", "sensor.camera.instance_segmentation"


def quarters(hole: bool = False) -> np.ndarray:
    """Red and green above, blue and white below; with a hole: no white."""
    picture = np.full((64, 64, 4), 255, np.uint8)
    picture[:32, :32, :3], picture[:32, 32:, :3] = RED, GREEN
    picture[32:, :32, :3], picture[32:, 32:, :3] = BLUE, WHITE
    if hole:
        picture[32:, 32:] = 0
    return picture


def plate(world, x=10.0, y=0.0, turn=0.0, half=(2.0, 1.5, 0.05)):
    """A plate that stands as the scenarios put it: yaw + 90 of who drives along x, roll 90."""
    return world.add(
        Kind.PROP, x, y, HEIGHT_M, 0.5 * math.pi + turn, half, label=21, roll=0.5 * math.pi
    )


def shown(world, picture) -> dict:
    patterns = np.where(world.actors["kind"] == Kind.PROP, pattern_of(picture, 0), 0)
    return {"pattern_by_row": patterns.astype(np.uint8), "pictures": pack_pictures([picture])}


def shoot(scene, type_id, row, size=SIZE) -> np.ndarray:
    data = payload(make_sensor(type_id, size, 1, 0), scene, row, 1, 0.05, 0.05)
    width, height, _ = struct.unpack("<IIf", data[48:60])
    return np.frombuffer(data[60:], np.uint8).reshape(height, width, 4)


def hue(pixel) -> tuple[int, int, int]:
    """Which of the four colours a shaded BGRA pixel was."""
    rgb = pixel[2::-1].astype(float)
    return tuple(200 if value > 0.5 * rgb.max() else 0 for value in rgb)


@pytest.mark.parametrize(("x", "yaw"), [(0.0, 0.0), (20.0, math.pi)], ids=["front", "back"])
def test_a_wall_is_upright_and_readable_from_both_sides(world, x, yaw):
    plate(world)
    eye = world.sensor(x, 0.0, HEIGHT_M, yaw=yaw)
    image = shoot(world.scene(**shown(world, quarters())), RGB, eye)
    corners = [[hue(image[75 + v, 100 + u]) for u in (-9, 9)] for v in (-7, 7)]
    assert corners == [[RED, GREEN], [BLUE, WHITE]]


def test_the_narrow_sides_of_a_wall_have_its_plain_colour(world):
    plate(world, half=(2.0, 1.5, 1.0))
    eye = world.sensor(10.0, -8.0, HEIGHT_M, yaw=0.5 * math.pi)
    options = shown(world, quarters())
    with_picture = shoot(world.scene(**options), RGB, eye)
    np.testing.assert_array_equal(with_picture, shoot(world.scene(), RGB, eye))


def test_the_middle_of_an_oblique_wall_is_where_perspective_puts_it(world):
    plate(world, x=10.0, turn=1.0, half=(6.0, 1.0, 0.05))
    eye = world.sensor(0.0, 0.0, HEIGHT_M)
    image = shoot(world.scene(**shown(world, quarters())), RGB, eye)
    row = [hue(pixel) for pixel in image[73]]  # just above the middle
    wall = [u for u in range(200) if row[u] in (RED, GREEN)]
    border = max(u for u in wall if row[u] == RED) + 1
    toward = np.array([-math.sin(1.0), math.cos(1.0)])  # along the wall, to the right
    front = np.array([10.0, 0.0]) - 0.05 * np.array([math.cos(1.0), math.sin(1.0)])
    expected = [
        100.0 + FOCAL_PX * point[1] / point[0]
        for point in (front - 6.0 * toward, front, front + 6.0 * toward)
    ]
    assert border == pytest.approx(expected[1], abs=1.0)
    assert abs(0.5 * (expected[0] + expected[2]) - expected[1]) > 8.0  # a flat mapping would fail


def test_a_hole_shows_what_is_behind_in_every_camera(world):
    thing = plate(world, half=(2.0, 1.5, 0.005))
    world.car(25.0, 2.0)
    eye = world.sensor(0.0, 0.0, HEIGHT_M)
    scene = world.scene(**shown(world, quarters(hole=True)))
    ids, depth = shoot(scene, INSTANCES, eye), bgra_to_depth(shoot(scene, DEPTH, eye))
    ink = ids[..., 1] == (300 + thing) & 0xFF
    # Three quarters of 40 x 30 pixels.
    assert ink.sum() == pytest.approx(900, abs=50)
    assert ink[75 - 10, 100 + 15]
    assert not ink[75 + 10, 100 + 15]
    np.testing.assert_allclose(depth[ink], 9.995, atol=1e-3)
    behind = world.scene()
    behind = without_rows(behind, [thing])
    for kind in (RGB, DEPTH, LABELS, INSTANCES):
        with_plate, without = shoot(scene, kind, eye), shoot(behind, kind, eye)
        np.testing.assert_array_equal(with_plate[~ink], without[~ink])
    assert (shoot(scene, LABELS, eye)[~ink][:, 2] == 14).any()  # the car, through the hole


def test_the_back_of_a_cut_out_is_its_mirror_image_without_ink(world):
    plate(world, half=(2.0, 1.5, 0.005))
    eye = world.sensor(20.0, 0.0, HEIGHT_M, yaw=math.pi)
    scene = world.scene(**shown(world, quarters(hole=True)))
    labels = shoot(scene, LABELS, eye)[..., 2]
    corners = [[labels[75 + v, 100 + u] == 21 for u in (-9, 9)] for v in (-7, 7)]
    assert corners == [[True, True], [False, True]]
    pixel = shoot(scene, RGB, eye)[75 - 7, 100 + 9]
    assert np.ptp(pixel[:3].astype(int)) <= 24  # grey, in the light of a blue sky


def test_a_thing_before_a_cut_out_hides_it(world):
    plate(world, half=(2.0, 1.5, 0.005))
    world.box(5.0, 0.0, HEIGHT_M, (0.1, 3.0, 3.0))
    eye = world.sensor(0.0, 0.0, HEIGHT_M)
    labels = shoot(world.scene(**shown(world, quarters(hole=True))), LABELS, eye)
    assert not (labels[..., 2] == 21).any()


def test_far_away_fine_stripes_become_their_mean(world):
    stripes = np.full((256, 256, 4), 255, np.uint8)
    stripes[:, ::2, :3], stripes[:, 1::2, :3] = 0, 200
    plate(world, x=40.0)
    eye = world.sensor(0.0, 0.0, HEIGHT_M)
    image = shoot(world.scene(**shown(world, stripes)), RGB, eye)[75, 97:103, 1].astype(int)
    solid = np.full((4, 4, 4), 255, np.uint8)
    solid[..., :3] = 100
    plain = shoot(world.scene(**shown(world, solid)), RGB, eye)[75, 97:103, 1].astype(int)
    np.testing.assert_allclose(image, plain, atol=3)


def test_a_picture_is_shaded_like_other_surfaces(world):
    plate(world)
    eye = world.sensor(0.0, 0.0, HEIGHT_M)
    grey = np.full((8, 8, 4), 255, np.uint8)
    grey[..., :3] = 120  # what the fixture's things are painted in
    for sky in (Sky(), Sky(180.0, 20.0), Sky(0.0, -60.0), Sky(0.0, 45.0, 0.0, 60.0)):
        pictured = shoot(world.scene(sky=sky, **shown(world, grey)), RGB, eye)
        plain = shoot(world.scene(sky=sky), RGB, eye)
        assert np.abs(pictured.astype(int) - plain).max() <= 1  # paint is a little glossier


def test_which_props_are_cut_out():
    cut = {name for name in TEXTURED if pattern_of(texture(name), 0) >= CUT_OUT}
    assert set(TEXTURED) - cut == {"autobahn", "brickwall", "screenshot1", "screenshot2"}
    assert PICTURE + len(TEXTURED) <= CUT_OUT
    packed = pictures_of(frozenset(TEXTURED))
    assert len(packed.table) == len(TEXTURED) + len(sign_pictures())
    rows, columns = packed.table[:, :, 1], packed.table[:, :, 2]
    assert (np.diff(packed.table[:, :, 0].ravel()) == (rows * columns).ravel()[:-1]).all()
    assert len(no_pictures().texels) == 0


def test_the_running_child_keeps_its_shape(world):
    name = "walkingkidlarge"
    thing = plate(world, x=3.0, half=(0.591, 1.0, 0.005))
    eye = world.sensor(0.0, 0.0, HEIGHT_M)
    options = {
        "pattern_by_row": np.zeros(16, np.uint8),
        "pictures": pictures_of(frozenset({name})),
    }
    options["pattern_by_row"][thing] = pattern_of(texture(name), TEXTURED.index(name))
    size = {"image_size_x": "800", "image_size_y": "800", "fov": "90"}
    labels = shoot(world.scene(**options), LABELS, eye, size)[..., 2] == 21
    distance_m = 3.0 - 0.005
    half_u, half_v = (400.0 * half / distance_m for half in (0.591, 1.0))
    mask = texture(name)[..., 3] > 0
    rows, columns = mask.shape
    agree = total = 0
    for v in range(int(400 - half_v) + 2, int(400 + half_v) - 2, 3):
        for u in range(int(400 - half_u) + 2, int(400 + half_u) - 2, 3):
            i = int((v + 0.5 - 400 + half_v) / (2 * half_v) * rows)
            j = int((u + 0.5 - 400 + half_u) / (2 * half_u) * columns)
            agree += labels[v, u] == mask[i, j]
            total += 1
    assert agree / total > 0.98
    assert labels.sum() / (4 * half_u * half_v) == pytest.approx(mask.mean(), abs=0.02)
