"""The reward as a weighted sum of terms, and the collisions of the ego.

A message of the collision sensor arrives at an unknown time after its tick. Each collision is
therefore reported once, a fixed number of ticks later, so that equal episodes give equal steps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final

from jaywalk.core.errors import UsageError
from jaywalk.gym._views import TickState
from jaywalk.runner.ending import COMPLETED
from jaywalk.runner.live_episode import EgoHit, LiveEpisode
from jaywalk.runner.session import STEP_S

_DELAY_TICKS: Final = 2
_NEW_CONTACT_TICKS: Final = 40  # after a pause of this length a contact counts as a new one


@dataclass(frozen=True, slots=True, kw_only=True)
class EgoCollision:
    """Collision of the ego."""

    kind: str  # person, vehicle or static
    other_id: int
    other_type_id: str
    frame: int


class CollisionReader:
    """Reader of the collisions of one episode."""

    def __init__(self, episode: LiveEpisode) -> None:
        self._episode = episode
        self._waiting: list[EgoHit] = []
        self._read = 0
        self._last: dict[int, int] = {}

    def read_new(self) -> list[EgoCollision]:
        """Return the collisions that are due at the present tick."""
        hits, now = self._episode.hits, self._episode.snapshot.frame
        arrived = hits[self._read :]
        self._read += len(arrived)
        self._waiting += arrived
        due = [hit for hit in self._waiting if hit.frame <= now - _DELAY_TICKS]
        self._waiting = [hit for hit in self._waiting if hit.frame > now - _DELAY_TICKS]
        collisions: list[EgoCollision] = []
        for hit in sorted(due, key=lambda hit: (hit.frame, hit.other_id)):
            last = self._last.get(hit.other_id)
            self._last[hit.other_id] = hit.frame
            if last is None or hit.frame - last > _NEW_CONTACT_TICKS:
                collisions.append(_collision(hit))
        return collisions


def _collision(hit: EgoHit) -> EgoCollision:
    starts = {"walker.": "person", "vehicle.": "vehicle"}
    kinds = [kind for start, kind in starts.items() if hit.other_type_id.startswith(start)]
    return EgoCollision(
        kind=kinds[0] if kinds else "static",
        other_id=hit.other_id,
        other_type_id=hit.other_type_id,
        frame=hit.frame,
    )


_TOO_FAST: Final = 1.05  # share of the limit


@dataclass(frozen=True, slots=True, kw_only=True)
class RewardWeights:
    """Weight of each reward term; penalties are negative."""

    progress_per_m: float = 1.0  # along the route, never negative
    time_per_s: float = -0.1
    offset_per_m_s: float = -0.1  # distance from the route's line, per second
    speeding_per_mps_s: float = -0.5  # above 1.05 of the limit, per second
    jerky_per_unit: float = -0.02  # change of steering from step to step
    person_hit: float = -100.0
    vehicle_hit: float = -50.0
    static_hit: float = -30.0
    completed: float = 50.0
    failed: float = -20.0  # end before the end of the route, without a final collision

    @classmethod
    def of(cls, given: Mapping[str, float] | None) -> RewardWeights:
        """Return the default weights with some replaced.

        Raises:
            UsageError: A name is not a weight.
        """
        known = [field.name for field in fields(cls)]
        unknown = sorted(set(given or {}) - set(known))
        if unknown:
            raise UsageError(
                f"reward names '{unknown[0]}', which is not a weight. Known: {', '.join(known)}."
            )
        return cls(**{name: float(value) for name, value in (given or {}).items()})


def reward_terms(
    weights: RewardWeights,
    look: TickState,
    gained_m: float,
    turned: float,
    collisions: Sequence[EgoCollision],
    reason: str,
) -> dict[str, float]:
    """Return the reward of one tick by term.

    Args:
        weights: Weight of each term.
        look: State of the present tick.
        gained_m: Progress along the route.
        turned: Change of the steering command.
        collisions: Collisions reported at this tick.
        reason: Reason for the end of the episode; empty while it runs.
    """
    above = max(look.own.speed_mps - _TOO_FAST * look.limit_mps, 0.0)
    worth = {
        "person": weights.person_hit,
        "vehicle": weights.vehicle_hit,
        "static": weights.static_hit,
    }
    ending = 0.0 if not reason else weights.completed if reason == COMPLETED else weights.failed
    return {
        "progress": weights.progress_per_m * max(gained_m, 0.0),
        "time": weights.time_per_s * STEP_S,
        "offset": weights.offset_per_m_s * abs(look.offset_m) * STEP_S,
        "speeding": weights.speeding_per_mps_s * above * STEP_S,
        "jerky": weights.jerky_per_unit * abs(turned),
        "collisions": sum(worth[collision.kind] for collision in collisions),
        "ending": ending,
    }


def add_terms(total: dict[str, float], more: Mapping[str, Any]) -> None:
    """Add terms to the sums of earlier ticks of the same step."""
    for name, value in more.items():
        total[name] = total.get(name, 0.0) + value
