"""Stop and yield signs as cameras see them."""

import math
import struct

import numpy as np
import pytest
from sensor_payloads import payload

from jaywalk.core.carla_enums import SemanticTag
from jaywalk.geometry.geodesy import GeoReference
from jaywalk.server.sensors._rig import make_sensor
from jaywalk.server.sensors._scene import SceneBuilder
from jaywalk.server.session._world_view import pictures_of, sign_patterns
from jaywalk.server.world.sign_faces import face_numbers, sign_pictures
from jaywalk.town.scenery_rules import PLATES
from jaywalk.town.scenery_styles import Shape, rows

SIZE = {"image_size_x": "240", "image_size_y": "240", "fov": "12"}


def sign(world, kind: str):
    """A post and its plate at (8, 0), as towns have them, to be read by who drives along x."""
    foot = np.array([[8.0, 0.0, 0.0]])
    post = rows("sign_post", Shape.CYLINDER, foot, (0.05, 0.05, 1.3), 0.0, (132, 134, 136))
    plate = rows(
        "sign_post",
        Shape.BOX,
        foot + np.array([0.0, 0.0, 2.0]),
        (0.35, 0.02, 0.35),
        0.5 * math.pi,
        PLATES[kind],
        solid=False,
    )
    plate["label"] = SemanticTag.TRAFFIC_SIGN
    world.scenery = np.concatenate([post, plate])


def shoot(world, x=0.0, yaw=0.0):
    eye = world.sensor(x, 0.0, 2.35, yaw=yaw)
    patterns = sign_patterns(world.scenery)
    builder = SceneBuilder(world.scenery, world.ground, world.raster, GeoReference(0, 0), patterns)
    scene = builder.build(
        world.actors, world.rows, world.labels, world.colors, pictures=pictures_of(frozenset())
    )
    data = payload(make_sensor("sensor.camera.rgb", SIZE, 1, 0), scene, eye, 1, 0.05, 0.05)
    width, height, _ = struct.unpack("<IIf", data[48:60])
    return np.frombuffer(data[60:], np.uint8).reshape(height, width, 4)[..., 2::-1].astype(int)


def red(image):
    return (image[..., 0] > 90) & (image[..., 1:].max(axis=2) < 60)


def test_a_stop_sign_is_a_red_octagon_with_its_word_readable(world):
    sign(world, "206")
    image = shoot(world)
    face = sign_pictures()[0]
    shown = red(image)
    top, left = np.nonzero(shown.any(axis=1))[0][0], np.nonzero(shown.any(axis=0))[0][0]
    bottom, right = np.nonzero(shown.any(axis=1))[0][-1], np.nonzero(shown.any(axis=0))[0][-1]
    assert right - left == pytest.approx(bottom - top, abs=2)
    # The same pixels of the drawing are red, in the same places: not mirrored, not upside down.
    inked = np.nonzero(red(face[..., :3].astype(int)))
    y0, y1, x0, x1 = inked[0].min(), inked[0].max(), inked[1].min(), inked[1].max()
    v = np.linspace(y0, y1, bottom - top + 1).round().astype(int)
    u = np.linspace(x0, x1, right - left + 1).round().astype(int)
    wanted = red(face[..., :3].astype(int))[np.ix_(v, u)]
    seen = shown[top : bottom + 1, left : right + 1]
    assert (wanted == seen).mean() > 0.95
    assert (wanted[:, ::-1] == seen).mean() < 0.95


def test_the_back_of_a_sign_is_grey(world):
    sign(world, "206")
    image = shoot(world, 16.0, math.pi)
    assert not red(image).any()
    middle = image[120, 150]  # beside the post
    assert np.ptp(middle) < 12


def test_a_yield_sign_stands_on_its_point(world):
    sign(world, "205")
    shown = red(shoot(world))
    widths = [np.ptp(np.nonzero(line)[0]) for line in shown if line.any()]
    assert widths[2] > 4 * widths[-3]


def test_only_stop_and_yield_plates_have_faces(world):
    sign(world, "274")
    assert face_numbers(world.scenery).tolist() == [-1, -1]
    sign(world, "206")
    assert face_numbers(world.scenery).tolist() == [-1, 0]
