import pytest
from behaviour_files import jaad_files, write_folder

from jaywalk.core.errors import DataError, UsageError
from jaywalk.datasets._jaad import load_jaad
from jaywalk.datasets.behaviour_detect import check_datasets, detect_datasets
from jaywalk.datasets.behaviour_tables import BOX_SCHEMA, PEDESTRIAN_SCHEMA


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_folder(tmp_path_factory.mktemp("data") / "JAAD", jaad_files())


@pytest.fixture(scope="module")
def data(folder):
    return load_jaad(folder)


def test_tables_have_their_schema(data):
    assert data.pedestrians.schema == PEDESTRIAN_SCHEMA
    assert data.boxes.schema == BOX_SCHEMA
    assert data.splits == {
        "train": ("video_0001",),
        "val": ("video_0002",),
        "test": ("video_0003",),
    }
    assert data.videos.row(2, named=True) == {
        "video": "video_0003",
        "width_px": 1920,
        "height_px": 1080,
        "n_frames": 200,
        "time_of_day": "daytime",
        "weather": "rain",
        "location": "street",
        "road_type": "street",
    }


def test_people_are_sorted_and_typed(data):
    test = data.pedestrians.filter(data.pedestrians["video"] == "video_0003")
    assert test["pedestrian_id"].to_list() == ["0_3_1b", "0_3_2b", "0_3_3", "0_3_4p", "0_3_5b"]
    assert test["kind"].to_list() == ["behaviour", "behaviour", "bystander", "group", "behaviour"]
    assert test["crossing"].to_list() == [1, 1, None, None, 0]
    assert test["crossing_point"].to_list() == [110, None, None, None, None]
    assert test["missing_crossing_point"].to_list() == [False, True, False, False, False]
    assert test["n_gaps"].to_list() == [0, 0, 1, 0, 0]
    assert test["n_boxes"].to_list() == [120, 100, 110, 120, 40]


def test_tracks_keep_boxes_and_tags(data):
    tracks = data.tracks()
    mover = tracks["0_3_1b"]
    assert mover.frames.tolist() == list(range(120))
    assert mover.corners_px[3].tolist() == [130.0, 500.0, 170.0, 600.0]
    assert mover.cross.tolist() == [0] * 110 + [1] * 10
    assert set(tracks["0_3_3"].cross.tolist()) == {-128}
    assert len(tracks) == 7


def test_scene_and_ego(data, folder):
    scene = data.scene.filter(data.scene["video"] == "video_0003")
    assert scene["ped_crossing"].sum() == 180
    assert scene["light"].unique().to_list() == [1]
    assert data.ego["action"].value_counts().height == 2
    light = load_jaad(folder, splits=("test",), with_scene=False)
    assert light.scene.is_empty()
    assert light.ego.is_empty()
    assert light.videos["video"].to_list() == ["video_0003"]


def test_defects_are_told(data):
    found = {defect.code: defect for defect in data.defects}
    assert {code: defect.count for code, defect in found.items()} == {
        "missing_crossing_point": 1,
        "track_with_gaps": 1,
        "bystander": 3,
        "attributes_without_track": 1,
        "crossing_at_first_box": 1,
    }
    assert found["attributes_without_track"].examples == ("video_0003:0_3_9b",)
    assert found["missing_crossing_point"].examples == ("video_0003:0_3_2b",)


def test_check_says_what_is_missing(folder):
    assert detect_datasets(folder) == ["jaad"]
    (check,) = check_datasets(folder)
    assert check.ok
    codes = {defect.code for defect in check.defects}
    assert {"incomplete_videos", "incomplete_pedestrians"} <= codes
    assert check.counts["boxes"] == 120 + 100 + 110 + 120 + 40 + 60 + 60


def test_bad_boxes_are_found(tmp_path):
    files = jaad_files()
    name = "annotations/video_0003.xml"
    files[name] = files[name].replace('xbr="140.0"', 'xbr="90.0"', 2)
    codes = {d.code: d for d in load_jaad(write_folder(tmp_path, files)).defects}
    assert codes["empty_box"].count == 2
    assert codes["empty_box"].examples[0] == "video_0003:0_3_2b@0"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: f.pop("split_ids/default/val.txt"), r"no split_ids/default/val\.txt"),
        (lambda f: f.pop("annotations/video_0003.xml"), r"annotations/video_0003\.xml"),
        (lambda f: f.update({"split_ids/default/val.txt": "../../x"}), "expected names such as"),
        (
            lambda f: f.update(
                {
                    "annotations_attributes/video_0003_attributes.xml": (
                        '<a><pedestrian id="0_3_1b" crossing="maybe"/></a>'
                    )
                }
            ),
            "crossing is 'maybe'",
        ),
    ],
)
def test_what_cannot_be_read_names_the_place(tmp_path, change, message):
    files = jaad_files()
    change(files)
    with pytest.raises(DataError, match=message):
        load_jaad(write_folder(tmp_path, files))


def test_unknown_subset(folder):
    with pytest.raises(UsageError, match="expected one of default"):
        load_jaad(folder, subset="beh")
