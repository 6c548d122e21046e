"""Decision trees as plain arrays, and windows as rows of features for them.

Plain arrays can be stored without pickles. The jitter of a box is deliberately not a feature: it
reflects the care of the annotation, and people with tags, among them all who cross, were annotated
with more care.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numba import njit
from numpy.typing import NDArray

from jaywalk.core.arrays import FloatArray
from jaywalk.forecasting.behaviour._inputs import WIDTH_PX, Inputs
from jaywalk.forecasting.behaviour.models._base import Arrays
from jaywalk.forecasting.behaviour.tasks import OBSERVED_FRAMES, RISK_HORIZON_FRAMES

_PARTS: Final = {"all": slice(0, 15), "first": slice(0, 8), "second": slice(7, 15)}
_MOST_FRAMES_OUT: Final = 300.0


def tabular(inputs: Inputs) -> tuple[FloatArray, list[str]]:
    """Return the table ``(n, k)`` and the names of its columns."""
    columns: dict[str, NDArray[Any]] = {}
    columns |= _box_columns(inputs)
    columns |= _neighbour_columns(inputs, columns["vx_all"])
    columns |= _context_columns(inputs)
    if inputs.looking is not None:
        columns |= _look_columns(inputs.looking.astype(np.float64))
    table = np.stack([np.asarray(c, np.float64) for c in columns.values()], axis=1)
    return table, list(columns)


def _box_columns(inputs: Inputs) -> dict[str, NDArray[Any]]:
    boxes = inputs.boxes.astype(np.float64)
    x, y = (boxes[..., 0] + boxes[..., 2]) / 2.0, (boxes[..., 1] + boxes[..., 3]) / 2.0
    wide, high = boxes[..., 2] - boxes[..., 0], boxes[..., 3] - boxes[..., 1]
    aspect, log_high = wide / np.maximum(high, 1.0), np.log(np.maximum(high, 1.0))
    columns: dict[str, NDArray[Any]] = {
        "x": x[:, -1],
        "y": y[:, -1],
        "bottom": boxes[:, -1, 3],
        "width": wide[:, -1],
        "height": high[:, -1],
        "off_centre": np.abs(x[:, -1] - WIDTH_PX / 2.0),
        "edge": np.minimum(boxes[:, -1, 0], WIDTH_PX - boxes[:, -1, 2]),
        "bottom_by_height": (boxes[:, -1, 3] - 540.0) / np.maximum(high[:, -1], 1.0),
        "x_by_height": (x[:, -1] - WIDTH_PX / 2.0) / np.maximum(high[:, -1], 1.0),
        "aspect_mean": aspect.mean(1),
        "aspect_min": aspect.min(1),
        "aspect_max": aspect.max(1),
        "aspect_last": aspect[:, -1],
    }
    for name, part in _PARTS.items():
        columns[f"vx_{name}"] = _slope(x[:, part])
        columns[f"vy_{name}"] = _slope(boxes[:, part, 3])
        columns[f"growth_{name}"] = _slope(log_high[:, part])
        columns[f"widening_{name}"] = _slope(wide[:, part])
    vx = columns["vx_all"]
    columns |= {
        "vx_by_height": vx / np.maximum(high[:, -1], 1.0),
        "vx_last": x[:, -1] - x[:, -3],
        "turn": columns["vx_second"] - columns["vx_first"],
        "inwards": -np.sign(x[:, -1] - WIDTH_PX / 2.0) * vx,
        "speed": np.abs(vx),
        "goes_to": x[:, -1] + RISK_HORIZON_FRAMES * (x[:, -1] - x[:, 0]) / (OBSERVED_FRAMES - 1),
        "frames_to_side": _frames_to(x[:, -1], vx, 0.0, WIDTH_PX),
        "frames_to_middle": _frames_to(x[:, -1], vx, WIDTH_PX / 2.0, WIDTH_PX / 2.0),
    }
    return columns


def _slope(values: FloatArray) -> FloatArray:
    """Return the change per frame by least squares."""
    t = np.arange(values.shape[1]) - (values.shape[1] - 1) / 2.0
    return np.asarray((values * t).sum(1) / (t**2).sum())


def _frames_to(x: NDArray[Any], vx: NDArray[Any], low: float, high: float) -> FloatArray:
    """Return signed, bounded frames until the centre reaches ``low`` (left) or ``high`` (right)."""
    place, speed = np.asarray(x, np.float64), np.asarray(vx, np.float64)
    goal = np.where(speed < 0, low, high)
    safe = np.where(np.abs(speed) < 0.05, 0.05, speed)
    return np.asarray(np.clip((goal - place) / safe, -_MOST_FRAMES_OUT, _MOST_FRAMES_OUT))


def _neighbour_columns(inputs: Inputs, vx: NDArray[Any]) -> dict[str, NDArray[Any]]:
    rows = inputs.neighbours.astype(np.float64)
    there = rows[..., 5] > 0
    count = there.sum(1)
    own = np.asarray(vx, np.float64)

    def middle(k: int) -> FloatArray:
        # The median motion of other people shows the turn of the camera; unknown without them.
        values = np.where(there[:, :1] | (count[:, None] > 0), rows[..., k], 0.0)
        masked = np.where(there, values, np.nan)
        masked[count == 0] = 0.0
        return np.asarray(np.nanmedian(masked, axis=1))

    flow = middle(3)
    distance = np.hypot(rows[..., 0], rows[..., 1])
    nearest = np.where(there, distance, WIDTH_PX).min(1)
    taller = (there & (rows[..., 2] > 0)).sum(1)
    return {
        "others": count,
        "others_vx": flow,
        "others_vy": middle(4),
        "vx_to_others": np.where(count > 0, own - flow, 0.0),
        "nearest": nearest,
        "others_taller": taller,
        "others_size": middle(2),
        "others_dx": middle(0),
        "with_me": (there & (distance < 200.0) & (np.abs(rows[..., 3] - own[:, None]) < 2.0)).sum(
            1
        ),
    }


def _context_columns(inputs: Inputs) -> dict[str, NDArray[Any]]:
    columns: dict[str, NDArray[Any]] = {}
    for k in range(inputs.ego.shape[2]):
        columns[f"ego_{k}"] = inputs.ego[..., k].mean(1)
        columns[f"ego_last_{k}"] = inputs.ego[:, -1, k]
    for k in range(inputs.scene.shape[2]):
        columns[f"scene_{k}"] = inputs.scene[..., k].mean(1)
    columns["occlusion"] = inputs.occlusion.mean(1)
    columns["occlusion_last"] = inputs.occlusion[:, -1]
    for k in range(inputs.place.shape[1]):
        columns[f"place_{k}"] = inputs.place[:, k]
    return columns


def _look_columns(looking: FloatArray) -> dict[str, NDArray[Any]]:
    return {
        "looking": looking.mean(1),
        "looking_last": looking[:, -1],
        "looked": looking.max(1),
        "looking_more": looking[:, _PARTS["second"]].mean(1) - looking[:, _PARTS["first"]].mean(1),
    }


NAMES = ("feature", "threshold", "left", "right")


def stored_trees(trees: list[Any]) -> Arrays:
    """Return the nodes of scikit-learn's trees in sequence; ``root`` holds the starts.

    Children are numbered over all trees; a leaf is its own child.
    """
    parts: dict[str, list[NDArray[Any]]] = {name: [] for name in NAMES}
    roots, start = [], 0
    for tree in trees:
        own = np.arange(tree.node_count)
        leaf = tree.children_left < 0
        roots.append(start)
        parts["feature"].append(np.where(leaf, 0, tree.feature).astype(np.int16))
        parts["threshold"].append(np.where(leaf, 0.0, tree.threshold))
        for side, name in ((tree.children_left, "left"), (tree.children_right, "right")):
            parts[name].append((np.where(leaf, own, side) + start).astype(np.int32))
        start += tree.node_count
    found: Arrays = {name: np.concatenate(rows) for name, rows in parts.items()}
    found["root"] = np.array(roots, np.int32)
    return found


def leaves(arrays: Arrays, table: NDArray[np.float64]) -> NDArray[np.int32]:
    """Return the leaf of every row in every tree, ``(n, trees)``."""
    # scikit-learn compares 32-bit values with 64-bit thresholds; so do we.
    return np.asarray(
        _descend(
            table.astype(np.float32),
            arrays["feature"],
            arrays["threshold"],
            arrays["left"],
            arrays["right"],
            arrays["root"],
        )
    )


@njit(cache=True)
def _descend(
    table: NDArray[np.float32],
    feature: NDArray[np.int16],
    threshold: NDArray[np.float64],
    left: NDArray[np.int32],
    right: NDArray[np.int32],
    root: NDArray[np.int32],
) -> NDArray[np.int32]:
    reached = np.empty((table.shape[0], root.shape[0]), np.int32)
    for i in range(table.shape[0]):
        for t in range(root.shape[0]):
            node = root[t]
            while left[node] != node:
                if np.float64(table[i, feature[node]]) <= threshold[node]:
                    node = left[node]
                else:
                    node = right[node]
            reached[i, t] = node
    return reached
