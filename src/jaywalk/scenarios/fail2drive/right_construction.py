"""RightConstruction: a site beside the ego's lane, on its right. No reaction is due."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.scenarios.base import Moment, Parameters, Scenario
from jaywalk.scenarios.obstacle_layouts import Piece, Spot, site
from jaywalk.scenarios.obstacle_on_lane import OnLane
from jaywalk.scenarios.parameter_fields import ahead, ignored, side, within
from jaywalk.scenarios.placing import DROP_M

_GAP_M, _UP_M, _WIDTH_SHARE = 0.1, 0.1, 0.9
_BEHIND_M, _AFTER_M = 120.0, 30.0
_NO_CAP: Final = 300.0  # km/h


@dataclass(frozen=True, slots=True, kw_only=True)
class RightConstructionParameters(Parameters):
    """ConstructionObstacleRightLane."""

    distance: float = ahead(100.0)
    y_offset: float = within(0.0, -5.0, 5.0)  # m farther to the right
    direction: str = side()
    speed: float = _NO_CAP
    frequency: str = ignored()


def site_on_the_right(scenario: Scenario, spot: Spot) -> list[Piece]:
    """The site, a lane's width to the right."""
    aside_m = spot.lane_width_m + _GAP_M + float(scenario.parameters.y_offset)

    def place(
        ahead_m: float, right_m: float = 0.0, up_m: float = DROP_M, turn_deg: float = 0.0
    ) -> Any:
        return spot.place(ahead_m, right_m + aside_m, up_m, turn_deg)

    beside = replace(spot, place=place,
                     lane_width_m=_WIDTH_SHARE * spot.lane_width_m)  # fmt: skip
    return site(beside, up_m=_UP_M)


@dataclass(slots=True, kw_only=True)
class RightConstruction(OnLane):
    """Everybody else keeps off that lane."""

    parameters_type: ClassVar[type[Parameters]] = RightConstructionParameters
    layout = staticmethod(site_on_the_right)

    def react(self, moment: Moment) -> None:
        """Nobody has to."""

    def closed(self) -> list[NDArray[np.float64]]:
        """The ego's lane and the one on its right."""
        way = self.stretch(self.at_m - _BEHIND_M, self.at_m + _AFTER_M)
        width_m = self.spot().lane_width_m
        beside = way.copy()
        beside[:, 0] -= width_m * np.sin(way[:, 3])
        beside[:, 1] += width_m * np.cos(way[:, 3])
        return [way, beside]
