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
    ("jaywalk/crosswalk-group-v1", "crosswalk_group:CrosswalkGroup",
     "three people cross before a junction"),
):  # fmt: skip
    SCENARIOS.add(_name, f"{_ROOM}.{_target}", _summary)

# Types in route files of the Leaderboard (also Bench2Drive's).
for _name, _target, _like in (
    ("ConstructionObstacle", "LbConstructionObstacle", "construction"),
    ("ConstructionObstacleTwoWays", "LbConstructionTwoWays", "construction-two-ways"),
    ("DynamicObjectCrossing", "LbCrossing", "stepping-out-hidden"),
    ("HardBreakRoute", "LbHardBrake", "hard-brake"),
    ("OppositeVehicleRunningRedLight", "LbRedLightRunner", "red-light-runner"),
    ("OppositeVehicleTakingPriority", "LbPriorityTaken", "priority-taken"),
    ("ParkedObstacle", "LbParkedObstacle", "parked-obstacle"),
    ("ParkedObstacleTwoWays", "LbParkedTwoWays", "parked-two-ways"),
    ("ParkingCrossingPedestrian", "LbParkingCrossing", "stepping-out-hidden"),
):
    SCENARIOS.add(_name, f"{_ROOM}.public_types:{_target}", f"public type, like jaywalk/{_like}-v1")
SCENARIOS.add(
    "PedestrianCrossing", f"{_ROOM}.crosswalk_group:CrosswalkGroup",
    "public type, like jaywalk/crosswalk-group-v1",
)  # fmt: skip
for _name, _target, _summary in (
    ("ParkingExit", "parking_exit:ParkingExit", "the ego leaves a parking space"),
    ("PriorityAtJunction", "priority_at_junction:PriorityAtJunction", "the ego's light is green"),
    ("VehicleOpensDoorTwoWays", "opens_door:OpensDoor", "a parked car opens its door"),
    ("VehicleTurningRoutePedestrian", "turning_pedestrian:TurningPedestrian",
     "a person crosses behind the junction"),
):  # fmt: skip
    SCENARIOS.add(_name, f"{_ROOM}.{_target}", f"public type, {_summary}")

# Types of Fail2Drive.
for _name, _target, _summary in (
    ("BadParkingObstacle", "bad_parking:BadParkingObstacle", "a badly parked car"),
    ("BadParkingObstacleTwoWays", "bad_parking:BadParkingTwoWays",
     "a badly parked car, others come"),
    ("ConstructionObstacleOppositeLane", "opposite_construction:OppositeConstruction",
     "a construction site on the opposite lane"),
    ("ConstructionObstaclePedestrian", "construction_pedestrian:ConstructionPedestrian",
     "a person steps out of a construction site"),
    ("ConstructionObstacleRightLane", "right_construction:RightConstruction",
     "a construction site right of the lane"),
    ("CustomObstacle", "custom_obstacles:CustomObstacle", "any things on the lane"),
    ("CustomObstacleTwoWays", "custom_obstacles:CustomObstacleTwoWays",
     "any things on the lane, cars come"),
    ("HardBrakeNoLights", "hard_brake:HardBrakeNoLights", "the car ahead brakes without lights"),
    ("ImageOnObject", "image_on_object:ImageOnObject", "a picture beside the road"),
    ("NormalVehicleRunningRedLight", "right_of_way:NormalRedLightRunner",
     "an ordinary vehicle runs its red light"),
    ("NormalVehicleTakingPriority", "right_of_way:NormalPriorityTaken",
     "an ordinary vehicle takes the right of way"),
    ("ObscuredStopSign", "obscured_stop:ObscuredStop", "a stop sign that is hard to read"),
    ("PedestrianCrowd", "pedestrian_crowd:PedestrianCrowd", "many people beside the road"),
    ("PedestriansOnRoad", "pedestrians_on_road:PedestriansOnRoad", "people walk on the lane"),
    ("PermutedConstructionObstacle", "construction_permutations:PermutedConstruction",
     "a construction site that lacks parts"),
    ("PermutedConstructionObstacleTwoWays",
     "construction_permutations:PermutedConstructionTwoWays",
     "a construction site that lacks parts, cars come"),
    ("RoadBlocked", "road_blocked:RoadBlocked", "everything is blocked for a minute"),
):  # fmt: skip
    SCENARIOS.add(_name, f"{_ROOM}.fail2drive.{_target}", f"Fail2Drive: {_summary}")
