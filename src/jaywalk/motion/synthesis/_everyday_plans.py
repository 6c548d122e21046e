"""Behaviours of the library of everyday people: those of the first library, and actions."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from jaywalk.motion.library.classes import MotionClass
from jaywalk.motion.synthesis._actions import ActionKind
from jaywalk.motion.synthesis._attempting_plans import ATTEMPTING
from jaywalk.motion.synthesis._crossing_plans import CROSSING
from jaywalk.motion.synthesis._draws import Draws
from jaywalk.motion.synthesis._lively_plans import LIVELY
from jaywalk.motion.synthesis._people import Age, draw_role
from jaywalk.motion.synthesis._plans import Behaviour, ClipPlan, nothing
from jaywalk.motion.synthesis._programme import HoldBlock, Turn, WalkBlock
from jaywalk.motion.synthesis._staying_plans import STAYING
from jaywalk.motion.synthesis.model_file import MotionModel

_SLOWEST_RUNNER_MPS: Final = 2.6  # people who hurry walk fast; they do not run


def _brisk(model: MotionModel, draws: Draws) -> ClipPlan:
    """Walks as fast as people do who hurry over a road."""
    age = Age.CHILD if draws.chance(0.15) else Age.ADULT
    speed = draws.uniform(1.55, 1.85) if age is Age.CHILD else draws.uniform(1.7, 2.15)
    role = draw_role(model, age, min(speed, 1.8), draws, plain=True)
    person = replace(role.person, run_from_mps=_SLOWEST_RUNNER_MPS)
    role = replace(role, person=person)
    starts = draws.chance(0.4)
    bend = Turn(at_s=1.0, seconds=2.0, angle_rad=draws.normal(0.0, 0.08))
    walk = WalkBlock(
        seconds=draws.uniform(3.5, 5.5), speed_mps=speed, starts=starts, stops=False, turns=(bend,)
    )
    first = (HoldBlock(seconds=draws.uniform(0.3, 0.8)),) if starts else ()
    return ClipPlan(
        role=role,
        blocks=(*first, walk),
        acting=nothing,
        caption=f"{role.noun} walks very briskly across, in a hurry",
    )


def _acts(kind: ActionKind, motion_class: MotionClass, weight: float) -> Behaviour:
    return Behaviour(name=kind.value, kind=motion_class, weight=weight, action=kind)


_STRANGE_WEIGHT: Final = 0.45  # of jumping, kicking, dancing and exercising people

EVERYDAY: Final = (
    *CROSSING,
    *ATTEMPTING,
    *STAYING,
    *(replace(one, weight=_STRANGE_WEIGHT * one.weight) for one in LIVELY),
    Behaviour(name="brisk", kind=MotionClass.CROSSING, weight=0.08, make=_brisk),
    _acts(ActionKind.CARRY, MotionClass.CROSSING, 0.05),
    _acts(ActionKind.STOP, MotionClass.CROSSING, 0.09),
    _acts(ActionKind.START, MotionClass.CROSSING, 0.09),
    _acts(ActionKind.WAIT, MotionClass.NOT_CROSSING, 0.70),
    _acts(ActionKind.CONVERSE, MotionClass.NOT_CROSSING, 0.16),
    _acts(ActionKind.STEP_BACK, MotionClass.NOT_CROSSING, 0.13),
    _acts(ActionKind.TURN_BACK, MotionClass.NOT_CROSSING, 0.10),
    _acts(ActionKind.EVADE, MotionClass.NOT_CROSSING, 0.10),
)
