"""People who set out and come back: steps back, turns, thinking better of it."""

from __future__ import annotations

from typing import Final

from jaywalk.motion.library.classes import MotionClass
from jaywalk.motion.synthesis._crossing_plans import walking_speed_mps
from jaywalk.motion.synthesis._draws import Draws
from jaywalk.motion.synthesis._gestures import lead_head, look, look_round, use_arms
from jaywalk.motion.synthesis._layer import Layer
from jaywalk.motion.synthesis._people import Age, draw_age, draw_role
from jaywalk.motion.synthesis._plans import Behaviour, ClipPlan, block_start_s, pace_word
from jaywalk.motion.synthesis._programme import HoldBlock, Pace, Turn, WalkBlock
from jaywalk.motion.synthesis._timeline import Timeline
from jaywalk.motion.synthesis.model_file import MotionModel


def _side(draws: Draws) -> float:
    return 1.0 if draws.chance(0.5) else -1.0


def _step_back(model: MotionModel, draws: Draws) -> ClipPlan:
    """Out a few steps, look, backward to where they came from."""
    age = draw_age(draws)
    out, back = draws.uniform(0.65, 1.1), draws.uniform(0.45, 0.7)
    role = draw_role(model, age, out, draws, plain=draws.chance(0.9))
    seconds = draws.uniform(1.5, 2.4)
    blocks = (
        HoldBlock(seconds=draws.uniform(0.4, 1.3)),
        WalkBlock(seconds=seconds, speed_mps=out),
        HoldBlock(seconds=draws.uniform(0.6, 2.0)),
        WalkBlock(
            seconds=draws.uniform(0.6, 0.95) * seconds * out / back, speed_mps=back, backward=True
        ),
        HoldBlock(seconds=draws.uniform(0.5, 1.2)),
    )

    def act(layer: Layer, timeline: Timeline, draws: Draws) -> None:
        look_round(layer, block_start_s(timeline, 2) - 0.3, draws, 1 + draws.chance(0.6))

    caption = f"{role.noun} {pace_word(out)} out, stops, looks round and steps back"
    return ClipPlan(role=role, blocks=blocks, acting=act, caption=caption)


def _turn_back(model: MotionModel, draws: Draws) -> ClipPlan:
    """Walks out and turns back without stopping."""
    age = draw_age(draws)
    speed = min(walking_speed_mps(age, draws), 1.35)
    role = draw_role(model, age, speed, draws)
    before, turning = draws.uniform(1.3, 2.6), draws.uniform(2.0, 2.6)
    after = before * draws.uniform(0.75, 1.15)
    angle = _side(draws) * draws.angle(165.0, 190.0)
    paces = (
        Pace(at_s=before - 0.5, seconds=0.8, speed_mps=min(0.6, 0.6 * speed)),
        Pace(at_s=before + turning - 0.7, seconds=0.9, speed_mps=speed),
    )
    starts = draws.chance(0.6)
    walk = WalkBlock(
        seconds=before + turning + after,
        speed_mps=speed,
        starts=starts,
        stops=draws.chance(0.5),
        paces=paces,
        turns=(Turn(at_s=before, seconds=turning, angle_rad=angle),),
    )
    first = (HoldBlock(seconds=draws.uniform(0.3, 1.0)),) if starts else ()
    last = (HoldBlock(seconds=draws.uniform(0.4, 1.0)),) if walk.stops else ()

    def act(layer: Layer, timeline: Timeline, _draws: Draws) -> None:
        lead_head(layer, timeline.yaw_rad)

    caption = f"{role.noun} {pace_word(speed)} forward, turns around and {pace_word(speed)} back"
    return ClipPlan(role=role, blocks=(*first, walk, *last), acting=act, caption=caption)


def _stop_and_return(model: MotionModel, draws: Draws) -> ClipPlan:
    """Stops, thinks, turns round on the spot and goes back."""
    age = draw_age(draws)
    speed = min(walking_speed_mps(age, draws), 1.4)
    role = draw_role(model, age, speed, draws)
    seconds = draws.uniform(1.5, 2.6)
    angle = _side(draws) * draws.angle(160.0, 185.0)
    blocks = (
        HoldBlock(seconds=draws.uniform(0.3, 0.9)),
        WalkBlock(seconds=seconds, speed_mps=speed),
        HoldBlock(seconds=draws.uniform(0.7, 1.8)),
        WalkBlock(
            seconds=2.0 + seconds * draws.uniform(0.8, 1.1),
            speed_mps=0.55,
            stops=draws.chance(0.5),
            paces=(Pace(at_s=1.6, seconds=1.0, speed_mps=speed),),
            turns=(Turn(at_s=0.1, seconds=2.1, angle_rad=angle),),
        ),
    )

    def act(layer: Layer, timeline: Timeline, draws: Draws) -> None:
        lead_head(layer, timeline.yaw_rad)
        if draws.chance(0.5):
            look_round(layer, block_start_s(timeline, 2) - 0.2, draws, 1)
        else:
            thing = draws.one_of(("looks at the watch", "scratches the head", "reads a phone"))
            use_arms(layer, thing, block_start_s(timeline, 2) - 0.3, 0.6, draws)

    caption = f"{role.noun} {pace_word(speed)} forward, stops, changes their mind and returns"
    return ClipPlan(role=role, blocks=blocks, acting=act, caption=caption)


def _dash_back(model: MotionModel, draws: Draws) -> ClipPlan:
    """Runs out and hurries back, as a child after a ball."""
    age = Age.CHILD if draws.chance(0.5) else Age.ADULT
    out = draws.uniform(1.6, 2.4)
    role = draw_role(model, age, out, draws, plain=True)
    before, turning = draws.uniform(1.1, 1.7), draws.uniform(1.9, 2.3)
    angle = _side(draws) * draws.angle(165.0, 190.0)
    paces = (
        Pace(at_s=before - 0.6, seconds=0.8, speed_mps=0.8),
        Pace(at_s=before + turning - 0.6, seconds=0.9, speed_mps=0.9 * out),
    )
    walk = WalkBlock(
        seconds=before + turning + before * draws.uniform(0.7, 1.0),
        speed_mps=out,
        stops=draws.chance(0.5),
        paces=paces,
        turns=(Turn(at_s=before, seconds=turning, angle_rad=angle),),
    )

    def act(layer: Layer, timeline: Timeline, _draws: Draws) -> None:
        lead_head(layer, timeline.yaw_rad)

    last = (HoldBlock(seconds=0.6),) if walk.stops else ()
    caption = f"{role.noun} dashes out, turns around and hurries back"
    return ClipPlan(
        role=role, blocks=(HoldBlock(seconds=0.4), walk, *last), acting=act, caption=caption
    )


def _circle(model: MotionModel, draws: Draws) -> ClipPlan:
    """Walks a loop and ends near where it began."""
    age = draw_age(draws)
    speed = draws.uniform(0.6, 1.15)
    role = draw_role(model, age, speed, draws, plain=draws.chance(0.6))
    seconds = draws.uniform(6.5, 9.0)
    angle = _side(draws) * draws.angle(320.0, 370.0)
    half = 0.5 * angle
    turns = (
        Turn(at_s=0.0, seconds=0.62 * seconds, angle_rad=half),
        Turn(at_s=0.38 * seconds, seconds=0.62 * seconds, angle_rad=half),
    )
    walk = WalkBlock(
        seconds=seconds,
        speed_mps=speed,
        starts=draws.chance(0.3),
        stops=draws.chance(0.3),
        turns=turns,
    )

    def act(layer: Layer, timeline: Timeline, _draws: Draws) -> None:
        lead_head(layer, timeline.yaw_rad)

    first = (HoldBlock(seconds=0.4),) if walk.starts else ()
    last = (HoldBlock(seconds=0.5),) if walk.stops else ()
    caption = f"{role.noun} {pace_word(speed)} in a circle"
    return ClipPlan(role=role, blocks=(*first, walk, *last), acting=act, caption=caption)


def _waver(model: MotionModel, draws: Draws) -> ClipPlan:
    """Out, back, out again a little: cannot decide."""
    role = draw_role(model, draw_age(draws), 0.8, draws, plain=True)
    out, back = draws.uniform(0.7, 1.0), draws.uniform(0.45, 0.6)
    seconds = draws.uniform(1.6, 2.2)
    blocks = (
        HoldBlock(seconds=0.5),
        WalkBlock(seconds=seconds, speed_mps=out),
        HoldBlock(seconds=draws.uniform(0.5, 1.1)),
        WalkBlock(seconds=0.9 * seconds * out / back, speed_mps=back, backward=True),
        HoldBlock(seconds=draws.uniform(0.5, 1.0)),
        WalkBlock(seconds=draws.uniform(0.5, 0.9), speed_mps=0.6),
        HoldBlock(seconds=0.6),
    )

    def act(layer: Layer, timeline: Timeline, draws: Draws) -> None:
        for block in (2, 4, 6):
            yaw = _side(draws) * draws.angle(35.0, 60.0)
            look(layer, block_start_s(timeline, block) - 0.2, yaw, draws.uniform(0.3, 0.7))

    caption = f"{role.noun} walks out, steps back and out again, and cannot decide"
    return ClipPlan(role=role, blocks=blocks, acting=act, caption=caption)


ATTEMPTING: Final = tuple(
    Behaviour(name=name, kind=MotionClass.ATTEMPTING, weight=weight, make=make)
    for name, weight, make in (
        ("stepback", 0.26, _step_back),
        ("turnback", 0.26, _turn_back),
        ("return", 0.18, _stop_and_return),
        ("dash", 0.08, _dash_back),
        ("circle", 0.12, _circle),
        ("waver", 0.10, _waver),
    )
)
