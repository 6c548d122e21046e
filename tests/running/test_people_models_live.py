"""Episodes whose posed people follow a policy of the user."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
from short_plans import short_plan, write_driver

from jaywalk import record
from jaywalk.runner._episode import run_episode
from jaywalk.runner.plan import EpisodeOutcome
from jaywalk.runner.session import SimulatorSession
from jaywalk_agent import PeopleServer, load_people

EXAMPLE = Path(__file__).parents[2] / "examples" / "people" / "careful.py"
FAILS = """
from jaywalk_agent import PersonAct

class Fails:
    def reset(self, who, goal_m, rng):
        pass

    def act(self, seen):
        if seen.time_s > 0.5:
            raise KeyError("lost")  # line 10
        return PersonAct(seen.onward)
"""
WAITS = """
import numpy as np
from jaywalk_agent import PersonAct
from jaywalk_agent.people import AT_KERB

class Waits:
    def reset(self, who, goal_m, rng):
        pass

    def act(self, seen):
        near = (seen.place == AT_KERB) & (seen.kerb_m < 3.0)
        return PersonAct(np.where(near[:, None], 0.0, seen.onward))
"""


def drive(
    world: SimulatorSession, folder: Path, policy: str, *, name: str, length_m: int = 150
) -> EpisodeOutcome:
    driver = write_driver(folder)
    plan = short_plan(world, driver, length_m=length_m)
    plan = replace(
        plan, item=replace(plan.item, posed=6), people_model="reactive", people_policy=policy
    )
    return run_episode(plan, world, folder / name)


def notes(outcome: EpisodeOutcome) -> list[str]:
    events = record.open(outcome.folder).events.filter(pl.col("name") == "habit").collect()
    return [str(text) for text in events["detail_json"].to_list()]


def test_a_policy_moves_people_and_is_the_same_over_a_websocket(
    world: SimulatorSession, tmp_path: Path
) -> None:
    first = drive(world, tmp_path, str(EXAMPLE), name="first")
    again = drive(world, tmp_path, str(EXAMPLE), name="again")
    assert first.failure == ""
    assert first.record_hash == again.record_hash
    with PeopleServer(load_people(EXAMPLE)) as server:
        remote = drive(world, tmp_path, server.address, name="remote")
    ours, theirs = record.open(first.folder), record.open(remote.folder)
    assert theirs.states.collect().equals(ours.states.collect())
    parameters = ours.episode.parameters
    assert parameters["people_model"] == "custom:careful"
    assert len(parameters["people_model_sha256"]) == 64
    assert theirs.episode.parameters["people_model"].startswith("custom:127.0.0.1:")
    said = " ".join(notes(first))
    assert "intends" in said
    assert "enters the road" in said


def test_people_do_what_the_policy_says(world: SimulatorSession, tmp_path: Path) -> None:
    policy = tmp_path / "waits.py"
    policy.write_text(WAITS)
    outcome = drive(world, tmp_path, str(policy), name="waits")
    assert outcome.failure == ""
    said = notes(outcome)
    assert any("intends" in text for text in said)
    assert any("waits" in text for text in said)
    assert not any("enters the road" in text for text in said)


def test_a_policy_that_fails_ends_the_episode(world: SimulatorSession, tmp_path: Path) -> None:
    policy = tmp_path / "fails.py"
    policy.write_text(FAILS)
    outcome = drive(world, tmp_path, str(policy), name="fails")
    assert outcome.end_reason == "agent failed"
    assert "The people model" in outcome.failure
    assert "fails.py, line 10: KeyError" in outcome.failure
    assert record.open(outcome.folder).episode.failure == outcome.failure


def test_a_policy_without_an_end_is_stopped(world: SimulatorSession, tmp_path: Path) -> None:
    policy = tmp_path / "hangs.py"
    policy.write_text(FAILS.replace('raise KeyError("lost")', "\n            while True: pass"))
    plan = short_plan(world, write_driver(tmp_path))
    plan = replace(
        plan, item=replace(plan.item, posed=3), people_model="reactive", people_policy=str(policy)
    )
    outcome = run_episode(plan, world, tmp_path / "hangs", watchdog_s=10.0)
    assert outcome.end_reason == "agent failed"
    assert "no answer after 9 s" in outcome.failure
