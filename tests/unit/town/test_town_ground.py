from __future__ import annotations

import math

import numpy as np
import pytest
from real_data import where_data_lies

from jaywalk.town.ground import flat_ground, slope, surface_height
from jaywalk.town.waypoints import CLEARANCE_M


def test_street_climbs_as_written(street):
    for x in (10.0, 33.3, 80.0):
        assert surface_height(street.ground, x, 1.0, 0.0) == pytest.approx(0.05 * x, abs=0.01)
    pitch, roll = slope(street.ground, 50.0, 1.75, 2.5, 0.0)
    assert pitch == pytest.approx(math.atan(0.05), abs=2e-3)
    assert roll == pytest.approx(0.0, abs=2e-3)
    pitch, roll = slope(street.ground, 50.0, 1.75, 2.5, math.pi / 2)
    assert pitch == pytest.approx(0.0, abs=2e-3)
    assert roll == pytest.approx(math.atan(0.05), abs=2e-3)  # right of +y is -x, downhill


def test_beside_the_road_the_ground_goes_on(street):
    assert surface_height(street.ground, 60.0, 25.0, 0.0) == pytest.approx(3.0, abs=0.4)
    assert surface_height(street.ground, 1e5, 0.0, 0.0) == street.ground.base_m
    assert surface_height(flat_ground(4.0), 1.0, 1.0, 0.0) == 4.0


def test_spawn_points_of_the_street(street):
    assert street.spawn_points
    for pose in street.spawn_points:
        height = surface_height(street.ground, pose.x, pose.y, pose.z)
        assert pose.z - height == pytest.approx(CLEARANCE_M, abs=0.1)
        assert not 50.0 < pose.x < 70.0  # clear of the crosswalk


@pytest.mark.parametrize("name", ["Ridge", *where_data_lies("Town04", "Town07")])
def test_ground_agrees_with_waypoints_also_under_bridges(carla_town, name):
    town = carla_town(name)
    errors = []
    for waypoint in town.carla_map.generate_waypoints(9.7):
        place = waypoint.transform.location
        errors.append(surface_height(town.ground, place.x, place.y, place.z + 0.3) - place.z)
    assert np.percentile(np.abs(errors), 99) < 0.06
    assert np.abs(errors).max() < 0.5
    if name == "Town04":
        assert (np.diff(town.ground.starts) > 1).sum() > 100


@pytest.mark.parametrize(
    "name", ["Harbour", *where_data_lies("Town01", "Town04", "Town07", "Town10HD")]
)
def test_spawn_points_stand_on_driving_lanes(carla_town, name):
    import carla

    town = carla_town(name)
    assert 80 <= len(town.spawn_points) <= 400
    for pose in town.spawn_points:
        waypoint = town.carla_map.get_waypoint(carla.Location(pose.x, pose.y, pose.z))
        place = waypoint.transform.location
        yaw = math.radians(pose.yaw)  # CARLA's projection slips along the lane, not across
        across = (place.y - pose.y) * math.cos(yaw) - (place.x - pose.x) * math.sin(yaw)
        assert abs(across) < 0.1
        assert abs(math.remainder(waypoint.transform.rotation.yaw - pose.yaw, 360)) < 4.0
        assert not waypoint.is_junction
