"""Traffic lights, groups, stop lines, signs, limits, and the map's own data."""

from __future__ import annotations

from itertools import pairwise

import carla
import numpy as np
import pytest
from scene import DELTA_S, Scene, angle_between_deg, xyz

State = carla.TrafficLightState


@pytest.fixture
def lights(scene: Scene) -> list[carla.TrafficLight]:
    scene.world.freeze_all_traffic_lights(False)
    scene.world.reset_all_traffic_lights()
    scene.tick()
    return list(scene.world.get_actors().filter("traffic.traffic_light"))


def test_every_light_belongs_to_a_landmark_with_stop_lines(
    scene: Scene, lights: list[carla.TrafficLight]
) -> None:
    ids = [light.get_opendrive_id() for light in lights]
    assert len(set(ids)) == len(ids) >= 20
    marks = {mark.id for mark in scene.map.get_all_landmarks_of_type("1000001")}
    assert set(ids) <= marks
    for light in lights:
        stops = light.get_stop_waypoints()
        assert stops
        assert light.get_affected_lane_waypoints()
        for stop in stops:
            assert stop.lane_type == carla.LaneType.Driving
            assert not stop.is_junction
            ahead = [point for step in range(1, 13) for point in stop.next(float(step))]
            assert any(point.is_junction for point in ahead)
        found = scene.world.get_traffic_light_from_opendrive_id(light.get_opendrive_id())
        assert found.id == light.id


def test_lights_of_a_junction_are_one_group(scene: Scene, lights: list[carla.TrafficLight]) -> None:
    grouped = 0
    for light in lights:
        group = {member.id for member in light.get_group_traffic_lights()}
        assert light.id in group
        assert len(light.get_group_traffic_lights()) == len(group)
        stop = light.get_stop_waypoints()[0]
        ahead = [point for step in range(1, 13) for point in stop.next(float(step))]
        junction = next((point.get_junction() for point in ahead if point.is_junction), None)
        if junction is not None:
            there = {other.id for other in scene.world.get_traffic_lights_in_junction(junction.id)}
            assert light.id in there
            assert there <= group
            grouped += 1
    assert grouped >= len(lights) // 2


def test_light_is_found_from_before_its_stop_line(
    scene: Scene, lights: list[carla.TrafficLight]
) -> None:
    hits = total = 0
    for light in lights:
        for stop in light.get_stop_waypoints():
            back = stop.previous(3.0)
            if back:
                found = scene.world.get_traffic_lights_from_waypoint(back[0], 50.0)
                hits += light.id in {other.id for other in found}
                total += 1
    assert total >= 20
    assert hits >= 0.95 * total


def test_phases_run_green_yellow_red_then_the_next_approach(
    scene: Scene, lights: list[carla.TrafficLight]
) -> None:
    group = max((light.get_group_traffic_lights() for light in lights), key=len)
    history = []
    for _ in range(int(36.0 / DELTA_S)):
        scene.tick()
        history.append([light.get_state() for light in group])
    for column in zip(*history, strict=True):
        runs: list[tuple[carla.TrafficLightState, int]] = []
        for state in column:
            if runs and runs[-1][0] == state:
                runs[-1] = (state, runs[-1][1] + 1)
            else:
                runs.append((state, 1))
        for (state, length), (after, _) in pairwise(runs[1:]):
            order = {State.Green: State.Yellow, State.Yellow: State.Red, State.Red: State.Green}
            assert after == order[state]
            if state != State.Red:
                wanted = 10.0 if state == State.Green else 3.0
                assert length * DELTA_S == pytest.approx(wanted, abs=2 * DELTA_S)
    # Never more than one approach green at once: those green together share a controller.
    together = {frozenset(i for i, s in enumerate(row) if s == State.Green) for row in history}
    together.discard(frozenset())
    for first in together:
        for second in together:
            assert first == second or not first & second
    assert len(together) >= 2


def test_times_read_back_and_apply_to_the_running_phase(
    scene: Scene, lights: list[carla.TrafficLight]
) -> None:
    light = next(one for one in lights if one.get_state() == State.Green)
    scene.tick(20)
    before = light.get_elapsed_time()
    light.set_green_time(2.0)
    light.set_yellow_time(1.0)
    light.set_red_time(0.5)
    scene.tick()
    assert (light.get_green_time(), light.get_yellow_time(), light.get_red_time()) == (
        2.0,
        1.0,
        0.5,
    )
    assert light.get_elapsed_time() == pytest.approx(before + DELTA_S, abs=1e-3)
    ticks = scene.until(lambda: light.get_state() == State.Yellow, 60)
    assert ticks * DELTA_S == pytest.approx(2.0 - before, abs=0.15)
    assert scene.until(lambda: light.get_state() == State.Red, 60) * DELTA_S == pytest.approx(
        1.0, abs=0.15
    )
    for setter in (light.set_green_time, light.set_yellow_time, light.set_red_time):
        setter({"set_green_time": 10.0, "set_yellow_time": 3.0}.get(setter.__name__, 2.0))
    scene.tick()


def test_set_state_survives_with_long_times(scene: Scene, lights: list[carla.TrafficLight]) -> None:
    """Scenarios set a state, then make all three times huge, without freezing."""
    light = next(one for one in lights if one.get_state() == State.Red)
    group = light.get_group_traffic_lights()
    for member in group:
        member.set_state(State.Green if member.id == light.id else State.Red)
        for setter in (member.set_green_time, member.set_red_time, member.set_yellow_time):
            setter(100000.0)
    scene.tick(400)
    assert light.get_state() == State.Green
    assert all(member.get_state() == State.Red for member in group if member.id != light.id)
    for member in group:
        member.set_green_time(10.0)
        member.set_yellow_time(3.0)
        member.set_red_time(2.0)
    light.reset_group()
    scene.tick()
    assert {member.get_state() for member in group} <= {State.Green, State.Red}
    assert any(member.get_state() == State.Green for member in group)


def test_freezing_stops_every_light(scene: Scene, lights: list[carla.TrafficLight]) -> None:
    lights[0].freeze(True)
    scene.tick()
    assert all(light.is_frozen() for light in lights)
    before = [light.get_state() for light in lights]
    lights[3].set_state(State.Off)
    scene.tick(int(16.0 / DELTA_S))
    after = [light.get_state() for light in lights]
    assert after[3] == State.Off
    assert [s for i, s in enumerate(after) if i != 3] == [s for i, s in enumerate(before) if i != 3]
    lights[0].freeze(False)
    scene.tick()
    assert not any(light.is_frozen() for light in lights)


def test_car_in_front_of_a_red_light_knows_it(
    scene: Scene, lights: list[carla.TrafficLight]
) -> None:
    checked = 0
    for light in lights[:12]:
        stop = light.get_stop_waypoints()[0].transform
        stop.location.z += 0.2
        light.set_state(State.Red)
        car = scene.spawn("vehicle.audi.a2", stop, settle=4)
        assert car.is_at_traffic_light()
        owner = car.get_traffic_light()
        same_lane = owner.id in {member.id for member in light.get_group_traffic_lights()}
        assert same_lane
        assert car.get_traffic_light_state() == owner.get_state()
        checked += owner.id == light.id
        back = car.get_transform()
        back.location -= back.get_forward_vector() * 25.0
        car.set_transform(back)
        scene.tick(2)
        if scene.map.get_waypoint(back.location).transform.location.distance(back.location) < 2.0:
            assert car.get_traffic_light_state() == State.Green or car.is_at_traffic_light()
        scene.clear()
    assert checked >= 10


def test_trigger_volume_lies_on_the_lane(lights: list[carla.TrafficLight]) -> None:
    for light in lights:
        box, pose = light.trigger_volume, light.get_transform()
        assert box.extent.x > 0.3
        assert box.extent.y > 0.3
        centre = pose.transform(box.location)
        nearest = min(
            stop.transform.location.distance(centre) for stop in light.get_stop_waypoints()
        )
        assert nearest < 12.0


def test_speed_signs_stand_beside_the_road_they_limit(scene: Scene) -> None:
    signs = scene.world.get_actors().filter("traffic.speed_limit.*")
    assert len(signs) >= 10
    marks = scene.map.get_all_landmarks_of_type("274")
    for sign in signs:
        place = sign.get_location()
        mark = min(marks, key=lambda one: one.transform.location.distance(place))
        assert mark.transform.location.distance(place) < 5.0
        assert float(mark.value) == float(sign.type_id.rsplit(".", 1)[-1])
        lane = scene.map.get_waypoint(place)
        assert 1.0 < lane.transform.location.distance(place) < 15.0


def test_crosswalks_are_closed_polygons_near_roads(scene: Scene) -> None:
    corners = scene.map.get_crosswalks()
    polygons, start = [], 0
    while start < len(corners):
        end = start + 1
        while end < len(corners) and corners[end].distance(corners[start]) > 1e-3:
            end += 1
        assert end < len(corners), "a crosswalk polygon is not closed"
        polygons.append(np.array([xyz(corner)[:2] for corner in corners[start : end + 1]]))
        start = end + 1
    assert len(polygons) >= 60 / 3
    for polygon in polygons:
        x, y = polygon[:-1, 0], polygon[:-1, 1]
        area = 0.5 * abs(np.dot(x, np.roll(y, 1)) - np.dot(y, np.roll(x, 1)))
        assert 4.0 < area < 400.0
        middle = carla.Location(*map(float, polygon[:-1].mean(axis=0)), 0.0)
        road = scene.map.get_waypoint(middle)
        assert road.transform.location.distance(middle) < 12.0


def test_topology_and_lane_links_are_consistent(scene: Scene) -> None:
    segments = scene.map.get_topology()
    assert len(segments) >= 100
    for begin, end in segments[::7]:
        assert begin.lane_type == carla.LaneType.Driving
        assert end.lane_type == carla.LaneType.Driving
    for point in scene.map.generate_waypoints(25.0)[::9]:
        following = point.next(2.0)
        for after in following:
            gap = after.transform.location.distance(point.transform.location)
            assert gap < 3.5
            turn = angle_between_deg(after.transform.rotation.yaw, point.transform.rotation.yaw)
            assert turn < 60.0


def test_stop_and_yield_signs_of_orchard(client: carla.Client, scene: Scene) -> None:
    world = client.load_world("Orchard")
    try:
        world.wait_for_tick(60.0)
        actors = world.get_actors()
        stops, yields = actors.filter("traffic.stop"), actors.filter("traffic.yield")
        assert len(stops) >= 4
        assert len(yields) >= 1
        road_map = world.get_map()
        for sign in [*stops, *yields]:
            box = sign.trigger_volume
            assert min(box.extent.x, box.extent.y) > 0.2
            centre = sign.get_transform().transform(box.location)
            lane = road_map.get_waypoint(centre)
            assert lane.transform.location.distance(centre) < 3.5
        assert len(road_map.get_all_landmarks_of_type("206")) == len(stops)
        assert len(road_map.get_all_landmarks_of_type("205")) == len(yields)
    finally:
        fresh = Scene.load(client, "Harbour")
        scene.world, scene.map = fresh.world, fresh.map
