"""A moose and a wall on its side have one shape, whoever reads the record."""

import math

import numpy as np
import polars as pl
import pytest
from hand_records_safety import Scene, profile, straight
from shapely import affinity
from shapely.geometry import Point, box

from jaywalk.core.seeds import stream
from jaywalk.forecasting.behaviour.sim_frames import read_frames
from jaywalk.metrics.safety._endangerment import time_to_collision
from jaywalk.metrics.safety._false_braking import judge_braking
from jaywalk.record import _contacts as contacts
from jaywalk.record._touches import ROUND
from jaywalk.record.bodies import body_shapes
from jaywalk.record.tracks import load_tracks, read_tracks
from jaywalk.report._scene import read_scene
from jaywalk.report._series import ego_series
from jaywalk.rollouts.cases import _recorded as record_scene

MOOSE = (1.3, 0.375, 1.0)
BOARD = (2.0, 1.5, 0.15)  # 4 m x 3 m x 0.3 m; rolled by 90 degrees it is a wall 0.3 m thick
CAR = (2.4, 1.0)
EGO, ANIMAL, PERSON, WALL = range(4)


def outline(x, y, yaw_deg, half):
    shape = box(-half[0], -half[1], half[0], half[1])
    return affinity.translate(affinity.rotate(shape, yaw_deg, origin=(0, 0)), x, y)


def add_moose(scene, motion):
    number = scene.add("walker", motion)
    scene.half[number], scene.type_id[number] = MOOSE, "walker.animal.1007"
    return number


def meadow(seconds=2.0):
    scene = Scene(seconds=seconds)
    scene.add("vehicle", straight(0.0, 0.0, 0.0, 8.0))
    add_moose(scene, straight(40.0, 5.0, -60.0, 1.5))
    scene.add("walker", straight(30.0, 9.0, 0.0, 0.0))
    scene.add("prop", straight(60.0, 0.0, 30.0, 0.0))
    scene.half[WALL], scene.roll_deg[WALL] = BOARD, 90.0
    return scene


def of_contacts(record):
    shapes = body_shapes(record.actors.collect(), record.states)
    rows = contacts._describe_bodies(shapes).shapes
    return {k: (*row[:2], bool(row[ROUND])) for k, row in enumerate(rows)}


def of_metrics(record):
    return {k: (hx, hy, bool(r)) for k, (hx, hy, r) in enumerate(load_tracks(record).shape)}


def of_the_page(record):
    return {body.actor: (*body.half_m, body.is_round) for body in read_scene(record).bodies}


def of_behaviour(record):
    actors = read_frames(record).actors
    return {k: (a["half_x_m"], a["half_y_m"], a["is_round"]) for k, a in actors.items()}


def of_realism(record):
    tracks = read_tracks(record, only=pl.col("kind") != "prop", tick=np.arange(0, 41, 2))
    near, steps = np.arange(len(tracks.number)), slice(0, 1)
    boxes = record_scene._boxes(tracks, near, steps, tracks.present[:, steps])
    sizes = zip(boxes["length_m"][:, 0] / 2, boxes["width_m"][:, 0] / 2, strict=True)
    return {int(k): (*size, k == PERSON) for k, size in zip(tracks.number, sizes, strict=True)}


@pytest.mark.parametrize("reader", [of_contacts, of_metrics, of_the_page, of_behaviour, of_realism])
def test_every_reader_gives_the_same_shape(tmp_path, reader):
    found = reader(meadow().write(tmp_path / "episode"))
    expected = {
        EGO: (*CAR, False),
        ANIMAL: (*MOOSE[:2], False),
        PERSON: (0.2, 0.2, True),
        WALL: (2.0, 0.15, False),
    }
    assert found.keys() >= {EGO, ANIMAL, PERSON}
    for number, shape in found.items():
        assert shape[:2] == pytest.approx(expected[number][:2], abs=1e-6), number
        assert shape[2] == expected[number][2], number


def test_the_distance_is_that_of_polygons(tmp_path):
    record = meadow().write(tmp_path / "episode")
    series = ego_series(read_scene(record))
    tracks = load_tracks(record)
    least = []
    for ego, moose, person in zip(*tracks.pose[[EGO, ANIMAL, PERSON]], strict=True):
        mine = outline(ego[0], ego[1], 0.0, CAR)
        animal = outline(moose[0], moose[1], -60.0, MOOSE)
        least.append(min(mine.distance(animal), mine.distance(Point(person[:2])) - 0.2))
    assert series.person_m == pytest.approx(least, abs=1e-3)


@pytest.mark.parametrize("seed", range(6))
def test_the_time_to_collision_is_that_of_polygons(tmp_path, seed):
    random = stream(seed, "moose")
    x, y = float(random.uniform(25.0, 45.0)), float(random.uniform(-1.0, 1.0))
    yaw, speed = float(random.uniform(-180.0, 180.0)), float(random.uniform(0.0, 0.3))
    scene = Scene(seconds=1.0)
    scene.add("vehicle", straight(0.0, 0.0, 0.0, 8.0))
    add_moose(scene, straight(x, y, yaw, speed))
    found = time_to_collision(load_tracks(scene.write(tmp_path / "episode"))).ttc_s[0]
    ux, uy = math.cos(math.radians(yaw)), math.sin(math.radians(yaw))

    def touch(after):
        moose = outline(x + speed * after * ux, y + speed * after * uy, yaw, MOOSE)
        return outline(8.0 * after, 0.0, 0.0, CAR).intersects(moose)

    first = next(t for t in np.arange(0.0, 10.0, 0.002) if touch(t))
    assert found == pytest.approx(first, abs=0.004)


def test_a_tipped_wall_is_as_thin_for_the_time_to_collision(tmp_path):
    scene = Scene(seconds=1.0)
    scene.add("vehicle", straight(0.0, 0.0, 0.0, 8.0))
    scene.add("prop", straight(30.0, 0.0, 90.0, 0.0))
    scene.half[1], scene.roll_deg[1] = BOARD, 90.0
    found = time_to_collision(load_tracks(scene.write(tmp_path / "episode"))).ttc_s[0]
    assert found == pytest.approx((30.0 - 0.15 - 2.4) / 8.0, abs=2e-3)


@pytest.mark.parametrize(("y", "came"), [(2.4, False), (1.4, True)])
def test_a_moose_beside_the_road_is_not_on_it(tmp_path, y, came):
    """It faces along the road: its flank is 0.375 m from its middle, not 1.3 m."""
    knots = ((0.0, 10.0), (4.0, 10.0), (6.0, 4.0), (8.0, 4.0), (11.0, 10.0), (99.0, 10.0))
    scene = Scene(seconds=14.0)
    scene.add("vehicle", profile(0.0, 0.0, 0.0, knots))
    add_moose(scene, straight(60.0, y, 0.0, 0.0))
    record = scene.write(tmp_path / "episode")
    (one,) = judge_braking(record, load_tracks(record)).judged
    assert (one.person_came, one.is_false) == (came, not came)
