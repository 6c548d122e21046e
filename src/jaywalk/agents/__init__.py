"""Drivers that use only the ``carla`` package, one file each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaywalk.core.lazy import lazy_exports

if TYPE_CHECKING:
    from jaywalk.agents.base import Briefing as Briefing
    from jaywalk.agents.base import Decision as Decision
    from jaywalk.agents.base import Driver as Driver
    from jaywalk.agents.base import Forecast as Forecast
    from jaywalk.agents.base import Moment as Moment
    from jaywalk.agents.base import Plan as Plan
    from jaywalk.agents.catalogue import AGENTS as AGENTS
    from jaywalk.agents.catalogue import DriverSpec as DriverSpec
    from jaywalk.agents.catalogue import driver as driver
    from jaywalk.agents.catalogue import driver_version as driver_version
    from jaywalk.agents.load import make_driver as make_driver

__getattr__, __all__ = lazy_exports(
    __name__,
    {
        "base": (
            "Briefing",
            "Decision",
            "Driver",
            "Forecast",
            "Moment",
            "Plan",
        ),
        "catalogue": (
            "AGENTS",
            "DriverSpec",
            "driver",
            "driver_version",
        ),
        "load": ("make_driver",),
    },
)
