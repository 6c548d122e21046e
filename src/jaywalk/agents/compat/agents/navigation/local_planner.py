"""Road options as CARLA's navigation agents number them, and a follower of waypoints."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from enum import IntEnum
from typing import Any, Final

import carla

from agents.tools.misc import get_speed  # type: ignore[import-not-found]

_LATERAL: Final = {"K_P": 1.95, "K_I": 0.05, "K_D": 0.2, "dt": 0.05}
_LONGITUDINAL: Final = {"K_P": 1.0, "K_I": 0.05, "K_D": 0.0, "dt": 0.05}
_KNOWN_AHEAD: Final = 100  # waypoints kept when driving without a plan


class RoadOption(IntEnum):
    """What to do at a point of the route."""

    VOID = -1
    LEFT = 1
    RIGHT = 2
    STRAIGHT = 3
    LANEFOLLOW = 4
    CHANGELANELEFT = 5
    CHANGELANERIGHT = 6


class LocalPlanner:
    """Follows waypoints; without a plan it goes on along its lane."""

    def __init__(
        self, vehicle: Any, opt_dict: Mapping[str, Any] | None = None, map_inst: Any = None
    ) -> None:
        # Here, for the controller's module imports nothing of this one.
        from agents.navigation.controller import (  # type: ignore[import-not-found]
            VehiclePIDController,
        )

        options = dict(opt_dict or {})
        self._vehicle = vehicle
        self._world = vehicle.get_world()
        self._map = map_inst or self._world.get_map()
        self._target_speed = float(options.get("target_speed", 20.0))
        self._sampling_radius = float(options.get("sampling_radius", 2.0))
        self._base_min_distance = float(options.get("base_min_distance", 3.0))
        self._distance_ratio = float(options.get("distance_ratio", 0.5))
        self._follow_speed_limits = bool(options.get("follow_speed_limits", False))
        self._stop_waypoint_creation = False
        self._vehicle_controller = VehiclePIDController(
            vehicle,
            args_lateral=options.get("lateral_control_dict", _LATERAL),
            args_longitudinal=options.get("longitudinal_control_dict", _LONGITUDINAL),
            offset=float(options.get("offset", 0.0)),
            max_throttle=float(options.get("max_throttle", 0.75)),
            max_brake=float(options.get("max_brake", 0.3)),
            max_steering=float(options.get("max_steering", 0.8)),
        )
        here = self._map.get_waypoint(vehicle.get_location())
        self._waypoints_queue: deque[tuple[Any, RoadOption]] = deque(
            [(here, RoadOption.LANEFOLLOW)]
        )
        self.target_waypoint, self.target_road_option = self._waypoints_queue[0]

    def reset_vehicle(self) -> None:
        """Let go of the vehicle."""
        self._vehicle = None

    def set_speed(self, speed: float) -> None:
        """Drive at so many km/h."""
        self._target_speed = speed

    def follow_speed_limits(self, value: bool = True) -> None:
        """Drive at the limit instead."""
        self._follow_speed_limits = value

    def set_offset(self, offset: float) -> None:
        """Drive so far right of the waypoints."""
        self._vehicle_controller.set_offset(offset)

    def set_global_plan(
        self,
        current_plan: Iterable[tuple[Any, Any]],
        stop_waypoint_creation: bool = True,
        clean_queue: bool = True,
    ) -> None:
        """Take waypoints with options, in order."""
        if clean_queue:
            self._waypoints_queue.clear()
        self._waypoints_queue.extend(current_plan)
        self._stop_waypoint_creation = stop_waypoint_creation

    def run_step(self, debug: bool = False) -> Any:
        """Control towards the next waypoint that is not passed yet; brakes at the end."""
        if self._follow_speed_limits:
            self._target_speed = self._vehicle.get_speed_limit()
        if not self._stop_waypoint_creation:
            self._look_ahead()
        near_m = self._base_min_distance + self._distance_ratio * get_speed(self._vehicle) / 3.6
        here = self._vehicle.get_location()
        queue = self._waypoints_queue
        while queue and here.distance(queue[0][0].transform.location) < (
            near_m if len(queue) > 1 else 1.0
        ):
            queue.popleft()
        if not queue:
            return carla.VehicleControl(brake=1.0)
        self.target_waypoint, self.target_road_option = queue[0]
        return self._vehicle_controller.run_step(self._target_speed, self.target_waypoint)

    def _look_ahead(self) -> None:
        """Go on along the lane; where lanes part, the first of them is taken."""
        while self._waypoints_queue and len(self._waypoints_queue) < _KNOWN_AHEAD:
            following = self._waypoints_queue[-1][0].next(self._sampling_radius)
            if not following:
                return
            self._waypoints_queue.append((following[0], RoadOption.LANEFOLLOW))

    def get_incoming_waypoint_and_direction(self, steps: int = 3) -> tuple[Any, RoadOption]:
        """The waypoint some steps ahead, with its option."""
        if len(self._waypoints_queue) > steps:
            return self._waypoints_queue[steps]
        return self._waypoints_queue[-1] if self._waypoints_queue else (None, RoadOption.VOID)

    def get_plan(self) -> deque[tuple[Any, RoadOption]]:
        """Rest of the plan."""
        return self._waypoints_queue

    def done(self) -> bool:
        """Whether the plan is driven."""
        return not self._waypoints_queue
