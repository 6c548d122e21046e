"""Replay, fit and checks of reacting people, on drawn and on recorded encounters."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy import stats
from typer.testing import CliRunner

from jaywalk.actors.reactive.parameters import SOURCES, read_parameters, settings_of
from jaywalk.actors.reactive.traits import PRESETS
from jaywalk.cli.realism import app
from jaywalk.core.errors import DataError, UsageError
from jaywalk.datasets.trajectories import Trajectories, assemble
from jaywalk.rollouts.people.checks import _ks, _wasserstein, models, replay_rows
from jaywalk.rollouts.people.fitting import FitRequest, fit_people, loss_of, split_cases
from jaywalk.rollouts.people.replay import Replayer, replay_cases

DATA = Path("../shared/data/vci/vci_dut_citr.tar.xz")


def drawn_data(scenes: int = 6) -> Trajectories:
    """Scenes with one person who crosses the way of one vehicle; one third is held out."""
    random = np.random.default_rng(5)
    people, vehicles = [], []
    k = np.arange(160)
    for number in range(scenes):
        course = "intersection" if number % 3 == 0 else "roundabout"
        scene = f"dut/{course}_{number}"
        walks = float(random.uniform(1.1, 1.5))
        arrives = float(random.uniform(-2.5, 2.5))
        people.append(
            pl.DataFrame({"k": k, "x": np.zeros(160), "y": walks * (0.1 * k - 8.0)}).with_columns(
                pl.lit(scene).alias("scene_id"),
                pl.lit(course).alias("course_id"),
                pl.lit(f"{scene}/1").alias("track_id"),
                pl.lit("dut").alias("source"),
            )
        )
        vehicles.append(
            pl.DataFrame(
                {
                    "k": k,
                    "x": 4.0 * (0.1 * k - 8.0 - arrives),
                    "y": np.zeros(160),
                    "yaw": np.zeros(160),
                    "v": np.full(160, 4.0),
                    "a": np.zeros(160),
                }
            ).with_columns(
                pl.lit(scene).alias("scene_id"),
                pl.lit("1").alias("ego_id"),
                pl.lit(4.6).alias("length"),
                pl.lit(1.8).alias("width"),
                pl.lit(2.3).alias("front_overhang"),
            )
        )
    return assemble(people, vehicles)


def test_people_who_do_not_react_walk_straight_on() -> None:
    cases = replay_cases(drawn_data())
    assert cases
    done = Replayer(cases).run(PRESETS["reactive"], reacts=False)
    for case, one in zip(cases, done, strict=True):
        assert one.met is not None
        # The recorded person walks at constant speed: the replay is the recording.
        shared = min(len(one.walk.xy_m), case.walk.end - case.start)
        rows = case.walk.xy_m[case.start - case.walk.start :][:shared]
        assert np.abs(one.walk.xy_m[:shared] - rows).max() < 0.02
        assert one.met.gap_s == pytest.approx(case.recorded.gap_s, abs=0.11)


def test_replayed_people_walk_an_arc_from_their_recorded_direction() -> None:
    random = np.random.default_rng(1)
    data = drawn_data()
    k = np.arange(160)
    angle = np.deg2rad(25.0) * (1.0 - k / 80.0)  # turns back to the first line at step 160
    bend = float(random.uniform(1.2, 1.4)) * 0.1
    people = data.tracks.with_columns(
        pl.Series("x", np.tile(np.cumsum(bend * np.sin(angle)), data.tracks.height // 160))
    )
    cases = replay_cases(dataclasses.replace(data, tracks=people))
    assert cases
    for case, one in zip(cases, Replayer(cases).run(PRESETS["campus"], reacts=False), strict=True):
        rows = case.walk.xy_m[case.start - case.walk.start :][: len(one.walk.xy_m)]
        until = case.recorded.leaves - case.start
        away = np.abs(one.walk.xy_m[:until, 0] - rows[:until, 0])
        chord = np.abs(rows[:until, 0] - np.linspace(rows[0, 0], rows[until, 0], until))
        assert away.mean() < chord.mean()


def test_a_replay_depends_on_nothing_but_its_inputs() -> None:
    cases = replay_cases(drawn_data())
    settings = PRESETS["campus"]
    both = [Replayer(cases, seed=3).run(settings) for _ in range(2)]
    for one, other in zip(*both, strict=True):
        assert np.array_equal(one.walk.xy_m, other.walk.xy_m)
    changed = Replayer(cases, seed=4).run(settings)
    assert any(
        a.walk.xy_m.shape != b.walk.xy_m.shape or not np.array_equal(a.walk.xy_m, b.walk.xy_m)
        for a, b in zip(both[0], changed, strict=True)
    )


def test_a_fit_lowers_the_loss_and_goes_on_where_it_was_stopped(tmp_path: Path) -> None:
    cases = replay_cases(drawn_data())
    fitted, held = split_cases(cases)
    assert {case.course for case in held} == {"intersection"}
    notes: list[str] = []
    request = FitRequest(evaluations=48, seed=2, progress=tmp_path / "fit")
    whole = fit_people(fitted, request, notes.append)
    assert whole.loss < whole.loss_before
    assert whole.reused == 1  # the preset, with which the search begins
    assert whole.evaluations <= 48
    # The value of the loss is that of replays with these parameters.
    again = Replayer(fitted * request.repeats, 2)
    loss = loss_of(again.cases, again.run(settings_of("campus", whole.values)))
    assert loss == pytest.approx(whole.loss, abs=0.05)
    lines = (tmp_path / "fit").read_text().splitlines()
    (tmp_path / "fit").write_text("\n".join(lines[:20]) + '\n{"of": "cut o')
    resumed = fit_people(fitted, request, notes.append)
    assert resumed.values == whole.values
    assert resumed.reused >= 20
    assert any("not readable" in note for note in notes)
    with pytest.raises(UsageError, match="another preset"):
        fit_people(
            fitted, FitRequest(base="reactive", evaluations=48, progress=tmp_path / "fit"), print
        )


def test_bad_requests_and_files_name_the_problem(tmp_path: Path) -> None:
    cases = replay_cases(drawn_data())
    with pytest.raises(UsageError, match="at least 23"):
        fit_people(cases, FitRequest(evaluations=5), print)
    with pytest.raises(UsageError, match="'speed'"):
        fit_people(cases, FitRequest(keeps=("speed",)), print)
    with pytest.raises(DataError, match="hold out"):
        split_cases([case for case in cases if case.course == "roundabout"])
    file = tmp_path / "people.json"
    for text, message in (
        ("{", "not JSON"),
        ("[]", "format"),
        ('{"format": "jaywalk/reactive-parameters-1"}', "values"),
        (_parameters({"speed": 1.0}), "Unknown parameter 'speed'"),
        (_parameters({"margin_m": float("nan")}), "finite"),
        (_parameters({}, base="nobody"), "no preset 'nobody'"),
    ):
        file.write_text(text)
        with pytest.raises(DataError, match=message):
            read_parameters(file)
    file.write_text(_parameters({"margin_m": 1.1}))
    settings, content = read_parameters(file)
    assert settings == PRESETS["campus"]._replace(margin_m=1.1)
    assert content["base"] == "campus"


def _parameters(values: dict[str, float], base: str = "campus") -> str:
    content = {"format": "jaywalk/reactive-parameters-1", "base": base, "values": values}
    return json.dumps(content)


def test_rows_of_the_checks_against_scipy() -> None:
    cases = replay_cases(drawn_data())
    rows = replay_rows(cases, models(), lambda _: None, resamples=100)
    replayer = Replayer([case for case in cases if case.course == "roundabout"])
    done = replayer.run(PRESETS["campus"])
    gaps = [one.met.gap_s for one in done if one.met is not None]
    recorded = [c.recorded.gap_s for c, one in zip(replayer.cases, done, strict=True) if one.met]
    row = next(r for r in rows if r.part == "dut roundabout" and r.model == "campus")
    assert not row.held_out
    assert row.values["gap_wasserstein_s"].value == pytest.approx(
        stats.wasserstein_distance(gaps, recorded)
    )
    assert row.values["gap_ks"].value == pytest.approx(stats.ks_2samp(gaps, recorded).statistic)
    assert {r.part for r in rows if r.held_out} == {"dut intersection"}
    assert np.isnan(_wasserstein(np.array([np.nan]), np.ones(3)))
    assert np.isnan(_ks(np.ones(2), np.array([])))


def test_commands_explain_wrong_data(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["fit-people", str(tmp_path / "nothing")])
    assert isinstance(result.exception, DataError)
    assert "give the folder or archive of DUT and CITR" in str(result.exception)


@pytest.mark.data
@pytest.mark.skipif(not DATA.exists(), reason="needs ../shared/data/vci")
def test_replay_of_recorded_encounters() -> None:
    from jaywalk.datasets.vci import read_vci

    cases = replay_cases(read_vci(DATA))
    counts = {source: sum(case.source == source for case in cases) for source in ("dut", "citr")}
    assert counts == {"dut": 299, "citr": 50}
    dut = [case for case in cases if case.source == "dut"]
    replayer = Replayer(dut)
    straight = replayer.run(PRESETS["campus"], reacts=False)
    assert 0.28 < np.mean([one.contact for one in straight]) < 0.38  # 33 % published for this test
    reacting = replayer.run(PRESETS["campus"])
    assert np.mean([one.contact for one in reacting]) < 0.05
    gaps = [one.met.gap_s for one in reacting if one.met is not None]
    assert stats.wasserstein_distance(gaps, [c.recorded.gap_s for c in dut]) < 0.35


def test_sources_name_parameters_of_presets() -> None:
    for source in SOURCES:
        assert source.data
        for preset in source.presets:
            settings = PRESETS[preset]
            assert all(np.isfinite(getattr(settings, name)) for name in source.parameters)
