"""Kernels of decisions: when to step onto the road, who goes first, and when to step back."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from jaywalk.actors.reactive._noise import normal, uniform
from jaywalk.actors.reactive._seeing import perceived
from jaywalk.actors.reactive.traits import (
    AFTER,
    ALONE,
    AT_KERB,
    CHILD,
    COMMITTED,
    FIRST,
    GLANCING,
    HOLDS,
    HURRIES,
    MEMORY,
    NONE,
    OBLIVIOUS,
    ON_ROAD,
    PHONE,
    SENIOR,
    STEPS_BACK,
    UNDECIDED,
    WAITS,
    WANTS,
    YIELDS,
    Reactions,
    ReactionSettings,
    Traits,
)
from jaywalk.core.arrays import FloatArray
from jaywalk.core.kernels import kernel

_EVIDENCE, _UNLOOKED, _SPEED = 11, 12, 13  # purposes of random numbers
BODY_M: Final = 0.3
MOVING_MPS: Final = 0.3
_PARALLEL: Final = 0.2  # sine of the angle between two courses below which they do not cross
_DECIDE_M: Final = 0.9  # people decide before this distance from the road
_STAND_M: Final = 0.6  # people who wait stand this far from the road
_LARGE_M: Final = 3.2  # half length of a large vehicle
_EYE_CONTACT_MPS: Final = 3.0
_EYE_CONTACT_M: Final = 12.0
_SOON_S: Final = 12.0  # later vehicles do not matter
_IMMINENT_S: Final = 1.0  # nobody follows a leader before a vehicle that comes sooner
_BACK_WITHIN_S: Final = 4.0  # nobody steps back for a later vehicle
_TOO_NEAR_M: Final = 1.0  # who stands nearer to the way of a vehicle steps back


@kernel
def _conflict(x: float, y: float, ux: float, uy: float, car: FloatArray, out: FloatArray) -> bool:
    """Relation of a straight way along (ux, uy) to the swath of a moving vehicle.

    ``out`` is the distance of its front and of its tail from the conflict, the distance of the
    person to the near and to the far border of the swath, and the vehicle's speed. Returns False
    if the ways do not cross, or if the vehicle or the person has passed.
    """
    v = math.hypot(car[6], car[7])
    if v < MOVING_MPS:
        return False
    dx, dy = car[6] / v, car[7] / v
    cross = dx * uy - dy * ux
    if abs(cross) < _PARALLEL:
        return False
    rx, ry = car[0] - x, car[1] - y
    s = (uy * -rx - ux * -ry) / cross
    w = (dy * -rx - dx * -ry) / cross
    slant = abs(dx * ux + dy * uy) / abs(cross)
    half = (car[5] + BODY_M) / abs(cross)
    reach = car[4] + BODY_M / abs(cross) + min(slant, 1.5) * car[5]
    out[0], out[1], out[2], out[3], out[4] = s - reach, s + reach, w - half, w + half, v
    return bool(out[1] > 0.0 and out[3] > 0.0)


@kernel
def decide(
    key: int,
    tick: int,
    time_s: float,
    delta_s: float,
    people: Reactions,
    traits: Traits,
    settings: ReactionSettings,
    shift_s: FloatArray,
) -> None:
    """Accumulate evidence at the kerb; order people and vehicles on the road.

    ``shift_s`` (n,) shifts the critical gaps for reasons outside the person: night, rain, others
    who step out. ``people.wanted`` becomes the wanted speed along the path.
    """
    way = np.empty(5)
    for i in range(len(people.x)):
        if not people.active[i]:
            continue
        if people.stays[i]:
            people.wanted[i], people.decision[i], people.evidence[i] = 0.0, NONE, 0.0
            people.gap_s[i], people.gap_id[i], people.hesitates[i] = math.inf, 0, False
            continue
        drift = math.exp(-delta_s / settings.speed_drift_s)
        people.drift[i] *= drift
        people.drift[i] += (
            settings.speed_drift * math.sqrt(1.0 - drift * drift) * normal(key, i, _SPEED, tick)
        )
        free = traits.free_mps[i] * people.haste[i] * (1.0 + people.drift[i])
        people.free[i], people.hesitates[i] = free, False
        if traits.attention[i] == OBLIVIOUS:
            people.wanted[i] = free
            people.decision[i] = COMMITTED if people.where[i] == ON_ROAD else WANTS
            people.evidence[i] = settings.threshold + 1.0
            continue
        for m in range(MEMORY):
            if people.memory_id[i, m] != 0:
                perceived(key, people, settings, i, m, time_s, people.belief[i, m])
        if people.where[i] == ON_ROAD:
            _order(people, traits, settings, i, way)
            if people.onto_m[i] < settings.back_m:
                _think_again(key, tick, delta_s, people, traits, settings, shift_s[i], i, way)
        elif people.where[i] == AT_KERB:
            _accumulate(key, tick, delta_s, people, traits, settings, shift_s[i], i, way)
        else:
            people.decision[i], people.evidence[i] = NONE, 0.0
            people.gap_s[i], people.gap_id[i] = math.inf, 0
            people.wanted[i] = free


@kernel
def _judge(
    people: Reactions, settings: ReactionSettings, i: int, ahead: float, way: FloatArray
) -> tuple[float, float, bool]:
    """Value of the smallest gap, its distance to the person, and whether a vehicle passes now.

    The gap and its vehicle are written to the person's row.
    """
    ux, uy = wish_of(people, i)
    best, near, blocked = math.inf, math.inf, False
    people.gap_s[i], people.gap_id[i] = math.inf, 0
    for m in range(MEMORY):
        if people.memory_id[i, m] == 0:
            continue
        car = people.belief[i, m]
        if not _conflict(people.x[i], people.y[i], ux, uy, car, way):
            continue
        if way[2] > ahead + people.left_m[i]:
            continue
        if way[0] <= 0.0:
            blocked = blocked or way[1] / way[4] > settings.tail_s + ahead / people.free[i]
            continue
        # The time that is left of the gap once the person is at the kerb.
        tau = way[0] / way[4] - ahead / people.free[i]
        gap = _worth(people, settings, i, car, way, tau, ahead)
        gives_way = car[9] < -0.3 or people.stood_s[i, m] >= settings.stood_s
        if gives_way and way[4] < _EYE_CONTACT_MPS and way[0] < _EYE_CONTACT_M:
            gap += settings.yield_weight
        if gap < best:
            best, near = gap, way[2]
            people.gap_s[i], people.gap_id[i] = tau, people.memory_id[i, m]
    return best, near, blocked


@kernel
def _add_evidence(
    key: int,
    tick: int,
    delta_s: float,
    people: Reactions,
    traits: Traits,
    settings: ReactionSettings,
    i: int,
    gap: float,
) -> None:
    """One step of leaky accumulation towards the value of a gap."""
    age = traits.age[i]
    gap += traits.bold_s[i]
    gap += settings.senior_s if age == SENIOR else settings.child_s if age == CHILD else 0.0
    gap += min(settings.waiting_gain * people.waited_s[i], settings.waiting_most_s)
    drift = math.atan(settings.drift_scale * (gap - settings.drift_centre_s))
    draw = normal(key, i, _EVIDENCE, tick)
    people.evidence[i] = min(people.evidence[i], 1.5)
    people.evidence[i] += (drift - settings.leak * people.evidence[i]) * delta_s
    people.evidence[i] += settings.noise * math.sqrt(delta_s) * draw


@kernel
def _accumulate(
    key: int,
    tick: int,
    delta_s: float,
    people: Reactions,
    traits: Traits,
    settings: ReactionSettings,
    shift_s: float,
    i: int,
    way: FloatArray,
) -> None:
    """Decide at the kerb, or on the way to it, whether to step onto the road."""
    ahead, free = max(people.kerb_m[i], 0.0), people.free[i]
    best, _, blocked = _judge(people, settings, i, ahead, way)
    if not people.may_go[i] or people.follow[i] == HOLDS:
        blocked = True
    if people.gap_id[i] == 0:
        people.evidence[i] = max(people.evidence[i], settings.threshold + 1e-3)
    else:
        _add_evidence(key, tick, delta_s, people, traits, settings, i, best + shift_s)
    # Who has decided to go changes their mind only if the evidence speaks against it.
    before = people.decision[i] == COMMITTED
    ready = people.evidence[i] > (0.0 if before else settings.threshold) and not blocked
    if ready and not people.looked[i] and people.follow[i] == ALONE:
        chance = 0.1 if traits.attention[i] == GLANCING else 0.0
        chance = 0.5 if traits.attention[i] == PHONE else chance
        ready = uniform(key, i, _UNLOOKED, int(people.looks[i])) < chance
    if people.follow[i] > HOLDS and people.may_go[i]:  # with the leader of the group
        ready = people.gap_s[i] > _IMMINENT_S and not blocked
        if ready:
            people.evidence[i] = max(people.evidence[i], settings.threshold + 1e-3)
    people.wanted[i] = free
    if ready:
        people.decision[i] = COMMITTED
        return
    # Nearer than the stopping distance people slow down and stand at the kerb.
    people.decision[i] = WANTS if ahead > _DECIDE_M else WAITS
    room = max(ahead - _STAND_M, 0.0)
    people.wanted[i] = min(free, math.sqrt(2.0 * 1.0 * room))
    if ahead <= _DECIDE_M:
        people.waited_s[i] += delta_s


@kernel
def _think_again(
    key: int,
    tick: int,
    delta_s: float,
    people: Reactions,
    traits: Traits,
    settings: ReactionSettings,
    shift_s: float,
    i: int,
    way: FloatArray,
) -> None:
    """Go on judging the gap in the first steps on the road: hesitate, or step back to the kerb."""
    decision, wanted = people.decision[i], people.wanted[i]
    nearest, number = people.gap_s[i], people.gap_id[i]
    best, near, _ = _judge(people, settings, i, 0.0, way)
    gap_s = people.gap_s[i]
    found = people.gap_id[i] != 0
    if number != 0:
        people.gap_s[i], people.gap_id[i] = nearest, number
    if not found:
        people.evidence[i] = max(people.evidence[i], settings.threshold)
        return
    _add_evidence(key, tick, delta_s, people, traits, settings, i, best + shift_s)
    if near <= 0.05 or gap_s > _BACK_WITHIN_S or decision == HURRIES:
        return
    if people.evidence[i] < 0.0:
        people.decision[i] = STEPS_BACK if near < _TOO_NEAR_M else YIELDS
        people.wanted[i] = 0.0
    elif people.evidence[i] < settings.hesitant:
        people.hesitates[i] = True
        people.wanted[i] = min(wanted, 0.5 * people.free[i])


@kernel
def _worth(
    people: Reactions,
    settings: ReactionSettings,
    i: int,
    car: FloatArray,
    way: FloatArray,
    tau: float,
    ahead: float,
) -> float:
    """Value of a gap in seconds: its time, shifted by distance, braking and the way to go."""
    distance, v = way[0], way[4]
    gap = tau + settings.distance_weight * (distance / settings.distance_speed_mps - tau)
    braking = -distance * car[9] / (v * v)  # tau-dot + 1
    gap += settings.braking_weight * min(max(braking, -2.0), 3.0)
    far = way[3] - ahead - settings.near_enough_m
    gap -= settings.far_per_m * max(far, 0.0)
    if car[4] > _LARGE_M:
        gap += settings.large_s
    if people.painted[i]:
        needed = v * v / (2.0 * max(distance, 0.1))
        if needed < settings.crosswalk_braking_mps2:
            gap += settings.crosswalk_s
        elif needed > settings.counts_on_mps2 and car[9] > -0.5:
            gap -= settings.no_braking_s
    return float(gap)


@kernel
def wish_of(people: Reactions, i: int) -> tuple[float, float]:
    dx, dy = people.aim_x[i] - people.x[i], people.aim_y[i] - people.y[i]
    size = max(math.hypot(dx, dy), 1e-6)
    return dx / size, dy / size


@kernel
def _order(
    people: Reactions, traits: Traits, settings: ReactionSettings, i: int, way: FloatArray
) -> None:
    """Go before or after each vehicle that crosses the way, and set the wanted speed."""
    ux, uy = wish_of(people, i)
    free = people.free[i]
    slowest, fastest = math.inf, 0.0
    wants = settings.crosswalk_advantage_s if people.painted[i] else settings.road_advantage_s
    wants -= settings.boldness_advantage * traits.bold_s[i]
    people.gap_s[i], people.gap_id[i] = math.inf, 0
    for m in range(MEMORY):
        if people.memory_id[i, m] == 0:
            continue
        car = people.belief[i, m]
        if not _conflict(people.x[i], people.y[i], ux, uy, car, way):
            people.order[i, m] = UNDECIDED
            continue
        front, near, far, v = way[0], way[2], way[3], way[4]
        if near > people.left_m[i] or front / v > _SOON_S:
            continue
        if near <= 0.05:  # in its way already: go on
            people.order[i, m] = FIRST
            if front > 0.0:
                fastest = max(fastest, far / max(front / v - 0.2, 0.3))
            continue
        if front <= 0.0:
            people.order[i, m] = AFTER
        else:
            _rank(people, settings, i, m, car, way, wants, free)
        if front / v < people.gap_s[i]:
            people.gap_s[i], people.gap_id[i] = max(front / v, 0.0), people.memory_id[i, m]
        if people.order[i, m] == AFTER:
            slowest = min(slowest, _speed_after(way, free, settings.last_gap_m))
        elif front / v - far / free < 1.0:
            fastest = max(fastest, far / max(front / v - 1.0, 0.4))
    most = (settings.running if traits.runs[i] else settings.fastest) * free
    people.wanted[i] = free
    people.decision[i] = COMMITTED
    if slowest < free:
        people.wanted[i] = slowest
        people.decision[i] = YIELDS
    elif fastest > 1.05 * free:
        people.wanted[i] = min(fastest, most)
        people.decision[i] = HURRIES
    if people.onto_m[i] >= settings.back_m:
        people.evidence[i] = max(people.evidence[i], 0.0)


@kernel
def _speed_after(way: FloatArray, free: float, gap_m: float) -> float:
    """Speed with which a person arrives behind the tail of a vehicle; 0 to stop before it."""
    room = max(way[2] - gap_m, 0.0)
    pace = room / max((way[1] + 0.2) / way[4], 0.05)
    braked = math.sqrt(2.0 * 1.2 * room)
    if pace < 0.25 * free:
        return float(min(max(pace, min(braked, 0.5 * free)), braked if room > 0.4 else 0.0))
    return float(max(pace, min(braked, 0.5 * free)))


@kernel
def _rank(
    people: Reactions,
    settings: ReactionSettings,
    i: int,
    m: int,
    car: FloatArray,
    way: FloatArray,
    wants: float,
    free: float,
) -> None:
    """Choose the order against one vehicle by the time advantage, with hysteresis."""
    front, near, far, v = way[0], way[2], way[3], way[4]
    arrives = front / v
    if car[9] < -0.5 and v * v / (-2.0 * car[9]) < front - 0.5:
        arrives = math.inf  # it stops before the conflict
    before = people.order[i, m]
    if before == FIRST and near / free < settings.sure_s:
        return
    advantage = arrives - far / free
    if before == FIRST:
        wants -= 0.5 * settings.hysteresis_s
    elif before == AFTER:
        wants += 0.5 * settings.hysteresis_s
    first = advantage > wants
    if first and advantage < 0.0:
        first = v * v / (2.0 * max(front, 0.1)) < settings.counts_on_mps2
    people.order[i, m] = FIRST if first else AFTER
