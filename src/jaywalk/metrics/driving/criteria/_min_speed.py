"""Minimum speed: the ego's mean speed in each section of the route against the traffic's.

A known quirk is kept: a test is ended twice when the route ends normally (once when it ends early),
and writes its last section each time.

Vehicles of the traffic that a scenario holds up do not show how fast the traffic drives. A scenario
that blocks a road also stops the traffic, so that a waiting ego would seem as fast as the traffic.
Three kinds of vehicles are therefore left out: vehicles under a speed cap that a scenario set for
the traffic, a lead car that a scenario brakes, and vehicles that stand behind an actor of a
scenario or behind another vehicle that is held up.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl

from jaywalk.core.arrays import BoolArray, FloatArray, IntArray
from jaywalk.core.units import MPS_TO_KMH
from jaywalk.metrics.driving.criteria._rules import Event, Rules
from jaywalk.metrics.driving.criteria._track import CriteriaRoute, CriteriaTrack, advance
from jaywalk.record import Record
from jaywalk.record import columns as c
from jaywalk.record.queries import actor_values, announcements
from jaywalk.record.tracks import COS, HX, HY, SIN, EpisodeTracks, load_tracks

CAPS, BRAKES, DRIVES_ON = "caps the traffic", "brakes", "drives on"  # of notes of scenarios
_SCENARIO_ROLE: Final = "scenario"
_RECOVERY_S: Final = 10.0  # longest time until a vehicle is as fast as before
_AS_FAST_MPS: Final = 0.5
_STANDS_MPS: Final = 0.5
_SIDE_M: Final = 0.3  # as our traffic keeps beside a car
_GAP_M: Final = 6.0  # a car waits if the gap is below this plus its way in _GAP_S
_GAP_S: Final = 1.5
_NEAR_M: Final = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Hold:
    """From one tick's index to another; ``cap_mps`` of all vehicles, or one vehicle's."""

    first: int
    last: int
    cap_mps: float = 0.0
    vehicle: int | None = None  # index of the body


def slowed_by_scenarios(record: Record) -> pl.DataFrame:
    """Rows (actor, tick) of background vehicles that are held up by a scenario."""
    tracks = load_tracks(record)
    empty = pl.DataFrame(schema={c.ACTOR: pl.Int64, c.TICK: pl.Int64})
    if tracks is None:
        return empty
    roles = actor_values(record, c.ROLE_NAME)
    role = [str(roles.get(int(number)) or "") for number in tracks.number]
    cars = np.array(
        [k for k in tracks.others if tracks.kind[k] == "vehicle" and role[k] == "background"], int
    )
    slowed = np.zeros((len(tracks.number), len(tracks.tick)), np.bool_)
    speed = np.stack([tracks.speed_mps(k) for k in range(len(tracks.number))])
    limit = _limits(tracks) if len(cars) else speed
    for hold in _holds(record, tracks):
        for car in cars if hold.vehicle is None else [hold.vehicle]:
            held = slice(hold.first, hold.last + 1)
            under = np.ones(hold.last + 1 - hold.first, np.bool_)
            if hold.vehicle is None:
                under = ~(limit[car, held] <= hold.cap_mps)  # an unknown limit is under the cap
            slowed[car, held] |= under
            if under.any():
                slowed[car, _recovers(tracks, speed[car], hold)] = True
    of_scenario = np.array([name.startswith(_SCENARIO_ROLE) for name in role])
    slowed[cars] |= _queued(tracks, cars, of_scenario, speed, slowed)
    who, when = np.nonzero(slowed & tracks.present)
    if not len(who):
        return empty
    return pl.DataFrame({c.ACTOR: tracks.number[who], c.TICK: tracks.tick[when]})


def _recovers(tracks: EpisodeTracks, speed: FloatArray, hold: _Hold) -> slice:
    """Ticks after a hold until a vehicle is as fast as it was before."""
    until_s = tracks.time_s[hold.last] + _RECOVERY_S
    stop = int(np.searchsorted(tracks.time_s, until_s, "right"))
    fast = np.flatnonzero(speed[hold.last : stop] >= speed[hold.first] - _AS_FAST_MPS)
    return slice(hold.last, hold.last + int(fast[0]) if len(fast) else stop)


def _holds(record: Record, tracks: EpisodeTracks) -> Iterator[_Hold]:
    """Yield the holds of traffic that scenarios noted; a hold without an end lasts to the end."""
    number = {server_id: actor for actor, server_id in actor_values(record, c.SERVER_ID).items()}
    own = record.episode.parameters.get("traffic", "own") == "own"  # others ignore caps
    last = len(tracks.tick) - 1
    cap: tuple[int, float] | None = None
    braking: dict[int, int] = {}
    for note in announcements(record, kind="note"):
        tick, detail = note.tick, note.detail
        at = min(int(np.searchsorted(tracks.tick, tick)), last)
        if detail.get("what") == CAPS and own:
            if cap is not None:
                yield _Hold(first=cap[0], last=at, cap_mps=cap[1])
            cap = None if detail.get("cap_mps") is None else (at, float(detail["cap_mps"]))
        elif detail.get("what") in (BRAKES, DRIVES_ON):
            body = np.flatnonzero(tracks.number == number.get(detail.get("actor"), -1))
            if len(body) and detail["what"] == BRAKES:
                braking[int(body[0])] = at
            elif len(body) and int(body[0]) in braking:
                yield _Hold(first=braking.pop(int(body[0])), last=at, vehicle=int(body[0]))
    if cap is not None:
        yield _Hold(first=cap[0], last=last, cap_mps=cap[1])
    for vehicle, first in braking.items():
        yield _Hold(first=first, last=last, vehicle=vehicle)


def _limits(tracks: EpisodeTracks) -> FloatArray:
    """(bodies, ticks) speed limits in m/s; nan where unknown."""
    kmh = tracks.dense(c.SPEED_LIMIT_KMH).astype(np.float32)  # as precise as the record
    return np.where(kmh > 0.0, kmh / MPS_TO_KMH, np.nan).astype(np.float64)


def _queued(
    tracks: EpisodeTracks,
    cars: IntArray,
    of_scenario: BoolArray,
    speed: FloatArray,
    slowed: BoolArray,
) -> BoolArray:
    """Return whether each car waits behind a scenario's actor or a held-up car, (cars, ticks)."""
    waits = np.zeros((len(cars), len(tracks.tick)), np.bool_)
    ahead = np.full((len(cars), len(tracks.tick)), -1, np.int64)
    for row, car in enumerate(cars):
        if _is_near(tracks, car, np.flatnonzero(of_scenario)):
            ahead[row] = _whom_behind(tracks, int(car), speed[car])
    body, tick = np.maximum(ahead, 0), np.arange(len(tracks.tick))[None, :]
    standing = (ahead >= 0) & of_scenario[body] & (speed[body, tick] < _STANDS_MPS)
    waits |= standing
    held = slowed.copy()
    for _ in cars:  # a queue is no longer than this
        held[cars] |= waits
        more = (ahead >= 0) & held[body, tick] & ~waits
        if not more.any():
            break
        waits |= more
    return waits


def _is_near(tracks: EpisodeTracks, car: int, bodies: IntArray) -> bool:
    for body in bodies:
        both = tracks.present[car] & tracks.present[body]
        away = tracks.pose[body, both, :2] - tracks.pose[car, both, :2]
        if both.any() and np.hypot(*away.T).min() < _NEAR_M:
            return True
    return False


def _whom_behind(tracks: EpisodeTracks, car: int, speed: FloatArray) -> IntArray:
    """Return the index of the body straight ahead that a car waits for, (ticks,); -1: none."""
    leader, least = np.full(len(tracks.tick), -1, np.int64), _GAP_M + _GAP_S * speed
    mine = tracks.pose[car]
    for body in range(len(tracks.number)):
        if body == car:
            continue
        theirs, half = tracks.pose[body], tracks.shape[body]
        away = theirs[:, :2] - mine[:, :2]
        along = away[:, 0] * mine[:, COS] + away[:, 1] * mine[:, SIN]
        aside = np.abs(away[:, 1] * mine[:, COS] - away[:, 0] * mine[:, SIN])
        cos = np.abs(mine[:, COS] * theirs[:, COS] + mine[:, SIN] * theirs[:, SIN])
        sin = np.abs(mine[:, COS] * theirs[:, SIN] - mine[:, SIN] * theirs[:, COS])
        gap = along - tracks.shape[car, HX] - half[HX] * cos - half[HY] * sin
        reach = tracks.shape[car, HY] + half[HX] * sin + half[HY] * cos + _SIDE_M
        nearer = (along > 0.0) & (aside < reach) & (gap < least) & tracks.present[body]
        leader[nearer], least[nearer] = body, gap[nearer]
    return leader


_WINDOW: Final = 2
_LAST_SHARE: Final = 0.95
_ENOUGH_PERCENT: Final = 100.0


def find_min_speed(
    route: CriteriaRoute, track: CriteriaTrack, rules: Rules, *, ends: int = 2
) -> list[Event]:
    """Sections that were too slow (or all, where the protocol notes all).

    Args:
        route: The route.
        track: The ego up to the route's end.
        rules: Of the protocol.
        ends: Number of times that the test is ended.
    """
    if not rules.checkpoints:
        return []
    along = route.arc_m[advance(route, track.place_m, _WINDOW)]
    spacing = route.length_m / rules.checkpoints
    crossings, last = [], 0.0
    for row in np.flatnonzero(np.diff(along, prepend=0.0) > 0.0).tolist():
        if along[row] - last > spacing:
            crossings.append(row)
            last = float(along[row])
    # The tick that crosses belongs to the section it enters.
    starts = [0, *crossings]
    sections = [
        _section(track, first, stop, stop) for first, stop in zip(starts, crossings, strict=False)
    ]
    if along[-1] / route.length_m > _LAST_SHARE:
        sections += [_section(track, starts[-1], len(track), len(track) - 1)] * ends
    return [e for e in sections if rules.checkpoints_always or (e.value or 0.0) < _ENOUGH_PERCENT]


def _section(track: CriteriaTrack, first: int, stop: int, row: int) -> Event:
    others = track.traffic_mps[first:stop]
    counted = ~np.isnan(others)
    percent = _ENOUGH_PERCENT
    traffic = math.fsum(others[counted])
    if traffic != 0.0:
        percent = round(100.0 * math.fsum(track.speed_mps[first:stop][counted]) / traffic, 2)
    shown = int(percent) if percent == _ENOUGH_PERCENT and traffic == 0.0 else percent
    message = f"Average speed is {shown}% of the surrounding traffic's one"
    return Event(key="min_speed_infractions", row=row, message=message, value=percent)
