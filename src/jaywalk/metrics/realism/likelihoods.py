"""From features to the ten likelihoods of a scene."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from jaywalk.metrics.realism.challenge import EVENTS, FEATURES, ChallengeConfig, Mean
from jaywalk.metrics.realism.estimators import event_log_likelihood, series_log_likelihood
from jaywalk.metrics.realism.features import CaseFeatures, Features
from jaywalk.metrics.realism.kinematics import difference_validity
from jaywalk.metrics.realism.scene import BoolArray


def series_mask(name: str, features: CaseFeatures, *, ttc_vehicles_only: bool = True) -> BoolArray:
    """Where [object, step] the log's value of a series counts."""
    valid = features.log_valid
    if name in ("linear_speed", "angular_speed"):
        return difference_validity(valid)
    if name in ("linear_acceleration", "angular_acceleration"):
        return difference_validity(difference_validity(valid))
    if name == "time_to_collision" and ttc_vehicles_only:
        return valid & features.is_vehicle[:, None]
    return valid


def event_mask(name: str, features: CaseFeatures) -> BoolArray:
    """Where [object, step] an event counts for its likelihood."""
    if name == "traffic_light_violation":
        return features.log_valid & features.is_vehicle[:, None]
    return features.log_valid


def happened(side: Features, name: str, mask: BoolArray) -> BoolArray:
    """Whether an event happened at a counted step, [rollout, object]."""
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
    found: dict[str, float] = {}
    for name in FEATURES:
        if name not in config.weights:
            found[name] = math.nan
        elif name in EVENTS:
            mask = event_mask(name, features)
            log_p = event_log_likelihood(
                happened(features.log, name, mask)[0],
                happened(features.sim, name, mask),
                config.bernoulli_pseudocount,
                pool_objects=name in config.pooled,
            )
            found[name] = _averaged(log_p[:, None], np.ones((len(log_p), 1), bool), config.mean)
        else:
            log_p = series_log_likelihood(
                features.log.series[name][0],
                features.sim.series[name],
                config.histograms[name],
                count_nan=not config.is_flat,
                pool_objects=name in config.pooled,
            )
            mask = series_mask(name, features, ttc_vehicles_only=config.ttc_vehicles_only)
            found[name] = _averaged(log_p, mask, config.mean)
    return found
