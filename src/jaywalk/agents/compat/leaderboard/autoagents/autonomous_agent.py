"""The base class of Leaderboard agents."""

from __future__ import annotations

import os
from enum import Enum
from typing import Any

import carla
from srunner.scenariomanager.carla_data_provider import (  # type: ignore[import-not-found]
    CarlaDataProvider,
)

from leaderboard.envs.sensor_interface import SensorInterface  # type: ignore[import-not-found]
from leaderboard.utils.route_manipulation import (  # type: ignore[import-not-found]
    downsample_route,
)

_SPACING_M = 200.0
_BENCH2DRIVE_SPACING_M = 50.0


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
        self.sensor_interface = SensorInterface()
        self.wallclock_t0 = None
        self.get_hero()

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
        """Take the route, thinned; to 50 m where Bench2Drive's scripts say it is they who ask."""
        bench2drive = os.environ.get("IS_BENCH2DRIVE", "").lower() in ("1", "true")
        spacing_m = _BENCH2DRIVE_SPACING_M if bench2drive else _SPACING_M
        kept = downsample_route(global_plan_world_coord, spacing_m)
        self._global_plan = [global_plan_gps[k] for k in kept]
        self._global_plan_world_coord = [global_plan_world_coord[k] for k in kept]
        self._plan_gps_HACK = global_plan_gps  # Bench2Drive's name for the dense plan

    def get_hero(self) -> None:
        """Find the ego, for Bench2Drive's agents."""
        self.hero_actor = CarlaDataProvider.get_hero_actor()

    def get_metric_info(self) -> dict[str, list[float]]:
        """The ego's motion, as Bench2Drive's agents write it down."""
        pose = self.hero_actor.get_transform()
        turn = pose.rotation
        vectors = {
            "acceleration": self.hero_actor.get_acceleration(),
            "angular_velocity": self.hero_actor.get_angular_velocity(),
            "forward_vector": pose.get_forward_vector(),
            "right_vector": pose.get_right_vector(),
            "location": pose.location,
        }
        told = {name: [one.x, one.y, one.z] for name, one in vectors.items()}
        return {**told, "rotation": [turn.roll, turn.pitch, turn.yaw]}
