"""Dialects, response wrappers, and values that are both encoded and decoded.

Decoders check all input: every number must be finite (a NaN brake is the only exception). Any
other value raises :class:`WireError`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from jaywalk.core.errors import UsageError
from jaywalk.core.text import short_repr, shortened


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """Differences between the protocols of the ``carla`` wheels, as data."""

    version: str
    snapshot_type: int  # sensor-type number of the world snapshot
    attribute_shift: int  # added to our attribute-type numbers (bool 1 ... colour 5)
    has_newer_sensors: bool  # cosmos and v2x blueprints exist
    gnss_north_is_minus_y: bool


CARLA_0_9_16: Final = Dialect(
    version="0.9.16",
    snapshot_type=17,
    attribute_shift=0,
    has_newer_sensors=True,
    gnss_north_is_minus_y=False,
)
CARLA_0_9_15: Final = Dialect(
    version="0.9.15",
    snapshot_type=16,
    attribute_shift=-1,
    has_newer_sensors=False,
    gnss_north_is_minus_y=True,
)
DIALECTS: Final = {dialect.version: dialect for dialect in (CARLA_0_9_16, CARLA_0_9_15)}


def dialect_of(version: str) -> Dialect:
    """Return the dialect of a version string."""
    if version in DIALECTS:
        return DIALECTS[version]
    raise UsageError(
        f"CARLA version '{version}' is not supported. Choose one of: {', '.join(DIALECTS)}."
    )


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
    """Return a finite number, or raise :class:`WireError`."""
    if isinstance(value, float):
        if math.isfinite(value):
            return value
    elif isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    raise WireError(f"expected a finite number, got {short_repr(value)}")


def integer(value: Any) -> int:
    """Return a whole number, or raise :class:`WireError`."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise WireError(f"expected an integer, got {short_repr(value)}")


def boolean(value: Any) -> bool:
    """Return a boolean, or raise :class:`WireError`."""
    if isinstance(value, bool):
        return value
    raise WireError(f"expected a boolean, got {short_repr(value)}")


def text(value: Any, at_most: int = TEXT_LIMIT) -> str:
    """Return a string after checking its maximum length in characters."""
    if isinstance(value, str):
        if len(value) > at_most:
            raise WireError(f"a text has {len(value)} characters, at most {at_most} are taken")
        return value
    raise WireError(f"expected a string, got {short_repr(value)}")


def array(value: Any, at_least: int = 0, at_most: int = ARRAY_LIMIT) -> Sequence[Any]:
    """Return a list after checking its minimum and maximum number of elements."""
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
    """Decode a location in metres and a rotation (pitch, yaw, roll) in degrees."""
    items = array(value, 2)
    return vector(items[0]), vector(items[1])


def optional(value: Any) -> Any:
    """Return the value of an ``optional<T>``, or None."""
    items = array(value, 1)
    return items[1] if items[0] is True and len(items) > 1 else None


def encode_transform(pose: Transform) -> list[Any]:
    """Encode a transform as nested lists."""
    return [list(pose[0]), list(pose[1])]


def encode_box(centre: Sequence[float], extent: Sequence[float], actor_id: int) -> list[Any]:
    """Encode a bounding box: centre, half extents, rotation, owner."""
    return [list(centre), list(extent), [0.0, 0.0, 0.0], actor_id]
