"""Types of blueprints, attributes and bodies, and the attributes that all actors share.

The order of attributes follows CARLA: first those that can be modified, then fixed ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from jaywalk.core.carla_enums import AttributeType
from jaywalk.server.world._tables import Kind

Dialect = Literal["0.9.15", "0.9.16"]
Vector3 = tuple[float, float, float]

# A prop lower than this is debris: cars drive over it instead of hitting it.
FLAT_PROP_HEIGHT_M: Final = 0.24


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribute:
    """One attribute of a blueprint. Values are strings, as on the wire."""

    id: str
    type: AttributeType
    default: str
    recommended: tuple[str, ...] = ()
    modifiable: bool = True
    restricted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BodyShape:
    """The box of an actor in its own frame, its mass and how cameras label it."""

    half_extents_m: Vector3
    centre_m: Vector3
    mass_kg: float
    labels: tuple[int, ...]

    @property
    def label(self) -> int:
        """The first semantic label, the one that pixels and points get."""
        return self.labels[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Blueprint:
    """One entry of the library."""

    id: str
    kind: Kind
    attributes: tuple[Attribute, ...]
    body: BodyShape
    only_0_9_16: bool = False
    novel: bool = False  # not part of the simulator: an asset that Fail2Drive added

    @property
    def tags(self) -> str:
        """The comma-separated tags: the id split at its dots."""
        return ",".join(self.id.split("."))

    @property
    def is_flat(self) -> bool:
        """True for props that a car drives over (debris, tiles, stickers)."""
        return self.kind is Kind.PROP and 2.0 * self.body.half_extents_m[2] < FLAT_PROP_HEIGHT_M

    def attribute(self, name: str) -> Attribute | None:
        """Return the attribute with a name, or None if the blueprint has none."""
        return next((item for item in self.attributes if item.id == name), None)

    def value(self, name: str) -> str:
        """Return the default value of an attribute, or "" if the blueprint does not have it."""
        attribute = self.attribute(name)
        return attribute.default if attribute is not None else ""


def variation(
    name: str, kind: AttributeType, *recommended: str, restricted: bool = False
) -> Attribute:
    """Create a modifiable attribute; its default is the first recommended value."""
    return Attribute(
        id=name, type=kind, default=recommended[0], recommended=recommended, restricted=restricted
    )


def fixed(name: str, kind: AttributeType, value: str) -> Attribute:
    """Create an attribute that clients may read and filter by but not set."""
    return Attribute(id=name, type=kind, default=value, modifiable=False)


def common_attributes(
    blueprint_id: str, dialect: Dialect, role_names: tuple[str, ...] = ("default",)
) -> tuple[Attribute, ...]:
    """Return the first attributes of every actor: role name and the ROS names.

    0.9.15 has `ros_name` with the id as default; the source that 0.9.16 was built from has an
    empty one plus a frame id and a switch for the transform.
    """
    role = variation("role_name", AttributeType.STRING, *role_names)
    if dialect == "0.9.15":
        return (role, variation("ros_name", AttributeType.STRING, blueprint_id))
    return (
        role,
        variation("ros_name", AttributeType.STRING, ""),
        variation("ros_frame_id", AttributeType.STRING, ""),
        variation("ros_publish_tf", AttributeType.BOOL, "true"),
    )


def flag(value: bool) -> str:
    """Return a boolean in the spelling of attributes."""
    return "true" if value else "false"
