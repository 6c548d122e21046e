"""Base class of all sensors: attributes, period and noise."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar, Final

import numpy as np

from jaywalk.core.seeds import stream
from jaywalk.server.sensors._readings import Reading, SensorPose, SensorType, pose_of
from jaywalk.server.sensors._scene import SensorScene
from jaywalk.server.sensors.catalogue import Attributes, SensorStage

_TOLERANCE_S: Final = 1e-4  # simulated times are sums of rounded steps


class Sensor(ABC):
    """One sensor of the world.

    Args:
        type_id: Blueprint id.
        attributes: Attribute values as the client sent them; missing ones take their default.
        sensor_id: Distinguishes sensors of one type.
        seed: Seed of the run; noise follows from it, the sensor's id and its ``noise_seed``.
    """

    kind: SensorType
    stage: ClassVar[SensorStage]  # set by the decorator that registers the class
    sees: ClassVar[bool] = True  # False: the actor table is enough, solids are not needed

    def __init__(
        self, type_id: str, attributes: Mapping[str, str], sensor_id: int, seed: int
    ) -> None:
        self.attributes = Attributes(type_id, attributes)
        self.sensor_id = sensor_id
        has = self.attributes.has
        self.period_s = self.attributes.number("sensor_tick", 0.0) if has("sensor_tick") else 0.0
        # Whole numbers up to the limits of a 32-bit signed integer, as in the real library.
        limit = 2**31 - 1
        self._seed = seed
        self._noise_seed = (
            self.attributes.integer("noise_seed", -limit, limit) if has("noise_seed") else 0
        )
        self._due_s = -math.inf
        self.pose = SensorPose(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)  # at the last measurement
        self._type_id = type_id
        self.born_frame = 0  # noise counts from here, so that a repeated scene repeats its noise

    def measure(
        self, scene: SensorScene, row: int, frame: int, time_s: float, dt_s: float
    ) -> Sequence[Reading]:
        """Measure this frame; the result is empty when there is nothing to report.

        Args:
            scene: The visible world.
            row: Row of the sensor in the actor table.
            frame: Number of the frame.
            time_s: Simulated time.
            dt_s: Simulated time since the last frame.
        """
        if not self.is_due(time_s):
            return ()
        self.pose = pose_of(scene.actors, row)
        return self._readings(scene, row, self.pose, frame, time_s, dt_s)

    def noise(self, frame: int) -> np.random.Generator:
        """Random numbers of one frame; a missed frame does not shift later ones."""
        age = frame - self.born_frame
        return stream(self._seed, self._type_id, self.sensor_id, self._noise_seed, age)

    def is_due(self, time_s: float) -> bool:
        """True when the sensor's period has passed; the next one starts then."""
        if self.period_s <= 0.0:
            return True
        if time_s < self._due_s - _TOLERANCE_S:
            return False
        # Keep the rhythm unless a whole period was missed.
        behind = time_s - self._due_s >= self.period_s
        self._due_s = (time_s if behind else self._due_s) + self.period_s
        return True

    @abstractmethod
    def _readings(
        self, scene: SensorScene, row: int, pose: SensorPose, frame: int, time_s: float, dt_s: float
    ) -> Sequence[Reading]:
        """Measure a frame that is due."""
