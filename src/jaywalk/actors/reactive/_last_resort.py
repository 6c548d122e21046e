"""Kernel of the last resort: stop, or step away, before the next steps lead into a vehicle."""

from __future__ import annotations

import math

from jaywalk.actors.reactive._deciding import BODY_M, wish_of
from jaywalk.actors.reactive.traits import (
    COMMITTED,
    EVADES,
    HURRIES,
    MEMORY,
    NONE,
    OBLIVIOUS,
    STEPS_BACK,
    WANTS,
    YIELDS,
    Reactions,
    ReactionSettings,
    Traits,
)
from jaywalk.core.kernels import kernel
from jaywalk.geometry.box import box_distance

_BACK_MPS = 0.6


@kernel
def last_resort(
    time_s: float,
    people: Reactions,
    traits: Traits,
    settings: ReactionSettings,
) -> None:
    """Stop, or step away, when the next steps lead into a vehicle; runs on every tick.

    A person who has to stop gets speed 0; one who has to step away gets a course across that of the
    vehicle and the decision ``EVADES``.
    """
    for i in range(len(people.x)):
        if not people.active[i]:
            continue
        if people.stays[i]:
            people.speed[i], people.course[i] = 0.0, people.yaw[i]
            continue
        ux, uy = wish_of(people, i)
        people.speed[i] = people.wanted[i] * people.share[i]
        people.course[i] = math.atan2(uy, ux) + people.turn[i]
        if people.decision[i] == STEPS_BACK:
            people.speed[i], people.course[i] = _BACK_MPS, math.atan2(-uy, -ux)
        if traits.attention[i] == OBLIVIOUS:
            continue
        if time_s < people.evades_until_s[i]:
            people.speed[i], people.course[i] = settings.evades_mps, people.evades_course[i]
            people.decision[i] = EVADES
            continue
        v = math.hypot(people.vx[i], people.vy[i])
        course = math.atan2(people.vy[i], people.vx[i]) if v > 0.2 else people.course[i]
        moving = max(v, people.speed[i])
        stop_m = moving * settings.stop_s + moving * moving / (2.0 * settings.stop_mps2)
        for m in range(MEMORY):
            if people.memory_id[i, m] == 0:
                continue
            age_s = time_s - people.memory_s[i, m]
            if _comes(people, i, m, age_s):
                _step_away(people, settings, i, m, age_s)
                people.evades_until_s[i] = time_s + settings.evades_s
                people.evades_course[i] = people.course[i]
                break
            if (
                moving > 0.1
                and people.decision[i] != STEPS_BACK
                and _enters(
                    people, settings, i, m, age_s, course, stop_m + settings.last_gap_m, moving
                )
            ):
                people.speed[i] = 0.0
                if people.decision[i] in (COMMITTED, HURRIES, WANTS, NONE):
                    people.decision[i] = YIELDS


@kernel
def _enters(
    people: Reactions,
    settings: ReactionSettings,
    i: int,
    m: int,
    age_s: float,
    course: float,
    reach_m: float,
    speed: float,
) -> bool:
    """Return True if the next ``reach_m`` lead into a vehicle while it is, or will be, there."""
    car = people.memory[i, m]
    dx, dy = math.cos(course), math.sin(course)
    takes = reach_m / max(speed, 0.3)
    x, y = car[0] + age_s * car[6], car[1] + age_s * car[7]
    v = math.hypot(car[6], car[7])
    # Neither body can leave the circle around its way in this time.
    rx, ry = people.x[i] - x, people.y[i] - y
    far = reach_m + math.hypot(car[4], car[5]) + BODY_M
    if v > 1e-6:
        along = min(max((rx * car[6] + ry * car[7]) / v, 0.0), (takes + 0.3) * v)
        rx, ry = rx - along * car[6] / v, ry - along * car[7] / v
    if rx * rx + ry * ry > far * far:
        return False
    if box_distance(people.x[i], people.y[i], x, y, car[2], car[3], car[4], car[5]) < BODY_M:
        return False
    braking = max(-car[9], 0.0)
    for k in range(8):
        t = (0.0, 0.5 * takes, takes, takes + 0.3)[k % 4]
        gone = t * v
        if k >= 4:  # once more for a vehicle that goes on braking
            if braking < 0.3:
                break
            t = min(t, v / braking)
            gone = t * v - 0.5 * braking * t * t
        cx, cy = x + gone * car[6] / max(v, 1e-6), y + gone * car[7] / max(v, 1e-6)
        for step in range(1, 5):
            along = reach_m * step / 4.0
            px, py = people.x[i] + along * dx, people.y[i] + along * dy
            if box_distance(px, py, cx, cy, car[2], car[3], car[4], car[5]) < BODY_M:
                # Somebody who is in its way already must go on, not stop.
                ahead = (people.x[i] - x) * car[2] + (people.y[i] - y) * car[3]
                aside = (people.y[i] - y) * car[2] - (people.x[i] - x) * car[3]
                return not (ahead > car[4] and abs(aside) < car[5] + BODY_M)
    return False


@kernel
def _comes(people: Reactions, i: int, m: int, age_s: float) -> bool:
    """Return True if a vehicle will reach a person who is in front of it within a second."""
    car = people.memory[i, m]
    v = math.hypot(car[6], car[7])
    if v < 1.0 or car[6] * car[2] + car[7] * car[3] < 0.0:
        return False
    dx, dy = people.x[i] - car[0] - age_s * car[6], people.y[i] - car[1] - age_s * car[7]
    ahead, aside = dx * car[2] + dy * car[3] - car[4], dy * car[2] - dx * car[3]
    aside_mps = people.vy[i] * car[2] - people.vx[i] * car[3]
    if ahead < -0.5 or ahead > 1.0 * v + 0.3:
        return False
    later = aside + aside_mps * max(ahead, 0.0) / v
    half = car[5] + BODY_M + 0.1
    braked = v * v / (2.0 * max(-car[9], 0.1)) < ahead - 0.3
    return abs(aside) < half and abs(later) < half and not braked


@kernel
def _step_away(people: Reactions, settings: ReactionSettings, i: int, m: int, age_s: float) -> None:
    """Leave the way of a vehicle to the side on which one is, or towards which one moves."""
    car = people.memory[i, m]
    dx, dy = people.x[i] - car[0] - age_s * car[6], people.y[i] - car[1] - age_s * car[7]
    aside = dy * car[2] - dx * car[3]
    aside += 0.5 * (people.vy[i] * car[2] - people.vx[i] * car[3])
    side = 1.0 if aside >= 0.0 else -1.0
    people.course[i] = math.atan2(side * car[2], -side * car[3])
    people.speed[i] = settings.evades_mps
    people.decision[i] = EVADES
