"""Names of metrics and counts as a reader wants them: words, unit, digits."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

# Endings of names, longest first where one ends like another.
_UNITS: Final = (
    ("_mps3", "m/s³"),
    ("_mps2", "m/s²"),
    ("_mps", "m/s"),
    ("_kmh", "km/h"),
    ("_per_km", "per km"),
    ("_percent", "%"),
    ("_km", "km"),
    ("_deg", "°"),
    ("_m", "m"),
    ("_s", "s"),
)
_WORDS: Final = {
    "success_rate": "Success rate",
    "driving_score": "Driving score",
    "route_completion": "Route completion",
    "infraction_score": "Infraction score",
    "driven_km": "Distance driven",
    "duration_s": "Duration",
    "collisions_pedestrian": "Collisions with people",
    "collisions_vehicle": "Collisions with vehicles",
    "collisions_layout": "Collisions with obstacles",
    "red_light": "Red lights run",
    "stop_infraction": "Stop signs run",
    "fpbr": "False braking for people (FPBR)",
}
_PERCENT: Final = frozenset({"success_rate", "route_completion"})
_SHORT: Final = {"ttc": "TTC", "pet": "PET", "ade": "ADE", "fde": "FDE", "fpbr": "FPBR",
                 "pmais3": "pMAIS3+", "rms": "RMS"}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """How a quantity is shown."""

    words: str
    unit: str

    @property
    def full(self) -> str:
        """Words with the unit."""
        return f"{self.words} ({self.unit})" if self.unit else self.words


def label_of(name: str) -> Label:
    """Words and unit of a metric or count by its name."""
    unit, stem = next(
        ((unit, name.removesuffix(end)) for end, unit in _UNITS if name.endswith(end)), ("", name)
    )
    if name in _PERCENT:
        unit = "%"
    if name in _WORDS:
        return Label(words=_WORDS[name], unit=unit)
    parts = [_SHORT.get(part, part) for part in stem.split("_")]
    words = " ".join(parts)
    return Label(words=words[:1].upper() + words[1:], unit=unit)


def number(value: float, *, sign: bool = False) -> str:
    """A number with three to four digits that matter; a dash where there is none."""
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if not math.isfinite(value):
        return "–"
    size = abs(value)
    digits = 1 if size >= 10.0 else 2 if size >= 0.1 or size == 0.0 else 3
    text = f"{value:{'+' if sign else ''}.{digits}f}"
    return text.replace("-", "−")  # a minus as wide as a plus


def interval_text(low: float, high: float, *, sign: bool = False) -> str:
    """An interval in brackets; empty where none exists."""
    if math.isnan(low) or math.isnan(high):
        return ""
    return f"[{number(low, sign=sign)}, {number(high, sign=sign)}]"
