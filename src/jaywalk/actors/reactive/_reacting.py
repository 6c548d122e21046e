"""One tick of all reacting people: see, follow, decide, choose a velocity, last resort."""

from __future__ import annotations

import math

from jaywalk.actors.reactive._choosing import choose
from jaywalk.actors.reactive._deciding import decide
from jaywalk.actors.reactive._following import follow
from jaywalk.actors.reactive._last_resort import last_resort
from jaywalk.actors.reactive._seeing import see
from jaywalk.actors.reactive.traits import Reactions, ReactionSettings, Traits
from jaywalk.core.arrays import FloatArray, IntArray
from jaywalk.core.kernels import kernel
from jaywalk.town.walkways import WalkGrid

_CHOOSE_S = 0.1  # interval between two choices of a velocity


@kernel
def advance(
    key: int,
    tick: int,
    delta_s: float,
    people: Reactions,
    traits: Traits,
    settings: ReactionSettings,
    car: FloatArray,
    car_id: IntArray,
    blocker: FloatArray,
    other: FloatArray,
    thing: FloatArray,
    grid: WalkGrid,
    shift_s: FloatArray,
) -> None:
    """Advance all active people by one tick."""
    time_s = tick * delta_s
    see(key, tick, time_s, delta_s, people, traits, settings, car, car_id, blocker, grid)
    respond(key, tick, delta_s, people, traits, settings, other, thing, grid, shift_s)


@kernel
def respond(
    key: int,
    tick: int,
    delta_s: float,
    people: Reactions,
    traits: Traits,
    settings: ReactionSettings,
    other: FloatArray,
    thing: FloatArray,
    grid: WalkGrid,
    shift_s: FloatArray,
) -> None:
    """Decide and choose a velocity, for people who have already seen."""
    time_s = tick * delta_s
    follow(key, tick, time_s, people, traits, settings)
    decide(key, tick, time_s, delta_s, people, traits, settings, shift_s)
    _turn_to_path(people)
    every = max(round(_CHOOSE_S / delta_s), 1)
    choose(tick, people, traits, settings, other, thing, grid, every)
    last_resort(time_s, people, traits, settings)


@kernel
def _turn_to_path(people: Reactions) -> None:
    """Aim at the point to walk to, now that the gap is judged for the way across the road."""
    for i in range(len(people.x)):
        if not math.isnan(people.to_x[i]):
            people.aim_x[i], people.aim_y[i] = people.to_x[i], people.to_y[i]
