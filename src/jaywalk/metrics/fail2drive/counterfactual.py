"""Is a pair a counterfactual? Both records must be the same until the shift can matter.

The shift can matter from the first tick at which something that only one of the records has is
within reach of the ego (it can be perceived), or at which a scenario does what none does in the
other record (it acts). Until then
every actor both have, every light and the weather must agree bit by bit, and what the driver
commands too. Traffic must be the same in both: only scenarios may bring actors of their own.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import polars as pl

from jaywalk.core.errors import DataError
from jaywalk.record import Record
from jaywalk.record import columns as c

REACH_M: Final = 80.0  # how far our drivers with limited perception see on a clear day
_BODIES: Final = ("vehicle", "walker", "prop")
_POSE: Final = (c.X_M, c.Y_M, c.Z_M, c.PITCH_DEG, c.YAW_DEG, c.ROLL_DEG)
_DOING: Final = (c.TICK, c.KIND, c.NAME, c.DETAIL)
_BACKGROUND: Final = ("background", "hero")


@dataclass(frozen=True, slots=True, kw_only=True)
class PairCheck:
    """What the comparison of two records found. Ticks count from 0; None: never."""

    pair: str
    seed: int | None
    passed: bool
    reason: str  # why not; empty if passed
    shared_actors: int
    own_actors: int  # that only one of the two has
    perceived_tick: int | None
    acts_tick: int | None
    first_difference_tick: int | None
    compared_ticks: int  # that had to be identical, and were looked at
    ego_moved_m: float  # how far the ego had driven by then

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {name: getattr(self, name) for name in self.__slots__}


def check_pair(base: Record, shift: Record, reach_m: float = REACH_M) -> PairCheck:
    """Compare two records of one pair.

    Raises:
        DataError: They are not of one pair, seed and agent, or have no ego.
    """
    _same_plan(base, shift)
    halves = [_Half.of(record) for record in (base, shift)]
    shared = _matched(*halves)
    own = [set(half.actors) - {pair[k] for pair in shared} for k, half in enumerate(halves)]
    perceived = _least(
        half.near_tick(mine, reach_m) for half, mine in zip(halves, own, strict=True)
    )
    acts = _acts(*halves)
    last = min(half.last_tick for half in halves)
    until = min(tick for tick in (last, perceived, acts) if tick is not None)
    difference, what = _first_difference(halves, shared)
    reason = _why_not(halves, own, difference, what, until)
    ego = halves[0].states.filter(pl.col(c.ACTOR) == halves[0].ego).filter(pl.col(c.TICK) <= until)
    steps = np.hypot(np.diff(ego[c.X_M].to_numpy()), np.diff(ego[c.Y_M].to_numpy()))
    return PairCheck(
        pair=base.episode.pair, seed=base.episode.seed, passed=not reason, reason=reason,
        shared_actors=len(shared), own_actors=sum(map(len, own)), perceived_tick=perceived,
        acts_tick=acts, first_difference_tick=difference, compared_ticks=until + 1,
        ego_moved_m=round(float(steps.sum()), 2),
    )  # fmt: skip


def _same_plan(base: Record, shift: Record) -> None:
    for name in ("pair", "seed", "town", "suite"):
        first, second = (getattr(record.episode, name) for record in (base, shift))
        if first != second:
            raise DataError(
                f"'{base.folder.name}' and '{shift.folder.name}' are no pair: {name} is "
                f"'{first}' and '{second}'."
            )
    if base.episode.agent.name != shift.episode.agent.name:
        raise DataError(f"'{base.folder.name}' and '{shift.folder.name}' have different drivers.")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Half:
    """What is needed of one record."""

    actors: dict[int, tuple[Any, ...]]  # number -> what tells it apart
    roles: dict[int, str]
    states: pl.DataFrame
    signals: pl.DataFrame
    weather: pl.DataFrame
    commands: pl.DataFrame
    ego: int
    doings: Counter[tuple[Any, ...]]  # tick and what, of every scenario's event
    last_tick: int

    @classmethod
    def of(cls, record: Record) -> _Half:
        if record.episode.ego_actor is None:
            raise DataError(f"'{record.folder}' has no ego; a pair cannot be checked.")
        actors = record.actors.filter(pl.col(c.KIND).is_in(_BODIES)).collect()
        states = record.states.sort(c.ACTOR, c.TICK).collect()
        first = states.group_by(c.ACTOR, maintain_order=True).first()
        began = {row[c.ACTOR]: tuple(row[name] for name in _POSE)
                 for row in first.iter_rows(named=True)}  # fmt: skip
        doings = record.events.filter(pl.col(c.SOURCE) == "scenario").collect()
        return cls(
            actors={
                row[c.ACTOR]: (row[c.TYPE_ID], row[c.ROLE_NAME], row[c.FIRST_TICK],
                               *began.get(row[c.ACTOR], ()))
                for row in actors.iter_rows(named=True)
            },
            roles={row[c.ACTOR]: row[c.ROLE_NAME] for row in actors.iter_rows(named=True)},
            states=states,
            signals=_placed(record, record.signals.collect()),
            weather=record.weather.sort(c.TICK).collect(),
            commands=record.ego.select(c.TICK, pl.col("^command_.*$")).sort(c.TICK).collect(),
            ego=record.episode.ego_actor,
            doings=Counter(doings.select(_DOING).iter_rows()),
            last_tick=int(record.ticks.select(pl.col(c.TICK).max()).collect().item()),
        )  # fmt: skip

    def near_tick(self, numbers: set[int], reach_m: float) -> int | None:
        """First tick at which one of some actors is within reach of the ego."""
        ego = self.states.filter(pl.col(c.ACTOR) == self.ego).select(
            c.TICK, pl.col(c.X_M).alias("ego_x"), pl.col(c.Y_M).alias("ego_y")
        )
        found = None
        for number in sorted(numbers):
            rows = self.states.filter(pl.col(c.ACTOR) == number).select(c.TICK, c.X_M, c.Y_M)
            if not rows.height:
                continue
            born = int(rows[c.TICK][0])
            # What stands still may have no row at every tick.
            both = ego.filter(pl.col(c.TICK) >= born).join_asof(rows, on=c.TICK)
            gap = np.hypot(both["ego_x"] - both[c.X_M], both["ego_y"] - both[c.Y_M])
            near = np.flatnonzero(gap <= reach_m)
            if len(near):
                found = _least((found, int(both[c.TICK][int(near[0])])))
        return found


def _placed(record: Record, signals: pl.DataFrame) -> pl.DataFrame:
    """Signals by the place of their light: numbers of actors differ between the records."""
    marks = record.landmarks.select(c.ACTOR, c.X_M, c.Y_M).collect()
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
    """Numbers of the actors that both have: same model and role, same first tick and pose."""
    left: dict[tuple[Any, ...], list[int]] = {}
    for number, key in second.actors.items():
        left.setdefault(key, []).append(number)
    pairs = []
    for number, key in first.actors.items():
        if left.get(key):
            pairs.append((number, left[key].pop(0)))
    return pairs


def _first_difference(halves: list[_Half], shared: list[tuple[int, int]]) -> tuple[int | None, str]:
    """First tick at which anything both have differs, and what."""
    found: list[tuple[int, str]] = []
    names = (
        {first: k for k, (first, _) in enumerate(shared)},
        {second: k for k, (_, second) in enumerate(shared)},
    )
    tables = []
    for half, numbers in zip(halves, names, strict=True):
        kept = half.states.filter(pl.col(c.ACTOR).is_in(list(numbers)))
        new = kept[c.ACTOR].replace_strict(numbers, return_dtype=pl.Int64).alias(c.ACTOR)
        tables.append(kept.with_columns(new))
    for keys, (one, other), what in (
        ((c.ACTOR, c.TICK), tables, "an actor"),
        ((c.X_M, c.Y_M, c.TICK), [half.signals for half in halves], "a light"),
        ((c.TICK,), [half.weather for half in halves], "the weather"),
        ((c.TICK,), [half.commands for half in halves], "the driver's command"),
    ):
        tick = _table_difference(one, other, list(keys))
        if tick is not None:
            found.append((tick, what))
    return min(found) if found else (None, "")


def _table_difference(first: pl.DataFrame, second: pl.DataFrame, keys: list[str]) -> int | None:
    """First tick at which two tables differ, up to where the shorter one ends."""
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


def _why_not(
    halves: list[_Half], own: list[set[int]], difference: int | None, what: str, until: int
) -> str:
    strangers = Counter(
        halves[k].roles[number] for k in (0, 1) for number in own[k]
        if halves[k].roles[number] in _BACKGROUND
    )  # fmt: skip
    if strangers:
        count = sum(strangers.values())
        return f"the traffic differs: {count} vehicles are not in both records"
    if difference is not None and difference <= until:
        return f"{what} differs at tick {difference}; the shift matters from tick {until} on"
    return ""
