"""Public protocols as data: cost of each infraction, definition of success, missing routes.

Percentages appear only in the text of a message, so an infraction score derived from messages is
known up to the rounding of those texts; `Derived.tolerance` bounds the error.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal

from jaywalk.core.errors import UsageError
from jaywalk.core.text import suggestion
from jaywalk.metrics.driving.results import RouteRecord

NO_MIN_SPEED: Final = "driving_score_no_min_speed"  # metric of protocols with that factor
_PERCENT = re.compile(r"(-?\d+(?:\.\d+)?)\s*%")
# Scores are written with six decimals; lane percentages with two.
_SCORE_STEP = 1e-6
_LANE_PERCENT_STEP = 0.01
_MAX_SPEED_PERCENT = 1000.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol:
    """Rules of one protocol.

    Attributes:
        name: Name used on the command line.
        version: Version of these rules as written here.
        summary: One line.
        formula: ``product``: one factor an event. ``reciprocal``: ``1 / (1 + sum of values)``,
            times the outside-lane factors.
        costs: Factor (product) or value (reciprocal) of one event, by infraction key.
        min_speed: Loss of the factor, or value, of a checkpoint passed at 0 % of the traffic's
            speed; it shrinks linearly to nothing at 100 %.
        success_forgives: Infractions that do not spoil a success; None: it has no success rate.
        success_needs_completion: Whether a success must have reached the end.
        missing: Whether a route without a record counts as zero or is left out.
        routes: Number of routes of the full set, if fixed.
    """

    name: str
    version: int
    summary: str
    formula: Literal["product", "reciprocal"]
    costs: Mapping[str, float]
    min_speed: float
    success_forgives: frozenset[str] | None = None
    success_needs_completion: bool = True
    missing: Literal["zero", "excluded"] = "zero"
    routes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Derived:
    """Infraction score from messages.

    Attributes:
        value: The score, 1 is unpunished.
        tolerance: Largest error from the rounding of texts.
        unparsed: Messages without the percentage they should have; they are not in the value.
    """

    value: float
    tolerance: float
    unparsed: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """A record whose figures contradict its own messages.

    Attributes:
        source: Which record.
        what: ``penalty``, ``driving_score``, ``num_infractions`` or ``message``.
        recorded: Value in the file.
        derived: Value that follows from the messages.
    """

    source: str
    what: str
    recorded: float
    derived: float


_FIRST: Final = {
    "collisions_pedestrian": 0.50,
    "collisions_vehicle": 0.60,
    "collisions_layout": 0.65,
    "red_light": 0.70,
    "stop_infraction": 0.80,
}
_SECOND: Final = _FIRST | {"scenario_timeouts": 0.70, "yield_emergency_vehicle_infractions": 0.70}
_ADDED: Final = {
    "collisions_pedestrian": 1.0,
    "collisions_vehicle": 0.70,
    "collisions_layout": 0.60,
    "red_light": 0.40,
    "stop_infraction": 0.25,
    "scenario_timeouts": 0.40,
    "yield_emergency_vehicle_infractions": 0.40,
}

PROTOCOLS: Final[Mapping[str, Protocol]] = MappingProxyType(
    {
        protocol.name: protocol
        for protocol in (
            Protocol(
                name="leaderboard-1.0",
                version=1,
                summary="CARLA Leaderboard 1.0: product of five factors and lane keeping",
                formula="product",
                costs=MappingProxyType(_FIRST),
                min_speed=0.0,
            ),
            Protocol(
                name="leaderboard-2.0",
                version=2,  # 1: traffic that a scenario slows counted as reference
                summary="CARLA Leaderboard 2.0: adds scenario time-outs, yielding, minimum speed",
                formula="product",
                costs=MappingProxyType(_SECOND),
                min_speed=0.3,
            ),
            Protocol(
                name="leaderboard-2.1",
                version=2,  # 1: traffic that a scenario slows counted as reference
                summary="CARLA Leaderboard 2.1: penalties add up under a reciprocal",
                formula="reciprocal",
                costs=MappingProxyType(_ADDED),
                min_speed=0.4,
            ),
            Protocol(
                name="bench2drive",
                version=1,
                summary="Bench2Drive: Leaderboard 2.0 without minimum speed; 220 routes",
                formula="product",
                costs=MappingProxyType(_SECOND),
                min_speed=0.0,
                success_forgives=frozenset({"min_speed_infractions"}),
                routes=220,
            ),
            Protocol(
                name="fail2drive",
                version=2,  # 1: traffic that a scenario slows counted as reference
                summary="Fail2Drive: Leaderboard 2.0 scores over 100 pairs of routes",
                formula="product",
                costs=MappingProxyType(_SECOND),
                min_speed=0.3,
                success_forgives=frozenset({"min_speed_infractions", "outside_route_lanes"}),
                success_needs_completion=False,
                missing="excluded",
                routes=200,
            ),
        )
    }
)


def protocol_named(name: str) -> Protocol:
    """Return a protocol, or say which exist."""
    if name not in PROTOCOLS:
        raise UsageError(f"Unknown protocol '{name}'.{suggestion(name, PROTOCOLS)}")
    return PROTOCOLS[name]


def infraction_score(protocol: Protocol, record: RouteRecord) -> Derived:
    """Infraction score of a record from its messages, under any protocol."""
    lanes, lost = percentages(record.messages("outside_route_lanes"))
    speeds, also_lost = percentages(record.messages("min_speed_infractions"))
    counts = {key: len(record.messages(key)) for key in protocol.costs}
    value = penalty_of(protocol, counts, lanes_percent=lanes, speeds_percent=speeds)
    # Every other factor is at most 1, so half a step of each lane percentage bounds the error.
    tolerance = _SCORE_STEP + len(lanes) * 0.51 * _LANE_PERCENT_STEP / 100.0
    return Derived(value=value, tolerance=tolerance, unparsed=(*lost, *also_lost))


def penalty_of(
    protocol: Protocol,
    counts: Mapping[str, int],
    *,
    lanes_percent: Iterable[float] = (),
    speeds_percent: Iterable[float] = (),
) -> float:
    """Infraction score of counted events.

    Args:
        protocol: Whose prices.
        counts: Events by infraction key; those without a price cost nothing.
        lanes_percent: Share of the way outside the lanes, one number an event.
        speeds_percent: Speed against the traffic's, one number an event.
    """
    slow = [protocol.min_speed * max(0.0, 1.0 - p / 100.0) for p in speeds_percent]
    kept = math.prod(max(0.0, 1.0 - p / 100.0) for p in lanes_percent)
    costs = [cost for key, cost in protocol.costs.items() for _ in range(counts.get(key, 0))]
    if protocol.formula == "product":
        return kept * math.prod(costs) * math.prod(1.0 - loss for loss in slow)
    return kept / (1.0 + math.fsum(costs) + math.fsum(slow))


def driving_score(completion_percent: float, infractions: float) -> float:
    """Driving score of a route: completion in percent times infraction score, never negative."""
    return max(completion_percent * infractions, 0.0)


def score_without_min_speed(protocol: Protocol, record: RouteRecord) -> float:
    """The driving score of a record had its minimum-speed messages cost nothing."""
    speeds, _ = percentages(record.messages("min_speed_infractions"))
    if protocol.formula == "product":
        factor = penalty_of(protocol, {}, speeds_percent=speeds)
        return record.driving_score / factor if factor > 0.0 else math.nan
    lanes, _ = percentages(record.messages("outside_route_lanes"))
    counts = {key: len(record.messages(key)) for key in protocol.costs}
    return driving_score(
        record.completion_percent, penalty_of(protocol, counts, lanes_percent=lanes)
    )


def is_success(
    protocol: Protocol, record: RouteRecord, *, requires_completion: bool = False
) -> bool:
    """Return whether a record is a success; ``requires_completion`` also requires the route's end.

    Where the protocol itself requires completion, it checks only the status, like its own tool.
    The stricter rule also requires 100 % of the route.
    """
    if protocol.success_forgives is None:
        raise UsageError(f"Protocol '{protocol.name}' has no success rate.")
    if protocol.success_needs_completion and record.status not in ("Completed", "Perfect"):
        return False
    if requires_completion and not record.completed:
        return False
    return not any(
        messages
        for key, messages in record.infractions.items()
        if key not in protocol.success_forgives
    )


def disagreements(protocol: Protocol, records: Iterable[RouteRecord]) -> list[Disagreement]:
    """Records whose penalty, score or count does not follow from their messages."""
    differences = []
    for record in records:
        derived = infraction_score(protocol, record)
        checks = [
            ("penalty", record.penalty, derived.value, derived.tolerance),
            (
                "driving_score",
                record.driving_score,
                driving_score(record.completion_percent, record.penalty),
                # The penalty is written with six decimals and multiplied by up to 100.
                _SCORE_STEP * (1.0 + max(record.completion_percent, 0.0)),
            ),
        ]
        if record.num_infractions is not None:
            checks.append(("num_infractions", record.num_infractions, record.count, 0.0))
        differences += [
            Disagreement(source=record.source, what=what, recorded=recorded, derived=value)
            for what, recorded, value, tolerance in checks
            if not abs(recorded - value) <= tolerance  # also when one is NaN
        ]
        differences += [
            Disagreement(source=record.source, what="message", recorded=math.nan, derived=math.nan)
            for _ in derived.unparsed
        ]
    return differences


def mean_speed_percent(percents: Sequence[float]) -> float:
    """Bench2Drive's efficiency of one route; NaN if nothing is left.

    Its tool drops percentages above 1000: traffic that stands still.
    """
    kept = [value for value in percents if value <= _MAX_SPEED_PERCENT]
    return math.fsum(kept) / len(kept) if kept else math.nan


def percentages(messages: Iterable[str]) -> tuple[list[float], list[str]]:
    """Percentage of each message, and the messages that have none."""
    values, lost = [], []
    for message in messages:
        match = _PERCENT.search(message)
        if match is None:
            lost.append(message)
        else:
            values.append(float(match[1]))
    return values, lost
