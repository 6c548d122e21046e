"""The typed tables that JAAD and PIE are read into, and defects found on the way.

One frame number is 1/30 s. Boxes are in pixels of the full picture. Light states are shared by both
datasets: 0 none or undefined, 1 red, 2 yellow, 3 green.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

LIGHT_NONE, LIGHT_RED, LIGHT_YELLOW, LIGHT_GREEN = 0, 1, 2, 3

VIDEO_SCHEMA = pl.Schema(
    {
        "video": pl.String,
        "width_px": pl.Int32,
        "height_px": pl.Int32,
        "n_frames": pl.Int32,
        "time_of_day": pl.String,
        "weather": pl.String,
        "location": pl.String,
        "road_type": pl.String,
    }
)
PEDESTRIAN_SCHEMA = pl.Schema(
    {
        "video": pl.String,
        "pedestrian_id": pl.String,
        "kind": pl.String,  # behaviour (has tags), bystander (box only), group (people as one box)
        "crossing": pl.Int8,  # 1 crosses, 0 does not, -1 irrelevant, null untagged
        "crossing_point": pl.Int32,  # frame, null when absent
        "critical_point": pl.Int32,
        "exp_start_point": pl.Int32,
        "decision_point": pl.Int32,
        "intention_prob": pl.Float64,
        "age": pl.String,
        "gender": pl.String,
        "group_size": pl.Int32,
        "num_lanes": pl.Int32,
        "traffic_direction": pl.String,  # OW, TW
        "signalized": pl.String,
        "intersection": pl.String,
        "designated": pl.String,
        "motion_direction": pl.String,
        "n_boxes": pl.Int32,
        "n_gaps": pl.Int32,  # places where consecutive boxes are more than one frame apart
        "missing_crossing_point": pl.Boolean,  # crosses, but nobody wrote down when
    }
)
BOX_SCHEMA = pl.Schema(
    {
        "video": pl.String,
        "pedestrian_id": pl.String,
        "frame": pl.Int32,
        "xtl_px": pl.Float64,
        "ytl_px": pl.Float64,
        "xbr_px": pl.Float64,
        "ybr_px": pl.Float64,
        "occlusion": pl.Int8,  # 0 none, 1 part, 2 full
        "walking": pl.Int8,  # 1 walking, 0 standing, null untagged
        "looking": pl.Int8,
        "cross": pl.Int8,  # 1 crossing, 0 not, -1 irrelevant, null untagged
    }
)
SCENE_SCHEMA = pl.Schema(
    {
        "video": pl.String,
        "frame": pl.Int32,
        "ped_crossing": pl.Boolean,
        "ped_sign": pl.Boolean,
        "stop_sign": pl.Boolean,
        "light": pl.Int8,
    }
)
EGO_SCHEMA = pl.Schema(
    {
        "video": pl.String,
        "frame": pl.Int32,
        "action": pl.String,  # JAAD: stopped, moving_slow, moving_fast, decelerating, accelerating
        "obd_speed_kmh": pl.Float64,  # PIE, as the rest
        "gps_speed_kmh": pl.Float64,
        "heading_deg": pl.Float64,
        "latitude_deg": pl.Float64,
        "longitude_deg": pl.Float64,
        "acc_y": pl.Float64,
        "acc_z": pl.Float64,
        "gyro_z": pl.Float64,
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Defect:
    """Something in the data that a user of it should know.

    Attributes:
        code: Stable name, for example ``missing_crossing_point``.
        severity: ``error`` makes the dataset unusable, ``warning`` does not.
        count: How many cases.
        message: What it is and what it does to results.
        examples: Up to five places.
    """

    code: str
    severity: str
    count: int
    message: str
    examples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Track:
    """Boxes of one pedestrian in frame order, as arrays; -128 stands for an absent tag."""

    frames: NDArray[np.int32]
    corners_px: NDArray[np.float64]
    walking: NDArray[np.int8]
    cross: NDArray[np.int8]


@dataclass(frozen=True, slots=True, kw_only=True)
class BehaviourData:
    """One dataset of annotated pedestrians seen from a car.

    Attributes:
        dataset: ``jaad``, ``pie`` or ``sim``.
        videos: One row per video, see ``VIDEO_SCHEMA``.
        pedestrians: One row per person in benchmark order, see ``PEDESTRIAN_SCHEMA``.
        boxes: One row per person and frame, see ``BOX_SCHEMA``; sorted by video, person, frame.
        scene: Signs and lights per frame, see ``SCENE_SCHEMA``; empty if not asked for.
        ego: Motion of the car per frame, see ``EGO_SCHEMA``; empty if not asked for.
        splits: Videos of train, val and test in benchmark order.
        defects: What is wrong with the data.
    """

    dataset: str
    videos: pl.DataFrame
    pedestrians: pl.DataFrame
    boxes: pl.DataFrame
    scene: pl.DataFrame
    ego: pl.DataFrame
    splits: dict[str, tuple[str, ...]]
    defects: tuple[Defect, ...]

    def tracks(self) -> dict[str, Track]:
        """Return the boxes of every pedestrian as arrays."""
        return dict(_split_tracks(self.boxes))


def _split_tracks(boxes: pl.DataFrame) -> Iterator[tuple[str, Track]]:
    if boxes.is_empty():
        return
    ids = boxes["pedestrian_id"]
    starts = np.flatnonzero((ids != ids.shift(1)).fill_null(value=True).to_numpy())
    ends = np.append(starts[1:], len(boxes))
    frames = boxes["frame"].to_numpy()
    corners = boxes.select("xtl_px", "ytl_px", "xbr_px", "ybr_px").to_numpy()
    walking = boxes["walking"].fill_null(-128).to_numpy()
    cross = boxes["cross"].fill_null(-128).to_numpy()
    for start, end in zip(starts, ends, strict=True):
        part = slice(int(start), int(end))
        yield (
            ids[int(start)],
            Track(
                frames=frames[part],
                corners_px=corners[part],
                walking=walking[part],
                cross=cross[part],
            ),
        )


def frame_of(rows: list[dict[str, object]], schema: pl.Schema) -> pl.DataFrame:
    """Build a table of a schema; columns that no row has are null."""
    return pl.DataFrame(rows, schema=schema)
