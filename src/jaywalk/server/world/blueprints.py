"""The blueprint library: every actor that a client may spawn, in the simulator's order.

The order matters. The client keeps the library in a hash map whose iteration order depends on the
order of arrival, and programs pick "a random car" by index with a fixed seed. CARLA registers one
factory after the other: vehicles, sensors, pedestrians, props, then the walker controller, the
friction trigger, the mesh and the empty actor.

The order inside the factories is not published, but it can be recovered from printed libraries.
Replaying the client's hash map over the order used here reproduces, entry for entry, a full print
of 0.9.13 (195 ids), the 41 vehicles of a 0.9.15 filter and the 95 props of a 0.9.15 filter. Where
the prints allow several orders, the order is nearly alphabetical. The place of the three trees of
0.9.16 is a guess.

Sources: CARLA's blueprint page, its catalogues and its definition code for attributes; Scenic's and
Fail2Drive's tables for ids and sizes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final, get_args

from jaywalk.core.carla_enums import AttributeType
from jaywalk.core.errors import UsageError
from jaywalk.server.world import _wheelchair
from jaywalk.server.world._blueprint_types import Attribute, Blueprint, BodyShape, Dialect
from jaywalk.server.world._prop_blueprints import (
    mesh_body,
    novel_prop_blueprints,
    other_blueprints,
    prop_blueprints,
)
from jaywalk.server.world._tables import Kind
from jaywalk.server.world._vehicle_blueprints import vehicle_blueprints
from jaywalk.server.world.walker_blueprints import animal_blueprints, walker_blueprints

INVALID_DESCRIPTION: Final = "Spawn failed because of invalid actor description"
_COLOUR_CHANNELS: Final = 3


@cache
def library(dialect: Dialect, *, novel: bool = True) -> tuple[Blueprint, ...]:
    """Return all blueprints except sensors, in registration order.

    Args:
        dialect: Which simulator to be.
        novel: With the 30 assets of Fail2Drive. Without them the client iterates in exactly the
            order of the stock simulator.

    Returns:
        The blueprints; their uid on the wire is their place after `merge`, counted from 1.

    Raises:
        UsageError: The dialect is unknown.
    """
    if dialect not in get_args(Dialect):
        raise UsageError(f"dialect is {dialect!r}, expected one of {get_args(Dialect)}")
    return (
        *vehicle_blueprints(dialect),
        *walker_blueprints(dialect),
        *(animal_blueprints(dialect) if novel else ()),
        *prop_blueprints(dialect),
        *(novel_prop_blueprints(dialect) if novel else ()),
        *other_blueprints(dialect),
    )


def merge(blueprints: Sequence[Blueprint], sensors: Sequence[Blueprint]) -> tuple[Blueprint, ...]:
    """Insert the sensors after the vehicles, where the simulator registers them.

    Raises:
        UsageError: An id occurs twice.
    """
    vehicles = [item for item in blueprints if item.kind is Kind.VEHICLE]
    rest = [item for item in blueprints if item.kind is not Kind.VEHICLE]
    merged = (*vehicles, *sensors, *rest)
    seen: set[str] = set()
    for item in merged:
        if item.id in seen:
            raise UsageError(f"blueprint {item.id} is defined twice; give each id once")
        seen.add(item.id)
    return merged


def find(blueprint_id: str, blueprints: Sequence[Blueprint] | None = None) -> Blueprint:
    """Return the blueprint with an id.

    Args:
        blueprint_id: E.g. "vehicle.lincoln.mkz_2020".
        blueprints: Where to look; the full library of 0.9.16 if not given.

    Raises:
        UsageError: There is none; the text is the one the simulator answers.
    """
    for item in blueprints if blueprints is not None else library("0.9.16"):
        if item.id == blueprint_id:
            return item
    raise UsageError(INVALID_DESCRIPTION)


def validate_spawn(blueprint: Blueprint, attributes: Mapping[str, str]) -> dict[str, str]:
    """Check the attributes that a client sends with a spawn, and complete them.

    Args:
        blueprint: Blueprint of the new actor.
        attributes: Values by attribute id; missing ones take their default.

    Returns:
        A value for every attribute of the blueprint, in the blueprint's order. Whole numbers lose
        the ".0" that scripts put on them, booleans are lower case.

    Raises:
        UsageError: A name or a value does not fit; the text begins like the simulator's.
    """
    known = {item.id: item for item in blueprint.attributes}
    for name in attributes:
        if name not in known:
            raise UsageError(
                f"{INVALID_DESCRIPTION}: {blueprint.id} has no attribute {name!r}, "
                f"expected one of {', '.join(known)}"
            )
    return {
        name: _checked(blueprint, item, attributes[name]) if name in attributes else item.default
        for name, item in known.items()
    }


def spawn_body(blueprint: Blueprint, values: Mapping[str, str]) -> BodyShape:
    """Return the body of an actor spawned with these (validated) values.

    `static.prop.mesh` depends on its path, scale and mass, and a walker on its wheelchair.
    """
    if values.get(_wheelchair.ATTRIBUTE) == "true":
        return _wheelchair.BODY
    if blueprint.id != "static.prop.mesh":
        return blueprint.body
    scale = parse_float(values.get("scale", "") or "1.0")
    mass_kg = parse_float(values.get("mass", "") or "0.0")
    return mesh_body(values.get("mesh_path", ""), scale, mass_kg)


def parse_float(text: str) -> float:
    """Read a float attribute, with or without the "f" at the end of some defaults.

    Raises:
        ValueError: The text is not a finite number.
    """
    value = float(text.strip().removesuffix("f"))
    if not math.isfinite(value):
        raise ValueError(f"{text!r} is not finite")
    return value


def _checked(blueprint: Blueprint, item: Attribute, value: str) -> str:
    normal = _normal(item, value)
    if normal is None:
        raise UsageError(
            f"{INVALID_DESCRIPTION}: {blueprint.id} attribute {item.id} is {value!r}, "
            f"expected {_EXPECTED[item.type]}"
        )
    if not item.modifiable and normal != item.default:
        raise UsageError(
            f"{INVALID_DESCRIPTION}: {blueprint.id} attribute {item.id} is {value!r}, "
            f"expected {item.default!r}: it cannot be changed"
        )
    if item.restricted and normal not in item.recommended:
        # CARLA's scripts switch wheelchairs on for all walkers; the simulator accepts that.
        if item.type is AttributeType.BOOL:
            return item.default
        raise UsageError(
            f"{INVALID_DESCRIPTION}: {blueprint.id} attribute {item.id} is {value!r}, "
            f"expected one of {', '.join(item.recommended)}"
        )
    return normal


_EXPECTED: Final = {
    AttributeType.BOOL: "true or false",
    AttributeType.INT: "a whole number",
    AttributeType.FLOAT: "a number",
    AttributeType.STRING: "a text",
    AttributeType.COLOR: 'three numbers from 0 to 255 like "255,0,0"',
}


def _normal(item: Attribute, value: str) -> str | None:
    """Return the value in its normal spelling, or None if it does not fit the type."""
    if item.type is AttributeType.STRING or value == item.default:
        return value
    if item.type is AttributeType.BOOL:
        word = value.strip().lower()
        return {"1": "true", "0": "false"}.get(word, word if word in ("true", "false") else None)
    if item.type is AttributeType.COLOR:
        return _normal_colour(value)
    try:
        number = parse_float(value)
    except ValueError:
        return None
    if item.type is AttributeType.FLOAT:
        return value.strip()
    return str(int(number)) if number.is_integer() else None


def _normal_colour(value: str) -> str | None:
    parts = [part.strip() for part in value.split(",")]
    if len(parts) != _COLOUR_CHANNELS or not all(part.isdecimal() for part in parts):
        return None
    channels = [int(part) for part in parts]
    return ",".join(map(str, channels)) if max(channels) <= 255 else None
