"""HardBrake: the car ahead stops, and its brake lights stay dark."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from jaywalk.scenarios.public_types import LbHardBrake


@dataclass(slots=True, kw_only=True)
class HardBrakeNoLights(LbHardBrake):
    """As HardBreakRoute, without the lights."""

    brake_lights: ClassVar[bool] = False
    draws_as: ClassVar[str] = "HardBreakRoute"
