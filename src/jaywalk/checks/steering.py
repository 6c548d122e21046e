"""Does an agent steer towards its route, or as if an axis or an angle were mirrored?"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.checks.drive import CheckDrive
from jaywalk.core.arrays import FloatArray
from jaywalk.geometry.path import arc_lengths, points_at

Verdict = tuple[str, str, str]  # state, detail, fix
PASS: Final = "pass"
WARN: Final = "warn"
FAIL: Final = "fail"
SKIP: Final = "skip"

_LEAST_TURN_RAD: Final = math.radians(2.0)
_AGREES: Final = 0.3
_STEERS: Final = 0.01
_START_TICKS: Final = 60
_FOLLOWED_M: Final = 40.0  # beyond the straight at the start
_AHEAD_M: Final = (3.0, 5.0, 8.0, 12.0, 20.0, 30.0)
_THINNED_AHEAD_M: Final = (2.0, 5.0, 8.0, 15.0)
_FIX: Final = (
    "CARLA's frame is left-handed: x ahead or east, y right or south, yaw clockwise from above, "
    "and positive steer turns right. From a right-handed frame negate y, yaw and steer; from the "
    "compass of the IMU subtract 90 degrees; GPS is latitude (north) first"
)


def judge_steering(drive: CheckDrive) -> Verdict:
    """Check that the agent steers towards the route, at its turned start and in the bend.

    The ego starts turned to the left on a straight road, so every plan, dense or thinned, is to the
    right: this shows a mirrored agent. It is unknown at which point an agent aims later, so its
    steering is compared with several points ahead, also of the thinned plan, and the best counts.
    """
    steer = np.array([sample.decision.control.steer for sample in drive.samples])
    route = np.array([sample.to_right_rad for sample in drive.samples])
    if np.count_nonzero(_is_clear(route)) < 5:
        return WARN, "too little to tell: it hardly moved", ""
    if float(np.abs(steer).max()) < _STEERS:
        fix = "steer towards a point of the route some metres ahead"
        return FAIL, "it does not steer where the route turns", fix
    straight = np.flatnonzero(~_is_clear(route))
    first = min(int(straight[0]) if len(straight) else len(route), _START_TICKS)
    at_start = _agreement(route[:first], steer[:first]) if first >= 5 else 0.0
    best, where = max(
        (_agreement(turn, steer), where) for where, turn in (("the route", route), *_aims(drive))
    )
    # With the wrong sign steering is unstable: a car that stays on the route has the right one.
    strays = drive.samples[-1].along_m < _FOLLOWED_M
    if strays and (at_start < -_AGREES or best < -_AGREES):
        return FAIL, "mirrored: it steers left where the route goes right, or the reverse", _FIX
    detail = f"towards {where} in {0.5 + 0.5 * best:.0%} (by weight), positive is right"
    if best > _AGREES and (not strays or at_start > -_AGREES):
        return PASS, detail, ""
    if not strays and at_start > -_AGREES:
        return PASS, f"follows the route for {drive.samples[-1].along_m:.0f} m", ""
    return WARN, detail, f"if it does not follow its plan: {_FIX}"


def _aims(drive: CheckDrive) -> Iterator[tuple[str, FloatArray]]:
    """Yield points that an agent may aim at, by name, with their angle in every tick."""
    along = np.array([sample.along_m for sample in drive.samples])
    arc = arc_lengths(drive.route_m)
    for ahead_m in _AHEAD_M:
        yield "the route", _angles(drive, drive.route_m[_first_at(arc, along + ahead_m)])
    if drive.plan_m is None or not 2 <= len(drive.plan_m) <= 0.5 * len(arc):
        return
    plan_m = drive.plan_m
    gaps = np.linalg.norm(plan_m[:, None] - drive.route_m[None], axis=2)
    plan_arc = np.maximum.accumulate(arc[gaps.argmin(axis=1)])
    for ahead_m in _THINNED_AHEAD_M:
        following = plan_m[_first_at(plan_arc, along + ahead_m)]
        yield "the next point of the thinned plan", _angles(drive, following)
        # A point on the straight lines between the points of the plan.
        at = np.minimum(along + ahead_m, plan_arc[-1])
        line = points_at(at, plan_arc, plan_m)
        yield "the line of the thinned plan", _angles(drive, line)


def _first_at(arc_m: FloatArray, along_m: FloatArray) -> NDArray[np.int64]:
    return np.minimum(np.searchsorted(arc_m, along_m), len(arc_m) - 1)


def _angles(drive: CheckDrive, points_m: FloatArray) -> FloatArray:
    """Return the angle from the heading to one point for every tick; positive: to the right."""
    place = np.array([sample.xy_m for sample in drive.samples])
    yaw = np.array([sample.yaw_rad for sample in drive.samples])
    dx, dy = (points_m - place).T
    turn = np.arctan2(dy, dx) - yaw
    return np.asarray(np.arctan2(np.sin(turn), np.cos(turn)))


def _is_clear(turn_rad: FloatArray) -> NDArray[np.bool_]:
    return np.abs(turn_rad) > _LEAST_TURN_RAD


def _agreement(turn_rad: FloatArray, steer: FloatArray) -> float:
    """Return how far steering explains itself by a direction: 1 all of it, -1 the opposite."""
    sign = np.where(_is_clear(turn_rad), np.sign(turn_rad), 0.0)
    return float((sign * steer).sum() / max(float(np.abs(steer).sum()), 1e-12))
