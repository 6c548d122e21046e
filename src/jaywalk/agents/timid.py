"""A driver that brakes for any person near the road: what over-caution looks like in the scores."""

from __future__ import annotations

from typing import ClassVar, Final

import numpy as np

from jaywalk.agents.corridor import first_along
from jaywalk.agents.cruise import Cruise
from jaywalk.agents.following import Manner
from jaywalk.agents.perception import PERSON, Own, Seen
from jaywalk.agents.route_line import STEP_M

_NEAR_M: Final = 3.0  # beside the car's way
_AHEAD_M: Final = 6.0
_AHEAD_S: Final = 1.6
_BRAKING_MPS2: Final = 3.5
_CRAWL_MPS: Final = 2.5


class Timid(Cruise):
    """As the plain driver, but crawls past everybody."""

    name: ClassVar[str] = "timid"
    version: ClassVar[str] = "1"
    manner: ClassVar[Manner] = Manner(speed_factor=0.8)

    def obstacle(self, own: Own, seen: Seen) -> tuple[float, str]:
        """What the plain driver does, or braking for somebody near the road."""
        plain = super().obstacle(own, seen)
        speed = max(own.speed_mps, 0.0)
        people = seen.where(seen.kind == PERSON)
        first = int(self.along_m / STEP_M)
        last = first + int((_AHEAD_M + _AHEAD_S * speed) / STEP_M)
        side = np.full(len(people), own.half_width_m + _NEAR_M)
        at, _ = first_along(self.line, first, last, people, side)
        if not bool(np.isfinite(at).any()):
            return plain
        slow = max(-_BRAKING_MPS2, 2.0 * (_CRAWL_MPS - speed))
        return min(plain, (slow, "person near the road"))
