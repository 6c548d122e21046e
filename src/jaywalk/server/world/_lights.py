"""Traffic lights of junctions, and the state of street lamps.

The traffic lights of a junction form a group. Its stages are the controllers in file order: one
controller at a time runs green, yellow and red, then the next one starts. A state that a program
sets stays until its controller changes phase. A changed duration never restarts the running phase.

Street lamps appear as in CARLA's light manager. They shine in pictures, at night by themselves
until a program switches them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.carla_enums import LightState
from jaywalk.core.kernels import kernel
from jaywalk.town.scenery import KINDS

_STREET_GROUP, _LAST_GROUP = 2, 4
USUAL_INTENSITY: Final = 10000.0
USUAL_COLOR: Final = (255, 241, 224)


@dataclass(slots=True, kw_only=True)
class StreetLight:
    """One street lamp and its switchable state."""

    id: int
    location_m: tuple[float, float, float]
    intensity: float = USUAL_INTENSITY
    group: int = _STREET_GROUP
    color: tuple[int, int, int] = USUAL_COLOR
    active: bool = False
    is_automatic: bool = True  # no program has switched it

    def switch(
        self, *, intensity: float, group: int, color: tuple[int, int, int], active: bool
    ) -> None:
        """Change the state; colours are limited to 0..255.

        Raises:
            ValueError: Not every client could decode the intensity or the group.
        """
        # Every client reads these when it connects.
        if not (math.isfinite(intensity) and 0 <= group <= _LAST_GROUP):
            raise ValueError(f"lamp {self.id}: intensity {intensity}, group {group}")
        red, green, blue = (min(max(channel, 0), 255) for channel in color)
        self.intensity, self.group = intensity, group
        self.color, self.active = (red, green, blue), active
        self.is_automatic = False


def street_lights(scenery: NDArray[Any]) -> dict[int, StreetLight]:
    """Return the lamps of the scenery by id."""
    lamps = scenery[scenery["kind"] == KINDS.index("lamp")]
    return {
        number: StreetLight(
            id=number,
            location_m=(float(lamp["x"]), float(lamp["y"]), float(lamp["z"] + lamp["ez"])),
        )
        for number, lamp in enumerate(lamps, start=1)
    }


RED: Final = int(LightState.RED)
YELLOW: Final = int(LightState.YELLOW)
GREEN: Final = int(LightState.GREEN)
OFF: Final = int(LightState.OFF)
UNKNOWN: Final = int(LightState.UNKNOWN)
_GREEN_S, _YELLOW_S, _RED_S = 10.0, 3.0, 2.0

LIGHT: Final = np.dtype(
    [
        ("group", "i4"),
        ("controller", "i4"),
        ("state", "u1"),
        ("frozen", "u1"),
        ("pole", "u4"),
        ("green", "f8"),
        ("yellow", "f8"),
        ("red", "f8"),
        ("elapsed", "f8"),
        ("actor", "u4"),
    ],
    align=True,
)
CONTROLLER: Final = np.dtype(
    [
        ("group", "i4"),
        ("state", "u1"),
        ("elapsed", "f8"),
        ("green", "f8"),
        ("yellow", "f8"),
        ("red", "f8"),
    ],
    align=True,
)
GROUP: Final = np.dtype([("first", "i4"), ("count", "i4"), ("current", "i4")], align=True)


@kernel
def _step(groups, controllers, lights, dt_s: float) -> None:  # type: ignore[no-untyped-def]
    for g in range(len(groups)):
        group = groups[g]
        controller = controllers[group.current]
        controller.elapsed += dt_s
        state = controller.state
        if state == GREEN and controller.elapsed >= controller.green:
            controller.state = YELLOW
        elif state == YELLOW and controller.elapsed >= controller.yellow:
            controller.state = RED
        elif state == RED and controller.elapsed >= controller.red:
            following = group.first + (group.current - group.first + 1) % group.count
            group.current = following
            controllers[following].state = GREEN
            controllers[following].elapsed = 0.0
        if controller.state != state:
            controller.elapsed = 0.0
        if controller.state != state or controllers[group.current].elapsed == 0.0:
            for k in range(len(lights)):
                if lights[k].group == g:
                    lights[k].state = controllers[lights[k].controller].state
    for k in range(len(lights)):
        light = lights[k]
        light.elapsed = controllers[groups[light.group].current].elapsed


class TrafficLights:
    """All lights of a town; ``stages`` gives (group, controller) per light, both counted from 0."""

    def __init__(self, stages: Sequence[tuple[int, int]], actor_ids: Sequence[int]) -> None:
        """Build the tables; the controllers of a group get adjacent numbers."""
        order = sorted(set(stages))
        position = {stage: index for index, stage in enumerate(order)}
        group_ids = sorted({group for group, _ in order})
        self.lights: NDArray[np.void] = np.zeros(len(stages), LIGHT)
        self.controllers: NDArray[np.void] = np.zeros(len(order), CONTROLLER)
        self.groups: NDArray[np.void] = np.zeros(len(group_ids), GROUP)
        for index, (group, _) in enumerate(order):
            self.controllers[index]["group"] = group_ids.index(group)
        for index, group in enumerate(group_ids):
            members = [position[stage] for stage in order if stage[0] == group]
            self.groups[index] = (members[0], len(members), members[0])
        for index, stage in enumerate(stages):
            self.lights[index]["controller"] = position[stage]
            self.lights[index]["group"] = group_ids.index(stage[0])
            self.lights[index]["actor"] = actor_ids[index]
        self.index_of = {actor: index for index, actor in enumerate(actor_ids)}
        self.frozen = False
        for name, seconds in (("green", _GREEN_S), ("yellow", _YELLOW_S), ("red", _RED_S)):
            self.controllers[name] = seconds
            self.lights[name] = seconds
        for group_id in self.group_indices():
            self.reset_group(group_id)
        self._number_poles()

    def _number_poles(self) -> None:
        counts: dict[int, int] = {}
        for light in self.lights:
            group = int(light["group"])
            light["pole"] = counts.get(group, 0)
            counts[group] = int(light["pole"]) + 1

    def group_indices(self) -> range:
        """Indices of all groups."""
        return range(len(self.groups))

    def step(self, dt_s: float) -> None:
        """Advance every controller by ``dt_s`` unless frozen."""
        if not self.frozen and len(self.groups):
            _step(self.groups, self.controllers, self.lights, dt_s)

    def reset_group(self, group: int) -> None:
        """Set the first controller to the start of green and all other controllers to red."""
        first, count = int(self.groups[group]["first"]), int(self.groups[group]["count"])
        self.groups[group]["current"] = first
        members = self.controllers[first : first + count]
        members["state"], members["elapsed"] = RED, 0.0
        members[0]["state"] = GREEN
        mine = self.lights["group"] == group
        self.lights["state"][mine] = self.controllers["state"][self.lights["controller"][mine]]
        self.lights["elapsed"][mine] = 0.0

    def reset_all(self) -> None:
        """Reset every group."""
        for group in self.group_indices():
            self.reset_group(group)

    def freeze(self, frozen: bool) -> None:
        """Stop or resume all lights."""
        self.frozen = frozen
        self.lights["frozen"] = frozen

    def state_of(self, actor_id: int) -> int:
        """Return the state of a light; -1 for other actors."""
        index = self.index_of.get(actor_id)
        return -1 if index is None else int(self.lights["state"][index])

    def set_state(self, index: int, state: int) -> None:
        """Set one light; it keeps the state until its controller changes phase."""
        self.lights[index]["state"] = state

    def set_time(self, index: int, phase: str, seconds: float) -> None:
        """Set a phase duration of the controller of a light, hence of all its lights."""
        controller = int(self.lights[index]["controller"])
        self.controllers[controller][phase] = seconds
        self.lights[phase][self.lights["controller"] == controller] = seconds

    def group_members(self, index: int) -> list[int]:
        """Actor ids of all lights in the group of a light."""
        mine = self.lights["group"] == self.lights[index]["group"]
        return [int(actor) for actor in self.lights["actor"][mine]]
