"""The enumerations have the values of the installed CARLA wheel."""

import re

import carla
import pytest

from jaywalk.core.carla_enums import AttributeType, LightState, SemanticTag, VehicleLight

OTHER_SPELLINGS = {
    "Roads": "ROAD",
    "Sidewalks": "SIDEWALK",
    "Buildings": "BUILDING",
    "Walls": "WALL",
    "Fences": "FENCE",
    "Poles": "POLE",
    "TrafficSigns": "TRAFFIC_SIGN",
    "Pedestrians": "PEDESTRIAN",
    "RoadLines": "ROAD_LINE",
    "RGBColor": "COLOR",
}


def snake(name):
    spelled = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).upper()
    return OTHER_SPELLINGS.get(name, spelled)


@pytest.mark.parametrize(
    ("ours", "theirs", "left_out"),
    [
        (SemanticTag, carla.CityObjectLabel, set()),
        (VehicleLight, carla.VehicleLightState, {"All"}),
        (LightState, carla.TrafficLightState, set()),
        (AttributeType, carla.ActorAttributeType, set()),
    ],
)
def test_values_are_those_of_the_wheel(ours, theirs, left_out):
    expected = {snake(k): int(v) for k, v in theirs.names.items() if k not in left_out}
    assert {name: int(member) for name, member in ours.__members__.items()} == expected


def test_0_9_15_counts_attribute_types_from_zero():
    assert [kind.wire("0.9.15") for kind in AttributeType] == [0, 1, 2, 3, 4]
    assert [kind.wire("0.9.16") for kind in AttributeType] == [1, 2, 3, 4, 5]
