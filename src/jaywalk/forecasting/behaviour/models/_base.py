"""Interface of behaviour models: a model fits arrays to examples and predicts with them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.arrays import FloatArray
from jaywalk.core.errors import UsageError
from jaywalk.forecasting.behaviour._inputs import Inputs
from jaywalk.forecasting.behaviour._targets import Examples
from jaywalk.forecasting.behaviour.tasks import N_REGIONS

Arrays = dict[str, NDArray[Any]]
Report = Callable[[dict[str, Any]], None]

CLASSES: Final = {"action": 2, "intention": 3, "risk": N_REGIONS}
"""Classes of each task; action has one column, the probability of crossing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitting:
    """Settings for the fit of one seed.

    Attributes:
        tasks: Tasks to learn together.
        seed: Seed of all random numbers.
        checkpoint: File to continue from and to save progress in, for slow models.
        report: Function called with the progress.
    """

    tasks: tuple[str, ...]
    seed: int
    checkpoint: Path | None = None
    report: Report = lambda row: None


class BehaviourModel(Protocol):
    """A kind of model with its config; learnt parameters are plain arrays by name."""

    @property
    def config(self) -> Any:
        """Dataclass of settings, stored in ``model.json``."""
        ...

    @property
    def is_fixed(self) -> bool:
        """Return whether the model learns nothing, so that one seed is enough."""
        ...

    def fit(self, training: Examples, validation: Examples, fitting: Fitting) -> Arrays:
        """Learn from ``training``; ``validation`` is used only for stopping."""
        ...

    def predict(self, arrays: Arrays, inputs: Inputs, task: str) -> FloatArray:
        """Return probabilities ``(n, 1)`` for action, else ``(n, classes)``."""
        ...


def configured(config: Any, values: Mapping[str, Any]) -> Any:
    """Return a config with some values replaced; unknown names are an error."""
    known = asdict(config)
    wrong = sorted(set(values) - set(known))
    if wrong:
        raise UsageError(
            f"The config has no '{wrong[0]}'; expected some of {', '.join(known) or 'nothing'}."
        )
    kinds = {f.name: type(getattr(config, f.name)) for f in fields(config)}
    for name, value in values.items():
        number = kinds[name] in (int, float) and isinstance(value, int | float)
        if not (number or isinstance(value, kinds[name])):
            raise UsageError(
                f"The config's '{name}' is {value!r}; expected a {kinds[name].__name__}."
            )
    return replace(config, **{name: kinds[name](value) for name, value in values.items()})


def class_weights(labels: NDArray[np.int64], n_classes: int, balance: float) -> FloatArray:
    """Return class weights: shares to the power of ``-balance``; mean over samples is 1."""
    share = np.maximum(np.bincount(labels, minlength=n_classes), 1) / max(len(labels), 1)
    weights = share**-balance
    return np.asarray(weights / (weights * share).sum() * share.sum())


def as_columns(probabilities: FloatArray, task: str) -> FloatArray:
    """Return class probabilities in the columns of a prediction file."""
    return probabilities[:, 1:] if task == "action" else probabilities


def refuse(name: str, task: str, can: tuple[str, ...]) -> None:
    """Raise if a model does not answer a task."""
    if task not in can:
        raise UsageError(f"The model '{name}' answers {' and '.join(can)}, not {task}.")
