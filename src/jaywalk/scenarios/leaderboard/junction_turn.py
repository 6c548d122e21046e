"""The ego turns at a junction across, or into, a stream of cars with priority.

SignalizedJunctionLeftTurn, NonSignalizedJunctionLeftTurn, their RightTurn and LeftTurnEnterFlow.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.errors import DataError
from jaywalk.scenarios.base import BEHIND_M, Moment, Parameters
from jaywalk.scenarios.junction_ahead import JunctionAhead, junction_ahead
from jaywalk.scenarios.lane_paths import LanePath
from jaywalk.scenarios.leaderboard.held_red import RedThenGreen
from jaywalk.scenarios.leaderboard.streams import Streams
from jaywalk.scenarios.parameter_fields import interval, within

_SOURCE_S, _SINK_S = 4.0, 2.5  # the cars appear and vanish so far from the junction, in time
_PASSED_M: Final = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class JunctionTurnParameters(Parameters):
    """How fast the cars are and how far apart."""

    flow_speed: float = within(20.0, 0.5, 60.0)  # m/s
    source_dist_interval: tuple[float, float] = interval(25.0, 50.0, 6.0)


@dataclass(slots=True, kw_only=True)
class LeftTurn(Streams):
    """NonSignalizedJunctionLeftTurn: cars come from the opposite arm, straight on."""

    parameters_type: ClassVar[type[Parameters]] = JunctionTurnParameters
    arm: ClassVar[str] = "opposite"
    they: ClassVar[str] = "straight"  # or right: how they go
    stands_ready: ClassVar[bool] = False
    lit: ClassVar[bool] = False  # needs traffic lights
    ahead: JunctionAhead = field(init=False)
    lights: RedThenGreen | None = None

    def setup(self) -> None:
        """Find the junction and who has priority there."""
        self.ahead = junction_ahead(self)
        Streams.setup(self)
        if self.lit:
            if not self.ahead.lights()[0]:
                raise DataError(
                    f"{self.spec.where}: the next junction has no traffic light; there is "
                    f"Non{self.spec.type} for those."
                )
            self.lights = RedThenGreen(self.ahead, self.ahead.lights_on(self.flows[0].path))

    def ways(self) -> list[LanePath]:
        """The one that meets the ego's."""
        speed = float(self.parameters.flow_speed)
        way = self.ahead.crossing(self.arm, _SOURCE_S * speed, _SINK_S * speed, self.they)
        return [way.path]

    def start(self, moment: Moment) -> None:
        """The cars come; at lights the ego has red for 5 s."""
        Streams.start(self, moment)
        if self.lights is not None:
            self.lights.begin(moment.elapsed_s)

    def tick(self, moment: Moment) -> bool:
        """Green in time."""
        if self.lights is not None:
            self.lights.step(moment.elapsed_s)
        return Streams.tick(self, moment)

    def end(self, moment: Moment) -> None:
        """The lights run again."""
        if self.lights is not None:
            self.lights.release()

    def is_over(self, moment: Moment) -> bool:
        """10 m behind the junction."""
        return moment.ego_along_m > self.ahead.leave_m + _PASSED_M

    def closed(self) -> list[NDArray[np.float64]]:
        """The ego's way over the junction and the others'."""
        ego = self.stretch(self.trigger_along_m - BEHIND_M, self.ahead.leave_m + 20.0)
        return [ego, *(flow.path.way for flow in self.flows)]


@dataclass(slots=True, kw_only=True)
class SignalizedLeftTurn(LeftTurn):
    """SignalizedJunctionLeftTurn: both have green after 5 s, the others have it before."""

    lit: ClassVar[bool] = True


@dataclass(slots=True, kw_only=True)
class RightTurn(LeftTurn):
    """NonSignalizedJunctionRightTurn: cars come from the left, straight on."""

    arm: ClassVar[str] = "left"
    stands_ready: ClassVar[bool] = True


@dataclass(slots=True, kw_only=True)
class SignalizedRightTurn(RightTurn):
    """SignalizedJunctionRightTurn."""

    lit: ClassVar[bool] = True


@dataclass(slots=True, kw_only=True)
class LeftTurnEnterFlow(LeftTurn):
    """NonSignalizedJunctionLeftTurnEnterFlow: they turn right, into the road the ego takes."""

    they: ClassVar[str] = "right"


@dataclass(slots=True, kw_only=True)
class SignalizedLeftTurnEnterFlow(LeftTurnEnterFlow):
    """SignalizedJunctionLeftTurnEnterFlow."""

    lit: ClassVar[bool] = True
