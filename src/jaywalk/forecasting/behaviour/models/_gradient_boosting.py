"""Gradient boosting on one row of numbers per window (see ``features``)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jaywalk.core.arrays import FloatArray
from jaywalk.core.seeds import derive_seed
from jaywalk.forecasting.behaviour._inputs import Inputs
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


@dataclass(frozen=True, slots=True, kw_only=True)
class GradientBoostingConfig:
    """Settings.

    Attributes:
        rounds: Maximum number of trees (times classes, if more than two); the validation loss
            selects the number.
        rate: Share of each tree that is added.
        leaves: Maximum number of leaves of a tree.
        least: Minimum number of samples in a leaf.
        columns: Share of the features that a split may choose from.
        rows: Share of the samples that a tree uses.
        balance: Class weights are shares to the power of minus this.
    """

    rounds: int = 250
    rate: float = 0.06
    leaves: int = 12
    least: int = 20
    columns: float = 0.15
    rows: float = 0.5
    balance: float = 0.5


@behaviour_model("gradient-boosting", summary="boosted trees on a table")
@dataclass(frozen=True, slots=True, kw_only=True)
class GradientBoosting:
    """One set of trees per task."""

    config: GradientBoostingConfig = GradientBoostingConfig()
    is_fixed: bool = False

    def fit(self, training: Examples, validation: Examples, fitting: Fitting) -> Arrays:
        """Fit every task separately, to the examples and their mirror images."""
        table, names = tabular(training.with_mirrored().inputs)
        arrays: Arrays = {"features": np.array(names)}
        targets = training.with_mirrored().targets
        for task in fitting.tasks:
            part = self._fit(task, table, targets.of_task(task), validation, fitting.seed)
            arrays |= {f"{task}.{name}": value for name, value in part.items()}
            fitting.report({"task": task, "rounds": int(part["rounds"])})
        return arrays

    def _fit(
        self, task: str, table: FloatArray, labels: np.ndarray, validation: Examples, seed: int
    ) -> Arrays:
        from sklearn.ensemble import GradientBoostingClassifier  # slow to import

        set_ = self.config
        known = labels >= 0
        table, labels = table[known], labels[known]
        model = GradientBoostingClassifier(
            n_estimators=set_.rounds,
            learning_rate=set_.rate,
            max_leaf_nodes=set_.leaves,
            max_depth=None,
            min_samples_leaf=set_.least,
            max_features=set_.columns,
            subsample=set_.rows,
            init="zero",
            random_state=derive_seed(seed, "gradient boosting", task) % 2**32,
        )
        weights = class_weights(labels, CLASSES[task], set_.balance)
        model.fit(table, labels, sample_weight=weights[labels])
        arrays = stored_trees([one.tree_ for one in model.estimators_.ravel()])
        values = [one.tree_.value[:, 0, 0] for one in model.estimators_.ravel()]
        arrays["value"] = np.concatenate(values) * set_.rate
        arrays["classes"] = model.classes_.astype(np.int64)
        arrays["rounds"] = np.array(len(model.estimators_))
        arrays["rounds"] = np.array(_best_rounds(arrays, task, validation))
        return arrays

    def predict(self, arrays: Arrays, inputs: Inputs, task: str) -> FloatArray:
        """Return the probabilities of a learnt task."""
        part = {n.split(".", 1)[1]: a for n, a in arrays.items() if n.startswith(f"{task}.")}
        table, _ = tabular(inputs)
        steps = _raw_by_round(part, table)
        raw = steps[: int(part["rounds"])].sum(0)
        return as_columns(_probabilities(raw, part["classes"], CLASSES[task]), task)


def _raw_by_round(part: Arrays, table: FloatArray) -> FloatArray:
    """Return the contribution of every round, ``(rounds, n, trees per round)``."""
    found = part["value"][leaves(part, table)]
    n_classes = len(part["classes"])
    per_round = 1 if n_classes == 2 else n_classes
    return np.asarray(np.moveaxis(found.reshape(len(table), -1, per_round), 0, 1))


def _probabilities(raw: FloatArray, classes: np.ndarray, n_classes: int) -> FloatArray:
    logits = np.concatenate([np.zeros_like(raw), raw], 1) if raw.shape[1] == 1 else raw
    logits = logits - logits.max(1, keepdims=True)
    shares = np.exp(logits)
    found = np.zeros((len(raw), n_classes))
    found[:, classes] = shares / shares.sum(1, keepdims=True)
    return found


def _best_rounds(part: Arrays, task: str, validation: Examples) -> int:
    labels = validation.targets.of_task(task)
    known = labels >= 0
    if not known.any():
        return int(part["rounds"])
    table, _ = tabular(validation.inputs)
    raw = np.cumsum(_raw_by_round(part, table[known]), axis=0)
    losses = []
    for one in raw:
        p = _probabilities(one, part["classes"], CLASSES[task])
        losses.append(-np.log(np.maximum(p[np.arange(len(p)), labels[known]], 1e-6)).mean())
    return int(np.argmin(losses)) + 1
