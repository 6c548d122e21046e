"""ConstructionPermutations: a construction site of which cues are missing or replaced."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from jaywalk.core.errors import DataError
from jaywalk.scenarios.base import Parameters, Scenario
from jaywalk.scenarios.obstacle_layouts import (
    CONES,
    DEBRIS,
    WARNING,
    Piece,
    Spot,
    site,
)
from jaywalk.scenarios.obstacle_on_lane import OnLane
from jaywalk.scenarios.parameter_fields import ahead, interval, model, side, switches, within
from jaywalk.scenarios.public_obstacles import LbTwoWays

_SIGN = "static.prop.warningconstruction"


@dataclass(frozen=True, slots=True, kw_only=True)
class PermutedParameters(Parameters):
    """PermutedConstructionObstacle."""

    distance: float = ahead(100.0)
    direction: str = side()
    speed: float = within(60.0, 0.0)  # km/h
    warning_sign: str = model(WARNING, "static.prop.", "none")
    debris: str = model(DEBRIS, "static.prop.", "none")
    cones: str = switches("1" * CONES)  # four along the site, then three across its end


@dataclass(frozen=True, slots=True, kw_only=True)
class PermutedTwoWaysParameters(PermutedParameters):
    """PermutedConstructionObstacleTwoWays."""

    frequency: tuple[float, float] = interval(20.0, 100.0)


def permuted_site(scenario: Scenario, spot: Spot) -> list[Piece]:
    """What is left of the site."""
    given = scenario.parameters
    pieces = site(spot, warning=given.warning_sign, debris=given.debris, cones=given.cones)
    if not pieces:
        raise DataError(f"{scenario.spec.where}: warning_sign, debris and cones leave nothing.")
    return pieces


@dataclass(slots=True, kw_only=True)
class PermutedConstruction(OnLane):
    """On a road with another lane of the same direction."""

    parameters_type: ClassVar[type[Parameters]] = PermutedParameters
    draws_as: ClassVar[str] = "ConstructionObstacle"
    told_as: ClassVar[str] = "ConstructionObstacle"
    sign: ClassVar[str] = _SIGN
    layout = staticmethod(permuted_site)


@dataclass(slots=True, kw_only=True)
class PermutedConstructionTwoWays(LbTwoWays):
    """To be passed on the opposite lane."""

    parameters_type: ClassVar[type[Parameters]] = PermutedTwoWaysParameters
    draws_as: ClassVar[str] = "ConstructionObstacleTwoWays"
    told_as: ClassVar[str] = "ConstructionObstacleTwoWays"
    sign: ClassVar[str] = _SIGN
    layout = staticmethod(permuted_site)
