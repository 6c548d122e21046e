"""Junctions on a line: streams found by brute force, gaps accepted and refused."""

from __future__ import annotations

from dataclasses import replace

import carla
import networkx
import numpy as np
import pytest
import shapely
from driver_fakes import ActorList

from jaywalk.agents.driving._lanes import Lanes, lanes_of
from jaywalk.agents.driving.perception import EgoVehicle, Observation
from jaywalk.agents.driving.route_line import RouteLine, make_line
from jaywalk.agents.driving.signals import find_signals
from jaywalk.agents.expert._passages import Controls, Passage, Rule, find_passages, upstream_m
from jaywalk.agents.expert._yielding import Yielding, _arrive_braking_s
from jaywalk.town.routes import RoutePlanner
from jaywalk.town.town import load_town


class Bare:
    """A world without lights and signs."""

    def get_actors(self) -> ActorList:
        return ActorList()


@pytest.fixture(scope="module")
def town():
    return load_town("Orchard")


@pytest.fixture(scope="module")
def lanes(town) -> Lanes:
    return lanes_of(town.carla_map)


@pytest.fixture(scope="module")
def line(town) -> RouteLine:
    planner = RoutePlanner(town.carla_map)
    places = [(pose.x, pose.y, pose.z) for pose in town.spawn_points]
    for start, end in ((0, 40), (3, 60), (10, 90)):
        route = planner.plan([places[start], places[end]])
        if len(route) > 200 and route.in_junction.sum() > 20:
            return make_line(route, town.carla_map, 8.0)
    raise AssertionError("no route with junctions")


@pytest.fixture(scope="module")
def passages(line: RouteLine, lanes: Lanes) -> list[Passage]:
    signals = find_signals(Bare(), line, 0.05)
    return find_passages(line, lanes, signals, Controls(light={}, sign={}))


def test_every_crossing_lane_is_found(
    line: RouteLine, lanes: Lanes, passages: list[Passage]
) -> None:
    for passage in passages:
        low, high = int(passage.entry_m / 0.5), int(passage.exit_m / 0.5)
        way = shapely.LineString(line.xy_m[max(low - 2, 0) : high + 4])
        count = 0
        for segment in np.flatnonzero(lanes.in_junction):
            points = lanes.line(int(segment))
            if len(points) < 3 or abs(points[0, 2] - line.base_m[low, 2]) > 3.0:
                continue
            path = shapely.LineString(points[:, :2])
            same_start = way.distance(shapely.Point(points[0, :2])) < 0.8
            count += path.distance(way) < 1.9 and not same_start
        # The brute force is stricter and knows no headings: it finds no more than we do.
        assert count <= len(passage.rule)
    assert sum(len(passage.rule) for passage in passages) > 3


def test_upstream_agrees_with_dijkstra(lanes: Lanes) -> None:
    graph = networkx.DiGraph()
    for me, group in enumerate(lanes.predecessors):
        for before in group:
            graph.add_edge(me, before, length=lanes.length_m(before) + 1.0)
    segment = int(np.flatnonzero(lanes.in_junction)[5])
    found = upstream_m(lanes, segment, 4.0, 90.0)
    truth = networkx.single_source_dijkstra_path_length(graph, segment, weight="length")
    for me, away in truth.items():
        if me != segment and 4.0 + away < 80.0:
            assert found[me] == pytest.approx(4.0 + away)


def test_a_lane_point_leads_on(lanes: Lanes) -> None:
    start = np.arange(0, len(lanes.points), 97)
    ahead = lanes.ahead(start, 30)
    steps = np.hypot(*np.moveaxis(np.diff(lanes.points[ahead, :2], axis=1), 2, 0))
    assert np.all(steps < 4.0)
    assert np.median(steps[steps > 0.0]) == pytest.approx(1.0, abs=0.05)


def car(lanes: Lanes, point: int, speed: float) -> Observation:
    x, y, z, yaw = lanes.points[point]
    return Observation(
        actor_id=np.array([5]),
        kind=np.array([0]),
        xy_m=np.array([[x, y]]),
        z_m=np.array([z]),
        cos=np.cos([yaw]),
        sin=np.sin([yaw]),
        half_m=np.array([[2.3, 0.95]]),
        height_m=np.array([1.5]),
        velocity_mps=speed * np.array([[np.cos(yaw), np.sin(yaw)]]),
        yaw_rate_radps=np.zeros(1),
        acceleration_mps2=np.zeros(1),
    )


def test_waits_for_who_comes_and_not_for_who_is_far(lanes: Lanes, passages: list[Passage]) -> None:
    tried = 0
    for passage in passages:
        owed = np.flatnonzero(passage.rule == Rule.GIVE_WAY)
        if not len(owed):
            continue
        away = passage.upstream_m[owed[0]][lanes.segment] - lanes.along_m
        own = EgoVehicle(
            x_m=0.0,
            y_m=0.0,
            z_m=0.0,
            yaw_rad=0.0,
            speed_mps=0.0,
            yaw_rate_radps=0.0,
            half_length_m=2.4,
            half_width_m=0.9,
            front_m=2.4,
        )
        along = passage.hold_m - 2.4 - 0.5
        for distance, waits in ((22.0, True), (85.0, False)):
            fits = np.flatnonzero(np.isfinite(away) & (np.abs(away - distance) < 1.0))
            if not len(fits):
                continue
            yielding = Yielding([passage], lanes, Controls(light={}, sign={}), 0.05)
            seen = car(lanes, int(fits[0]), 8.0)
            gap = yielding.hold_gap_m(own, along, seen, np.zeros(1), np.full(1000, 8.0))
            assert np.isfinite(gap) == waits
            tried += 1
    assert tried >= 2


def standing_own() -> EgoVehicle:
    return EgoVehicle(
        x_m=0.0,
        y_m=0.0,
        z_m=0.0,
        yaw_rad=0.0,
        speed_mps=0.0,
        yaw_rate_radps=0.0,
        half_length_m=2.4,
        half_width_m=0.9,
        front_m=2.4,
    )


def nearest_refused_m(lanes: Lanes, passage: Passage, stream: int, waited_s: float) -> float:
    """From how far on a car with green that comes at 10 m/s is not waited for any more."""
    rules = np.full(len(passage.rule), Rule.IF_GREEN)
    green = tuple(Lamp(green=True) for _ in passage.rule)
    passage = replace(
        passage, rule=rules, own_light=Lamp(green=True), lights=green, edge_m=passage.hold_m
    )
    away = passage.upstream_m[stream][lanes.segment] - lanes.along_m
    refused = 0.0
    for distance in np.arange(20.0, 80.0, 1.0):
        fits = np.flatnonzero(np.isfinite(away) & (np.abs(away - distance) < 0.7))
        if not len(fits):
            continue
        yielding = Yielding([passage], lanes, Controls(light={}, sign={}), 0.05)
        yielding.waited_s = waited_s
        seen = car(lanes, int(fits[0]), 10.0)
        along = passage.hold_m - 2.4 - 0.5
        gap = yielding.hold_gap_m(standing_own(), along, seen, np.zeros(1), np.full(1000, 6.0))
        if np.isfinite(gap):
            refused = float(distance)
            assert not yielding.trusted
    return refused


def test_a_long_wait_ends_where_the_next_car_need_not_brake_hard(
    lanes: Lanes, passages: list[Passage]
) -> None:
    tried = closer = 0
    for passage in passages:
        for stream in np.flatnonzero(passage.rule == Rule.GIVE_WAY).tolist()[:1]:
            fresh, tired, late, last = (
                nearest_refused_m(lanes, passage, stream, waited_s)
                for waited_s in (0.0, 25.0, 65.0, 85.0)
            )
            if fresh == 0.0:
                continue
            assert last <= late <= tired < fresh
            closer += last < late  # the next car may have to brake harder by then
            tried += 1
    assert tried
    assert closer


@pytest.mark.parametrize("brakes_mps2", [2.0, 3.5])
def test_braking_arrival_agrees_with_small_steps(lanes: Lanes, brakes_mps2: float) -> None:
    seen = car(lanes, 0, 10.0)
    for away_m, enter_s in ((30.0, 1.5), (45.0, 2.5), (14.0, 2.0), (90.0, 1.0)):
        found = _arrive_braking_s(
            np.array([[away_m]]), seen, np.array([enter_s]), brakes_mps2=brakes_mps2, gently=False
        )[0, 0]
        at, speed, time_s, step_s = 0.0, 10.0, 0.0, 1e-3
        while at < away_m - 3.0 and speed > 0.0:
            speed -= brakes_mps2 * step_s if time_s > enter_s else 0.0
            at, time_s = at + speed * step_s, time_s + step_s
        expected = time_s if speed > 0.0 else np.inf
        assert found == pytest.approx(expected, abs=0.02)


class Lamp:
    """A traffic light of one state."""

    def __init__(self, green: bool) -> None:
        states = carla.TrafficLightState
        self.state = states.Green if green else states.Red


@pytest.mark.parametrize(
    ("mine", "theirs", "waits"), [(True, True, True), (True, False, False), (False, True, False)]
)
def test_who_comes_from_the_side_with_green_is_let_past(
    lanes: Lanes, passages: list[Passage], mine: bool, theirs: bool, waits: bool
) -> None:
    passage = next(one for one in passages if len(one.rule))
    lit = replace(
        passage,
        rule=np.full(len(passage.rule), Rule.IF_GREEN),
        own_light=Lamp(mine),
        lights=tuple(Lamp(theirs) for _ in passage.rule),
        edge_m=passage.hold_m + 4.0,
    )
    away = lit.upstream_m[0][lanes.segment] - lanes.along_m
    point = int(np.flatnonzero(np.isfinite(away) & (np.abs(away - 25.0) < 1.0))[0])
    yielding = Yielding([lit], lanes, Controls(light={}, sign={}), 0.05)
    gap = yielding.hold_gap_m(
        standing_own(), lit.hold_m - 2.4, car(lanes, point, 8.0), np.zeros(1), np.full(1000, 8.0)
    )
    assert np.isfinite(gap) == waits
    if waits:
        assert gap == pytest.approx(4.0)  # at the edge of the junction, not at the stop line


def test_patience_also_runs_out_at_a_stop_line_far_before_the_edge(
    lanes: Lanes, passages: list[Passage]
) -> None:
    """The car may not get from the line to the edge while others keep coming."""
    passage = next(one for one in passages if len(one.rule))
    lit = replace(
        passage,
        rule=np.full(len(passage.rule), Rule.IF_GREEN),
        own_light=Lamp(True),
        lights=tuple(Lamp(True) for _ in passage.rule),
        edge_m=passage.hold_m + 5.3,
    )
    away = lit.upstream_m[0][lanes.segment] - lanes.along_m
    point = int(np.flatnonzero(np.isfinite(away) & (np.abs(away - 25.0) < 1.0))[0])
    yielding = Yielding([lit], lanes, Controls(light={}, sign={}), 0.05)
    for _ in range(100):
        gap = yielding.hold_gap_m(
            standing_own(),
            lit.hold_m - 2.4,
            car(lanes, point, 8.0),
            np.zeros(1),
            np.full(1000, 8.0),
        )
        assert gap == pytest.approx(5.3)
    assert yielding.waited_s == pytest.approx(5.0)
