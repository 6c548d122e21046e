"""Time gaps between a vehicle and a person: minimum time gap, PET and time to collision.

The minimum time gap is the smallest time to collision (TTC) while a person crosses the vehicle's
corridor. A crossing is a stay in the corridor that leads from one side to the other, ahead of the
vehicle, with both borders seen. The post-encroachment time (PET) is the time between one road user
leaving a conflict area and the next entering it. TTC along a path is distance ahead over speed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jaywalk.core.arrays import FloatArray
from jaywalk.core.errors import UsageError
from jaywalk.geometry.path import Projection
from jaywalk.geometry.zones import CORRIDOR_WIDTH_M


def post_encroachment_time(first: tuple[float, float], second: tuple[float, float]) -> float:
    """Return the seconds between two stays (enter, leave) in the same area.

    The value is positive if the stays are apart by that time, in either order. It is negative if
    both are inside together for at least that time, and infinite if one never enters or leaves.
    """
    for enter, leave in (first, second):
        if leave < enter:
            raise UsageError(f"a stay leaves at {leave} s before it enters at {enter} s")
    gap = max(second[0] - first[1], first[0] - second[1])
    return float(gap) if np.isfinite(gap) else float("inf")


def stay(times_s: ArrayLike, inside: ArrayLike) -> tuple[float, float]:
    """Return the first and last time inside an area; ``(inf, inf)`` if never inside."""
    times, within = np.asarray(times_s, dtype=np.float64), np.asarray(inside, dtype=np.bool_)
    if times.shape != within.shape or times.ndim != 1:
        raise UsageError(f"times {times.shape} and inside {within.shape} must pair up")
    hit = times[within]
    return (float(hit.min()), float(hit.max())) if hit.size else (float("inf"), float("inf"))


STANDING_MPS = 1e-3
RELEVANT_TTC_S = 5.0
RELEVANT_LATERAL_M = 15.0


def time_to_collision(distance_m: ArrayLike, speed_mps: ArrayLike) -> NDArray[np.float64]:
    """Seconds until a vehicle at this speed has driven the distance; infinite when it stands."""
    distance, speed = np.broadcast_arrays(
        np.asarray(distance_m, dtype=np.float64), np.asarray(speed_mps, dtype=np.float64)
    )
    moving = speed > STANDING_MPS
    return np.where(moving, distance / np.where(moving, speed, 1.0), np.inf)


def is_relevant(
    ahead_m: ArrayLike, lateral_m: ArrayLike, speed_mps: ArrayLike
) -> NDArray[np.bool_]:
    """Return whether a person is relevant now: ahead, nearer than 5 s, within 15 m sideways."""
    ahead = np.asarray(ahead_m, dtype=np.float64)
    near: NDArray[np.bool_] = time_to_collision(ahead, speed_mps) < RELEVANT_TTC_S
    beside: NDArray[np.bool_] = np.abs(np.asarray(lateral_m)) <= RELEVANT_LATERAL_M
    return near & beside & (ahead > 0.0)


CAP_TTC_S = 5.0
CAP_SPEED_MPS = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Crossing:
    """One person crossing one vehicle's corridor.

    Attributes:
        enter_s: Time of entering, interpolated between frames.
        leave_s: Time of leaving, interpolated.
        gap_s: Smallest TTC over the frames inside; infinite if the vehicle stands throughout.
        gap_refined_s: Smallest TTC with the interpolated ends included.
        gap_at: Position of the smallest TTC in the stay, 0 (entering) to 1 (leaving).
        ttc_enter_s: TTC at ``enter_s``.
        ttc_leave_s: TTC at ``leave_s``.
        speed_enter_mps: Speed of the vehicle in the first frame inside.
    """

    enter_s: float
    leave_s: float
    gap_s: float
    gap_refined_s: float
    gap_at: float
    ttc_enter_s: float
    ttc_leave_s: float
    speed_enter_mps: float


@dataclass(frozen=True, slots=True, kw_only=True)
class GapSummary:
    """Quartiles (Hyndman-Fan type 7) of the minimum time gap."""

    n: int
    q1_s: float
    median_s: float
    q3_s: float
    share_below_2s: float

    def as_dict(self) -> dict[str, Any]:
        """For JSON; a missing value is null."""
        values = {
            "q1_s": self.q1_s,
            "median_s": self.median_s,
            "q3_s": self.q3_s,
            "share_below_2s": self.share_below_2s,
        }
        return {"n": self.n, **{k: v if np.isfinite(v) else None for k, v in values.items()}}


def crossings(
    times_s: FloatArray,
    seen: Projection,
    front_m: FloatArray,
    speed_mps: FloatArray,
    *,
    width_m: float = CORRIDOR_WIDTH_M,
) -> list[Crossing]:
    """Find the crossings of one person before one vehicle, frame by frame of one grid.

    Args:
        times_s: Time of each common frame, evenly spaced.
        seen: The person seen from the path the vehicle drove.
        front_m: Arc length of the vehicle's front bumper.
        speed_mps: Speed of the vehicle.
        width_m: Width of the corridor.
    """
    distance = seen.along_m - front_m
    ttc = time_to_collision(distance, speed_mps)
    within = (np.abs(seen.lateral_m) <= width_m / 2.0) & ~seen.beyond
    edges = np.diff(np.concatenate([[False], within, [False]]).astype(np.int8))
    passages = []
    starts, stops = np.flatnonzero(edges == 1).tolist(), np.flatnonzero(edges == -1).tolist()
    for first, stop in zip(starts, stops, strict=True):
        before, last, after = first - 1, stop - 1, stop
        if before < 0 or after >= len(within) or seen.beyond[before] or seen.beyond[after]:
            continue
        if np.sign(seen.lateral_m[before]) == np.sign(seen.lateral_m[after]):
            continue
        if not np.all(distance[first:stop] > 0.0):
            continue
        ends = [
            _at_border(before, first, times_s, seen.lateral_m, distance, speed_mps, width_m / 2.0),
            _at_border(last, after, times_s, seen.lateral_m, distance, speed_mps, width_m / 2.0),
        ]
        passages.append(_crossing(times_s, ttc, first, stop, ends, float(speed_mps[first])))
    return passages


def is_near(crossing: Crossing) -> bool:
    """Return whether the capped definition counts a crossing: TTC <= 5 s, >= 1 m/s at entry."""
    return crossing.ttc_enter_s <= CAP_TTC_S and crossing.speed_enter_mps >= CAP_SPEED_MPS


def summarise(gaps_s: ArrayLike) -> GapSummary:
    """Quartiles of the finite gaps; ``n`` counts those only."""
    gaps = np.asarray(gaps_s, dtype=np.float64)
    gaps = gaps[np.isfinite(gaps)]
    if gaps.size == 0:
        return GapSummary(n=0, q1_s=np.nan, median_s=np.nan, q3_s=np.nan, share_below_2s=np.nan)
    q1, median, q3 = (float(q) for q in np.quantile(gaps, [0.25, 0.5, 0.75]))
    below = float(np.mean(gaps < 2.0))
    return GapSummary(n=gaps.size, q1_s=q1, median_s=median, q3_s=q3, share_below_2s=below)


def cdf(gaps_s: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Right-continuous empirical distribution: sorted gaps and the share at or below each."""
    gaps = np.sort(np.asarray(gaps_s, dtype=np.float64))
    return gaps, np.arange(1, gaps.size + 1) / max(gaps.size, 1)


def _at_border(
    a: int,
    b: int,
    times_s: FloatArray,
    lateral_m: FloatArray,
    distance_m: FloatArray,
    speed_mps: FloatArray,
    border_m: float,
) -> tuple[float, float]:
    """Time and TTC where the lateral offset passes the border between frames ``a`` and ``b``."""
    before, after = abs(lateral_m[a]), abs(lateral_m[b])
    part = (border_m - before) / (after - before) if after != before else 0.0
    speed = speed_mps[a] + part * (speed_mps[b] - speed_mps[a])
    distance = distance_m[a] + part * (distance_m[b] - distance_m[a])
    ttc = float(distance / speed) if speed > STANDING_MPS else float("inf")
    return float(times_s[a] + part * (times_s[b] - times_s[a])), ttc


def _crossing(
    times_s: FloatArray,
    ttc: FloatArray,
    first: int,
    stop: int,
    ends: list[tuple[float, float]],
    speed_enter_mps: float,
) -> Crossing:
    (enter_s, ttc_enter), (leave_s, ttc_leave) = ends
    inner = ttc[first:stop]
    lowest = int(np.argmin(inner))
    length = leave_s - enter_s
    return Crossing(
        enter_s=enter_s,
        leave_s=leave_s,
        gap_s=float(inner[lowest]),
        gap_refined_s=min(float(inner[lowest]), ttc_enter, ttc_leave),
        gap_at=float((times_s[first + lowest] - enter_s) / length) if length > 0.0 else 0.0,
        ttc_enter_s=ttc_enter,
        ttc_leave_s=ttc_leave,
        speed_enter_mps=speed_enter_mps,
    )
