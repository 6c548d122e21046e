"""What a scenario file holds, read and checked: every error names file, scenario and field."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from jaywalk.core.errors import DataError
from jaywalk.scenarios.toolbox.text import SUFFIXES, check_suffix, parse_text

FORMAT: Final = "jaywalk-scenario-1"
HALVES: Final = ("base", "generalization")
PARTNERS: Final = ("construction", "accident", "parked", "none")
# Types that ``partner`` is for -> how the names of their partners end.
LAYOUTS: Final = {"CustomObstacle": "", "CustomObstacleTwoWays": "TwoWays"}
_TOP: Final = (
    "format", "name", "id", "town", "vehicles", "people", "weather", "pair", "half", "shift",
    "route", "scenario", "extra",
)  # fmt: skip
_SCENARIO: Final = ("name", "type", "at", "trigger", "partner", "params", "objects", "other_actors")
_OBJECT_NUMBERS: Final = ("x", "y", "z", "yaw", "pitch", "roll")
_MAX_BYTES: Final = 4 * 1024 * 1024

Scalar = str | float | int


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedThing:
    """A thing relative to the lane at the scenario's place: metres forward, right, up; degrees."""

    model: str
    numbers: Mapping[str, float] = field(default_factory=dict)
    key: str = ""  # of its attribute in a route file, where that is not the next letter


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthoredScenario:
    """One scenario of a file. Exactly one of ``at_m`` and ``trigger`` is given.

    Attributes:
        at_m: Metres along the route of its trigger.
        trigger: x, y, z, yaw of its trigger.
        partner: What its in-distribution partner is; "" for the rule of its type.
        params: Name -> number, text, pair of numbers, or table of attributes.
    """

    name: str
    type: str
    at_m: float | None = None
    trigger: tuple[float, float, float, float] | None = None
    partner: str = ""
    params: Mapping[str, Any] = field(default_factory=dict)
    objects: tuple[PlacedThing, ...] = ()
    other_actors: tuple[Mapping[str, Scalar], ...] = ()
    where: str = field(default="scenario", compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Authored:
    """A scenario file. ``weather`` is a name, a list of tables, or None for the server's own."""

    path: str = field(compare=False)
    name: str
    id: str
    town: str
    points: tuple[tuple[float, ...], ...]  # x, y or x, y, z
    scenarios: tuple[AuthoredScenario, ...] = ()
    vehicles: int | None = None
    people: int | None = None
    weather: str | tuple[Mapping[str, float], ...] | None = None
    pair: str = ""
    half: str = ""
    shift: str = ""
    extra: Mapping[str, Scalar] = field(default_factory=dict)  # further attributes of the route


def read_authored(path: Path) -> Authored:
    """Read a scenario file.

    Raises:
        DataError: It cannot be read; the message names the file, the scenario and the field.
    """
    return authored_of(read_document(path), str(path))


def read_document(path: Path) -> dict[str, Any]:
    """The plain values of a scenario file."""
    return parse_text(read_text(path), str(path))


def read_text(path: Path) -> str:
    """Text of a scenario file."""
    if not path.is_file():
        raise DataError(f"No such file: '{path}'. Give a scenario file ({', '.join(SUFFIXES)}).")
    check_suffix(path, "The scenario file")
    if path.stat().st_size > _MAX_BYTES:
        raise DataError(f"'{path}' has more than {_MAX_BYTES} bytes; that is no scenario file.")
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as problem:
        raise DataError(f"'{path}' is no UTF-8 text: {problem.reason}.") from problem


def authored_of(document: Mapping[str, Any], name: str) -> Authored:
    """Check plain values; ``name`` stands in errors."""
    where = f"'{name}'"
    _only(document, _TOP, where)
    if document.get("format", FORMAT) != FORMAT:
        raise DataError(f"{where}, format: is '{document['format']}'; expected '{FORMAT}'.")
    half = _text(document, "half", where, "")
    if half not in ("", *HALVES):
        raise DataError(f"{where}, half: is '{half}'; expected {' or '.join(HALVES)}.")
    title = _text(document, "name", where, Path(name).stem)
    scenarios = document.get("scenario", [])
    if not isinstance(scenarios, list):
        raise DataError(f"{where}, scenario: expected a list of tables ([[scenario]] in TOML).")
    return Authored(
        path=name,
        name=title,
        id=_text(document, "id", where, title),
        town=_text(document, "town", where),
        points=_points(document, where),
        scenarios=tuple(_scenario(one, where, k) for k, one in enumerate(scenarios, 1)),
        vehicles=_count(document, "vehicles", where),
        people=_count(document, "people", where),
        weather=_weather(document, where),
        pair=_text(document, "pair", where, ""),
        half=half,
        shift=_text(document, "shift", where, ""),
        extra=_scalars(document.get("extra", {}), f"{where}, extra"),
    )


def _points(document: Mapping[str, Any], where: str) -> tuple[tuple[float, ...], ...]:
    route = document.get("route")
    if not isinstance(route, Mapping):
        raise DataError(f"{where}, route: is missing; expected a table with points.")
    _only(route, ("points",), f"{where}, route")
    points = route.get("points")
    if not isinstance(points, list) or len(points) < 2:
        raise DataError(f"{where}, route.points: expected two or more [x, y].")
    return tuple(
        _numbers(point, (2, 3), f"{where}, route.points, point {k}")
        for k, point in enumerate(points, 1)
    )


def _scenario(value: Any, where: str, number: int) -> AuthoredScenario:
    name = value.get("name", "") if isinstance(value, Mapping) else ""
    where = f"{where}, scenario '{name or number}'"
    if not isinstance(value, Mapping):
        raise DataError(f"{where}: expected a table.")
    _only(value, _SCENARIO, where)
    at, trigger = value.get("at"), value.get("trigger")
    if (at is None) == (trigger is None):
        raise DataError(
            f"{where}, at: expected either 'at' (metres along the route) or 'trigger' "
            "([x, y, z, yaw])."
        )
    if at is not None and not (_is_number(at) and at >= 0.0):
        raise DataError(f"{where}, at: is {at!r}; expected metres along the route, from 0.")
    partner = _text(value, "partner", where, "")
    if partner not in ("", *PARTNERS):
        expected = ", ".join(PARTNERS)
        raise DataError(f"{where}, partner: is '{partner}'; expected one of {expected}.")
    place = None if trigger is None else _numbers(trigger, (4,), f"{where}, trigger")
    return AuthoredScenario(
        name=_text(value, "name", where, f"scenario_{number}"),
        type=_text(value, "type", where),
        at_m=None if at is None else float(at),
        trigger=None if place is None else (place[0], place[1], place[2], place[3]),
        partner=partner,
        params=_params(value.get("params", {}), where),
        objects=_objects(value.get("objects", []), where),
        other_actors=_other_actors(value.get("other_actors", []), where),
        where=where,
    )


def _other_actors(value: Any, where: str) -> tuple[Mapping[str, Scalar], ...]:
    if not isinstance(value, list):
        raise DataError(f"{where}, other_actors: expected a list of tables.")
    return tuple(_scalars(one, f"{where}, other_actors") for one in value)


def _params(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise DataError(f"{where}, params: expected a table.")
    found: dict[str, Any] = {}
    for key, entry in value.items():
        place = f"{where}, params.{key}"
        if isinstance(entry, Mapping):
            found[key] = _scalars(entry, place)
        elif isinstance(entry, list):
            found[key] = _numbers(entry, (2,), place)
        elif isinstance(entry, bool) or not isinstance(entry, str | int | float):
            raise DataError(
                f"{place}: is {entry!r}; expected a number, a text, [low, high] or a table."
            )
        elif not isinstance(entry, str) and not math.isfinite(entry):
            raise DataError(f"{place}: is {entry!r}; expected a finite number.")
        else:
            found[key] = entry
    return found


def _objects(value: Any, where: str) -> tuple[PlacedThing, ...]:
    if not isinstance(value, list):
        raise DataError(f"{where}, objects: expected a list of tables with model, x, y.")
    things = []
    for number, entry in enumerate(value, 1):
        place = f"{where}, objects {number}"
        if not isinstance(entry, Mapping):
            raise DataError(f"{place}: expected a table with model and x, y, z, yaw.")
        _only(entry, ("model", "key", *_OBJECT_NUMBERS), place)
        for key in _OBJECT_NUMBERS:
            if key in entry and not _is_number(entry[key]):
                raise DataError(f"{place}, {key}: is {entry[key]!r}; expected a finite number.")
        model = _text(entry, "model", place)
        if any(letter.isspace() for letter in model):
            raise DataError(f"{place}, model: is '{model}'; expected a blueprint's name.")
        things.append(
            PlacedThing(
                model=model,
                numbers={key: entry[key] for key in _OBJECT_NUMBERS if key in entry},
                key=_text(entry, "key", place, ""),
            )
        )
    return tuple(things)


def _weather(
    document: Mapping[str, Any], where: str
) -> str | tuple[Mapping[str, float], ...] | None:
    value = document.get("weather")
    if value is None or isinstance(value, str):
        return value
    if not isinstance(value, list) or not all(isinstance(one, Mapping) for one in value):
        raise DataError(f"{where}, weather: expected a name or a list of tables.")
    for number, one in enumerate(value, 1):
        for key, entry in one.items():
            if not _is_number(entry):
                place = f"{where}, weather {number}, {key}"
                raise DataError(f"{place}: is {entry!r}; expected a finite number.")
    return tuple(value)


def _only(table: Mapping[str, Any], known: Sequence[str], where: str) -> None:
    unknown = [key for key in table if key not in known]
    if unknown:
        raise DataError(f"{where}, {unknown[0]}: no such field. Known: {', '.join(known)}.")


def _text(table: Mapping[str, Any], key: str, where: str, default: str | None = None) -> str:
    value = table.get(key, default)
    if not isinstance(value, str) or (default is None and not value):
        raise DataError(f"{where}, {key}: is {value!r}; expected a text.")
    return value


def _count(table: Mapping[str, Any], key: str, where: str) -> int | None:
    value = table.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise DataError(f"{where}, {key}: is {value!r}; expected a whole number, from 0.")
    return value


def _numbers(value: Any, sizes: tuple[int, ...], where: str) -> tuple[float, ...]:
    good = isinstance(value, list) and len(value) in sizes and all(map(_is_number, value))
    if not good:
        wanted = " or ".join(str(size) for size in sizes)
        raise DataError(f"{where}: is {value!r}; expected {wanted} finite numbers.")
    return tuple(value)


def _scalars(value: Any, where: str) -> dict[str, Scalar]:
    if not isinstance(value, Mapping):
        raise DataError(f"{where}: expected a table.")
    for key, entry in value.items():
        if not isinstance(entry, str) and not _is_number(entry):
            raise DataError(f"{where}, {key}: is {entry!r}; expected a number or a text.")
    return dict(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
