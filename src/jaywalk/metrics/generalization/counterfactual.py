"""Counterfactual check of pairs: both records must agree until the shift comes into reach.

The shift matters from the first tick at which an actor that only one record has is within reach of
the ego (it can be perceived), or at which a scenario does something that no scenario does in the
other record (it acts). Drivers see to different distances: if a command is the first difference, at
a tick at which the shift is beyond the reach but in sight, the driver has perceived the shift.
Until then every shared actor, every light and the weather must agree bit by bit, and so must the
driver's commands before that tick. The background must be the same in both records: only scenarios
may add actors.

A shift that is within reach at the start leaves little time for comparison. Such a pair passes on
its start alone: the ego and its route, all background actors with their models, colours and places,
lights and weather are the same at the first tick. It is called weak and counted separately.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import polars as pl

from jaywalk.core.errors import DataError
from jaywalk.record import Record
from jaywalk.record import columns as c
from jaywalk.record.queries import actor_rows, event_rows, landmark_rows, state_rows, weather_rows

STEP_S: Final = 0.05  # of records that do not say
REACH_M: Final = 80.0  # how far our drivers with limited perception see on a clear day
SIGHT_M: Final = 120.0  # no driver reacts to things farther away
_BODIES: Final = ("vehicle", "walker", "prop")
_POSE: Final = (c.X_M, c.Y_M, c.Z_M, c.PITCH_DEG, c.YAW_DEG, c.ROLL_DEG)
_DOING: Final = (c.TICK, c.KIND, c.NAME, c.DETAIL)
_NOT_SHARED: Final = -1  # an actor that only one record has
_BACKGROUND: Final = ("background", "hero", "ambient", "habit")  # roles of no scenario's actors
WEAK_TICKS: Final = 20  # a second: a pair that is compared for less shows its start only
_AROUND: Final = "a background actor"
_STAGED: Final = "a scenario's actor"
_LIGHT: Final = "a light"
_WEATHER: Final = "the weather"
_COMMAND: Final = "the driver's command"
_OF_BACKGROUND: Final = (_AROUND, _LIGHT, _WEATHER)


@dataclass(frozen=True, slots=True, kw_only=True)
class PairCheck:
    """Result of the comparison of two records. Ticks count from 0; None: never."""

    pair: str
    seed: int | None
    passed: bool
    reason: str  # why not; empty if passed
    shared_actors: int
    own_actors: int  # that only one of the two has
    perceived_tick: int | None
    reacted_tick: int | None  # the driver answered to a shift beyond the reach
    acts_tick: int | None
    first_difference_tick: int | None
    background_difference_tick: int | None  # of lights, weather, traffic, people
    start_shared: bool  # all but the scenarios' own actors is the same at the first tick
    compared_ticks: int  # that had to be identical, and were looked at
    ego_moved_m: float  # how far the ego had driven by then
    step_s: float  # of a tick

    @property
    def weak(self) -> bool:
        """Return whether the check could only show that the start is shared."""
        return self.compared_ticks <= WEAK_TICKS

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {name: getattr(self, name) for name in self.__slots__} | {"weak": self.weak}


@dataclass(frozen=True, slots=True, kw_only=True)
class PairTally:
    """Number of pairs that pass, in total and by strength."""

    pairs: int
    passed: int
    weak: int  # of those that passed: on their start alone
    weak_background_same: int  # of the weak: the background never differs, in the whole records

    @classmethod
    def of(cls, checks: Sequence[PairCheck]) -> PairTally:
        """Count."""
        weak = [check for check in checks if check.passed and check.weak]
        return cls(
            pairs=len(checks),
            passed=sum(check.passed for check in checks),
            weak=len(weak),
            weak_background_same=sum(one.background_difference_tick is None for one in weak),
        )

    @property
    def strong(self) -> int:
        """Number of passed pairs that agree for a second or more until the shift matters."""
        return self.passed - self.weak

    def as_dict(self) -> dict[str, int]:
        """For JSON."""
        return {
            "pairs": self.pairs,
            "passed": self.passed,
            "strong": self.strong,
            "weak": self.weak,
            "weak_background_same": self.weak_background_same,
        }


def check_pair(
    base: Record, shift: Record, reach_m: float = REACH_M, sight_m: float = SIGHT_M
) -> PairCheck:
    """Compare two records of one pair.

    Args:
        base: One half.
        shift: The other.
        reach_m: From where on the shift can be perceived.
        sight_m: From where on a driver that sees farther may have reacted to it.

    Raises:
        DataError: They are not of one pair, seed and agent, or have no ego.
    """
    _same_plan(base, shift)
    halves = [_Half.of(record) for record in (base, shift)]
    shared = _matched(*halves)
    own = [set(half.actors) - {pair[k] for pair in shared} for k, half in enumerate(halves)]
    differing = _differences(halves, shared)
    perceived, seen = (
        _least(half.near_tick(mine, far_m) for half, mine in zip(halves, own, strict=True))
        for far_m in (reach_m, sight_m)
    )
    reacted = _least(
        tick
        for tick, what in differing
        if what == _COMMAND
        and seen is not None
        and seen <= tick
        and (perceived is None or tick < perceived)
    )
    acts = _acts(*halves)
    last = min(half.last_tick for half in halves)
    until = min(tick for tick in (last, perceived, reacted, acts) if tick is not None)
    difference = _least(tick for tick, _ in differing)
    # The driver decides on its command at a tick from its input at that tick.
    early = [(tick, what) for tick, what in differing if tick < until + (what != _COMMAND)]
    strange = _strangers(halves, own)
    begins = not any(tick == 0 for tick, what in differing if what not in (_COMMAND, _STAGED))
    reason = strange
    if early and not reason:
        tick, what = min(early)
        reason = f"{what} differs at tick {tick}; the shift matters from tick {until} on"
    ego = halves[0].states.filter(pl.col(c.ACTOR) == halves[0].ego).filter(pl.col(c.TICK) <= until)
    steps = np.hypot(np.diff(ego[c.X_M].to_numpy()), np.diff(ego[c.Y_M].to_numpy()))
    return PairCheck(
        pair=base.episode.pair,
        seed=base.episode.seed,
        passed=not reason,
        reason=reason,
        shared_actors=len(shared),
        own_actors=sum(map(len, own)),
        perceived_tick=perceived,
        reacted_tick=reacted,
        acts_tick=acts,
        first_difference_tick=difference,
        background_difference_tick=_least(
            tick for tick, what in differing if what in _OF_BACKGROUND
        ),
        start_shared=begins and not strange,
        compared_ticks=until + 1,
        ego_moved_m=round(float(steps.sum()), 2),
        step_s=base.episode.step_s or STEP_S,
    )


def _same_plan(base: Record, shift: Record) -> None:
    for name in ("pair", "seed", "town", "suite", "step_s"):
        first, second = (getattr(record.episode, name) for record in (base, shift))
        if first != second:
            raise DataError(
                f"'{base.folder.name}' and '{shift.folder.name}' are not a pair: {name} is "
                f"'{first}' and '{second}'."
            )
    for record in (base, shift):
        if not record.episode.complete:
            raise DataError(f"'{record.folder.name}' has lost ticks; run it again.")
    if base.episode.agent.name != shift.episode.agent.name:
        raise DataError(f"'{base.folder.name}' and '{shift.folder.name}' have different drivers.")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Half:
    """Parts of one record that the comparison needs."""

    actors: dict[int, tuple[Any, ...]]  # number -> identifying values
    roles: dict[int, str]
    states: pl.DataFrame
    signals: pl.DataFrame
    weather: pl.DataFrame
    commands: pl.DataFrame
    route: pl.DataFrame
    ego: int
    doings: Counter[tuple[Any, ...]]  # tick and content of every scenario's event
    last_tick: int

    @classmethod
    def of(cls, record: Record) -> _Half:
        if record.episode.ego_actor is None:
            raise DataError(f"'{record.folder}' has no ego; a pair cannot be checked.")
        actors = actor_rows(record, *_BODIES)
        states = state_rows(record)
        first = states.group_by(c.ACTOR, maintain_order=True).first()
        began = {
            row[c.ACTOR]: tuple(row[name] for name in _POSE) for row in first.iter_rows(named=True)
        }
        doings = event_rows(record).filter(pl.col(c.SOURCE) == "scenario")
        return cls(
            actors={
                row[c.ACTOR]: (
                    row[c.TYPE_ID],
                    row[c.ROLE_NAME],
                    row[c.FIRST_TICK],
                    row[c.ATTRIBUTES],
                    *began.get(row[c.ACTOR], ()),
                )
                for row in actors.iter_rows(named=True)
            },
            roles={row[c.ACTOR]: row[c.ROLE_NAME] for row in actors.iter_rows(named=True)},
            states=states,
            signals=_placed(record, record.signals.collect()),
            weather=weather_rows(record),
            commands=record.ego.select(c.TICK, pl.col("^command_.*$")).sort(c.TICK).collect(),
            route=record.route.collect(),
            ego=record.episode.ego_actor,
            doings=Counter(doings.select(_DOING).iter_rows()),
            last_tick=int(record.ticks.select(pl.col(c.TICK).max()).collect().item()),
        )

    def near_tick(self, numbers: set[int], reach_m: float) -> int | None:
        """First tick at which one of some actors is within reach of the ego."""
        ego = self.states.filter(pl.col(c.ACTOR) == self.ego).select(
            c.TICK, pl.col(c.X_M).alias("ego_x"), pl.col(c.Y_M).alias("ego_y")
        )
        earliest = None
        for number in sorted(numbers):
            rows = self.states.filter(pl.col(c.ACTOR) == number).select(c.TICK, c.X_M, c.Y_M)
            if not rows.height:
                continue
            born = int(rows[c.TICK][0])
            # Bodies that stand still may lack rows at some ticks.
            both = ego.filter(pl.col(c.TICK) >= born).join_asof(rows, on=c.TICK)
            gap = np.hypot(both["ego_x"] - both[c.X_M], both["ego_y"] - both[c.Y_M])
            near = np.flatnonzero(gap <= reach_m)
            if len(near):
                earliest = _least((earliest, int(both[c.TICK][int(near[0])])))
        return earliest


def _placed(record: Record, signals: pl.DataFrame) -> pl.DataFrame:
    """Signals by the place of their light: numbers of actors differ between the records."""
    marks = landmark_rows(record).select(c.ACTOR, c.X_M, c.Y_M)
    joined = signals.join(marks, on=c.ACTOR, how="left").drop(c.ACTOR)
    return joined.sort(c.X_M, c.Y_M, c.TICK)


def _acts(first: _Half, second: _Half) -> int | None:
    """First tick at which a scenario of only one record reports something."""
    alone = (first.doings - second.doings) + (second.doings - first.doings)
    return _least(int(doing[0]) for doing in alone)


def _least(ticks: Any) -> int | None:
    known = [tick for tick in ticks if tick is not None]
    return min(known) if known else None


def _matched(first: _Half, second: _Half) -> list[tuple[int, int]]:
    """Numbers of the actors that both have: same model, colour and role, first tick and pose."""
    left: dict[tuple[Any, ...], list[int]] = {}
    for number, key in second.actors.items():
        left.setdefault(key, []).append(number)
    pairs = []
    for number, key in first.actors.items():
        if left.get(key):
            pairs.append((number, left[key].pop(0)))
    return pairs


def _differences(halves: list[_Half], shared: list[tuple[int, int]]) -> list[tuple[int, str]]:
    """Return the shared parts that differ, each with the first tick of difference."""
    last = min(half.last_tick for half in halves)
    same_route = halves[0].route.equals(halves[1].route)
    differences: list[tuple[int | None, str]] = [(None if same_route else 0, "the ego's route")]
    states = [_numbered(half, [pair[k] for pair in shared]) for k, half in enumerate(halves)]
    for what, group in _groups(halves[0], [first for first, _ in shared]).items():
        left, other = (table.filter(pl.col(c.ACTOR).is_in(group)) for table in states)
        differences.append((_table_difference(left, other, [c.ACTOR, c.TICK], last), what))
    for keys, (left, other), what in (
        ([c.X_M, c.Y_M, c.TICK], [half.signals for half in halves], _LIGHT),
        ([c.TICK], [half.weather for half in halves], _WEATHER),
        ([c.TICK], [half.commands for half in halves], _COMMAND),
    ):
        differences.append((_table_difference(left, other, keys, last), what))
    return [(tick, what) for tick, what in differences if tick is not None]


def _numbered(half: _Half, actors: list[int]) -> pl.DataFrame:
    """States of some actors, under their place in the list: their numbers differ in the records."""
    kept = half.states.filter(pl.col(c.ACTOR).is_in(actors))
    places = {number: place for place, number in enumerate(actors)}
    named = [name for name in (c.GAZE_ACTOR, c.PERCEIVED_ACTOR) if name in kept.columns]
    return kept.with_columns(
        pl.col(c.ACTOR).replace_strict(places, return_dtype=pl.Int64),
        *(
            pl.when(pl.col(name).is_not_null()).then(
                pl.col(name).replace_strict(places, default=_NOT_SHARED, return_dtype=pl.Int64)
            )
            for name in named
        ),
    )


def _groups(half: _Half, actors: list[int]) -> dict[str, list[int]]:
    """Places of some actors by their type."""
    groups: dict[str, list[int]] = {"the ego": [], _AROUND: [], _STAGED: []}
    for place, number in enumerate(actors):
        if number == half.ego:
            groups["the ego"].append(place)
        else:
            around = half.roles[number] in _BACKGROUND
            groups[_AROUND if around else _STAGED].append(place)
    return groups


def _table_difference(
    first: pl.DataFrame, second: pl.DataFrame, keys: list[str], last_tick: int
) -> int | None:
    """First tick at which two tables differ, up to where the shorter record ends."""
    first, second = (table.filter(pl.col(c.TICK) <= last_tick) for table in (first, second))
    if not first.height and not second.height:
        return None
    values = [name for name in first.columns if name not in keys]
    joined = first.join(second, on=keys, how="full", suffix="_b", coalesce=True)
    known = (
        first.select(pl.lit(True).alias("in_a"), *keys),
        second.select(pl.lit(True).alias("in_b"), *keys),
    )
    joined = joined.join(known[0], on=keys, how="left").join(known[1], on=keys, how="left")
    differs = pl.col("in_a").is_null() | pl.col("in_b").is_null()
    for name in values:
        differs = differs | ~pl.col(name).eq_missing(pl.col(f"{name}_b"))
    rows = joined.filter(differs)
    return int(rows[c.TICK].min()) if rows.height else None  # type: ignore[arg-type]


def _strangers(halves: list[_Half], own: list[set[int]]) -> str:
    """Describe the background actors that only one record has; empty if there are none."""
    roles = [
        halves[k].roles[number]
        for k in (0, 1)
        for number in own[k]
        if halves[k].roles[number] in _BACKGROUND
    ]
    if not roles:
        return ""
    counts = ", ".join(f"{count} {role}" for role, count in sorted(Counter(roles).items()))
    return f"the background differs: {len(roles)} actors are not in both records ({counts})"
