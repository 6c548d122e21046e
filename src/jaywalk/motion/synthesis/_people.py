"""Walking people: age, size, temperament and gait style, drawn for a speed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from jaywalk.motion.synthesis._draws import Draws
from jaywalk.motion.synthesis._gait_model import StyleRequest, draw_style
from jaywalk.motion.synthesis._programme import ClipPerson
from jaywalk.motion.synthesis._stand_model import draw_posture, draw_sway_spread
from jaywalk.motion.synthesis.model_file import MotionModel


class Age(StrEnum):
    """Ages; no child was captured, theirs are scaled adults' movements."""

    CHILD = "child"
    ADULT = "adult"
    ELDERLY = "elderly"


@dataclass(frozen=True, slots=True, kw_only=True)
class Role:
    """A person with the words for the caption."""

    person: ClipPerson
    age: Age
    plain: bool

    @property
    def noun(self) -> str:
        """The person in a caption."""
        return {Age.CHILD: "a child", Age.ADULT: "a person", Age.ELDERLY: "an old person"}[self.age]


def draw_age(draws: Draws) -> Age:
    """An age as in a street: 15 % children, 17 % elderly."""
    return (Age.CHILD, Age.ELDERLY, Age.ADULT)[draws.pick(np.array([0.15, 0.17, 0.68]))]


def draw_role(
    model: MotionModel, age: Age, speed_mps: float, draws: Draws, *, plain: bool | None = None
) -> Role:
    """A person of an age whose gait suits a speed (in their own metres).

    Args:
        model: The model.
        age: Age.
        speed_mps: Speed they will mostly have.
        draws: Random numbers.
        plain: Whether odd gaits are avoided; drawn if None.
    """
    scale = {
        Age.CHILD: draws.uniform(0.64, 0.86),
        Age.ADULT: float(np.clip(draws.normal(1.06, 0.055), 0.93, 1.2)),
        Age.ELDERLY: float(np.clip(draws.normal(1.02, 0.05), 0.9, 1.14)),
    }[age]
    if plain is None:
        plain = draws.chance(0.6 if age is Age.CHILD else 0.8)
    pace = speed_mps / float(np.sqrt(scale))
    run_from = float(np.clip(draws.normal(1.85, 0.08), 1.7, 2.0))
    noise = draws.uniform(0.25, 0.5) * (1.5 if age is Age.CHILD else 1.0)
    request = StyleRequest(speed_mps=pace, run=pace > run_from, plain=plain, noise=noise)
    person = ClipPerson(
        style=draw_style(model.gait, request, draws),
        posture=draw_posture(model.stand, draws, neutral=True),
        sway=draw_sway_spread(model.stand, draws),
        body_scale=scale,
        run_from_mps=run_from,
        stoop_rad=draws.angle(4.0, 11.0) if age is Age.ELDERLY else 0.0,
        restless=draws.uniform(0.3, 0.6) * (1.4 if age is Age.CHILD else 1.0),
    )
    return Role(person=person, age=age, plain=plain)


def in_odd_posture(role: Role, model: MotionModel, draws: Draws) -> Role:
    """The same person standing in an unusual posture."""
    posture = draw_posture(model.stand, draws, neutral=False)
    return replace(role, person=replace(role.person, posture=posture))
