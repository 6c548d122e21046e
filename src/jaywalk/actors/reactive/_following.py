"""Kernel of groups: the leader decides when to step out, and members follow a little later."""

from __future__ import annotations

import math
from typing import Final

from jaywalk.actors.reactive._noise import normal, uniform
from jaywalk.actors.reactive.traits import (
    ALONE,
    AT_KERB,
    CHILD,
    COMMITTED,
    GOES,
    HOLDS,
    OBLIVIOUS,
    ON_ROAD,
    Reactions,
    ReactionSettings,
    Traits,
)
from jaywalk.core.kernels import kernel

_FOLLOWS, _DELAY, _STRANGER = 21, 22, 23  # purposes of random numbers
_STRANGER_M: Final = 3.0  # nobody follows a stranger who is farther away
_JOINS_FOR_S: Final = 1.5  # people who cannot follow within this time decide alone again


@kernel
def follow(
    key: int,
    tick: int,
    time_s: float,
    people: Reactions,
    traits: Traits,
    settings: ReactionSettings,
) -> None:
    """Let members at the kerb wait for their leader, go with them, or decide alone.

    Children always go with the leader. Some people also follow a stranger who steps out near them.
    """
    for i in range(len(people.x)):
        on_road = people.active[i] and people.where[i] == ON_ROAD
        if on_road and not people.was_on_road[i]:
            people.stepped_tick[i] = tick
            people.evidence[i] += people.bias[i]
        people.was_on_road[i] = on_road
    for i in range(len(people.x)):
        people.follow[i] = ALONE
        _follow_stranger(key, tick, time_s, people, traits, settings, i)
        first = people.leader[i]
        if first < 0 or first == i or not people.active[i] or people.where[i] != AT_KERB:
            continue
        ahead = people.where[first] == AT_KERB or people.where[first] == ON_ROAD
        if traits.attention[i] == OBLIVIOUS or not people.active[first] or not ahead:
            continue
        out = people.where[first] == ON_ROAD or people.decision[first] == COMMITTED
        if not out:
            people.goes_s[i] = math.inf
            people.follow[i] = HOLDS
            continue
        if people.goes_s[i] == math.inf:
            draw = uniform(key, i, _FOLLOWS, tick)
            late = math.exp(settings.follows_sigma * normal(key, i, _DELAY, tick))
            with_leader = draw < settings.follows_share or traits.age[i] == CHILD
            people.goes_s[i] = time_s + settings.follows_after_s * late if with_leader else -1.0
        if people.goes_s[i] >= 0.0:
            people.follow[i] = GOES if time_s >= people.goes_s[i] else HOLDS


@kernel
def _follow_stranger(
    key: int,
    tick: int,
    time_s: float,
    people: Reactions,
    traits: Traits,
    settings: ReactionSettings,
    i: int,
) -> None:
    """Go with a stranger who steps onto the road nearby, if nothing speaks against it."""
    waits = people.active[i] and people.where[i] == AT_KERB and not people.stays[i]
    if not waits or traits.attention[i] == OBLIVIOUS:
        people.joins_s[i] = math.inf
        return
    for j in range(len(people.x)):
        if people.stepped_tick[j] != tick or j == i:
            continue
        if traits.group[i] >= 0 and traits.group[i] == traits.group[j]:
            continue
        if math.hypot(people.x[j] - people.x[i], people.y[j] - people.y[i]) > _STRANGER_M:
            continue
        purpose = _STRANGER + 32 * (j + 1)
        if uniform(key, i, purpose, tick) < settings.strangers_share:
            late = math.exp(settings.follows_sigma * normal(key, i, purpose, tick))
            people.joins_s[i] = time_s + settings.follows_after_s * late
    since_s = time_s - people.joins_s[i]
    if since_s >= 0.0 and people.evidence[i] > 0.0:
        people.follow[i] = GOES
    if since_s > _JOINS_FOR_S:
        people.joins_s[i] = math.inf
