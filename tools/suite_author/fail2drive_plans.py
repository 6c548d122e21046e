"""The 100 pairs of the suite ``fail2drive``: what is played, and what kind of street it needs.

Counts per class are the paper's. Layouts and places are ours; numbers are those of the published
split, so that class and category follow from them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

Value = str | float | tuple[float, float] | dict[str, str]
Parameters = dict[str, Value]

HARBOUR, ORCHARD, RIDGE = "Harbour", "Orchard", "Ridge"


@dataclass(frozen=True, slots=True, kw_only=True)
class Street:
    """What a scenario needs: flags of ``Beside`` that hold around the place, and more."""

    town: str
    flags: tuple[str, ...] = ()
    not_flags: tuple[str, ...] = ()
    before_m: float = 30.0
    after_m: float = 50.0
    limit_kmh: tuple[float, float] = (20.0, 60.0)
    bend_deg: float = 12.0
    widest_m: float = 99.0  # from kerb to kerb
    junction: str = ""  # lights, free (neither lights nor stop), stop, or turn; then no place
    arm: str = ""  # from which somebody crosses
    latest_m: float = 999.0  # the place is no farther along the route


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """One scenario of a route; ``before_m``: its trigger, before that of the first one."""

    type: str
    parameters: Parameters = field(default_factory=dict)
    name: str = ""
    built: str = ""  # objects that depend on the street: a function of ``fail2drive_blocks``


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A base and a shift on the same route with the same traffic."""

    number: int
    street: Street
    base: tuple[Scene, ...]
    shift: tuple[Scene, ...]
    distance_m: float = 60.0  # from the trigger to the place
    lead_m: float = 50.0  # from the trigger to a junction


_ONE_WAY: Final = ("left_same",)
_TWO_WAYS: Final = ("opposite",)


def _lanes(town: str, side: str = "right", **more: object) -> Street:
    """A street with another lane of the same direction on the free side."""
    flags = ("left_same",) if side == "right" else ("right_same",)
    return Street(town=town, flags=flags, limit_kmh=(30.0, 125.0), **more)  # type: ignore[arg-type]


def _two_ways(town: str, **more: object) -> Street:
    """A street with an opposite lane right beside."""
    before_m, after_m = (32.0, 42.0) if town == HARBOUR else (40.0, 60.0)  # blocks are short
    return Street(town=town, flags=("opposite",), before_m=before_m, after_m=after_m, **more)  # type: ignore[arg-type]


def _objects(*things: str) -> dict[str, str]:
    return {_key(k): thing for k, thing in enumerate(things)}


def _key(number: int) -> str:
    letters = "abcdefghijklmnopqrstuvwxyz"
    return letters[number] if number < 26 else letters[number // 26 - 1] + letters[number % 26]


def _bad_parking() -> list[Pair]:
    """Numbers 0 to 9."""
    rows = (
        (0, _lanes(HARBOUR), "vehicle.nissan.patrol_2021", 1.9, 18.0, "right"),
        (1, _lanes(HARBOUR), "vehicle.ford.crown", 2.2, -90.0, "right"),
        (2, _lanes(RIDGE), "vehicle.volkswagen.t2_2021", 1.7, -35.0, "right"),
        (3, _lanes(RIDGE), "vehicle.dodge.charger_2020", 1.8, 40.0, "right"),
        (4, _lanes(HARBOUR, "left"), "vehicle.mercedes.sprinter", -1.4, 180.0, "left"),
        (5, _two_ways(ORCHARD), "vehicle.mercedes.coupe_2020", 1.5, 12.0, "right"),
        (6, _two_ways(ORCHARD), "vehicle.tesla.model3", 1.1, 168.0, "right"),
        (7, _two_ways(HARBOUR), "vehicle.mini.cooper_s_2021", 1.5, -150.0, "right"),
        (8, _two_ways(RIDGE), "vehicle.ford.ambulance", 1.6, 8.0, "right"),
        (9, _two_ways(ORCHARD), "vehicle.lincoln.mkz_2020", 2.0, 75.0, "right"),
    )
    pairs = []
    for number, street, vehicle, right_m, yaw_deg, side in rows:
        distance = 50.0 + 5.0 * (number % 4)
        both: Parameters = {"distance": distance, "direction": side}
        suffix = ""
        if "opposite" in street.flags:
            gap_m = 60.0 + 20.0 * (number % 4)
            both["frequency"], suffix = (gap_m, gap_m), "TwoWays"
        shift = {"vehicle": vehicle, "y": right_m, "yaw": yaw_deg, **both}
        pairs.append(
            Pair(
                number=number,
                street=street,
                distance_m=distance,
                base=(Scene(type=f"ParkedObstacle{suffix}", parameters=both),),
                shift=(Scene(type=f"BadParkingObstacle{suffix}", parameters=shift),),
            )
        )
    return pairs


def _construction_pedestrian() -> list[Pair]:
    """Numbers 10 to 14."""
    rows = (
        (10, HARBOUR, "0040", "right"),
        (11, HARBOUR, "0013", "left"),
        (12, RIDGE, "0030", "right"),
        (13, HARBOUR, "0021", "right"),
        (14, RIDGE, "0050", "right"),
    )
    pairs = []
    for number, town, person, side in rows:
        distance = 60.0 + 5.0 * (number % 3)
        both: Parameters = {"distance": distance, "direction": side}
        shift = {"pedestrian": f"walker.pedestrian.{person}", **both}
        pairs.append(
            Pair(
                number=number,
                street=_lanes(town, side),
                distance_m=distance,
                base=(Scene(type="ConstructionObstacle", parameters=both),),
                shift=(Scene(type="ConstructionObstaclePedestrian", parameters=shift),),
            )
        )
    return pairs


def _construction_permutations() -> list[Pair]:
    """Numbers 15 to 19: which cue is missing."""
    cone, barrier = "static.prop.constructioncone", "static.prop.streetbarrier"
    rows: tuple[tuple[int, Street, Parameters], ...] = (
        (15, _two_ways(ORCHARD), {"warning_sign": "none"}),
        (16, _two_ways(RIDGE), {"cones": "0000000", "debris": "none"}),
        (17, _lanes(HARBOUR), {"warning_sign": cone, "debris": cone}),
        (18, _lanes(RIDGE), {"cones": "0000111"}),
        (
            19,
            _lanes(HARBOUR, "left"),
            {"warning_sign": barrier, "debris": "static.prop.trafficcone01"},
        ),
    )
    pairs = []
    for number, street, change in rows:
        distance = 50.0 + 5.0 * (number % 3)
        both: Parameters = {"distance": distance}
        suffix = ""
        if "opposite" in street.flags:
            both["frequency"], suffix = (90.0, 90.0), "TwoWays"
        else:
            both["direction"] = "right" if "left_same" in street.flags else "left"
        pairs.append(
            Pair(
                number=number,
                street=street,
                distance_m=distance,
                base=(Scene(type=f"ConstructionObstacle{suffix}", parameters=both),),
                shift=(
                    Scene(
                        type=f"PermutedConstructionObstacle{suffix}", parameters={**change, **both}
                    ),
                ),
            )
        )
    return pairs


_GNOMES: Final = _objects(
    *(
        f"id=static.prop.gnome x={0.6 * k:g} y={0.5 * side * k:g} yaw=90"
        for k in range(4)
        for side in ((-1, 1) if k else (1,))
    )
)
_PICNIC: Final = _objects(
    "id=static.prop.plastictable x=0 y=0.2",
    "id=static.prop.plasticchair x=-1.7 y=0.2 yaw=90",
    "id=static.prop.plasticchair x=1.7 y=0.2 yaw=-90",
    "id=static.prop.barbeque x=2.6 y=0.9",
)
_MOVING: Final = _objects(
    "id=static.prop.box03 x=0 y=0.2 yaw=20",
    "id=static.prop.box03 x=0.9 y=0.9 yaw=-15",
    "id=static.prop.box02 x=1.2 y=-0.1 yaw=40",
    "id=static.prop.swingcouch x=3 y=0.5 yaw=80",
    "id=static.prop.travelcase x=4.3 y=0 yaw=30",
)
_FENCE: Final = _objects(
    "id=static.prop.streetbarrier x=0 y=0.7 yaw=90",
    "id=static.prop.streetbarrier x=0 y=-0.7 yaw=90",
    "id=static.prop.streetbarrier x=1.5 y=-1.2",
    "id=static.prop.streetbarrier x=3 y=-1.2",
    "id=static.prop.streetbarrier x=4.3 y=0.7 yaw=-90",
)
_MARKET: Final = _objects(
    "id=static.prop.shoppingcart x=0 y=0 yaw=30",
    "id=static.prop.shoppingcart x=1.6 y=0.7 yaw=-50",
    "id=static.prop.plantpot06 x=3.2 y=0.3",
)


def _custom_obstacles() -> list[Pair]:
    """Numbers 20 to 29."""
    rows: tuple[tuple[int, Street, dict[str, str], str], ...] = (
        (20, _two_ways(ORCHARD), _GNOMES, "Construction"),
        (21, _two_ways(ORCHARD), _objects("id=static.prop.slide yaw=50"), "Construction"),
        (22, _two_ways(RIDGE), _FENCE, "Construction"),
        (23, _two_ways(HARBOUR), _PICNIC, "Construction"),
        (24, _lanes(HARBOUR), _objects("id=static.prop.container yaw=50"), "Construction"),
        (25, _lanes(RIDGE), _MARKET, "Parked"),
        (
            26,
            _lanes(HARBOUR, "left"),
            _objects("id=static.prop.trafficcone01 y=-0.4", "id=static.prop.barrel x=1.2 y=-0.3"),
            "Parked",
        ),
        (
            27,
            _two_ways(ORCHARD),
            _objects(
                "id=static.prop.bin y=0.6 z=0.3 roll=-90", "id=static.prop.trashbag x=0.8 y=0.1"
            ),
            "Parked",
        ),
        (28, _two_ways(HARBOUR), _MOVING, "Parked"),
        (29, _two_ways(RIDGE), _objects("id=static.prop.trampoline y=1.2"), "Parked"),
    )
    pairs = []
    for number, street, things, base in rows:
        distance = 50.0 + 5.0 * (number % 3)
        both: Parameters = {"distance": distance}
        suffix = ""
        if "opposite" in street.flags:
            gap_m = 70.0 + 15.0 * (number % 3)
            both["frequency"], suffix = (gap_m, gap_m), "TwoWays"
        else:
            both["direction"] = "right" if "left_same" in street.flags else "left"
        layout: Parameters = {"objects": things, **both, "baseline_overlay": base.lower()}
        pairs.append(
            Pair(
                number=number,
                street=street,
                distance_m=distance,
                base=(Scene(type=f"{base}Obstacle{suffix}", parameters=both),),
                shift=(Scene(type=f"CustomObstacle{suffix}", parameters=layout),),
            )
        )
    return pairs


def _road_blocked() -> list[Pair]:
    """Numbers 30 to 34 and 95 to 99: nothing in the base, no way through in the shift."""
    rows = (
        (30, ORCHARD, "truck", 80.0, 9.0),
        (31, RIDGE, "haybales", 90.0, 12.0),
        (32, HARBOUR, "fire_engine", 80.0, 9.6),
        (33, ORCHARD, "van", 70.0, 7.0),
        (34, HARBOUR, "barriers", 80.0, 14.0),
        (95, ORCHARD, "brick_wall", 70.0, 14.0),
        (96, HARBOUR, "second_picture", 80.0, 14.0),
        (97, RIDGE, "motorway_picture", 80.0, 14.0),
        (98, ORCHARD, "first_picture", 75.0, 14.0),
        (99, HARBOUR, "motorway_picture", 75.0, 14.0),
    )
    pairs = []
    for number, town, built, distance, widest_m in rows:
        street = Street(
            town=town,
            flags=("opposite",),
            not_flags=("left_same", "right_same"),
            before_m=40.0,
            after_m=25.0,
            widest_m=widest_m,
            bend_deg=8.0,
        )
        shift = Scene(type="RoadBlocked", parameters={"distance": distance}, built=built)
        pairs.append(
            Pair(number=number, street=street, distance_m=distance, base=(), shift=(shift,))
        )
    return pairs


def _hard_brake() -> list[Pair]:
    """Numbers 35 to 39."""
    towns = ((35, HARBOUR), (36, ORCHARD), (37, RIDGE), (38, RIDGE), (39, HARBOUR))
    return [
        Pair(
            number=number,
            street=Street(
                town=town,
                before_m=52.0,
                after_m=40.0,
                latest_m=70.0,
                limit_kmh=(28.0, 85.0),
                bend_deg=60.0,
            ),
            distance_m=0.0,
            base=(Scene(type="HardBreakRoute"),),
            shift=(Scene(type="HardBrakeNoLights"),),
        )
        for number, town in towns
    ]


def _image_on_object() -> list[Pair]:
    """Numbers 40 to 44."""
    rows = (
        (40, HARBOUR, "advertisement", "walkingkid", 30.0),
        (41, ORCHARD, "advertisement", "ampel", 40.0),
        (42, HARBOUR, "busstop", "ampel", 40.0),
        (43, RIDGE, "advertisement", "walkingkidlarge", 40.0),
        (44, ORCHARD, "busstop", "walkingkid", 30.0),
    )
    pairs = []
    for number, town, prop, image, distance in rows:
        both: Parameters = {"distance": distance, "prop": f"static.prop.{prop}"}
        street = Street(
            town=town, flags=("walk_right",), not_flags=("parking",), before_m=20.0, after_m=20.0
        )
        pairs.append(
            Pair(
                number=number,
                street=street,
                distance_m=distance,
                base=(Scene(type="ImageOnObject", parameters={**both, "image": "none"}),),
                shift=(
                    Scene(
                        type="ImageOnObject", parameters={**both, "image": f"static.prop.{image}"}
                    ),
                ),
            )
        )
    return pairs


def _obscured_stop() -> list[Pair]:
    """Numbers 45 to 49."""
    rows = (
        (45, ORCHARD, "snow"),
        (46, ORCHARD, "dirt"),
        (47, RIDGE, "graffiti"),
        (48, ORCHARD, "stickers"),
        (49, RIDGE, "smiley"),
    )
    return [
        Pair(
            number=number,
            street=Street(town=town, junction="stop", limit_kmh=(20.0, 85.0)),
            lead_m=45.0,
            base=(Scene(type="ObscuredStopSign", parameters={"prop": "none"}),),
            shift=(Scene(type="ObscuredStopSign", parameters={"prop": f"static.prop.{prop}"}),),
        )
        for number, town, prop in rows
    ]


def _beside_constructions() -> list[Pair]:
    """Numbers 50 to 54 (opposite lane) and 90 to 94 (right of the lane)."""
    pairs = []
    for number, town, distance in (
        (50, ORCHARD, 70.0),
        (51, HARBOUR, 80.0),
        (52, RIDGE, 80.0),
        (53, ORCHARD, 60.0),
        (54, RIDGE, 80.0),
    ):
        shift = Scene(type="ConstructionObstacleOppositeLane", parameters={"distance": distance})
        pairs.append(
            Pair(
                number=number, street=_two_ways(town), distance_m=distance, base=(), shift=(shift,)
            )
        )
    for number, town, flag, aside_m in (
        (90, HARBOUR, "right_same", 0.0),
        (91, RIDGE, "right_room", 0.25),
        (92, HARBOUR, "parking", 0.0),
        (93, RIDGE, "right_room", 0.0),
        (94, HARBOUR, "right_same", 0.0),
    ):
        distance = 60.0 + 5.0 * (number % 3)
        parameters: Parameters = {"distance": distance, "direction": "right"}
        if aside_m:
            parameters["y_offset"] = aside_m
        shift = Scene(type="ConstructionObstacleRightLane", parameters=parameters)
        street = Street(town=town, flags=(flag,), limit_kmh=(28.0, 125.0))
        pairs.append(
            Pair(number=number, street=street, distance_m=distance, base=(), shift=(shift,))
        )
    return pairs


def _right_of_way() -> list[Pair]:
    """Numbers 55 to 59."""
    rows = (
        (55, HARBOUR, "lights", "left", "vehicle.kawasaki.ninja"),
        (56, HARBOUR, "lights", "right", "vehicle.volkswagen.t2_2021"),
        (57, ORCHARD, "free", "left", "vehicle.ford.crown"),
        (58, HARBOUR, "lights", "right", "vehicle.mini.cooper_s_2021"),
        (59, ORCHARD, "free", "right", ""),
    )
    pairs = []
    for number, town, junction, arm, vehicle in rows:
        what = "RunningRedLight" if junction == "lights" else "TakingPriority"
        both: Parameters = {"direction": arm}
        shift = {**both, "vehicle": vehicle} if vehicle else both
        pairs.append(
            Pair(
                number=number,
                street=Street(town=town, junction=junction, arm=arm),
                lead_m=45.0,
                base=(Scene(type=f"OppositeVehicle{what}", parameters=both),),
                shift=(Scene(type=f"NormalVehicle{what}", parameters=shift),),
            )
        )
    return pairs


def _passable_obstacles() -> list[Pair]:
    """Numbers 60 to 64: things beside the ego's way."""
    cones = _objects(*(f"id=static.prop.constructioncone x={k} y=-2.1" for k in range(4)))
    fence = _objects(*(f"id=static.prop.streetbarrier x={2 * k} y=-2.2" for k in range(4)))
    rows: tuple[tuple[int, Street, dict[str, str]], ...] = (
        (60, _lanes(HARBOUR), _objects("id=static.prop.vendingmachine y=-3 z=0.1 yaw=-90")),
        (61, _lanes(RIDGE), _objects("id=static.prop.clothcontainer y=-3.2 yaw=90")),
        (62, _two_ways(RIDGE), cones),
        (63, _two_ways(ORCHARD), fence),
        (64, _two_ways(HARBOUR), _objects("id=static.prop.mailbox y=-2.2")),
    )
    pairs = []
    for number, street, things in rows:
        distance = 55.0 + 5.0 * (number % 3)
        both: Parameters = {"objects": things, "distance": distance}
        suffix = ""
        if "opposite" in street.flags:
            both["frequency"], suffix = (100.0, 100.0), "TwoWays"
        shift = Scene(type=f"CustomObstacle{suffix}", parameters=both, name="PassableObstacle")
        pairs.append(
            Pair(number=number, street=street, distance_m=distance, base=(), shift=(shift,))
        )
    return pairs


def _pedestrian_crowd() -> list[Pair]:
    """Numbers 65 to 69."""
    gap = (90.0, 90.0)
    walk = ("walk_right",)
    rows: tuple[tuple[int, Street, tuple[Scene, ...], float, float, float, str], ...] = (
        (
            65,
            Street(town=HARBOUR, flags=("opposite", "parking", *walk)),
            (
                Scene(
                    type="VehicleOpensDoorTwoWays", parameters={"distance": 50.0, "frequency": gap}
                ),
            ),
            50.0,
            12.0,
            20,
            "right",
        ),
        (
            66,
            Street(town=HARBOUR, flags=("parking", *walk), before_m=0.5, after_m=40.0),
            (Scene(type="ParkingExit", parameters={"speed": 30.0, "flow_distance": 35.0}),),
            2.0,
            10.0,
            20,
            "right",
        ),
        (
            67,
            Street(town=HARBOUR, flags=("left_same", *walk), limit_kmh=(28.0, 60.0)),
            (Scene(type="ConstructionObstacle", parameters={"distance": 60.0}),),
            60.0,
            15.0,
            30,
            "right",
        ),
        (
            68,
            Street(town=ORCHARD, flags=("walk_left",), before_m=25.0, after_m=25.0),
            (),
            50.0,
            20.0,
            30,
            "left",
        ),
        (
            69,
            Street(town=ORCHARD, flags=("opposite", *walk), before_m=40.0, after_m=60.0),
            (
                Scene(
                    type="ConstructionObstacleTwoWays",
                    parameters={"distance": 50.0, "frequency": gap},
                ),
            ),
            50.0,
            15.0,
            30,
            "right",
        ),
    )
    pairs = []
    for number, street, base, centre, radius, people, side in rows:
        crowd = Scene(
            type="PedestrianCrowd",
            parameters={
                "pedestrian_center": centre,
                "pedestrian_radius": radius,
                "pedestrians": str(people),
                "side": side,
            },
        )
        distance = 0.0 if number == 66 else centre
        pairs.append(
            Pair(number=number, street=street, distance_m=distance, base=base, shift=(*base, crowd))
        )
    return pairs


def _crossing(town: str, side: str = "right", *more: str) -> Street:
    flags = ("walk_right" if side == "right" else "walk_left", *more)
    return Street(
        town=town,
        flags=flags,
        not_flags=() if more else ("parking",),
        before_m=30.0,
        after_m=40.0,
        bend_deg=15.0,
    )


def _other_blocker() -> list[Pair]:
    """Numbers 70 to 74."""
    rows = (
        (70, HARBOUR, "kiosk_01", "0027", "right", 30.0),
        (71, ORCHARD, "advertisement", "0040", "right", 25.0),
        (72, RIDGE, "streetsign04", "0011", "right", 25.0),
        (73, ORCHARD, "slide", "0019", "right", 30.0),
        (74, HARBOUR, "clothcontainer", "0004", "right", 25.0),
    )
    pairs = []
    for number, town, prop, person, side, distance in rows:
        both: Parameters = {
            "distance": distance,
            "direction": side,
            "walker": f"walker.pedestrian.{person}",
        }
        if number == 70:
            both["crossing_angle"] = 10.0
        pairs.append(
            Pair(
                number=number,
                street=_crossing(town, side),
                distance_m=distance,
                base=(Scene(type="DynamicObjectCrossing", parameters=both),),
                shift=(
                    Scene(
                        type="DynamicObjectCrossing",
                        parameters={**both, "blocker_model": f"static.prop.{prop}"},
                    ),
                ),
            )
        )
    return pairs


def _animals() -> list[Pair]:
    """Numbers 75 to 84."""
    turn = Street(town=HARBOUR, junction="turn")
    rows: tuple[tuple[int, Street, str, int, Parameters], ...] = (
        (75, _crossing(RIDGE), "DynamicObjectCrossing", 1009, {"distance": 30.0}),
        (76, turn, "VehicleTurningRoutePedestrian", 1007, {}),
        (
            77,
            _crossing(HARBOUR, "right", "parking"),
            "ParkingCrossingPedestrian",
            1008,
            {"distance": 30.0},
        ),
        (
            78,
            _crossing(HARBOUR, "right", "parking"),
            "ParkingCrossingPedestrian",
            1016,
            {"distance": 30.0},
        ),
        (79, turn, "VehicleTurningRoutePedestrian", 1010, {}),
        (80, Street(town=ORCHARD, junction="turn"), "VehicleTurningRoutePedestrian", 1003, {}),
        (81, _crossing(ORCHARD), "DynamicObjectCrossing", 1006, {"distance": 30.0}),
        (82, _crossing(ORCHARD), "DynamicObjectCrossing", 1017, {"distance": 30.0}),
        (83, Street(town=HARBOUR, junction="lights"), "PedestrianCrossing", 1013, {}),
        (
            84,
            _crossing(HARBOUR, "right", "parking"),
            "ParkingCrossingPedestrian",
            1011,
            {"distance": 30.0},
        ),
    )
    pairs = []
    for number, street, kind, animal, more in rows:
        both: Parameters = dict(more)
        if kind in ("DynamicObjectCrossing", "ParkingCrossingPedestrian"):
            both["direction"] = "right"
        if number == 75:
            both |= {"blocker_model": "static.prop.haybale", "blocker_z": 0.1}
        green = (Scene(type="PriorityAtJunction"),) if street.junction else ()
        base = Scene(type=kind, parameters={**both, "walker": "walker.pedestrian.*"})
        shift = Scene(type=kind, parameters={**both, "walker": f"walker.animal.{animal}"})
        pairs.append(
            Pair(
                number=number,
                street=street,
                distance_m=30.0,
                lead_m=45.0,
                base=(base, *green),
                shift=(shift, *green),
            )
        )
    return pairs


def _on_road() -> list[Pair]:
    """Numbers 85 to 89."""
    rows = (
        (85, ORCHARD, 40.0, 20.0, 2.0, ("0034", "0007", "0015")),
        (86, RIDGE, 50.0, 20.0, 3.0, ("0037", "0031", "0018")),
        (87, HARBOUR, 40.0, 25.0, 1.0, ("0024",)),
        (88, RIDGE, 45.0, 25.0, 2.5, ("0013", "0049")),
        (89, ORCHARD, 40.0, 20.0, 2.0, ("0006", "0042", "0051")),
    )
    pairs = []
    for number, town, distance, duration, speed, names in rows:
        people = _objects(*(f"walker.pedestrian.{name}" for name in names))
        shift = Scene(
            type="PedestriansOnRoad",
            parameters={
                "distance": distance,
                "walker_duration": duration,
                "walker_speed": speed,
                "pedestrians": people,
            },
        )
        street = Street(
            town=town,
            before_m=30.0,
            after_m=speed * duration + 15.0,
            bend_deg=40.0,
            limit_kmh=(28.0, 85.0),
        )
        pairs.append(
            Pair(number=number, street=street, distance_m=distance, base=(), shift=(shift,))
        )
    return pairs


def all_pairs() -> list[Pair]:
    """All 100, by number."""
    pairs = [
        *_bad_parking(),
        *_construction_pedestrian(),
        *_construction_permutations(),
        *_custom_obstacles(),
        *_road_blocked(),
        *_hard_brake(),
        *_image_on_object(),
        *_obscured_stop(),
        *_beside_constructions(),
        *_right_of_way(),
        *_passable_obstacles(),
        *_pedestrian_crowd(),
        *_other_blocker(),
        *_animals(),
        *_on_road(),
    ]
    return sorted(pairs, key=lambda pair: pair.number)
