"""Base of scenarios in which streams of cars drive until the ego is through."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from jaywalk.scenarios.base import Moment, Scenario
from jaywalk.scenarios.flow import Flow


@dataclass(slots=True, kw_only=True)
class Flowing(Scenario):
    """Cars come while the scenario lasts; those on their way drive on afterwards."""

    flows: list[Flow] = field(default_factory=list)

    def is_over(self, moment: Moment) -> bool:
        """Whether the ego is through."""
        raise NotImplementedError

    def tick(self, moment: Moment) -> bool:
        """The cars drive; over when the ego is through."""
        self._drive(moment, source=True)
        return self.is_over(moment)

    def end(self, moment: Moment) -> None:
        """No more cars come."""

    def linger(self, moment: Moment) -> None:
        """Those on the way drive on."""
        self._drive(moment, source=False)

    def moves(self) -> list[NDArray[np.float64]]:
        """The ways of its vehicles."""
        return [flow.path.way for flow in self.flows]

    def _drive(self, moment: Moment, source: bool) -> None:
        for flow in self.flows:
            flow.step(moment, source)
        self.actor_ids = [actor for flow in self.flows for actor in flow.actor_ids]
