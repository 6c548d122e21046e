"""Scores of a run for Weights & Biases and MLflow, written by their own libraries into a folder.

Both write to this machine alone. ``wandb sync`` and ``mlflow ui`` take it from there.
"""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any, Final

from jaywalk.metrics.driving.aggregate import aggregate
from jaywalk.metrics.driving.summary import RunScore

PROJECT: Final = "jaywalk"
EPISODE_COLUMNS: Final = ("episode_id", "scenario", "seed", "success", "status")


def facts_of(scored: RunScore) -> dict[str, Any]:
    """Return what was run and scored: the parameters of a tracker's run."""
    return {
        "run": scored.name,
        "agent": scored.agent,
        "agent_version": scored.agent_version,
        "suite": scored.suite,
        "protocol": scored.protocol,
        "episodes": len(scored.episodes),
        "complete": scored.is_complete,
    }


def figures_of(scored: RunScore) -> dict[str, float]:
    """Return the figures of a run with the ends of their intervals; only finite ones."""
    found = aggregate(scored)
    named = {"success_rate": found.success, **found.metrics}
    named |= {f"{name}_per_km": rate for name, rate in found.rates_per_km.items()}
    values = {"km": found.km}
    for name, figure in named.items():
        values |= {name: figure.value, f"{name}_low": figure.low, f"{name}_high": figure.high}
    return {name: float(value) for name, value in values.items() if math.isfinite(value)}


def write_wandb(scored: RunScore, folder: Path) -> Path:
    """Write an offline run of Weights & Biases below a folder and return its folder."""
    import wandb  # type: ignore[import-not-found,unused-ignore]

    folder.mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("WANDB_SILENT", "true")
    run = wandb.init(
        project=PROJECT, name=scored.name, dir=str(folder), mode="offline", config=facts_of(scored)
    )
    run.summary.update(figures_of(scored))
    rows = [[getattr(one, name) for name in EPISODE_COLUMNS] for one in scored.episodes]
    run.log({"episodes": wandb.Table(columns=list(EPISODE_COLUMNS), data=rows)})
    place = Path(run.dir).parent
    run.finish()
    return place


def write_mlflow(scored: RunScore, folder: Path) -> Path:
    """Write a run into a file store of MLflow and return the store."""
    os.environ.setdefault("MLFLOW_ALLOW_FILE_STORE", "true")
    import mlflow  # type: ignore[import-not-found,unused-ignore]

    folder.mkdir(parents=True, exist_ok=True)
    mlflow.set_tracking_uri(folder.resolve().as_uri())
    mlflow.set_experiment(PROJECT)
    with mlflow.start_run(run_name=scored.name):
        mlflow.log_params(facts_of(scored))
        mlflow.log_metrics(figures_of(scored))
        episodes = [
            {name: getattr(one, name) for name in EPISODE_COLUMNS} for one in scored.episodes
        ]
        mlflow.log_dict({"episodes": episodes}, "episodes.json")
    return folder
