"""RightOfWay: an ordinary vehicle, not an emergency one, takes the ego's right of way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from jaywalk.scenarios.base import Parameters
from jaywalk.scenarios.parameter_fields import model
from jaywalk.scenarios.public_types import (
    LbPriorityTaken,
    LbRedLightRunner,
    LbRightOfWayParameters,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NormalRightOfWayParameters(LbRightOfWayParameters):
    """NormalVehicleRunningRedLight and NormalVehicleTakingPriority."""

    vehicle: str = model("", "vehicle.")  # any but bicycles and emergency vehicles


@dataclass(slots=True, kw_only=True)
class NormalPriorityTaken(LbPriorityTaken):
    """NormalVehicleTakingPriority."""

    parameters_type: ClassVar[type[Parameters]] = NormalRightOfWayParameters
    special_lights: ClassVar[bool] = False
    draws_as: ClassVar[str] = "OppositeVehicleTakingPriority"
    told_as: ClassVar[str] = "NormalVehicleTakingPriority"


@dataclass(slots=True, kw_only=True)
class NormalRedLightRunner(LbRedLightRunner):
    """NormalVehicleRunningRedLight."""

    parameters_type: ClassVar[type[Parameters]] = NormalRightOfWayParameters
    special_lights: ClassVar[bool] = False
    draws_as: ClassVar[str] = "OppositeVehicleRunningRedLight"
    told_as: ClassVar[str] = "NormalVehicleRunningRedLight"
