"""Every driver by name and version; imported only when one is made.

Raise a driver's version when a change can move what it does. Numbering starts at 1 with the first
committed baselines; what a driver did before that has no number.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Final

from jaywalk.core.registry import Registry, Spec

AGENTS: Final[Registry[Spec]] = Registry("agent")
_ROOM: Final = "jaywalk.agents"

for _name, _version, _target, _summary in (
    (
        "cruise",
        1,
        "baselines.baselines:Cruise",
        "follows the route, keeps distance, obeys lights, brakes in lane",
    ),
    ("blind", 1, "baselines.baselines:Blind", "follows the route and ignores everything else"),
    ("expert", 3, "expert.expert:Expert", "privileged rule-based driver in the manner of PDM-Lite"),
    ("timid", 1, "baselines.baselines:Timid", "cruise that brakes for any person near the road"),
    (
        "bold",
        1,
        "baselines.baselines:Bold",
        "at the limit; reacts only to what is already in its way",
    ),
    (
        "comfort-zone",
        2,
        "baselines.comfort_zone:ComfortZoneDriver",
        "keeps predicted people out of its way",
    ),
):
    AGENTS.add(_name, f"{_ROOM}.{_target}", _summary, _version)


def driver_version(name: str) -> str:
    """Version of a driver: ``expert-v1`` of ours, a digest of an agent's file, else nothing.

    An agent at an address declares its version itself when it is set up.
    """
    if "://" in name:
        return ""
    if name.endswith(".py"):
        path = Path(name)
        return f"sha256:{_file_digest(path)[:16]}" if path.is_file() else ""
    return AGENTS.get(name).id


def _file_digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
