"""Background traffic for one route: near it, off the stage of its scenarios."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from jaywalk.scenarios.base import Scenario
from jaywalk.scenarios.traffic import Traffic
from jaywalk.town.routes import DenseRoute

_EGO_CLEAR_M: Final = 15.0  # no car appears so near to the ego
_REACH_M: Final = 120.0


def populate(
    traffic: Traffic, route: DenseRoute, scenarios: Sequence[Scenario], count: int
) -> list[int]:
    """Spawn background cars after the scenarios were set up; returns their ids.

    Lanes that a scenario needs for itself stay empty: background cars never change lanes, so one
    behind an obstacle would stand there for ever.
    """
    traffic.close(way for scenario in scenarios for way in scenario.closed())
    x_m, y_m = (float(value) for value in route.position_m[0, :2])
    return traffic.spawn(
        count, keep_clear_m=[(x_m, y_m, _EGO_CLEAR_M)], near_m=route.position_m[:, :2],
        reach_m=_REACH_M,
    )  # fmt: skip
