"""Visible traits of reacting people, drawn from their traits."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from jaywalk.actors.crowd.state import ATTEMPTING, NOT_CROSSING, WILL_CROSS
from jaywalk.actors.posed._outfits import draw_outfits
from jaywalk.actors.posed._roles import PersonRole
from jaywalk.actors.reactive.traits import ADULT, CHILD, PHONE, SENIOR, AttentionShares, draw_traits

ROLE = PersonRole(
    number=0,
    intended=NOT_CROSSING,
    kind="wait",
    child=False,
    model=0.5,
    idle="notcrossing-wait-0000",
    clip="notcrossing-wait-0000",
    carry="",
    reach_rad=0.0,
    roams=False,
    trigger_m=20.0,
    strolls=False,
    facing_rad=0.0,
    share=0.5,
)
COUNT = 3000


@pytest.fixture(scope="module")
def people():
    children = np.arange(COUNT) % 7 == 0
    traits = draw_traits(3, children, AttentionShares())
    roles = [replace(ROLE, number=k, child=bool(children[k])) for k in range(COUNT)]
    return roles, traits


def test_phone_users_hold_phones_and_nobody_else_does(people) -> None:
    roles, traits = people
    outfits = draw_outfits(3, roles, traits, 0.0)
    for outfit, attention in zip(outfits, traits.attention, strict=True):
        assert ("phone" in outfit.carries) == (attention == PHONE)
    calls = Counter(outfit.carries for outfit in outfits if "phone" in outfit.carries)
    assert calls["call phone"] / calls.total() == pytest.approx(0.3, abs=0.1)


def test_age_decides_what_is_carried(people) -> None:
    roles, traits = people
    outfits = draw_outfits(3, roles, traits, 0.0)
    seen = {age: Counter() for age in (ADULT, CHILD, SENIOR)}
    for outfit, age, attention in zip(outfits, traits.age, traits.attention, strict=True):
        assert outfit.senior == (age == SENIOR)
        if attention != PHONE:
            seen[int(age)][outfit.carries] += 1
    assert set(seen[CHILD]) == {""}
    assert set(seen[SENIOR]) == {"", "stick"}
    assert seen[SENIOR]["stick"] / seen[SENIOR].total() == pytest.approx(0.3, abs=0.06)
    assert set(seen[ADULT]) == {"", "pram", "cart", "suitcase", "folded-arms"}
    held = seen[ADULT].total() - seen[ADULT][""] - seen[ADULT]["folded-arms"]
    assert 0.08 < held / seen[ADULT].total() < 0.16


def test_rain_opens_umbrellas(people) -> None:
    roles, traits = people
    wet = draw_outfits(3, roles, traits, 80.0)
    share = np.mean([outfit.carries == "umbrella" for outfit in wet])
    assert share == pytest.approx(0.45, abs=0.05)


def test_people_who_carry_a_load_have_a_suitcase_and_attempts_are_unencumbered(people) -> None:
    roles, traits = people
    loaded = [replace(r, kind="carry", intended=WILL_CROSS) for r in roles]
    outfits = draw_outfits(3, loaded, traits, 0.0)
    plain = (traits.age == ADULT) & (traits.attention != PHONE)
    assert {outfits[k].carries for k in np.flatnonzero(plain)} == {"suitcase"}
    trying = [replace(r, intended=ATTEMPTING) for r in roles]
    outfits = draw_outfits(3, trying, traits, 0.0)
    assert {outfits[k].carries for k in np.flatnonzero(plain)} == {""}
