import polars as pl
import pytest
from behaviour_files import jaad_files, pie_files, write_folder, write_zip

from jaywalk.core.errors import PrerequisiteError, UsageError
from jaywalk.datasets._jaad import load_jaad
from jaywalk.datasets._pie import load_pie
from jaywalk.forecasting.behaviour._targets import event_starts, intention_starts, tte_frames
from jaywalk.forecasting.behaviour.sampling import (
    SAMPLE_SCHEMA,
    count_samples,
    draw_samples,
    is_pinned,
    samples_digest,
    strict_exclusions,
    strict_samples,
    task_samples,
)
from jaywalk.forecasting.behaviour.tasks import TASKS, find_task


@pytest.fixture(scope="module")
def jaad(tmp_path_factory):
    return load_jaad(write_folder(tmp_path_factory.mktemp("jaad"), jaad_files()))


@pytest.fixture(scope="module")
def pie(tmp_path_factory):
    return load_pie(write_folder(tmp_path_factory.mktemp("pie"), pie_files()))


@pytest.mark.parametrize("event", range(30, 200))
def test_windows_before_an_event(event):
    starts = list(event_starts(event))
    if event < 44:
        assert starts == []
        return
    times = [tte_frames(event, start) for start in starts]
    assert all(30 <= time <= 90 for time in times)
    assert starts[0] == max(0, event - 104)
    assert len(starts) == (min(event, 104) - 44) // 10 + 1
    assert times[-1] < 40


def test_windows_of_the_judged_clip():
    assert list(intention_starts(0, 14)) == []
    assert list(intention_starts(3, 18)) == [3, 13]


def test_action_samples(jaad):
    samples = draw_samples(jaad, find_task("action", "jaad"))
    assert samples.schema == SAMPLE_SCHEMA
    per_person = samples.group_by("pedestrian_id", maintain_order=True).len()
    # The group is left out, the short track too; the gap counts as if it were not there.
    assert per_person.rows() == [("0_3_1b", 7), ("0_3_2b", 6), ("0_3_3", 7)]
    first = samples.filter(pl.col("pedestrian_id") == "0_3_1b")
    assert first["start_index"].to_list() == [6, 16, 26, 36, 46, 56, 66]
    assert first["tte_frames"].to_list() == [90, 80, 70, 60, 50, 40, 30]
    assert first["true_tte_frames"].to_list() == [90, 80, 70, 60, 50, 40, 30]
    assert first["sample_id"][0] == "0_3_1b@6"
    assert first["last_frame"][0] == 20
    assert samples["label"].to_list() == [1] * 13 + [0] * 7


def test_defects_are_fields(jaad):
    samples = draw_samples(jaad, find_task("action", "jaad"))
    marks = samples.group_by("pedestrian_id", maintain_order=True).agg(
        pl.col("bystander").all(),
        pl.col("event_inferred").all(),
        pl.col("already_crossing").sum(),
        pl.col("has_gap").sum(),
    )
    assert marks.rows() == [
        ("0_3_1b", False, False, 0, 0),
        ("0_3_2b", False, True, 6, 0),
        ("0_3_3", True, True, 0, 6),
    ]
    untagged = samples.filter(pl.col("pedestrian_id") == "0_3_3")
    assert untagged["already_crossing"].null_count() == 7


def test_an_absent_crossing_point_is_the_third_last_box(jaad):
    samples = draw_samples(jaad, find_task("action", "jaad"))
    own = samples.filter(pl.col("pedestrian_id") == "0_3_2b")
    # 100 boxes, event at index 97, so that the last window starts at 53 or before.
    assert own["start_index"].to_list() == [0, 10, 20, 30, 40, 50]
    assert own["tte_frames"].to_list() == [83, 73, 63, 53, 43, 33]


def test_risk_labels(jaad):
    task = find_task("risk", "jaad")
    samples = draw_samples(jaad, task)
    own = samples.filter(pl.col("pedestrian_id") == "0_3_1b")
    # Centre 120 + 10 i px, stripes of 160; box i + 104, or 119, the last one.
    expected = [(120 + 10 * min(start + 104, 119)) // 160 for start in own["start_index"]]
    assert own["label"].to_list() == expected
    assert own["horizon_reached"].to_list() == [True] + [False] * 6
    other = samples.filter(pl.col("pedestrian_id") == "0_3_3")
    assert other["label"].unique().to_list() == [11]
    strict = strict_samples(samples, task)
    assert strict["sample_id"].to_list() == ["0_3_1b@6"]
    assert strict_exclusions(samples, task) == {"horizon_not_reached": 13, "gap": 6}


def test_strict_action(jaad):
    task = find_task("action", "jaad")
    samples = draw_samples(jaad, task)
    strict = strict_samples(samples, task)
    assert strict["pedestrian_id"].unique(maintain_order=True).to_list() == ["0_3_1b", "0_3_3"]
    assert strict_exclusions(samples, task) == {"already_crossing": 6, "gap": 6}
    assert strict["sample_id"].is_in(samples["sample_id"]).all()
    assert task_samples(jaad, find_task("action", "jaad", strict=True), "test").equals(strict)


def test_an_unknown_time_is_taken_from_the_tags(tmp_path):
    files = jaad_files()
    name = "annotations_attributes/video_0003_attributes.xml"
    files[name] = files[name].replace('crossing_point="110"', 'crossing_point="-1"')
    data = load_jaad(write_folder(tmp_path, files))
    task = find_task("action", "jaad")
    samples = draw_samples(data, task).filter(pl.col("pedestrian_id") == "0_3_1b")
    assert samples["tte_frames"].to_list() == [90, 80, 70, 60, 50, 40, 30]
    strict = strict_samples(samples, task)
    # The event is the step at frame 110, not the third-last box 117.
    assert strict["tte_frames"].to_list() == [83, 73, 63, 53, 43, 33]
    assert strict_exclusions(samples, task) == {"event_out_of_range": 1}


def test_intention_with_and_without_boxes(pie, tmp_path):
    task = find_task("intention", "pie")
    samples = draw_samples(pie, task)
    # 3_1_9 has a gap of ten boxes between the two points, which loses a sample.
    per_person = samples.group_by("pedestrian_id", maintain_order=True).len()
    assert per_person.rows() == [("3_1_10", 6), ("3_1_9", 5)]
    assert samples["label"].to_list() == [1] * 6 + [0] * 5
    assert samples["action_label"].to_list() == [1] * 6 + [0] * 5
    alone = {k: v for k, v in pie_files().items() if k.startswith("annotations_attributes/")}
    blind = draw_samples(load_pie(write_zip(tmp_path / "a.zip", alone)), task)
    assert blind.group_by("pedestrian_id", maintain_order=True).len().rows() == [
        ("3_1_10", 6),
        ("3_1_9", 6),
    ]
    assert blind["sample_id"].to_list()[:2] == ["3_1_10@10", "3_1_10@20"]
    assert blind["past_critical"].to_list() == [False] * 4 + [True] * 2 + [False] * 4 + [True] * 2
    assert strict_exclusions(blind, task) == {"past_critical_point": 4}
    with pytest.raises(PrerequisiteError, match=r"annotations\.zip"):
        draw_samples(load_pie(tmp_path / "a.zip"), find_task("action", "pie"))


@pytest.mark.parametrize(("probability", "label"), [(0.0, 0), (0.34, 1), (0.6666666667, 2), (1, 2)])
def test_intention_classes(tmp_path, probability, label):
    name = "annotations_attributes/set03/video_0001_attributes.xml"
    text = pie_files()[name].replace('"0.5"', f'"{probability}"')
    data = load_pie(write_zip(tmp_path / "a.zip", {name: text}))
    samples = draw_samples(data, find_task("intention", "pie"))
    own = samples.filter(pl.col("pedestrian_id") == "3_1_10")
    assert own["label"].unique().to_list() == [label]


def test_pie_action(pie):
    samples = draw_samples(pie, find_task("action", "pie"))
    assert samples.group_by("pedestrian_id", maintain_order=True).len().rows() == [
        ("3_1_10", 7),
        ("3_1_9", 7),
    ]
    assert not samples["event_inferred"].any()


def test_counts(jaad):
    table = count_samples(jaad, find_task("action", "jaad"))
    assert table.rows() == [
        ("not_crossing", 2, 2, 7, 3),
        ("crossing", 0, 0, 13, 2),
        ("total", 2, 2, 20, 5),
    ]


def test_digest_tells_lists_apart(jaad):
    task = find_task("action", "jaad")
    samples = draw_samples(jaad, task)
    assert samples_digest(samples) == samples_digest(samples.clone())
    assert samples_digest(samples) != samples_digest(samples[:-1])
    assert is_pinned(task, "test", samples) is False
    assert is_pinned(find_task("intention", "pie"), "test", samples) is None


def test_tasks_have_versions():
    assert find_task("risk", "jaad", strict=True).task_id == "jaad/risk-strict-v1"
    assert len({task.task_id for task in TASKS.values()}) == len(TASKS)
    with pytest.raises(UsageError, match="no human estimates"):
        find_task("intention", "jaad")
    with pytest.raises(UsageError, match="expected one of"):
        find_task("gait", "jaad")
