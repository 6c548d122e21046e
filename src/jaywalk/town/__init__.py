"""Towns: lanes, crosswalks, sidewalks, surfaces and scenery, derived from OpenDRIVE files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaywalk.core.lazy import lazy_exports

if TYPE_CHECKING:
    from jaywalk.town.check import check_opendrive as check_opendrive
    from jaywalk.town.routes import DenseRoute as DenseRoute
    from jaywalk.town.routes import RoutePlanner as RoutePlanner
    from jaywalk.town.town import Town as Town
    from jaywalk.town.town import available_towns as available_towns
    from jaywalk.town.town import load_town as load_town
    from jaywalk.town.town import town_from_opendrive as town_from_opendrive

__getattr__, __all__ = lazy_exports(
    __name__,
    {
        "check": ("check_opendrive",),
        "routes": (
            "DenseRoute",
            "RoutePlanner",
        ),
        "town": (
            "Town",
            "available_towns",
            "load_town",
            "town_from_opendrive",
        ),
    },
)
