"""What the demo records: where everybody was at every tick. One ``npz`` file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Traces:
    """Positions in CARLA's world frame; the first axis of every array is the tick.

    Attributes:
        step_s: Simulated time between two rows.
        cars: (ticks, cars, 3): x, y in metres, yaw in radians.
        car_half_m: (cars, 2): half length and half width.
        people: (ticks, people, 2): x, y in metres.
        lights: (ticks, lights): 0 red, 1 yellow, 2 green.
        light_places_m: (lights, 2).
    """

    step_s: float
    cars: FloatArray
    car_half_m: FloatArray
    people: FloatArray
    lights: NDArray[np.int64]
    light_places_m: FloatArray

    def save(self, path: Path) -> None:
        """Write to an ``npz`` file."""
        np.savez_compressed(
            path, step_s=self.step_s, cars=self.cars, car_half_m=self.car_half_m,
            people=self.people, lights=self.lights, light_places_m=self.light_places_m,
        )  # fmt: skip

    @classmethod
    def load(cls, path: Path) -> Traces:
        """Read what :meth:`save` wrote."""
        with np.load(path) as arrays:
            return cls(**{name: arrays[name] for name in cls.__slots__})


def driven_m(traces: Traces) -> FloatArray:
    """Distance that every car covered."""
    steps = np.diff(traces.cars[:, :, :2], axis=0)
    return np.asarray(np.hypot(steps[..., 0], steps[..., 1]).sum(axis=0))
