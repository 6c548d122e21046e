"""A suite's routes as files for public evaluators, and what had to change for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from jaywalk.core.errors import RegistryError
from jaywalk.scenarios.public_form import as_public, own_types
from jaywalk.scenarios.public_placing import Moved, fit_triggers
from jaywalk.scenarios.route_xml import Route
from jaywalk.scenarios.suite import SuiteRoute
from jaywalk.scenarios.toolbox.places import planner_of


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
