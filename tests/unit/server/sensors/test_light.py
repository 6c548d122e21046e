"""Light and shadow in colour pictures: the sun, lamps, wet ground, and the camera's exposure."""

import hashlib
import math
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import carla
import numpy as np
import pytest
from sensor_payloads import payload

from jaywalk.server.sensors._bands import bands
from jaywalk.server.sensors._lamplight import (
    COLUMNS,
    LIGHT,
    REACH,
    shown_bits,
    signal_lamps,
    street_lamps,
)
from jaywalk.server.sensors._readings import SensorPose
from jaywalk.server.sensors._rig import make_sensor
from jaywalk.server.sensors._rows import new_row
from jaywalk.server.sensors._shading import rgb_picture
from jaywalk.server.sensors._shadows import sun_row
from jaywalk.server.sensors._visibility import GROUND
from jaywalk.server.sensors._weather import Sky
from jaywalk.server.world._tables import Kind

SIZE = {"image_size_x": "320", "image_size_y": "200"}
EYE = SensorPose(0.0, 0.0, 1.5, 0.0, 0.0, 0.0)
NOON = Sky(sun_altitude_deg=50.0, sun_azimuth_deg=35.0)
CLOUDY = Sky(sun_altitude_deg=50.0, cloudiness=100.0)
NIGHT = Sky(sun_altitude_deg=-40.0)
FLAGS = carla.VehicleLightState


def shoot(scene, pose=EYE, **attributes):
    """Colours (rows, columns, RGB) from a place."""
    sensor = make_sensor("sensor.camera.rgb", {**SIZE, **attributes}, 1, 0)
    view = sensor.view(pose)
    return sensor.picture(scene, view, sensor.see(scene, pose, view))[..., 2::-1].astype(int)


def pixel_of(x, y, z):
    """Row and column of a place in a picture from ``EYE``."""
    return round(100.0 - 160.0 * (z - 1.5) / x - 0.5), round(160.0 + 160.0 * y / x - 0.5)


def sun_shares(scene, places, sky, eye=(0.0, 0.0, 1.5)):
    """Share of the sun that the maps give to places on the ground."""
    altitude, azimuth = math.radians(sky.sun_altitude_deg), math.radians(sky.sun_azimuth_deg)
    sun = (
        math.cos(altitude) * math.cos(azimuth),
        math.cos(altitude) * math.sin(azimuth),
        math.sin(altitude),
    )
    maps = scene.shadows.maps(scene.solids, scene.meshes, scene.static, sun, eye, scene.shared)
    row = new_row(len(places))
    row.x[:], row.y[:], row.z[:] = places.T
    row.nz[:], row.sun[:] = 1.0, 1.0
    sun_row(maps, sun, np.full(len(places), GROUND, np.int32), row)
    return row.sun.copy(), np.array(sun)


def is_shaded(boxes, balls, places, sun):
    """Exact shadows: the ray to the sun meets a box (centre, half, yaw) or a ball."""
    shaded = np.zeros(len(places), bool)
    for centre, half, yaw in boxes:
        turn = np.array(
            [[math.cos(yaw), math.sin(yaw), 0], [-math.sin(yaw), math.cos(yaw), 0], [0, 0, 1]]
        )
        start, step = (places - centre) @ turn.T, turn @ sun
        a, b = (-half - start) / step, (half - start) / step
        near, far = np.minimum(a, b).max(axis=1), np.maximum(a, b).min(axis=1)
        shaded |= (near <= far) & (far > 0)
    for centre, radius in balls:
        gap = centre - places
        along = gap @ sun
        shaded |= (along > 0) & ((gap**2).sum(axis=1) - along**2 < radius**2)
    return shaded


@pytest.mark.parametrize("altitude_deg", [62.0, 24.0])
def test_shadows_are_those_of_exact_rays(world, altitude_deg):
    """Ground points more than a few cells away from the edge of a shadow; actors cast too."""
    generator = np.random.default_rng(4)
    boxes, balls = [], []
    for number in range(24):
        x, y = generator.uniform(-40.0, 40.0, 2)
        half, yaw = generator.uniform(0.4, 2.5, 3), generator.uniform(0.0, 3.0)
        if number % 3 == 0:
            world.shape(2, x, y, 4.0 + half[2], half[0])
            balls.append((np.array([x, y, 4.0 + half[2]]), half[0]))
        else:
            world.box(x, y, half[2], half, yaw)
            boxes.append((np.array([x, y, half[2]]), half, yaw))
    world.add(Kind.PROP, 6.0, 3.0, 0.0, 0.7, (1.0, 0.6, 0.9), 0.9, label=20)
    boxes.append((np.array([6.0, 3.0, 0.9]), np.array([1.0, 0.6, 0.9]), 0.7))
    sky = Sky(sun_altitude_deg=altitude_deg, sun_azimuth_deg=110.0)
    places = np.zeros((20_000, 3))
    places[:, :2] = generator.uniform(-42.0, 42.0, (20_000, 2))
    places[:2000, :2] = generator.uniform((2.0, -1.0), (10.0, 7.0), (2000, 2))
    shares, sun = sun_shares(world.scene(), places, sky)
    edge = 4.0 * 0.0625  # shadows are soft over three cells
    around = [(edge * dx, edge * dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1)]
    moved = [places + np.array([dx, dy, 0.03]) for dx, dy in around]
    shaded = np.stack([is_shaded(boxes, balls, spots, sun) for spots in moved])
    all_shaded, all_lit = shaded.all(axis=0), ~shaded.any(axis=0)
    assert all_shaded.sum() > 400
    assert (shares[all_shaded] == 0.0).mean() > 0.99  # narrow gaps between shadows
    assert (shares[all_lit] == 1.0).mean() > 0.999
    assert all_shaded[:2000].sum() > 30  # of the actor


def test_a_wall_shades_the_ground_behind_it_and_not_itself(world):
    """The sun stands behind the camera; the side of the wall that faces it stays bright."""
    world.box(12.0, 0.0, 2.0, (0.3, 3.0, 2.0), label=20)
    sky = Sky(sun_altitude_deg=40.0, sun_azimuth_deg=180.0)
    picture = shoot(world.scene(sky=sky))
    wall = picture[60:110, 140:180].mean(axis=2)
    assert wall.min() > 100.0
    assert np.ptp(wall) < 40.0  # no speckles of shadow
    shares, _ = sun_shares(world.scene(), np.array([[13.5, 0.0, 0.0], [11.0, 0.0, 0.0]]), sky)
    np.testing.assert_array_equal(shares, [0.0, 1.0])


def test_ground_under_and_beside_things_is_dark_on_cloudy_days(world):
    """A car darkens the ground at its side within half a metre."""
    at = pixel_of(7.7, -1.0, 0.0)
    far = pixel_of(10.0, -3.4, 0.0)
    empty = shoot(world.scene(sky=CLOUDY))
    world.car(10.0, 0.0)
    shown = shoot(world.scene(sky=CLOUDY))
    assert shown[at].mean() < 0.92 * empty[at].mean()
    assert abs(shown[far].mean() - empty[far].mean()) < 2.0


def test_headlamps_light_the_road_at_night_and_not_by_day(world):
    car = world.car(-2.5, 0.0)
    dark, day = shoot(world.scene(sky=NIGHT)), shoot(world.scene(sky=NOON))
    world.actors[car]["light_flags"] = int(FLAGS.LowBeam)
    at = pixel_of(12.0, 0.0, 0.0)
    assert shoot(world.scene(sky=NIGHT))[at].mean() > dark[at].mean() + 12.0
    np.testing.assert_array_equal(shoot(world.scene(sky=NOON)), day)


def test_street_lamps_light_a_circle_in_their_colour(world):
    lamps = street_lamps(np.array([[12.0, 3.0, 6.0]]), np.array([[1.0, 0.2, 0.2]]))
    dark = shoot(world.scene(sky=NIGHT))
    lit = shoot(world.scene(sky=NIGHT, lamps=lambda: lamps))
    near, far = pixel_of(12.0, 3.0, 0.0), pixel_of(60.0, 0.0, 0.0)
    assert lit[near].mean() > dark[near].mean() + 15.0
    assert lit[near][0] > 1.3 * lit[near][2]
    assert abs(lit[far].mean() - dark[far].mean()) < 3.0


@pytest.mark.parametrize(("state", "channel"), [(0, 0), (2, 1)], ids=["red", "green"])
def test_traffic_lights_light_the_road_before_them_in_their_colour(world, state, channel):
    """The head faces the right of its actor: here towards the camera, then away from it."""
    place = np.array([[12.0, 0.0, 3.0, 0.5 * math.pi, state]])
    dark = shoot(world.scene(sky=NIGHT))
    at = pixel_of(9.0, 0.0, 0.0)
    lit = shoot(world.scene(sky=NIGHT, lamps=lambda: signal_lamps(place)))
    gain = lit[at] - dark[at]
    assert gain[channel] > 8
    assert gain[channel] == gain.max()
    place[0, 3] = -0.5 * math.pi
    away = shoot(world.scene(sky=NIGHT, lamps=lambda: signal_lamps(place)))
    np.testing.assert_array_equal(away[at], dark[at])


def test_blinkers_and_blue_lights_go_on_and_off():
    left, blue = int(FLAGS.LeftBlinker), int(FLAGS.Special1) | int(FLAGS.Special2)
    flags = np.array([left | int(FLAGS.Brake), blue], np.uint32)
    shown = [shown_bits(flags, 0.05 * tick) for tick in range(40)]
    assert {int(each[0]) for each in shown} == {left | int(FLAGS.Brake), int(FLAGS.Brake)}
    assert {int(each[1]) for each in shown} == {int(FLAGS.Special1), int(FLAGS.Special2)}
    on = sum(bool(each[0] & left) for each in shown)
    assert 14 <= on <= 26  # about half of the time


def test_lamps_far_away_change_nothing(world):
    lamps = np.zeros((1, COLUMNS))
    lamps[0, :3], lamps[0, REACH], lamps[0, LIGHT] = (900.0, 900.0, 5.0), 20.0, 9.0
    lamps[0, 6] = -1.0
    dark = shoot(world.scene(sky=NIGHT))
    np.testing.assert_array_equal(shoot(world.scene(sky=NIGHT, lamps=lambda: lamps)), dark)


def test_rain_makes_the_road_shine_and_streaks_fall(world):
    rain = Sky(sun_altitude_deg=40.0, cloudiness=90.0, precipitation=90.0, wetness=90.0)
    first = shoot(world.scene(sky=rain))
    again = shoot(world.scene(sky=rain))
    later = shoot(world.scene(sky=rain._replace(time_s=0.05)))
    np.testing.assert_array_equal(first, again)
    changed = (first != later).any(axis=2).mean()
    assert 0.001 < changed < 0.3


@pytest.mark.parametrize(
    ("attributes", "brighter"),
    [
        ({"exposure_compensation": "1.0"}, True),
        ({"exposure_compensation": "-1.0"}, False),
        ({"gamma": "3.0"}, True),
        ({"exposure_mode": "manual", "iso": "400"}, True),
        ({"exposure_mode": "manual", "fstop": "5.6"}, False),
        ({"exposure_mode": "manual", "shutter_speed": "800"}, False),
        ({"lens_circle_multiplier": "3.0"}, False),
    ],
)
def test_exposure_follows_its_attributes(world, attributes, brighter):
    scene = world.scene(sky=NOON)
    manual = {"exposure_mode": "manual"} if "exposure_mode" in attributes else {}
    usual, changed = shoot(scene, **manual).mean(), shoot(scene, **attributes).mean()
    assert changed > 1.05 * usual if brighter else changed < 0.95 * usual


def test_white_balance_and_contrast_follow_their_attributes(world):
    scene = world.scene(sky=NOON)
    usual, warm = shoot(scene), shoot(scene, temp="9000")
    assert warm[..., 0].mean() > usual[..., 0].mean()
    assert warm[..., 2].mean() < usual[..., 2].mean()
    assert shoot(scene, tint="1.0")[..., 1].mean() < usual[..., 1].mean()
    assert shoot(scene, slope="1.4").std() > usual.std()


def test_bloom_and_effects_are_attributes(world):
    world.car(12.0, 0.0, math.pi, light_flags=int(FLAGS.LowBeam))
    scene = world.scene(sky=NIGHT)
    strong, none = shoot(scene, bloom_intensity="2.0"), shoot(scene, bloom_intensity="0.0")
    assert strong.sum() > 1.01 * none.sum()
    plain = shoot(scene, enable_postprocess_effects="false")
    assert plain.mean() < none.mean()  # no exposure for the night


def busy_scene(world):
    """A street with houses, cars with lamps on, people and a traffic light, at dusk."""
    for number in range(12):
        world.box(5.0 * number, 12.0, 4.0, (2.2, 2.0, 4.0), label=3)
        world.scenery[-1]["kind"] = 0
    for number in range(6):
        world.car(6.0 + 7.0 * number, -2.0, light_flags=int(FLAGS.LowBeam))
        world.person(5.0 + 6.0 * number, 3.0)
    dusk = Sky(sun_altitude_deg=1.0, sun_azimuth_deg=60.0, cloudiness=30.0, wetness=60.0)
    lamps = street_lamps(np.array([[12.0, 3.0, 6.0], [40.0, 3.0, 6.0]]), np.ones((2, 3)))
    return world.scene(sky=dusk, lamps=lambda: lamps)


def test_pictures_do_not_depend_on_the_number_of_threads(world):
    scene = busy_scene(world)
    sensor = make_sensor("sensor.camera.rgb", SIZE, 1, 0)
    view = sensor.view(EYE)
    seen = sensor.see(scene, EYE, view)
    one = rgb_picture(scene, view, seen, threads=1)
    for threads in (2, 3):
        np.testing.assert_array_equal(rgb_picture(scene, view, seen, threads=threads), one)


def test_bands_cover_a_picture_once():
    for height in (1, 15, 200, 600, 1080):
        for threads in (1, 2, 3, 8):
            parts = bands(height, threads)
            assert parts[0][0] == 0
            assert parts[-1][1] == height
            assert all(a[1] == b[0] for a, b in pairwise(parts))


def test_other_cameras_change_nothing(world):
    scene = busy_scene(world)
    alone = shoot(scene)
    fresh = busy_scene_again(world)
    shoot(fresh, SensorPose(300.0, 200.0, 1.5, 0.0, 1.0, 0.0))
    shoot(fresh, SensorPose(9.0, 2.0, 3.5, 0.0, 1.0, 0.0))
    np.testing.assert_array_equal(shoot(fresh), alone)


def busy_scene_again(world):
    """The same world in a scene of its own."""
    world.scenery, world.rows = world.scenery[:0], 0
    return busy_scene(world)


_DIGEST = """
import hashlib, sys
sys.path[:0] = {paths!r}
from conftest import World
import test_light as t
print(hashlib.sha256(t.shoot(t.busy_scene(World())).tobytes()).hexdigest())
"""


def test_pictures_are_the_same_in_another_process(world):
    here = hashlib.sha256(shoot(busy_scene(world)).tobytes()).hexdigest()
    folder = Path(__file__).parent
    paths = [str(folder), *(path for path in sys.path if path)]
    told = subprocess.run(
        [sys.executable, "-c", _DIGEST.format(paths=paths)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout.split()[-1] == here


def test_lamps_do_not_change_depth_or_labels(world):
    sensor = world.sensor(0.0, 0.0, 1.5)
    car = world.car(12.0, 0.0, math.pi)
    kinds = [f"sensor.camera.{name}" for name in ("depth", "semantic_segmentation")]
    shots = []
    for flags in (0, int(FLAGS.LowBeam | FLAGS.HighBeam)):
        world.actors[car]["light_flags"] = flags
        scene = world.scene(sky=NIGHT)
        cameras = [make_sensor(kind, SIZE, 1, 0) for kind in kinds]
        shots.append([payload(camera, scene, sensor, 1, 0.05, 0.05) for camera in cameras])
    assert shots[0] == shots[1]
