"""Networks in torch behind the common form of models: fitting with early stopping, predicting."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from jaywalk.behaviour.inputs import Inputs
from jaywalk.behaviour.models.base import CLASSES, Arrays, Fitting, FloatArray, as_columns
from jaywalk.behaviour.models.network_inputs import network_inputs
from jaywalk.behaviour.targets import N_FUTURE, Examples
from jaywalk.core.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkConfig:
    """Settings that all networks share.

    Attributes:
        epochs: Passes over the samples at most.
        patience: Passes without a better validation score before it stops.
        batch: Samples a step.
        rate: Learning rate of Adam.
        decay: Weight decay.
        dropout: Share of numbers dropped before the heads.
        balance: Weights of classes: shares to the power of minus this (action: 1, as published).
        learns_all: Learn all tasks with known answers and the future boxes, whatever was asked for.
    """

    epochs: int = 25
    patience: int = 5
    batch: int = 128
    rate: float = 2e-3
    decay: float = 1e-4
    dropout: float = 0.3
    balance: float = 0.25
    learns_all: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkModel:
    """A network: ``network(config, heads)`` makes the module; arrays are its parameters."""

    config: NetworkConfig
    network: Callable[..., Any]
    is_fixed: bool = False

    def heads(self, tasks: tuple[str, ...]) -> dict[str, int]:
        """Numbers that the network gives for each task."""
        found = {task: CLASSES[task] for task in tasks}
        if self.config.learns_all:
            found = {"action": 2, "risk": CLASSES["risk"]} | found | {"future": N_FUTURE * 4}
        return found

    def fit(self, training: Examples, validation: Examples, fitting: Fitting) -> Arrays:
        """Train one seed; the parameters of the best validation score."""
        from jaywalk.behaviour.models.network_training import train_network

        return train_network(self, training, validation, fitting)

    def predict(self, arrays: Arrays, inputs: Inputs, task: str) -> FloatArray:
        """Probabilities of a task that was learnt."""
        from jaywalk.behaviour.models.network_training import network_of, probabilities

        heads = {
            str(name): int(n) for name, n in zip(arrays["heads"], arrays["sizes"], strict=True)
        }
        if task not in heads:
            raise UsageError(f"This model has learnt {', '.join(heads)}, not {task}.")
        module = network_of(self, heads, arrays)
        found = probabilities(module, network_inputs(inputs), task)
        return as_columns(found.astype(np.float64), task)
