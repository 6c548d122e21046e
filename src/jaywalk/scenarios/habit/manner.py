"""How the people of an episode are: shares of the classes, sides, ages, distances; and variants."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

from jaywalk.core.errors import UsageError
from jaywalk.scenarios.crowd_state import CrowdSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class HabitManner:
    """Who the posed people of an episode are.

    Attributes:
        crossing: Share of people who cross the ego's way; rounded to whole people.
        ordinary: Share of those crossing who just walk; the others do any behaviour of the class.
        attempting: Share who step out and come back. The rest stays off the road.
        children: Share of children.
        side: Of the route that people start on: "left", "right" or "both".
        trigger_m: Interval of the ego's distance at which people begin to move.
        strolling: Share of those not crossing who walk along the sidewalk.
        band_m: People who do not cross stand this near to the route.
        first_m: Nobody crosses within this distance after the start of the route.
    """

    crossing: float = 0.4
    ordinary: float = 0.6
    attempting: float = 0.15
    children: float = 0.15
    side: str = "both"
    trigger_m: tuple[float, float] = (14.0, 40.0)
    strolling: float = 0.3
    band_m: float = 16.0
    first_m: float = 25.0


_CHANGES: Final[dict[str, dict[str, Any]]] = {
    "idle": {"crossing": 0.0, "attempting": 0.0},
    "left": {"side": "left"},
    "right": {"side": "right"},
    "children": {"children": 1.0},
}
WEATHER_VARIANTS: Final = ("night", "rain")
VARIANTS: Final = (*_CHANGES, *WEATHER_VARIANTS)


def split_variant(variant: str) -> tuple[str, ...]:
    """The parts of a variant: one or several of ``VARIANTS``, as in ``left,night``."""
    parts = tuple(part.strip() for part in variant.split(",") if part.strip())
    unknown = [part for part in parts if part not in VARIANTS]
    if unknown:
        raise UsageError(
            f"--variant is '{variant}', but habit has no variant '{unknown[0]}'. "
            f"Known: {', '.join(VARIANTS)}; several with commas."
        )
    if len({"left", "right"} & set(parts)) > 1:
        raise UsageError(f"--variant is '{variant}': people start on the left or on the right.")
    return parts


def manner_of(variant: str) -> HabitManner:
    """The people of a variant."""
    manner = HabitManner()
    for part in split_variant(variant):
        manner = replace(manner, **_CHANGES.get(part, {}))
    return manner


def ambient_of(variant: str) -> CrowdSettings:
    """The ambient people of a variant, who follow no clips and wait for gaps."""
    parts, calm = split_variant(variant), CrowdSettings()
    if "idle" in parts:
        calm = replace(calm, not_crossing=1.0, attempting=0.0)
    if "children" in parts:
        calm = replace(calm, children=1.0)
    for side in ("left", "right"):
        if side in parts:
            calm = replace(calm, side=side)
    return calm
