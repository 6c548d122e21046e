"""The minimum-time-gap report of a dataset: literal and capped side by side, never one chosen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.errors import DataError
from jaywalk.datasets.trajectories import Trajectories
from jaywalk.metrics.prediction.time_gap import CAP_SPEED_MPS, CAP_TTC_S, is_near, summarise
from jaywalk.predict.gaps import Meeting, find_meetings, without_lights
from jaywalk.stats.bootstrap import bca, cluster_codes

FloatArray = NDArray[np.float64]

DEFINITIONS = {
    "literal": "smallest TTC of the frames in a corridor of 3 m, path as driven, front bumper",
    "capped": f"the same where TTC at entering is at most {CAP_TTC_S:g} s and the vehicle drives "
    f"at least {CAP_SPEED_MPS:g} m/s",
}

AT_LIGHT = "crossing at a traffic light"


def gap_report(
    data: Trajectories, resamples: int = 2000
) -> tuple[dict[str, Any], dict[str, tuple[FloatArray, FloatArray]]]:
    """Report for JSON, and the gaps by source for the figure."""
    if data.tracks.is_empty():
        raise DataError(f"These data hold no people; left out: {data.excluded or 'nothing'}.")
    if data.ego.is_empty():
        raise DataError("These data hold no vehicles, hence no time gaps. Give DUT or CITR, say.")
    excluded = dict(data.excluded)
    meetings = {}
    for source in sorted(set(data.tracks["source"])):
        found = find_meetings(data.of_source(source))
        meetings[source] = without_lights(data, found)
        if lit := len(found) - len(meetings[source]):
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
    for source, found in meetings.items():
        literal, near = _parts(found)
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
