"""The suite ``habit``: 110 routes over our towns among people posed by real motions."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Final

from jaywalk.core.errors import DataError
from jaywalk.scenarios.habit.manner import split_variant
from jaywalk.scenarios.route_xml import Route, read_routes
from jaywalk.scenarios.suite import Suite, SuiteRoute
from jaywalk.scenarios.suites.habit_building import PEOPLE, POSED, VEHICLES
from jaywalk.scenarios.suites.habit_weathers import WEATHERS, with_weather
from jaywalk.scenarios.xml_node import attribute

NAME: Final = "jaywalk/habit-v2"
FILE: Final = Path(__file__).parent / "habit.xml"  # keypoints and names of weathers alone


def load(variant: str = "") -> Suite:
    """The suite; variants: idle, left, right, children, night, rain, or several with commas."""
    split_variant(variant)
    routes = [
        SuiteRoute(
            id=f"habit-{int(route.id):03d}", route=_dressed(route), vehicles=VEHICLES,
            people=PEOPLE, posed=POSED, wet_grip=True,
        )
        for route in read_routes(FILE).routes
    ]  # fmt: skip
    return redressed(Suite(name=NAME, routes=tuple(routes), variant=variant, redress=redressed))


def _dressed(route: Route) -> Route:
    name = attribute(route.attributes, "weather") or ""
    if name not in WEATHERS:
        raise DataError(f"Route {route.id}: weather is '{name}'. Known: {', '.join(WEATHERS)}.")
    return with_weather(route, name)


def redressed(suite: Suite) -> Suite:
    """The suite under the weather its variant asks for; other variants leave it as it is."""
    parts = split_variant(suite.variant)
    wet, dark = "rain" in parts, "night" in parts
    if not (wet or dark):
        return suite
    name = ("rain-night" if dark else "rain") if wet else "clear-night"
    changed = [replace(one, route=with_weather(one.route, name)) for one in suite.routes]
    return replace(suite, routes=tuple(changed))
