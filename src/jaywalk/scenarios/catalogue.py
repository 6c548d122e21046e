"""Every scenario by name and version; imported only when one is made."""

from __future__ import annotations

from typing import Final

from jaywalk.core.registry import Registry, Spec

SCENARIOS: Final[Registry[Spec]] = Registry("scenario")
_ROOM: Final = "jaywalk.scenarios"

for _name, _target, _summary in (
    ("jaywalk/open-road-v1", "flows.hard_brake:OpenRoad", "nothing happens"),
    (
        "jaywalk/stepping-out-v1",
        "crossings.stepping_out:SteppingOut",
        "a person steps out from the kerb",
    ),
    (
        "jaywalk/stepping-out-hidden-v1",
        "crossings.stepping_out:HiddenSteppingOut",
        "a person steps out from behind an obstacle",
    ),
    ("jaywalk/parked-obstacle-v1", "obstacles.on_lane:ParkedObstacle", "a car stands on the lane"),
    (
        "jaywalk/parked-two-ways-v1",
        "obstacles.two_ways:ParkedTwoWays",
        "a car stands on the lane, others come on the opposite one",
    ),
    ("jaywalk/construction-v1", "obstacles.on_lane:ConstructionObstacle", "a construction site"),
    (
        "jaywalk/construction-two-ways-v1",
        "obstacles.two_ways:ConstructionTwoWays",
        "a construction site, cars come on the opposite lane",
    ),
    ("jaywalk/hard-brake-v1", "flows.hard_brake:HardBrake", "the car ahead brakes hard"),
    (
        "jaywalk/red-light-runner-v1",
        "junctions.right_of_way:RedLightRunner",
        "the ego has green, another vehicle runs its red light",
    ),
    (
        "jaywalk/priority-taken-v1",
        "junctions.right_of_way:PriorityTaken",
        "another vehicle takes the ego's right of way at a junction",
    ),
    (
        "jaywalk/stop-junction-v1",
        "junctions.stop_junction:StopJunction",
        "a stop sign; cars with priority cross",
    ),
    (
        "jaywalk/crosswalk-group-v1",
        "crossings.crosswalk_group:CrosswalkGroup",
        "three people cross before a junction",
    ),
):
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
    "PedestrianCrossing",
    f"{_ROOM}.crossings.crosswalk_group:CrosswalkGroup",
    "public type, like jaywalk/crosswalk-group-v1",
)
for _name, _target, _summary in (
    ("ParkingExit", "obstacles.parking_exit:ParkingExit", "the ego leaves a parking space"),
    ("PriorityAtJunction", "junctions.right_of_way:PriorityAtJunction", "the ego's light is green"),
    ("VehicleOpensDoorTwoWays", "obstacles.bad_parking:OpensDoor", "a parked car opens its door"),
    (
        "VehicleTurningRoutePedestrian",
        "crossings.turning_pedestrian:TurningPedestrian",
        "a person crosses behind the junction",
    ),
):
    SCENARIOS.add(_name, f"{_ROOM}.{_target}", f"public type, {_summary}")

# Types of the Leaderboard and Bench2Drive that are none of ours.
for _name, _target, _summary in (
    ("Accident", "obstacles.accident:Accident", "a police car and two crashed cars on the lane"),
    ("AccidentTwoWays", "obstacles.accident:AccidentTwoWays", "the same, cars come"),
    (
        "BlockedIntersection",
        "junctions.junction_turn:BlockedIntersection",
        "a car stands right behind the junction",
    ),
    ("ControlLoss", "obstacles.accident:ControlLoss", "debris on which steering and throttle slip"),
    (
        "CrossingBicycleFlow",
        "flows.located_flow:BicycleFlow",
        "bicycles on a cycle lane cross at a junction",
    ),
    ("EnterActorFlow", "flows.located_flow:EnterFlow", "a stream of fast cars to join"),
    (
        "EnterActorFlowV2",
        "flows.located_flow:EnterFlowV2",
        "a stream of fast cars on one lane to join",
    ),
    (
        "HazardAtSideLane",
        "flows.invading_turn:SideHazard",
        "two bicycles ride at the edge of the lane",
    ),
    (
        "HazardAtSideLaneTwoWays",
        "flows.invading_turn:SideHazardTwoWays",
        "two bicycles ride at the edge of the lane, cars come",
    ),
    ("HighwayCutIn", "flows.cut_in:HighwayCutIn", "a car from an entry changes lanes"),
    (
        "HighwayExit",
        "flows.located_flow:HighwayExit",
        "a stream of cars between the ego and its exit",
    ),
    ("InterurbanActorFlow", "flows.interurban_flow:InterurbanFlow", "a stream to turn left across"),
    (
        "InterurbanAdvancedActorFlow",
        "flows.interurban_flow:InterurbanAdvancedFlow",
        "a stream to turn left across, another one to join",
    ),
    (
        "InvadingTurn",
        "flows.invading_turn:InvadingTurn",
        "oncoming cars come over to the ego's side",
    ),
    ("MergerIntoSlowTraffic", "flows.located_flow:SlowTraffic", "a stream of slow cars to join"),
    ("MergerIntoSlowTrafficV2", "flows.located_flow:SlowTraffic", "a stream of slow cars to join"),
    (
        "NonSignalizedJunctionLeftTurn",
        "junctions.junction_turn:LeftTurn",
        "a left turn across oncoming cars",
    ),
    (
        "NonSignalizedJunctionLeftTurnEnterFlow",
        "junctions.junction_turn:LeftTurnEnterFlow",
        "a left turn into a stream of cars",
    ),
    (
        "NonSignalizedJunctionRightTurn",
        "junctions.junction_turn:RightTurn",
        "a right turn into cars from the left",
    ),
    (
        "ParkingCutIn",
        "obstacles.parking_exit:ParkingCutIn",
        "a parked car drives out before the ego",
    ),
    ("SequentialLaneChange", "junctions.plain_turns:PlainDrive", "lane changes of the route alone"),
    (
        "SignalizedJunctionLeftTurn",
        "junctions.junction_turn:SignalizedLeftTurn",
        "a left turn at lights across oncoming cars",
    ),
    (
        "SignalizedJunctionLeftTurnEnterFlow",
        "junctions.junction_turn:SignalizedLeftTurnEnterFlow",
        "a left turn at lights into a stream of cars",
    ),
    (
        "SignalizedJunctionRightTurn",
        "junctions.junction_turn:SignalizedRightTurn",
        "a right turn at lights into cars from the left",
    ),
    ("StaticCutIn", "flows.cut_in:StaticCutIn", "one of a queue beside the ego cuts in"),
    (
        "T_Junction",
        "junctions.plain_turns:PlainDrive",
        "a junction with its lights and signs alone",
    ),
    ("VanillaNonSignalizedTurn", "junctions.plain_turns:PlainTurn", "a turn alone"),
    (
        "VanillaNonSignalizedTurnEncounterStopsign",
        "junctions.plain_turns:PlainTurn",
        "a turn at a stop sign",
    ),
    (
        "VanillaSignalizedTurnEncounterGreenLight",
        "junctions.plain_turns:TurnAtGreen",
        "a turn at green",
    ),
    ("VanillaSignalizedTurnEncounterRedLight", "junctions.plain_turns:TurnAtRed", "a turn at red"),
    (
        "VehicleTurningRoute",
        "crossings.turning_pedestrian:VehicleTurning",
        "a bicycle crosses behind the junction",
    ),
    (
        "YieldToEmergencyVehicle",
        "flows.emergency_vehicle:EmergencyVehicle",
        "an emergency vehicle comes from behind",
    ),
):
    SCENARIOS.add(_name, f"{_ROOM}.{_target}", f"public type, {_summary}")

# Types of Fail2Drive. Its files write Animals and PedestrianOtherBlocker as DynamicObjectCrossing.
for _name, _target, _summary in (
    ("Animals", "crossings.unusual:AnimalCrossing", "an animal crosses from behind an obstacle"),
    ("BadParkingObstacle", "obstacles.bad_parking:BadParkingObstacle", "a badly parked car"),
    (
        "BadParkingObstacleTwoWays",
        "obstacles.bad_parking:BadParkingTwoWays",
        "a badly parked car, others come",
    ),
    (
        "ConstructionObstacleOppositeLane",
        "obstacles.construction:OppositeConstruction",
        "a construction site on the opposite lane",
    ),
    (
        "ConstructionObstaclePedestrian",
        "crossings.construction_pedestrian:ConstructionPedestrian",
        "a person steps out of a construction site",
    ),
    (
        "ConstructionObstacleRightLane",
        "obstacles.construction:RightConstruction",
        "a construction site right of the lane",
    ),
    ("CustomObstacle", "obstacles.custom:CustomObstacle", "any things on the lane"),
    (
        "CustomObstacleTwoWays",
        "obstacles.custom:CustomObstacleTwoWays",
        "any things on the lane, cars come",
    ),
    ("HardBrakeNoLights", "public_types:HardBrakeNoLights", "the car ahead brakes without lights"),
    ("ImageOnObject", "obstacles.image_on_object:ImageOnObject", "a picture beside the road"),
    (
        "NormalVehicleRunningRedLight",
        "public_types:NormalRedLightRunner",
        "an ordinary vehicle runs its red light",
    ),
    (
        "NormalVehicleTakingPriority",
        "public_types:NormalPriorityTaken",
        "an ordinary vehicle takes the right of way",
    ),
    (
        "ObscuredStopSign",
        "junctions.stop_junction:ObscuredStop",
        "a stop sign that is hard to read",
    ),
    ("PedestrianCrowd", "crossings.crosswalk_group:PedestrianCrowd", "many people beside the road"),
    (
        "PedestrianOtherBlocker",
        "crossings.unusual:OtherBlocker",
        "a person steps out from behind something unusual",
    ),
    ("PedestriansOnRoad", "crossings.crosswalk_group:PedestriansOnRoad", "people walk on the lane"),
    (
        "PermutedConstructionObstacle",
        "obstacles.construction:PermutedConstruction",
        "a construction site that lacks parts",
    ),
    (
        "PermutedConstructionObstacleTwoWays",
        "obstacles.construction:PermutedConstructionTwoWays",
        "a construction site that lacks parts, cars come",
    ),
    ("RoadBlocked", "obstacles.custom:RoadBlocked", "everything is blocked for a minute"),
):
    SCENARIOS.add(_name, f"{_ROOM}.{_target}", f"Fail2Drive: {_summary}")
