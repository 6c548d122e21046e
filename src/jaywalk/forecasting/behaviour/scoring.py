"""Scores of a model with intervals by pedestrian and by group, comparison of two models, agreement.

Agreement compares the two answers of a model: the intention to cross and the action.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jaywalk.core.arrays import FloatArray
from jaywalk.core.errors import UsageError
from jaywalk.datasets.behaviour_tables import BehaviourData
from jaywalk.forecasting.behaviour.factors import group_by_factors
from jaywalk.forecasting.behaviour.predictions import read_exclusions, read_predictions
from jaywalk.forecasting.behaviour.sampling import (
    correct_times,
    is_pinned,
    samples_digest,
    strict_exclusions,
    strict_reasons,
)
from jaywalk.forecasting.behaviour.tasks import Task, find_task
from jaywalk.metrics.behaviour import ranking as confusion
from jaywalk.metrics.behaviour.instances import (
    centrality_weights,
    decide,
    earliness_weights,
    number_in_order,
)
from jaywalk.metrics.behaviour.score import OUTCOMES, BehaviourScore, ScoredSamples, agreement
from jaywalk.stats.bootstrap import Estimate, bca


def agreement_report(
    samples: pl.DataFrame,
    intention: NDArray[np.float64],
    action: NDArray[np.float64],
) -> dict[str, Any]:
    """Return the agreement table of intention samples as JSON values.

    Args:
        samples: Samples of the intention task, with ``label`` and ``action_label``.
        intention: Probabilities of the three intentions, ``(n, 3)``.
        action: Probability of crossing for the same samples, ``(n, 1)``.
    """
    table = agreement(
        samples["label"].to_numpy(),
        decide(intention),
        samples["action_label"].to_numpy(),
        decide(action),
    )
    intentions = find_task("intention", "pie").class_names
    actions = find_task("action", "pie").class_names
    pairs = [(wanted, done) for wanted in intentions for done in actions]
    return {
        "n_samples": samples.height,
        "outcomes": list(OUTCOMES),
        "overall_percent": table.overall.tolist(),
        "rows": [
            {
                "intention": wanted,
                "action": done,
                "counts": table.counts[i].tolist(),
                "percent": table.shares[i].tolist(),
            }
            for i, (wanted, done) in enumerate(pairs)
        ],
    }


DEFAULT_RESAMPLES = 2000
_BLOCKS = {
    "base": ("map", "bacc", "auc", "acc", "prec", "f1"),
    "weighted": ("acc", "prec", "f1"),
    "soft": ("acc", "bacc", "prec", "f1"),
    "hard": ("acc", "bacc", "prec", "f1"),
    "conf_delta": ("max", "avg"),
}
_REPORTED = frozenset(f"{block}.{name}" for block, names in _BLOCKS.items() for name in names)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bootstrap:
    """Settings of bootstrap intervals.

    Attributes:
        resamples: Draws of pedestrians; 0 for no intervals.
        level: Confidence level.
        seed: Seed of the draws.
    """

    resamples: int = DEFAULT_RESAMPLES
    level: float = 0.95
    seed: int = 0


def build_score(task: Task, samples: pl.DataFrame, confidence: FloatArray) -> BehaviourScore:
    """Prepare the scores of a model on some samples."""
    if samples.is_empty():
        raise UsageError(f"{task.task_id}: no sample is left to score.")
    truth = samples["label"].to_numpy()
    instance, _ = number_in_order(samples["pedestrian_id"].to_numpy())
    weight = None
    if task.name == "action":
        weight = earliness_weights(samples["tte_frames"].to_numpy())
    elif task.name == "risk":
        weight = centrality_weights(truth, task.n_classes)
    return BehaviourScore(
        ScoredSamples(
            truth=truth,
            confidence=confidence,
            instance=instance,
            n_classes=task.n_classes,
            weight=weight,
            exact_unanimity=task.strict,
        )
    )


def score_report(
    task: Task, samples: pl.DataFrame, confidence: FloatArray, options: Bootstrap
) -> dict[str, Any]:
    """Return all scores as JSON values, each with its interval ``<name>_ci``."""
    score = build_score(task, samples, confidence)
    estimates = _estimates(score.names, score.evaluate, score.n_instances, options)
    values = score.values()
    report: dict[str, Any] = {
        "task": task.name,
        "dataset": task.dataset,
        "task_id": task.task_id,
        "n_samples": samples.height,
        "n_instances": score.n_instances,
    }
    report |= _blocks(values, estimates)
    report["per_class"] = _per_class(task, score)
    report["missing_classes"] = [task.class_names[i] for i in score.missing_classes]
    report["interval"] = {
        "method": "BCa bootstrap over pedestrians",
        "level": options.level,
        "resamples": options.resamples,
    }
    return report


def compare_report(
    task: Task, samples: pl.DataFrame, first: FloatArray, second: FloatArray, options: Bootstrap
) -> dict[str, Any]:
    """Return second minus first for all scores, with intervals over the same pedestrians."""
    a, b = build_score(task, samples, first), build_score(task, samples, second)

    def difference(multiplicity: FloatArray) -> FloatArray:
        return b.evaluate(multiplicity) - a.evaluate(multiplicity)

    estimates = _estimates(a.names, difference, a.n_instances, options)
    va, vb = a.values(), b.values()
    report: dict[str, Any] = {
        "task": task.name,
        "dataset": task.dataset,
        "task_id": task.task_id,
        "n_samples": samples.height,
        "n_instances": a.n_instances,
        "first": _blocks(va, {}),
        "second": _blocks(vb, {}),
        "difference": _blocks({name: vb[name] - va[name] for name in va}, estimates),
    }
    return report


def instance_table(task: Task, samples: pl.DataFrame, confidence: FloatArray) -> pl.DataFrame:
    """Return one row per pedestrian: label, decisions, consistency, confidence."""
    score = build_score(task, samples, confidence)
    persons = score.instances
    names = samples["pedestrian_id"].unique(maintain_order=True)
    first = samples.unique("pedestrian_id", keep="first", maintain_order=True)
    columns: dict[str, Any] = {
        "pedestrian_id": names,
        "video": first["video"],
        "n_samples": persons.n_samples,
        "label": persons.truth,
        "soft": persons.soft,
        "hard": persons.hard,
        "unanimous": persons.unanimous,
        "label_changes": persons.label_changes,
        "max_delta": persons.max_delta,
        "avg_delta": persons.mean_delta,
    }
    for i in range(persons.mean_confidence.shape[1]):
        columns[f"mean_p_{i}" if task.n_columns > 1 else "mean_p"] = persons.mean_confidence[:, i]
    return pl.DataFrame(columns)


def _estimates(
    names: tuple[str, ...],
    evaluate: Callable[[FloatArray], FloatArray],
    n_instances: int,
    options: Bootstrap,
) -> dict[str, Estimate]:
    if options.resamples == 0:
        return {}
    shared = _Remembered(evaluate)
    return {
        name: bca(
            shared.column(i),
            n_instances,
            resamples=options.resamples,
            level=options.level,
            seed=options.seed,
        )
        for i, name in enumerate(names)
        if name in _REPORTED
    }


class _Remembered:
    """Evaluates all metrics once per block of draws: every metric sees the same draws.

    With the same seed ``bca`` requests the same blocks in the same order. The answers are stored
    by their place in that order and checked by the first row of the block.
    """

    def __init__(self, evaluate: Callable[[FloatArray], FloatArray]) -> None:
        self._evaluate = evaluate
        self._known: list[tuple[FloatArray, FloatArray]] = []

    def column(self, i: int) -> Callable[[FloatArray], FloatArray]:
        places = count()

        def statistic(multiplicity: FloatArray) -> FloatArray:
            place = next(places)
            if place == len(self._known):
                self._known.append((multiplicity[0].copy(), self._evaluate(multiplicity)))
            first, values = self._known[place]
            if len(values) != len(multiplicity) or not np.array_equal(first, multiplicity[0]):
                return self._evaluate(multiplicity)[:, i]
            return values[:, i]

        return statistic


def _blocks(values: dict[str, float], estimates: dict[str, Estimate]) -> dict[str, Any]:
    blocks: dict[str, Any] = {}
    for block, metrics in _BLOCKS.items():
        if f"{block}.{metrics[0]}" not in values:
            blocks[block] = None  # intention has no weighted metrics
            continue
        blocks[block] = {}
        for metric in metrics:
            name = f"{block}.{metric}"
            blocks[block][metric] = _number(values[name])
            if name in estimates and math.isfinite(values[name]):
                interval = estimates[name].interval
                blocks[block][f"{metric}_ci"] = [_number(interval.low), _number(interval.high)]
            elif estimates:
                blocks[block][f"{metric}_ci"] = None
    return blocks


def _per_class(task: Task, score: BehaviourScore) -> list[dict[str, Any]]:
    matrix = score.confusion_matrix()
    ap, auc = score.class_areas()
    precision, recall = confusion.class_precision(matrix), confusion.class_recall(matrix)
    f1 = confusion.class_f1(matrix)
    return [
        {
            "class": name,
            "n_samples": int(matrix[i].sum()),
            "ap": _number(float(ap[i])),
            "auc": _number(float(auc[i])),
            "prec": float(precision[i]),
            "recall": float(recall[i]),
            "f1": float(f1[i]),
        }
        for i, name in enumerate(task.class_names)
    ]


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None


_SHARED: Final = frozenset({"task", "dataset", "task_id", "interval"})


def line_up(
    task: Task,
    drawn: pl.DataFrame,
    predictions: Path,
    exclude_samples: Path | None,
    left_out: frozenset[str] = frozenset(),
) -> tuple[pl.DataFrame, NDArray[np.float64]]:
    """Return the samples to score and their predictions.

    Args:
        task: The task; its strict variant leaves samples out.
        drawn: Samples of the split.
        predictions: CSV file of predictions.
        exclude_samples: File of sample ids to leave out.
        left_out: More of them.

    Returns:
        Samples and confidences, row by row.
    """
    excluded = left_out
    if exclude_samples is not None:
        excluded |= read_exclusions(exclude_samples, drawn)
    kept, confidence = read_predictions(predictions, task, drawn, excluded)
    if not task.strict:
        return kept, confidence
    # A file of the whole benchmark also serves the strict variant: other rows are dropped here.
    stays = strict_reasons(kept, task).is_null()
    return correct_times(kept.filter(stays), task), confidence[stays.to_numpy()]


def sample_notes(task: Task, split: str, drawn: pl.DataFrame, kept: pl.DataFrame) -> dict[str, Any]:
    """Count samples with properties that a reader of the scores should know."""
    marks = ("bystander", "event_inferred", "already_crossing", "has_gap", "past_critical")
    full = find_task(task.name, task.dataset)
    notes: dict[str, Any] = {
        "samples_digest": samples_digest(kept),
        "complete_dataset": is_pinned(full, split, drawn),
    }
    notes |= {mark: int(kept[mark].fill_null(value=False).sum()) for mark in marks}
    notes["already_crossing_positive"] = kept.filter(
        pl.col("already_crossing").fill_null(value=False) & (pl.col("action_label") == 1)
    ).height
    if task.strict:
        notes["left_out"] = strict_exclusions(drawn, task)
    return notes


def score_groups(
    data: BehaviourData,
    task: Task,
    kept: pl.DataFrame,
    confidence: NDArray[np.float64],
    factors: tuple[str, ...],
    options: Bootstrap,
) -> dict[str, Any]:
    """Score the samples of each group that the factors make."""
    values = np.array(group_by_factors(data, kept, factors, observed_only=task.strict))
    groups = []
    for value in sorted(set(values.tolist())):
        mask = values == value
        part = score_report(task, kept.filter(mask), confidence[mask], options)
        groups.append({"value": value} | {k: v for k, v in part.items() if k not in _SHARED})
    return {"factors": list(factors), "groups": groups}
