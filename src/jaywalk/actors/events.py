"""What a scenario reports: moments of its life, for the record."""

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
CAPS_TRAFFIC: Final = "caps the traffic"  # what a note with a ``cap_mps`` says


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioEvent:
    """One moment. ``name`` is the scenario's, of a switch the criterion's."""

    time_s: float  # of the episode
    kind: str
    name: str
    detail: Mapping[str, Any] = field(default_factory=dict)  # what JSON can hold


@dataclass(frozen=True, slots=True, kw_only=True)
class EgoMoment:
    """The ego at this tick. Frame: CARLA's left-handed metres."""

    elapsed_s: float
    snapshot: carla.WorldSnapshot
    ego_id: int
    ego_along_m: float  # on the route
    ego_speed_mps: float
