"""Adapters into the common tables: small files written here, and what is wrong with bad ones."""

import io
import json
import tarfile

import numpy as np
import polars as pl
import pytest

from jaywalk.core.errors import DataError, PrerequisiteError, UsageError
from jaywalk.datasets.formats import guess_format, open_trajectories
from jaywalk.datasets.trajectories import (
    EGO,
    META,
    TRACKS,
    Trajectories,
    read_trajectories,
    write_trajectories,
)
from jaywalk.datasets.vci import read_vci

HEAD_PED = "id,frame,label,x_est,y_est,vx_est,vy_est"
HEAD_VEH = "id,frame,label,x_est,y_est,psi_est,vel_est"


def walkers(rate_hz, seconds=3.0, ids=(4, 7), metres=1.0):
    """Rows of people who walk at 1.2 m/s along x."""
    frames = np.arange(1, int(seconds * rate_hz))
    return [
        f"{i},{f},ped,{metres * 1.2 * f / rate_hz},{metres * i},1.2,0" for f in frames for i in ids
    ]


def vehicle(rate_hz, seconds=3.0):
    frames = np.arange(1, int(seconds * rate_hz))
    return [f"0,{f},veh,{3 * f / rate_hz},0,{np.pi if f % 2 else -np.pi},3.0" for f in frames]


def write_clip(root, folder, people, cars=None):
    place = root / "data" / "trajectories_filtered" / folder
    place.mkdir(parents=True, exist_ok=True)
    name = "intersection_01"
    (place / f"{name}_traj_ped_filtered.csv").write_text("\n".join([HEAD_PED, *people]))
    if cars is not None:
        (place / f"{name}_traj_veh_filtered.csv").write_text("\n".join([HEAD_VEH, *cars]))
    return root


def test_dut_and_citr_are_told_apart(tmp_path):
    write_clip(tmp_path / "dut", "", walkers(23.98), vehicle(23.98))
    write_clip(tmp_path / "citr", "vci_front", walkers(29.97), vehicle(29.97))
    data = read_vci(tmp_path)
    assert data.tracks.schema == TRACKS
    assert data.ego.schema == EGO
    assert data.meta.schema == META
    assert set(data.tracks["source"]) == {"dut", "citr"}
    dut = data.of_source("dut")
    assert set(dut.tracks["track_id"]) == {"dut/intersection_01/4", "dut/intersection_01/7"}
    assert dut.ego["length"][0] == 4.6
    assert data.of_source("citr").ego["front_overhang"][0] == 1.2


def test_the_grid_is_that_of_the_clip(tmp_path):
    data = read_vci(write_clip(tmp_path, "", walkers(23.98), vehicle(23.98)))
    one = data.tracks.filter(pl.col("track_id").str.ends_with("/4"))
    assert one["k"].to_list() == list(range(1, 30))
    assert one["x"].to_numpy() == pytest.approx(0.12 * one["k"].to_numpy())
    assert one["head_rad"].null_count() == len(one)
    # A yaw that flips between pi and -pi is one direction and not a spin.
    assert np.abs(np.cos(data.ego["yaw"].to_numpy()) + 1.0).max() < 1e-9
    assert data.ego["a"].to_numpy() == pytest.approx(0.0)


def test_an_archive_reads_like_its_folder(tmp_path):
    write_clip(tmp_path / "dut", "", walkers(23.98), vehicle(23.98))
    archive = tmp_path / "both.tar.xz"
    with tarfile.open(archive, "w:xz") as tar:
        tar.add(tmp_path / "dut", "dut")
    assert guess_format(archive) == "vci"
    assert open_trajectories(archive).tracks.equals(read_vci(tmp_path / "dut").tracks)


def test_a_clip_without_people_is_counted(tmp_path):
    write_clip(tmp_path, "", walkers(23.98), vehicle(23.98))
    place = tmp_path / "data" / "trajectories_filtered"
    (place / "roundabout_03_traj_veh_filtered.csv").write_text(
        "\n".join([HEAD_VEH, *vehicle(23.98)])
    )
    assert read_vci(tmp_path).excluded == {"clip without pedestrian file": 1}


def broken(kind):
    rows = walkers(23.98)
    if kind == "unsorted":
        rows[10], rows[14] = rows[14], rows[10]
    elif kind == "doubled":
        rows.insert(10, rows[10])
    elif kind == "nan":
        rows[20] = "4,11,ped,nan,4.0,1.2,0"
    elif kind == "pixels":
        rows = walkers(23.98, metres=40.0)
    elif kind == "rates":
        rows = [r for r in rows if not (r.startswith("7,") and int(r.split(",")[1]) % 2)]
    elif kind == "column":
        rows = ["4,1,ped,left,4.0,1.2,0"]
    elif kind == "empty":
        rows = []
    return rows


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("unsorted", "not in time order"),
        ("doubled", "more than one row"),
        ("nan", "no finite x"),
        ("pixels", "look like pixels"),
        ("rates", "mixed rates"),
        ("column", "expected a table"),
        ("empty", "no rows"),
    ],
)
def test_bad_files_are_named(tmp_path, kind, message):
    write_clip(tmp_path, "", broken(kind))
    with pytest.raises(DataError, match=message) as found:
        read_vci(tmp_path)
    assert "intersection_01_traj_ped" in str(found.value)


def test_a_short_track_is_a_counted_exclusion(tmp_path):
    rows = [*walkers(23.98), "9,1,ped,0,0,0,0", "9,2,ped,0,0,0,0"]
    assert read_vci(write_clip(tmp_path, "", rows)).excluded == {"track shorter than two steps": 1}


def test_eth_ucy_keeps_its_rate(tmp_path):
    file = tmp_path / "zara.txt"
    file.write_text("\n".join(f"{10 * f}.0\t{i}\t{0.5 * f}\t{i}" for i in (1, 2) for f in range(9)))
    data = open_trajectories(file)
    assert data.stride == 4
    assert data.tracks["k"].unique().to_list() == list(range(0, 36, 4))
    assert data.ego.is_empty()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0 1 2.0", "frame id x y"),
        ("0 1 2.0 x", "frame id x y"),
        ("0.5 1 2.0 1.0\n1 1 2 3", "whole numbers"),
        ("0 1 0 0\n10 1 0 1\n20 1 0 2\n25 1 0 3\n35 1 0 4", "mixed rates"),
        ("0 1 0 0\n10 1 0 1\n10 1 0 2", "more than one row"),
        ("0 1 0 0\n10 1 900 1\n20 1 1800 2", "pixels"),
    ],
)
def test_bad_text_is_named(tmp_path, text, message):
    (tmp_path / "bad.txt").write_text(text)
    with pytest.raises(DataError, match=message):
        open_trajectories(tmp_path / "bad.txt")


def av2_rows(track, kind, y, speed):
    return [
        {
            "scenario_id": "s1",
            "track_id": track,
            "object_type": kind,
            "timestep": k,
            "position_x": 0.1 * k * speed,
            "position_y": y,
            "heading": 0.0,
            "velocity_x": speed,
            "velocity_y": 0.0,
            "observed": k < 50,
        }
        for k in range(110)
    ]


def test_argoverse_scenario(tmp_path):
    rows = av2_rows("AV", "vehicle", 0.0, 5.0) + av2_rows("17", "pedestrian", 4.0, 1.0)
    pl.DataFrame(rows + av2_rows("9", "vehicle", 8.0, 20.0)).write_parquet(
        tmp_path / "scenario_s1.parquet"
    )
    data = open_trajectories(tmp_path)
    assert data.tracks["track_id"].unique().to_list() == ["av2/s1/17"]
    assert data.ego["v"].to_numpy() == pytest.approx(5.0)
    assert len(data.ego) == 110
    pl.DataFrame({"scenario_id": ["s"]}).write_parquet(tmp_path / "scenario_s2.parquet")
    with pytest.raises(DataError, match="scenario_s2"):
        open_trajectories(tmp_path)


@pytest.mark.parametrize("snake", [False, True])
def test_waymo_scenario(tmp_path, snake):
    def key(name):
        return "".join(f"_{c.lower()}" if c.isupper() else c for c in name) if snake else name

    def states(speed, y):
        return [
            {
                key("centerX"): 0.1 * k * speed,
                key("centerY"): y,
                key("velocityX"): speed,
                "length": 4.5,
                "width": 2.0,
                "valid": True,
            }
            if k != 5
            else {}
            for k in range(20)
        ]

    scenario = {
        key("scenarioId"): "abc",
        key("timestampsSeconds"): [0.1 * k for k in range(20)],
        key("sdcTrackIndex"): 1,
        "tracks": [
            {"id": 3, key("objectType"): "TYPE_PEDESTRIAN", "states": states(1.3, 5.0)},
            {"id": 8, key("objectType"): "TYPE_VEHICLE", "states": states(6.0, 0.0)},
        ],
    }
    file = tmp_path / "abc.json"
    file.write_text(json.dumps(scenario))
    data = open_trajectories(file)
    assert data.tracks["track_id"].unique().to_list() == ["waymo/abc/3"]
    assert len(data.tracks) == 19  # the one state that is not valid is left out
    assert data.ego["v"].to_numpy() == pytest.approx(6.0)
    assert data.ego["front_overhang"][0] == 2.25
    scenario[key("timestampsSeconds")][7] += 0.05
    file.write_text(json.dumps(scenario))
    with pytest.raises(DataError, match="mixed rates"):
        open_trajectories(file)
    file.write_text("{}")
    with pytest.raises(DataError, match="expected a Waymo scenario"):
        open_trajectories(file)


def test_tables_survive_a_round_trip(tmp_path):
    read = read_vci(write_clip(tmp_path / "dut", "", walkers(23.98), vehicle(23.98)))
    path = np.array([[0.0, 0.0], [5.0, 1.0]])
    slow = pl.col("k") % 4 == 0
    data = Trajectories(
        tracks=read.tracks.filter(slow),
        ego=read.ego.filter(slow),
        meta=read.meta,
        stride=4,
        paths={("dut/intersection_01", "0", 3): path},
    )
    write_trajectories(data, tmp_path / "out")
    again = open_trajectories(tmp_path / "out")
    assert again.tracks.equals(data.tracks)
    assert again.ego.equals(data.ego)
    assert again.stride == 4
    assert again.paths["dut/intersection_01", "0", 3].tolist() == path.tolist()


def test_a_broken_export_is_named(tmp_path):
    read = read_vci(write_clip(tmp_path / "dut", "", walkers(23.98), vehicle(23.98)))
    out = tmp_path / "out"
    write_trajectories(read, out)
    read.tracks.sort("x", descending=True).write_parquet(out / "tracks.parquet")
    with pytest.raises(DataError, match="not in time order"):
        read_trajectories(out)
    read.tracks.drop("x").write_parquet(out / "tracks.parquet")
    with pytest.raises(DataError, match="lacks the columns x"):
        read_trajectories(out)
    (out / "tracks.parquet").write_bytes(b"no parquet at all")
    with pytest.raises(DataError, match="not a readable parquet"):
        read_trajectories(out)


def test_nothing_to_read(tmp_path):
    with pytest.raises(PrerequisiteError, match="does not exist"):
        open_trajectories(tmp_path / "absent")
    with pytest.raises(UsageError, match="Cannot tell the format"):
        open_trajectories(tmp_path)
    with pytest.raises(PrerequisiteError, match="holds no"):
        open_trajectories(tmp_path, "vci")
    archive = tmp_path / "x.tar"
    with tarfile.open(archive, "w") as tar:
        info = tarfile.TarInfo("trajectories_filtered/../../evil_traj_ped_filtered.csv")
        info.size = 1
        tar.addfile(info, io.BytesIO(b"x"))
    with pytest.raises(PrerequisiteError, match="holds no"):
        open_trajectories(archive)


def test_rows_by_time_read_like_rows_by_track(tmp_path):
    read = read_vci(write_clip(tmp_path / "dut", "", walkers(23.98), vehicle(23.98)))
    write_trajectories(read, tmp_path / "out")
    read.tracks.sort("k", "track_id").write_parquet(tmp_path / "out" / "tracks.parquet")
    assert read_trajectories(tmp_path / "out").tracks.equals(read.tracks)


def with_ego(column, value):
    return lambda tracks, ego: (
        tracks,
        ego.with_columns(pl.when(pl.col("k") == 9).then(value).otherwise(column).alias(column)),
    )


BAD_TABLES = {
    "no finite v": with_ego("v", float("nan")),
    "no finite yaw": with_ego("yaw", float("nan")),
    "no finite front_overhang": with_ego("front_overhang", None),
    "look like pixels": lambda t, e: (t.with_columns(pl.col("x", "y") * 30), e),
    "vehicles would move": lambda t, e: (t, e.with_columns(pl.col("x", "y") * 30)),
    "mixed rates": lambda t, e: (
        t.filter(~pl.col("track_id").str.ends_with("/4") | (pl.col("k") % 2 == 0)),
        e,
    ),
    "2 of k apart, expected 1": lambda t, e: (t.filter(pl.col("k") % 2 == 0), e),
    "have no k": lambda t, e: (t.with_columns(k=pl.when(pl.col("k") != 9).then("k")), e),
    "have no scene_id": lambda t, e: (t.with_columns(scene_id=pl.lit(None, dtype=pl.String)), e),
    "no finite body_rad": lambda t, e: (t.with_columns(body_rad=pl.lit(float("nan"))), e),
}


@pytest.mark.parametrize("message", BAD_TABLES)
def test_bad_tables_are_refused(tmp_path, message):
    read = read_vci(write_clip(tmp_path / "dut", "", walkers(23.98), vehicle(23.98)))
    write_trajectories(read, tmp_path / "out")
    tracks, ego = BAD_TABLES[message](read.tracks, read.ego)
    tracks.write_parquet(tmp_path / "out" / "tracks.parquet")
    ego.write_parquet(tmp_path / "out" / "ego.parquet")
    with pytest.raises(DataError, match=message):
        read_trajectories(tmp_path / "out")


def test_a_hole_is_cut_and_not_bridged(tmp_path):
    people = [row for row in walkers(23.98) if not 20 < int(row.split(",")[1]) < 45]
    tracks = read_vci(write_clip(tmp_path, "", people)).tracks
    assert tracks.filter(pl.col("track_id").str.ends_with("/4"))["k"].to_list() == [
        *range(1, 9),
        *range(19, 30),
    ]


@pytest.mark.parametrize(("column", "place"), [(5, "no finite yaw"), (6, "no finite v")])
def test_a_vehicle_without_speed_or_heading_is_named(tmp_path, column, place):
    cars = vehicle(23.98)
    cells = cars[20].split(",")
    cells[column] = "nan"
    cars[20] = ",".join(cells)
    with pytest.raises(DataError, match=f"_traj_veh_.*{place}.*frame 21"):
        read_vci(write_clip(tmp_path, "", walkers(23.98), cars))


def test_frames_between_frames_are_refused(tmp_path):
    people = [row.replace(",ped", ".5,ped") for row in walkers(23.98)]
    with pytest.raises(DataError, match="whole numbers"):
        read_vci(write_clip(tmp_path, "", people))
