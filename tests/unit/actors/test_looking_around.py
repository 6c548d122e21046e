"""Looks of people who stay or cross, drivers who wait, strangers, first steps and evasions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from test_reactions import APART_M, NO_BOXES, NO_PEOPLE, STEP_S, cars, make_model

from jaywalk.actors.reactive.model import ReactionModel
from jaywalk.actors.reactive.traits import (
    AT_KERB,
    ATTENTIVE,
    COMMITTED,
    EVADES,
    GOES,
    NONE,
    OBLIVIOUS,
    OFF_ROAD,
    ON_ROAD,
    PHONE,
)

NO_CARS = (np.zeros(0, np.int64), np.zeros((0, 8)))


def at_kerb(count: int, seed: int = 1) -> ReactionModel:
    """People who stand at the kerb, far from each other, with the road along x before them."""
    model = make_model(count, seed=seed)
    rows = model.rows
    rows.where[:] = AT_KERB
    rows.x[:], rows.y[:], rows.yaw[:] = APART_M * np.arange(count), -2.0, 0.5 * math.pi
    rows.aim_x[:], rows.aim_y[:], rows.left_m[:], rows.kerb_m[:] = rows.x, 8.0, 4.0, 0.0
    return model


def staying(attention: int, count: int = 60) -> ReactionModel:
    model = at_kerb(count)
    model.traits.attention[:] = attention
    model.rows.stays[:], model.rows.where[:] = True, OFF_ROAD
    model.rows.kerb_m[:] = np.inf
    model.rows.y[:] = -20.0  # too far from the cars to be startled
    return model


def test_people_who_stay_look_around_and_decide_nothing() -> None:
    shares = {}
    for attention in (ATTENTIVE, PHONE, OBLIVIOUS):
        model = staying(attention)
        rows, looks, remembered = model.rows, [], np.zeros(60, np.bool_)
        for tick in range(600):
            x = rows.x - 40.0 + 10.0 * (tick * STEP_S % 8.0)
            model.step(np.arange(1, 61), cars(x, 10.0), NO_BOXES, NO_PEOPLE)
            looks.append(rows.looking.copy())
            remembered |= (rows.memory_id != 0).any(axis=1)
            assert (rows.decision == NONE).all()
            assert (rows.speed == 0.0).all()
        shares[attention] = float(np.mean(looks))
        assert remembered.all() == (attention == ATTENTIVE)
    # Looks and pauses are log-normal: mean look / (mean look + mean pause).
    look_s, pause_s = (
        median * math.exp(0.5 * (math.log(high / low) / (2.0 * 1.2816)) ** 2)
        for median, low, high in ((0.97, 0.37, 2.7), (2.0, 0.8, 6.0))
    )
    assert shares[ATTENTIVE] == pytest.approx(look_s / (look_s + pause_s), abs=0.05)
    assert shares[PHONE] < 0.5 * shares[ATTENTIVE]
    assert shares[OBLIVIOUS] == 0.0


@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_the_first_look_is_to_the_near_side_and_the_next_to_the_far_side(side: float) -> None:
    model = at_kerb(20)
    rows = model.rows
    rows.near_side[:], rows.looks[:], rows.looks_from[:] = side, 3, 3
    first: dict[int, list[float]] = {}
    for _ in range(300):
        model.step(*NO_CARS, NO_BOXES, NO_PEOPLE)
        for k in np.flatnonzero(rows.looking):
            first.setdefault(int(k), [])
            if len(first[int(k)]) < rows.looks[k] - 3:
                first[int(k)].append(float(np.sign(rows.gaze_rad[k])))
    assert len(first) == 20
    assert all(turns[:2] == [side, -side] for turns in first.values())


def test_people_look_to_the_next_lane_at_its_border() -> None:
    model = make_model(20)
    rows = model.rows
    rows.x[:] = APART_M * np.arange(20)
    rows.aim_x[:], rows.aim_y[:], rows.left_m[:], rows.yaw[:] = rows.x, 8.0, 8.0, 0.5 * math.pi
    rows.until_s[:] = 1e9  # no other looks
    model.step(*NO_CARS, NO_BOXES, NO_PEOPLE)
    assert not rows.looking.any()
    rows.lane[:], rows.near_side[:] = 1, 1.0
    model.step(*NO_CARS, NO_BOXES, NO_PEOPLE)
    assert rows.looking.all()
    assert (rows.gaze_rad > 0.5).all()  # to the right
    rows.until_s[:] = 0.0
    model.step(*NO_CARS, NO_BOXES, NO_PEOPLE)
    assert not rows.looking.any()  # once at each border


def test_a_driver_who_has_stood_gives_way_when_creeping() -> None:
    def evidence(stands_s: float) -> float:
        model = at_kerb(40)
        rows = model.rows
        rows.may_go[:] = False
        model.traits.bold_s[:] = 0.0
        x = -6.0
        for tick in range(round(stands_s / STEP_S) + 20):
            v = 0.0 if tick < stands_s / STEP_S else 0.8
            x += v * STEP_S
            rows.looking[:], rows.until_s[:], rows.looked[:] = True, 1e9, True
            rows.evidence[:] = np.where(tick < stands_s / STEP_S, 0.0, rows.evidence)
            model.step(np.arange(1, 41), cars(rows.x + x, v), NO_BOXES, NO_PEOPLE)
        return float(rows.evidence.mean())

    assert evidence(1.5) > evidence(0.1) + 0.02


def test_some_people_follow_a_stranger_who_steps_out() -> None:
    count = 400
    model = at_kerb(2 * count)
    rows = model.rows
    rows.x[1::2] = rows.x[0::2] + 1.5
    rows.aim_x[:] = rows.x
    rows.may_go[:] = False
    follows = np.zeros(2 * count, np.bool_)
    for tick in range(60):
        if tick == 5:
            rows.where[0::2] = ON_ROAD
        model.step(*NO_CARS, NO_BOXES, NO_PEOPLE)
        follows |= rows.follow == GOES
    assert float(follows[1::2].mean()) == pytest.approx(0.25, abs=0.07)
    assert not follows[0::2].any()


def test_people_who_only_attempt_to_cross_lose_evidence_at_the_first_step() -> None:
    model = at_kerb(2)
    rows = model.rows
    rows.bias[:] = [0.0, -0.5]
    model.step(*NO_CARS, NO_BOXES, NO_PEOPLE)
    rows.evidence[:], rows.where[:], rows.onto_m[:] = 0.3, ON_ROAD, 2.0
    rows.bias[0] = -0.1
    model.step(*NO_CARS, NO_BOXES, NO_PEOPLE)
    before = rows.evidence.copy()
    assert before[0] == pytest.approx(0.2)
    model.step(*NO_CARS, NO_BOXES, NO_PEOPLE)
    assert (rows.evidence == before).all()  # at the first step only


def test_an_evasion_leads_across_the_course_of_the_car_for_its_time() -> None:
    model = make_model(1)
    rows = model.rows
    rows.x[:], rows.y[:], rows.yaw[:] = 0.0, 0.4, 0.5 * math.pi
    rows.aim_x[:], rows.aim_y[:], rows.left_m[:] = 0.0, 8.0, 8.0
    evading, x = [], -14.0
    for _ in range(40):
        x += 12.0 * STEP_S
        v = 12.0 if x < -4.0 else 0.0
        x = min(x, -4.0)
        model.step(np.array([1]), cars(np.array([x]), v), NO_BOXES, NO_PEOPLE)
        evading.append(bool(rows.decision[0] == EVADES))
        if evading[-1]:
            assert rows.speed[0] == 2.5
            assert abs(math.cos(rows.course[0])) < 1e-6  # the car drives along x
            assert math.sin(rows.course[0]) > 0.0  # to the side on which the person is
    first = evading.index(True)
    assert sum(evading[first : first + 12]) == 12  # 0.6 s
    assert not evading[-1]
    assert rows.decision[0] in (COMMITTED, NONE)
