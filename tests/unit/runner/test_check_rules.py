"""The rules of ``jaywalk check``: each fault is found under its name, with its fix."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from jaywalk.agents.base import Decision, Forecast, Plan
from jaywalk.checks.drive import CheckDrive, Sample
from jaywalk.checks.rules import judge

_ROUTE = np.column_stack([np.arange(200.0) + 300.0, np.full(200, 50.0)])


def _forecast(place: tuple[float, float], **change: Any) -> Forecast:
    ends = np.array(place) + np.array([[0.5, 0.0], [1.0, 0.0]])
    whole: dict[str, Any] = {
        "actor_id": 9,
        "source": "t",
        "time_s": np.array([0.5, 1.0]),
        "weight": np.array([1.0]),
        "mean_m": ends[None],
        "covariance_m2": np.tile(0.04 * np.eye(2), (1, 2, 1, 1)),
    }
    return Forecast(**{**whole, **change})


def _sample(step: int, **change: Any) -> Sample:
    x = 300.0 + 0.4 * step
    whole: dict[str, Any] = {
        "time_s": 0.05 * step,
        "xy_m": (x, 50.0),
        "yaw_rad": 0.0,
        "speed_mps": 8.0,
        "limit_kmh": 30.0,
        "along_m": 0.4 * step,
        "away_m": 0.2,
        "wall_ms": 2.0,
        "to_right_rad": 0.1 * math.sin(step),
        "people": {9: (x + 20.0, 55.0)},
    }
    control = SimpleNamespace(throttle=0.5, steer=0.05 * math.sin(step), brake=0.0)
    path = np.column_stack([np.linspace(x, x + 20.0, 10), np.full(10, 50.0)])
    decision = Decision(
        control=control, plan=Plan(path_m=path), forecasts=(_forecast((x + 20.0, 55.0)),)
    )
    return Sample(**{**whole, "decision": decision, **change})


def _drive(**change: Any) -> CheckDrive:
    """A good drive, with something changed in every tick: a value, or a function of the sample."""
    samples = []
    for step in range(200):
        good = _sample(step)
        new = {name: value(good) if callable(value) else value for name, value in change.items()}
        samples.append(replace(good, **new))
    return CheckDrive(route_m=_ROUTE, samples=samples, name="me")


def _controls(**change: Any) -> Any:
    def changed(sample: Sample) -> Decision:
        control = SimpleNamespace(**vars(sample.decision.control))
        for name, value in change.items():
            setattr(control, name, value(sample) if callable(value) else value)
        return replace(sample.decision, control=control)

    return changed


def _states(drive: CheckDrive, again: CheckDrive | None = None) -> dict[str, Any]:
    return {one.check: one for one in judge(drive, again, 100.0)}


def test_a_good_agent_passes_everything() -> None:
    found = _states(_drive(), _drive())
    states = {name: one.state for name, one in found.items()}
    assert states.pop("sensors") == "skip"
    assert set(states.values()) == {"pass"}, found


@pytest.mark.parametrize(
    ("change", "check", "state", "words"),
    [
        ({"decision": _controls(throttle=math.nan)}, "controls", "fail", "guard"),
        ({"decision": _controls(steer=30.0)}, "controls", "fail", "not degrees"),
        ({"decision": _controls(brake=0.5)}, "controls", "warn", "let one go"),
        ({"along_m": 1.0}, "moves", "fail", "brake"),
        ({"along_m": 1.0, "away_m": 9.0}, "moves", "fail", "left its route at once"),
        ({"along_m": 0.0, "decision": _controls(throttle=0.0)}, "moves", "fail", "never pressed"),
        ({"along_m": 0.0, "speed_mps": -2.0}, "moves", "fail", "reverse"),
        ({"decision": _controls(steer=0.0)}, "steering", "fail", "steer towards"),
        ({"away_m": 6.0}, "route", "fail", "world coordinates"),
        ({"away_m": 3.0}, "route", "warn", "bend"),
        ({"speed_mps": 28.0}, "speed", "fail", "3.6"),
        ({"speed_mps": 1.0}, "speed", "warn", "km/h"),
        ({"wall_ms": 150.0}, "timing", "fail", "minutes"),
    ],
)
def test_faults_of_driving(change: dict[str, Any], check: str, state: str, words: str) -> None:
    found = _states(_drive(**change))[check]
    assert found.state == state
    assert words in found.fix


def _steered(sign: float, plan_m: np.ndarray | None = None, ticks: int = 200) -> CheckDrive:
    """A car that starts 8 degrees to the left and steers at a point 6 m ahead, or the reverse."""
    x, y, yaw, samples = 300.0, 50.0, math.radians(-8.0), []
    for step in range(ticks):
        along = max(x - 300.0, 0.0)
        to = math.atan2(50.0 - y, 6.0) - yaw
        if plan_m is not None:
            aim = plan_m[plan_m[:, 0] > x + 5.0][0]
            to = math.atan2(aim[1] - y, aim[0] - x) - yaw
        control = SimpleNamespace(throttle=0.5, steer=max(-1.0, min(1.0, sign * to)), brake=0.0)
        sample = _sample(
            step,
            xy_m=(x, y),
            yaw_rad=yaw,
            along_m=along,
            away_m=abs(y - 50.0),
            to_right_rad=math.atan2(50.0 - y, 6.0) - yaw,
        )
        samples.append(replace(sample, decision=replace(sample.decision, control=control)))
        if abs(y - 50.0) > 8.0:
            break
        yaw += 0.05 * 6.0 / 2.8 * math.tan(0.7 * control.steer)
        x, y = x + 0.3 * math.cos(yaw), y + 0.3 * math.sin(yaw)
    return CheckDrive(route_m=_ROUTE, plan_m=plan_m, samples=samples, name="me")


@pytest.mark.parametrize("thinned", [False, True])
def test_mirrored_steering_is_told_from_a_thinned_plan(thinned: bool) -> None:
    # The line of the thinned plan is first right, then left of the route.
    corners = np.array([(300.0, 50.0), (320.0, 52.0), (345.0, 49.0), (499.0, 50.0)])
    plan = corners if thinned else None
    right = _states(_steered(1.0, plan))["steering"]
    assert right.state == "pass", right
    wrong = _states(_steered(-1.0, plan))["steering"]
    assert (wrong.state, wrong.detail[:9]) == ("fail", "mirrored:")
    assert "left-handed" in wrong.fix


def test_leaving_the_lane_along_a_thinned_plan_is_no_fault() -> None:
    found = _states(_drive(away_m=6.0, off_plan_m=0.3))["route"]
    assert found.state == "pass"
    assert "0.3 m from the straight lines of its thinned plan" in found.detail


def _ego_frame(points: np.ndarray, s: Sample) -> np.ndarray:
    return points - np.array(s.xy_m)  # its yaw is 0


@pytest.mark.parametrize(
    ("turn", "words"),
    [
        (_ego_frame, "the ego's frame (x ahead, y right)"),
        (lambda p, s: _ego_frame(p, s) * [1, -1], "with y to the left"),
        (lambda p, s: p * [1, -1], "right-handed world"),
        (lambda p, s: p[..., ::-1], "exchanged"),
        (lambda p, s: p * 100.0, "centimetres"),
        (lambda p, s: p * 7.0, "world coordinates in metres"),
    ],
)
def test_forecasts_in_another_frame(turn: Any, words: str) -> None:
    def forecasts(s: Sample) -> Decision:
        one = s.decision.forecasts[0]
        return replace(s.decision, forecasts=(replace(one, mean_m=turn(one.mean_m, s)),))

    found = _states(_drive(decision=forecasts))["forecasts"]
    assert found.state == "fail"
    assert words in found.fix

    def plans(s: Sample) -> Decision:
        path = turn(s.decision.plan.path_m, s)
        if words.startswith("with y"):  # on a straight road a mirrored path is the same path
            path = path + np.array([0.0, 12.0])
        return replace(s.decision, plan=Plan(path_m=path))

    assert _states(_drive(decision=plans))["plan"].state == "fail"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"actor_id": 77}, "actor_id"),
        ({"time_s": np.array([500.0, 1000.0])}, "not ms"),
        ({"time_s": np.array([1.0, 0.5])}, "seconds from now"),
        ({"weight": np.array([3.0])}, "sum 1"),
        ({"covariance_m2": np.tile(4e4 * np.eye(2), (1, 2, 1, 1))}, "not cm2"),
        ({"covariance_m2": np.tile(-np.eye(2), (1, 2, 1, 1))}, "variances"),
    ],
)
def test_forecasts_of_a_wrong_form(change: dict[str, Any], words: str) -> None:
    def changed(s: Sample) -> Decision:
        return replace(s.decision, forecasts=(replace(s.decision.forecasts[0], **change),))

    found = _states(_drive(decision=changed))["forecasts"]
    assert (found.state, words in found.fix) == ("fail", True), found


def test_what_is_not_repeated_is_a_warning() -> None:
    found = _states(_drive(), _drive(decision=_controls(throttle=0.4)))["repeats"]
    assert found.state == "warn"


def test_sensors_without_data() -> None:
    drive = _drive()
    drive.asked_sensors, drive.sensors = True, {"lidar": np.zeros((0, 4), np.float32)}
    assert _states(drive)["sensors"].state == "fail"
    drive.sensors = {"cam": np.zeros((2, 3, 4), np.uint8), "speed": {"speed": 1.0}}
    assert _states(drive)["sensors"].detail == "cam 2x3x4 uint8; speed speed"


@pytest.mark.parametrize(
    ("last", "words"),
    [
        ("NoListener: nobody listens at ws://x:1", "start the agent"),
        (
            "ConnectionLost: the agent at ws://x:1 was lost while it was asked to step",
            "its own out",
        ),
        ("ModuleNotFoundError: No module named 'torch'", "its own Python"),
    ],
)
def test_failures_name_a_fix(last: str, words: str) -> None:
    drive = CheckDrive(route_m=_ROUTE, failed_in="setup", failure=f"Traceback\n{last}\n")
    (found,) = judge(drive, None, 100.0)
    assert (found.check, found.state) == ("answers", "fail")
    assert words in found.fix
