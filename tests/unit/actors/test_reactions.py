"""The reaction model on drawn encounters, against data of HIKER and scipy's distributions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from jaywalk.actors.reactive._noise import normal, uniform
from jaywalk.actors.reactive.model import ReactionModel, VehicleMemory
from jaywalk.actors.reactive.traits import (
    AT_KERB,
    ATTENTIVE,
    COMMITTED,
    EVADES,
    OBLIVIOUS,
    ON_ROAD,
    STEPS_BACK,
    AttentionShares,
    ReactionSettings,
    draw_traits,
    noise_key,
)
from jaywalk.town.walkways import Tiling, WalkGrid

STEP_S = 0.05
LENGTH_M, WIDTH_M, BODY_M = 4.7, 1.9, 0.3
APART_M = 250.0  # between two encounters, more than the range of sight
NO_BOXES, NO_PEOPLE = np.zeros((0, 6)), np.zeros((0, 4))


def open_ground() -> WalkGrid:
    """A walk grid without any cells."""
    tiling = Tiling(0.0, 0.0, 0.2, np.full((1, 1), -1, np.int32))
    cells = np.zeros((0, 64, 64), np.uint8)
    return WalkGrid(tiling, *(cells for _ in WalkGrid._fields[1:]))


def make_model(
    count: int,
    attention: int = ATTENTIVE,
    seed: int = 1,
    bold_s: float | None = None,
    speed_drift: float = 0.05,
) -> ReactionModel:
    """A model of people of one kind, all active and on the road."""
    traits = draw_traits(seed, np.zeros(count, np.bool_), AttentionShares())
    traits.attention[:] = attention
    if bold_s is not None:
        traits.bold_s[:] = bold_s
    model = ReactionModel(
        key=noise_key(seed, "test"),
        traits=traits,
        grid=open_ground(),
        settings=ReactionSettings(speed_drift=speed_drift),
    )
    model.rows.active[:] = True
    model.rows.where[:] = ON_ROAD
    return model


def meet(
    count: int,
    speeds_mps: tuple[float, float],
    *,
    brakes: bool = False,
    attention: int = ATTENTIVE,
    wall: bool = False,
    speed_drift: float = 0.05,
) -> tuple[float, float]:
    """Drive a car past each person so that it lies in their way; shares of side and front contacts.

    Every person walks up the y axis from -5 m and would reach the near side of the car while some
    part of it is there.
    """
    random = np.random.default_rng(3)
    model = make_model(count, attention, speed_drift=speed_drift)
    rows, free = model.rows, random.uniform(0.9, 1.8, count)
    model.traits.free_mps[:] = free
    centre = APART_M * np.arange(count)
    speed = random.uniform(*speeds_mps, count)
    reach_s = (5.0 - WIDTH_M / 2.0 - BODY_M) / free
    x = random.uniform(-LENGTH_M / 2.0 - 1.5, LENGTH_M / 2.0, count) - speed * reach_s
    braking = random.uniform(1.0, 3.0, count) if brakes else np.zeros(count)
    brake_s = random.uniform(0.0, reach_s) if brakes else np.full(count, np.inf)
    px, py, vx, vy = np.zeros(count), np.full(count, -5.0), np.zeros(count), free.copy()
    side, front = np.zeros(count, np.bool_), np.zeros(count, np.bool_)
    block = NO_BOXES
    if wall:  # along the road; it ends sight, and people come through it just before the road
        block = np.array([(c, -1.45, 1.0, 0.0, 100.0, 0.05) for c in centre])
    for tick in range(300):
        braked_s = np.clip(tick * STEP_S - brake_s, 0.0, None)
        now_mps = np.maximum(speed - np.where(braking > 0.0, braking * braked_s, 0.0), 0.0)
        x = x + now_mps * STEP_S
        rows.x[:], rows.y[:], rows.vx[:], rows.vy[:] = px + centre, py, vx, vy
        rows.yaw[:] = np.where(np.hypot(vx, vy) > 0.2, np.arctan2(vy, vx), 0.5 * math.pi)
        rows.aim_x[:], rows.aim_y[:], rows.left_m[:], rows.kerb_m[:] = centre, 8.0, 8.0 - py, 0.0
        model.step(np.arange(1, count + 1), cars(x + centre, now_mps), block, NO_PEOPLE)
        limit = np.where(rows.decision == EVADES, 6.0, 2.5)
        ax = (rows.speed * np.cos(rows.course) - vx) / 0.25
        ay = (rows.speed * np.sin(rows.course) - vy) / 0.25
        size = np.maximum(np.hypot(ax, ay) / limit, 1.0)
        vx, vy = vx + ax / size * STEP_S, vy + ay / size * STEP_S
        px, py = px + vx * STEP_S, py + vy * STEP_S
        ahead = np.maximum(np.abs(px - x) - LENGTH_M / 2, 0.0)
        gap = np.hypot(ahead, np.maximum(np.abs(py) - WIDTH_M / 2, 0.0))
        touches = (gap < BODY_M) & ~side & ~front
        beside = (np.abs(py) >= WIDTH_M / 2) & (np.abs(px - x) <= LENGTH_M / 2)
        side |= touches & beside
        front |= touches & ~beside
    return float(side.mean()), float(front.mean())


def cars(x_m: NDArray[np.float64], speed_mps: NDArray[np.float64] | float) -> NDArray[np.float64]:
    """Cars on the x axis."""
    rows = np.zeros((len(x_m), 8))
    rows[:, 0], rows[:, 2], rows[:, 4], rows[:, 5] = x_m, 1.0, LENGTH_M / 2, WIDTH_M / 2
    rows[:, 6] = speed_mps
    return rows


def test_noise_is_uniform_and_normal() -> None:
    flat = np.array([uniform(12345, k % 7, 2, k) for k in range(20_000)])
    bell = np.array([normal(9, 3, 1, k) for k in range(20_000)])
    assert stats.kstest(flat, "uniform").pvalue > 0.01
    assert stats.kstest(bell, "norm").pvalue > 0.01
    assert abs(np.corrcoef(flat[1:], flat[:-1])[0, 1]) < 0.03


@pytest.mark.parametrize(
    ("speeds_mps", "brakes"), [((0.3, 4.0), False), ((4.0, 12.0), False), ((2.0, 8.0), True)]
)
def test_attentive_people_do_not_walk_into_vehicles(
    speeds_mps: tuple[float, float], brakes: bool
) -> None:
    side, front = meet(200, speeds_mps, brakes=brakes)
    assert side == 0.0
    assert front <= 0.01
    blind_side, _ = meet(200, speeds_mps, brakes=brakes, attention=OBLIVIOUS)
    assert blind_side > 0.3  # the encounters are aimed: without reactions they end in contacts


def test_a_wall_brings_the_contacts_back() -> None:
    side, front = meet(150, (4.0, 12.0), wall=True)
    blind_side, blind_front = meet(150, (4.0, 12.0), attention=OBLIVIOUS)
    assert side + front > 0.3 * (blind_side + blind_front)


def accept_rate(gap_s: float, speed_mps: float, count: int = 400) -> float:
    """Share of people at the kerb who accept the gap before a car of constant speed."""
    model = make_model(count, seed=7)
    rows = model.rows
    rows.where[:] = AT_KERB
    centre = APART_M * np.arange(count)
    rows.x[:], rows.y[:], rows.yaw[:] = centre, -2.0, 0.5 * math.pi
    rows.aim_x[:], rows.aim_y[:], rows.left_m[:], rows.kerb_m[:] = centre, 8.0, 4.0, 0.0
    went = np.zeros(count, np.bool_)
    for tick in range(-20, round(gap_s / STEP_S)):
        # People look at this car while the one before it still passes.
        rows.looking[:], rows.until_s[:], rows.looks[:], rows.looked[:] = True, 1e9, 2, True
        front = speed_mps * (gap_s - tick * STEP_S)
        if tick < 0:
            rows.evidence[:] = 0.0
        now = cars(centre - front - LENGTH_M / 2 - BODY_M, speed_mps)
        model.step(np.arange(1, count + 1), now, NO_BOXES, NO_PEOPLE)
        if tick >= 0:
            went |= rows.decision == COMMITTED
    return float(went.mean())


def test_gaps_are_accepted_as_in_hiker() -> None:
    # Pooled over 25, 30 and 35 mph: 60 people, 2,138 trials with cars of constant speed.
    recorded = {2.0: 0.05, 3.0: 0.27, 4.0: 0.51, 5.0: 0.76}
    rates = {gap: [accept_rate(gap, v) for v in (11.2, 13.4, 15.6)] for gap in recorded}
    errors = [abs(float(np.mean(rates[gap])) - share) for gap, share in recorded.items()]
    assert np.mean(errors) < 0.06, rates
    assert rates[5.0][0] < rates[5.0][2], rates  # faster cars get shorter gaps


def test_a_person_more_changes_nobody_else() -> None:
    def tracks(count: int) -> NDArray[np.float64]:
        model = make_model(count)
        rows = model.rows
        rows.x[:], rows.y[:] = APART_M * np.arange(count), -3.0
        rows.vy[:], rows.yaw[:] = 1.3, 0.5 * math.pi
        rows.aim_x[:], rows.aim_y[:], rows.left_m[:] = rows.x, 8.0, 11.0
        seen = []
        for tick in range(60):
            x = np.array([-20.0 + 0.4 * tick, APART_M - 15.0 + 0.3 * tick])
            now = cars(x, np.array([8.0, 6.0]))
            model.step(np.array([3, 8]), now, NO_BOXES, NO_PEOPLE)
            seen.append(np.stack([rows.speed[:2], rows.course[:2], rows.gaze_rad[:2]]))
        return np.array(seen)

    assert np.array_equal(tracks(2), tracks(3))


def test_vehicles_are_perceived_late_and_with_their_braking() -> None:
    memory = VehicleMemory(STEP_S)
    for tick in range(20):
        v = 10.0 - 2.0 * tick * STEP_S
        x = 10.0 * tick * STEP_S - (tick * STEP_S) ** 2
        rows = memory.update(np.array([4]), cars(np.array([x]), v))
    assert rows[0, 9] == pytest.approx(-2.0)
    then = 15 * STEP_S  # 0.2 s ago, moved on at constant velocity
    expected = 10.0 * then - then**2 + 0.2 * (10.0 - 2.0 * then)
    assert rows[0, 0] == pytest.approx(expected)


def test_the_braking_of_a_car_decides_who_goes_first() -> None:
    def share_that_goes(accel_mps2: float) -> float:
        count = 60
        model = make_model(count, bold_s=0.0)
        rows = model.rows
        centre = APART_M * np.arange(count)
        rows.x[:], rows.y[:], rows.vy[:], rows.yaw[:] = centre, -3.0, 1.3, 0.5 * math.pi
        rows.aim_x[:], rows.aim_y[:], rows.left_m[:] = centre, 8.0, 11.0
        model.traits.free_mps[:] = 1.3
        v, x = 9.0, -22.0
        for _ in range(20):
            v = max(v + accel_mps2 * STEP_S, 0.0)
            x += v * STEP_S
            model.step(np.arange(1, count + 1), cars(centre + x, v), NO_BOXES, NO_PEOPLE)
        return float((rows.speed > 0.8).mean())

    assert share_that_goes(-4.0) > 0.9
    assert share_that_goes(1.0) < 0.4


def commit_share(accel_mps2: float) -> float:
    """Share of people at the kerb who decide to go before a car that speeds up or slows down."""
    count = 400
    model = make_model(count, seed=5)
    rows = model.rows
    rows.where[:] = AT_KERB
    centre = APART_M * np.arange(count)
    rows.x[:], rows.y[:], rows.yaw[:] = centre, -2.0, 0.5 * math.pi
    rows.aim_x[:], rows.aim_y[:], rows.left_m[:], rows.kerb_m[:] = centre, 8.0, 4.0, 0.0
    went = np.zeros(count, np.bool_)
    v, x = 10.0, -40.0
    for tick in range(40):
        rows.looking[:], rows.until_s[:], rows.looks[:], rows.looked[:] = True, 1e9, 2, True
        if tick < 8:  # until the braking can be seen
            rows.evidence[:] = 0.0
        v = max(v + accel_mps2 * STEP_S, 0.5)
        x += v * STEP_S
        model.step(np.arange(1, count + 1), cars(centre + x, v), NO_BOXES, NO_PEOPLE)
        went |= (rows.decision == COMMITTED) & (tick >= 8)
    return float(went.mean())


def test_reversing_the_braking_reverses_commitments() -> None:
    slows, keeps, speeds_up = (commit_share(a) for a in (-2.5, 0.0, 2.5))
    assert slows > 1.5 * keeps
    assert keeps > 1.2 * speeds_up


def test_oblivious_people_are_hit_as_often_as_those_who_walk_straight_on() -> None:
    count, speeds = 300, (4.0, 12.0)
    model_side, model_front = meet(count, speeds, attention=OBLIVIOUS, speed_drift=0.0)
    # The same encounters by geometry alone: everybody keeps course and speed.
    random = np.random.default_rng(3)
    free, speed = random.uniform(0.9, 1.8, count), random.uniform(*speeds, count)
    reach_s = (5.0 - WIDTH_M / 2.0 - BODY_M) / free
    x = random.uniform(-LENGTH_M / 2.0 - 1.5, LENGTH_M / 2.0, count) - speed * reach_s
    t = np.arange(1, 301)[:, None] * STEP_S
    ahead = np.maximum(np.abs(x + speed * t) - LENGTH_M / 2, 0.0)
    gap = np.hypot(ahead, np.maximum(np.abs(-5.0 + free * t) - WIDTH_M / 2, 0.0))
    straight = int((gap.min(axis=0) < BODY_M).sum())
    low, high = stats.binomtest(straight, count).proportion_ci(0.99, method="wilson")
    assert low <= model_side + model_front <= high


def test_members_of_a_group_hold_and_then_follow_their_leader() -> None:
    count = 200
    model = make_model(2 * count)
    rows, gaps = model.rows, []
    rows.where[:] = AT_KERB
    rows.leader[:] = 2 * (np.arange(2 * count) // 2)
    model.traits.group[:] = rows.leader
    model.traits.age[:] = 0
    rows.x[:] = APART_M * (np.arange(2 * count) // 2) + 0.7 * (np.arange(2 * count) % 2)
    rows.y[:], rows.yaw[:] = -2.0, 0.5 * math.pi
    rows.aim_x[:], rows.aim_y[:], rows.left_m[:], rows.kerb_m[:] = rows.x, 8.0, 4.0, 0.0
    rows.looked[:] = True
    rows.may_go[0::2] = False
    first = np.full(2 * count, np.inf)
    for tick in range(100):
        if tick == 20:
            rows.may_go[:] = True
        model.step(np.zeros(0, np.int64), np.zeros((0, 8)), NO_BOXES, NO_PEOPLE)
        first = np.where((rows.decision == COMMITTED) & np.isinf(first), tick, first)
    assert (first[0::2] >= 20).all()
    late = (first[1::2] - first[0::2]) * STEP_S
    assert (late >= 0.0).all()
    gaps = late[late > 0.06]  # the others do not follow, but nothing keeps them
    assert len(gaps) / count == pytest.approx(0.8, abs=0.09)
    assert np.median(gaps) == pytest.approx(0.4, abs=0.1)


def test_people_go_back_to_the_kerb_when_a_car_speeds_up() -> None:
    def shares(accel_mps2: float) -> tuple[float, float]:
        count = 100
        model = make_model(count, bold_s=0.0)
        rows = model.rows
        centre = APART_M * np.arange(count)
        rows.x[:], rows.y[:], rows.vy[:], rows.yaw[:] = centre, -1.5, 0.9, 0.5 * math.pi
        rows.aim_x[:], rows.aim_y[:], rows.left_m[:] = centre, 8.0, 6.0
        rows.onto_m[:], rows.evidence[:], rows.decision[:] = 0.3, 0.5, COMMITTED
        model.traits.free_mps[:] = 1.3
        back = np.zeros(count, np.bool_)
        v, x = 8.0, -22.0
        for _ in range(30):
            v = max(v + accel_mps2 * STEP_S, 0.0)
            x += v * STEP_S
            rows.looking[:], rows.until_s[:], rows.looks[:] = True, 1e9, 2
            model.step(np.arange(1, count + 1), cars(centre + x, v), NO_BOXES, NO_PEOPLE)
            back |= rows.decision == STEPS_BACK
        return float(back.mean()), float((rows.course[rows.decision == STEPS_BACK] < 0.0).mean())

    back, backwards = shares(3.0)
    assert back > 0.5
    assert backwards == 1.0
    assert shares(-4.0)[0] < back - 0.3


def test_nobody_steps_out_while_the_light_forbids_it() -> None:
    model = make_model(50)
    rows = model.rows
    rows.where[:], rows.may_go[:], rows.looked[:] = AT_KERB, False, True
    rows.x[:] = APART_M * np.arange(50)
    rows.aim_x[:], rows.aim_y[:], rows.kerb_m[:] = rows.x, 8.0, 0.5
    for _ in range(60):
        model.step(np.zeros(0, np.int64), np.zeros((0, 8)), NO_BOXES, NO_PEOPLE)
        assert not (rows.decision == COMMITTED).any()
    rows.may_go[:] = True
    model.step(np.zeros(0, np.int64), np.zeros((0, 8)), NO_BOXES, NO_PEOPLE)
    assert (rows.decision == COMMITTED).all()


def test_the_wanted_speed_fluctuates_slowly() -> None:
    model = make_model(400)
    rows = model.rows
    rows.where[:] = 0
    rows.x[:] = APART_M * np.arange(400)
    seen = []
    for _ in range(80):
        model.step(np.zeros(0, np.int64), np.zeros((0, 8)), NO_BOXES, NO_PEOPLE)
        seen.append(rows.wanted / model.traits.free_mps - 1.0)
    assert np.std(seen[-1]) == pytest.approx(0.05, rel=0.12)
    # After 1.5 s, 30 ticks, a fluctuation has lost all but 1/e of itself.
    assert np.corrcoef(seen[-31], seen[-1])[0, 1] == pytest.approx(math.exp(-1.0), abs=0.12)


def test_people_who_meet_pass_each_other() -> None:
    model = make_model(2)
    rows = model.rows
    model.traits.free_mps[:] = 1.3
    place, velocity = np.array([[-4.0, 0.05], [4.0, -0.05]]), np.array([[1.3, 0.0], [-1.3, 0.0]])
    nearest = math.inf
    for _ in range(140):
        rows.x[:], rows.y[:] = place.T
        rows.vx[:], rows.vy[:] = velocity.T
        rows.yaw[:] = np.arctan2(velocity[:, 1], velocity[:, 0])
        rows.aim_x[:], rows.aim_y[:], rows.left_m[:] = [9.0, -9.0], 0.0, 10.0
        model.step(np.zeros(0, np.int64), np.zeros((0, 8)), NO_BOXES, NO_PEOPLE)
        wish = np.stack([rows.speed * np.cos(rows.course), rows.speed * np.sin(rows.course)], 1)
        velocity = velocity + np.clip((wish - velocity) / 0.4, -2.5, 2.5) * STEP_S
        place = place + velocity * STEP_S
        nearest = min(nearest, float(np.hypot(*(place[0] - place[1]))))
    assert nearest > 2 * BODY_M - 0.05
    assert place[0, 0] > 3.0
    assert place[1, 0] < -3.0
