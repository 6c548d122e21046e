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
    "infraction_penalty": "Infraction score",
    "driven_km": "Distance driven",
    "duration_s": "Duration",
    "mean_speed_mps": "Mean speed",
    "standing_share": "Share of time standing",
    "collisions_pedestrian": "Collisions with people",
    "collisions_person": "Collisions with people",
    "unavoidable_person": "Unavoidable collisions with people",
    "collisions_animal": "Collisions with animals",
    "collisions_vehicle": "Collisions with vehicles",
    "collisions_layout": "Collisions with obstacles",
    "collisions_static": "Collisions with objects",
    "hit_while_standing": "Hit while standing",
    "red_light": "Red lights run",
    "stop": "Stop signs passed",
    "stop_infraction": "Stop signs run",
    "endangered": "People and others endangered",
    "braking_events": "Braking for people",
    "false_braking_events": "Needless braking for people",
    "fpbr": "Needless share of braking for people (FPBR)",
    "fpbr_habit": "Share of all braking without a person (FPBR as HABIT defines it)",
    "all_braking_events": "Braking of any cause",
    "all_braking_without_person": "Braking of any cause without a person",
    "side_contact_person": "People who walked into the side of the slow ego",
    "scenario_timeout": "Scenarios that timed out",
    "driving_score_no_min_speed": "Driving score without the minimum-speed factor",
    "pmais3_mean": "Injury risk of a hit (pMAIS3+)",
    "serious_injuries_expected": "Serious injuries expected",
    "serious_injuries_per_km": "Serious injuries expected",
    "min_ttc_s": "Least time to collision, at most 10 s",
    "short_ttc_drive": "Share of drives with a time to collision below 1.5 s",
    "short_ttc_time_share": "Share of driving time with a time to collision below 1.5 s",
    "min_pet_s": "Least post-encroachment time",
    "forecast_ade_m": "Error of forecasts (ADE)",
    "forecast_fde_m": "Final error of forecasts (FDE)",
    "forecast_best_ade_m": "Error of the best mode (ADE)",
    "max_braking_mps2": "Hardest braking",
    "max_lateral_mps2": "Hardest cornering",
    "max_jerk_mps3": "Largest jerk",
    "rms_jerk_mps3": "Jerk, RMS",
    "uncomfortable_share": "Share of time uncomfortable",
}
_PERCENT: Final = frozenset({"success_rate", "route_completion"})
_SHORT: Final = {
    "ttc": "TTC",
    "pet": "PET",
    "ade": "ADE",
    "fde": "FDE",
    "fpbr": "FPBR",
    "pmais3": "pMAIS3+",
    "rms": "RMS",
}


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
    """A number with the digits that matter, two or more; a dash where there is none."""
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if not math.isfinite(value):
        return "–"
    size = abs(value)
    form = ".1f" if size >= 10.0 else ".2f" if size >= 0.1 or size == 0.0 else ".2g"
    text = f"{value:{'+' if sign else ''}{form}}"
    return text.replace("-", "−")  # a minus as wide as a plus


def p_text(p_value: float | None) -> str:
    """A p value, the same everywhere; a dash where there is none."""
    if p_value is None or math.isnan(p_value):
        return "–"
    return "<0.001" if p_value < 0.001 else f"{p_value:.3f}"


def interval_text(low: float, high: float, *, sign: bool = False) -> str:
    """An interval in brackets; empty where none exists."""
    if math.isnan(low) or math.isnan(high):
        return ""
    return f"[{number(low, sign=sign)}, {number(high, sign=sign)}]"
