"""The child after a ball and others in their towns: solved by the expert, dangerous for blind."""

from __future__ import annotations

from functools import cache

import numpy as np
import polars as pl
import pytest

from jaywalk import record
from jaywalk.runner._code import code_of_run
from jaywalk.runner._episode import run_episode
from jaywalk.runner.plan import AgentSpec, plan_episodes
from jaywalk.runner.session import SimulatorSession
from jaywalk.scenarios.suite import suite_of_files
from jaywalk.scenarios.toolbox.templates import TemplateRequest, scenario_template

pytestmark = pytest.mark.slow
NAMES = ("child-after-ball", "dog-walker", "pram", "wheelchair", "group-of-children")
TOWNS = ("Harbour", "Orchard", "Ridge")


@pytest.fixture(scope="module")
def driven(world: SimulatorSession, tmp_path_factory: pytest.TempPathFactory):
    """Drive a template in a town with an agent; returns the record."""
    folder = tmp_path_factory.mktemp("everyday")

    @cache
    def drive(name: str, town: str, agent: str) -> record.Record:
        file = folder / f"{town}-{name}.toml"
        request = TemplateRequest(name=file.stem, type=name, town=town)
        file.write_text(scenario_template(request, str(file)))
        suite = suite_of_files([file])
        code = code_of_run(suite, agent)
        (plan,) = plan_episodes(suite, AgentSpec(name=agent), (1,), code=code)
        return record.open(run_episode(plan, world, folder / agent).folder)

    return drive


def hits(kept: record.Record, prefix: str) -> int:
    """Contacts of the ego with actors of some blueprints."""
    wanted = kept.actors.filter(pl.col("type_id").str.starts_with(prefix)).collect()["actor"]
    events = kept.events.filter(pl.col("kind") == "contact").collect()
    return int(events["other"].is_in(wanted.to_list()).sum())


def states(kept: record.Record, prefix: str) -> pl.DataFrame:
    """States of the first actor of some blueprints, tick by tick."""
    found = kept.actors.filter(pl.col("type_id").str.starts_with(prefix)).collect()["actor"]
    return kept.states.filter(pl.col("actor") == found.min()).collect().sort("tick")


def gap_m(one: pl.DataFrame, other: pl.DataFrame) -> np.ndarray:
    """Distance between two actors; things that stand have rows only when they move."""
    both = one.join(other, on="tick", suffix="_other")
    ahead, aside = (both[f"{axis}_m"] - both[f"{axis}_m_other"] for axis in "xy")
    return np.hypot(ahead.to_numpy(), aside.to_numpy())


@pytest.mark.parametrize("town", TOWNS)
@pytest.mark.parametrize("name", NAMES)
def test_the_expert_solves_it_and_a_careless_driver_hits_somebody(driven, name, town) -> None:
    solved = driven(name, town, "expert")
    assert solved.episode.end_reason == "route completed"
    assert hits(solved, "walker.") == hits(solved, "static.") == 0
    assert hits(driven(name, town, "blind"), "walker.pedestrian") > 0


def test_bodies_and_motion(driven) -> None:
    """Positions over time, against the laws that the page states."""
    kept = driven("child-after-ball", "Harbour", "expert")
    ball = states(kept, "static.prop.ball")
    step = np.hypot(np.diff(ball["x_m"]), np.diff(ball["y_m"])) / 0.05
    rolling = step[step > 0.2][2:]
    assert np.polyfit(np.arange(len(rolling)) * 0.05, rolling, 1)[0] == pytest.approx(-0.9, 0.05)
    child = states(kept, "walker.")
    clips = child["clip"].drop_nulls().unique().to_list()
    assert len(clips) == 1
    assert "run" in clips[0]
    assert kept.episode.code.motions
    seat = states(driven("wheelchair", "Harbour", "expert"), "walker.")
    speed = np.hypot(seat["vx_mps"].to_numpy(), seat["vy_mps"].to_numpy())
    assert np.median(speed[speed > 0.2]) == pytest.approx(1.1, abs=0.02)
    walked = driven("dog-walker", "Harbour", "expert")
    owner, dog = states(walked, "walker.pedestrian"), states(walked, "walker.animal")
    assert gap_m(owner, dog).max() < 2.0
    pushed = driven("pram", "Harbour", "expert")
    person, pram = states(pushed, "walker."), states(pushed, "static.prop.pram")
    ahead_m = gap_m(person, pram)
    assert ahead_m.min() > 0.6
    assert ahead_m.max() < 1.1
