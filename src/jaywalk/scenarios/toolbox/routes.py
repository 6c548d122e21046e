"""Conversion between scenario files and route files of the Leaderboard."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields
from itertools import count
from pathlib import Path
from typing import Any, Final

from jaywalk.core.errors import DataError, RegistryError
from jaywalk.scenarios.base import UNREAD, Parameters, read_parameters, trigger_along_m
from jaywalk.scenarios.catalogue import PARTNER_WORDS, SCENARIOS
from jaywalk.scenarios.formats.route_xml import (
    Keypoint,
    Route,
    ScenarioElement,
    TriggerPoint,
    WeatherPoint,
    check_route,
)
from jaywalk.scenarios.formats.weathers import CLEAR_DAY_WEATHERS
from jaywalk.scenarios.formats.xml_node import Attributes, Node, attribute
from jaywalk.scenarios.toolbox._finding import OUR_TOWNS, dense_of, points_of, trigger_at
from jaywalk.scenarios.toolbox.form import FORMAT, Authored, AuthoredScenario, PlacedThing
from jaywalk.town.routes import DenseRoute

OBJECTS: Final = "objects"
OVERLAY: Final = "baseline_overlay"  # name of ``partner`` in public route files
_PARKED: Final = {"parkedvehicle": "parked"}  # the public toolbox has two words for it
_ABOUT: Final = ("vehicles", "people", "pair", "half", "shift")
_DIGITS: Final = 300  # a longer text is not a number
_WHOLE: Final = re.compile(r"^-?(0|[1-9]\d*)$")


def route_of(file: Authored) -> Route:
    """Return the route of a scenario file, with every parameter checked.

    Raises:
        DataError: A value does not fit; the message names file, scenario and field.
    """
    dense = None
    if any(authored.at_m is not None for authored in file.scenarios):
        dense = dense_of(file)
    about = {
        "vehicles": file.vehicles,
        "people": file.people,
        "pair": file.pair or None,
        "half": file.half or None,
        "shift": file.shift or None,
        **file.extra,
    }
    given = tuple((key, _as_text(value)) for key, value in about.items() if value is not None)
    route = Route(
        attributes=(("id", file.id), ("town", file.town), *given),
        keypoints=tuple(Keypoint(attributes=_named("xyz", point)) for point in points_of(file)),
        weathers=_weathers(file),
        scenarios=tuple(_spec(authored, dense) for authored in file.scenarios),
    )
    check_route(route, f"'{file.path}'")
    for authored, element in zip(file.scenarios, route.scenarios, strict=True):
        try:
            kind = check_type(element)
            check_values(authored, kind)
            read_parameters(element, kind)
        except DataError as problem:
            raise DataError(_as_fields(str(problem), authored)) from problem
    return route


def _as_fields(words: str, authored: AuthoredScenario) -> str:
    """Rewrite a message about an element of a route file for the field of a scenario file."""
    keys = [
        thing.key or letters
        for thing, letters in zip(authored.objects, letter_keys(), strict=False)
    ]

    def thing(match: re.Match[str]) -> str:
        return f"objects {keys.index(match[1]) + 1}" if match[1] in keys else match[0]

    words = re.sub(r"<objects>, ([\w.-]+)", thing, words, count=1).replace("<objects>", "objects")
    words = re.sub(r"(objects \d+): (\w+) is (?=')", r"\1, \2: is ", words, count=1)
    words = words.replace(", id: is", ", model: is").replace("as in id=", "as in ")
    return re.sub(r"<(\w+)>", r"params.\1", words, count=1)


def check_on_road(file: Authored) -> DenseRoute:
    """Return the route planned in its town; raise unless every trigger is on it."""
    route, dense = route_of(file), dense_of(file)
    for element in route.scenarios:
        left_m = float(dense.along_m[-1]) - trigger_along_m(element.trigger, dense, element.where)
        distance = element.parameters.get("distance")
        placing = SCENARIOS.get(element.type).placing
        if distance is None or placing is None or not placing.on_route:
            continue
        # The class itself would put the objects at the end of the route instead.
        if float(distance.get("value", "0") or 0.0) > left_m:
            raise DataError(
                f"{element.where}, params.distance: is {distance.get('value')}; the route ends "
                f"{left_m:.1f} m beyond the trigger."
            )
    return dense


def checked_route(file: Authored) -> Route:
    """Return the route of a scenario file; in a known town, check that it is on the road."""
    if file.town in OUR_TOWNS:
        check_on_road(file)
    return route_of(file)


def check_parameters(element: ScenarioElement) -> None:
    """Raise unless the type is known and takes these parameters."""
    read_parameters(element, check_type(element))


def check_type(element: ScenarioElement) -> type[Parameters]:
    """Return the parameters of a scenario's type; raise if the type is unknown."""
    try:
        kind: type[Parameters] = SCENARIOS.get(element.type).parameters_type
    except RegistryError as problem:
        words = str(problem).partition(" Known:")[0]  # the list is too long to read
        raise DataError(
            f"{element.where}, type: {words} 'jaywalk scenario new --list' names all."
        ) from problem
    return kind


def check_values(authored: AuthoredScenario, kind: type[Parameters]) -> None:
    """Raise unless every value has the kind of its parameter: no text for a number."""
    defaults = {item.name: item.default for item in fields(kind)}
    for key, value in authored.params.items():
        default = defaults.get(key)
        table = value if isinstance(value, Mapping) else None
        if isinstance(default, int | float):
            value, good = (table or {}).get("value", value), "a number"
            fits = isinstance(value, int | float)
        elif isinstance(default, str) and default:
            value, good = (table or {}).get("value", value), "a text"
            fits = isinstance(value, str | int | float)
        elif _are_numbers(default):
            good = "numbers, [from, to] or a table"
            values = tuple(table.values()) if table is not None else value
            fits = not isinstance(value, str) and (
                not isinstance(values, tuple) or _are_numbers(values)
            )
        else:
            continue
        if not fits:
            shown = list(value) if isinstance(value, tuple) else value
            raise DataError(f"{authored.where}, params.{key}: is {shown!r}; expected {good}.")


def _are_numbers(value: Any) -> bool:
    return (
        isinstance(value, tuple)
        and bool(value)
        and all(isinstance(entry, int | float) for entry in value)
    )


def defaults_of(kind: str) -> dict[str, Any]:
    """Return the parameters of a type that a file may set, with their defaults."""
    parameters: type[Parameters] = SCENARIOS.get(kind).parameters_type
    return {
        item.name: item.default
        for item in fields(parameters)
        if not {"internal", UNREAD} & item.metadata.keys() and item.default is not MISSING
    }


def _weathers(file: Authored) -> tuple[WeatherPoint, ...] | None:
    if file.weather is None:
        return None
    if isinstance(file.weather, str):
        if file.weather not in CLEAR_DAY_WEATHERS:
            known = ", ".join(sorted(CLEAR_DAY_WEATHERS))
            raise DataError(f"'{file.path}', weather: is '{file.weather}'; known: {known}.")
        values = CLEAR_DAY_WEATHERS[file.weather]
        return tuple(
            WeatherPoint(attributes=_attributes({"route_percentage": share, **values}))
            for share in (0.0, 100.0)
        )
    return tuple(WeatherPoint(attributes=_attributes(point)) for point in file.weather)


def _spec(authored: AuthoredScenario, dense: DenseRoute | None) -> ScenarioElement:
    if authored.trigger is not None:
        x_m, y_m, z_m, yaw_deg = authored.trigger
        trigger = TriggerPoint(x_m=x_m, y_m=y_m, z_m=z_m, yaw_deg=yaw_deg)
    else:
        assert dense is not None
        assert authored.at_m is not None
        trigger = trigger_at(dense, authored.at_m, authored.where)
    place = {"x": trigger.x_m, "y": trigger.y_m, "z": trigger.z_m, "yaw": trigger.yaw_deg}
    elements = [Node("trigger_point", _attributes(place))]
    elements += [Node("other_actor", _attributes(actor)) for actor in authored.other_actors]
    elements += [_parameter(tag, value) for tag, value in authored.params.items()]
    if OVERLAY in authored.params:
        raise DataError(
            f"{authored.where}, params.{OVERLAY}: expected as 'partner' of the scenario."
        )
    in_element = bool(authored.partner) and _names_partner(authored.type)
    if in_element:
        elements.append(_parameter(OVERLAY, authored.partner))
    if authored.objects:
        if OBJECTS in authored.params:
            raise DataError(f"{authored.where}, params.objects: given twice, also as tables.")
        things = tuple(_object_attributes(authored.objects))
        keys = [key for key, _ in things]
        if len(set(keys)) < len(keys):
            raise DataError(
                f"{authored.where}, objects: two have the same key ({', '.join(keys)})."
            )
        elements.append(Node(OBJECTS, things))
    named = (("name", authored.name), ("type", authored.type))
    partner = (("partner", authored.partner),) if authored.partner and not in_element else ()
    return ScenarioElement(
        attributes=(*named, *partner), elements=tuple(elements), where=authored.where
    )


def _names_partner(kind: str) -> bool:
    """Return True if a file of this type may name the partner that it is compared with."""
    return kind in SCENARIOS and bool(SCENARIOS.get(kind).partners)


def _parameter(tag: str, value: Any) -> Node:
    if isinstance(value, tuple):
        return Node(tag, (("from", _as_text(value[0])), ("to", _as_text(value[1]))))
    if isinstance(value, Mapping):
        return Node(tag, _attributes(value))
    return Node(tag, (("value", _as_text(value)),))


def _object_attributes(things: tuple[PlacedThing, ...]) -> Iterator[tuple[str, str]]:
    for thing, letters in zip(things, letter_keys(), strict=False):
        numbers = [f"{key}={_as_text(value)}" for key, value in thing.numbers.items()]
        yield thing.key or letters, " ".join([f"id={thing.model}", *numbers])


def letter_keys() -> Iterator[str]:
    """Yield a, b, ..., z, aa, ab, ...: names of objects in a route file."""
    alphabet = "abcdefghijklmnopqrstuvwxyz"
    for number in count():
        word, rest = alphabet[number % 26], number // 26
        while rest:
            word, rest = alphabet[(rest - 1) % 26] + word, (rest - 1) // 26
        yield word


def _attributes(values: Mapping[str, Any]) -> Attributes:
    return tuple((key, _as_text(value)) for key, value in values.items())


def _named(names: str, values: tuple[float, ...]) -> Attributes:
    return tuple((key, _as_text(value)) for key, value in zip(names, values, strict=True))


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else repr(value)


# -- from a route file -------------------------------------------------------------------------


def document_of(route: Route, name: str) -> dict[str, Any]:
    """Return the plain values of a scenario file with all facts of a route.

    Raises:
        DataError: The route has elements that a scenario file cannot hold.
    """
    where = f"route {route.id}"
    unknown = [*(node.tag for node in route.others), *(node.tag for _, node in route.strangers)]
    if unknown:
        raise DataError(f"{where}: <{unknown[0]}> cannot be kept in a scenario file.")
    document: dict[str, Any] = {"format": FORMAT, "name": name}
    if route.id != name:
        document["id"] = route.id
    document["town"] = route.town
    extra = {}
    for key, text in route.attributes:
        if key in _ABOUT:
            document[key] = _number(text) if key in ("vehicles", "people") else text
        elif key not in ("id", "town"):
            extra[key] = text
    document["route"] = {"points": [_position(point) for point in route.keypoints]}
    if route.weathers is not None:
        document["weather"] = [
            {key: _number(text) for key, text in weather.attributes} for weather in route.weathers
        ]
    if route.scenarios:
        document["scenario"] = [_scenario_table(element) for element in route.scenarios]
    return document | ({"extra": extra} if extra else {})


def _position(point: Keypoint) -> list[float]:
    odd = [key for key, _ in point.attributes if key not in "xyz"]
    if odd:
        raise DataError(f"A keypoint has '{odd[0]}', which a scenario file cannot keep.")
    return [_number(attribute(point.attributes, key) or "") for key in "xyz"]


def _scenario_table(element: ScenarioElement) -> dict[str, Any]:
    trigger = next(node for node in element.elements if node.tag == "trigger_point")
    table: dict[str, Any] = {"name": element.name, "type": element.type}
    table["trigger"] = [_number(trigger.get(key) or "") for key in ("x", "y", "z", "yaw")]
    for key, text in element.attributes:
        if key == "partner":
            table[key] = text
        elif key not in ("name", "type"):
            raise DataError(
                f"{element.where}: attribute '{key}' cannot be kept in a scenario file."
            )
    try:
        defaults = defaults_of(element.type)
    except RegistryError:
        defaults = {}
    params: dict[str, Any] = {}
    actors: list[dict[str, str]] = []
    for node in element.elements:
        if node is trigger:
            continue
        if node.tag == "trigger_point" or node.children:
            what = "a second trigger" if node.tag == "trigger_point" else "a nested element"
            raise DataError(f"{element.where}, <{node.tag}>: {what} cannot be kept.")
        if node.tag == "other_actor":
            actors.append(dict(node.attributes))
        elif node.tag == OBJECTS and _are_objects(node):
            table[OBJECTS] = _object_tables(node)
        elif node.tag == OVERLAY and _names_partner(element.type):
            table["partner"] = _partner(node, element)
        else:
            params[node.tag] = _value(node, defaults.get(node.tag))
    return table | ({"other_actors": actors} if actors else {}) | {"params": params}


def _partner(node: Node, element: ScenarioElement) -> str:
    where, text = f"{element.where}, <{OVERLAY}>", node.get("value")
    if text is None:
        raise DataError(f"{where}: attribute 'value' is missing.")
    partner = _PARKED.get(text, text)
    if partner not in PARTNER_WORDS:
        expected = ", ".join((*PARTNER_WORDS, *_PARKED))
        raise DataError(f"{where}: value is '{text}'; expected one of {expected}.")
    also = attribute(element.attributes, "partner")
    if also not in (None, partner):
        raise DataError(f"{where}: value is '{text}'; attribute 'partner' says '{also}'.")
    return partner


def _value(node: Node, default: Any) -> Any:
    keys = [key for key, _ in node.attributes]
    if keys == ["value"]:
        text = node.attributes[0][1]
        # A text stays a text: "0000111" means seven switches, not a number.
        if isinstance(default, str):
            return text
        return _number(text.lstrip("0") or text if isinstance(default, float) else text)
    if sorted(keys) == ["from", "to"]:
        ends = [_number(node.get(key) or "") for key in ("from", "to")]
        if not any(isinstance(end, str) for end in ends):
            return ends
    if _are_numbers(default):
        return {key: _number(text) for key, text in node.attributes}
    return dict(node.attributes)


def _number(text: str) -> Any:
    """Return the number that a text represents, or the text."""
    if _WHOLE.match(text) and len(text) < _DIGITS:
        return int(text)
    try:
        value = float(text)
    except ValueError:
        return text
    return value if math.isfinite(value) and not re.match(r"^-?0\d", text) else text


def _are_objects(node: Node) -> bool:
    return all(re.match(r"^id=\S+(\s+\w+=\S+)*\s*$", text) for _, text in node.attributes)


def _object_tables(node: Node) -> list[dict[str, Any]]:
    tables = []
    for (key, text), letters in zip(node.attributes, letter_keys(), strict=False):
        parts = dict(part.split("=", 1) for part in text.split())
        table: dict[str, Any] = {"model": parts.pop("id")}
        table |= {name: _number(value) for name, value in parts.items()}
        tables.append(table | ({"key": key} if key != letters else {}))
    return tables


def name_of(path: Path, route: Route, alone: bool) -> str:
    """Return the name of the scenario file for a route of a route file."""
    plain = "".join(k if k.isalnum() or k in "-_." else "_" for k in route.id)
    return path.stem if alone else f"{path.stem}-{plain}"
