"""Reader of Leaderboard route files, limited to the facts that identify the driven route."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from xml.etree.ElementTree import Element, ParseError

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring

from jaywalk.core.errors import DataError
from jaywalk.core.files import read_bytes
from jaywalk.record import columns as c

NEAR_M: Final = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteEntry:
    """One route: its id, town, key points and scenarios with all their parameters."""

    route_id: str
    town: str
    points: tuple[tuple[float, float, float], ...]
    scenarios: tuple[dict[str, Any], ...]

    def rows(self) -> list[dict[str, Any]]:
        """Key points as rows of the route table."""
        return [
            {c.INDEX: k, c.X_M: x, c.Y_M: y, c.Z_M: z} for k, (x, y, z) in enumerate(self.points)
        ]


def read_routes(path: Path) -> list[RouteEntry]:
    """Read a route file.

    Raises:
        DataError: The file is not a route file; the message names the place.
    """
    try:
        root = fromstring(read_bytes(path, "a route file (.xml)"))
    except (ParseError, DefusedXmlException) as problem:
        raise DataError(f"{path} is not readable XML: {problem}.") from problem
    entries = [_entry(path, route) for route in root.iter("route")]
    if not entries:
        raise DataError(f"{path} holds no <route>. Expected a Leaderboard route file.")
    return entries


def _entry(path: Path, route: Element) -> RouteEntry:
    name = route.get("id", "")
    try:
        points = tuple(
            (float(p.attrib["x"]), float(p.attrib["y"]), float(p.attrib["z"]))
            for p in [*route.findall("waypoints/position"), *route.findall("waypoint")]
        )
    except (KeyError, ValueError) as problem:
        raise DataError(f"{path}: route {name} has a waypoint without {problem}.") from problem
    if len(points) < 2:
        raise DataError(f"{path}: route {name} has {len(points)} waypoints, expected at least 2.")
    return RouteEntry(
        route_id=name,
        town=route.get("town", ""),
        points=points,
        scenarios=tuple(_scenario(scenario) for scenario in route.iter("scenario")),
    )


def _scenario(element: Element) -> dict[str, Any]:
    below = [{"tag": child.tag, **child.attrib} for child in element]
    return {**element.attrib, "parameters": below}


def match_route(
    routes: list[RouteEntry], town: str, x_m: float, y_m: float, used: set[int]
) -> int | None:
    """Return the index of the route that begins at the ego; the first unused of equal routes.

    Args:
        routes: Routes of the file.
        town: Name of the map, with or without folders.
        x_m: Position of the ego (x).
        y_m: Position of the ego (y).
        used: Routes that were matched before; they come last.
    """
    short = town.rsplit("/", 1)[-1]
    best: tuple[bool, float, int] | None = None
    for k, route in enumerate(routes):
        away_m = math.hypot(route.points[0][0] - x_m, route.points[0][1] - y_m)
        if route.town.rsplit("/", 1)[-1] == short and away_m <= NEAR_M:
            candidate = (k in used, round(away_m, 1), k)
            best = candidate if best is None else min(best, candidate)
    return None if best is None else best[2]
