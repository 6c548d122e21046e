"""What is said of every exported track: crossing, place, distance, lights, stratum and split."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import polars as pl

from jaywalk.datasets.semantic_map import CLASSES
from jaywalk.datasets.trajectories import META, Trajectories
from jaywalk.predict.splits import split_scenes
from jaywalk.predict.town_map import class_at

_ROAD = [CLASSES.index(name) for name in ("road", "bus lane", "cycle track", "zebra")]
_ZEBRA, _ISLAND = CLASSES.index("zebra"), CLASSES.index("refuge island")
_NEAR_M = 15.0
_ON_ROAD_M = 2.0


def with_meta(
    data: Trajectories, at_light: Mapping[str, list[int]], scripted: Mapping[str, frozenset[str]]
) -> Trajectories:
    """Fill ``meta``; whole scenes go to one split, in proportion within each course.

    Args:
        data: Tracks, ego and maps.
        at_light: Tenths at which the ego of a scene was under a traffic light.
        scripted: Tracks of people that a scenario moves, by scene.
    """
    places = {
        (scene, k): (x, y, yaw, front)
        for scene, k, x, y, yaw, front in data.ego.select(
            "scene_id", "k", "x", "y", "yaw", "front_overhang"
        ).iter_rows()
    }
    rows = []
    for track in data.tracks.partition_by("scene_id", "track_id", maintain_order=True):
        scene, name = track["scene_id"][0], track["track_id"][0]
        row = {"scene_id": scene, "track_id": name, "n": len(track), **_walk(data, track)}
        row |= _nearest(track, [places[scene, k] for k in track["k"]])
        row["traffic_light"] = bool(set(at_light[scene]) & set(track["k"]))
        row["actor"] = name in scripted[scene]
        row["course"] = track["course_id"][0]
        rows.append(row)
    splits = split_scenes({row["scene_id"]: row["course"] for row in rows})
    for row in rows:
        row["split"] = splits[row["scene_id"]]
        parts = (
            "crossing" if row["crossing"] else "staying",
            "near" if row["min_distance"] < _NEAR_M else "far",
            "front" if row["in_front"] else "behind",
            row.pop("course"),
        )
        row["stratum"] = "/".join(parts)
    return replace(data, meta=pl.DataFrame(rows, schema=META))


def _walk(data: Trajectories, track: pl.DataFrame) -> dict[str, object]:
    """Crossing: at least 2 m of way on the road. Where: the classes under that way."""
    course = data.maps.get(track["course_id"][0])
    if course is None:
        return {"crossing": None, "location": None}
    points = track.select("x", "y").to_numpy()
    under = class_at(course, points)
    on_road = np.isin(under, _ROAD)
    steps = np.linalg.norm(np.diff(points, axis=0), axis=1)
    crossing = bool(steps[on_road[1:] & on_road[:-1]].sum() >= _ON_ROAD_M)
    if not crossing:
        return {"crossing": False, "location": None}
    seen = [name for name, number in (("zebra", _ZEBRA), ("island", _ISLAND)) if number in under]
    return {"crossing": True, "location": "+".join(seen) or "open"}


def _nearest(
    track: pl.DataFrame, ego: list[tuple[float, float, float, float]]
) -> dict[str, object]:
    """Smallest distance to the ego's reference point, and whether that was before its bumper."""
    poses = np.array(ego)
    away = track.select("x", "y").to_numpy() - poses[:, :2]
    distance = np.linalg.norm(away, axis=1)
    i = int(distance.argmin())
    ahead = away[i, 0] * np.cos(poses[i, 2]) + away[i, 1] * np.sin(poses[i, 2])
    return {"min_distance": float(distance[i]), "in_front": bool(ahead > poses[i, 3])}
