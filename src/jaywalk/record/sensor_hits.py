"""What a collision sensor said, joined with what geometry says."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from jaywalk.record import columns as c
from jaywalk.record.contacts import Contact


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One message of the ego's collision sensor."""

    tick: int
    other: int | None  # None: scenery
    other_type_id: str
    impulse_ns: tuple[float, float, float]
    place_m: tuple[float, float, float]

    @property
    def size_ns(self) -> float:
        """Length of the impulse."""
        return math.sqrt(sum(part * part for part in self.impulse_ns))


def group_hits(hits: Iterable[Hit], merge_ticks: int) -> list[list[Hit]]:
    """Messages of one contact each: same other, never more than ``merge_ticks`` apart."""
    latest: dict[tuple[int | None, str], list[Hit]] = {}
    groups: list[list[Hit]] = []
    for hit in sorted(hits, key=lambda hit: hit.tick):
        key = hit.other, hit.other_type_id
        group = latest.get(key)
        if group is None or hit.tick - group[-1].tick > merge_ticks:
            group = latest[key] = []
            groups.append(group)
        group.append(hit)
    return groups


def join_hits(
    ego: int,
    hits: Iterable[Hit],
    contacts: list[Contact],
    merge_ticks: int,
    velocity_before: Callable[[int], tuple[float, float]],
) -> tuple[list[Contact], list[dict[str, Any]]]:
    """Give contacts their impulses; returns them and events for what geometry did not see.

    Args:
        ego: Actor that wears the sensor.
        hits: Messages of the sensor.
        contacts: Contacts found by geometry.
        merge_ticks: Messages this far apart belong together.
        velocity_before: Velocity (x, y) of the ego at the last tick before a tick.
    """
    joined = list(contacts)
    alone: list[dict[str, Any]] = []
    for group in group_hits(hits, merge_ticks):
        first, last = group[0], group[-1]
        total = sum(hit.size_ns for hit in group)
        for k, contact in enumerate(joined):
            same = (contact.actor, contact.other) == (ego, first.other)
            near = first.tick <= contact.end_tick + merge_ticks
            if same and near and last.tick >= contact.tick - merge_ticks:
                total += contact.impulse_ns or 0.0
                joined[k] = replace(contact, impulse_ns=total)
                break
        else:
            alone.append(_event(ego, first, last, total, velocity_before(first.tick)))
    return joined, alone


def _event(
    ego: int, first: Hit, last: Hit, total_ns: float, velocity: tuple[float, float]
) -> dict[str, Any]:
    vx, vy = velocity
    flat = math.hypot(*first.impulse_ns[:2])
    row: dict[str, Any] = {
        c.TICK: first.tick,
        c.END_TICK: last.tick,
        c.ACTOR: ego,
        c.OTHER: first.other,
        c.OTHER_TYPE_ID: first.other_type_id,
        c.SPEED_MPS: math.hypot(vx, vy),
        c.IMPULSE_NS: total_ns,
    }
    row |= dict(zip((c.X_M, c.Y_M, c.Z_M), first.place_m, strict=True))
    if flat > 0.0:
        nx, ny = first.impulse_ns[0] / flat, first.impulse_ns[1] / flat
        row |= {c.NORMAL_X: nx, c.NORMAL_Y: ny, c.CLOSING_MPS: max(-(vx * nx + vy * ny), 0.0)}
    return row
