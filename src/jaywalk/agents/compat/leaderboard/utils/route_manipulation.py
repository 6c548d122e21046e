"""Which points of a dense route an agent gets."""

from __future__ import annotations

from typing import Any

from agents.navigation.local_planner import RoadOption  # type: ignore[import-not-found]

_CHANGES = (RoadOption.CHANGELANELEFT, RoadOption.CHANGELANERIGHT)


def downsample_route(route: list[tuple[Any, Any]], sample_factor: float) -> list[int]:
    """Indices of the points that are kept.

    The first, every lane-change point, points where the option changes (unless a lane change came
    before), a point whenever ``sample_factor`` metres have passed, and the last.
    """
    kept: list[int] = []
    before = None
    passed_m = 0.0
    for index, (pose, option) in enumerate(route):
        changed = before is not option and before not in _CHANGES
        last = index == len(route) - 1
        if option in _CHANGES or changed or passed_m > sample_factor or last:
            kept.append(index)
            passed_m = 0.0
        elif index > 0:
            passed_m += pose.location.distance(route[index - 1][0].location)
        before = option
    return kept
