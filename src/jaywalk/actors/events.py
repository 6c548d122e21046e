"""Events that a scenario reports for the record, and the ego's state at a tick."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import carla

# Kinds of events in the record that a scenario may report.
TRIGGER: Final = "trigger"
START: Final = "scenario_start"
END: Final = "scenario_end"
TIMEOUT: Final = "scenario_timeout"
SWITCH: Final = "criterion_switch"
BLOCKED: Final = "blocked"  # a criterion that may be switched
NOTE: Final = "note"
CAPS_TRAFFIC: Final = "caps the traffic"  # text of a note with a ``cap_mps``


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioEvent:
    """One event; ``name`` is that of the scenario or, for a switch, of the criterion."""

    time_s: float  # time since the start of the episode
    kind: str
    name: str
    detail: Mapping[str, Any] = field(default_factory=dict)  # JSON values


@dataclass(frozen=True, slots=True, kw_only=True)
class EgoMoment:
    """State of the ego at this tick. Frame: CARLA's left-handed metres."""

    elapsed_s: float
    snapshot: carla.WorldSnapshot
    ego_id: int
    ego_along_m: float  # distance along the route
    ego_speed_mps: float
