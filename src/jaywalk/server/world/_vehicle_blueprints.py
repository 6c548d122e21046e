"""Blueprints of the 41 vehicles, in the order in which the simulator registers them.

Half extents, types, lights and doors come from published dumps of the simulator, collected in our
protocol notes. Colour and driver attributes follow CARLA's blueprint library page (0.9.15). The
order was recovered from printed libraries of the real simulator; `blueprints.py` explains how.
Masses are the kerb weights of the real models (those of the simulator are not published), except
the documented 1696 kg of mkz_2017. Colours are plausible choices except those of model3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from jaywalk.core.carla_enums import AttributeType, SemanticTag
from jaywalk.server.world._blueprint_types import (
    Attribute,
    Blueprint,
    BodyShape,
    Dialect,
    Vector3,
    common_attributes,
    fixed,
    flag,
    variation,
)
from jaywalk.server.world._tables import Kind

_LABELS: Final[dict[str, tuple[int, ...]]] = {
    "car": (SemanticTag.CAR,),
    "van": (SemanticTag.CAR,),
    "truck": (SemanticTag.TRUCK,),
    "bus": (SemanticTag.BUS,),
    "motorcycle": (SemanticTag.MOTORCYCLE, SemanticTag.RIDER),
    "bicycle": (SemanticTag.BICYCLE, SemanticTag.RIDER),
}
TWO_WHEELED: Final = frozenset({"motorcycle", "bicycle"})


@dataclass(frozen=True, slots=True)
class VehicleSpec:
    """One row of the table: id without prefix, half extents, types, equipment, mass, colours."""

    name: str
    half_extents_m: Vector3
    base_type: str
    generation: int
    equipment: str  # L lights, D opening doors, P a driver (person) can be chosen
    mass_kg: float
    colours: str = ""  # separated by blanks, the first is the default
    special_type: str = ""
    centre_x_m: float = 0.0


_BLUE, _SKY, _RED, _SILVER, _BLACK, _WINE = (
    "17,37,103",
    "75,87,173",
    "180,44,44",
    "180,180,180",
    "44,44,44",
    "137,0,0",
)
_WHITE, _GREEN, _YELLOW, _ORANGE, _BEIGE = (
    "245,245,245",
    "38,84,44",
    "208,177,0",
    "211,90,18",
    "186,170,140",
)
_MANY: Final = " ".join((_BLUE, _SKY, _RED, _SILVER, _BLACK, _WINE))
_FLEET: Final = " ".join((_WHITE, _BLACK, _SILVER, _BLUE, _WINE))
_WORK: Final = " ".join((_WHITE, _SILVER, _BLUE, _YELLOW))
_BIKE: Final = " ".join((_BLACK, _RED, _SKY))
_S = VehicleSpec

VEHICLES: Final[tuple[VehicleSpec, ...]] = (
    _S("audi.a2", (1.853, 0.894, 0.775), "car", 1, "", 1170.0, _MANY),
    _S("audi.tt", (2.091, 0.997, 0.693), "car", 1, "", 1450.0, _MANY),
    _S("bmw.grandtourer", (2.306, 1.121, 0.834), "car", 1, "", 1585.0, _MANY),
    _S("micro.microlino", (1.104, 0.740, 0.688), "car", 1, "", 535.0, _FLEET, "electric"),
    _S("carlamotors.carlacola", (2.602, 1.313, 1.234), "truck", 1, "", 5500.0, f"{_RED} {_WHITE}"),
    _S("chevrolet.impala", (2.679, 1.017, 0.705), "car", 1, "", 1720.0, _MANY),
    _S("citroen.c3", (1.994, 0.925, 0.809), "car", 1, "", 1120.0, _MANY),
    _S("dodge.charger_police", (2.487, 1.019, 0.771), "car", 1, "", 1950.0, _BLACK, "emergency"),
    _S(
        "jeep.wrangler_rubicon",
        (1.933, 0.953, 0.939),
        "car",
        1,
        "",
        2010.0,
        f"{_ORANGE} {_GREEN} {_BLACK}",
    ),
    _S("mercedes.coupe", (2.513, 1.076, 0.825), "car", 1, "", 1820.0, _MANY),
    _S("mini.cooper_s", (1.903, 0.985, 0.738), "car", 1, "", 1210.0, _MANY),
    _S("nissan.micra", (1.817, 0.923, 0.751), "car", 1, "", 1030.0, _MANY),
    _S("nissan.patrol", (2.302, 0.966, 0.927), "car", 1, "", 2300.0, _MANY),
    _S("seat.leon", (2.096, 0.908, 0.737), "car", 1, "", 1318.0, _MANY),
    _S("toyota.prius", (2.257, 1.003, 0.762), "car", 1, "", 1375.0, _MANY, "electric"),
    _S("harley-davidson.low_rider", (1.178, 0.382, 0.638), "motorcycle", 1, "P", 380.0, _BIKE),
    _S("yamaha.yzf", (1.105, 0.434, 0.626), "motorcycle", 1, "P", 260.0, _BIKE),
    _S("kawasaki.ninja", (1.017, 0.401, 0.573), "motorcycle", 1, "P", 275.0, _BIKE),
    _S("bh.crossbike", (0.744, 0.430, 0.540), "bicycle", 1, "P", 90.0, _BIKE),
    _S("gazelle.omafiets", (0.918, 0.164, 0.586), "bicycle", 1, "P", 95.0, _BIKE),
    _S("diamondback.century", (0.821, 0.186, 0.598), "bicycle", 1, "P", 85.0, _BIKE),
    _S("audi.etron", (2.428, 1.016, 0.825), "car", 1, "", 2490.0, _MANY, "electric"),
    _S("tesla.cybertruck", (3.137, 1.195, 1.049), "truck", 2, "", 3000.0, "", "electric"),
    _S("tesla.model3", (2.396, 1.082, 0.744), "car", 1, "", 1845.0, _MANY, "electric"),
    _S("volkswagen.t2", (2.240, 1.035, 1.019), "van", 1, "", 1200.0, f"{_SKY} {_ORANGE} {_BEIGE}"),
    _S("lincoln.mkz_2017", (2.451, 1.064, 0.755), "car", 1, "", 1696.0, _MANY),
    _S("ford.mustang", (2.359, 0.947, 0.650), "car", 1, "", 1300.0, _MANY),
    _S("lincoln.mkz_2020", (2.446, 0.918, 0.740), "car", 2, "LDP", 1850.0, _FLEET),
    _S("mercedes.coupe_2020", (2.337, 0.906, 0.721), "car", 2, "LD", 1735.0, _FLEET),
    _S("dodge.charger_2020", (2.504, 0.941, 0.767), "car", 2, "LD", 1930.0, _FLEET),
    _S(
        "dodge.charger_police_2020",
        (2.619, 0.965, 0.819),
        "car",
        2,
        "LD",
        2000.0,
        _BLACK,
        "emergency",
        0.11,
    ),
    _S("ford.ambulance", (3.183, 1.176, 1.216), "van", 2, "LD", 4500.0, _WHITE, "emergency", -0.29),
    _S(
        "carlamotors.firetruck",
        (4.234, 1.446, 1.914),
        "truck",
        2,
        "LD",
        14000.0,
        _RED,
        "emergency",
        -0.25,
    ),
    _S("vespa.zx125", (0.902, 0.428, 0.618), "motorcycle", 1, "P", 190.0, _BIKE),
    _S("mini.cooper_s_2021", (2.276, 1.049, 0.884), "car", 2, "LD", 1310.0, _FLEET),
    _S("nissan.patrol_2021", (2.783, 1.075, 1.023), "car", 2, "LD", 2750.0, _FLEET),
    _S("mercedes.sprinter", (2.958, 0.994, 1.280), "van", 2, "LD", 2400.0, _WORK),
    _S("ford.crown", (2.683, 0.900, 0.788), "car", 2, "LD", 1870.0, _YELLOW, "taxi", 0.19),
    _S("volkswagen.t2_2021", (2.221, 0.887, 0.995), "van", 2, "LD", 1300.0, _WORK, centre_x_m=0.12),
    _S(
        "mitsubishi.fusorosa", (5.136, 1.972, 2.120), "bus", 2, "L", 6500.0, _WORK, centre_x_m=-0.45
    ),
    _S("carlamotors.european_hgv", (3.968, 1.446, 1.730), "truck", 2, "", 9000.0, _WORK),
)


def vehicle_blueprints(dialect: Dialect) -> tuple[Blueprint, ...]:
    """Return all vehicles in registration order."""
    return tuple(_blueprint(spec, dialect) for spec in VEHICLES)


def vehicle_body(name: str) -> BodyShape:
    """Return the body of a vehicle by its id without the `vehicle.` prefix."""
    return _body(next(spec for spec in VEHICLES if spec.name == name))


def _body(spec: VehicleSpec) -> BodyShape:
    return BodyShape(
        half_extents_m=spec.half_extents_m,
        centre_m=(spec.centre_x_m, 0.0, spec.half_extents_m[2]),
        mass_kg=spec.mass_kg,
        labels=_LABELS[spec.base_type],
    )


def _blueprint(spec: VehicleSpec, dialect: Dialect) -> Blueprint:
    name = f"vehicle.{spec.name}"
    common = common_attributes(name, dialect, ("autopilot", "scenario", "ego_vehicle"))
    return Blueprint(
        id=name,
        kind=Kind.VEHICLE,
        attributes=(*common, *_variations(spec), *_fixed(spec)),
        body=_body(spec),
    )


def _variations(spec: VehicleSpec) -> tuple[Attribute, ...]:
    items: list[Attribute] = []
    if spec.colours:
        items.append(variation("color", AttributeType.COLOR, *spec.colours.split()))
    if "P" in spec.equipment:
        drivers = ("0", "1", "2") if spec.base_type in TWO_WHEELED else ("0",)
        items.append(variation("driver_id", AttributeType.INT, *drivers, restricted=True))
    items.append(variation("sticky_control", AttributeType.BOOL, "true"))
    items.append(variation("terramechanics", AttributeType.BOOL, "false"))
    return tuple(items)


def _fixed(spec: VehicleSpec) -> tuple[Attribute, ...]:
    wheels = "2" if spec.base_type in TWO_WHEELED else "4"
    return (
        fixed("object_type", AttributeType.STRING, ""),
        fixed("base_type", AttributeType.STRING, spec.base_type),
        fixed("special_type", AttributeType.STRING, spec.special_type),
        fixed("number_of_wheels", AttributeType.INT, wheels),
        fixed("generation", AttributeType.INT, str(spec.generation)),
        fixed("has_dynamic_doors", AttributeType.BOOL, flag("D" in spec.equipment)),
        fixed("has_lights", AttributeType.BOOL, flag("L" in spec.equipment)),
    )
