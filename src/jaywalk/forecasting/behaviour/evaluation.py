"""Matching of predictions with samples, notes on the samples, and scores by group."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

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
from jaywalk.forecasting.behaviour.scoring import Bootstrap, score_report
from jaywalk.forecasting.behaviour.tasks import Task, find_task

_SHARED: Final = frozenset({"task", "dataset", "task_id", "interval"})


def line_up(
    task: Task, drawn: pl.DataFrame, predictions: Path, exclude_samples: Path | None
) -> tuple[pl.DataFrame, NDArray[np.float64]]:
    """Return the samples to score and their predictions.

    Args:
        task: The task; its strict variant leaves samples out.
        drawn: Samples of the split.
        predictions: CSV file of predictions.
        exclude_samples: File of sample ids to leave out.

    Returns:
        Samples and confidences, row by row.
    """
    excluded: frozenset[str] = frozenset()
    if exclude_samples is not None:
        excluded = read_exclusions(exclude_samples, drawn)
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
