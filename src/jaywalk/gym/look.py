"""What a learner may know at a tick, read once and shared by observation, reward and picture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import carla
import numpy as np
from numpy.typing import NDArray

from jaywalk.agents.perception import Eyes, Own, Seen
from jaywalk.agents.route_driver import DEFAULT_LIMIT_MPS
from jaywalk.agents.route_line import STEP_M, RouteLine, make_line
from jaywalk.agents.signals import Signals, find_signals
from jaywalk.runner.staged import StagedEpisode
from jaywalk.runner.world import STEP_S

FloatArray = NDArray[np.float64]

_STOPPING: Final = (carla.TrafficLightState.Red, carla.TrafficLightState.Yellow)


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """The present tick. Frame: CARLA's left-handed metres; offsets positive to the right."""

    own: Own
    acceleration_mps2: tuple[float, float]  # along the heading, to the right
    control: tuple[float, float, float]  # throttle, brake, steer of the last step
    seen: Seen
    line: RouteLine
    signals: Signals
    along_m: float  # on the line
    offset_m: float  # from the line
    heading_rad: float  # against the line
    limit_mps: float
    share: float  # of the route

    def to_ego(self, xy_m: FloatArray) -> FloatArray:
        """Places ahead of and right of the ego's origin."""
        return self.turned(xy_m - (self.own.x_m, self.own.y_m))

    def turned(self, vectors: FloatArray) -> FloatArray:
        """Vectors of the world along and right of the ego's heading."""
        cos, sin = np.cos(self.own.yaw_rad), np.sin(self.own.yaw_rad)
        return np.asarray(vectors @ np.array([[cos, -sin], [sin, cos]]))

    def red_lines_m(self) -> list[float]:
        """Where along the line lights that show red or yellow want the ego to stop."""
        return [stop.along_m for stop in self.signals.lights if stop.light.state in _STOPPING]

    def sign_lines_m(self) -> list[float]:
        """Where along the line stop signs want the ego to stop."""
        return [stop.along_m for stop in self.signals.signs]


class Looker:
    """Reads the ticks of one episode."""

    def __init__(self, stage: StagedEpisode) -> None:
        self._stage = stage
        self._line = make_line(stage.route, stage.map, DEFAULT_LIMIT_MPS)
        self._eyes = Eyes(stage.carla_world, stage.ego)
        self._signals = find_signals(stage.carla_world, self._line, STEP_S)
        self._along_m = 0.0

    def look(self, control: tuple[float, float, float]) -> Look:
        """The present tick; call at every tick, for the place on the line is followed."""
        snapshot, line = self._stage.snapshot, self._line
        own = self._eyes.own(snapshot)
        self._along_m = line.locate(own.x_m, own.y_m, int(self._along_m / STEP_M))
        at = min(int(self._along_m / STEP_M), len(line) - 1)
        yaw = float(line.yaw_rad[at])
        dx, dy = own.x_m - line.xy_m[at, 0], own.y_m - line.xy_m[at, 1]
        turn = own.yaw_rad - yaw
        push: Any = snapshot.find(self._stage.ego.id).get_acceleration()
        cos, sin = np.cos(own.yaw_rad), np.sin(own.yaw_rad)
        return Look(
            own=own,
            acceleration_mps2=(push.x * cos + push.y * sin, -push.x * sin + push.y * cos),
            control=control,
            seen=self._eyes.look(snapshot),
            line=line,
            signals=self._signals,
            along_m=self._along_m,
            offset_m=float(-dx * np.sin(yaw) + dy * np.cos(yaw)),
            heading_rad=float((turn + np.pi) % (2.0 * np.pi) - np.pi),
            limit_mps=float(line.limit_mps[at]),
            share=self._stage.progress.share,
        )
