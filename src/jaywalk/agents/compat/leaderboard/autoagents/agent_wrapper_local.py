"""The check of the local evaluator, which lets sensors be farther away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from jaywalk.agents.adapters.sensor_rig import LOCAL_RADIUS_M, check_sensors, check_track
from leaderboard.autoagents.agent_wrapper import (  # type: ignore[import-not-found]
    AgentError,
)
from leaderboard.autoagents.autonomous_agent import Track  # type: ignore[import-not-found]

__all__ = ["MAX_ALLOWED_RADIUS_SENSOR", "AgentError", "validate_sensor_configuration"]

MAX_ALLOWED_RADIUS_SENSOR = LOCAL_RADIUS_M


def validate_sensor_configuration(
    sensors: Sequence[Mapping[str, Any]], agent_track: Any, selected_track: str
) -> None:
    """Raise unless the sensors are allowed in the track, and the track is the one selected."""
    check_track(agent_track.value, Track(selected_track).value)
    check_sensors(sensors, agent_track.value, MAX_ALLOWED_RADIUS_SENSOR)
