"""Start and end of scenarios, and the criteria they switched, from the events of a record.

Contract with the writer of the events (``name`` is the scenario's name in the route):
``scenario_start``, then ``scenario_end`` or ``scenario_timeout``; ``criterion_switch`` with the
name ``blocked`` or ``wrong_lane`` and the detail ``{"active": bool}``.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from jaywalk.record import columns as c

TIMED_OUT: Final = "scenario_timeout"
# The public Leaderboard and Fail2Drive decide by the type's name which criteria a scenario
# suspends. This list states their rule, also for records of other writers. Jaywalk's types state
# theirs in `ScenarioSpec.suspends`, which metrics cannot read because they never import
# scenarios; tests/unit/scenarios/test_scenario_specs.py compares the two.
# Types that make the ego use the opposite lane suspend the wrong-lane criterion.
_TWO_WAYS: Final = "TwoWays"
# Types that block the ego's path have a time-out and suspend the blocked criterion; any type
# whose name contains one of these words.
_OBSTACLES: Final = (
    "Accident",
    "BadParking",
    "BlockedIntersection",
    "Construction",
    "CustomObstacle",
    "CrossingBicycleFlow",
    "EnterActorFlow",
    "HazardAtSideLane",
    "HighwayExit",
    "ImageOnObject",
    "InterurbanActorFlow",
    "InterurbanAdvancedActorFlow",
    "InvadingTurn",
    "JunctionLeftTurn",
    "JunctionRightTurn",
    "MergerIntoSlowTraffic",
    "ObscuredStopSign",
    "ParkedObstacle",
    "ParkingExit",
    "PedestrianCrowd",
    "SequentialLaneChange",
    "T_Junction",
    "VehicleOpensDoor",
)
# Its time-out suspends the blocked criterion too, but is not an infraction.
_TIMEOUT_IS_FREE: Final = "ObscuredStopSign"
_OWN_COLLISION_TEST: Final = (
    "VehicleTurningRoutePedestrian",
    "VehicleTurningRight",
    "VehicleTurningLeft",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """One scenario from its start to its end, in ticks; ``last_tick`` None: it never ended."""

    name: str
    type: str
    first_tick: int
    last_tick: int | None
    timed_out: bool = False

    @property
    def rests_blocked_test(self) -> bool:
        """Return whether the public scenario of this type has a time-out, not the blocked test."""
        return any(part in self.type for part in _OBSTACLES)

    @property
    def charges_timeout(self) -> bool:
        """Return whether a time-out of the public scenario of this type is an infraction."""
        return self.type != _TIMEOUT_IS_FREE

    @property
    def rests_wrong_lane_test(self) -> bool:
        """Return whether the public scenario of this type allows the opposite lane."""
        return self.type.endswith(_TWO_WAYS)

    @property
    def counts_collisions_again(self) -> bool:
        """Return whether the public scenario of this type has a second collision test."""
        return self.type in _OWN_COLLISION_TEST


@dataclass(frozen=True, slots=True, kw_only=True)
class Switch:
    """A criterion switched on or off at a tick."""

    criterion: str
    tick: int
    active: bool


def spans_of(events: pl.DataFrame, scenarios: list[dict[str, Any]]) -> list[Span]:
    """Lives of the scenarios that started."""
    types = {str(scenario.get("name", "")): str(scenario.get("type", "")) for scenario in scenarios}
    ends = (c.KIND, "scenario_end", TIMED_OUT)
    spans = []
    for start in events.filter(pl.col(c.KIND) == "scenario_start").iter_rows(named=True):
        name = start[c.NAME] or ""
        detail = _detail(start)
        after = events.filter(
            pl.col(c.KIND).is_in(ends[1:])
            & (pl.col(c.NAME) == name)
            & (pl.col(c.TICK) >= start[c.TICK])
        ).sort(c.TICK, c.EVENT)
        last = after.row(0, named=True) if after.height else None
        spans.append(
            Span(
                name=name,
                type=str(detail.get("type") or types.get(name, "")),
                first_tick=start[c.TICK],
                last_tick=None if last is None else last[c.TICK],
                timed_out=bool(after.filter(pl.col(c.KIND) == TIMED_OUT).height),
            )
        )
    return spans


def switches_of(events: pl.DataFrame, spans: list[Span]) -> list[Switch]:
    """Return the noted switches of criteria; if there are none, those that scenarios imply."""
    noted = [
        Switch(criterion=row[c.NAME] or "", tick=row[c.TICK], active=bool(_detail(row)["active"]))
        for row in events.filter(pl.col(c.KIND) == "criterion_switch").iter_rows(named=True)
        if "active" in _detail(row)
    ]
    if noted:  # by a writer that notes all of them
        return sorted(noted, key=lambda switch: switch.tick)
    for span in spans:
        for criterion, rests in (
            ("blocked", span.rests_blocked_test),
            ("wrong_lane", span.rests_wrong_lane_test),
        ):
            if rests:
                noted.append(Switch(criterion=criterion, tick=span.first_tick, active=False))
                if span.last_tick is not None:
                    noted.append(Switch(criterion=criterion, tick=span.last_tick, active=True))
    return sorted(noted, key=lambda switch: switch.tick)


def _detail(row: dict[str, Any]) -> dict[str, Any]:
    try:
        detail = json.loads(row[c.DETAIL] or "{}")
    except json.JSONDecodeError:
        return {}
    return detail if isinstance(detail, dict) else {}
