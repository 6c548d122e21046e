"""Who takes the right of way: lights are held by those that run a red one, and by nobody else."""

from __future__ import annotations

from types import SimpleNamespace

import carla
import numpy as np
import pytest
from scenario_street import TRIGGER_M, Wish, moment, street

from jaywalk.actors.lane_paths import JunctionPath, line_path

GREEN, RED = carla.TrafficLightState.Green, carla.TrafficLightState.Red
TIMES_S = (10.0, 3.0, 2.0)


class Light:
    """A traffic light that notes what is done to it."""

    def __init__(self):
        self.green_s, self.yellow_s, self.red_s = TIMES_S
        self.done = []

    def __getattr__(self, name):
        what = name.partition("_")[2].replace("_time", "_s")
        if name.startswith("get_"):
            return lambda: getattr(self, what)
        if name.startswith("set_"):
            return lambda value: self._set(what, value)
        raise AttributeError(name)

    def _set(self, what, value):
        self.done.append((what, value))
        setattr(self, what, value)

    @property
    def times_s(self):
        return self.green_s, self.yellow_s, self.red_s


@pytest.fixture
def lights(monkeypatch):
    """Of the ego, and of the others, at the junction ahead."""
    mine, others = [Light()], [Light(), Light()]
    way = JunctionPath(
        path=line_path(np.column_stack([np.full(90, 100.0), np.arange(90.0), np.zeros(90)])),
        meets_along_m=40.0,
        meets_route_m=TRIGGER_M + 50.0,
        turn_deg=0.0,
    )
    ahead = SimpleNamespace(
        lights=lambda: (mine, others), crossing=lambda *_: way, leave_m=TRIGGER_M + 60.0
    )
    monkeypatch.setattr(carla.command, "SpawnActor", Wish)
    monkeypatch.setattr(
        "jaywalk.scenarios.junctions._right_of_way.junction_ahead", lambda scenario: ahead
    )
    return mine, others


def play(kind):
    """From before the trigger until it is over."""
    scenario = street().scenario(kind)
    scenario.setup()
    for elapsed_s, ahead_m in ((0.0, -20.0), (1.0, 0.0), (2.0, 30.0), (3.0, 49.0)):
        scenario.advance(moment(elapsed_s, ahead_m, 10.0))
    yield scenario
    assert scenario.going
    scenario.advance(moment(5.0, 80.0, 10.0))
    assert scenario.phase.value == "done"
    yield scenario


@pytest.mark.parametrize("kind", ["OppositeVehicleTakingPriority", "NormalVehicleTakingPriority"])
def test_who_takes_a_priority_leaves_the_lights_alone(kind, lights):
    for _ in play(kind):
        assert [one.done for one in (*lights[0], *lights[1])] == [[], [], []]


@pytest.mark.parametrize("kind", ["OppositeVehicleRunningRedLight", "NormalVehicleRunningRedLight"])
def test_who_runs_a_red_light_holds_green_for_the_ego_until_it_is_over(kind, lights):
    mine, others = lights
    played = play(kind)
    next(played)
    assert [one.state for one in mine] == [GREEN]
    assert [one.state for one in others] == [RED, RED]
    assert all(min(one.times_s) > 10_000.0 for one in (*mine, *others))
    next(played)
    assert all(one.times_s == TIMES_S for one in (*mine, *others))


def test_ours_takes_a_priority_regardless_of_lights(lights):
    for _ in play("jaywalk/priority-taken-v1"):
        assert not any(one.done for one in (*lights[0], *lights[1]))
