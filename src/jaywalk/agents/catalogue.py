"""Every driver by name; imported only when one is made."""

from __future__ import annotations

from typing import Final

from jaywalk.core.registry import Registry

AGENTS: Final = Registry("agent")
_ROOM: Final = "jaywalk.agents"

for _name, _target, _summary in (
    ("cruise", "cruise:Cruise", "follows the route, keeps distance, obeys lights, brakes in lane"),
    ("blind", "blind:Blind", "follows the route and ignores everything else"),
    ("expert", "expert:Expert", "privileged rule-based driver in the manner of PDM-Lite"),
    ("timid", "timid:Timid", "cruise that brakes for any person near the road"),
    ("bold", "bold:Bold", "at the limit; reacts only to what is already in its way"),
    ("comfort-zone", "comfort_zone:ComfortZoneDriver", "keeps predicted people out of its way"),
):
    AGENTS.add(_name, f"{_ROOM}.{_target}", _summary)
