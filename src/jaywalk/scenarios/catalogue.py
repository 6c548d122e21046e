"""Every scenario by name and version; imported only when one is made."""

from __future__ import annotations

from typing import Final

from jaywalk.core.registry import Registry

SCENARIOS: Final = Registry("scenario")
_ROOM: Final = "jaywalk.scenarios"

for _name, _target, _summary in (
    ("jaywalk/open-road-v1", "open_road:OpenRoad", "nothing happens"),
    ("jaywalk/stepping-out-v1", "stepping_out:SteppingOut", "a person steps out from the kerb"),
    ("jaywalk/stepping-out-hidden-v1", "stepping_out:HiddenSteppingOut",
     "a person steps out from behind an obstacle"),
    ("jaywalk/parked-obstacle-v1", "obstacle_on_lane:ParkedObstacle", "a car stands on the lane"),
    ("jaywalk/parked-two-ways-v1", "obstacle_two_ways:ParkedTwoWays",
     "a car stands on the lane, others come on the opposite one"),
    ("jaywalk/construction-v1", "obstacle_on_lane:ConstructionObstacle", "a construction site"),
    ("jaywalk/construction-two-ways-v1", "obstacle_two_ways:ConstructionTwoWays",
     "a construction site, cars come on the opposite lane"),
    ("jaywalk/hard-brake-v1", "hard_brake:HardBrake", "the car ahead brakes hard"),
    ("jaywalk/red-light-runner-v1", "right_of_way:RedLightRunner",
     "the ego has green, another vehicle runs its red light"),
    ("jaywalk/priority-taken-v1", "right_of_way:PriorityTaken",
     "another vehicle takes the ego's right of way at a junction"),
    ("jaywalk/stop-junction-v1", "stop_junction:StopJunction",
     "a stop sign; cars with priority cross"),
):  # fmt: skip
    SCENARIOS.add(_name, f"{_ROOM}.{_target}", _summary)
