"""Sides and offsets of public types: what mirrors with ``direction``, and what does not.

Expected places are those of the public classes, worked out by hand for lanes of 3.5 m.
"""

from __future__ import annotations

from types import SimpleNamespace

import carla
import numpy as np
import pytest
from scenario_street import Wish, moment, street

from jaywalk.actors.lane_paths import lane_beside, opposite_lane
from jaywalk.client.placing import Roadside
from jaywalk.core.errors import DataError
from jaywalk.scenarios.base import ScenarioContext, make_scenario
from jaywalk.scenarios.junctions._junction_ahead import JunctionAhead, junction_ahead
from jaywalk.scenarios.obstacles._layouts import CONE, DEBRIS, WARNING
from jaywalk.scenarios.toolbox.editing import edited_text
from jaywalk.scenarios.toolbox.form import authored_of
from jaywalk.scenarios.toolbox.routes import check_on_road, route_of
from jaywalk.scenarios.toolbox.templates import TemplateRequest, scenario_template
from jaywalk.scenarios.toolbox.text import parse_text
from jaywalk.town.town import load_town

HALF_LANE_M = 1.75
KERB_M = HALF_LANE_M, 1.5 * 3.5  # from the lane's middle: right, and left over the other lane
WALK_M = KERB_M[0] + 1.0, KERB_M[1] + 1.0  # to the middle of the sidewalks
OUTWARDS = {"right": 1.0, "left": -1.0}
FREE_M = 0.85 * HALF_LANE_M
CROSSROADS = 1  # seed of a place with arms on both sides
WAYS = pytest.mark.parametrize("yaw_deg", [0.0, 180.0])
SIDES = pytest.mark.parametrize("side", ["right", "left"])


@pytest.fixture(autouse=True)
def spawning(monkeypatch):
    monkeypatch.setattr(carla.command, "SpawnActor", Wish)


def direction(side, **more):
    given = {"direction": side} | more
    return "".join(f'<{tag} value="{value}"/>' for tag, value in given.items())


def setup(road, kind, elements, name="S"):
    """All that it spawns: model, ahead of its trigger, to the right, turned."""
    scenario = road.scenario(kind, elements, name)
    scenario.setup()
    return [
        (one.type_id, *road.place(one.pose.location), road.turn_deg(one.pose.rotation))
        for one in road.world.spawned
    ]


def places(spawned, model):
    return [(ahead, right) for name, ahead, right, _ in spawned if name == model]


def site(side, anchor_m=100.0, middle_m=0.0, free_m=FREE_M):
    """Cones of a standard site: four along its free side, three across from there."""
    out = OUTWARDS[side]
    row = [(anchor_m + 2.0 * k, middle_m - out * free_m) for k in range(1, 5)]
    across = [(anchor_m + 8.0, middle_m - out * free_m + out * k) for k in (1.0, 2.0, 3.0)]
    return [*row, *across]


@WAYS
@SIDES
@pytest.mark.parametrize(
    "kind",
    [
        "ConstructionObstacle",
        "ConstructionObstacleTwoWays",
        "PermutedConstructionObstacle",
        "PermutedConstructionObstacleTwoWays",
        "ConstructionObstaclePedestrian",
    ],
)
def test_a_site_leaves_the_other_side_free(kind, side, yaw_deg):
    spawned = setup(street(yaw_deg), kind, direction(side))
    assert np.array(places(spawned, CONE)) == pytest.approx(np.array(site(side)), abs=2e-3)
    assert places(spawned, WARNING) == [(95.0, 0.0)]
    assert places(spawned, DEBRIS) == [(102.0, 0.0)]
    sign = places(spawned, "static.prop.warningconstruction")
    assert [(ahead, right * OUTWARDS[side] > KERB_M[side == "left"]) for ahead, right in sign] == [
        (0.0, True)
    ]


@WAYS
@SIDES
def test_cones_are_counted_from_the_free_side(side, yaw_deg):
    spawned = setup(
        street(yaw_deg), "PermutedConstructionObstacle", direction(side, cones="1000001")
    )
    kept = np.array([site(side)[0], site(side)[-1]])
    assert np.array(places(spawned, CONE)) == pytest.approx(kept, abs=2e-3)


@WAYS
@SIDES
@pytest.mark.parametrize("kind", ["ParkedObstacle", "ParkedObstacleTwoWays"])
def test_a_parked_car_stands_towards_its_side(kind, side, yaw_deg):
    (_, ahead, right, turn), sign = setup(street(yaw_deg), kind, direction(side))
    shift_m = OUTWARDS[side] * 0.7 * HALF_LANE_M
    assert (ahead, right, turn) == pytest.approx((120.0, shift_m, 0.0), abs=2e-3)
    assert sign[0] == "static.prop.warningaccident"
    assert sign[2] * OUTWARDS[side] > KERB_M[side == "left"]


@WAYS
@SIDES
@pytest.mark.parametrize("kind", ["BadParkingObstacle", "BadParkingObstacleTwoWays"])
def test_a_badly_parked_car_stands_where_its_offsets_say_on_either_side(kind, side, yaw_deg):
    """As in the public class ``y`` is to the right, whatever ``direction`` says."""
    road = street(yaw_deg)
    scenario = road.scenario(kind, direction(side, x="-2", y="-1.2", yaw="20"))
    scenario.setup()
    (car,) = road.world.spawned
    assert road.place(car.pose.location) == (118.0, -1.2)
    assert road.turn_deg(car.pose.rotation) == 20.0
    assert scenario.announcement().direction == side
    (usual,) = setup(street(yaw_deg), kind, direction(side))
    assert usual[1:] == (120.0, 1.5, 0.0)


@WAYS
@SIDES
@pytest.mark.parametrize("kind", ["CustomObstacle", "CustomObstacleTwoWays"])
def test_things_stand_in_the_frame_of_the_lane_on_either_side(kind, side, yaw_deg):
    road = street(yaw_deg)
    things = """<objects a="id=static.prop.bin x=3 y=1.25 z=0.5 yaw=30 pitch=4 roll=-5"
    b="id=static.prop.barrel x=-10 y=-0.75"/>"""
    scenario = road.scenario(kind, direction(side) + things)
    scenario.setup()
    first, last = road.world.spawned
    assert (first.type_id, road.place(first.pose.location)) == (
        "static.prop.barrel",
        (90.0, -0.75),
    )
    assert (last.type_id, road.place(last.pose.location)) == ("static.prop.bin", (103.0, 1.25))
    turn = last.pose.rotation
    assert (road.turn_deg(turn), turn.pitch, turn.roll) == pytest.approx((30.0, 4.0, -5.0))
    assert last.pose.location.z == pytest.approx(0.5)
    told = scenario.announcement()
    assert (told.first_actor, told.last_actor, told.direction) == (first.id, last.id, side)


@SIDES
def test_a_site_on_the_right_lane_stays_there_and_only_turns_over(side):
    spawned = setup(
        street(), "ConstructionObstacleRightLane", direction(side, distance="40", y_offset="0.4")
    )
    middle_m = 3.5 + 0.1 + 0.4
    wanted = np.array(site(side, 40.0, middle_m, 0.9 * FREE_M))
    assert np.array(places(spawned, CONE)) == pytest.approx(wanted, abs=2e-3)
    assert places(spawned, WARNING) == [(35.0, middle_m)]


@SIDES
def test_a_site_on_the_opposite_lane_has_its_sides_as_that_lane_has_them(side):
    spawned = setup(street(), "ConstructionObstacleOppositeLane", direction(side))
    lane = np.array([(200.0 - ahead, -3.5 - right) for ahead, right in site(side)])
    assert np.array(places(spawned, CONE)) == pytest.approx(lane, abs=5e-3)


def walks(road):
    """The way of the only person who was told to walk: ahead and to the right."""
    (control,) = [
        one.control
        for one in road.world.commands
        if isinstance(one, carla.command.ApplyWalkerControl)
    ]
    end = road.location(0.0, 0.0) + carla.Location(control.direction.x, control.direction.y, 0.0)
    return road.place(end)


def step_out(scenario, at_m):
    """The ego comes so near that nobody waits any longer."""
    scenario.advance(moment(1.0, 0.0, 1.0))
    scenario.advance(moment(2.0, at_m - 4.0, 1.0))


@WAYS
@SIDES
@pytest.mark.parametrize("kind", ["DynamicObjectCrossing", "Animals", "PedestrianOtherBlocker"])
def test_who_crosses_comes_from_their_side_to_the_other(kind, side, yaw_deg):
    road = street(yaw_deg)
    scenario = road.scenario(kind, direction(side, crossing_angle="20", distance="30"))
    scenario.setup()
    blocker, person = road.world.spawned
    out = OUTWARDS[side]
    aside_m = out * WALK_M[side == "left"]
    assert road.place(blocker.pose.location) == (30.0, aside_m)
    assert road.turn_deg(blocker.pose.rotation) == out * 90.0
    assert road.place(person.pose.location) == pytest.approx((30.8, aside_m), abs=2e-3)
    assert road.turn_deg(person.pose.rotation) == -out * 110.0
    step_out(scenario, 30.0)
    slant = np.deg2rad(20.0)
    # Across the road, and by a positive angle towards the ego, from either side.
    assert walks(road) == pytest.approx((-np.sin(slant), -out * np.cos(slant)), abs=2e-3)


@WAYS
@SIDES
def test_who_crosses_behind_a_parked_car_comes_from_their_side(side, yaw_deg):
    road = street(yaw_deg)
    scenario = road.scenario(
        "ParkingCrossingPedestrian", direction(side, distance="30", offset_x="-1.5")
    )
    scenario.setup()
    car, person = road.world.spawned
    out = OUTWARDS[side]
    assert road.place(car.pose.location) == (28.5, out * 3.5)  # offset_x is ahead
    assert road.turn_deg(car.pose.rotation) == 0.0
    assert road.place(person.pose.location) == pytest.approx((30.8, out * 3.5), abs=2e-3)
    step_out(scenario, 30.8)
    assert walks(road) == pytest.approx((0.0, -out), abs=2e-3)


@WAYS
@SIDES
def test_who_steps_out_of_a_site_walks_across_its_free_side(side, yaw_deg):
    road = street(yaw_deg)
    scenario = road.scenario("ConstructionObstaclePedestrian", direction(side))
    scenario.setup()
    (person,) = [one for one in road.world.spawned if one.type_id.startswith("walker.")]
    out = OUTWARDS[side]
    assert road.place(person.pose.location) == (100.0, 0.0)
    assert road.turn_deg(person.pose.rotation) == -out * 90.0
    x, y = scenario.passes_at  # where the ego passes: on the other lane
    assert road.place(carla.Location(x, y)) == pytest.approx((100.0, -out * 3.5), abs=2e-3)
    step_out(scenario, 100.0)
    assert walks(road) == pytest.approx((0.0, -out), abs=2e-3)


@WAYS
@SIDES
def test_a_crowd_stands_on_the_sidewalk_of_its_side(side, yaw_deg):
    spawned = setup(street(yaw_deg), "PedestrianCrowd", f'<side value="{side}"/>')
    assert len(spawned) == 20
    aside_m = OUTWARDS[side] * np.array([right for _, _, right, _ in spawned])
    assert np.abs(aside_m - WALK_M[side == "left"]).max() <= 0.7
    assert all(20.0 <= ahead <= 60.0 for _, ahead, _, _ in spawned)


@WAYS
def test_a_picture_is_moved_as_the_ego_sees_it(yaw_deg):
    """Forward, right and up; ``direction`` is in public files, and ignored there too."""
    offsets = {"offset_x": "0.5", "offset_y": "-0.3", "offset_z": "0.7"}
    road = street(yaw_deg)
    elements = direction("left", distance="20", image="static.prop.ampel", **offsets)
    (_, ahead, right, turn), image = setup(road, "ImageOnObject", elements)
    assert (ahead, right, turn) == pytest.approx((20.0, WALK_M[0] + 0.7, -90.0), abs=2e-3)
    assert image[1:] == pytest.approx((ahead + 0.5 - 0.15, right - 0.3, 90.0), abs=2e-3)
    low, high = (one.pose.location.z for one in road.world.spawned)
    assert high - low == pytest.approx(0.7, abs=1e-3)


@WAYS
def test_a_cover_is_moved_to_the_egos_right_and_up(yaw_deg, monkeypatch):
    road = street(yaw_deg)
    monkeypatch.setattr(
        "jaywalk.scenarios.junctions._stop_junction.junction_ahead",
        lambda scenario: SimpleNamespace(yaw_deg=yaw_deg, enter_m=100.0, leave_m=120.0),
    )
    post = carla.Transform(road.location(39.0, 3.0), carla.Rotation(yaw=yaw_deg))
    road.world.faces.append(SimpleNamespace(location=road.location(39.0, 3.0, 2.0)))
    road.world.furniture.append(
        SimpleNamespace(
            type_id="traffic.stop",
            get_transform=lambda: post,
            trigger_volume=SimpleNamespace(location=_in_frame(post, road.location(38.0, 0.0))),
        )
    )
    cover, _ = setup(
        road,
        "ObscuredStopSign",
        '<prop value="static.prop.snow"/><offset_y value="0.2"/><offset_z value="-0.4"/>',
    )
    assert cover[1:] == pytest.approx((38.9, 3.2, 90.0), abs=2e-3)
    assert road.world.spawned[0].pose.location.z == pytest.approx(1.6)


def _in_frame(frame, place):
    """A place in the frame of a level transform that looks along x or against it."""
    way = np.cos(np.deg2rad(frame.rotation.yaw))
    away = place - frame.location
    return carla.Location(way * away.x, way * away.y, away.z)


@WAYS
@SIDES
def test_a_door_opens_towards_the_ego(side, yaw_deg):
    road = street(yaw_deg)
    scenario = road.scenario("VehicleOpensDoorTwoWays", direction(side))
    scenario.setup()
    (car,) = road.world.spawned
    beside_m = 2.0 if side == "right" else 3.5  # the sidewalk, or the other lane
    middle_m = 0.5 * (3.5 + beside_m) - 0.25 * (beside_m - 0.95)
    assert road.place(car.pose.location) == pytest.approx(
        (50.0, OUTWARDS[side] * middle_m), abs=2e-3
    )
    step_out(scenario, 50.0)
    left, right = carla.VehicleDoor.FL, carla.VehicleDoor.FR
    assert road.world.commands[-1] == (left if side == "right" else right)


@pytest.mark.parametrize(("sidewalk_m", "aside_m"), [(2.0, 4.5), (0.0, 1.75 + 1.5 + 0.6)])
def test_who_crosses_behind_a_turn_is_moved_aside_where_there_is_no_sidewalk(sidewalk_m, aside_m):
    scenario = street().scenario("VehicleTurningRoutePedestrian", '<offset_y value="0.6"/>')
    near = Roadside(kerb_m=3.5, last_lane_m=3.5, sidewalk_m=sidewalk_m)
    assert scenario.stands_m(near) == pytest.approx(aside_m)


@SIDES
def test_who_takes_the_right_of_way_comes_from_the_arm_of_their_direction(side):
    """At a crossroads of a town."""
    wanted = TemplateRequest(
        name="x", type="NormalVehicleTakingPriority", town="Orchard", seed=CROSSROADS
    )
    text = edited_text(scenario_template(wanted, "x.yaml"), [f"params.direction={side}"], "x.yaml")
    file = authored_of(parse_text(text, "x.yaml"), "x.yaml")
    context = ScenarioContext(
        client=None,
        world=None,
        map=load_town("Orchard").carla_map,
        route=check_on_road(file),
        seed=1,
    )
    scenario = make_scenario(route_of(file).scenarios[0], context)
    ahead = junction_ahead(scenario)
    way = ahead.crossing(scenario.parameters.direction, 30.0, 40.0)
    yaw, ego = np.deg2rad(ahead.yaw_deg), ahead.entry.transform.location
    x, y = way.path.points_m[0, :2] - [ego.x, ego.y]
    assert OUTWARDS[side] * (y * np.cos(yaw) - x * np.sin(yaw)) > 20.0  # waits on that side
    crosses_deg = (way.path.yaw_deg[0] - ahead.yaw_deg + 180.0) % 360.0 - 180.0
    assert crosses_deg == pytest.approx(-90.0 * OUTWARDS[side], abs=45.0)


class Lane:
    """A lane and its neighbours."""

    def __init__(self, lane_id, left=None, right=None, kind=carla.LaneType.Driving):
        self.lane_id, self.lane_type = lane_id, kind
        self._left, self._right = left, right

    def get_left_lane(self):
        return self._left

    def get_right_lane(self):
        return self._right


def test_where_no_lane_comes_the_other_way_the_next_lane_serves():
    shoulder = Lane(-3, kind=carla.LaneType.Shoulder)
    left, right, coming = Lane(-1), Lane(-2), Lane(1)
    assert lane_beside(Lane(-2, left=left, right=shoulder)) is left
    assert lane_beside(Lane(-1, left=shoulder, right=right)) is right
    assert lane_beside(Lane(-1, left=None, right=shoulder)) is None
    assert opposite_lane(Lane(-1, left=coming)) is coming
    assert opposite_lane(Lane(-2, left=left, right=shoulder)) is None


def test_they_turn_right_into_the_ego_s_road_beside_its_lane(monkeypatch):
    beside = SimpleNamespace(turn_deg=90.0)
    asked = []

    def crossings(*given):
        asked.append(given[-1])
        return [beside, SimpleNamespace(turn_deg=0.0)] if given[-1] > 3.46 else []

    monkeypatch.setattr("jaywalk.scenarios.junctions._junction_ahead.crossings", crossings)
    context = SimpleNamespace(
        route=SimpleNamespace(along_m=np.arange(3.0), position_m=np.zeros((3, 3)))
    )
    entry = SimpleNamespace(transform=carla.Transform())
    ahead = JunctionAhead(
        context=context, where="here", junction=None, entry=entry, enter_m=0.0, leave_m=2.0
    )
    assert ahead.crossing("opposite", 10.0, 10.0, "right") is beside
    assert len(asked) == 2
    with pytest.raises(DataError, match="nobody from opposite"):
        ahead.crossing("opposite", 10.0, 10.0)
