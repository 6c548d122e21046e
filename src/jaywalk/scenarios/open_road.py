"""Nothing happens: a stretch of road as it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from jaywalk.scenarios.base import Moment, Parameters, Scenario
from jaywalk.scenarios.parameter_fields import ahead


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenRoadParameters(Parameters):
    """How long the stretch is."""

    distance: float = ahead(50.0)


@dataclass(slots=True, kw_only=True)
class OpenRoad(Scenario):
    """Over when the ego has driven the stretch."""

    parameters_type: ClassVar[type[Parameters]] = OpenRoadParameters

    def closed(self) -> list[NDArray[np.float64]]:
        """Nothing is closed."""
        return []

    def tick(self, moment: Moment) -> bool:
        """Wait for the ego."""
        return moment.ego_along_m > self.trigger_along_m + float(self.parameters.distance)
