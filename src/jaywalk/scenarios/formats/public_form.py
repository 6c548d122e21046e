"""Routes as the evaluators of CARLA's family read them.

Those take less than our own reader does: they know only their own type names, they crash on a route
whose weather does not reach both ends (they then put a weather where a number is meant), and they
want a ``<scenarios>`` even where nothing happens.

A suite's routes as files for public evaluators, and what had to change for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from jaywalk.core.errors import DataError, RegistryError
from jaywalk.scenarios.catalogue import FAIL2DRIVE, LEADERBOARD, SCENARIOS
from jaywalk.scenarios.formats._public_placing import Moved, fit_triggers
from jaywalk.scenarios.formats.route_xml import Route, RouteDialect, ScenarioElement, WeatherPoint
from jaywalk.scenarios.suite import SuiteRoute
from jaywalk.scenarios.toolbox._finding import planner_of

_SHARE: Final = "route_percentage"
_START, _END = 0.0, 100.0


def as_public(route: Route) -> Route:
    """The same route in the form that public evaluators read.

    Types get the names that public route files have for ours, where there are such; the first and
    the last weather also stand at 0 and 100 %, which is what they mean.

    Raises:
        DataError: The route is of Leaderboard 1.0, whose files hold no scenarios.
    """
    if route.dialect is not RouteDialect.LEADERBOARD_2:
        raise DataError(f"Route {route.id} is of Leaderboard 1.0; expected one of 2.x.")
    return replace(
        route,
        scenarios=tuple(_named(element) for element in route.scenarios),
        weathers=None if not route.weathers else _to_both_ends(route.weathers),
    )


def own_types(route: Route) -> tuple[str, ...]:
    """Types of a route that no public evaluator knows, in their order."""
    names = dict.fromkeys(element.type for element in as_public(route).scenarios)
    return tuple(
        name for name in names if SCENARIOS.get(name).benchmark not in (LEADERBOARD, FAIL2DRIVE)
    )


def _named(element: ScenarioElement) -> ScenarioElement:
    kind = SCENARIOS.get(element.type).public_type or element.type
    named = tuple((key, kind if key == "type" else text) for key, text in element.attributes)
    return replace(element, attributes=named)


def _to_both_ends(weathers: tuple[WeatherPoint, ...]) -> tuple[WeatherPoint, ...]:
    ordered = sorted(weathers, key=lambda weather: weather.route_percentage)
    first, last = ordered[0], ordered[-1]
    before = [_at(first, _START)] if first.route_percentage > _START else []
    after = [_at(last, _END)] if last.route_percentage < _END else []
    return (*before, *ordered, *after)


def _at(weather: WeatherPoint, share: float) -> WeatherPoint:
    rest = tuple(pair for pair in weather.attributes if pair[0] != _SHARE)
    return WeatherPoint(attributes=((_SHARE, repr(share)), *rest))


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicRoute:
    """One route for public evaluators."""

    id: str  # in the suite; the name of its file
    route: Route
    moved: tuple[Moved, ...] = ()
    own_types: tuple[str, ...] = ()  # scenarios they do not know
    checked: bool = True  # False: the town is not here, triggers are as they were


def public_routes(items: Sequence[SuiteRoute]) -> tuple[PublicRoute, ...]:
    """The routes of a suite in the form that the Leaderboard's and Fail2Drive's evaluators read."""
    return tuple(_public(item) for item in items)


def _public(item: SuiteRoute) -> PublicRoute:
    route = as_public(item.route)
    ours = own_types(route)
    try:
        planner = planner_of(route.town)
    except RegistryError:
        return PublicRoute(id=item.id, route=route, own_types=ours, checked=False)
    fitted, moved = fit_triggers(route, planner)
    return PublicRoute(id=item.id, route=fitted, moved=moved, own_types=ours)
