"""Contents of a scenario file, read and checked; errors name file, scenario and field."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from jaywalk.core.errors import DataError
from jaywalk.core.files import read_bytes
from jaywalk.core.text import suggestion
from jaywalk.scenarios.catalogue import PARTNER_WORDS
from jaywalk.scenarios.suite import MAX_BACKGROUND_ACTORS
from jaywalk.scenarios.toolbox.text import SUFFIXES, check_suffix, parse_text

FORMAT: Final = "jaywalk-scenario-1"
HALVES: Final = ("base", "generalization")
_TOP: Final = (
    "format",
    "name",
    "id",
    "town",
    "vehicles",
    "people",
    "weather",
    "pair",
    "half",
    "shift",
    "route",
    "scenario",
    "extra",
)
_SCENARIO: Final = ("name", "type", "at", "trigger", "partner", "params", "objects", "other_actors")
_OBJECT_NUMBERS: Final = ("x", "y", "z", "yaw", "pitch", "roll")
_MAX_BYTES: Final = 4 * 1024 * 1024
_HUGE: Final = 1e300
_LONGEST_LABEL: Final = 120
_XML_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")

Scalar = str | float | int


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedThing:
    """An object relative to the lane at a scenario's place: metres forward, right, up; degrees."""

    model: str
    numbers: Mapping[str, float] = field(default_factory=dict)
    key: str = ""  # its attribute in a route file, if that is not the next letter


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthoredScenario:
    """One scenario of a file. Exactly one of ``at_m`` and ``trigger`` is given.

    Attributes:
        at_m: Metres along the route of its trigger.
        trigger: x, y, z, yaw of its trigger.
        partner: Its in-distribution partner; "" for the rule of its type.
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
    """A scenario file; ``weather`` is a name, a list of tables, or None for the default."""

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
    """Read the plain values of a scenario file."""
    return parse_text(read_text(path), str(path))


def read_text(path: Path) -> str:
    """Read the text of a scenario file."""
    data = read_bytes(path, f"a scenario file ({', '.join(SUFFIXES)})", _MAX_BYTES)
    check_suffix(path, "The scenario file")
    try:
        return data.decode("utf-8-sig")  # some editors write a byte order mark
    except UnicodeDecodeError as problem:
        raise DataError(f"'{path}' is not UTF-8 text: {problem.reason}.") from problem


def authored_of(document: Mapping[str, Any], name: str) -> Authored:
    """Check plain values; ``name`` is used in errors."""
    where = f"'{name}'"
    _only(document, _TOP, where)
    if document.get("format", FORMAT) != FORMAT:
        raise DataError(f"{where}, format: is '{document['format']}'; expected '{FORMAT}'.")
    half = _text(document, "half", where, "")
    if half not in ("", *HALVES):
        raise DataError(f"{where}, half: is '{half}'; expected {' or '.join(HALVES)}.")
    if half and not document.get("pair"):
        raise DataError(f"{where}, pair: is missing, while half is '{half}'. Name the pair too.")
    title = _label(document, "name", where, Path(name).stem)
    scenarios = document.get("scenario", [])
    if not isinstance(scenarios, list):
        raise DataError(f"{where}, scenario: expected a list of tables ([[scenario]] in TOML).")
    return Authored(
        path=name,
        name=title,
        id=_label(document, "id", where, title),
        town=_text(document, "town", where),
        points=_points(document, where),
        scenarios=tuple(_scenario(table, where, k) for k, table in enumerate(scenarios, 1)),
        vehicles=_count(document, "vehicles", where),
        people=_count(document, "people", where),
        weather=_weather(document, where),
        pair=_text(document, "pair", where, ""),
        half=half,
        shift=_text(document, "shift", where, ""),
        extra=_extra(document, where),
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
        raise DataError(f"{where}, at: is {_short(at)}; expected metres along the route, from 0.")
    partner = _text(value, "partner", where, "")
    if partner not in ("", *PARTNER_WORDS):
        expected = ", ".join(PARTNER_WORDS)
        raise DataError(f"{where}, partner: is '{partner}'; expected one of {expected}.")
    place = None if trigger is None else _numbers(trigger, (4,), f"{where}, trigger")
    return AuthoredScenario(
        name=_label(value, "name", where, f"scenario_{number}"),
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
    return tuple(_scalars(item, f"{where}, other_actors") for item in value)


def _params(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise DataError(f"{where}, params: expected a table.")
    parameters: dict[str, Any] = {}
    for key, entry in value.items():
        place = f"{where}, params.{key}"
        if isinstance(entry, Mapping):
            parameters[key] = _scalars(entry, place)
        elif isinstance(entry, list):
            parameters[key] = _numbers(entry, (2,), place)
        elif isinstance(entry, bool) or not isinstance(entry, str | int | float):
            raise DataError(
                f"{place}: is {entry!r}; expected a number, a text, [low, high] or a table."
            )
        elif not isinstance(entry, str) and not _is_number(entry):
            raise DataError(f"{place}: is {_short(entry)}; expected a finite number.")
        elif isinstance(entry, str) and not entry.isprintable():
            raise DataError(f"{place}: is {entry!r}; expected a text of one line.")
        else:
            parameters[key] = entry
    return parameters


def _extra(document: Mapping[str, Any], where: str) -> dict[str, Scalar]:
    """Return further attributes of the route, which must not repeat a field."""
    scalars = _scalars(document.get("extra", {}), f"{where}, extra")
    for key in scalars:
        if key in _TOP:
            raise DataError(f"{where}, extra.{key}: use the field '{key}' instead.")
        if not _XML_NAME.fullmatch(key):
            raise DataError(f"{where}, extra.{key}: expected a name of letters, digits and _.")
    return scalars


def _objects(value: Any, where: str) -> tuple[PlacedThing, ...]:
    if not isinstance(value, list):
        raise DataError(f"{where}, objects: expected a list of tables with model, x, y.")
    things: list[PlacedThing] = []
    for number, entry in enumerate(value, 1):
        place = f"{where}, objects {number}"
        if not isinstance(entry, Mapping):
            raise DataError(f"{place}: expected a table with model and x, y, z, yaw.")
        _only(entry, ("model", "key", *_OBJECT_NUMBERS), place)
        for key in _OBJECT_NUMBERS:
            if key in entry and not _is_number(entry[key]):
                raise DataError(
                    f"{place}, {key}: is {_short(entry[key])}; expected a finite number."
                )
        model = _text(entry, "model", place)
        if any(letter.isspace() for letter in model):
            raise DataError(f"{place}, model: is '{model}'; expected a blueprint's name.")
        key = _text(entry, "key", place, "")
        if key and (not _XML_NAME.fullmatch(key) or any(item.key == key for item in things)):
            raise DataError(f"{place}, key: is '{key}'; expected letters that no other thing has.")
        numbers = {key: entry[key] for key in _OBJECT_NUMBERS if key in entry}
        things.append(PlacedThing(model=model, numbers=numbers, key=key))
    return tuple(things)


def _weather(
    document: Mapping[str, Any], where: str
) -> str | tuple[Mapping[str, float], ...] | None:
    value = document.get("weather")
    if value is None or isinstance(value, str):
        return value
    if not isinstance(value, list) or not all(isinstance(point, Mapping) for point in value):
        raise DataError(f"{where}, weather: expected a name or a list of tables.")
    for number, point in enumerate(value, 1):
        for key, entry in point.items():
            if not _is_number(entry):
                place = f"{where}, weather {number}, {key}"
                raise DataError(f"{place}: is {_short(entry)}; expected a finite number.")
    return tuple(value)


def _only(table: Mapping[str, Any], known: Sequence[str], where: str) -> None:
    unknown = [key for key in table if key not in known]
    if unknown:
        raise DataError(f"{where}, {unknown[0]}: no such field.{suggestion(unknown[0], known)}")


def _text(table: Mapping[str, Any], key: str, where: str, default: str | None = None) -> str:
    value = table.get(key, default)
    if value is None:
        raise DataError(f"{where}, {key}: is missing; expected a text.")
    if not isinstance(value, str) or (default is None and not value):
        raise DataError(f"{where}, {key}: is {value!r}; expected a text.")
    if not value.isprintable():
        raise DataError(f"{where}, {key}: is {value!r}; expected a text of one line.")
    return value


def _label(table: Mapping[str, Any], key: str, where: str, default: str) -> str:
    """Return a text that is used as a name."""
    value = _text(table, key, where, default)
    if not value.strip() or len(value) > _LONGEST_LABEL:
        raise DataError(
            f"{where}, {key}: is {value[:200]!r}; expected a text of 1 to {_LONGEST_LABEL} letters."
        )
    return value


def _count(table: Mapping[str, Any], key: str, where: str) -> int | None:
    value = table.get(key)
    if value is None:
        return None
    if (
        isinstance(value, bool)
        or not isinstance(value, int)
        or not 0 <= value <= MAX_BACKGROUND_ACTORS
    ):
        raise DataError(
            f"{where}, {key}: is {_short(value)}; expected a whole number, 0 to "
            f"{MAX_BACKGROUND_ACTORS}."
        )
    return value


def _numbers(value: Any, sizes: tuple[int, ...], where: str) -> tuple[float, ...]:
    good = isinstance(value, list) and len(value) in sizes and all(map(_is_number, value))
    if not good:
        wanted = " or ".join(str(size) for size in sizes)
        raise DataError(f"{where}: is {_short(value)}; expected {wanted} finite numbers.")
    return tuple(value)


def _scalars(value: Any, where: str) -> dict[str, Scalar]:
    if not isinstance(value, Mapping):
        raise DataError(f"{where}: expected a table.")
    for key, entry in value.items():
        if not isinstance(entry, str) and not _is_number(entry):
            raise DataError(f"{where}, {key}: is {_short(entry)}; expected a number or a text.")
        if isinstance(entry, str) and not entry.isprintable():
            raise DataError(f"{where}, {key}: is {entry!r}; expected a text of one line.")
    return dict(value)


def _is_number(value: Any) -> bool:
    # Compare instead of converting: a whole number may be too large for a float.
    return isinstance(value, int | float) and not isinstance(value, bool) and -_HUGE < value < _HUGE


def _short(value: Any) -> str:
    """Return a value as text that fits on a line."""
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
