"""Whether forecasts and plans are in world coordinates, metres and seconds; if not, in what."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.agents.base import Forecast
from jaywalk.runner.check_drive import Sample

FloatArray = NDArray[np.float64]
Verdict = tuple[str, str, str]  # state, detail, fix

_PERSON_MPS: Final = 4.0
_SLACK_M: Final = 2.0
_PLAN_AT_EGO_M: Final = 10.0
_PLAN_AT_ROUTE_M: Final = 6.0
_LONGEST_S: Final = 30.0
_WIDEST_M: Final = 15.0
# What coordinates may be instead of the world's: name -> from them to the world.
_FRAMES: Final[dict[str, Callable[[FloatArray, Sample, FloatArray], FloatArray]]] = {
    "the ego's frame (x ahead, y right): turn by its yaw and add its position": lambda p, s, o: (
        _to_world(p, s)
    ),
    "the ego's frame with y to the left: negate y, turn by its yaw and add its position": (
        lambda p, s, o: _to_world(p * np.array([1.0, -1.0]), s)
    ),
    "a right-handed world: negate y": lambda p, s, o: p * np.array([1.0, -1.0]),
    "the world with x and y exchanged": lambda p, s, o: p[..., ::-1],
    "centimetres: divide by 100": lambda p, s, o: p / 100.0,
    "relative to where it is now: add that position": lambda p, s, o: p + o,
}


def judge_forecasts(samples: Sequence[Sample]) -> Verdict:
    """Whether forecasts of people make sense."""
    told = [(sample, one) for sample in samples for one in sample.decision.forecasts]
    if not told:
        return "skip", "tells none (optional; needed for ADE, IRS and FPBR)", ""
    known = [(sample, one) for sample, one in told if one.actor_id in sample.people]
    if not known:
        return (
            "fail", f"{len(told)} forecasts, none of a person that is there",
            "actor_id is the id in moment.actors (or of the carla actor) of a person",
        )  # fmt: skip
    for sample, one in known:
        problem = _form_problem(one) or _place_problem(sample, one)
        if problem:
            return "fail", f"at {sample.time_s:g} s, actor {one.actor_id}: {problem[0]}", problem[1]
    longest = max(float(one.time_s[-1]) for _, one in known)
    return "pass", f"{len(known)} of people, up to {longest:g} s, where they are", ""


def _form_problem(one: Forecast) -> tuple[str, str] | None:
    times = one.time_s
    if not len(times) or np.any(np.diff(times) <= 0.0) or times[0] < 0.0:
        return "time_s does not rise from 0 on", "time_s counts seconds from now: 0.5, 1.0, ..."
    if times[-1] > _LONGEST_S:
        return (f"time_s goes up to {times[-1]:g}", "time_s is in seconds, not ms or ticks")
    total = float(one.weight.sum())
    if abs(total - 1.0) > 0.01 or np.any(one.weight < 0.0):
        return (f"weights add up to {total:.3g}", "weight is a probability of each mode: sum 1")
    if one.covariance_m2 is None:
        return None
    spread = one.covariance_m2
    if not np.allclose(spread, np.swapaxes(spread, -1, -2), rtol=1e-6, atol=1e-9):
        return "a covariance is not symmetric", "covariance_m2 is (modes, times, 2, 2)"
    values = np.linalg.eigvalsh(spread)
    if np.any(values <= 0.0):
        return "a covariance is not positive", "covariance_m2 holds variances in m2"
    widest = math.sqrt(float(values[:, 0].max()))
    if widest > _WIDEST_M:
        return (f"a deviation of {widest:.0f} m at first", "covariance_m2 is in m2, not cm2")
    return None


def _place_problem(sample: Sample, one: Forecast) -> tuple[str, str] | None:
    here = np.array(sample.people[one.actor_id])
    first = np.average(one.mean_m[:, 0, :], axis=0, weights=np.maximum(one.weight, 1e-12))
    reach = _SLACK_M + _PERSON_MPS * float(one.time_s[0])
    gap = float(np.hypot(*(first - here)))
    if gap <= reach:
        return None
    detail = f"forecast {gap:.1f} m away from the person in {one.time_s[0]:g} s"
    return detail, _frame_hint(first[None, :], sample, here, lambda p: _gap(p[0], here) <= reach)


def judge_plans(samples: Sequence[Sample], route_m: FloatArray) -> Verdict:
    """Whether plans begin at the ego and lead along the route."""
    told = [(s, s.decision.plan) for s in samples if s.decision.plan is not None]
    told = [(sample, plan) for sample, plan in told if plan is not None and len(plan.path_m)]
    if not told:
        return "skip", "tells none (optional)", ""
    for sample, plan in told:
        assert plan is not None
        path, ego = plan.path_m, np.array(sample.xy_m)
        if plan.time_s is not None and np.any(np.diff(plan.time_s) < 0.0):
            return "fail", f"at {sample.time_s:g} s: time_s falls", "time_s: seconds from now"
        if not _fits(path, ego, route_m):
            fix = _frame_hint(path, sample, ego, partial(_fits, ego_m=ego, route_m=route_m))
            detail = f"at {sample.time_s:g} s it is neither at the ego nor along the route"
            return "fail", detail, fix
    return "pass", f"{len(told)} plans, along the route", ""


def _fits(path_m: FloatArray, ego_m: FloatArray, route_m: FloatArray) -> bool:
    starts = np.hypot(path_m[:, 0] - ego_m[0], path_m[:, 1] - ego_m[1]).min() <= _PLAN_AT_EGO_M
    gaps = np.hypot(
        path_m[:, None, 0] - route_m[None, :, 0], path_m[:, None, 1] - route_m[None, :, 1]
    ).min(axis=1)
    return bool(starts and float(np.median(gaps)) <= _PLAN_AT_ROUTE_M)


def _frame_hint(
    points_m: FloatArray, sample: Sample, origin_m: FloatArray, fits: Callable[[FloatArray], bool]
) -> str:
    for name, turn in _FRAMES.items():
        if fits(turn(points_m, sample, origin_m)):
            return f"world coordinates are needed; these look like {name}"
    return "world coordinates in metres are needed: x, y of CARLA, left-handed"


def _to_world(points_m: FloatArray, sample: Sample) -> FloatArray:
    cos, sin = math.cos(sample.yaw_rad), math.sin(sample.yaw_rad)
    x, y = points_m[..., 0], points_m[..., 1]
    turned = np.stack([x * cos - y * sin, x * sin + y * cos], axis=-1)
    return np.asarray(turned + np.array(sample.xy_m))


def _gap(point_m: FloatArray, here_m: FloatArray) -> float:
    return float(np.hypot(point_m[0] - here_m[0], point_m[1] - here_m[1]))
