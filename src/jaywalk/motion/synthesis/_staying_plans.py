"""People who stay: idle, on the phone, gesturing, shuffling, bending, pacing."""

from __future__ import annotations

from typing import Final

import numpy as np

from jaywalk.motion.library.classes import MotionClass
from jaywalk.motion.synthesis._draws import Draws
from jaywalk.motion.synthesis._gestures import (
    ARM_POSES,
    bow,
    crouch,
    gesture,
    look_round,
    shift_weight,
    twist,
    use_arms,
    wave,
)
from jaywalk.motion.synthesis._layer import Layer
from jaywalk.motion.synthesis._people import Role, draw_age, draw_role, in_odd_posture
from jaywalk.motion.synthesis._plans import Behaviour, ClipPlan
from jaywalk.motion.synthesis._programme import HoldBlock, Shuffle, Turn, WalkBlock
from jaywalk.motion.synthesis._timeline import FRAMES_PER_S, Timeline
from jaywalk.motion.synthesis.model_file import MotionModel

_STILL: Final = (
    "phones",
    "reads a phone",
    "types on a phone",
    "looks at the watch",
    "puts the hands on the hips",
    "folds the arms",
    "puts both hands in the pockets",
)


def stander(model: MotionModel, draws: Draws, *, odd: float = 0.0) -> Role:
    """A standing person, sometimes in an unusual posture."""
    role = draw_role(model, draw_age(draws), 0.8, draws, plain=True)
    return in_odd_posture(role, model, draws) if draws.chance(odd) else role


def _restlessness(layer: Layer, draws: Draws, *, every_s: float = 4.0) -> None:
    """Shift the weight from one leg to the other every few seconds."""
    at_s = draws.uniform(0.0, every_s)
    side = 1.0 if draws.chance(0.5) else -1.0
    while at_s < len(layer) / FRAMES_PER_S - 1.0:
        at_s = shift_weight(layer, at_s, draws.uniform(1.0, 4.0), side, draws)
        at_s += draws.uniform(0.2, every_s)
        side = -side


def _small_steps(seconds: float, draws: Draws, *, chance: float) -> tuple[Shuffle, ...]:
    """Now and then a foot is put elsewhere."""
    if not draws.chance(chance):
        return ()
    return (
        Shuffle(
            at_s=draws.uniform(0.5, max(0.6, seconds - 1.6)),
            seconds=draws.uniform(0.8, 1.1),
            left_m=draws.normal(0.0, 0.05),
            forward_m=draws.normal(0.0, 0.05),
            turn_rad=draws.normal(0.0, 0.25),
        ),
    )


def _idle(model: MotionModel, draws: Draws) -> ClipPlan:
    role = stander(model, draws, odd=0.12)
    seconds = draws.uniform(4.5, 9.0)
    hold = HoldBlock(seconds=seconds, shuffles=_small_steps(seconds, draws, chance=0.4))

    def act(layer: Layer, _timeline: Timeline, draws: Draws) -> None:
        _restlessness(layer, draws)

    caption = f"{role.noun} stands and shifts their weight from one leg to the other"
    return ClipPlan(role=role, blocks=(hold,), acting=act, caption=caption)


def _look(model: MotionModel, draws: Draws) -> ClipPlan:
    role = stander(model, draws)
    seconds = draws.uniform(5.0, 8.5)
    hold = HoldBlock(seconds=seconds, shuffles=_small_steps(seconds, draws, chance=0.5))

    def act(layer: Layer, _timeline: Timeline, draws: Draws) -> None:
        at_s = draws.uniform(0.1, 0.8)
        while at_s < seconds - 1.5:
            if draws.chance(0.25):
                way = 1.0 if draws.chance(0.5) else -1.0
                angle = way * draws.angle(30.0, 55.0)
                at_s = twist(layer, at_s, draws.uniform(0.3, 1.0), angle)
            else:
                at_s = look_round(layer, at_s, draws, 1 + int(draws.uniform(0, 3)))
            at_s += draws.uniform(0.1, 1.2)
        _restlessness(layer, draws, every_s=6.0)

    caption = f"{role.noun} stands waiting and looks round to the left and the right"
    return ClipPlan(role=role, blocks=(hold,), acting=act, caption=caption)


def _phone(model: MotionModel, draws: Draws) -> ClipPlan:
    role = stander(model, draws)
    thing = draws.one_of(_STILL)
    seconds = draws.uniform(5.0, 9.0)
    hold = HoldBlock(seconds=seconds, shuffles=_small_steps(seconds, draws, chance=0.3))

    def act(layer: Layer, _timeline: Timeline, draws: Draws) -> None:
        start = draws.uniform(-1.5, 1.5)
        end = use_arms(layer, thing, start, draws.uniform(1.5, seconds + 1.0), draws)
        if end < seconds - 2.0:
            look_round(layer, end, draws)
        _restlessness(layer, draws, every_s=5.0)

    caption = f"{role.noun} stands and {thing}"
    return ClipPlan(role=role, blocks=(hold,), acting=act, caption=caption)


def _hands(model: MotionModel, draws: Draws) -> ClipPlan:
    """Gestures of the gesture model, such as talking or working with the hands."""
    role = stander(model, draws, odd=0.25)
    seconds = draws.uniform(4.0, 8.5)
    hold = HoldBlock(seconds=seconds, shuffles=_small_steps(seconds, draws, chance=0.3))

    def act(layer: Layer, _timeline: Timeline, draws: Draws) -> None:
        at_s = draws.uniform(-0.5, 0.5) if draws.chance(0.3) else draws.uniform(0.0, 0.8)
        at_s = max(at_s, 0.0)
        while at_s < seconds - 1.2:
            at_s = gesture(layer, at_s, model.stand, draws) + draws.uniform(-0.3, 0.8)
        if draws.chance(0.5):
            _restlessness(layer, draws)

    caption = f"{role.noun} stands and gestures with the arms and hands"
    return ClipPlan(role=role, blocks=(hold,), acting=act, caption=caption)


def _act(model: MotionModel, draws: Draws) -> ClipPlan:
    """Acts with a meaning, one after the other."""
    role = stander(model, draws)
    seconds = draws.uniform(5.0, 8.5)
    names = [draws.one_of(tuple(ARM_POSES)) for _ in range(2)]
    waves = draws.chance(0.35)
    hold = HoldBlock(seconds=seconds, shuffles=_small_steps(seconds, draws, chance=0.35))

    def act(layer: Layer, _timeline: Timeline, draws: Draws) -> None:
        at_s = draws.uniform(0.2, 0.9)
        if waves:
            at_s = wave(layer, at_s, draws.uniform(0.8, 2.0), draws) + 0.3
        for name in names:
            if at_s < seconds - 1.5:
                at_s = use_arms(layer, name, at_s, draws.uniform(0.5, 1.8), draws) + 0.2

    did = " and ".join([*(["waves"] if waves else []), *names])
    return ClipPlan(role=role, blocks=(hold,), acting=act, caption=f"{role.noun} stands, {did}")


def _bend(model: MotionModel, draws: Draws) -> ClipPlan:
    """Picks something up, ties a shoe, bows or leans back."""
    role = stander(model, draws)
    seconds = draws.uniform(4.5, 7.0)
    deep = draws.chance(0.65)
    depth = draws.uniform(0.18, 0.42)
    angle = draws.angle(25.0, 60.0) * (1.0 if draws.chance(0.8) else -0.35)

    def act(layer: Layer, _timeline: Timeline, draws: Draws) -> None:
        at_s = draws.uniform(0.3, 1.2)
        if deep:
            at_s = crouch(layer, at_s, draws.uniform(0.3, 1.8), depth, draws)
        else:
            at_s = bow(layer, at_s, draws.uniform(0.4, 1.5), angle, draws)
        if at_s < seconds - 1.5:
            look_round(layer, at_s, draws, 1)

    caption = f"{role.noun} {'crouches and picks something up' if deep else 'bends over'}"
    return ClipPlan(role=role, blocks=(HoldBlock(seconds=seconds),), acting=act, caption=caption)


def _spot(model: MotionModel, draws: Draws) -> ClipPlan:
    """Small steps: round, aside, back."""
    role = stander(model, draws, odd=0.1)
    moves = []
    at_s, words = draws.uniform(0.3, 1.0), []
    for _ in range(2 + draws.chance(0.5)):
        kind = draws.pick(np.array([0.4, 0.35, 0.25]))
        way = 1.0 if draws.chance(0.5) else -1.0
        if kind == 0:
            angle = draws.angle(50.0, 180.0)
            steps = 2 * int(np.ceil(angle / 0.8))
            move = Shuffle(at_s=at_s, seconds=0.42 * steps, turn_rad=way * angle, steps=steps)
            words.append("turns on the spot")
        elif kind == 1:
            distance = draws.uniform(0.15, 0.45)
            move = Shuffle(at_s=at_s, seconds=draws.uniform(0.9, 1.2), left_m=way * distance)
            words.append("steps aside")
        else:
            distance = draws.uniform(0.1, 0.3)
            move = Shuffle(at_s=at_s, seconds=draws.uniform(0.9, 1.2), forward_m=-distance)
            words.append("steps back")
        moves.append(move)
        at_s = move.at_s + move.seconds + draws.uniform(0.3, 1.2)

    def act(layer: Layer, _timeline: Timeline, draws: Draws) -> None:
        if draws.chance(0.5):
            look_round(layer, draws.uniform(0.0, 1.0), draws)

    hold = HoldBlock(seconds=at_s + 0.5, shuffles=tuple(moves))
    caption = f"{role.noun} stands, {', '.join(words)}"
    return ClipPlan(role=role, blocks=(hold,), acting=act, caption=caption)


def _pace(model: MotionModel, draws: Draws) -> ClipPlan:
    """A step or two about, never far."""
    age = draw_age(draws)
    speed = draws.uniform(0.4, 0.7)
    role = draw_role(model, age, speed, draws, plain=draws.chance(0.7))
    way = 1.0 if draws.chance(0.5) else -1.0
    turn = Turn(at_s=0.2, seconds=1.6, angle_rad=way * draws.uniform(0.0, 1.6))
    blocks = (
        HoldBlock(seconds=draws.uniform(1.0, 2.5)),
        WalkBlock(seconds=draws.uniform(0.4, 1.1), speed_mps=speed, turns=(turn,)),
        HoldBlock(seconds=draws.uniform(2.0, 4.5)),
    )

    def act(layer: Layer, _timeline: Timeline, draws: Draws) -> None:
        look_round(layer, draws.uniform(0.0, 1.0), draws, 1)

    caption = f"{role.noun} stands waiting, takes a step or two and stands again"
    return ClipPlan(role=role, blocks=blocks, acting=act, caption=caption)


STAYING: Final = tuple(
    Behaviour(name=name, kind=MotionClass.NOT_CROSSING, weight=weight, make=make)
    for name, weight, make in (
        ("idle", 0.09, _idle),
        ("look", 0.10, _look),
        ("phone", 0.11, _phone),
        ("hands", 0.16, _hands),
        ("act", 0.11, _act),
        ("bend", 0.07, _bend),
        ("spot", 0.07, _spot),
        ("pace", 0.07, _pace),
    )
)
