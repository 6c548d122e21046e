"""Each driver on a straight road in a fake world: what it does about what is in its way."""

from __future__ import annotations

import json
from typing import Any

import carla
import numpy as np
import pytest
from driver_fakes import ClosedLoop, FakeActor, route_along_x

from jaywalk.agents.catalogue import AGENTS
from jaywalk.agents.expert._bypass_room import Room
from jaywalk.agents.expert._passages import Control, Passage, Rule

ALL = ("blind", "cruise", "expert", "timid", "bold", "comfort-zone")


def loop(name: str, others: list[FakeActor], length_m: float = 300.0, **arguments: Any):
    return ClosedLoop(AGENTS.get(name).load()(), others, route_along_x(length_m), **arguments)


def person(x: float, y: float, speed: float = 0.0, yaw_deg: float = -90.0, key: int = 7):
    return FakeActor(
        key, "walker.pedestrian.0001", x, y, yaw_deg, speed, half=(0.19, 0.19, 0.93), z=0.93
    )


def crossing(x: float, at_s: float, speed: float = 1.6):
    """Somebody on the kerb (y = 4.3) who steps out to the left at a time."""
    somebody = person(x, 4.3)

    def each(scene: ClosedLoop) -> None:
        somebody.speed_mps = speed if scene.time_s >= at_s else 0.0

    return somebody, each


@pytest.mark.parametrize("name", ALL)
def test_keeps_lane_and_limit_on_a_free_road(name: str) -> None:
    scene = loop(name, []).run(20.0)
    track = np.array(scene.track)
    assert np.abs(track[:, 1] - 1.75).max() < 0.05
    assert 0.75 * 50.0 / 3.6 < scene.speeds[-1] < 1.03 * 50.0 / 3.6
    decision = scene.decisions[-1]
    assert decision.plan.path_m.shape[1] == 2
    json.dumps(decision.debug)


@pytest.mark.parametrize("name", ALL)
def test_a_car_that_stands_in_mid_lane(name: str) -> None:
    scene = loop(name, [FakeActor(5, "vehicle.parked", 130.0, 1.75)]).run(20.0)
    assert scene.contacts == ({5} if name == "blind" else set())
    if name not in ("blind", "expert", "comfort-zone"):
        assert scene.speeds[-1] < 0.1
        assert 0.5 < 127.7 - (scene.track[-1][0] + 2.446) < 6.0


def test_the_expert_goes_round_a_car_left_at_the_edge() -> None:
    scene = loop("expert", [FakeActor(5, "vehicle.parked", 130.0, 3.0)]).run(25.0)
    track = np.array(scene.track)
    assert scene.contacts == set()
    assert track[-1, 0] > 180.0
    assert track[:, 1].min() < 0.8
    assert abs(track[-1, 1] - 1.75) < 0.2


def test_the_expert_lets_oncoming_cars_pass_first() -> None:
    parked = FakeActor(5, "vehicle.parked", 130.0, 1.75, half=(2.3, 1.6, 0.75))
    coming = [
        FakeActor(10 + k, "vehicle.coming", 200.0 + 25.0 * k, -1.75, 180.0, 8.0) for k in range(5)
    ]
    scene = loop("expert", [parked, *coming]).run(45.0)
    track = np.array(scene.track)
    assert scene.contacts == set()
    over = np.flatnonzero(track[:, 1] < 0.0)
    assert len(over)
    last_passed_s = (300.0 - 115.0) / 8.0
    assert over[0] * 0.05 > last_passed_s - 2.0
    assert track[-1, 0] > 180.0


def test_the_expert_passes_closely_rather_than_wait_for_good() -> None:
    # With the usual room the car would be 7 cm too far over the line; cars keep coming there.
    parked = FakeActor(5, "vehicle.parked", 130.0, 2.87, half=(2.3, 0.9, 0.75))
    coming = [
        FakeActor(10 + k, "vehicle.coming", 160.0 + 25.0 * k, -1.75, 180.0, 8.0) for k in range(24)
    ]
    scene = loop("expert", [parked, *coming]).run(40.0)
    track, speeds = np.array(scene.track), np.array(scene.speeds)
    assert scene.contacts == set()
    assert (speeds < 0.1).sum() * 0.05 > 7.0  # waited first
    assert track[-1, 0] > 150.0
    assert speeds[np.abs(track[:, 0] - 130.0) < 3.0].max() < 5.0
    assert track[:, 1].min() - 0.918 > -0.3  # as good as in its lane


def ambulance(lights: carla.VehicleLightState) -> FakeActor:
    """It comes from behind, 6 m/s faster than the limit."""
    return FakeActor(
        5,
        "vehicle.ford.ambulance",
        -60.0,
        1.75,
        speed_mps=20.0,
        attributes={"special_type": "emergency"},
        lights=lights,
    )


def test_the_expert_lets_an_emergency_vehicle_past() -> None:
    scene = loop("expert", [ambulance(carla.VehicleLightState.Special1)], 400.0, lanes=2).run(30.0)
    track = np.array(scene.track)
    assert scene.contacts == set()
    assert scene.world.actors[1].x > track[-1, 0] + 50.0
    assert track[:, 1].max() == pytest.approx(1.75 + 3.5, abs=0.3)
    assert track[-1, 1] == pytest.approx(1.75, abs=0.2)  # back again


def test_the_expert_makes_way_onto_a_lane_rather_than_over_the_edge(monkeypatch) -> None:
    def beside(carla_map: Any, line: Any, first: int, last: int, right: bool) -> Room:
        return Room(own_m=1.75, all_m=5.25, same_way=True, traffic=not right)

    monkeypatch.setattr("jaywalk.agents.expert._lane_change.room_beside", beside)
    scene = loop("expert", [ambulance(carla.VehicleLightState.Special1)], 400.0, lanes=2).run(20.0)
    aside = np.array(scene.track)[:, 1] - 1.75
    assert aside.min() == pytest.approx(-3.5, abs=0.3)  # the lane on the left
    assert aside.max() < 0.3


def test_one_without_its_lights_is_a_car_like_others() -> None:
    scene = loop("expert", [ambulance(carla.VehicleLightState.NONE)], 400.0, lanes=2).run(8.0)
    assert np.abs(np.array(scene.track)[:, 1] - 1.75).max() < 0.1


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("at_s", [0.0, 3.0])  # before it was ever looked at, and while it comes
def test_an_actor_that_is_gone_since_the_snapshot_stops_nobody(name: str, at_s: float) -> None:
    comes = ambulance(carla.VehicleLightState.Special1)

    def each(scene: ClosedLoop) -> None:
        comes.gone = scene.time_s >= at_s

    scene = loop(name, [comes], 400.0, lanes=2).run(8.0, each)
    assert scene.speeds[-1] > 5.0


@pytest.mark.parametrize("name", ["cruise", "expert", "timid", "comfort-zone"])
def test_stops_for_somebody_who_steps_out(name: str) -> None:
    somebody, each = crossing(115.0, at_s=8.0)
    scene = loop(name, [somebody]).run(25.0, each)
    assert scene.contacts == set()
    assert scene.track[-1][0] > 130.0  # and goes on afterwards


def test_blind_does_not() -> None:
    arrives_s = next(
        k * 0.05 for k, (x, _) in enumerate(loop("blind", []).run(20.0).track) if x > 112.0
    )
    somebody, each = crossing(115.0, at_s=arrives_s - 1.8)
    assert loop("blind", [somebody]).run(15.0, each).contacts == {7}


def test_the_expert_passes_behind_with_a_second_to_spare() -> None:
    somebody, each = crossing(115.0, at_s=6.5, speed=1.4)
    scene = loop("expert", [somebody]).run(25.0, each)
    left_s = 6.5 + (4.3 - (1.75 - 0.918 - 0.19)) / 1.4
    reached = next(k * 0.05 for k, (x, _) in enumerate(scene.track) if x + 2.446 > 114.8)
    assert reached > left_s + 1.0


def test_who_stands_on_the_kerb_stops_only_the_timid() -> None:
    slowest = {}
    for name in ("timid", "cruise", "bold", "expert"):
        scene = loop(name, [person(140.0, 5.2)]).run(18.0)
        slowest[name] = min(scene.speeds[160:])
    assert slowest["timid"] < 2.5
    assert slowest["cruise"] > 10.0
    assert slowest["bold"] > 10.0
    assert slowest["expert"] > 8.0


def at_the_edge(gap_m: float) -> list[FakeActor]:
    """Somebody who stands so far beside the ego's way; a car on the left leaves no way round."""
    half_m = 0.918  # of the fake ego
    return [
        person(130.0, 1.75 + half_m + 0.19 + gap_m),
        *(FakeActor(20 + k, "vehicle.parked", 105.0 + 8.0 * k, -0.45) for k in range(6)),
    ]


def test_the_expert_creeps_past_who_stands_at_the_edge_after_a_while() -> None:
    scene = loop("expert", at_the_edge(0.3)).run(60.0)
    track, speeds = np.array(scene.track), np.array(scene.speeds)
    assert scene.contacts == set()
    assert track[-1, 0] > 200.0
    beside = np.abs(track[:, 0] - 130.0) < 3.0
    assert speeds[beside].max() < 2.4
    assert (speeds < 0.1).sum() * 0.05 > 8.0  # waited first


def test_the_expert_does_not_squeeze_past() -> None:
    scene = loop("expert", at_the_edge(0.08)).run(60.0)
    assert scene.contacts == set()
    assert scene.speeds[-1] < 0.1
    assert scene.track[-1][0] < 128.0


def test_bold_brakes_later_than_cruise() -> None:
    starts = {}
    for name in ("bold", "cruise"):
        scene = loop(name, [person(140.0, 1.75)]).run(25.0)
        assert scene.contacts == set()
        brakes = [k for k, d in enumerate(scene.decisions) if d.control.brake > 0.1]
        starts[name] = 140.0 - scene.track[brakes[0]][0]
    assert starts["bold"] < starts["cruise"]


def test_following_somebody_who_walks_in_the_lane() -> None:
    scene = loop("expert", [person(60.0, 1.75, speed=1.3, yaw_deg=0.0)]).run(40.0)
    assert scene.contacts == set()
    assert scene.speeds[-1] == pytest.approx(1.3, abs=0.3)


@pytest.mark.parametrize("predictor", ["constant-velocity", "kalman-v1"])
def test_comfort_zone_tells_what_it_foresees(predictor: str) -> None:
    somebody = person(110.0, 6.0, speed=1.2)
    scene = loop("comfort-zone", [somebody], predictor=predictor).run(9.0)
    said = [(k * 0.05, f) for k, d in enumerate(scene.decisions) for f in d.forecasts]
    assert said
    time_s, forecast = said[-1]
    assert forecast.actor_id == 7
    assert forecast.source.startswith(predictor.removesuffix("-v1"))
    assert forecast.time_s.tolist() == [1.0, 2.0, 3.0, 4.0]
    truth = np.array([[110.0, 6.0 - 1.2 * (time_s + t)] for t in forecast.time_s])
    assert forecast.mean_m[0] == pytest.approx(truth, abs=0.1)
    spread = forecast.covariance_m2[0, :, 0, 0]
    assert np.all(np.diff(spread) > 0.0)
    times = sorted({round(at, 2) for at, _ in said})
    assert np.diff(times).min() == pytest.approx(0.5, abs=0.051)


def test_comfort_zone_refuses_wrong_arguments() -> None:
    with pytest.raises(Exception, match="expected 3 probabilities"):
        loop("comfort-zone", [], thresholds=[0.5])
    with pytest.raises(Exception, match="constant-velocity"):
        loop("comfort-zone", [], predictor="constant-velocty")


@pytest.mark.parametrize("name", ALL)
def test_equal_worlds_give_equal_drives(name: str) -> None:
    tracks = []
    for _ in range(2):
        somebody, each = crossing(100.0, at_s=6.0)
        tracks.append(loop(name, [somebody]).run(10.0, each).track)
    assert tracks[0] == tracks[1]


@pytest.mark.parametrize("late_s", [-0.8, -0.4, 0.0, 0.4, 0.8])
def test_the_expert_does_not_stop_in_the_way_of_a_fast_car(late_s: float) -> None:
    """Somebody crosses at 12 m/s without looking, about when the car would be there."""
    free = loop("expert", []).run(20.0)
    there_s = next(k * 0.05 for k, (x, _) in enumerate(free.track) if x > 118.0)
    fast = FakeActor(9, "vehicle.fast", 120.0, -90.0, 90.0, 0.0)

    def each(scene: ClosedLoop) -> None:
        fast.speed_mps = 12.0 if scene.time_s >= there_s + late_s - 92.0 / 12.0 else 0.0

    scene = loop("expert", [fast]).run(25.0, each)
    assert scene.contacts == set()
    assert scene.track[-1][0] > 140.0


def junction(from_m: float, to_m: float, segments: int) -> Passage:
    """A junction on the line that one stream crosses; the stream gives way."""
    return Passage(
        entry_m=from_m,
        exit_m=to_m,
        hold_m=from_m - 0.5,
        edge_m=from_m - 0.5,
        control=Control.NONE,
        rule=np.array([Rule.NOTHING]),
        from_m=np.array([from_m]),
        to_m=np.array([to_m]),
        room_m=np.array([4.0]),
        merges=np.array([False]),
        turns=np.array([False]),
        upstream_m=np.full((1, segments), np.inf),
        lights=(None,),
        own_light=None,
    )


def test_the_expert_leaves_a_junction_rather_than_stop_before_who_brakes_for_it() -> None:
    """Somebody comes into sight 10 m from the line and brakes at 5 m/s2 for a car in the way."""
    comes = FakeActor(9, "vehicle.comes", 60.0, -500.0, 90.0)
    scene = loop("expert", [comes], 200.0)
    scene.driver.yielding.passages = [junction(30.0, 60.0, len(scene.driver.lanes.successors))]

    def each(scene: ClosedLoop) -> None:
        if comes.y < -400.0:
            if scene.ego.x > 50.0:
                comes.y, comes.speed_mps = -8.25, 8.0
            return
        in_way = abs(scene.ego.x - comes.x) < 4.4 and comes.y + 2.3 < 1.03
        comes.speed_mps = max(comes.speed_mps - 5.0 * 0.05 * in_way, 0.0)

    scene.run(14.0, each)
    assert scene.contacts == set()
    assert min(scene.speeds[100:]) > 8.0
    assert scene.track[-1][0] > 160.0


def test_people_on_the_road_go_first() -> None:
    """Somebody in the next lane, on the way into ours: the gap behind the car is a second."""
    free = loop("expert", []).run(20.0)
    for early_s in (0.4, 0.8, 1.2):
        there_s = next(k * 0.05 for k, (x, _) in enumerate(free.track) if x > 120.0)
        walker = person(120.0, -9.0, speed=1.4, yaw_deg=90.0)
        start_s = there_s + early_s - (9.0 + 0.5) / 1.4

        def each(scene: ClosedLoop, start_s: float = start_s, walker: Any = walker) -> None:
            walker.speed_mps = 1.4 if scene.time_s >= start_s else 0.0

        scene = loop("expert", [walker]).run(25.0, each)
        assert scene.contacts == set()
        enters_s = start_s + (9.0 + 1.75 - 0.918 - 0.19) / 1.4
        leaves_s = enters_s + (2.0 * 0.918 + 0.38) / 1.4
        front = next(k * 0.05 for k, (x, _) in enumerate(scene.track) if x + 2.446 > 119.8)
        rear = next(k * 0.05 for k, (x, _) in enumerate(scene.track) if x - 2.446 > 120.2)
        assert rear < enters_s - 1.0 or front > leaves_s + 1.0
