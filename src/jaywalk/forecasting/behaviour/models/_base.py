"""What a model of behaviour is: it fits arrays to examples, and answers with them."""

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
    """How one seed is fitted.

    Attributes:
        tasks: Tasks to learn at once.
        seed: Of everything random.
        checkpoint: File to go on from and to keep progress in, for models that take long.
        report: Called with progress.
    """

    tasks: tuple[str, ...]
    seed: int
    checkpoint: Path | None = None
    report: Report = lambda row: None


class BehaviourModel(Protocol):
    """A kind of model with its config; what was learnt is plain arrays by name."""

    @property
    def config(self) -> Any:
        """A dataclass; goes into ``model.json``."""
        ...

    @property
    def is_fixed(self) -> bool:
        """Whether nothing is learnt, so that one seed is as good as many."""
        ...

    def fit(self, training: Examples, validation: Examples, fitting: Fitting) -> Arrays:
        """Learn from training; validation is for stopping only."""
        ...

    def predict(self, arrays: Arrays, inputs: Inputs, task: str) -> FloatArray:
        """Probabilities ``(n, 1)`` for action, else ``(n, classes)``."""
        ...


def configured(config: Any, values: Mapping[str, Any]) -> Any:
    """A config with some values replaced; unknown names are an error."""
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
    """Weights of classes: shares to the power of ``-balance``; their mean over samples is 1."""
    share = np.maximum(np.bincount(labels, minlength=n_classes), 1) / max(len(labels), 1)
    weights = share**-balance
    return np.asarray(weights / (weights * share).sum() * share.sum())


def as_columns(probabilities: FloatArray, task: str) -> FloatArray:
    """Class probabilities as a prediction file has them."""
    return probabilities[:, 1:] if task == "action" else probabilities


def refuse(name: str, task: str, can: tuple[str, ...]) -> None:
    """Raise if a model does not answer a task."""
    if task not in can:
        raise UsageError(f"The model '{name}' answers {' and '.join(can)}, not {task}.")
