"""Policies for people: our own model behind the contract, checks of answers, failures."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from test_reactions import open_ground

from jaywalk.actors.reactive.built_in import BuiltInPeople
from jaywalk.actors.reactive.model import ReactionModel
from jaywalk.actors.reactive.policy import PolicyModel
from jaywalk.actors.reactive.traits import (
    AT_KERB,
    COMMITTED,
    OBLIVIOUS,
    OFF_ROAD,
    ON_ROAD,
    PHONE,
    STEPS_BACK,
    WAITS,
    YIELDS,
    AttentionShares,
    draw_traits,
    noise_key,
)
from jaywalk.core.errors import PeopleModelError
from jaywalk_agent import PersonAct, PersonView

STEP_S = 0.1
PEOPLE = 12
ROAD_M = 7.0
NO_BOXES = np.zeros((0, 6))
BOX = np.array([[1.5, -2.5, 1.0, 0.0, 0.5, 0.4]])


class Held:
    """Always the same answer."""

    def __init__(self, act: PersonAct | None = None) -> None:
        self.act_, self.seen = act, []

    def reset(self, who: Any, goal_m: Any, rng: np.random.Generator) -> None:
        self.who, self.goal_m, self.drawn = who, goal_m, rng.random(3)

    def act(self, seen: PersonView) -> PersonAct:
        self.seen.append(seen)
        return self.act_ or PersonAct(seen.onward)


def own_model(attention: AttentionShares | None = None) -> ReactionModel:
    shares = attention or AttentionShares(glancing=0.2, phone=0.2, oblivious=0.1)
    traits = draw_traits(4, np.arange(PEOPLE) % 4 == 3, shares)
    traits.group[:3], traits.attention[7] = 0, OBLIVIOUS
    return ReactionModel(
        key=noise_key(4, "test"), traits=traits, grid=open_ground(), delta_s=STEP_S
    )


def with_policy(policy: Any, own: Any = None) -> PolicyModel:
    everybody = np.ones(PEOPLE, np.bool_)
    goals = np.zeros((PEOPLE, 2))
    return PolicyModel.replacing(
        own_model(), policy, "mine.py", goals, 9, everybody if own is None else own
    )


def walk(model: ReactionModel, ticks: int, first_id: int = 1) -> dict[str, list[Any]]:
    """Let people cross a road with traffic on two lanes; they walk as the model wants."""
    rows = model.rows
    x, y = 2.0 * np.arange(PEOPLE), np.full(PEOPLE, -6.0) + 0.3 * (np.arange(PEOPLE) % 5)
    vx, vy = np.zeros(PEOPLE), np.full(PEOPLE, 1.0)
    kept: dict[str, list[Any]] = {"speed": [], "course": [], "gaze": [], "looking": [], "y": []}
    for tick in range(ticks):
        rows.active[:] = y < ROAD_M + 3.0
        rows.x[:], rows.y[:], rows.vx[:], rows.vy[:] = x, y, vx, vy
        rows.yaw[:], rows.aim_x[:], rows.aim_y[:] = math.pi / 2.0, x, y + 2.0
        rows.where[:] = np.where(y < 0.0, AT_KERB, np.where(y < ROAD_M, ON_ROAD, OFF_ROAD))
        rows.kerb_m[:] = np.where(y < 0.0, -y, np.where(y < ROAD_M, 0.0, math.inf))
        rows.left_m[:] = np.where(y < 0.0, ROAD_M, np.clip(ROAD_M - y, 0.5, None))
        rows.onto_m[:] = np.where((y >= 0.0) & (y < ROAD_M), y, math.inf)
        time_s = tick * STEP_S
        starts = np.array([-40.0, -120.0, -190.0, 90.0, 150.0])
        pace = np.array([9.0, 11.0, 7.0, -8.0, -10.0])
        cars = np.zeros((5, 8))
        cars[:, 0], cars[:, 1] = starts + pace * time_s, np.where(pace > 0.0, 1.75, 5.25)
        cars[:, 2], cars[:, 4], cars[:, 5], cars[:, 6] = np.sign(pace), 2.4, 0.95, pace
        others = np.array([[7.0, -4.0 + 0.9 * time_s, 0.0, 0.9]])
        model.step(np.arange(first_id, first_id + 5), cars, BOX, others)
        on = rows.active
        kept["speed"].append(np.where(on, rows.speed, 0.0))
        kept["course"].append(np.where(on & (rows.speed > 0.0), rows.course, 0.0))
        kept["gaze"].append(np.where(on, rows.gaze_rad, 0.0))
        kept["looking"].append(on & rows.looking)
        vx = np.where(on, rows.speed * np.cos(rows.course), 0.0)
        vy = np.where(on, rows.speed * np.sin(rows.course), 0.0)
        x, y = x + vx * STEP_S, y + vy * STEP_S
        kept["y"].append(y.copy())
    return kept


def test_our_model_behind_the_contract_gives_what_the_kernel_gives() -> None:
    model = own_model()
    kernel = walk(model, 400)
    policy = BuiltInPeople(model.key, open_ground())
    through = walk(with_policy(policy), 400)
    assert (np.array(kernel["looking"]) == np.array(through["looking"])).all()
    for name in ("speed", "course", "gaze", "y"):
        assert np.allclose(kernel[name], through[name], rtol=0.0, atol=1e-9), name
    # The comparison covers people who wait, look, cross and turn aside.
    speed, y = np.array(kernel["speed"]), np.array(kernel["y"])
    assert (y[-1] > ROAD_M).sum() >= PEOPLE // 2
    assert ((speed == 0.0) & (y < 0.0)).any()
    assert np.array(kernel["looking"]).mean() > 0.02
    assert np.ptp(np.array(kernel["course"])[speed > 0.1]) > 0.2


def test_ids_of_the_server_do_not_matter() -> None:
    """The server's ids depend on earlier episodes; decisions and views must not."""
    kept = []
    for first in (1, 7001):
        policy = BuiltInPeople(own_model().key, open_ground())
        model = with_policy(policy)
        kept.append(walk(model, 120, first_id=first))
        ids = model.recorded(np.arange(PEOPLE))["gaze_id"]
        assert np.isin(ids, [0, *range(first, first + 5)]).all()
        assert model.rows.memory_id.max() <= 5
    assert np.array_equal(kept[0]["y"], kept[1]["y"])
    assert np.array_equal(kept[0]["gaze"], kept[1]["gaze"])


def test_the_policy_is_asked_every_tenth_of_a_second() -> None:
    policy = Held()
    model = with_policy(policy)
    model.delta_s = 0.05
    walk(model, 20)
    assert [round(seen.time_s, 9) for seen in policy.seen] == [round(0.1 * k, 9) for k in range(10)]


def test_a_view_holds_what_the_person_has_seen() -> None:
    policy = Held(PersonAct(np.zeros((PEOPLE, 2)), gaze_m=np.full((PEOPLE, 2), [-30.0, 1.75])))
    model = with_policy(policy)
    walk(model, 12)
    seen = policy.seen[-1]
    assert seen.vehicle_m.shape == (PEOPLE, 8, 2)
    assert (seen.vehicle_count == (seen.vehicle_id != 0).sum(axis=1)).all()
    row, column = np.argwhere(seen.vehicle_id == 1)[0]
    assert seen.vehicle_mps[row, column] == pytest.approx([9.0, 0.0])
    # A reaction time ago, moved on at constant velocity: where the car was at the last sight.
    truth = -40.0 + 9.0 * seen.vehicle_seen_s[row, column]
    assert seen.vehicle_m[row, column, 0] == pytest.approx(truth, abs=1e-6)
    assert seen.vehicle_now_m[row, column, 0] == pytest.approx(-40.0 + 9.0 * seen.time_s)
    gaps = np.hypot(*(seen.position_m - seen.position_m[4]).T)
    near = np.flatnonzero((gaps <= 8.0) & (np.arange(PEOPLE) != 4))
    rows = seen.person_row[4, : seen.person_count[4]]
    assert set(rows[rows >= 0].tolist()) == set(near.tolist())
    assert (rows == -1).sum() == 1  # the one who is not in the batch
    assert seen.obstacle_count[0] == 1
    assert seen.obstacle[0, 0] == pytest.approx(BOX[0])


def test_an_answer_becomes_speed_course_gaze_and_decision() -> None:
    velocity = np.zeros((PEOPLE, 2))
    velocity[0], velocity[1], velocity[2] = (0.0, 1.0), (1.0, 1.0), (0.0, 9.0)
    velocity[4], velocity[5] = (0.0, 9.0), (0.0, -1.0)
    gaze = np.full((PEOPLE, 2), np.nan)
    gaze[0] = 100.0, -6.0  # to the left of somebody who walks towards +y
    gesture = np.zeros(PEOPLE)
    gesture[3] = 1
    run = np.zeros(PEOPLE, np.bool_)
    run[4] = True
    model = with_policy(Held(PersonAct(velocity, gaze, gesture, run)))
    walk(model, 1)
    rows, free = model.rows, model.traits.free_mps
    assert rows.speed[:3].tolist() == pytest.approx([1.0, math.sqrt(2.0), 1.25 * free[2]], abs=0.2)
    assert rows.speed[4] == pytest.approx(4.0)
    assert rows.turn[1] == pytest.approx(-math.pi / 4.0)
    assert rows.gaze_rad[0] == pytest.approx(-math.pi / 2.0, abs=1e-9)
    assert rows.looking.tolist() == [True] + [False] * (PEOPLE - 1)
    assert (model.traits.attention == PHONE).tolist() == [k == 3 for k in range(PEOPLE)]
    rows.where[:], rows.kerb_m[:] = AT_KERB, 1.0
    model._carry_out(model._act, rows.active)
    assert rows.decision[[0, 3]].tolist() == [COMMITTED, WAITS]
    rows.where[:] = ON_ROAD
    model._carry_out(model._act, rows.active)
    assert rows.decision[[0, 3, 5]].tolist() == [COMMITTED, YIELDS, STEPS_BACK]


def test_people_who_are_not_the_policys_follow_our_model() -> None:
    own = np.zeros(PEOPLE, np.bool_)
    own[5] = True
    alone = walk(own_model(), 40)
    policy = Held(PersonAct(np.zeros((PEOPLE, 2))))
    mixed = walk(with_policy(policy, own), 40)
    assert (np.array(mixed["speed"])[:, 5] == 0.0).all()
    far = [k for k in range(PEOPLE) if abs(k - 5) > 3]
    assert np.array_equal(np.array(mixed["speed"])[:8, far], np.array(alone["speed"])[:8, far])
    assert all(seen.active.tolist() == own.tolist() for seen in policy.seen)


def test_traits_are_those_of_the_world_and_random_numbers_those_of_the_seed() -> None:
    policies = [Held(), Held()]
    for policy in policies:
        walk(with_policy(policy), 1)
    assert (policies[0].drawn == policies[1].drawn).all()
    who = policies[0].who
    assert (who.attention == own_model().traits.attention).all()
    assert (who.attention == OBLIVIOUS).any()


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda n: np.zeros((n, 2)), "act() returned ndarray, expected jaywalk_agent.PersonAct"),
        (lambda n: PersonAct(np.zeros((n + 1, 2))), "shape (13, 2), expected (12, 2)"),
        (lambda n: PersonAct(np.full((n, 2), np.nan)), "velocity_mps[0] is [nan, nan]"),
        (lambda n: PersonAct(np.zeros((n, 2)), gaze_m=np.zeros(n)), "gaze_m has the shape (12,)"),
        (lambda n: PersonAct(np.zeros((n, 2)), gesture=np.full(n, 7)), "gesture holds 7"),
        (lambda n: PersonAct([["a", "b"]] * n), "velocity_mps is list, expected an array"),
    ],
)
def test_wrong_answers_are_named(answer: Any, words: str) -> None:
    class Wrong(Held):
        def act(self, seen: PersonView) -> PersonAct:
            return answer(len(seen.active))

    with pytest.raises(PeopleModelError) as failure:
        walk(with_policy(Wrong()), 1)
    assert "The people model mine.py failed in act() at 0 s" in str(failure.value)
    assert words in str(failure.value)
