"""Scenarios: parameters, triggers, life; without a server."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest

from jaywalk.actors.events import EgoMoment
from jaywalk.core.errors import DataError, RegistryError
from jaywalk.metrics.driving.criteria._min_speed import CAPS
from jaywalk.scenarios.base import REQUIRED, Phase, ScenarioContext, make_scenario, read_parameters
from jaywalk.scenarios.catalogue import SCENARIOS
from jaywalk.scenarios.formats.route_xml import ScenarioElement
from jaywalk.scenarios.formats.xml_node import Node
from jaywalk.town.routes import DenseRoute

COUNT = 200
ROUTE = DenseRoute(
    position_m=np.column_stack([np.arange(COUNT), np.zeros((COUNT, 2))]).astype(float),
    rotation_deg=np.zeros((COUNT, 3)),
    option=np.full(COUNT, 4, np.int8),
    lane=np.zeros((COUNT, 3), np.int64),
    in_junction=np.zeros(COUNT, np.bool_),
)


class Client:
    def apply_batch_sync(self, commands):
        return []


STAGE = ScenarioContext(client=Client(), world=None, map=None, route=ROUTE, seed=1)


def spec(kind="jaywalk/open-road-v1", x="40.4", yaw="3", y="0.5", **parameters):
    trigger = Node("trigger_point", (("x", x), ("y", y), ("z", "0"), ("yaw", yaw)))
    others = tuple(Node(tag, (("value", value),)) for tag, value in parameters.items())
    return ScenarioElement(
        attributes=(("name", "S"), ("type", kind)), elements=(trigger, *others), where="file.xml"
    )


def moment(along_m, elapsed_s=0.0):
    return EgoMoment(
        elapsed_s=elapsed_s, snapshot=None, ego_id=1, ego_along_m=along_m, ego_speed_mps=5.0
    )


def test_life_of_a_scenario():
    scenario = make_scenario(spec(distance="30"), STAGE)
    assert scenario.trigger_along_m == 40.0
    scenario.advance(moment(30.0, 1.0))
    assert scenario.phase is Phase.WAITING
    scenario.advance(moment(38.5, 2.0))
    assert (scenario.phase, scenario.started_s) == (Phase.RUNNING, 2.0)
    scenario.advance(moment(70.5, 9.0))
    assert scenario.phase is Phase.DONE


def test_time_runs_out_behind_an_obstacle():
    scenario = make_scenario(spec("jaywalk/construction-v1"), STAGE)
    scenario.advance(moment(41.0, 2.0))
    scenario.advance(moment(41.0, 241.9))
    assert scenario.phase is Phase.RUNNING
    scenario.advance(moment(41.0, 242.1))
    assert scenario.phase is Phase.TIMED_OUT
    kinds = [(event.kind, event.name) for event in scenario.events]
    assert kinds == [
        ("trigger", "S"),
        ("scenario_start", "S"),
        ("criterion_switch", "blocked"),
        ("scenario_timeout", "S"),
        ("criterion_switch", "blocked"),
    ]
    assert scenario.events[-2].time_s == 242.1


class Traffic:
    """Background traffic that can only be capped."""

    def __init__(self):
        self.caps = []

    def cap_all(self, speed_mps):
        self.caps.append(speed_mps)


def test_a_cap_on_the_traffic_is_noted_for_the_minimum_speed():
    traffic = Traffic()
    scenario = make_scenario(spec("jaywalk/construction-v1"), replace(STAGE, traffic=traffic))
    for along_m, elapsed_s in ((41.0, 2.0), (80.0, 10.0), (80.0, 15.1), (180.0, 30.0)):
        scenario.advance(moment(along_m, elapsed_s))
    assert scenario.phase is Phase.DONE
    noted = [(one.time_s, one.detail["cap_mps"]) for one in scenario.events if one.kind == "note"]
    assert noted == [(15.1, pytest.approx(60.0 / 3.6, abs=1e-3)), (30.0, None)]
    assert traffic.caps == [pytest.approx(60.0 / 3.6), None]
    assert {one.detail["what"] for one in scenario.events if one.kind == "note"} == {CAPS}


def test_other_scenarios_wait_for_ever():
    scenario = make_scenario(spec(), STAGE)
    scenario.advance(moment(41.0, 2.0))
    scenario.advance(moment(41.0, 2000.0))
    assert scenario.phase is Phase.RUNNING


def test_parts_of_a_scenario_draw_from_streams_of_their_own():
    scenario = make_scenario(spec(), STAGE)
    first = scenario.draws("flow", 1).random(3)
    scenario.draws("flow", 0).random(100)
    assert np.array_equal(first, scenario.draws("flow", 1).random(3))
    assert not np.array_equal(first, scenario.draws("flow", 2).random(3))


def test_an_unknown_type_is_an_error():
    with pytest.raises(RegistryError, match=r"file\.xml.*Unknown scenario 'jaywalk/open-rod-v1'"):
        make_scenario(spec("jaywalk/open-rod-v1"), STAGE)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"colour": "red"}, "no such parameter"),
        ({"distance": "far"}, "'far'"),
        ({"y": "2.5"}, "not on the route"),
        ({"yaw": "15"}, "not on the route"),
    ],
)
def test_wrong_specifications_are_told(change, words):
    with pytest.raises(DataError, match=words):
        make_scenario(spec(**change), STAGE)


def answer_to(kind, tag, value):
    """What becomes of a value: the error's text, or what was read."""
    given = ScenarioElement(
        attributes=(("name", "S"), ("type", "T")),
        elements=(Node(tag, (("value", value),)),),
        where="file.xml",
    )
    try:
        return repr(getattr(read_parameters(given, kind), tag))
    except DataError as problem:
        return str(problem)


@pytest.mark.parametrize("wrong", ["abc", "nan", "inf", ""])
def test_no_parameter_takes_nonsense(wrong):
    """Of any type: the error names file and element; elements nobody reads may hold anything."""
    for entry in SCENARIOS:
        kind = entry.parameters_type
        for item in fields(kind):
            if item.metadata.get("internal") or wrong == item.default:
                continue
            if any(REQUIRED in other.metadata for other in fields(kind) if other != item):
                continue  # the one that is missing would be told first
            answer = answer_to(kind, item.name, wrong)
            assert answer == "''" or f"file.xml, <{item.name}>" in answer, (entry.name, answer)


def test_every_scenario_loads_and_has_parameters():
    ours = [entry for entry in SCENARIOS if entry.name.startswith("jaywalk/")]
    assert len(ours) == 17
    assert all(entry.name.rsplit("-v", 1)[1].isdigit() for entry in ours)
    for entry in SCENARIOS:
        assert entry.parameters_type() is not None


@pytest.mark.parametrize(
    ("kind", "given", "expected"),
    [
        ("ParkedObstacle", {}, {"distance": 120.0, "direction": "right", "speed": 60.0}),
        ("ConstructionObstacle", {"distance": "40"}, {"distance": 40.0, "speed": 60.0}),
        ("ParkedObstacleTwoWays", {}, {"distance": 120.0, "frequency": (20.0, 100.0)}),
        (
            "DynamicObjectCrossing",
            {"crossing_angle": "10"},
            {"distance": 12.0, "blocker_model": "static.prop.vendingmachine", "speed": 2.0},
        ),
        (
            "OppositeVehicleRunningRedLight",
            {"direction": "left"},
            {"direction": "left", "speed": 60.0 / 3.6, "distance": 30.0},
        ),
    ],
)
def test_public_types_have_their_own_defaults(kind, given, expected):
    parameters = make_scenario(spec(kind, **given), STAGE).parameters
    assert {key: getattr(parameters, key) for key in expected} == expected


def test_a_file_cannot_set_what_a_public_type_does_not_have():
    with pytest.raises(DataError, match=r"<stop_time>: 'HardBreakRoute' has no such parameter"):
        make_scenario(spec("HardBreakRoute", stop_time="3"), STAGE)


def test_public_types_we_cannot_play_are_refused():
    with pytest.raises(RegistryError, match="OpenScenario"):
        make_scenario(spec("OpenScenario"), STAGE)
