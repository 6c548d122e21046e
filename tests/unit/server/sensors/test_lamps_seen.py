"""Lamps of vehicles as cameras see them; other sensors see the same body whatever is on."""

import math
import struct

import carla
import numpy as np
import pytest
from sensor_payloads import payload

from jaywalk.server.sensors._rig import make_sensor
from jaywalk.server.sensors._weather import Sky
from jaywalk.server.world._tables import Kind

SIZE = {"image_size_x": "320", "image_size_y": "240", "fov": "40"}
NIGHT = Sky(sun_altitude_deg=-60.0)
FLAGS = carla.VehicleLightState
CAR_AT_M = 12.0


def look(world, kind="sensor.camera.rgb"):
    """The picture from the origin along x, at night: (rows, columns, RGB)."""
    eye = world.sensor(0.0, 0.0, 1.0)
    data = payload(make_sensor(kind, SIZE, 1, 0), world.scene(sky=NIGHT), eye, 1, 0.05, 0.05)
    width, height, _ = struct.unpack("<IIf", data[48:60])
    return np.frombuffer(data[60:], np.uint8).reshape(height, width, 4)[..., 2::-1].astype(int)


def bright(image, channel: int):
    """Columns with pixels that shine in one channel above all, from -1 (left) to 1."""
    others = np.delete(image, channel, axis=2).max(axis=2)
    found = (image[..., channel] > 200) & (others < 120)
    return 2.0 * np.nonzero(found)[1] / image.shape[1] - 1.0


@pytest.mark.parametrize("half", [(2.4, 0.92, 0.74), (4.0, 1.3, 1.7)], ids=["car", "truck"])
def test_brake_lamps_shine_at_night_on_both_sides(world, half):
    world.add(
        Kind.VEHICLE, CAR_AT_M, 0.0, 0.0, 0.0, half, half[2], label=14, light_flags=int(FLAGS.Brake)
    )
    places = bright(look(world), 0)
    assert (places < 0).sum() == pytest.approx((places > 0).sum(), abs=8)
    assert (places > 0).sum() > 10
    world.actors[0]["light_flags"] = 0
    assert bright(look(world), 0).size == 0


def test_brake_lamps_are_not_seen_from_the_front(world):
    world.car(CAR_AT_M, 0.0, math.pi, light_flags=int(FLAGS.Brake))
    assert bright(look(world), 0).size == 0


@pytest.mark.parametrize(("flag", "side"), [(FLAGS.LeftBlinker, -1), (FLAGS.RightBlinker, 1)])
@pytest.mark.parametrize("yaw", [0.0, math.pi], ids=["back", "front"])
def test_a_blinker_is_on_its_own_side(world, flag, side, yaw):
    world.car(CAR_AT_M, 0.0, yaw)
    dark = look(world)
    world.actors[0]["light_flags"] = int(flag)
    # The lamp itself: its light on the ground reaches farther.
    changed = np.nonzero(np.abs(look(world) - dark).sum(axis=2) > 200)[1] - 160
    assert changed.size > 10
    seen_on = side if yaw == 0.0 else -side
    assert (np.sign(changed) == seen_on).all()


def test_blue_lights_shine_along_the_roof(world):
    world.car(CAR_AT_M, 0.0, light_flags=int(FLAGS.Special1) | int(FLAGS.Special2))
    assert bright(look(world), 2).size > 30


def test_headlamps_and_reverse_lamps_are_white(world):
    world.car(CAR_AT_M, 0.0, math.pi, light_flags=int(FLAGS.LowBeam))
    assert (look(world).min(axis=2) > 220).sum() > 10
    world.actors[0]["yaw"], world.actors[0]["light_flags"] = 0.0, int(FLAGS.Reverse)
    assert (look(world).min(axis=2) > 220).sum() > 10


def test_only_colour_pictures_change_with_the_lamps(world):
    world.car(CAR_AT_M, 0.0)
    kinds = [f"sensor.camera.{name}" for name in ("depth", "instance_segmentation")]
    dark = [look(world, kind) for kind in kinds]
    world.actors[0]["light_flags"] = int(FLAGS.All)
    for kind, before in zip(kinds, dark, strict=True):
        np.testing.assert_array_equal(look(world, kind), before)
