"""Writes the route file of ``habit``: ``PYTHONPATH=tools python -m suite_author.habit``."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Final

from jaywalk.scenarios.formats.route_xml import Route, RouteFile, format_routes
from jaywalk.scenarios.formats.weathers import NAMES
from jaywalk.suites.building import BuildRequest
from jaywalk.suites.habit import FILE, draw_points
from jaywalk.suites.random_routes import route_of
from jaywalk.town.town import load_town

_COUNTS: Final = {"Harbour": 37, "Orchard": 37, "Ridge": 36}
_SEED: Final = 7


def main() -> None:
    """Write it; towns and weathers take turns, so that any part of the suite has all of them."""
    drawn = {}
    for town, count in _COUNTS.items():
        drawn[town] = draw_points(BuildRequest(town=load_town(town), routes=count, seed=_SEED))
        sys.stdout.write(f"{town}: {count} routes\n")
        sys.stdout.flush()
    routes: list[Route] = []
    for turn in range(max(_COUNTS.values())):
        for town, points in drawn.items():
            if turn < len(points):
                number = len(routes) + 1
                # Twelve is a multiple of three: without the shift towns would share weathers.
                name = NAMES[(number - 1 + (number - 1) // len(NAMES)) % len(NAMES)]
                routes.append(route_of(number, town, (("weather", name),), points[turn]))
    short = [replace(route, weathers=None) for route in routes]
    FILE.write_text(format_routes(RouteFile(routes=tuple(short))), encoding="utf-8")


if __name__ == "__main__":
    main()
