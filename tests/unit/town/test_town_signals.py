from __future__ import annotations

import math

import numpy as np
import pytest
from real_data import where_data_lies

from jaywalk.geometry.rotation import rotation_matrix_carla
from jaywalk.town.limits import speed_limit_at


def test_light_of_the_street(street):
    (light,) = street.lights
    assert light.signal_id == "77"
    assert (light.pose.x, light.pose.y) == pytest.approx((90.0, 6.0))
    assert light.pose.z == pytest.approx(4.5 + 4.0)
    assert light.pose.yaw == pytest.approx(90.0, abs=1e-3)
    assert light.stops.shape == (1, 7)
    assert light.stops[0, :2].tolist() == pytest.approx([87.0, 1.75], abs=1e-3)
    assert light.stops[0, 4:].tolist() == pytest.approx([1.5, 0.875, 1.0])
    assert (light.group, light.stage, light.junction_id) == (0, 0, -1)


def test_trigger_volume_covers_the_stop_boxes(street):
    (light,) = street.lights
    turn = rotation_matrix_carla(0.0, light.pose.yaw, 0.0)
    centre = turn @ np.array(light.trigger.centre_m) + np.array(light.pose[:3])
    assert centre.tolist() == pytest.approx(light.stops[0, :3].tolist(), abs=1e-3)
    assert light.trigger.half_m == pytest.approx((0.875, 1.5, 1.0), abs=1e-3)  # x runs across


def test_signs_of_the_street(street):
    stop, limit = street.signs
    assert (stop.type_id, limit.type_id) == ("traffic.stop", "traffic.speed_limit.50")
    # No validity: '+' faces the positive lane, which drives against the road: 3 m back is +x.
    assert stop.stops[0, :2].tolist() == pytest.approx([23.0, -1.75], abs=1e-3)
    assert math.cos(stop.stops[0, 3]) == pytest.approx(-1.0, abs=1e-5)


def test_speed_limits_of_the_street(street):
    assert street.speed_limit_kmh(40.0, 1.75, 2.0, 0.0) == pytest.approx(30 * 1.609344)
    assert street.speed_limit_kmh(100.0, 1.75, 5.0, 0.0) == pytest.approx(36.0)
    assert math.isnan(street.speed_limit_kmh(140.0, 0.0, 6.0, 0.0))  # the second road says nothing
    assert math.isnan(street.speed_limit_kmh(40.0, 1.75, 40.0, 0.0))  # far above
    assert math.isnan(speed_limit_at(street.limits, 40.0, 60.0, 2.0, 0.0))


@pytest.mark.parametrize(
    ("name", "lights", "stops", "yields"),
    [
        ("Harbour", 112, 0, 0),
        *where_data_lies(
            ("Town01", 36, 0, 0),
            ("Town04", 43, 9, 0),
            ("Town06", 19, 0, 0),
            ("Town07", 17, 19, 20),
            ("Town10HD", 17, 3, 1),
        ),
    ],
)
def test_lights_find_their_own_landmark(carla_town, name, lights, stops, yields):
    import carla

    town = carla_town(name)
    assert len(town.lights) == lights
    kinds = [sign.type_id for sign in town.signs]
    assert (kinds.count("traffic.stop"), kinds.count("traffic.yield")) == (stops, yields)
    for light in town.lights:
        assert len(light.stops) >= 1
        for x, y, z, *_ in light.stops:
            waypoint = town.carla_map.get_waypoint(carla.Location(x, y, z))
            marks = waypoint.get_landmarks_of_type(40.0, "1000001", False)
            assert light.signal_id in {mark.id for mark in marks}


@pytest.mark.parametrize("name", ["Harbour", *where_data_lies("Town10HD")])
def test_stop_waypoints_walk_across_the_lanes(carla_town, name):
    """The client walks local x over 0.9 of the extent and must meet each controlled lane."""
    import carla

    town = carla_town(name)
    for light in town.lights:
        turn = rotation_matrix_carla(0.0, light.pose.yaw, 0.0)
        met = set()
        for x in np.arange(-0.9, 0.91, 0.05) * light.trigger.half_m[0]:
            local = np.add(light.trigger.centre_m, (x, 0.0, 0.0))
            at = turn @ local + np.array(light.pose[:3])
            waypoint = town.carla_map.get_waypoint(carla.Location(*at))
            met.add((waypoint.road_id, waypoint.lane_id))
        assert met


@pytest.mark.parametrize("name", ["Harbour", *where_data_lies("Town01", "Town07", "Town10HD")])
def test_stages_have_no_doubles(carla_town, name):
    ids = [light.signal_id for light in carla_town(name).lights]
    assert len(ids) == len(set(ids)) > 0
    groups: dict[int, set[int]] = {}
    for light in carla_town(name).lights:
        groups.setdefault(light.group, set()).add(light.stage)
    assert all(stages == set(range(len(stages))) for stages in groups.values())
