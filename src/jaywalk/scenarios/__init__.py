"""Scenarios on routes: route files, scenario types, people and background traffic."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaywalk.core.lazy import lazy_exports

if TYPE_CHECKING:
    from jaywalk.scenarios.base import Parameters as Parameters
    from jaywalk.scenarios.base import Scenario as Scenario
    from jaywalk.scenarios.base import ScenarioContext as ScenarioContext
    from jaywalk.scenarios.base import make_scenario as make_scenario
    from jaywalk.scenarios.catalogue import SCENARIOS as SCENARIOS
    from jaywalk.scenarios.catalogue import ScenarioSpec as ScenarioSpec
    from jaywalk.scenarios.catalogue import Shift as Shift
    from jaywalk.scenarios.catalogue import StreetNeeds as StreetNeeds
    from jaywalk.scenarios.catalogue import scenario as scenario
    from jaywalk.scenarios.formats.route_xml import Route as Route
    from jaywalk.scenarios.formats.route_xml import RouteFile as RouteFile
    from jaywalk.scenarios.formats.route_xml import read_routes as read_routes
    from jaywalk.scenarios.formats.route_xml import write_routes as write_routes
    from jaywalk.scenarios.suite import SUITES as SUITES
    from jaywalk.scenarios.suite import Suite as Suite
    from jaywalk.scenarios.suite import SuiteRoute as SuiteRoute
    from jaywalk.scenarios.suite import SuiteSpec as SuiteSpec
    from jaywalk.scenarios.suite import load_suite as load_suite

__getattr__, __all__ = lazy_exports(
    __name__,
    {
        "base": (
            "Parameters",
            "Scenario",
            "ScenarioContext",
            "make_scenario",
        ),
        "catalogue": (
            "SCENARIOS",
            "ScenarioSpec",
            "Shift",
            "StreetNeeds",
            "scenario",
        ),
        "formats.route_xml": (
            "Route",
            "RouteFile",
            "read_routes",
            "write_routes",
        ),
        "suite": (
            "SUITES",
            "Suite",
            "SuiteRoute",
            "SuiteSpec",
            "load_suite",
        ),
    },
)
