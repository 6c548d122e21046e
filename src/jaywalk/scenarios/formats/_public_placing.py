"""Triggers that suit the public classes, for scenarios that place something ahead.

Jaywalk's classes measure a distance along the route. The public ones walk along lanes from the
trigger: some stop at the next junction, others take its first branch, and most need the lane beside
the trigger, which does not exist inside a junction. For an export, the trigger is moved along the
route and the distance is changed by the same amount, until the public rule leads to the intended
place.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

import carla

from jaywalk.scenarios.base import read_parameters, trigger_along_m
from jaywalk.scenarios.catalogue import SCENARIOS, Placing
from jaywalk.scenarios.formats.route_xml import Route, ScenarioElement, TriggerPoint
from jaywalk.scenarios.formats.xml_node import Node
from jaywalk.scenarios.toolbox._finding import trigger_at
from jaywalk.town.routes import DenseRoute, RoutePlanner

_FIRST_M: Final = 2.0  # a trigger nearer to the start may be behind the ego
_STEP_M: Final = 1.0
_BACK_M, _ON_M = 80.0, 60.0  # largest displacement of a trigger, back and forward
_LATER_COSTS: Final = 3.0  # a later trigger leaves less room, so an earlier one is preferred
_EXACT_M: Final = 1.5
# Behind a junction: the public background knows the lanes of a road only there.
_BEHIND_M: Final = 6.0
_LANES: Final = 100  # limit of the public loop


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """Displacement of one trigger."""

    scenario: str
    type: str
    by_m: float | None  # along the route; None: no trigger fits, so it was not moved


def fit_triggers(route: Route, planner: RoutePlanner) -> tuple[Route, tuple[Moved, ...]]:
    """Return the route with triggers from which the public classes find the same places.

    Args:
        route: Route with types as in public files.
        planner: Planner of the route's town.
    """
    dense = planner.plan([point.position_m for point in route.keypoints])
    elements, moved = [], []
    for element in route.scenarios:
        fitted, by_m = _fitted(element, dense, planner.graph.map)
        elements.append(fitted)
        if by_m is None or by_m != 0.0:
            moved.append(Moved(scenario=element.name, type=element.type, by_m=by_m))
    return replace(route, scenarios=tuple(elements)), tuple(moved)


def _fitted(
    element: ScenarioElement, dense: DenseRoute, town_map: Any
) -> tuple[ScenarioElement, float | None]:
    spec = SCENARIOS.get(element.type)
    if spec.placing is None:
        return element, 0.0
    parameters = read_parameters(element, spec.parameters_type)
    distance_m = float(asdict(parameters)["distance"])
    along_m = trigger_along_m(element.trigger, dense, element.where)
    if along_m + distance_m > float(dense.along_m[-1]):
        return element, None
    goal = trigger_at(dense, along_m + distance_m, element.where)
    for behind_m in (_BEHIND_M, 0.0):
        for by_m in _shifts(along_m, distance_m):
            trigger = (
                element.trigger if by_m == 0.0 else trigger_at(dense, along_m + by_m, element.where)
            )
            if _lands(element, spec.placing, trigger, distance_m - by_m, goal, town_map, behind_m):
                moved = element if by_m == 0.0 else _changed(element, trigger, distance_m - by_m)
                return moved, by_m
    return element, None


def _shifts(along_m: float, distance_m: float) -> Iterator[float]:
    """Yield displacements of a trigger, the least harmful first."""
    back = int(min(_BACK_M, max(along_m - _FIRST_M, 0.0)) / _STEP_M)
    on = int(min(_ON_M, distance_m - _STEP_M) / _STEP_M)
    steps = [*range(-back, 0), 0, *range(1, on + 1)]
    yield from sorted(
        (step * _STEP_M for step in steps), key=lambda by: by * _LATER_COSTS if by > 0 else -by
    )


def _lands(
    element: ScenarioElement,
    placing: Placing,
    trigger: TriggerPoint,
    distance_m: float,
    goal: TriggerPoint,
    town_map: Any,
    behind_m: float,
) -> bool:
    """Return True if the public rule leads from this trigger to the goal."""
    start = town_map.get_waypoint(carla.Location(trigger.x_m, trigger.y_m, trigger.z_m))
    if start is None or start.is_junction:
        return False
    if behind_m and any(place.is_junction for place in start.previous(behind_m)):
        return False
    if placing.sign_at_trigger and not _has_side(element, start):
        return False
    if placing.stops_at_junction:
        place = _walk(start, distance_m)
    else:
        ahead = start.next(distance_m)
        place = ahead[0] if ahead else start
    at = place.transform.location
    return math.hypot(at.x - goal.x_m, at.y - goal.y_m) < _EXACT_M


def _walk(start: Any, distance_m: float) -> Any:
    place, gone_m = start, 0.0
    while gone_m < distance_m:
        ahead = place.next(_STEP_M)
        if not ahead or ahead[0].is_junction:
            break
        place, gone_m = ahead[0], gone_m + _STEP_M
    return place


def _has_side(element: ScenarioElement, start: Any) -> bool:
    """Return True if lanes beside the trigger lead to one neither for driving nor parking.

    Also True if the search ends after ``_LANES`` lanes, as in the public loop.
    """
    node = element.parameters.get("direction")
    left = node is not None and node.get("value") == "left"
    lane = start
    for _ in range(_LANES):
        beside = lane.get_left_lane() if left else lane.get_right_lane()
        if beside is None:
            return False
        if beside.lane_type not in (carla.LaneType.Driving, carla.LaneType.Parking):
            return True
        lane = beside
    return True


def _changed(element: ScenarioElement, trigger: TriggerPoint, distance_m: float) -> ScenarioElement:
    place = {"x": trigger.x_m, "y": trigger.y_m, "z": trigger.z_m, "yaw": trigger.yaw_deg}
    distance = (("value", f"{distance_m:.3f}".rstrip("0").rstrip(".")),)
    elements = []
    for node in element.elements:
        if node.tag == "trigger_point":
            node = Node("trigger_point", tuple((key, repr(value)) for key, value in place.items()))
        elif node.tag == "distance":
            continue
        elements.append(node)
    return replace(element, elements=(*elements, Node("distance", distance)))
