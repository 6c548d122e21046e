"""Where the evaluator's own sensors put their data, and what it raises about them."""

from __future__ import annotations

import queue
from typing import Any

from jaywalk.agents.adapters.sensor_rig import SensorError

_WAIT_S = 10.0

SensorConfigurationInvalid = SensorError


class SensorReceivedNoData(Exception):  # noqa: N818  (the Leaderboard's name)
    """A sensor stayed silent."""


class SensorInterface:
    """A queue of measurements, for agents that read it themselves."""

    def __init__(self) -> None:
        self._sensors_objects: dict[str, Any] = {}
        self._data_buffers: queue.Queue[tuple[str, int, Any]] = queue.Queue()

    def register_sensor(self, tag: str, sensor_type: str, sensor: Any) -> None:
        """Expect a sensor's data."""
        if tag in self._sensors_objects:
            raise SensorConfigurationInvalid(f"Duplicated sensor tag [{tag}]")
        self._sensors_objects[tag] = sensor

    def update_sensor(self, tag: str, data: Any, frame: int) -> None:
        """Take a measurement."""
        if tag not in self._sensors_objects:
            raise SensorConfigurationInvalid(f"The sensor with tag [{tag}] has not been created!")
        self._data_buffers.put((tag, frame, data))

    def get_data(self, frame: int) -> dict[str, tuple[int, Any]]:
        """Everything measured in a frame."""
        readings: dict[str, tuple[int, Any]] = {}
        while len(readings) < len(self._sensors_objects):
            try:
                tag, of_frame, data = self._data_buffers.get(timeout=_WAIT_S)
            except queue.Empty:
                raise SensorReceivedNoData("A sensor took too long to send their data") from None
            if of_frame == frame:
                readings[tag] = (frame, data)
        return readings
