from __future__ import annotations

import math
from collections import Counter
from typing import cast, get_args

import pytest

from jaywalk.core.carla_enums import AttributeType
from jaywalk.core.errors import UsageError
from jaywalk.server.encoding._structs import encode_definitions
from jaywalk.server.encoding.codec import dialect_of
from jaywalk.server.world._blueprint_types import (
    Attribute,
    Blueprint,
    BodyShape,
    Dialect,
    common_attributes,
)
from jaywalk.server.world._tables import Kind
from jaywalk.server.world.blueprints import (
    INVALID_DESCRIPTION,
    find,
    library,
    merge,
    parse_float,
    spawn_body,
    validate_spawn,
)

DIALECTS: tuple[Dialect, ...] = get_args(Dialect)
ALL = pytest.mark.parametrize("dialect", DIALECTS)

# Rows of the protocol notes, section 13.5: half extents, base type, generation, L/D, special type.
SPEC_ROWS = [
    ("audi.a2", (1.853, 0.894, 0.775), "car", 1, "", ""),
    ("audi.etron", (2.428, 1.016, 0.825), "car", 1, "", "electric"),
    ("bh.crossbike", (0.744, 0.430, 0.540), "bicycle", 1, "", ""),
    ("carlamotors.carlacola", (2.602, 1.313, 1.234), "truck", 1, "", ""),
    ("carlamotors.european_hgv", (3.968, 1.446, 1.730), "truck", 2, "", ""),
    ("carlamotors.firetruck", (4.234, 1.446, 1.914), "truck", 2, "LD", "emergency"),
    ("dodge.charger_police", (2.487, 1.019, 0.771), "car", 1, "", "emergency"),
    ("dodge.charger_police_2020", (2.619, 0.965, 0.819), "car", 2, "LD", "emergency"),
    ("ford.ambulance", (3.183, 1.176, 1.216), "van", 2, "LD", "emergency"),
    ("ford.crown", (2.683, 0.900, 0.788), "car", 2, "LD", "taxi"),
    ("gazelle.omafiets", (0.918, 0.164, 0.586), "bicycle", 1, "", ""),
    ("harley-davidson.low_rider", (1.178, 0.382, 0.638), "motorcycle", 1, "", ""),
    ("lincoln.mkz_2017", (2.451, 1.064, 0.755), "car", 1, "", ""),
    ("lincoln.mkz_2020", (2.446, 0.918, 0.740), "car", 2, "LD", ""),
    ("mercedes.sprinter", (2.958, 0.994, 1.280), "van", 2, "LD", ""),
    ("mitsubishi.fusorosa", (5.136, 1.972, 2.120), "bus", 2, "L", ""),
    ("nissan.patrol_2021", (2.783, 1.075, 1.023), "car", 2, "LD", ""),
    ("tesla.cybertruck", (3.137, 1.195, 1.049), "truck", 2, "", "electric"),
    ("tesla.model3", (2.396, 1.082, 0.744), "car", 1, "", "electric"),
    ("volkswagen.t2_2021", (2.221, 0.887, 0.995), "van", 2, "LD", ""),
]
SPEC_PROPS = {
    "trafficwarning": (1.187, 1.435, 1.785),
    "warningaccident": (0.653, 0.528, 0.930),
    "warningconstruction": (0.653, 0.528, 0.930),
    "constructioncone": (0.172, 0.172, 0.293),
    "dirtdebris02": (0.929, 0.757, 0.074),
    "streetbarrier": (0.607, 0.186, 0.535),
    "vendingmachine": (0.436, 0.551, 1.054),
    "advertisement": (0.775, 0.143, 1.221),
    "busstop": (1.938, 0.947, 1.369),
    "container": (0.966, 0.506, 0.857),
    "bin": (0.274, 0.319, 0.530),
    "barrel": (0.230, 0.236, 0.403),
    "brickwall": (2.0, 1.5, 0.15),
}


def family(blueprint: Blueprint) -> str:
    return ".".join(blueprint.id.split(".")[: 1 if blueprint.kind is Kind.VEHICLE else 2])


@pytest.mark.parametrize(
    ("dialect", "pedestrians", "props"), [("0.9.15", 51, 96), ("0.9.16", 52, 99)]
)
def test_counts_per_family(dialect: Dialect, pedestrians: int, props: int) -> None:
    stock = Counter(family(item) for item in library(dialect, novel=False))
    assert stock == {
        "vehicle": 41,
        "walker.pedestrian": pedestrians,
        "static.prop": props,
        "controller.ai": 1,
        "static.trigger": 1,
        "util.actor": 1,
    }
    novel = Counter(family(item) for item in library(dialect) if item.novel)
    assert novel == {"walker.animal": 17, "static.prop": 16}


@ALL
def test_ids_are_unique_and_uids_count_from_one(dialect: Dialect) -> None:
    records = encode_definitions(library(dialect), dialect_of(dialect))
    assert [record[0] for record in records] == list(range(1, len(records) + 1))
    assert len({record[1] for record in records}) == len(records)
    assert all(record[2] == str(record[1]).replace(".", ",") for record in records)


def test_only_0_9_16_entries_are_missing_from_0_9_15() -> None:
    older = {item.id for item in library("0.9.15")}
    newer = {item.id: item for item in library("0.9.16")}
    assert older < set(newer)
    extra = set(newer) - older
    assert extra == {name for name, item in newer.items() if item.only_0_9_16}
    assert extra == {
        "walker.pedestrian.0052",
        "static.prop.aporosatree",
        "static.prop.coconutpalm",
        "static.prop.cypresstree",
    }


@ALL
def test_bodies_are_never_empty(dialect: Dialect) -> None:
    for item in library(dialect):
        assert min(item.body.half_extents_m) >= 0.001, item.id
        assert item.body.mass_kg > 0.0
        assert all(0 <= label <= 28 for label in item.body.labels)
    vehicles = [item for item in library(dialect) if item.kind is Kind.VEHICLE]
    assert min(min(item.body.half_extents_m) for item in vehicles) > 0.1


@pytest.mark.parametrize("row", SPEC_ROWS, ids=lambda row: row[0])
def test_vehicles_match_the_protocol_notes(row: tuple[object, ...]) -> None:
    name, extents, base_type, generation, equipment, special = row
    item = find(f"vehicle.{name}")
    assert item.body.half_extents_m == extents
    assert item.value("base_type") == base_type
    assert item.value("generation") == str(generation)
    assert item.value("special_type") == special
    assert item.value("has_lights") == ("true" if "L" in str(equipment) else "false")
    assert item.value("has_dynamic_doors") == ("true" if "D" in str(equipment) else "false")
    two_wheels = base_type in ("bicycle", "motorcycle")
    assert item.value("number_of_wheels") == ("2" if two_wheels else "4")


def test_box_centres() -> None:
    expected_x_m = {
        "ford.ambulance": -0.29,
        "carlamotors.firetruck": -0.25,
        "ford.crown": 0.19,
        "mitsubishi.fusorosa": -0.45,
        "tesla.model3": 0.0,
    }
    for name, x_m in expected_x_m.items():
        body = find(f"vehicle.{name}").body
        assert body.centre_m == (x_m, 0.0, body.half_extents_m[2])
    assert find("walker.pedestrian.0001").body.centre_m == (0.0, 0.0, 0.0)


@ALL
def test_every_vehicle_can_be_filtered(dialect: Dialect) -> None:
    needed = {
        "role_name",
        "sticky_control",
        "terramechanics",
        "object_type",
        "base_type",
        "special_type",
        "number_of_wheels",
        "generation",
        "has_dynamic_doors",
        "has_lights",
    }
    colourless = []
    for item in library(dialect):
        if item.kind is not Kind.VEHICLE:
            continue
        assert needed <= {attribute.id for attribute in item.attributes}, item.id
        assert item.value("role_name") == "autopilot"
        if item.attribute("color") is None:
            colourless.append(item.id)
    assert colourless == ["vehicle.tesla.cybertruck"]


def test_background_traffic_finds_lit_ordinary_cars() -> None:
    cars = [
        item.id
        for item in library("0.9.15")
        if (item.value("base_type"), item.value("special_type"), item.value("has_lights"))
        == ("car", "", "true")
    ]
    assert len(cars) == 5
    assert "vehicle.lincoln.mkz_2020" in cars


def test_walkers() -> None:
    adult, child, small = (find(f"walker.pedestrian.{n}") for n in ("0001", "0012", "0048"))
    assert adult.body.half_extents_m == (0.188, 0.188, 0.93)
    assert child.body.half_extents_m == (0.188, 0.188, 0.65)
    assert small.body.half_extents_m == (0.25, 0.25, 0.55)
    assert (adult.value("age"), child.value("age")) == ("adult", "child")
    for item in library("0.9.16"):
        if item.kind is Kind.WALKER:
            speed = item.attribute("speed")
            assert speed is not None
            still, walk, run = (float(value) for value in speed.recommended)
            assert still == 0.0 < walk < run
            assert item.value("is_invincible") == "true"
            assert item.value("role_name") == "pedestrian"
    older = next(item for item in library("0.9.15") if item.id == adult.id)
    assert older.attribute("use_wheelchair") is None


@pytest.mark.parametrize("name", SPEC_PROPS)
def test_props_match_the_notes(name: str) -> None:
    assert find(f"static.prop.{name}").body.half_extents_m == SPEC_PROPS[name]


def test_flat_props_are_driven_over() -> None:
    flat = {item.id for item in library("0.9.16") if item.is_flat}
    assert {"static.prop.dirtdebris01", "static.prop.snow", "static.prop.creasedbox02"} <= flat
    assert flat.isdisjoint({"static.prop.constructioncone", "static.prop.brickwall"})


@ALL
def test_default_and_recommended_values_fit_their_type(dialect: Dialect) -> None:
    for item in library(dialect):
        for attribute in item.attributes:
            for value in (attribute.default, *attribute.recommended):
                check_value(attribute, value)
            if attribute.modifiable:
                assert attribute.default == attribute.recommended[0]
            else:
                assert attribute.recommended == ()


def check_value(attribute: Attribute, value: str) -> None:
    if attribute.type is AttributeType.BOOL:
        assert value in ("true", "false")
    elif attribute.type is AttributeType.INT:
        assert str(int(value)) == value
    elif attribute.type is AttributeType.FLOAT and attribute.id != "mass":
        assert math.isfinite(parse_float(value))
    elif attribute.type is AttributeType.COLOR:
        channels = [int(part) for part in value.split(",")]
        assert len(channels) == 3
        assert all(0 <= channel <= 255 for channel in channels)


def test_type_numbers_of_both_dialects() -> None:
    numbers = {}
    for dialect in DIALECTS:
        records = encode_definitions(library(dialect), dialect_of(dialect))
        model3 = next(record for record in records if record[1] == "vehicle.tesla.model3")
        attributes = cast(list[list[object]], model3[3])
        numbers[dialect] = {row[0]: row[1] for row in attributes}
        assert all(len(row) == 6 for row in attributes)
    assert numbers["0.9.16"]["has_lights"] == 1
    assert numbers["0.9.16"]["color"] == 5
    assert numbers["0.9.15"]["has_lights"] == 0
    assert numbers["0.9.15"]["color"] == 4


def test_validate_spawn_echoes_every_attribute() -> None:
    item = find("vehicle.yamaha.yzf")
    values = validate_spawn(item, {"role_name": "hero", "driver_id": "2.0", "color": "1, 2,3"})
    assert list(values) == [attribute.id for attribute in item.attributes]
    assert (values["role_name"], values["driver_id"], values["color"]) == ("hero", "2", "1,2,3")
    assert values["has_lights"] == "false"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("color", "red"),
        ("color", "1,2,300"),
        ("driver_id", "9"),
        ("driver_id", "1.5"),
        ("sticky_control", "yes"),
        ("base_type", "car"),
        ("wings", "2"),
    ],
)
def test_validate_spawn_names_the_wrong_value(name: str, value: str) -> None:
    with pytest.raises(UsageError, match=f"^{INVALID_DESCRIPTION}: .*{name}"):
        validate_spawn(find("vehicle.yamaha.yzf"), {name: value})


def test_wheelchair_for_everybody_is_let_pass() -> None:
    values = validate_spawn(find("walker.pedestrian.0009"), {"use_wheelchair": "True"})
    assert values["use_wheelchair"] == "false"
    values = validate_spawn(find("walker.pedestrian.0015"), {"use_wheelchair": "True"})
    assert values["use_wheelchair"] == "true"


def test_unknown_blueprint_is_answered_like_the_simulator() -> None:
    with pytest.raises(UsageError) as caught:
        find("vehicle.lada.niva")
    assert str(caught.value) == "Spawn failed because of invalid actor description"


def test_friction_trigger_accepts_plain_numbers() -> None:
    values = validate_spawn(find("static.trigger.friction"), {"friction": "0.4"})
    assert parse_float(values["friction"]) == 0.4
    assert parse_float(values["extent_x"]) == 1.0


def test_merge_puts_sensors_after_the_vehicles() -> None:
    sensor = Blueprint(
        id="sensor.other.collision",
        kind=Kind.SENSOR,
        attributes=common_attributes("sensor.other.collision", "0.9.16"),
        body=BodyShape(
            half_extents_m=(0.1, 0.1, 0.1), centre_m=(0, 0, 0), mass_kg=1.0, labels=(0,)
        ),
    )
    merged = merge(library("0.9.16"), [sensor])
    assert merged[41] is sensor
    assert merged[40].kind is Kind.VEHICLE
    assert merged[42].id == "walker.pedestrian.0001"
    with pytest.raises(UsageError, match="twice"):
        merge(library("0.9.16"), [sensor, sensor])


CAR_DIR = "/Game/Carla/Static/Car/4Wheeled/ParkedVehicles"


@pytest.mark.parametrize(
    ("path", "half_length_m"),
    [
        (f"{CAR_DIR}/Charger/SM_ChargerParked.SM_ChargerParked", 2.504),
        (f"{CAR_DIR}/Mini2021/SM_Mini2021_parked.SM_Mini2021_parked", 2.276),
        (f"{CAR_DIR}/VolkswagenT2/SM_VolkswagenT2_2021_Parked.SM_VolkswagenT2_2021_Parked", 2.221),
        (f"{CAR_DIR}/NissanPatrol2021/SM_NissanPatrol2021_parked.SM", 2.783),
        ("/Game/Carla/Static/Dynamic/Garden/SM_PlasticTable.SM_PlasticTable", 1.241),
        ("/Game/Carla/Static/Dynamic/Construction/SM_ConstructionCone.SM_ConstructionCone", 0.172),
        ("/Game/Carla/Static/Car/4Wheeled/Citroen/SM_CybertruckBody.SM", 3.137),
        ("/Game/Somewhere/SM_Quux.SM_Quux", 0.5),
        ("", 0.5),
    ],
)
def test_mesh_bodies(path: str, half_length_m: float) -> None:
    item = find("static.prop.mesh")
    values = validate_spawn(item, {"mesh_path": path, "scale": "0.9"})
    body = spawn_body(item, values)
    assert body.half_extents_m[0] == pytest.approx(0.9 * half_length_m)
    assert body.centre_m[2] == body.half_extents_m[2]
    heavy = spawn_body(item, {**values, "mass": "12.5"})
    assert heavy.mass_kg == 12.5


def test_mesh_scale_must_be_positive() -> None:
    with pytest.raises(UsageError, match="scale is 0"):
        spawn_body(find("static.prop.mesh"), {"scale": "0"})
