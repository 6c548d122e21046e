"""The base class of Leaderboard agents."""

from __future__ import annotations

from enum import Enum
from typing import Any

import carla

from leaderboard.utils.route_manipulation import (  # type: ignore[import-not-found]
    downsample_route,
)

_SPACING_M = 200.0


class Track(Enum):
    """What sensors an agent may use."""

    SENSORS = "SENSORS"
    MAP = "MAP"
    SENSORS_QUALIFIER = "SENSORS_QUALIFIER"
    MAP_QUALIFIER = "MAP_QUALIFIER"


class AutonomousAgent:
    """What a user's agent derives from."""

    def __init__(self, carla_host: str, carla_port: int, debug: bool = False) -> None:
        self.track = Track.SENSORS
        self._global_plan: list[Any] | None = None
        self._global_plan_world_coord: list[Any] | None = None
        self.wallclock_t0 = None

    def setup(self, path_to_conf_file: str) -> None:
        """Get ready and set ``track``."""

    def sensors(self) -> list[dict[str, Any]]:
        """The sensors wanted."""
        return []

    def run_step(self, input_data: dict[str, Any], timestamp: float) -> Any:
        """One decision."""
        return carla.VehicleControl()

    def destroy(self) -> None:
        """Clean up."""

    @staticmethod
    def get_ros_version() -> int:
        """-1: no ROS agent."""
        return -1

    def set_global_plan(
        self, global_plan_gps: list[Any], global_plan_world_coord: list[Any]
    ) -> None:
        """Take the route, thinned."""
        kept = downsample_route(global_plan_world_coord, _SPACING_M)
        self._global_plan = [global_plan_gps[k] for k in kept]
        self._global_plan_world_coord = [global_plan_world_coord[k] for k in kept]
