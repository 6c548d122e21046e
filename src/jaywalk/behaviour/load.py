"""Reads of a dataset only what a task and some factors need."""

from __future__ import annotations

from pathlib import Path

from jaywalk.behaviour.factors import ATTRIBUTE_FACTORS
from jaywalk.behaviour.tasks import Task
from jaywalk.core.errors import UsageError
from jaywalk.datasets.behaviour_store import read_tables
from jaywalk.datasets.behaviour_tables import BehaviourData
from jaywalk.datasets.jaad import load_jaad
from jaywalk.datasets.pie import load_pie

ALL_SPLITS = ("train", "val", "test")


def load_dataset(
    name: str,
    path: Path,
    *,
    splits: tuple[str, ...] = ALL_SPLITS,
    with_boxes: bool = True,
    with_scene: bool = True,
) -> BehaviourData:
    """Read a dataset by name."""
    if name == "jaad":
        return load_jaad(path, splits=splits, with_scene=with_scene)
    if name == "pie":
        return load_pie(path, splits=splits, with_boxes=with_boxes, with_scene=with_scene)
    if name == "sim":
        return read_tables(path)
    raise UsageError(f"There is no dataset '{name}'; expected jaad, pie or sim.")


def load_for(
    task: Task, path: Path, *, splits: tuple[str, ...], factors: tuple[str, ...] = ()
) -> BehaviourData:
    """Read what scoring a task by some factors needs.

    Boxes of PIE are read for intention too where they are present, as gaps in them lose samples.
    """
    more = any(factor not in ATTRIBUTE_FACTORS for factor in factors)
    return load_dataset(task.dataset, path, splits=splits, with_scene=more)
