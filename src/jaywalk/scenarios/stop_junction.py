"""The ego comes to a stop sign; cars with priority cross its way."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.errors import DataError
from jaywalk.scenarios.base import BEHIND_M, Moment, Parameters
from jaywalk.scenarios.flow import Flow, limit_mps
from jaywalk.scenarios.flowing import Flowing
from jaywalk.scenarios.junction_ahead import JunctionAhead, junction_ahead
from jaywalk.scenarios.lane_paths import Crossing
from jaywalk.scenarios.parameter_fields import ahead, interval, one_of, within

_AFTER_M: Final = 50.0
_PASSED_M: Final = 15.0
_STRAIGHT_DEG: Final = 40.0
_SLOWEST_MPS: Final = 4.0  # an ego that stands at the trigger is expected to drive on
_NEAREST_SHARE: Final = 0.75  # no car appears nearer to the junction


@dataclass(frozen=True, slots=True, kw_only=True)
class StopJunctionParameters(Parameters):
    """The cars that cross."""

    direction: str = one_of("left", "right", "both")  # where they come from
    distance: float = ahead(90.0)  # m before the junction where they appear
    frequency: tuple[float, float] = interval(22.0, 75.0)  # m between them
    speed: float = within(0.0, 0.0)  # m/s; 0: the speed limit of the ego's road


@dataclass(slots=True, kw_only=True)
class StopJunction(Flowing):
    """The flow begins at the trigger, its first cars already on the way."""

    parameters_type: ClassVar[type[Parameters]] = StopJunctionParameters
    ahead: JunctionAhead = field(init=False)
    ways: list[Crossing] = field(default_factory=list)

    def setup(self) -> None:
        """Find the ways that cross."""
        given: StopJunctionParameters = self.parameters
        self.ahead = junction_ahead(self)
        if not self.ahead.has_stop_sign():
            raise DataError(f"{self.spec.where}: no stop sign before the next junction.")
        sides = ("left", "right") if given.direction == "both" else (given.direction,)
        for side in sides:
            way = self.ahead.crossing(side, given.distance, _AFTER_M)
            if abs(way.turn_deg) > _STRAIGHT_DEG:
                raise DataError(f"{self.spec.where}: no way straight on from {side}.")
            self.ways.append(way)
            self.flows.append(
                Flow(
                    stage=self.stage, path=way.path, spacing_m=given.frequency,
                    key=("scenario", self.spec.name, self.spec.type, "flow", side),
                )
            )  # fmt: skip

    def start(self, moment: Moment) -> None:
        """The cars come, the first such that it meets an ego that does not stop."""
        speed = float(self.parameters.speed) or limit_mps(self.stage, moment)
        for way, flow in zip(self.ways, self.flows, strict=True):
            left_m = way.meets_route_m - moment.ego_along_m
            arrival_s = left_m / max(moment.ego_speed_mps, _SLOWEST_MPS)
            flow.filled_m = min(max(way.meets_along_m - speed * arrival_s, 0.0),
                                _NEAREST_SHARE * way.meets_along_m)  # fmt: skip
            flow.begin(speed)
        self.note(moment, what="crossing cars", speed_mps=round(speed, 3))

    def is_over(self, moment: Moment) -> bool:
        """Whether the ego is over the junction."""
        return moment.ego_along_m > self.ahead.leave_m + _PASSED_M

    def closed(self) -> list[NDArray[np.float64]]:
        """The ego's way over the junction and the other's."""
        ego = self.stretch(self.trigger_along_m - BEHIND_M, self.ahead.leave_m + 10.0)
        return [ego, *(flow.path.way for flow in self.flows)]
