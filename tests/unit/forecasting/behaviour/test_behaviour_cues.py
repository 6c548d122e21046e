"""Cues of behaviour models: motion and looks can be left out, and looks alone can be learnt."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from behaviour_people import people_data
from typer.testing import CliRunner

from jaywalk.cli.main import app
from jaywalk.core.errors import PrerequisiteError, UsageError
from jaywalk.datasets.behaviour_tables import BehaviourData, write_tables
from jaywalk.forecasting.behaviour._inputs import read_inputs, tagged_samples
from jaywalk.forecasting.behaviour._targets import read_examples
from jaywalk.forecasting.behaviour.learning import TrainingPlan, open_model, train_model
from jaywalk.forecasting.behaviour.models._trees import tabular
from jaywalk.forecasting.behaviour.sampling import draw_samples
from jaywalk.forecasting.behaviour.tasks import find_task
from jaywalk.metrics.behaviour.ranking import mean_average_precision

ACTION = find_task("action", "sim")


def with_looks(data: BehaviourData) -> BehaviourData:
    """The same people, who look at the car if and only if they cross; no other cue is left."""
    crossing = data.pedestrians.filter(pl.col("crossing") == 1)["pedestrian_id"].implode()
    boxes = data.boxes.with_columns(
        looking=pl.col("pedestrian_id").is_in(crossing).cast(pl.Int8),
        xtl_px=pl.lit(100.0),
        xbr_px=pl.lit(150.0),
        ytl_px=pl.lit(400.0),
        ybr_px=pl.lit(600.0),
    )
    return replace(data, boxes=boxes)


@pytest.fixture(scope="module")
def data() -> BehaviourData:
    return people_data(videos=(6, 3, 3))


def test_cues_show_what_they_say(data: BehaviourData) -> None:
    looks = data.boxes.with_columns(looking=(pl.col("frame") % 3 == 0).cast(pl.Int8))
    data = replace(data, boxes=looks)
    samples = draw_samples(data, ACTION, "test")
    usual = read_inputs(data, samples, "action")
    both = read_inputs(data, samples, "action", "both")
    gaze = read_inputs(data, samples, "action", "gaze")
    assert usual.looking is None
    assert np.array_equal(both.boxes, usual.boxes)
    assert both.looking is not None
    first = samples["first_frame"][0]
    assert both.looking[0].tolist() == [float(f % 3 == 0) for f in range(first, first + 15)]
    # Without the approach nothing of a person moves, and the width says nothing.
    assert np.ptp(gaze.boxes, axis=1).max() == 0.0
    assert np.allclose(gaze.boxes[:, -1, [1, 3]], usual.boxes[:, -1, [1, 3]])
    assert np.allclose(gaze.centres_px[:, -1], usual.centres_px[:, -1], atol=1e-3)
    wide = gaze.boxes[:, 0, 2] - gaze.boxes[:, 0, 0]
    assert np.allclose(wide, 0.4 * (gaze.boxes[:, 0, 3] - gaze.boxes[:, 0, 1]), atol=1e-3)
    assert not gaze.neighbours[..., 3:5].any()
    table, names = tabular(gaze)
    assert not table[:, names.index("vx_all")].any()
    assert "looking" in names
    assert "looking" not in tabular(usual)[1]


def test_samples_without_look_tags_are_refused_or_left_out(data: BehaviourData) -> None:
    samples = draw_samples(data, ACTION, "test")
    person = samples["pedestrian_id"][0]
    tag = pl.when(pl.col("pedestrian_id") == person).then(None).otherwise(0).cast(pl.Int8)
    some = replace(data, boxes=data.boxes.with_columns(looking=tag))
    with pytest.raises(PrerequisiteError, match=r"samples of these SIM data have no look tags"):
        read_inputs(some, samples, "action", "gaze")
    kept = tagged_samples(some, samples)
    assert set(samples["pedestrian_id"]) - set(kept["pedestrian_id"]) == {person}
    assert read_inputs(some, kept, "action", "gaze").looking is not None
    with pytest.raises(UsageError, match="expected one of place, approach, gaze, both"):
        read_inputs(data, samples, "action", "eyes")


@pytest.mark.parametrize("model", ["forest", "gradient-boosting"])
def test_a_model_learns_from_looks_alone_and_not_without_them(
    data: BehaviourData, tmp_path: Path, model: str
) -> None:
    looks = with_looks(data)
    samples = draw_samples(looks, ACTION, "test")
    labels = samples["label"].to_numpy()
    precision = {}
    for cues in ("place", "gaze"):
        plan = TrainingPlan(
            model=model, task="action", settings={}, seeds=(0,), cues=cues, tagged=True
        )
        train_model(looks, plan, tmp_path / cues)
        trained = open_model(tmp_path / cues)
        assert trained.about["cues"] == cues
        answer = trained.predict(looks, samples, "action")
        precision[cues] = mean_average_precision(labels, answer)
    assert precision["gaze"] == pytest.approx(1.0)
    assert precision["place"] == pytest.approx(labels.mean(), abs=0.25)


def test_default_cues_leave_models_as_they_were(data: BehaviourData, tmp_path: Path) -> None:
    plan = TrainingPlan(model="forest", task="action", settings={"trees": 5}, seeds=(0,))
    about = train_model(data, plan, tmp_path)
    assert not {"cues", "tagged"} & set(about)
    samples = draw_samples(data, ACTION, "train")
    both = read_examples(data, samples, "action").with_mirrored()
    assert both.inputs.looking is None
    assert len(both) == 2 * samples.height


def test_the_commands_train_with_looks_and_score_tagged_people(
    data: BehaviourData, tmp_path: Path
) -> None:
    untagged = data.pedestrians["pedestrian_id"].gather_every(4).to_list()
    tag = pl.when(pl.col("pedestrian_id").is_in(untagged)).then(None).otherwise(1)
    some = replace(data, boxes=data.boxes.with_columns(looking=tag.cast(pl.Int8)))
    write_tables(some, tmp_path / "people", {})
    where = ["--dataset", "sim", "--annotations", str(tmp_path / "people")]
    run = CliRunner()
    arguments = ["behaviour", "train", "--model", "forest", "--task", "action", *where]
    arguments += ["--set", "trees=5", "--seeds", "1", "--cues", "both"]
    refused = run.invoke(app, [*arguments, "--out", str(tmp_path / "other")])
    assert isinstance(refused.exception, PrerequisiteError)
    done = run.invoke(app, [*arguments, "--tagged", "--out", str(tmp_path / "model")])
    assert done.exit_code == 0, done.output
    answers = str(tmp_path / "answers.csv")
    arguments = ["behaviour", "predict", str(tmp_path / "model"), *where, "--out", answers]
    assert run.invoke(app, arguments).exit_code == 0
    score = ["behaviour", "score", "--task", "action", *where, "--predictions", answers]
    assert run.invoke(app, [*score, "--resamples", "0"]).exit_code != 0  # samples are missing
    told = run.invoke(app, [*score, "--resamples", "0", "--tagged", "--json"])
    assert told.exit_code == 0, told.output
