"""A driver that reacts only to what is already in front of its wheels, and late."""

from __future__ import annotations

from typing import ClassVar, Final

import numpy as np

from jaywalk.agents.corridor import first_along, speed_along
from jaywalk.agents.cruise import Cruise
from jaywalk.agents.following import Manner
from jaywalk.agents.perception import Own, Seen
from jaywalk.agents.route_line import STEP_M

_SIDE_M: Final = 0.1
_LATE_MPS2: Final = 3.0  # nothing that less braking would do is worth braking for
_ROOM_M: Final = 2.0
_REACH_M: Final = 12.0
_REACH_S: Final = 3.5


class Bold(Cruise):
    """Drives at the limit, foresees nothing, brakes when it must."""

    name: ClassVar[str] = "bold"
    version: ClassVar[str] = "1"
    manner: ClassVar[Manner] = Manner(
        speed_factor=1.0, acceleration_mps2=3.0, braking_mps2=3.5, lateral_mps2=3.5
    )

    def obstacle(self, own: Own, seen: Seen) -> tuple[float, str]:
        """Hard braking once nothing less would do."""
        speed = max(own.speed_mps, 0.0)
        near = np.hypot(seen.xy_m[:, 0] - own.x_m, seen.xy_m[:, 1] - own.y_m)
        reach = _REACH_M + _REACH_S * speed
        seen = seen.where(near < reach + 10.0)
        first = int(self.along_m / STEP_M)
        side = np.full(len(seen), own.half_width_m + _SIDE_M)
        at, _ = first_along(self.line, first, first + int(reach / STEP_M), seen, side)
        if not bool(np.isfinite(at).any()):
            return np.inf, "nothing"
        lead = speed_along(self.line, at, seen.velocity_mps)
        room = np.maximum(at - self.along_m - own.front_m - _ROOM_M, 0.1)
        closing = np.maximum(speed - lead, 0.0)
        needed = np.where(np.isfinite(at), closing**2 / (2.0 * room), 0.0)
        k = int(np.argmax(needed))
        what = ("vehicle", "person", "prop")[int(seen.kind[k])]
        if needed[k] > _LATE_MPS2:
            return max(-1.15 * float(needed[k]), -self.manner.hardest_mps2), what
        close = np.isfinite(at) & (room < 0.5 + 0.6 * speed)
        if bool(close.any()):  # behind a leader: match its speed
            k = int(np.flatnonzero(close)[np.argmin(lead[close])])
            what = ("vehicle", "person", "prop")[int(seen.kind[k])]
            return 1.5 * float(lead[k] - speed), what
        return np.inf, "nothing"
