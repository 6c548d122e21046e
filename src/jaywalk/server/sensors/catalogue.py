"""Registry of sensors, and the attributes that their blueprints share.

A sensor class registers itself with the decorator :func:`sensor`, which states its id, attributes
and stage. Attributes, types, defaults and choices are those of CARLA 0.9.16. The default of an
attribute is its first recommended value, as in the real library.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, Final, TypeVar

from jaywalk.core.carla_enums import AttributeType
from jaywalk.core.errors import UsageError
from jaywalk.core.registry import Registry, Spec

if TYPE_CHECKING:
    from jaywalk.server.sensors._base import Sensor

SensorT = TypeVar("SensorT", bound="type[Sensor]")

_AFTER_CARLA: Final = 1000


class SensorStage(Enum):
    """Part of a tick in which a sensor measures.

    Prompt sensors cost little and send their frames before the tick is answered, so that a program
    that looks after its tick finds them. Late sensors (cameras, scans) measure after the answer:
    the program continues while they are drawn.
    """

    PROMPT = "prompt"
    LATE = "late"
    CLIENT = "client"  # computed by the client itself; has no stream


@dataclass(frozen=True, slots=True, kw_only=True)
class SensorAttribute:
    """One attribute of a sensor blueprint."""

    id: str
    type: AttributeType
    recommended: tuple[str, ...]
    restricted: bool = False  # only recommended values are allowed

    @property
    def default(self) -> str:
        """Value of a fresh blueprint."""
        return self.recommended[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class SensorSpec(Spec):
    """Facts about a sensor; the name is its blueprint id.

    Attributes:
        attributes: Attributes in the order of CARLA's library.
        stage: Time within a tick at which the sensor measures.
        order: Position in CARLA's library; clients see the blueprints in this order.
        only_0916: True if 0.9.15 clients do not know it; their library leaves it out.
    """

    attributes: tuple[SensorAttribute, ...]
    stage: SensorStage
    order: int = _AFTER_CARLA
    only_0916: bool = False

    @property
    def tags(self) -> str:
        """Id split at its dots, joined with commas."""
        return self.name.replace(".", ",")

    def facts(self) -> dict[str, Any]:
        """Return attributes with their defaults, the stage, and the clients that know it."""
        return {
            "attributes": {item.id: item.default for item in self.attributes},
            "stage": self.stage.value,
            "only_0_9_16": self.only_0916,
        }


SENSORS: Final[Registry[SensorSpec]] = Registry("sensor", packages=("jaywalk.server.sensors",))


def sensor(
    type_id: str,
    *groups: tuple[SensorAttribute, ...],
    summary: str,
    stage: SensorStage = SensorStage.LATE,
    order: int = _AFTER_CARLA,
    only_0916: bool = False,
) -> Callable[[SensorT], SensorT]:
    """Register a sensor class under ``sensor.<type_id>``.

    Args:
        type_id: Blueprint id without ``sensor.``, for example ``camera.rgb``.
        groups: Groups of attributes, joined in this order.
        summary: One line for lists.
        stage: Time within a tick at which the sensor measures.
        order: Position in CARLA's library.
        only_0916: True if 0.9.15 clients do not know it.
    """

    def register(kind: SensorT) -> SensorT:
        spec = SensorSpec(
            name=f"sensor.{type_id}",
            summary=summary,
            attributes=sum(groups, start=()),
            stage=stage,
            order=order,
            only_0916=only_0916,
            target=kind,
        )
        SENSORS.register(spec)
        kind.stage = stage
        return kind

    return register


def sensor_library() -> list[SensorSpec]:
    """Return the sensors in the order of CARLA's library."""
    return sorted(SENSORS, key=lambda spec: (spec.order, spec.name))


def floats(**defaults: str) -> tuple[SensorAttribute, ...]:
    """Return attributes of type float by name, with their defaults."""
    return tuple(
        SensorAttribute(id=name, type=AttributeType.FLOAT, recommended=(value,))
        for name, value in defaults.items()
    )


def integer(name: str, default: str) -> SensorAttribute:
    """Return an attribute of type int."""
    return SensorAttribute(id=name, type=AttributeType.INT, recommended=(default,))


def flag(name: str, default: str) -> SensorAttribute:
    """Return an attribute of type bool."""
    return SensorAttribute(id=name, type=AttributeType.BOOL, recommended=(default,))


def choice(name: str, *values: str) -> SensorAttribute:
    """Return an attribute that allows only some texts; the first is the default."""
    return SensorAttribute(id=name, type=AttributeType.STRING, recommended=values, restricted=True)


def _common(*roles: str) -> tuple[SensorAttribute, ...]:
    """Return the attributes that every blueprint of the library starts with."""
    return (
        SensorAttribute(id="role_name", type=AttributeType.STRING, recommended=roles),
        SensorAttribute(id="ros_name", type=AttributeType.STRING, recommended=("",)),
        SensorAttribute(id="ros_frame_id", type=AttributeType.STRING, recommended=("",)),
        flag("ros_publish_tf", "true"),
    )


_PLACES: Final = (
    "front",
    "back",
    "left",
    "right",
    "front_left",
    "front_right",
    "back_left",
    "back_right",
)
PLACED: Final = _common(*_PLACES)
UNPLACED: Final = _common("default")
TICK: Final = floats(sensor_tick="0.0")
SEED: Final = (integer("noise_seed", "0"),)


class Attributes:
    """Attribute values that a client set; they arrive as strings, integers often as "64.0"."""

    def __init__(self, type_id: str, values: Mapping[str, str]) -> None:
        self.type_id = type_id
        defaults = {item.id: item.default for item in SENSORS.get(type_id).attributes}
        self._values = {**defaults, **values}

    def has(self, name: str) -> bool:
        """Return whether the sensor has an attribute of this name."""
        return name in self._values

    def number(self, name: str, least: float = -math.inf, most: float = math.inf) -> float:
        """Return a finite number between ``least`` and ``most``; anything else is an error."""
        text = self._values[name]
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not least <= value <= most or math.isinf(value):
            raise UsageError(
                f"{self.type_id}: attribute {name}='{text}' must be a number"
                f" between {least} and {most}."
            )
        return value

    def integer(self, name: str, least: int, most: int) -> int:
        """Return a whole number; a fractional part is cut off, as in the real simulator."""
        return int(self.number(name, least, most))

    def flag(self, name: str) -> bool:
        """Return True for "true", "1", "yes" and "on", in any case."""
        return self._values[name].strip().lower() in ("true", "1", "yes", "on")

    def text(self, name: str) -> str:
        """Return the value as it is, without spaces around it."""
        return self._values[name].strip()
