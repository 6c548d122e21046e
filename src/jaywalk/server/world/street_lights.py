"""Street lamps as CARLA's light manager shows them: state only, nothing is lit by them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from jaywalk.town.scenery import KINDS

_STREET_GROUP = 2


class StreetLights:
    """The lamps of the scenery with their switchable state."""

    def __init__(self, scenery: NDArray[Any]) -> None:
        lamps = scenery[scenery["kind"] == KINDS.index("lamp")]
        self._states: list[list[Any]] = [
            [
                index,
                [float(lamp["x"]), float(lamp["y"]), float(lamp["z"] + lamp["ez"])],
                10000.0,
                _STREET_GROUP,
                [255, 241, 224],
                False,
            ]
            for index, lamp in enumerate(lamps, start=1)
        ]

    def encode(self) -> list[Any]:
        """LightState structs: id, location, intensity, group, colour, active."""
        return self._states

    def update(self, states: Any) -> None:
        """Take over what a client changed; lamps that do not exist are ignored."""
        for state in states:
            index = int(state[0]) - 1
            if 0 <= index < len(self._states):
                known = self._states[index]
                colour = [int(np.clip(int(channel), 0, 255)) for channel in state[4][:3]]
                known[2:] = [float(state[2]), int(state[3]), colour, bool(state[5])]
