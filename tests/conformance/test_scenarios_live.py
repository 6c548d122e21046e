"""Scenarios on a live server: what they put there, what it does, and that it is gone after."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scene import DELTA_S, Scene

from jaywalk.actors.events import EgoMoment
from jaywalk.client.placing import place_on_route
from jaywalk.scenarios.base import Phase, ScenarioContext, make_scenario
from jaywalk.scenarios.formats.route_xml import ScenarioElement
from jaywalk.scenarios.formats.xml_node import Node
from jaywalk.scenarios.obstacles._two_ways import OnLaneTwoWays
from jaywalk.town.routes import DenseRoute, RoutePlanner

SPEED_MPS = 8.0


@pytest.fixture(scope="module")
def route(fresh: Scene) -> DenseRoute:
    """A route whose first 110 m are free of junctions."""
    planner = RoutePlanner(fresh.map)
    for place in fresh.map.get_spawn_points():
        start = fresh.map.get_waypoint(place.location)
        ahead = start.next(140.0)
        if not ahead:
            continue
        ends = [point.transform.location for point in (start, ahead[0])]
        plan = planner.plan([(end.x, end.y, end.z) for end in ends])
        if plan.along_m[-1] > 115.0 and not plan.in_junction[plan.along_m < 100.0].any():
            return plan
    raise AssertionError("no straight street in the town")


def _spec(kind: str, route: DenseRoute, at_m: float = 20.0, **parameters: str) -> ScenarioElement:
    pose = place_on_route(route, at_m, up_m=0.0)
    at = pose.location
    trigger = {"x": at.x, "y": at.y, "z": at.z, "yaw": pose.rotation.yaw}
    nodes = [Node("trigger_point", tuple((key, repr(value)) for key, value in trigger.items()))]
    nodes += [Node(tag, (("value", value),)) for tag, value in parameters.items()]
    return ScenarioElement(attributes=(("name", "S"), ("type", kind)), elements=tuple(nodes))


def _drive(scene: Scene, route: DenseRoute, spec: ScenarioElement, upto_m: float = 112.0):
    """Move a ghost of an ego along the route; returns where the scenario's actors were."""
    context = ScenarioContext(
        client=scene.client, world=scene.world, map=scene.map, route=route, seed=1
    )
    scenario = make_scenario(spec, context)
    scenario.setup()
    scene.tick()
    seen: dict[int, list[tuple[float, float, float]]] = {}
    for tick in range(int(upto_m / SPEED_MPS / DELTA_S) + 500):
        snapshot = scene.world.get_snapshot()
        flow = scenario.flow.actor_ids if isinstance(scenario, OnLaneTwoWays) else []
        for key in {*scenario.actor_ids, *flow}:
            if (state := snapshot.find(key)) is not None:
                place, speed = state.get_transform().location, state.get_velocity().length()
                seen.setdefault(key, []).append((place.x, place.y, speed))
        along_m = min(tick * DELTA_S * SPEED_MPS, upto_m)
        scenario.advance(
            EgoMoment(
                elapsed_s=tick * DELTA_S,
                snapshot=snapshot,
                ego_id=0,
                ego_along_m=along_m,
                ego_speed_mps=SPEED_MPS,
            )
        )
        scene.tick()
        if scenario.phase is Phase.DONE and not scenario.actor_ids:
            break
    alive = {actor.id for actor in scene.world.get_actors()}
    assert scenario.phase is Phase.DONE
    assert not alive & set(seen)
    return [np.array(seen[key]) for key in sorted(seen)]


@pytest.mark.parametrize("side", ["right", "left"])
@pytest.mark.parametrize("kind", ["stepping-out", "stepping-out-hidden"])
def test_a_person_crosses_the_lane(scene: Scene, route: DenseRoute, kind: str, side: str) -> None:
    spec = _spec(f"jaywalk/{kind}-v1", route, direction=side, speed="2")
    tracks = _drive(scene, route, spec)
    assert len(tracks) == (2 if "hidden" in kind else 1)
    walk = tracks[-1]
    yaw = math.radians(place_on_route(route, 40.0).rotation.yaw)
    origin = place_on_route(route, 40.0).location
    offset = -(walk[:, 0] - origin.x) * math.sin(yaw) + (walk[:, 1] - origin.y) * math.cos(yaw)
    sign = 1.0 if side == "right" else -1.0
    assert sign * offset[0] > 2.0  # beside the lane at first
    assert sign * offset.min() < -1.5 or sign * offset[-1] < -1.5  # and over it in the end
    assert np.median(walk[walk[:, 2] > 0.5][:, 2]) == pytest.approx(2.0, abs=0.2)


def test_a_parked_car_stays(scene: Scene, route: DenseRoute) -> None:
    track, _ = _drive(scene, route, _spec("jaywalk/parked-obstacle-v1", route, distance="35"))
    assert np.ptp(track[20:, :2], axis=0).max() < 0.05
    at = place_on_route(route, 55.0).location
    assert 0.8 < math.hypot(track[-1, 0] - at.x, track[-1, 1] - at.y) < 1.7


def test_a_construction_site_has_ten_things(scene: Scene, route: DenseRoute) -> None:
    tracks = _drive(scene, route, _spec("jaywalk/construction-v1", route, distance="35"))
    assert len(tracks) == 10  # sign, debris, cones, and the sign beside the road


@pytest.mark.parametrize(
    ("kind", "given", "still", "moving"),
    [
        ("DynamicObjectCrossing", {}, 1, 1),
        ("ParkingCrossingPedestrian", {"direction": "left"}, 1, 1),
        ("ParkedObstacle", {"distance": "40"}, 2, 0),
        ("ParkedObstacleTwoWays", {"distance": "40"}, 2, 1),
        ("ConstructionObstacleTwoWays", {"distance": "40"}, 10, 1),
        ("jaywalk/parked-two-ways-v1", {"distance": "40"}, 2, 1),
        ("InvadingTurn", {"distance": "40"}, 4, 1),
        ("YieldToEmergencyVehicle", {"distance": "30"}, 0, 1),
    ],
)
def test_types_play(
    scene: Scene, route: DenseRoute, kind: str, given: dict[str, str], still: int, moving: int
) -> None:
    tracks = _drive(scene, route, _spec(kind, route, **given))
    moved = [track for track in tracks if np.ptp(track[:, :2], axis=0).max() > 1.0]
    assert len(tracks) - len(moved) == still
    assert len(moved) >= moving


WALL = {
    "a": "id=static.prop.brickwall y=1 z=1.5 yaw=90 roll=90",
    "b": "id=vehicle.tesla.model3 x=8",
}


@pytest.mark.parametrize(
    ("kind", "given", "objects", "still", "moving"),
    [
        ("BadParkingObstacle", {"distance": "35", "yaw": "30"}, {}, 1, 0),
        ("PermutedConstructionObstacle", {"distance": "35", "cones": "0000111"}, {}, 6, 0),
        ("ConstructionObstaclePedestrian", {"distance": "35"}, {}, 10, 1),
        ("ConstructionObstacleOppositeLane", {"distance": "35"}, {}, 9, 0),
        ("ConstructionObstacleRightLane", {"distance": "35"}, {}, 9, 0),
        ("ImageOnObject", {"distance": "30", "image": "static.prop.walkingkid"}, {}, 2, 0),
        ("PedestriansOnRoad", {"distance": "30", "walker_duration": "8"}, {}, 0, 1),
        ("RoadBlocked", {"distance": "40", "wait": "5"}, {"objects": WALL}, 2, 0),
        ("DynamicObjectCrossing", {"walker": "walker.animal.1003", "distance": "25"}, {}, 1, 1),
        ("Animals", {"walker": "walker.animal.1003", "distance": "25"}, {}, 1, 1),
    ],
)
def test_fail2drive_types_play(
    scene: Scene,
    route: DenseRoute,
    kind: str,
    given: dict[str, str],
    objects: dict[str, dict[str, str]],
    still: int,
    moving: int,
) -> None:
    spec = _spec(kind, route, **given)
    nodes = tuple(Node(tag, tuple(some.items())) for tag, some in objects.items())
    tracks = _drive(scene, route, replace(spec, elements=(*spec.elements, *nodes)))
    moved = [track for track in tracks if np.ptp(track[:, :2], axis=0).max() > 1.0]
    assert len(tracks) - len(moved) == still
    assert len(moved) == moving


def test_the_flow_comes_towards_the_ego(scene: Scene, route: DenseRoute) -> None:
    tracks = _drive(scene, route, _spec("jaywalk/parked-two-ways-v1", route, distance="40"))
    yaw = math.radians(place_on_route(route, 60.0).rotation.yaw)
    for track in (track for track in tracks if len(track) > 60 and track[:, 2].max() > 5.0):
        ahead = track[:, 0] * math.cos(yaw) + track[:, 1] * math.sin(yaw)
        assert ahead[-1] < ahead[0] - 20.0
        assert track[5:, 2].max() == pytest.approx(30.0 / 3.6, abs=0.3)


def test_the_lead_car_leads_brakes_and_drives_on(scene: Scene, route: DenseRoute) -> None:
    spec = _spec("jaywalk/hard-brake-v1", route, at_m=50.0, stop_time="3")
    (track,) = _drive(scene, route, spec)
    speed = track[:, 2]
    leads = speed > 7.0
    assert leads.any()
    stop = int(np.argmax(leads)) + int(np.argmax(speed[np.argmax(leads) :] < 0.05))
    assert speed[stop : stop + 40].max() < 0.1
    braking = speed[: stop + 1][-40:]
    assert np.diff(braking).min() < -4.0 * DELTA_S
    assert speed[-1] > 3.0
