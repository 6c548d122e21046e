"""The suite ``fail2drive``: 100 pairs of routes that differ only in the shift."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from jaywalk.actors.reactive.traits import REACTIVE
from jaywalk.core.errors import DataError, UsageError
from jaywalk.scenarios.catalogue import shift_classes
from jaywalk.scenarios.formats.route_xml import Route, read_routes
from jaywalk.scenarios.formats.xml_node import attribute
from jaywalk.scenarios.suite import (
    PAIRED_SPEED,
    SUITES,
    Suite,
    SuiteRoute,
    SuiteSpec,
    with_partners,
)

FILE: Final = Path(__file__).parent / "data" / "fail2drive.xml"
SHIFT_OFFSET: Final = 1000
VARIANTS: Final = ("base", "shift")
SPEC: Final = SuiteSpec(
    name="fail2drive",
    version=3,
    scripted_version=2,
    summary=(
        "100 pairs of routes over the three towns, 17 classes of shift; variants base and shift"
    ),
    target=f"{__name__}:load",
    towns=("Harbour", "Orchard", "Ridge"),
    routes=200,
    wet_grip=True,
    protocol="fail2drive",
)
SUITES.register(SPEC)


def class_of(number: int) -> str:
    """Return the class of shift for a route number, base or shift.

    Raises:
        DataError: No class has the number.
    """
    for shift in shift_classes().values():
        if shift.pairs is not None and shift.pairs[0] <= number % SHIFT_OFFSET <= shift.pairs[1]:
            return shift.name
    raise DataError(
        f"Route {number}: no class of shift has this number; expected 0 to 99 or 1000 to 1099."
    )


def load(variant: str = "") -> Suite:
    """Load all 200 routes or, with a variant, the half of that name.

    Raises:
        UsageError: The variant is unknown.
    """
    if variant not in ("", *VARIANTS):
        raise UsageError(f"--variant is '{variant}', expected base, shift or none.")
    # Partners first, so that a half that runs alone keeps the same background.
    items = with_partners([_item(route) for route in read_routes(FILE).routes])
    prefix = {"base": "Base_", "shift": "Generalization_"}.get(variant, "")
    kept = tuple(item for item in items if item.id.startswith(prefix))
    return Suite(
        name=SPEC.id,
        routes=kept,
        variant=variant,
        scripted_name=SPEC.scripted_id,
        people_model=REACTIVE,
    )


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
        wet_grip=SPEC.wet_grip,
    )
