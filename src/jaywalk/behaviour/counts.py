"""Counts of samples and pedestrians per class and split, as papers print them."""

from __future__ import annotations

import hashlib

import polars as pl

from jaywalk.behaviour.sampling import draw_samples
from jaywalk.behaviour.strict import strict_samples
from jaywalk.behaviour.tasks import Task
from jaywalk.datasets.behaviour_tables import BehaviourData

SPLITS = ("train", "val", "test")

# Digests of samples and labels made from the authors' complete annotations. None of PIE: its lists
# depend on gaps in boxes.
PINNED_DIGESTS = {
    ("jaad/action-v1", "train"): "49fec48b352f268b",
    ("jaad/action-v1", "val"): "6a50589a3ac21696",
    ("jaad/action-v1", "test"): "48c6d01a7f3cbcae",
    ("jaad/risk-v1", "train"): "c1a94f00ca555829",
    ("jaad/risk-v1", "val"): "6f4737f31b586e66",
    ("jaad/risk-v1", "test"): "d729db9dc1270ec8",
}


def samples_digest(samples: pl.DataFrame) -> str:
    """Return a digest of sample ids, labels and times in order: equal lists score the same task."""
    rows = samples.select("sample_id", "label", "tte_frames").iter_rows()
    text = "\n".join(f"{name},{label},{tte}" for name, label, tte in rows)
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def is_pinned(task: Task, split: str, samples: pl.DataFrame) -> bool | None:
    """Tell whether samples are those of the complete dataset; None if no digest is known."""
    pinned = PINNED_DIGESTS.get((task.task_id, split))
    return None if pinned is None else samples_digest(samples) == pinned


def task_samples(data: BehaviourData, task: Task, split: str) -> pl.DataFrame:
    """Return the samples of a task or of its strict variant."""
    samples = draw_samples(data, task, split)
    return strict_samples(samples, task) if task.strict else samples


def count_samples(data: BehaviourData, task: Task) -> pl.DataFrame:
    """Return samples per class and split, and pedestrians per class of their first sample.

    The last row is the total.
    """
    drawn = {split: task_samples(data, task, split) for split in SPLITS}
    people = pl.concat(list(drawn.values())).unique("pedestrian_id", keep="first")
    rows: list[dict[str, object]] = []
    for number, name in enumerate(task.class_names):
        of_class = pl.col("label") == number
        row: dict[str, object] = {"class": name}
        rows.append(
            row
            | {split: table.filter(of_class).height for split, table in drawn.items()}
            | {"pedestrians": people.filter(of_class).height}
        )
    total: dict[str, object] = {"class": "total"}
    total |= {split: table.height for split, table in drawn.items()}
    return pl.DataFrame([*rows, total | {"pedestrians": people.height}])
