"""Base of types with streams of cars that the ego must cross or join."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.actors.events import EgoMoment
from jaywalk.actors.lane_paths import LanePath
from jaywalk.scenarios.base import BEHIND_M, OBSTACLE_TIMEOUT_S
from jaywalk.scenarios.flows._flow import Flow, Flowing

_AFTER_M: Final = 60.0
_SINK_M: Final = 4.0  # no car is spawned this near to the end of its path


@dataclass(slots=True, kw_only=True)
class Streams(Flowing):
    """Streams of cars from the trigger on; cars on their way drive on after the end."""

    timeout_s: ClassVar[float] = OBSTACLE_TIMEOUT_S
    stands_ready: ClassVar[bool] = True  # the paths are full of cars at the start

    def ways(self) -> list[LanePath]:
        """Paths of the vehicles."""
        raise NotImplementedError

    def models(self) -> tuple[Any, ...]:
        """Blueprints to draw from; ordinary cars if none."""
        return ()

    def setup(self) -> None:
        """Find the paths."""
        given, models = self.parameters, self.models()
        self.flows = [
            Flow(
                context=self.context,
                path=path,
                spacing_m=given.source_dist_interval,
                models=models,
                key=(*self.rng_key, "flow", number),
            )
            for number, path in enumerate(self.ways())
        ]

    def start(self, moment: EgoMoment) -> None:
        """Start the streams."""
        speed = float(self.parameters.flow_speed)
        for flow in self.flows:
            flow.filled_m = max(flow.path.length_m - _SINK_M, 0.0) if self.stands_ready else 0.0
            flow.begin(speed)
        self.note(moment, what="cars come", speed_mps=round(speed, 3))

    def closed(self) -> list[NDArray[np.float64]]:
        """Close the ego's path and those of the streams."""
        ego = self.stretch(self.trigger_along_m - BEHIND_M, self.trigger_along_m + _AFTER_M)
        return [ego, *(flow.path.way for flow in self.flows)]
