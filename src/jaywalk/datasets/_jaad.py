"""Reader of JAAD 2.0: annotations of 346 short clips from a car's front camera.

Layout: ``annotations``, ``annotations_attributes``, ``annotations_traffic``,
``annotations_vehicle`` and ``split_ids``, as a folder or an archive. Clips are not needed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from jaywalk.core.errors import DataError, UsageError
from jaywalk.datasets._annotation_files import read_members
from jaywalk.datasets._behaviour_checks import find_defects
from jaywalk.datasets._cvat import (
    optional_float,
    optional_frame,
    optional_int,
    read_cvat,
    read_elements,
    read_text,
)
from jaywalk.datasets.behaviour_tables import (
    EGO_SCHEMA,
    LIGHT_GREEN,
    LIGHT_NONE,
    LIGHT_RED,
    PEDESTRIAN_SCHEMA,
    SCENE_SCHEMA,
    VIDEO_SCHEMA,
    BehaviourData,
    BoxColumns,
    frame_of,
)
from jaywalk.datasets.catalogue import behaviour_dataset

FOLDERS = frozenset(
    {
        "annotations",
        "annotations_attributes",
        "annotations_traffic",
        "annotations_vehicle",
        "split_ids",
    }
)
SUBSETS = ("default", "high_visibility", "all_videos")
SPLITS = ("train", "val", "test")
_FILE = re.compile(
    r"(annotations(?:_attributes|_traffic|_vehicle)?)/video_\d{4}[_a-z]*\.xml|split_ids/\w+/\w+\.txt"
)
_VIDEO = re.compile(r"video_\d{4}")
_PERSON_LABELS = frozenset({"pedestrian", "ped", "people"})
_LIGHTS = {"n/a": LIGHT_NONE, "red": LIGHT_RED, "green": LIGHT_GREEN}


@dataclass(slots=True)
class _Raw:
    """Parts collected so far; archives may hold the parts in any order."""

    annotations: dict[str, bytes] = field(default_factory=dict)
    attributes: dict[str, dict[str, dict[str, str]]] = field(default_factory=dict)
    road_types: dict[str, str | None] = field(default_factory=dict)
    scene: list[dict[str, object]] = field(default_factory=list)
    ego: list[dict[str, object]] = field(default_factory=list)


@behaviour_dataset(
    "jaad",
    summary="JAAD 2.0, 346 short clips from a car's front camera",
    provides=("boxes", "behaviour", "scene", "ego actions"),
    folders=FOLDERS,
    member=re.compile(r"annotations/video_\d{4}\.xml"),
    example="annotations/video_0001.xml",
    options=("splits", "with_scene"),
    complete={"videos": 346, "pedestrians": 2786},
    read_all={"subset": "all_videos"},
)
def load_jaad(
    path: Path,
    *,
    splits: tuple[str, ...] = SPLITS,
    subset: str = "default",
    with_scene: bool = True,
) -> BehaviourData:
    """Read JAAD.

    Args:
        path: Folder or archive with the authors' layout.
        splits: Splits to read, from train, val and test.
        subset: Name of a folder in ``split_ids``.
        with_scene: Also read signs, lights and the car's motion.
    """
    if subset not in SUBSETS:
        raise UsageError(f"JAAD has no subset '{subset}'; expected one of {', '.join(SUBSETS)}.")
    members = _read_all(path, with_scene)
    chosen = _read_splits(path, members, subset)
    videos = {video for split in splits for video in chosen[split]}
    raw = _collect(members, videos)
    missing = sorted(videos - raw.annotations.keys())
    if missing:
        raise DataError(
            f"'{path}': annotations of {len(missing)} videos of the split are missing, "
            f"for example annotations/{missing[0]}.xml. Get the whole folder of JAAD 2.0."
        )
    return _build(raw, sorted(videos), chosen)


def _read_all(path: Path, with_scene: bool) -> dict[str, bytes]:
    # All videos of all splits are about 140 MB: one pass over a compressed archive, which usually
    # holds the split lists last, costs less than two.
    folders = FOLDERS if with_scene else FOLDERS - {"annotations_traffic", "annotations_vehicle"}

    def wanted(name: str) -> bool:
        match = _FILE.fullmatch(name)
        return match is not None and (match[1] is None or match[1] in folders)

    return dict(read_members(path, FOLDERS, wanted))


def _read_splits(path: Path, members: dict[str, bytes], subset: str) -> dict[str, tuple[str, ...]]:
    splits: dict[str, tuple[str, ...]] = {}
    for split in SPLITS:
        name = f"split_ids/{subset}/{split}.txt"
        if name not in members:
            raise DataError(f"'{path}' has no {name}; expected JAAD 2.0 with its split_ids folder.")
        ids = members[name].decode("utf-8", "replace").split()
        wrong = [i for i in ids if not _VIDEO.fullmatch(i)]
        if wrong:
            raise DataError(f"'{name}' has '{wrong[0]}'; expected names such as video_0005.")
        # The benchmark sorts the videos by name, independent of the order in the file.
        splits[split] = tuple(sorted(set(ids)))
    return splits


def _collect(members: dict[str, bytes], videos: set[str]) -> _Raw:
    raw = _Raw()
    for name, data in members.items():
        folder, _, file = name.partition("/")
        video = file[:10]
        if video not in videos:
            continue
        if folder == "annotations":
            raw.annotations[video] = data
        elif folder == "annotations_attributes":
            rows = read_elements(data, name, frozenset({"pedestrian"}))
            raw.attributes[video] = {row["id"]: row for _, row in rows if "id" in row}
        elif folder == "annotations_traffic":
            raw.road_types[video] = read_text(data, name, "road_type")
            raw.scene += _scene_rows(video, data, name)
        elif folder == "annotations_vehicle":
            raw.ego += _ego_rows(video, data, name)
    return raw


def _scene_rows(video: str, data: bytes, name: str) -> list[dict[str, object]]:
    return [
        {
            "video": video,
            "frame": optional_int(row, "id", name),
            "ped_crossing": row.get("ped_crossing") == "1",
            "ped_sign": row.get("ped_sign") == "1",
            "stop_sign": row.get("stop_sign") == "1",
            "light": _LIGHTS.get(row.get("traffic_light", "n/a"), LIGHT_NONE),
        }
        for _, row in read_elements(data, name, frozenset({"frame"}))
    ]


def _ego_rows(video: str, data: bytes, name: str) -> list[dict[str, object]]:
    return [
        {"video": video, "frame": optional_int(row, "id", name), "action": row.get("action")}
        for _, row in read_elements(data, name, frozenset({"frame"}))
    ]


def _build(raw: _Raw, videos: list[str], splits: dict[str, tuple[str, ...]]) -> BehaviourData:
    boxes = BoxColumns()
    people: list[dict[str, object]] = []
    video_rows: list[dict[str, object]] = []
    for video in videos:
        name = f"annotations/{video}.xml"
        parsed = read_cvat(raw.annotations.pop(video), name)
        video_rows.append(_video(video, parsed.meta, raw.road_types.get(video)))
        tracks = {
            track.object_id: track
            for track in parsed.tracks
            if track.label in _PERSON_LABELS and track.frames
        }
        for pedestrian_id in sorted(tracks):
            n_gaps = boxes.add(video, pedestrian_id, tracks[pedestrian_id], name)
            row = raw.attributes.get(video, {}).get(pedestrian_id)
            n_boxes = len(tracks[pedestrian_id].frames)
            people.append(_person(video, pedestrian_id, row, n_boxes, n_gaps))
    tables = {
        "videos": frame_of(video_rows, VIDEO_SCHEMA),
        "pedestrians": frame_of(people, PEDESTRIAN_SCHEMA),
        "boxes": boxes.table(),
        "scene": frame_of(raw.scene, SCENE_SCHEMA).sort("video", "frame"),
        "ego": frame_of(raw.ego, EGO_SCHEMA).sort("video", "frame"),
    }
    orphans = [
        f"{video}:{pedestrian_id}"
        for video, rows in sorted(raw.attributes.items())
        for pedestrian_id in sorted(rows.keys() - _ids(tables["pedestrians"], video))
    ]
    defects = find_defects(
        tables["videos"], tables["pedestrians"], tables["boxes"], orphans, tables["scene"]
    )
    return BehaviourData(dataset="jaad", splits=splits, defects=defects, **tables)


def _video(video: str, meta: dict[str, str], road_type: str | None) -> dict[str, object]:
    name = f"annotations/{video}.xml"
    return {
        "video": video,
        "width_px": optional_int(meta, "width", name),
        "height_px": optional_int(meta, "height", name),
        "n_frames": optional_int(meta, "size", name),
        "time_of_day": meta.get("time_of_day"),
        "weather": meta.get("weather"),
        "location": meta.get("location"),
        "road_type": road_type,
    }


def _ids(pedestrians: pl.DataFrame, video: str) -> set[str]:
    return set(pedestrians.filter(pl.col("video") == video)["pedestrian_id"])


def _person(
    video: str, pedestrian_id: str, row: dict[str, str] | None, n_boxes: int, n_gaps: int
) -> dict[str, object]:
    kind = {"b": "behaviour", "p": "group"}.get(pedestrian_id[-1], "bystander")
    person: dict[str, object] = {
        "video": video,
        "pedestrian_id": pedestrian_id,
        "kind": kind,
        "n_boxes": n_boxes,
        "n_gaps": n_gaps,
        "missing_crossing_point": False,
    }
    if row is None:
        return person
    name = f"annotations_attributes/{video}_attributes.xml"
    crossing = optional_int(row, "crossing", name)
    crossing_point = optional_frame(row, "crossing_point", name)
    return person | {
        "crossing": crossing,
        "crossing_point": crossing_point,
        "decision_point": optional_frame(row, "decision_point", name),
        "intention_prob": optional_float(row, "intention_prob", name),
        "age": row.get("age"),
        "gender": row.get("gender"),
        "group_size": optional_int(row, "group_size", name),
        "num_lanes": optional_int(row, "num_lanes", name),
        "traffic_direction": row.get("traffic_direction"),
        "signalized": row.get("signalized"),
        "intersection": row.get("intersection"),
        "designated": row.get("designated"),
        "motion_direction": row.get("motion_direction"),
        "missing_crossing_point": crossing == 1 and crossing_point is None,
    }
