"""PriorityAtJunction: the ego's light is green until it has left the next junction."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from jaywalk.scenarios.base import Moment, Parameters, Scenario
from jaywalk.scenarios.junction_ahead import HeldLights, JunctionAhead, junction_ahead


@dataclass(slots=True, kw_only=True)
class PriorityAtJunction(Scenario):
    """At a junction without lights nothing happens."""

    parameters_type: ClassVar[type[Parameters]] = Parameters
    ahead: JunctionAhead = field(init=False)
    held: HeldLights | None = None

    def setup(self) -> None:
        """Find the junction."""
        self.ahead = junction_ahead(self)

    def start(self, moment: Moment) -> None:
        """Green for the ego, red for the others."""
        mine, others = self.ahead.lights()
        if mine:
            self.held = HeldLights.hold(mine, others)

    def tick(self, moment: Moment) -> bool:
        """Until the ego is through."""
        return moment.ego_along_m > self.ahead.leave_m

    def end(self, moment: Moment) -> None:
        """The lights run again."""
        if self.held is not None:
            self.held.release()

    def closed(self) -> list[NDArray[np.float64]]:
        """Nothing is closed."""
        return []
