import json

import numpy as np
import polars as pl
import pytest
from street_episode import PERSON, PERSON_X_M, ego_x, person_y, write_street

from jaywalk.core.errors import DataError, PrerequisiteError
from jaywalk.datasets.behaviour_tables import write_tables
from jaywalk.forecasting.behaviour.sampling import draw_samples, load_dataset
from jaywalk.forecasting.behaviour.sim_export import crossing_frames, export_runs, split_routes
from jaywalk.forecasting.behaviour.sim_frames import DashCamera, covered_share, ego_words
from jaywalk.forecasting.behaviour.tasks import find_task


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    root = tmp_path_factory.mktemp("runs")
    for k in range(4):
        write_street(root / "run", f"e{k}", scenario=f"route-{k}")
    return root / "run"


@pytest.fixture(scope="module")
def data(runs):
    return export_runs([runs])


def test_boxes_are_those_of_a_pinhole(data):
    boxes = data.boxes.filter(pl.col("pedestrian_id") == f"run/e0/{PERSON}-0")
    camera = DashCamera()
    for row in (boxes.row(10, named=True), boxes.row(boxes.height - 20, named=True)):
        tick = row["frame"] / 30.0 / 0.05
        depth = PERSON_X_M - ego_x(tick) - camera.forward_m
        aside = person_y(tick) - 1.75
        centre = 960.0 + 960.0 * aside / depth  # 90 degrees: the focal length is half the width
        assert (row["xtl_px"] + row["xbr_px"]) / 2 == pytest.approx(centre, abs=1.5)
        assert row["ybr_px"] - row["ytl_px"] == pytest.approx(960.0 * 1.8 / depth, abs=1.5)


def test_the_step_onto_the_road_is_the_event(data):
    person = data.pedestrians.row(0, named=True)
    assert person["crossing"] == 1
    # The lane's edge is at y = 3.5 m, reached after 4 s.
    assert person["crossing_point"] == pytest.approx(120, abs=3)
    samples = draw_samples(data, find_task("action", "sim"), "all")
    assert (samples["label"] == 1).all()
    assert samples["tte_frames"].min() >= 30
    ego = data.ego.filter(pl.col("video") == "run/e0")
    assert ego["obd_speed_kmh"][5] == pytest.approx(36.0)
    assert ego["action"][5] == "moving_fast"


def test_routes_are_split_whole_and_survive_the_disk(data, tmp_path):
    assert sorted(v for part in data.splits.values() for v in part) == [
        f"run/e{k}" for k in range(4)
    ]
    routes = {f"{run}/{k}": f"r{k}" for run in "ab" for k in range(10)}
    for part in split_routes(routes).values():
        assert {v[2:] for v in part if v[0] == "a"} == {v[2:] for v in part if v[0] == "b"}
    write_tables(data, tmp_path / "x", {"runs": ["run"]})
    again = load_dataset("sim", tmp_path / "x")
    assert again.boxes.equals(data.boxes)
    assert again.splits == data.splits


def test_broken_exports_are_told(data, tmp_path):
    with pytest.raises(PrerequisiteError, match="behaviour export"):
        load_dataset("sim", tmp_path)
    write_tables(data, tmp_path, {})
    (tmp_path / "boxes.parquet").write_bytes(b"no")
    with pytest.raises(DataError, match=r"boxes.parquet.*Export the run again"):
        load_dataset("sim", tmp_path)
    about = json.loads((tmp_path / "behaviour.json").read_text())
    (tmp_path / "behaviour.json").write_text(json.dumps(about | {"format": "x"}))
    with pytest.raises(DataError, match="of the form x"):
        load_dataset("sim", tmp_path)
    with pytest.raises(PrerequisiteError, match="holds no record"):
        export_runs([tmp_path])


def test_a_glance_at_the_kerb_is_no_crossing():
    on_road = np.array([0, 1, 1, 0, 1, 1, 1, 1, 0], bool)
    place = np.stack([np.arange(9) * 0.9, np.zeros(9)], axis=1)
    assert crossing_frames(on_road, place).tolist() == [False] * 4 + [True] * 4 + [False]


def test_what_is_nearer_covers():
    boxes, other = np.array([[0.0, 0, 10, 10]] * 2), np.array([[5.0, 0, 20, 10]] * 2)
    share = covered_share(boxes, np.array([5.0, 5.0]), other, np.array([3.0, 8.0]))
    assert share.tolist() == [0.5, 0.0]


def test_words_for_the_cars_motion():
    speed = np.concatenate(
        [np.zeros(60), np.linspace(0, 10, 90), np.full(60, 10.0), np.linspace(10, 0, 60)]
    )
    words = ego_words(speed)
    assert words[10] == "stopped"
    assert words[100] == "accelerating"
    assert words[180] == "moving_fast"
    assert words[240] == "decelerating"
