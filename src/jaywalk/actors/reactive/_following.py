"""Kernel of groups: the leader decides when to step out, and members follow a little later."""

from __future__ import annotations

import math

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

_FOLLOWS, _DELAY = 21, 22  # purposes of random numbers


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

    Children always go with the leader.
    """
    for i in range(len(people.x)):
        people.follow[i] = ALONE
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
