"""Rows of a record's tables in a fixed order: actors, states, contacts, notes, landmarks.

``record/tracks.py`` reads bodies over time as arrays. Code that needs single rows asks here, so
that no other room filters and sorts the tables itself.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, NamedTuple

import polars as pl

from jaywalk.core.errors import UsageError
from jaywalk.record import columns as c
from jaywalk.record.reader import Record

TRAFFIC_LIGHT: Final = "traffic.traffic_light"


def actor_rows(record: Record, *kinds: str) -> pl.DataFrame:
    """Return the actors of some kinds, or all, by number."""
    rows = record.actors if not kinds else record.actors.filter(pl.col(c.KIND).is_in(kinds))
    return rows.sort(c.ACTOR).collect()


def actor_values(record: Record, column: str) -> dict[int, Any]:
    """Return one column of the actors by their number."""
    return dict(record.actors.select(c.ACTOR, column).collect().iter_rows())


def state_rows(
    record: Record,
    columns: Iterable[str] = (),
    *,
    actors: Iterable[int] | None = None,
    ticks: tuple[int | None, int | None] = (None, None),
    posed: bool = False,
) -> pl.DataFrame:
    """Return states by actor and tick.

    Args:
        record: The episode.
        columns: Columns besides actor and tick; empty: all.
        actors: Numbers of the actors; None: all.
        ticks: First and last tick; None: no bound.
        posed: Only rows of people who move by a clip.
    """
    rows = record.states
    first, last = ticks
    if actors is not None:
        rows = rows.filter(pl.col(c.ACTOR).cast(pl.Int64).is_in(list(actors)))
    if first is not None:
        rows = rows.filter(pl.col(c.TICK) >= first)
    if last is not None:
        rows = rows.filter(pl.col(c.TICK) <= last)
    if posed:
        rows = rows.filter(pl.col(c.CLIP).is_not_null())
    chosen = tuple(columns)
    if chosen:
        rows = rows.select(*dict.fromkeys((c.ACTOR, c.TICK, *chosen)))
    return rows.sort(c.ACTOR, c.TICK).collect()


def event_rows(record: Record, *kinds: str) -> pl.DataFrame:
    """Return events of some kinds, or all, in order of time."""
    rows = record.events if not kinds else record.events.filter(pl.col(c.KIND).is_in(kinds))
    return rows.sort(c.TICK, c.EVENT).collect()


def contact_rows(record: Record, actor: int | None = None) -> pl.DataFrame:
    """Return the contacts in order of time: all, or those of one actor on either side."""
    rows = event_rows(record, "contact")
    if actor is None:
        return rows
    return rows.filter((pl.col(c.ACTOR) == actor) | (pl.col(c.OTHER) == actor))


@dataclass(frozen=True, slots=True, kw_only=True)
class Contact:
    """An interval of ticks in which two bodies touch.

    Numbers that a writer left out are nan. Speeds are those at the last tick before the contact;
    the normal points to ``actor``.

    Attributes:
        other: Number of the other actor; None: scenery.
        other_type_id: Blueprint of the other body; empty where the writer did not name it.
    """

    actor: int
    other: int | None
    tick: int
    end_tick: int
    x_m: float
    y_m: float
    z_m: float
    normal_x: float
    normal_y: float
    speed_mps: float
    other_speed_mps: float
    closing_mps: float
    impulse_ns: float | None = None
    other_type_id: str = ""

    def as_row(self, other_type_id: str) -> dict[str, Any]:
        """Columns of the events table, without the event's number."""
        return asdict(replace(self, other_type_id=other_type_id))

    def swapped(self) -> Contact:
        """Return the contact as the other actor sees it; its blueprint is not known."""
        if self.other is None:
            raise UsageError("A contact with scenery has no other actor to see it.")
        return replace(
            self,
            actor=self.other,
            other=self.actor,
            speed_mps=self.other_speed_mps,
            other_speed_mps=self.speed_mps,
            normal_x=-self.normal_x,
            normal_y=-self.normal_y,
            other_type_id="",
        )


def contacts(record: Record, actor: int | None = None) -> list[Contact]:
    """Return the contacts in order of time: all, or those of one actor on either side."""
    return [_contact(row) for row in contact_rows(record, actor).iter_rows(named=True)]


def _contact(row: dict[str, Any]) -> Contact:
    numbers = {
        name: math.nan if row[name] is None else float(row[name])
        for name in (
            c.X_M,
            c.Y_M,
            c.Z_M,
            c.NORMAL_X,
            c.NORMAL_Y,
            c.SPEED_MPS,
            c.OTHER_SPEED_MPS,
            c.CLOSING_MPS,
        )
    }
    return Contact(
        actor=int(row[c.ACTOR]),
        other=None if row[c.OTHER] is None else int(row[c.OTHER]),
        tick=int(row[c.TICK]),
        end_tick=int(row[c.TICK] if row[c.END_TICK] is None else row[c.END_TICK]),
        impulse_ns=None if row[c.IMPULSE_NS] is None else float(row[c.IMPULSE_NS]),
        other_type_id=str(row[c.OTHER_TYPE_ID] or ""),
        **numbers,
    )


class Announcement(NamedTuple):
    """An event of a record: announced by a scenario, the people's controller or the runner."""

    tick: int
    actor: int | None
    kind: str
    name: str  # empty where the event has none
    detail: dict[str, Any]  # empty where the event has none


def announcements(
    record: Record, *, kind: str | None = None, name: str | None = None
) -> Iterator[Announcement]:
    """Yield events of a kind, of a name, or both, in order of time."""
    rows = event_rows(record, *(() if kind is None else (kind,)))
    if name is not None:
        rows = rows.filter(pl.col(c.NAME) == name)
    table = rows.select(c.TICK, c.ACTOR, c.KIND, c.NAME, c.DETAIL)
    for tick, actor, event_kind, event_name, text in table.iter_rows():
        detail = json.loads(text) if text else {}
        yield Announcement(
            tick=int(tick),
            actor=None if actor is None else int(actor),
            kind=str(event_kind),
            name=str(event_name or ""),
            detail=detail if isinstance(detail, dict) else {},
        )


def landmark_rows(record: Record, *type_ids: str) -> pl.DataFrame:
    """Return traffic lights and signs of some types, or all."""
    rows = record.landmarks
    if type_ids:
        rows = rows.filter(pl.col(c.TYPE_ID).is_in(type_ids))
    return rows.collect()


def weather_rows(record: Record) -> pl.DataFrame:
    """Return the weather at the start and at changes, in order of time."""
    return record.weather.sort(c.TICK).collect()


def first_weather(record: Record) -> dict[str, Any]:
    """Return the weather at the start; empty if the record has none."""
    rows = weather_rows(record).head(1).to_dicts()
    return rows[0] if rows else {}


def end_s(record: Record) -> float:
    """Return the game time of the last tick; 0 if there is none."""
    return float(record.ticks.select(pl.col(c.TIME_S).max()).collect().item() or 0.0)
