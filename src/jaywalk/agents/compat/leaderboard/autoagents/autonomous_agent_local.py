"""The base class of agents of the local evaluator (PDM-Lite, data collection)."""

from __future__ import annotations

from typing import Any

from leaderboard.autoagents.autonomous_agent import (  # type: ignore[import-not-found]
    AutonomousAgent as _AutonomousAgent,
)
from leaderboard.autoagents.autonomous_agent import Track

__all__ = ["AutonomousAgent", "Track"]


class AutonomousAgent(_AutonomousAgent):  # type: ignore[misc]
    """As the usual one, but made with its config and route, and given the dense plan too."""

    def __init__(self, path_to_conf_file: str, route_index: Any = None) -> None:
        super().__init__("", 0)

    def set_global_plan(
        self, global_plan_gps: list[Any], global_plan_world_coord: list[Any]
    ) -> None:
        """Take the route, dense and thinned."""
        self.org_dense_route_gps = global_plan_gps
        self.org_dense_route_world_coord = global_plan_world_coord
        super().set_global_plan(global_plan_gps, global_plan_world_coord)
