"""A plain driver: follows a plan, stops for red lights and for vehicles in its way."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

import carla

from agents.navigation.global_route_planner import (  # type: ignore[import-not-found]
    GlobalRoutePlanner,
)
from agents.navigation.local_planner import LocalPlanner  # type: ignore[import-not-found]
from agents.tools.misc import (  # type: ignore[import-not-found]
    get_speed,
    get_trafficlight_trigger_location,
    is_within_distance,
)

_AHEAD_DEG: Final = (0.0, 90.0)


class BasicAgent:
    """Drives one vehicle at a speed in km/h."""

    def __init__(
        self,
        vehicle: Any,
        target_speed: float = 20.0,
        opt_dict: Mapping[str, Any] | None = None,
        map_inst: Any = None,
        grp_inst: Any = None,
    ) -> None:
        options = {**(opt_dict or {}), "target_speed": target_speed}
        self._vehicle = vehicle
        self._world = vehicle.get_world()
        self._map = map_inst or self._world.get_map()
        self._ignore_traffic_lights = bool(options.get("ignore_traffic_lights", False))
        self._ignore_stop_signs = bool(options.get("ignore_stop_signs", False))
        self._ignore_vehicles = bool(options.get("ignore_vehicles", False))
        self._light_m = float(options.get("base_tlight_threshold", 5.0))
        self._vehicle_m = float(options.get("base_vehicle_threshold", 5.0))
        self._max_brake = float(options.get("max_brake", 0.5))
        self._local_planner = LocalPlanner(vehicle, options, self._map)
        spacing_m = float(options.get("sampling_resolution", 2.0))
        self._global_planner = grp_inst or GlobalRoutePlanner(self._map, spacing_m)
        lights = self._world.get_actors().filter("*traffic_light*")
        self._lights = sorted(lights, key=lambda one: one.id)
        self._light_waypoints: dict[int, Any] = {}

    def add_emergency_stop(self, control: Any) -> Any:
        """The control with the brake on, steering as before."""
        control.throttle, control.brake, control.hand_brake = 0.0, self._max_brake, False
        return control

    def set_target_speed(self, speed: float) -> None:
        """Drive at so many km/h."""
        self._local_planner.set_speed(speed)

    def follow_speed_limits(self, value: bool = True) -> None:
        """Drive at the limit instead."""
        self._local_planner.follow_speed_limits(value)

    def get_local_planner(self) -> Any:
        """What follows the waypoints."""
        return self._local_planner

    def get_global_planner(self) -> Any:
        """What plans them."""
        return self._global_planner

    def set_destination(
        self, end_location: Any, start_location: Any = None, clean_queue: bool = True
    ) -> None:
        """Plan to a place, from here or from another place."""
        start = start_location or self._vehicle.get_location()
        ends = [self._map.get_waypoint(one) for one in (start, end_location)]
        self.set_global_plan(self.trace_route(*ends), clean_queue=clean_queue)

    def set_global_plan(
        self,
        plan: Iterable[tuple[Any, Any]],
        stop_waypoint_creation: bool = True,
        clean_queue: bool = True,
    ) -> None:
        """Take waypoints with options, in order."""
        self._local_planner.set_global_plan(plan, stop_waypoint_creation, clean_queue)

    def trace_route(self, start_waypoint: Any, end_waypoint: Any) -> list[tuple[Any, Any]]:
        """Waypoints with options from one waypoint to another."""
        start, end = start_waypoint.transform.location, end_waypoint.transform.location
        found: list[tuple[Any, Any]] = self._global_planner.trace_route(start, end)
        return found

    def run_step(self) -> Any:
        """Control for the next tick."""
        speed_mps = get_speed(self._vehicle) / 3.6
        control = self._local_planner.run_step()
        hindered = (
            not self._ignore_vehicles and self._is_vehicle_ahead(self._vehicle_m + speed_mps)
        ) or (not self._ignore_traffic_lights and self._is_red_ahead(self._light_m + speed_mps))
        return self.add_emergency_stop(control) if hindered else control

    def done(self) -> bool:
        """Whether the plan is driven."""
        return bool(self._local_planner.done())

    def ignore_traffic_lights(self, active: bool = True) -> None:
        """Drive on at red."""
        self._ignore_traffic_lights = active

    def ignore_stop_signs(self, active: bool = True) -> None:
        """Kept for its name: stop signs are never heeded."""
        self._ignore_stop_signs = active

    def ignore_vehicles(self, active: bool = True) -> None:
        """Drive on behind vehicles."""
        self._ignore_vehicles = active

    def set_offset(self, offset: float) -> None:
        """Drive so far right of the waypoints."""
        self._local_planner.set_offset(offset)

    def _is_red_ahead(self, within_m: float) -> bool:
        here = self._vehicle.get_transform()
        lane = self._map.get_waypoint(here.location)
        for light in self._lights:
            if light.state != carla.TrafficLightState.Red:
                continue
            if light.id not in self._light_waypoints:
                place = get_trafficlight_trigger_location(light)
                self._light_waypoints[light.id] = self._map.get_waypoint(place)
            stop = self._light_waypoints[light.id]
            same = (stop.road_id, stop.lane_id) == (lane.road_id, lane.lane_id)
            if same and is_within_distance(stop.transform, here, within_m, _AHEAD_DEG):
                return True
        return False

    def _is_vehicle_ahead(self, within_m: float) -> bool:
        here = self._vehicle.get_transform()
        front = _moved(here, float(self._vehicle.bounding_box.extent.x))
        ours = {
            _lane(self._map.get_waypoint(here.location)),
            _lane(self._local_planner.get_incoming_waypoint_and_direction()[0]),
        }
        for other in self._world.get_actors().filter("*vehicle*"):
            if other.id == self._vehicle.id:
                continue
            there = other.get_transform()
            if there.location.distance(here.location) > within_m + 10.0:
                continue
            rear = _moved(there, -float(other.bounding_box.extent.x))
            lane = _lane(self._map.get_waypoint(there.location, lane_type=carla.LaneType.Any))
            if lane in ours and is_within_distance(rear, front, within_m, _AHEAD_DEG):
                return True
        return False


def _moved(pose: Any, ahead_m: float) -> Any:
    way = pose.get_forward_vector()
    place = pose.location + carla.Location(way.x * ahead_m, way.y * ahead_m, way.z * ahead_m)
    return carla.Transform(place, pose.rotation)


def _lane(waypoint: Any) -> tuple[int, int] | None:
    return None if waypoint is None else (waypoint.road_id, waypoint.lane_id)
