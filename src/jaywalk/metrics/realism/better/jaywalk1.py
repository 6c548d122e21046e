"""The configuration ``jaywalk-1``: likeness between bounds, safety apart, each with intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from jaywalk.core.errors import DataError, UsageError
from jaywalk.metrics.realism.better.coordination import (
    Encounters,
    coordination_cost,
    coordination_summary,
    encounters,
)
from jaywalk.metrics.realism.better.coverage import coverage
from jaywalk.metrics.realism.better.features import better_features
from jaywalk.metrics.realism.better.likeness import likeness_costs
from jaywalk.metrics.realism.better.safety import EventSafety, safety
from jaywalk.metrics.realism.bounds import replaced
from jaywalk.metrics.realism.features import CaseFeatures
from jaywalk.metrics.realism.intervals import over_scenes
from jaywalk.metrics.realism.scene import Case
from jaywalk.stats.bootstrap import Estimate

NAME = "jaywalk-1"
_UPPER, _LOWER, _OTHER = "log_replay", "random", "constant_velocity"


@dataclass(frozen=True, slots=True, kw_only=True)
class Jaywalk1Score:
    """Likeness and safety.

    Attributes:
        likeness: Mean of the parts: 1 is the log itself, 0 random driving; may be negative.
        parts: Each part between the same bounds, with its interval over scenes.
        constant_velocity: What constant velocity reaches in the same units.
        safety: By kind of event.
        coordination: Numbers of the encounters, log beside rollouts.
        coverage: Numbers of the ensemble's width.
        costs: Costs of every scene, by part, before they are placed between bounds.
        n_scenarios: Scenes; ``n_agents`` evaluated agents in them.
        n_agents: See ``n_scenarios``.
    """

    likeness: Estimate
    parts: Mapping[str, Estimate]
    constant_velocity: float
    safety: Mapping[str, EventSafety]
    coordination: Mapping[str, float]
    coverage: Mapping[str, float]
    costs: tuple[Mapping[str, float], ...]
    n_scenarios: int
    n_agents: int


def scene_costs(case: Case, features: CaseFeatures, met: Encounters) -> dict[str, float]:
    """All costs of a scene's rollouts."""
    return {**likeness_costs(case, features), "coordination": coordination_cost(met)}


def _evaluated(
    cases: Sequence[Case],
) -> tuple[list[dict[str, float]], list[CaseFeatures], list[Encounters]]:
    features = [better_features(c) for c in cases]
    met = [encounters(c) for c in cases]
    costs = [scene_costs(c, f, e) for c, f, e in zip(cases, features, met, strict=True)]
    return costs, features, met


def _between(
    ours: list[dict[str, float]], upper: list[dict[str, float]], lower: list[dict[str, float]]
) -> dict[str, tuple[list[float], list[float]]]:
    """Per part and scene: how far above the lower bound, and how far that could be at most."""
    found = {}
    for part in ours[0]:
        rows = [(a[part], b[part], c[part]) for a, b, c in zip(ours, upper, lower, strict=True)]
        rows = [row for row in rows if all(math.isfinite(v) for v in row)]
        if rows and sum(c - b for _, b, c in rows) > 0.0:
            found[part] = ([c - a for a, _, c in rows], [c - b for _, b, c in rows])
    return found


def _likeness(parts: dict[str, tuple[list[float], list[float]]], n: int) -> Estimate:
    """Mean over parts of the ratios; its interval from scenes that have every part."""
    ratios = [sum(top) / sum(bottom) for top, bottom in parts.values()]
    whole = [(t, b) for t, b in parts.values() if len(t) == n]
    if not whole:
        return over_scenes([float(np.mean(ratios))])
    # Each part weighs the same: scale it by its own denominator before scenes are added up.
    tops = sum((np.array(t) / sum(b) for t, b in whole), np.zeros(n)) / len(whole)
    bottoms = sum((np.array(b) / sum(b) for _, b in whole), np.zeros(n)) / len(whole)
    drawn = over_scenes(tops.tolist(), bottoms.tolist())
    value = float(np.mean(ratios))
    return Estimate(value=value, interval=drawn.interval, n=n, warning=drawn.warning)


def score_jaywalk1(cases: Sequence[Case]) -> Jaywalk1Score:
    """Score rollouts under ``jaywalk-1``."""
    if not cases:
        raise UsageError("There is no scene to score; give at least one.")
    costs, features, met = _evaluated(cases)
    upper, lower, other = (
        _evaluated(replaced(cases, name))[0] for name in (_UPPER, _LOWER, _OTHER)
    )
    parts = _between(costs, upper, lower)
    if not parts:
        raise DataError(
            "No scene tells anything: nobody who is scored is valid in the log after the current "
            "step, or random driving is as good as the log."
        )
    straight = _between(other, upper, lower)
    widths = [coverage(case) for case in cases]
    names = sorted({name for width in widths for name in width})
    return Jaywalk1Score(
        likeness=_likeness(parts, len(cases)),
        parts={name: over_scenes(top, bottom) for name, (top, bottom) in parts.items()},
        constant_velocity=float(np.mean([sum(t) / sum(b) for t, b in straight.values()])),
        safety=safety(features),
        coordination=coordination_summary(met),
        coverage={name: float(np.mean([w[name] for w in widths if name in w])) for name in names},
        costs=tuple(costs),
        n_scenarios=len(cases),
        n_agents=sum(len(f.log_valid) for f in features),
    )
