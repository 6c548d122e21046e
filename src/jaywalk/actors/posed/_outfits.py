"""Visible traits of reacting people: age, and what they hold, push or wear.

Traits decide: people who look at a phone show one, and some seniors walk with a stick. Shares
without a trait are our choice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from jaywalk.actors.crowd.state import ATTEMPTING, NOT_CROSSING
from jaywalk.actors.posed._roles import PersonRole
from jaywalk.actors.posed._spawning import Outfit
from jaywalk.actors.reactive.traits import ADULT, PHONE, SENIOR, Traits
from jaywalk.core.seeds import stream

_CALLS: Final = 0.3  # of phone users hold it at the ear
_STICK: Final = 0.3  # of seniors
_UMBRELLA: Final = 0.45  # of all people in rain
_RAIN: Final = 20.0  # precipitation from which umbrellas are open
#: Shares of adults who push or pull something.
_PUSHED: Final = (("pram", 0.05), ("cart", 0.02), ("suitcase", 0.05))
_FOLDED: Final = 0.25  # of people who stand and wait
_CALM: Final = ("wait", "converse", "idle", "look")
_CARRY: Final = "carry"  # clips of people who carry a suitcase or a box


def draw_outfits(
    seed: int, roles: Sequence[PersonRole], traits: Traits, precipitation: float
) -> list[Outfit]:
    """Return the visible traits of people, by the number of their roles.

    Args:
        seed: Seed of the episode.
        roles: Who they are.
        traits: Traits by the number of the role.
        precipitation: Rain of the episode, 0 to 100.
    """
    outfits = [Outfit(senior=False, carries="")] * len(roles)
    for role in roles:
        outfits[role.number] = Outfit(
            senior=int(traits.age[role.number]) == SENIOR,
            carries=_carried(seed, role, traits, precipitation > _RAIN),
        )
    return outfits


def _carried(seed: int, role: PersonRole, traits: Traits, rains: bool) -> str:
    random = stream(seed, "habit", "outfit", role.number)
    call, umbrella, stick, pushed, folded = random.random(5).tolist()
    age = int(traits.age[role.number])
    if int(traits.attention[role.number]) == PHONE:
        return "call phone" if call < _CALLS else "phone"
    if rains and umbrella < _UMBRELLA:
        return "umbrella"
    if age == SENIOR:
        return "stick" if stick < _STICK else ""
    if age != ADULT or role.intended == ATTEMPTING:
        return ""
    if role.kind == _CARRY or f"-{_CARRY}-" in role.carry:
        return "suitcase"
    edge = 0.0
    for thing, share in _PUSHED:
        edge += share
        if pushed < edge:
            return thing
    waits = role.intended == NOT_CROSSING and not role.strolls and role.kind in _CALM
    return "folded-arms" if waits and folded < _FOLDED else ""
