"""A plain driver: keeps its lane and its distance, obeys lights and stop signs, brakes in lane."""

from __future__ import annotations

import math
from typing import ClassVar, Final

import numpy as np

from jaywalk.agents.base import Moment
from jaywalk.agents.corridor import BESIDE_M, first_along, speed_along
from jaywalk.agents.following import follow, stop_at
from jaywalk.agents.perception import PERSON, Own, Seen
from jaywalk.agents.route_driver import Choice, RouteDriver
from jaywalk.agents.route_line import STEP_M

_SIDE_M: Final = 0.35  # clearance beside the car
_LANE_HALF_M: Final = (1.2, 1.9)  # people in the lane count, however far from the wheels
_REACH_M: Final = 15.0
_REACH_S: Final = 4.5


class Cruise(RouteDriver):
    """Reacts to what is in its lane ahead, as it is now; it foresees nothing."""

    name: ClassVar[str] = "cruise"
    version: ClassVar[str] = "1"

    def accelerate(self, own: Own, moment: Moment) -> Choice:
        """The least of what limit, lights, signs and things ahead allow."""
        speed = max(own.speed_mps, 0.0)
        wishes = [
            (self.cruise_mps2(own), "free road"),
            (stop_at(speed, self.signals.light_gap_m(own, self.along_m), self.manner), "light"),
            (stop_at(speed, self.signals.sign_gap_m(own, self.along_m), self.manner), "stop sign"),
            self.obstacle(own, self.eyes.look(moment.snapshot)),
        ]
        wanted, reason = min(wishes)
        return Choice(acceleration_mps2=wanted, reason=reason)

    def obstacle(self, own: Own, seen: Seen) -> tuple[float, str]:
        """Following the nearest thing in the lane."""
        gap, lead, what = self.nearest(own, seen)
        return follow(max(own.speed_mps, 0.0), gap, lead, self.manner), what

    def nearest(self, own: Own, seen: Seen) -> tuple[float, float, str]:
        """Gap to the nearest thing ahead, its speed along the line, and what it is."""
        near = np.hypot(seen.xy_m[:, 0] - own.x_m, seen.xy_m[:, 1] - own.y_m)
        reach = _REACH_M + _REACH_S * max(own.speed_mps, 0.0)
        seen = seen.where(near < reach + 10.0)
        first = int((self.along_m + own.front_m - BESIDE_M) / STEP_M)
        lane = float(np.clip(0.5 * self.line.lane_width_m[first], *_LANE_HALF_M))
        side = np.where(seen.kind == PERSON, lane, own.half_width_m + _SIDE_M)
        at, _ = first_along(self.line, first, first + int(reach / STEP_M), seen, side)
        if not len(at) or not np.isfinite(at).any():
            return math.inf, 0.0, "nothing"
        lead = speed_along(self.line, at, seen.velocity_mps)
        gaps = at - self.along_m - own.front_m
        pulls = [
            follow(max(own.speed_mps, 0.0), float(gap), float(v), self.manner)
            for gap, v in zip(gaps, lead, strict=True)
        ]
        k = int(np.argmin(pulls))
        what = ("vehicle", "person", "prop")[int(seen.kind[k])]
        return float(gaps[k]), float(lead[k]), what
