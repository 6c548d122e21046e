"""Inputs of the networks: the same arrays for all, about 1 in size."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.behaviour.inputs import HEIGHT_PX, WIDTH_PX, Inputs

GRID_PX: Final = 60.0
GRID_COLUMNS: Final = 33
GRID_CELLS: Final = GRID_COLUMNS * 19
WIDTHS: Final = {"box": 10, "ego": 6, "scene": 9, "neighbours": 6}
"""Numbers per frame (per neighbour) of each input."""


def network_inputs(inputs: Inputs) -> dict[str, NDArray[np.generic]]:
    """Arrays by name: ``box``, ``ego``, ``scene`` over frames, ``neighbours``, ``grid`` cells."""
    boxes = inputs.boxes.astype(np.float32)
    x, y = (boxes[..., 0] + boxes[..., 2]) / 2.0, (boxes[..., 1] + boxes[..., 3]) / 2.0
    wide, high = boxes[..., 2] - boxes[..., 0], np.maximum(boxes[..., 3] - boxes[..., 1], 1.0)
    place = np.stack(
        [x / (WIDTH_PX / 2.0) - 1.0, y / (HEIGHT_PX / 2.0) - 1.0, wide / 100.0, high / 200.0], -1
    )
    shape = np.stack([x / 50.0, y / 50.0, wide / 50.0, high / 50.0], -1)
    relative = shape - shape[:, -1:]  # as the benchmark: relative to the last observed box
    more = np.stack([np.log(high) - 5.0, wide / high * 4.0 - 1.6], -1)
    frames = boxes.shape[1]
    road = np.repeat(inputs.place[:, None], frames, axis=1)
    others = inputs.neighbours / np.array([200.0, 100.0, 1.0, 5.0, 5.0, 1.0], np.float32)
    column = np.clip(np.round(x / GRID_PX), 0, GRID_COLUMNS - 1)
    row = np.clip(np.round(y / GRID_PX), 0, GRID_CELLS // GRID_COLUMNS - 1)
    return {
        "box": np.concatenate([place, relative, more], -1).astype(np.float32),
        "ego": inputs.ego,
        "scene": np.concatenate([inputs.scene, road], -1),
        "neighbours": others.astype(np.float32),
        "grid": (row * GRID_COLUMNS + column).astype(np.int64),
    }
