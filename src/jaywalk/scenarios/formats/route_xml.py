"""Exact reader and writer of route files of the Leaderboard, Bench2Drive and Fail2Drive.

Attribute texts are kept as in the file (``1.50`` stays ``1.50``), in their order, together with
unknown attributes and elements; numbers are parsed on demand and checked once on reading. Frame:
CARLA's left-handed metres and degrees, as in the files.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Final

from jaywalk.core.errors import DataError
from jaywalk.scenarios.formats.xml_node import (
    Attributes,
    Node,
    attribute,
    format_tree,
    number,
    parse_tree,
    read_tree,
)

# Attributes of a <weather>: CARLA's parameters, and the position on the route.
WEATHER: Final = (
    "id",
    "route_percentage",
    "cloudiness",
    "precipitation",
    "precipitation_deposits",
    "wind_intensity",
    "sun_azimuth_angle",
    "sun_altitude_angle",
    "fog_density",
    "fog_distance",
    "fog_falloff",
    "wetness",
    "scattering_intensity",
    "mie_scattering_scale",
    "rayleigh_scattering_scale",
    "dust_storm",
)
_SECTIONS: Final = ("weathers", "waypoints", "scenarios")


class RouteDialect(Enum):
    """Layout of a route file."""

    LEADERBOARD_1 = "leaderboard-1.0"  # <waypoint/>s directly under <route>
    LEADERBOARD_2 = "leaderboard-2.x"  # <weathers>, <waypoints>, <scenarios>


@dataclass(frozen=True, slots=True, kw_only=True)
class Keypoint:
    """A point that the route passes."""

    attributes: Attributes

    @property
    def position_m(self) -> tuple[float, float, float]:
        """World position."""
        x_m, y_m, z_m = (number(self.attributes, key, "keypoint") for key in "xyz")
        return x_m, y_m, z_m

    @property
    def yaw_deg(self) -> float | None:
        """Heading in degrees, if the file states one."""
        if attribute(self.attributes, "yaw") is None:
            return None
        return number(self.attributes, "yaw", "keypoint")


@dataclass(frozen=True, slots=True, kw_only=True)
class WeatherPoint:
    """The weather at a percentage of the route."""

    attributes: Attributes

    @property
    def route_percentage(self) -> float:
        """Position along the route, 0 to 100."""
        return number(self.attributes, "route_percentage", "weather", 0.0)

    @property
    def values(self) -> dict[str, float]:
        """All given weather parameters, by CARLA's name."""
        return {
            key: number(self.attributes, key, "weather")
            for key, _ in self.attributes
            if key not in ("route_percentage", "id")
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class TriggerPoint:
    """Pose at which a scenario starts."""

    x_m: float
    y_m: float
    z_m: float
    yaw_deg: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioElement:
    """A scenario of a route: name, type, and its elements in the order of the file."""

    attributes: Attributes
    elements: tuple[Node, ...] = ()
    where: str = field(default="scenario", compare=False)

    @property
    def name(self) -> str:
        """Name; meant to be unique on the route, but public files contain duplicates."""
        return attribute(self.attributes, "name", "") or ""

    @property
    def type(self) -> str:
        """Scenario type."""
        return attribute(self.attributes, "type", "") or ""

    @property
    def trigger(self) -> TriggerPoint:
        """The first trigger point."""
        for node in self.elements:
            if node.tag == "trigger_point":
                where = f"{self.where}, <trigger_point>"
                x_m, y_m, z_m, yaw_deg = (
                    number(node.attributes, key, where) for key in ("x", "y", "z", "yaw")
                )
                return TriggerPoint(x_m=x_m, y_m=y_m, z_m=z_m, yaw_deg=yaw_deg)
        raise DataError(f"{self.where}: no <trigger_point>; expected one with x, y, z and yaw.")

    @property
    def parameters(self) -> dict[str, Node]:
        """Elements other than triggers and actors, by tag; the last of duplicate tags counts."""
        return {
            node.tag: node
            for node in self.elements
            if node.tag not in ("trigger_point", "other_actor")
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One route; ``weathers`` is None if the file states no weather."""

    attributes: Attributes
    keypoints: tuple[Keypoint, ...]
    weathers: tuple[WeatherPoint, ...] | None = None
    scenarios: tuple[ScenarioElement, ...] = ()
    dialect: RouteDialect = RouteDialect.LEADERBOARD_2
    # Tags of the elements under <route> in the order of the file, and the unknown elements.
    layout: tuple[str, ...] = _SECTIONS
    others: tuple[Node, ...] = ()
    # Unknown elements inside the three sections, by section.
    strangers: tuple[tuple[str, Node], ...] = ()

    @property
    def id(self) -> str:
        """Identifier; whole numbers in all public files."""
        return attribute(self.attributes, "id", "") or ""

    @property
    def town(self) -> str:
        """Name of the town."""
        return attribute(self.attributes, "town", "") or ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteFile:
    """All routes of a file, in its order."""

    routes: tuple[Route, ...]
    attributes: Attributes = ()

    def subset(self, ids: str) -> RouteFile:
        """Select routes by ids and inclusive ranges, as in ``1,5-9``; the file's order is kept."""
        order = [route.id for route in self.routes]
        wanted: set[str] = set()
        for group in ids.replace(" ", "").split(","):
            first, _, last = group.partition("-")
            for end in (first, last or first):
                if end not in order:
                    raise DataError(f"Route '{end}' of the subset '{ids}' is not in the file.")
            low, high = order.index(first), order.index(last or first)
            if low > high:
                raise DataError(f"Range '{group}' of the subset '{ids}' runs backwards.")
            wanted.update(order[low : high + 1])
        return RouteFile(
            routes=tuple(route for route in self.routes if route.id in wanted),
            attributes=self.attributes,
        )


def read_routes(path: Path) -> RouteFile:
    """Read a route file; :class:`DataError` names the file, the route and the element."""
    return _routes(read_tree(path), str(path))


def parse_routes(data: bytes | str, name: str) -> RouteFile:
    """Read routes from text; ``name`` is used in errors."""
    return _routes(parse_tree(data.encode() if isinstance(data, str) else data, name), name)


def write_routes(path: Path, file: RouteFile) -> None:
    """Write a route file."""
    path.write_text(format_routes(file), encoding="utf-8")


def format_routes(file: RouteFile) -> str:
    """Format routes as XML text."""
    return format_tree(Node("routes", file.attributes, tuple(map(_route_node, file.routes))))


def _routes(root: Node, name: str) -> RouteFile:
    if root.tag != "routes":
        raise DataError(f"'{name}' has the root <{root.tag}>; expected <routes>.")
    routes = []
    for count, node in enumerate(root.children, 1):
        if node.tag != "route":
            raise DataError(f"'{name}': element {count} is <{node.tag}>; expected <route>.")
        routes.append(_route(node, f"'{name}', route {count}"))
    doubled = sorted(_doubled(route.id for route in routes))
    if doubled:
        raise DataError(f"'{name}': route id '{doubled[0]}' is used more than once.")
    return RouteFile(routes=tuple(routes), attributes=root.attributes)


def _doubled(names: Iterable[str]) -> set[str]:
    seen: set[str] = set()
    return {name for name in names if name in seen or seen.add(name)}  # type: ignore[func-returns-value]


def _route(node: Node, where: str) -> Route:
    for key in ("id", "town"):
        if not node.get(key):
            raise DataError(f"{where}: <route> has no attribute '{key}'.")
    where = f"{where} (id {node.get('id')})"
    old = any(child.tag == "waypoint" for child in node.children)
    groups: dict[str, list[Node]] = {section: [] for section in _SECTIONS}
    others: list[Node] = []
    homes = {"waypoint": "waypoints", "weather": "weathers"} if old else {}
    for child in node.children:
        if child.tag in homes:
            groups[homes[child.tag]].append(child)
        elif child.tag in _SECTIONS and not old:
            groups[child.tag].extend(child.children)
        else:
            others.append(child)
    names = {"waypoints": "waypoint" if old else "position", "weathers": "weather"}
    names["scenarios"] = "scenario"
    ours = {key: [n for n in group if n.tag == names[key]] for key, group in groups.items()}
    route = Route(
        attributes=node.attributes,
        keypoints=tuple(Keypoint(attributes=n.attributes) for n in ours["waypoints"]),
        weathers=tuple(WeatherPoint(attributes=n.attributes) for n in ours["weathers"])
        if any(
            child.tag in ("weathers", *homes) and child.tag[:3] == "wea" for child in node.children
        )
        else None,
        scenarios=tuple(_scenario(n, where) for n in ours["scenarios"]),
        dialect=RouteDialect.LEADERBOARD_1 if old else RouteDialect.LEADERBOARD_2,
        layout=_layout(node),
        others=tuple(others),
        strangers=tuple(
            (key, n) for key, group in groups.items() for n in group if n.tag != names[key]
        ),
    )
    check_route(route, where)
    return route


def _layout(node: Node) -> tuple[str, ...]:
    tags: list[str] = []
    for child in node.children:
        known = child.tag in (*_SECTIONS, "waypoint", "weather")
        if not (known and child.tag in tags):
            tags.append(child.tag)
    return tuple(tags)


def _scenario(node: Node, where: str) -> ScenarioElement:
    where = f"{where}, scenario '{node.get('name', '?')}'"
    if not node.get("type"):
        raise DataError(f"{where}: <scenario> has no attribute 'type'.")
    scenario = ScenarioElement(attributes=node.attributes, elements=node.children, where=where)
    _ = scenario.trigger
    return scenario


def check_route(route: Route, where: str) -> None:
    """Check every number of a route once; errors name the place."""
    if len(route.keypoints) < 2:
        raise DataError(f"{where}: {len(route.keypoints)} keypoints; expected at least 2.")
    for count, keypoint in enumerate(route.keypoints, 1):
        for key in "xyz":
            number(keypoint.attributes, key, f"{where}, keypoint {count}")
    weathers: dict[float, set[tuple[str, str]]] = {}
    for count, weather in enumerate(route.weathers or (), 1):
        place = f"{where}, weather {count}"
        default = 0.0 if route.dialect is RouteDialect.LEADERBOARD_1 else None
        percentage = number(weather.attributes, "route_percentage", place, default)
        same = weathers.setdefault(percentage, set(weather.attributes))
        if same != set(weather.attributes):
            raise DataError(
                f"{place}: another weather has the same route_percentage, {percentage:g}, and "
                "other values; expected one for each."
            )
        for key, _ in weather.attributes:
            if key not in WEATHER:
                known = ", ".join(WEATHER)
                raise DataError(f"{place}: '{key}' is not a weather parameter. Known: {known}.")
            if key != "id":
                number(weather.attributes, key, place)


def _route_node(route: Route) -> Node:
    old = route.dialect is RouteDialect.LEADERBOARD_1
    strangers: dict[str, list[Node]] = {section: [] for section in _SECTIONS}
    for section, node in route.strangers:
        strangers[section].append(node)
    weathers = [Node("weather", weather.attributes) for weather in route.weathers or ()]
    points = [Node("waypoint" if old else "position", k.attributes) for k in route.keypoints]
    scenarios = [Node("scenario", s.attributes, s.elements) for s in route.scenarios]
    groups = {"weathers": weathers, "waypoints": points, "scenarios": scenarios}
    if old:
        if scenarios:
            raise DataError(f"Route {route.id}: Leaderboard 1.0 files cannot hold scenarios.")
        parts = {"weather": weathers, "waypoint": points}
    else:
        parts = {key: [Node(key, (), (*group, *strangers[key]))] for key, group in groups.items()}
        if route.weathers is None:
            del parts["weathers"]
    layout = [*route.layout, *(key for key in parts if key not in route.layout)]
    others = iter(route.others)
    children: list[Node] = []
    for tag in layout:
        if tag in parts:
            children += parts[tag]
        elif tag not in _SECTIONS:
            children.append(next(others))
    return Node("route", route.attributes, tuple(children))
