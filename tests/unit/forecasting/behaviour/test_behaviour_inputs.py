from dataclasses import fields, replace

import numpy as np
import polars as pl
import pytest
from behaviour_people import people_data

from jaywalk.core.errors import PrerequisiteError
from jaywalk.forecasting.behaviour._inputs import Inputs, read_inputs
from jaywalk.forecasting.behaviour._targets import read_examples
from jaywalk.forecasting.behaviour.models._trees import tabular
from jaywalk.forecasting.behaviour.sampling import draw_samples
from jaywalk.forecasting.behaviour.tasks import find_task

TASK = find_task("risk", "sim")


@pytest.fixture(scope="module")
def data():
    return people_data(videos=(1, 1, 1))


def same(a, b):
    return all(np.array_equal(getattr(a, f.name), getattr(b, f.name)) for f in fields(Inputs))


def test_inputs_show_the_window_and_nothing_else(data):
    samples = draw_samples(data, TASK, "test")
    inputs = read_inputs(data, samples, "action")
    track = data.tracks()[samples["pedestrian_id"][3]]
    start = samples["start_index"][3]
    assert inputs.boxes[3] == pytest.approx(track.corners_px[start : start + 15], abs=1e-3)
    assert inputs.ego[..., 1].all()  # moving slowly
    assert inputs.scene[3, :, 0].tolist() == [float(f > 20) for f in range(start, start + 15)]
    # Tags, and whatever comes later, must not matter.
    untagged = data.boxes.with_columns(
        walking=pl.lit(None, pl.Int8), looking=pl.lit(None, pl.Int8), cross=pl.lit(None, pl.Int8)
    )
    assert same(inputs, read_inputs(replace(data, boxes=untagged), samples, "action"))
    last = int(samples["last_frame"].max())
    later = data.boxes.with_columns(
        xtl_px=pl.when(pl.col("frame") > last).then(0.0).otherwise("xtl_px")
    )
    assert same(inputs, read_inputs(replace(data, boxes=later), samples, "action"))
    people = data.pedestrians.with_columns(kind=pl.lit("bystander"), age=pl.lit("child"))
    assert same(inputs, read_inputs(replace(data, pedestrians=people), samples, "action"))


def test_neighbours_are_the_nearest_others(data):
    samples = draw_samples(data, TASK, "test")
    inputs = read_inputs(data, samples, "action")
    row = samples.row(0, named=True)
    boxes = data.boxes.filter(
        (pl.col("video") == row["video"]) & (pl.col("frame") == row["last_frame"])
    )
    centre = (boxes["xtl_px"] + boxes["xbr_px"]) / 2
    me = centre.filter(boxes["pedestrian_id"] == row["pedestrian_id"])[0]
    away = sorted(
        abs(x - me) for x in centre.filter(boxes["pedestrian_id"] != row["pedestrian_id"])
    )
    there = inputs.neighbours[0][inputs.neighbours[0, :, 5] > 0]
    assert len(there) == 5
    assert abs(there[0, 0]) == pytest.approx(away[0], abs=30.0)


def test_mirroring_twice_changes_nothing(data):
    samples = draw_samples(data, TASK, "train")
    examples = read_examples(data, samples, "action")
    twice = examples.inputs.mirrored().mirrored()
    assert np.allclose(twice.boxes, examples.inputs.boxes, atol=1e-3)
    mirrored = examples.targets.mirrored()
    assert (mirrored.risk + examples.targets.risk == 11).all()
    table, names = tabular(examples.inputs)
    other, _ = tabular(examples.inputs.mirrored())
    vx, x = names.index("vx_all"), names.index("x")
    assert np.allclose(table[:, vx], -other[:, vx], atol=1e-3)
    assert np.allclose(table[:, x], 1920.0 - other[:, x], atol=1e-2)
    assert np.isfinite(table).all()


def test_targets_agree_with_the_labels_of_the_task(data):
    samples = draw_samples(data, TASK, "train")
    targets = read_examples(data, samples, "action").targets
    assert targets.risk.tolist() == samples["label"].to_list()
    assert targets.action.tolist() == samples["action_label"].to_list()
    assert set(targets.intention.tolist()) == {0, 2}
    assert np.isfinite(targets.future).all()


def test_absent_inputs_are_told(data):
    samples = draw_samples(data, TASK, "test")
    without = replace(data, ego=data.ego.with_columns(action=pl.lit(None, pl.String)))
    with pytest.raises(PrerequisiteError, match="annotations_vehicle"):
        read_inputs(without, samples, "action")


def test_a_finer_stride_only_adds_windows(data):
    coarse = set(draw_samples(data, TASK, "train")["sample_id"])
    fine = draw_samples(data, TASK, "train", 2)
    assert coarse < set(fine["sample_id"])
    assert draw_samples(data, TASK, "all").height == sum(
        draw_samples(data, TASK, s).height for s in ("train", "val", "test")
    )
