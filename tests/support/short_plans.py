"""Plans of short episodes, and drivers that do one thing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jaywalk.runner.plan import AgentSpec, EpisodePlan
from jaywalk.runner.session import SimulatorSession
from jaywalk.scenarios.formats.route_xml import parse_routes
from jaywalk.scenarios.suite import SuiteRoute

_ROUTE = (
    '<routes><route id="1" town="Harbour"><weathers><weather route_percentage="0" '
    'cloudiness="5"/></weathers><waypoints>{points}</waypoints><scenarios>{scenarios}</scenarios>'
    "</route></routes>"
)
_DRIVER = """
import carla
import numpy as np
from jaywalk.agents.base import Decision, Driver

class Follow(Driver):
    name = "follow"
    def setup(self, briefing):
        self.ego, self.way, self.k = briefing.ego, briefing.route.position_m[:, :2], 0
    def decide(self, moment):
        {first}
        state = moment.snapshot.find(self.ego.id)
        pose, speed = state.get_transform(), state.get_velocity().length()
        here = np.array([pose.location.x, pose.location.y])
        self.k += int(np.hypot(*(self.way[self.k:self.k + 20] - here).T).argmin())
        to = self.way[min(self.k + 5, len(self.way) - 1)] - here
        turn = np.arctan2(to[1], to[0]) - np.deg2rad(pose.rotation.yaw)
        turn = (turn + np.pi) % (2 * np.pi) - np.pi
        throttle = float(np.clip(0.5 * (8.0 - speed), 0.0, 0.7))
        steer = float(np.clip(1.5 * turn, -1.0, 1.0))
        return Decision(control=carla.VehicleControl(throttle=throttle, steer=steer))
"""


def write_driver(folder: Path, first: str = "pass", name: str = "driver.py") -> str:
    """A driver that follows its route at 8 m/s; ``first`` is what it does before deciding."""
    path = folder / name
    path.write_text(_DRIVER.format(first=first))
    return str(path)


def short_plan(
    world: SimulatorSession,
    agent: str,
    *,
    length_m: int = 60,
    vehicles: int = 0,
    people: int = 0,
    scenarios: str = "",
    seed: int = 1,
    town: str = "Harbour",
) -> EpisodePlan:
    """A plan for the lane at the fourth spawn point of Harbour."""
    first, last = _ends(world, length_m)
    points = "".join(f'<position x="{p.x}" y="{p.y}" z="{p.z}"/>' for p in (first, last))
    text = _ROUTE.format(points=points, scenarios=scenarios).replace("Harbour", town)
    return EpisodePlan(
        suite="test",
        variant="",
        item=SuiteRoute(
            id="r1", route=parse_routes(text, "test").routes[0], vehicles=vehicles, people=people
        ),
        seed=seed,
        agent=AgentSpec(name=agent),
    )


def _ends(world: SimulatorSession, length_m: int) -> tuple[Any, Any]:
    town_map = world.fresh("Harbour").get_map()
    first = town_map.get_spawn_points()[3].location
    point = town_map.get_waypoint(first)
    for _ in range(length_m // 2):
        point = point.next(2.0)[0]
    return first, point.transform.location
