"""Minimum time gaps of a dataset: each person before each vehicle of the same scene.

The report gives the literal and the capped gap side by side and does not choose one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from jaywalk.core.arrays import FloatArray
from jaywalk.core.errors import DataError
from jaywalk.datasets.trajectories import STEP_S, Trajectories
from jaywalk.forecasting.samples import driven_path
from jaywalk.geometry.path import Projection, project
from jaywalk.metrics.prediction.time_gap import (
    CAP_SPEED_MPS,
    CAP_TTC_S,
    Crossing,
    crossings,
    is_near,
    summarise,
)
from jaywalk.stats.bootstrap import bca, cluster_codes


@dataclass(frozen=True, slots=True, kw_only=True)
class Meeting:
    """A crossing, with the person and the vehicle."""

    scene_id: str
    track_id: str
    ego_id: str
    crossing: Crossing


def find_meetings(data: Trajectories) -> list[Meeting]:
    """Return all crossings before vehicles on their driven paths, without extension."""
    people: dict[str, list[pl.DataFrame]] = {}
    scenes = set(data.ego["scene_id"])
    tracks = data.tracks.filter(pl.col("scene_id").is_in(scenes))
    for track in tracks.partition_by("scene_id", "track_id", maintain_order=True):
        people.setdefault(track["scene_id"][0], []).append(track)
    meetings: list[Meeting] = []
    for ego in data.ego.partition_by("scene_id", "ego_id", maintain_order=True):
        for track in people.get(ego["scene_id"][0], []):
            meetings += _meetings(ego, track)
    return meetings


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
    # A gap in either track must not look like one step: handle each unbroken part separately.
    breaks = np.flatnonzero(np.diff(k) != np.diff(k).min()) + 1
    met: list[Crossing] = []
    for part in np.split(np.arange(k.size), breaks):
        inner = Projection(seen.along_m[part], seen.lateral_m[part], seen.beyond[part])
        rows = at_ego[part]
        met += crossings(k[part] * STEP_S, inner, front[rows], ego["v"].to_numpy()[rows])
    ego_id = f"{ego['scene_id'][0]}#{ego['ego_id'][0]}"
    scene, name = track["scene_id"][0], track["track_id"][0]
    return [
        Meeting(scene_id=scene, track_id=name, ego_id=ego_id, crossing=crossing) for crossing in met
    ]


def without_lights(data: Trajectories, meetings: list[Meeting]) -> list[Meeting]:
    """Return the crossings that no traffic light controlled, as far as the data state it."""
    lit = data.meta.filter(pl.col("traffic_light").fill_null(False))
    names = set(lit.select("scene_id", "track_id").iter_rows())
    return [one for one in meetings if (one.scene_id, one.track_id) not in names]


DEFINITIONS = {
    "literal": "smallest TTC of the frames in a corridor of 3 m, path as driven, front bumper",
    "capped": f"the same where TTC at entering is at most {CAP_TTC_S:g} s and the vehicle drives "
    f"at least {CAP_SPEED_MPS:g} m/s",
}

AT_LIGHT = "crossing at a traffic light"


def gap_report(
    data: Trajectories, resamples: int = 2000
) -> tuple[dict[str, Any], dict[str, tuple[FloatArray, FloatArray]]]:
    """Return the report as JSON values, and the gaps by source for the figure."""
    if data.tracks.is_empty():
        raise DataError(f"These data hold no people; left out: {data.excluded or 'nothing'}.")
    if data.ego.is_empty():
        raise DataError(
            "These data contain no vehicles and therefore no time gaps. Use DUT or CITR, say."
        )
    excluded = dict(data.excluded)
    meetings = {}
    for source in sorted(set(data.tracks["source"])):
        of_source = find_meetings(data.of_source(source))
        meetings[source] = without_lights(data, of_source)
        if lit := len(of_source) - len(meetings[source]):
            excluded[AT_LIGHT] = excluded.get(AT_LIGHT, 0) + lit
    together = [one for found in meetings.values() for one in found]
    report: dict[str, Any] = {
        "definitions": DEFINITIONS,
        "quantiles": "Hyndman-Fan type 7",
        **_both(together, resamples),
        "by_source": {source: _both(found, resamples) for source, found in meetings.items()},
        "excluded": excluded,
    }
    gaps = {}
    for source, of_source in meetings.items():
        literal, near = _parts(of_source)
        gaps[source] = (_gaps(literal), _gaps(near))
    return report, gaps


def _parts(found: list[Meeting]) -> tuple[list[Meeting], list[Meeting]]:
    return found, [one for one in found if is_near(one.crossing)]


def _gaps(found: list[Meeting]) -> FloatArray:
    gaps = [one.crossing.gap_s for one in found]
    return np.array([gap_s for gap_s in gaps if np.isfinite(gap_s)], dtype=np.float64)


def _both(found: list[Meeting], resamples: int) -> dict[str, Any]:
    entries: dict[str, Any] = {}
    for name, part in zip(DEFINITIONS, _parts(found), strict=True):
        moving = [one for one in part if np.isfinite(one.crossing.gap_s)]
        entry = summarise([one.crossing.gap_s for one in moving]).as_dict()
        codes, n = cluster_codes([f"{one.scene_id}#{one.track_id}" for one in moving])
        estimate = bca(_median(_gaps(moving), codes), n, resamples=resamples, level=0.9)
        ends = (estimate.interval.low, estimate.interval.high)
        entry["median_ci90_s"] = [end if np.isfinite(end) else None for end in ends]
        entry["n_people"] = n
        entry["n_standing"] = len(part) - len(moving)
        entries[name] = entry
    return entries


def _median(gaps: FloatArray, codes: NDArray[np.int64]) -> Callable[[FloatArray], FloatArray]:
    def statistic(counts: FloatArray) -> FloatArray:
        times = counts.astype(np.int64)[:, codes]
        return np.array([np.median(np.repeat(gaps, row)) if row.any() else np.nan for row in times])

    return statistic
