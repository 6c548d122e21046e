"""How often a model is right about what a person wants and about what they do, taken together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

OUTCOMES = ("both_right", "intention_only", "action_only", "both_wrong")


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """Agreement of intention and action.

    Attributes:
        counts: Samples by class pair and outcome, ``(n_intentions * n_actions, 4)``; rows are
            ordered by intention, then action, columns as ``OUTCOMES``.
        shares: Percent of each outcome's samples per class pair; columns sum to 100.
        overall: Percent of all samples per outcome; sums to 100.
    """

    counts: IntArray
    shares: FloatArray
    overall: FloatArray


def agreement(
    intention: IntArray,
    intention_decided: IntArray,
    action: IntArray,
    action_decided: IntArray,
    n_intentions: int = 3,
    n_actions: int = 2,
) -> Agreement:
    """Cross-tabulate samples by their two classes and by which of the two decisions is right."""
    pair = intention * n_actions + action
    outcome = 2 * (intention != intention_decided) + (action != action_decided)
    n_pairs = n_intentions * n_actions
    counts = np.bincount(pair * 4 + outcome, minlength=n_pairs * 4).reshape(n_pairs, 4)
    per_outcome = counts.sum(0)
    return Agreement(
        counts=counts,
        shares=100.0 * counts / np.maximum(per_outcome, 1),
        overall=100.0 * per_outcome / max(len(pair), 1),
    )
