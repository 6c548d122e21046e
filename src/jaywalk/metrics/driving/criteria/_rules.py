"""Thresholds of each public protocol's criteria, and the event that a criterion reports.

An event belongs to one row of the ego's track. For the thresholds see the specification's sections
1.6 and 2.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One infraction as a protocol would note it.

    Attributes:
        key: Infraction key of the result files, e.g. ``red_light``.
        row: Row of the track at which it is noted.
        message: In the words of the result files.
        value: Percentage, where the kind has one; not rounded unless the protocol rounds it.
        other: Actor of the record.
    """

    key: str
    row: int
    message: str
    value: float | None = None
    other: int | None = None


def place_text(place_m: NDArray[np.float64] | Iterable[float]) -> str:
    """A place as result files write it."""
    x, y, z = (round(float(part), 3) for part in place_m)
    return f"(x={x}, y={y}, z={z})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """Detection thresholds and end conditions of one protocol. Defaults: Leaderboard 2.0 and 2.1.

    Attributes:
        hit_ignore_m: A hit within this distance of the last one is the same hit.
        hit_forget_m: The place of the last hit is forgotten beyond this distance.
        hit_id_s: Time for which the last actor hit is remembered.
        hit_min_speed_mps: A slower ego is not at fault; 0: always at fault.
        hit_all_places: Every place is remembered, in the plane; free hits are not remembered.
        lane_margin_m: Allowed distance of the ego's centre from the edge of a lane.
        lane_change_forgives: Changing between lanes of one direction ends a wrong-lane drive.
        red_line_share: Half width of a stop line in lane widths.
        stop_reach_m: Largest distance to the centre of a stop sign's trigger.
        stop_step_m: Spacing of the sampled points ahead of the ego.
        stop_steps: Number of these points.
        stop_box_scale: Scale factor of trigger boxes.
        stop_least_half_m: Smallest half size of trigger boxes before scaling.
        stop_must_enter: The ego must also have been in a box of that size around the sign itself.
        blocked_s: A longer standstill ends the route.
        checkpoints: Number of minimum-speed sections; 0: none.
        checkpoints_always: Whether fast sections are noted too.
        timeout: Growing with the distance driven, or fixed by the length of the route.
        limit_steps_kmh: Speed limits are raised to the next of these, where given. Fail2Drive reads
            a table that was made this way; a record only has the limit from the server.
        tick_limit: Ticks after which the route is ended early.
        scenario_criteria: Whether scenario time-outs and yielding count, and scenarios switch
            criteria off.
        places: Whether the messages of these criteria name a place.
        rounds: Whether completion and scores are rounded.
    """

    hit_ignore_m: float = 5.0
    hit_forget_m: float = 5.0
    hit_id_s: float = 5.0
    hit_min_speed_mps: float = 0.1
    hit_all_places: bool = False
    lane_margin_m: float = 0.5
    lane_change_forgives: bool = False
    red_line_share: float = 0.6
    stop_reach_m: float = 4.0
    stop_step_m: float = 0.5
    stop_steps: int = 8
    stop_box_scale: float = 1.2
    stop_least_half_m: float = 0.0
    stop_must_enter: bool = False
    blocked_s: float = 180.0
    checkpoints: int = 4
    checkpoints_always: bool = False
    timeout: Literal["growing", "fixed"] = "growing"
    limit_steps_kmh: tuple[float, ...] = ()
    tick_limit: int | None = None
    scenario_criteria: bool = True
    places: bool = False
    rounds: bool = True


_SECOND: Final = Rules()
RULES: Final[Mapping[str, Rules]] = MappingProxyType(
    {
        "leaderboard-1.0": Rules(
            hit_ignore_m=3.0,
            hit_min_speed_mps=0.0,
            hit_all_places=True,
            lane_margin_m=1.3,
            lane_change_forgives=True,
            red_line_share=0.4,
            stop_reach_m=50.0,
            stop_step_m=1.0,
            stop_steps=20,
            stop_box_scale=1.0,
            stop_must_enter=True,
            checkpoints=0,
            timeout="fixed",
            scenario_criteria=False,
            rounds=False,
        ),
        "leaderboard-2.0": _SECOND,
        "leaderboard-2.1": _SECOND,
        "bench2drive": replace(
            _SECOND, blocked_s=60.0, checkpoints=20, checkpoints_always=True, tick_limit=4000
        ),
        "fail2drive": replace(
            _SECOND,
            stop_least_half_m=0.5,
            limit_steps_kmh=(50.0, 80.0, 100.0, 120.0),
            places=True,
        ),
    }
)


def rules_of(protocol: str) -> Rules:
    """Rules of a public protocol, or a list of those there are."""
    if protocol not in RULES:
        raise UsageError(f"No rules for protocol '{protocol}'. Known: {', '.join(RULES)}.")
    return RULES[protocol]
