"""Typed tables of JAAD and PIE, and the defects found while reading them.

One frame is 1/30 s. Boxes are in pixels of the full picture. Both datasets share the light states:
0 none or undefined, 1 red, 2 yellow, 3 green. The tables can be stored in a folder, which is also
the form of an export from Jaywalk's runs. :class:`BoxColumns` collects the boxes of many CVAT
tracks into one table.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jaywalk.core.errors import DataError, PrerequisiteError
from jaywalk.core.files import open_file, read_text
from jaywalk.datasets._cvat import CvatTrack
from jaywalk.datasets.catalogue import behaviour_dataset

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
        "missing_crossing_point": pl.Boolean,  # crosses, but the time was not annotated
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
        "reaction": pl.String,  # of our reacting people: speed_up, slow_down, clear_path
        "intention_prob": pl.Float64,  # of our reacting people, at this frame
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
    """Problem in the data that a user should know.

    Attributes:
        code: Stable name, for example ``missing_crossing_point``.
        severity: ``error`` makes the dataset unusable, ``warning`` does not.
        count: Number of cases.
        message: Description of the problem and its effect on results.
        examples: Up to five places.
    """

    code: str
    severity: str
    count: int
    message: str
    examples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Track:
    """Boxes of one pedestrian in frame order, as arrays; -128 means an absent tag."""

    frames: NDArray[np.int32]
    corners_px: NDArray[np.float64]
    walking: NDArray[np.int8]
    cross: NDArray[np.int8]
    intention_prob: NDArray[np.float64] | None = None  # where it is known frame by frame

    def intention_at(self, index: int, otherwise: float) -> float:
        """Return the probability of intending to cross at a box, if known, else another one."""
        value = np.nan if self.intention_prob is None else float(self.intention_prob[index])
        return value if np.isfinite(value) else otherwise


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
        defects: Problems of the data.
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
    intention = boxes["intention_prob"].fill_null(np.nan).to_numpy()
    for start, end in zip(starts, ends, strict=True):
        part = slice(int(start), int(end))
        yield (
            ids[int(start)],
            Track(
                frames=frames[part],
                corners_px=corners[part],
                walking=walking[part],
                cross=cross[part],
                intention_prob=intention[part],
            ),
        )


def frame_of(rows: list[dict[str, object]], schema: pl.Schema) -> pl.DataFrame:
    """Build a table with a schema; absent columns are null."""
    return pl.DataFrame(rows, schema=schema)


FORMAT: Final = "jaywalk-behaviour-1"
_ABOUT = "behaviour.json"
_LATER: Final = ("reaction", "intention_prob")  # columns that earlier exports lack
_SCHEMAS = {
    "videos": VIDEO_SCHEMA,
    "pedestrians": PEDESTRIAN_SCHEMA,
    "boxes": BOX_SCHEMA,
    "scene": SCENE_SCHEMA,
    "ego": EGO_SCHEMA,
}


def write_tables(data: BehaviourData, folder: Path, about: dict[str, Any]) -> None:
    """Write all tables; ``behaviour.json`` is written last and marks a complete export."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in _SCHEMAS:
        getattr(data, name).write_parquet(folder / f"{name}.parquet")
    kept = {"format": FORMAT, "dataset": data.dataset, "splits": data.splits} | about
    (folder / _ABOUT).write_text(json.dumps(kept, indent=2) + "\n", "utf-8")


@behaviour_dataset(
    "sim",
    summary="recorded runs, as 'jaywalk behaviour export' writes them",
    provides=("boxes", "behaviour", "intention", "scene", "ego sensors"),
)
def read_tables(folder: Path) -> BehaviourData:
    """Read the tables that :func:`write_tables` wrote."""
    file = folder / _ABOUT
    if not file.is_file():
        raise PrerequisiteError(
            f"'{folder}' is not an export of behaviour (it has no {_ABOUT}). Make one: "
            "jaywalk behaviour export RUN --out DIR."
        )
    try:
        about = json.loads(read_text(file, "an export of behaviour"))
        splits = {name: tuple(videos) for name, videos in about["splits"].items()}
        file_format = about["format"]
    except (ValueError, KeyError, AttributeError, TypeError) as problem:
        raise DataError(f"'{file}' is broken ({problem}). Export the run again.") from problem
    if file_format != FORMAT:
        raise DataError(
            f"'{file}' is of the form {file_format}; expected {FORMAT}. Export it again."
        )
    tables = {name: _read(folder / f"{name}.parquet", schema) for name, schema in _SCHEMAS.items()}
    return BehaviourData(dataset=str(about["dataset"]), splits=splits, defects=(), **tables)


def _read(file: Path, schema: pl.Schema) -> pl.DataFrame:
    try:
        open_file(file, "a table of an export").close()
        table = pl.read_parquet(file)
    except (OSError, pl.exceptions.PolarsError) as problem:
        raise DataError(f"'{file}' cannot be read: {problem}. Export the run again.") from problem
    absent = [name for name in _LATER if name in schema and name not in table.columns]
    table = table.with_columns(pl.lit(None, schema[name]).alias(name) for name in absent)
    if dict(table.schema) != dict(schema):
        raise DataError(f"'{file}' has other columns than this version; export the run again.")
    return table


_TAGS: tuple[tuple[str, str, dict[str | None, int]], ...] = (
    ("occlusion", "occlusion", {"none": 0, "part": 1, "full": 2}),
    ("action", "walking", {"standing": 0, "walking": 1}),
    ("look", "looking", {"not-looking": 0, "looking": 1}),
    ("cross", "cross", {"not-crossing": 0, "crossing": 1, "crossing-irrelevant": -1}),
)


class BoxColumns:
    """Collector of tracks; ``table`` returns one polars table in the order of addition."""

    def __init__(self) -> None:
        self._names: list[tuple[str, str, int]] = []
        self._frames: list[int] = []
        self._corners: list[tuple[float, float, float, float]] = []
        self._tags: dict[str, list[int | None]] = {column: [] for _, column, _ in _TAGS}

    def add(self, video: str, pedestrian_id: str, track: CvatTrack, file: str) -> int:
        """Add a track sorted by frame, and return its number of gaps."""
        frames, corners = track.frames, track.corners_px
        # The authors' order is by frame already; the last box of a duplicated frame counts.
        latest = {frame: i for i, frame in enumerate(frames)}
        order = [latest[frame] for frame in sorted(latest)]
        self._frames += [frames[i] for i in order]
        self._corners += [corners[i] for i in order]
        for name, column, codes in _TAGS:
            values = track.attributes.get(name)
            if values is None:
                self._tags[column] += [None] * len(order)
            else:
                self._tags[column] += [codes.get(values[i]) for i in order]
        self._names.append((video, pedestrian_id, len(order)))
        if not np.isfinite(np.array(corners)).all():
            raise DataError(f"'{file}': pedestrian {pedestrian_id} has a box that is not finite.")
        return int((np.diff(sorted(latest)) > 1).sum())

    def table(self) -> pl.DataFrame:
        """Return all boxes."""
        if not self._frames:
            return pl.DataFrame(schema=BOX_SCHEMA)
        counts = [n for _, _, n in self._names]
        corners = np.array(self._corners, np.float64)
        columns: dict[str, object] = {
            "video": np.repeat(np.array([video for video, _, _ in self._names]), counts),
            "pedestrian_id": np.repeat(np.array([person for _, person, _ in self._names]), counts),
            "frame": np.array(self._frames, np.int32),
        }
        for i, column in enumerate(("xtl_px", "ytl_px", "xbr_px", "ybr_px")):
            columns[column] = corners[:, i]
        absent = {name: [None] * len(self._frames) for name in _LATER}
        return pl.DataFrame(columns | self._tags | absent, schema=BOX_SCHEMA)
