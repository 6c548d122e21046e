"""Samples of the three tasks, in the order and with the labels of the benchmark.

The peculiarities of the benchmark are kept and marked in columns: windows in which the answer is
already visible, events taken from the end of the track because they were not annotated, and gaps
that are counted as if they did not exist. Only the parts of a dataset that a task and some factors
need are read. Counts of samples and pedestrians are given per class and split, as in papers.

The strict variants are the benchmark samples without those that do not test what they claim to
test. They are subsets of the benchmark's samples, so the outputs of any model can be scored both
ways.

* All tasks: no missing frames in the window and between window and event.
* Action: no person who is tagged as crossing in the window, and no person who crosses at an unknown
  time. If no crossing point is annotated but the tags show the first step, that step is the event;
  it must lie 30 to 90 frames ahead.
* Intention: no window that shows more than the judges saw, no padded window, and no person tagged
  as crossing in the window.
* Risk: the box 90 frames ahead must exist; the last box does not replace it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl

from jaywalk.core.errors import PrerequisiteError
from jaywalk.datasets.behaviour_tables import BehaviourData, Track
from jaywalk.datasets.catalogue import BEHAVIOUR_DATASETS
from jaywalk.forecasting.behaviour._targets import (
    event_starts,
    intention_starts,
    risk_region,
    tte_frames,
)
from jaywalk.forecasting.behaviour.factors import ATTRIBUTE_FACTORS
from jaywalk.forecasting.behaviour.tasks import (
    LONGEST_FRAMES,
    N_REGIONS,
    OBSERVED_FRAMES,
    PREDICTED_FRAMES,
    RISK_HORIZON_FRAMES,
    STRIDE_FRAMES,
    Task,
)

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
    spec = BEHAVIOUR_DATASETS.get(name)
    given = {"splits": splits, "with_boxes": with_boxes, "with_scene": with_scene}
    data: BehaviourData = spec.load()(path, **{key: given[key] for key in spec.options})
    return data


def load_for(
    task: Task, path: Path, *, splits: tuple[str, ...], factors: tuple[str, ...] = ()
) -> BehaviourData:
    """Read the parts of a dataset that scoring a task by some factors needs.

    Boxes of PIE, where present, are read for intention too, because their gaps remove samples.
    """
    more = any(factor not in ATTRIBUTE_FACTORS for factor in factors)
    return load_dataset(task.dataset, path, splits=splits, with_scene=more)


def strict_reasons(samples: pl.DataFrame, task: Task) -> pl.Series:
    """Return the reason why the strict variant leaves each sample out; null if it stays."""
    rules = [("gap", pl.col("has_gap"))]
    visible = pl.col("already_crossing").fill_null(value=False)
    if task.name == "action":
        unknown = (pl.col("action_label") == 1) & pl.col("event_inferred")
        longest = LONGEST_FRAMES - OBSERVED_FRAMES
        true_tte = pl.col("true_tte_frames")
        rules += [
            ("already_crossing", visible),
            ("event_unknown", unknown & true_tte.is_null()),
            ("event_out_of_range", unknown & ~true_tte.is_between(PREDICTED_FRAMES, longest)),
        ]
    elif task.name == "intention":
        rules += [
            ("already_crossing", visible),
            ("past_critical_point", pl.col("past_critical")),
            ("padded", pl.col("padded")),
        ]
    else:
        rules.append(("horizon_not_reached", ~pl.col("horizon_reached")))
    reason = pl.lit(None, pl.String)
    for name, rule in reversed(rules):
        reason = pl.when(rule).then(pl.lit(name)).otherwise(reason)
    return samples.select(reason.alias("reason")).to_series()


def correct_times(samples: pl.DataFrame, task: Task) -> pl.DataFrame:
    """Count the time to an inferred crossing from the first box that is tagged as crossing."""
    if task.name != "action":
        return samples
    known = (
        (pl.col("action_label") == 1)
        & pl.col("event_inferred")
        & pl.col("true_tte_frames").is_not_null()
    )
    return samples.with_columns(
        tte_frames=pl.when(known).then("true_tte_frames").otherwise("tte_frames")
    )


def strict_samples(samples: pl.DataFrame, task: Task) -> pl.DataFrame:
    """Return the samples of the strict variant, in benchmark order."""
    kept = samples.filter(strict_reasons(samples, task).is_null())
    return correct_times(kept, task)


def strict_exclusions(samples: pl.DataFrame, task: Task) -> dict[str, int]:
    """Count the samples that the strict variant leaves out, by reason."""
    counts = strict_reasons(samples, task).drop_nulls().value_counts(sort=True)
    return {str(reason): int(n) for reason, n in counts.iter_rows()}


SAMPLE_SCHEMA = pl.Schema(
    {
        "sample_id": pl.String,  # pedestrian@first observed frame
        "pedestrian_id": pl.String,
        "video": pl.String,
        "split": pl.String,
        "label": pl.Int64,
        "action_label": pl.Int64,  # 1 crosses
        "tte_frames": pl.Int64,
        "start_index": pl.Int64,  # in the pedestrian's boxes
        "first_frame": pl.Int64,
        "last_frame": pl.Int64,  # last observed
        "bystander": pl.Boolean,  # has no behaviour tags
        "event_inferred": pl.Boolean,  # crossing point absent: the end of the track is used
        "already_crossing": pl.Boolean,  # tagged as crossing in the window; null without tags
        "has_gap": pl.Boolean,  # frames are missing between start and event (or horizon)
        "padded": pl.Boolean,  # the window is longer than the track
        "past_critical": pl.Boolean,  # the window shows more than the judges of intention saw
        "horizon_reached": pl.Boolean,  # a box exists 90 frames after the observation
        "true_tte_frames": pl.Int64,  # to the first box tagged as crossing, where there is one
    }
)
_ABSENT = -128
EVERY_SPLIT = "all"


def draw_samples(
    data: BehaviourData, task: Task, split: str = "test", stride: int = STRIDE_FRAMES
) -> pl.DataFrame:
    """Return the samples of a task, one row each, see ``SAMPLE_SCHEMA``.

    Args:
        data: The dataset, with the split's videos.
        task: Task of the labels; its ``strict`` is ignored, see ``strict_samples``.
        split: ``train``, ``val``, ``test`` or ``all``.
        stride: Frames between windows; the benchmark's 10, or fewer to train on more of them.
    """
    tracks = data.tracks()
    parts = data.splits if split == EVERY_SPLIT else (split,)
    videos = {video for part in parts for video in data.splits[part]}
    people = data.pedestrians.filter(pl.col("video").is_in(list(videos)))
    if task.name == "intention":
        rows = list(_intention_rows(people, tracks))
    else:
        _require_boxes(data, people, task)
        widths = dict(data.videos.select("video", "width_px").iter_rows())
        risk = task.name == "risk"
        rows = list(_event_rows(people, tracks, widths, risk=risk, stride=stride))
    table = pl.DataFrame(rows, schema=SAMPLE_SCHEMA)
    return table.with_columns(pl.lit(split).alias("split"))


def _require_boxes(data: BehaviourData, people: pl.DataFrame, task: Task) -> None:
    boxed = set(data.boxes["video"].unique())
    missing = sorted(set(people["video"].unique()) - boxed)
    if data.dataset == "pie" and missing:
        raise PrerequisiteError(
            f"{task.task_id} needs the boxes of all videos of the split; {len(missing)} have none, "
            f"for example {missing[0]}. Put PIE's annotations.zip (or its folder 'annotations') "
            "beside annotations_attributes."
        )


def _event_rows(
    people: pl.DataFrame,
    tracks: dict[str, Track],
    widths: dict[str, int],
    *,
    risk: bool,
    stride: int,
) -> Iterator[dict[str, object]]:
    columns = ("video", "pedestrian_id", "kind", "crossing", "crossing_point")
    for video, person, kind, crossing, point in people.select(columns).iter_rows():
        if kind == "group" or person not in tracks:
            continue
        track = tracks[person]
        event, inferred = _event_index(track, point)
        action = int(crossing is not None and crossing > 0)
        for start in event_starts(event, stride):
            horizon = min(start + OBSERVED_FRAMES + RISK_HORIZON_FRAMES, len(track.frames)) - 1
            end = horizon if risk else event
            box = track.corners_px[horizon]
            region = risk_region(float((box[0] + box[2]) / 2), widths[video], N_REGIONS)
            yield _window(track, start, end) | {
                "sample_id": f"{person}@{track.frames[start]}",
                "pedestrian_id": person,
                "video": video,
                "label": region if risk else action,
                "action_label": action,
                "tte_frames": tte_frames(event, start),
                "start_index": start,
                "bystander": kind == "bystander",
                "event_inferred": inferred,
                "padded": False,
                "past_critical": False,
                "horizon_reached": horizon == start + OBSERVED_FRAMES + RISK_HORIZON_FRAMES - 1,
            }


def _event_index(track: Track, crossing_point: int | None) -> tuple[int, bool]:
    """Return the index of the event in the track, and whether it is the end of the track."""
    if crossing_point is not None:
        found = np.flatnonzero(track.frames == crossing_point)
        if found.size:
            return int(found[0]), False
    n = len(track.frames)
    return (n - 3 if n > 3 else n - 1), True


def _window(track: Track, start: int, end: int) -> dict[str, object]:
    last = min(start + OBSERVED_FRAMES, len(track.frames)) - 1
    cross = track.cross[start : last + 1]
    tagged = bool((cross != _ABSENT).any())
    first_crossing = np.flatnonzero(track.cross == 1)
    span = track.frames[start : max(end, last) + 1]
    return {
        "first_frame": int(track.frames[start]),
        "last_frame": int(track.frames[last]),
        "already_crossing": bool((cross == 1).any()) if tagged else None,
        "has_gap": bool((np.diff(span) > 1).any()),
        "true_tte_frames": int(track.frames[first_crossing[0]] - track.frames[last])
        if first_crossing.size
        else None,
    }


def _intention_rows(people: pl.DataFrame, tracks: dict[str, Track]) -> Iterator[dict[str, object]]:
    columns = (
        "video",
        "pedestrian_id",
        "crossing",
        "exp_start_point",
        "critical_point",
        "intention_prob",
    )
    for video, person, crossing, first, critical, probability in people.select(columns).iter_rows():
        if first is None or critical is None or probability is None:
            continue
        track = tracks.get(person) or _assumed_track(first, critical)
        begin, end = _index_of(track, first), _index_of(track, critical)
        for start in intention_starts(begin, end):
            last = min(start + OBSERVED_FRAMES, len(track.frames)) - 1
            label = min(int(track.intention_at(last, probability) * 3), 2)
            yield _window(track, start, start) | {
                "sample_id": f"{person}@{track.frames[start]}",
                "pedestrian_id": person,
                "video": video,
                "label": label,
                "action_label": int(crossing is not None and crossing > 0),
                "tte_frames": end - start,
                "start_index": start,
                "bystander": False,
                "event_inferred": False,
                "padded": start + OBSERVED_FRAMES > len(track.frames),
                "past_critical": start + OBSERVED_FRAMES - 1 > end,
                "horizon_reached": False,
            }


def _assumed_track(first: int, critical: int) -> Track:
    # Without boxes the clip is assumed to have no gaps and to continue for one more window.
    frames = np.arange(first, critical + OBSERVED_FRAMES + 1, dtype=np.int32)
    tags = np.full(len(frames), _ABSENT, np.int8)
    return Track(
        frames=frames, corners_px=np.full((len(frames), 4), np.nan), walking=tags, cross=tags
    )


def _index_of(track: Track, frame: int) -> int:
    # The nearest box at or after the frame, if the frame itself has none.
    return min(int(np.searchsorted(track.frames, frame)), len(track.frames) - 1)


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
    """Return whether samples are those of the complete dataset; None without a known digest."""
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
