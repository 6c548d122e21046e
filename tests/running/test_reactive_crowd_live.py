"""Ambient people who react, in whole episodes: what is recorded, and that it repeats."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from jaywalk import record
from jaywalk.metrics.generalization.counterfactual import check_pair
from jaywalk.runner._episode import run_episode
from jaywalk.runner.plan import EpisodePlan
from jaywalk.runner.request import RunOptions, make_requests
from jaywalk.runner.session import SimulatorSession


def plans(suite: str, agent: str, subset: str, people_model: str = "") -> list[EpisodePlan]:
    options = RunOptions(subset=subset, people=12, people_model=people_model)
    return list(make_requests(suite, agent, options)[0].plans())


def test_an_episode_of_smoke_repeats_and_holds_what_people_perceive(
    world: SimulatorSession, tmp_path: Path
) -> None:
    (plan,) = plans("smoke", "cruise", "5")
    first, second = (run_episode(plan, world, tmp_path / name) for name in "ab")
    assert first.record_hash == second.record_hash
    kept = record.open(first.folder)
    assert kept.episode.parameters["people_model"] == "reactive-1"
    actors = kept.actors.collect()
    ambient = actors.filter(pl.col("role_name") == "ambient")["actor"]
    assert len(ambient) == 12
    states = kept.states.filter(pl.col("decision").is_not_null()).collect()
    assert set(states["actor"]) == set(ambient)
    assert states["gaze_yaw_deg"].abs().max() <= 110.0 + 1e-3
    assert np.isfinite(states["evidence"].to_numpy()).all()
    assert states["group"].is_null().all()
    vehicles = actors.filter(pl.col("type_id").str.starts_with("vehicle."))["actor"]
    for name in ("gaze_actor", "perceived_actor"):
        assert set(states[name].drop_nulls()) <= set(vehicles), name
    assert states["gaze_actor"].drop_nulls().len() > 0


def test_scripted_people_of_smoke_record_nothing_of_it(
    world: SimulatorSession, tmp_path: Path
) -> None:
    (plan,) = plans("smoke", "cruise", "5", "scripted")
    kept = record.open(run_episode(plan, world, tmp_path / "run").folder)
    assert "people_model" not in kept.episode.parameters
    assert kept.states.filter(pl.col("decision").is_not_null()).collect().is_empty()


def test_pairs_have_the_same_background_until_the_shift(
    world: SimulatorSession, tmp_path: Path
) -> None:
    halves = plans(
        "fail2drive", "expert", "Base_FullyBlocked_0032,Generalization_FullyBlocked_1032"
    )
    base, shift = (
        record.open(run_episode(plan, world, tmp_path / "run").folder) for plan in halves
    )
    check = check_pair(base, shift)
    assert check.passed, check.reason
    assert not check.weak
