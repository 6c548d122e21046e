"""Bench2Drive: driving score, success rate, efficiency and abilities.

Sums are divided by the number of routes in the set, so a missing route counts as zero.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import numpy as np
from defusedxml import ElementTree
from defusedxml.common import DefusedXmlException

from jaywalk.core.errors import DataError
from jaywalk.metrics.driving.files import read_files
from jaywalk.metrics.driving.penalties import PROTOCOLS, is_success, mean_speed_percent, percentages
from jaywalk.metrics.driving.results import UNSCORED, ResultFinding, ResultSet, RouteRecord
from jaywalk.metrics.driving.summary import (
    RunScore,
    ends,
    finding_lines,
    flags_and_warnings,
    listed,
    one_method,
    scenario_of,
)
from jaywalk.stats import bootstrap
from jaywalk.stats.clustered import clustered_wilson
from jaywalk.stats.intervals import FEW_CLUSTERS, wilson

_PROTOCOL = PROTOCOLS["bench2drive"]

_JUNCTION_PRIORITY = (
    "BlockedIntersection OppositeVehicleTakingPriority OppositeVehicleRunningRedLight "
    "PedestrianCrossing VehicleTurningRoute VehicleTurningRoutePedestrian"
)
_JUNCTION_TURNS = (
    "NonSignalizedJunctionLeftTurn NonSignalizedJunctionRightTurn "
    "NonSignalizedJunctionLeftTurnEnterFlow SignalizedJunctionLeftTurn "
    "SignalizedJunctionRightTurn SignalizedJunctionLeftTurnEnterFlow"
)
ABILITIES: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        name: frozenset(types.split())
        for name, types in {
            "Overtaking": (
                "Accident AccidentTwoWays ConstructionObstacle ConstructionObstacleTwoWays "
                "HazardAtSideLane HazardAtSideLaneTwoWays ParkedObstacle ParkedObstacleTwoWays "
                "VehicleOpensDoorTwoWays"
            ),
            "Merging": (
                "CrossingBicycleFlow EnterActorFlow HighwayExit InterurbanActorFlow HighwayCutIn "
                "InterurbanAdvancedActorFlow MergerIntoSlowTraffic MergerIntoSlowTrafficV2 "
                f"ParkingExit SequentialLaneChange {_JUNCTION_TURNS}"
            ),
            "Emergency_Brake": (
                f"{_JUNCTION_PRIORITY} DynamicObjectCrossing HardBreakRoute ParkingCutIn "
                "ParkingCrossingPedestrian StaticCutIn ControlLoss"
            ),
            "Give_Way": "InvadingTurn YieldToEmergencyVehicle",
            "Traffic_Signs": (
                f"{_JUNCTION_PRIORITY} {_JUNCTION_TURNS} EnterActorFlow CrossingBicycleFlow "
                "T_Junction VanillaNonSignalizedTurn VanillaSignalizedTurnEncounterGreenLight "
                "VanillaSignalizedTurnEncounterRedLight VanillaNonSignalizedTurnEncounterStopsign"
            ),
        }.items()
    }
)


# Our own scenarios that play a public type; versions share it.
OWN_TYPES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "jaywalk/construction": "ConstructionObstacle",
        "jaywalk/construction-two-ways": "ConstructionObstacleTwoWays",
        "jaywalk/crosswalk-group": "PedestrianCrossing",
        "jaywalk/hard-brake": "HardBreakRoute",
        "jaywalk/parked-obstacle": "ParkedObstacle",
        "jaywalk/parked-two-ways": "ParkedObstacleTwoWays",
        "jaywalk/priority-taken": "OppositeVehicleTakingPriority",
        "jaywalk/red-light-runner": "OppositeVehicleRunningRedLight",
        "jaywalk/stepping-out-hidden": "DynamicObjectCrossing",
    }
)
_VERSION = re.compile(r"-v\d+$")


def read_routes(path: Path) -> dict[int, str]:
    """Type of the first scenario of each route of a route file (or folder), "" without one."""
    routes: dict[int, str] = {}
    for file in read_files(path, ".xml"):
        if file.content is None:
            continue
        try:
            tree = ElementTree.fromstring(file.content)
        except (ElementTree.ParseError, DefusedXmlException) as error:
            raise DataError(f"'{path}' ({file.name}) is not a route file: {error}") from error
        for route in tree.iter("route"):
            number = route.get("id", "")
            if not number.isdigit():
                raise DataError(f"'{path}' ({file.name}): route id '{number}' is not a number.")
            scenario = route.find("scenarios/scenario")
            routes[int(number)] = "" if scenario is None else scenario.get("type", "")
    if not routes:
        raise DataError(f"'{path}' holds no <route>. Give a Bench2Drive route file.")
    return routes


def score(
    results: ResultSet,
    *,
    routes: Mapping[int, str] | None = None,
    success_requires_completion: bool = False,
    resamples: int = 10_000,
) -> dict[str, Any]:
    """Score a set of Bench2Drive results.

    Args:
        results: Records of one method.
        routes: Scenario type by route number; gives names to missing routes, and abilities.
        success_requires_completion: Also ask for 100 % of the route, not only for the status.
        resamples: Bootstrap samples of the intervals.

    Returns:
        Plain values; ``ds`` and ``sr`` in percent. NaN is still NaN.
    """
    method = one_method(results)
    records, findings = _select(results.records, routes)
    expected = len(routes) if routes is not None else (_PROTOCOL.routes or len(records))
    good = [
        is_success(_PROTOCOL, record, requires_completion=success_requires_completion)
        for record in records
    ]
    flags, disagreeing, warnings = flags_and_warnings(_PROTOCOL, results, records)
    missing = _missing(records, routes, expected)
    total = max(expected, 1)
    absent = [0.0] * max(0, expected - len(records))
    scores = [record.driving_score for record in records] + absent
    abilities, bounds, notes = _abilities(records, good, routes)
    rate = wilson(min(sum(good), total), total)
    mean = bootstrap.mean(scores, resamples=resamples, bounds=(0.0, 100.0))
    return {
        "protocol": _PROTOCOL.name,
        "protocol_version": _PROTOCOL.version,
        "method": method,
        "n_records": len(records),
        "n": expected,
        "missing": missing,
        "ds": math.fsum(scores) / total,
        "sr": 100.0 * sum(good) / total,
        "efficiency": efficiency(records),
        "abilities": abilities,
        "warnings": [
            *finding_lines(findings),
            *_count_warning(records, expected),
            *_few_warning(mean),
            *notes,
            *warnings,
        ],
        "success_requires_completion": success_requires_completion,
        "flags": flags,
        "disagreements": disagreeing,
        "intervals": {
            "level": 0.95,
            "clusters": mean.n,
            "few_clusters": mean.few_clusters,
            "ds": ends(mean.interval),
            "sr": ends(rate.scaled(100.0)),
            "abilities": bounds,
        },
    }


def efficiency(records: Sequence[RouteRecord]) -> float:
    """Mean over routes of the mean speed in percent of the traffic's; NaN without any."""
    means = []
    for record in records:
        values, _ = percentages(record.messages("min_speed_infractions"))
        means.append(mean_speed_percent(values))
    known = [mean for mean in means if math.isfinite(mean)]
    return float(np.mean(known)) if known else math.nan


def _select(
    records: Sequence[RouteRecord], routes: Mapping[int, str] | None
) -> tuple[list[RouteRecord], list[ResultFinding]]:
    kept: list[RouteRecord] = []
    findings: list[ResultFinding] = []
    seen: set[tuple[str, int, int]] = set()
    for record in records:
        number = record.number
        key = (record.seed, -1 if number is None else number, record.repetition)
        if routes is not None and number not in routes:
            problem = "its route is not in the route file"
        elif number is not None and key in seen:
            problem = "a second record of the same route; the first counts"
        else:
            seen.add(key)
            kept.append(record)
            continue
        findings.append(ResultFinding(kind=UNSCORED, source=record.source, text=problem))
    return kept, findings


def _missing(
    records: Sequence[RouteRecord], routes: Mapping[int, str] | None, expected: int
) -> list[str]:
    if routes is not None:
        have = {record.number for record in records}
        return [f"{number} {kind}".strip() for number, kind in routes.items() if number not in have]
    short = expected - len(records)
    return [f"{short} routes; give --routes to name them"] if short > 0 else []


def _count_warning(records: Sequence[RouteRecord], expected: int) -> list[str]:
    if len(records) < expected:
        short = expected - len(records)
        return [f"INCOMPLETE: {short} of {expected} routes have no record and count as zero"]
    if len(records) > expected:
        return [
            f"{len(records)} records for {expected} routes: the sums are divided by {expected}, "
            "so scores are too high. Score each seed on its own."
        ]
    return []


def _few_warning(mean: bootstrap.Estimate) -> list[str]:
    if not mean.few_clusters:
        return []
    return [f"only {mean.n} routes, fewer than {FEW_CLUSTERS}: intervals are widened"]


def _abilities(
    records: Sequence[RouteRecord], good: Sequence[bool], routes: Mapping[int, str] | None
) -> tuple[dict[str, float] | None, dict[str, list[float]], list[str]]:
    """Successes in percent by ability, their intervals, and a note; missing routes are left out."""
    if routes is None:
        return None, {}, []
    drives = [
        (routes[record.number], success)
        for record, success in zip(records, good, strict=True)
        if record.number is not None
    ]
    hits = {
        name: [success for kind, success in drives if kind in types]
        for name, types in ABILITIES.items()
    }
    bounds = {name: ends(wilson(sum(hit), len(hit)).scaled(100.0)) for name, hit in hits.items()}
    return _rates(hits), bounds, [_second_chance(records, good, routes)]


def _rates(hits: Mapping[str, Sequence[bool]]) -> dict[str, float]:
    """Successes in percent by ability, and their plain mean."""
    out = {name: 100.0 * float(np.mean(hit)) if hit else math.nan for name, hit in hits.items()}
    return out | {"mean": float(np.mean(list(out.values())))}


def run_abilities(run: RunScore) -> dict[str, Any] | None:
    """Abilities of a recorded run under Bench2Drive's rules; None under any other protocol.

    A drive belongs to the abilities of its route's first scenario; our own scenarios count as the
    public type they play. Missing drives are left out. ``mean`` is NaN while an ability has no
    drive.
    """
    if run.protocol != _PROTOCOL.name:
        return None
    hits: dict[str, list[bool]] = {name: [] for name in ABILITIES}
    labels: dict[str, list[str]] = {name: [] for name in ABILITIES}
    without = set()
    for episode in run.episodes:
        kind = next(iter(episode.detail.get("scenario_types", [])), "")
        public = OWN_TYPES.get(_VERSION.sub("", kind), kind)
        groups = [name for name, types in ABILITIES.items() if public in types]
        if not groups:
            without.add(kind or "no scenario")
        for name in groups:
            obeyed = name == "Traffic_Signs" and bool(episode.detail.get("signs_obeyed"))
            hits[name].append(episode.success or obeyed)
            labels[name].append(scenario_of(episode))
    bounds = {
        name: clustered_wilson([float(hit) for hit in found], labels[name])
        if found
        else wilson(0, 0)
        for name, found in hits.items()
    }
    return {
        "abilities": _rates(hits),
        "intervals": {name: ends(bound.scaled(100.0)) for name, bound in bounds.items()},
        "n": {name: len(found) for name, found in hits.items()},
        "types_of_no_ability": sorted(without),
    }


def _second_chance(
    records: Sequence[RouteRecord], good: Sequence[bool], routes: Mapping[int, str]
) -> str:
    """Describe the effect of the missing map on failed routes that obeyed lights and stop signs."""
    open_cases = [
        record.source
        for record, success in zip(records, good, strict=True)
        if not success
        and record.number is not None
        and routes[record.number] in ABILITIES["Traffic_Signs"]
        and not record.messages("red_light")
        and not record.messages("stop_infraction")
    ]
    if not open_cases:
        return "note: Traffic_Signs is exact: no failed route could gain from the junction rule"
    return (
        "note: Traffic_Signs is a lower bound: failed routes also count if they passed the first "
        f"junction lawfully, which needs the town's map; open: {listed(open_cases)}"
    )
