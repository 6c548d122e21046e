"""Ambient people who react, on a street made here: gaps, vehicles, each other, and their draws."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from crowd_street import DELTA_S, crossing, going_over, seen, street, walkers

from jaywalk.actors._surroundings import VehicleNumbers
from jaywalk.actors.crowd._crossings import Crossings
from jaywalk.actors.crowd._plans import walk_line
from jaywalk.actors.crowd._reacting import CrowdReactions, draw_crowd_traits
from jaywalk.actors.crowd.crowd import Crowd
from jaywalk.actors.crowd.state import ARRIVED, GAVE_UP, NOTHING, WAITING, WALKING, CrowdRows
from jaywalk.actors.reactive.traits import ATTENTIVE, OBLIVIOUS, REACTIVE
from jaywalk.core.arrays import FloatArray
from jaywalk.core.errors import UsageError
from jaywalk.geometry.box import box_distance
from jaywalk.town.ground import flat_ground
from jaywalk.town.walkways import SIDEWALK, WalkGrid, underfoot

BODY_M = 0.188  # radius of a walker's body


@dataclass
class View:
    """What tells the vehicles of a scene apart."""

    vehicle_ids: list[int]
    vehicle_roles: list[str] = field(init=False)

    def __post_init__(self) -> None:
        self.vehicle_roles = ["background"] * len(self.vehicle_ids)


def react(
    people: CrowdRows, grid: WalkGrid, seed: int = 1, attention: int | None = ATTENTIVE
) -> CrowdReactions:
    """Reactions of people on their paths, all of one kind unless ``attention`` is None."""
    traits = draw_crowd_traits(seed, ["adult"] * len(people.x), 0.02)
    if attention is not None:
        traits.attention[:] = attention
    reactions = CrowdReactions.of(REACTIVE, seed, traits, grid, DELTA_S, 0.0)
    for row in range(len(people.x)):
        reactions.plan_changed(people, row, grid)
    return reactions


def run(
    people: CrowdRows,
    reactions: CrowdReactions,
    around: Any,
    ticks: int,
    grid: WalkGrid,
    ways: Crossings,
) -> FloatArray:
    """Let them walk as the server lets them; places (ticks, n, 2)."""
    trace = np.zeros((ticks, len(people.x), 2))
    network: Any = SimpleNamespace(crossings=ways, grid=grid, ground=flat_ground())
    view: Any = View(list(range(1, len(around.vehicles) + 1)))
    for tick in range(ticks):
        reactions.advance(people, around, view, network, DELTA_S)
        people.sent_heading[:], people.sent_pace[:] = people.heading, people.pace
        people.x[:] += people.pace * np.cos(people.heading) * DELTA_S
        people.y[:] += people.pace * np.sin(people.heading) * DELTA_S
        around.vehicles[:, 0] += around.vehicles[:, 6] * DELTA_S
        around.vehicles[:, 1] += around.vehicles[:, 7] * DELTA_S
        trace[tick] = np.column_stack([people.x, people.y])
    return trace


def touches(attention: int, count: int, speeds_mps: tuple[float, float]) -> tuple[int, int]:
    """People who touch a car that drives at constant speed over their crossing, and who waited.

    Whoever walks on at the free speed would be in its way.
    """
    grid, ways = street(), crossing(painted=-1)
    random = np.random.default_rng(3)
    touched = waited = 0
    for k in range(count):
        people = going_over(ways)
        reactions = react(people, grid, k, attention)
        speed = random.uniform(*speeds_mps)
        reach_s = (10.0 + random.uniform(1.8, 3.6)) / reactions.model.traits.free_mps[0]
        x = 40.0 - speed * reach_s + random.uniform(-2.0, 2.0)
        around = seen([[x, 5.0, 1.0, 0.0, 2.3, 0.9, speed, 0.0]])
        hit = wait = False
        for _ in range(450):
            run(people, reactions, around, 1, grid, ways)
            gap_m = box_distance(people.x[0], people.y[0], *around.vehicles[0, :6])
            hit |= gap_m < BODY_M
            wait |= bool(people.state[0] == WAITING)
            if people.need[0] == ARRIVED:
                break
        touched, waited = touched + hit, waited + wait
        assert people.y[0] > 10.0, k
    return touched, waited


def test_people_wait_for_a_gap_and_never_touch_a_car() -> None:
    touched, waited = touches(ATTENTIVE, 40, (2.0, 14.0))
    assert touched == 0
    assert waited > 15
    blind, blind_waited = touches(OBLIVIOUS, 40, (2.0, 14.0))
    assert blind > 20  # the encounters are aimed: without reactions most end in contacts
    assert blind_waited == 0


def test_people_who_find_no_gap_turn_back() -> None:
    ways, grid = crossing(painted=-1), street()
    people = going_over(ways)
    reactions = react(people, grid)
    reactions.model.traits.patience_s[:] = 8.0
    reactions.model.traits.bold_s[:] = 0.0
    queue = [[40.0 - 9.0 * k, 5.0, 1.0, 0.0, 2.3, 0.9, 6.0, 0.0] for k in range(50)]
    run(people, reactions, seen(queue), 250, grid, ways)
    assert people.need[0] == GAVE_UP
    assert people.y[0] < 3.0


def test_people_wait_for_the_light() -> None:
    ways, grid = crossing(lights=0), street()
    for red_s, crosses in ((-1.0, False), (1.0, True)):
        people = going_over(ways)
        trace = run(people, react(people, grid), seen(red_s=red_s), 120, grid, ways)
        assert (trace[:, 0, 1].max() > 4.0) == crosses, red_s


@pytest.mark.parametrize("aside_m", [-1.0, 0.0, 1.0])
def test_a_car_that_stands_on_the_crossing_is_walked_round(aside_m: float) -> None:
    ways, grid = crossing(), street()
    people = going_over(ways)
    car = [40.0 + aside_m, 6.5, 1.0, 0.0, 2.4, 0.95, 0.0, 0.0]
    trace = run(people, react(people, grid), seen([car]), 400, grid, ways)
    assert min(box_distance(x, y, *car[:6]) for x, y in trace[:, 0]) > BODY_M
    assert trace[-1, 0, 1] > 10.0


def test_people_of_other_models_are_walked_round() -> None:
    """Posed people reach the crowd as rows of other people, and the crowd reaches them so."""
    grid, ways = street(), crossing()
    people = walkers([(5.0, 1.5), (35.0, 1.5)])
    around = seen()._replace(other_people=np.array([[20.0, 1.55, 0.0, 0.0]]))
    trace = run(people, react(people, grid), around, 300, grid, ways)
    assert np.hypot(*(trace[:, 0] - [20.0, 1.55]).T).min() > 2.0 * BODY_M
    assert trace[-1, 0, 0] > 34.0


def test_nobody_walks_through_anybody() -> None:
    """Ten people on one sidewalk for five minutes, to and fro between drawn places."""
    grid, ways, count = street(), crossing(), 10
    random = np.random.default_rng(8)
    places = random.uniform((5.0, 0.6), (60.0, 2.4), (count, 2))
    places[:, 0] = 5.0 + 5.5 * np.arange(count)
    people = walkers(*[[tuple(p), (p[0] + 2.0, p[1])] for p in places])
    reactions = react(people, grid, attention=None)
    nearest, walked = math.inf, np.zeros(count)
    for _ in range(3000):
        trace = run(people, reactions, seen(), 1, grid, ways)
        apart = np.hypot(*(trace[0][:, None] - trace[0][None]).transpose(2, 0, 1))
        nearest = min(nearest, float(apart[np.triu_indices(count, 1)].min()))
        walked += people.pace * DELTA_S
        for row in np.flatnonzero(people.need).tolist():
            goal = random.uniform((5.0, 0.6), (60.0, 2.4))
            walk_line(people, row, np.array([[people.x[row], people.y[row]], goal]))
            people.need[row], people.state[row] = NOTHING, WALKING
            reactions.plan_changed(people, row, grid)
    assert nearest > 2.0 * BODY_M
    assert walked.min() > 60.0
    assert {int(underfoot(grid, *place)) for place in trace[0]} == {SIDEWALK}


def test_the_same_seed_gives_the_same_bytes_and_one_person_more_changes_nobody() -> None:
    def tracks(seed: int, more: int) -> FloatArray:
        grid, ways = street(), crossing(painted=-1)
        lines = [[(30.0, 2.3), (40.0, 2.3), (40.0, 10.7)], *[[(70.0, 11.0), (78.0, 11.0)]] * more]
        people = walkers(*lines)
        people.cross_from[0], people.cross_to[0], people.cross_ref[0] = 10.0, 18.0, 0
        reactions = react(people, grid, seed, attention=None)
        cars = [[-40.0 - 40.0 * k, 5.0, 1.0, 0.0, 2.3, 0.9, 9.0, 0.0] for k in range(4)]
        return run(people, reactions, seen(cars), 250, grid, ways)[:, 0]

    first = tracks(4, 0)
    assert first.tobytes() == tracks(4, 0).tobytes()
    assert first.tobytes() == tracks(4, 1).tobytes()
    assert first.tobytes() != tracks(5, 0).tobytes()


def test_traits_have_streams_of_their_own_and_ages_of_the_bodies() -> None:
    ages = ["adult", "child", "elderly", "adult"]
    four = draw_crowd_traits(7, ages, 0.02)
    three = draw_crowd_traits(7, ages[:3], 0.02)
    for some, fewer in zip(four, three, strict=True):
        assert np.array_equal(some[:3], fewer)
    assert four.age.tolist() == [0, 1, 2, 0]
    assert (four.group == -1).all()
    many = draw_crowd_traits(7, ["adult"] * 4000, 0.02)
    assert np.median(many.free_mps) == pytest.approx(1.31, rel=0.02)
    assert (many.attention == OBLIVIOUS).mean() == pytest.approx(0.02, abs=0.008)


def test_vehicle_numbers_do_not_depend_on_actors_of_scenarios() -> None:
    base, shift = VehicleNumbers(), VehicleNumbers()
    base.update([4, 9, 10], ["hero", "background", "background"])
    shift.update([4, 6, 12, 13], ["hero", "scenario", "background", "background"])
    assert base.numbers.tolist() == shift.numbers[:3].tolist()
    assert shift.order.tolist() == [0, 2, 3, 1]
    assert shift.actors(shift.numbers).tolist() == [4, 12, 13, 6]
    assert base.actors(np.zeros(1, np.int64)).tolist() == [0]
    base.update([4, 10], ["hero", "background"])  # one has left: the others keep theirs
    assert base.actors(base.numbers).tolist() == [4, 10]


def test_a_crowd_refuses_an_unknown_model() -> None:
    with pytest.raises(UsageError, match=r"'wild'.*scripted, reactive, campus"):
        Crowd(None, None, 1, people_model="wild")  # type: ignore[arg-type]
