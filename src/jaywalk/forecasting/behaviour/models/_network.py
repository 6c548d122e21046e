"""Torch networks as behaviour models: inputs, losses, training with early stopping, prediction.

All networks get the same input arrays, scaled to a size of about 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.arrays import FloatArray
from jaywalk.core.errors import DataError, UsageError
from jaywalk.core.seeds import derive_seed
from jaywalk.forecasting._training import run_training
from jaywalk.forecasting.behaviour._inputs import HEIGHT_PX, WIDTH_PX, Inputs
from jaywalk.forecasting.behaviour._targets import N_FUTURE, Examples
from jaywalk.forecasting.behaviour.models._base import (
    CLASSES,
    Arrays,
    Fitting,
    as_columns,
    class_weights,
)
from jaywalk.forecasting.torch_needed import torch
from jaywalk.metrics.behaviour.ranking import mean_average_precision

GRID_PX: Final = 60.0
GRID_COLUMNS: Final = 33
GRID_CELLS: Final = GRID_COLUMNS * 19
WIDTHS: Final = {"box": 10, "ego": 6, "scene": 9, "neighbours": 6}
"""Numbers per frame (per neighbour) of each input; looks are one more in ``box``."""


def network_inputs(inputs: Inputs) -> dict[str, NDArray[np.generic]]:
    """Return arrays by name: ``box``, ``ego``, ``scene`` over frames, ``neighbours``, ``grid``."""
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
    looks = [] if inputs.looking is None else [inputs.looking[..., None]]
    return {
        "box": np.concatenate([place, relative, more, *looks], -1).astype(np.float32),
        "ego": inputs.ego,
        "scene": np.concatenate([inputs.scene, road], -1),
        "neighbours": others.astype(np.float32),
        "grid": (row * GRID_COLUMNS + column).astype(np.int64),
    }


Tensors = dict[str, Any]
_FUTURE_SCALE_PX = 50.0
_CHUNK = 2048


def train_network(
    model: NetworkModel, training: Examples, validation: Examples, fitting: Fitting
) -> Arrays:
    """Train one seed, or continue from its checkpoint."""
    config, heads = model.config, model.heads(fitting.tasks)

    def tell(row: dict[str, Any]) -> None:
        fitting.report(
            {"epoch": row["epoch"], "loss": row["loss"], "validation_map": float(row["score"][0])}
        )

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(derive_seed(fitting.seed, "behaviour network") >> 1)
        best = run_training(
            _NetworkLearner(model, training, validation, fitting),
            epochs=config.epochs,
            report=tell,
            identity={"config": asdict(config), "tasks": fitting.tasks, "seed": fitting.seed},
            checkpoint=fitting.checkpoint,
            patience=config.patience,
        )
    return best.of_seed(0) | _named(heads)


def network_of(model: NetworkModel, heads: dict[str, int], arrays: Arrays) -> Any:
    """Return the module with given parameters, ready to predict."""
    module = model.network(model.config, heads)
    names = module.state_dict().keys()
    missing = sorted(set(names) - set(arrays))
    if missing:
        raise DataError(f"the model's file lacks '{missing[0]}'; train it again.")
    module.load_state_dict({name: torch.as_tensor(arrays[name]) for name in names})
    return module.eval()


def probabilities(module: Any, given: dict[str, NDArray[Any]], task: str) -> NDArray[np.float32]:
    """Return class probabilities ``(n, classes)``."""
    tensors, parts = _tensors(given), []
    with torch.no_grad():
        for start in range(0, len(given["box"]), _CHUNK):
            part = {name: value[start : start + _CHUNK] for name, value in tensors.items()}
            parts.append(torch.softmax(module(part)[task], dim=1).numpy())
    return np.concatenate(parts) if parts else np.zeros((0, CLASSES[task]), np.float32)


class _NetworkLearner:
    """One seed of a network; training samples are mirrored at random."""

    def __init__(
        self, model: NetworkModel, training: Examples, validation: Examples, fitting: Fitting
    ) -> None:
        config, heads = model.config, model.heads(fitting.tasks)
        data = training.with_mirrored()
        self._count, self._batch, self._fitting = len(training), config.batch, fitting
        self._inputs, self._targets = _tensors(network_inputs(data.inputs)), _answers(data)
        self._weights = _losses(training, heads, config.balance)
        self._validation, self._validation_inputs = validation, network_inputs(validation.inputs)
        self._module = model.network(config, heads)
        self._optimiser = torch.optim.Adam(
            self._module.parameters(), lr=config.rate, weight_decay=config.decay
        )

    def learn(self, epoch: int) -> dict[str, Any]:
        """Use every sample once, as it is or mirrored."""
        torch.manual_seed(derive_seed(self._fitting.seed, "behaviour epoch", epoch) >> 1)
        self._module.train()
        n = self._count
        order = torch.randperm(n) + n * torch.randint(0, 2, (n,))
        total, steps = 0.0, 0
        for start in range(0, n, self._batch):
            rows = order[start : start + self._batch]
            logits = self._module({name: value[rows] for name, value in self._inputs.items()})
            targets = {name: value[rows] for name, value in self._targets.items()}
            loss = _loss(logits, targets, self._weights)
            self._optimiser.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self._module.parameters(), 1.0)
            self._optimiser.step()
            total, steps = total + float(loss.detach()), steps + 1
        self._module.eval()
        return {"loss": total / max(steps, 1)}

    def validate(self) -> FloatArray:
        """Mean over tasks of mAP on validation."""
        score = _validation_score(
            self._module, self._validation_inputs, self._validation, self._fitting.tasks
        )
        return np.array([score])

    def parameters(self) -> Arrays:
        """Return the present parameters, with an axis for the one seed."""
        return {
            name: value.detach().numpy()[None].copy()
            for name, value in self._module.state_dict().items()
        }

    def state(self) -> Arrays:
        """Return the parameters and Adam's moments."""
        arrays = {
            f"now.{name}": value.detach().numpy().copy()
            for name, value in self._module.state_dict().items()
        }
        for i, moments in self._optimiser.state_dict()["state"].items():
            arrays |= {f"adam.{i}.{name}": np.asarray(value) for name, value in moments.items()}
        return arrays

    def restore(self, state: Arrays) -> None:
        """Continue from :meth:`state`."""
        now = {n[4:]: torch.as_tensor(a) for n, a in state.items() if n.startswith("now.")}
        self._module.load_state_dict(now)
        optimiser = self._optimiser.state_dict()
        for name, value in state.items():
            if name.startswith("adam."):
                _, number, moment = name.split(".", 2)
                optimiser["state"].setdefault(int(number), {})[moment] = torch.as_tensor(value)
        self._optimiser.load_state_dict(optimiser)


def _loss(logits: Tensors, wanted: Tensors, weights: Tensors) -> Any:
    """Return cross entropies over tasks plus log-cosh of future boxes, without unknown values."""
    total = torch.zeros(())
    for task, output in logits.items():
        answer = wanted[task]
        if task == "future":
            known = torch.isfinite(answer)
            error = output.reshape(answer.shape)[known] - answer[known]
            # log cosh, written so that it does not overflow
            cosh = error.abs() + torch.nn.functional.softplus(-2.0 * error.abs()) - np.log(2.0)
            total = total + (cosh.mean() if known.any() else 0.0)
        elif (answer >= 0).any():
            total = total + torch.nn.functional.cross_entropy(
                output, answer, weight=weights[task], ignore_index=-1
            )
    return total


def _losses(training: Examples, heads: dict[str, int], balance: float) -> Tensors:
    weights = {}
    for task in heads:
        if task == "future":
            continue
        labels = training.targets.of_task(task)
        known = labels[labels >= 0]
        power = 1.0 if task == "action" else balance
        weight = class_weights(known, CLASSES[task], power)
        weights[task] = torch.as_tensor(weight, dtype=torch.float32)
    return weights


def _validation_score(
    module: Any, given: dict[str, NDArray[Any]], validation: Examples, tasks: tuple[str, ...]
) -> float:
    """Mean over tasks of mAP on validation."""
    scores = []
    for task in tasks:
        labels = validation.targets.of_task(task)
        values = as_columns(probabilities(module, given, task).astype(np.float64), task)
        known = labels >= 0
        scores.append(mean_average_precision(labels[known], values[known]))
    return float(np.mean(scores))


def _answers(data: Examples) -> Tensors:
    targets = data.targets
    found = {task: torch.as_tensor(targets.of_task(task)) for task in CLASSES}
    return found | {"future": torch.as_tensor(targets.future / _FUTURE_SCALE_PX)}


def _tensors(given: dict[str, NDArray[Any]]) -> Tensors:
    return {name: torch.as_tensor(np.ascontiguousarray(a)) for name, a in given.items()}


def _named(heads: dict[str, int]) -> Arrays:
    return {"heads": np.array(list(heads)), "sizes": np.array(list(heads.values()))}


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkConfig:
    """Settings that all networks share.

    Attributes:
        epochs: Maximum number of passes over the samples.
        patience: Passes without a better validation score before training stops.
        batch: Samples per step.
        rate: Learning rate of Adam.
        decay: Weight decay.
        dropout: Share of values dropped before the heads.
        balance: Class weights are shares to the power of minus this (action: 1, as published).
        learns_all: Learn all tasks with known answers and the future boxes, not only the
            requested tasks.
        looks: Looks at the car are an input; the cues of the training set it.
    """

    epochs: int = 25
    patience: int = 5
    batch: int = 128
    rate: float = 2e-3
    decay: float = 1e-4
    dropout: float = 0.3
    balance: float = 0.25
    learns_all: bool = False
    looks: bool = False

    @property
    def widths(self) -> dict[str, int]:
        """Numbers per frame (per neighbour) of each input."""
        return WIDTHS | {"box": WIDTHS["box"] + int(self.looks)}


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkModel:
    """A network: ``network(config, heads)`` makes the module; arrays are its parameters."""

    config: NetworkConfig
    network: Callable[..., Any]
    is_fixed: bool = False

    def heads(self, tasks: tuple[str, ...]) -> dict[str, int]:
        """Number of outputs of the network for each task."""
        found = {task: CLASSES[task] for task in tasks}
        if self.config.learns_all:
            found = {"action": 2, "risk": CLASSES["risk"]} | found | {"future": N_FUTURE * 4}
        return found

    def fit(self, training: Examples, validation: Examples, fitting: Fitting) -> Arrays:
        """Train one seed; return the parameters with the best validation score."""
        return train_network(self, training, validation, fitting)

    def predict(self, arrays: Arrays, inputs: Inputs, task: str) -> FloatArray:
        """Return the probabilities of a learnt task."""
        heads = {
            str(name): int(n) for name, n in zip(arrays["heads"], arrays["sizes"], strict=True)
        }
        if task not in heads:
            raise UsageError(f"This model has learnt {', '.join(heads)}, not {task}.")
        module = network_of(self, heads, arrays)
        found = probabilities(module, network_inputs(inputs), task)
        return as_columns(found.astype(np.float64), task)
