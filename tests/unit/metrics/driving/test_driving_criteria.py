"""Each criterion on a hand-made record that triggers it and on one that just does not."""

import numpy as np
import pytest
from driving_scenes import HALF_LENGTH_M, LANE_Y, cruise, light, stand, write_drive

from jaywalk.core.errors import DataError
from jaywalk.metrics.driving._public_score import score_public
from jaywalk.metrics.driving.criteria._collision import find_collisions
from jaywalk.metrics.driving.criteria._emergency import find_not_yielded, find_scenario_timeouts
from jaywalk.metrics.driving.criteria._ending import (
    find_blocked,
    find_completion,
    find_deviation,
    find_route_timeout,
)
from jaywalk.metrics.driving.criteria._min_speed import find_min_speed, slowed_by_scenarios
from jaywalk.metrics.driving.criteria._outside_lanes import find_outside_lanes
from jaywalk.metrics.driving.criteria._red_light import find_red_lights
from jaywalk.metrics.driving.criteria._rules import RULES
from jaywalk.metrics.driving.criteria._scene import read_scene
from jaywalk.metrics.driving.criteria._stop_sign import find_stops
from jaywalk.scenarios.catalogue import WRONG_LANE_CRITERION

LB1, LB2, B2D, F2D = (
    RULES[name] for name in ("leaderboard-1.0", "leaderboard-2.0", "bench2drive", "fail2drive")
)


def scene_of(folder, places, **more):
    return read_scene(write_drive(folder, places, **more))


def long_route(last_x=250.0):
    x = np.arange(0.0, last_x + 1.0)
    return np.column_stack([x, np.full(len(x), LANE_Y), np.zeros(len(x))])


# Collision -------------------------------------------------------------------------------------


def hits(folder, contacts, rules=LB2, speed=5.0, **more):
    scene = scene_of(folder, cruise(0.0, 90.0, speed), contacts=contacts, others=[{}, {}], **more)
    return find_collisions(scene, rules)


def test_a_contact_is_a_collision(tmp_path):
    (found,) = hits(tmp_path, [{"tick": 40, "end_tick": 45, "other": 10}])
    assert found.key == "collisions_vehicle"
    assert (found.row, found.other) == (40, 10)
    assert found.message == (
        "Agent collided against object with type=vehicle.mini.cooper and id=1010 "
        "at (x=9.75, y=1.75, z=0.0)"
    )


def test_an_ego_slower_than_a_tenth_is_not_at_fault(tmp_path):
    contact = [{"tick": 40, "other": 10}]
    assert not hits(tmp_path / "a", contact, speed=0.099)
    assert hits(tmp_path / "b", contact, speed=0.101)
    assert hits(tmp_path / "c", contact, rules=LB1, speed=0.099)


def test_the_same_one_counts_again_after_five_seconds(tmp_path):
    # At 5 m/s the place of the first hit is left after a second. A hit is heard with the state of
    # the tick before, and 100 steps of 0.05 s are more than 5 s as CARLA tells them.
    early = [{"tick": 40, "other": 10}, {"tick": 139, "other": 10}]
    late = [{"tick": 40, "other": 10}, {"tick": 140, "other": 10}]
    assert len(hits(tmp_path / "a", early)) == 1
    assert len(hits(tmp_path / "b", late)) == 2


def test_another_one_counts_after_five_metres(tmp_path):
    near = [{"tick": 40, "other": 10}, {"tick": 60, "other": 11}]  # 5.00 m on
    far = [{"tick": 40, "other": 10}, {"tick": 61, "other": 11}]  # 5.25 m on
    assert len(hits(tmp_path / "a", near)) == 1
    assert len(hits(tmp_path / "b", far)) == 2
    assert len(hits(tmp_path / "c", near, rules=LB1)) == 2  # there 3 m are enough


def test_a_long_push_counts_again(tmp_path):
    assert len(hits(tmp_path, [{"tick": 40, "end_tick": 150, "other": 10}])) == 2


@pytest.mark.parametrize(
    ("type_id", "key"),
    [
        ("static.prop.constructioncone", "collisions_layout"),
        ("traffic.traffic_light", "collisions_layout"),
        ("static.building", "collisions_layout"),
        ("vehicle.mini.cooper", "collisions_vehicle"),
        ("walker.pedestrian.0001", "collisions_pedestrian"),
        ("walker.animal.1003", "collisions_pedestrian"),
        ("static.sidewalk", None),
    ],
)
def test_penalty_depends_on_the_type_hit(tmp_path, type_id, key):
    contact = {"tick": 40, "other_type_id": type_id}
    found = hits(tmp_path, [contact, {"tick": 50, "other": 11}])
    # The second is within 5 m of the first, which starts the cool-down even when it is free.
    assert [one.key for one in found] == ([key] if key else [])


def test_free_hits_start_no_cool_down_in_leaderboard_1(tmp_path):
    kerb = {"tick": 40, "other_type_id": "static.sidewalk"}
    found = hits(tmp_path, [kerb, {"tick": 44, "other": 11}], rules=LB1)
    assert [one.key for one in found] == ["collisions_vehicle"]


def test_a_scenario_with_its_own_test_counts_twice(tmp_path):
    life = [
        {"tick": 20, "kind": "scenario_start", "name": "walker"},
        {"tick": 60, "kind": "scenario_end", "name": "walker"},
    ]
    turning = [{"name": "walker", "type": "VehicleTurningRoutePedestrian"}]
    inside = [{"tick": 40, "other": 10}]
    outside = [{"tick": 61, "other": 10}]
    assert len(hits(tmp_path / "a", inside, events=life, scenarios=turning)) == 2
    assert len(hits(tmp_path / "b", outside, events=life, scenarios=turning)) == 1


# Red light -------------------------------------------------------------------------------------

RED, YELLOW, GREEN = 0, 1, 2


def ran(folder, places, states):
    scene = scene_of(folder, places, lights=[light(195.0, states)], line=long_route())
    return find_red_lights(scene, LB2)


def test_crossing_at_red(tmp_path):
    (found,) = ran(tmp_path, cruise(180.0, 215.0, 8.0), [(0, RED)])
    assert found.key == "red_light"
    assert found.message == "Agent ran a red light 1100 at (x=195.0, y=6.0, z=0.0)"
    # The stop line is the last 0.5 m step before the junction: the far end of the tail was over it.
    x = 180.0 + 0.4 * found.row
    assert x - HALF_LENGTH_M - 1.0 <= 199.5 <= x - 0.8 * HALF_LENGTH_M


@pytest.mark.parametrize("state", [YELLOW, GREEN])
def test_other_colours_are_free(tmp_path, state):
    assert not ran(tmp_path, cruise(180.0, 215.0, 8.0), [(0, state)])


def test_stopping_with_the_tail_before_the_line(tmp_path):
    # The near end of the tail is 0.8 half lengths behind the ego: just before and just over.
    line, near_end = 199.5, 0.8 * HALF_LENGTH_M
    before = np.vstack([cruise(180.0, line + near_end - 0.05, 8.0)])
    over = np.vstack([before, stand((line + near_end + 0.05, LANE_Y, 0.0), 1.0)])
    assert not ran(tmp_path / "a", before, [(0, RED)])
    assert len(ran(tmp_path / "b", over, [(0, RED)])) == 1


def test_a_light_that_turns_red_behind_the_tail(tmp_path):
    places = cruise(180.0, 215.0, 8.0)
    last_on_line = int(np.flatnonzero(places[:, 0] - HALF_LENGTH_M - 1.0 <= 199.5)[-1])
    assert ran(tmp_path / "a", places, [(0, GREEN), (last_on_line, RED)])
    assert not ran(tmp_path / "b", places, [(0, GREEN), (last_on_line + 1, RED)])


def test_driving_against_the_lane_is_no_red_light(tmp_path):
    scene = scene_of(
        tmp_path,
        cruise(180.0, 215.0, 8.0)[::-1],
        yaw_deg=180.0,
        line=long_route(),
        lights=[light(195.0, [(0, RED)])],
    )
    assert not find_red_lights(scene, LB2)


# Stop sign -------------------------------------------------------------------------------------


def stop_drive(least_mps):
    """Brakes to a speed in the box of a sign at x = 60 and goes on."""
    slow = np.full(20, least_mps)
    speed = np.concatenate([np.full(100, 8.0), slow, np.full(150, 8.0)])
    x = 15.0 + np.cumsum(speed) * 0.05
    return np.column_stack([x, np.full(len(x), LANE_Y), np.zeros(len(x))])


@pytest.mark.parametrize(("least", "expected"), [(8.0, 1), (0.11, 1), (0.09, 0), (0.0, 0)])
def test_stop_signs_ask_for_a_stop(tmp_path, least, expected):
    scene = scene_of(tmp_path, stop_drive(least), stops=[{"x": 56.0}])
    found = find_stops(scene, LB2)
    assert len(found) == expected
    if expected:
        assert found[0].message == "Agent ran a stop with id=1200 at (x=56.0, y=6.0, z=0.0)"


def test_thin_boxes_are_seen_by_fail2drive_alone(tmp_path):
    # Points 0.5 m apart, always at the same places: none falls into a box of 2 mm.
    x = 20.12 + 0.5 * np.arange(120)
    places = np.column_stack([x, np.full(len(x), LANE_Y), np.zeros(len(x))])
    scene = scene_of(tmp_path, places, stops=[{"x": 56.4, "half": (0.001, 1.0, 1.0)}])
    assert not find_stops(scene, LB2)
    assert len(find_stops(scene, F2D)) == 1


def test_a_stop_sign_on_another_road_is_ignored(tmp_path):
    scene = scene_of(tmp_path, cruise(20.0, 50.0, 8.0), stops=[{"x": 60.0}])
    assert not find_stops(scene, LB2)


def test_leaderboard_1_also_wants_the_ego_in_a_box_around_the_sign(tmp_path):
    # Its box is of the trigger's size, but lies around the sign: off the lane it is never entered.
    beside = scene_of(tmp_path / "a", stop_drive(8.0), stops=[{"x": 56.0}])
    assert not find_stops(beside, LB1)
    on_lane = scene_of(tmp_path / "b", stop_drive(8.0), stops=[{"x": 56.0, "y": LANE_Y}])
    assert len(find_stops(on_lane, LB1)) == 1
    stopped = scene_of(tmp_path / "c", stop_drive(0.0), stops=[{"x": 56.0, "y": LANE_Y}])
    assert not find_stops(stopped, LB1)


# Lanes -----------------------------------------------------------------------------------------


def beside(folder, y, rules=LB2, yaw_deg=0.0, **more):
    """20 m on the lane, 20 m at y, then on the lane again."""
    places = cruise(0.0, 90.0, 8.0)
    places[(places[:, 0] > 20.0) & (places[:, 0] < 40.0), 1] = y
    scene = scene_of(folder, places, yaw_deg=yaw_deg, **more)
    return find_outside_lanes(scene, rules)


@pytest.mark.parametrize(("y", "off"), [(6.45, False), (6.55, True)])
def test_the_edge_of_the_parking_lane_plus_half_a_metre(tmp_path, y, off):
    assert bool(beside(tmp_path, y)) == off


@pytest.mark.parametrize(("y", "off"), [(7.25, False), (7.35, True)])
def test_leaderboard_1_allows_more(tmp_path, y, off):
    assert bool(beside(tmp_path, y, LB1)) == off


def test_the_share_of_the_way_outside(tmp_path):
    (found,) = beside(tmp_path, 9.0)
    driven, outside = 89.0, 20.0  # the last place is x = 89.6; points 21 to 40 were passed outside
    assert found.value == pytest.approx(100.0 * outside / driven, abs=1.2)
    metres = float(found.message.split()[8])
    assert metres == pytest.approx(20.0, abs=1.0)
    assert found.message.endswith(f"({round(found.value, 2)}% of the completed route)")


def test_the_other_lane_is_wrong(tmp_path):
    (found,) = beside(tmp_path / "a", -LANE_Y)
    assert found.value == pytest.approx(22.5, abs=1.2)
    assert not beside(tmp_path / "b", -LANE_Y + 1.8)  # still nearer to the own lane


def test_the_other_lane_is_allowed_while_switched_off(tmp_path):
    off = [
        {
            "tick": 10,
            "kind": "criterion_switch",
            "name": WRONG_LANE_CRITERION,
            "detail": {"active": False},
        }
    ]
    assert not beside(tmp_path / "a", -LANE_Y, events=off)
    assert beside(tmp_path / "b", -6.0, events=off)  # off the road counts always


def test_nothing_is_assumed_of_a_record_that_notes_its_switches(tmp_path):
    """A scenario for two ways allows the other lane when it says so, not from its start."""
    noted = [
        {"tick": 10, "kind": "scenario_start", "name": "s"},
        {"tick": 10, "kind": "criterion_switch", "name": "blocked", "detail": {"active": False}},
    ]
    two_ways = [{"name": "s", "type": "ParkedObstacleTwoWays"}]
    assert beside(tmp_path / "a", -LANE_Y, events=noted, scenarios=two_ways)
    assert not beside(tmp_path / "b", -LANE_Y, events=noted[:1], scenarios=two_ways)


def test_two_way_scenarios_allow_the_other_lane(tmp_path):
    life = [
        {"tick": 10, "kind": "scenario_start", "name": "s"},
        {"tick": 200, "kind": "scenario_end", "name": "s"},
    ]
    two_ways = [{"name": "s", "type": "ParkedObstacleTwoWays"}]
    one_way = [{"name": "s", "type": "ParkedObstacle"}]
    assert not beside(tmp_path / "a", -LANE_Y, events=life, scenarios=two_ways)
    assert beside(tmp_path / "b", -LANE_Y, events=life, scenarios=one_way)


@pytest.mark.parametrize(("yaw", "wrong"), [(119.0, False), (121.0, True)])
def test_behind_a_junction_the_heading_decides(tmp_path, yaw, wrong):
    scene = scene_of(tmp_path, cruise(205.0, 245.0, 8.0), yaw_deg=yaw, line=long_route()[200:])
    assert bool(find_outside_lanes(scene, LB2)) == wrong


# In route --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("y", "off"), [(29.9, False), (30.0, True)])
def test_thirty_metres_from_the_route(tmp_path, y, off):
    places = cruise(0.0, 30.0, 8.0)
    places[-1, 1] = LANE_Y + y
    places[-1, 0] = 29.0
    scene = scene_of(tmp_path, places)
    found = find_deviation(scene.route, scene.track)
    assert (found is not None) == off
    if found:
        assert found.message == f"Agent deviated from the route at (x=29.0, y={LANE_Y + y}, z=0.0)"


@pytest.mark.parametrize(("metres", "off"), [(30, False), (31, True)])
def test_fifteen_metres_beside_for_thirty_percent(tmp_path, metres, off):
    x = np.arange(0.0, 91.0)
    y = np.where((x > 20) & (x <= 20 + metres), LANE_Y + 16.0, LANE_Y)
    scene = scene_of(tmp_path, np.column_stack([x, y, np.zeros(len(x))]), step_s=0.1)
    assert (find_deviation(scene.route, scene.track) is not None) == off


def test_fourteen_metres_beside_is_safe(tmp_path):
    x = np.arange(0.0, 91.0)
    places = np.column_stack([x, np.full(len(x), LANE_Y + 14.9), np.zeros(len(x))])
    scene = scene_of(tmp_path, places, step_s=0.1)
    assert find_deviation(scene.route, scene.track) is None


# Blocked ---------------------------------------------------------------------------------------


def standing(folder, seconds, rules=LB2, speed=0.0, **more):
    """Drives for ten ticks and stands, at 2 Hz (0.5 is a 32-bit number, so no step is longer)."""
    n = round(seconds / 0.5)
    places = np.vstack([cruise(0.0, 20.0, 4.0, 0.5), stand((20.0, LANE_Y, 0.0), seconds, 0.5)])
    speeds = np.concatenate([np.full(len(places) - n, 4.0), np.full(n, speed)])
    scene = scene_of(folder, places, speed_mps=speeds, step_s=0.5, **more)
    return find_blocked(scene, rules)


@pytest.mark.parametrize(("seconds", "found"), [(180.0, False), (180.5, True)])
def test_standing_for_three_minutes(tmp_path, seconds, found):
    event = standing(tmp_path, seconds)
    assert (event is not None) == found
    if event:
        assert event.message == "Agent got blocked at (x=20.0, y=1.75, z=0.0)"


def test_bench2drive_waits_a_minute(tmp_path):
    assert standing(tmp_path / "a", 60.0, B2D) is None
    assert standing(tmp_path / "b", 60.5, B2D) is not None


def test_creeping_is_not_standing(tmp_path):
    assert standing(tmp_path, 300.0, speed=0.1001) is None


def test_obstacle_scenarios_rest_the_test(tmp_path):
    life = [
        {"tick": 5, "kind": "scenario_start", "name": "s", "detail": {"type": "ParkedObstacle"}},
        {"tick": 410, "kind": "scenario_end", "name": "s"},
    ]
    assert standing(tmp_path / "a", 300.0, events=life) is None
    again = standing(tmp_path / "b", 400.0, events=life)
    assert again is not None
    assert again.row == 410 + 361  # the time starts anew when the test wakes up


def test_people_crossing_do_not_rest_the_test(tmp_path):
    life = [
        {"tick": 5, "kind": "scenario_start", "name": "s", "detail": {"type": "HardBreakRoute"}}
    ]
    assert standing(tmp_path, 181.0, events=life) is not None


# Completion ------------------------------------------------------------------------------------


def test_completion_counts_passed_points(tmp_path):
    scene = scene_of(tmp_path, cruise(0.0, 50.55, 8.0))
    found = find_completion(scene.route, scene.track)
    assert found.percent[-1] == 50.0
    assert found.done_row is None


@pytest.mark.parametrize(("last_x", "done"), [(99.9, False), (100.5, True)])
def test_the_end_is_reached_beyond_99_percent(tmp_path, last_x, done):
    scene = scene_of(tmp_path, np.vstack([cruise(0.0, last_x, 8.0), [[last_x, LANE_Y, 0.0]]]))
    found = find_completion(scene.route, scene.track)
    assert (found.done_row is not None) == done
    assert found.at(len(scene.track) - 1) == (100.0 if done else 99.0)


@pytest.mark.parametrize(("y", "done"), [(9.9, True), (10.1, False)])
def test_the_end_is_reached_within_ten_metres(tmp_path, y, done):
    places = cruise(0.0, 100.6, 8.0)
    places[-3:, 1] = LANE_Y + y
    places[:-3, 0] = np.minimum(places[:-3, 0], 98.5)
    places[-3:, 0] = 100.0 + 1e-3
    scene = scene_of(tmp_path, places)
    assert (find_completion(scene.route, scene.track).done_row is not None) == done


def test_a_jump_over_the_window_is_not_followed(tmp_path):
    places = np.vstack([cruise(0.0, 20.2, 8.0), [[60.0, LANE_Y, 0.0]]])
    scene = scene_of(tmp_path, places)
    assert find_completion(scene.route, scene.track).percent[-1] == 21.0  # 19 and two more


# Minimum speed ---------------------------------------------------------------------------------


def slow_sections(folder, ego_mps, traffic_mps, rules=LB2, **more):
    places = cruise(0.0, 100.6, ego_mps)
    scene = scene_of(folder, places, traffic_mps=traffic_mps, **more)
    return find_min_speed(scene.route, scene.track, rules)


def test_the_last_section_is_written_twice(tmp_path):
    found = slow_sections(tmp_path, 6.0, 8.0)
    assert [one.value for one in found] == [75.0] * 5
    assert found[0].message == "Average speed is 75.0% of the surrounding traffic's one"


def test_as_fast_as_the_traffic(tmp_path):
    assert not slow_sections(tmp_path / "a", 8.0, 8.0)
    assert len(slow_sections(tmp_path / "b", 8.0, 8.01)) == 5


def test_no_traffic_no_event(tmp_path):
    assert not slow_sections(tmp_path / "a", 1.0, None)
    assert not slow_sections(tmp_path / "b", 1.0, 0.0)


def test_bench2drive_writes_every_section(tmp_path):
    found = slow_sections(tmp_path, 10.0, 8.0, B2D)
    # A section ends beyond 5 m, on points 1 m apart after 6: 16 sections, and the last twice.
    assert len(found) == 18
    assert {one.value for one in found} == {125.0}
    assert found[-1] == found[-2]


def test_leaderboard_1_has_no_minimum_speed(tmp_path):
    assert not slow_sections(tmp_path, 1.0, 8.0, LB1)


@pytest.mark.parametrize(("last_x", "sections"), [(96.0, 3), (96.3, 5)])
def test_the_last_section_needs_95_percent(tmp_path, last_x, sections):
    scene = scene_of(tmp_path, cruise(0.0, last_x, 4.0), traffic_mps=8.0)
    assert len(find_min_speed(scene.route, scene.track, LB2)) == sections


def jammed(folder, *, noted, **more):
    """The traffic crawls from 10 s to 20 s; a scenario says that it made it crawl, or does not."""
    places = cruise(0.0, 100.6, 4.0)
    speed = np.full(len(places), 8.0)
    speed[200:400] = 1.0 / 3.6
    events = [
        {
            "tick": tick,
            "kind": "note",
            "name": "Wall",
            "detail": {"what": "caps the traffic", "cap_mps": cap},
        }
        for tick, cap in ((200, 0.278), (400, None))
    ]
    return write_drive(folder, places, traffic_mps=speed, events=events if noted else [], **more)


def test_traffic_that_a_scenario_slows_down_is_no_measure(tmp_path):
    scene = read_scene(jammed(tmp_path / "a", noted=True), free_traffic=True)
    assert {one.value for one in find_min_speed(scene.route, scene.track, LB2)} == {50.0}
    for name, noted, free in (("b", True, False), ("c", False, True)):
        scene = read_scene(jammed(tmp_path / name, noted=noted), free_traffic=free)
        found = [one.value for one in find_min_speed(scene.route, scene.track, LB2)]
        assert len(found) < 5  # it looked fast enough where the traffic crawled


def test_a_walled_off_road_does_not_raise_the_score(tmp_path):
    free = score_public(jammed(tmp_path / "free", noted=True), "fail2drive")
    assert free.metrics["driving_score"] == pytest.approx(100.0 * 0.85**4, abs=1e-3)
    assert free.metrics["driving_score_no_min_speed"] == 100.0
    held = score_public(jammed(tmp_path / "held", noted=False), "fail2drive")
    assert held.metrics["driving_score"] > free.metrics["driving_score"]
    # The Traffic Manager's cars do not obey our caps, and Bench2Drive compares with all traffic.
    other = jammed(tmp_path / "other", noted=True, parameters={"traffic": "traffic-manager"})
    assert score_public(other, "fail2drive").metrics == held.metrics
    assert "driving_score_no_min_speed" not in score_public(other, "bench2drive").metrics


def test_a_cap_above_the_limit_leaves_no_car_out(tmp_path):
    note = {
        "tick": 0,
        "kind": "note",
        "name": "Site",
        "detail": {"what": "caps the traffic", "cap_mps": 16.667},
    }
    drive = write_drive(tmp_path, cruise(0.0, 100.6, 6.0), traffic_mps=8.0, events=[note])
    assert not slowed_by_scenarios(drive).height


def test_a_lead_car_braked_by_a_scenario_is_left_out_of_the_traffic_speed(tmp_path):
    speed = np.full(336, 8.0)
    speed[100:200] = 0.0
    speed[200:240] = np.linspace(0.0, 8.0, 40)
    events = [
        {"tick": tick, "kind": "note", "name": "HardBrake", "detail": {"what": what, "actor": 1001}}
        for tick, what in ((100, "brakes"), (200, "drives on"))
    ]
    drive = write_drive(tmp_path, cruise(0.0, 100.6, 6.0), traffic_mps=speed, events=events)
    found = slowed_by_scenarios(drive)
    assert set(found["actor"]) == {1}
    # Until it is nearly as fast as before; the tick that brakes is still at 0 m/s here.
    assert (found["tick"].min(), found["tick"].max()) == (100, 200)


def test_cars_queued_behind_a_scenario_are_left_out_of_the_traffic_speed(tmp_path):
    places = cruise(0.0, 100.6, 6.0)

    def parked(x, y, **row):
        return {"places": np.tile([x, y, 0.0], (len(places), 1)), "row": row}

    car = {"role_name": "background"}
    long = 2.0 * HALF_LENGTH_M
    others = [
        parked(60.0, 200.0, kind="prop"),
        parked(60.0 - long - 2.0, 200.0, **car),  # stands before the obstacle
        parked(60.0 - 2.0 * (long + 2.0), 200.0, **car),  # and behind that one
        parked(60.0 - long - 2.0, 230.0, **car),  # stands elsewhere, for its own reasons
    ]
    drive = write_drive(tmp_path, places, traffic_mps=8.0, others=others)
    assert set(slowed_by_scenarios(drive)["actor"]) == {11, 12}
    scene = read_scene(drive, free_traffic=True)
    assert scene.track.traffic_mps == pytest.approx(np.full(len(places), 4.0))
    assert read_scene(drive).track.traffic_mps == pytest.approx(np.full(len(places), 2.0))


# Time-outs -------------------------------------------------------------------------------------


def waits(folder, seconds, rules, limit_kmh=36.0, driven=19.0):
    places = np.vstack([cruise(0.0, driven, 2.0, 0.5), stand((driven, LANE_Y, 0.0), seconds, 0.5)])
    scene = scene_of(folder, places, step_s=0.5, limit_kmh=limit_kmh)
    return find_route_timeout(scene.route, scene.track, rules), scene.track


def test_the_time_grows_with_the_way(tmp_path):
    # 18 points passed at a limit of 10 m/s: 300 + 18 / (0.1 * 10) = 318 s.
    event, track = waits(tmp_path / "a", 330.0, LB2)
    assert event is not None
    assert track.time_s[event.row] == 318.5
    assert event.message == "Route timeout."
    assert waits(tmp_path / "b", 300.0, LB2)[0] is None


def test_fail2drive_raises_limits_to_its_steps(tmp_path):
    event, track = waits(tmp_path, 330.0, F2D)  # 36 becomes 50 km/h
    assert event is not None
    assert track.time_s[event.row] == 313.0


def test_leaderboard_1_has_a_fixed_time(tmp_path):
    event, track = waits(tmp_path, 330.0, LB1)
    assert event is not None
    assert track.time_s[event.row] == 85.5  # int(0.8 * 100 + 5) = 85 s are allowed


def scenario(kind, end="scenario_end", last=80):
    return {
        "events": [
            {"tick": 10, "kind": "scenario_start", "name": "s"},
            {"tick": last, "kind": end, "name": "s"},
        ],
        "scenarios": [{"name": "s", "type": kind}],
    }


def test_scenario_timeouts_come_from_events(tmp_path):
    late = scene_of(tmp_path / "a", cruise(0, 90, 8.0), **scenario("Accident", "scenario_timeout"))
    (found,) = find_scenario_timeouts(late, F2D)
    assert found.row == 80
    assert found.message == "Agent timed out a scenario at (x=32.0, y=1.75, z=0.0)"
    assert find_scenario_timeouts(late, LB2)[0].message == "Agent timed out a scenario"
    assert not find_scenario_timeouts(late, LB1)
    fine = scene_of(tmp_path / "b", cruise(0, 90, 8.0), **scenario("Accident"))
    assert not find_scenario_timeouts(fine, LB2)
    assert not find_scenario_timeouts(late.until(79), LB2)


def test_the_stop_sign_scenario_times_out_for_free(tmp_path):
    """Its public class has the time-out and no criterion that reads it."""
    late = scenario("ObscuredStopSign", "scenario_timeout")
    assert not find_scenario_timeouts(scene_of(tmp_path, cruise(0, 90, 8.0), **late), F2D)


# Yielding --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("ahead_m", "failed"), [(-0.1, True), (0.1, False)])
def test_the_emergency_vehicle_must_be_past_the_ego(tmp_path, ahead_m, failed):
    places = cruise(0.0, 90.0, 8.0)
    siren = {
        "type_id": "vehicle.ford.ambulance",
        "attributes": {"special_type": "emergency"},
        "places": places + np.array([ahead_m, 3.5, 0.0]),
    }
    scene = scene_of(tmp_path, places, others=[siren], **scenario("YieldToEmergencyVehicle"))
    found = find_not_yielded(scene, F2D)
    assert len(found) == failed
    if failed:
        assert found[0].key == "yield_emergency_vehicle_infractions"
        assert found[0].message.startswith(
            "Agent failed to yield to an emergency vehicle at (x=32.0"
        )


def test_other_vehicles_need_not_be_let_past(tmp_path):
    places = cruise(0.0, 90.0, 8.0)
    car = {"places": places - np.array([5.0, 0.0, 0.0])}
    scene = scene_of(tmp_path, places, others=[car], **scenario("YieldToEmergencyVehicle"))
    assert not find_not_yielded(scene, LB2)


# What the record of a watched evaluator shows ---------------------------------------------------


def test_scoring_begins_when_the_evaluator_hangs_its_collision_sensor(tmp_path):
    sensor = {
        "kind": "sensor",
        "parent": 0,
        "first_tick": 13,
        "last_tick": 90,
        "role_name": "front",
    }
    own = sensor | {"first_tick": 2, "last_tick": 99, "role_name": "jaywalk-recorder"}
    others = [{"type_id": "sensor.other.collision", "row": row} for row in (own, sensor)]
    places = cruise(0.0, 40.0, 8.0)
    assert not read_scene(write_drive(tmp_path / "ours", places, others=others)).is_watched
    scene = read_scene(write_drive(tmp_path / "theirs", places, others=others, suite=""))
    assert scene.is_watched
    assert (scene.track.tick[0], scene.track.tick[-1]) == (12, 90)


def test_lives_of_scenarios_are_seen_by_their_trigger_and_their_actors(tmp_path):
    sensor = {"kind": "sensor", "parent": 0, "first_tick": 1, "last_tick": 99, "role_name": "front"}
    others = [
        {"type_id": "sensor.other.collision", "row": sensor},
        {"type_id": "static.prop.warningaccident", "row": {"kind": "prop", "last_tick": 80}},
    ]
    trigger = {"tag": "trigger_point", "x": "10.0", "y": "1.75", "z": "0.0", "yaw": "0.0"}
    scenarios = [{"name": "a", "type": "Accident", "parameters": [trigger]}]
    places = cruise(0.0, 40.0, 8.0)
    scene = scene_of(tmp_path, places, others=others, scenarios=scenarios, suite="")
    (span,) = scene.spans
    # The nearest route point is within 2 m of the trigger from point 9 on.
    assert 7.5 < places[span.first_tick, 0] < 9.0
    assert (span.type, span.last_tick, span.timed_out) == ("Accident", 80, False)


def test_a_record_without_an_ego_is_refused(tmp_path):
    with pytest.raises(DataError, match="no ego"):
        read_scene(write_drive(tmp_path, cruise(0.0, 4.0, 8.0), ego_actor=None))
