"""Base of types with streams of cars that the ego has to cross or to join."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.scenarios.base import BEHIND_M, OBSTACLE_TIMEOUT_S, Moment, Scenario
from jaywalk.scenarios.flow import Flow
from jaywalk.scenarios.lane_paths import LanePath

_AFTER_M: Final = 60.0
_SINK_M: Final = 4.0  # no car stands ready so near to the end of its way


@dataclass(slots=True, kw_only=True)
class Streams(Scenario):
    """Cars drive along some ways from the trigger on; those on their way drive on afterwards."""

    timeout_s: ClassVar[float] = OBSTACLE_TIMEOUT_S
    stands_ready: ClassVar[bool] = True  # the ways are full of cars when it begins
    flows: list[Flow] = field(default_factory=list)

    def ways(self) -> list[LanePath]:
        """Where they drive."""
        raise NotImplementedError

    def is_over(self, moment: Moment) -> bool:
        """Whether the ego is through."""
        raise NotImplementedError

    def models(self) -> tuple[Any, ...]:
        """Blueprints to draw from; ordinary cars if none."""
        return ()

    def setup(self) -> None:
        """Find the ways."""
        given, models = self.parameters, self.models()
        self.flows = [
            Flow(stage=self.stage, path=path, spacing_m=given.source_dist_interval, models=models,
                 key=(*self.draws_key, "flow", number))
            for number, path in enumerate(self.ways())
        ]  # fmt: skip

    def start(self, moment: Moment) -> None:
        """The cars come."""
        speed = float(self.parameters.flow_speed)
        for flow in self.flows:
            flow.filled_m = max(flow.path.length_m - _SINK_M, 0.0) if self.stands_ready else 0.0
            flow.begin(speed)
        self.note(moment, what="cars come", speed_mps=round(speed, 3))

    def tick(self, moment: Moment) -> bool:
        """The cars drive; over when the ego is through."""
        self._drive(moment, source=True)
        return self.is_over(moment)

    def _drive(self, moment: Moment, source: bool) -> None:
        for flow in self.flows:
            flow.step(moment, source)
        self.actor_ids = [actor for flow in self.flows for actor in flow.actor_ids]

    def end(self, moment: Moment) -> None:
        """No more cars come."""

    def linger(self, moment: Moment) -> None:
        """Those on the way drive on."""
        self._drive(moment, source=False)

    def moves(self) -> list[NDArray[np.float64]]:
        """The ways of its vehicles."""
        return [flow.path.way for flow in self.flows]

    def closed(self) -> list[NDArray[np.float64]]:
        """The ego's way and those of the others."""
        ego = self.stretch(self.trigger_along_m - BEHIND_M, self.trigger_along_m + _AFTER_M)
        return [ego, *(flow.path.way for flow in self.flows)]
