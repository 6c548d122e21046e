"""The evaluator's check of an agent's sensors, and its word for a failing agent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from jaywalk.agents.adapters.sensor_rig import check_sensors, check_track
from leaderboard.autoagents.autonomous_agent import Track  # type: ignore[import-not-found]

MAX_ALLOWED_RADIUS_SENSOR = 3.0


class AgentError(Exception):
    """The agent failed while it drove."""


def validate_sensor_configuration(
    sensors: Sequence[Mapping[str, Any]], agent_track: Any, selected_track: str
) -> None:
    """Raise unless the sensors are allowed in the track, and the track is the one selected."""
    check_track(agent_track.value, Track(selected_track).value)
    check_sensors(sensors, agent_track.value, MAX_ALLOWED_RADIUS_SENSOR)
