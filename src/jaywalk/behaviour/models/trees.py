"""Decision trees as plain arrays: what is learnt can be stored without pickles."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from jaywalk.behaviour.models.base import Arrays

NAMES = ("feature", "threshold", "left", "right")


def stored_trees(trees: list[Any]) -> Arrays:
    """Nodes of scikit-learn's trees one after another; ``root`` says where each begins.

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
    """The leaf of every row in every tree, ``(n, trees)``."""
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
    found = np.empty((table.shape[0], root.shape[0]), np.int32)
    for i in range(table.shape[0]):
        for t in range(root.shape[0]):
            node = root[t]
            while left[node] != node:
                if np.float64(table[i, feature[node]]) <= threshold[node]:
                    node = left[node]
                else:
                    node = right[node]
            found[i, t] = node
    return found
