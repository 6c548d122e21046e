"""Where things and people of scenarios stand: on slopes, and behind a turn."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest

from jaywalk.client.placing import pick_model, place_on_route
from jaywalk.scenarios.base import ScenarioContext, make_scenario
from jaywalk.scenarios.formats.route_xml import ScenarioElement
from jaywalk.scenarios.formats.xml_node import Node
from jaywalk.scenarios.obstacles._layouts import Spot, on_slope, rigid_pose
from jaywalk.scenarios.parameter_fields import PlacedObject
from jaywalk.town.routes import DenseRoute


def route_of(x, y, z):
    x, y, z = (np.asarray(values, float) for values in (x, y, z))
    yaw = np.rad2deg(np.arctan2(np.gradient(y), np.gradient(x)))
    count = len(x)
    return DenseRoute(
        position_m=np.column_stack([x, y, z]),
        rotation_deg=np.column_stack([np.zeros(count), yaw, np.zeros(count)]),
        option=np.full(count, 4, np.int8),
        lane=np.zeros((count, 3), np.int64),
        in_junction=np.zeros(count, np.bool_),
    )


@pytest.mark.parametrize("slope", [0.0, 0.1, -0.05])
def test_things_of_a_layout_stand_on_the_road_where_it_climbs(slope):
    ahead = np.arange(100.0)
    route = route_of(ahead, np.zeros(100), slope * ahead)

    def place(ahead_m, right_m=0.0, up_m=0.0, turn_deg=0.0):
        return place_on_route(route, 50.0 + ahead_m, right_m, up_m, turn_deg)

    anchor = on_slope(Spot(place=place, outwards=1.0, lane_width_m=3.5))
    for x in (-6.0, 0.0, 8.0):
        thing = rigid_pose(anchor, PlacedObject(id="static.prop.barrel", x=x, y=1.0))
        on_road_m = slope * thing.location.x
        assert thing.location.z == pytest.approx(on_road_m, abs=1e-4)
        assert thing.location.y == pytest.approx(1.0, abs=1e-4)
        assert thing.rotation.pitch == pytest.approx(math.degrees(math.atan(slope)), abs=1e-3)


@pytest.mark.parametrize(("turn", "side"), [("right", -1.0), ("left", 1.0), ("none", 1.0)])
def test_who_crosses_behind_a_turn_comes_from_its_outer_side(turn, side):
    """CARLA's y grows to the right: the public class takes the left sidewalk after a right turn."""
    sign = {"right": 1.0, "left": -1.0, "none": 0.0}[turn]
    along = np.arange(60.0)
    x = np.minimum(along, 30.0) if sign else along
    y = sign * np.maximum(along - 30.0, 0.0)
    route = route_of(x, y, np.zeros(60))
    trigger = Node("trigger_point", (("x", "10"), ("y", "0"), ("z", "0"), ("yaw", "0")))
    spec = ScenarioElement(
        attributes=(("name", "S"), ("type", "VehicleTurningRoutePedestrian")),
        elements=(trigger,),
        where="file.xml",
    )
    scenario = make_scenario(
        spec, ScenarioContext(client=None, world=None, map=None, route=route, seed=1)
    )
    scenario.ahead = SimpleNamespace(yaw_deg=0.0, leave_m=40.0)
    assert scenario.comes_from() == side


class Model:
    def __init__(self, name, base="car", special=""):
        self.id = name
        self._kind = {"base_type": base, "special_type": special}

    def has_attribute(self, name):
        return name in self._kind

    def get_attribute(self, name):
        return SimpleNamespace(as_str=lambda: self._kind[name])


def test_who_takes_the_right_of_way_is_anything_but_a_bicycle_or_an_emergency_vehicle():
    kinds = {
        "vehicle.a.car": {},
        "vehicle.b.truck": {"base": "truck"},
        "vehicle.c.taxi": {"special": "taxi"},
        "vehicle.d.bike": {"base": "bicycle"},
        "vehicle.e.police": {"special": "emergency"},
        "vehicle.f.moped": {"base": "motorcycle"},
    }
    models = [Model(name, **kind) for name, kind in kinds.items()]
    library = SimpleNamespace(filter=lambda pattern: models)
    random = np.random.default_rng(1)
    drawn = {pick_model(library, "", random, "file") for _ in range(200)}
    assert drawn == {"vehicle.a.car", "vehicle.b.truck", "vehicle.c.taxi", "vehicle.f.moped"}
