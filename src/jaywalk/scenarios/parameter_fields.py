"""Fields of scenario parameters with their checks, for more than plain numbers and texts."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from jaywalk.actors.posed.performers import split_clip
from jaywalk.core.errors import DataError
from jaywalk.scenarios.base import READER, REQUIRED, UNREAD
from jaywalk.scenarios.formats.xml_node import Node, number

# Fields of an object and their largest absolute values, in metres and degrees.
_OBJECT_KEYS: Final = {
    "x": 2000.0,
    "y": 200.0,
    "z": 100.0,
    "yaw": 360.0,
    "pitch": 360.0,
    "roll": 360.0,
}
MOST_OBJECTS: Final = 200
_MOST: Final = 2000.0  # bound of numbers without another bound
_FARTHEST_M: Final = 2000.0  # largest distance from the trigger
_FARTHEST_ASIDE_M: Final = 50.0
_STEEPEST_DEG: Final = 89.0  # largest angle of a path across a road
NOWHERE: Final = (math.nan, math.nan, math.nan)  # value of a place before it is given


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedObject:
    """An object relative to an anchor: metres forward, right and up, degrees."""

    id: str  # blueprint
    x: float = 0.0
    y: float = 0.0
    z: float = 0.0
    yaw: float = 0.0
    pitch: float = 0.0
    roll: float = 0.0


def one_of(default: str, *choices: str) -> Any:
    """Field for one of several texts."""
    return field(default=default, metadata={READER: _choice((default, *choices))})


def side(default: str = "right") -> Any:
    """Field for ``right`` or ``left``."""
    return one_of(default, *({"right", "left"} - {default}))


def within(default: float, low: float, high: float = _MOST) -> Any:
    """Field for a number between two bounds, both included."""

    def read(node: Node, where: str) -> float:
        text = _value(node, where)
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if not low <= number <= high:
            raise DataError(f"{where}: value is '{text}'; expected a number, {low:g} to {high:g}.")
        return number

    return field(default=default, metadata={READER: read})


def ahead(default: float) -> Any:
    """Field for a distance ahead in metres, usually from the trigger."""
    return within(default, 0.0, _FARTHEST_M)


def offset(default: float = 0.0) -> Any:
    """Field for a displacement in metres, positive or negative."""
    return within(default, -_FARTHEST_ASIDE_M, _FARTHEST_ASIDE_M)


def crossing_angle() -> Any:
    """Field for the angle in degrees between a person's path and the shortest one across."""
    return within(0.0, -_STEEPEST_DEG, _STEEPEST_DEG)


def whole(default: int, low: int, high: int) -> Any:
    """Field for a whole number between two bounds, both included."""

    def read(node: Node, where: str) -> int:
        text = _value(node, where)
        if not text.isdecimal() or len(text) > 9 or not low <= int(text) <= high:
            raise DataError(
                f"{where}: value is '{text}'; expected a whole number, {low} to {high}."
            )
        return int(text)

    return field(default=default, metadata={READER: read})


def switches(default: str) -> Any:
    """Field for a text of zeros and ones, as long as the default."""

    def read(node: Node, where: str) -> str:
        text = _value(node, where)
        if len(text) != len(default) or set(text) - {"0", "1"}:
            raise DataError(f"{where}: value is '{text}'; expected {len(default)} of 0 and 1.")
        return text

    return field(default=default, metadata={READER: read})


def model(default: str, *families: str) -> Any:
    """Field for a blueprint id or pattern of some families; ``none`` if it is one of them."""

    def read(node: Node, where: str) -> str:
        text = _value(node, where)
        if text != default and not any(text.startswith(family) for family in families):
            raise DataError(
                f"{where}: value is '{text}'; expected a blueprint ({', '.join(families)})."
            )
        return text

    return field(default=default, metadata={READER: read})


def place() -> Any:
    """Field for a place in the town, ``x``, ``y`` and ``z``, without a default."""

    def read(node: Node, where: str) -> tuple[float, float, float]:
        x_m, y_m = (number(node.attributes, key, where) for key in ("x", "y"))
        z_m = number(node.attributes, "z", where) if node.get("z") is not None else 0.0
        return x_m, y_m, z_m

    return field(default=NOWHERE, metadata={READER: read, REQUIRED: "a place with x, y and z"})


def interval(low_default: float, high_default: float, low: float = 0.0) -> Any:
    """Field for two numbers, ``from`` and ``to``, in this order and neither below ``low``."""

    def read(node: Node, where: str) -> tuple[float, float]:
        first, last = (number(node.attributes, end, where) for end in ("from", "to"))
        if not low <= first <= last:
            raise DataError(
                f"{where}: from {first:g} to {last:g}; expected from <= to, at least {low:g}."
            )
        return first, last

    return field(default=(low_default, high_default), metadata={READER: read})


def interval_or_value(default: float, low: float = 0.0) -> Any:
    """Field for ``from`` and ``to``, or one ``value`` for both."""

    def read(node: Node, where: str) -> tuple[float, float]:
        alone = node.get("value") is not None
        ends = ("value", "value") if alone else ("from", "to")
        first, last = (number(node.attributes, end, where) for end in ends)
        if not low <= first <= last:
            raise DataError(
                f"{where}: from {first:g} to {last:g}; expected from <= to, at least {low:g}."
            )
        return first, last

    return field(default=(default, default), metadata={READER: read})


def ignored() -> Any:
    """Field for an element of public files that the public class does not read."""
    return field(default="", metadata={READER: lambda node, where: ""})


def unread_choice(*choices: str) -> Any:
    """Field for a text that public tools write and public classes do not read; "" if missing."""
    return field(default="", metadata={READER: _choice(choices), UNREAD: True})


def objects() -> Any:
    """Field for objects, one per attribute: ``a="id=static.prop.barrel x=1 yaw=90"``."""

    def read(node: Node, where: str) -> tuple[PlacedObject, ...]:
        if not node.attributes or len(node.attributes) > MOST_OBJECTS:
            raise DataError(f"{where}: {len(node.attributes)} objects; expected 1 to 200.")
        return tuple(parse_object(text, f"{where}, {key}") for key, text in node.attributes)

    return field(default=(), metadata={READER: read, REQUIRED: "one or more things"})


def parse_object(text: str, where: str) -> PlacedObject:
    """Parse one object from an attribute's text."""
    name, numbers = "", {}
    for part in text.split():
        key, equals, value = part.partition("=")
        if not equals or key not in ("id", *_OBJECT_KEYS):
            expected = ", ".join(("id", *_OBJECT_KEYS))
            raise DataError(f"{where}: '{part}' is not KEY=VALUE with one of {expected}.")
        if key in numbers or (key == "id" and name):
            raise DataError(f"{where}: {key} is given twice; expected once.")
        if key == "id":
            name = value
            continue
        try:
            numbers[key] = float(value)
        except ValueError:
            numbers[key] = math.nan
        most = _OBJECT_KEYS[key]
        if not -most <= numbers[key] <= most:
            raise DataError(
                f"{where}: {key} is '{value}'; expected a finite number, -{most:g} to {most:g}."
            )
    if not name.startswith(("static.prop.", "vehicle.", "walker.")):
        raise DataError(f"{where}: id is '{name}'; expected a blueprint, as in id=static.prop.bin.")
    return PlacedObject(id=name, **numbers)


def format_object(thing: PlacedObject) -> str:
    """Format an object as an attribute's text; zeros are left out."""
    parts = [f"{key}={getattr(thing, key):g}" for key in _OBJECT_KEYS if getattr(thing, key)]
    return " ".join([f"id={thing.id}", *parts])


def clip() -> Any:
    """Field for a clip of a motion library, ``LIBRARY/CLIP``; "" for none."""

    def read(node: Node, where: str) -> str:
        text = _value(node, where)
        split_clip(text, where)
        return text

    return field(default="", metadata={READER: read})


def people(most: int) -> Any:
    """Field for blueprints of people, one per attribute; ``value`` alone: how many to draw."""

    def read(node: Node, where: str) -> tuple[str, ...]:
        text = node.get("value")
        if text is not None:
            if not text.isdecimal() or len(text) > 9 or not 1 <= int(text) <= most:
                raise DataError(f"{where}: value is '{text}'; expected 1 to {most}.")
            return ("walker.pedestrian.*",) * int(text)
        names = tuple(value for _, value in node.attributes)
        if not 1 <= len(names) <= most:
            raise DataError(f"{where}: {len(names)} people; expected 1 to {most}.")
        for key, name in node.attributes:
            if not name.startswith("walker."):
                raise DataError(f"{where}: {key} is '{name}'; expected a blueprint walker.*.")
        return names

    return field(default=("walker.pedestrian.*",), metadata={READER: read})


Reader = Callable[[Node, str], Any]


def _choice(choices: tuple[str, ...]) -> Reader:
    def read(node: Node, where: str) -> str:
        text = _value(node, where)
        if text not in choices:
            expected = ", ".join(choices)
            raise DataError(f"{where}: value is '{text}'; expected one of {expected}.")
        return text

    return read


def _value(node: Node, where: str) -> str:
    text = node.get("value")
    if text is None:
        raise DataError(f"{where}: attribute 'value' is missing.")
    return text
