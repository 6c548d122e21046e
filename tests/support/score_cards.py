"""Hand-made scores for tests of comparison and report."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from jaywalk.metrics.driving.summary import EpisodeScore, Infraction, RunScore


def hit(kind: str = "collisions_pedestrian", tick: int = 60, **more: Any) -> Infraction:
    """An infraction at a tick of 0.05 s."""
    values = {
        "x_m": 0.0,
        "y_m": 0.0,
        "message": f"{kind} with object type=x and id=7",
        "time_s": tick * 0.05,
    }
    return Infraction(kind=kind, tick=tick, **(values | more))


def card(route: str, seed: int = 1, score: float = 100.0, **more: Any) -> EpisodeScore:
    """An episode of a route and seed; it succeeds at a score of 100."""
    values: dict[str, Any] = {
        "episode_id": f"{route}-s{seed}",
        "protocol": "jaywalk",
        "suite": "jaywalk/smoke-v1",
        "scenario": "jaywalk/stepping-out-v1",
        "seed": seed,
        "agent": "blind",
        "status": "Completed" if score == 100.0 else "Failed",
        "success": score == 100.0,
        "metrics": {
            "driving_score": score,
            "route_completion": 100.0,
            "driven_km": 0.5,
            "duration_s": 60.0,
        },
        "counts": {"collisions_pedestrian": int(score < 100.0)},
        "infractions": () if score == 100.0 else (hit(),),
    }
    return EpisodeScore(**(values | more))


def run(*episodes: EpisodeScore, **more: Any) -> RunScore:
    """A run of these episodes."""
    values: dict[str, Any] = {
        "name": "a-run",
        "protocol": "jaywalk",
        "agent": episodes[0].agent if episodes else "",
        "suite": "jaywalk/smoke-v1",
        "expected": len(episodes),
        "episodes": episodes,
    }
    return RunScore(**(values | more))


def install_scoring(monkeypatch: Any, scores: dict[str, RunScore]) -> None:
    """Stand in for the scoring of runs: folder name -> score."""
    module = ModuleType("jaywalk.metrics.driving.run_score")
    module.score_run = lambda folder, protocol: scores[folder.name]  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
