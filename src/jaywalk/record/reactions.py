"""Recorded perception and decisions of people who react, and what changed because of the ego."""

from __future__ import annotations

from enum import IntEnum
from typing import Final

import numpy as np
import polars as pl

from jaywalk.core.arrays import BoolArray, FloatArray, IntArray
from jaywalk.record import columns as c
from jaywalk.record.reader import Record

SCRIPTED: Final = "scripted"
_COLUMNS: Final = (
    c.ACTOR,
    c.TICK,
    c.YAW_DEG,
    c.GAZE_YAW_DEG,
    c.ATTENTION,
    c.DECISION,
    c.EVIDENCE,
    c.PERCEIVED_ACTOR,
)


class PersonDecision(IntEnum):
    """Decision of a person, as in the column ``decision``."""

    NONE = 0
    WANTS = 1
    WAITS = 2
    COMMITTED = 3
    YIELDS = 4
    HURRIES = 5
    STEPS_BACK = 6
    EVADES = 7


class PersonAttention(IntEnum):
    """Attention of a person, as in the column ``attention``."""

    UNAWARE = 0
    NOTICED = 1
    LOOKS = 2
    PHONE = 3


def people_model(record: Record) -> str:
    """Return how the people of a record behave: ``scripted``, ``reactive`` or ``campus``."""
    model = str(record.episode.parameters.get("people_model") or SCRIPTED)
    return model.rsplit("/", 1)[-1].split("-")[0]


def reaction_rows(record: Record) -> pl.DataFrame:
    """Return perception and decisions of the reacting people, by actor and tick."""
    rows = record.states.filter(pl.col(c.DECISION).is_not_null())
    return rows.select(*_COLUMNS).sort(c.ACTOR, c.TICK).collect()


def ego_reactions(record: Record) -> pl.DataFrame:
    """Return the rows of reacting people with whether they change a decision because of the ego.

    Columns ``actor``, ``tick``, ``reacted``; no rows if people are scripted or there is no ego.
    """
    schema = {c.ACTOR: pl.UInt32, c.TICK: pl.Int32, "reacted": pl.Boolean}
    ego = record.episode.ego_actor
    if ego is None or people_model(record) == SCRIPTED:
        return pl.DataFrame(schema=schema)
    parts = [pl.DataFrame(schema=schema)]
    for part in reaction_rows(record).partition_by(c.ACTOR, maintain_order=True):
        perceived = part[c.PERCEIVED_ACTOR].cast(pl.Float64).fill_null(np.nan).to_numpy()
        reacted = changed_by(ego, part[c.DECISION].to_numpy(), perceived)
        reacted[1:] &= np.diff(part[c.TICK].to_numpy()) == 1
        parts.append(part.select(c.ACTOR, c.TICK).with_columns(reacted=pl.Series(reacted)))
    return pl.concat([part.cast(pl.Schema(schema)) for part in parts])


def ticks_that_end_wanting(record: Record) -> dict[int, IntArray]:
    """Return by person the ticks in which they stop to want to cross, because of the ego.

    They commit, wait, yield or step back instead. Only people of the model are keys.
    """
    ego = record.episode.ego_actor
    ticks: dict[int, IntArray] = {}
    if ego is None or people_model(record) == SCRIPTED:
        return ticks
    for key, part in reaction_rows(record).partition_by(c.ACTOR, as_dict=True).items():
        decision = part[c.DECISION].to_numpy()
        perceived = part[c.PERCEIVED_ACTOR].cast(pl.Float64).fill_null(np.nan).to_numpy()
        ends = changed_by(ego, decision, perceived)
        ends[1:] &= decision[:-1] == PersonDecision.WANTS
        ticks[int(key[0])] = part[c.TICK].to_numpy()[ends].astype(np.int64)
    return ticks


def changed_by(actor: int, decision: FloatArray | IntArray, perceived: FloatArray) -> BoolArray:
    """Return the rows in which a person changes a decision because of one vehicle.

    The vehicle is the one whose gap the person judges in that row or in the row before. To begin
    to want (from ``NONE``) or to be done (to ``NONE``) is no change of a decision.

    Args:
        actor: Number of the vehicle.
        decision: (n,) decisions of one person in adjacent ticks.
        perceived: (n,) numbers of the perceived vehicles; NaN: none.
    """
    changed = np.zeros(len(decision), np.bool_)
    before, after = np.asarray(decision[:-1]), np.asarray(decision[1:])
    decided = (before != PersonDecision.NONE) & (after != PersonDecision.NONE)
    because = (perceived[:-1] == actor) | (perceived[1:] == actor)
    changed[1:] = (before != after) & decided & because
    return changed
