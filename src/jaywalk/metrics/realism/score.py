"""Realism score of one scene or many, from the ten likelihoods of a scene's features."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jaywalk.core.arrays import BoolArray
from jaywalk.core.errors import UsageError
from jaywalk.metrics.realism._estimators import event_log_likelihood, series_log_likelihood
from jaywalk.metrics.realism._features import CaseFeatures, Features, case_features
from jaywalk.metrics.realism._kinematics import (
    average_displacement,
    difference_validity,
    min_average_displacement,
)
from jaywalk.metrics.realism.challenge import (
    BUCKET_OF,
    EVENTS,
    FEATURES,
    INTERACTIVE,
    KINEMATIC,
    MAP_BASED,
    ChallengeConfig,
    Mean,
)
from jaywalk.metrics.realism.scene import Case


def series_mask(name: str, features: CaseFeatures, *, ttc_vehicles_only: bool = True) -> BoolArray:
    """Return the mask [object, step] of logged values of a series that count."""
    valid = features.log_valid
    if name in ("linear_speed", "angular_speed"):
        return difference_validity(valid)
    if name in ("linear_acceleration", "angular_acceleration"):
        return difference_validity(difference_validity(valid))
    if name == "time_to_collision" and ttc_vehicles_only:
        return valid & features.is_vehicle[:, None]
    return valid


def event_mask(name: str, features: CaseFeatures) -> BoolArray:
    """Return the mask [object, step] of events that count for their likelihood."""
    if name == "traffic_light_violation":
        return features.log_valid & features.is_vehicle[:, None]
    return features.log_valid


def happened(side: Features, name: str, mask: BoolArray) -> BoolArray:
    """Return whether an event happened at a counted step, [rollout, object]."""
    return np.asarray((side.events[name] & mask).any(axis=2))


def _averaged(log_p: NDArray[np.float64], mask: BoolArray, mean: Mean) -> float:
    """One likelihood from log-probabilities [object, step]; NaN if none is counted."""
    counts = mask.sum(axis=1)
    seen = counts > 0
    if not seen.any():
        return math.nan
    total = np.where(mask, log_p, 0.0).sum(axis=1)
    if mean is Mean.STEPS:
        return math.exp(float(total.sum()) / int(counts.sum()))
    by_agent = total[seen] / counts[seen]
    if mean is Mean.LOG_AGENTS:
        return math.exp(float(by_agent.mean()))
    return float(np.exp(by_agent).mean())


def likelihoods(features: CaseFeatures, config: ChallengeConfig) -> dict[str, float]:
    """The likelihood of every feature; NaN where no logged value counts."""
    values: dict[str, float] = {}
    for name in FEATURES:
        if name not in config.weights:
            values[name] = math.nan
        elif name in EVENTS:
            mask = event_mask(name, features)
            log_p = event_log_likelihood(
                happened(features.log, name, mask)[0],
                happened(features.sim, name, mask),
                config.bernoulli_pseudocount,
                pool_objects=name in config.pooled,
            )
            values[name] = _averaged(log_p[:, None], np.ones((len(log_p), 1), bool), config.mean)
        else:
            log_p = series_log_likelihood(
                features.log.series[name][0],
                features.sim.series[name],
                config.histograms[name],
                count_nan=not config.is_flat,
                pool_objects=name in config.pooled,
            )
            mask = series_mask(name, features, ttc_vehicles_only=config.ttc_vehicles_only)
            values[name] = _averaged(log_p, mask, config.mean)
    return values


RATE_OF = {
    "collision_indication": "collision",
    "offroad_indication": "offroad",
    "traffic_light_violation": "traffic_light_violation",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SceneScore:
    """Score of one scene under one configuration."""

    name: str
    metametric: float
    likelihoods: Mapping[str, float]
    ade_m: float
    min_ade_m: float
    rates: Mapping[str, float]
    n_agents: int
    n_rollouts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RealismScore:
    """Means over scenes; the buckets are computed from them."""

    config: str
    metametric: float
    likelihoods: Mapping[str, float]
    buckets: Mapping[str, float]
    ade_m: float
    min_ade_m: float
    rates: Mapping[str, float]
    n_scenarios: int
    n_agents: int
    scenes: tuple[SceneScore, ...]


def metametric(found: Mapping[str, float], weights: Mapping[str, float]) -> float:
    """Weighted sum of likelihoods, not normalised; features without weight have no effect."""
    return float(sum(w * found[name] for name, w in weights.items() if w))


def score_features(
    name: str, features: CaseFeatures, config: ChallengeConfig, n_rollouts: int
) -> SceneScore:
    """Score a scene from its features."""
    values = likelihoods(features, config)
    rates = {
        RATE_OF[event]: float(happened(features.sim, event, features.log_valid).mean())
        for event in EVENTS
    }
    return SceneScore(
        name=name,
        metametric=metametric(values, config.weights),
        likelihoods=values,
        ade_m=average_displacement(features.displacement_m),
        min_ade_m=min_average_displacement(features.displacement_m, per_agent=config.is_flat),
        rates=rates,
        n_agents=len(features.log_valid),
        n_rollouts=n_rollouts,
    )


def score_case(case: Case, config: ChallengeConfig) -> SceneScore:
    """Score one scene."""
    return score_features(case.scene.name, case_features(case, config), config, len(case.rollouts))


def _buckets(
    values: Mapping[str, float], config: ChallengeConfig, total: float
) -> dict[str, float]:
    buckets = {"realism_meta_metric": total}
    for bucket in (KINEMATIC, INTERACTIVE, MAP_BASED):
        weights = {n: w for n, w in config.weights.items() if w and BUCKET_OF[n] == bucket}
        if config.plain_buckets:
            weights = dict.fromkeys(weights, 1.0)
        buckets[f"{bucket}_metrics"] = metametric(values, weights) / sum(weights.values())
    return buckets


def aggregate(scenes: Sequence[SceneScore], config: ChallengeConfig) -> RealismScore:
    """Plain means over scenes of every field."""
    if not scenes:
        raise UsageError("There is no scene to score; give at least one.")
    if config.skips_undefined:
        scenes = [scene for scene in scenes if np.isfinite(scene.metametric)]
        if not scenes:
            raise UsageError(
                f"'{config.name}' leaves out scenes without a scored vehicle, and no other scene "
                "is left. Give a scene with one, or use another --config."
            )
    means = {n: float(np.mean([s.likelihoods[n] for s in scenes])) for n in FEATURES}
    rates = {n: float(np.mean([s.rates[n] for s in scenes])) for n in RATE_OF.values()}
    total = float(np.mean([s.metametric for s in scenes]))
    min_ade = float(np.mean([s.min_ade_m for s in scenes]))
    return RealismScore(
        config=config.name,
        metametric=total,
        likelihoods=means,
        buckets=_buckets(means, config, total)
        | {"min_ade": min_ade}
        | {f"simulated_{n}_rate": value for n, value in rates.items()},
        ade_m=float(np.mean([s.ade_m for s in scenes])),
        min_ade_m=min_ade,
        rates=rates,
        n_scenarios=len(scenes),
        n_agents=sum(s.n_agents for s in scenes),
        scenes=tuple(scenes),
    )


def score_cases(cases: Sequence[Case], config: ChallengeConfig) -> RealismScore:
    """Score many scenes."""
    return aggregate([score_case(case, config) for case in cases], config)
