"""Measures of posed people find what was put into them: pops, sliding, sinking, hanging."""

from __future__ import annotations

import math

import numpy as np
import pytest

from jaywalk.metrics.motion.quality import measure_person, summarise_quality
from jaywalk.metrics.safety.person_hits import Story
from jaywalk.metrics.safety.posed import PosedPerson
from jaywalk.motion.carla_rigs import load_rig
from jaywalk.motion.retarget import DRIVEN, RigClip, RootPolicy
from jaywalk.town.ground import flat_ground

TICKS = 100


def standing(**changes: object) -> PosedPerson:
    """Somebody at rest on the ground at 2 m height."""
    rig = load_rig("man")
    bones = [rig.bone_index[name] for name in DRIVEN]
    turns = np.repeat(rig.rest_local[None, bones, 3:], TICKS, axis=0)
    hips = np.repeat(rig.rest_local[None, rig.bone_index["crl_hips__C"], :3], TICKS, axis=0)
    actor = np.zeros((TICKS, 4))
    actor[:, 2] = 2.0
    for name, change in changes.items():
        change({"turns": turns, "hips": hips, "actor": actor}[name])  # type: ignore[operator]
    motion = RigClip(
        rig="man", policy=RootPolicy.KEEP, actor=actor, hips_m=hips, turns=turns, rate_hz=20.0
    )
    return PosedPerson(
        actor=7,
        tick=np.arange(TICKS),
        clip=("stand",) * TICKS,
        phase=np.linspace(0, 1, TICKS),
        weight=np.ones(TICKS),
        motion=motion,
    )


def measured(**changes: object):  # type: ignore[no-untyped-def]
    story = Story(actor=7, intended="crossing")
    return measure_person("e", standing(**changes), story, flat_ground(2.0))


def test_who_stands_still_is_on_the_ground_and_nothing_else() -> None:
    found = measured()
    assert (found.pops, found.slides, found.sunk, found.floating) == (0, 0, 0, 0)
    assert found.stance == 2 * TICKS
    assert found.slip_mps == 0.0
    assert found.low_m == pytest.approx(0.0, abs=0.002)


def test_a_bone_that_jumps_and_a_person_who_jumps_pop() -> None:
    def twist(turns: np.ndarray) -> None:
        half = math.radians(35.0) / 2.0
        turns[50:, 5] = [math.cos(half), math.sin(half), 0.0, 0.0]

    def leap(actor: np.ndarray) -> None:
        actor[70:, 0] += 1.0

    assert measured(turns=twist).pops == 1
    assert measured(turns=twist).pop_tick == 50
    assert measured(actor=leap).pops == 1


def test_a_runner_s_knee_is_fast_and_does_not_pop() -> None:
    def run(turns: np.ndarray) -> None:
        half = np.radians(70.0 * np.sin(np.arange(TICKS) * 0.6)) / 2.0
        turns[:, 5] = 0.0
        turns[:, 5, 0], turns[:, 5, 1] = np.cos(half), np.sin(half)

    found = measured(turns=run)
    assert found.bone_step_deg > 38.0
    assert found.pops == 0


def test_feet_that_glide_slide() -> None:
    def glide(actor: np.ndarray) -> None:
        actor[:, 0] = 0.5 / 20.0 * np.arange(TICKS)  # half a metre a second

    found = measured(actor=glide)
    assert found.slip_mps == pytest.approx(0.5, rel=0.02)
    assert found.slides == found.stance


def test_sinking_and_hanging() -> None:
    def sink(actor: np.ndarray) -> None:
        actor[20:40, 2] -= 0.05

    def hang(actor: np.ndarray) -> None:
        actor[10:60, 2] += 0.2

    def leap(actor: np.ndarray) -> None:
        actor[10:18, 2] += 0.2

    assert measured(actor=sink).sunk == 20
    assert measured(actor=hang).floating == 40  # beyond half a second
    assert measured(actor=leap).floating == 0


def test_people_are_summed_up_by_class() -> None:
    found = summarise_quality([measured(), measured()])
    assert found["groups"]["all"] == found["groups"]["crossing"]
    assert found["groups"]["all"]["people"] == 2
    assert found["groups"]["all"]["person_minutes"] == pytest.approx(2 * TICKS / 1200.0)
    assert found["worst"]["sunk"] == []
