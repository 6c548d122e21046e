"""Street lamps as CARLA's light manager shows them: state only, nothing is lit by them."""

from __future__ import annotations

import math
from typing import Any

from numpy.typing import NDArray

from jaywalk.town.scenery import KINDS

_STREET_GROUP, _LAST_GROUP = 2, 4


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
                # Every client reads these when it connects: only what all of them can decode.
                red, green, blue = (min(max(int(channel), 0), 255) for channel in state[4][:3])
                intensity, group = float(state[2]), int(state[3])
                if not (math.isfinite(intensity) and 0 <= group <= _LAST_GROUP):
                    raise ValueError(f"lamp {state[0]}: intensity {intensity}, group {group}")
                self._states[index][2:] = [intensity, group, [red, green, blue], bool(state[5])]
