"""Samples of the three tasks, in the order and with the labels of the benchmark.

The benchmark's peculiarities are kept, and marked in columns so that nobody has to guess: a window
in which the answer is visible already, an event taken from the end of the track because nobody
wrote it down, gaps that are counted as if they were not there.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from jaywalk.behaviour.tasks import (
    N_REGIONS,
    OBSERVED_FRAMES,
    RISK_HORIZON_FRAMES,
    STRIDE_FRAMES,
    Task,
)
from jaywalk.behaviour.windows import event_starts, intention_starts, risk_region, tte_frames
from jaywalk.core.errors import PrerequisiteError
from jaywalk.datasets.behaviour_tables import BehaviourData, Track

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
        "event_inferred": pl.Boolean,  # crossing point absent: the end of the track stands in
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
        task: Which labels; its ``strict`` is ignored, see ``jaywalk.behaviour.strict``.
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
    """Index of the event in the track, and whether the track's end had to stand in for it."""
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
        label = min(int(probability * 3), 2)
        for start in intention_starts(begin, end):
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
    # Without boxes the clip is taken to have no gaps and to go on for one more window.
    frames = np.arange(first, critical + OBSERVED_FRAMES + 1, dtype=np.int32)
    tags = np.full(len(frames), _ABSENT, np.int8)
    return Track(
        frames=frames, corners_px=np.full((len(frames), 4), np.nan), walking=tags, cross=tags
    )


def _index_of(track: Track, frame: int) -> int:
    # The nearest box at or after the frame, should the very frame have none.
    return min(int(np.searchsorted(track.frames, frame)), len(track.frames) - 1)
