"""The suite ``smoke``: twelve short routes over three towns, every first scenario once."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from jaywalk.actors.reactive.traits import REACTIVE
from jaywalk.core.errors import UsageError
from jaywalk.scenarios.formats.route_xml import read_routes
from jaywalk.scenarios.suite import SUITES, Suite, SuiteRoute, SuiteSpec

FOLDER: Final = Path(__file__).parent / "data" / "smoke"
_VEHICLES: Final = 10
_TRAFFIC_SPEED: Final = (0.65, 0.75)  # as CARLA's Traffic Manager: 30 % below the limit

SPEC: Final = SuiteSpec(
    name="smoke",
    version=3,
    scripted_version=2,
    summary="12 short routes over the three towns, every first scenario",
    target=f"{__name__}:load",
    towns=("Harbour", "Orchard", "Ridge"),
    routes=12,
    wet_grip=True,
)
SUITES.register(SPEC)


def load(variant: str = "") -> Suite:
    """Load the suite; it has no variants."""
    if variant:
        raise UsageError(f"The suite smoke has no variant '{variant}'; leave --variant out.")
    return Suite(
        name=SPEC.id,
        scripted_name=SPEC.scripted_id,
        people_model=REACTIVE,
        routes=tuple(
            SuiteRoute(
                id=path.stem,
                route=route,
                vehicles=_VEHICLES,
                traffic_speed=_TRAFFIC_SPEED,
                wet_grip=SPEC.wet_grip,
            )
            for path in sorted(FOLDER.glob("*.xml"))
            for route in read_routes(path).routes
        ),
    )
