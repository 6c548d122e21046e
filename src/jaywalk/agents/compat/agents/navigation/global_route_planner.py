"""Routes on the lanes of a map."""

from __future__ import annotations

from typing import Any

from agents.navigation.local_planner import RoadOption  # type: ignore[import-not-found]
from jaywalk.town.routes import RoutePlanner


class GlobalRoutePlanner:
    """Plans from place to place."""

    def __init__(self, wmap: Any, sampling_resolution: float) -> None:
        self._planner = RoutePlanner(wmap, sampling_resolution)

    def trace_route(self, origin: Any, destination: Any) -> list[tuple[Any, Any]]:
        """Waypoints with road options from one location to another."""
        ends = [(float(one.x), float(one.y), float(one.z)) for one in (origin, destination)]
        found = self._planner.trace(ends[0], ends[1])
        return [(waypoint, RoadOption(int(option))) for waypoint, option in found]
