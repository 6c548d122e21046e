"""People who cross: walking, running, curving, hesitating, stumbling."""

from __future__ import annotations

from typing import Final

import numpy as np

from jaywalk.motion.library.classes import MotionClass
from jaywalk.motion.synthesis._draws import Draws
from jaywalk.motion.synthesis._gestures import lead_head, limp, look, look_round, stumble, use_arms
from jaywalk.motion.synthesis._layer import Layer
from jaywalk.motion.synthesis._people import Age, draw_age, draw_role
from jaywalk.motion.synthesis._plans import Behaviour, ClipPlan, block_start_s, nothing, pace_word
from jaywalk.motion.synthesis._programme import Block, HoldBlock, Pace, Turn, WalkBlock
from jaywalk.motion.synthesis._timeline import FRAMES_PER_S, Timeline
from jaywalk.motion.synthesis.model_file import MotionModel

#: Arm poses people keep while walking.
_CARRIED: Final = (
    "phones",
    "reads a phone",
    "types on a phone",
    "puts a hand in the pocket",
    "puts both hands in the pockets",
    "drinks",
    "folds the arms",
    "hails somebody",
    "points ahead",
    "shades the eyes",
)


def walking_speed_mps(age: Age, draws: Draws) -> float:
    """A walking speed of a person of an age."""
    mean, spread, low, high = {
        Age.CHILD: (1.05, 0.22, 0.6, 1.5),
        Age.ADULT: (1.25, 0.27, 0.65, 1.85),
        Age.ELDERLY: (0.85, 0.18, 0.42, 1.2),
    }[age]
    return float(np.clip(draws.normal(mean, spread), low, high))


def _ends(walk: WalkBlock, draws: Draws) -> tuple[Block, ...]:
    """A walk, perhaps between standing before and after."""
    blocks: list[Block] = [walk]
    if walk.starts:
        blocks.insert(0, HoldBlock(seconds=draws.uniform(0.3, 1.2)))
    if walk.stops:
        blocks.append(HoldBlock(seconds=draws.uniform(0.4, 1.2)))
    return tuple(blocks)


def _plain_walk(model: MotionModel, draws: Draws) -> ClipPlan:
    age = draw_age(draws)
    speed = walking_speed_mps(age, draws)
    role = draw_role(model, age, speed, draws)
    starts, stops = draws.chance(0.5), draws.chance(0.35)
    bend = Turn(at_s=draws.uniform(0.5, 2.0), seconds=2.5, angle_rad=draws.normal(0.0, 0.12))
    walk = WalkBlock(
        seconds=draws.uniform(3.8, 7.5), speed_mps=speed, starts=starts, stops=stops, turns=(bend,)
    )
    words = [role.noun, pace_word(speed), "forward"]
    if starts:
        words[1:1] = ["stands, then"]
    if stops:
        words.append("and stops")
    return ClipPlan(role=role, blocks=_ends(walk, draws), acting=nothing, caption=" ".join(words))


def _stroll(model: MotionModel, draws: Draws) -> ClipPlan:
    age = Age.ELDERLY if draws.chance(0.5) else Age.ADULT
    speed = draws.uniform(0.4, 0.72)
    role = draw_role(model, age, speed, draws)
    walk = WalkBlock(
        seconds=draws.uniform(5.5, 9.0),
        speed_mps=speed,
        starts=draws.chance(0.5),
        stops=draws.chance(0.4),
        turns=(Turn(at_s=1.5, seconds=3.0, angle_rad=draws.normal(0.0, 0.25)),),
    )

    def act(layer: Layer, _timeline: Timeline, draws: Draws) -> None:
        if draws.chance(0.5):
            look_round(layer, draws.uniform(1.0, 3.0), draws)

    return ClipPlan(
        role=role,
        blocks=_ends(walk, draws),
        acting=act,
        caption=f"{role.noun} {pace_word(speed)} across",
    )


def _run(model: MotionModel, draws: Draws) -> ClipPlan:
    age = Age.CHILD if draws.chance(0.3) else Age.ADULT
    speed = draws.uniform(1.9, 2.9) if age is Age.CHILD else draws.uniform(2.0, 4.0)
    role = draw_role(model, age, speed, draws, plain=draws.chance(0.9))
    starts = draws.chance(0.6)
    walk = WalkBlock(
        seconds=draws.uniform(3.0, 5.0),
        speed_mps=speed,
        starts=starts,
        stops=draws.chance(0.15),
        turns=(Turn(at_s=1.0, seconds=2.0, angle_rad=draws.normal(0.0, 0.15)),),
    )
    return ClipPlan(
        role=role,
        blocks=_ends(walk, draws),
        acting=nothing,
        caption=f"{role.noun} {'starts and ' if starts else ''}{pace_word(speed)} across",
    )


def _curve(model: MotionModel, draws: Draws) -> ClipPlan:
    age = draw_age(draws)
    speed = min(walking_speed_mps(age, draws), 1.4)
    role = draw_role(model, age, speed, draws)
    angle = draws.angle(40.0, 110.0) * (1.0 if draws.chance(0.5) else -1.0)
    turn = Turn(at_s=draws.uniform(0.8, 2.2), seconds=draws.uniform(1.8, 2.8), angle_rad=angle)
    walk = WalkBlock(
        seconds=draws.uniform(5.0, 7.5),
        speed_mps=speed,
        starts=draws.chance(0.4),
        stops=draws.chance(0.3),
        turns=(turn,),
    )

    def act(layer: Layer, timeline: Timeline, _draws: Draws) -> None:
        lead_head(layer, timeline.yaw_rad)

    way = "left" if angle > 0.0 else "right"
    caption = f"{role.noun} {pace_word(speed)} forward and turns to the {way}"
    return ClipPlan(role=role, blocks=_ends(walk, draws), acting=act, caption=caption)


def _wander(model: MotionModel, draws: Draws) -> ClipPlan:
    """Odd gaits on winding paths."""
    speed = draws.uniform(0.45, 1.1)
    role = draw_role(model, Age.ADULT, speed, draws, plain=False)
    turns = tuple(
        Turn(at_s=0.3 + 1.6 * i, seconds=1.6, angle_rad=draws.normal(0.0, 0.45)) for i in range(4)
    )
    walk = WalkBlock(
        seconds=draws.uniform(5.5, 8.0), speed_mps=speed, starts=False, stops=False, turns=turns
    )
    caption = f"{role.noun} staggers across, swaying from side to side"
    return ClipPlan(role=role, blocks=(walk,), acting=nothing, caption=caption)


def _style(model: MotionModel, draws: Draws) -> ClipPlan:
    """Gaits of every kind, also sneaking, swaggering and bent ones."""
    speed = float(np.clip(np.exp(draws.normal(-0.15, 0.4)), 0.4, 1.8))
    role = draw_role(model, Age.ADULT, speed, draws, plain=False)
    walk = WalkBlock(
        seconds=draws.uniform(4.0, 7.0),
        speed_mps=speed,
        starts=draws.chance(0.2),
        stops=draws.chance(0.2),
        turns=(Turn(at_s=1.0, seconds=2.5, angle_rad=draws.normal(0.0, 0.35)),),
    )
    caption = f"{role.noun} {pace_word(speed)} forward in a peculiar way"
    return ClipPlan(role=role, blocks=_ends(walk, draws), acting=nothing, caption=caption)


def _limp(model: MotionModel, draws: Draws) -> ClipPlan:
    age = Age.ELDERLY if draws.chance(0.5) else Age.ADULT
    speed = draws.uniform(0.45, 0.95)
    role = draw_role(model, age, speed, draws, plain=True)
    side, size = (0 if draws.chance(0.5) else 1), draws.uniform(0.7, 1.6)
    walk = WalkBlock(seconds=draws.uniform(5.0, 8.0), speed_mps=speed, starts=False, stops=False)

    def act(layer: Layer, timeline: Timeline, _draws: Draws) -> None:
        limp(layer, timeline.phase, timeline.amplitude, side, size)

    caption = f"{role.noun} limps across, sparing the {('left', 'right')[side]} leg"
    return ClipPlan(role=role, blocks=(walk,), acting=act, caption=caption)


def _busy(model: MotionModel, draws: Draws) -> ClipPlan:
    """Walking with a phone, a cup, hands in the pockets."""
    age = draw_age(draws)
    speed = 0.9 * walking_speed_mps(age, draws)
    role = draw_role(model, age, speed, draws, plain=True)
    thing = draws.one_of(_CARRIED)
    walk = WalkBlock(
        seconds=draws.uniform(4.5, 7.5), speed_mps=speed, starts=draws.chance(0.4), stops=False
    )

    def act(layer: Layer, _timeline: Timeline, draws: Draws) -> None:
        end = len(layer) / FRAMES_PER_S
        start = draws.uniform(-1.5, 1.2)
        use_arms(layer, thing, start, draws.uniform(1.5, 1.3 * end), draws)

    caption = f"{role.noun} {pace_word(speed)} across and {thing}"
    return ClipPlan(role=role, blocks=_ends(walk, draws), acting=act, caption=caption)


def _looking(model: MotionModel, draws: Draws) -> ClipPlan:
    age = draw_age(draws)
    speed = walking_speed_mps(age, draws)
    role = draw_role(model, age, speed, draws)
    hold = HoldBlock(seconds=draws.uniform(1.2, 2.4))
    walk = WalkBlock(seconds=draws.uniform(3.5, 6.0), speed_mps=speed, stops=draws.chance(0.3))

    def act(layer: Layer, timeline: Timeline, draws: Draws) -> None:
        end = look_round(layer, draws.uniform(0.0, 0.4), draws)
        if draws.chance(0.6):
            yaw = draws.angle(30.0, 60.0) * (1.0 if draws.chance(0.5) else -1.0)
            look(layer, max(end, block_start_s(timeline, 1)) + draws.uniform(0.3, 2.0), yaw, 0.6)

    blocks: tuple[Block, ...] = (hold, walk)
    if walk.stops:
        blocks = (*blocks, HoldBlock(seconds=0.6))
    caption = f"{role.noun} looks left and right, then {pace_word(speed)} across"
    return ClipPlan(role=role, blocks=blocks, acting=act, caption=caption)


def _pause(model: MotionModel, draws: Draws) -> ClipPlan:
    """Hesitates on the way, then goes on."""
    age = draw_age(draws)
    speed = walking_speed_mps(age, draws)
    role = draw_role(model, age, speed, draws)
    blocks = (
        HoldBlock(seconds=draws.uniform(0.3, 0.9)),
        WalkBlock(seconds=draws.uniform(1.2, 2.4), speed_mps=min(0.8 * speed, 1.0)),
        HoldBlock(seconds=draws.uniform(0.9, 2.2)),
        WalkBlock(seconds=draws.uniform(2.2, 4.0), speed_mps=speed, stops=False),
    )

    def act(layer: Layer, timeline: Timeline, draws: Draws) -> None:
        look_round(layer, block_start_s(timeline, 2) - 0.2, draws)

    caption = f"{role.noun} steps out, hesitates, looks both ways and {pace_word(speed)} on"
    return ClipPlan(role=role, blocks=blocks, acting=act, caption=caption)


def _hurry(model: MotionModel, draws: Draws) -> ClipPlan:
    """Changes speed on the way: hurries, or slows down."""
    role = draw_role(model, Age.ADULT, 1.3, draws, plain=True)
    slow, fast = draws.uniform(0.6, 1.2), draws.uniform(1.4, 2.8)
    first, then = (slow, fast) if draws.chance(0.6) else (min(fast, 1.8), slow)
    change = Pace(at_s=draws.uniform(1.2, 2.5), seconds=draws.uniform(0.7, 1.3), speed_mps=then)
    walk = WalkBlock(
        seconds=draws.uniform(4.5, 6.5),
        speed_mps=first,
        starts=draws.chance(0.3),
        stops=False,
        paces=(change,),
    )
    word = "hurries up" if then > first else "slows down"
    caption = f"{role.noun} {pace_word(first)} and {word} on the way across"
    return ClipPlan(role=role, blocks=_ends(walk, draws), acting=nothing, caption=caption)


def _stumble(model: MotionModel, draws: Draws) -> ClipPlan:
    age = draw_age(draws)
    speed = draws.uniform(0.7, 1.5)
    role = draw_role(model, age, speed, draws, plain=True)
    at = draws.uniform(1.6, 3.0)
    paces = (
        Pace(at_s=at + 0.1, seconds=0.3, speed_mps=1.35 * speed),
        Pace(at_s=at + 0.6, seconds=0.5, speed_mps=0.7 * speed),
        Pace(at_s=at + 1.5, seconds=0.9, speed_mps=speed),
    )
    walk = WalkBlock(
        seconds=draws.uniform(5.0, 6.5), speed_mps=speed, starts=False, stops=False, paces=paces
    )

    def act(layer: Layer, _timeline: Timeline, draws: Draws) -> None:
        stumble(layer, at, draws)

    caption = f"{role.noun} {pace_word(speed)} across, stumbles and catches their balance"
    return ClipPlan(role=role, blocks=(walk,), acting=act, caption=caption)


CROSSING: Final = tuple(
    Behaviour(name=name, kind=MotionClass.CROSSING, weight=weight, make=make)
    for name, weight, make in (
        ("walk", 0.16, _plain_walk),
        ("stroll", 0.09, _stroll),
        ("run", 0.11, _run),
        ("curve", 0.08, _curve),
        ("wander", 0.05, _wander),
        ("style", 0.17, _style),
        ("limp", 0.05, _limp),
        ("busy", 0.09, _busy),
        ("look", 0.07, _looking),
        ("pause", 0.06, _pause),
        ("hurry", 0.04, _hurry),
        ("stumble", 0.04, _stumble),
    )
)
