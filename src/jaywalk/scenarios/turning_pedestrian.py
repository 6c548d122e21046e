"""VehicleTurningRoutePedestrian: a person crosses right behind the junction the ego turns at."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.scenarios.base import BEHIND_M, INTERNAL, Parameters
from jaywalk.scenarios.junction_ahead import JunctionAhead, junction_ahead
from jaywalk.scenarios.parameter_fields import model, offset
from jaywalk.scenarios.placing import Roadside
from jaywalk.scenarios.public_types import LbCrossing

_BEHIND_M: Final = 1.5  # the junction's end: its last points are still inside
_ASIDE_M: Final = 1.5  # beyond the middle of the last lane, without a sidewalk
_AFTER_M: Final = 30.0
_TURNS_DEG: Final = 40.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TurningPedestrianParameters(Parameters):
    """VehicleTurningRoutePedestrian, with Fail2Drive's additions."""

    walker: str = model("walker.pedestrian.*", "walker.")
    offset_y: float = offset()  # m farther aside, where there is no sidewalk
    distance: float = field(default=0.0, metadata=INTERNAL)
    direction: str = field(default="right", metadata=INTERNAL)
    crossing_angle: float = field(default=0.0, metadata=INTERNAL)
    blocker_model: str = field(default="none", metadata=INTERNAL)
    blocker_z: float = field(default=0.0, metadata=INTERNAL)
    speed: float = field(default=1.8, metadata=INTERNAL)


@dataclass(slots=True, kw_only=True)
class TurningPedestrian(LbCrossing):
    """Sets off when the ego is 2.2 s or 6 m away, and crosses the whole road."""

    parameters_type: ClassVar[type[Parameters]] = TurningPedestrianParameters
    reaction_s: ClassVar[float] = 2.2
    ahead: JunctionAhead = field(init=False)

    def setup(self) -> None:
        """Find the junction first."""
        self.ahead = junction_ahead(self)
        LbCrossing.setup(self)

    @property
    def at_m(self) -> float:
        """Right behind the junction."""
        return self.ahead.leave_m + _BEHIND_M

    @property
    def waits_m(self) -> float:
        """There too."""
        return self.at_m

    def comes_from(self) -> float:
        """The outer side of the turn's end: the left one after a right turn, else the right one."""
        route = self.stage.route
        yaw_deg = np.interp(
            self.at_m, route.along_m, np.unwrap(route.rotation_deg[:, 1], period=360.0)
        )
        turned_deg = (float(yaw_deg) - self.ahead.yaw_deg + 180.0) % 360.0 - 180.0
        return -1.0 if turned_deg > _TURNS_DEG else 1.0

    def stands_m(self, near: Roadside) -> float:
        """On the middle of the sidewalk, else a little beside the road."""
        return near.middle_m(_ASIDE_M + float(self.parameters.offset_y))

    def crossing_m(self, near_m: float, far_m: float) -> float:
        """To the other side."""
        return near_m + far_m

    def closed(self) -> list[NDArray[np.float64]]:
        """The ego's way over the junction and on."""
        return [self.stretch(self.trigger_along_m - BEHIND_M, self.at_m + _AFTER_M)]
