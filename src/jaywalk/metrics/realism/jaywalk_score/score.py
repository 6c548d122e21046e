"""Configuration ``jaywalk-1``: likeness between bounds and separate safety, each with intervals.

Its features are those of the challenge, replaced by continuous ones where they jump. Many futures
are plausible, so coverage measures whether the ensemble contains the logged future, and how wide
the ensemble is.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.errors import DataError, UsageError
from jaywalk.metrics.realism._features import CaseFeatures, Features, case_features, surroundings
from jaywalk.metrics.realism._trajectories import (
    SceneTrajectories,
    logged_trajectories,
    simulated_trajectories,
)
from jaywalk.metrics.realism.bounds import replaced
from jaywalk.metrics.realism.challenge import challenge_config
from jaywalk.metrics.realism.intervals import RESAMPLES, over_scenes
from jaywalk.metrics.realism.jaywalk_score import _closing as closing
from jaywalk.metrics.realism.jaywalk_score import _safety as edge_gap
from jaywalk.metrics.realism.jaywalk_score._coordination import (
    Encounters,
    coordination_cost,
    coordination_summary,
    encounters,
)
from jaywalk.metrics.realism.jaywalk_score._likeness import likeness_costs
from jaywalk.metrics.realism.jaywalk_score._safety import EventSafety, safety
from jaywalk.metrics.realism.scene import N_HISTORY, Case
from jaywalk.stats.bootstrap import Estimate, bca

_NEAR_M = 2.0


def coverage(case: Case) -> dict[str, float]:
    """Numbers over the evaluated agents, at the last step at which the log knows them.

    Returns:
        ``coverage``: share of agents with a rollout within 2 m; ``precision``: share of rollouts
        within 2 m; ``diversity_m``: mean distance between two rollouts; ``min_error_m`` and
        ``mean_error_m``: distance of the best and of the mean rollout.
    """
    scene = case.scene
    covered, precise, spread, best, mean = [], [], [], [], []
    for index, row in zip(scene.evaluated_index, scene.evaluated_row, strict=True):
        known = np.flatnonzero(scene.valid[index, N_HISTORY:])
        if not len(known):
            continue
        step = int(known[-1])
        ends = np.stack([case.rollouts.x_m[:, row, step], case.rollouts.y_m[:, row, step]], axis=1)
        truth = np.array([scene.x_m[index, N_HISTORY + step], scene.y_m[index, N_HISTORY + step]])
        error: NDArray[np.float64] = np.linalg.norm(ends - truth, axis=1).astype(np.float64)
        covered.append(bool(error.min() < _NEAR_M))
        precise.append(float((error < _NEAR_M).mean()))
        best.append(float(error.min()))
        mean.append(float(error.mean()))
        pairs = np.linalg.norm(ends[:, None] - ends[None], axis=-1)
        spread.append(float(pairs.sum()) / max(len(ends) * (len(ends) - 1), 1))
    if not covered:
        return {}
    return {
        "coverage": float(np.mean(covered)),
        "precision": float(np.mean(precise)),
        "diversity_m": float(np.mean(spread)),
        "min_error_m": float(np.mean(best)),
        "mean_error_m": float(np.mean(mean)),
    }


def better_features(case: Case) -> CaseFeatures:
    """Features of a case, with ``closing_per_s`` and ``road_edge_gap_m`` besides."""
    rules = challenge_config("2025")
    official, around = case_features(case, rules), surroundings(case, rules)

    def more(side: Features, tracks: SceneTrajectories) -> Features:
        added = {
            closing.NAME: closing.closing_per_s(tracks, around.rows, N_HISTORY),
            edge_gap.NAME: edge_gap.road_edge_gap_m(tracks, around.edges, around.rows, N_HISTORY),
        }
        return Features(series={**side.series, **added}, events=side.events)

    return replace(
        official,
        log=more(official.log, logged_trajectories(case.scene)),
        sim=more(official.sim, simulated_trajectories(case.scene, case.rollouts)),
    )


NAME = "jaywalk-1"
_UPPER, _LOWER, _OTHER = "log_replay", "random", "constant_velocity"


@dataclass(frozen=True, slots=True, kw_only=True)
class Jaywalk1Score:
    """Likeness and safety.

    Attributes:
        likeness: Mean of the parts: 1 is the log itself, 0 random driving; may be negative.
        parts: Each part between the same bounds, with its interval over scenes.
        constant_velocity: Likeness of constant velocity in the same units.
        safety: Safety by kind of event.
        coordination: Figures of the encounters, for the log and the rollouts.
        coverage: Figures of the ensemble's width.
        costs: Costs of every scene, by part, before they are placed between bounds.
        n_scenarios: Number of scenes.
        n_agents: Number of evaluated agents in the scenes.
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
    """Return the gain over the lower bound and the largest possible gain, per part and scene.

    NaN in scenes that do not have the part; parts that no scene has are left out.
    """
    parts = {}
    for part in ours[0]:
        rows = [(a[part], b[part], c[part]) for a, b, c in zip(ours, upper, lower, strict=True)]
        known = [all(math.isfinite(v) for v in row) for row in rows]
        tops = [c - a if k else math.nan for (a, _, c), k in zip(rows, known, strict=True)]
        bottoms = [c - b if k else math.nan for (_, b, c), k in zip(rows, known, strict=True)]
        if np.nansum(bottoms) > 0.0:
            parts[part] = (tops, bottoms)
    return parts


def _known(values: list[float]) -> list[float]:
    return [value for value in values if not math.isnan(value)]


def _likeness(parts: dict[str, tuple[list[float], list[float]]], n: int) -> Estimate:
    """Mean over parts of the ratios, scenes drawn; a draw without a part has the others' mean."""
    tops, bottoms = (np.nan_to_num([part[k] for part in parts.values()]) for k in (0, 1))
    if n < 2:
        return over_scenes([float(np.mean(tops.sum(axis=1) / bottoms.sum(axis=1)))])

    def statistic(times: NDArray[np.float64]) -> NDArray[np.float64]:
        above, below = times @ tops.T, times @ bottoms.T
        known = below > 0.0
        ratio = np.where(known, above, 0.0) / np.where(known, below, 1.0)
        count = known.sum(axis=1)
        return np.where(count > 0, ratio.sum(axis=1) / np.maximum(count, 1), np.nan)

    return bca(statistic, n, resamples=RESAMPLES)


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
            "No scene can be scored: no scored agent is valid in the log after the current step, "
            "or random driving is as good as the log."
        )
    level = _between(other, upper, lower).values()
    widths = [coverage(case) for case in cases]
    names = sorted({name for width in widths for name in width})
    return Jaywalk1Score(
        likeness=_likeness(parts, len(cases)),
        parts={name: over_scenes(_known(top), _known(low)) for name, (top, low) in parts.items()},
        constant_velocity=float(np.mean([np.nansum(t) / np.nansum(b) for t, b in level])),
        safety=safety(features),
        coordination=coordination_summary(met),
        coverage={name: float(np.mean([w[name] for w in widths if name in w])) for name in names},
        costs=tuple(costs),
        n_scenarios=len(cases),
        n_agents=sum(len(f.log_valid) for f in features),
    )
