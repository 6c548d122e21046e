"""Groups of reacting people, and roles that suit their traits.

People of a group walk beside a leader, who decides. Phone users play clips of people who are busy
with something, and everybody walks with the clip that comes near to their own speed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from jaywalk.actors.crowd.places import WalkNetwork
from jaywalk.actors.crowd.state import WILL_CROSS
from jaywalk.actors.posed._roles import PersonRole
from jaywalk.actors.posed._spawning import PlacedPerson
from jaywalk.actors.posed._ways import approach_start, beside
from jaywalk.actors.posed.repertoire import Repertoire, Use
from jaywalk.actors.reactive.traits import (
    GROUP_SIZES,
    OBLIVIOUS,
    PHONE,
    SENIOR,
    Traits,
)
from jaywalk.core.arrays import FloatArray, IntArray
from jaywalk.core.seeds import stream
from jaywalk.town.ground import surface_height

_ABREAST_M: Final = 0.7
_FEW: Final = 4  # clips of about the right speed to choose from
_BUSY: Final = "busy"  # walks with a phone or a cup
_ON_PHONE: Final = "phone"
_PLACES: Final = {  # ahead and aside of the leader, by size
    2: ((0.0, 0.0), (0.0, _ABREAST_M)),
    3: ((0.0, 0.0), (-0.6, _ABREAST_M), (-0.6, -_ABREAST_M)),
    4: ((0.0, 0.0), (0.0, _ABREAST_M), (-1.0, 0.0), (-1.0, _ABREAST_M)),
}
_NEAR_M: Final = 0.6  # children stay this near to somebody of their group
_NEAR_PLACES: Final = {  # the same of children
    2: ((0.0, 0.0), (0.0, _NEAR_M)),
    3: ((0.0, 0.0), (-0.3, 0.5), (-0.3, -0.5)),
    4: ((0.0, 0.0), (0.0, _NEAR_M), (-_NEAR_M, 0.0), (-_NEAR_M, _NEAR_M)),
}
_SHORT_STEPS: Final = 0.87  # seniors get a clip this much slower, and play it faster


@dataclass(frozen=True, slots=True, kw_only=True)
class Company:
    """Where posed people start, and with whom.

    Attributes:
        placed: Roles and places; members of a group have a place beside their leader's.
        start_m: (n, 2) places at the beginning.
        approach_m: (n,) length of the walk to the kerb.
        leader: (n,) number of the leader; -1: nobody.
        ahead_m: (n,) place in the group, in the direction of the way.
        aside_m: (n,) the same, to the right.
    """

    placed: list[PlacedPerson]
    start_m: FloatArray
    approach_m: FloatArray
    leader: IntArray
    ahead_m: FloatArray
    aside_m: FloatArray


def draw_groups(seed: int, people: Sequence[int], name: str) -> list[list[int]]:
    """Divide people into groups, with shares of people by size as in JAAD."""
    random = stream(seed, name, "groups")
    chances = np.array([share / size for share, size in GROUP_SIZES])
    edges = np.cumsum(chances / chances.sum())
    left, groups = list(people), []
    while left:
        size = GROUP_SIZES[int(np.searchsorted(edges, random.random(), side="right"))][1]
        groups.append(left[:size])
        left = left[size:]
    return groups


def suited(
    seed: int, roles: Sequence[PersonRole], traits: Traits, repertoire: Repertoire
) -> list[PersonRole]:
    """Return roles whose clips suit the traits: speed and phone."""
    return [_suited(seed, role, traits, repertoire) for role in roles]


def _suited(seed: int, role: PersonRole, traits: Traits, repertoire: Repertoire) -> PersonRole:
    k = role.number
    random = stream(seed, "habit", "gait", k)
    draws = random.random(2)
    on_phone = traits.attention[k] == PHONE
    changes: dict[str, Any] = {}
    if on_phone:
        idle = [use for use in repertoire.idle if use.kind == _ON_PHONE]
        idle = [use for use in idle if use.child == role.child] or idle
        if idle:
            changes["idle"] = idle[int(draws[0] * len(idle))].name
    ordinary = repertoire.fitting(repertoire.ordinary, role.child)
    walks = {use.name for use in repertoire.ordinary}
    pool = [use for use in ordinary if (use.kind == _BUSY) == on_phone] or list(ordinary)
    free = float(traits.free_mps[k]) * (_SHORT_STEPS if traits.age[k] == SENIOR else 1.0)
    nearest = sorted(pool, key=lambda use: (abs(use.speed_mps - free), use.name))[:_FEW]
    gait: Use = nearest[int(draws[1] * len(nearest))]
    if role.clip in walks and role.intended == WILL_CROSS:
        changes |= {"clip": gait.name, "kind": gait.kind}
    elif role.strolls and role.clip in walks:
        changes["clip"] = gait.name
    if role.carry:
        changes["carry"] = gait.name
    return replace(role, **changes)


def gather(
    seed: int,
    people: list[PlacedPerson],
    traits: Traits,
    network: WalkNetwork,
    name: str,
) -> Company:
    """Give people who cross a place on the sidewalk to start from, and groups a place together.

    The number of each group is written to ``traits``.
    """
    count = len(people)
    placed = list(people)
    start = np.array([person.a_m for person in placed]).reshape(-1, 2)
    approach, leader = np.zeros(count), np.full(count, -1, np.int64)
    places = np.zeros((count, 2))
    taken = [person.a_m for person in placed]
    for group in _groups_of(seed, people, traits, name):
        first = next((k for k in group if not placed[k].role.child), group[0])
        members = [k for k in group if k != first]
        begin, path = placed[first].a_m, np.zeros((0, 2))
        if placed[first].b_m is not None:
            random = stream(seed, name, "approach", first)
            begin, approach[first] = approach_start(network, placed[first], taken, random)
            path = np.array([placed[first].a_m, placed[first].b_m])
            if approach[first] > 0.0:
                path = np.concatenate([np.array([begin]), path])
        start[first] = begin
        taken.append(begin)
        if not members or len(path) == 0:
            continue
        size = min(len(group), max(_PLACES))
        for at, k in enumerate(members[: size - 1], start=1):
            spot = (_NEAR_PLACES if placed[k].role.child else _PLACES)[size][at]
            own = _beside(path, spot, network)
            if own is None:
                continue  # no room beside the leader: this person walks alone
            placed[k] = _with_leader(placed[k], placed[first], own, network)
            start[k], approach[k] = own[0], approach[first]
            taken.append((float(own[0, 0]), float(own[0, 1])))
            leader[k], leader[first] = first, first
            places[k] = spot
            traits.free_mps[first] = min(traits.free_mps[first], traits.free_mps[k])
            traits.group[k] = traits.group[first] = first
        for k in np.flatnonzero(leader == first):
            traits.free_mps[k] = traits.free_mps[first]
    for k in range(count):  # members without room start alone
        if approach[k] == 0.0 and leader[k] < 0 and placed[k].b_m is not None:
            random = stream(seed, name, "approach", k)
            begin, approach[k] = approach_start(network, placed[k], taken, random)
            start[k] = begin
            taken.append(begin)
    return Company(
        placed=placed,
        start_m=start,
        approach_m=approach,
        leader=leader,
        ahead_m=places[:, 0].copy(),
        aside_m=places[:, 1].copy(),
    )


def _groups_of(seed: int, people: list[PlacedPerson], traits: Traits, name: str) -> list[list[int]]:
    """Groups of the people who cross; oblivious people walk alone."""
    crossing = [person.role.number for person in people if person.role.intended == WILL_CROSS]
    social = [k for k in crossing if traits.attention[k] != OBLIVIOUS]
    alone = [person.role.number for person in people if person.b_m is not None]
    return draw_groups(seed, social, name) + [[k] for k in alone if k not in social]


def _beside(path: FloatArray, spot: tuple[float, float], network: WalkNetwork) -> FloatArray | None:
    """Path of a member beside the leader's; None if there is no room at its ends."""
    own = beside(path, spot[0], spot[1], network.grid)
    gap = np.hypot(*(own - path).T)
    return own if float(gap[[0, -1]].min()) > 0.5 * math.hypot(*spot) else None


def _with_leader(
    person: PlacedPerson, leader: PlacedPerson, path: FloatArray, network: WalkNetwork
) -> PlacedPerson:
    """Return a person with a place beside the leader's."""
    x, y = float(path[-2, 0]), float(path[-2, 1])
    return replace(
        person,
        a_m=(x, y),
        b_m=(float(path[-1, 0]), float(path[-1, 1])),
        z_m=float(surface_height(network.ground, x, y, leader.z_m)),
        yaw_rad=leader.yaw_rad,
        place=leader.place,
        side=leader.side,
        along_m=leader.along_m,
    )
