"""Rollouts on a real server: they begin where the record is, and depend on their seed alone."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from short_plans import short_plan

import jaywalk.record
from jaywalk.metrics.realism.jaywalk_score.score import score_jaywalk1
from jaywalk.metrics.realism.scene import CURRENT_STEP, Case, Rollouts
from jaywalk.rollouts._closed_loop import ClosedLoop
from jaywalk.rollouts.cases._recorded import RecordedScene, recorded_scenes
from jaywalk.runner._episode import run_episode
from jaywalk.runner.session import SimulatorSession


@pytest.fixture(scope="module")
def recorded(world: SimulatorSession, tmp_path_factory: pytest.TempPathFactory) -> RecordedScene:
    plan = short_plan(world, "cruise", length_m=90, vehicles=8, people=8)
    outcome = run_episode(plan, world, tmp_path_factory.mktemp("run"))
    return recorded_scenes(jaywalk.record.open(outcome.folder))[0]


@pytest.mark.parametrize("policy", ["traffic", "cruise"])
def test_rollouts_go_on_from_the_record(
    policy: str, recorded: RecordedScene, world: SimulatorSession
) -> None:
    loop = ClosedLoop(recorded=recorded, world=world, policy=policy, seed=3)
    found = loop.roll_out(2)
    scene = recorded.scene
    assert found.x_m.shape == (2, len(scene.object_id), 80)
    # The first step is as long as it was in the record.
    now = np.stack([scene.x_m[:, CURRENT_STEP], scene.y_m[:, CURRENT_STEP]])
    then = np.stack([scene.x_m[:, CURRENT_STEP + 1], scene.y_m[:, CURRENT_STEP + 1]])
    first = np.stack([found.x_m[:, :, 0], found.y_m[:, :, 0]])
    assert np.hypot(*(first - then[:, None])).max() < 0.15
    moved = np.hypot(*(first[:, 0] - now))
    assert moved == pytest.approx(np.hypot(*(then - now)), abs=0.15)
    again = ClosedLoop(recorded=recorded, world=world, policy=policy, seed=3).roll_out(1)
    for field in dataclasses.fields(found):
        one, other = getattr(found, field.name), getattr(again, field.name)
        if one is None:  # sizes, which rollouts of recorded scenes do not change
            assert other is None, field.name
        else:
            assert np.array_equal(one[0], other[0]), field.name
    assert not np.array_equal(found.x_m[0], found.x_m[1])


def test_what_happens_later_costs_on_our_records_too(recorded: RecordedScene) -> None:
    """The properties of the better score on recorded data: a delay costs, more of it more."""
    scene = recorded.scene
    values = []
    for late in (0, 5, 15):
        steps = np.maximum(np.arange(CURRENT_STEP + 1, 91) - late, CURRENT_STEP)
        poses = {
            name: np.repeat(getattr(scene, name)[None, :, steps], 4, axis=0)
            for name in ("x_m", "y_m", "z_m", "heading_rad")
        }
        case = Case(scene=scene, rollouts=Rollouts(**poses))
        values.append(score_jaywalk1([case]).likeness.value)
    assert values[0] == pytest.approx(1.0)
    assert values[0] > values[1] > values[2]
