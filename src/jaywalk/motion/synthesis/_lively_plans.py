"""People who stay but move a lot: jumping, kicking, marching, exercising, dancing, hopping on."""

from __future__ import annotations

from typing import Final

import numpy as np

from jaywalk.motion.library.classes import MotionClass
from jaywalk.motion.synthesis._draws import Draws
from jaywalk.motion.synthesis._gestures import (
    bow,
    crouch,
    gesture,
    kick,
    raise_leg,
    rock,
    swing_arms,
    twist,
)
from jaywalk.motion.synthesis._layer import Layer
from jaywalk.motion.synthesis._people import Age, draw_role
from jaywalk.motion.synthesis._plans import Behaviour, ClipPlan
from jaywalk.motion.synthesis._programme import HoldBlock, Leap, Lift, Shuffle
from jaywalk.motion.synthesis._staying_plans import stander
from jaywalk.motion.synthesis._timeline import FRAMES_PER_S, Timeline
from jaywalk.motion.synthesis.model_file import MotionModel


def swing_for_leap(layer: Layer, leap: Leap, swing: float) -> None:
    """Arms and trunk of a jump: back and down before it, up with it."""
    time_s = np.arange(len(layer)) / FRAMES_PER_S - leap.at_s - 0.45
    back = -np.exp(-(((time_s + 0.1) / 0.2) ** 2))
    lift = np.exp(-(((time_s - 0.45) / 0.22) ** 2))
    for shoulder in (16, 17):
        layer.turns[:, shoulder, 0] -= swing * (0.6 * back + 1.2 * lift)
    layer.bend(-0.35 * back + 0.12 * np.exp(-(((time_s - 0.95) / 0.25) ** 2)))


def leaps_in_a_row(
    count: int, draws: Draws, *, forward_m: float = 0.0, gap_s: float = 2.1
) -> tuple[Leap, ...]:
    """Jumps one after the other."""
    leaps, at_s = [], draws.uniform(0.3, 1.0)
    for _ in range(count):
        leaps.append(
            Leap(
                at_s=at_s,
                height_m=draws.uniform(0.08, 0.25),
                dip_m=draws.uniform(0.1, 0.18),
                forward_m=forward_m * draws.uniform(0.8, 1.2),
            )
        )
        at_s += gap_s + draws.uniform(0.0, 0.5)
    return tuple(leaps)


def _leap(model: MotionModel, draws: Draws) -> ClipPlan:
    age = Age.CHILD if draws.chance(0.5) else Age.ADULT
    role = draw_role(model, age, 0.9, draws, plain=True)
    leaps = leaps_in_a_row(1 + int(draws.uniform(0.0, 3.0)), draws, gap_s=1.7)
    swing = draws.uniform(0.2, 1.1)

    def act(layer: Layer, _timeline: Timeline, _draws: Draws) -> None:
        for leap in leaps:
            swing_for_leap(layer, leap, swing)

    hold = HoldBlock(seconds=leaps[-1].at_s + 2.3, leaps=leaps)
    caption = f"{role.noun} jumps on the spot {('once', 'twice', 'three times')[len(leaps) - 1]}"
    return ClipPlan(role=role, blocks=(hold,), acting=act, caption=caption)


def _hop(model: MotionModel, draws: Draws) -> ClipPlan:
    """Hops ahead several times: this one gets away."""
    age = Age.CHILD if draws.chance(0.5) else Age.ADULT
    role = draw_role(model, age, 0.9, draws, plain=True)
    way = draws.uniform(0.4, 0.8) * role.person.body_scale
    leaps = leaps_in_a_row(3 + int(draws.uniform(0.0, 2.0)), draws, forward_m=way, gap_s=1.5)
    swing = draws.uniform(0.3, 1.2)

    def act(layer: Layer, _timeline: Timeline, _draws: Draws) -> None:
        for leap in leaps:
            swing_for_leap(layer, leap, swing)

    hold = HoldBlock(seconds=leaps[-1].at_s + 2.0, leaps=leaps)
    return ClipPlan(
        role=role, blocks=(hold,), acting=act, caption=f"{role.noun} hops forward several times"
    )


def _kick(model: MotionModel, draws: Draws) -> ClipPlan:
    role = stander(model, draws, odd=0.15)
    lifts, at_s = [], draws.uniform(0.5, 1.2)
    side = 0 if draws.chance(0.35) else 1
    for _ in range(1 + int(draws.uniform(0.0, 3.0))):
        lifts.append(Lift(at_s=at_s, seconds=draws.uniform(0.7, 1.1), side=side))
        at_s += lifts[-1].seconds + draws.uniform(0.6, 1.5)
        side = side if draws.chance(0.6) else 1 - side
    sizes = [draws.uniform(0.5, 1.1) for _ in lifts]

    def act(layer: Layer, _timeline: Timeline, _draws: Draws) -> None:
        for lift, size in zip(lifts, sizes, strict=True):
            kick(layer, lift.at_s, lift.seconds, lift.side, size)

    hold = HoldBlock(seconds=at_s + 0.5, lifts=tuple(lifts))
    caption = f"{role.noun} stands and kicks with the {('left', 'right')[lifts[0].side]} foot"
    return ClipPlan(role=role, blocks=(hold,), acting=act, caption=caption)


def _march(model: MotionModel, draws: Draws) -> ClipPlan:
    """Marches on the spot, or stands on one leg."""
    role = stander(model, draws, odd=0.1)
    marches = draws.chance(0.7)
    each = draws.uniform(0.45, 0.8) if marches else draws.uniform(1.5, 3.0)
    count = int(draws.uniform(5.0, 10.0)) if marches else 2
    hip, knee = draws.uniform(0.5, 1.4), draws.uniform(0.7, 1.7)
    side = 0 if draws.chance(0.5) else 1
    rest = 0.08 if marches else 0.9
    start = draws.uniform(0.5, 1.0)
    lifts = tuple(
        Lift(at_s=start + i * (each + rest), seconds=each, side=(side + i) % 2)
        for i in range(count)
    )

    def act(layer: Layer, _timeline: Timeline, draws: Draws) -> None:
        for lift in lifts:
            raise_leg(layer, lift.at_s, lift.seconds, lift.side, hip, knee)
        if marches and draws.chance(0.7):
            end = lifts[-1].at_s + each
            swing_arms(layer, start, end, 2.0 * (each + rest), draws)

    hold = HoldBlock(seconds=lifts[-1].at_s + each + 0.7, lifts=lifts)
    does = "marches on the spot" if marches else "stands on one leg, then on the other"
    return ClipPlan(role=role, blocks=(hold,), acting=act, caption=f"{role.noun} {does}")


def _exercise(model: MotionModel, draws: Draws) -> ClipPlan:
    role = stander(model, draws, odd=0.15)
    kind = draws.one_of(("squats", "toes", "arms", "twists"))
    seconds = draws.uniform(5.0, 8.5)

    def act(layer: Layer, _timeline: Timeline, draws: Draws) -> None:
        at_s, way = draws.uniform(0.2, 0.6), 1.0
        if kind == "arms":
            swing_arms(layer, at_s, seconds - 0.3, draws.uniform(0.8, 1.8), draws)
        while kind != "arms" and at_s < seconds - 2.0:
            if kind == "squats":
                depth = draws.uniform(0.22, 0.4)
                at_s = crouch(layer, at_s, draws.uniform(0.0, 0.4), depth, draws)
            elif kind == "toes":
                angle = draws.angle(55.0, 80.0)
                at_s = bow(layer, at_s, draws.uniform(0.1, 0.6), angle, draws)
            else:
                angle = way * draws.angle(35.0, 60.0)
                at_s = twist(layer, at_s, draws.uniform(0.0, 0.3), angle)
            way = -way
        if kind == "twists":
            swing_arms(layer, 0.2, seconds - 0.3, 3.2, draws)

    words = {
        "squats": "does squats",
        "toes": "bends down to the toes several times",
        "arms": "swings the arms in circles",
        "twists": "twists the trunk from side to side",
    }
    caption = f"{role.noun} stands and {words[kind]}"
    return ClipPlan(role=role, blocks=(HoldBlock(seconds=seconds),), acting=act, caption=caption)


def _dance(model: MotionModel, draws: Draws) -> ClipPlan:
    role = stander(model, draws, odd=0.3)
    period = draws.uniform(0.55, 1.1)
    seconds = draws.uniform(5.0, 8.5)
    moves, at_s, way = [], draws.uniform(0.4, 1.0), 1.0
    while at_s < seconds - 1.6:
        moves.append(
            Shuffle(
                at_s=at_s,
                seconds=2.0 * max(0.42, period / 2.0),
                left_m=way * draws.uniform(0.05, 0.3),
                turn_rad=draws.normal(0.0, 0.3),
            )
        )
        at_s += moves[-1].seconds + draws.uniform(0.05, 1.0)
        way = -way
    size = draws.uniform(0.4, 1.2)

    def act(layer: Layer, _timeline: Timeline, draws: Draws) -> None:
        rock(layer, 0.1, seconds - 0.2, period, size, draws)
        if draws.chance(0.6):
            swing_arms(layer, 0.2, seconds - 0.3, 2.0 * period, draws)
        at_s = draws.uniform(0.0, 0.6)
        while at_s < seconds - 1.2:
            at_s = gesture(layer, at_s, model.stand, draws) + draws.uniform(-0.2, 0.5)

    hold = HoldBlock(seconds=seconds, shuffles=tuple(moves))
    caption = f"{role.noun} dances on the spot, swaying and moving the arms"
    return ClipPlan(role=role, blocks=(hold,), acting=act, caption=caption)


LIVELY: Final = (
    Behaviour(name="hop", kind=MotionClass.CROSSING, weight=0.03, make=_hop),
    *(
        Behaviour(name=name, kind=MotionClass.NOT_CROSSING, weight=weight, make=make)
        for name, weight, make in (
            ("leap", 0.05, _leap),
            ("kick", 0.05, _kick),
            ("march", 0.05, _march),
            ("exercise", 0.07, _exercise),
            ("dance", 0.07, _dance),
        )
    ),
)
