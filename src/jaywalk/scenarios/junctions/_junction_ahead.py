"""The next junction of a route: its position, crossing paths, lights and signs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import carla
import numpy as np

from jaywalk.actors.lane_paths import MEET_M, JunctionPath, LanePath, crossings
from jaywalk.core.errors import DataError
from jaywalk.geometry.path import nearest_vertex
from jaywalk.scenarios.base import Scenario, ScenarioContext

_BEFORE_M: Final = 6.0  # before the junction; counts as part of the path over it
_HELD_S: Final = 100_000.0
_SIGN_M: Final = 4.0
_BESIDE_M: Final = 5.0  # largest distance between the centres of neighbouring lanes
_TURNS_DEG: Final = 40.0
_STOPS_M: Final = 1.5  # a light applies to paths this near to its stop line
ARMS: Final = ("left", "right", "opposite")


@dataclass(frozen=True, slots=True, kw_only=True)
class JunctionAhead:
    """The first junction after a trigger."""

    context: ScenarioContext
    where: str
    junction: Any
    entry: Any  # the ego's waypoint before it
    enter_m: float  # distance along the route
    leave_m: float

    @property
    def yaw_deg(self) -> float:
        """Heading of the ego at the entry, in degrees."""
        return float(self.entry.transform.rotation.yaw)

    def crossing(
        self, arm: str, before_m: float, after_m: float, turn: str = "straight"
    ) -> JunctionPath:
        """Return the straightest path from an arm that meets the ego's, or the first right turn.

        If vehicles that turn right have a separate lane, they enter the ego's road beside it.

        Raises:
            DataError: The arm does not exist, or no path from it meets the ego's.
        """
        if arm not in ARMS:
            raise DataError(f"{self.where}: direction is '{arm}'; expected {', '.join(ARMS)}.")
        along = self.context.route.along_m
        keep = (along >= self.enter_m - _BEFORE_M) & (along <= self.leave_m)
        paths: list[JunctionPath] = []
        for within_m in (MEET_M, _BESIDE_M) if turn == "right" else (MEET_M,):
            ways = crossings(
                self.junction,
                arm,
                self.yaw_deg,
                self.context.route.position_m[keep, :2],
                along[keep],
                before_m,
                after_m,
                within_m,
            )
            paths += [way for way in ways if turn != "right" or way.turn_deg > _TURNS_DEG]
        if not paths:
            raise DataError(f"{self.where}: nobody from {arm} meets the ego at the next junction.")
        return paths[0]

    def lights(self) -> tuple[list[Any], list[Any]]:
        """Traffic lights of the ego's lane, and the other lights of the junction."""
        lane = (self.entry.road_id, self.entry.lane_id)
        mine: list[Any] = []
        others: list[Any] = []
        for light in self.context.world.get_traffic_lights_in_junction(self.junction.id):
            lanes = {(point.road_id, point.lane_id) for point in light.get_stop_waypoints()}
            (mine if lane in lanes else others).append(light)
        return mine, others

    def lights_on(self, path: LanePath) -> list[Any]:
        """Traffic lights of the junction that apply to a path."""
        lights = []
        for light in self.context.world.get_traffic_lights_in_junction(self.junction.id):
            stops = [point.transform.location for point in light.get_stop_waypoints()]
            gaps = [nearest_vertex(path.points_m, at.x, at.y)[1] for at in stops]
            if gaps and min(gaps) < _STOPS_M:
                lights.append(light)
        return lights

    def has_stop_sign(self) -> bool:
        """Return True if a stop sign acts on the ego before the junction."""
        along = self.context.route.along_m
        near = (along > self.enter_m - 15.0) & (along < self.enter_m + 2.0)
        points = self.context.route.position_m[near, :2]
        for sign in self.context.world.get_actors().filter("traffic.stop"):
            box = sign.trigger_volume.location
            place = carla.Location(box.x, box.y, box.z)
            sign.get_transform().transform(place)  # changes its argument
            if np.hypot(points[:, 0] - place.x, points[:, 1] - place.y).min() < _SIGN_M:
                return True
        return False


def junction_ahead(scenario: Scenario) -> JunctionAhead:
    """Return the first junction after the trigger.

    Raises:
        DataError: The route has none.
    """
    route = scenario.context.route
    along = route.along_m
    after = np.flatnonzero(route.in_junction & (along > scenario.trigger_along_m))
    if not len(after):
        raise DataError(f"{scenario.element.where}: the route has no junction after the trigger.")
    first = int(after[0])
    last = first
    while last + 1 < len(route) and route.in_junction[last + 1]:
        last += 1
    places = [carla.Location(*map(float, route.position_m[k])) for k in (max(first - 2, 0), first)]
    entry, inside = (scenario.context.map.get_waypoint(place) for place in places)
    for step in range(first, last + 1):  # a point on the border may belong to either lane
        if inside.is_junction:
            break
        place = carla.Location(*map(float, route.position_m[step]))
        inside = scenario.context.map.get_waypoint(place)
    return JunctionAhead(
        context=scenario.context,
        where=scenario.element.where,
        junction=inside.get_junction(),
        entry=entry,
        enter_m=float(along[first]),
        leave_m=float(along[last]),
    )


@dataclass(slots=True)
class HeldLights:
    """Lights of a junction held in a state, and their phase times to restore."""

    green: list[Any]
    red: list[Any]
    _times: list[tuple[Any, float, float, float]]

    @classmethod
    def hold(cls, green: list[Any], red: list[Any]) -> HeldLights:
        """Set some lights to green and the rest to red; phases no longer end."""
        times = []
        for light in (*green, *red):
            times.append(
                (light, light.get_green_time(), light.get_yellow_time(), light.get_red_time())
            )
            light.set_green_time(_HELD_S)
            light.set_yellow_time(_HELD_S)
            light.set_red_time(_HELD_S)
        for lights, state in (
            (green, carla.TrafficLightState.Green),
            (red, carla.TrafficLightState.Red),
        ):
            for light in lights:
                light.set_state(state)
        return cls(green, red, times)

    def release(self) -> None:
        """Restore the phase times."""
        for light, green_s, yellow_s, red_s in self._times:
            light.set_green_time(green_s)
            light.set_yellow_time(yellow_s)
            light.set_red_time(red_s)
        self._times = []
