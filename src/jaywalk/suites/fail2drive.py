"""The suite ``fail2drive``: 100 pairs of routes that differ in the shift alone."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from jaywalk.core.errors import UsageError
from jaywalk.scenarios.formats.route_xml import Route, read_routes
from jaywalk.scenarios.formats.xml_node import attribute
from jaywalk.scenarios.suite import PAIRED_SPEED, Suite, SuiteRoute, with_partners

FILE: Final = Path(__file__).parent / "data" / "fail2drive.xml"
NAME: Final = "jaywalk/fail2drive-v2"
SHIFT_OFFSET: Final = 1000
VARIANTS: Final = ("base", "shift")

# Class of the pairs from this number on; the numbers of the published split.
CLASSES: Final = (
    (0, "BadParking"),
    (10, "ConstructionPedestrian"),
    (15, "ConstructionPermutations"),
    (20, "CustomObstacles"),
    (30, "FullyBlocked"),
    (35, "HardBrake"),
    (40, "ImageOnObject"),
    (45, "ObscuredStop"),
    (50, "OppositeConstruction"),
    (55, "RightOfWay"),
    (60, "PassableObstacles"),
    (65, "PedestrianCrowd"),
    (70, "PedestrianOtherBlocker"),
    (75, "Animals"),
    (85, "PedestriansOnRoad"),
    (90, "RightConstruction"),
    (95, "Wall"),
)


def class_of(number: int) -> str:
    """The class of a route number, base or shift."""
    return [name for first, name in CLASSES if first <= number % SHIFT_OFFSET][-1]


def load(variant: str = "") -> Suite:
    """All 200 routes, or with a variant the half of that name.

    Raises:
        UsageError: There is no such variant.
    """
    if variant not in ("", *VARIANTS):
        raise UsageError(f"--variant is '{variant}', expected base, shift or none.")
    # Partners first: a half that runs alone keeps the same background.
    items = with_partners([_item(route) for route in read_routes(FILE).routes])
    wanted = {"base": "Base_", "shift": "Generalization_"}.get(variant, "")
    kept = tuple(item for item in items if item.id.startswith(wanted))
    return Suite(name=NAME, routes=kept, variant=variant)


def _item(route: Route) -> SuiteRoute:
    number = int(route.id)
    split = "Generalization" if number >= SHIFT_OFFSET else "Base"
    name = class_of(number)
    return SuiteRoute(
        id=f"{split}_{name}_{number:04d}",
        route=route,
        vehicles=int(attribute(route.attributes, "vehicles") or 0),
        pair=f"{name}_{number % SHIFT_OFFSET:04d}",
        traffic_speed=PAIRED_SPEED,
        wet_grip=True,
    )
