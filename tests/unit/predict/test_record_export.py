"""A dataset from a record: a straight street, an ego and a person who steps out before it."""

import numpy as np
import polars as pl
import pytest
from street_episode import EGO, LANE_Y_M, PERSON, PERSON_X_M, SPEED_MPS, START_X_M, write_street

from jaywalk.core.errors import DataError, PrerequisiteError
from jaywalk.datasets.semantic_map import CLASSES
from jaywalk.datasets.trajectories import read_trajectories, write_trajectories
from jaywalk.predict.record_export import export_records
from jaywalk.predict.town_map import class_at
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
    assert exported.tracks["head_rad"].is_null().all()
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
