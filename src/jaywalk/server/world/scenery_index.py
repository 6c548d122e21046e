"""Scenery as programs ask for it: boxes by label, objects by id, layers, rays."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.town.scenery import KINDS, Shape
from jaywalk.town.town import Town

Vector = tuple[float, float, float]
ANY_LABEL: Final = 255
LABEL_ROAD, LABEL_SIGN, LABEL_LIGHT = 1, 8, 7
# Bits of carla.MapLayer.
_LAYER_KINDS: Final = {
    1: ("building", "kiosk"),
    4: ("trunk", "crown", "hedge"),
    16: ("parked_car",),
    64: ("bench", "bin", "bus_shelter", "hydrant", "mailbox", "bollard", "container", "other"),
    128: ("lamp",),
    256: ("wall", "fence", "guard_rail"),
}
_RAY_STEP_M: Final = 0.5


class SceneryIndex:
    """A town's scenery with its hidden objects; ``version`` counts the changes."""

    def __init__(self, town: Town) -> None:
        self._town = town
        self._objects = town.scenery
        self._shown = np.ones(len(self._objects), bool)
        self.version = 0

    def visible(self) -> NDArray[Any]:
        """The scenery that is not hidden."""
        return self._objects if self._shown.all() else self._objects[self._shown]

    def visible_object(self, index: int) -> Any:
        """A row of :meth:`visible`."""
        return self.visible()[index]

    def enable(self, ids: list[int], shown: bool) -> None:
        """Show or hide objects by their environment-object id."""
        rows = [object_id - 1 for object_id in ids if 1 <= object_id <= len(self._objects)]
        self._set(np.array(rows, np.int64), shown)

    def enable_layers(self, layers: int, shown: bool) -> None:
        """Show or hide the objects of map layers."""
        names = [name for bit, kinds in _LAYER_KINDS.items() if layers & bit for name in kinds]
        wanted = [KINDS.index(name) for name in names]
        self._set(np.flatnonzero(np.isin(self._objects["kind"], wanted)), shown)

    def _set(self, rows: NDArray[np.int64], shown: bool) -> None:
        if len(rows) and (self._shown[rows] != shown).any():
            self._shown[rows] = shown
            self.version += 1

    def _rows(self, label: int) -> NDArray[np.int64]:
        chosen = self._shown.copy()
        if label != ANY_LABEL:
            chosen &= self._objects["label"] == label
        return np.flatnonzero(chosen)

    def boxes(self, label: int) -> list[Any]:
        """World boxes of everything with a label, sign posts and signal heads included."""
        found = [self._box(int(row)) for row in self._rows(label)]
        if label in (ANY_LABEL, LABEL_LIGHT):
            found += [_post_box(spec.pose) for spec in self._town.lights]
        if label in (ANY_LABEL, LABEL_SIGN):
            found += [_post_box(spec.pose) for spec in self._town.signs]
        return found

    def _box(self, row: int) -> list[Any]:
        item = self._objects[row]
        wide = float(item["ey"]) if item["shape"] == Shape.BOX else float(item["ex"])
        high = float(item["ex"]) if item["shape"] == Shape.SPHERE else float(item["ez"])
        return [
            [float(item["x"]), float(item["y"]), float(item["z"])],
            [float(item["ex"]), wide, high],
            [0.0, math.degrees(float(item["yaw"])), 0.0],
            0,
        ]

    def objects(self, label: int) -> list[Any]:
        """EnvironmentObject structs: transform, box, id, name, label."""
        result = []
        for row in self._rows(label):
            box = self._box(int(row))
            result.append(
                [
                    [box[0], box[2]],
                    box,
                    int(row) + 1,
                    self.name(int(row)),
                    int(self._objects[row]["label"]),
                ]
            )
        if label in (ANY_LABEL, LABEL_LIGHT):
            result += self._signal_heads()
        return result

    def _signal_heads(self) -> list[Any]:
        """Traffic lights, which are actors too: they can be found here, but not hidden."""
        first = len(self._objects) + 1
        boxes = [_post_box(spec.pose) for spec in self._town.lights]
        return [
            [[box[0], box[2]], box, number, f"TrafficLight_{spec.signal_id}", LABEL_LIGHT]
            for number, (spec, box) in enumerate(zip(self._town.lights, boxes, strict=True), first)
        ]

    def name(self, row: int) -> str:
        """Name of an object: its kind and number."""
        return f"{KINDS[int(self._objects[row]['kind'])].title().replace('_', '')}_{row + 1}"

    def names(self) -> list[str]:
        """Names of all objects."""
        return [self.name(row) for row in range(len(self._objects))]


def _post_box(pose: Any) -> list[Any]:
    return [[pose.x, pose.y, pose.z + 1.5], [0.3, 0.3, 1.5], [0.0, pose.yaw, 0.0], 0]
