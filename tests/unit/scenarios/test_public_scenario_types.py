"""Types of the Leaderboard, Bench2Drive and Fail2Drive: known, with their files' parameters."""

from __future__ import annotations

import math

import carla
import numpy as np
import pytest

from jaywalk.actors.lane_paths import line_path, moved_aside
from jaywalk.client.placing import no_blueprint
from jaywalk.core.errors import DataError
from jaywalk.scenarios.base import ScenarioContext, read_parameters
from jaywalk.scenarios.catalogue import SCENARIOS
from jaywalk.scenarios.formats.public_form import as_public
from jaywalk.scenarios.formats.route_xml import RouteFile, format_routes, parse_routes
from jaywalk.scenarios.obstacles._accident import ControlLoss, ControlLossParameters
from jaywalk.scenarios.toolbox.form import authored_of
from jaywalk.scenarios.toolbox.partners import partner_document
from jaywalk.scenarios.toolbox.routes import check_on_road, check_parameters, document_of, route_of
from jaywalk.scenarios.toolbox.templates import TemplateRequest, scenario_template
from jaywalk.scenarios.toolbox.text import parse_text

# Every type in the route files of Leaderboard 2.x (training, validation, devtest), Bench2Drive
# (220 and its training set) and Fail2Drive.
_PUBLIC = """
Accident AccidentTwoWays BadParkingObstacle BadParkingObstacleTwoWays BlockedIntersection
ConstructionObstacle ConstructionObstacleOppositeLane ConstructionObstaclePedestrian
ConstructionObstacleRightLane ConstructionObstacleTwoWays ControlLoss CrossingBicycleFlow
CustomObstacle CustomObstacleTwoWays DynamicObjectCrossing EnterActorFlow EnterActorFlowV2
HardBrakeNoLights HardBreakRoute HazardAtSideLane HazardAtSideLaneTwoWays HighwayCutIn HighwayExit
ImageOnObject InterurbanActorFlow InterurbanAdvancedActorFlow InvadingTurn MergerIntoSlowTraffic
MergerIntoSlowTrafficV2 NonSignalizedJunctionLeftTurn NonSignalizedJunctionLeftTurnEnterFlow
NonSignalizedJunctionRightTurn NormalVehicleRunningRedLight NormalVehicleTakingPriority
ObscuredStopSign OppositeVehicleRunningRedLight OppositeVehicleTakingPriority ParkedObstacle
ParkedObstacleTwoWays ParkingCrossingPedestrian ParkingCutIn ParkingExit PedestrianCrossing
PedestrianCrowd PedestriansOnRoad PermutedConstructionObstacle PermutedConstructionObstacleTwoWays
PriorityAtJunction RoadBlocked SequentialLaneChange SignalizedJunctionLeftTurn
SignalizedJunctionLeftTurnEnterFlow SignalizedJunctionRightTurn StaticCutIn T_Junction
VanillaNonSignalizedTurn VanillaNonSignalizedTurnEncounterStopsign
VanillaSignalizedTurnEncounterGreenLight VanillaSignalizedTurnEncounterRedLight
VehicleOpensDoorTwoWays VehicleTurningRoute VehicleTurningRoutePedestrian YieldToEmergencyVehicle
"""
PUBLIC = _PUBLIC.split()
AT = '<start_actor_flow x="1" y="2" z="3"/><end_actor_flow x="50" y="2" z="3"/>'


def spec(kind: str, elements: str = ""):
    text = f"""<routes><route id="7" town="Town12"><waypoints><position x="0" y="0" z="0"/>
    <position x="9" y="0" z="0"/></waypoints><scenarios><scenario name="{kind}_1" type="{kind}">
    <trigger_point x="0" y="0" z="0" yaw="0"/>{elements}</scenario></scenarios></route></routes>"""
    return parse_routes(text, "public.xml").routes[0].scenarios[0]


@pytest.mark.parametrize("kind", PUBLIC)
def test_every_public_type_is_known(kind):
    assert SCENARIOS.get(kind).parameters_type.__doc__


@pytest.mark.parametrize(
    ("kind", "elements", "wanted"),
    [
        (
            "Accident",
            '<distance value="80"/><speed value="55"/>',
            {"distance": 80.0, "speed": 55.0},
        ),
        ("AccidentTwoWays", '<frequency from="45" to="115"/>', {"frequency": (45.0, 115.0)}),
        ("HazardAtSideLaneTwoWays", '<frequency value="80"/>', {"frequency": (80.0, 80.0)}),
        ("HazardAtSideLane", '<bicycle_speed value="8"/>', {"bicycle_speed": 8.0}),
        ("EnterActorFlow", AT + '<flow_speed value="17"/>', {"start_actor_flow": (1.0, 2.0, 3.0)}),
        (
            "HighwayExit",
            AT + '<source_dist_interval from="10" to="78"/>',
            {"source_dist_interval": (10.0, 78.0), "flow_speed": 10.0},
        ),
        ("InterurbanAdvancedActorFlow", AT + '<direction value="right"/>', {"flow_speed": 10.0}),
        (
            "HighwayCutIn",
            '<other_actor_location x="1" y="2" z="3"/><end_location x="1" y="2"/>',
            {"other_actor_location": (1.0, 2.0, 3.0)},
        ),
        ("InvadingTurn", '<offset value="0.4"/>', {"distance": 100.0, "offset": 0.4}),
        ("ParkingCutIn", '<direction value="40"/>', {"direction": "right"}),
        ("YieldToEmergencyVehicle", "", {"distance": 140.0}),
        ("ControlLoss", '<distance value="100"/>', {}),
        (
            "SignalizedJunctionLeftTurn",
            "",
            {"flow_speed": 20.0, "source_dist_interval": (25.0, 50.0)},
        ),
        ("StaticCutIn", '<distance value="90"/><speed value="17"/>', {"distance": 90.0}),
    ],
)
def test_parameters_are_those_of_public_files(kind, elements, wanted):
    found = read_parameters(spec(kind, elements), SCENARIOS.get(kind).parameters_type)
    assert {key: getattr(found, key) for key in wanted} == wanted


@pytest.mark.parametrize(
    ("kind", "elements", "words"),
    [
        ("Accident", '<direction value="up"/>', "<direction>: value is 'up'; expected one of"),
        ("Accident", '<distance value="-3"/>', "<distance>: value is '-3'; expected a number"),
        ("Accident", '<frequency from="1" to="2"/>', "<frequency>: 'Accident' has no such"),
        ("AccidentTwoWays", '<frequency from="9" to="2"/>', "<frequency>: from 9 to 2"),
        ("AccidentTwoWays", '<frequency value="9"/>', "<frequency>"),
        ("EnterActorFlow", "", "<start_actor_flow>: is missing; expected a place"),
        ("EnterActorFlow", '<start_actor_flow x="1"/>', "<start_actor_flow>"),
        ("EnterActorFlow", '<start_actor_flow x="1" y="nan"/>', "<start_actor_flow>"),
        ("CrossingBicycleFlow", "", "<start_actor_flow>: is missing"),
        ("HighwayCutIn", "", "<other_actor_location>: is missing"),
        ("ParkingCutIn", '<direction value="up"/>', "<direction>: value is 'up'"),
        ("InvadingTurn", '<offset value="5"/>', "<offset>: value is '5'; expected a number, 0"),
        ("SignalizedJunctionLeftTurn", '<flow_speed value="fast"/>', "<flow_speed>: value"),
        ("Animals", '<walker value="walker.pedestrian.0001"/>', "<walker>: value is"),
        ("PedestrianOtherBlocker", '<blocker_model value="none"/>', "<blocker_model>: value is"),
        ("NoSuchType", "", "NoSuchType"),
    ],
)
def test_a_wrong_parameter_names_file_scenario_and_field(kind, elements, words):
    with pytest.raises(DataError) as caught:
        check_parameters(spec(kind, elements))
    assert "public.xml" in str(caught.value)
    assert f"{kind}_1" in str(caught.value)
    assert words in str(caught.value)


def test_a_path_beside_another_keeps_its_distance():
    angle = np.linspace(0.0, np.pi / 2, 200)
    circle = np.column_stack([50.0 * np.cos(angle), 50.0 * np.sin(angle), np.zeros(200)])
    path = line_path(circle)
    assert path.length_m == pytest.approx(50.0 * np.pi / 2, rel=1e-4)
    # Clockwise from above in a left-handed frame: the right is towards the centre.
    inner = moved_aside(path, 1.5)
    assert np.hypot(*inner.points_m[:, :2].T) == pytest.approx(48.5, abs=0.02)
    slide = moved_aside(line_path(np.array([[x, 0.0, 0.0] for x in range(11)])), np.arange(11.0))
    assert slide.points_m[:, 1] == pytest.approx(np.arange(11.0))
    assert slide.yaw_deg == pytest.approx(45.0)


def loss(patch: int) -> ControlLoss:
    context = ScenarioContext(client=None, world=None, map=None, route=None, seed=3)
    return ControlLoss(
        element=spec("ControlLoss"),
        parameters=ControlLossParameters(),
        context=context,
        trigger_along_m=0.0,
        patch=patch,
    )


def test_control_slips_on_debris_alone_and_the_same_way_every_time():
    decided = carla.VehicleControl(throttle=0.5, steer=0.1, brake=0.0)
    assert loss(-1).disturb(decided) is decided
    first, again = loss(1).disturb(decided), loss(1).disturb(decided)
    assert (first.throttle, first.steer) == (again.throttle, again.steer)
    assert 0.0 < abs(first.throttle - 0.5) < 0.08
    assert 0.0 < abs(first.steer - 0.1) < 0.12
    full = loss(0).disturb(carla.VehicleControl(throttle=1.0, steer=-1.0))
    assert 0.0 <= full.throttle <= 1.0
    assert -1.0 <= full.steer <= 1.0


@pytest.mark.parametrize(
    ("kind", "town"),
    [
        ("OppositeVehicleRunningRedLight", "Harbour"),
        ("OppositeVehicleTakingPriority", "Orchard"),
        ("NonSignalizedJunctionLeftTurn", "Orchard"),
        ("EnterActorFlow", "Orchard"),
    ],
)
def test_new_finds_a_place_with_the_first_seed(kind, town):
    text = scenario_template(TemplateRequest(name="x", type=kind, town=town), "x.yaml")
    file = authored_of(parse_text(text, "x.yaml"), "x.yaml")
    route = check_on_road(file)
    assert route.in_junction.any()
    if kind == "EnterActorFlow":
        start = file.scenarios[0].params["start_actor_flow"]
        end = file.scenarios[0].params["end_actor_flow"]
        assert math.hypot(start["x"] - end["x"], start["y"] - end["y"]) > 40.0


@pytest.mark.parametrize(
    ("kind", "params"),
    [
        ("Animals", {"walker": "walker.animal.1003", "distance": 15.0}),
        ("PedestrianOtherBlocker", {"blocker_model": "static.prop.container", "distance": 15.0}),
    ],
)
def test_crossing_shifts_have_a_type_of_their_own(kind, params):
    document = {
        "name": "x",
        "town": "Harbour",
        "route": {"points": [[8.0, -114.3], [190.0, -127.1]]},
        "scenario": [{"name": "c", "type": kind, "at": 20.0, "params": params}],
    }
    route = route_of(authored_of(document, "x.yaml"))
    assert route.scenarios[0].type == kind
    # Fail2Drive's evaluator knows it as the crossing type with the same parameters.
    public = as_public(route)
    text = format_routes(RouteFile(routes=(public,)))
    (again,) = parse_routes(text, "x.xml").routes
    (table,) = document_of(again, "x")["scenario"]
    assert table["type"] == "DynamicObjectCrossing"
    assert table["params"] == params
    check_parameters(again.scenarios[0])
    base, _, _ = partner_document(document, "x.yaml")
    assert base["shift"] == kind
    assert base["scenario"][0]["type"] == "DynamicObjectCrossing"
    assert base["scenario"][0]["params"] == {"distance": 15.0}
    # Both draw from the same streams: the pair is a counterfactual.
    assert SCENARIOS.get(kind).load().rng_type == "DynamicObjectCrossing"


def test_an_unknown_blueprint_is_named_with_those_that_look_alike():
    class Model:
        def __init__(self, name: str) -> None:
            self.id = name

    library = [Model("static.prop.plasticchair"), Model("static.prop.barrel"), Model("vehicle.x")]
    words = str(no_blueprint(library, "static.prop.plastichair", "'x.yaml', scenario 'a'"))
    assert "'x.yaml', scenario 'a': the server has no blueprint 'static.prop.plastichair'" in words
    assert "Did you mean static.prop.plasticchair?" in words
