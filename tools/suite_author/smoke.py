"""Writes the route files of ``smoke``: ``PYTHONPATH=tools python -m suite_author.smoke``.

A plan names rough places; they are snapped to the lanes of our towns, so the files follow from this
text and the towns alone.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import carla
import numpy as np

from jaywalk.actors.lane_paths import opposite_lane
from jaywalk.core.errors import DataError
from jaywalk.scenarios.base import trigger_along_m
from jaywalk.scenarios.formats.route_xml import (
    Keypoint,
    Route,
    RouteFile,
    ScenarioElement,
    WeatherPoint,
    format_routes,
)
from jaywalk.scenarios.formats.weathers import CLEAR_DAY_WEATHERS
from jaywalk.scenarios.formats.xml_node import Attributes, Node
from jaywalk.suites.smoke import FOLDER
from jaywalk.town.routes import DenseRoute, RoutePlanner
from jaywalk.town.town import load_town

Value = str | float | tuple[float, float]
_SHORTEST_M, _LONGEST_M = 90.0, 250.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """One route: rough places, and one scenario at a distance along it."""

    name: str
    town: str
    places: tuple[tuple[float, float], ...]
    scenario: str  # without "jaywalk/" and version
    trigger_m: float
    weather: str
    parameters: dict[str, Value] = field(default_factory=dict)


PLANS: Final = (
    Plan(
        name="harbour-hidden",
        town="Harbour",
        places=((-33.4, -500.0), (60.0, -606.8)),
        scenario="stepping-out-hidden",
        trigger_m=25.0,
        weather="noon",
        parameters={"distance": 30.0, "direction": "right"},
    ),
    Plan(
        name="harbour-red-light",
        town="Harbour",
        places=((205.0, -497.0), (20.0, -485.0)),
        scenario="red-light-runner",
        trigger_m=45.0,
        weather="cloudy",
        parameters={"direction": "left"},
    ),
    Plan(
        name="harbour-construction",
        town="Harbour",
        places=((8.0, -114.5), (190.0, -127.0)),
        scenario="construction",
        trigger_m=15.0,
        weather="wet",
        parameters={"distance": 50.0, "direction": "right"},
    ),
    Plan(
        name="harbour-parked",
        town="Harbour",
        places=((-4.0, -225.0), (89.0, -231.2)),
        scenario="parked-obstacle",
        trigger_m=10.0,
        weather="evening",
        parameters={"distance": 50.0, "direction": "right"},
    ),
    Plan(
        name="orchard-stepping-out",
        town="Orchard",
        places=((-246.0, 119.0), (-60.0, 131.5)),
        scenario="stepping-out",
        trigger_m=45.0,
        weather="noon",
        parameters={"distance": 30.0, "direction": "right"},
    ),
    Plan(
        name="orchard-stop",
        town="Orchard",
        places=((-100.0, 133.5), (75.0, 132.0)),
        scenario="stop-junction",
        trigger_m=50.0,
        weather="cloudy",
        parameters={"direction": "left"},
    ),
    Plan(
        name="orchard-priority",
        town="Orchard",
        places=((350.0, -116.5), (180.0, -121.5)),
        scenario="priority-taken",
        trigger_m=40.0,
        weather="rain",
        parameters={"direction": "opposite", "speed": 7.0, "distance": 12.0},
    ),
    Plan(
        name="orchard-parked-two-ways",
        town="Orchard",
        places=((-116.0, 262.0), (80.0, 270.0)),
        scenario="parked-two-ways",
        trigger_m=30.0,
        weather="evening",
        parameters={"distance": 50.0, "direction": "right", "frequency": (50.0, 150.0)},
    ),
    Plan(
        name="ridge-open-rural",
        town="Ridge",
        places=((-350.0, -6.5), (-545.0, 75.0)),
        scenario="open-road",
        trigger_m=20.0,
        weather="fog",
        parameters={"distance": 150.0},
    ),
    Plan(
        name="ridge-hard-brake",
        town="Ridge",
        places=((604.5, -70.0), (613.0, -270.0)),
        scenario="hard-brake",
        trigger_m=110.0,
        weather="noon",
        parameters={"stop_time": 4.0},
    ),
    Plan(
        name="orchard-construction-two-ways",
        town="Orchard",
        places=((145.0, -257.0), (340.0, -240.0)),
        scenario="construction-two-ways",
        trigger_m=30.0,
        weather="cloudy",
        parameters={"distance": 50.0, "direction": "right", "frequency": (50.0, 150.0)},
    ),
    Plan(
        name="ridge-open-hills",
        town="Ridge",
        places=((620.0, -46.0), (830.0, -14.0)),
        scenario="open-road",
        trigger_m=20.0,
        weather="rain",
        parameters={"distance": 150.0},
    ),
)


def author(plan: Plan, number: int, planner: RoutePlanner) -> tuple[Route, DenseRoute]:
    """The route of a plan, checked, and its points."""
    places = [_snapped(planner.graph.map, plan, k) for k in range(len(plan.places))]
    dense = planner.plan(places)
    length_m = float(dense.along_m[-1])
    if not _SHORTEST_M <= length_m <= _LONGEST_M:
        raise DataError(f"{plan.name}: {length_m:.0f} m; expected 90 to 250.")
    at = int(np.searchsorted(dense.along_m, plan.trigger_m))
    x, y, z = dense.position_m[at]
    trigger = Node("trigger_point", _attributes(x=x, y=y, z=z, yaw=dense.rotation_deg[at, 1]))
    spec = ScenarioElement(
        attributes=(("name", f"{plan.scenario}_1"), ("type", f"jaywalk/{plan.scenario}-v1")),
        elements=(trigger, *(_parameter(tag, value) for tag, value in plan.parameters.items())),
    )
    trigger_along_m(spec.trigger, dense, plan.name)
    weather = CLEAR_DAY_WEATHERS[plan.weather]
    route = Route(
        attributes=(("id", str(number)), ("town", plan.town)),
        keypoints=tuple(Keypoint(attributes=_attributes(x=p[0], y=p[1], z=p[2])) for p in places),
        weathers=tuple(
            WeatherPoint(attributes=_attributes(route_percentage=share, **weather))
            for share in (0, 100)
        ),
        scenarios=(spec,),
    )
    return route, dense


def _snapped(town_map: Any, plan: Plan, number: int) -> tuple[float, float, float]:
    """The lane centre nearest to a rough place that leads onwards, as the file will say it."""
    first = plan.places[max(number - 1, 0)]
    second = plan.places[number] if number else plan.places[1]
    lane = town_map.get_waypoint(carla.Location(*plan.places[number], 0.0))
    forward = lane.transform.get_forward_vector()
    if forward.x * (second[0] - first[0]) + forward.y * (second[1] - first[1]) < 0.0:
        lane = opposite_lane(lane)
        if lane is None:
            raise DataError(f"{plan.name}: the lane at {plan.places[number]} leads back.")
    place = lane.transform.location
    x, y, z = (round(value, 1) for value in (place.x, place.y, place.z))
    return x, y, z


def _attributes(**values: float) -> Attributes:
    return tuple((key, str(round(float(value), 4))) for key, value in values.items())


def _parameter(tag: str, value: Value) -> Node:
    if isinstance(value, tuple):
        return Node(tag, (("from", f"{value[0]:g}"), ("to", f"{value[1]:g}")))
    return Node(tag, (("value", value if isinstance(value, str) else f"{value:g}"),))


def main(folder: Path = FOLDER) -> None:
    """Write all files."""
    folder.mkdir(exist_ok=True)
    planners: dict[str, RoutePlanner] = {}
    for number, plan in enumerate(PLANS, 1):
        if plan.town not in planners:
            planners[plan.town] = RoutePlanner(load_town(plan.town).carla_map)
        route, dense = author(plan, number, planners[plan.town])
        path = folder / f"{number:02d}-{plan.name}.xml"
        path.write_text(format_routes(RouteFile(routes=(route,))), encoding="utf-8")
        sys.stdout.write(f"{path.name}: {dense.along_m[-1]:.0f} m\n")


if __name__ == "__main__":
    main()
