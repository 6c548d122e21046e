"""A driver: cruises, and slows down where people are near."""

from __future__ import annotations

import numpy as np

from jaywalk.agents.base import Briefing
from jaywalk.agents.baselines.baselines import Cruise
from jaywalk.agents.catalogue import FULL, LIMITED, driver
from jaywalk.agents.driving.perception import PERSON, EgoVehicle, Observation
from jaywalk.agents.driving.route_driver import WORLD
from jaywalk.core.errors import UsageError

_NEAR_M = 15.0
_SLOW_MPS = 20.0 / 3.6
_BRAKING_MPS2 = 2.0


@driver(
    "courteous",
    version=1,
    summary="cruise that slows to 20 km/h while people are near",
    arguments=("near_m",),
    perception=(FULL, LIMITED),
    needs=WORLD,
)
class Courteous(Cruise):
    """Drives like ``cruise``, but at 20 km/h at most while a person is within ``near_m``."""

    def setup(self, briefing: Briefing) -> None:
        """Read the argument ``near_m``."""
        super().setup(briefing)
        self.near_m = float(briefing.arguments.get("near_m", _NEAR_M))
        if not self.near_m > 0.0:
            raise UsageError(f"near_m is {self.near_m:g}, expected a positive distance in metres.")

    def obstacle(self, own: EgoVehicle, seen: Observation) -> tuple[float, str]:
        """Return the lower of cruise's acceleration and the one that reaches 20 km/h."""
        plain = super().obstacle(own, seen)
        people = seen.xy_m[seen.kind == PERSON]
        distance_m = np.hypot(people[:, 0] - own.x_m, people[:, 1] - own.y_m)
        if not np.any(distance_m < self.near_m):
            return plain
        slow = max(_SLOW_MPS - max(own.speed_mps, 0.0), -_BRAKING_MPS2)
        return min(plain, (slow, "people near"))
