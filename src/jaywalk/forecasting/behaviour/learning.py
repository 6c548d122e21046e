"""Training of a model on a dataset, its storage in a folder, and predictions with it.

The folder holds ``model.json`` (all settings and the validation results), ``seed-N.npz`` (the
parameters of each seed), and the predictions of validation and test in the form that ``behaviour
score`` reads. Predictions are means over seeds with equal weights.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl

from jaywalk.core.arrays import FloatArray
from jaywalk.core.errors import DataError, PrerequisiteError, UsageError
from jaywalk.core.files import load_arrays, read_text
from jaywalk.datasets.behaviour_tables import BehaviourData
from jaywalk.forecasting.behaviour._inputs import (
    APPROACH,
    EGO_KINDS,
    check_cues,
    default_ego_kind,
    has_looks,
    read_inputs,
    tagged_samples,
)
from jaywalk.forecasting.behaviour._targets import Examples, read_examples
from jaywalk.forecasting.behaviour.models._base import Arrays, BehaviourModel, Fitting, Report
from jaywalk.forecasting.behaviour.models.registry import make_model
from jaywalk.forecasting.behaviour.sampling import draw_samples, samples_digest
from jaywalk.forecasting.behaviour.scoring import Bootstrap, score_report
from jaywalk.forecasting.behaviour.tasks import STRIDE_FRAMES, Task, find_task

FORMAT: Final = "jaywalk-behaviour-model-1"
JOINT: Final = "joint"
TASKS_OF: Final = {
    "action": ("action",),
    "risk": ("risk",),
    "intention": ("intention",),
    JOINT: ("intention", "action"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingPlan:
    """Model, task, settings and seeds of a training.

    Attributes:
        model: Name of the model.
        task: ``action``, ``risk``, ``intention``, or ``joint`` (intention and action at once).
        settings: Values of the model's config that differ from the defaults.
        seeds: Seeds; one fit each.
        stride: Frames between training windows; 10 by default, as in the benchmark.
        cues: ``place``, ``approach`` (the usual inputs), ``gaze`` or ``both``.
        tagged: Use only samples with look tags; cues with looks need it.
    """

    model: str
    task: str
    settings: Mapping[str, Any]
    seeds: tuple[int, ...] = (0, 1, 2)
    stride: int = STRIDE_FRAMES
    cues: str = APPROACH
    tagged: bool = False

    def __post_init__(self) -> None:
        check_cues(self.cues)
        if self.task not in TASKS_OF:
            raise UsageError(
                f"There is no task '{self.task}' to train; expected {', '.join(TASKS_OF)}."
            )

    @property
    def tasks(self) -> tuple[str, ...]:
        """Tasks to learn."""
        return TASKS_OF[self.task]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainedModel:
    """A model with the parameters of its seeds."""

    about: dict[str, Any]
    model: BehaviourModel
    seeds: tuple[Arrays, ...]

    def predict(self, data: BehaviourData, samples: pl.DataFrame, task: str) -> FloatArray:
        """Return the mean of the seeds' probabilities for samples of any dataset."""
        if task not in TASKS_OF[self.about["task"]]:
            raise UsageError(f"The model has learnt {self.about['task']}, not {task}.")
        inputs = read_inputs(data, samples, self.about["ego"], self.about.get("cues", APPROACH))
        return _mean_prediction(self.model, self.seeds, inputs, task)


def train_model(
    data: BehaviourData, plan: TrainingPlan, folder: Path, report: Report = lambda row: None
) -> dict[str, Any]:
    """Train, or continue the training in the folder; return the content of ``model.json``."""
    model = _model_of(plan)
    first = find_task(plan.tasks[0], data.dataset)
    ego = default_ego_kind(data)
    parts = {
        split: _samples(
            data, first, split, plan.stride if split == "train" else STRIDE_FRAMES, plan
        )
        for split in ("train", "val")
    }
    _require_samples(parts)
    training, validation = (read_examples(data, parts[s], ego, plan.cues) for s in ("train", "val"))
    seeds = plan.seeds[:1] if model.is_fixed else plan.seeds
    about: dict[str, Any] = {
        "format": FORMAT,
        "model": plan.model,
        "config": asdict(model.config),
        "task": plan.task,
        "dataset": data.dataset,
        "ego": ego,
        "seeds": list(seeds),
        "stride": plan.stride,
        "training_samples": len(training),
        "training_digest": samples_digest(parts["train"]),
    }
    if plan.cues != APPROACH or plan.tagged:
        about |= {"cues": plan.cues, "tagged": plan.tagged}
    _claim(folder, about)
    arrays = _fit_seeds(model, training, validation, plan, seeds, folder, report)
    trained = TrainedModel(about=about, model=model, seeds=arrays)
    about["validation"] = _write_predictions(trained, data, parts["val"], folder, plan)
    _write_json(folder / "model.json", about)
    return about


def _model_of(plan: TrainingPlan) -> BehaviourModel:
    model = make_model(plan.model, plan.settings)
    if has_looks(plan.cues) and hasattr(model.config, "looks"):
        return make_model(plan.model, {**plan.settings, "looks": True})
    return model


def _samples(
    data: BehaviourData, task: Task, split: str, stride: int, plan: TrainingPlan
) -> pl.DataFrame:
    drawn = draw_samples(data, task, split, stride)
    return tagged_samples(data, drawn) if plan.tagged else drawn


def open_model(folder: Path) -> TrainedModel:
    """Open a trained model."""
    file = folder / "model.json"
    if not file.is_file():
        raise PrerequisiteError(
            f"'{folder}' holds no trained model. Train one: jaywalk behaviour train."
        )
    try:
        about = json.loads(read_text(file, "a trained model"))
    except ValueError as problem:
        raise DataError(f"'{file}' is not JSON: {problem}. Train the model again.") from problem
    if (
        not isinstance(about, dict)
        or about.get("format") != FORMAT
        or about["ego"] not in EGO_KINDS
    ):
        raise DataError(f"'{file}' is not of the form {FORMAT}; train the model again.")
    seeds = tuple(_read_arrays(folder / f"seed-{seed}.npz") for seed in about["seeds"])
    return TrainedModel(about=about, model=make_model(about["model"], about["config"]), seeds=seeds)


def prediction_table(task: Task, samples: pl.DataFrame, probabilities: FloatArray) -> pl.DataFrame:
    """Return predictions with sample ids, in the form that ``behaviour score`` reads."""
    names = task.class_names if task.n_columns > 1 else task.class_names[1:]
    columns = {name: np.round(probabilities[:, i], 12) for i, name in enumerate(names)}
    return samples.select("sample_id").with_columns(**columns)


def _fit_seeds(
    model: BehaviourModel,
    training: Examples,
    validation: Examples,
    plan: TrainingPlan,
    seeds: tuple[int, ...],
    folder: Path,
    report: Report,
) -> tuple[Arrays, ...]:
    fits = []
    for seed in seeds:
        file = folder / f"seed-{seed}.npz"
        checkpoint = folder / f"seed-{seed}.checkpoint.npz"
        if not file.is_file():
            fitting = Fitting(
                tasks=plan.tasks,
                seed=seed,
                checkpoint=checkpoint,
                report=lambda row, seed=seed: report({"seed": seed} | row),  # type: ignore[misc]
            )
            arrays = model.fit(training, validation, fitting)
            unfinished = file.with_suffix(".part.npz")
            np.savez_compressed(unfinished, **arrays)  # type: ignore[arg-type]
            unfinished.replace(file)
            checkpoint.unlink(missing_ok=True)
        fits.append(_read_arrays(file))
    return tuple(fits)


def _write_predictions(
    trained: TrainedModel,
    data: BehaviourData,
    validation: pl.DataFrame,
    folder: Path,
    plan: TrainingPlan,
) -> dict[str, Any]:
    """Write predictions of validation and test; return the scores of validation by task."""
    scores = {}
    about = trained.about
    first = find_task(TASKS_OF[about["task"]][0], data.dataset)
    for split in ("val", "test"):
        samples = (
            validation if split == "val" else _samples(data, first, split, STRIDE_FRAMES, plan)
        )
        for name in TASKS_OF[about["task"]]:
            task = find_task(name, data.dataset)
            predictions = trained.predict(data, samples, name)
            stem = f"{name}-{split}" if about["task"] == JOINT else split
            prediction_table(task, samples, predictions).write_csv(
                folder / f"predictions-{stem}.csv"
            )
            if split == "val":
                judged = samples.with_columns(label=pl.col(_label_of(name, first)))
                report = score_report(task, judged, predictions, Bootstrap(resamples=0))
                scores[name] = report["base"]
    return scores


def _label_of(name: str, drawn_for: Task) -> str:
    return "action_label" if name == "action" and drawn_for.name != "action" else "label"


def _mean_prediction(
    model: BehaviourModel, seeds: tuple[Arrays, ...], inputs: Any, task: str
) -> FloatArray:
    return np.asarray(np.mean([model.predict(seed, inputs, task) for seed in seeds], axis=0))


def _require_samples(parts: Mapping[str, pl.DataFrame]) -> None:
    for split, samples in parts.items():
        if samples.is_empty():
            raise PrerequisiteError(
                f"The split '{split}' has no samples; training needs some in train and val."
            )


def _claim(folder: Path, about: dict[str, Any]) -> None:
    """Claim a folder, or check that it belongs to the same training."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "plan.json"
    if file.is_file() and json.loads(read_text(file, "a trained model")) != about:
        raise UsageError(
            f"'{folder}' holds a training with other settings, see plan.json. Give another --out, "
            "or delete the folder."
        )
    _write_json(file, about)


def _write_json(file: Path, value: dict[str, Any]) -> None:
    file.write_text(json.dumps(value, indent=2) + "\n", "utf-8")


def _read_arrays(file: Path) -> Arrays:
    return load_arrays(file, "the arrays of a model, or train it again")
