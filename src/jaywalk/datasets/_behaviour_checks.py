"""Checks of annotations of pedestrian behaviour in the typed tables."""

from __future__ import annotations

import polars as pl

from jaywalk.datasets.behaviour_tables import Defect

_MAX_EXAMPLES = 5


def find_defects(
    videos: pl.DataFrame,
    pedestrians: pl.DataFrame,
    boxes: pl.DataFrame,
    orphans: list[str],
    scene: pl.DataFrame,
) -> tuple[Defect, ...]:
    """Return the defects of a dataset's tables.

    Args:
        videos: Table of videos.
        pedestrians: Table of pedestrians.
        boxes: Table of boxes; may be empty.
        orphans: ``video:pedestrian`` of attributes without a track.
        scene: Signs and lights per frame; may be empty.
    """
    candidates = [
        _missing_points(pedestrians),
        _gaps(pedestrians),
        _bystanders(pedestrians),
        _untagged(pedestrians),
        _make(
            "attributes_without_track",
            orphans,
            "pedestrians have attributes but no boxes; tasks that need boxes leave them out",
        ),
    ]
    if not boxes.is_empty():
        candidates += [
            _points_outside_track(pedestrians, boxes),
            _crossing_at_first_box(pedestrians, boxes),
            _bad_boxes(boxes),
            _boxes_outside_picture(videos, boxes),
            _unequal_scene(videos, scene),
        ]
    return tuple(defect for defect in candidates if defect is not None)


def _make(code: str, cases: list[str], message: str, severity: str = "warning") -> Defect | None:
    if not cases:
        return None
    return Defect(
        code=code,
        severity=severity,
        count=len(cases),
        message=message,
        examples=tuple(cases[:_MAX_EXAMPLES]),
    )


def _people(table: pl.DataFrame) -> list[str]:
    return [f"{video}:{person}" for video, person in table.select("video", "pedestrian_id").rows()]


def _missing_points(pedestrians: pl.DataFrame) -> Defect | None:
    return _make(
        "missing_crossing_point",
        _people(pedestrians.filter("missing_crossing_point")),
        "crossing pedestrians have no crossing point; the benchmark takes their third-last box as "
        "the event, often long after they stepped onto the road",
    )


def _gaps(pedestrians: pl.DataFrame) -> Defect | None:
    return _make(
        "track_with_gaps",
        _people(pedestrians.filter(pl.col("n_gaps") > 0)),
        "tracks skip frames; the benchmark counts boxes, so that its times are wrong there",
    )


def _bystanders(pedestrians: pl.DataFrame) -> Defect | None:
    return _make(
        "bystander",
        _people(pedestrians.filter(pl.col("kind") == "bystander")),
        "pedestrians have boxes but no behaviour tags; the benchmark counts them as not crossing",
    )


def _untagged(pedestrians: pl.DataFrame) -> Defect | None:
    untagged = pedestrians.filter((pl.col("kind") == "behaviour") & pl.col("crossing").is_null())
    return _make(
        "behaviour_without_attributes",
        _people(untagged),
        "pedestrians with behaviour tags lack attributes; the benchmark takes them as not crossing",
    )


def _points_outside_track(pedestrians: pl.DataFrame, boxes: pl.DataFrame) -> Defect | None:
    with_box = boxes.select("pedestrian_id", crossing_point="frame", found=pl.lit(1))
    tracked = pedestrians.filter(
        (pl.col("n_boxes") > 0) & pl.col("crossing_point").is_not_null()
    ).join(with_box, on=["pedestrian_id", "crossing_point"], how="left", maintain_order="left")
    return _make(
        "crossing_point_without_box",
        _people(tracked.filter(pl.col("found").is_null())),
        "crossing points fall on frames in which the pedestrian has no box",
    )


def _crossing_at_first_box(pedestrians: pl.DataFrame, boxes: pl.DataFrame) -> Defect | None:
    first = boxes.group_by("pedestrian_id", maintain_order=True).first()
    already = first.filter(pl.col("cross") == 1).select("pedestrian_id")
    found = pedestrians.join(already, on="pedestrian_id", how="semi", maintain_order="left")
    return _make(
        "crossing_at_first_box",
        _people(found),
        "pedestrians are crossing when they are first seen; there is nothing to predict",
    )


def _bad_boxes(boxes: pl.DataFrame) -> Defect | None:
    bad = boxes.filter(
        (pl.col("xbr_px") <= pl.col("xtl_px")) | (pl.col("ybr_px") <= pl.col("ytl_px"))
    )
    places = [
        f"{video}:{person}@{frame}"
        for video, person, frame in bad.select("video", "pedestrian_id", "frame").rows()
    ]
    return _make("empty_box", places, "boxes have no area")


def _boxes_outside_picture(videos: pl.DataFrame, boxes: pl.DataFrame) -> Defect | None:
    sized = boxes.join(
        videos.select("video", "width_px", "height_px"),
        on="video",
        how="left",
        maintain_order="left",
    )
    outside = sized.filter(
        (pl.col("xbr_px") < 0)
        | (pl.col("ybr_px") < 0)
        | (pl.col("xtl_px") > pl.col("width_px"))
        | (pl.col("ytl_px") > pl.col("height_px"))
    )
    places = [
        f"{video}:{person}@{frame}"
        for video, person, frame in outside.select("video", "pedestrian_id", "frame").rows()
    ]
    return _make("box_outside_picture", places, "boxes lie wholly outside the picture")


def _unequal_scene(videos: pl.DataFrame, scene: pl.DataFrame) -> Defect | None:
    if scene.is_empty():
        return None
    counts = scene.group_by("video").len("n_scene")
    uneven = videos.join(counts, on="video", how="left", maintain_order="left").filter(
        pl.col("n_frames").is_not_null() & (pl.col("n_scene").fill_null(0) != pl.col("n_frames"))
    )
    return _make(
        "scene_length",
        list(uneven["video"]),
        "videos have another number of traffic frames than of picture frames",
    )
