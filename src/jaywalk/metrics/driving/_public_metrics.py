"""Specs of the metrics and counts that only the public protocols have."""

from __future__ import annotations

from jaywalk.metrics.driving.penalties import (
    NO_MIN_SPEED,
)
from jaywalk.metrics.pooling import NOT_NEGATIVE
from jaywalk.metrics.spec import METRICS, MetricSpec, count_spec

_GROUP = "public protocols"

for _spec in (
    MetricSpec(
        name=NO_MIN_SPEED,
        summary="The driving score had driving too slowly cost nothing.",
        unit="points",
        direction="higher",
        label="Driving score without the minimum-speed factor",
        requires="a protocol with that factor",
        group=_GROUP,
        bounds=(0.0, 100.0),
        zero_if_missing=True,
    ),
    MetricSpec(
        name="infraction_penalty",
        summary="Factor that infractions leave of the driving score; 1 is unpunished.",
        unit="share",
        direction="higher",
        label="Infraction score",
        group=_GROUP,
        bounds=(0.0, 1.0),
        zero_if_missing=True,
    ),
    MetricSpec(
        name="route_length_m",
        summary="Length of the route.",
        unit="m",
        direction="none",
        label="Route length",
        group=_GROUP,
    ),
    MetricSpec(
        name="efficiency",
        summary="Bench2Drive's mean speed in percent of the traffic's.",
        unit="%",
        direction="higher",
        label="Efficiency",
        requires="protocol `bench2drive` and traffic to compare with",
        group=_GROUP,
        bounds=NOT_NEGATIVE,
    ),
    MetricSpec(
        name="smoothness",
        summary="Bench2Drive's share of the drive within its comfort bounds.",
        unit="share",
        direction="higher",
        label="Smoothness",
        requires="protocol `bench2drive`",
        group=_GROUP,
    ),
    count_spec(
        "collisions_pedestrian",
        label="Collisions with people",
        summary="People hit, by the Leaderboard's rules.",
        primary=True,
    ),
    count_spec(
        "collisions_layout",
        label="Collisions with obstacles",
        summary="Scenery and props hit, by the Leaderboard's rules.",
    ),
    count_spec(
        "stop_infraction",
        label="Stop signs run",
        summary="Stop signs run, by the Leaderboard's rules.",
    ),
    count_spec(
        "outside_route_lanes",
        label="Drives outside the lanes",
        summary="Drives with a part outside the lanes of the route.",
    ),
    count_spec(
        "min_speed_infractions",
        label="Checkpoints passed too slowly",
        summary="Checkpoints passed slower than the traffic around.",
    ),
    count_spec(
        "yield_emergency_vehicle_infractions",
        label="Emergency vehicles not yielded to",
        summary="Emergency vehicles that the ego did not let pass.",
    ),
    count_spec(
        "scenario_timeouts",
        label="Scenarios not passed in time",
        summary="Scenarios that the ego did not get past in time, by the Leaderboard's rules.",
    ),
    count_spec("route_dev", label="Routes left", summary="Drives that left the route."),
    count_spec(
        "vehicle_blocked", label="Drives blocked", summary="Drives that stood still too long."
    ),
    count_spec("route_timeout", label="Drives out of time", summary="Drives that ran out of time."),
):
    METRICS.register(_spec)
