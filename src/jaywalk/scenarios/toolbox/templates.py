"""Templates of scenario files: a type, its parameters with defaults, and a place in a town."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from jaywalk.core.errors import UsageError
from jaywalk.scenarios.catalogue import SCENARIOS, ScenarioSpec, type_named
from jaywalk.scenarios.toolbox._finding import OUR_TOWNS, NoPlaceError, Place, find_place
from jaywalk.scenarios.toolbox.form import FORMAT
from jaywalk.scenarios.toolbox.routes import defaults_of
from jaywalk.scenarios.toolbox.text import format_text

AT_M: Final = 20.0
VEHICLES: Final = 10
_ROOM_M: Final = 25.0  # beyond default distances, to pass and drive on
_BARRELS: Final = tuple(
    {"model": "static.prop.barrel", "x": 0.0, "y": y_m} for y_m in (-0.8, 0.0, 0.8)
)
# Public defaults of streams leave gaps of two seconds; public routes set values like these.
_MILD: Final = {"flow_speed": 10.0, "source_dist_interval": (30.0, 90.0)}


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateRequest:
    """Request for a template; a missing ``points`` is searched, a missing ``town`` is any town."""

    name: str
    type: str  # or a class of shift
    town: str = ""
    points: tuple[tuple[float, float], ...] = ()
    at_m: float = AT_M
    seed: int = 1
    given: frozenset[str] = frozenset()  # parameters that are set afterwards


def scenario_template(request: TemplateRequest, path: str = "") -> str:
    """Return the text of a scenario file, NAME.toml by default.

    Raises:
        RegistryError: The type is unknown.
        DataError: The town has no place for it.
        UsageError: The type needs a place that is not searched.
    """
    path = path or f"{request.name}.toml"
    asked, request = request.type, replace(request, type=type_named(request.type))
    spec = SCENARIOS.get(request.type)
    defaults = defaults_of(request.type)
    town, where = request.town or OUR_TOWNS[0], Place(points=request.points)
    if not request.points:
        town, where = _find_place(request)
    distance, farthest_m = defaults.get("distance"), spec.street.length_m - _ROOM_M
    if isinstance(distance, float) and distance > farthest_m:
        defaults["distance"] = farthest_m
    defaults |= {key: value for key, value in _MILD.items() if key in defaults}
    short = asked.rsplit("/", 1)[-1].removesuffix("-v1")
    scenario: dict[str, Any] = {
        "name": f"{short}_1",
        "type": request.type,
        "at": request.at_m,
    }
    params = {
        key: _plain(value) for key, value in defaults.items() if value not in ("", ())
    } | _given_places(defaults, where)
    _check_places(request, params)
    params = {key: value for key, value in params.items() if value is not None}
    if params:
        scenario["params"] = params
    if defaults.get("objects") == ():
        scenario["objects"] = _template_objects(spec, asked)
    document = {
        "format": FORMAT,
        "name": request.name,
        "town": town,
        "vehicles": VEHICLES,
        "weather": "noon",
        "route": {"points": [list(point) for point in where.points]},
        "scenario": [scenario],
    }
    head = (
        f"{spec.summary}.",
        f"Look at it: jaywalk scenario show {path} -o {Path(path).with_suffix('.png')}",
        f"Can it be driven? jaywalk scenario check {path}",
    )
    return format_text(document, path, head)


def _find_place(request: TemplateRequest) -> tuple[str, Place]:
    """Find a place in the requested town, or in the first known town that has one."""
    needs = SCENARIOS.get(request.type).street
    towns = (request.town,) if request.town else OUR_TOWNS
    for town in towns:
        try:
            return town, find_place(request.type, town, needs, at_m=request.at_m, seed=request.seed)
        except NoPlaceError as problem:
            if town == towns[-1]:
                words = str(problem).replace(town, " and ".join(towns), 1)
                raise NoPlaceError(
                    words.replace(" has ", " have ") if towns[1:] else words
                ) from None
    raise AssertionError("there are towns")


def _template_objects(spec: ScenarioSpec, asked: str) -> list[dict[str, Any]]:
    """Return the objects of the requested class of shift, or else three barrels."""
    objects = next((shift.objects for shift in spec.shifts if shift.name == asked), ())
    return [dict(item) for item in objects or _BARRELS]


def _check_places(request: TemplateRequest, params: dict[str, Any]) -> None:
    for key, value in params.items():
        if value is None and key not in request.given:
            raise UsageError(
                f"{request.type} asks for the place '{key}', which is not looked for. Give it: "
                f"--set 'params.{key}={{ x = 10.0, y = 20.0, z = 0.0 }}'."
            )


def _given_places(defaults: dict[str, Any], where: Place) -> dict[str, Any]:
    """Return the ends of streams of cars, for types with such parameters."""
    ends = where.way_ends
    if ends is None:
        return {}
    names = ("start_actor_flow", "end_actor_flow")
    return {
        name: dict(zip("xyz", end, strict=True))
        for name, end in zip(names, ends, strict=True)
        if name in defaults
    }


def _plain(value: Any) -> Any:
    """Return a default as a file states it; None for values that only a file can give."""
    if not isinstance(value, tuple):
        return value
    if any(isinstance(entry, float) and math.isnan(entry) for entry in value):
        return None
    if all(isinstance(entry, str) for entry in value):
        return dict(zip("abcdefghijklmnopqrstuvwxyz", value, strict=False))
    return list(value)


def parse_point(text: str, option: str) -> tuple[float, float]:
    """Parse ``X,Y`` as numbers."""
    try:
        x, y = (float(part) for part in text.split(","))
    except ValueError:
        x = y = math.nan
    if not (math.isfinite(x) and math.isfinite(y)):
        raise UsageError(f"{option} is '{text}', expected X,Y as in 8.0,-114.3.")
    return x, y
