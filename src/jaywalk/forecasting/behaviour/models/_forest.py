"""Extremely randomised trees whose leaves store the training people.

Action and intention are the shares of each class among the training people in the leaves. For risk,
the displacements of those people are added to the position of the present person, and the resulting
distribution is cut at the edges of the regions. A motion learnt on the left is thus known on the
right.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.arrays import FloatArray
from jaywalk.core.seeds import derive_seed
from jaywalk.forecasting.behaviour._inputs import WIDTH_PX, Inputs
from jaywalk.forecasting.behaviour._targets import Examples
from jaywalk.forecasting.behaviour.models._base import (
    CLASSES,
    Arrays,
    Fitting,
    as_columns,
    class_weights,
)
from jaywalk.forecasting.behaviour.models._trees import leaves, stored_trees, tabular
from jaywalk.forecasting.behaviour.models.registry import behaviour_model
from jaywalk.forecasting.behaviour.tasks import N_REGIONS


@dataclass(frozen=True, slots=True, kw_only=True)
class ForestConfig:
    """Settings.

    Attributes:
        trees: Number of trees.
        least: Minimum number of samples in a leaf.
        columns: Share of the features that a split may choose from.
        balance: Class weights are shares to the power of minus this.
        risk_balance: As ``balance``, for the regions of risk.
    """

    trees: int = 100
    least: int = 6
    columns: float = 0.4
    balance: float = 1.0
    risk_balance: float = 0.25


@behaviour_model("forest", summary="random trees; risk as a displacement")
@dataclass(frozen=True, slots=True, kw_only=True)
class Forest:
    """One forest per task."""

    config: ForestConfig = ForestConfig()
    is_fixed: bool = False

    def fit(self, training: Examples, validation: Examples, fitting: Fitting) -> Arrays:
        """Fit every task separately, to the examples and their mirror images."""
        both = training.with_mirrored()
        table, names = tabular(both.inputs)
        arrays: Arrays = {"features": np.array(names)}
        for task in fitting.tasks:
            seed = derive_seed(fitting.seed, "forest", task) % 2**32
            labels = both.targets.of_task(task)
            if task == "risk":
                moved = both.targets.final_px - both.inputs.centres_px[:, -1]
                part = self._fit_risk(table, moved, labels, seed)
            else:
                known = labels >= 0
                part = self._fit_classes(task, table[known], labels[known], seed)
            arrays |= {f"{task}.{name}": value for name, value in part.items()}
        return arrays

    def _options(self, seed: int) -> dict[str, object]:
        return {
            "n_estimators": self.config.trees,
            "min_samples_leaf": self.config.least,
            "max_features": self.config.columns,
            "random_state": seed,
        }

    def _fit_classes(
        self, task: str, table: FloatArray, labels: NDArray[np.int64], seed: int
    ) -> Arrays:
        from sklearn.ensemble import ExtraTreesClassifier  # slow to import

        weights = class_weights(labels, CLASSES[task], self.config.balance)
        model = ExtraTreesClassifier(**self._options(seed))
        model.fit(table, labels, sample_weight=weights[labels])
        arrays = stored_trees([one.tree_ for one in model.estimators_])
        shares = np.concatenate([one.tree_.value[:, 0] for one in model.estimators_])
        value = np.zeros((len(shares), CLASSES[task]), np.float32)
        value[:, model.classes_] = shares / shares.sum(1, keepdims=True)
        return arrays | {"value": value}

    def _fit_risk(
        self, table: FloatArray, moved_px: FloatArray, labels: NDArray[np.int64], seed: int
    ) -> Arrays:
        from sklearn.ensemble import ExtraTreesRegressor  # slow to import

        model = ExtraTreesRegressor(**self._options(seed)).fit(table, moved_px)
        arrays = stored_trees([one.tree_ for one in model.estimators_])
        reached = leaves(arrays, table)
        # People of each leaf in sequence, for all trees; leaf numbers continue over trees.
        order = np.argsort(reached.ravel(), kind="stable")
        people = np.repeat(np.arange(len(table)), reached.shape[1])[order]
        sizes = np.bincount(reached.ravel(), minlength=len(arrays["left"]))
        arrays["begin"] = np.append(0, np.cumsum(sizes)).astype(np.int64)
        arrays["moved"] = moved_px[people].astype(np.float32)
        weights = class_weights(labels, N_REGIONS, self.config.risk_balance)
        return arrays | {"weights": weights}

    def predict(self, arrays: Arrays, inputs: Inputs, task: str) -> FloatArray:
        """Return the probabilities of a learnt task."""
        part = {n.split(".", 1)[1]: a for n, a in arrays.items() if n.startswith(f"{task}.")}
        table, _ = tabular(inputs)
        reached = leaves(part, table)
        if task != "risk":
            return as_columns(part["value"][reached].astype(np.float64).mean(1), task)
        shares = np.zeros((len(table), N_REGIONS))
        start_px = inputs.centres_px[:, -1].astype(np.float64)
        for t in range(reached.shape[1]):
            _add_regions(shares, reached[:, t], part["begin"], part["moved"], start_px)
        shares *= part["weights"]
        return np.asarray(shares / shares.sum(1, keepdims=True))


def _add_regions(
    shares: FloatArray,
    leaf: NDArray[np.int32],
    begin: NDArray[np.int64],
    moved_px: NDArray[np.float32],
    start_px: FloatArray,
) -> None:
    """Add the region probabilities from the people in one tree's leaves."""
    n = begin[leaf + 1] - begin[leaf]
    row = np.repeat(np.arange(len(leaf)), n)
    place = np.arange(n.sum()) - np.repeat(np.cumsum(n) - n, n) + np.repeat(begin[leaf], n)
    centre = start_px[row] + moved_px[place]
    region = np.clip(np.floor(centre / (WIDTH_PX / N_REGIONS)), 0, N_REGIONS - 1).astype(np.int64)
    flat = np.bincount(row * N_REGIONS + region, 1.0 / n[row], shares.size)
    shares += flat.reshape(shares.shape)
