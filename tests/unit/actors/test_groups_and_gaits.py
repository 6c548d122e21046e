"""Groups of posed people, roles that suit their traits, and clips for other gaits."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from test_reacting_walks import ROAD_Y_M, street

from jaywalk.actors.posed._gaits import backward_span_s
from jaywalk.actors.posed._groups import draw_groups, suited
from jaywalk.actors.posed._roles import draw_roles
from jaywalk.actors.posed._ways import beside
from jaywalk.actors.posed.repertoire import HabitManner, read_repertoire
from jaywalk.actors.reactive.traits import PHONE, AttentionShares, draw_traits
from jaywalk.motion import default_library


def test_group_sizes_are_those_of_jaad() -> None:
    people = Counter()
    for seed in range(300):
        groups = draw_groups(seed, range(24), "habit")
        assert sorted(k for group in groups for k in group) == list(range(24))
        for group in groups:
            people[len(group)] += len(group)
    shares = [people[size] / people.total() for size in (1, 2, 3, 4)]
    assert shares == pytest.approx([0.46, 0.33, 0.13, 0.08], abs=0.035)


def test_a_member_walks_beside_the_leader_and_stays_off_the_road_with_them() -> None:
    path = np.array([(2.0, 4.0), (9.0, 4.0), (9.0, 12.0)])
    own = beside(path, 0.0, 0.7, street())
    assert own[0] == pytest.approx((2.0, 4.7))
    assert own[-1] == pytest.approx((8.3, 12.0))
    near_kerb = np.array([(2.0, ROAD_Y_M[0] - 0.3), (9.0, ROAD_Y_M[0] - 0.3)])
    assert (beside(near_kerb, 0.0, 0.7, street()) == near_kerb).all()  # no room: on the road


def test_roles_suit_speed_and_phone() -> None:
    repertoire = read_repertoire(default_library())
    ordinary = {use.name: use for use in repertoire.ordinary}
    fast, slow, busy = [], [], []
    for seed in range(12):
        roles = draw_roles(seed, 20, HabitManner(), repertoire)
        children = np.array([role.child for role in roles])
        shares = AttentionShares(phone=0.3)
        traits = draw_traits(seed, children, shares, "habit")
        for role, old in zip(suited(seed, roles, traits, repertoire), roles, strict=True):
            k = role.number

            if old.intended != "crossing" or old.clip not in ordinary or role.child:
                continue
            use = ordinary[role.clip]
            if traits.attention[k] == PHONE:
                busy.append(use.kind)
            else:
                assert use.kind != "busy"
                (fast if traits.free_mps[k] > 1.4 else slow).append(use.speed_mps)

    assert set(busy) == {"busy"}
    assert np.mean(fast) > np.mean(slow) + 0.15


def test_steps_back_are_found_in_a_clip() -> None:
    ahead = np.concatenate([np.linspace(0.0, 1.5, 31), np.full(10, 1.5), np.linspace(1.5, 0.3, 41)])
    way = np.zeros((len(ahead), 4))
    way[:, 0] = ahead
    enter, until = backward_span_s(way, 20.0)
    assert enter == pytest.approx(41 / 20.0 - 0.1, abs=0.11)
    assert until == pytest.approx(len(ahead) / 20.0, abs=0.11)
    turned = way.copy()
    turned[45:, 3] = 3.0  # goes back facing the other way: no step back
    assert backward_span_s(turned, 20.0) is None
    assert backward_span_s(way[:40], 20.0) is None
