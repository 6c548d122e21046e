"""Baseline drivers.

``cruise`` keeps its lane and distance, obeys lights and stop signs, and brakes in its lane.
``blind`` ignores everything but its route. ``bold`` reacts late, and only to obstacles on its path.
``timid`` brakes for any person near the road, to show over-caution in the scores.
"""

from __future__ import annotations

import math
from typing import ClassVar, Final

import numpy as np

from jaywalk.agents.base import Moment
from jaywalk.agents.catalogue import FULL, LIMITED, driver
from jaywalk.agents.driving._following import (
    BESIDE_M,
    Manner,
    first_along,
    follow,
    speed_along,
    stop_at,
)
from jaywalk.agents.driving.perception import PERSON, EgoVehicle, Observation
from jaywalk.agents.driving.route_driver import WORLD, Choice, RouteDriver
from jaywalk.agents.driving.route_line import STEP_M


@driver(
    "blind",
    summary="follows the route and ignores everything else",
    perception=(FULL, LIMITED),
    needs=("map",),
)
class Blind(RouteDriver):
    """Obeys the speed limit, slows for bends, and ignores everything else."""

    manner: ClassVar[Manner] = Manner(speed_factor=0.95)

    def accelerate(self, own: EgoVehicle, moment: Moment) -> Choice:
        """Return the acceleration of a free road, always."""
        return Choice(acceleration_mps2=self.cruise_mps2(own), reason="free road")


_SIDE_M: Final = 0.35  # clearance beside the car
_LANE_HALF_M: Final = (1.2, 1.9)  # people in the lane count, however far from the wheels
_REACH_M: Final = 15.0
_REACH_S: Final = 4.5


@driver(
    "cruise",
    summary="follows the route, keeps distance, obeys lights, brakes in lane",
    perception=(FULL, LIMITED),
    needs=WORLD,
)
class Cruise(RouteDriver):
    """Reacts to the present state of the lane ahead; it predicts nothing."""

    def accelerate(self, own: EgoVehicle, moment: Moment) -> Choice:
        """Return the lowest acceleration that limit, lights, signs and obstacles demand."""
        speed = max(own.speed_mps, 0.0)
        wishes = [
            (self.cruise_mps2(own), "free road"),
            (stop_at(speed, self.signals.light_gap_m(own, self.along_m), self.manner), "light"),
            (stop_at(speed, self.signals.sign_gap_m(own, self.along_m), self.manner), "stop sign"),
            self.obstacle(own, self.perception.look(moment.snapshot)),
        ]
        wanted, reason = min(wishes)
        return Choice(acceleration_mps2=wanted, reason=reason)

    def obstacle(self, own: EgoVehicle, seen: Observation) -> tuple[float, str]:
        """Follow the nearest obstacle in the lane."""
        gap, lead, what = self.nearest(own, seen)
        return follow(max(own.speed_mps, 0.0), gap, lead, self.manner), what

    def nearest(self, own: EgoVehicle, seen: Observation) -> tuple[float, float, str]:
        """Return gap, speed along the line and kind of the nearest obstacle ahead."""
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


_BOLD_SIDE_M: Final = 0.1
_LATE_MPS2: Final = 3.0  # it brakes only if it needs more than this
_ROOM_M: Final = 2.0
_BOLD_REACH_M: Final = 12.0
_BOLD_REACH_S: Final = 3.5


@driver(
    "bold",
    summary="at the limit; reacts only to what is already in its way",
    perception=(FULL, LIMITED),
    needs=WORLD,
)
class Bold(Cruise):
    """Drives at the limit, predicts nothing, and brakes as late as possible."""

    manner: ClassVar[Manner] = Manner(
        speed_factor=1.0, acceleration_mps2=3.0, braking_mps2=3.5, lateral_mps2=3.5
    )

    def obstacle(self, own: EgoVehicle, seen: Observation) -> tuple[float, str]:
        """Brake hard once nothing less is enough."""
        speed = max(own.speed_mps, 0.0)
        near = np.hypot(seen.xy_m[:, 0] - own.x_m, seen.xy_m[:, 1] - own.y_m)
        reach = _BOLD_REACH_M + _BOLD_REACH_S * speed
        seen = seen.where(near < reach + 10.0)
        first = int((self.along_m + own.front_m - BESIDE_M) / STEP_M)
        side = np.full(len(seen), own.half_width_m + _BOLD_SIDE_M)
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


_NEAR_M: Final = 3.0  # beside the car's path
_AHEAD_M: Final = 6.0
_AHEAD_S: Final = 1.6
_BRAKING_MPS2: Final = 3.5
_CRAWL_MPS: Final = 2.5


@driver(
    "timid",
    summary="cruise that brakes for any person near the road",
    perception=(FULL, LIMITED),
    needs=WORLD,
)
class Timid(Cruise):
    """Drives like ``cruise``, but passes people at walking speed."""

    manner: ClassVar[Manner] = Manner(speed_factor=0.8)

    def obstacle(self, own: EgoVehicle, seen: Observation) -> tuple[float, str]:
        """Follow like ``cruise``, or brake for a person near the road."""
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
