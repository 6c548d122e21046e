"""Values on the wire: Response wrappers and the structs that travel in both directions.

Decoding trusts nobody: every number is checked to be a finite number (a NaN brake is the one
exception) and everything else raises :class:`WireError`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

from jaywalk.core.printable import short_repr, shortened

Vector = tuple[float, float, float]
Transform = tuple[Vector, Vector]  # (x, y, z) metres, (pitch, yaw, roll) degrees


class WireError(Exception):
    """A request that cannot be carried out; its text travels back to the client."""


TEXT_LIMIT: Final = 4096  # characters of a name, a type or an attribute
ARRAY_LIMIT: Final = 100_000
VOID_OK: list[Any] = [[False]]


def ok(value: Any) -> list[Any]:
    """Response of a method that returns something."""
    return [[1, value]]


def failed(message: str) -> list[Any]:
    """Error response of a method that returns something."""
    return [[0, [shortened(message)]]]


def void_failed(message: str) -> list[Any]:
    """Error response of a method that returns nothing."""
    return [[True, [shortened(message)]]]


def number(value: Any) -> float:
    """A finite number."""
    if isinstance(value, float):
        if math.isfinite(value):
            return value
    elif isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    raise WireError(f"expected a finite number, got {short_repr(value)}")


def integer(value: Any) -> int:
    """A whole number."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise WireError(f"expected an integer, got {short_repr(value)}")


def boolean(value: Any) -> bool:
    """A truth value."""
    if isinstance(value, bool):
        return value
    raise WireError(f"expected a boolean, got {short_repr(value)}")


def text(value: Any, at_most: int = TEXT_LIMIT) -> str:
    """A string of at most so many characters."""
    if isinstance(value, str):
        if len(value) > at_most:
            raise WireError(f"a text has {len(value)} characters, at most {at_most} are taken")
        return value
    raise WireError(f"expected a string, got {short_repr(value)}")


def array(value: Any, at_least: int = 0, at_most: int = ARRAY_LIMIT) -> Sequence[Any]:
    """A list with at least and at most so many elements."""
    if isinstance(value, list | tuple) and len(value) >= at_least:
        if len(value) > at_most:
            raise WireError(f"a list has {len(value)} elements, at most {at_most} are taken")
        return value
    raise WireError(f"expected a list of at least {at_least} elements, got {type(value).__name__}")


# Far outside any town, and small enough that squares and products stay exact enough.
_FAR = 1e7


def vector(value: Any) -> Vector:
    """Three finite numbers of sane size."""
    items = array(value, 3)
    x, y, z = number(items[0]), number(items[1]), number(items[2])
    if abs(x) > _FAR or abs(y) > _FAR or abs(z) > _FAR:
        raise WireError(f"vector ({x:g}, {y:g}, {z:g}) is out of range")
    return x, y, z


def transform(value: Any) -> Transform:
    """A location in metres and a rotation (pitch, yaw, roll) in degrees."""
    items = array(value, 2)
    return vector(items[0]), vector(items[1])


def optional(value: Any) -> Any:
    """The value of an ``optional<T>``, or None."""
    items = array(value, 1)
    return items[1] if items[0] is True and len(items) > 1 else None


def encode_transform(pose: Transform) -> list[Any]:
    """A transform as nested lists."""
    return [list(pose[0]), list(pose[1])]


def encode_box(centre: Sequence[float], extent: Sequence[float], actor_id: int) -> list[Any]:
    """A bounding box: centre, half extents, rotation, owner."""
    return [list(centre), list(extent), [0.0, 0.0, 0.0], actor_id]
