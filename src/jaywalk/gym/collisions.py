"""Collisions of the ego, each told once, at a tick that does not depend on the network.

A message of the collision sensor arrives at some moment after its tick; it is told a fixed number
of ticks later, so that equal drives give equal steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from jaywalk.runner.staged import EgoHit, StagedEpisode

_DELAY_TICKS: Final = 2
_AGAIN_TICKS: Final = 40  # a contact that pauses for so long is a new one


@dataclass(frozen=True, slots=True, kw_only=True)
class Collision:
    """The ego has hit something."""

    kind: str  # person, vehicle or static
    other_id: int
    other_type_id: str
    frame: int


class CollisionTeller:
    """Reads the hits of one episode."""

    def __init__(self, stage: StagedEpisode) -> None:
        self._stage = stage
        self._waiting: list[EgoHit] = []
        self._read = 0
        self._last: dict[int, int] = {}

    def tell(self) -> list[Collision]:
        """New collisions as of the present tick."""
        hits, now = self._stage.hits, self._stage.snapshot.frame
        arrived = hits[self._read :]
        self._read += len(arrived)
        self._waiting += arrived
        due = [hit for hit in self._waiting if hit.frame <= now - _DELAY_TICKS]
        self._waiting = [hit for hit in self._waiting if hit.frame > now - _DELAY_TICKS]
        found: list[Collision] = []
        for hit in sorted(due, key=lambda one: (one.frame, one.other_id)):
            last = self._last.get(hit.other_id)
            self._last[hit.other_id] = hit.frame
            if last is None or hit.frame - last > _AGAIN_TICKS:
                found.append(_collision(hit))
        return found


def _collision(hit: EgoHit) -> Collision:
    starts = {"walker.": "person", "vehicle.": "vehicle"}
    kinds = [kind for start, kind in starts.items() if hit.other_type_id.startswith(start)]
    return Collision(
        kind=kinds[0] if kinds else "static",
        other_id=hit.other_id,
        other_type_id=hit.other_type_id,
        frame=hit.frame,
    )
