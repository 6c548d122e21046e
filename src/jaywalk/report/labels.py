"""Readable names of metrics and counts: words, unit and digits."""

from __future__ import annotations

import math
from dataclasses import dataclass

from jaywalk.metrics.spec import spec_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """Words and unit of a displayed quantity."""

    words: str
    unit: str

    @property
    def full(self) -> str:
        """Words with the unit."""
        return f"{self.words} ({self.unit})" if self.unit else self.words


def label_of(name: str) -> Label:
    """Words and unit of a metric or count by its name."""
    spec = spec_of(name)
    return Label(words=spec.label, unit=spec.shown_unit)


def number(value: float, *, sign: bool = False) -> str:
    """Format a number with its significant digits, two or more; a dash if there is none."""
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if not math.isfinite(value):
        return "–"
    size = abs(value)
    form = ".1f" if size >= 10.0 else ".2f" if size >= 0.1 or size == 0.0 else ".2g"
    if size < 1e-4:
        form = ".2f"  # never an exponent
    text = f"{value:{'+' if sign else ''}{form}}"
    return text.replace("-", "−")  # a minus as wide as a plus


def p_text(p_value: float | None) -> str:
    """Format a p value in the common form of all outputs; a dash if there is none."""
    if p_value is None or math.isnan(p_value):
        return "–"
    return "<0.001" if p_value < 0.001 else f"{p_value:.3f}"


def interval_text(low: float, high: float, *, sign: bool = False) -> str:
    """An interval in brackets; empty where none exists."""
    if math.isnan(low) or math.isnan(high):
        return ""
    return f"[{number(low, sign=sign)}, {number(high, sign=sign)}]"
