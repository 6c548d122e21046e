import pytest
from behaviour_files import pie_files, write_folder, write_zip

from jaywalk.core.errors import DataError
from jaywalk.datasets._pie import load_pie
from jaywalk.datasets.behaviour_detect import check_datasets


def parts(folder):
    return {k: v for k, v in pie_files().items() if k.startswith(folder + "/")}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    # As the authors ship it: one zip per part, side by side.
    folder = tmp_path_factory.mktemp("PIE")
    for name in ("annotations", "annotations_attributes", "annotations_vehicle"):
        write_zip(folder / f"{name}.zip", parts(name))
    return load_pie(folder)


def test_people_are_sorted_as_strings(data):
    assert data.pedestrians["pedestrian_id"].to_list() == ["3_1_10", "3_1_9"]
    assert data.pedestrians["intention_prob"].to_list() == [0.5, 0.1]
    assert data.pedestrians["n_boxes"].to_list() == [120, 110]
    assert data.pedestrians["n_gaps"].to_list() == [0, 1]
    assert data.splits == {"train": (), "val": (), "test": ("set03/video_0001",)}
    assert data.tracks()["3_1_9"].frames.tolist() == [*range(30), *range(40, 120)]
    assert data.boxes["cross"].unique().to_list() == [-1]


def test_scene_is_derived_from_drawn_objects(data):
    assert data.scene["frame"].to_list() == list(range(120))
    assert data.scene["light"].unique().to_list() == [1]
    assert data.scene.filter(data.scene["ped_sign"])["frame"].to_list() == [5]
    assert data.scene.filter(data.scene["ped_crossing"])["frame"].to_list() == [7]


def test_sensors(data):
    assert data.ego.height == 120
    assert data.ego["obd_speed_kmh"].mean() == 12.5
    assert data.ego["gyro_z"][0] == 0.5


def test_attributes_alone_are_enough(tmp_path):
    alone = load_pie(write_zip(tmp_path / "a.zip", parts("annotations_attributes")))
    assert alone.pedestrians.height == 2
    assert alone.boxes.is_empty()
    assert alone.pedestrians["n_gaps"].null_count() == 2
    codes = {defect.code: defect.count for defect in alone.defects}
    assert codes == {"videos_without_boxes": 1, "videos_without_sensors": 1}
    (check,) = check_datasets(tmp_path)
    assert check.dataset == "pie"


def test_errors(tmp_path):
    with pytest.raises(DataError, match="annotations_attributes"):
        load_pie(write_zip(tmp_path / "a.zip", parts("annotations")))
    name = "annotations_attributes/set03/video_0001_attributes.xml"
    wrong = parts("annotations_attributes")
    wrong[name] = wrong[name].replace('"0.5"', '"1.5"')
    with pytest.raises(DataError, match=r"3_1_10 is 1\.5"):
        load_pie(write_folder(tmp_path / "b", wrong))
    with pytest.raises(DataError, match="neither JAAD"):
        check_datasets(write_folder(tmp_path / "c", {"x/y.txt": ""}))
