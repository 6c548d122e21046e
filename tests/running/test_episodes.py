"""Whole episodes on a real server: what is recorded, and what goes wrong how."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from short_plans import short_plan, write_driver

from jaywalk import record
from jaywalk.core.errors import DataError, RegistryError
from jaywalk.record.episode import ask_wet_grip, has_wet_grip
from jaywalk.runner._episode import run_episode
from jaywalk.runner.session import SimulatorSession


def test_a_route_is_driven_and_recorded(world: SimulatorSession, tmp_path: Path) -> None:
    plan = short_plan(world, write_driver(tmp_path), vehicles=5)
    beats: list[str] = []
    outcome = run_episode(plan, world, tmp_path / "run", lambda s, share, what: beats.append(what))
    assert (outcome.end_reason, outcome.failure) == ("route completed", "")
    kept = record.open(outcome.folder)
    ego = kept.ego_states().collect()
    assert ego["time_s"].max() == pytest.approx(outcome.simulated_s, abs=1e-6)
    driven = np.hypot(np.diff(ego["x_m"]), np.diff(ego["y_m"])).sum()
    assert 50.0 < driven < 65.0
    assert kept.route.collect().height > 50
    assert kept.actors.filter(pl.col("role_name") == "background").collect().height == 5
    assert kept.landmarks.collect().height > 100
    commanded = kept.ego.collect()
    assert commanded.height == ego.height - 1
    assert commanded["command_throttle"].max() > 0.5
    assert kept.shared_file("opendrive").read_bytes().startswith(b"<?xml")
    assert {"loading", "spawning actors", "agent: setup", "driving"} <= set(beats)


def test_the_same_plan_gives_the_same_record(world: SimulatorSession, tmp_path: Path) -> None:
    plan = short_plan(world, write_driver(tmp_path), vehicles=12)
    hashes = {run_episode(plan, world, tmp_path / str(k)).record_hash for k in range(2)}
    assert len(hashes) == 1


def test_another_server_gives_the_same_record(world: SimulatorSession, tmp_path: Path) -> None:
    plan = short_plan(world, write_driver(tmp_path), vehicles=12)
    first = run_episode(plan, world, tmp_path / "a")
    with SimulatorSession.embedded() as other:
        second = run_episode(plan, other, tmp_path / "b")
    assert first.record_hash == second.record_hash


@pytest.mark.parametrize("wet_grip", [False, True])
def test_the_record_says_whether_wet_roads_were_slippery(
    world: SimulatorSession, tmp_path: Path, wet_grip: bool
) -> None:
    plan = short_plan(world, write_driver(tmp_path))
    plan = replace(plan, item=replace(plan.item, wet_grip=wet_grip))
    outcome = run_episode(plan, world, tmp_path / "run")
    assert ask_wet_grip(world.host, world.port) is wet_grip
    assert has_wet_grip(record.open(outcome.folder).episode) is wet_grip


def test_another_seed_gives_another_record(world: SimulatorSession, tmp_path: Path) -> None:
    agent = write_driver(tmp_path)
    one = run_episode(short_plan(world, agent, vehicles=5), world, tmp_path / "a")
    two = run_episode(short_plan(world, agent, vehicles=5, seed=2), world, tmp_path / "b")
    assert one.record_hash != two.record_hash


def test_an_agents_exception_is_its_failure(world: SimulatorSession, tmp_path: Path) -> None:
    agent = write_driver(tmp_path, "if moment.elapsed_s > 1.0: raise ValueError('no idea')")
    outcome = run_episode(short_plan(world, agent), world, tmp_path / "run")
    assert outcome.end_reason == "agent failed"
    assert "ValueError: no idea" in outcome.failure
    assert "driver.py" in outcome.failure
    events = record.open(outcome.folder).events.collect()
    assert events["kind"].to_list() == ["agent_failure"]
    assert events["name"].item() == "ValueError: no idea"


def test_an_agent_that_hangs_has_failed_and_its_drive_is_kept(
    world: SimulatorSession, tmp_path: Path
) -> None:
    hang = "import time\n        if moment.elapsed_s > 1.0: time.sleep(600)"
    agent = write_driver(tmp_path, hang)
    outcome = run_episode(short_plan(world, agent), world, tmp_path / "run", watchdog_s=6.0)
    assert outcome.end_reason == "agent failed"
    assert "no answer after 5.4 s" in outcome.failure
    assert "driver.py" in outcome.failure  # where it hung
    assert outcome.simulated_s >= 1.0
    assert record.open(outcome.folder).states.collect().height > 0


def test_a_control_that_is_no_number_is_a_failure(world: SimulatorSession, tmp_path: Path) -> None:
    nan = "return Decision(control=carla.VehicleControl(brake=float('nan')))"
    outcome = run_episode(short_plan(world, write_driver(tmp_path, nan)), world, tmp_path / "run")
    assert outcome.end_reason == "agent failed"
    assert "brake is nan" in outcome.failure


def test_an_agent_that_cannot_be_set_up(world: SimulatorSession, tmp_path: Path) -> None:
    path = tmp_path / "broken.py"
    path.write_text("import no_such_module\n")
    outcome = run_episode(short_plan(world, str(path)), world, tmp_path / "run")
    assert outcome.end_reason == "agent setup failed"
    assert "no_such_module" in outcome.failure


def test_an_unknown_scenario_fails_loudly(world: SimulatorSession, tmp_path: Path) -> None:
    unknown = (
        '<scenario name="A" type="Volcano"><trigger_point x="0" y="0" z="0" yaw="0"/></scenario>'
    )
    plan = short_plan(world, write_driver(tmp_path), scenarios=unknown)
    with pytest.raises(RegistryError, match="Volcano"):
        run_episode(plan, world, tmp_path / "run")
    assert not list((tmp_path / "run").rglob("*.parquet"))


def test_an_unknown_town_is_named(world: SimulatorSession, tmp_path: Path) -> None:
    plan = short_plan(world, write_driver(tmp_path), town="Atlantis")
    with pytest.raises(DataError, match="no town 'Atlantis'"):
        run_episode(plan, world, tmp_path / "run")


def test_people_are_about_and_the_record_knows_what_they_mean_to_do(
    world: SimulatorSession, tmp_path: Path
) -> None:
    plan = short_plan(world, write_driver(tmp_path), people=8)
    kept = record.open(run_episode(plan, world, tmp_path / "run").folder)
    people = kept.actors.filter(pl.col("kind") == "walker").collect()
    assert people.height == 8
    assert set(people["intended_class"]) <= {"not_crossing", "attempting", "crossing"}
    walked = kept.states.filter(pl.col("actor").is_in(people["actor"].to_list())).collect()
    assert np.hypot(walked["vx_mps"], walked["vy_mps"]).max() > 0.5
