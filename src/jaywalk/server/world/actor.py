"""What the world knows of an actor beyond its row in the actor table."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from jaywalk.server.world.tables import Kind


class SpawnError(Exception):
    """An actor cannot be created; the text is what CARLA says."""


# CARLA's gains: speed kp, ki, kd, acceleration kp, ki, kd.
DEFAULT_ACKERMANN_GAINS = (0.15, 0.0, 0.25, 0.01, 0.0, 0.01)


@dataclass(slots=True, kw_only=True, eq=False)
class Actor:
    """Identity and static properties; everything that moves lives in the actor table."""

    id: int
    row: int
    kind: Kind
    type_id: str
    uid: int = 0
    attributes: dict[str, tuple[int, str]] = field(default_factory=dict)  # id -> (type, value)
    parent_id: int = 0
    box_centre: tuple[float, float, float] = (0.0, 0.0, 0.0)
    box_extent: tuple[float, float, float] = (0.0, 0.0, 0.0)
    label: int = 0
    color: tuple[int, int, int] = (128, 128, 128)
    stream_id: int = 0  # 0: no stream
    box_body: bytes | None = None  # encoded answer of get_actor_bounding_box
    ackermann_gains: tuple[float, ...] = DEFAULT_ACKERMANN_GAINS
    physics: Any = None  # VehiclePhysics once somebody asked for it
    wheel_angles_deg: dict[int, float] = field(default_factory=dict)
    wheel_pitches_deg: dict[int, float] = field(default_factory=dict)

    def value(self, attribute: str, default: str = "") -> str:
        """Value of an attribute."""
        found = self.attributes.get(attribute)
        return default if found is None else found[1]
