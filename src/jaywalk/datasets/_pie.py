"""Reader of PIE: six long drives with attributes, human estimates of intention, and car sensors.

Layout: ``annotations_attributes/setSS`` (always needed), ``annotations/setSS`` (boxes) and
``annotations_vehicle/setSS`` (sensors), each as a folder or as the authors' zip. Boxes and sensors
may be absent, or present for some videos only; functions that need them raise a clear error. Signs,
crossings and lights per frame are derived from the objects drawn in a video.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from jaywalk.core.errors import DataError
from jaywalk.datasets._annotation_files import read_members
from jaywalk.datasets._behaviour_checks import find_defects
from jaywalk.datasets._cvat import (
    CvatVideo,
    optional_float,
    optional_frame,
    optional_int,
    read_cvat,
    read_elements,
)
from jaywalk.datasets.behaviour_tables import (
    BOX_SCHEMA,
    EGO_SCHEMA,
    LIGHT_GREEN,
    LIGHT_NONE,
    LIGHT_RED,
    LIGHT_YELLOW,
    PEDESTRIAN_SCHEMA,
    SCENE_SCHEMA,
    VIDEO_SCHEMA,
    BehaviourData,
    BoxColumns,
    Defect,
    frame_of,
)
from jaywalk.datasets.catalogue import behaviour_dataset

_PEDESTRIAN_SIGNS = frozenset({"ped_blue", "ped_yellow", "ped_white", "ped_text"})
_LIGHTS = {"red": LIGHT_RED, "yellow": LIGHT_YELLOW, "green": LIGHT_GREEN}


def scene_rows(video: str, parsed: CvatVideo) -> list[dict[str, object]]:
    """Return one row for every frame in which a sign, a crosswalk or a light is drawn.

    Where several lights are visible, the one that comes last in the file counts, as in the
    benchmark; it may face another road.
    """
    rows: dict[int, dict[str, object]] = {}
    for track in parsed.tracks:
        for i, frame in enumerate(track.frames):
            change = _seen(track.label, track.attributes, i)
            if not change:
                continue
            row = rows.setdefault(
                frame,
                {
                    "video": video,
                    "frame": frame,
                    "ped_crossing": False,
                    "ped_sign": False,
                    "stop_sign": False,
                    "light": LIGHT_NONE,
                },
            )
            row.update(change)
    return [rows[frame] for frame in sorted(rows)]


def _seen(label: str, attributes: dict[str, list[str | None]], i: int) -> dict[str, object]:
    if label == "crosswalk":
        return {"ped_crossing": True}
    if label == "traffic_light":
        return {"light": _LIGHTS.get(str(_at(attributes, "state", i)), LIGHT_NONE)}
    if label == "sign":
        kind = _at(attributes, "type", i)
        if kind in _PEDESTRIAN_SIGNS:
            return {"ped_sign": True}
        if kind == "stop_sign":
            return {"stop_sign": True}
    return {}


def _at(attributes: dict[str, list[str | None]], name: str, i: int) -> str | None:
    values = attributes.get(name)
    return values[i] if values else None


FOLDERS = frozenset({"annotations", "annotations_attributes", "annotations_vehicle"})
SPLIT_SETS = {
    "train": ("set01", "set02", "set04"),
    "val": ("set05", "set06"),
    "test": ("set03",),
}
_FILE = re.compile(
    r"(annotations|annotations_attributes|annotations_vehicle)/(set0\d)/"
    r"(video_\d{4})_(?:annt|attributes|obd)\.xml"
)
_SENSORS = (
    ("OBD_speed", "obd_speed_kmh"),
    ("GPS_speed", "gps_speed_kmh"),
    ("heading_angle", "heading_deg"),
    ("latitude", "latitude_deg"),
    ("longitude", "longitude_deg"),
    ("accY", "acc_y"),
    ("accZ", "acc_z"),
    ("gyroZ", "gyro_z"),
)


@dataclass(slots=True)
class _Raw:
    attributes: dict[str, dict[str, dict[str, str]]] = field(default_factory=dict)
    videos: dict[str, dict[str, object]] = field(default_factory=dict)
    boxes: dict[str, pl.DataFrame] = field(default_factory=dict)
    gaps: dict[str, dict[str, int]] = field(default_factory=dict)
    scene: list[dict[str, object]] = field(default_factory=list)
    ego: list[dict[str, object]] = field(default_factory=list)


@behaviour_dataset(
    "pie",
    summary="PIE, six long drives with estimates of intention and car sensors",
    provides=("boxes", "behaviour", "intention", "scene", "ego sensors"),
    folders=FOLDERS,
    member=re.compile(r"annotations_attributes/set\d\d/video_\d{4}_attributes\.xml"),
    example="annotations_attributes/set01/video_0001_attributes.xml",
    options=("splits", "with_boxes", "with_scene"),
    complete={"videos": 53, "pedestrians": 1842},
)
def load_pie(
    path: Path,
    *,
    splits: tuple[str, ...] = tuple(SPLIT_SETS),
    with_boxes: bool = True,
    with_scene: bool = True,
) -> BehaviourData:
    """Read PIE.

    Args:
        path: Folder or archive with the authors' layout.
        splits: Splits to read, from train, val and test.
        with_boxes: Read boxes where they are present.
        with_scene: Also read signs, lights and the car's sensors where they are present.
    """
    sets = {name for split in splits for name in SPLIT_SETS[split]}
    raw = _collect(path, sets, with_boxes, with_scene)
    if not raw.attributes:
        raise DataError(
            f"'{path}' has no annotations_attributes/setSS/video_NNNN_attributes.xml; "
            "expected PIE's annotations. Get annotations_attributes.zip of the PIE repository."
        )
    chosen = {
        split: tuple(sorted(v for v in raw.attributes if v[:5] in SPLIT_SETS[split]))
        for split in SPLIT_SETS
    }
    order = [
        video
        for split in SPLIT_SETS
        for name in SPLIT_SETS[split]
        for video in chosen[split]
        if video[:5] == name
    ]
    return _build(raw, order, chosen)


def _collect(path: Path, sets: set[str], with_boxes: bool, with_scene: bool) -> _Raw:
    folders = {"annotations_attributes"}
    folders |= {"annotations"} if with_boxes else set()
    folders |= {"annotations_vehicle"} if with_scene else set()

    def wanted(name: str) -> bool:
        match = _FILE.fullmatch(name)
        return match is not None and match[1] in folders and match[2] in sets

    raw = _Raw()
    for name, data in read_members(path, FOLDERS, wanted):
        match = _FILE.fullmatch(name)
        assert match is not None
        video = f"{match[2]}/{match[3]}"
        if match[1] == "annotations_attributes":
            rows = read_elements(data, name, frozenset({"pedestrian"}))
            raw.attributes[video] = {row["id"]: row for _, row in rows if "id" in row}
        elif match[1] == "annotations":
            _add_video(raw, video, read_cvat(data, name), name, with_scene)
        else:
            raw.ego += _ego_rows(video, data, name)
    return raw


def _add_video(raw: _Raw, video: str, parsed: CvatVideo, name: str, with_scene: bool) -> None:
    raw.videos[video] = {
        "video": video,
        "width_px": optional_int(parsed.meta, "width", name),
        "height_px": optional_int(parsed.meta, "height", name),
        "n_frames": optional_int(parsed.meta, "size", name),
    }
    tracks = {
        track.object_id: track
        for track in parsed.tracks
        if track.label == "pedestrian" and track.frames
    }
    boxes = BoxColumns()
    raw.gaps[video] = {
        pedestrian_id: boxes.add(video, pedestrian_id, tracks[pedestrian_id], name)
        for pedestrian_id in sorted(tracks)
    }
    raw.boxes[video] = boxes.table()
    if with_scene:
        raw.scene += scene_rows(video, parsed)


def _ego_rows(video: str, data: bytes, name: str) -> list[dict[str, object]]:
    return [
        {"video": video, "frame": optional_int(row, "id", name)}
        | {column: optional_float(row, key, name) for key, column in _SENSORS}
        for _, row in read_elements(data, name, frozenset({"frame"}))
    ]


def _build(raw: _Raw, order: list[str], splits: dict[str, tuple[str, ...]]) -> BehaviourData:
    people: list[dict[str, object]] = []
    orphans: list[str] = []
    for video in order:
        attributes = raw.attributes[video]
        counts = _box_counts(raw.boxes.get(video))
        for pedestrian_id in sorted(attributes.keys() | counts.keys()):
            if video in raw.boxes and pedestrian_id not in counts:
                orphans.append(f"{video}:{pedestrian_id}")
            person = _person(video, pedestrian_id, attributes.get(pedestrian_id))
            person["n_boxes"] = counts.get(pedestrian_id, 0)
            person["n_gaps"] = raw.gaps.get(video, {}).get(pedestrian_id)
            people.append(person)
    parts = [raw.boxes[video] for video in order if video in raw.boxes]
    default: dict[str, object] = {"width_px": 1920, "height_px": 1080}
    tables = {
        "videos": frame_of(
            [default | raw.videos.get(video, {"video": video}) for video in order], VIDEO_SCHEMA
        ).with_columns(pl.col("width_px").fill_null(1920), pl.col("height_px").fill_null(1080)),
        "pedestrians": frame_of(people, PEDESTRIAN_SCHEMA),
        "boxes": pl.concat(parts) if parts else pl.DataFrame(schema=BOX_SCHEMA),
        "scene": frame_of(raw.scene, SCENE_SCHEMA).sort("video", "frame"),
        "ego": frame_of(raw.ego, EGO_SCHEMA).sort("video", "frame"),
    }
    # Scene rows of PIE come from drawn objects, so their number cannot be checked by video.
    defects = find_defects(
        tables["videos"],
        tables["pedestrians"],
        tables["boxes"],
        orphans,
        pl.DataFrame(schema=SCENE_SCHEMA),
    )
    defects += _absent_parts(order, set(raw.boxes), set(tables["ego"]["video"].unique()))
    return BehaviourData(dataset="pie", splits=splits, defects=defects, **tables)


def _box_counts(boxes: pl.DataFrame | None) -> dict[str, int]:
    if boxes is None or boxes.is_empty():
        return {}
    return dict(boxes.group_by("pedestrian_id").len().iter_rows())


def _absent_parts(order: list[str], boxed: set[str], sensed: set[str]) -> tuple[Defect, ...]:
    parts = (
        ("videos_without_boxes", boxed, "boxes (annotations.zip): action and risk need them"),
        ("videos_without_sensors", sensed, "car sensors (annotations_vehicle.zip)"),
    )
    absent = []
    for code, present, what in parts:
        missing = [video for video in order if video not in present]
        if missing:
            absent.append(
                Defect(
                    code=code,
                    severity="warning",
                    count=len(missing),
                    message=f"of {len(order)} videos have no {what}",
                    examples=tuple(missing[:5]),
                )
            )
    return tuple(absent)


def _person(video: str, pedestrian_id: str, row: dict[str, str] | None) -> dict[str, object]:
    person: dict[str, object] = {
        "video": video,
        "pedestrian_id": pedestrian_id,
        "kind": "behaviour",
        "missing_crossing_point": False,
    }
    if row is None:
        return person
    name = f"annotations_attributes/{video}_attributes.xml"
    crossing = optional_int(row, "crossing", name)
    crossing_point = optional_frame(row, "crossing_point", name)
    intention = optional_float(row, "intention_prob", name)
    if intention is not None and not 0.0 <= intention <= 1.0:
        raise DataError(f"'{name}': intention_prob of {pedestrian_id} is {intention}, not in 0-1.")
    return person | {
        "crossing": crossing,
        "crossing_point": crossing_point,
        "critical_point": optional_frame(row, "critical_point", name),
        "exp_start_point": optional_frame(row, "exp_start_point", name),
        "intention_prob": intention,
        "age": row.get("age"),
        "gender": row.get("gender"),
        "num_lanes": optional_int(row, "num_lanes", name),
        "traffic_direction": row.get("traffic_direction"),
        "signalized": row.get("signalized"),
        "intersection": row.get("intersection"),
        "missing_crossing_point": crossing == 1 and crossing_point is None,
    }
