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

# Types of the Leaderboard and Bench2Drive that are none of ours.
for _name, _target, _summary in (
    ("Accident", "accident:Accident", "a police car and two crashed cars on the lane"),
    ("AccidentTwoWays", "accident:AccidentTwoWays", "the same, cars come"),
    ("BlockedIntersection", "blocked_intersection:BlockedIntersection",
     "a car stands right behind the junction"),
    ("ControlLoss", "control_loss:ControlLoss", "debris on which steering and throttle slip"),
    ("CrossingBicycleFlow", "bicycle_flow:BicycleFlow",
     "bicycles on a cycle lane cross at a junction"),
    ("EnterActorFlow", "enter_flow:EnterFlow", "a stream of fast cars to join"),
    ("EnterActorFlowV2", "enter_flow:EnterFlowV2", "a stream of fast cars on one lane to join"),
    ("HazardAtSideLane", "side_hazard:SideHazard", "two bicycles ride at the edge of the lane"),
    ("HazardAtSideLaneTwoWays", "side_hazard:SideHazardTwoWays",
     "two bicycles ride at the edge of the lane, cars come"),
    ("HighwayCutIn", "highway_cut_in:HighwayCutIn", "a car from an entry changes lanes"),
    ("HighwayExit", "highway_exit:HighwayExit", "a stream of cars between the ego and its exit"),
    ("InterurbanActorFlow", "interurban_flow:InterurbanFlow", "a stream to turn left across"),
    ("InterurbanAdvancedActorFlow", "interurban_flow:InterurbanAdvancedFlow",
     "a stream to turn left across, another one to join"),
    ("InvadingTurn", "invading_turn:InvadingTurn", "oncoming cars come over to the ego's side"),
    ("MergerIntoSlowTraffic", "slow_traffic:SlowTraffic", "a stream of slow cars to join"),
    ("MergerIntoSlowTrafficV2", "slow_traffic:SlowTraffic", "a stream of slow cars to join"),
    ("NonSignalizedJunctionLeftTurn", "junction_turn:LeftTurn",
     "a left turn across oncoming cars"),
    ("NonSignalizedJunctionLeftTurnEnterFlow", "junction_turn:LeftTurnEnterFlow",
     "a left turn into a stream of cars"),
    ("NonSignalizedJunctionRightTurn", "junction_turn:RightTurn",
     "a right turn into cars from the left"),
    ("ParkingCutIn", "parking_cut_in:ParkingCutIn", "a parked car drives out before the ego"),
    ("SequentialLaneChange", "plain_turns:PlainDrive", "lane changes of the route alone"),
    ("SignalizedJunctionLeftTurn", "junction_turn:SignalizedLeftTurn",
     "a left turn at lights across oncoming cars"),
    ("SignalizedJunctionLeftTurnEnterFlow", "junction_turn:SignalizedLeftTurnEnterFlow",
     "a left turn at lights into a stream of cars"),
    ("SignalizedJunctionRightTurn", "junction_turn:SignalizedRightTurn",
     "a right turn at lights into cars from the left"),
    ("StaticCutIn", "static_cut_in:StaticCutIn", "one of a queue beside the ego cuts in"),
    ("T_Junction", "plain_turns:PlainDrive", "a junction with its lights and signs alone"),
    ("VanillaNonSignalizedTurn", "plain_turns:PlainTurn", "a turn alone"),
    ("VanillaNonSignalizedTurnEncounterStopsign", "plain_turns:PlainTurn", "a turn at a stop sign"),
    ("VanillaSignalizedTurnEncounterGreenLight", "plain_turns:TurnAtGreen", "a turn at green"),
    ("VanillaSignalizedTurnEncounterRedLight", "plain_turns:TurnAtRed", "a turn at red"),
    ("VehicleTurningRoute", "vehicle_turning:VehicleTurning",
     "a bicycle crosses behind the junction"),
    ("YieldToEmergencyVehicle", "emergency_vehicle:EmergencyVehicle",
     "an emergency vehicle comes from behind"),
):  # fmt: skip
    SCENARIOS.add(_name, f"{_ROOM}.leaderboard.{_target}", f"public type, {_summary}")

# Types of Fail2Drive. Its files write Animals and PedestrianOtherBlocker as DynamicObjectCrossing.
for _name, _target, _summary in (
    ("Animals", "animals:AnimalCrossing", "an animal crosses from behind an obstacle"),
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
    ("PedestrianOtherBlocker", "other_blocker:OtherBlocker",
     "a person steps out from behind something unusual"),
    ("PedestriansOnRoad", "pedestrians_on_road:PedestriansOnRoad", "people walk on the lane"),
    ("PermutedConstructionObstacle", "construction_permutations:PermutedConstruction",
     "a construction site that lacks parts"),
    ("PermutedConstructionObstacleTwoWays",
     "construction_permutations:PermutedConstructionTwoWays",
     "a construction site that lacks parts, cars come"),
    ("RoadBlocked", "road_blocked:RoadBlocked", "everything is blocked for a minute"),
):  # fmt: skip
    SCENARIOS.add(_name, f"{_ROOM}.fail2drive.{_target}", f"Fail2Drive: {_summary}")
