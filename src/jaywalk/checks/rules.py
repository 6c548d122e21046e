"""Rules for the wiring of an agent, applied to a drive: pure functions, one per rule.

A finding is ``pass``, ``warn`` (works, but look at it), ``fail`` (with the fix) or ``skip``.
Forecasts and plans must be in world coordinates, metres and seconds; if they are not, the finding
suggests which frame or unit they are in.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, Final

import numpy as np

from jaywalk.agents.base import Forecast
from jaywalk.checks.drive import CheckDrive, Sample, is_lost
from jaywalk.checks.steering import FAIL, PASS, SKIP, WARN, Verdict, judge_steering
from jaywalk.core.arrays import FloatArray
from jaywalk.core.units import MPS_TO_KMH

_PERSON_MPS: Final = 4.0
_SLACK_M: Final = 2.0
_PLAN_AT_EGO_M: Final = 10.0
_PLAN_AT_ROUTE_M: Final = 6.0
_LONGEST_S: Final = 30.0
_WIDEST_M: Final = 15.0
# Frames that an agent may use by mistake: name -> conversion to the world.
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
    """Judge forecasts of people: form, frame and units."""
    forecasts = [(sample, one) for sample in samples for one in sample.decision.forecasts]
    if not forecasts:
        return "skip", "tells none (optional; needed for ADE, IRS and FPBR)", ""
    known = [(sample, one) for sample, one in forecasts if one.actor_id in sample.people]
    if not known:
        return (
            "fail",
            f"{len(forecasts)} forecasts, none of a person that is there",
            "actor_id is the id in moment.actors (or of the carla actor) of a person",
        )
    for sample, one in known:
        problem = _form_problem(one) or _place_problem(sample, one)
        if problem:
            return "fail", f"at {sample.time_s:g} s, actor {one.actor_id}: {problem[0]}", problem[1]
    longest = max(float(one.time_s[-1]) for _, one in known)
    return "pass", f"{len(known)} of people, up to {longest:g} s, where they are", ""


def _form_problem(forecast: Forecast) -> tuple[str, str] | None:
    times = forecast.time_s
    if not len(times) or np.any(np.diff(times) <= 0.0) or times[0] < 0.0:
        return "time_s does not rise from 0 on", "time_s counts seconds from now: 0.5, 1.0, ..."
    if times[-1] > _LONGEST_S:
        return (f"time_s goes up to {times[-1]:g}", "time_s is in seconds, not ms or ticks")
    total = float(forecast.weight.sum())
    if abs(total - 1.0) > 0.01 or np.any(forecast.weight < 0.0):
        return (f"weights add up to {total:.3g}", "weight is a probability of each mode: sum 1")
    if forecast.covariance_m2 is None:
        return None
    spread = forecast.covariance_m2
    if not np.allclose(spread, np.swapaxes(spread, -1, -2), rtol=1e-6, atol=1e-9):
        return "a covariance is not symmetric", "covariance_m2 is (modes, times, 2, 2)"
    values = np.linalg.eigvalsh(spread)
    if np.any(values <= 0.0):
        return "a covariance is not positive", "covariance_m2 holds variances in m2"
    widest = math.sqrt(float(values[:, 0].max()))
    if widest > _WIDEST_M:
        return (f"a deviation of {widest:.0f} m at first", "covariance_m2 is in m2, not cm2")
    return None


def _place_problem(sample: Sample, forecast: Forecast) -> tuple[str, str] | None:
    here = np.array(sample.people[forecast.actor_id])
    first = np.average(forecast.mean_m[:, 0, :], axis=0, weights=np.maximum(forecast.weight, 1e-12))
    reach = _SLACK_M + _PERSON_MPS * float(forecast.time_s[0])
    gap = float(np.hypot(*(first - here)))
    if gap <= reach:
        return None
    detail = f"forecast {gap:.1f} m away from the person in {forecast.time_s[0]:g} s"
    return detail, _frame_hint(first[None, :], sample, here, lambda p: _gap(p[0], here) <= reach)


def judge_plans(samples: Sequence[Sample], route_m: FloatArray) -> Verdict:
    """Judge plans: they must begin at the ego and lead along the route."""
    plans = [(s, s.decision.plan) for s in samples if s.decision.plan is not None]
    plans = [(sample, plan) for sample, plan in plans if plan is not None and len(plan.path_m)]
    if not plans:
        return "skip", "tells none (optional)", ""
    for sample, plan in plans:
        assert plan is not None
        path, ego = plan.path_m, np.array(sample.xy_m)
        if plan.time_s is not None and np.any(np.diff(plan.time_s) < 0.0):
            return "fail", f"at {sample.time_s:g} s: time_s falls", "time_s: seconds from now"
        if not _fits(path, ego, route_m):
            fix = _frame_hint(path, sample, ego, partial(_fits, ego_m=ego, route_m=route_m))
            detail = f"at {sample.time_s:g} s it is neither at the ego nor along the route"
            return "fail", detail, fix
    return "pass", f"{len(plans)} plans, along the route", ""


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


_MOVES_M: Final = 8.0
_AWAY_M: Final = (2.0, 4.0)  # warn, fail
_FAST: Final = (1.15, 1.35)  # multiples of the limit
_SLOW: Final = 0.25
# "package.room.SomeError: text"; names without dots, such as KeyError, are kept.
_CLASS: Final = re.compile(r"^(?:\w+\.)+\w+: ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One line of the table."""

    check: str
    state: str
    detail: str
    fix: str = ""

    def as_dict(self) -> dict[str, str]:
        """Return the finding as JSON values."""
        return asdict(self)


def judge(drive: CheckDrive, again: CheckDrive | None, budget_ms: float) -> list[Finding]:
    """Return all findings about a drive, and about a second one with the same seed."""
    findings = [_answers(drive)]
    if drive.failed_in in ("load", "setup"):
        return findings
    findings.append(_sensors(drive))
    if not drive.samples:
        return findings
    findings += [rule(drive) for rule in (_controls, _moves, _steering, _on_route, _speed)]
    findings += [
        Finding(check=check, state=state, detail=detail, fix=fix)
        for check, state, detail, fix in (
            ("plan", *judge_plans(drive.samples, drive.route_m)),
            ("forecasts", *judge_forecasts(drive.samples)),
        )
    ]
    findings.append(_timing(drive, budget_ms))
    if again is not None:
        findings.append(_repeats(drive, again))
    return findings


def timing_ms(drive: CheckDrive) -> dict[str, float]:
    """Wall time of a step: mean, 95th percentile, longest; the first step is left out."""
    times = np.array([sample.wall_ms for sample in drive.samples[1:]])
    if not len(times):
        return {}
    return {
        "mean": round(float(times.mean()), 3),
        "p95": round(float(np.percentile(times, 95)), 3),
        "max": round(float(times.max()), 3),
    }


def _answers(drive: CheckDrive) -> Finding:
    """Check that the agent loads, sets up, answers every step and closes."""
    who = f"{drive.name} {drive.version}".strip()
    if drive.peer:
        who += f", Python {drive.peer.get('python')}, protocol {drive.peer.get('protocol')}"
    if not drive.failed_in:
        detail = f"{who}: set up in {drive.setup_s:.1f} s, {len(drive.samples)} steps"
        return Finding(check="answers", state=PASS, detail=detail)
    lines = drive.failure.strip().splitlines()
    last = _CLASS.sub("", lines[-1])[:300]
    where = {
        "load": "at the start",
        "setup": "in setup",
        "close": "when it was closed",
        "step": f"in step {len(drive.samples) + 1}",
    }[drive.failed_in]
    fix = "see the traceback with --json"
    for word, advice in _ADVICE.items():
        if word in last:
            fix = advice
            break
    return Finding(check="answers", state=FAIL, detail=f"failed {where}: {last}", fix=fix)


_ADVICE: Final = {
    "nobody listens": "start the agent: python -m jaywalk_agent FILE --port PORT",
    "speaks version": "install the jaywalk_agent of this Jaywalk in the agent's environment",
    "not as a websocket": "something else listens on that port; choose another",
    "did not say hello": "something else listens on that port; choose another",
    "no answer after": "the agent hangs; a step may take 10 s here and a setup 120 s",
    "did not answer": "the agent hangs; a step may take 10 s here and a setup 120 s",
    "was lost while": "the agent's process ended: look at its own output",
    "ModuleNotFoundError": (
        "run it in its own Python as ws://HOST:PORT (docs/reference/remote_agents.md)"
    ),
}


def _sensors(drive: CheckDrive) -> Finding:
    if not drive.asked_sensors:
        return Finding(check="sensors", state=SKIP, detail="asks for none")
    described, bad = [], []
    for tag, data in sorted(drive.sensors.items()):
        if isinstance(data, np.ndarray):
            described.append(f"{tag} {'x'.join(map(str, data.shape))} {data.dtype}")
            if not data.size or not np.all(np.isfinite(data)):
                bad.append(tag)
        else:
            described.append(f"{tag} {', '.join(data) if isinstance(data, dict) else type(data)}")
    if bad:
        return Finding(
            check="sensors",
            state=FAIL,
            detail=f"no usable data from {', '.join(bad)}",
            fix="look at the sensor's place and field of view",
        )
    detail = "; ".join(described) or "no frame was read"
    return Finding(check="sensors", state=PASS if described else FAIL, detail=detail)


def _controls(drive: CheckDrive) -> Finding:
    rows = np.array(
        [
            (s.decision.control.throttle, s.decision.control.steer, s.decision.control.brake)
            for s in drive.samples
        ]
    )
    names = ("throttle", "steer", "brake")
    if not np.all(np.isfinite(rows)):
        bad = [
            name
            for name, column in zip(names, rows.T, strict=True)
            if not np.all(np.isfinite(column))
        ]
        return Finding(
            check="controls",
            state=FAIL,
            detail=f"not a finite number: {', '.join(bad)}",
            fix="a run ends there as the agent's failure; guard against division by zero",
        )
    ranges = ", ".join(
        f"{name} {column.min():.2f} to {column.max():.2f}"
        for name, column in zip(names, rows.T, strict=True)
    )
    low, high = np.array([0.0, -1.0, 0.0]), np.ones(3)
    if np.any(rows < low - 1e-6) or np.any(rows > high + 1e-6):
        wide = float(np.abs(rows[:, 1]).max())
        fix = "throttle and brake are 0 to 1, steer is -1 to 1"
        if wide > 1.0:
            fix += "; a share of the largest wheel angle, not degrees or radians"
        return Finding(check="controls", state=FAIL, detail=ranges, fix=fix)
    both = np.mean((rows[:, 0] > 0.05) & (rows[:, 2] > 0.05))
    if both > 0.1:
        return Finding(
            check="controls",
            state=WARN,
            fix="let one go before pressing the other",
            detail=f"throttle and brake together in {both:.0%} of the steps; {ranges}",
        )
    return Finding(check="controls", state=PASS, detail=ranges)


def _moves(drive: CheckDrive) -> Finding:
    last = drive.samples[-1]
    driven = f"{last.along_m:.0f} m along the route in {last.time_s:.1f} s"
    if last.along_m >= _MOVES_M:
        return Finding(check="moves", state=PASS, detail=driven)
    if min(sample.speed_mps for sample in drive.samples) < -0.5:
        fix = "set reverse to False; the route leads ahead, along the yaw of its points"
        return Finding(check="moves", state=FAIL, detail="it drives backwards", fix=fix)
    pushed = max(sample.decision.control.throttle for sample in drive.samples)
    if pushed < 0.05:
        fix = "the throttle was never pressed: the way is free and the lights are green"
    else:
        fix = "the throttle was pressed: is the brake or the hand brake, too? did it go round?"
    if is_lost(last):
        fix = "it left its route at once; look at steering and route first"
    elif last.time_s < 4.0:
        fix = "the agent is too slow to see more in the time of a check; look at timing first"
    return Finding(check="moves", state=FAIL, detail=driven, fix=fix)


def _steering(drive: CheckDrive) -> Finding:
    state, detail, fix = judge_steering(drive)
    return Finding(check="steering", state=state, detail=detail, fix=fix)


def _on_route(drive: CheckDrive) -> Finding:
    away = max(sample.away_m for sample in drive.samples)
    off_plan = max(min(sample.away_m, sample.off_plan_m) for sample in drive.samples)
    detail = f"at most {away:.1f} m from the line of the route"
    if off_plan <= _AWAY_M[0] < away:
        detail += f", but {off_plan:.1f} m from the straight lines of its thinned plan"
        return Finding(check="route", state=PASS, detail=detail)
    if off_plan > _AWAY_M[1]:
        fix = (
            "route points are world coordinates in metres (x, y, z); GPS is latitude first, and "
            "y = -north"
        )
        return Finding(check="route", state=FAIL, detail=detail, fix=fix)
    if off_plan > _AWAY_M[0]:
        fix = "smoother steering, or a slower bend"
        return Finding(check="route", state=WARN, detail=detail, fix=fix)
    return Finding(check="route", state=PASS, detail=detail)


def _speed(drive: CheckDrive) -> Finding:
    limit_kmh = float(np.median([s.limit_kmh for s in drive.samples]))
    limit = max(limit_kmh / MPS_TO_KMH, 30.0 / MPS_TO_KMH)
    top = max(sample.speed_mps for sample in drive.samples)
    detail = f"up to {top:.1f} m/s, limit {limit:.1f} m/s ({MPS_TO_KMH * limit:.0f} km/h)"
    if top > _FAST[1] * limit:
        fix = "speeds are in m/s and the limit in km/h: divide the limit by 3.6"
        return Finding(check="speed", state=FAIL, detail=detail, fix=fix)
    if top > _FAST[0] * limit:
        return Finding(check="speed", state=WARN, detail=detail, fix="it drives too fast")
    slow = top < _SLOW * limit and drive.samples[-1].time_s > 8.0
    if slow:
        fix = "if it means km/h: speeds are in m/s; a limit in km/h divided by 3.6 twice?"
        return Finding(check="speed", state=WARN, detail=detail, fix=fix)
    return Finding(check="speed", state=PASS, detail=detail)


def _timing(drive: CheckDrive, budget_ms: float) -> Finding:
    times = timing_ms(drive)
    if not times:
        return Finding(check="timing", state=SKIP, detail="too few steps")
    detail = (
        f"{times['mean']:.1f} ms a step (95 % below {times['p95']:.1f}, longest "
        f"{times['max']:.1f}), budget {budget_ms:g}"
    )
    if times["p95"] > budget_ms:
        minutes = times["mean"] * 20.0 / 1e3
        fix = f"a minute of driving takes {minutes:.1f} minutes of it; or raise --budget-ms"
        return Finding(check="timing", state=FAIL, detail=detail, fix=fix)
    return Finding(check="timing", state=PASS, detail=detail)


def _repeats(drive: CheckDrive, again: CheckDrive) -> Finding:
    """Check that two drives with one seed are alike."""
    pairs = list(zip(drive.samples, again.samples, strict=False))
    for first, second in pairs:
        if _told(first) != _told(second):
            return Finding(
                check="repeats",
                state=WARN,
                detail=f"another control at {first.time_s:g} s in a second drive with one seed",
                fix="draw random numbers from briefing.seed, read no clock, keep nothing between "
                "episodes; on a GPU it may not be possible",
            )
    if not pairs:
        return Finding(check="repeats", state=SKIP, detail="no second drive")
    detail = f"the same controls in {len(pairs)} steps of a second drive"
    return Finding(check="repeats", state=PASS, detail=detail)


def _told(sample: Any) -> tuple[float, float, float]:
    control = sample.decision.control
    return control.throttle, control.steer, control.brake
