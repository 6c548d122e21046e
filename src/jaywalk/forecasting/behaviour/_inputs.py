"""Inputs of behaviour models: boxes, the car, signs and lights, and other people, but no tags.

Tags such as behaviour, lanes and age exist only for selected people, among them all who cross. The
presence of a tag would reveal the answer, so tags are not inputs. Frames before the first and after
the last observed frame are not used.

Looks are an exception that must be asked for (``CUES``), and only samples with look tags can have
them. Without the approach a sample shows the last box only, with a width that follows from its
height, so that neither motion nor stride is visible.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Final, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jaywalk.core.arrays import Float32Array, IntArray
from jaywalk.core.errors import PrerequisiteError, UsageError
from jaywalk.datasets.behaviour_tables import LIGHT_GREEN, LIGHT_RED, LIGHT_YELLOW, BehaviourData
from jaywalk.forecasting.behaviour.tasks import OBSERVED_FRAMES

WIDTH_PX: Final = 1920.0
HEIGHT_PX: Final = 1080.0
N_NEIGHBOURS: Final = 8
EGO_ACTIONS: Final = ("stopped", "moving_slow", "moving_fast", "decelerating", "accelerating")
EGO_KINDS: Final = ("action", "speed")
ROAD_TYPES: Final = ("street", "parking_lot", "garage")
LIGHTS: Final = (LIGHT_RED, LIGHT_YELLOW, LIGHT_GREEN)
SPEED_SCALE_KMH: Final = 50.0
APPROACH: Final = "approach"
CUES: Final = {"place": (False, False), APPROACH: (True, False), "gaze": (False, True)} | {
    "both": (True, True)
}
"""Names of cues, and whether they include the motion of the person and looks at the car."""
_STILL_ASPECT: Final = 0.4


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """Arrays over samples.

    Attributes:
        boxes: Left, top, right, bottom in pixels of a picture 1920 wide, ``(n, 15, 4)``.
        ego: One-hot action of the car (JAAD) or its speed (PIE), ``(n, 15, 6)``.
        scene: Crosswalk, pedestrian sign, stop sign, red, yellow, green, ``(n, 15, 6)``.
        occlusion: 0 none, 0.5 part, 1 full, ``(n, 15)``.
        place: Type of road, one-hot, ``(n, 3)``.
        neighbours: The nearest other people in the last frame, ``(n, 8, 6)``: centre relative to
            the person, log of relative height, motion per frame, 1 (0: no person).
        looking: 1 where the person looks at the car, ``(n, 15)``; None if the cues lack it.
    """

    boxes: Float32Array
    ego: Float32Array
    scene: Float32Array
    occlusion: Float32Array
    place: Float32Array
    neighbours: Float32Array
    looking: Float32Array | None = None

    def __len__(self) -> int:
        return len(self.boxes)

    def rows(self, index: NDArray[np.generic]) -> Self:
        """Return the selected samples."""
        values: dict[str, Any] = {f.name: getattr(self, f.name) for f in fields(self)}
        return type(self)(**{n: v[index] for n, v in values.items() if v is not None})

    def mirrored(self) -> Self:
        """Return the inputs with left and right exchanged."""
        boxes = self.boxes.copy()
        boxes[..., 0] = WIDTH_PX - self.boxes[..., 2]
        boxes[..., 2] = WIDTH_PX - self.boxes[..., 0]
        neighbours = self.neighbours.copy()
        neighbours[..., [0, 3]] *= -1.0
        rest = {n: getattr(self, n) for n in ("ego", "scene", "occlusion", "place", "looking")}
        return type(self)(boxes=boxes, neighbours=neighbours, **rest)

    @property
    def centres_px(self) -> Float32Array:
        """Horizontal centres of the boxes, ``(n, 15)``."""
        return np.asarray((self.boxes[..., 0] + self.boxes[..., 2]) / 2.0)


def join_inputs(parts: list[Inputs]) -> Inputs:
    """Concatenate the samples of several sets."""
    lists = {f.name: [getattr(part, f.name) for part in parts] for f in fields(Inputs)}
    known = {name: values for name, values in lists.items() if values[0] is not None}
    return Inputs(**{name: np.concatenate(values) for name, values in known.items()})


def check_cues(cues: str) -> None:
    """Raise if there are no cues of that name."""
    if cues not in CUES:
        raise UsageError(f"--cues is '{cues}'; expected one of {', '.join(CUES)}.")


def has_looks(cues: str) -> bool:
    """Return whether cues include looks at the car."""
    check_cues(cues)
    return CUES[cues][1]


def tagged_samples(data: BehaviourData, samples: pl.DataFrame) -> pl.DataFrame:
    """Return the samples that have a look tag in every observed frame.

    Only tagged people have them, in JAAD and PIE all who cross among them. Scores with and without
    looks are comparable on these samples only.
    """
    if samples.is_empty():
        return samples
    known = np.isfinite(_looking(data, _box_rows(data, samples)))
    return samples.filter(np.asarray(known.all(axis=1)))


def read_inputs(
    data: BehaviourData, samples: pl.DataFrame, ego_kind: str, cues: str = APPROACH
) -> Inputs:
    """Read the inputs of models for samples.

    Args:
        data: The dataset, read with its boxes, scene and ego.
        samples: Samples of any task.
        ego_kind: ``action`` (JAAD's words) or ``speed``; must match the training of the model.
        cues: One of ``CUES``; must match, too.
    """
    check_cues(cues)
    moves, looks = CUES[cues]
    rows = _box_rows(data, samples)
    scale = _scale(data, samples)
    corners = data.boxes.select("xtl_px", "ytl_px", "xbr_px", "ybr_px").to_numpy()
    frames = data.boxes["frame"].to_numpy()[rows]
    videos = samples["video"].to_list()
    occlusion = data.boxes["occlusion"].fill_null(0).to_numpy()[rows]
    boxes = corners[rows] * scale[:, None, None]
    neighbours = _neighbours(data, samples, boxes, scale)
    if not moves:
        neighbours[..., 3:5] = 0.0
        boxes = _still(boxes)
    return Inputs(
        boxes=boxes.astype(np.float32),
        ego=_ego(data, videos, frames, ego_kind),
        scene=_scene(data, videos, frames),
        occlusion=(occlusion / 2.0).astype(np.float32),
        place=_place(data, videos),
        neighbours=neighbours,
        looking=_known_looks(data, rows) if looks else None,
    )


def _looking(data: BehaviourData, rows: IntArray) -> Float32Array:
    tags = data.boxes["looking"].cast(pl.Float32).fill_null(np.nan).to_numpy()
    return np.asarray(tags[rows])


def _known_looks(data: BehaviourData, rows: IntArray) -> Float32Array:
    looking = _looking(data, rows)
    untagged = int((~np.isfinite(looking)).any(axis=1).sum())
    if untagged:
        raise PrerequisiteError(
            f"{untagged} of {len(rows)} samples of these {data.dataset.upper()} data have no look "
            "tags, which the cues gaze and both need. Leave them out with --tagged; exports of "
            "scripted people have no looks at all."
        )
    return looking


def _still(boxes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the last box of each sample in all frames, as wide as the height says."""
    left, top, right, bottom = np.moveaxis(boxes[:, -1:], -1, 0)
    middle, half = (left + right) / 2.0, 0.5 * _STILL_ASPECT * (bottom - top)
    last = np.stack([middle - half, top, middle + half, bottom], axis=-1)
    return np.repeat(last, boxes.shape[1], axis=1)


def default_ego_kind(data: BehaviourData) -> str:
    """Return the kind of car data in a dataset: ``action`` if it has words, else ``speed``."""
    return "action" if data.ego["action"].drop_nulls().len() else "speed"


def _box_rows(data: BehaviourData, samples: pl.DataFrame) -> IntArray:
    """Return the box rows of all observed frames, ``(n, 15)``; short tracks repeat the last."""
    ids = data.boxes["pedestrian_id"]
    starts = np.flatnonzero((ids != ids.shift(1)).fill_null(value=True).to_numpy())
    ends = np.append(starts[1:], len(ids))
    place = {ids[int(s)]: (int(s), int(e)) for s, e in zip(starts, ends, strict=True)}
    missing = [p for p in samples["pedestrian_id"].unique(maintain_order=True) if p not in place]
    if missing:
        raise PrerequisiteError(
            f"Models need boxes; {len(missing)} people have none, for example '{missing[0]}'. "
            "Add the authors' archive of them."
        )
    rows = np.array([place[person] for person in samples["pedestrian_id"]], np.int64)
    steps = samples["start_index"].to_numpy()[:, None] + np.arange(OBSERVED_FRAMES)
    return np.asarray(np.minimum(rows[:, :1] + steps, rows[:, 1:] - 1))


def _scale(data: BehaviourData, samples: pl.DataFrame) -> NDArray[np.float64]:
    widths = dict(data.videos.select("video", "width_px").iter_rows())
    return np.array([WIDTH_PX / widths[video] for video in samples["video"]], np.float64)


def _ego(
    data: BehaviourData, videos: list[str], frames: NDArray[np.int32], kind: str
) -> Float32Array:
    result = np.zeros((*frames.shape, len(EGO_ACTIONS) + 1), np.float32)
    column = "action" if kind == "action" else "obd_speed_kmh"
    if data.ego.is_empty() or not data.ego[column].drop_nulls().len():
        raise PrerequisiteError(
            f"Models need the car's {column.replace('_', ' ')}, which these "
            f"{data.dataset.upper()} annotations lack. Add annotations_vehicle."
        )
    values = _by_frame(data.ego, column)
    for i, (video, row) in enumerate(zip(videos, frames, strict=True)):
        known = values.get(video, {})
        for j, frame in enumerate(row.tolist()):
            value = known.get(frame)
            if value is None:
                continue
            if kind == "action":
                if value in EGO_ACTIONS:
                    result[i, j, EGO_ACTIONS.index(value)] = 1.0
            else:
                result[i, j, -1] = float(value) / SPEED_SCALE_KMH
    return result


def _scene(data: BehaviourData, videos: list[str], frames: NDArray[np.int32]) -> Float32Array:
    result = np.zeros((*frames.shape, 3 + len(LIGHTS)), np.float32)
    tables = [_by_frame(data.scene, name) for name in ("ped_crossing", "ped_sign", "stop_sign")]
    lights = _by_frame(data.scene, "light")
    for i, (video, row) in enumerate(zip(videos, frames, strict=True)):
        for j, frame in enumerate(row.tolist()):
            for k, table in enumerate(tables):
                result[i, j, k] = bool(table.get(video, {}).get(frame))
            light = lights.get(video, {}).get(frame)
            if light in LIGHTS:
                result[i, j, 3 + LIGHTS.index(light)] = 1.0
    return result


def _by_frame(table: pl.DataFrame, column: str) -> Mapping[str, Mapping[int, Any]]:
    return {
        str(key[0]): dict(zip(part["frame"].to_list(), part[column].to_list(), strict=True))
        for key, part in table.partition_by("video", as_dict=True).items()
    }


def _place(data: BehaviourData, videos: list[str]) -> Float32Array:
    kinds = dict(data.videos.select("video", "road_type").iter_rows())
    result = np.zeros((len(videos), len(ROAD_TYPES)), np.float32)
    for i, video in enumerate(videos):
        if kinds.get(video) in ROAD_TYPES:
            result[i, ROAD_TYPES.index(kinds[video])] = 1.0
    return result


def _neighbours(
    data: BehaviourData,
    samples: pl.DataFrame,
    boxes: NDArray[np.float64],
    scale: NDArray[np.float64],
) -> Float32Array:
    result = np.zeros((samples.height, N_NEIGHBOURS, 6), np.float32)
    others = _boxes_by_frame(data)
    columns = ("video", "pedestrian_id", "first_frame", "last_frame")
    for i, (video, person, first, last) in enumerate(samples.select(columns).iter_rows()):
        now, then = others.get((video, last), {}), others.get((video, first), {})
        mine, height = _centre(boxes[i, -1]), max(boxes[i, -1, 3] - boxes[i, -1, 1], 1.0)
        neighbours = []
        for name, corners in now.items():
            if name == person:
                continue
            box = corners * scale[i]
            offset = _centre(box) - mine
            motion = np.zeros(2)
            if name in then and last > first:
                motion = (_centre(box) - _centre(then[name] * scale[i])) / (last - first)
            size = np.log(max(box[3] - box[1], 1.0) / height)
            neighbours.append((float(np.hypot(*offset)), name, [*offset, size, *motion, 1.0]))
        for k, (_, _, row) in enumerate(sorted(neighbours)[:N_NEIGHBOURS]):
            result[i, k] = row
    return result


def _boxes_by_frame(
    data: BehaviourData,
) -> dict[tuple[str, int], dict[str, NDArray[np.float64]]]:
    boxes: dict[tuple[str, int], dict[str, NDArray[np.float64]]] = {}
    corners = data.boxes.select("xtl_px", "ytl_px", "xbr_px", "ybr_px").to_numpy()
    keys = data.boxes.select("video", "frame", "pedestrian_id").iter_rows()
    for row, (video, frame, person) in zip(corners, keys, strict=True):
        boxes.setdefault((video, frame), {})[person] = row
    return boxes


def _centre(box: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.array([(box[0] + box[2]) / 2.0, (box[1] + box[3]) / 2.0])
