"""Routes as the evaluators of CARLA's family read them.

Those take less than our own reader does: they know only their own type names, they crash on a route
whose weather does not reach both ends (they then put a weather where a number is meant), and they
want a ``<scenarios>`` even where nothing happens.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from jaywalk.core.errors import DataError
from jaywalk.scenarios.catalogue import SCENARIOS
from jaywalk.scenarios.route_xml import Dialect, Route, ScenarioSpec, WeatherPoint

_SHARE: Final = "route_percentage"
_START, _END = 0.0, 100.0


def as_public(route: Route) -> Route:
    """The same route in the form that public evaluators read.

    Types get the names that public route files have for ours, where there are such; the first and
    the last weather also stand at 0 and 100 %, which is what they mean.

    Raises:
        DataError: The route is of Leaderboard 1.0, whose files hold no scenarios.
    """
    if route.dialect is not Dialect.LEADERBOARD_2:
        raise DataError(f"Route {route.id} is of Leaderboard 1.0; expected one of 2.x.")
    return replace(
        route,
        scenarios=tuple(_named(spec) for spec in route.scenarios),
        weathers=None if not route.weathers else _to_both_ends(route.weathers),
    )


def own_types(route: Route) -> tuple[str, ...]:
    """Types of a route that no public evaluator knows, in their order."""
    names = dict.fromkeys(spec.type for spec in as_public(route).scenarios)
    return tuple(name for name in names if "/" in name)  # ours alone have a slash


def _named(spec: ScenarioSpec) -> ScenarioSpec:
    kind = SCENARIOS.get(spec.type).load().public_type or spec.type
    named = tuple((key, kind if key == "type" else text) for key, text in spec.attributes)
    return replace(spec, attributes=named)


def _to_both_ends(weathers: tuple[WeatherPoint, ...]) -> tuple[WeatherPoint, ...]:
    ordered = sorted(weathers, key=lambda weather: weather.route_percentage)
    first, last = ordered[0], ordered[-1]
    before = [_at(first, _START)] if first.route_percentage > _START else []
    after = [_at(last, _END)] if last.route_percentage < _END else []
    return (*before, *ordered, *after)


def _at(weather: WeatherPoint, share: float) -> WeatherPoint:
    rest = tuple(pair for pair in weather.attributes if pair[0] != _SHARE)
    return WeatherPoint(attributes=((_SHARE, repr(share)), *rest))
