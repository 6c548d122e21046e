"""Everything that moves around the ego: traffic, crowd, posed people, scripted pilots."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jaywalk.core.lazy import lazy_exports

if TYPE_CHECKING:
    from jaywalk.actors.crowd.crowd import Crowd as Crowd
    from jaywalk.actors.events import EgoMoment as EgoMoment
    from jaywalk.actors.events import ScenarioEvent as ScenarioEvent
    from jaywalk.actors.pilots import Pilot as Pilot
    from jaywalk.actors.pilots import Pilots as Pilots
    from jaywalk.actors.posed.control import PosedPeople as PosedPeople
    from jaywalk.actors.posed.people import HabitPeople as HabitPeople
    from jaywalk.actors.traffic.traffic import Traffic as Traffic

__getattr__, __all__ = lazy_exports(
    __name__,
    {
        "crowd.crowd": ("Crowd",),
        "events": (
            "EgoMoment",
            "ScenarioEvent",
        ),
        "pilots": (
            "Pilot",
            "Pilots",
        ),
        "posed.control": ("PosedPeople",),
        "posed.people": ("HabitPeople",),
        "traffic.traffic": ("Traffic",),
    },
)
