"""When an episode is over, tick by tick, against what the protocols make of the same ticks."""

import math
from types import SimpleNamespace

import pytest

from jaywalk.runner.ending import BLOCKED, TIMED_OUT, EndRules
from jaywalk.runner.session import STEP_S
from jaywalk.scenarios.base import Phase


def obstacle(phase=Phase.WAITING, timeout_s=240.0):
    return SimpleNamespace(phase=phase, timeout_s=timeout_s)


def cast(*scenarios):
    return SimpleNamespace(scenarios=scenarios, ego=SimpleNamespace(get_speed_limit=lambda: 50.0))


def way(along_m=30.0):
    return SimpleNamespace(is_complete=False, away_m=0.0, along_m=along_m)


def seconds_until_over(rules, people, *, stands_s, speed_mps=0.0, from_s=0.0):
    """How long it took, and why; ``stands_s`` and nothing if it was not over by then."""
    for tick in range(round(stands_s / STEP_S)):
        reason = rules.judge(from_s + tick * STEP_S, speed_mps, people, way())
        if reason:
            return tick * STEP_S, reason
    return stands_s, ""


def test_an_ego_that_stands_is_blocked_after_the_protocols_three_minutes():
    stood_s, reason = seconds_until_over(EndRules(), cast(), stands_s=200.0)
    assert reason == BLOCKED
    assert stood_s == pytest.approx(180.0, abs=0.1)


def test_who_moves_is_not_blocked():
    assert seconds_until_over(EndRules(), cast(), stands_s=290.0, speed_mps=0.2)[1] == ""


@pytest.mark.parametrize("after", [Phase.TIMED_OUT, Phase.DONE])
def test_who_waited_for_an_obstacle_has_three_minutes_more_when_it_is_over(after):
    """Else an obstacle that is removed after 240 s is never passed by who waited."""
    one = obstacle(Phase.RUNNING)
    rules = EndRules()
    assert seconds_until_over(rules, cast(one), stands_s=100.0) == (100.0, "")
    one.phase = after
    stood_s, reason = seconds_until_over(rules, cast(one), stands_s=200.0, from_s=100.0)
    assert reason == BLOCKED
    assert stood_s == pytest.approx(180.0, abs=0.1)


def test_scenarios_that_do_not_bar_the_way_leave_the_rule_alone():
    crossing = obstacle(Phase.RUNNING, timeout_s=math.inf)
    assert seconds_until_over(EndRules(), cast(crossing), stands_s=200.0)[1] == BLOCKED


def test_an_obstacle_that_never_ends_is_left_to_the_route_time_out():
    stood_s, reason = seconds_until_over(EndRules(), cast(obstacle(Phase.RUNNING)), stands_s=400.0)
    assert reason == TIMED_OUT
    assert stood_s == pytest.approx(300.0 + 30.0 / (0.1 * 50.0 / 3.6), abs=0.1)
