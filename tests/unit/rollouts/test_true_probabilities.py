"""True probabilities: rollouts of recorded people, against cases whose answer is known."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest
from street_episode import PERSON, PERSON_X_M, write_street
from typer.testing import CliRunner

from jaywalk.actors.reactive.model import ReactionModel
from jaywalk.actors.reactive.traits import ATTENTIVE, GLANCING, OBLIVIOUS, PHONE
from jaywalk.cli.main import app
from jaywalk.core.errors import DataError, UsageError
from jaywalk.record import open as open_record
from jaywalk.rollouts.people.continuing import Follower, go_on
from jaywalk.rollouts.people.recorded import _vehicle_numbers, read_reacting_people
from jaywalk.rollouts.people.truth import TruthRequest, noise_keys, true_probabilities
from jaywalk.rollouts.people.truth_scores import score_against_truth

KERB_Y_M, FAR_Y_M = 3.5, -5.0
FREE_MPS = 1.5


def street(run: Path, *, attention: int, sets_off_m: float = 5.0, name: str = "one") -> Path:
    """A street whose person plans to cross from the start; with ``sets_off_m`` 3.6 at the kerb."""
    traits = {
        "age": 0,
        "attention": attention,
        "free_mps": FREE_MPS,
        "bold_s": 0.0,
        "patience_s": 100.0,
        "margin": 1.0,
        "first_look_s": 0.0,
        "runs": False,
        "group": -1,
    }
    path = [[PERSON_X_M, sets_off_m], [PERSON_X_M, KERB_Y_M], [PERSON_X_M, FAR_Y_M]]
    kerb_m = sets_off_m - KERB_Y_M
    plan = {"path_m": path, "via_m": path[1], "road_m": [kerb_m, kerb_m + 7.0], "painted": False}
    role = {"intended": "crossing", "traits": traits, "noise_key": 77, "clip_mps": FREE_MPS}
    notes = [(0, {"what": "role", **role}), (0, {"what": "intends", **plan})]
    return write_street(run, name, notes=notes, parameters={"people_model": "reactive-1"})


@pytest.mark.parametrize(
    ("attention", "chance"), [(PHONE, 0.5), (GLANCING, 0.1), (ATTENTIVE, 0.0), (OBLIVIOUS, 1.0)]
)
def test_people_who_have_not_looked_step_out_as_often_as_the_model_says(
    tmp_path: Path, attention: int, chance: float
) -> None:
    people = read_reacting_people(open_record(street(tmp_path, attention=attention)))
    people.traits.first_look_s[:] = -1.0  # they never begin to look at the kerb
    people.tracks.present[:2] = False  # and there is no vehicle to notice
    follower = Follower.of(people)
    count = 3000
    walked = go_on(follower, noise_keys(1, "one", 0, count), 70).place_m[-1, :, 0]
    crossed = float((walked[:, 1] < KERB_Y_M - 1.0).mean())
    assert crossed == pytest.approx(chance, abs=3.5 * (0.25 / count) ** 0.5)
    if 0.0 < chance < 1.0:
        stayed = walked[walked[:, 1] > KERB_Y_M - 1.0]
        assert (stayed[:, 1] > KERB_Y_M).all()  # they wait on the sidewalk


def test_people_who_never_look_have_no_uncertainty(tmp_path: Path) -> None:
    """They walk on at 1.5 m/s: the place follows from time alone."""
    street(tmp_path, attention=OBLIVIOUS)
    request = TruthRequest(run=tmp_path, rollouts=8, ticks=(0, 79), every_s=0.5)
    truth = true_probabilities(request)
    table = truth.table
    assert set(table["truth"].unique()) <= {0.0, 1.0}
    assert table["person"].unique().to_list() == [PERSON]
    # From 3 s on the person of the record walks as the rollouts do.
    late = table.filter(pl.col("time_s") > 3.2)
    assert late.height > 0
    assert late["truth"].to_list() == [float(label) for label in late["label"]]
    assert late["replay_m"].max() < 0.15


def test_the_same_seed_gives_the_same_probabilities(tmp_path: Path) -> None:
    street(tmp_path, attention=PHONE, sets_off_m=3.8)
    request = TruthRequest(run=tmp_path, rollouts=16, ticks=(20, 60))
    first, second = (true_probabilities(request).table for _ in range(2))
    assert first.equals(second)
    other = true_probabilities(TruthRequest(run=tmp_path, rollouts=16, ticks=(20, 60), seed=1))
    assert not other.table.equals(first)


def test_the_model_follows_the_record_with_its_own_noise(tmp_path: Path) -> None:
    people = read_reacting_people(open_record(street(tmp_path, attention=ATTENTIVE)))
    follower = Follower.of(people)
    for _ in range(40):
        follower.step()
    key = np.array([people.noise_key, people.noise_key])
    both = go_on(follower, key, 30).place_m
    assert np.array_equal(both[:, 0], both[:, 1])
    # A copy leaves the follower alone, so that going on twice gives the same.
    assert np.array_equal(go_on(follower, key, 30).place_m, both)


def test_vehicles_have_the_numbers_of_the_run() -> None:
    """The ego has 1, the background 101 and more, whatever their ids at the server were."""
    roles = ["hero", "background", "scenario", "background", ""]
    bodies = pl.DataFrame({"server_id": [90, 71, 64, 80, 12], "role_name": roles})
    present = np.ones((5, 4), np.bool_)
    present[1, :2] = False  # comes later, although its id is lower
    tracks: Any = SimpleNamespace(bodies=bodies, present=present)
    numbers = _vehicle_numbers(tracks, np.array([0, 1, 2, 3]))
    assert numbers.tolist() == [1, 102, 50_001, 101]


def test_people_who_begin_later_look_around_until_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    people = read_reacting_people(open_record(street(tmp_path, attention=ATTENTIVE)))
    assert people.plans[0] is not None
    people.watched_m[:] = PERSON_X_M, 0.0
    object.__setattr__(people, "plans", (people.plans[0]._replace(begins=120),))
    rows: list[Any] = []
    fork = ReactionModel.fork

    def kept(self: ReactionModel, keys: Any) -> Any:
        forked = fork(self, keys)
        rows.append(forked[1])
        return forked

    monkeypatch.setattr(ReactionModel, "fork", kept)
    follower = Follower.of(people)
    for _ in range(20):
        follower.step()
    follower.model.rows.until_s[:] = 1.0  # the present look ends
    go_on(follower, noise_keys(1, "one", 0, 16), 101)
    assert not rows[0].stays.any()
    # The approach begins with the looks so far, also those of the rollout.
    assert (rows[0].looks_from > follower.model.rows.looks).any()
    assert (rows[0].looks_from >= rows[0].looks - 1).all()


def test_scripted_runs_and_old_records_are_refused(tmp_path: Path) -> None:
    scripted = write_street(tmp_path / "a", "one")
    with pytest.raises(DataError, match="scripted people never decide"):
        read_reacting_people(open_record(scripted))
    old = write_street(
        tmp_path / "b",
        "one",
        notes=[(0, {"what": "role", "intended": "crossing"})],
        parameters={"people_model": "reactive-1"},
    )
    with pytest.raises(DataError, match=r"no traits .* older version"):
        read_reacting_people(open_record(old))
    with pytest.raises(UsageError, match="expected an even number"):
        TruthRequest(run=tmp_path, rollouts=7)
    with pytest.raises(UsageError, match="has no episode 'two'"):
        true_probabilities(TruthRequest(run=tmp_path / "b", episodes=("two",)))


# -- scores ------------------------------------------------------------------------------------


def coins(probability: np.ndarray, rollouts: int, seed: int = 0) -> pl.DataFrame:
    """A table of independent meetings with known probabilities, one person each."""
    random = np.random.default_rng(seed)
    even = random.binomial(rollouts // 2, probability)
    inside = even + random.binomial(rollouts // 2, probability)
    count = len(probability)
    return pl.DataFrame(
        {
            "episode": "one",
            "person": np.arange(count),
            "tick": 0,
            "time_s": 0.0,
            "horizon_s": 2.0,
            "rollouts": rollouts,
            "inside": inside,
            "inside_even": even,
            "truth": inside / rollouts,
            "label": random.binomial(1, probability).astype(np.int8),
            "replay_m": 0.0,
        }
    )


def test_best_scores_enclose_those_of_the_known_probabilities() -> None:
    probability = np.random.default_rng(3).beta(0.3, 0.9, 6000)
    entropy = -(probability * np.log(probability) + (1 - probability) * np.log1p(-probability))
    table = coins(probability, 64)
    (entry,) = score_against_truth(table, {"known": probability}, resamples=100)
    low, high = entry["best"]["nll"]
    assert low < np.nanmean(entropy) < high
    assert high - low < 0.03
    brier = float((probability * (1 - probability)).mean())
    assert entry["best"]["brier"]["value"] == pytest.approx(brier, abs=0.004)
    # Brute force: the largest true-positive rate at a false-positive rate of 5 %.
    order = np.argsort(-probability)
    hits, alarms = np.cumsum(probability[order]), np.cumsum(1 - probability[order])
    best = float(np.interp(0.05 * alarms[-1], alarms, hits) / hits[-1])
    lowest, highest = entry["best"]["irs"]
    assert lowest - 0.01 < best < highest + 0.01
    known = entry["predictors"]["known"]
    assert known["irs"]["value"] == pytest.approx(best, abs=0.01)
    assert known["ece"]["value"] < 0.01


def test_a_predictor_that_is_too_sure_scores_worse_than_the_truth() -> None:
    table = coins(np.full(800, 0.3), 64)
    (entry,) = score_against_truth(table, {"sure": np.zeros(800)}, resamples=100)
    sure = entry["predictors"]["sure"]
    assert sure["brier"]["value"] == pytest.approx(0.3, abs=0.01)
    assert sure["ece"]["value"] == pytest.approx(0.3, abs=0.01)
    assert sure["nll"]["value"] > entry["best"]["nll"][1]


def test_the_command_writes_a_table_and_its_scores(tmp_path: Path) -> None:
    street(tmp_path / "run", attention=PHONE, sets_off_m=3.8)
    out = tmp_path / "truth.csv"
    arguments: list[Any] = ["predict", "truth", tmp_path / "run", "-o", out, "--rollouts", 8]
    arguments += ["--ticks", "20-60", "--predictor", "constant-velocity", "--in-sample"]
    result = CliRunner().invoke(app, [*map(str, arguments), "--resamples", "100", "--json"])
    assert result.exit_code == 0, result.output
    table = pl.read_csv(out)
    assert "predicted constant-velocity-v1" in table.columns
    scores = json.loads(out.with_suffix(".json").read_text())
    assert [entry["horizon_s"] for entry in scores["horizons"]] == [1.0, 2.0, 3.0, 4.0]
    assert scores["rollouts"] == 8
    refused = CliRunner().invoke(app, ["predict", "truth", str(tmp_path), "--ticks", "a-b"])
    assert isinstance(refused.exception, UsageError)
