"""Samples whose person changes a decision because of the ego, and IRS without them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from street_episode import EGO, PARKED, PERSON, write_street

from jaywalk.datasets.trajectories import read_trajectories, write_trajectories
from jaywalk.forecasting.evaluate import Scores, Settings, summarise
from jaywalk.forecasting.record_export import export_records
from jaywalk.forecasting.samples import roi_samples
from jaywalk.forecasting.windows import build_windows
from jaywalk.metrics.prediction.irs import FPR_TARGETS, irs
from jaywalk.record import open as open_record
from jaywalk.record.reactions import PersonDecision, changed_by, ego_reactions

CHANGE = 60  # tick, 3.0 s
ROLE = [(0, {"what": "role", "intended": "crossing"})]


def street(run: Path, perceived: int, name: str = "one", model: str = "reactive-1") -> Path:
    def reactions(tick: int) -> dict[str, float]:
        decision = PersonDecision.WANTS if tick < CHANGE else PersonDecision.COMMITTED
        return {"decision": decision, "perceived_actor": perceived}

    parameters = {"people_model": model} if model else {}
    return write_street(run, name, notes=ROLE, reactions=reactions, parameters=parameters)


def test_a_change_counts_if_its_vehicle_is_the_one_perceived() -> None:
    none, wants, waits, goes = 0.0, 1.0, 2.0, 3.0
    decision = np.array([none, wants, wants, goes, goes, waits, none, wants, goes])
    gone = np.nan
    perceived = np.array([7.0, 7.0, 7.0, gone, gone, 7.0, 7.0, 8.0, 8.0])
    # Going (row 3) and waiting (row 5) were about vehicle 7; wanting and being done are no change.
    assert np.flatnonzero(changed_by(7, decision, perceived)).tolist() == [3, 5]
    assert np.flatnonzero(changed_by(8, decision, perceived)).tolist() == [8]


def test_reactions_to_the_ego_are_exported_by_tenth_of_a_second(tmp_path: Path) -> None:
    folder = street(tmp_path / "a", EGO)
    rows = ego_reactions(open_record(folder)).filter(pl.col("actor") == PERSON)
    assert rows.filter("reacted")["tick"].to_list() == [CHANGE]
    tracks = export_records([tmp_path / "a"]).tracks
    assert tracks.filter("reacted")["k"].to_list() == [CHANGE // 2]
    assert tracks["reacted"].null_count() == 0
    assert not export_records([street(tmp_path / "b", PARKED)]).tracks["reacted"].any()
    scripted = export_records([street(tmp_path / "c", EGO, model="")]).tracks
    assert scripted["reacted"].is_null().all()


def test_samples_are_marked_up_to_the_change(tmp_path: Path) -> None:
    street(tmp_path / "run", EGO)
    data = export_records([tmp_path / "run"])
    windows = build_windows(data, every_s=0.1)
    samples = roi_samples(data, windows)
    assert samples
    for sample in samples:
        ahead_s = (CHANGE // 2 - windows.k[sample.window]) / 10.0
        assert sample.reacted == tuple(0.0 < ahead_s <= h + 1e-9 for h in (1.0, 2.0, 3.0, 4.0))
    write_trajectories(data, tmp_path / "people")
    assert read_trajectories(tmp_path / "people").tracks.equals(data.tracks)
    file = tmp_path / "people" / "tracks.parquet"
    old = pl.read_parquet(file).drop("reacted")
    old.write_parquet(file, metadata={"stride": "1"})
    again = read_trajectories(tmp_path / "people")
    assert again.tracks["reacted"].is_null().all()
    assert all(sample.reacted == () for sample in roi_samples(again, windows))


def test_irs_without_reacted_is_that_of_the_other_samples(tmp_path: Path) -> None:
    street(tmp_path / "run", EGO)
    data = export_records([tmp_path / "run"])
    windows = build_windows(data, every_s=0.1, horizons_s=(1.0,))
    one = roi_samples(data, windows)[0]
    rng = np.random.default_rng(3)
    count = 400
    labels, marks = rng.integers(0, 2, count).astype(np.int8), rng.integers(0, 2, count) == 1
    meetings = [
        replace(one, labels=labels[k : k + 1], reacted=(bool(marks[k]),)) for k in range(count)
    ]
    in_roi = rng.random((count, 1)) * 0.5 + 0.5 * (labels ^ marks)[:, None]
    empty = np.full((len(windows), 1), 1.0)
    scores = Scores(in_roi=in_roi, nll=empty, ade=empty, fde=empty)
    settings = Settings(resamples=20)
    (row,) = summarise(scores, windows, meetings, settings)
    tracks = np.zeros(count, np.int64)
    expected = irs(
        in_roi[~marks, 0],
        labels[~marks],
        tracks[~marks],
        fpr_target=FPR_TARGETS[1.0],
        resamples=0,
    )
    assert row["n_reacted"] == int(marks.sum())
    assert row["irs_without_reacted"]["value"] == pytest.approx(expected.value)
    assert row["irs"]["value"] < expected.value  # those who react are foretold the wrong way
    unknown = [replace(meeting, reacted=()) for meeting in meetings]
    (row,) = summarise(scores, windows, unknown, settings)
    assert row["n_reacted"] is None
    assert row["irs_without_reacted"] is None
