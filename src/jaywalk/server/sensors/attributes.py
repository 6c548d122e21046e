"""Attribute values of one sensor as numbers, with the catalogue's defaults filled in."""

from __future__ import annotations

import math
from collections.abc import Mapping

from jaywalk.core.errors import UsageError
from jaywalk.server.sensors.catalogue import sensor_blueprint


class Attributes:
    """What a client set on a blueprint; values arrive as strings, integers often as "64.0"."""

    def __init__(self, type_id: str, values: Mapping[str, str]) -> None:
        self.type_id = type_id
        defaults = {item.id: item.default for item in sensor_blueprint(type_id).attributes}
        self._values = {**defaults, **values}

    def has(self, name: str) -> bool:
        """True if the sensor has an attribute of this name."""
        return name in self._values

    def number(self, name: str, least: float = -math.inf, most: float = math.inf) -> float:
        """A finite number between ``least`` and ``most``; anything else is an error."""
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
        """A whole number; a fractional part is cut off, as the real simulator does."""
        return int(self.number(name, least, most))

    def flag(self, name: str) -> bool:
        """True for "true", "1", "yes" and "on", in any case."""
        return self._values[name].strip().lower() in ("true", "1", "yes", "on")
