"""Realism results as plain values for JSON: NaN becomes null, intervals become pairs."""

from __future__ import annotations

import math
from dataclasses import fields, is_dataclass
from typing import Any

from jaywalk.metrics.realism.better.jaywalk1 import NAME, Jaywalk1Score
from jaywalk.metrics.realism.bounds import Bounds
from jaywalk.metrics.realism.intervals import over_scenes
from jaywalk.metrics.realism.score import RealismScore, SceneScore
from jaywalk.stats.intervals import Interval


def plain(value: Any) -> Any:
    """A value made of dictionaries, lists, numbers and None."""
    if isinstance(value, Interval):
        return [plain(value.low), plain(value.high)]
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if hasattr(value, "items"):
        return {name: plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


def better_json(score: Jaywalk1Score, names: list[str] | None) -> dict[str, Any]:
    """A score of jaywalk-1; with names of scenes also their costs one by one."""
    out: dict[str, Any] = {"config": NAME, **plain(score)}
    if names is not None:
        rows = zip(names, out["costs"], strict=True)
        out["scenarios"] = [{"name": name, "costs": costs} for name, costs in rows]
    return out


def _scene(scene: SceneScore) -> dict[str, Any]:
    return {
        "name": scene.name,
        "metametric": scene.metametric,
        "likelihoods": dict(scene.likelihoods),
        "ade_m": scene.ade_m,
        "min_ade_m": scene.min_ade_m,
        "rates": dict(scene.rates),
        "n_agents": scene.n_agents,
        "n_rollouts": scene.n_rollouts,
    }


def score_json(
    score: RealismScore, *, per_scenario: bool = False, found: Bounds | None = None
) -> dict[str, Any]:
    """A score with its intervals over scenes (BCa, 95 %)."""
    out: dict[str, Any] = {
        "config": score.config,
        "metametric": score.metametric,
        "likelihoods": dict(score.likelihoods),
        "buckets": dict(score.buckets),
        "ade_m": score.ade_m,
        "min_ade_m": score.min_ade_m,
        "rates": dict(score.rates),
        "n_scenarios": score.n_scenarios,
        "n_agents": score.n_agents,
        "intervals": {
            "metametric": over_scenes([s.metametric for s in score.scenes]).interval,
            "rates": {
                name: over_scenes([s.rates[name] for s in score.scenes]).interval
                for name in score.rates
            },
        },
    }
    if found is not None:
        out["bounds"] = {name: other.metametric for name, other in found.scores.items()}
        out["normalised"] = dict(found.normalised)
    if per_scenario:
        out["scenarios"] = [_scene(scene) for scene in score.scenes]
    result: dict[str, Any] = plain(out)
    return result
