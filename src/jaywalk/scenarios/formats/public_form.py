"""Routes in the form that public evaluators of the CARLA family read.

These accept less than Jaywalk's own reader: they know only their own type names, they crash on a
route whose weather does not reach both ends (they then use a weather where a number is meant), and
they need a ``<scenarios>`` element even if there are none. For a suite, the result also lists the
changes that were necessary.
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
    """Return the route in the form that public evaluators read.

    Types get their names in public route files, if they have one; the first and the last weather
    are also written at 0 and 100 %, which does not change their meaning.

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

    id: str  # id in the suite; the name of its file
    route: Route
    moved: tuple[Moved, ...] = ()
    own_types: tuple[str, ...] = ()  # types that evaluators do not know
    checked: bool = True  # False: the town is not available here, so triggers are unchanged


def public_routes(items: Sequence[SuiteRoute]) -> tuple[PublicRoute, ...]:
    """Convert a suite's routes to the form of the Leaderboard's and Fail2Drive's evaluators."""
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
