"""Reactions to what needs none: the same road driven twice, once with the shift beside it.

A pair drives the same way through the same traffic. Where the shifted half brakes or leaves its
lane and the base half did not, near the same place, the shift was what it reacted to.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np

from jaywalk.metrics.fail2drive.profile import Profile, Stretch
from jaywalk.stats import bootstrap

_NEAR_M: Final = 15.0  # a manoeuvre of the base half so near is the same one
_STEP_M: Final = 1.0
_FIGURES: Final = ("speed_change_percent", "slowest_mps", "brakings", "excursions")
_BOUNDS: Final = {
    "speed_change_percent": (-100.0, math.inf),
    **dict.fromkeys(_FIGURES[1:], (0.0, math.inf)),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reaction:
    """What one pair, driven with one seed, shows.

    Attributes:
        speed_change_percent: Mean speed of the shifted half against the base half, over the
            stretch both drove.
        slowest_mps: Most that the shifted half was slower at the same place.
        slowest_at_m: Where that was, along the route.
        brakings: Brakings without a counterpart in the base half.
        excursions: Times it left its lane without a counterpart.
    """

    pair: str
    class_name: str
    seed: str
    speed_change_percent: float
    slowest_mps: float
    slowest_at_m: float
    brakings: int
    excursions: int

    def as_dict(self) -> dict[str, Any]:
        """As plain values."""
        return asdict(self)


def reaction_of(
    base: Profile, shift: Profile, *, pair: str = "", class_name: str = "", seed: str = ""
) -> Reaction:
    """Compare the two drives of a pair."""
    until_m = min(base.reached_m, shift.reached_m)
    first_m = max(float(base.along_m[0]), float(shift.along_m[0]))
    old, new = base.mean_speed_mps(until_m), shift.mean_speed_mps(until_m)
    places = np.arange(first_m, until_m, _STEP_M).astype(np.float64)
    slower = np.subtract(base.speed_at(places), shift.speed_at(places))
    worst = int(np.argmax(slower)) if len(slower) else 0
    return Reaction(
        pair=pair,
        class_name=class_name,
        seed=seed,
        speed_change_percent=100.0 * (new / old - 1.0) if old > 0.0 else math.nan,
        slowest_mps=max(float(slower[worst]), 0.0) if len(slower) else math.nan,
        slowest_at_m=float(places[worst]) if len(slower) else math.nan,
        brakings=_without_counterpart(shift.brakings, base.brakings),
        excursions=_without_counterpart(shift.excursions, base.excursions),
    )


def _without_counterpart(shift: Sequence[Stretch], base: Sequence[Stretch]) -> int:
    return sum(
        not any(
            one.first_m <= other.last_m + _NEAR_M and other.first_m <= one.last_m + _NEAR_M
            for other in base
        )
        for one in shift
    )


def reaction_table(found: Sequence[Reaction], resamples: int = 10_000) -> dict[str, Any]:
    """Means with 95 % intervals over pairs, of all and by class."""
    names = sorted({one.class_name for one in found})
    return {
        "all": _means(found, resamples),
        "classes": {
            name: _means([one for one in found if one.class_name == name], resamples)
            for name in names
        },
        "pairs": [one.as_dict() for one in found],
    }


def _means(found: Sequence[Reaction], resamples: int) -> dict[str, Any]:
    out: dict[str, Any] = {"n": len(found), "pairs": len({one.pair for one in found})}
    for name in _FIGURES:
        rows = [(float(getattr(one, name)), one.pair) for one in found]
        rows = [row for row in rows if math.isfinite(row[0])]
        if not rows:
            out[name] = {"value": math.nan, "interval": [math.nan, math.nan]}
            continue
        values = [value for value, _ in rows]
        mean = bootstrap.mean(
            values, [pair for _, pair in rows], resamples=resamples, bounds=_BOUNDS[name]
        )
        out[name] = {
            "value": mean.value,
            "interval": [mean.interval.low, mean.interval.high],
            "few_clusters": mean.few_clusters,
        }
    return out
