"""Random routes through a town: from one spawn point via others, cut at a length."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from jaywalk.core.errors import DataError, UsageError
from jaywalk.core.seeds import stream
from jaywalk.scenarios.formats.route_xml import Keypoint, Route, RouteFile
from jaywalk.suites.building import BuildRequest, suite_kind
from jaywalk.town.routes import DenseRoute, Point, RoutePlanner

LENGTH_M: Final = 1000.0
VEHICLES: Final = 30
PEOPLE: Final = 20
_SHORTEST_M: Final = 50.0
_LEG_M: Final = 60.0  # shortest leg, as the crow flies
_LEGS: Final = 24  # largest number of legs of a route
_ATTEMPTS: Final = 60
_LEAP_M: Final = 9.0  # longer than any lane change
_TURN_RAD: Final = 1.0  # between two points a metre apart
_FITS_M: Final = 15.0


@suite_kind("random", "random routes with traffic and people, no scenarios")
def build(request: BuildRequest) -> RouteFile:
    """Build random routes, each from another spawn point if there are enough."""
    length_m = LENGTH_M if request.length_m is None else request.length_m
    if request.routes < 1:
        raise UsageError(f"--routes is {request.routes}, expected at least 1.")
    if not length_m >= _SHORTEST_M:
        raise UsageError(f"--length is {length_m:g}, expected at least {_SHORTEST_M:g} m.")
    town = request.town
    # As written to the file: the checked route must be the driven one.
    places = [rounded((pose.x, pose.y, pose.z)) for pose in town.spawn_points]
    if len(places) < 2:
        raise DataError(f"{town.name} has {len(places)} spawn points; a route needs two.")
    planner = RoutePlanner(town.carla_map)
    order = stream(request.seed, "random-routes", town.name).permutation(len(places)).tolist()
    draft = Draft(planner=planner, places=places, length_m=length_m)
    about = (
        ("vehicles", str(VEHICLES if request.vehicles is None else request.vehicles)),
        ("people", str(PEOPLE if request.people is None else request.people)),
    )
    routes = []
    for number in range(1, request.routes + 1):
        random = stream(request.seed, "random-routes", town.name, number)
        points = draft.points(order[number - 1 :] + order[: number - 1], random)
        if points is None:
            raise DataError(f"{town.name} has no way of {length_m:g} m; give a shorter --length.")
        routes.append(route_of(number, town.name, about, points))
    return RouteFile(routes=tuple(routes))


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """Parts of random routes through a town; ``length_m`` is the requested length."""

    planner: RoutePlanner
    places: list[Point]
    length_m: float

    def points(self, starts: list[int], random: np.random.Generator) -> list[Point] | None:
        """Return keypoints of a route from the first start that works."""
        for start in starts[:_ATTEMPTS]:
            points = self._chained(self.places[start], random)
            if points is not None:
                return points
        return None

    def _chained(self, start: Point, random: np.random.Generator) -> list[Point] | None:
        """Chain legs to random places until the route is long enough; None if that fails."""
        points = [start]
        for _ in range(_LEGS):
            aim = self.places[int(random.integers(len(self.places)))]
            if np.hypot(aim[0] - points[-1][0], aim[1] - points[-1][1]) < _LEG_M:
                continue
            route = self._plan([*points, aim])
            if route is None:
                continue
            points.append(aim)
            if route.along_m[-1] >= self.length_m:
                return self._cut(points, route)
        return None

    def _plan(self, points: list[Point]) -> DenseRoute | None:
        try:
            route = self.planner.plan(points)
        except DataError:  # a lane without a continuation
            return None
        return None if _leaps(route) else route

    def _cut(self, points: list[Point], route: DenseRoute) -> list[Point] | None:
        """Cut a route where the length is reached; None if the cut route cannot be planned."""
        last = int(np.searchsorted(route.along_m, self.length_m))
        last = min(last, len(route) - 1)
        # A route must not end inside a junction.
        while last < len(route) - 1 and bool(route.in_junction[last]):
            last += 1
        x, y, z = route.position_m[last].tolist()
        cut = [*points[:-1], rounded((x, y, z))]
        again = self._plan(cut)
        if again is None or abs(again.along_m[-1] - route.along_m[last]) > _FITS_M:
            return None
        return cut


def rounded(point: Point) -> Point:
    """Round a point as in a route file."""
    x, y, z = (round(value, 3) for value in point)
    return x, y, z


def _leaps(route: DenseRoute) -> bool:
    """Return True if the route jumps or turns on the spot where two legs meet, as no car can."""
    steps = np.diff(route.position_m[:, :2], axis=0)
    turn = np.abs(np.diff(np.unwrap(route.yaw_rad)))
    return bool(np.any(np.hypot(*steps.T) > _LEAP_M) or np.any(turn > _TURN_RAD))


def route_of(
    number: int, town: str, about: tuple[tuple[str, str], ...], points: list[Point]
) -> Route:
    """Make a route of a file; ``about`` holds further attributes."""
    return Route(
        attributes=(("id", str(number)), ("town", town), *about),
        keypoints=tuple(
            Keypoint(
                attributes=tuple(
                    (key, f"{value:.3f}") for key, value in zip("xyz", point, strict=True)
                )
            )
            for point in points
        ),
    )
