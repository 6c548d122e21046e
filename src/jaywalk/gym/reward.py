"""The reward: a sum of few terms with weights of one's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final

from jaywalk.core.errors import UsageError
from jaywalk.gym.collisions import Collision
from jaywalk.gym.look import Look
from jaywalk.runner.ending import COMPLETED
from jaywalk.runner.world import STEP_S

_TOO_FAST: Final = 1.05  # share of the limit


@dataclass(frozen=True, slots=True, kw_only=True)
class RewardWeights:
    """What each thing is worth; penalties are negative."""

    progress_per_m: float = 1.0  # along the route, never negative
    time_per_s: float = -0.1
    offset_per_m_s: float = -0.1  # distance from the route's line, per second
    speeding_per_mps_s: float = -0.5  # above 1.05 of the limit, per second
    jerky_per_unit: float = -0.02  # change of steering from step to step
    person_hit: float = -100.0
    vehicle_hit: float = -50.0
    static_hit: float = -30.0
    completed: float = 50.0
    failed: float = -20.0  # over before the end of the route, without a collision that ends it

    @classmethod
    def of(cls, given: Mapping[str, float] | None) -> RewardWeights:
        """The default weights with some replaced.

        Raises:
            UsageError: A name is no weight.
        """
        known = [one.name for one in fields(cls)]
        unknown = sorted(set(given or {}) - set(known))
        if unknown:
            raise UsageError(
                f"reward names '{unknown[0]}', which is no weight. Known: {', '.join(known)}."
            )
        return cls(**{name: float(value) for name, value in (given or {}).items()})


def reward_terms(
    weights: RewardWeights, look: Look, gained_m: float, turned: float,
    collisions: Sequence[Collision], reason: str,
) -> dict[str, float]:  # fmt: skip
    """What one tick earns, by term.

    Args:
        weights: What each thing is worth.
        look: The tick.
        gained_m: Way made along the route.
        turned: Change of the steering command.
        collisions: Those reported at this tick.
        reason: Why the episode is over, or nothing.
    """
    above = max(look.own.speed_mps - _TOO_FAST * look.limit_mps, 0.0)
    worth = {
        "person": weights.person_hit, "vehicle": weights.vehicle_hit, "static": weights.static_hit,
    }  # fmt: skip
    ending = 0.0 if not reason else weights.completed if reason == COMPLETED else weights.failed
    return {
        "progress": weights.progress_per_m * max(gained_m, 0.0),
        "time": weights.time_per_s * STEP_S,
        "offset": weights.offset_per_m_s * abs(look.offset_m) * STEP_S,
        "speeding": weights.speeding_per_mps_s * above * STEP_S,
        "jerky": weights.jerky_per_unit * abs(turned),
        "collisions": sum(worth[one.kind] for one in collisions),
        "ending": ending,
    }


def add_terms(total: dict[str, float], more: Mapping[str, Any]) -> None:
    """Add terms to those of earlier ticks of the same step."""
    for name, value in more.items():
        total[name] = total.get(name, 0.0) + value
