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
    ("jaywalk/construction-v1", "obstacle_on_lane:ConstructionObstacle", "a construction site"),
    ("jaywalk/hard-brake-v1", "hard_brake:HardBrake", "the car ahead brakes hard"),
):  # fmt: skip
    SCENARIOS.add(_name, f"{_ROOM}.{_target}", _summary)
