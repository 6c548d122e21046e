"""Small sums that agents share."""

from __future__ import annotations

import math
from typing import Any

import carla


def get_speed(vehicle: Any) -> float:
    """Speed in km/h."""
    return 3.6 * float(vehicle.get_velocity().length())


def compute_distance(location_1: Any, location_2: Any) -> float:
    """Distance of two places, never quite zero."""
    return float(location_1.distance(location_2)) + math.ulp(1.0)


def vector(location_1: Any, location_2: Any) -> list[float]:
    """Unit vector from one place to another."""
    way = location_2 - location_1
    length = way.length() + math.ulp(1.0)
    return [way.x / length, way.y / length, way.z / length]


def compute_magnitude_angle(
    target_location: Any, current_location: Any, orientation: float
) -> tuple[float, float]:
    """Distance, and angle in degrees between a heading and the way to a place."""
    dx, dy = target_location.x - current_location.x, target_location.y - current_location.y
    yaw = math.radians(orientation)
    ahead = dx * math.cos(yaw) + dy * math.sin(yaw)
    distance = math.hypot(dx, dy)
    if distance == 0.0:
        return 0.0, 0.0
    return distance, math.degrees(math.acos(max(-1.0, min(1.0, ahead / distance))))


def distance_vehicle(waypoint: Any, vehicle_transform: Any) -> float:
    """Distance in the plane from a vehicle to a waypoint."""
    there, here = waypoint.transform.location, vehicle_transform.location
    return math.hypot(there.x - here.x, there.y - here.y)


def is_within_distance(
    target_transform: Any,
    reference_transform: Any,
    max_distance: float,
    angle_interval: tuple[float, float] | None = None,
) -> bool:
    """Whether a pose is near another one and, if asked, seen from it between two angles (deg)."""
    there, here = target_transform.location, reference_transform.location
    distance, angle = compute_magnitude_angle(there, here, reference_transform.rotation.yaw)
    if distance < 0.001:
        return True
    if distance > max_distance:
        return False
    return angle_interval is None or angle_interval[0] < angle < angle_interval[1]


def get_trafficlight_trigger_location(traffic_light: Any) -> Any:
    """Middle of a light's trigger volume."""
    pose, box = traffic_light.get_transform(), traffic_light.trigger_volume
    middle = carla.Location(box.location.x, box.location.y, box.location.z)
    pose.transform(middle)  # in place: the wheel changes its argument
    return middle


def positive(num: float) -> float:
    """The number, or zero when it is negative."""
    return max(num, 0.0)
