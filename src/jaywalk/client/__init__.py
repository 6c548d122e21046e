"""Client helpers on top of the ``carla`` package."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaywalk.core.lazy import lazy_exports

if TYPE_CHECKING:
    from jaywalk.client.bones import BoneLine as BoneLine
    from jaywalk.client.placing import pick_model as pick_model
    from jaywalk.client.placing import place_on_route as place_on_route
    from jaywalk.client.placing import spawn_all as spawn_all
    from jaywalk.client.placing import spawn_first_that_fits as spawn_first_that_fits

__getattr__, __all__ = lazy_exports(
    __name__,
    {
        "bones": ("BoneLine",),
        "placing": (
            "pick_model",
            "place_on_route",
            "spawn_all",
            "spawn_first_that_fits",
        ),
    },
)
