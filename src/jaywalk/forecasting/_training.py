"""Training loop of all networks: best epoch by validation, patience and resuming.

A :class:`Learner` holds its network, data and loss. The loop asks it to learn one epoch at a time,
keeps the best parameters of each seed, and writes a checkpoint after every validation. A learner
draws all randomness of an epoch from the seed and the epoch's number, so a resumed training gives
the same result as an unbroken one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.arrays import FloatArray, IntArray
from jaywalk.core.errors import UsageError
from jaywalk.core.files import load_arrays

Arrays: TypeAlias = dict[str, NDArray[Any]]
Report: TypeAlias = Callable[[dict[str, Any]], None]


class Learner(Protocol):
    """A network in training. The first axis of its parameters counts seeds."""

    def learn(self, epoch: int) -> dict[str, Any]:
        """Train one epoch; return figures for the report, such as the loss."""

    def validate(self) -> FloatArray:
        """Return the validation score of each seed, ``(seeds,)``; higher is better."""

    def parameters(self) -> Arrays:
        """Return copies of the present parameters by name, each ``(seeds, ...)``."""

    def state(self) -> Arrays:
        """Return the state needed to continue: parameters and the optimiser's moments."""

    def restore(self, state: Arrays) -> None:
        """Continue from a saved state."""


@dataclass(slots=True, kw_only=True)
class Best:
    """The best parameters so far.

    Attributes:
        parameters: By name, each ``(seeds, ...)``.
        score: Validation score of each seed, ``(seeds,)``.
        epoch: Number of epochs after which each seed was best, ``(seeds,)``; 0: never validated.
    """

    parameters: Arrays
    score: FloatArray
    epoch: IntArray

    def update(self, parameters: Arrays, score: FloatArray, epoch: int) -> None:
        """Store the parameters of the seeds that have improved."""
        better = score > self.score
        self.score = np.where(better, score, self.score)
        self.epoch = np.where(better, epoch, self.epoch)
        for name, value in parameters.items():
            self.parameters[name][better] = value[better]

    def of_seed(self, index: int) -> Arrays:
        """Return the parameters of one seed."""
        return {name: value[index] for name, value in self.parameters.items()}


def run_training(
    learner: Learner,
    *,
    epochs: int,
    report: Report,
    identity: Mapping[str, Any],
    checkpoint: Path | None = None,
    patience: int | None = None,
    validate_every: int = 1,
) -> Best:
    """Train, or continue from the checkpoint; return the best parameters.

    Args:
        learner: The network in training.
        epochs: Number of epochs.
        report: Called after every validation with ``epoch``, the learner's figures, ``score`` and
            ``best_epoch`` (one value per seed).
        identity: Settings that determine the result, as JSON values; a checkpoint with another
            identity is rejected.
        checkpoint: File to continue from and to save to.
        patience: Epochs without improvement of any seed before training stops; None: no limit.
        validate_every: Epochs between validations; the last epoch is always validated.

    Raises:
        UsageError: The checkpoint belongs to another training.
    """
    first, best = _resume(learner, checkpoint, identity)
    for epoch in range(first, epochs):
        if patience is not None and epoch + 1 - int(best.epoch.max()) > patience:
            break
        figures = learner.learn(epoch)
        done = epoch + 1
        if done % validate_every and done != epochs:
            continue
        score = learner.validate()
        best.update(learner.parameters(), score, done)
        if checkpoint is not None:
            _save(checkpoint, learner, best, done, identity)
        report({"epoch": done, **figures, "score": score, "best_epoch": best.epoch.tolist()})
    return best


def _resume(learner: Learner, file: Path | None, identity: Mapping[str, Any]) -> tuple[int, Best]:
    if file is None or not file.is_file():
        parameters = learner.parameters()
        seeds = len(next(iter(parameters.values())))
        score, epoch = np.full(seeds, -np.inf), np.zeros(seeds, np.int64)
        return 0, Best(parameters=parameters, score=score, epoch=epoch)
    arrays = load_arrays(file, "a checkpoint of a training run (.npz)")
    known = json.loads(str(arrays["identity"]))
    asked = json.loads(json.dumps(identity))
    changed = sorted(key for key in {*known, *asked} if known.get(key) != asked.get(key))
    if changed:
        raise UsageError(
            f"'{file}' was made with another {', '.join(changed)}. Use the same values, give "
            "another --out, or delete the file."
        )
    learner.restore(_part(arrays, "state/"))
    best = Best(
        parameters=_part(arrays, "best/"), score=arrays["best_score"], epoch=arrays["best_epoch"]
    )
    return int(arrays["epoch"]), best


def _save(
    file: Path, learner: Learner, best: Best, epoch: int, identity: Mapping[str, Any]
) -> None:
    arrays: Arrays = {
        "identity": np.array(json.dumps(identity, sort_keys=True)),
        "epoch": np.array(epoch),
        "best_score": best.score,
        "best_epoch": best.epoch,
    }
    arrays |= {f"state/{name}": value for name, value in learner.state().items()}
    arrays |= {f"best/{name}": value for name, value in best.parameters.items()}
    # A training killed while saving keeps the checkpoint before.
    unfinished = file.with_name(".unfinished-" + file.name)
    np.savez(unfinished, **arrays)  # type: ignore[arg-type]
    unfinished.replace(file)


def _part(arrays: Arrays, prefix: str) -> Arrays:
    return {
        name.removeprefix(prefix): value
        for name, value in arrays.items()
        if name.startswith(prefix)
    }
