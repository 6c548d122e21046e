"""Minimum time gaps of a whole dataset: every person before every vehicle of the same scene."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from jaywalk.datasets.trajectories import STEP_S, Trajectories
from jaywalk.geometry.path import Projection, project
from jaywalk.metrics.prediction.time_gap import Crossing, crossings
from jaywalk.predict.samples import driven_path


@dataclass(frozen=True, slots=True, kw_only=True)
class Meeting:
    """A crossing, with who met."""

    scene_id: str
    track_id: str
    ego_id: str
    crossing: Crossing


def find_meetings(data: Trajectories) -> list[Meeting]:
    """All crossings before vehicles on the paths they were seen to drive, without extension."""
    people: dict[str, list[pl.DataFrame]] = {}
    scenes = set(data.ego["scene_id"])
    tracks = data.tracks.filter(pl.col("scene_id").is_in(scenes))
    for track in tracks.partition_by("scene_id", "track_id", maintain_order=True):
        people.setdefault(track["scene_id"][0], []).append(track)
    found: list[Meeting] = []
    for ego in data.ego.partition_by("scene_id", "ego_id", maintain_order=True):
        for track in people.get(ego["scene_id"][0], []):
            found += _meetings(ego, track)
    return found


def _meetings(ego: pl.DataFrame, track: pl.DataFrame) -> list[Meeting]:
    path = driven_path(ego)
    if path is None:
        return []
    k, at_ego, at_track = np.intersect1d(ego["k"], track["k"], return_indices=True)
    if k.size < 3:
        return []
    front = project(path, ego.select("x", "y").to_numpy()).along_m
    front = front + ego["front_overhang"].to_numpy()
    seen = project(path, track.select("x", "y").to_numpy()[at_track])
    # A hole in either track must not look like one step: each unbroken part stands alone.
    breaks = np.flatnonzero(np.diff(k) != np.diff(k).min()) + 1
    found: list[Crossing] = []
    for part in np.split(np.arange(k.size), breaks):
        inner = Projection(seen.along_m[part], seen.lateral_m[part], seen.beyond[part])
        rows = at_ego[part]
        found += crossings(k[part] * STEP_S, inner, front[rows], ego["v"].to_numpy()[rows])
    ego_id = f"{ego['scene_id'][0]}#{ego['ego_id'][0]}"
    scene, name = track["scene_id"][0], track["track_id"][0]
    return [Meeting(scene_id=scene, track_id=name, ego_id=ego_id, crossing=one) for one in found]


def without_lights(data: Trajectories, found: list[Meeting]) -> list[Meeting]:
    """The crossings that no traffic light decided, as far as the data know."""
    lit = data.meta.filter(pl.col("traffic_light").fill_null(False))
    names = set(lit.select("scene_id", "track_id").iter_rows())
    return [one for one in found if (one.scene_id, one.track_id) not in names]
