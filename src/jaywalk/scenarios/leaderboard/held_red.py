"""Lights of a junction for a scenario: the ego waits some seconds, then it has green."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Final

import carla

from jaywalk.scenarios.junction_ahead import HeldLights, JunctionAhead

RED_S: Final = 5.0


@dataclass(slots=True)
class RedThenGreen:
    """Nothing at a junction without lights. ``others_green`` have green from the beginning."""

    ahead: JunctionAhead
    others_green: list[Any] = field(default_factory=list)
    _held: HeldLights | None = None
    _mine: list[Any] = field(default_factory=list)
    _green_s: float = math.nan

    def begin(self, elapsed_s: float) -> None:
        """Red for the ego and for all that are not said to have green."""
        self._mine, others = self.ahead.lights()
        if not self._mine:
            return
        green = {light.id for light in self.others_green}
        rest = [light for light in others if light.id not in green]
        mine_too = [light for light in self._mine if light.id in green]
        self._mine = [light for light in self._mine if light.id not in green]
        self._held = HeldLights.hold(
            [*(light for light in others if light.id in green), *mine_too], [*self._mine, *rest]
        )
        self._green_s = elapsed_s + RED_S

    def step(self, elapsed_s: float) -> None:
        """Green for the ego when it is time."""
        if elapsed_s >= self._green_s:
            self._green_s = math.nan
            for light in self._mine:
                light.set_state(carla.TrafficLightState.Green)

    def release(self) -> None:
        """The lights run again."""
        if self._held is not None:
            self._held.release()
