"""The suite ``habit``, and routes of the same kind for any town.

The suite has 110 routes over Jaywalk's towns among people posed by real motions. Built routes have
200 to 800 m and prefer streets that earlier routes do not use.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from jaywalk.actors.crowd.places import near_route, on_right
from jaywalk.actors.posed.repertoire import split_variant
from jaywalk.actors.reactive.traits import REACTIVE
from jaywalk.core.errors import DataError, UsageError
from jaywalk.core.seeds import stream
from jaywalk.geometry.path import arc_lengths, points_at
from jaywalk.scenarios.formats.route_xml import Route, RouteFile, read_routes
from jaywalk.scenarios.formats.weathers import NAMES, WEATHERS, with_weather
from jaywalk.scenarios.formats.xml_node import attribute
from jaywalk.scenarios.suite import SUITES, Suite, SuiteRoute, SuiteSpec
from jaywalk.suites.building import BuildRequest, suite_kind
from jaywalk.suites.random_routes import Draft, rounded, route_of
from jaywalk.town.roads import lane_speed_kmh
from jaywalk.town.routes import DenseRoute, Point, RoutePlanner
from jaywalk.town.town import Town
from jaywalk.town.walkways import WALKED

VEHICLES, PEOPLE, POSED = 30, 10, 20
SHORTEST_M, LONGEST_M = 200.0, 800.0
_CANDIDATES: Final = 4
_REACH: Final = 0.8  # legs end at most this share of the length from the start, as the crow flies
_ROUNDS: Final = 3  # number of batches of candidates, until the roadside is good enough
_STEP_M: Final = 4.0
_BAND_M: Final = 16.0
_ENOUGH: Final = 40  # wanted places on either side of a route
_SLOW_KMH: Final = 70.0  # people cross roads up to this speed limit
_SLOW_SHARE: Final = 0.8


@suite_kind(
    "habit",
    "routes of 200 to 800 m with 12 weathers, 30 vehicles, 20 posed people and 10 ambient ones",
)
def build(request: BuildRequest) -> RouteFile:
    """Build as many routes as requested; weathers take turns."""
    if request.length_m is not None and not SHORTEST_M <= request.length_m <= LONGEST_M:
        raise UsageError(f"--length is {request.length_m:g}, expected 200 to 800 m.")
    about = (
        ("vehicles", str(VEHICLES if request.vehicles is None else request.vehicles)),
        ("people", str(PEOPLE if request.people is None else request.people)),
        ("posed", str(POSED)),
    )
    routes = []
    for number, points in enumerate(draw_points(request), 1):
        route = route_of(number, request.town.name, about, points)
        routes.append(with_weather(route, NAMES[(number - 1) % len(NAMES)]))
    return RouteFile(routes=tuple(routes))


def draw_points(request: BuildRequest) -> list[list[Point]]:
    """Return the keypoints of each route."""
    town = request.town
    places = [rounded((pose.x, pose.y, pose.z)) for pose in town.spawn_points]
    if len(places) < 2:
        raise DataError(f"{town.name} has {len(places)} spawn points; a route needs two.")
    builder = _RouteBuilder(
        town=town,
        draft=Draft(planner=RoutePlanner(town.carla_map), places=places, length_m=0.0),
        roadside=_roadside(town),
        fast=_fast_lanes(town),
    )
    return [builder.route(request, number) for number in range(1, request.routes + 1)]


@dataclass(slots=True, kw_only=True)
class _RouteBuilder:
    """Draws routes and remembers the streets of earlier ones."""

    town: Town
    draft: Draft
    roadside: NDArray[np.float64]  # (n, 2) places on sidewalks
    fast: set[tuple[int, int]]  # road and lane
    used: dict[tuple[int, int], int] = field(default_factory=dict)

    def route(self, request: BuildRequest, number: int) -> list[Point]:
        """Return the candidate with the most new streets among those with room for people."""
        best: tuple[float, list[Point], DenseRoute] | None = None
        for turn in range(_ROUNDS):
            for k in range(_CANDIDATES):
                name = (number, turn * _CANDIDATES + k)
                candidate = self._candidate(request, *name)
                if candidate is None:
                    continue
                points, dense = candidate
                score = self._room(dense) * 100.0 + self._novelty(dense)
                if best is None or score > best[0]:
                    best = score, points, dense
            if best is not None and best[0] >= 100.0:
                break
        if best is None:
            raise DataError(f"{self.town.name} has no way of {SHORTEST_M:g} m.")
        for street in _streets(best[2]):
            self.used[street] = self.used.get(street, 0) + 1
        return best[1]

    def _candidate(
        self, request: BuildRequest, number: int, k: int
    ) -> tuple[list[Point], DenseRoute] | None:
        random = stream(request.seed, "habit-routes", self.town.name, number, k)
        length_m = request.length_m or float(random.uniform(SHORTEST_M + 10.0, LONGEST_M - 40.0))
        places = self.draft.places
        x, y, _ = start = places[int(random.integers(len(places)))]
        near = [
            place for place in places if np.hypot(place[0] - x, place[1] - y) < _REACH * length_m
        ]
        draft = replace(self.draft, length_m=length_m, places=[start, *near])
        points = draft.points([0], random)
        if points is None:
            return None
        dense = draft.planner.plan(points)
        fits = SHORTEST_M <= dense.along_m[-1] <= LONGEST_M
        return (points, dense) if fits else None

    def _room(self, dense: DenseRoute) -> float:
        """Return 1 if both sides have enough places and people may cross the streets; else less."""
        near = self.roadside[near_route(self.roadside, dense, _BAND_M)]
        right = int(on_right(near[:, 0], near[:, 1], dense).sum())
        fewer = min(right, len(near) - right)
        slow = np.mean([(int(r), int(k)) not in self.fast for r, _, k in dense.lane])
        return min(fewer / _ENOUGH, 1.0) * min(float(slow) / _SLOW_SHARE, 1.0)

    def _novelty(self, dense: DenseRoute) -> float:
        """Share of the route that earlier routes did not use, in per cent."""
        streets = _streets(dense)
        return 99.0 * sum(1.0 / (1 + self.used.get(street, 0)) for street in streets) / len(streets)


def _streets(dense: DenseRoute) -> list[tuple[int, int]]:
    """Return roads with their direction; roads in junctions distinguish turns."""
    streets = {(int(road), 1 if lane > 0 else -1) for road, _, lane in dense.lane}
    return sorted(streets)


def _roadside(town: Town) -> NDArray[np.float64]:
    rows = [np.zeros((0, 2))]
    for strip in town.strips:
        if strip.kind in WALKED and not strip.in_junction:
            middle = 0.5 * (strip.inner_m[:, :2] + strip.outer_m[:, :2])
            along = arc_lengths(middle)
            at = np.arange(0.5 * _STEP_M, along[-1], _STEP_M)
            rows.append(points_at(at, along, middle))
    return np.concatenate(rows)


def _fast_lanes(town: Town) -> set[tuple[int, int]]:
    return {
        (strip.road.road_id, strip.lane.lane_id)
        for strip in town.strips
        if strip.kind == "driving"
        and lane_speed_kmh(strip.road, strip.lane, float(strip.s_m.mean())) > _SLOW_KMH
    }


FILE: Final = Path(__file__).parent / "data" / "habit.xml"  # keypoints and names of weathers only
SPEC: Final = SuiteSpec(
    name="habit",
    version=3,
    scripted_version=2,
    summary=(
        "110 routes over the three towns, 20 people posed by real motions and 10 ambient ones each"
    ),
    target=f"{__name__}:load",
    towns=("Harbour", "Orchard", "Ridge"),
    routes=110,
    wet_grip=True,
)
SUITES.register(SPEC)


def load(variant: str = "") -> Suite:
    """Load the suite; variants, joined by commas: those of ``split_variant``."""
    split_variant(variant)
    routes = [
        SuiteRoute(
            id=f"habit-{int(route.id):03d}",
            route=_with_named_weather(route),
            vehicles=VEHICLES,
            people=PEOPLE,
            posed=POSED,
            wet_grip=SPEC.wet_grip,
        )
        for route in read_routes(FILE).routes
    ]
    return with_variant_weather(
        Suite(
            name=SPEC.id,
            routes=tuple(routes),
            variant=variant,
            scripted_name=SPEC.scripted_id,
            people_model=REACTIVE,
            apply_variant=with_variant_weather,
        )
    )


def _with_named_weather(route: Route) -> Route:
    name = attribute(route.attributes, "weather") or ""
    if name not in WEATHERS:
        raise DataError(f"Route {route.id}: weather is '{name}'. Known: {', '.join(WEATHERS)}.")
    return with_weather(route, name)


def with_variant_weather(suite: Suite) -> Suite:
    """Return the suite under the weather of its variant; other variants leave it unchanged."""
    parts = split_variant(suite.variant)
    wet, dark = "rain" in parts, "night" in parts
    if not (wet or dark):
        return suite
    name = ("rain-night" if dark else "rain") if wet else "clear-night"
    changed = [replace(item, route=with_weather(item.route, name)) for item in suite.routes]
    return replace(suite, routes=tuple(changed))
