"""A dataset from a record: a straight street, an ego and a person who steps out before it."""

import numpy as np
import polars as pl
import pytest
from street_episode import EGO, LANE_Y_M, PERSON, PERSON_X_M, SPEED_MPS, START_X_M, write_street
from synthetic_motion import still

from jaywalk.core.errors import DataError, PrerequisiteError, UsageError
from jaywalk.datasets.semantic_map import CLASSES
from jaywalk.datasets.trajectories import read_trajectories, write_trajectories
from jaywalk.forecasting._record_sight import looks_at
from jaywalk.forecasting.context import class_at
from jaywalk.forecasting.record_export import export_records
from jaywalk.motion.library.building import DEFAULT_POLICIES, on_rigs
from jaywalk.motion.library.reading import library_digest
from jaywalk.motion.library.writing import LibraryWriter
from jaywalk.record import open as open_record


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    write_street(folder, "0001")
    return folder


@pytest.fixture(scope="module")
def exported(run):
    return export_records([run])


def test_people_and_ego_at_ten_hertz_in_our_frame(run, exported):
    record = open_record(run / "episodes" / "0001")
    times = dict(record.ticks.select("tick", "time_s").collect().iter_rows())
    states = record.states.collect()
    person = {
        round(10 * times[tick]): (x, -y)
        for tick, x, y in states.filter(pl.col("actor") == PERSON)
        .select("tick", "x_m", "y_m")
        .iter_rows()
        if abs(10 * times[tick] - round(10 * times[tick])) < 1e-6
    }
    assert exported.tracks["k"].diff().drop_nulls().unique().to_list() == [1]
    for k, x, y in exported.tracks.select("k", "x", "y").iter_rows():
        assert (x, y) == pytest.approx(person[k])
    assert exported.tracks["x"][0] == pytest.approx(PERSON_X_M)
    assert set(exported.tracks["source"]) == {"sim"}
    for label in ("head_rad", "body_rad", "looks_at_ego"):  # nobody was posed
        assert exported.tracks[label].is_null().all()
    assert not exported.tracks["occluded"].any()
    assert exported.tracks["occluded"].null_count() == 0
    ego = exported.ego
    assert ego["y"].to_numpy() == pytest.approx(-LANE_Y_M)
    assert ego["v"][5] == pytest.approx(SPEED_MPS)
    # The reference point is the rear axle; with the overhang it reaches the front bumper.
    actor = record.actors.filter(pl.col("actor") == EGO).collect().row(0, named=True)
    front = START_X_M + actor["half_x_m"] + (actor["offset_x_m"] or 0.0)
    assert ego["x"][0] + ego["front_overhang"][0] == pytest.approx(front)


def test_map_and_meta(exported):
    (name,) = exported.maps
    ground = exported.maps[name]
    points = np.array([[60.0, 1.0], [60.0, -1.0], [60.0, 4.5], [60.0, -4.5], [60.0, 9.0]])
    found = [CLASSES[number] for number in class_at(ground, points)]
    assert found == ["road", "road", "sidewalk", "sidewalk", "lawn"]
    assert class_at(ground, np.array([[1e4, 0.0]]))[0] == 0
    row = exported.meta.row(0, named=True)
    assert row["n"] == len(exported.tracks)
    assert row["split"] == "train"
    assert row["min_distance"] < 5.0
    assert row["stratum"].endswith(name)


def test_what_was_exported_comes_back_and_range_counts(run, exported, tmp_path):
    write_trajectories(exported, tmp_path)
    again = read_trajectories(tmp_path)
    assert again.tracks.equals(exported.tracks)
    assert again.meta.equals(exported.meta)
    near = export_records([run], range_m=20.0)
    assert 0 < len(near.tracks) < len(exported.tracks)
    with pytest.raises(DataError, match=r"no record has people within 0\.1 m"):
        export_records([run], range_m=0.1)
    with pytest.raises(PrerequisiteError, match="holds no record"):
        export_records([tmp_path / "empty"])
    with pytest.raises(DataError, match="two runs give the scene"):
        export_records([run, run])


LEFT_RAD = 0.7


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """People who stand and hold their head to the left, or straight."""
    folder = tmp_path_factory.mktemp("motions") / "looking"
    with LibraryWriter(folder, DEFAULT_POLICIES, {}) as writer:
        for name, turn in (("left", LEFT_RAD), ("ahead", 0.0)):
            motion = still(name=name, frames=21, head=[0.0, turn, 0.0])
            writer.add(motion, on_rigs(motion, DEFAULT_POLICIES))
    return folder


def test_heads_and_bodies_of_posed_people(library, tmp_path):
    told = {"motions": f"looking sha256:{library_digest(library)[:16]}"}
    write_street(tmp_path, "0001", clip="left", parameters=told)
    write_street(tmp_path, "0002", clip="ahead", parameters=told)
    tracks = export_records([tmp_path], motions=[library]).tracks
    left, ahead = tracks.partition_by("scene_id")
    # The person crosses from right to left: north in our frame. Left of that is further round.
    for rows, head in ((left, np.pi / 2 + LEFT_RAD), (ahead, np.pi / 2)):
        assert rows["body_rad"].to_numpy() == pytest.approx(np.pi / 2, abs=0.01)
        assert rows["head_rad"].to_numpy() == pytest.approx(head, abs=0.01)
    # The ego comes from the west, on the person's left: at first 86 degrees left of the body, at
    # 4.7 s its front bumper 41 degrees, which is where the turned head points.
    straight, turned = (rows.filter(pl.col("k") == 47) for rows in (ahead, left))
    assert straight["looks_at_ego"].to_list() == [False]
    assert turned["looks_at_ego"].to_list() == [True]
    assert not left["looks_at_ego"][0]
    unknown = export_records([tmp_path])
    assert unknown.tracks["head_rad"].is_null().all()
    (why,) = unknown.excluded
    assert "--motions" in why
    assert unknown.excluded[why] == 2


def test_a_library_nobody_was_posed_by_is_refused(run, library):
    with pytest.raises(UsageError, match="no person in these records was posed by"):
        export_records([run], motions=[library])


def test_a_van_hides_people_and_a_car_does_not(tmp_path):
    for name, height in (("van", 2.4), ("car", 1.4)):
        write_street(tmp_path, name, parked_m=(54.0, 4.5, height))
    car, van = export_records([tmp_path]).tracks.partition_by("scene_id")
    assert not car["occluded"].any()
    # The van covers x 51.6 to 56.4 and y -3.5 to -5.5; the person waits at y = -5 until 3 s.
    hidden = van["occluded"].to_numpy()
    assert hidden[:30].all()
    assert not hidden[van["k"].to_numpy() > 60].any()


def test_looking_at_a_vehicle_is_looking_at_any_part_of_it():
    head = np.deg2rad([0.0, 29.0, 31.0, 180.0, 90.0, -150.0, np.nan])
    place = np.zeros((7, 2))
    rear, front = np.tile([10.0, 0.0], (7, 1)), np.tile([15.0, 0.0], (7, 1))
    assert looks_at(head, place, rear, front).tolist() == [True, True, False, *[False] * 4]
    rear[4], front[4] = (-3.0, 1.0), (3.0, 1.0)  # close by, right before the face
    rear[5], front[5] = (-3.0, 1.0), (3.0, 1.0)  # close by, behind the back
    seen = looks_at(head, place, rear, front).tolist()
    assert seen[4:6] == [True, False]
